package suite

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// connection sends requests just as they are written; an HTTP client would clean them.
type connection struct {
	net.Conn
	reader *bufio.Reader
}

type response struct {
	status int
	header http.Header
	length int64 // of the content-length header; -1 without one
	body   []byte
}

func dial(t *testing.T, address string) *connection {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return &connection{conn, bufio.NewReader(conn)}
}

// send sends a request: a method and a target.
func (c *connection) send(t *testing.T, request string) {
	t.Helper()
	c.write(t, []byte(request+" HTTP/1.1\r\nHost: test\r\n\r\n"))
}

func (c *connection) write(t *testing.T, bytes []byte) {
	t.Helper()
	if _, err := c.Write(bytes); err != nil {
		t.Errorf("writing a request: %v", err)
	}
}

func (c *connection) receive(t *testing.T, method string) response {
	t.Helper()
	answer, err := http.ReadResponse(c.reader, &http.Request{Method: method})
	if err != nil {
		t.Errorf("reading an answer: %v", err)
		return response{}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Errorf("reading a body: %v", err)
	}
	return response{answer.StatusCode, answer.Header, answer.ContentLength, body}
}

package front_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"levelfield/native/internal/front"
)

func TestARawPathIsJudgedBeforeTheRouterSeesIt(t *testing.T) {
	for target, want := range map[string]string{
		"/":                         "200 /",
		"/users/1":                  "200 /users/1",
		"/users/1/":                 "200 /users/1",
		"/users/1/?x=%zz//":         "200 /users/1",
		"/users/1?":                 "200 /users/1",
		"/api/values/a\"b":          "200 /api/values/a\"b",
		"http://test/users/1/":      "200 /users/1",
		"http://test/users/%31":     `400 {"message":"invalid path parameter"}`,
		"/users/%31":                `400 {"message":"invalid path parameter"}`,
		"/users/\xff":               `400 {"message":"invalid path parameter"}`,
		"//%20":                     `400 {"message":"invalid path parameter"}`,
		"//":                        `404 {"message":"not found"}`,
		"/users/1//":                `404 {"message":"not found"}`,
		"/users//1":                 `404 {"message":"not found"}`,
		"http://test/users//1":      `404 {"message":"not found"}`,
		"http://test/users/1?a=//%": "200 /users/1",
	} {
		request, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n")))
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		answer := httptest.NewRecorder()
		front.Judge(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, r.URL.Path)
		})).ServeHTTP(answer, request)
		if got := fmt.Sprint(answer.Code, " ", answer.Body); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

func TestAPercentSignIsReplacedInPathsAndNowhereElse(t *testing.T) {
	const sent = "GET /users/%?a=%zz HTTP/1.1\r\nX: 100%\r\n\r\n" +
		"GET /users/%31 HTTP/1.1\r\n\r\n" +
		"POST /users/1 HTTP/1.1\r\nContent-Length: 3\r\nX: %\r\n\r\na=b" +
		"GET /% HTTP/1.1\nX: %\n\nGET /%% HTTP/1.1\n\n"
	const want = "GET /users/\xff?a=%zz HTTP/1.1\r\nX: 100%\r\n\r\n" +
		"GET /users/\xff31 HTTP/1.1\r\n\r\n" +
		"POST /users/1 HTTP/1.1\r\nContent-Length: 3\r\nX: %\r\n\r\na=b" +
		"GET /\xff HTTP/1.1\nX: %\n\nGET /\xff\xff HTTP/1.1\n\n"
	for _, size := range []int{1, 2, 3, 7, 64, len(sent)} {
		if got := throughConnection(t, sent, size); got != want {
			t.Errorf("in pieces of %d bytes: got %q", size, got)
		}
	}
}

// throughConnection writes text in pieces and returns what an accepted connection reads.
func throughConnection(t *testing.T, text string, size int) string {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := front.Listen(plain)
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer client.Close()
		for len(text) > 0 {
			n := min(size, len(text))
			io.WriteString(client, text[:n])
			text = text[n:]
		}
	}()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// A small buffer, so that the pieces stay pieces even where the kernel joins them.
	var got strings.Builder
	if _, err := io.CopyBuffer(&got, struct{ io.Reader }{conn}, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	return got.String()
}

func TestALongBodyGetsAContentLength(t *testing.T) {
	body := strings.Repeat("x", 100_000)
	server := httptest.NewServer(front.ContentLength(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, body[:50_000])
		io.WriteString(w, body[50_000:])
	})))
	defer server.Close()
	for range 2 { // the second answer reuses the first one's buffer
		answer, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || string(got) != body || answer.ContentLength != int64(len(body)) || answer.StatusCode != http.StatusTeapot {
			t.Errorf("status %d, content-length %d, %d bytes, %v", answer.StatusCode, answer.ContentLength, len(got), err)
		}
	}
}

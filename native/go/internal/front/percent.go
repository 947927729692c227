package front

import (
	"bytes"
	"net"
)

// standIn is for a percent sign in a request's path: a byte that no path of the contract contains.
const standIn = '\xff'

// percents are what Judge takes for a percent sign: one, or its stand-in.
const percents = "%\xff"

// Listen wraps a listener so that a path with a percent sign that encodes nothing (`/users/%`) reaches the handlers.
//
// net/http answers such a request itself, in plain text, and closes the connection; the contract has one answer for
// any percent sign in a path. There is no hook between the two but the connection: its Read puts the stand-in in the
// place of each percent sign of a request's path, which keeps every length as it was.
func Listen(listener net.Listener) net.Listener { return percentListener{listener} }

type percentListener struct{ net.Listener }

func (l percentListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &percentConn{Conn: conn}, nil
}

// percentConn follows what it reads just closely enough to tell a request's path from the rest. After a head it expects
// the next request. A body is taken for one, to its first line's end: no handler of a build reads a body.
type percentConn struct {
	net.Conn
	at place
}

type place int

const (
	inPath      place = iota // the method and the path, up to '?' or the end of the line
	inLine                   // the rest of a line
	atLineStart              // a line of the head, or its end if the line is empty
)

func (c *percentConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.replace(p[:n])
	return n, err
}

// CloseWrite lets net/http end an answer before it closes on a client that is still sending, as with a bare connection:
// otherwise such a client may never see why it was refused.
func (c *percentConn) CloseWrite() error {
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

func (c *percentConn) replace(chunk []byte) {
	for len(chunk) > 0 {
		switch c.at {
		case inPath:
			end := bytes.IndexAny(chunk, "?\n")
			if end < 0 {
				end = len(chunk)
			}
			for i, char := range chunk[:end] {
				if char == '%' {
					chunk[i] = standIn
				}
			}
			if end < len(chunk) {
				c.at = inLine
			}
			chunk = chunk[end:]
		case inLine:
			end := bytes.IndexByte(chunk, '\n')
			if end < 0 {
				return
			}
			c.at = atLineStart
			chunk = chunk[end+1:]
		case atLineStart:
			switch chunk[0] {
			case '\r': // the '\n' that follows ends the head
			case '\n':
				c.at = inPath
			default:
				c.at = inLine
			}
			chunk = chunk[1:]
		}
	}
}

// Package suite runs the contract's cases against a build's handler, behind the same server that the program runs, with
// a real store. It is for tests; `levelfield check` runs the same cases against the program itself.
package suite

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"levelfield/native/internal/server"
	"levelfield/native/internal/store"
)

// Another year than the golden one, so that a page with a fixed year shows.
const year = "2031"

// Run checks one build.
func Run(t *testing.T, newHandler server.NewHandler) {
	for state, store := range map[string]func(*testing.T) string{
		"up":          SeededStore,
		"unreachable": UnreachableStore,
		"stalled":     StalledStore,
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			address := serve(t, newHandler, store(t))
			for _, c := range load(t) {
				if c.Store != "" && c.Store != state {
					continue
				}
				t.Run(c.file+": "+c.Name, func(t *testing.T) {
					t.Parallel()
					check(t, dial(t, address), c)
				})
			}
			t.Run("a request in single bytes", func(t *testing.T) {
				t.Parallel()
				requestInSingleBytes(t, dial(t, address))
			})
			t.Run("pages asked for at the same time", func(t *testing.T) {
				t.Parallel()
				pagesAtTheSameTime(t, address)
			})
		})
	}
}

// serve runs the build on a free port until the test ends, and checks that it drains.
func serve(t *testing.T, newHandler server.NewHandler, connectionString string) (address string) {
	users, err := store.Open(connectionString)
	if err != nil {
		t.Fatal(err)
	}
	clock, err := server.Year(year)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener, newHandler(users, clock)) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the server did not drain: %v", err)
		}
		users.Close(context.Background())
	})
	return listener.Addr().String()
}

// check asks a case, a GET case with HEAD too, and then whether the connection still answers.
func check(t *testing.T, conn *connection, c testCase) {
	start := time.Now()
	conn.send(t, c.Request)
	got := conn.receive(t, c.method())
	took := time.Since(start)
	expect(t, got, c, c.body(t, year))
	if limit := time.Duration(c.AtMostMS) * time.Millisecond; limit > 0 && took > limit {
		t.Errorf("answered after %v; the contract allows %v", took, limit)
	}
	if target, isGet := strings.CutPrefix(c.Request, "GET "); isGet {
		conn.send(t, "HEAD "+target)
		head := conn.receive(t, http.MethodHead)
		if len(head.body) > 0 {
			t.Errorf("HEAD has a body: %q", head.body)
		}
		head.body = got.body
		expect(t, head, c, c.body(t, year))
	}
	conn.send(t, "GET /helloWorld")
	if next := conn.receive(t, http.MethodGet); next.status != http.StatusOK {
		t.Errorf("the next request on the connection got %d", next.status)
	}
}

func expect(t *testing.T, got response, c testCase, body []byte) {
	t.Helper()
	if got.status != c.Status {
		t.Errorf("status %d, want %d", got.status, c.Status)
	}
	for _, name := range []string{"content-type", "retry-after", "allow"} {
		if !sameHeader(name, got.header.Get(name), c.Headers[name]) {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), c.Headers[name])
		}
	}
	if got.length != int64(len(body)) {
		t.Errorf("content-length %d, want %d", got.length, len(body))
	}
	if !bytes.Equal(got.body, body) {
		t.Errorf("body %s", difference(got.body, body))
	}
}

// difference shows two texts from where they part.
func difference(got, want []byte) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	excerpt := func(text []byte) []byte { return text[at:min(at+80, len(text))] }
	return fmt.Sprintf("from byte %d: %q, want %q", at, excerpt(got), excerpt(want))
}

// sameHeader compares values; allow is a set.
func sameHeader(name, got, want string) bool {
	if name != "allow" {
		return got == want
	}
	set := func(value string) []string {
		methods := strings.Split(strings.ReplaceAll(value, " ", ""), ",")
		slices.Sort(methods)
		return slices.Compact(methods)
	}
	return slices.Equal(set(got), set(want))
}

// requestInSingleBytes is for the filter that reads the connection: a path may come in any number of pieces.
func requestInSingleBytes(t *testing.T, conn *connection) {
	for _, request := range []struct {
		line   string
		status int
	}{{"GET /users/%", http.StatusBadRequest}, {"GET /helloWorld?%", http.StatusOK}} {
		for _, char := range []byte(request.line + " HTTP/1.1\r\nHost: test\r\n\r\n") {
			conn.write(t, []byte{char})
		}
		if got := conn.receive(t, http.MethodGet); got.status != request.status {
			t.Errorf("%s: status %d, want %d", request.line, got.status, request.status)
		}
	}
}

// pagesAtTheSameTime is for view engines that keep a request's state in a template they share.
func pagesAtTheSameTime(t *testing.T, address string) {
	var clients sync.WaitGroup
	for path, view := range map[string]string{"/": "home.html", "/about": "about.html", "/contact": "contact.html"} {
		want := golden(t, view, year)
		for range 3 {
			conn := dial(t, address)
			clients.Go(func() {
				for range 100 {
					conn.send(t, "GET "+path)
					if got := conn.receive(t, http.MethodGet); !bytes.Equal(got.body, want) {
						t.Errorf("%s: another page than its own", path)
						return
					}
				}
			})
		}
	}
	clients.Wait()
}

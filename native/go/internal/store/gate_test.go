package store_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// gate stands before a real store, so that a test can take the store away and bring it back.
type gate struct {
	t       *testing.T
	store   *url.URL
	address string

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
	stalled  bool
}

func openGate(t *testing.T, connectionString string) *gate {
	t.Helper()
	store, err := url.Parse(connectionString)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, store: store, address: "127.0.0.1:0"}
	g.open()
	t.Cleanup(g.shut)
	return g
}

func (g *gate) connectionString() string {
	through := *g.store
	through.Host = g.address
	return through.String()
}

// open lets everything through.
func (g *gate) open() {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	listener, err := net.Listen("tcp", g.address)
	if err != nil {
		g.t.Fatal(err)
	}
	g.listener, g.address, g.stalled = listener, listener.Addr().String(), false
	go g.accept(listener)
}

// stall keeps connections open and accepts more, but lets nothing through.
func (g *gate) stall() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stalled = true
}

// shut ends all connections and refuses more.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener.Close()
	for _, conn := range g.conns {
		conn.Close()
	}
	g.conns = nil
}

func (g *gate) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", g.store.Host)
		if err != nil {
			client.Close()
			continue
		}
		g.mu.Lock()
		g.conns = append(g.conns, client, server)
		g.mu.Unlock()
		go io.Copy(g.valve(server), client)
		go io.Copy(g.valve(client), server)
	}
}

// valve swallows what is written while the gate is stalled.
func (g *gate) valve(to net.Conn) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		g.mu.Lock()
		stalled := g.stalled
		g.mu.Unlock()
		if stalled {
			return len(p), nil
		}
		return to.Write(p)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

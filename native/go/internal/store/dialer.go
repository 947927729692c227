package store

import (
	"context"
	"net"
	"sync/atomic"
)

// dialer opens the driver's connections and remembers whether the last attempt was accepted. It tells a store that is
// not there (503, early) from one that accepts connections and stays silent (504, at the end): to the driver both are
// a server that is not known yet. With several hosts the last attempt at any of them counts.
type dialer struct {
	net.Dialer
	accepted atomic.Bool
}

func newDialer() *dialer {
	// A host that drops packets is one that is not there: it must show before the request gives up.
	return &dialer{Dialer: net.Dialer{Timeout: reachWithin}}
}

// DialContext implements the driver's ContextDialer.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	d.accepted.Store(err == nil)
	return conn, err
}

func (d *dialer) reached() bool { return d.accepted.Load() }

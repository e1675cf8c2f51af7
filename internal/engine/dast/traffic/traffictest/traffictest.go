// Package traffictest holds connections in memory, for tests of times: in a bubble of
// testing/synctest what waits for one of them lets the time pass, which no socket does.
package traffictest

import (
	"context"
	"net"
	"sync"
)

// A Listener accepts what its Dial connects. It says that it listens at 127.0.0.1:80.
type Listener struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

// Listen returns a listener; in a bubble it has to be called there.
func Listen() *Listener {
	return &Listener{connections: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Dial connects to the listener, whatever the address is.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.connections <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

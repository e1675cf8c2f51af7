package connbroker

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// Chromium has the broker start a browser. Its error says why there is none.
func (p *Client) Chromium(ctx context.Context) (*scan.Chromium, error) {
	number := int(p.browsers.Add(1))
	stream, err := p.openRequest(request{Browser: number})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = stream.SetReadDeadline(time.Unix(1, 0)) })
	err = readOutcome(stream)
	var address string
	if err == nil {
		address, err = readLine(stream)
	}
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	proxy := &arrivals{program: p, number: number, address: hostPort(address), ended: make(chan struct{})}
	return &scan.Chromium{Pipe: stream, Proxy: proxy, ExitReason: proxy.endReason, Stop: func() {
		_, _ = stream.Close(), proxy.Close()
	}}, nil
}

// readLine reads an address up to the end of its line, and nothing behind it.
func readLine(stream net.Conn) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < 64; line = append(line, one[0]) {
		if _, err := stream.Read(one); err != nil {
			return "", errs.Wrap(errs.Unavailable, err, "the tunnel is closed")
		}
		if one[0] == '\n' {
			return string(line), nil
		}
	}
	return "", errs.E(errs.Unavailable, "the address of the browser's proxy is too long")
}

// arrivals are the connections that a browser makes to its proxy.
type arrivals struct {
	program *Client
	number  int
	address hostPort

	once   sync.Once
	ended  chan struct{}
	mu     sync.Mutex
	reason error // why the browser has ended
}

// Accept waits for the next one.
func (a *arrivals) Accept() (net.Conn, error) {
	stream, err := a.program.openRequest(request{Accept: a.number})
	if err != nil {
		return nil, a.endArrivals(err)
	}
	closed := make(chan struct{})
	go func() {
		select {
		case <-a.ended:
			_ = stream.SetReadDeadline(time.Unix(1, 0))
		case <-closed:
		}
	}()
	err = readOutcome(stream)
	close(closed)
	select {
	case <-a.ended:
		err = net.ErrClosed
	default:
	}
	if err != nil {
		return nil, errors.Join(a.endArrivals(err), stream.Close())
	}
	return &conn{stream, a.address}, nil
}

// endArrivals remembers why there are no more.
func (a *arrivals) endArrivals(reason error) error {
	a.mu.Lock()
	if a.reason == nil {
		a.reason = reason
	}
	a.mu.Unlock()
	a.once.Do(func() { close(a.ended) })
	return reason
}

// endReason waits a little for the reason, which comes to who waits for a connection.
func (a *arrivals) endReason() error {
	select {
	case <-a.ended:
	case <-time.After(2 * time.Second):
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reason == nil {
		return errors.New("the browser process has ended")
	}
	return a.reason
}

// Close ends the wait.
func (a *arrivals) Close() error {
	_ = a.endArrivals(net.ErrClosed) // known to who closes it
	return nil
}

// Addr is the address of the proxy, as the browser knows it.
func (a *arrivals) Addr() net.Addr { return a.address }

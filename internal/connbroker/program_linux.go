package connbroker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// A Client is the program's side.
type Client struct {
	conn     *net.UnixConn
	browsers atomic.Int64 // that were asked for
}

// Open opens the descriptor that the program was started with.
func Open(fd int) (*Client, error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_SEQPACKET {
		return nil, errs.E(errs.Invalid, "descriptor %d is no tunnel: this is for the program itself", fd)
	}
	conn, err := connOf(fd)
	if err != nil {
		return nil, err
	}
	return &Client{conn: conn}, nil
}

// openRequest sends a request and returns the stream of its answer.
func (p *Client) openRequest(r request) (*net.UnixConn, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("ask through the tunnel: %w", err)
	}
	if len(text) > maxRequest {
		return nil, errs.E(errs.TooLarge, "the address is too long")
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("ask through the tunnel: %w", err)
	}
	stream, err := connOf(ends[0])
	if err != nil {
		return nil, errors.Join(err, unix.Close(ends[1]))
	}
	_, _, err = p.conn.WriteMsgUnix(text, unix.UnixRights(ends[1]), nil)
	if err = errors.Join(err, unix.Close(ends[1])); err != nil {
		return nil, errors.Join(fmt.Errorf("ask through the tunnel: %w", err), stream.Close())
	}
	return stream, nil
}

// Job returns what the program is to do.
func (p *Client) Job() (*Job, error) {
	stream, err := p.openRequest(request{Job: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	j := &Job{}
	if err := json.NewDecoder(stream).Decode(j); err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	return j, nil
}

// Calls returns what has arrived at the listener without the first n.
func (p *Client) Calls(n int) ([]scan.Interaction, error) {
	stream, err := p.openRequest(request{Calls: n + 1})
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	var calls []scan.Interaction
	if err := json.NewDecoder(stream).Decode(&calls); err != nil {
		return nil, fmt.Errorf("read calls: %w", err)
	}
	return calls, nil
}

// Keep stores what the program wants to find again.
func (p *Client) Keep(kept []byte) error {
	stream, err := p.openRequest(request{Keep: true})
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	if _, err := stream.Write(kept); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	if err := stream.CloseWrite(); err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	return readOutcome(stream)
}

// Dial makes a connection to host:port through the broker. An address that the broker
// refuses is a Forbidden error.
func (p *Client) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	stream, err := p.openRequest(request{Dial: &dialRequest{network, address}})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = stream.SetReadDeadline(time.Unix(1, 0)) })
	err = readOutcome(stream)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = stream.Close() // nothing came of it
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, &net.OpError{Op: "dial", Net: network, Addr: hostPort(address), Err: err}
	}
	return &conn{stream, hostPort(address)}, nil
}

// readOutcome reads how a request ended.
func readOutcome(stream io.Reader) error {
	var first [1]byte
	if _, err := io.ReadFull(stream, first[:]); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the tunnel is closed")
	}
	if first[0] == granted {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(stream, maxReason))
	if err != nil {
		return fmt.Errorf("read from the tunnel: %w", err)
	}
	if first[0] == refused {
		return errs.E(errs.Forbidden, "%s", text)
	}
	return errs.E(errs.Unavailable, "%s", text)
}

// A conn is a stream that names the address at its far end.
type conn struct {
	*net.UnixConn
	to hostPort
}

// RemoteAddr returns the address that was dialled.
func (c *conn) RemoteAddr() net.Addr { return c.to }

// hostPort is the address of a brokered connection, which has no socket address of its own.
type hostPort string

// Network implements net.Addr.
func (hostPort) Network() string { return "tcp" }

// String implements net.Addr.
func (a hostPort) String() string { return string(a) }

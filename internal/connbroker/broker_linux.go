package connbroker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// A Broker serves one program.
type Broker struct {
	conn    *net.UnixConn
	slots   chan struct{}
	open    atomic.Int64
	refused atomic.Int64
	out, in atomic.Int64

	mu       sync.Mutex
	started  int                    // browsers
	browsers map[int]*scan.Chromium // by the program's number; those that have ended stay
}

// New returns a Broker and the program's end, which the caller closes once the program
// has it.
func New() (*Broker, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a tunnel: %w", err)
	}
	theirs := os.NewFile(uintptr(ends[1]), "tunnel")
	conn, err := connOf(ends[0])
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return &Broker{conn: conn, slots: make(chan struct{}, maxConnections), browsers: map[int]*scan.Chromium{}}, theirs,
		nil
}

// connOf makes a connection of a descriptor, which it takes over.
func connOf(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "tunnel")
	c, err := net.FileConn(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("open a tunnel: %w", err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("a tunnel that is no local socket"), c.Close())
	}
	return u, nil
}

// Traffic returns what went through so far.
func (l *Broker) Traffic() Traffic {
	return Traffic{Connections: l.open.Load(), Refused: l.refused.Load(), Sent: l.out.Load(), Received: l.in.Load()}
}

// Serve answers the program until the context ends or the program has closed its end.
// Then every connection is closed.
func (l *Broker) Serve(ctx context.Context, h Host) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.conn.Close() })
	defer stop()
	var busy sync.WaitGroup
	defer busy.Wait()
	defer cancel() // before the wait: it ends the connections
	buf, rights := make([]byte, maxRequest), make([]byte, unix.CmsgSpace(4))
	for {
		n, rn, _, _, err := l.conn.ReadMsgUnix(buf, rights)
		if n == 0 {
			for _, fd := range attachedDescriptors(rights[:rn]) {
				_ = unix.Close(fd) // an empty request is the end
			}
		}
		if ctx.Err() != nil || n == 0 || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the tunnel: %w", err)
		}
		stream, err := attachedStream(rights[:rn])
		if err != nil {
			return err
		}
		var r request
		if err := json.Unmarshal(buf[:n], &r); err != nil {
			return errors.Join(fmt.Errorf("read from the tunnel: %w", err), stream.Close())
		}
		select {
		case l.slots <- struct{}{}:
		default:
			l.refused.Add(1)
			_, _ = stream.Write([]byte{failed}) // the program may be gone
			_, _ = stream.Write(fmt.Appendf(nil, "more than %d connections at once", maxConnections))
			_ = stream.Close()
			continue
		}
		busy.Go(func() {
			defer func() { <-l.slots }()
			end := context.AfterFunc(ctx, func() { _ = stream.Close() })
			defer end()
			l.serveRequest(ctx, h, &r, stream)
			_ = stream.Close()
		})
	}
}

// attachedStream takes the one stream out of a message. The program may attach anything: what
// is no local stream is refused.
func attachedStream(rights []byte) (*net.UnixConn, error) {
	fds := attachedDescriptors(rights)
	if len(fds) != 1 {
		for _, fd := range fds {
			_ = unix.Close(fd) // of no use
		}
		return nil, errors.New("a request without its stream came through the tunnel")
	}
	domain, err := unix.GetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_DOMAIN)
	kind, kindErr := unix.GetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kindErr != nil || domain != unix.AF_UNIX || kind != unix.SOCK_STREAM {
		return nil, errors.Join(errors.New("what came through the tunnel is no stream"), unix.Close(fds[0]))
	}
	return connOf(fds[0])
}

// attachedDescriptors returns what is attached to a message.
func attachedDescriptors(rights []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil
	}
	for n := range messages {
		if more, err := unix.ParseUnixRights(&messages[n]); err == nil {
			fds = append(fds, more...)
		}
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	return fds
}

// serveRequest does what a request asks for.
func (l *Broker) serveRequest(ctx context.Context, h Host, r *request, stream *net.UnixConn) {
	switch {
	case r.Job:
		_ = json.NewEncoder(stream).Encode(h.Job) // a program that does not read it does nothing
	case r.Keep:
		kept, err := io.ReadAll(io.LimitReader(stream, scan.MaxCheckpoint+1))
		if err == nil && len(kept) <= scan.MaxCheckpoint && h.SaveCheckpoint != nil {
			err = h.SaveCheckpoint(ctx, kept)
		}
		l.sendOutcome(stream, err)
	case r.Calls > 0:
		calls := []scan.Interaction{}
		if h.Interactions != nil {
			calls = append(calls, h.Interactions(r.Calls-1)...)
		}
		_ = json.NewEncoder(stream).Encode(calls) // a program that does not read it learns nothing
	case r.Browser > 0:
		l.serveBrowser(ctx, h, r.Browser, stream)
	case r.Accept > 0:
		l.serveArrival(ctx, r.Accept, stream)
	case r.Dial != nil:
		l.serveConnection(ctx, h, r.Dial, stream)
	}
}

// sendOutcome tells how a request ended.
func (l *Broker) sendOutcome(stream net.Conn, err error) {
	switch {
	case err == nil:
		_, _ = stream.Write([]byte{granted}) // the program may be gone
		return
	case errs.Is(err, errs.Forbidden):
		_, _ = stream.Write([]byte{refused})
	default:
		_, _ = stream.Write([]byte{failed})
	}
	text := err.Error()
	_, _ = io.WriteString(stream, text[:min(len(text), maxReason)])
}

// dialTime bounds how long a connection may take to be made.
const dialTime = 30 * time.Second

// serveConnection makes a connection and copies until both directions have ended.
func (l *Broker) serveConnection(ctx context.Context, h Host, d *dialRequest, stream *net.UnixConn) {
	if d.Network != "tcp" && d.Network != "tcp4" && d.Network != "tcp6" {
		l.refused.Add(1)
		l.sendOutcome(stream, errs.E(errs.Forbidden, "%q is refused: only connections of TCP are made", d.Network))
		return
	}
	dialing, cancel := context.WithTimeout(ctx, dialTime)
	conn, err := h.Dial(dialing, d.Network, d.Address)
	cancel()
	if err != nil {
		l.refused.Add(1)
		l.sendOutcome(stream, err)
		return
	}
	defer func() { _ = conn.Close() }()
	l.open.Add(1)
	end := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer end()
	l.sendOutcome(stream, nil)
	var both sync.WaitGroup
	both.Go(func() { l.out.Add(copyStream(conn, stream)) })
	both.Go(func() { l.in.Add(copyStream(stream, conn)) })
	both.Wait()
}

// serveBrowser starts a browser and copies between its pipe and the stream until one of them
// ends. The browser ends with it.
func (l *Broker) serveBrowser(ctx context.Context, h Host, number int, stream *net.UnixConn) {
	b, err := l.launchBrowser(ctx, h, number)
	if err != nil {
		l.sendOutcome(stream, err)
		return
	}
	defer b.Stop()
	end := context.AfterFunc(ctx, b.Stop)
	defer end()
	l.sendOutcome(stream, nil)
	_, _ = io.WriteString(stream, b.Proxy.Addr().String()+"\n") // the program may be gone
	ended := make(chan struct{}, 2)
	copied := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from) // either end may be gone
		ended <- struct{}{}
	}
	go copied(b.Pipe, stream)
	go copied(stream, b.Pipe)
	<-ended
	_ = stream.Close()
	b.Stop()
	_ = b.Pipe.Close()
	<-ended
}

// launchBrowser starts a browser under the program's number.
func (l *Broker) launchBrowser(ctx context.Context, h Host, number int) (*scan.Chromium, error) {
	if h.Chromium == nil {
		return nil, errs.E(errs.Unavailable, "there is no browser")
	}
	l.mu.Lock()
	_, known := l.browsers[number]
	l.started++
	over := known || l.started > maxBrowsers
	l.mu.Unlock()
	if over {
		return nil, errs.E(errs.Unavailable, "the scan has had %d browsers", maxBrowsers)
	}
	b, err := h.Chromium(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.browsers[number] = b
	l.mu.Unlock()
	return b, nil
}

// serveArrival hands the program the next connection of a browser.
func (l *Broker) serveArrival(ctx context.Context, number int, stream *net.UnixConn) {
	l.mu.Lock()
	b := l.browsers[number]
	l.mu.Unlock()
	if b == nil {
		l.sendOutcome(stream, errs.E(errs.Unavailable, "there is no such browser"))
		return
	}
	conn, err := b.Proxy.Accept()
	if err != nil {
		l.sendOutcome(stream, b.ExitReason())
		return
	}
	defer func() { _ = conn.Close() }()
	end := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer end()
	l.sendOutcome(stream, nil)
	var both sync.WaitGroup
	both.Go(func() { copyStream(conn, stream) })
	both.Go(func() { copyStream(stream, conn) })
	both.Wait()
}

// copyStream copies one direction to its end, and tells the other side that it is one. A
// direction that breaks ends both.
func copyStream(to, from net.Conn) int64 {
	n, err := io.Copy(to, from)
	half, ok := to.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		_, _ = to.Close(), from.Close() // broken anyway
	}
	return n
}

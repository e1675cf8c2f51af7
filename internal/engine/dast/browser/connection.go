package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

const (
	// maxMessage bounds one message of the browser, in bytes. What a page prints or
	// shows in a dialog is part of messages, so pages choose their size.
	maxMessage = 64 << 20
	// maxQueue and maxQueueBytes bound the events of a session that wait for us. A page
	// that makes more is closed.
	maxQueue      = 20_000
	maxQueueBytes = 128 << 20
)

// errLost says that the browser is gone.
var errLost = errors.New("the browser process has ended")

// A connection speaks the DevTools protocol with one browser process. Sessions
// are told apart by ID; the browser's own session has the empty one.
type connection struct {
	transport *chromedp.PipeConn
	lost      chan struct{} // closed when nothing arrives any more
	out       chan *cdproto.Message
	heard     atomic.Int64 // when the last message came, in nanoseconds

	mu       sync.Mutex
	next     int64
	calls    map[int64]chan *cdproto.Message
	sessions map[target.SessionID]*session
}

// newConnection starts to read; the browser's own session is returned.
func newConnection(r io.ReadCloser, w io.WriteCloser) (*connection, *session) {
	c := &connection{
		transport: chromedp.NewPipeConn(&boundedReader{ReadCloser: r}, w),
		lost:      make(chan struct{}),
		out:       make(chan *cdproto.Message),
		calls:     map[int64]chan *cdproto.Message{},
		sessions:  map[target.SessionID]*session{},
	}
	root := c.sessionOf("")
	go c.readMessages()
	go c.writeMessages()
	return c, root
}

// boundedReader fails at a message above maxMessage.
type boundedReader struct {
	io.ReadCloser
	size int
}

// Read counts the bytes since the last message, which ends with a zero byte.
func (r *boundedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	for _, b := range p[:n] {
		r.size++
		if b == 0 {
			r.size = 0
		}
	}
	if r.size > maxMessage {
		return 0, fmt.Errorf("a message of the browser is larger than %d bytes", maxMessage)
	}
	return n, err
}

// sessionOf returns the session, which is made when it is new.
func (c *connection) sessionOf(id target.SessionID) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.sessions[id]
	if !ok {
		s = &session{connection: c, id: id, wake: make(chan struct{}, 1), gone: make(chan struct{})}
		c.sessions[id] = s
	}
	return s
}

// dropSession forgets the session of a target that is gone, and tells who waits for it.
func (c *connection) dropSession(id target.SessionID) {
	c.mu.Lock()
	s := c.sessions[id]
	delete(c.sessions, id)
	c.mu.Unlock()
	if s != nil {
		close(s.gone)
	}
}

// readMessages hands out messages until the pipe ends. The end of the pipe is the end
// of the browser.
func (c *connection) readMessages() {
	defer c.endConnection()
	for {
		m := new(cdproto.Message)
		if err := c.transport.Read(context.Background(), m); err != nil {
			return
		}
		c.heard.Store(time.Now().UnixNano())
		if m.ID != 0 {
			c.mu.Lock()
			answer := c.calls[m.ID]
			delete(c.calls, m.ID)
			c.mu.Unlock()
			if answer != nil {
				answer <- m
			}
			continue
		}
		c.dispatchEvent(m)
	}
}

// dispatchEvent hands an event to its session. Those of the console are dropped: a page
// chooses how many there are and how long.
func (c *connection) dispatchEvent(m *cdproto.Message) {
	switch string(m.Method) {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown": // as long and as many as the page likes
		return
	}
	ev, err := cdproto.UnmarshalMessage(m, chromedp.DefaultUnmarshalOptions)
	if err != nil {
		return // an event of a newer browser
	}
	switch e := ev.(type) {
	case *target.EventAttachedToTarget:
		c.sessionOf(e.SessionID) // its own events may follow at once
	case *target.EventDetachedFromTarget:
		defer c.dropSession(e.SessionID)
	}
	c.mu.Lock()
	s := c.sessions[m.SessionID]
	c.mu.Unlock()
	if s != nil {
		s.queueEvent(ev, len(m.Params))
	}
}

// writeMessages sends messages one after the other. A browser that hangs does not read: who has
// something to send waits for this, and no longer than he wants.
func (c *connection) writeMessages() {
	for {
		select {
		case m := <-c.out:
			if err := c.transport.Write(context.Background(), m); err != nil {
				_ = c.transport.Close() // so that nothing is read either
				return
			}
		case <-c.lost:
			return
		}
	}
}

// endConnection tells everybody who waits that the browser is gone.
func (c *connection) endConnection() {
	_ = c.transport.Close()
	close(c.lost)
}

// A session is the connection to one page, frame or worker.
type session struct {
	*connection
	id   target.SessionID
	gone chan struct{} // closed when the target is

	events struct {
		sync.Mutex
		queue []any
		bytes int
		over  bool // more waited than may
	}
	wake chan struct{}
}

// queueEvent adds an event to the queue of a session. It never blocks, or a page that
// makes many events would stop the connection for all others.
func (s *session) queueEvent(ev any, size int) {
	s.events.Lock()
	s.events.bytes += size
	if len(s.events.queue) < maxQueue && s.events.bytes < maxQueueBytes {
		s.events.queue = append(s.events.queue, ev)
	} else {
		s.events.over = true
	}
	s.events.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// serveEvents calls handle for every event, in order, until the target or the browser is
// gone. handle may call commands. A flood ends it with false.
func (s *session) serveEvents(handle func(ev any)) bool {
	for {
		s.events.Lock()
		queue, over := s.events.queue, s.events.over
		s.events.queue, s.events.bytes = nil, 0
		s.events.Unlock()
		for _, ev := range queue {
			handle(ev)
		}
		if over {
			return false
		}
		if len(queue) > 0 {
			continue
		}
		select {
		case <-s.wake:
		case <-s.gone:
			return true
		case <-s.lost:
			return true
		}
	}
}

// runCommand runs a command and waits for its result.
func runCommand[P, R any](ctx context.Context, s *session, command cdp.Command[P, R], params P) (R, error) {
	var result R
	m, err := s.sendCommand(ctx, command.Method, params)
	if err == nil && m.Error != nil {
		err = m.Error
	}
	if err == nil && len(m.Result) > 0 {
		err = jsonv2.Unmarshal(m.Result, &result, chromedp.DefaultUnmarshalOptions)
	}
	if err != nil {
		return result, fmt.Errorf("browser: %s: %w", command.Method, err)
	}
	return result, nil
}

// sendCommand sends a command and waits for its result, for the end of the context, or
// for the end of the target or the browser.
func (s *session) sendCommand(ctx context.Context, method string, params any) (*cdproto.Message, error) {
	text, err := jsonv2.Marshal(params, chromedp.DefaultMarshalOptions)
	if err != nil {
		return nil, err
	}
	answer := make(chan *cdproto.Message, 1)
	s.mu.Lock()
	s.next++
	id := s.next
	s.calls[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
	}()
	out := s.out
	for {
		select {
		case out <- &cdproto.Message{ID: id, SessionID: s.id, Method: cdproto.MethodType(method), Params: text}:
			out = nil // once
		case m := <-answer:
			return m, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.gone:
			return nil, errors.New("the page was closed")
		case <-s.lost:
			return nil, errLost
		}
	}
}

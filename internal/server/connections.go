package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"merlon/internal/config"
)

// This file bounds the open connections of the HTTP listener. When there are as many as
// there may be, the slowest of those that wait for their client is closed, so that clients
// who send or read slowly on purpose keep nobody else out.

// limits bound what clients may occupy.
type limits struct {
	open   int // connections at once
	client int // connections, and requests, at once of one address
	// Patience with a client that does not send or take what it has to: at the beginning,
	// between two steps, and the least number of bytes a second on average.
	first, pause time.Duration
	rate         int64
}

// Patience with slow clients.
const (
	// Before the first bytes count, after them for one step, and the average that a client must
	// keep: mobile networks are faster than 1 KiB/s.
	firstPatience = 30 * time.Second
	pausePatience = time.Minute
	leastRate     = 1 << 10
)

// Bounds of connections that are derived from the limit of open files.
const (
	leastConnections = 16
	mostConnections  = 8192
)

// newLimits returns the limits that the settings and the system's limit of open files
// give: connections leave a third of the files, at most 1,024, for the database, uploads,
// scans and outgoing requests.
func newLimits(c config.Connections) (limits, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return limits{}, err
	}
	l := limits{open: c.MaxConnections, client: c.MaxClientConnections, first: firstPatience, pause: pausePatience,
		rate: leastRate}
	free := int(min(files.Cur, 1<<20))
	free -= min(free/3, 1024)
	if l.open == 0 {
		l.open = min(max(free, leastConnections), mostConnections)
	}
	if l.client == 0 {
		l.client = max(l.open/4, leastConnections/2)
	}
	return l, nil
}

// connections is a listener that keeps to limits.
type connections struct {
	net.Listener
	limits
	trusted []netip.Prefix // proxies, which have many clients

	mu sync.Mutex
	// opened are the counted connections; by counts them per address of the peer. mu guards both.
	opened map[*connection]struct{}
	by     map[netip.Addr]int
}

func newConnections(l net.Listener, most limits, trusted []netip.Prefix) *connections {
	return &connections{Listener: l, limits: most, trusted: trusted, opened: map[*connection]struct{}{},
		by: map[netip.Addr]int{}}
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.admitConnection(c); admitted != nil {
			return admitted, nil
		}
		_ = c.Close() // there is no room, and nobody to close for it
	}
}

// admitConnection counts the connection and makes room for it; nil: there is none.
func (l *connections) admitConnection(c net.Conn) *connection {
	one := &connection{Conn: c, of: l, peer: addressOf(c.RemoteAddr().String()), phase: http.StateNew,
		since: time.Now()}
	l.mu.Lock()
	var slow []*connection
	room := true
	// An address that is over its share loses a connection of its own, not one of others.
	if !containsAddress(l.trusted, one.peer) && l.by[one.peer] >= l.client {
		slow, room = l.chooseSlowest(slow, func(o *connection) bool { return o.peer == one.peer })
	}
	if room && len(l.opened)-len(slow) >= l.open {
		slow, room = l.chooseSlowest(slow, func(*connection) bool { return true })
	}
	if room {
		l.opened[one] = struct{}{}
		l.by[one.peer]++
	}
	l.mu.Unlock()
	// Closed outside of the lock, which Close takes itself.
	for _, o := range slow {
		_ = o.Close() // its client is given up
	}
	if !room {
		return nil
	}
	return one
}

// chooseSlowest appends the slowest of the connections that are eligible, and reports whether
// there is one.
func (l *connections) chooseSlowest(chosen []*connection, eligible func(*connection) bool) ([]*connection, bool) {
	var found *connection
	var least float64
	now := time.Now()
	for c := range l.opened {
		if !eligible(c) {
			continue
		}
		if rate, waits := c.transferRate(now); waits && (found == nil || rate < least) {
			found, least = c, rate
		}
	}
	if found == nil {
		return chosen, false
	}
	l.removeConnection(found)
	return append(chosen, found), true
}

// removeConnection stops counting the connection; l.mu is locked.
func (l *connections) removeConnection(c *connection) {
	if _, open := l.opened[c]; !open {
		return
	}
	delete(l.opened, c)
	if l.by[c.peer]--; l.by[c.peer] <= 0 {
		delete(l.by, c.peer)
	}
}

// A connection is one that is counted until it is closed.
type connection struct {
	net.Conn
	of   *connections
	peer netip.Addr

	mu      sync.Mutex
	phase   http.ConnState
	since   time.Time     // when the phase began
	bytes   int64         // both ways in the phase
	waits   int           // reads of bodies and writes that have not ended
	waited  time.Duration // for writes in the phase
	written int64         // in the phase
}

// enterPhase begins a phase: a new connection, a request, or the pause between two.
func (c *connection) enterPhase(s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase, c.since, c.bytes, c.waited, c.written = s, time.Now(), 0, 0, 0
}

// headStart is how many bytes a connection is taken to have moved when a phase begins, so
// that one which has just been opened is not the slowest.
const headStart = 1 << 10

// transferRate returns how many bytes a second the connection has moved in its phase, and whether
// it waits for its client.
func (c *connection) transferRate(now time.Time) (float64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := now.Sub(c.since)
	// The server is at work: it would be unfair to count its time as the client's.
	if c.phase == http.StateActive && c.waits == 0 {
		return 0, false
	}
	return float64(c.bytes+headStart) / max(took.Seconds(), 1e-6), true
}

// beginWait notes that the connection waits for its client until the returned function is
// called.
func (c *connection) beginWait() (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waits--
	}
}

// Read implements net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += int64(n)
	return n, err
}

// writeStep is how much is written under one deadline.
const writeStep = 32 << 10

// Write implements net.Conn. It fails when the client takes too little.
func (c *connection) Write(p []byte) (int, error) {
	total := 0
	for {
		step := p[total:min(total+writeStep, len(p))]
		n, err := c.writeChunk(step)
		total += n
		if err != nil || total == len(p) {
			return total, err
		}
	}
}

// writeChunk writes one step under a deadline of its own.
func (c *connection) writeChunk(p []byte) (int, error) {
	defer c.beginWait()()
	c.mu.Lock()
	patience := c.of.nextTimeout(c.written, c.waited)
	c.mu.Unlock()
	began := time.Now()
	if err := c.SetWriteDeadline(began.Add(patience)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += int64(n)
	c.written += int64(n)
	c.waited += time.Since(began)
	return n, err
}

// nextTimeout is how long to wait for a client's next step when it has moved so many bytes
// and was waited for so long already.
func (l limits) nextTimeout(bytes int64, waited time.Duration) time.Duration {
	earned := l.first + time.Duration(float64(bytes)/float64(l.rate)*float64(time.Second)) - waited
	return max(min(earned, l.pause), time.Millisecond) // the end has come, but not before the attempt
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.of.removeConnection(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// connectionOf returns the counted connection below a server's.
func connectionOf(c net.Conn) *connection {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	counted, _ := c.(*connection)
	return counted
}

// connectionKey is the key of the counted connection in a request's context.
type connectionKey struct{}

// trackPhases has the server say which phase its connections are in, and requests know theirs.
func (l *connections) trackPhases(srv *http.Server) {
	srv.ConnState = func(c net.Conn, s http.ConnState) {
		if counted := connectionOf(c); counted != nil {
			counted.enterPhase(s)
		}
	}
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, connectionOf(c))
	}
}

// addressOf returns the address of host:port; the zero address when there is none.
func addressOf(hostPort string) netip.Addr {
	at, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

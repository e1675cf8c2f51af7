package oast

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/scan"
)

// This file takes connections: HTTP, and LDAP, which a lookup of Java's JNDI begins
// with.

// front accepts connections, holds them to their bounds, and gives those that do not
// speak LDAP to the server of HTTP. It implements net.Listener.
type front struct {
	l    *Listener
	next chan net.Conn
	done chan struct{}
	once sync.Once
}

// newFront returns the front of a listener.
func newFront(l *Listener) *front {
	return &front{l: l, next: make(chan net.Conn), done: make(chan struct{})}
}

// acceptConnections takes connections until the listener is closed.
func (f *front) acceptConnections() {
	defer func() { _ = f.Close() }()
	for {
		c, err := f.l.web.Accept()
		if err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				continue
			}
			return
		}
		peer := peerOf(c.RemoteAddr())
		if !f.l.limiter.Allow() || !f.l.peers.enterPeer(peer) {
			_ = c.Close() // there are more than there may be
			continue
		}
		f.l.running.Go(func() { f.routeConnection(&counted{Conn: c, leave: func() { f.l.peers.leavePeer(peer) }}) })
	}
}

// routeConnection reads the first byte of a connection and decides who speaks with it.
func (f *front) routeConnection(c *counted) {
	_ = c.SetDeadline(time.Now().Add(connectionTime)) // a connection that takes none is closed
	var first [1]byte
	if _, err := io.ReadFull(c, first[:]); err != nil {
		_ = c.Close() // nothing came
		return
	}
	c.first = first[:]
	if first[0] == ldapSequence {
		f.l.serveLDAP(c)
		_ = c.Close() // it has had its answer
		return
	}
	select {
	case f.next <- c:
	case <-f.done:
		_ = c.Close() // nobody takes it any more
	}
}

// Accept implements net.Listener.
func (f *front) Accept() (net.Conn, error) {
	select {
	case c := <-f.next:
		return c, nil
	case <-f.done:
		return nil, http.ErrServerClosed
	}
}

// Close implements net.Listener.
func (f *front) Close() error {
	f.once.Do(func() { close(f.done) })
	return nil
}

// Addr implements net.Listener.
func (f *front) Addr() net.Addr { return f.l.web.Addr() }

// counted is a connection whose first byte was read, and that is counted until it is
// closed.
type counted struct {
	net.Conn
	first []byte
	once  sync.Once
	leave func()
}

// Read returns the first byte, which was read ahead, and then the rest.
func (c *counted) Read(p []byte) (int, error) {
	if len(c.first) > 0 && len(p) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// Close closes the connection and releases its slot once.
func (c *counted) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}

// peers counts connections, in all and by address.
type peers struct {
	most int // at once
	mu   sync.Mutex
	all  int
	by   map[netip.Addr]int
}

// enterPeer takes a connection slot for the address; false when all slots, or those of the
// address, are taken.
func (p *peers) enterPeer(a netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[netip.Addr]int{}
	}
	if p.all >= p.most || p.by[a] >= perPeer {
		return false
	}
	p.all++
	p.by[a]++
	return true
}

// leavePeer releases a connection slot.
func (p *peers) leavePeer(a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.by[a]--; p.by[a] <= 0 {
		delete(p.by, a)
	}
}

// peerOf returns the IP address of a client, IPv4 in its short form.
func peerOf(a net.Addr) netip.Addr {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// serveToken answers a token with its text, and everything else with nothing. The body of a
// request is not read.
func (l *Listener) serveToken(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Connection", "close")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	// Of the headers only those that tell what asks: others may hold secrets.
	text := fmt.Sprintf("%s %s\nHost: %s\nUser-Agent: %s", r.Method, r.RequestURI, r.Host, r.UserAgent())
	token := l.recordInteraction(r.RequestURI+" "+r.Host,
		scan.Interaction{Protocol: "http", From: peerOf(addrOf(r.RemoteAddr)).String(),
			Request: text, Browser: isBrowserAgent(r.UserAgent())})
	if token == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = io.WriteString(w, responseOf(token).Text) // who asked may be gone
}

// renderers are words in the User-Agent of programs that render pages for no person.
var renderers = []string{"headless", "wkhtmlto", "phantomjs", "slimerjs", "jsdom", "prince", "javafx", "splash"}

// isBrowserAgent reports whether a User-Agent is one of a browser that people use: all of them
// begin like the first one that was widely used.
func isBrowserAgent(agent string) bool {
	agent = strings.ToLower(agent)
	return strings.HasPrefix(agent, "mozilla/") && !slices.ContainsFunc(renderers, func(w string) bool {
		return strings.Contains(agent, w)
	})
}

// addrOf is an address as net/http tells it.
type addrOf string

// Network implements net.Addr.
func (addrOf) Network() string { return "tcp" }

// String implements net.Addr.
func (a addrOf) String() string { return string(a) }

// Of LDAP (RFC 4511) as much as a client wants before it tells what it looks for.
const (
	ldapSequence = 0x30    // begins a message
	ldapBind     = 0x60    // signs in
	ldapSearch   = 0x63    // looks something up
	maxLDAP      = 4 << 10 // bytes of one message
)

// serveLDAP lets a client sign in as nobody, reads what it looks for, and answers that it is
// not there.
func (l *Listener) serveLDAP(c net.Conn) {
	buf := make([]byte, maxLDAP)
	for range 2 {
		n, err := io.ReadAtLeast(c, buf, 2) // the first byte of a connection comes alone
		if err != nil {
			return
		}
		l.recordInteraction(string(buf[:n]), scan.Interaction{Protocol: "ldap", From: peerOf(c.RemoteAddr()).String(),
			Request: printableText(buf[:n])})
		answer := ldapAnswer(buf[:n])
		if answer == nil {
			return
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

// ldapAnswer answers a message: a bind succeeds, a search finds no such object (code
// 32). Everything else gets no answer.
func ldapAnswer(sent []byte) []byte {
	head := 2 // the sequence with its length
	if len(sent) > 1 && sent[1] > 0x80 {
		head += int(sent[1] & 0x7f)
	}
	if len(sent) < head+4 || sent[0] != ldapSequence || sent[head] != 2 || sent[head+1] != 1 {
		return nil
	}
	number := sent[head+2]
	switch sent[head+3] {
	case ldapBind:
		return []byte{ldapSequence, 12, 2, 1, number, 0x61, 7, 10, 1, 0, 4, 0, 4, 0}
	case ldapSearch:
		return []byte{ldapSequence, 12, 2, 1, number, 0x65, 7, 10, 1, 32, 4, 0, 4, 0}
	}
	return nil
}

// printableText is a message with dots for what is no text.
func printableText(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '.'
		}
		return r
	}, string(b))
}

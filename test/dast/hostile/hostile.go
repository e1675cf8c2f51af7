// Package hostile serves applications that do what no application should: they die,
// hang, never end, lead elsewhere, lie about their answers, and run script that does
// not stop. A scan of one has to end by itself, within bounds, say what it could not
// look at, tell no flaw that is not there, and reach nothing but the application.
package hostile

import (
	"context"
	"crypto/tls"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Trap is one such application.
type Trap struct {
	// Name is the name of the subtest and of the row; it has to be unique.
	Name string
	// API says that it is examined as an API, by the descriptions at these addresses.
	// Paths of the application, such as "/openapi.json" or "/graphql".
	API          bool
	Descriptions []string
	// Says is what a reason of the scan has to say.
	// nil demands none.
	Says *regexp.Regexp
	// Whole says that everything can be looked at, so that the scan may end without a
	// reason.
	Whole bool
	// TLS says that the application is encrypted: its address is https.
	TLS bool
	// Identity is who the scan signs in as, as a target names it; nil: nobody.
	Identity map[string]any
	// build makes the application and is called once, before the listener accepts. It may set
	// Site.second.
	build func(*Site) http.Handler
	// takes is given each connection before the application is, and reports whether it
	// keeps it; nil: none. It closes what it keeps.
	takes func(*Site, net.Conn) bool
}

// Base is where the application is.
func (t Trap) Base() string {
	if t.TLS {
		return "https://" + address
	}
	return "http://" + address
}

// A Site is a trap that is served.
type Site struct {
	// server is nil until the trap is started.
	server *http.Server
	second func(*tls.Conn) // serves who speaks HTTP/2; nil: nobody is offered it
	// listener is the plain one, below TLS, so that closing it ends handshakes as well.
	listener net.Listener
	// requests counts all requests, HTTP/2 included; asked counts what afterRequests and
	// afterConnections have let through.
	requests atomic.Int64
	asked    atomic.Int64 // by build, see after
	// mu guards reached.
	mu sync.Mutex
	// others are the listeners at the addresses that must not be reached.
	others  []net.Listener
	reached []string
}

// address is where applications listen.
// The port is fixed since forbidden addresses contain it: another port of the same host is out of
// scope.
const address = "127.0.0.1:8080"

// Addresses are those, beside the ones that every machine has, that have to be there for
// Serve: of metadata services.
// They are added to the loopback interface by the test, in a network namespace of its own.
var Addresses = []string{"169.254.169.254/32", "100.100.100.200/32", "fd00:ec2::254/128"}

// elsewhere are the addresses that no scan may reach: another port of the application's
// own address, other addresses of loopback, and the metadata services of clouds.
// A target is one origin: scheme, host and port. 127.0.0.2 and [::1] are the same machine under
// another name, which a filter of private addresses by text would miss.
var elsewhere = []string{"127.0.0.1:9090", "[::1]:9090", "127.0.0.2:8080", "127.0.0.2:80", "169.254.169.254:80",
	"169.254.169.254:8080", "[fd00:ec2::254]:80", "100.100.100.200:80"}

// Serve serves the trap, and listens at all that it leads to.
func Serve(t Trap) (*Site, error) {
	s := &Site{}
	// The forbidden addresses listen before the application: a visit must be recorded from the
	// first request.
	for _, address := range elsewhere {
		o, err := net.Listen("tcp", address)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.others = append(s.others, o)
		go s.recordVisitors(o)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.startTrap(l, t)
	return s, nil
}

// startTrap serves the trap where l listens.
func (s *Site) startTrap(l net.Listener, t Trap) {
	// build comes first: it may set second, which decides whether TLS offers HTTP/2.
	pages := t.build(s)
	s.listener = l
	if t.takes != nil {
		// takes sees the connection before TLS, so that it can misbehave in the handshake.
		l = &chooser{l, func(c net.Conn) bool { return t.takes(s, c) }}
	}
	if t.TLS {
		l = listenTLS(l, s.second != nil)
	}
	// The log is discarded since broken handshakes and connections are the purpose. An empty
	// TLSNextProto keeps net/http from serving HTTP/2 by itself.
	s.server = &http.Server{ErrorLog: log.New(io.Discard, "", 0), TLSNextProto: map[string]func(*http.Server, *tls.Conn,
		http.Handler){}, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.requests.Add(1)
			pages.ServeHTTP(w, r)
		})}
	if s.second != nil {
		s.server.TLSNextProto["h2"] = func(_ *http.Server, c *tls.Conn, _ http.Handler) { s.second(c) }
	}
	go func() { _ = s.server.Serve(l) }() // it ends when it is closed
}

// A chooser hands over the connections that nobody else takes.
type chooser struct {
	net.Listener
	takes func(net.Conn) bool
}

// Accept implements net.Listener.
func (c *chooser) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil || !c.takes(conn) {
			return conn, err
		}
	}
}

// recordVisitors keeps who comes to an address that nobody may reach.
func (s *Site) recordVisitors(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // closed
		}
		// The beginning of what was sent shows which check or which part of the browser made the
		// connection.
		first := make([]byte, 60)
		_ = c.SetReadDeadline(time.Now().Add(time.Second)) // what was sent does not matter much
		n, _ := c.Read(first)                              // likewise
		_ = c.Close()                                      // nobody is answered
		s.mu.Lock()
		s.reached = append(s.reached, fmt.Sprintf("%s with %.60q", l.Addr(), first[:n]))
		s.mu.Unlock()
	}
}

// Requests is how many requests the application got.
func (s *Site) Requests() int { return int(s.requests.Load()) }

// Reached tells what was reached that must not be.
// An empty list is the goal of each trap.
func (s *Site) Reached() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.reached...)
}

// Close ends the application and all beside it.
func (s *Site) Close() {
	for _, o := range s.others {
		_ = o.Close() // nobody waits for it
	}
	s.killSite()
}

// killSite ends the application as a process that is killed: connections break off, and
// nobody listens any more.
func (s *Site) killSite() {
	if s.server != nil {
		_ = s.listener.Close() // likewise
		_ = s.server.Close()   // likewise
	}
}

// afterRequests serves the first n requests by one handler, and all others by another one.
// The count is of requests and not of time, so that runs do not depend on the speed of the machine.
func (s *Site) afterRequests(n int64, first, then http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.asked.Add(1) <= n {
			first(w, r)
			return
		}
		then(w, r)
	})
}

// ordinarySite is a small application without flaws whose first page holds the given markup
// as well.
func ordinarySite(markup string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w)
		switch r.URL.Path {
		case "/":
			writePage(w, `<a href="/item?id=1">one</a> <a href="/item?id=2">two</a> <a href="/about">about</a>
				// The traps that need no page of their own still have a form and parameters, so the
				// active checks run.
				<form action="/search"><input name="q"><input type="submit"></form>`+markup)
		case "/item", "/search", "/about":
			// The query is escaped: the application has no cross-site scripting.
			writePage(w, "<p>Nothing about "+html.EscapeString(r.URL.RawQuery)+`</p> <a href="/">back</a>`)
		default:
			http.NotFound(w, r)
		}
	}
}

// withPrefix serves paths with a prefix by one handler, and all others as ordinary does.
func withPrefix(prefix, markup string, h http.HandlerFunc) http.Handler {
	rest := ordinarySite(markup)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, prefix) {
			h(w, r)
			return
		}
		rest(w, r)
	})
}

// setSecurityHeaders sets the headers that a careful application sets.
// Without these the passive checks would report missing headers, and a trap may have no findings.
func setSecurityHeaders(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
}

// writePage writes an HTML page.
func writePage(w io.Writer, markup string) {
	writeText(w, "<!doctype html><html><head><title>Shop</title></head><body>"+markup+"</body></html>")
}

// writeText writes to somebody who may be gone.
// The result is false when the client is gone, which ends the endless responses.
func writeText(w io.Writer, text string) bool {
	_, err := io.WriteString(w, text)
	return err == nil
}

// flushResponse sends what was written.
// Buffered bytes would otherwise reach the client as a block and not one by one.
func flushResponse(w http.ResponseWriter) bool { return http.NewResponseController(w).Flush() == nil }

// sleepContext waits, and reports whether the client is still there.
func sleepContext(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// hijackConnection hands the connection over to f, which writes what it wants, and closes it.
// After that the server writes nothing to the connection: no status line, no headers.
func hijackConnection(f func(net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }() // that is the point
		f(c)
	}
}

// rawResponse makes a raw answer of a fixed text.
func rawResponse(text string) http.HandlerFunc {
	return hijackConnection(func(c net.Conn) { writeText(c, text) })
}

// Traps lists all.
// A new kind of trap is a file with a list, which is added here. The test runs each trap by its
// name.
var Traps = slices.Concat(hanging, huge, wrong, refusing, chances, leading, mazes, documents, scripts, descriptions,
	encryption, signing)

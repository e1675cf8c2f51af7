package browser

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	maxBody        = 32 << 20        // of one plain answer
	maxTunnel      = 256 << 20       // of one connection with TLS, each way
	guardIdle      = 2 * time.Minute // of a connection
	guardAdmission = time.Second     // that a connection waits for its host to be admitted
	maxAdmitted    = 2000            // hosts that are admitted
)

// A Dial opens a connection, deciding on the resolved address.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// A guard is the HTTP proxy that is the browser's only way out. It serves only who
// knows its credential, and connects only to hosts that were admitted.
type guard struct {
	dial     Dial
	server   *http.Server
	plain    *http.Transport
	user     string
	password string

	mu       sync.Mutex
	admitted map[string]chan struct{} // by host:port; closed when admitted
	refused  int
}

// newGuard makes a proxy with a random credential, which only the browser is told.
func newGuard(dial Dial) *guard {
	g := &guard{dial: dial, user: rand.Text(), password: rand.Text(), admitted: map[string]chan struct{}{}}
	g.plain = &http.Transport{
		DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: guardIdle,
		ResponseHeaderTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 20,
	}
	g.server = &http.Server{Handler: g, ReadHeaderTimeout: 20 * time.Second, IdleTimeout: guardIdle,
		MaxHeaderBytes: 1 << 20}
	return g
}

// serveBrowser answers a browser until its listener or the guard is closed.
func (g *guard) serveBrowser(browser net.Listener) {
	go func() { _ = g.server.Serve(browser) }()
}

// closeGuard ends the proxy and its connections.
func (g *guard) closeGuard() {
	_ = g.server.Close()
	g.plain.CloseIdleConnections()
}

// admitHost lets connections to the host of the address through from now on.
func (g *guard) admitHost(u *url.URL) {
	g.mu.Lock()
	defer g.mu.Unlock()
	host := hostPort(u)
	door, known := g.admitted[host]
	if !known {
		if len(g.admitted) >= maxAdmitted {
			return
		}
		door = make(chan struct{})
		g.admitted[host] = door
	}
	select {
	case <-door:
	default:
		close(door)
	}
}

// isAdmitted waits a moment for the host to be admitted: the event that a WebSocket is
// about to be opened may arrive after its connection. An address that is never admitted
// is refused after that.
func (g *guard) isAdmitted(ctx context.Context, host string) bool {
	g.mu.Lock()
	door, known := g.admitted[host]
	if !known && len(g.admitted) < maxAdmitted {
		door = make(chan struct{})
		g.admitted[host] = door
	}
	g.mu.Unlock()
	if door == nil {
		return false
	}
	select {
	case <-door:
		return true
	default:
	}
	select {
	case <-door:
		return true
	case <-ctx.Done():
	case <-time.After(guardAdmission):
	}
	g.mu.Lock()
	g.refused++
	g.mu.Unlock()
	return false
}

// hostPort returns host:port of an address.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" || u.Scheme == "ws" {
			port = "80"
		}
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// ServeHTTP serves one request of the browser: a tunnel for TLS, or a plain request
// that is sent on.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.isAuthorized(r.Header.Get("Proxy-Authorization")) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="scan"`)
		http.Error(w, "this proxy serves one browser", http.StatusProxyAuthRequired)
		return
	}
	host := ""
	switch {
	case r.Method == http.MethodConnect:
		host = strings.ToLower(r.Host)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		host = hostPort(r.URL)
	}
	if host == "" || !g.isAdmitted(r.Context(), host) {
		http.Error(w, "not part of the scan", http.StatusForbidden)
		return
	}
	if r.Method == http.MethodConnect {
		g.tunnelTLS(w, r, host)
		return
	}
	g.forwardPlain(w, r)
}

// isAuthorized compares the credential in constant time. Any program on the machine can
// reach the proxy; only the browser may use it.
func (g *guard) isAuthorized(header string) bool {
	kind, credential, _ := strings.Cut(header, " ")
	got, err := base64.StdEncoding.DecodeString(credential)
	return err == nil && strings.EqualFold(kind, "Basic") &&
		subtle.ConstantTimeCompare(got, []byte(g.user+":"+g.password)) == 1
}

// tunnelTLS copies bytes both ways. What is in it is encrypted for the target and was
// decided about before.
func (g *guard) tunnelTLS(w http.ResponseWriter, r *http.Request, host string) {
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	up, err := g.dial(ctx, "tcp", host)
	cancel()
	if err != nil {
		http.Error(w, "cannot connect", http.StatusBadGateway)
		return
	}
	defer func() { _ = up.Close() }()
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = down.Close() }()
	if _, err := down.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	relay := func(to net.Conn, from io.Reader, deadline net.Conn) {
		copyBounded(to, from, deadline)
		done <- struct{}{}
	}
	go relay(up, buffered, down)
	go relay(down, up, up)
	<-done
	_ = up.Close()
	_ = down.Close()
	<-done
}

// copyBounded copies until the end, maxTunnel bytes, or silence for guardIdle.
func copyBounded(to io.Writer, from io.Reader, conn net.Conn) {
	buffer := make([]byte, 32<<10)
	for total := 0; total < maxTunnel; {
		_ = conn.SetReadDeadline(time.Now().Add(guardIdle))
		n, err := from.Read(buffer)
		total += n
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}

// hopHeaders are about one connection (RFC 9110, 7.6.1) or about us.
var hopHeaders = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Authenticate",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// forwardPlain sends a plain request on.
func (g *guard) forwardPlain(w http.ResponseWriter, r *http.Request) {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	for _, name := range hopHeaders {
		out.Header.Del(name)
	}
	answer, err := g.plain.RoundTrip(out)
	if err != nil {
		http.Error(w, "cannot connect", http.StatusBadGateway)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	for _, name := range hopHeaders {
		answer.Header.Del(name)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	flusher := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for total := 0; total < maxBody; {
		n, err := answer.Body.Read(buffer)
		total += n
		if _, werr := w.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
		_ = flusher.Flush() // a stream of events is never full
	}
	panic(http.ErrAbortHandler) // too long: the browser is told that it is cut
}

package server

import (
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// This file gives requests deadlines that move with their progress, and bounds those of
// one client.

// limitSlowClients cuts off clients that send the body of a request, or take the response, too
// slowly. An upload or an export may take any time while it moves.
func limitSlowClients(most limits, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.ProtoMajor == 2 {
			// The windows of a stream may be closed while the connection moves.
			w = &pacedWriter{ResponseWriter: w, limits: most, control: control}
		}
		if r.Body != nil && r.Body != http.NoBody {
			conn, _ := r.Context().Value(connectionKey{}).(*connection)
			body := &pacedBody{ReadCloser: r.Body, limits: most, control: control, conn: conn}
			body.extendReadDeadline(most.first)
			r.Body = body
			defer body.limitLeftover()
		}
		next.ServeHTTP(w, r)
	})
}

// A pacedBody sets a deadline for each read of a body.
type pacedBody struct {
	io.ReadCloser
	limits
	control *http.ResponseController
	conn    *connection // nil in tests
	bytes   int64
	waited  time.Duration
	ended   bool
}

// extendReadDeadline sets when the next read fails; after the end there is no deadline.
func (b *pacedBody) extendReadDeadline(d time.Duration) {
	at := time.Time{}
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = b.control.SetReadDeadline(at) // a connection without deadlines is one of a test
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	// The deadline is gone by now and must not be set again.
	if b.ended {
		return b.ReadCloser.Read(p)
	}
	// The time until the bytes arrive counts as waiting for the client.
	if b.conn != nil {
		defer b.conn.beginWait()()
	}
	b.extendReadDeadline(b.nextTimeout(b.bytes, b.waited))
	began := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.waited += time.Since(began)
	b.bytes += int64(n)
	if err == io.EOF {
		b.ended = true
		b.extendReadDeadline(0) // from now on the server watches whether the client goes away
	}
	return n, err
}

// leftover is how long the server may read what a handler left of a body.
const leftover = 5 * time.Second

// limitLeftover bounds how long net/http reads what the handler has left over, in order to
// reuse the connection.
func (b *pacedBody) limitLeftover() {
	if !b.ended {
		b.extendReadDeadline(min(leftover, b.first))
	}
}

// A pacedWriter sets a deadline for each step of a response.
type pacedWriter struct {
	http.ResponseWriter
	limits
	control *http.ResponseController
	bytes   int64
	waited  time.Duration
}

// Write implements io.Writer.
func (w *pacedWriter) Write(p []byte) (int, error) {
	total := 0
	for {
		step := p[total:min(total+writeStep, len(p))]
		began := time.Now()
		_ = w.control.SetWriteDeadline(began.Add(w.nextTimeout(w.bytes, w.waited))) // HTTP/2 has deadlines
		n, err := w.ResponseWriter.Write(step)
		w.waited += time.Since(began)
		w.bytes += int64(n)
		total += n
		if err != nil || total == len(p) {
			return total, err
		}
	}
}

// Unwrap gives http.ResponseController the writer below.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// requestCounter counts the requests of each client that are being answered.
type requestCounter struct {
	most int
	mu   sync.Mutex
	by   map[netip.Addr]int
}

// limitClientRequests refuses requests of a client that has too many already: behind a proxy, or over
// HTTP/2, many share one connection. The client is what forwarded found.
func limitClientRequests(most limits, next http.Handler) http.Handler {
	c := &requestCounter{most: most.client, by: map[netip.Addr]int{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := addressOf(r.RemoteAddr)
		if !c.addRequest(client) {
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			// the client may be gone
			_, _ = io.WriteString(w,
				`{"status":429,"statusCode":429,"title":"Too Many Requests","message":"this address has too many requests at once"}`+"\n")
			return
		}
		defer c.removeRequest(client)
		next.ServeHTTP(w, r)
	})
}

// addRequest counts a request, or reports false when its client has as many as it may.
func (c *requestCounter) addRequest(a netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[a] >= c.most {
		return false
	}
	c.by[a]++
	return true
}

// removeRequest stops counting it. Clients without requests are forgotten, so that the map
// does not grow with every address that was ever seen.
func (c *requestCounter) removeRequest(a netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[a]--; c.by[a] <= 0 {
		delete(c.by, a)
	}
}

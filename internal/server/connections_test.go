package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"merlon/internal/config"
)

func someLimits() limits {
	return limits{open: 100, client: 100, first: 10 * time.Second, pause: 10 * time.Second, rate: leastRate}
}

// serveWith serves a handler with limits until the test ends, and returns its address.
func serveWith(t *testing.T, most limits, trusted []netip.Prefix, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serveHTTP(ctx, newConnections(l, most, trusted), h, certificate{}) }()
	t.Cleanup(func() {
		stop()
		<-served
	})
	return l.Addr().String()
}

// dial opens a connection and writes to it; it is closed when the test ends.
func dial(t *testing.T, from, at, text string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// answered reports whether a request over a new connection is answered at once.
func answered(t *testing.T, from, at string) bool {
	t.Helper()
	c := dial(t, from, at, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	_ = c.SetDeadline(time.Now().Add(3 * time.Second))
	line, err := bufio.NewReader(c).ReadString('\n')
	return err == nil && strings.Contains(line, " 200 ")
}

var discard = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	_, _ = io.WriteString(w, "ok")
})

// TestSlowConnectionsMakeRoom opens as many connections as there may be, which send
// nothing, a part of a header, or a part of a body.
func TestSlowConnectionsMakeRoom(t *testing.T) {
	for name, begin := range map[string]string{
		"nothing": "", "header": "GET / HT", "second header": "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT",
		"body": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc", "chunk": "POST / HTTP/1.1\r\nHost: " +
			"x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na",
	} {
		t.Run(name, func(t *testing.T) {
			most := someLimits()
			most.open, most.client = 8, 8
			at := serveWith(t, most, nil, discard)
			for n := range 24 {
				dial(t, fmt.Sprintf("127.0.0.%d", 2+n%3), at, begin)
			}
			for n := range 5 {
				if !answered(t, "127.0.0.9", at) {
					t.Fatalf("request %d was not answered", n)
				}
			}
		})
	}
}

// TestWorkingConnectionsStay answers a request that takes its time, and an upload that
// moves, while slow connections come and go.
func TestWorkingConnectionsStay(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{})
	most := someLimits()
	most.open, most.client = 4, 4
	at := serveWith(t, most, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/work" {
			close(entered)
			<-release
		}
		discard(w, r)
	}))
	working := dial(t, "127.0.0.1", at, "GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	const size = 64 << 20
	upload := dial(t, "127.0.0.1", at, fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size))
	sent := make(chan error, 1)
	go func() {
		piece := make([]byte, 1<<20)
		for range size / len(piece) {
			if _, err := upload.Write(piece); err != nil {
				sent <- err
				return
			}
			time.Sleep(10 * time.Millisecond) // so that slow connections come meanwhile
		}
		sent <- nil
	}()
	for range 20 {
		dial(t, "127.0.0.1", at, "GET / HT")
		time.Sleep(10 * time.Millisecond) // while the upload moves
	}
	close(release)
	if err := <-sent; err != nil {
		t.Errorf("the upload was cut: %v", err)
	}
	for name, c := range map[string]net.Conn{"working": working, "upload": upload} {
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
			t.Errorf("%s: %q, %v", name, line, err)
		}
	}
}

// TestConnectionsOfOneClient lets one address not take the places of others, unless it is
// a trusted proxy.
func TestConnectionsOfOneClient(t *testing.T) {
	most := someLimits()
	most.client = 3
	var block chan struct{}
	started := make(chan struct{}, 100)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/block" {
			started <- struct{}{}
			<-block
		}
		discard(w, r)
	})
	for name, test := range map[string]struct {
		trusted []netip.Prefix
		want    bool
	}{"a client": {nil, false}, "a proxy": {[]netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}, true}} {
		t.Run(name, func(t *testing.T) {
			at := serveWith(t, most, test.trusted, h)
			block = make(chan struct{})
			defer close(block)
			for range 3 { // working requests, which are not closed for others
				dial(t, "127.0.0.2", at, "GET /block HTTP/1.1\r\nHost: x\r\n\r\n")
				<-started
			}
			if got := answered(t, "127.0.0.2", at); got != test.want {
				t.Errorf("one more of the same address is answered: %t", got)
			}
			if !answered(t, "127.0.0.3", at) {
				t.Error("another address is not answered")
			}
		})
	}
}

// TestRequestsOfOneClient bounds the requests that come through one proxy for one client.
func TestRequestsOfOneClient(t *testing.T) {
	block, started := make(chan struct{}), make(chan struct{}, 10)
	most := someLimits()
	most.client = 2
	networks := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	at := serveWith(t, most, networks, resolveClientAddress(proxies{networks, "x-forwarded-for"},
		limitClientRequests(most, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/block" {
				started <- struct{}{}
				<-block
			}
			discard(w, r)
		}))))
	ask := func(path, client string) int {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+at+path, nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		req.Header.Set("X-Forwarded-For", client)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer func() { _ = res.Body.Close() }()
		return res.StatusCode
	}
	done := make(chan int, 2)
	for range 2 {
		go func() { done <- ask("/block", "198.51.100.1") }()
		<-started
	}
	if got := ask("/", "198.51.100.1"); got != 429 {
		t.Errorf("a third request of the client: %d, want 429", got)
	}
	if got := ask("/", "198.51.100.2"); got != 200 {
		t.Errorf("a request of another client: %d", got)
	}
	close(block)
	for range 2 {
		if got := <-done; got != 200 {
			t.Errorf("a request that was let in: %d", got)
		}
	}
	if got := ask("/", "198.51.100.1"); got != 200 {
		t.Errorf("afterwards: %d", got)
	}
}

// TestDeadlinesMove cuts off clients that are too slow on average or stop, and lets those
// go on that move.
func TestDeadlinesMove(t *testing.T) {
	most := someLimits()
	most.first, most.pause, most.rate = 300*time.Millisecond, 300*time.Millisecond, 1<<10
	read := make(chan error, 1)
	written := make(chan error, 1)
	at := serveWith(t, most, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			_, err := io.Copy(io.Discard, r.Body)
			read <- err
			return
		}
		piece := make([]byte, 1<<20)
		var err error
		for range 64 {
			if _, err = w.Write(piece); err != nil {
				break
			}
		}
		written <- err
	}))
	const post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n"
	for name, test := range map[string]struct {
		pieces, size int
		every        time.Duration
		cut          bool
	}{
		"stops":  {1, 10, 0, true},
		"drips":  {100, 1, 20 * time.Millisecond, true},
		"moves":  {10, 400, 60 * time.Millisecond, false}, // longer than any single pause
		"at end": {1, 4000, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, "127.0.0.1", at, post)
			for range test.pieces {
				if _, err := c.Write(make([]byte, test.size)); err != nil {
					break // cut
				}
				time.Sleep(test.every)
			}
			if err := <-read; (err != nil) != test.cut {
				t.Errorf("the body ended with %v", err)
			}
		})
	}
	t.Run("reads nothing", func(t *testing.T) {
		dial(t, "127.0.0.1", at, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if err := <-written; err == nil {
			t.Error("64 MiB were written to a client that reads nothing")
		}
	})
	t.Run("reads slowly", func(t *testing.T) {
		c := dial(t, "127.0.0.1", at, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		buffer, total := make([]byte, 1<<20), 0
		for total < 64<<20 {
			n, err := c.Read(buffer)
			if err != nil {
				t.Fatalf("after %d bytes: %v", total, err)
			}
			total += n
			time.Sleep(5 * time.Millisecond) // many times, longer than a pause together
		}
		if err := <-written; err != nil {
			t.Errorf("the response was cut: %v", err)
		}
	})
}

// TestHandlerOutlivesBody lets a handler work longer than a body may pause, with a body
// and without one, and sees when the client goes away.
func TestHandlerOutlivesBody(t *testing.T) {
	most := someLimits()
	most.first, most.pause = 100*time.Millisecond, 100*time.Millisecond
	ended := make(chan error, 1)
	at := serveWith(t, most, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
			ended <- r.Context().Err()
		case <-time.After(500 * time.Millisecond): // several pauses
			ended <- nil
		}
	}))
	for name, text := range map[string]string{
		"none": "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "length": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " +
			"3\r\n\r\nabc",
		"chunks": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"empty":  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
	} {
		dial(t, "127.0.0.1", at, text)
		if err := <-ended; err != nil {
			t.Errorf("%s: the request was ended: %v", name, err)
		}
		c := dial(t, "127.0.0.1", at, text)
		time.Sleep(100 * time.Millisecond) // until the handler waits
		_ = c.Close()
		if err := <-ended; err == nil {
			t.Errorf("%s: the handler did not see that the client went away", name)
		}
	}
}

func TestNewLimits(t *testing.T) {
	l, err := newLimits(config.Connections{})
	if err != nil || l.open < leastConnections || l.open > mostConnections || l.client < 1 || l.client > l.open {
		t.Errorf("derived: %+v, %v", l, err)
	}
	l, err = newLimits(config.Connections{MaxConnections: 40, MaxClientConnections: 7})
	if err != nil || l.open != 40 || l.client != 7 {
		t.Errorf("set: %+v, %v", l, err)
	}
}

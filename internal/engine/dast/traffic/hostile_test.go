package traffic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/scan"
)

// drain sends requests to the target until one fails, and returns how many were answered
// and why there are no more.
func drain(t *testing.T, base string, o Options, method string, most int) (int, error) {
	t.Helper()
	scope, err := sitemap.NewScope(&scan.Target{URL: base + "/"})
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	o.Scope, o.Dial, o.Rate = scope, dialer.DialContext, 1e6
	c := New(o)
	defer c.Close()
	for n := range most {
		r, err := message.Parse(base + "/")
		if err != nil {
			t.Fatal(err)
		}
		if r.Method = method; method == http.MethodPost {
			r.Body = message.Body{Kind: message.Form, Params: []message.Param{{Name: "a", Value: "b"}}}
		}
		if _, err := c.Send(t.Context(), r, nil); err != nil &&
			(errors.Is(err, ErrUnreachable) || errors.Is(err, context.DeadlineExceeded)) {
			return n, err
		}
	}
	return most, nil
}

// Targets that hang end what is asked of them, in a time that is known before.
func TestTargetsThatHang(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"never answers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"never ends": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, "x")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		},
	} {
		server := httptest.NewServer(h)
		n, err := drain(t, server.URL, Options{Timeout: 20 * time.Millisecond}, http.MethodGet, 100)
		server.Close()
		if !errors.Is(err, ErrUnreachable) || n != maxFailing-1 {
			t.Errorf("%s: ended after %d requests with %v", name, n, err)
		}
	}
}

// A form that meets a connection which the target has just closed is sent again.
func TestClosedConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nobody waits for it
	var served atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // one answer for each connection, which says that there are more
				defer func() { _ = conn.Close() }() // that is the point
				buffer := make([]byte, 4096)
				if _, err := conn.Read(buffer); err != nil {
					return
				}
				fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				served.Add(1)
				_, _ = conn.Read(buffer) // the next one is not answered
			}()
		}
	}()
	const requests = 6
	n, err := drain(t, "http://"+l.Addr().String(), Options{Timeout: 10 * time.Second}, http.MethodPost, requests)
	if n != requests || err != nil || served.Load() != requests {
		t.Errorf("%d of %d forms were answered, %v", served.Load(), requests, err)
	}
}

// Of what answers in parts is told which operations it were; films are no matter, and an
// encoding that nobody asked for is no answer.
func TestPartialAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		switch r.URL.Path {
		case "/coded":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "whatever")
		case "/breaks":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "short")
		case "/long":
			fmt.Fprint(w, "0123456789")
		default:
			fmt.Fprint(w, "01234567")
		}
	}))
	defer server.Close()
	scope, err := sitemap.NewScope(&scan.Target{URL: server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	c := New(Options{Scope: scope, Dial: dialer.DialContext, Body: 8})
	defer c.Close()
	for path, answered := range map[string]bool{"/whole?type=text/html": true, "/long?type=text/html": true,
		"/long/film?type=video/mp4": true, "/breaks?type=application/json": true, "/coded?type=text/html": false} {
		r, err := message.Parse(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Send(t.Context(), r, nil); (err == nil) != answered {
			t.Errorf("%s: %v", path, err)
		}
	}
	if want := []string{"GET " + server.URL + "/breaks", "GET " + server.URL +
		"/long"}; !slices.Equal(c.TruncatedRoutes(),
		want) {
		t.Errorf("parts of %q; want %q", c.TruncatedRoutes(), want)
	}
}

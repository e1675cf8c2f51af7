package server

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPanicBecomesAnAnswerAndARecord(t *testing.T) {
	var log bytes.Buffer
	h := logRequests(slog.New(slog.NewTextHandler(&log, nil)),
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			panic("kaput")
		}))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/x", nil))
	if rec.Code != http.StatusInternalServerError || strings.Contains(rec.Body.String(), "kaput") {
		t.Errorf("answered %d %q", rec.Code, rec.Body)
	}
	if !strings.Contains(log.String(), "kaput") {
		t.Errorf("the log does not say what happened: %s", &log)
	}
}

func TestTheLogHoldsNoUploadToken(t *testing.T) {
	var log bytes.Buffer
	h := logRequests(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("PUT", "/uploads/t0ken?x=1", nil))
	if strings.Contains(log.String(), "t0ken") || !strings.Contains(log.String(), "status=200") {
		t.Errorf("log: %s", &log)
	}
}

func TestListenLetsRunningRequestsFinish(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	entered, release := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "done")
	})
	served := make(chan error, 1)
	go func() {
		served <- serveHTTP(ctx, newConnections(l, someLimits(), nil), setSecurityHeaders(false, h), certificate{})
	}()
	type answer struct {
		body string
		csp  string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		res, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answered <- answer{err: err}
			return
		}
		defer func() { _ = res.Body.Close() }()
		b, err := io.ReadAll(res.Body)
		answered <- answer{string(b), res.Header.Get("Content-Security-Policy"), err}
	}()
	<-entered
	stop()
	close(release)
	if a := <-answered; a.err != nil || a.body != "done" || a.csp == "" {
		t.Errorf("answer %+v", a)
	}
	if err := <-served; err != nil {
		t.Errorf("listen: %v", err)
	}
}

// TestEveryResponseIsGuarded checks the headers that tell browsers not to render,
// frame, keep or pass on a response.
func TestEveryResponseIsGuarded(t *testing.T) {
	for _, https := range []bool{false, true} {
		rec := httptest.NewRecorder()
		setSecurityHeaders(https, http.NotFoundHandler()).ServeHTTP(rec, httptest.NewRequest("GET", "/x", nil))
		want := map[string]string{
			"Content-Security-Policy": "default-src 'none'; form-action 'none'; frame-ancestors 'none'; " +
				"base-uri 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cache-Control":                "no-store",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Strict-Transport-Security":    map[bool]string{true: "max-age=31536000"}[https],
		}
		for name, value := range want {
			if got := rec.Header().Get(name); got != value {
				t.Errorf("https %v: %s %q, want %q", https, name, got, value)
			}
		}
	}
}

// What follows a body whose end is in doubt is not answered as a request: for a proxy it may
// have been part of the body.
func TestDoubtfulBodiesEndTheConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	go func() { served <- serveHTTP(ctx, newConnections(l, someLimits(), nil), h, certificate{}) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	const next = "GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		second  bool // is answered
	}{
		"length": {"POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", true},
		"length and chunks": {"POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n0\r\n\r\n", false},
		"folded": {"POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\nTransfer-Encoding:\r\n " +
			"chunked\r\n\r\n0\r\n\r\n", false},
		"chunks in HTTP/1.0": {"POST /first HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: " +
			"5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, c.request+next); err != nil {
			t.Fatal(err)
		}
		responses := bufio.NewReader(conn)
		var paths []string
		for {
			res, err := http.ReadResponse(responses, nil)
			if err != nil {
				break
			}
			b, _ := io.ReadAll(res.Body)
			paths = append(paths, string(b))
		}
		_ = conn.Close()
		want := "/first"
		if c.second {
			want += " /smuggled"
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s: answered %q, want %q", name, got, want)
		}
	}
}

package server

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestForwardedBelievesOnlyTrustedProxies(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, test := range map[string]struct{ peer, header, want string }{
		"no proxy":               {"192.0.2.1:5", "", "192.0.2.1:5"},
		"stranger's claim":       {"192.0.2.1:5", "198.51.100.7", "192.0.2.1:5"},
		"proxy":                  {"10.1.1.1:5", "198.51.100.7", "198.51.100.7:0"},
		"client's claim ignored": {"10.1.1.1:5", "127.0.0.1, 198.51.100.7, 10.2.2.2", "198.51.100.7:0"},
		"all trusted":            {"10.1.1.1:5", "10.3.3.3, 10.2.2.2", "10.3.3.3:0"},
		"unreadable":             {"10.1.1.1:5", "198.51.100.7, nonsense", "10.1.1.1:5"},
		"proxy without header":   {"10.1.1.1:5", "", "10.1.1.1:5"},
		"IPv6 client":            {"10.1.1.1:5", "2001:db8::1", "[2001:db8::1]:0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = test.peer
			if test.header != "" {
				r.Header.Set("X-Forwarded-For", test.header)
			}
			var got string
			forwarded(trusted, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr })).
				ServeHTTP(httptest.NewRecorder(), r)
			if got != test.want {
				t.Errorf("address %s, want %s", got, test.want)
			}
		})
	}
}

func TestPanicBecomesAnAnswerAndARecord(t *testing.T) {
	var log bytes.Buffer
	h := observe(slog.New(slog.NewTextHandler(&log, nil)), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
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
	h := observe(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
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
	go func() { served <- listen(ctx, l, secure(false, h), certificate{}) }()
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

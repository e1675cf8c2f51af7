package browser

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/chromium"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// A gate counts, and admits what belongs to the hosts of the test.
type gate struct {
	mu    sync.Mutex
	hosts map[string]bool
	limit int // 0: none
	asked []string
}

func (g *gate) Admit(_ context.Context, r *message.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hosts[r.Host] {
		return errors.New("outside of the scope")
	}
	if g.limit > 0 && len(g.asked) >= g.limit {
		return errors.New("the requests are used up")
	}
	g.asked = append(g.asked, r.Method+" "+r.Path)
	return nil
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.asked)
}

// A world is a browser with a gate for one server.
type world struct {
	*Browser
	gate   *gate
	server *httptest.Server
	dialed sync.Map // addresses
}

// newWorld serves the handler and starts a browser for it.
func newWorld(t *testing.T, handler http.Handler, change ...func(*Options)) *world {
	t.Helper()
	w := &world{server: httptest.NewServer(handler), gate: &gate{hosts: map[string]bool{}}}
	t.Cleanup(w.server.Close)
	host := strings.TrimPrefix(w.server.URL, "http://")
	w.gate.hosts[host] = true
	path, err := chromium.Find()
	if err != nil {
		t.Fatal(err, "(scripts/deps.sh installs it)")
	}
	o := Options{Path: path, Gate: w.gate, Within: func(r *message.Request) bool { return r.Host == host },
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			w.dialed.Store(address, true)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		Headers: []scan.Header{{Name: "X-Merlon-Scan", Value: "scan-7"}}}
	for _, f := range change {
		f(&o)
	}
	if w.Browser, err = Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func (w *world) request(t *testing.T, path string) *message.Request {
	t.Helper()
	r, err := message.Parse(w.server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func html(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, body)
	}
}

// TestNotStarted checks that a browser that cannot run says why.
func TestNotStarted(t *testing.T) {
	dial := (&net.Dialer{}).DialContext
	for name, o := range map[string]Options{
		"no Chromium":       {Dial: dial, Gate: &gate{}},
		"cannot be started": {Dial: dial, Gate: &gate{}, Path: "/nonexistent/chromium"},
		"does not start":    {Dial: dial, Gate: &gate{}, Path: "/bin/false"},
	} {
		b, err := Start(t.Context(), o)
		if err == nil {
			b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGuard checks that nobody else can use the proxy, and that it serves only hosts
// that were admitted.
func TestGuard(t *testing.T) {
	target := httptest.NewServer(html("target"))
	defer target.Close()
	g := newGuard((&net.Dialer{}).DialContext)
	defer g.closeGuard()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.serveBrowser(listener)
	get := func(user *url.Userinfo) (int, string) {
		proxy := &url.URL{Scheme: "http", Host: listener.Addr().String(), User: user}
		client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
		defer client.CloseIdleConnections()
		got, err := client.Get(target.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = got.Body.Close() }()
		body, _ := io.ReadAll(got.Body)
		return got.StatusCode, string(body)
	}
	if status, _ := get(nil); status != http.StatusProxyAuthRequired {
		t.Errorf("without a credential: %d", status)
	}
	if status, _ := get(url.UserPassword(g.user, "wrong")); status != http.StatusProxyAuthRequired {
		t.Errorf("with a wrong password: %d", status)
	}
	ours := url.UserPassword(g.user, g.password)
	if status, _ := get(ours); status != http.StatusForbidden {
		t.Errorf("a host that was not admitted: %d", status)
	}
	u, _ := url.Parse(target.URL)
	g.admitHost(u)
	if status, body := get(ours); status != http.StatusOK || body != "target" {
		t.Errorf("a host that was admitted: %d %q", status, body)
	}
}

// TestScope lets a page ask for what is and what is not part of the target.
func TestScope(t *testing.T) {
	var outside sync.Map
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		outside.Store(r.URL.Path, r.Header.Get("X-Merlon-Scan"))
		if r.URL.Path == "/lib.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, "document.title = 'library'")
		}
	}))
	defer foreign.Close()
	var headers sync.Map
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		headers.Store(r.URL.Path, r.Header.Get("X-Merlon-Scan"))
		html(`<script src="`+foreign.URL+`/lib.js"></script><img src="`+foreign.URL+`/pixel.png"><img src="/own.png">
			<iframe src="`+foreign.URL+`/frame"></iframe>
			<script>fetch("/api", {method: "POST", body: JSON.stringify({a: 1}), headers: {"Content-Type": "application/json"}});
			fetch("`+foreign.URL+`/steal"); new WebSocket("`+strings.Replace(foreign.URL, "http", "ws", 1)+`/socket");
			navigator.sendBeacon("`+foreign.URL+`/beacon", "x");</script>`)(w, r)
	})
	mux.HandleFunc("/leave", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, foreign.URL+"/redirected", http.StatusFound)
	})
	w := newWorld(t, mux)
	var mu sync.Mutex
	seen := map[string]Sent{}
	sockets := 0
	p, err := w.Page(t.Context(), PageOptions{Observe: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Request != nil {
			seen[e.Request.Method+" "+e.Request.Path] = *e.Request
		}
		if e.Socket != "" {
			sockets++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Open(t.Context(), w.server.URL+"/", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := p.Open(t.Context(), w.server.URL+"/leave", 10*time.Second); err != nil {
		t.Log(err) // it was not followed
	}
	mu.Lock()
	defer mu.Unlock()
	if id, ok := outside.Load("/lib.js"); !ok || id != "" {
		t.Errorf("the script of another host: loaded %v, with the header %q", ok, id)
	}
	for _, path := range []string{"/pixel.png", "/frame", "/steal", "/socket", "/beacon", "/redirected"} {
		if _, ok := outside.Load(path); ok {
			t.Errorf("%s of another host was asked for", path)
		}
	}
	for _, key := range []string{"GET /pixel.png", "GET /frame", "GET /steal", "GET /redirected", "GET /own.png"} {
		if s, ok := seen[key]; !ok || s.Refused == "" {
			t.Errorf("%s: seen %v, refused for %q", key, ok, s.Refused)
		}
	}
	if s := seen["POST /api"]; s.Request == nil || s.Body.Kind != message.JSON || string(s.Body.Text) != `{"a":1}` ||
		s.Refused != "" || s.Kind != "xhr" {
		t.Errorf("POST /api was seen as %+v", s)
	}
	if id, _ := headers.Load("/"); id != "scan-7" {
		t.Errorf("the page was asked for with the header %q", id)
	}
	if id, _ := headers.Load("/api"); id != "scan-7" {
		t.Errorf("the API was asked for with the header %q", id)
	}
	if sockets != 1 {
		t.Errorf("%d WebSockets were seen", sockets)
	}
	if got, want := w.gate.count(), 3; got != want {
		t.Errorf("%d requests were counted, not %d: %q", got, want, w.gate.asked)
	}
	if _, ok := headers.Load("/own.png"); ok {
		t.Error("a picture was loaded")
	}
}

package domxss

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"merlon/internal/chromium"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/message"
)

// site has a page with a vulnerability for each kind of source that has an address, each beside
// its safe twin, and an application with routes in its fragment.
func site() http.Handler {
	mux := http.NewServeMux()
	page := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><p id=o></p>"+body)
		})
	}
	page("/query", `<script>o.innerHTML = new URLSearchParams(location.search).get("q")</script>`)
	page("/query-safe", `<script>o.textContent = new URLSearchParams(location.search).get("q")</script>`)
	page("/hash", `<script>document.write("<b>" + decodeURIComponent(location.hash) + "</b>")</script>`)
	page("/hash-safe", `<script>document.title = decodeURIComponent(location.hash)</script>`)
	page("/kept", `<script>o.innerHTML = localStorage.greeting || "Hello"</script>`)
	page("/kept-safe", `<script>o.textContent = localStorage.greeting || "Hello"</script>`)
	mux.HandleFunc("/path/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<p id=o></p><script>o.innerHTML = decodeURIComponent(location.pathname)</script>`)
	})
	page("/dynamic", `<p>`+strings.Repeat("x", 20)+`</p><script>o.innerHTML = Math.random() + new Date()</script>`)
	page("/plain", `<p>no script</p>`)
	page("/app", `<input id=box><script>
		box.onkeyup = (e) => { if (e.key === "Enter") location.hash = "#/search?q=" + encodeURIComponent(box.value) };
		onhashchange = onload = () => { if (location.hash.startsWith("#/search?q=")) o.innerHTML = "Results for " + decodeURIComponent(location.hash.slice(11)) }</script>`)
	mux.HandleFunc("/api", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"location": 1}`) })
	return mux
}

// TestCheck finds the vulnerabilities with a real browser, and none in the twins.
func TestCheck(t *testing.T) {
	path, err := chromium.Find()
	if err != nil {
		t.Fatal(err, "(scripts/deps.sh installs it)")
	}
	got := activescantest.Attack(t, site(), []*activescan.Rule{Rule}, []string{
		"GET /query?q=a", "GET /query-safe?q=a", "GET /hash", "GET /hash-safe", "GET /kept", "GET /kept-safe",
		"GET /path/a", "GET /dynamic?x=1", "GET /plain?x=1", "GET /app", "GET /api?x=1", "POST /query q=a",
	}, func(r *activescan.Engine) {
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		b, err := browser.Start(t.Context(), browser.Options{Path: path, Dial: dial, Gate: r.Client,
			Within: func(m *message.Request) bool {
				return r.Scope.Allows(m) == nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		r.Browser = browser.Prover{Browser: b}
		app, err := url.JoinPath(r.Target.URL, "app")
		if err != nil {
			t.Fatal(err)
		}
		walk, err := b.Explore(t.Context(), browser.Exploration{Seeds: []string{app}, Time: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", walk)
	})
	activescantest.Expect(t, got,
		"dast/xss/dom GET /query query:q",
		"dast/xss/dom GET /hash",
		"dast/xss/dom-storage GET /kept local:greeting",
		"dast/xss/dom GET /path/a",
		"dast/xss/dom GET /app fragment:q")
	t.Logf("%d requests", got.Requests)
}

// TestWithoutBrowser is silent and sends nothing.
func TestWithoutBrowser(t *testing.T) {
	got := activescantest.Attack(t, site(), []*activescan.Rule{Rule}, []string{"GET /query?q=a"})
	activescantest.Expect(t, got)
}

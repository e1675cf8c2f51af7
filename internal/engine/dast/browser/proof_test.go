package browser

import (
	"encoding/base64"
	"fmt"
	gohtml "html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// reflecting is an application with pages that reflect the parameter q in different
// places, with and without escaping.
func reflecting() http.Handler {
	mux := http.NewServeMux()
	page := func(path, format string, escape func(string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			html(fmt.Sprintf(format, escape(r.FormValue("q"))))(w, r)
		})
	}
	raw := func(s string) string { return s }
	page("/raw", "<p>%s</p>", raw)
	page("/escaped", "<p>%s</p>", gohtml.EscapeString)
	page("/attribute", `<a title="%s" href="#">link</a>`, raw)
	page("/link", `<a href="%s">link</a>`, gohtml.EscapeString)
	page("/echo", `<script>alert(decodeURIComponent("%s"))</script>`, url.QueryEscape)
	page("/policy", "<p>%s</p>", raw)
	mux.HandleFunc("/policy2", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "script-src 'none'")
		html("<p>"+r.FormValue("q")+"</p>")(w, r)
	})
	mux.HandleFunc("/text", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, r.FormValue("q"))
	})
	return mux
}

// TestRun proves executions, and stays silent where nothing is executed.
func TestRun(t *testing.T) {
	w := newWorld(t, reflecting())
	for _, c := range []struct {
		path, q, marker, want string
	}{
		{"/raw", "<script>alert('m81f')</script>", "m81f", "alert"},
		{"/raw", "<img src=x onerror=confirm('m81f')>", "m81f", "confirm"},
		{"/raw", "<svg onload=m81f()>", "m81f", "call"},
		{"/raw", "<iframe srcdoc='<script>parent.m81f()</script>'></iframe>", "m81f", "call"},
		{"/raw", "<script>alert('other')</script>", "m81f", ""},
		{"/raw", "m81f", "m81f", ""},
		{"/escaped", "<script>alert('m81f')</script>", "m81f", ""},
		{"/attribute", `x" onmouseover="m81f()`, "m81f", "call"},
		{"/attribute", `x" onfocus=alert('m81f') tabindex=1 x="`, "m81f", "alert"},
		{"/link", "javascript:m81f()", "m81f", "call"},
		{"/link", "https://example.com/m81f", "m81f", ""},
		{"/echo", "m81f", "m81f", ""},
		{"/echo", "<img src=x onerror=alert('m81f')>", "m81f", ""},
		{"/policy2", "<script>m81f()</script><img src=x onerror=m81f()>", "m81f", ""},
		{"/text", "<script>m81f()</script>", "m81f", ""},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := w.request(t, c.path)
			if r.Method = method; method == http.MethodGet {
				r.Query = []message.Param{{Name: "q", Value: c.q}}
			} else {
				r.Body = message.Body{Kind: message.Form, Params: []message.Param{{Name: "q", Value: c.q}}}
			}
			got, err := w.RunProbe(t.Context(), ScriptProbe{Request: r, Marker: c.marker})
			kind := ""
			if len(got) > 0 {
				kind = got[0].Kind
			}
			if err != nil || kind != c.want {
				t.Errorf("%s %s?q=%s: executed %q (%v), %v; want %q", method, c.path, c.q, kind, got, err, c.want)
			}
			if method == http.MethodPost && c.path != "/raw" {
				break
			}
		}
	}
}

// TestRunThen proves a script that a step of the page executes.
func TestRunThen(t *testing.T) {
	w := newWorld(t, html(`<input id=name><button onclick="document.body.innerHTML='<p>'+document.querySelector('#name').value">Go</button>`))
	got, err := w.RunProbe(t.Context(), ScriptProbe{Request: w.request(t, "/"), Marker: "k42zz",
		Then: []scan.BrowserStep{
			{Fill: "#name", Value: "<img src=x onerror=k42zz()>"}, {Click: "button"}, {Wait: "img"},
		}})
	if err != nil || len(got) == 0 || got[0].Kind != "call" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := w.RunProbe(t.Context(), ScriptProbe{Request: w.request(t, "/"), Marker: "k42zz",
		Then: []scan.BrowserStep{{Click: "]["}}}); err == nil || !strings.Contains(err.Error(), "selector") {
		t.Errorf("a selector that is none: %v", err)
	}
}

// TestHostile opens pages that want to keep the browser busy. Each ends in time, and
// an ordinary page opens afterwards.
func TestHostile(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	mux := http.NewServeMux()
	mux.HandleFunc("/never", func(w http.ResponseWriter, r *http.Request) {
		html("<p>begun</p>")(w, r)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-never:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/huge", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for line := []byte(strings.Repeat("<p>x</p>", 4096)); ; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/windows",
		html(`<script>for (let i = 0; i < 1000; i++) { window.open("/w" + i); const a = document.createElement("a"); a.href = "/a" + i; a.target = "_blank"; document.documentElement.append(a); a.click(); }</script>`))
	mux.HandleFunc("/dialogs", html(`<script>for (;;) alert("again")</script>`))
	mux.HandleFunc("/loop", html(`<p>text</p><script>setTimeout(() => { for (;;); }, 50)</script>`))
	mux.HandleFunc("/requests", html(`<script>for (let i = 0; i < 5000; i++) fetch("/r" + i)</script>`))
	mux.HandleFunc("/console",
		html(`<script>const s = "x".repeat(1e6); for (let i = 0; i < 300; i++) { console.log(s + i); history.pushState(0, "", "/p" + i) }</script>`))
	mux.HandleFunc("/reload", html(`<script>location.href = "/reload?" + Math.random()</script>`))
	mux.HandleFunc("/data", html(`<iframe src="data:text/html;base64,`+
		base64.StdEncoding.EncodeToString([]byte("<script>for(;;);</script>"))+`"></iframe>`))
	mux.HandleFunc("/file", html(`<script>location = "file:///etc/passwd"; open("file:///etc/passwd")</script><iframe src="file:///etc/passwd"></iframe>`))
	mux.HandleFunc("/good", html("<h1>good</h1>"))
	w := newWorld(t, mux)
	w.gate.limit = 200
	for _, path := range []string{"/never", "/huge", "/windows", "/dialogs", "/loop", "/requests", "/console",
		"/reload", "/data", "/file"} {
		w.gate.mu.Lock()
		w.gate.asked = nil
		w.gate.mu.Unlock()
		began := time.Now()
		p, err := w.Page(t.Context(), PageOptions{})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		err = p.Open(t.Context(), w.server.URL+path, 4*time.Second)
		p.Close()
		t.Logf("%s: %v after %v", path, err, time.Since(began).Round(time.Millisecond))
		if time.Since(began) > 2*time.Minute {
			t.Errorf("%s took %v", path, time.Since(began))
		}
	}
	w.gate.limit = 0
	checkGood(t, w)
	if _, err := w.Crashes(); err != nil {
		t.Logf("the browser died: %v", err)
	}
}

func checkGood(t *testing.T, w *world) {
	t.Helper()
	p, err := w.Page(t.Context(), PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	title := ""
	if err := p.Open(t.Context(), w.server.URL+"/good", time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := p.Eval(t.Context(), "document.querySelector('h1').textContent", &title); err != nil || title != "good" {
		t.Errorf("the page holds %q, %v", title, err)
	}
}

// TestCrash kills the browser and a page, and works again.
func TestCrash(t *testing.T) {
	w := newWorld(t, html("<h1>good</h1>"))
	p, err := w.Page(t.Context(), PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runCommand(t.Context(), w.running.root, cdpbrowser.Crash, cdp.Empty{}); err == nil {
		t.Fatal("the browser goes on")
	}
	<-w.running.root.lost
	if err := p.Open(t.Context(), w.server.URL+"/", 5*time.Second); err == nil {
		t.Error("a page of a dead browser opened")
	}
	p.Close()
	checkGood(t, w)
	if n, err := w.Crashes(); n != 1 || err == nil || !strings.Contains(err.Error(), "the browser has ended "+
		"(signal: ") {
		t.Errorf("%d crashes, %v", n, err)
	}
	if p, err = w.Page(t.Context(), PageOptions{}); err != nil {
		t.Fatal(err)
	}
	_, _ = runCommand(t.Context(), p.session, cdppage.Crash, cdp.Empty{})
	if err := p.Open(t.Context(), w.server.URL+"/", 5*time.Second); err == nil ||
		!strings.Contains(err.Error(), "crashed") {
		t.Errorf("a page that has crashed opened: %v", err)
	}
	p.Close()
	checkGood(t, w)
}

// TestMemory ends a browser that takes too much.
func TestMemory(t *testing.T) {
	w := newWorld(t, html(`<script>globalThis.kept = []; setInterval(() => { const b = new Uint8Array(5e7); for (let i = 0; i < b.length; i += 1024) b[i] = i; kept.push(b) }, 1)</script>`),
		func(o *Options) { o.Memory = 700 << 20 })
	running := w.running
	p, err := w.Page(t.Context(), PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_ = p.Open(t.Context(), w.server.URL+"/", 5*time.Second)
	select {
	case <-running.root.lost:
	case <-time.After(time.Minute):
		t.Fatal("it runs with more memory than it may have")
	}
	if err := running.process.ExitReason(); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Error(err)
	}
}

// TestBegin counts the windows of a page anew with all that is done with it.
func TestBegin(t *testing.T) {
	p := &Page{}
	for range 3 {
		p.resetCounters()
		for range maxPopups {
			p.handlePopup("https://example.com/help")
		}
	}
	if err := p.pageError(nil); err != nil {
		t.Error(err)
	}
}

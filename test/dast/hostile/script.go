package hostile

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"net"
	"net/http"
	"regexp"
	"strings"
)

// This file holds traps that lie in script, for the browser.

// scripted is the reason for pages whose script could not be run.
var scripted = regexp.MustCompile(`script was not run`)

// servePageScript serves a page with script beside the ordinary ones.
// The page is at /js with a parameter, and linked from the first page; the paragraph with the id p
// is for scripts that change the document.
func servePageScript(script string) func(*Site) http.Handler {
	return func(*Site) http.Handler {
		return withPrefix("/js", `<a href="/js?id=1">script</a>`, func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			writePage(w, `<p id="p">hello</p><script>`+script+`</script>`)
		})
	}
}

// scripts are pages whose script exhausts the browser or escapes its page.
var scripts = []Trap{
	{Name: "script that never ends", Says: scripted, build: servePageScript(`for (;;) {}`)},
	// The start page is a special case: without it the browser has nothing to crawl.
	{Name: "the first page's script never ends", Says: scripted, build: func(*Site) http.Handler {
		return ordinarySite(`<script>for (;;) {}</script>`)
	}},
	// A dialog blocks the page until the browser is told to close it, and then the next one opens.
	{Name: "dialogs without end", Says: scripted,
		build: servePageScript(`for (;;) { alert(1); confirm(2); prompt(3) }`)},
	// beforeunload can keep a page from being left: navigation must not wait for a confirmation.
	{Name: "a dialog when the page is left", Whole: true,
		build: servePageScript(`onbeforeunload = e => { e.preventDefault(); e.returnValue = 'stay'; return 'stay' }; setInterval(() => alert(1), 10)`)},
	// Each window is a target of the browser with a process and memory of its own.
	{Name: "windows without end", Whole: true,
		build: servePageScript(`setInterval(() => { for (let i = 0; i < 50; i++) window.open('/about?w=' + Math.random()) }, 10)`)},
	// Downloads would fill the disk; the browser of the scan must refuse them.
	{Name: "downloads without end", Whole: true,
		build: servePageScript(`setInterval(() => { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'.repeat(1e6)])); a.download = 'x' + Math.random(); document.body.append(a); a.click() }, 5)`)},
	{Name: "a document that grows", Whole: true,
		build: servePageScript(`setInterval(() => { for (let i = 0; i < 5000; i++) { const d = document.createElement('div'); d.textContent = 'x'.repeat(100); document.body.append(d) } }, 5)`)},
	// 50 MB every 5 ms: the renderer process must be limited, and its end must not end the scan.
	{Name: "memory that grows", Whole: true,
		build: servePageScript(`const kept = []; setInterval(() => { kept.push(new Uint8Array(5e7).fill(7)) }, 5)`)},
	// Such a page is never idle: the wait for its requests needs an end.
	{Name: "requests without end", Whole: true,
		build: servePageScript(`let n = 0; setInterval(() => { for (let i = 0; i < 50; i++) fetch('/about?n' + (n++) + '=' + Math.random()) }, 10)`)},
	// The address changes without a request (single-page applications), so the crawl sees endless
	// new pages.
	{Name: "new routes without end", Whole: true,
		build: servePageScript(`setInterval(() => { history.pushState({}, '', '/js/' + Math.random().toString(36).replace(/[^a-z]/g, '')); document.body.innerHTML += '<a href="#/' + Math.random() + '" onclick="x()">more</a>' }, 10)`)},
	// The page replaces itself while it is analyzed; what is read of it may belong to the next
	// page.
	{Name: "pages that leave by themselves", Whole: true,
		build: servePageScript(`setTimeout(() => { location = '/js?id=' + Math.random() }, 20)`)},
	{Name: "workers and frames without end", Whole: true,
		build: servePageScript(`setInterval(() => { new Worker(URL.createObjectURL(new Blob(['for(;;){}']))); const f = document.createElement('iframe'); f.src = '/js?id=1'; document.body.append(f) }, 50)`)},
	// Overwritten built-ins change the results of code that the scanner runs in the page.
	{Name: "a page that undoes what a browser offers", Whole: true,
		build: servePageScript(`Object.defineProperty(Array.prototype, 'map', {get() { throw 1 }}); JSON.stringify = () => { for (;;) {} }; Element.prototype.querySelectorAll = document.querySelectorAll = () => { throw 2 }; window.fetch = null; Promise = null`)},
	// WebAssembly loops cannot be interrupted the way script is in some engines.
	{Name: "WebAssembly that never ends", Says: scripted,
		build: servePageScript(`new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11]))).exports.f()`)},
	// A service worker stays after the page and answers every later request of the origin with a
	// promise that never settles.
	{Name: "a service worker that answers nothing", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/worker.js", `<script>navigator.serviceWorker.register('/worker.js')</script>`,
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/javascript")
				writeText(w, `oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim()); onfetch = e => e.respondWith(new Promise(() => {})); for (const c of [1, 2]) setInterval(() => { for (;;) {} }, 1000)`)
			})
	}},
	// Frames arrive faster than they are processed, in both directions.
	{Name: "sockets that flood", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/flood",
			`<script>for (let i = 0; i < 20; i++) { const s = new WebSocket('ws://' + location.host + '/flood'); s.onmessage = e => { document.title += e.data.length; s.send(e.data) } }</script>`, floodWebSocket)
	}},
	// 20,000 nested shadow roots: a recursive walk over the document exhausts the stack.
	{Name: "shadows and slots within each other", Whole: true,
		build: servePageScript(`let e = document.body; for (let i = 0; i < 20000; i++) { const d = document.createElement('div'); e.append(d); e = d.attachShadow({mode: 'open'}) }`)},
	// Each event that the crawler triggers triggers others.
	{Name: "a page that answers each event with another", Whole: true,
		build: servePageScript(`for (const n of ['click', 'focus', 'mouseover', 'input', 'change', 'submit', 'scroll', 'hashchange', 'popstate']) addEventListener(n, e => { history.pushState({}, '', '/js?id=' + Math.random()); for (const x of document.querySelectorAll('*')) setTimeout(() => x.dispatchEvent(new Event(n, {bubbles: true}))) }, true); document.getElementById('p').innerHTML = '<a href="#a" onclick="x()">a</a><input onchange="y()"><button>b</button>'`)},
}

// floodWebSocket answers a handshake of a WebSocket (RFC 6455) with messages without end.
func floodWebSocket(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Sec-WebSocket-Key")
	// Only a handshake has the header; a plain request of the crawler gets 426.
	if key == "" {
		http.Error(w, "a socket", http.StatusUpgradeRequired)
		return
	}
	// The GUID is fixed by RFC 6455, section 1.3.
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // as the standard says
	hijackConnection(func(c net.Conn) {
		writeText(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "+
			"Upgrade\r\nSec-WebSocket-Accept: "+base64.StdEncoding.EncodeToString(sum[:])+"\r\n\r\n")
		// 0x81 is FIN with opcode 1 (text), 100 is the length without a mask; a hundred frames in
		// one write.
		frames := string(bytes.Repeat(append([]byte{0x81, 100}, strings.Repeat("x", 100)...), 100))
		for writeText(c, frames) {
		}
	})(w, r)
}

package hostile

import (
	"net/http"
	"regexp"
)

// This file holds traps that lie in script, for the browser.

var scripted = regexp.MustCompile(`script was not run`)

// running serves a page with script beside the ordinary ones.
func running(script string) func(*Site) http.Handler {
	return func(*Site) http.Handler {
		return beside("/js", `<a href="/js?id=1">script</a>`, func(w http.ResponseWriter, _ *http.Request) {
			guard(w)
			page(w, `<p id="p">hello</p><script>`+script+`</script>`)
		})
	}
}

var scripts = []Trap{
	{Name: "script that never ends", Says: scripted, build: running(`for (;;) {}`)},
	{Name: "the first page's script never ends", Says: scripted, build: func(*Site) http.Handler { return ordinary(`<script>for (;;) {}</script>`) }},
	{Name: "dialogs without end", Says: scripted, build: running(`for (;;) { alert(1); confirm(2); prompt(3) }`)},
	{Name: "a dialog when the page is left", Whole: true, build: running(`onbeforeunload = e => { e.preventDefault(); e.returnValue = 'stay'; return 'stay' }; setInterval(() => alert(1), 10)`)},
	{Name: "windows without end", Whole: true, build: running(`setInterval(() => { for (let i = 0; i < 50; i++) window.open('/about?w=' + Math.random()) }, 10)`)},
	{Name: "downloads without end", Whole: true, build: running(`setInterval(() => { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'.repeat(1e6)])); a.download = 'x' + Math.random(); document.body.append(a); a.click() }, 5)`)},
	{Name: "a document that grows", Whole: true, build: running(`setInterval(() => { for (let i = 0; i < 5000; i++) { const d = document.createElement('div'); d.textContent = 'x'.repeat(100); document.body.append(d) } }, 5)`)},
	{Name: "memory that grows", Whole: true, build: running(`const kept = []; setInterval(() => { kept.push(new Uint8Array(5e7).fill(7)) }, 5)`)},
	{Name: "requests without end", Whole: true, build: running(`let n = 0; setInterval(() => { for (let i = 0; i < 50; i++) fetch('/about?n' + (n++) + '=' + Math.random()) }, 10)`)},
	{Name: "new routes without end", Whole: true, build: running(`setInterval(() => { history.pushState({}, '', '/js/' + Math.random().toString(36).replace(/[^a-z]/g, '')); document.body.innerHTML += '<a href="#/' + Math.random() + '" onclick="x()">more</a>' }, 10)`)},
	{Name: "pages that leave by themselves", Whole: true, build: running(`setTimeout(() => { location = '/js?id=' + Math.random() }, 20)`)},
	{Name: "workers and frames without end", Whole: true, build: running(`setInterval(() => { new Worker(URL.createObjectURL(new Blob(['for(;;){}']))); const f = document.createElement('iframe'); f.src = '/js?id=1'; document.body.append(f) }, 50)`)},
	{Name: "a page that undoes what a browser offers", Whole: true, build: running(`Object.defineProperty(Array.prototype, 'map', {get() { throw 1 }}); JSON.stringify = () => { for (;;) {} }; Element.prototype.querySelectorAll = document.querySelectorAll = () => { throw 2 }; window.fetch = null; Promise = null`)},
}

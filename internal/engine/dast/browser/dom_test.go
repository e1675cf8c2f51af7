package browser

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/dast/message"
)

// DOM pages: the script of a page, what it is opened with, and what must be found:
// source and sink, or nothing.
var domPages = []struct {
	name, body, address string
	source, sink        string // empty: it is safe
}{
	{"hash into innerHTML", `<p id=o></p><script>o.innerHTML = decodeURIComponent(location.hash.slice(1))</script>`,
		"/", "fragment", "Element innerHTML"},
	{"hash into textContent", `<p id=o></p><script>o.textContent = decodeURIComponent(location.hash.slice(1))</script>`,
		"/", "", ""},
	{"hash as it is", `<p id=o></p><script>o.innerHTML = location.hash.slice(1)</script>`, "/", "", ""},
	{"parameter into document.write",
		`<script>const m = location.search.match(/lang=([^&]*)/); document.write("<select><option value='" + decodeURIComponent(m ? m[1] : "en") + "'>x</option></select>")</script>`, "/?lang=en", "query", "Document write"},
	{"parameter, encoded for HTML",
		`<p id=o></p><script>const e = (s) => s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;").replace(/'/g, "&#39;"); o.innerHTML = "<b title='" + e(new URLSearchParams(location.search).get("q") || "") + "'>" + e(new URLSearchParams(location.search).get("q") || "") + "</b>"</script>`, "/?q=a", "", ""},
	{"parameter, encoded for addresses",
		`<p id=o></p><script>o.innerHTML = "<a href='/x?" + encodeURIComponent(new URLSearchParams(location.search).get("q") || "").replace(/'/g, "%27") + "'>x</a>"</script>`, "/?q=a", "", ""},
	{"parameter that only the script names",
		`<p id=o></p><script>const v = new URLSearchParams(location.search).get("secretname"); if (v) o.insertAdjacentHTML("beforeend", "<i>" + v + "</i>")</script>`, "/", "query", "Element insertAdjacentHTML"},
	{"sanitized by the browser's parser",
		`<p id=o></p><script>const d = new DOMParser().parseFromString(decodeURIComponent(location.hash.slice(1)), "text/html"); d.querySelectorAll("*").forEach((e) => { if (!["B", "I", "HTML", "HEAD", "BODY"].includes(e.tagName)) e.remove(); else for (const a of [...e.attributes]) e.removeAttribute(a.name) }); o.innerHTML = d.body.innerHTML</script>`, "/", "", ""},
	{"route with a parameter into innerHTML",
		`<p id=o></p><script>const q = new URLSearchParams(location.hash.split("?")[1]).get("q"); if (location.hash.startsWith("#/search")) o.innerHTML = "Results for " + q</script>`, "/#/search?q=a", "fragment", "Element innerHTML"},
	{"eval of a text", `<script>const v = new URLSearchParams(location.search).get("cb"); if (v) eval("var x = '" + v + "';")</script>`, "/?cb=a", "query", "eval"},
	{"eval of an escaped text",
		`<script>const v = new URLSearchParams(location.search).get("cb"); if (v) eval("var x = " + JSON.stringify(v) + ";")</script>`, "/?cb=a", "", ""},
	{"setTimeout of a text", `<script>const v = new URLSearchParams(location.search).get("t"); if (v) setTimeout("done(" + v + ")", 1); function done() {}</script>`, "/?t=1", "query", "Window setTimeout"},
	{"Function", `<script>const v = new URLSearchParams(location.search).get("f"); if (v) new Function("a", "return \"" + v + "\"")()</script>`, "/?f=1", "query", "Function"},
	{"name of the window", `<p id=o></p><script>if (name) o.outerHTML = "<div>" + name + "</div>"</script>`, "/",
		"name", "Element outerHTML"},
	{"referrer", `<script>if (document.referrer) document.write("<a href=\"" + decodeURIComponent(document.referrer) + "\">back</a>")</script>`, "/", "referrer", "Document write"},
	{"message of anybody", `<p id=o></p><script>addEventListener("message", (e) => { o.innerHTML = e.data })</script>`,
		"/", "message", "Element innerHTML"},
	{"message with a type", `<p id=o></p><script>addEventListener("message", (e) => { if (e.data.type === "show" && e.data.html) o.innerHTML = e.data.html })</script>`, "/", "message", "Element innerHTML"},
	{"message as JSON", `<p id=o></p><script>window.onload = () => addEventListener("message", (e) => { const m = JSON.parse(e.data); if (m.action == "run") eval(m.code) })</script>`, "/", "message", "eval"},
	{"message of the own origin",
		`<p id=o></p><script>addEventListener("message", (e) => { if (e.origin !== location.origin) return; o.innerHTML = e.data })</script>`, "/", "", ""},
	{"navigation", `<script>const n = new URLSearchParams(location.search).get("next"); if (n) location.href = n</script>`, "/?next=/", "query", "navigation"},
	{"navigation within the site",
		`<script>const n = new URLSearchParams(location.search).get("next"); if (n && n.startsWith("/home")) location.href = n; </script>`, "/?next=/home", "", ""},
	{"navigation to http alone",
		`<script>const n = new URLSearchParams(location.search).get("next"); if (n) { const u = new URL(n, location.href); if (u.protocol === "http:") location.href = u }</script>`, "/?next=/", "", ""},
	{"link", `<a id=back>back</a><script>back.href = new URLSearchParams(location.search).get("from") || "/"</script>`,
		"/?from=/", "query", "a href"},
	{"link, checked", `<a id=back>back</a><script>const f = new URLSearchParams(location.search).get("from") || "/"; back.href = /^(https?:|\/)/.test(f) ? f : "/"</script>`, "/?from=/", "", ""},
	{"script address", `<script>const s = document.createElement("script"); s.src = new URLSearchParams(location.search).get("js") || "/x.js"; document.head.append(s)</script>`, "/?js=x.js", "query", "HTMLScriptElement src"},
	{"script address below a folder",
		`<script>const s = document.createElement("script"); s.src = "/static/" + new URLSearchParams(location.search).get("js"); document.head.append(s)</script>`, "/?js=x.js", "", ""},
	{"handler by setAttribute",
		`<b id=o>x</b><script>o.setAttribute("onclick", "go('" + new URLSearchParams(location.search).get("id") + "')"); function go() {}</script>`, "/?id=1", "query", "Element onclick"},
	{"listener that is made of a text",
		`<b id=o>x</b><script>o.addEventListener("click", new Function(location.hash.slice(1)))</script>`, "/",
		"fragment", "Function"},
	{"policy stops it", `<meta http-equiv="Content-Security-Policy" content="script-src 'nonce-abc'"><p id=o></p><script nonce=abc>o.innerHTML = decodeURIComponent(location.hash.slice(1))</script>`, "/", "", ""},
	{"whole query as an address", `<script>location.assign(location.search.slice(1))</script>`, "/?//example.org",
		"query", "navigation"},
	{"whole query as an address, in the site",
		`<script>if (location.search.startsWith("?/home")) location.assign(location.search.slice(1))</script>`,
		"/?/home", "", ""},
	{"another window", `<script>const n = location.hash.slice(1); if (n) open(n)</script>`, "/", "fragment",
		"Window open"},
	{"address of data that is shown",
		`<p id=o></p><script>const n = location.hash.slice(1); if (n) fetch(n).then((r) => r.text()).then((t) => { o.innerHTML = t })</script>`, "/", "fragment", "Window fetch"},
	{"address of data that is shown as text",
		`<p id=o></p><script>const n = location.hash.slice(1); if (n) fetch(n).then((r) => r.text()).then((t) => { o.textContent = t })</script>`, "/", "", ""},
	{"base of addresses", `<script>const b = document.createElement("base"); b.href = location.hash.slice(1) || "/"; document.head.append(b); const s = document.createElement("script"); s.src = "x.js"; document.head.append(s)</script>`, "/", "fragment", "base href"},
	{"host of a script", `<script>const s = document.createElement("script"); s.src = "https://" + (new URLSearchParams(location.search).get("cdn") || "cdn.invalid") + "/x.js"; document.head.append(s)</script>`, "/?cdn=a", "query", "HTMLScriptElement src"},
	{"name of a function for the server",
		`<script>const s = document.createElement("script"); s.src = "/jsonp?q=" + decodeURIComponent(location.hash.slice(1)) + "&callback=show"; document.head.append(s); function show() {}</script>`, "/", "fragment", "HTMLScriptElement src"},
	{"name of a function, encoded",
		`<script>const s = document.createElement("script"); s.src = "/jsonp?q=" + encodeURIComponent(decodeURIComponent(location.hash.slice(1))) + "&callback=show"; document.head.append(s); function show() {}</script>`, "/", "", ""},
	{"path", `<script>document.write("<p>" + decodeURIComponent(location.pathname) + "</p>")</script>`, "/", "path",
		"Document write"},
	{"path as it is", `<script>document.write("<p>" + location.pathname + "</p>")</script>`, "/", "", ""},
	{"frame of its own origin",
		`<iframe id=o sandbox="allow-scripts"></iframe><script>o.srcdoc = decodeURIComponent(location.hash.slice(1))</script>`, "/", "", ""},
	{"message to onmessage", `<p id=o></p><script>onmessage = (e) => { o.innerHTML = e.data }</script>`, "/", "message",
		"Element innerHTML"},
	{"message of an origin that is not compared as a whole",
		`<script>addEventListener("message", (e) => { if (e.origin.match(/https?:\/\/www.example.com/)) eval(e.data) })</script>`, "/", "message", "eval"},
	{"message of one origin", `<script>addEventListener("message", (e) => { if (e.origin === "https://www.example.com") eval(e.data) })</script>`, "/", "", ""},
	{"entry of the storage", `<p id=o></p><script>localStorage.greeting ||= "Hello"; o.innerHTML = localStorage.getItem("greeting")</script>`, "/", "local", "Element innerHTML"},
	{"entry of the storage by its name", `<p id=o></p><script>o.innerHTML = sessionStorage.greeting || ""</script>`,
		"/", "session", "Element innerHTML"},
	{"entry of the storage as text",
		`<p id=o></p><script>localStorage.greeting ||= "Hello"; o.textContent = localStorage.greeting</script>`, "/",
		"", ""},
	{"cookie", `<script>if (!document.cookie) document.cookie = "lang=en"; eval("var l = '" + document.cookie.split("=")[1] + "'")</script>`, "/", "cookie", "eval"},
	{"shown in a dialog", `<script>alert(decodeURIComponent(location.hash)); document.title = location.hash</script>`,
		"/", "", ""},
}

// TestProbeDOM finds what executes texts from outside, and nothing in the safe twins.
func TestProbeDOM(t *testing.T) {
	mux := http.NewServeMux()
	for i, c := range domPages {
		prefix := "/" + string(rune('a'+i/10)) + string(rune('0'+i%10))
		mux.HandleFunc(prefix+"/", html(c.body))
	}
	mux.HandleFunc("/jsonp", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, r.FormValue("callback")+`({})`)
	})
	w := newWorld(t, mux)
	for i, c := range domPages {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			address, fragment, found := strings.Cut(c.address, "#")
			if found {
				fragment = "#" + fragment
			}
			r, err := message.Parse(w.server.URL + "/" + string(rune('a'+i/10)) + string(rune('0'+i%10)) + address)
			if err != nil {
				t.Fatal(err)
			}
			flaws, err := w.ProbeDOM(t.Context(),
				DOMProbe{Request: r, Fragment: fragment, Path: strings.Contains(c.body, "pathname")})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", flaws)
			switch {
			case c.source == "" && len(flaws) > 0:
				t.Errorf("it is safe, and %+v was found", flaws)
			case c.source != "" && (len(flaws) != 1 || flaws[0].Source != c.source || flaws[0].Sink != c.sink):
				t.Errorf("%s into %s was not found: %+v", c.source, c.sink, flaws)
			}
		})
	}
}

// TestPayloads looks at how texts break out of where they stand.
func TestPayloads(t *testing.T) {
	const all = `'"<>`
	for _, c := range []struct{ kind, value, want string }{
		{"TrustedHTML", `<p>C` + all, "<img src=x onerror=F()>"},
		{"TrustedHTML", `<p>C'"&lt;&gt;`, ""},
		{"TrustedHTML", `<a title="C` + all, `"><img src=x onerror=F()>`},
		{"TrustedHTML", `<a title="C'&quot;<>`, ""},
		{"TrustedHTML", `<a href="C'&quot;&lt;&gt;`, "javascript:F()"},
		{"TrustedHTML", `<a title='it"s' id=C` + all, "x onmouseover=F() onfocus=F() autofocus tabindex=1 "},
		{"TrustedHTML", `<b onclick='C"&lt;`, "F()"},
		{"TrustedHTML", `<b onclick="go('C` + all, "'-F()-'"},
		{"TrustedHTML", `<b onclick="go('C&#39;&quot;`, "'-F()-'"}, // entities are read before the script
		{"TrustedHTML", `<b onclick="go('C%27%22`, ""},
		{"TrustedHTML", `<textarea>C` + all, "</textarea><img src=x onerror=F()>"},
		{"TrustedHTML", `<textarea></textarea>C` + all, "<img src=x onerror=F()>"},
		{"TrustedHTML", `<!-- C` + all, "--><img src=x onerror=F()>"},
		{"TrustedScript", `x = 'C` + all, "'-F()-'"},
		{"TrustedScript", `x = 'C\'\"<>`, ""},
		{"TrustedScript", "x = `C" + all, "${F()}"},
		{"TrustedScript", `x = 1 // it's C` + all, "\nF()//"},
		{"TrustedScript", `/* C` + all, "*/F()/*"},
		{"TrustedScript", `"a'b" + C`, "F()"},
		{"TrustedScriptURL", `C`, "data:text/javascript,F()"},
		{"TrustedScriptURL", `/js/C`, ""},
		{"TrustedScriptURL", `/C`, "/HOST/"},
		{"TrustedScriptURL", `https://C/x.js`, "HOST/"},
		{"TrustedScriptURL", `//cdnC/x.js`, ".HOST/"},
		{"TrustedScriptURL", `/js?x=C&jsonp_cb=f`, "x&jsonp_cb=F#"},
		{"request", `C`, "data:,F()//<img src=x onerror=F()>"},
		{"request", `/api/C`, ""},
		{"base", `C`, "//HOST/"},
		{"template", `Hello C'"`, "{{constructor.constructor('F()')()}}"},
		{"navigation", `C`, "javascript:F()"},
		{"unknown", `C`, ""},
		{"TrustedHTML", `nothing`, ""},
	} {
		got := ""
		if list := flowPayloads(c.kind, c.value, "C"); len(list) > 0 {
			got = list[0]
		}
		if got != c.want {
			t.Errorf("%s %s: %q, not %q", c.kind, c.value, got, c.want)
		}
	}
}

// FuzzPayloads reads what sinks got, which pages choose.
func FuzzPayloads(f *testing.F) {
	f.Add("TrustedHTML", `<a title="C'"<>`)
	f.Add("TrustedScript", "x = `${C")
	f.Fuzz(func(t *testing.T, kind, value string) {
		for _, text := range flowPayloads(kind, value, "C") {
			if !strings.Contains(text, "F()") && !strings.Contains(text, "=F#") && !strings.Contains(text, "HOST/") {
				t.Errorf("%q runs nothing", text)
			}
		}
		_ = firstCaller(value)
	})
}

// FuzzBody reads bodies of pages' requests.
func FuzzBody(f *testing.F) {
	f.Add("a=1&b=%zz", "application/x-www-form-urlencoded")
	f.Add("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x--", "multipart/form-data; boundary=x")
	f.Add(`{"a":`, "application/json")
	f.Fuzz(func(_ *testing.T, content, contentType string) {
		b := parseBody([]byte(content), contentType)
		(&message.Request{Body: b}).Content()
		_ = addressShape(content)
		_, _, _ = splitFragment(content)
	})
}

func TestPayloadsForATextThatIsWrittenTwice(t *testing.T) {
	got := flowPayloads("TrustedHTML", `<option value='cnry%27%22%3C'>cnry'"<</option>`, "cnry")
	if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, "</option></select><img") }) {
		t.Errorf("payloads %q", got)
	}
	if got := flowPayloads("TrustedHTML", `<option value='cnry%27%22%3C'>cnry&#39;&quot;&lt;</option>`,
		"cnry"); len(got) != 0 {
		t.Errorf("payloads of an encoded text %q", got)
	}
}

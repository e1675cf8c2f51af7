package xss

import (
	stdcontext "context"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
)

// safeText encodes what markup needs.
var safeText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace

// server writes the parameter q into pages: raw below /bad, safely below /good.
func server() *http.ServeMux {
	mux := http.NewServeMux()
	raw := func(path, page string, filter func(string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			v := r.FormValue("q")
			if filter != nil {
				v = filter(v)
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<!DOCTYPE html><p>%d</p>", time.Now().UnixNano())
			_, _ = fmt.Fprint(w, strings.ReplaceAll(page, "Q", v))
		})
	}
	strip := func(words ...string) func(string) string {
		return func(s string) string {
			for _, w := range words {
				s = strings.ReplaceAll(s, w, "")
			}
			return s
		}
	}
	quotes := strings.NewReplacer(`"`, "&quot;", "'", "&#39;")
	raw("/bad/text", "<p>Q</p>", nil)
	raw("/bad/filtered", "<p>Q</p>", strip("<script", "<svg"))
	raw("/bad/once", "<p>Q</p>", func(s string) string {
		return strings.Replace(strings.ReplaceAll(strings.ReplaceAll(s, "<script>", ""), "=", ""), "</script>", "", 1)
	})
	raw("/bad/title", "<title>Q</title>", nil)
	raw("/bad/textarea", "<textarea>Q</textarea>", nil)
	raw("/bad/comment", "<!-- Q -->", nil)
	raw("/bad/double", `<input value="Q">`, nil)
	raw("/bad/single", `<input value='Q'>`, nil)
	raw("/bad/unquoted", `<input value=Q>`, nil)
	raw("/bad/noangle", `<input value="Q">`, strip("<", ">"))
	raw("/bad/hreftail", `<a href="Q/*/next">x</a>`, func(s string) string { return html.EscapeString(s) })
	raw("/bad/lines", `<p>Q</p>`, func(s string) string { // a filter that reads one line
		if ok, _ := regexp.MatchString("^.*<.*>.*$", s); ok {
			return "no tags"
		}
		return s
	})
	raw("/bad/href", `<a href="Q">x</a>`, func(s string) string { return html.EscapeString(s) })
	raw("/bad/iframe", `<iframe src='Q'></iframe>`, func(s string) string { return html.EscapeString(s) })
	raw("/bad/handler", `<button onclick="show('Q')">x</button>`, func(s string) string {
		return quotes.Replace(strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(s))
	})
	raw("/bad/string", `<script>var a = 'Q';</script>`, strip("<"))
	raw("/bad/call", `<script>go({"a": "Q", "b": 1});</script>`, strip("<"))
	raw("/bad/slashes", `<script>var a = 'Q';</script>`, func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "<", ""), "'", `\'`)
	})
	raw("/bad/code", `<script>var a = Q;</script>`, strip("<"))
	raw("/bad/line", "<script>// last: Q\nvar a = 1;</script>", strip("<"))
	raw("/bad/block", "<script>/* Q */ var a = 1;</script>", strip("<"))
	raw("/bad/template", "<script>var a = `Q`;</script>", strip("<"))
	raw("/bad/end", `<script>var a = "Q";</script>`, func(s string) string {
		b, _ := json.Marshal(s)
		return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(strings.Trim(string(b), `"`))
	})
	raw("/bad/tag", "<div Q>x</div>", nil)
	raw("/bad/src", `<script src="Q"></script>`, safeText)
	raw("/bad/base", `<base href='Q'>`, safeText)
	raw("/bad/srcdoc", `<iframe srcdoc="Q"></iframe>`, safeText)
	raw("/bad/percent", `<a href="javascript:go('Q')">x</a>`, safeText)
	// Only a message about a wrong value shows it.
	raw("/bad/error", "Q", func(s string) string {
		if strings.Contains(s, "'") {
			return "<p>Exception: the value " + s + " is invalid"
		}
		return "<p>The value is valid"
	})
	raw("/bad/statement", "Q", func(s string) string { // as databases do, from the quote on
		if _, rest, broken := strings.Cut(s, "'"); broken {
			return "<p>You have an error in your syntax near ''" + rest + "' at line 1"
		}
		return "<p>No rows"
	})
	raw("/good/error", "Q", func(s string) string {
		if strings.Contains(s, "'") {
			return "<p>Exception: the value " + strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(s) +
				" is invalid"
		}
		return "<p>The value is valid"
	})
	raw("/bad/capitals", "<p>Q</p>", strings.ToUpper)
	raw("/bad/cut", "<p>Q</p>", func(s string) string { return s[:max(0, len(s)-1)] })
	raw("/bad/replaced", `<input value="Q">`, func(s string) string { return s[:max(0, len(s)-1)] + "Z" })
	raw("/bad/calls", "<p>Q</p>", strip("(", ")"))
	raw("/bad/blanks", "<input value=Q>", strip(" ", "<", ">", "\t", "\n"))
	raw("/bad/lower", `<input value="Q">`, func(s string) string {
		return strip("<svg", "<script", "on", "<img")(strings.ToLower(s))
	})
	raw("/bad/handlers", `<input value="Q">`, strip("<script", "<svg", "<img", "<a", "on"))
	raw("/bad/words", `<input value="Q">`, func(s string) string {
		return strip("script", "on", "src", "href")(strings.ToLower(s))
	})
	raw("/bad/link", `<a href="Q">x</a>`, func(s string) string {
		s = strings.NewReplacer("script", "scr_ipt", "on", "o_n", `"`, "&quot;").Replace(strings.ToLower(s))
		if !strings.Contains(s, "http://") {
			return "#"
		}
		return s
	})
	raw("/good/link", `<a href="Q">x</a>`, func(s string) string {
		return safeText(strings.ReplaceAll(strings.ToLower(s), "script", "scr_ipt"))
	})
	raw("/bad/sanitized", "<p>Q</p>", sanitize(`^</?(b|i|p|a|img)\b`, `\son`))
	raw("/good/sanitized", "<p>Q</p>", sanitize(`^</?(b|i|p|a|img)\b`, `\son|(?i)javascript|style`))
	only := func(path, pattern string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if !regexp.MustCompile(pattern).MatchString(r.FormValue("q")) {
				w.Header().Set("Content-Type", "text/plain")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprint(w, "<p>not such a tag")
				return
			}
			fmt.Fprintf(w, "<p>%s", r.FormValue("q"))
		})
	}
	only("/bad/image", `^<img [^>]*>$`)
	only("/bad/division", `^<div [^>]*>\w*</div>$`)
	only("/good/bold", `^<b>\w*</b>$`)
	kind := func(path, name, value, page string, filter func(string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set(name, value)
			_, _ = fmt.Fprint(w, strings.ReplaceAll(page, "Q", filter(r.FormValue("q"))))
		})
	}
	same := func(s string) string { return s }
	kind("/bad/xml", "Content-Type", "text/xml", `<?xml version="1.0"?><list><item>Q</item></list>`, same)
	kind("/bad/cdata", "Content-Type", "application/xml", `<list><item name="a"><![CDATA[Q]]></item></list>`, same)
	kind("/good/xml", "Content-Type", "text/xml", `<list><item name="Q">Q</item></list>`, safeText)
	kind("/good/sheet", "Content-Type", "text/xml",
		`<?xml-stylesheet href="a.xsl" type="text/xsl"?><list><item>Q</item></list>`, same)
	kind("/good/saved", "Content-Disposition", "attachment; filename=a.html", "<p>Q</p>", same)
	kind("/policy", "Content-Security-Policy", "default-src 'self'; script-src 'nonce-1' 'unsafe-inline'", "<p>Q</p>",
		same)
	raw("/content/sheet", `<link rel=stylesheet href="Q">`, safeText)
	raw("/content/embed", `<embed src="Q">`, safeText)
	raw("/good/canonical", `<link rel=canonical href="Q">`, safeText)
	raw("/content/action", `<form action="Q"><input name=password></form>`, func(s string) string {
		return strings.ReplaceAll(safeText(s), "javascript:", "")
	})
	raw("/content/value", `<style>p { color: Q }</style>`, safeText)
	raw("/content/selector", `<style>Q { color: red }</style>`, safeText)
	raw("/content/style", `<p style="color: Q">`, safeText)
	raw("/good/color", `<p style="color: Q">`, func(s string) string {
		return safeText(strings.NewReplacer(";", "", ":", "", "{", "", "}", "").Replace(s))
	})
	raw("/good/host", `<script src="/static/Q"></script>`, safeText)

	safe := safeText
	raw("/good/text", "<p>Q</p>", safe)
	raw("/good/attribute", `<input value="Q">`, safe)
	raw("/good/textarea", "<textarea>Q</textarea>", func(s string) string { return strings.ReplaceAll(s, "</", "") })
	raw("/good/href", `<a href="/go?to=Q">x</a>`, safe)
	raw("/good/checked", `<a href="Q">x</a>`, func(s string) string {
		if !strings.HasPrefix(s, "https://") {
			return "#"
		}
		return safe(s)
	})
	raw("/good/stripped", "<p>Q</p>", strip("<"))
	raw("/good/data", `<script type="application/json">{"a": "Q"}</script>`, func(s string) string {
		return strings.NewReplacer("<", `\u003c`, `"`, `\"`).Replace(s)
	})
	raw("/good/script", `<script>var a = "Q";</script>`, func(s string) string {
		b, _ := json.Marshal(s)
		return strings.Trim(string(b), `"`)
	})
	mux.HandleFunc("/good/engine", func(w http.ResponseWriter, r *http.Request) {
		t := template.Must(template.New("").Parse(`<p title="{{.}}" onclick="f({{.}})">{{.}}</p><a href="{{.}}">x</a><script>var x = {{.}};</script>`))
		_ = t.Execute(w, r.FormValue("q"))
	})
	mux.HandleFunc("/good/json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"q": "%s"}`, r.FormValue("q"))
	})
	mux.HandleFunc("/good/plain", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, r.FormValue("q"))
	})
	mux.HandleFunc("/good/refused", func(w http.ResponseWriter, r *http.Request) {
		if strings.ContainsAny(r.FormValue("q"), `<>"'()`) {
			http.Error(w, "refused", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, "<p>%s</p>", r.FormValue("q"))
	})
	return mux
}

// sanitize keeps tags that match one expression and not the other.
func sanitize(keep, never string) func(string) string {
	return func(s string) string {
		return regexp.MustCompile(`<[^>]*>?`).ReplaceAllStringFunc(s, func(tag string) string {
			if regexp.MustCompile(keep).MatchString(tag) && !regexp.MustCompile(never).MatchString(tag) {
				return tag
			}
			return ""
		})
	}
}

// TestMissing finds the address in the page of a folder that says what is not there,
// once.
func TestMissing(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/bad/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "<p>%s is not there", r.URL.Path)
	})
	mux.HandleFunc("/good/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "<p>%s is not there", r.URL.EscapedPath())
	})
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"GET /bad/a", "GET /bad/b", "GET /good/a"})
	activescantest.Expect(t, got, "dast/xss/reflected GET /bad path:page that is not there")
}

// TestPolicy tells a vulnerability that a policy keeps from running with less certainty.
func TestPolicy(t *testing.T) {
	got := activescantest.Attack(t, server(), []*activescan.Rule{Rule},
		[]string{"GET /policy?q=1", "GET /bad/text?q=1"})
	activescantest.Expect(t, got, "dast/xss/reflected GET /bad/text query:q", "dast/xss/reflected GET /policy query:q")
	for _, f := range got.Findings {
		if held := strings.HasSuffix(f.Live.URL, "/policy"); held != (f.Confidence == finding.MediumConfidence) ||
			held != (f.Severity == finding.Medium) {
			t.Errorf("%s: %s, %s", f.Live.URL, f.Severity, f.Confidence)
		}
	}
	for policy, want := range map[string]string{
		"script-src 'self'":                                            "script-src 'self'",
		"default-src 'none'; img-src *":                                "default-src 'none'",
		"default-src 'none'; script-src 'unsafe-inline'":               "",
		"script-src 'unsafe-inline' 'nonce-abc'":                       "script-src 'unsafe-inline' 'nonce-abc'",
		"img-src 'self'":                                               "",
		"Script-Src 'self'; script-src 'unsafe-inline'; frame-src 'x'": "script-src 'self'",
	} {
		if got := blockingDirective(policy); got != want {
			t.Errorf("%s: %q, not %q", policy, got, want)
		}
	}
}

func TestReflected(t *testing.T) {
	mux := server()
	var operations, want []string
	for _, path := range []string{"text", "filtered", "once", "title", "textarea", "comment", "double", "single",
		"unquoted", "noangle", "lines", "href", "hreftail", "iframe", "handler", "string", "call", "slashes",
		"code", "line", "block", "template", "end", "tag", "src", "base", "srcdoc", "percent", "capitals", "cut",
		"replaced", "calls", "blanks", "error", "statement", "lower", "handlers", "words", "sanitized", "image",
		"division", "xml", "cdata"} {
		operations = append(operations, "GET /bad/"+path+"?q=1")
		want = append(want, "dast/xss/reflected GET /bad/"+path+" query:q")
	}
	for _, path := range []string{"text", "attribute", "textarea", "href", "checked", "stripped", "error", "data",
		"script", "engine", "json", "plain", "refused", "color", "host", "link", "sanitized", "bold", "sheet", "saved",
		"canonical", "xml"} {
		operations = append(operations, "GET /good/"+path+"?q=1")
	}
	for _, path := range []string{"action", "value", "selector", "style", "sheet", "embed"} {
		operations = append(operations, "GET /content/"+path+"?q=1")
		want = append(want, "dast/xss/foreign-content GET /content/"+path+" query:q")
	}
	operations = append(operations, `POST /bad/text q=1`)
	want = append(want, "dast/xss/reflected POST /bad/text form:q")
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, want...)
	if per := float64(got.Requests) / float64(len(operations)); per > 9 {
		t.Errorf("%.1f requests for each operation", per)
	}
}

func TestStored(t *testing.T) {
	kept := map[string]string{}
	mux := http.NewServeMux()
	mux.HandleFunc("/save", func(w http.ResponseWriter, r *http.Request) {
		kept["bad"], kept["good"] = r.FormValue("bad"), r.FormValue("good")
		http.Redirect(w, r, "/list", http.StatusFound)
	})
	mux.HandleFunc("/list", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<html><p>%s</p><p>%s</p>", kept["bad"], html.EscapeString(kept["good"]))
	})
	mux.HandleFunc("/guestbook", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			kept["guest"] += r.FormValue("entry")
		}
		fmt.Fprintf(w, "<html>%s", kept["guest"])
	})
	mux.HandleFunc("/note/add", func(w http.ResponseWriter, r *http.Request) { // kept although nothing is posted
		kept["note"], kept["safe"] = r.FormValue("comment"), html.EscapeString(r.FormValue("nickname"))
		_, _ = fmt.Fprint(w, "<html>thank you")
	})
	mux.HandleFunc("/notes", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<html><p>%s</p><p>%s</p>", kept["note"], kept["safe"])
	})
	var mu sync.Mutex // operations are attacked side by side
	alone := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		mux.ServeHTTP(w, r)
	})
	got := activescantest.Attack(t, alone, []*activescan.Rule{Rule}, []string{"POST /save bad=1&good=2", "GET /list",
		"POST /guestbook entry=x", "GET /guestbook",
		"GET /note/add?comment=1&nickname=2", "GET /notes"})
	activescantest.Expect(t, got, "dast/xss/stored POST /save form:bad", "dast/xss/stored POST /guestbook "+
		"form:entry", "dast/xss/stored GET /note/add query:comment")
}

// TestStoredInNewPages finds what is stored on the page of an object that the request makes
// anew each time: the answer leads there, or a list names the object. No name is taken twice.
func TestStoredInNewPages(t *testing.T) {
	type note struct{ name, text string }
	var mu sync.Mutex
	kept := map[string][]note{}
	mux := http.NewServeMux()
	for _, kind := range []struct {
		path string
		led  bool // by the answer
		text func(string) string
	}{{"/led", true, strings.TrimSpace}, {"/listed", false, strings.TrimSpace}, {"/led-safe", true, safeText},
		{"/listed-safe", false, safeText}} {
		mux.HandleFunc("POST "+kind.path, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			n := note{r.FormValue("name"), r.FormValue("text")}
			if slices.ContainsFunc(kept[kind.path], func(k note) bool { return k.name == n.name }) {
				http.Error(w, "there is one of that name", http.StatusConflict)
				return
			}
			kept[kind.path] = append(kept[kind.path], n)
			to := "/"
			if kind.led {
				to = fmt.Sprintf("%s/%d", kind.path, len(kept[kind.path]))
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
		})
		mux.HandleFunc("GET "+kind.path, func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			_, _ = fmt.Fprint(w, "<html><a href=/>home</a><div><!-- what a comment of an attack swallows")
			for i, n := range kept[kind.path] {
				if !kind.led {
					fmt.Fprintf(w, "<li>%s <a href='%s/delete/%d'>delete</a> <a href='%s/%d'>read</a>",
						safeText(n.name), kind.path, i+1, kind.path, i+1)
				}
			}
		})
		mux.HandleFunc("GET "+kind.path+"/delete/{n}", func(http.ResponseWriter, *http.Request) {
			t.Error("it removes objects")
		})
		mux.HandleFunc("GET "+kind.path+"/{n}", func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			i, err := strconv.Atoi(r.PathValue("n"))
			if err != nil || i < 1 || i > len(kept[kind.path]) {
				http.NotFound(w, r)
				return
			}
			fmt.Fprintf(w, "<html><h1>%s</h1><p>%s</p>", safeText(kept[kind.path][i-1].name),
				kind.text(kept[kind.path][i-1].text))
		})
	}
	var operations []string
	for _, path := range []string{"/led", "/listed", "/led-safe", "/listed-safe"} {
		operations = append(operations, "POST "+path+" name=first&text=hello", "GET "+path)
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, "dast/xss/stored POST /led form:text", "dast/xss/stored POST /listed form:text")
}

// signed is a session that tells the server who asks.
type signed string

func (s signed) Name() string { return string(s) }

func (s signed) Prepare(_ stdcontext.Context, r *http.Request) error {
	r.Header.Set("Authorization", string(s))
	return nil
}

func (s signed) Seen(*message.Response) {}

// TestStoredForAnother finds what one user sends in a page that only another is shown.
func TestStoredForAnother(t *testing.T) {
	var mu sync.Mutex
	bad, good := "", ""
	mux := http.NewServeMux()
	mux.HandleFunc("/feedback", func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		bad, good = r.FormValue("bad"), r.FormValue("good")
	})
	mux.HandleFunc("/admin", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") != "root" {
			http.Error(w, "not for you", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, "<html><p>%s</p><p>%s</p>", bad, html.EscapeString(good))
	})
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"POST /feedback bad=1&good=2", "GET /admin"},
		func(r *activescan.Engine) {
			r.As, r.OtherIdentities = signed("jane"), []activescan.Identity{{Session: signed("root")}}
		})
	activescantest.Expect(t, got, "dast/xss/stored POST /feedback form:bad")
}

func TestHeadersAndNames(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/referer", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<html>from %s", r.Header.Get("Referer"))
	})
	mux.HandleFunc("/names", func(w http.ResponseWriter, r *http.Request) {
		for name := range r.URL.Query() {
			fmt.Fprintf(w, "<html><b>%s</b>", name)
		}
	})
	mux.HandleFunc("/word", func(w http.ResponseWriter, r *http.Request) {
		first, _, _ := strings.Cut(r.Header.Get("Referer"), " ")
		fmt.Fprintf(w, "<html>from %s", first)
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, r *http.Request) {
		from := r.Header.Get("Referer")
		fmt.Fprintf(w, "<html>from %s", from[:max(0, len(from)-2)])
	})
	mux.HandleFunc("/cookie", func(w http.ResponseWriter, r *http.Request) { // shown only where the form was sent
		if c, err := r.Cookie("theme"); err == nil && r.FormValue("form") != "" {
			fmt.Fprintf(w, "<html>theme: %s", c.Value)
		}
	})
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, []string{"GET /referer", "GET /word", "GET /cut",
		"GET /names?a=1", "GET /cookie?form=1"}, func(r *activescan.Engine) {
		for _, e := range r.Sitemap.Entries() {
			if e.Request.Path == "/cookie" {
				r.Sitemap.Enrich(e.Request, nil, []message.Param{{Name: "theme", Value: "dark"}})
			}
		}
	})
	activescantest.Expect(t, got, "dast/xss/reflected GET /cut header:Referer", "dast/xss/reflected GET /referer "+
		"header:Referer", "dast/xss/reflected GET /word header:Referer", "dast/xss/reflected GET /names query-name:a",
		"dast/xss/reflected GET /cookie cookie:theme")
}

func FuzzProven(f *testing.F) {
	f.Add("<svg onload=mword(1)>")
	f.Add("<script>var a = 'mword'</script><a href='java\tscript:mword(1)'>")
	f.Fuzz(func(_ *testing.T, page string) {
		resp := &message.Response{Status: 200, Body: []byte(page)}
		_, _ = findExecution(resp, "mword")
		_, _ = provenXML(page, "mword")
		_ = blockingDirective(page)
		for _, c := range findContexts(resp, "mword") {
			_ = c.payloadsFor("mword")
			_ = c.isEscaped(resp, "mword", "<mword")
		}
	})
}

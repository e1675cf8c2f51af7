package hostile

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// This file holds traps that lie in addresses and in the size of pages: redirects that
// lead elsewhere or nowhere, links without end, huge documents.

var (
	// Reasons that a scan gives for what it does not follow.
	outside = regexp.MustCompile(`outside of the target`)
	many    = regexp.MustCompile(`not requested: the crawl is limited|too many`)
)

// forbidden are addresses that must not be reached, written in every way there is.
// Each bypasses another naive check: decimal, octal, hexadecimal and short IPv4 notation, IPv6 with
// an embedded IPv4 address, user information and fragments before the real host, a backslash
// instead of a slash, the unspecified address 0, and schemes other than HTTP. To add one, append it
// here: links, redirects, forms and script use the same list.
var forbidden = []string{
	"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/latest/meta-data/",
	"http://100.100.100.200/latest/meta-data/",
	"http://127.0.0.1:9090/", "http://localhost:9090/", "http://[::1]:9090/", "http://[::ffff:127.0.0.1]:9090/",
	"http://2130706433:9090/", "http://0x7f000001:9090/", "http://127.1:9090/",
	"http://0177.0.0.1:9090/", "http://127.0.0.2:8080/", "http://127.0.0.2/", "//127.0.0.1:9090/", "//169.254.169.254/",
	`/\127.0.0.1:9090/`, "http://[::ffff:a9fe:a9fe]/", "http://0xa9fea9fe/",
	"http://127.0.0.1:8080@127.0.0.1:9090/", "http://127.0.0.1:8080#@127.0.0.1:9090/", "http://0:9090/",
	"http://[::]:9090/", "ws://127.0.0.1:9090/", "file:///etc/passwd", "gopher://127.0.0.1:9090/_x",
	"ftp://127.0.0.1:9090/",
	"view-source:http://127.0.0.1:9090/", "data:text/html,<script>fetch('http://127.0.0.1:9090/')</script>",
}

// quotedPaths are the same, as a list of JavaScript.
// "</" is escaped since an HTML parser ends a script element there, also within a string.
func quotedPaths() string {
	text, err := json.Marshal(forbidden)
	if err != nil {
		panic(err) // texts can be written
	}
	return strings.ReplaceAll(string(text), "</", `<\/`)
}

// leading are targets that lure the scanner out of its scope, to addresses that record every
// visitor.
var leading = []Trap{
	// The start page may redirect only within the target: following it would be server-side request
	// forgery from the scanner's network, with the credentials of the cloud machine.
	{Name: "the first page leads to the metadata service", Says: outside, build: func(*Site) http.Handler {
		return http.RedirectHandler(forbidden[0], http.StatusFound)
	}},
	{Name: "the first page leads to another port", Says: outside, build: func(*Site) http.Handler {
		return http.RedirectHandler("http://localhost:9090/", http.StatusFound)
	}},
	// Whole: what is out of scope is skipped by design and is no coverage gap.
	{Name: "links and redirects to what is not the application's", Whole: true, build: redirectForbidden},
	{Name: "script that asks for what is not the application's", Whole: true, build: func(*Site) http.Handler {
		return ordinarySite(forbiddenRequests())
	}},
	// An endless chain of different addresses; the limit of redirects ends it, and nothing was
	// scanned.
	{Name: "every page leads to the next", Says: refused, build: func(*Site) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(r.URL.Query().Get("n")) // 0 at first
			http.Redirect(w, r, fmt.Sprintf("/hop?n=%d", n+1), http.StatusFound)
		})
	}},
	// Loops by HTTP redirect, by meta refresh and by script; the last two run in the browser only.
	{Name: "pages that lead to themselves and to each other", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/l/",
			`<a href="/l/self">self</a> <a href="/l/a?x=1">a</a> <a href="/l/meta">m</a> <a href="/l/script">s</a>`,
			func(w http.ResponseWriter, r *http.Request) {
				setSecurityHeaders(w)
				switch r.URL.Path {
				case "/l/a":
					http.Redirect(w, r, "/l/b?x=1", http.StatusMovedPermanently)
				case "/l/b":
					http.Redirect(w, r, "/l/a?x=1", http.StatusTemporaryRedirect)
				case "/l/meta":
					writePage(w, `<meta http-equiv="refresh" content="0; url=/l/meta">`)
				case "/l/script":
					writePage(w, `<script>location.reload()</script>`)
				default:
					http.Redirect(w, r, r.URL.Path, http.StatusFound)
				}
			})
	}},
}

// redirectForbidden answers each of its pages with a redirect to another forbidden address.
func redirectForbidden(*Site) http.Handler {
	var markup strings.Builder
	for i, address := range forbidden {
		fmt.Fprintf(&markup, `<a href="/to/%d?id=1">r</a> <a href="%s">l</a> <form action="%s" method="post"><input name="a"><input type="submit"></form> <img src="%s"><iframe src="/to/%d"></iframe>`,
			i, address, address, address, i)
	}
	rest := ordinarySite(markup.String())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Sitemaps in robots.txt may be on any host: they must be checked against the scope as
		// links are.
		if r.URL.Path == "/robots.txt" {
			writeText(w, "User-agent: *\nSitemap: http://127.0.0.1:9090/sitemap.xml\nSitemap: /to/0\nSitemap: "+
				"http://169.254.169.254/\n")
			return
		}
		text, found := strings.CutPrefix(r.URL.Path, "/to/")
		n, err := strconv.Atoi(text)
		if !found || err != nil || n >= len(forbidden) {
			rest(w, r)
			return
		}
		setSecurityHeaders(w)
		w.Header().Set("Location", forbidden[n])
		// Refresh is the header form of meta refresh, which browsers follow and HTTP clients do
		// not.
		w.Header().Set("Refresh", "0; url="+forbidden[n])
		// Each status has its own rules about the method and body of the next request, so all are
		// used.
		w.WriteHeader([]int{301, 302, 303, 307, 308}[n%5])
	})
}

// forbiddenRequests is script that tries every way of a browser to ask for an address.
// A browser has many ways to send a request beside fetch: prefetch, WebRTC, workers, media, forms.
// A filter of single functions misses some; each of them must be stopped.
func forbiddenRequests() string {
	return `<script>
for (const a of ` + quotedPaths() + `) {
	const tries = [() => fetch(a, {mode: 'no-cors'}), () => { const x = new XMLHttpRequest(); x.open('POST', a); x.send('x') }, () => navigator.sendBeacon(a, 'x'),
		() => new WebSocket(a.replace('http', 'ws')), () => new EventSource(a), () => { new Image().src = a }, () => import(a), () => new Worker(a), () => window.open(a),
		() => { const f = document.createElement('iframe'); f.src = a; document.body.append(f) }, () => { const l = document.createElement('link'); l.rel = 'preconnect'; l.href = a; document.head.append(l) },
		() => { const l = document.createElement('link'); l.rel = 'prefetch'; l.href = a; document.head.append(l) }, () => { const o = document.createElement('object'); o.data = a; document.body.append(o) },
		() => { const v = document.createElement('video'); v.src = a; document.body.append(v) }, () => { const s = document.createElement('script'); s.src = a; document.body.append(s) },
		() => { const f = document.createElement('form'); f.action = a; f.method = 'post'; f.target = '_blank'; document.body.append(f); f.submit() }]
	for (const t of tries) try { const p = t(); if (p && p.catch) p.catch(() => {}) } catch (e) {}
}
try { const p = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:9090'}, {urls: 'turn:127.0.0.1:9090?transport=tcp', username: 'a', credential: 'b'}]}); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)) } catch (e) {}
setTimeout(() => { location = 'http://127.0.0.1:9090/' }, 1500)
</script>`
}

// numberedWord is a name made of letters, another one for each number.
// It is random for the scanner and the same in each run. Letters only: crawlers group addresses
// that differ in a number, which would end the maze too early.
func numberedWord(of string, n int) string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %d", of, n) // a hash takes everything
	v := h.Sum64()
	// Eight letters give 26^8 names, enough that no two of a scan collide.
	var out [8]byte
	for i := range out {
		out[i] = 'a' + byte(v%26)
		v /= 26
	}
	return string(out[:])
}

// serveMaze answers every page below a prefix with links that its address determines.
// start is the address of the first page, link returns the i-th link of a page; the links must
// depend on the request only, so that the maze needs no memory.
func serveMaze(prefix, start string, link func(r *http.Request, i int) string) http.Handler {
	return withPrefix(prefix, `<a href="`+start+`">in</a>`, func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w)
		var b strings.Builder
		for i := range 10 {
			fmt.Fprintf(&b, `<a href="%s">%d</a> `, link(r, i), i)
		}
		writePage(w, b.String())
	})
}

// mazes are targets with endless pages: a crawler without limits never ends.
var mazes = []Trap{
	{Name: "a calendar", Whole: true, build: func(*Site) http.Handler {
		return serveMaze("/cal", "/cal?year=2026&month=1", func(r *http.Request, i int) string {
			year, _ := strconv.Atoi(r.URL.Query().Get("year")) // 0 for others
			return fmt.Sprintf("/cal?year=%d&month=%d", year+i, i+1)
		})
	}},
	{Name: "a new session in every path", Says: many, build: func(*Site) http.Handler {
		return serveMaze("/s/", "/s/aaaa/shop", func(r *http.Request, i int) string {
			return "/s/" + numberedWord(r.URL.Path, i) + "/shop"
		})
	}},
	{Name: "ever deeper paths", Says: many, build: func(*Site) http.Handler {
		return serveMaze("/d/", "/d/a/", func(r *http.Request, i int) string {
			return numberedWord(r.URL.Path, i) + "/"
		})
	}},
	{Name: "new parameters on every page", Says: many, build: func(*Site) http.Handler {
		return serveMaze("/p", "/p?a=1", func(r *http.Request, i int) string {
			return "/p?" + numberedWord(r.URL.RawQuery, i) + "=1"
		})
	}},
	{Name: "new forms on every page", Says: many, build: func(*Site) http.Handler {
		return withPrefix("/f/", `<a href="/f/a">in</a>`, func(w http.ResponseWriter, r *http.Request) {
			setSecurityHeaders(w)
			var b strings.Builder
			for i := range 10 {
				fmt.Fprintf(&b, `<form method="post" action="/f/%s"><input name="%s"><input type="submit"></form>`,
					numberedWord(r.URL.Path, i), numberedWord(r.URL.Path, i+10))
			}
			writePage(w, b.String())
		})
	}},
	{Name: "style sheets that import each other", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/css/", `<link rel="stylesheet" href="/css/a.css">`,
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/css")
				for i := range 5 {
					writeText(w, fmt.Sprintf("@import url(/css/%s.css);\n", numberedWord(r.URL.Path, i)))
				}
			})
	}},
	{Name: "a robots.txt of 1,000,000 lines", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/robots.txt", "", func(w http.ResponseWriter, _ *http.Request) {
			for i := range 1_000_000 {
				if !writeText(w, "Disallow: /"+numberedWord("robots", i)+"/\n") {
					return
				}
			}
		})
	}},
	{Name: "a sitemap whose entities multiply", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/sitemap.xml", "", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			writeText(w, `<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY e0 "http://127.0.0.1:8080/x">`)
			for i := range 12 {
				writeText(w, fmt.Sprintf(`<!ENTITY e%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&e%d;", i), 10)))
			}
			writeText(w, `<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY other SYSTEM "http://127.0.0.1:9090/">]><urlset><url><loc>&e12;</loc></url><url><loc>/&file;&other;</loc></url></urlset>`)
		})
	}},
	{Name: "sitemaps of sitemaps", Says: many, build: serveSitemaps},
}

// serveSitemaps serves sitemaps that refer to each other without end.
func serveSitemaps(*Site) http.Handler {
	rest := ordinarySite("")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			writeText(w, "Sitemap: http://"+r.Host+"/sitemap-a.xml\n")
		case strings.HasPrefix(r.URL.Path, "/sitemap"):
			w.Header().Set("Content-Type", "application/xml")
			writeText(w, `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
			for i := range 50 {
				writeText(w, fmt.Sprintf("<sitemap><loc>http://%s/sitemap-%s.xml</loc></sitemap>", r.Host,
					numberedWord(r.URL.Path, i)))
			}
			writeText(w, `</sitemapindex>`)
		default:
			rest(w, r)
		}
	})
}

// serveRepeated serves one page that is a part, a text many times, and another part.
func serveRepeated(before, part string, n int, after string) http.Handler {
	return withPrefix("/big", `<a href="/big?id=1">big</a>`, func(w http.ResponseWriter, _ *http.Request) {
		setSecurityHeaders(w)
		writePage(w, before+strings.Repeat(part, n)+after)
	})
}

// documents are pages whose markup exhausts a parser.
var documents = []Trap{
	{Name: "markup 500,000 elements deep", Says: regexp.MustCompile(`was not read`), build: func(*Site) http.Handler {
		return serveRepeated("", "<div>", 500_000, "")
	}},
	{Name: "tables and formatting within each other", Says: regexp.MustCompile(`was not read`),
		build: func(*Site) http.Handler {
			return serveRepeated("", "<table><tr><td><b><i><a>", 100_000, "")
		}},
	{Name: "20,000 forms", Says: many, build: func(*Site) http.Handler {
		return withPrefix("/big", `<a href="/big">big</a>`, func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			for i := range 20_000 {
				writeText(w, fmt.Sprintf(`<form method="post" action="/big/%s"><input name="a"><input name="b"><input type="submit"></form>`, numberedWord("form", i)))
			}
		})
	}},
	{Name: "a form of 50,000 fields", Says: regexp.MustCompile(`the first 500 of its query and body`),
		build: func(*Site) http.Handler {
			return withPrefix("/big", `<a href="/big">big</a>`, func(w http.ResponseWriter, _ *http.Request) {
				setSecurityHeaders(w)
				writeText(w, `<form method="post" action="/big/send">`)
				for i := range 50_000 {
					writeText(w, fmt.Sprintf(`<input name="f%d" value="1">`, i))
				}
				writeText(w, `<input type="submit"></form>`)
			})
		}},
	{Name: "100,000 links of one page", Says: many, build: func(*Site) http.Handler {
		return withPrefix("/big", `<a href="/big">big</a>`, func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			for i := range 100_000 {
				writeText(w, fmt.Sprintf(`<a href="/big/%s/%s">x</a>`, numberedWord("a", i%1000), numberedWord("b", i)))
			}
		})
	}},
	{Name: "a hundred scripts of 3 MB", Whole: true, build: func(*Site) http.Handler {
		var tags strings.Builder
		for i := range 100 {
			fmt.Fprintf(&tags, `<script src="/big/%d.js"></script>`, i)
		}
		return withPrefix("/big/", tags.String(), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			for i := range 40_000 {
				if !writeText(w, fmt.Sprintf("function f%d(a) { return fetch('/api/%s?a=' + a + "+
					"%q) }\n", i, numberedWord(r.URL.Path, i%50), r.URL.Path)) {
					return
				}
			}
		})
	}},
	{Name: "a map of sources in itself", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/app.js", `<script src="/app.js"></script>`, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/app.js" {
				w.Header().Set("Content-Type", "text/javascript")
				writeText(w, "var a = 1\n//# sourceMappingURL=/app.js.map\n")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			writeText(w, `{"version":3,"mappings":"`+strings.Repeat("AAAA;", 500_000)+
				`","sources":["/app.js.map","file:///etc/passwd","http://127.0.0.1:9090/"],"sections":`+
				strings.Repeat(`[{"offset":{"line":0,"column":0},"map":{"sections":`, 20_000))
		})
	}},
	{Name: "50,000 elements that listen", Whole: true, build: func(*Site) http.Handler {
		return serveRepeated("",
			`<a href="#" onclick="x()" onmouseover="y()">a</a><button onclick="fetch('/about?n='+Math.random())">b</button>`, 25_000, "")
	}},
	{Name: "20,000 scripts and frames", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/big", `<a href="/big?id=1">big</a>`, func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			for i := range 10_000 {
				writeText(w, fmt.Sprintf(`<script src="/about?s=%d"></script><iframe src="/about?f=%d"></iframe>`, i,
					i))
			}
		})
	}},
	{Name: "tags and comments that nobody closes", Whole: true, build: func(*Site) http.Handler {
		return serveRepeated("", `<script><!--<a href="<textarea><style>&#x`, 50_000, "")
	}},
	{Name: "JSON of 200,000 members", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/big", `<a href="/big?id=1">big</a>`, func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			w.Header().Set("Content-Type", "application/json")
			writeText(w, "{")
			for i := range 200_000 {
				writeText(w, fmt.Sprintf(`"%s":%d,`, numberedWord("member", i), i))
			}
			writeText(w, `"id":1}`)
		})
	}},
	{Name: "4 MB that nearly match what is searched for, other ones each time", Whole: true,
		build: func(s *Site) http.Handler {
			return withPrefix("/big", `<a href="/big?id=1">big</a>`, func(w http.ResponseWriter, _ *http.Request) {
				setSecurityHeaders(w)
				w.Header().Set("Content-Type", "text/plain")
				for i := range 30_000 { // 3.9 MB
					writeText(w, "You have an error in your SQ -----BEGIN RSA PRIVATE KE eyJhbGciOiJIUzI1NiJ9.eyJ. "+
						"AKIAABCDEFGHIJKLMNO root:x:0:0:roo at "+numberedWord("near", s.Requests()*30_000+i)+"(\n")
				}
			})
		}},
	{Name: "4 MB of script in one expression", Whole: true, build: func(*Site) http.Handler {
		return serveRepeated("<script>x=", "[(", 1_000_000, "</script>")
	}},
	{Name: "JSON 1,000,000 lists deep", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/big", `<a href="/big?id=1">big</a>`, func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			w.Header().Set("Content-Type", "application/json")
			writeText(w, strings.Repeat(`[`, 1_000_000))
		})
	}},
}

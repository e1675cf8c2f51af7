package crawl_test

import (
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// pages is a small site: what each address answers. Everything it names is there.
var pages = map[string]string{
	"/": `<!DOCTYPE html><base href="/deep/"><a href="../one">1</a> <a href=two?x=1&amp;y=2>2</a> <img srcset="/img/a.png 1x, /img/b.png 2x">
		<!-- <a href="/commented">old</a> --> <iframe srcdoc="<a href='/inside'>x</a>"></iframe>
		<form action="/search"><input name=q><select name=kind><option value="">all<option value=b>b</select></form> <select onchange="go(this.value)"><option value="/jump/to">there<option value="and/or">x</select>
		<form method=post action=/comment><input type=hidden name=csrf_token value="0123456789abcdef"><textarea name=text></textarea><button>send</button></form>
		<a href="/logout">leave</a> <a href="https://elsewhere.example/x">x</a> <a href="mailto:a@b.example">mail</a> <a href="javascript:go('/from/js')">j</a>
		<script src=/app.js></script> <button formaction=/alone>x</button> <div data-url="/data/url" style="background: url(/bg.png)"></div>
		<noscript><a href="/noscript">n</a></noscript><meta http-equiv=refresh content="9; url=/refreshed">`,
	"/app.js": "const base = '/api/'; fetch(base + 'items', {method: 'POST', body: JSON.stringify({name: n, price: " +
		"2})});\n" +
		"var x = new XMLHttpRequest(); x.open('DELETE', `/api/items/${id}`); axios.get('/api/users?page=' + page); " +
		"new WebSocket('ws://HOST/socket');\n" +
		"element.innerHTML = '<a href=\"/written/by/script\">'; import('./lazy.js'); var note = 'a / b', type = " +
		"'text/html';\n//# sourceMappingURL=app.js.map",
	"/app.js.map":    `{"version":3,"sources":["a.ts"],"sourcesContent":["get('/from/source/map')"]}`,
	"/robots.txt":    "User-agent: *\nDisallow: /hidden/\nDisallow: /*.bak\nSitemap: /map.xml",
	"/map.xml":       `<urlset><url><loc>/in/sitemap</loc></url></urlset>`,
	"/trap/1":        `<a href="/trap/2">next</a>`,
	"/one":           `<a href="/trap/1">calendar</a>`,
	"/api/users":     `{"next": "/api/users/page2", "self": "text"}`,
	"/redirected/to": `<p>end</p>`,
	"/inside":        `<a href="/redirect">r</a>`,
}

func serve(t *testing.T) (*httptest.Server, func() []string) {
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		mu.Unlock()
		text, ok := pages[r.URL.Path]
		switch {
		case strings.HasPrefix(r.URL.Path, "/trap/"):
			var n int
			_, _ = fmt.Sscanf(r.URL.Path, "/trap/%d", &n)
			text = fmt.Sprintf(`<a href="/trap/%d">next</a>`, n+1)
		case r.URL.Path == "/redirect":
			http.Redirect(w, r, "/redirected/to", http.StatusFound)
			return
		case strings.HasSuffix(r.URL.Path, "absent") || strings.Contains(r.URL.Path, "n0t-there"):
			http.NotFound(w, r)
			return
		case !ok:
			text = "<p>" + r.URL.Path
		}
		switch {
		case strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
		case strings.HasSuffix(r.URL.Path, ".xml"):
			w.Header().Set("Content-Type", "text/xml")
		case strings.HasPrefix(text, "{"):
			w.Header().Set("Content-Type", "application/json")
		case r.URL.Path == "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
		default:
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = fmt.Fprint(w, strings.ReplaceAll(text, "HOST", r.Host))
	}))
	t.Cleanup(server.Close)
	return server, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(asked) }
}

func run(t *testing.T, address string, o crawl.Options) (*sitemap.Map, *crawl.Result, []scan.Reason) {
	t.Helper()
	target := &scan.Target{URL: address}
	scope, err := sitemap.NewScope(target)
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, Rate: 1e6})
	t.Cleanup(client.Close)
	var mu sync.Mutex
	var reasons []scan.Reason
	o.Client, o.Scope, o.Surface = client, scope, sitemap.New(1000)
	o.Degrade = func(r scan.Reason) { mu.Lock(); defer mu.Unlock(); reasons = append(reasons, r) }
	o.Place = (*message.Request).Location
	crawler := crawl.New(o)
	result, err := crawler.Run(t.Context())
	reasons = append(reasons, crawler.UnreadReasons()...)
	if err != nil {
		t.Fatal(err)
	}
	return o.Surface, result, reasons
}

func TestCrawl(t *testing.T) {
	server, asked := serve(t)
	surface, result, reasons := run(t, server.URL+"/", crawl.Options{Submit: true, Remove: true})
	got := asked()
	for _, want := range []string{"GET /one", "GET /deep/two?x=1&y=2", "GET /img/a.png", "GET /img/b.png",
		"GET /commented", "GET /inside", "GET /search?q=test&kind=b",
		"POST /comment", "GET /from/js", "GET /jump/to", "GET /app.js", "GET /app.js.map", "GET /data/url",
		"GET /bg.png", "GET /noscript", "GET /refreshed", "POST /api/items", "DELETE /api/items/1",
		"GET /api/users?page=1", "GET /written/by/script", "GET /lazy.js", "GET /from/source/map", "GET /hidden/",
		"GET /in/sitemap", "GET /api/users/page2", "GET /redirected/to"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s was not asked", want)
		}
	}
	traps := 0
	for _, a := range got {
		if strings.Contains(a, "/logout") || strings.Contains(a, "elsewhere") || strings.Contains(a, "text/html") {
			t.Errorf("%s was asked", a)
		}
		if strings.HasPrefix(a, "GET /trap/") {
			traps++
		}
	}
	if traps > 10 {
		t.Errorf("%d pages of a calendar without end", traps)
	}
	if len(result.Sockets) != 1 || len(reasons) != 0 {
		t.Errorf("sockets %v, reasons %v", result.Sockets, reasons)
	}
	var logout, item *finding.Operation
	for _, e := range surface.Entries() {
		switch {
		case strings.HasSuffix(e.Seen.URL, "/logout"):
			logout = &e.Seen
		case e.Seen.Method == "POST" && strings.HasSuffix(e.Seen.URL, "/api/items"):
			item = &e.Seen
		case strings.HasSuffix(e.Seen.URL, ".png"), strings.HasSuffix(e.Seen.URL, ".js"):
			t.Errorf("%s is an operation", e.Seen.URL)
		}
	}
	if logout == nil || logout.Outcome != finding.NotReached || logout.Reason == "" {
		t.Errorf("logout %+v", logout)
	}
	if item == nil || !slices.Equal(item.Parameters, []string{"json:/name", "json:/price"}) ||
		item.Outcome != finding.Reached {
		t.Errorf("item %+v", item)
	}
}

func TestCrawlSendsNoFormsWhereItMayNot(t *testing.T) {
	server, asked := serve(t)
	surface, _, _ := run(t, server.URL+"/", crawl.Options{})
	for _, a := range asked() {
		if !strings.HasPrefix(a, "GET ") {
			t.Errorf("%s was sent", a)
		}
	}
	if !slices.ContainsFunc(surface.Entries(), func(e sitemap.Entry) bool {
		return e.Seen.Method == "POST" && e.Seen.Outcome == finding.NotReached &&
			strings.Contains(e.Seen.Reason, "profile")
	}) {
		t.Error("the form is no operation")
	}
}

func TestCrawlStopsAtItsLimit(t *testing.T) {
	server, asked := serve(t)
	_, _, reasons := run(t, server.URL+"/", crawl.Options{Pages: 10, Submit: true})
	if n := len(asked()); n > 20 || len(reasons) == 0 {
		t.Errorf("%d requests, reasons %v", n, reasons)
	}
}

// A page that answers 404 for what its query names is there; one that answers so
// without a query too is not.
func TestCrawlKeepsPagesThatMissWhatIsNamed(t *testing.T) {
	bare := 0
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprint(w,
				`<a href="/show?file=old.txt">1</a> <a href="/show?page=x">2</a> <a href="/gone?file=old.txt">3</a>`)
		case "/show":
			if r.URL.RawQuery == "" {
				mu.Lock()
				bare++
				mu.Unlock()
				_, _ = fmt.Fprint(w, "<form><input name=file></form>")
				return
			}
			http.NotFound(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	surface, _, _ := run(t, server.URL, crawl.Options{})
	var got []string
	for _, e := range surface.Entries() {
		if e.Request.Path != "/" {
			got = append(got, e.Request.URL().RequestURI()+" "+string(e.Seen.Outcome))
		}
	}
	slices.Sort(got)
	if text := strings.Join(got, "\n"); !strings.Contains(text, "/show?file=old.txt reached") ||
		!strings.Contains(text, "/show?page=x reached") || strings.Contains(text, "/gone") {
		t.Errorf("operations:\n%s", text)
	}
	if mu.Lock(); bare > 2 {
		t.Errorf("the page was asked %d times without its query", bare)
	}
	mu.Unlock()
}

// An address that leads out of the target is told: nothing behind it was seen.
func TestCrawlOfAddressThatLeadsElsewhere(t *testing.T) {
	for to, want := range map[string]string{"http://169.254.169.254/latest?key=1": "leads to http://169.254.169.254/latest, which is outside", "file:///etc/passwd": "leads to file:///etc/passwd", "/inside": ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}))
		_, _, reasons := run(t, server.URL, crawl.Options{})
		server.Close()
		if told := len(reasons) == 1 && strings.Contains(reasons[0].Message, want); told != (want != "") {
			t.Errorf("%s: %v", to, reasons)
		}
	}
}

// A page that no parser reads is told.
func TestCrawlOfDeepPages(t *testing.T) {
	for depth, told := range map[int]bool{100: false, 10_000: true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, strings.Repeat("<div>", depth)) // the client reads all of it
		}))
		_, _, reasons := run(t, server.URL, crawl.Options{})
		server.Close()
		if len(reasons) == 1 != told || told && !strings.Contains(reasons[0].Message, "was not read") {
			t.Errorf("%d elements deep: %v", depth, reasons)
		}
	}
}

// A large page that comes back from every address is read at some of them, and what it names
// is asked for no more then.
func TestCrawlOfOneLargePage(t *testing.T) {
	var page strings.Builder
	page.WriteString("<!--" + strings.Repeat("large", 60_000) + "-->")
	for i := range 200 {
		fmt.Fprintf(&page, `<form method="post" action="/send/%c%c%c"><input name="a"><input name="b"><input type="submit"></form>`, 'a'+i/26/26, 'a'+i/26%26, 'a'+i%26)
	}
	var asked, looked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page.String())
	}))
	defer server.Close()
	surface, _, reasons := run(t, server.URL, crawl.Options{Submit: true, Look: func(*message.Response) {
		looked.Add(1)
	}})
	if n := asked.Load(); n < 21 || n > 40 || looked.Load() != 20 || len(surface.Entries()) < 15 { // four at once
		t.Errorf("%d asked, %d looked at, %d operations", n, looked.Load(), len(surface.Entries()))
	}
	if len(reasons) != 1 || !strings.Contains(reasons[0].Message, "pages were not requested") {
		t.Errorf("reasons %+v", reasons)
	}
}

func TestCrawlOfDeadTarget(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	_, _, reasons := run(t, address+"/", crawl.Options{})
	if len(reasons) == 0 {
		t.Error("no reason tells that the target is dead")
	}
}

func TestRenewerPlantsFreshTokens(t *testing.T) {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n++
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method=post action=/save><input type=hidden name=csrf_token value="token-000%d"><input name=text></form>`, n)
	}))
	defer server.Close()
	scope, err := sitemap.NewScope(&scan.Target{URL: server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, Rate: 1e6})
	page, err := message.Parse(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Send(t.Context(), page, nil)
	if err != nil {
		t.Fatal(err)
	}
	form := crawl.ReadPage(resp).Requests[0]
	form.Referer = server.URL + "/"
	attacked := form.With(message.Point{In: message.InForm, Name: "text", Index: 1}, "payload")
	fresh := crawl.TokenRenewer(client, nil)(t.Context(), attacked)
	if content, _ := fresh.Content(); string(content) != "csrf_token=token-0002&text=payload" {
		t.Errorf("sent %s", content)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range pages {
		f.Add("text/html", text)
		f.Add("text/javascript", text)
	}
	f.Add("application/json", `{"a":["/x"]}`)
	f.Add("text/css", "@import '/a.css'; b { background: url(x) }")
	f.Add("text/xml", "<loc>/a</loc>")
	f.Fuzz(func(t *testing.T, media, text string) {
		r, _ := message.Parse("http://a.example/b/c")
		for _, q := range crawl.ReadPage(&message.Response{Request: r, Status: 200,
			Header: http.Header{"Content-Type": {media}}, Body: []byte(text)}).Requests {
			if q.Host == "" || !strings.HasPrefix(q.Path, "/") {
				t.Errorf("request %+v", q)
			}
		}
	})
}

func TestFormsKeepPasswords(t *testing.T) {
	for name, c := range map[string]struct {
		form        string
		given, same bool
	}{
		"change":   {`<form><input type=password name=a><input type=password name=b><input type=submit name=go value=go></form>`, true, false},
		"register": {`<form method=post><input name=user><input type=password name=a><input type=password name=b></form>`, true, true},
		"account":  {`<form method=post><input name=name value=Jane><input type=password name=a><input type=password name=b></form>`, false, true},
		"one":      {`<form method=post><input name=name value=Jane><input type=email name=mail value=j@a.example><input type=password name=a></form>`, false, true},
		"sign in":  {`<form method=post><input name=user value=jane><input type=password name=a></form>`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := message.Parse("http://a.example/account")
			if err != nil {
				t.Fatal(err)
			}
			found := crawl.ReadPage(&message.Response{Request: page, Status: 200,
				Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(c.form)})
			if len(found.Requests) != 1 {
				t.Fatalf("%d requests, want 1", len(found.Requests))
			}
			values := map[string]string{}
			for _, p := range found.Requests[0].Points() {
				values[p.Name] = p.Value
			}
			if (values["a"] != "") != c.given || (values["a"] == values["b"]) != c.same {
				t.Errorf("the passwords are %q and %q, want the same: %v", values["a"], values["b"], c.same)
			}
		})
	}
}

// An application of script answers with its page wherever nothing else is: what that
// page names is there once, whatever address has shown it, and so is nothing that an
// error names as a file of the server.
func TestCrawlReadsAPageOfAllAddressesOnce(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		switch r.URL.Path {
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `router.go("/wallet/open/now"); fetch("/broken/api"); r = [{path: "wallet", component: W}]`)
		case "/broken/api":
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `<html><li>at handle (/srv/shop/lib/layer.js:95:5)</li><li>see /docs/errors/list</li>`)
		default:
			fmt.Fprint(w, `<html><script src="app.js"></script><link href="assets/style.css" rel=stylesheet>`)
		}
	}))
	defer server.Close()
	_, result, _ := run(t, server.URL+"/", crawl.Options{})
	for _, want := range []string{"/wallet/open/now", "/assets/style.css", "/docs/errors/list"} {
		if !slices.Contains(asked, want) {
			t.Errorf("%s was not asked: %q", want, asked)
		}
	}
	for _, a := range asked {
		if strings.HasPrefix(a, "/srv/") || strings.HasPrefix(a, "/wallet/open/a") {
			t.Errorf("%s was asked", a)
		}
	}
	if !slices.Equal(result.Routes, []string{"/wallet"}) || len(result.Pages) != 1 {
		t.Errorf("routes %q, pages %d", result.Routes, len(result.Pages))
	}
}

// What a list of objects leads to: the first of them, and another like it, where nothing
// else says how one is added.
func TestCrawlOfLists(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href=/api/orders/>o</a> <a href=/api/users>u</a> <a href=/api/words>w</a><script>fetch("/api/users", {method: "POST", body: JSON.stringify({mail: m})})</script>`)
		case "/api/orders/":
			fmt.Fprint(w, `{"status":"ok","data":[{"id":7,"note":"a","count":2,"createdAt":"2026-01-01","parts":[1]},{"id":8}]}`)
		case "/api/users":
			fmt.Fprint(w, `[{"_id":"x1","mail":"a@b.example"}]`)
		case "/api/words":
			fmt.Fprint(w, `["a","b"]`)
		default:
			fmt.Fprint(w, `{"id":7}`)
		}
	}))
	defer server.Close()
	target := &scan.Target{URL: server.URL + "/"}
	scope, err := sitemap.NewScope(target)
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, Rate: 1e6})
	defer client.Close()
	c := crawl.New(crawl.Options{Client: client, Scope: scope, Surface: sitemap.New(100), Submit: true,
		Degrade: func(scan.Reason) {}})
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GET /api/orders/7", "GET /api/users/x1", "POST /api/users"} {
		if !slices.Contains(asked, want) {
			t.Errorf("%s was not asked: %q", want, asked)
		}
	}
	more := c.ListPages()
	if len(more) != 1 || more[0].Path != "/api/orders/" ||
		string(more[0].Body.Text) != `{"count":2,"note":"merlon-000000"}` {
		t.Errorf("lists %+v", more)
	}
}

// One program may serve every page, chosen by a parameter: each is asked for, and its
// form is an operation of its own.
func TestCrawlFollowsPagesOfOneProgram(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		page := r.FormValue("page")
		if page == "" {
			for i := range 20 {
				fmt.Fprintf(w, `<a href="/?page=part-%c.php">x</a>`, 'a'+rune(i))
			}
			return
		}
		fmt.Fprintf(w, `<html><h1>%s</h1><form method=post action="?page=%s"><input name=user><input type=submit name=go value=go></form>`, html.EscapeString(page), html.EscapeString(page))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	surface, _, _ := run(t, server.URL+"/", crawl.Options{Submit: true})
	forms := 0
	for _, e := range surface.Entries() {
		if e.Request.Method == http.MethodPost {
			forms++
		}
	}
	if forms != 20 || len(surface.Entries()) > 23 {
		t.Errorf("%d forms in %d operations, want 20 forms", forms, len(surface.Entries()))
	}
}

// A list whose links put every filter on top of those that are set has a page for each
// set of them: each filter is asked for, and not each set.
func TestCrawlOfFilters(t *testing.T) {
	var asked atomic.Int64
	filters := []string{"days", "limit", "minor", "bots", "mine", "tag", "from", "kind", "sort", "group"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		for _, filter := range filters {
			q := r.URL.Query()
			for n := range 3 {
				q.Set(filter, fmt.Sprint(n))
				fmt.Fprintf(w, "<a href=\"/?%s\">%s</a>", html.EscapeString(q.Encode()), filter)
			}
		}
	}))
	defer server.Close()
	surface, _, reasons := run(t, server.URL+"/", crawl.Options{})
	if n := asked.Load(); n > 120 {
		t.Errorf("%d requests for a list with %d filters", n, len(filters))
	}
	seen := map[string]bool{}
	for _, e := range surface.Entries() {
		for _, p := range e.Seen.Parameters {
			seen[p] = true
		}
	}
	for _, filter := range filters {
		if !seen["query:"+filter] {
			t.Errorf("the filter %s is not known", filter)
		}
	}
	if len(reasons) > 0 {
		t.Errorf("reasons: %v", reasons)
	}
}

// A search takes a list or a line, and says no to both: it is asked with each of them alone
// as well. Where one of them is required, it is not.
func TestFormsOfOneOrTheOther(t *testing.T) {
	read := func(form string) []string {
		base, err := message.Parse("http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range crawl.ReadPage(&message.Response{Request: base, Status: 200,
			Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(form)}).Requests {
			if r.Origin == "form" {
				out = append(out, message.EncodeQuery(r.Query))
			}
		}
		return out
	}
	list := `<form><select name=item><option value="">Choose<option value=7>seven</select>`
	for form, want := range map[string][]string{
		list + `<input name=search><input type=hidden name=k value=v></form>`: {"item=7&search=test&k=v",
			"search=test&k=v", "item=7&k=v"},
		list + `<input name=search required></form>`: {"item=7&search=test"},
		list + `</form>`: {"item=7"},
		`<form><select name=item><option value=7>seven</select><input name=search></form>`: {"item=7&search=test"},
	} {
		if got := read(form); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", form, got, want)
		}
	}
}

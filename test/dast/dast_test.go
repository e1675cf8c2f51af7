package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/test/dast/hostile"
)

// TestProxyCountsWhatPasses sends requests of every shape over one connection.
func TestProxyCountsWhatPasses(t *testing.T) {
	var bodies []string
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies = append(bodies, r.Method+" "+r.RequestURI+" "+string(body))
		_, _ = io.WriteString(w, "ok")
	}))
	defer target.Close()
	p, err := newProxy(target.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.listener.Close() }()
	c, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	const text = "GET /a%20b?q=%zz<'\"> HTTP/1.1\r\nHost: x\r\n\r\n" +
		"POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\na=1&b" +
		"PUT /chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: " +
		"1\r\n\r\n" +
		"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answers, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(answers), "HTTP/1.1 200"); n != 4 {
		t.Errorf("%d answers came back:\n%s", n, answers)
	}
	want := []string{"GET /a%20b?q=%zz<'\"> ", "POST /form a=1&b", "PUT /chunks abcde", "GET /last "}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Errorf("what the target got (-want +got):\n%s", diff)
	}
	lines := p.takeCounted()
	n, asked := len(lines), requestPaths(lines)
	if diff := cmp.Diff(map[string]bool{"GET /a b": true, "POST /form": true, "PUT /chunks": true, "GET /last": true},
		asked); n != 4 || diff != "" {
		t.Errorf("%d requests (-want +got):\n%s", n, diff)
	}
	if n := len(p.takeCounted()); n != 0 {
		t.Errorf("after it was read, %d requests are counted", n)
	}
}

// TestServe is the program of the target of TestStart.
func TestServe(t *testing.T) {
	port := os.Getenv("PORT")
	if os.Getenv("SERVE") == "" {
		return // a test run, not the target
	}
	err := http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := os.Create("written")
		_, _ = fmt.Fprintln(w, os.Getuid(), err, os.Getenv("SECRET"))
	}))
	t.Error(err)
}

// TestStart runs a target in a copy, as a user without rights, and throws it away.
func TestStart(t *testing.T) {
	t.Setenv("SECRET", "not for targets")
	targets := t.TempDir()
	home := filepath.Join(targets, "own")
	if err := os.MkdirAll(filepath.Join(home, "app"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(targets), 0o755); err != nil { // the target's user must come through
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"app/server": self, "run": []byte("#!/bin/sh\nexec ./server -test.run " +
		"'^TestServe$'\n"),
		"target.json": []byte(`{"name": "own", "port": 1, "ready": "/"}`)} {
		if err := os.WriteFile(filepath.Join(home, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{targets: targets}
	s, err := b.startTarget(t.Context(), "own", "SERVE=1")
	if os.Geteuid() != 0 {
		if err == nil || !strings.Contains(err.Error(), "only root") {
			t.Fatalf("start without root = %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := fetchPage(t.Context(), s.baseAddress()+"/x")
	if want := "65534 <nil> \n"; err != nil || text != want {
		t.Errorf("the target answers %q, %v; want %q", text, err, want)
	}
	if _, err := os.Stat(filepath.Join(home, "app", "written")); err == nil {
		t.Error("the target wrote into the folder that is copied")
	}
	if n := len(s.takeCounted()); n != 1 {
		t.Errorf("%d requests counted, want 1: looking whether it is up is none", n)
	}
	direct, dir := s.direct, s.dir
	s.stopTarget()
	if _, err := fetchPage(t.Context(), direct); err == nil {
		t.Error("the target answers after its end")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the copy is there after the end")
	}
}

func TestStartTellsWhatIsMissing(t *testing.T) {
	b := &bench{targets: t.TempDir()}
	if _, err := b.startTarget(t.Context(), "absent"); !os.IsNotExist(err) {
		t.Errorf("start of an absent target = %v", err)
	}
}

const reportText = `{"findings":[
 {"ruleId":"dast/sqlinjection/error","message":"m","live":{"url":"http://h:1/wavsep/active/SQL-Injection/SInjection-Detection-Evaluation-GET-500Error/Case1-a.jsp","method":"GET","parameter":"u","in":"query","proof":[],"exchanges":[{"request":"importPaste"}]}},
 {"ruleId":"dast/xss","message":"m","live":{"url":"http://h:1/wavsep/active/SQL-Injection/SInjection-FalsePositives-GET/Case2-b.jsp","method":"GET"}},
 {"ruleId":"sast/x","message":"code"}],
 "rules":[{"id":"dast/sqlinjection/error","cwe":["CWE-89"]},{"id":"dast/xss","cwe":["CWE-79"]}],
 "operations":[{"method":"GET","url":"http://h:1/users/%7Bname%7D","outcome":"reached"},{"method":"PUT","url":"http://h:1/users/{name}","outcome":"not-reached","reason":"no value"},
  {"method":"DELETE","url":"http://h:1/users/{name}","outcome":"refused"}],
 "analyzers":[{"analyzer":"dast","state":"degraded","reasons":[{"code":"session","message":"lost"},{"code":"time","message":"over"}]}]}`

func TestReportIsJudged(t *testing.T) {
	s, err := readReport([]byte(reportText))
	if err != nil {
		t.Fatal(err)
	}
	if want := "dast: session lost (and 1 more)"; s.State != "degraded" || !strings.HasSuffix(s.describeCost(), want) ||
		len(s.Flaws) != 2 {
		t.Errorf("%s with %d flaws, %s; want 2, %q", s.State, len(s.Flaws), s.describeCost(), want)
	}
	pages := []page{
		{Path: "/wavsep/active/SQL-Injection/SInjection-Detection-Evaluation-GET-500Error/Case1-a.jsp",
			Vulnerable: true, Told: map[string]bool{}},
		{Path: "/wavsep/active/SQL-Injection/SInjection-Detection-Evaluation-GET-500Error/Case2-a.jsp",
			Vulnerable: true, Told: map[string]bool{}},
		{Path: "/wavsep/active/SQL-Injection/SInjection-FalsePositives-GET/Case2-b.jsp", Told: map[string]bool{}},
	}
	got := judgePages("merlon", s, sqlInjection, pages)
	if want := (tally{Vulnerable: 2, Found: 1, Safe: 1, Missed: []string{pages[1].Path}}); !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
	if got := judgePages("merlon", s, crossSiteScripting, pages); got.Wrong != 1 || got.Found != 0 || got.fpr() != 1 {
		t.Errorf("judged as cross site scripting: %+v", got)
	}
	if got := shortPaths(got.Missed); !cmp.Equal(got, []string{"SInjection-GET-500Error/Case2"}) {
		t.Errorf("short = %q", got)
	}
	without := operationsWithoutOutcome([]string{"GET /users/{}", "PUT /users/{}", "DELETE /users/{}", "POST /users"},
		s.Operations)
	if want := []string{"DELETE /users/{}", "POST /users"}; !cmp.Equal(want, without) {
		t.Errorf("unstated = %q, want %q", without, want)
	}
	fields := operationsWithoutOutcome([]string{"Query.users", "Mutation.pay"},
		[]operation{{ID: "Query.users", Outcome: "reached", URL: "http://h/graphql"},
			{ID: "Mutation.pay", Outcome: "refused", URL: "http://h/graphql"}})
	if want := []string{"Mutation.pay"}; !cmp.Equal(want, fields) {
		t.Errorf("unstated fields = %q, want %q", fields, want)
	}
	yes, no := splitFound(reportedRules("x", s, []known{{name: "a", class: sqlInjection, text: "importPaste"},
		{name: "b", class: sqlInjection, method: "POST"}, {name: "c", rule: vampiFlaws[0].path}}))
	if !cmp.Equal(yes, []string{"a"}) || !cmp.Equal(no, []string{"b", "c"}) {
		t.Errorf("found %q, not %q", yes, no)
	}
}

func TestForeignFlaws(t *testing.T) {
	s := &scan{Flaws: []flaw{{CWE: []string{"CWE-79"}, Path: "/b/xss-00/Case1.html"},
		{CWE: []string{"CWE-90"}, Path: "/b/xss-00/Case2"}, {CWE: []string{"CWE-90"}, Path: "/b/other"},
		{CWE: []string{"CWE-693"}, Path: "/b/xss-00/Case1"}}}
	got := categories[0].wrongCategory(s.byCase(), []page{{Path: "Case1"}, {Path: "Case2"}})
	if !cmp.Equal(got, []string{"Case2"}) {
		t.Errorf("foreign = %q", got)
	}
}

func TestModuleIsToldByItsOwnKind(t *testing.T) {
	s := &scan{Flaws: []flaw{
		{CWE: []string{"CWE-89"}, Path: "/vulnerabilities/sqli/"},
		{CWE: []string{"CWE-79"}, Path: "/vulnerabilities/sqli_blind/"},
		{CWE: []string{"CWE-89"}, Path: "/login.php"},
	}}
	var names []string
	for _, m := range modules {
		if len(m.reportedFlaws(s)) > 0 {
			names = append(names, m.name)
		}
	}
	if !cmp.Equal(names, []string{"sqli"}) {
		t.Errorf("told: %q", names)
	}
}

func TestTruthIsRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	paths, err := expectedPaths(write("expected.json", `["/javascript/frameworks/react/x.found", "/test/a.found"]`))
	if err != nil || !cmp.Equal(paths, []string{"/test/a.found"}) {
		t.Errorf("expectedPaths = %q, %v", paths, err)
	}
	cases, err := expectedCases(write("expected.csv",
		"# name, category\nCase1,xss,true,79\nCase2,xss,false,79\nCase3,sqli,true,89\n"))
	if err != nil || len(cases["xss"]) != 2 || !cases["xss"][0].Vulnerable || cases["xss"][1].Vulnerable ||
		cases["sqli"][0].Path != "Case3" {
		t.Errorf("expectedCases = %+v, %v", cases, err)
	}
	if _, err := expectedCases(write("short.csv", "Case1,xss\n")); err == nil {
		t.Error("a record of two fields is taken")
	}
	endpoints, err := restEndpoints(write("server.ts", "app.get('/rest/user/whoami', "+
		"x)\napp.put('/rest/user/whoami', y)\napp.delete(['/api/Cards/:id', '/api/Q'], z)\napp.use('/ftp', f)\n"))
	if err != nil || !cmp.Equal(endpoints, []string{"/api/Cards/{}", "/rest/user/whoami"}) {
		t.Errorf("restEndpoints = %q, %v", endpoints, err)
	}
	s := &scan{Asked: map[string]bool{"GET /api/Cards/7": true},
		Operations: []operation{{URL: "http://h/rest/user/whoami"}}}
	if !s.coveredEndpoint("/api/Cards/{}") || !s.coveredEndpoint("/rest/user/whoami") ||
		s.coveredEndpoint("/rest/user") || s.coveredEndpoint("/api/Cards") {
		t.Error("saw takes one endpoint for another")
	}
	active := filepath.Join(dir, "active")
	write("active/LFI/LFI-Detection-Evaluation-GET-200Error/Case1-x.jsp", "")
	write("active/LFI/LFI-Detection-Evaluation-GET-200Error/index.jsp", "")
	write("active/LFI/LFI-Detection-Evaluation-POST-200Error/Case1-x.jsp", "")
	write("active/LFI/LFI-FalsePositives-GET/Case9-y.jsp", "")
	pages, err := section{folder: "LFI"}.listPages(active)
	if err != nil || len(pages) != 2 || !pages[0].Vulnerable || pages[1].Vulnerable ||
		pages[1].Path != "/wavsep/active/LFI/LFI-FalsePositives-GET/Case9-y.jsp" {
		t.Errorf("pages = %+v, %v", pages, err)
	}
}

func TestPeersAreRead(t *testing.T) {
	flaws, err := readWapiti([]byte(`{"vulnerabilities":{"SQL Injection":[{"method":"GET","path":"/a.jsp?x=1","parameter":"x"}],"Backup file":[]}}`))
	if err != nil || len(flaws) != 1 || flaws[0].Path != "/a.jsp" || flaws[0].Rule != "SQL Injection" {
		t.Errorf("readWapiti = %+v, %v", flaws, err)
	}
	flaws, err = readLines([]byte("[INF] go\n[{\"matched-at\":\"http://h/b.jsp?y=1\",\"template-id\":\"t\"},\n{}]\n"),
		"matched-at", "template-id")
	if err != nil || len(flaws) != 1 || flaws[0].Path != "/b.jsp" || flaws[0].Rule != "t" {
		t.Errorf("readLines = %+v, %v", flaws, err)
	}
}

func TestLinks(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/w/index":
			_, _ = io.WriteString(w,
				`<a href="sub/">s</a><A class=x HREF='/w/c?a=1&amp;b=2#f'>c</A><a href="/w/LFI/x?q=1">x</a><a href="http://other/?z">o</a>`)
		default:
			_, _ = io.WriteString(w, `<a href="../index">back</a><a href="d?e=/f\g">d</a>`)
		}
	}))
	defer site.Close()
	got, err := crawlLinks(t.Context(), job{base: site.URL + "/w/", seeds: []string{site.URL + "/w/index"},
		exclude: []string{"/w/LFI/*"}})
	want := []string{site.URL + "/w/c?a=1&b=2", site.URL + `/w/sub/d?e=/f\g`}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("links = %q, %v; want %q", got, err, want)
	}
}

func TestCompare(t *testing.T) {
	results := map[string]result{"merlon": {found: 10, requests: 100, wall: time.Second},
		"a": {found: 5, requests: 200, wall: time.Second}, "b": {found: 1, requests: 15, wall: time.Minute}, "c": {}}
	rows := compareScanners("X", results)
	if len(rows) != 1 || rows[0].Floor != "≤ 7.5 requests, half of b; ≤ 60.00 s" || rows[0].Met != "no" {
		t.Errorf("compare = %+v", rows)
	}
	results["merlon"] = result{found: 20, requests: 100, wall: time.Second}
	if rows := compareScanners("X", results); rows[0].Met != "yes" {
		t.Errorf("compare = %+v", rows)
	}
	delete(results, "a")
	delete(results, "b")
	if rows := compareScanners("X", results); rows != nil {
		t.Errorf("compare without others = %+v", rows)
	}
}

func TestOptions(t *testing.T) {
	if err := runMeasures(context.Background(), nil, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "-targets") {
		t.Errorf("run without targets = %v", err)
	}
	if err := runMeasures(context.Background(), []string{"-targets", t.TempDir(), "-out", t.TempDir(), "-peers",
		"wapiti,zap"}, io.Discard); err == nil || !strings.Contains(err.Error(), `"zap"`) {
		t.Errorf("run with an unknown scanner = %v", err)
	}
	var out strings.Builder
	if err := runMeasures(context.Background(), []string{"-targets", t.TempDir(), "-out", t.TempDir(), "-only", "dvga"},
		&out); err != nil || !strings.Contains(out.String(), "| dvga |  | not measured |") {
		t.Errorf("run without the target: %v\n%s", err, out.String())
	}
}

func TestHostileRow(t *testing.T) {
	trap := hostile.Trap{Name: "dies", Says: regexp.MustCompile("does not respond")}
	good := hostileCase{State: "degraded", Reasons: []string{"the target does not respond any more"}, Requests: 3}
	for name, c := range map[string]func(hostileCase) hostileCase{
		"yes":              func(c hostileCase) hostileCase { return c },
		"no reason":        func(c hostileCase) hostileCase { c.Reasons = []string{"something else"}; return c },
		"said to be whole": func(c hostileCase) hostileCase { c.State = "succeeded"; return c },
		"a wrong finding":  func(c hostileCase) hostileCase { c.Told = []string{"dast/xss"}; return c },
		"reached":          func(c hostileCase) hostileCase { c.Reached = []string{"169.254.169.254:80"}; return c },
		"too long":         func(c hostileCase) hostileCase { c.Cost.Wall = time.Hour; return c },
		"too much":         func(c hostileCase) hostileCase { c.Cost.Peak = 2 << 30; return c },
		"no scan": func(c hostileCase) hostileCase {
			return hostileCase{State: "not measured", Failure: "no merlon"}
		},
	} {
		if row := c(good).judgeTrap(trap); (row.Met == "yes") != (name == "yes") {
			t.Errorf("%s: %+v", name, row)
		}
	}
}

func TestDeclaredFields(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil ||
			!strings.Contains(string(body), "queryType{name fields{name}}") {
			t.Errorf("asked %q, %v", body, err)
		}
		_, _ = io.WriteString(w,
			`{"data":{"__schema":{"queryType":{"name":"Query","fields":[{"name":"users"},{"name":"me"}]},"mutationType":{"name":"M","fields":[{"name":"pay"}]},"subscriptionType":null}}}`)
	}))
	defer service.Close()
	got, err := declaredFields(t.Context(), service.URL)
	if want := []string{"M.pay", "Query.me", "Query.users"}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("fields %q, %v", got, err)
	}
}

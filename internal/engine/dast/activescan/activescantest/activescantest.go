// Package activescantest runs checks against a server of the test: Attack over loopback, Timed in a
// bubble of synctest, where waiting takes no time. Settings change the engine, such as its profile
// or a listener.
package activescantest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/engine/dast/traffic/traffictest"
	"merlon/internal/finding"
	"merlon/internal/oast"
	"merlon/internal/scan"
)

// A Result is the outcome of a run.
type Result struct {
	// Findings are those that were reported, in their order.
	Findings []finding.Finding
	// Reasons are the gaps.
	Reasons []scan.Reason
	// Requests is how many were sent.
	Requests int
}

// Option changes a run before it begins.
type Option func(*activescan.Engine)

// Profile sets the profile; without it, a run is a full one.
func Profile(p scan.Profile) Option { return func(r *activescan.Engine) { r.Target.Profile = p } }

// Listening gives the run a listener for calls, on loopback.
func Listening(t *testing.T) Option {
	t.Helper()
	l, err := oast.Listen(oast.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(r *activescan.Engine) { r.OAST, r.OASTTimeout = l.Scan(), 100*time.Millisecond }
}

// Fetch returns how an application of the test requests an address: the body of the response, or
// nothing.
func Fetch(t *testing.T) func(address string) string {
	t.Helper()
	return fetch(t, "")
}

// View is Fetch with the User-Agent of a browser: a call by a person, not by the server.
func View(t *testing.T) func(address string) string {
	t.Helper()
	return fetch(t, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
}

// fetch requests with a User-Agent; empty: that of the library.
func fetch(t *testing.T, agent string) func(address string) string {
	return func(address string) string {
		r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, address, nil)
		if err != nil {
			return ""
		}
		if agent != "" {
			r.Header.Set("User-Agent", agent)
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return ""
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		if err != nil || resp.StatusCode != http.StatusOK {
			return ""
		}
		return string(body)
	}
}

// Attack runs the checks against the handler. Each operation is a request line with
// an optional body: "GET /a?x=1", "POST /b x=1&y=2" (a form), "POST /c {"x":1}".
func Attack(t *testing.T, handler http.Handler, checks []*activescan.Rule, operations []string,
	settings ...Option) Result {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	var dialer net.Dialer
	return application{server.URL, dialer.DialContext}.attack(t, checks, operations, settings)
}

// Timed is Attack in a bubble of testing/synctest, over connections in memory: whatever
// the handler and the checks wait for takes exactly as long as they say, and no time.
func Timed(t *testing.T, handler http.Handler, checks []*activescan.Rule, operations []string,
	settings ...Option) (out Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := traffictest.Listen()
		server := &http.Server{Handler: handler}
		go func() { _ = server.Serve(l) }() // ends with an error when it is closed
		out = application{"http://127.0.0.1:80", l.Dial}.attack(t, checks, operations, settings)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return out
}

// An application listens at an address.
type application struct {
	address string
	dial    func(context.Context, string, string) (net.Conn, error)
}

// attack runs checks against the application as a whole scan would, and collects what
// they report.
func (a application) attack(t *testing.T, checks []*activescan.Rule, operations []string, settings []Option) Result {
	t.Helper()
	target := &scan.Target{URL: a.address + "/", Profile: scan.Full}
	scope, err := sitemap.NewScope(target)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var out Result
	surface := sitemap.New(1000)
	for _, o := range operations {
		surface.Add(Request(t, a.address, o))
	}
	client := traffic.New(traffic.Options{Scope: scope, Dial: a.dial, ID: "test", Rate: 1e6, Parallel: 4,
		SignIns: true})
	defer client.Close()
	run := &activescan.Engine{Client: client, Sitemap: surface, Target: target, Scope: scope, Rules: checks,
		Parallel: 4,
		Seed:     1,
		ReportFinding: func(rule *finding.Rule, f finding.Finding) {
			mu.Lock()
			defer mu.Unlock()
			f.RuleID = rule.ID
			if !slices.ContainsFunc(checks, func(c *activescan.Rule) bool {
				return slices.Contains(c.FindingRules, rule)
			}) {
				t.Errorf("rule %s is not declared by its check", rule.ID)
			}
			out.Findings = append(out.Findings, f)
		},
		ReportGap: func(r scan.Reason) {
			mu.Lock()
			defer mu.Unlock()
			out.Reasons = append(out.Reasons, r)
		}}
	for _, s := range settings {
		s(run)
	}
	for _, e := range surface.Entries() { // what a crawler would have seen
		resp, err := client.Send(t.Context(), e.Request, run.As)
		if err != nil {
			continue
		}
		surface.RecordResponse(resp, "")
		run.InspectResponse(t.Context(), resp)
	}
	if err := run.Run(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	out.Requests = client.Sent()
	slices.SortFunc(out.Findings, func(a, b finding.Finding) int { return strings.Compare(Line(a), Line(b)) })
	return out
}

// Line writes a finding as "rule METHOD /path in:parameter", without the host. A vulnerability of
// the whole site has the path "/".
func Line(f finding.Finding) string {
	_, at, _ := strings.Cut(f.Live.URL, "://")
	if i := strings.IndexByte(at, '/'); i >= 0 {
		at = at[i:]
	}
	if !strings.Contains(f.Location.Path, "/") {
		at = "/"
	}
	line := f.RuleID + " " + f.Live.Method + " " + at
	if f.Live.Parameter != "" {
		line += " " + f.Live.In + ":" + f.Live.Parameter
	}
	return line
}

// Expect compares what was found, as Line writes it, with what should be, in any order.
func Expect(t *testing.T, got Result, want ...string) {
	t.Helper()
	var lines []string
	for _, f := range got.Findings {
		lines = append(lines, Line(f))
	}
	slices.Sort(want)
	if !slices.Equal(lines, want) {
		t.Errorf("found:\n\t%s\nwant:\n\t%s\nreasons: %v", strings.Join(lines, "\n\t"), strings.Join(want, "\n\t"),
			got.Reasons)
	}
	for _, f := range got.Findings {
		if len(f.Live.Proof) == 0 || len(f.Live.Exchanges) == 0 {
			t.Errorf("%s has no proof, or no exchanges", Line(f))
		}
	}
}

// Request reads an operation of Attack.
func Request(t *testing.T, base, operation string) *message.Request {
	t.Helper()
	method, rest, _ := strings.Cut(operation, " ")
	path, body, _ := strings.Cut(rest, " ")
	r, err := message.Parse(base + path)
	if err != nil {
		t.Fatal(err)
	}
	r.Method = method
	switch {
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		r.Body = message.Body{Kind: message.JSON, Text: []byte(body)}
	case strings.HasPrefix(body, "<"):
		r.Body = message.Body{Kind: message.XML, Text: []byte(body)}
	case body != "":
		r.Body = message.Body{Kind: message.Form, Params: message.ParseQuery(body)}
	}
	return r
}

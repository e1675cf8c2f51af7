package scan

import (
	"testing"

	"merlon/internal/finding"
)

// A live finding is that of the code when operation, parameter and class agree.
func TestBothSides(t *testing.T) {
	sink := func(cwe, parameter string, line int) Sink {
		return Sink{CWE: []string{cwe}, RuleID: "sast/x", Parameter: parameter,
			Location: finding.Location{Path: "a.py", StartLine: line},
			Steps:    []finding.Step{{Kind: finding.Source}, {Kind: finding.Sink}}}
	}
	target := Target{URL: "http://h:1/app/", Routes: []Route{
		{Method: "GET", Path: "/users/{id}", Location: finding.Location{Path: "a.py", StartLine: 1},
			Sinks: []Sink{sink("CWE-89", "path:id", 2), sink("CWE-89", "query:q", 3), sink("CWE-79", "", 4)}},
		{Method: "GET", Path: "/users/me", Location: finding.Location{Path: "a.py", StartLine: 10}},
		{Path: "/a/{x}/b/{y}", Location: finding.Location{Path: "b.py", StartLine: 1},
			Sinks: []Sink{sink("CWE-22", "path:y", 7), sink("CWE-22", "json:/n", 8), sink("CWE-22", "header:X-A", 9)}},
	}}
	for name, c := range map[string]struct {
		method, url, in, parameter, cwe string
		handler, line                   int
	}{
		"path by number":            {"GET", "http://h:1/app/users/7", "path", "3", "CWE-89", 1, 2},
		"another number":            {"GET", "http://h:1/app/users/7", "path", "2", "CWE-89", 1, 0},
		"path by name":              {"GET", "http://h:1/app/users/{id}", "path", "id", "CWE-564", 1, 2},
		"without the base":          {"GET", "http://h:1/users/7", "query", "q", "CWE-89", 1, 3},
		"form for query":            {"GET", "http://h:1/app/users/7", "form", "q", "CWE-89", 1, 3},
		"another parameter":         {"GET", "http://h:1/app/users/7", "query", "z", "CWE-89", 1, 0},
		"the code does not tell":    {"GET", "http://h:1/app/users/7", "query", "z", "CWE-80", 1, 4},
		"another class":             {"GET", "http://h:1/app/users/7", "query", "q", "CWE-601", 1, 0},
		"another method":            {"POST", "http://h:1/app/users/7", "query", "q", "CWE-89", 0, 0},
		"the plainer route":         {"GET", "http://h:1/app/users/me", "query", "q", "CWE-89", 10, 0},
		"any method, two of a path": {"PUT", "http://h:1/app/a/1/b/2", "path", "5", "CWE-23", 1, 7},
		"json":                      {"PUT", "http://h:1/app/a/1/b/2", "json", "/n", "CWE-73", 1, 8},
		"header":                    {"PUT", "http://h:1/app/a/1/b/2", "header", "x-a", "CWE-73", 1, 9},
		"elsewhere":                 {"GET", "http://h:1/app/other", "query", "q", "CWE-89", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := &outcome{
				hits: []hit{{rule: &finding.Rule{ID: "dast/x", CWE: []string{c.cwe}},
					Finding: finding.Finding{Live: &finding.Live{Method: c.method, URL: c.url, In: c.in,
						Parameter: c.parameter}}}},
				operations: []finding.Operation{{Method: c.method, URL: c.url}},
			}
			newRouteMatcher(&target).annotateOutcome(o)
			code := o.hits[0].Live.Code
			switch {
			case c.handler == 0:
				if code != nil || o.operations[0].Code != nil {
					t.Fatalf("got %+v", code)
				}
				return
			case code == nil || code.Handler.StartLine != c.handler || o.operations[0].Code.StartLine != c.handler:
				t.Fatalf("got %+v, operation %+v", code, o.operations[0].Code)
			case c.line == 0:
				if code.Flaw != nil || len(o.hits[0].Steps) > 0 {
					t.Errorf("got %+v", code.Flaw)
				}
			case code.Flaw == nil || code.Flaw.Location.StartLine != c.line || len(o.hits[0].Steps) != 2:
				t.Errorf("got %+v", code.Flaw)
			}
		})
	}
}

// What a scan of source says becomes routes with their flaws.
func TestDeclared(t *testing.T) {
	var summary Summary
	d := &RouteCollector{Handler: &summary}
	at := finding.Location{Path: "a.py", StartLine: 1, EndLine: 5}
	if err := d.Config(&Config{}); err != nil {
		t.Fatal(err)
	}
	rule := &finding.Rule{ID: "sast/x", CWE: []string{"CWE-89"}}
	steps := make([]finding.Step, 50)
	steps[0].Location.Path, steps[49].Location.Path = "a.py", "db.py"
	for _, err := range []error{
		d.Operation(&finding.Operation{Method: "GET", URL: "/x", Outcome: finding.Declared,
			Parameters: []string{"query:q"}, Code: &at}),
		d.Operation(&finding.Operation{Method: "GET", URL: "/y", Outcome: finding.Reached}),
		d.Rule(rule),
		d.Finding(&finding.Finding{RuleID: "sast/x", Steps: steps,
			Entry: []finding.EntryPoint{{Method: "GET", Path: "/x", Parameter: "query:q"},
				{Method: "GET", Path: "/y"}}}),
		d.Finding(&finding.Finding{RuleID: "sast/x"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	routes := d.Routes()
	if len(routes) != 1 || routes[0].Path != "/x" || routes[0].Location != at || len(routes[0].Parameters) != 1 {
		t.Fatalf("routes %+v", routes)
	}
	sinks := routes[0].Sinks
	if len(sinks) != 1 || sinks[0].Parameter != "query:q" || sinks[0].CWE[0] != "CWE-89" ||
		len(sinks[0].Steps) != maxPath || sinks[0].Steps[maxPath-1].Location.Path != "db.py" || len(steps) != 50 {
		t.Errorf("sinks %+v", sinks)
	}
	if summary.Operations[finding.Declared] != 1 {
		t.Errorf("the handler behind it got %v", summary.Operations)
	}
}

package sarif

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

// write returns the report of a recorded scan.
func write(t *testing.T, stream string) []byte {
	t.Helper()
	var b bytes.Buffer
	r := New(&b)
	if err := scan.Decode(strings.NewReader(stream), r); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	b, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A recorded scan gives the expected document, and the document is valid
// against the standard's schema.
func TestReport(t *testing.T) {
	s := schema(t)
	for _, name := range []string{"full", "empty"} {
		t.Run(name, func(t *testing.T) {
			stream, err := os.ReadFile("../testdata/" + name + ".ndjson")
			if err != nil {
				t.Fatal(err)
			}
			got := write(t, string(stream))
			golden := "testdata/" + name + ".sarif"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("run with -update after checking (-want +got):\n%s", diff)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("not valid: %#v", err)
			}
		})
	}
}

// The schema is not one that takes anything.
func TestSchemaRefuses(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"x"},"level":"bad"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if schema(t).Validate(doc) == nil {
		t.Error("a wrong level is valid")
	}
}

func TestAddresses(t *testing.T) {
	for path, want := range map[string]string{"a/b.go": "a/b.go", "ä b%.py": "%C3%A4%20b%25.py", "a:b": "./a:b",
		"x?y#z": "x%3Fy%23z"} {
		if got := artifactURI(path).URI; got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	for link, want := range map[string]string{"https://x.example/a b": "https://x.example/a%20b",
		"javascript:alert(1)": "", "x": "", "": ""} {
		if got := absoluteURL(link); got != want {
			t.Errorf("link %q is %q, want %q", link, got, want)
		}
	}
}

// Code hosts sort by this number; it must fall into the band of the severity.
func TestSecuritySeverity(t *testing.T) {
	for severity, want := range map[finding.Severity]string{finding.Critical: "9.5", finding.High: "8.0",
		finding.Medium: "5.5", finding.Low: "3.0"} {
		if got := securitySeverity(&finding.Rule{Severity: severity}); got != want {
			t.Errorf("%s: got %s, want %s", severity, got, want)
		}
	}
	if got := securitySeverity(&finding.Rule{Severity: finding.Low,
		Advisory: &finding.Advisory{CVSS: 9.8}}); got != "9.8" {
		t.Errorf("with a CVSS score: got %s, want 9.8", got)
	}
}

func TestRefusals(t *testing.T) {
	r := New(&bytes.Buffer{})
	if err := r.Close(); err == nil {
		t.Error("a report of no scan is written")
	}
	if err := r.Config(&scan.Config{Tool: "merlon"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Finding(&finding.Finding{RuleID: "x"}); err == nil {
		t.Error("a finding without its rule is written")
	}
}

// Whatever a stream holds, the report is valid.
func FuzzReport(f *testing.F) {
	for _, name := range []string{"full", "empty"} {
		b, err := os.ReadFile("../testdata/" + name + ".ndjson")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	s := schema(f)
	f.Fuzz(func(t *testing.T, stream string) {
		var b bytes.Buffer
		r := New(&b)
		if scan.Decode(strings.NewReader(stream), r) != nil || r.Close() != nil {
			return
		}
		doc, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatalf("not JSON: %v", err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("not valid: %#v", err)
		}
	})
}

// Viewers sort by rank: severity first, then how sure the finding is and whether the program
// reaches the vulnerable code.
func TestRankOf(t *testing.T) {
	reach := func(v finding.ReachVerdict) *finding.PackageMatch {
		return &finding.PackageMatch{Reach: &finding.Reach{Verdict: v}}
	}
	inOrder := []finding.Finding{
		{Severity: finding.Critical, Package: reach(finding.Reachable)},
		{Severity: finding.Critical, Confidence: finding.HighConfidence},
		{Severity: finding.Critical},
		{Severity: finding.Critical, Package: reach(finding.NotFound)},
		{Severity: finding.High, Package: reach(finding.Imported)},
		{Severity: finding.High, Confidence: finding.LowConfidence},
		{Severity: finding.Medium},
		{Severity: finding.Low, Confidence: finding.HighConfidence},
		{Severity: finding.Low},
	}
	for i, f := range inOrder {
		rank := rankOf(&f)
		if rank < 0 || rank > 100 || i > 0 && rank >= rankOf(&inOrder[i-1]) {
			t.Errorf("finding %d has rank %v, the one before %v", i, rank, rankOf(&inOrder[max(i-1, 0)]))
		}
	}
}

// The way to a vulnerable function is a code flow as the path of tainted data is.
func TestReachabilityIsACodeFlow(t *testing.T) {
	f := finding.Finding{Package: &finding.PackageMatch{Reach: &finding.Reach{Verdict: finding.Reachable,
		Steps: []finding.Step{{Kind: finding.Source, Location: finding.Location{Path: "main.go", StartLine: 3}},
			{Kind: finding.Sink, Location: finding.Location{Path: "http.go", StartLine: 9}, Message: "calls Parse"}}}}}
	flows := newResult(&f, 0).CodeFlows
	if len(flows) != 1 || len(flows[0].ThreadFlows[0].Locations) != 2 ||
		flows[0].ThreadFlows[0].Locations[1].Location.Message.Text != "calls Parse" {
		t.Errorf("got %+v", flows)
	}
}

func TestHelpURI(t *testing.T) {
	for _, tt := range []struct {
		rule finding.Rule
		want string
	}{
		{finding.Rule{Link: "https://example.com/rule", CWE: []string{"CWE-79"}}, "https://example.com/rule"},
		{finding.Rule{Link: "rule.html", CWE: []string{"CWE-79"}}, "https://cwe.mitre.org/data/definitions/79.html"},
		{finding.Rule{CWE: []string{"other", "CWE-22"}}, "https://cwe.mitre.org/data/definitions/22.html"},
		{finding.Rule{}, ""},
	} {
		if got := helpURI(&tt.rule); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.rule, got, tt.want)
		}
	}
}

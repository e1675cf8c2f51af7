package sarif

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
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
	r := New(&b, "")
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

// Code hosts sort by this number; it must fall into the band of the severity, which the context of
// a finding may have changed.
func TestSecuritySeverity(t *testing.T) {
	for _, tt := range []struct {
		severity finding.Severity
		cvss     float64
		want     string
	}{
		{finding.Critical, 0, "9.5"}, {finding.High, 0, "8.0"}, {finding.Medium, 0, "5.5"}, {finding.Low, 0, "3.0"},
		{"", 0, "3.0"}, {finding.Critical, 9.8, "9.8"}, {finding.High, 9.8, "8.9"}, {finding.High, 5, "7.0"},
		{finding.Medium, 4.3, "4.3"}, {finding.Low, 7.5, "3.9"},
	} {
		if got := formatScore(securitySeverity(tt.severity, &finding.Advisory{CVSS: tt.cvss})); got != tt.want {
			t.Errorf("%s with CVSS %v: got %s, want %s", tt.severity, tt.cvss, got, tt.want)
		}
	}
	if got := securitySeverity(finding.High, nil); got != 8 {
		t.Errorf("without an advisory: got %v", got)
	}
}

// document is what the tests read of a report.
type document struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Information string `json:"informationUri"`
				Rules       []struct {
					ID         string
					HelpURI    string `json:"helpUri"`
					Properties map[string]any
				}
			}
		}
		Results []struct {
			RuleID     string
			Rank       float64
			Message    struct{ Text string }
			Fixes      json.RawMessage
			Properties map[string]any
		}
	}
}

// report writes findings of their rules, checks the document against the schema, and reads it.
func report(t *testing.T, information string, rules []finding.Rule, findings ...finding.Finding) document {
	t.Helper()
	var b bytes.Buffer
	r := New(&b, information)
	errs := []error{r.Config(&scan.Config{Tool: "merlon"})}
	for i := range rules {
		errs = append(errs, r.Rule(&rules[i]))
	}
	for i := range findings {
		errs = append(errs, r.Finding(&findings[i]))
	}
	if err := errors.Join(append(errs, r.Close())...); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(doc); err != nil {
		t.Errorf("not valid: %#v", err)
	}
	var out document
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The highest rank comes first, whatever the order of the scan, and equal ones stay in it; the
// score of a rule is the highest of its results.
func TestOrderOfResults(t *testing.T) {
	rules := []finding.Rule{{ID: "a", Severity: finding.Critical, CWE: []string{"CWE-1"}},
		{ID: "b", Severity: finding.Critical, Advisory: &finding.Advisory{ID: "CVE-1", CVSS: 9.1}},
		{ID: "c", Severity: finding.High}}
	var findings []finding.Finding
	// More text than a block has, so that some results are compressed and some are not.
	const many = 3000
	padding := strings.Repeat("x", 100)
	for i := range many {
		findings = append(findings, finding.Finding{RuleID: "a", Severity: finding.Severities[2+i%2],
			Message: fmt.Sprintf("%05d %s", i, padding)})
	}
	findings = append(findings, finding.Finding{RuleID: "b", Severity: finding.High, Message: "last"})
	run := report(t, "", rules, findings...).Runs[0]
	if len(run.Results) != many+1 || run.Results[0].Message.Text != "last" {
		t.Fatalf("%d results, the first is %+v", len(run.Results), run.Results[0])
	}
	for i := 2; i < len(run.Results); i++ {
		before, r := run.Results[i-1], run.Results[i]
		if r.Rank > before.Rank || r.Rank == before.Rank && r.Message.Text < before.Message.Text {
			t.Fatalf("result %d is %+v after %+v", i, r, before)
		}
	}
	if got := run.Results[0].Properties["security-severity"]; got != "8.9" {
		t.Errorf("the result has %v, want 8.9", got)
	}
	for i, want := range []string{"5.5", "8.9", "8.0"} { // a rule without results has its own
		if got := run.Tool.Driver.Rules[i].Properties["security-severity"]; got != want {
			t.Errorf("rule %d has %v, want %v", i, got, want)
		}
	}
	if got := run.Tool.Driver.Rules[1].HelpURI; got != "https://osv.dev/vulnerability/CVE-1" {
		t.Errorf("the help is at %q", got)
	}
}

func TestInformationURI(t *testing.T) {
	for at, want := range map[string]string{"": "", "https://merlon.example": "https://merlon.example", "x": ""} {
		if got := report(t, at, nil).Runs[0].Tool.Driver.Information; got != want {
			t.Errorf("%q: got %q, want %q", at, got, want)
		}
	}
}

// A fix is written as replacements, and the severity with its terms.
func TestFixAndTerms(t *testing.T) {
	f := finding.Finding{RuleID: "a", Severity: finding.High, Impact: finding.Medium,
		Terms: []finding.SeverityTerm{{Points: 1, Reason: "Docker socket mounted"}},
		Fix: &finding.Fix{Description: "Pin the image", Path: "a b.yaml", Edits: []finding.Edit{
			{StartLine: 2, EndLine: 1, Lines: []string{"x", "y"}}, {StartLine: 3, EndLine: 4, Lines: []string{"z"}},
			{StartLine: 6, EndLine: 6}}}}
	r := report(t, "", []finding.Rule{{ID: "a"}}, f).Runs[0].Results[0]
	want := `[{"description":{"text":"Pin the image"},"artifactChanges":[{"artifactLocation":{"uri":"a%20b.yaml","uriBaseId":"%SRCROOT%"},` +
		`"replacements":[{"deletedRegion":{"startLine":2,"startColumn":1,"endLine":2,"endColumn":1},"insertedContent":{"text":"x\ny\n"}},` +
		`{"deletedRegion":{"startLine":3,"endLine":4},"insertedContent":{"text":"z"}},` +
		`{"deletedRegion":{"startLine":6,"startColumn":1,"endLine":7,"endColumn":1}}]}]}]`
	if got := string(r.Fixes); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	terms := []any{map[string]any{"points": 1.0, "reason": "Docker socket mounted"}}
	if r.Properties["impact"] != "medium" || !cmp.Equal(r.Properties["severityTerms"], any(terms)) {
		t.Errorf("got %v", r.Properties)
	}
}

// BenchmarkReport measures time and the memory that is in use when 50,000 results are written.
func BenchmarkReport(b *testing.B) {
	f := finding.Finding{RuleID: "a", Analyzer: "iac/configuration", Analysis: finding.IaC, Language: "yaml",
		Snippet: &finding.Snippet{StartLine: 1, Lines: strings.Split(strings.Repeat("      image: nginx:1.2\n", 7),
			"\n")}}
	for b.Loop() {
		r := New(io.Discard, "")
		if err := r.Config(&scan.Config{Tool: "merlon"}); err != nil {
			b.Fatal(err)
		}
		if err := r.Rule(&finding.Rule{ID: "a"}); err != nil {
			b.Fatal(err)
		}
		for i := range 50000 {
			f.Severity, f.Message = finding.Severities[i%4], fmt.Sprintf("Deployment/web-%d: a message of some length",
				i)
			f.Location = finding.Location{Path: fmt.Sprintf("deploy/overlays/%d/app.yaml", i%999), StartLine: i,
				EndLine: i}
			f.Fingerprint = finding.NewFingerprint("a", f.Location.Path, f.Message, i)
			if err := r.Finding(&f); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB-in-use")
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRefusals(t *testing.T) {
	r := New(&bytes.Buffer{}, "")
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
		r := New(&b, "")
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
	flows := newResult(&f, 0, 8).CodeFlows
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
		{finding.Rule{Advisory: &finding.Advisory{ID: "GHSA-x"}}, "https://osv.dev/vulnerability/GHSA-x"},
		{finding.Rule{}, ""},
	} {
		if got := helpURI(&tt.rule); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.rule, got, tt.want)
		}
	}
}

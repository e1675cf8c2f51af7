package json

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

// A recorded scan gives the expected document.
func TestReport(t *testing.T) {
	for _, name := range []string{"full", "empty"} {
		t.Run(name, func(t *testing.T) {
			stream, err := os.ReadFile("../testdata/" + name + ".ndjson")
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			r := New(&b)
			if err := scan.Decode(bytes.NewReader(stream), r); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			golden := "testdata/" + name + ".json"
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("run with -update after checking (-want +got):\n%s", diff)
			}
		})
	}
}

// The members that the package comment names are there, and lists are lists.
func TestMembers(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	for _, err := range []error{
		r.Config(&scan.Config{Tool: "merlon"}),
		r.Rule(&finding.Rule{ID: "a"}),
		r.Finding(&finding.Finding{RuleID: "a", Severity: finding.High, Analysis: finding.SAST}),
		r.Finding(&finding.Finding{RuleID: "a", Severity: finding.Low, Analysis: finding.SAST}),
		r.Package(&finding.Package{Name: "p"}),
		r.Status(&scan.Status{Analyzer: "x/y", State: scan.Failed, Reasons: []scan.Reason{{Code: "timeout"}}}),
		r.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var doc struct {
		Findings  []finding.Finding
		Rules     []finding.Rule
		Packages  []finding.Package
		Analyzers []scan.Status
		Scan      scan.Config
		Summary   summary
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Findings) != 2 || len(doc.Rules) != 1 || len(doc.Packages) != 1 || len(doc.Analyzers) != 1 ||
		doc.Scan.Tool != "merlon" {
		t.Errorf("got %+v", doc)
	}
	want := summary{Total: 2, BySeverity: map[finding.Severity]int{"critical": 0, "high": 1, "medium": 0, "low": 1},
		ByAnalysis: map[finding.Analysis]int{"sast": 2}, Packages: 1}
	if diff := cmp.Diff(want, doc.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// An error of the file that is written to ends the scan.
func TestWriteFails(t *testing.T) {
	r := New(broken{})
	if err := r.Config(&scan.Config{Tool: "merlon"}); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
	if err := r.Close(); !errors.Is(err, errBroken) {
		t.Errorf("Close: got %v, want %v", err, errBroken)
	}
	if err := New(&strings.Builder{}).Close(); err == nil {
		t.Error("a report of no scan is written")
	}
}

var errBroken = errors.New("no space left")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// How a severity came about, what to type, and what the profile left out are in the document.
func TestSeverityTermsAndProfile(t *testing.T) {
	var b bytes.Buffer
	r := New(&b)
	f := finding.Finding{RuleID: "a", Severity: finding.High, Impact: finding.Medium,
		Confidence: finding.HighConfidence,
		Terms:      []finding.SeverityTerm{{Points: 1, Reason: "Docker socket mounted"}},
		Also:       []finding.Location{{Path: "b.yaml", StartLine: 2}},
		Fix: &finding.Fix{Description: "Drop it", Path: "a.yaml", Edits: []finding.Edit{{StartLine: 3, EndLine: 3,
			Lines: []string{"x"}}}}}
	for _, err := range []error{r.Config(&scan.Config{Tool: "merlon", Profile: finding.DefaultProfile}), r.Finding(&f),
		r.Status(&scan.Status{Analyzer: "a/b", State: scan.Succeeded, OutsideProfile: 7}), r.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`"severity":"high","impact":"medium","severityTerms":[{"points":1,"reason":"Docker socket mounted"}],"confidence":"high"`,
		`"also":[{"path":"b.yaml","startLine":2,"endLine":0}]`,
		`"fix":{"description":"Drop it","path":"a.yaml","edits":[{"startLine":3,"endLine":3,"lines":["x"]}]}`,
		`"profile":"default"`, `"outsideProfile":7`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in %s", want, &b)
		}
	}
}

package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
)

// A checkCase is a workflow with the findings that one check is to report in it, as
// "line rule severity confidence", where "-" is what the rule declares, and the points of the terms.
type checkCase struct {
	name string
	text string
	want []string
}

// runFileCheck runs one check of a whole file on every case.
func runFileCheck(t *testing.T, check func(*Pass), cases []checkCase) {
	t.Helper()
	runCases(t, cases, check)
}

// runBodyCheck runs one check of a job or an action on every body of every case.
func runBodyCheck(t *testing.T, check func(*Pass, workflow.Body), cases []checkCase) {
	t.Helper()
	runCases(t, cases, func(p *Pass) {
		for _, b := range p.File.Bodies() {
			check(p, b)
		}
	})
}

func runCases(t *testing.T, cases []checkCase, check func(*Pass)) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, found := newPass(t, map[string]string{".github/workflows/a.yml": c.text}, ".github/workflows/a.yml")
			check(p)
			// UPD
			if os.Getenv("UPD") != "" {
				b, _ := json.Marshal([]any{c.name, *found})
				fmt.Println("UPD " + string(b))
			}
			if diff := cmp.Diff(c.want, *found); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// newPass returns a pass over one of the files, and what its checks report.
func newPass(t *testing.T, texts map[string]string, name string) (*Pass, *[]string) {
	t.Helper()
	var files []*workflow.File
	var current *workflow.File
	for path, text := range texts {
		f, err := workflow.Read(path, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, fault := range f.Faults {
			t.Fatalf("%s:%d: %s", path, fault.Line, fault.Message)
		}
		files = append(files, f)
		if path == name {
			current = f
		}
	}
	tree := workflow.NewTree(files)
	found := new([]string)
	return &Pass{Context: context.Background(), File: current, Tree: tree, Flow: &taint.Tracker{Tree: tree},
		Out: func(r *finding.Rule, f finding.Finding) {
			*found = append(*found, fmt.Sprintf("%d %s %s %s%s", f.Location.StartLine, path.Base(r.ID),
				orDash(string(f.Severity)), confidenceNames[f.Confidence], sumTerms(f.Terms)))
		}}, found
}

var confidenceNames = map[finding.Confidence]string{"": "-", finding.HighConfidence: "certain",
	finding.MediumConfidence: "likely",
	finding.LowConfidence:    "uncertain"}

// sumTerms writes the points that the context adds, as " +1", or "" for none.
func sumTerms(terms []finding.SeverityTerm) string {
	sum := 0
	for _, t := range terms {
		sum += t.Points
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf(" %+d", sum)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// A pass runs every check once and stops when the scan is cancelled.
func TestRun(t *testing.T) {
	const text = `on: pull_request_target
jobs:
  a:
    runs-on: self-hosted
    steps:
      - uses: some/action
      - run: echo "${{ github.event.pull_request.title }}"
`
	p, found := newPass(t, map[string]string{".github/workflows/a.yml": text}, ".github/workflows/a.yml")
	if err := p.Run(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 dangerous-trigger - uncertain -2",
		"3 missing-permissions - -",
		"1 anonymous-definition - -",
		"3 anonymous-definition - -",
		"1 missing-concurrency - -",
		"4 self-hosted-runner high likely",
		"7 template-injection - -",
		"6 unpinned-uses medium certain",
	}
	if diff := cmp.Diff(want, *found); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	*found = nil
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.Context = ctx
	if err := p.Run(); err == nil || len(*found) > 0 {
		t.Errorf("a cancelled pass returns %v and %q", err, *found)
	}
}

func TestShorten(t *testing.T) {
	long := "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789"
	for text, want := range map[string]string{
		"":                 "",
		" a\n\tb ":         "a b",
		"ä" + long:         "ä" + long[:78] + "…",
		long[:80]:          long[:80],
		"${{ matrix.os }}": "${{ matrix.os }}",
	} {
		if got := shorten(text); got != want {
			t.Errorf("shorten(%q) = %q, want %q", text, got, want)
		}
	}
}

// Steps and jobs that never run are not analyzed.
func TestRunnableSteps(t *testing.T) {
	const text = `on: push
jobs:
  a:
    runs-on: x
    steps:
      - run: make one
      - run: make two
        if: false
      - run: make three
        if: ${{ 1 == 2 }}
      - run: make four
        if: github.ref == 'x'
  b:
    if: false
    runs-on: x
    steps:
      - run: make five
`
	p, _ := newPass(t, map[string]string{".github/workflows/a.yml": text}, ".github/workflows/a.yml")
	var got []string
	for _, b := range p.File.Bodies() {
		for i, s := range runnableSteps(b) {
			got = append(got, fmt.Sprintf("%s: %s", describeStep(b, i), workflow.RunOf(s).Run.Value))
		}
	}
	want := []string{`in job "a", step 1: make one`, `in job "a", step 3: make three`, `in job "a", step 4: make four`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

package github

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/cicd/github/audit"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// The test data holds findings of every profile.
func Test(t *testing.T) {
	scantest.Run(t, Analyzer, func(o *scan.Options) { o.Profile = finding.AllProfile })
}

// Whatever the file holds, the analyzer ends, and what it reports has a place.
func FuzzAnalyzer(f *testing.F) {
	f.Add("on: issues\njobs:\n  a:\n    steps:\n    - run: echo ${{ github.event.issue.title }}\n")
	f.Add("on: workflow_call\njobs:\n  a:\n    uses: ./.github/workflows/a.yml\n    with: {x: \"${{ inputs.x }}\"}\n")
	f.Add("on: push\njobs:\n  a:\n    env: {A: \"${{ env.A }}\"}\n    strategy: {matrix: {a: [\"${{ env.A }}\"]}}\n  " +
		"  steps:\n    - id: s\n      env: {A: \"${{ steps.s.outputs.a }}\"}\n      run: echo \"a=$A ${{ matrix.a " +
		"}}\" >> $GITHUB_OUTPUT\n")
	f.Fuzz(func(t *testing.T, text string) {
		const name = ".github/workflows/a.yml"
		pass := &scan.ProjectPass{Context: context.Background(), FS: fstest.MapFS{name: {Data: []byte(text)}},
			Files: []scan.File{{Path: name, Size: int64(len(text))}},
			Reporter: scan.Reporter{
				Report: func(r *finding.Rule, got finding.Finding) {
					if r == nil || got.Message == "" || got.Location.StartLine < 1 ||
						got.Location.EndLine < got.Location.StartLine {
						t.Errorf("rule %v, finding %+v", r, got)
					}
				},
				Degrade: func(scan.Reason) {},
			}}
		if err := Analyzer.Project(pass); err != nil {
			t.Error(err)
		}
	})
}

// collect runs the analyzer over files and returns its findings and reasons.
func collect(t *testing.T, files map[string]string, advisories scan.Advisories) ([]finding.Finding, []scan.Reason) {
	t.Helper()
	fsys := fstest.MapFS{}
	pass := &scan.ProjectPass{Context: context.Background(), FS: fsys, Advisories: advisories}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
		pass.Files = append(pass.Files, scan.File{Path: name, Size: int64(len(text))})
	}
	slices.SortFunc(pass.Files, func(a, b scan.File) int { return strings.Compare(a.Path, b.Path) })
	var findings []finding.Finding
	var reasons []scan.Reason
	pass.Report = func(r *finding.Rule, f finding.Finding) {
		f.RuleID = r.ID
		findings = append(findings, f)
	}
	pass.Degrade = func(r scan.Reason) { reasons = append(reasons, r) }
	if err := Analyzer.Project(pass); err != nil {
		t.Fatal(err)
	}
	return findings, reasons
}

// Every rule is found somewhere in the test data, is fit to be shown, and stands
// in the page for users.
func TestRules(t *testing.T) {
	data := map[string]string{}
	err := filepath.WalkDir("testdata", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		data[filepath.ToSlash(strings.TrimPrefix(name, "testdata"+string(filepath.Separator)))] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../../docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	findings, _ := collect(t, data, nil)
	for _, f := range findings {
		found[f.RuleID] = true
	}
	for _, r := range audit.Rules.All() {
		if !found[r.ID] {
			t.Errorf("nothing in testdata is found by %s", r.ID)
		}
		if r.Name == "" || r.ShortDescription == "" || r.HowToPrevent == "" || r.Severity.Rank() == 0 ||
			r.Confidence == "" || !strings.HasPrefix(r.CWE[0], "CWE-") || !strings.HasPrefix(r.OWASP[0], "CICD-SEC-") {
			t.Errorf("rule %s is not whole: %+v", r.ID, r)
		}
		if !strings.Contains(r.HowToPrevent, "```") {
			t.Errorf("the remedy of %s does not show what to type", r.ID)
		}
		if !strings.Contains(string(page), "`"+path.Base(r.ID)+"`") {
			t.Errorf("docs/pipelines.md does not name %s", r.ID)
		}
	}
}

// What cannot be read is named with its line, and the rest is looked at.
func TestUnreadable(t *testing.T) {
	_, reasons := collect(t, map[string]string{
		".github/workflows/a.yml":  "on: push\njobs:\n  a: [\n",
		".github/workflows/b.yml":  "just a text\n",
		".github/workflows/c.yml":  "on: push\njobs:\n  a:\n    runs-on: x\n    steps: nothing\n",
		".github/workflows/d.yml":  "on: push\nx: &a [*a]\n",
		".github/dependabot.yml":   "version: 2\n",
		"data/action.yml":          "title: a film\n",
		".github/workflows/ok.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps: [{run: make}]\n",
	}, nil)
	got := map[string]int{}
	for _, r := range reasons {
		if r.Code != "malformed" || r.Message == "" {
			t.Errorf("reason %+v", r)
		}
		got[r.Path] = r.Line
	}
	want := map[string]int{".github/workflows/a.yml": 3, ".github/workflows/b.yml": 1, ".github/workflows/c.yml": 5,
		".github/workflows/d.yml": 2, ".github/dependabot.yml": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// The hops of a value lead from where attackers choose it to the script.
func TestPath(t *testing.T) {
	findings, _ := collect(t, map[string]string{".github/workflows/a.yml": `name: A
on: issues
permissions: {}
env:
  TITLE: ${{ github.event.issue.title }}
jobs:
  a:
    runs-on: x
    steps:
      - id: s
        run: echo "t=$TITLE" >> $GITHUB_OUTPUT
      - run: |
          echo "ä ${{ steps.s.outputs.t }}"
`}, nil)
	for _, f := range findings {
		if f.RuleID != "cicd/github/template-injection" {
			continue
		}
		var got []string
		for _, s := range f.Steps {
			got = append(got, fmt.Sprintf("%s %d:%d %s", s.Kind, s.Location.StartLine, s.Location.StartColumn,
				s.Message))
		}
		want := []string{
			"source 5:10 ${{ github.event.issue.title }}",
			"intermediate 11:14 written to GITHUB_OUTPUT as t",
			"sink 13:19 ${{ steps.s.outputs.t }} becomes code",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("path (-want +got):\n%s", diff)
		}
		return
	}
	t.Error("the injection is not found")
}

// known is vulnerability data with one advisory.
type known struct{ scan.Advisories }

func (known) Knows(ecosystem string) bool { return ecosystem == "GitHub Actions" }

func (known) Match(_ context.Context, _, name, version string) ([]scan.AdvisoryMatch, error) {
	if name != "org/name" || version != "1.2.3" {
		return nil, nil
	}
	return []scan.AdvisoryMatch{{Advisory: &finding.Advisory{ID: "GHSA-x", Summary: "bad", Severity: finding.Critical},
		Upgrade: "1.2.4"}}, nil
}

// The version is that of the tag, or of the comment behind a commit.
func TestAdvisories(t *testing.T) {
	findings, _ := collect(t, map[string]string{".github/workflows/a.yml": `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: org/name@v1.2.3
      - uses: org/name@0123456789012345678901234567890123456789 # v1.2.3
      - uses: org/name@v1.2.4
`}, known{})
	var got []int
	for _, f := range findings {
		if f.RuleID == "cicd/github/known-vulnerable-action" && f.Severity == finding.Critical &&
			strings.Contains(f.Message, "1.2.4 clears it") {
			got = append(got, f.Location.StartLine)
		}
	}
	if diff := cmp.Diff([]int{6, 7}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

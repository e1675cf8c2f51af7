package codefix

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// word is a rule of the tests: it reports lines that contain a word.
type word struct {
	text     string
	severity finding.Severity
	fix      func(line string, n int) *finding.Fix // of the line with the number; nil: no fix
}

// replaceWord returns a fix that replaces a word in its line.
func replaceWord(from, to string) func(string, int) *finding.Fix {
	return func(line string, n int) *finding.Fix {
		return &finding.Fix{Description: "Replace " + from, Edits: []finding.Edit{{StartLine: n, EndLine: n,
			Lines: []string{strings.ReplaceAll(line, from, to)}}}}
	}
}

// twoLines returns a fix that replaces a line by "x: 0" or "y: 0" and another line.
func twoLines(text string) func(string, int) *finding.Fix {
	return func(line string, n int) *finding.Fix {
		return &finding.Fix{Description: "Add " + text, Edits: []finding.Edit{{StartLine: n, EndLine: n,
			Lines: []string{line[:1] + ": 0", text}}}}
	}
}

// words returns an analyzer with the rules.
func words(list ...word) *scan.Analyzer {
	var rules []*finding.Rule
	for _, w := range list {
		rules = append(rules, &finding.Rule{ID: "iac/words/" + w.text, Analysis: finding.IaC, Name: w.text,
			ShortDescription: w.text, Description: "The word " + w.text + ".", HowToPrevent: "Remove it.",
			CWE: []string{"CWE-1"}, Severity: w.severity, Confidence: finding.HighConfidence})
	}
	return &scan.Analyzer{
		ID: "iac/words", Version: 1, Analysis: finding.IaC, Doc: "Words\n\nReports words.",
		Rules: func() ([]*finding.Rule, error) { return rules, nil },
		Match: func(path string) bool { return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".txt") },
		File: func(p *scan.FilePass) error {
			text, err := p.ReadFile()
			if err != nil {
				return err
			}
			for n, line := range strings.Split(string(text), "\n") {
				line = strings.TrimSuffix(line, "\r")
				for i, w := range list {
					if !strings.Contains(line, w.text) {
						continue
					}
					f := finding.Finding{Location: finding.Location{StartLine: n + 1}}
					if w.fix != nil {
						f.Fix = w.fix(line, n+1)
						if f.Fix != nil && f.Fix.Path == "" {
							f.Fix.Path = p.Path
						}
					}
					p.Report(rules[i], f)
				}
			}
			return nil
		},
	}
}

// plan writes the files to a folder and plans their fixes.
func plan(t *testing.T, files map[string]string, o Options) *Result {
	t.Helper()
	o.Root = filepath.Join(t.TempDir(), "tree")
	for name, text := range files {
		at := filepath.Join(o.Root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := filepath.Glob(filepath.Join(os.TempDir(), "merlon-fix-*"))
	r, err := Plan(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if got, err := os.ReadFile(filepath.Join(o.Root, name)); err != nil || string(got) != text {
			t.Errorf("%s was changed to %q, %v", name, got, err)
		}
	}
	if after, _ := filepath.Glob(filepath.Join(os.TempDir(), "merlon-fix-*")); len(after) > len(before) {
		t.Errorf("left behind: %v", after)
	}
	return r
}

// describe returns a result in short: files, what was applied and what was refused.
func describe(r *Result) []string {
	var out []string
	for _, f := range r.Files {
		out = append(out, f.Path+": "+f.After)
	}
	for _, c := range r.Applied {
		for _, f := range c.Findings {
			out = append(out, "cleared "+f.RuleID)
		}
	}
	for _, c := range r.Refused {
		out = append(out, c.Description+": "+c.Reason)
	}
	for _, f := range r.ByHand {
		out = append(out, "by hand "+f.RuleID)
	}
	return out
}

func TestPlan(t *testing.T) {
	bad := word{"bad", finding.Medium, replaceWord("bad", "good")}
	for _, tt := range []struct {
		name  string
		rules []word
		files map[string]string
		want  []string
	}{
		{"a fix that works, and a finding without one", []word{bad, {"manual", finding.High, nil}},
			map[string]string{"a.yaml": "x: bad\r\ny: manual"},
			[]string{"a.yaml: x: good\r\ny: manual", "cleared iac/words/bad", "by hand iac/words/manual"}},
		{"one that changes nothing of the finding",
			[]word{bad, {"stubborn", finding.High, replaceWord("stubborn", "stubborn # fixed")}},
			map[string]string{"a.yaml": "x: bad\ny: stubborn\n"},
			[]string{"a.yaml: x: good\ny: stubborn\n", "cleared iac/words/bad",
				"Replace stubborn: iac/words/stubborn still reports it"}},
		{"one that makes another finding of equal severity",
			[]word{bad, {"plain", finding.Medium, replaceWord("plain", "evil")},
				{"evil", finding.Medium, nil}},
			map[string]string{"a.yaml": "x: bad\ny: plain\n"},
			[]string{"a.yaml: x: good\ny: plain\n", "cleared iac/words/bad",
				"Replace plain: iac/words/evil of severity medium is new in a.yaml"}},
		{"one that leaves a smaller finding", []word{{"plain", finding.High, replaceWord("plain", "small")},
			{"small", finding.Low, nil}},
			map[string]string{"a.yaml": "y: plain\n"}, []string{"a.yaml: y: small\n", "cleared iac/words/plain"}},
		{"one that breaks the file", []word{bad, {"broken", finding.High, replaceWord("broken", "{")}},
			map[string]string{"a.yaml": "x: bad\ny: broken\n", "b.yaml": "x: bad\n"},
			[]string{"a.yaml: x: good\ny: broken\n", "b.yaml: x: good\n", "cleared iac/words/bad",
				"cleared iac/words/bad",
				"Replace broken: the file is not valid after it: yaml: line 2: did not find expected node content"}},
		{"two that give the same key twice", []word{{"one", finding.Medium, twoLines("key: 1")},
			{"two", finding.Low, twoLines("key: 2")}},
			map[string]string{"a.yaml": "x: one\ny: two\n"},
			[]string{"a.yaml: x: 0\nkey: 1\ny: two\n", "cleared iac/words/one", "Add key: 2: the file is not valid " +
				"after it: " +
				"yaml: unmarshal errors: line 4: mapping key \"key\" already defined at line 2"}},
		{"overlapping ones after each other, the worse first",
			[]word{bad, {"ugly", finding.High, replaceWord("ugly", "fine")}},
			map[string]string{"a.yaml": "x: bad ugly\n"},
			[]string{"a.yaml: x: good fine\n", "cleared iac/words/ugly", "cleared iac/words/bad"}},
		{"an edit for two findings", []word{{"left", finding.Low, replaceWord("left right", "both")},
			{"right", finding.High, replaceWord("left right", "both")}},
			map[string]string{"a.yaml": "x: left right\n"},
			[]string{"a.yaml: x: both\n", "cleared iac/words/right", "cleared iac/words/left"}},
		{"many in a file", []word{bad}, map[string]string{"a.yaml": "a: bad\nb: bad\nc: bad\n"},
			[]string{"a.yaml: a: good\nb: good\nc: good\n", "cleared iac/words/bad", "cleared iac/words/bad",
				"cleared iac/words/bad"}},
		{"edits outside of the file, and files outside of the folder", []word{
			{"far", finding.High, func(string, int) *finding.Fix {
				return &finding.Fix{Description: "Far", Edits: []finding.Edit{{StartLine: 9, EndLine: 9}}}
			}},
			{"out", finding.High, func(string, int) *finding.Fix {
				return &finding.Fix{Description: "Out", Path: "../x", Edits: []finding.Edit{{StartLine: 1, EndLine: 1}}}
			}}}, map[string]string{"a.yaml": "a: far\nb: out\n"},
			[]string{"Far: lines 9 to 9 are not in the file, which has 2 lines", "Out: \"../x\" is no path below " +
				"the folder"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := plan(t, tt.files, Options{Analyzers: []*scan.Analyzer{words(tt.rules...)}})
			if diff := cmp.Diff(tt.want, describe(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Fixes are tried on top of what the caller has changed, and only those that it selects.
func TestPlanOnTopOfChanges(t *testing.T) {
	o := Options{Analyzers: []*scan.Analyzer{words(word{"bad", finding.Medium, replaceWord("bad", "good")})},
		Changed: map[string]string{"a.yaml": "new: 1\nx: bad\n"},
		Select:  func(f *finding.Finding) bool { return f.Location.Path == "a.yaml" }}
	r := plan(t, map[string]string{"a.yaml": "x: bad\n", "b.yaml": "x: bad\n", ".git/c.yaml": "x: bad\n"}, o)
	want := []string{"a.yaml: new: 1\nx: good\n", "cleared iac/words/bad"}
	if diff := cmp.Diff(want, describe(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Files[0].Before != "new: 1\nx: bad\n" {
		t.Errorf("the text before is %q", r.Files[0].Before)
	}
}

// A symbolic link is no file of the tree, so nothing changes what it leads to.
func TestPlanRefusesLinks(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"a.txt": "bad\n", "target": "x\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("target", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	rule := word{"bad", finding.Medium, func(string, int) *finding.Fix {
		return &finding.Fix{Description: "Link", Path: "link", Edits: []finding.Edit{{StartLine: 1, EndLine: 1}}}
	}}
	r, err := Plan(context.Background(), Options{Root: root, Analyzers: []*scan.Analyzer{words(rule)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Files) > 0 || len(r.Refused) != 1 || !strings.Contains(r.Refused[0].Reason, "cannot read link") {
		t.Errorf("got %+v", r)
	}
}

func TestPlanWithoutFolder(t *testing.T) {
	if _, err := Plan(context.Background(), Options{Root: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}

package sast_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
)

const rules = `rules:
- id: eval-of-input
  languages: [python]
  severity: ERROR
  message: do not eval $X, which is value($X)
  pattern: eval($X)
  fix: safe($X)
- id: todo
  languages: [regex]
  severity: INFO
  message: a note $1
  pattern-regex: note (\w+)
  fix-regex: {regex: note, replacement: task}
`

func parseRules(t *testing.T, text string) []*rule.Rule {
	t.Helper()
	out, err := rule.Parse("rules.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCheck(t *testing.T) {
	files := []sast.Source{
		{Path: "b.py", Text: []byte("x = 'é'; eval(x)\n")},
		{Path: "a.txt", Text: []byte("note one\nnote two\n")},
	}
	for workers := range 3 {
		matches, problems := sast.Check(context.Background(), parseRules(t, rules), files,
			sast.Options{Workers: workers})
		if len(problems) > 0 {
			t.Fatalf("problems %v", problems)
		}
		var got []string
		for _, m := range matches {
			got = append(got, fmt.Sprintf("%s:%d:%d %s fix %q", m.Path, m.Start.Line, m.Start.Column, m.Message,
				m.Fix.Text))
		}
		want := []string{
			`a.txt:1:1 a note one fix "task one"`,
			`a.txt:2:1 a note two fix "task two"`,
			`b.py:1:10 do not eval x, which is é fix "safe(x)"`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("with %d workers got\n%s\nwant\n%s", workers, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestCheckSaysWhatItCannot(t *testing.T) {
	text := "rules:\n- {id: r, languages: [python], severity: ERROR, message: m, pattern: 'f('}\n- {id: s, " +
		"languages: [julia], severity: ERROR, message: m, pattern: f()}\n"
	_, problems := sast.Check(context.Background(), parseRules(t, text), []sast.Source{{Path: "a.py"}}, sast.Options{})
	if len(problems) != 2 || problems[0].Rule != "r" || problems[1].Rule != "s" {
		t.Errorf("problems %v, want one of r and one of s", problems)
	}
}

func TestApply(t *testing.T) {
	got := sast.Apply("abcdef", []sast.Edit{{Start: 3, End: 4, Text: "X"}, {Start: 0, End: 1, Text: ""},
		{Start: 3, End: 6, Text: "no"}})
	if want := "bcXef"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A rule that takes longer than its timeout finds nothing in the file, and that is
// said; other rules and files are not concerned.
func TestRuleTimeout(t *testing.T) {
	const text = `rules:
- {id: slow, message: m, severity: ERROR, languages: [python], options: {timeout: 0.00001}, patterns: [{pattern: "f(...)"}, {pattern-not: "g(..., $A, ..., $B, ..., $C, ...)"}]}
- {id: quick, message: m, severity: ERROR, languages: [python], pattern: "f(...)"}
- {id: flow, message: m, severity: ERROR, languages: [python], options: {timeout: 0.00001}, mode: taint, pattern-sources: [{pattern: "g(..., $A, ..., $B, ..., $C, ...)"}], pattern-sinks: [{pattern: "f(...)"}]}
`
	rules, err := rule.Parse("r.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	matches, problems := sast.Check(t.Context(), rules,
		[]sast.Source{{Path: "a.py", Text: []byte("f(1)\ng(" + strings.Repeat("1, 2, ", 500) + "0)\n")}},
		sast.Options{})
	if len(matches) != 1 || matches[0].Rule.ID != "quick" {
		t.Errorf("matches %v", matches)
	}
	var got []string
	for _, p := range problems {
		if !errors.Is(p.Err, pattern.ErrTimeout) || p.Path != "a.py" {
			t.Errorf("problem %+v", p)
		}
		got = append(got, p.Rule)
	}
	if !slices.Equal(got, []string{"slow", "flow"}) {
		t.Errorf("problems of %v", got)
	}
}

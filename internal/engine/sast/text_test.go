package sast_test

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/pcre"
)

// checkText evaluates the formula of a rule, which is indented by two, on a text, and
// says each match as its text with its metavariables.
func checkText(t *testing.T, language, formula, text string) ([]string, []sast.Problem) {
	t.Helper()
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: ["+language+"]\n"+formula)
	matches, problems := sast.Check(context.Background(), rules, []sast.Source{{Path: "a.txt", Text: []byte(text)}},
		sast.Options{})
	out := []string{}
	for _, m := range matches {
		var names []string
		for name := range m.Bound {
			names = append(names, name)
		}
		sort.Strings(names)
		line := text[m.Start.Offset:m.End.Offset]
		for _, name := range names {
			line += fmt.Sprintf(" %s=%q", name, m.Bound[name])
		}
		out = append(out, line)
	}
	return out, problems
}

// Rules without a grammar: the operators and the conditions.
func TestTextRules(t *testing.T) {
	for _, c := range []struct {
		name, language, formula, text string
		want                          []string
	}{
		{"regex", "regex", "  pattern: a(\\d)(?<X>b)?\n", "a1 a2b", []string{`a1 $1="1"`, `a2b $1="2" $2="b" $X="b"`}},
		{"lines", "regex", "  pattern-regex: ^a$\n", "a\nba\na", []string{"a", "a"}},
		{"either", "generic", "  pattern-either: [{pattern: a}, {pattern: b}]\n", "b a", []string{"b", "a"}},
		{"inside", "generic", "  patterns: [{pattern: f($X)}, {pattern-inside: 'g { ... }'}]\n", "f(1) g { f(2) } f(3)",
			[]string{`f(2) $X="2"`}},
		{"inside binds", "generic", "  patterns: [{pattern: f($X)}, {pattern-inside: '$Y { ... }'}]\n", "g { f(2) }",
			[]string{`f(2) $X="2" $Y="g"`}},
		{"inside disagrees", "generic", "  patterns: [{pattern: f($X)}, {pattern-inside: '$X { " +
			"... }'}]\n", "g { f(2) } h { f(h) }", []string{`f(h) $X="h"`}},
		{"not inside", "generic", "  patterns: [{pattern: f($X)}, {pattern-not-inside: 'g { " +
			"... }'}]\n", "f(1) g { f(2) }", []string{`f(1) $X="1"`}},
		{"not", "generic", "  patterns: [{pattern: f($X)}, {pattern-not: f(2)}]\n", "f(1) f(2)",
			[]string{`f(1) $X="1"`}},
		{"not is the same range", "generic", "  patterns: [{pattern: 'f($X)'}, {pattern-not: 'f'}]\n", "f(1)",
			[]string{`f(1) $X="1"`}},
		{"not regex", "generic", "  patterns: [{pattern: f($X)}, {pattern-not-regex: '2'}]\n", "f(1) f(2)",
			[]string{`f(1) $X="1"`}},
		{"two patterns", "generic", "  patterns: [{pattern: 'a ... b'}, {pattern: x}]\n", "x a x b x", []string{"x"}},
		{"regex and", "regex", "  patterns: [{pattern-regex: 'a.b'}, {pattern-regex: 'x'}]\n", "axb x", []string{"x"}},
		{"focus", "generic", "  patterns: [{pattern: 'f($X, $Y)'}, {focus-metavariable: [$X, $Y]}]\n", "f(1, 2)",
			[]string{`1 $X="1" $Y="2"`, `2 $X="1" $Y="2"`}},
		{"two focuses", "generic", "  patterns: [{pattern: 'g $X'}, {pattern-inside: 'f($...A);'}, " +
			"{focus-metavariable: $X}, {focus-metavariable: $...A}]\n", "f(h, g 1);",
			[]string{`1 $...A="h, g 1" $X="1"`}},
		{"metavariable-regex", "generic", "  patterns: [{pattern: f($X)}, {metavariable-regex: {metavariable: $X, " +
			"regex: 'b(?<Y>c)'}}]\n", "f(abc) f(bc)", []string{`f(bc) $1="c" $X="bc" $Y="c"`}},
		{"metavariable-pattern", "generic", "  patterns: [{pattern: 'f($...X)'}, {metavariable-pattern: " +
			"{metavariable: $...X, pattern: 'a b'}}]\n", "f(x a b) f(a)", []string{`f(x a b) $...X="x a b"`}},
		{"negative below metavariable", "generic", "  patterns: [{pattern: 'f($...X)'}, {metavariable-pattern: " +
			"{metavariable: $...X, patterns: [{pattern-not-regex: a}]}}]\n", "f(x a b) f(c)",
			[]string{`f(c) $...X="c"`}},
		{"metavariable-pattern in regex", "generic", "  patterns: [{pattern: f($X)}, {metavariable-pattern: " +
			"{metavariable: $X, language: regex, pattern: '^a$'}}]\n", "f(ab) f(a)", []string{`f(a) $X="a"`}},
		{"agree below metavariable", "generic", "  patterns: [{pattern: 'f($Y, $...X)'}, {metavariable-pattern: " +
			"{metavariable: $...X, pattern: 'g $Y'}}]\n", "f(1, g 2) f(1, g 1)",
			[]string{`f(1, g 1) $...X=" g 1" $Y="1"`}},
		{"comparison", "generic", "  patterns: [{pattern: f($X)}, {metavariable-comparison: {comparison: int($X) " +
			"> 5}}]\n", "f(9) f(4) f(x)", []string{`f(9) $X="9"`}},
		{"comparison of text", "generic", "  patterns: [{pattern: 'f($X, $Y)'}, {metavariable-comparison: " +
			"{comparison: $X == $Y}}]\n", "f(a, b) f(a, a)", []string{`f(a, a) $X="a" $Y="a"`}},
		{"entropy", "generic", "  patterns: [{pattern: k=$X}, {metavariable-analysis: {metavariable: $X, analyzer: " +
			"entropy}}]\n", "k=q8Zt2LmX9vRw4KpJ7nYb k=password",
			[]string{`k=q8Zt2LmX9vRw4KpJ7nYb $X="q8Zt2LmX9vRw4KpJ7nYb"`}},
		{"entropy v2", "regex", "  patterns: [{pattern: 'k=(?<X>\\w+)'}, {metavariable-analysis: {metavariable: $X, " +
			"analyzer: entropy_v2}}]\n", "k=password", []string{}},
		{"redos", "regex", "  patterns: [{pattern: '/(?<X>.*)/'}, {metavariable-analysis: {metavariable: $X, " +
			"analyzer: redos}}]\n", "/(a+)+$/ and\n/a+$/", []string{`/(a+)+$/ $1="(a+)+$" $X="(a+)+$"`}},
		{"anywhere", "generic", "  match: {all: [a, {anywhere: z}]}\n", "a\n\nz", []string{"a"}},
		{"as", "generic", "  match: {all: [{pattern: 'f($X)', as: $F}]}\n", "f(1)", []string{`f(1) $F="f(1)" $X="1"`}},
		{"unbound", "generic", "  patterns: [{pattern: a}, {metavariable-regex: {metavariable: $X, regex: a}}, " +
			"{metavariable-comparison: {comparison: $X > 1}}, {focus-metavariable: $X}]\n", "a", []string{}},
		{"aliengrep", "generic", "  options: {generic_engine: aliengrep}\n  pattern: f(...)\n", "f(a\n(b))",
			[]string{"f(a\n(b))"}},
		{"span", "generic", "  options: {generic_ellipsis_max_span: 0}\n  pattern: a ... b\n", "a\nb\na b",
			[]string{"a b"}},
		{"comments", "generic", "  options: {generic_comment_style: shell}\n  pattern: a b\n", "a # x\nb",
			[]string{"a # x\nb"}},
	} {
		got, problems := checkText(t, c.language, c.formula, c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || len(problems) > 0 {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, problems, diff)
		}
	}
}

// A text that asks for too much is a problem, not a silence.
func TestTextProblems(t *testing.T) {
	whole := pcre.MatchTimeout
	defer func() { pcre.MatchTimeout = whole }()
	pcre.MatchTimeout = 2 * time.Second // what is tested is that its end is said
	for name, c := range map[string]struct{ language, formula, text string }{
		"matches":      {"regex", "  pattern: a\n", strings.Repeat("a", 200_000)},
		"pairs":        {"regex", "  patterns: [{pattern: a}, {pattern: .}]\n", strings.Repeat("a", 6_000)},
		"backtracking": {"regex", "  pattern: '(a+)+(?=c)'\n", strings.Repeat("a", 40) + "b"},
		"minified":     {"generic", "  pattern: a\n", strings.Repeat("a ", 1000)},
		"words":        {"generic", "  pattern: a\n", strings.Repeat(strings.Repeat("a ", 20)+"\n", 10_000)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, problems := checkText(t, c.language, c.formula, c.text); len(problems) == 0 {
				t.Error("no problem was said")
			}
		})
	}
}

// max_match_per_file counts for each rule.
func TestMaxMatches(t *testing.T) {
	const one = "- {id: %s, message: m, severity: INFO, languages: [regex], pattern: %[1]s, options: " +
		"{max_match_per_file: 2}}\n"
	rules := parseRules(t, "rules:\n"+fmt.Sprintf(one, "a")+fmt.Sprintf(one, "b"))
	matches, problems := sast.Check(context.Background(), rules, []sast.Source{{Path: "x.txt", Text: []byte("aaabbb")}},
		sast.Options{})
	var got []string
	for _, m := range matches {
		got = append(got, fmt.Sprint(m.Rule.ID, m.Start.Offset))
	}
	if diff := cmp.Diff([]string{"a0", "a1", "b3", "b4"}, got); diff != "" || len(problems) > 0 {
		t.Error(problems, diff)
	}
}

// A class without a body in a pattern is its head alone: what stands in its body is
// not inside of it.
func TestClassHead(t *testing.T) {
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: INFO\n  languages: [java]\n  patterns:\n"+
		"  - pattern-inside: |\n      @A(...)\n      class $C\n  - pattern: '\"$S\"'\n")
	code := "@A(\"one\")\nclass B {\n  String s = \"two\";\n}\n"
	matches, problems := sast.Check(context.Background(), rules, []sast.Source{{Path: "B.java", Text: []byte(code)}},
		sast.Options{})
	if len(matches) != 1 || matches[0].Start.Line != 1 || len(problems) > 0 {
		t.Errorf("%v %v", matches, problems)
	}
}

package rule

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
)

// head is a rule without its formula.
const head = "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [python]\n"

// readFormulaOf parses a rule with the formula, which is indented by two.
func formulaOf(t *testing.T, text string) string {
	t.Helper()
	rules, err := Parse("r.yaml", []byte(head+text))
	if err != nil || len(rules) != 1 {
		t.Errorf("%s\n%v", text, err)
		return ""
	}
	return rules[0].Search.String()
}

func TestFormula(t *testing.T) {
	for text, want := range map[string]string{
		"  pattern: f($X)\n":               `(pattern "f($X)")`,
		"  pattern: |\n    f($X)\n    g\n": `(pattern "f($X)\ng\n")`,
		"  pattern-regex: a+\n":            `(regex "a+")`,
		`  patterns:
  - pattern: f($X)
  - pattern-not: f(1)
  - pattern-not: {patterns: [{pattern: f($Y)}, {pattern-inside: g}]}
  - pattern-inside: g
  - pattern-not-inside: h
  - pattern-not-regex: a
  - pattern-either: [{pattern: a}, {pattern-regex: b}, {patterns: [{pattern: c}]}]
  - focus-metavariable: $X
  - focus-metavariable: [$X, $Y]
  - metavariable-regex: {metavariable: $X, regex: a, constant-propagation: true}
  - metavariable-pattern: {metavariable: $X, language: js, patterns: [{pattern-not: a}]}
  - metavariable-pattern: {metavariable: $X, language: regex, pattern: a+}
  - metavariable-comparison: {comparison: $X > 1}
  - metavariable-type: {metavariable: $X, type: String}
  - metavariable-analysis: {metavariable: $X, analyzer: entropy}
  - metavariable-analysis: {metavariable: $X, analyzer: {kind: entropy_v2, mode: strict}}
  - semgrep-internal-metavariable-name: {metavariable: $X, modules: [a, b]}
`: `(all (pattern "f($X)") (not (pattern "f(1)")) (not (all (pattern "f($Y)") (inside (pattern "g"))))` +
			` (inside (pattern "g")) (not (inside (pattern "h"))) (not (regex "a"))` +
			` (any (pattern "a") (regex "b") (all (pattern "c")))` +
			` where[regex $X "a" constant] where[formula $X (all (not (pattern "a"))) in javascript]` +
			` where[formula $X (regex "a+") in regex] where[compare $X > 1] where[type $X String]` +
			` where[analysis $X entropy default] where[analysis $X entropy_v2 strict] where[name $X a|b]` +
			` focus[$X] focus[$X|$Y])`,
		"  match: f($X)\n": `(pattern "f($X)")`,
		`  match:
    all:
    - inside: g
    - not: {inside: {any: [h, {regex: i}]}}
    - pattern: f($X)
      as: $Y
      fix: g($X)
    - anywhere: k
    where:
    - metavariable: $X
      regex: a
    - metavariable: $X
      any: [a, b]
      language: ts
    - comparison: $X == 1
    - metavariable: $X
      types: [A, B]
    - metavariable: $X
      analyzer: redos
    - focus: $X
`: `(all (inside (pattern "g")) (not (inside (any (pattern "h") (regex "i")))) (pattern "f($X)" as $Y fix "g($X)")` +
			` (anywhere (pattern "k")) where[regex $X "a"] where[formula $X (any (pattern "a") (pattern "b")) in typescript]` +
			` where[compare $X == 1] where[type $X A|B] where[analysis $X redos default] focus[$X])`,
	} {
		if diff := cmp.Diff(want, formulaOf(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestLines(t *testing.T) {
	rules, err := Parse("r.yaml", []byte(head+"  patterns:\n  - pattern: |\n\n      a\n  - pattern: b\n  - "+
		"metavariable-regex:\n      metavariable: $X\n      regex: a\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := rules[0].Search
	if got := []int{rules[0].Line, f.Line, f.Children[0].Line, f.Children[1].Line, f.Where[0].Line}; !cmp.Equal(got,
		[]int{2, 7, 8, 10, 12}) {
		t.Errorf("lines %v", got)
	}
}

func TestWholeRule(t *testing.T) {
	rules, err := Parse("dir/r.yaml", []byte(`
rules:
- id: x.y-z
  message: &text says $X
  severity: CRITICAL
  languages: [js, TS, javascript]
  metadata: {cwe: [CWE-79], likelihood: 1.5, more: {deep: true, none: null}, text: *text, date: 2020-01-01}
  paths: {include: ["*.js"], exclude: [a, b]}
  options: {symbolic_propagation: true, interfile: false, generic_ellipsis_max_span: 0, generic_braces: [["<", ">"]], taint_focus_on: source}
  fix: g($X)
  fix-regex: {regex: f, replacement: g, count: 1}
  min-version: 1.2.3
  mode: search
  pattern: f($X)
---
rules:
- id: b
  message: m
  severity: INFO
  languages: [regex]
  pattern: a+
`))
	if err != nil || len(rules) != 2 {
		t.Fatal(rules, err)
	}
	r := rules[0]
	if r.FixRegex.Regex.String() != "f" || rules[1].Search.Op != OpRegex || rules[1].Severity != finding.Low {
		t.Errorf("%v %v", r.FixRegex, rules[1])
	}
	r.FixRegex.Regex, r.Search = nil, nil
	options := DefaultOptions()
	no := false
	options.SymbolicPropagation, options.Interfile, options.GenericMaxSpan, options.TaintFocusOnSource = true, &no, 0,
		true
	options.GenericBraces = [][2]string{{"<", ">"}}
	want := &Rule{
		ID: "x.y-z", Path: "dir/r.yaml", Line: 3, Message: "says $X", Severity: finding.Critical,
		Languages: []string{"javascript", "typescript"},
		Metadata: map[string]any{"cwe": []any{"CWE-79"}, "likelihood": 1.5,
			"more": map[string]any{"deep": true, "none": nil},
			"text": "says $X", "date": "2020-01-01"},
		Include: []string{"*.js"}, Exclude: []string{"a", "b"}, Options: options,
		Fix: "g($X)", FixRegex: &FixRegex{Replacement: "g", Count: 1}, MinVersion: "1.2.3",
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const taintHead = "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [python]\n  mode: taint\n"

// sayTaint writes taint mode on lines.
func sayTaint(t *Taint) string {
	var out strings.Builder
	for _, s := range t.Sources {
		fmt.Fprintf(&out, "source %v label=%s requires=%v effect=%d control=%v exact=%v\n", s.Formula, s.Label,
			s.Requires, s.BySideEffect, s.Control, s.Exact)
	}
	for _, s := range t.Sanitizers {
		fmt.Fprintf(&out, "sanitizer %v effect=%d exact=%v conflict=%v\n", s.Formula, s.BySideEffect, s.Exact,
			s.NotConflicting)
	}
	for _, s := range t.Sinks {
		fmt.Fprintf(&out, "sink %v requires=%v each=%v exact=%v exit=%v\n", s.Formula, s.Requires, s.RequiresEach,
			s.Exact, s.AtExit)
	}
	for _, p := range t.Propagators {
		fmt.Fprintf(&out, "propagator %v %s>%s effect=%d label=%s requires=%v replace=%v\n", p.Formula, p.From, p.To,
			p.BySideEffect, p.Label, p.Requires, p.ReplaceLabels)
	}
	if t.Model != nil {
		fmt.Fprintf(&out, "model %v %v\n", t.Model.Sources, t.Model.Sinks)
	}
	return out.String()
}

func TestTaint(t *testing.T) {
	for text, want := range map[string]string{
		`  pattern-sources:
  - pattern: s
  - patterns: [{pattern: f($X)}, {focus-metavariable: $X}]
    label: A
    requires: not B and (C or D)
    by-side-effect: only
    control: true
    exact: true
  pattern-sanitizers:
  - pattern: c
    by-side-effect: true
    not_conflicting: true
    exact: true
  pattern-sinks:
  - pattern: k($X)
    requires: A
    at-exit: true
    exact: false
  - pattern: l($X, $Y)
    requires: [{$X: A}, {$Y: not A}]
  pattern-propagators:
  - pattern: $TO.add($FROM)
    from: $FROM
    to: $TO
    label: L
    requires: A
    replace-labels: [A]
    by-side-effect: false
`: `source (pattern "s") label= requires=<nil> effect=0 control=false exact=false
source (all (pattern "f($X)") focus[$X]) label=A requires=(not B and (C or D)) effect=2 control=true exact=true
sanitizer (pattern "c") effect=1 exact=true conflict=true
sink (pattern "k($X)") requires=A each=[] exact=false exit=true
sink (pattern "l($X, $Y)") requires=<nil> each=[{$X A} {$Y not A}] exact=true exit=false
propagator (pattern "$TO.add($FROM)") $FROM>$TO effect=0 label=L requires=A replace=[A]
`,
		`  taint:
    sources: [s, {pattern: t, label: A}]
    sinks: [{any: [k, l], requires: A}]
    sanitizers: [c]
    propagators: [{pattern: "p($X, $Y)", from: $X, to: $Y}]
`: `source (pattern "s") label= requires=<nil> effect=0 control=false exact=false
source (pattern "t") label=A requires=<nil> effect=0 control=false exact=false
sanitizer (pattern "c") effect=0 exact=false conflict=false
sink (any (pattern "k") (pattern "l")) requires=A each=[] exact=true exit=false
propagator (pattern "p($X, $Y)") $X>$Y effect=1 label= requires=<nil> replace=[]
`,
		"  model: {sources: [remote], sinks: [sql, command]}\n": "model [remote] [sql command]\n",
	} {
		rules, err := Parse("r.yaml", []byte(taintHead+text))
		if err != nil {
			t.Errorf("%s\n%v", text, err)
			continue
		}
		if diff := cmp.Diff(want, sayTaint(rules[0].Taint)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// The time of a rule grows with the file only when it asks for that.
func TestTimeout(t *testing.T) {
	for text, want := range map[string][2]time.Duration{
		"{}":                                  {0, 0},
		"{timeout: 0.5}":                      {time.Second / 2, time.Second / 2},
		"{timeout: 2, dynamic_timeout: true}": {2 * time.Second, 40 * time.Second},
		"{timeout: 2, dynamic_timeout: true, dynamic_timeout_unit_kb: 1, " +
			"dynamic_timeout_max_multiplier: 6}": {2 * time.Second, 12 * time.Second},
	} {
		rules, err := Parse("r.yaml", []byte(head+"  pattern: x\n  options: "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		o := &rules[0].Options
		if got := [2]time.Duration{o.Timeout(10), o.Timeout(10 << 20)}; got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	_, err := Parse("r.yaml", []byte(head+"  pattern: x\n  options: {taint_fixpoint_timeout: 1}\n"))
	if err == nil || !strings.Contains(err.Error(), "r.yaml:7: rule a: taint_fixpoint_timeout is not supported") {
		t.Errorf("fault %v", err)
	}
}

func TestModelKinds(t *testing.T) {
	known := func(kind string) bool { return kind == "remote" }
	p := Parser{KnownSource: known, KnownSink: known}
	_, err := p.Parse("r.yaml", []byte(taintHead+"  model: {sources: [remote, local], sinks: [sql]}\n"))
	if diff := cmp.Diff([]string{
		`r.yaml:7: rule a: this build has no model of sources of the kind "local"`,
		`r.yaml:7: rule a: this build has no model of sinks of the kind "sql"`,
	}, strings.Split(fmt.Sprint(err), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestLabels(t *testing.T) {
	has := func(label string) bool { return label == "A" || label == "B" }
	for text, want := range map[string]bool{
		"A": true, "C": false, "not C": true, "A and B": true, "A and C": false, "C or B": true,
		"not (A and B) or C": false,
		"not not A":          true, "A and not C and B": true, "True": true, "False or C": false,
	} {
		e, err := ParseLabels(text)
		if err != nil || e.Eval(has) != want {
			t.Errorf("%s: %v, want %v, %v", text, e, want, err)
		}
	}
	for _, text := range []string{"", "A B", "A and", "(A", "A or or B", "$X", "1", "not", strings.Repeat("(", 1000),
		strings.Repeat("not ", 1000) + "A"} {
		if e, err := ParseLabels(text); err == nil {
			t.Errorf("%.20s: %v", text, e)
		}
	}
}

// Each file of testdata/faults is a rule file; its lines with "# want" name what is
// said of them.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, line := range strings.Split(string(text), "\n") {
			if _, said, ok := strings.Cut(line, "# want "); ok {
				for _, s := range strings.Split(said, " | ") {
					want = append(want, fmt.Sprintf("%d: %s", i+1, s))
				}
			}
		}
		_, err = Parse("f", text)
		var got []string
		for _, line := range strings.Split(fmt.Sprint(err), "\n") {
			got = append(got, strings.TrimPrefix(line, "f:"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func TestFileFaults(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString(head + "  pattern: x\n  metadata:\n    a: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 8; i++ {
		fmt.Fprintf(&bomb, "    b%d: &a%d [%s]\n", i, i,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":    {"", "the file is empty"},
		"not yaml": {"rules: [\n", "r.yaml:1: not valid YAML"},
		"scalar":   {"rules\n", "a rule file must be a mapping"},
		"no rules": {"other: 1\n", "needs the key rules"},
		"large":    {strings.Repeat(" ", 9<<20), "the limit is"},
		"bomb":     {bomb.String(), "more than 1000000 values"},
		"self":     {head + "  pattern: x\n  metadata: &m {a: *m}\n", "nested more than 100 deep"},
		"deep": {head + "  match: " + strings.Repeat("{all: [", 200) + "x" + strings.Repeat("]}", 200) + "\n",
			"nested more than 100 deep"},
		"many":      {"rules:\n" + strings.Repeat("- 1\n", 100), "and 50 more faults"},
		"tag":       {"rules: !!binary x\n", "must be a list"},
		"bad alias": {"rules: *x\n", "not valid YAML"},
	} {
		rules, err := Parse("r.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(rules) > 0 {
			t.Errorf("%s: %d rules, error %v, want %q", name, len(rules), err, c.want)
		}
	}
	var fault *Error
	if _, err := Parse("r.yaml", []byte("rules: 1\n")); !errors.As(err, &fault) || fault.Line != 1 ||
		fault.Path != "r.yaml" {
		t.Errorf("%v", fault)
	}
}

// A rule with a fault does not take the others along.
func TestGoodRulesStay(t *testing.T) {
	rules, err := Parse("r.yaml", []byte(head+"  pattern: x\n- id: b\n  nothing: 1\n"))
	if len(rules) != 1 || rules[0].ID != "a" || err == nil {
		t.Errorf("%v, %v", rules, err)
	}
}

// No file makes the parser panic; what it returns can be printed.
func FuzzParse(f *testing.F) {
	f.Add(head + "  pattern: x\n")
	f.Add(taintHead + "  taint: {sources: [s], sinks: [{pattern: k, requires: [{$X: A}]}]}\n  model: {sources: [a]}\n")
	f.Add("a: &a [*a]\nrules: [*a]\n---\n<<: *a\n")
	f.Add(head + "  patterns: [{pattern-not: {patterns: [{pattern-either: []}]}}, {metavariable-pattern: " +
		"{metavariable: $X, language: generic, pattern: a}}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := Parse("r.yaml", []byte(text))
		for _, r := range rules {
			if (r.Search == nil) == (r.Taint == nil) {
				t.Fatal("neither search nor taint, or both")
			}
			if r.Search != nil && r.Search.String() == "" || r.ID == "" || len(r.Languages) == 0 {
				t.Fatal("a rule without its parts")
			}
		}
		if err != nil && err.Error() == "" {
			t.Fatal("an error without text")
		}
	})
}

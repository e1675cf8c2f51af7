package pattern_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/scope"
)

// parse prepares a source file.
func parse(t testing.TB, l *lang.Language, src string) *pattern.File {
	t.Helper()
	f, err := l.Parse("test", []byte(src), cst.Limits{})
	if err != nil {
		t.Fatalf("parse %s: %v", l.Name, err)
	}
	return pattern.NewFile(f, l, scope.Analyze(f, l, nil))
}

// lines returns the lines on which the formula matches, each once.
func lines(t testing.TB, s pattern.Setting, f *rule.Formula, src string) []int {
	t.Helper()
	p, err := pattern.Compile(f, s)
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	file := parse(t, s.Language, src)
	matches, err := p.Matches(file)
	if err != nil {
		t.Fatalf("match: %v", err)
	}
	var out []int
	for _, m := range matches {
		out = append(out, file.Tree.Line(m.Start))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// marked returns the lines that end with "// match" or "# match".
func marked(src string) []int {
	var out []int
	for i, line := range strings.Split(src, "\n") {
		if strings.HasSuffix(line, "// match") || strings.HasSuffix(line, "# match") {
			out = append(out, i+1)
		}
	}
	return out
}

// A patternTest is a pattern, a source whose lines that must match are marked, and the
// options of the rule, as YAML.
type patternTest struct{ language, name, options, pattern, source string }

// patternTests reads the files of testdata: cases that begin with "== name {options}",
// with "--" between pattern and source. In other.txt the language is in the name.
func patternTests(t testing.TB) []patternTest {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	var tests []patternTest
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range strings.Split("\n"+string(text), "\n== ")[1:] {
			head, rest, _ := strings.Cut(c, "\n")
			fragment, source, ok := strings.Cut(rest, "\n--\n")
			if !ok {
				t.Fatalf("%s: %q has no source", path, head)
			}
			test := patternTest{language: strings.TrimSuffix(filepath.Base(path), ".txt"), pattern: fragment,
				source: source}
			test.name, test.options, _ = strings.Cut(head, " {")
			test.options = strings.TrimSuffix(test.options, "}")
			if test.language == "other" {
				test.language, test.name, _ = strings.Cut(test.name, ": ")
			}
			tests = append(tests, test)
		}
	}
	return tests
}

// compileRule makes a rule of one pattern.
func compileRule(t testing.TB, test patternTest) *rule.Rule {
	t.Helper()
	text := fmt.Sprintf("rules:\n- {id: r, languages: [%s], severity: ERROR, message: m, options: {%s}, pattern: %s}\n",
		test.language, test.options, strconv.Quote(test.pattern))
	rules, err := rule.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return rules[0]
}

// TestPatterns matches one pattern with one source.
func TestPatterns(t *testing.T) { checkMatches(t, patternTests(t)) }

// checkMatches matches the pattern of each test with its source and compares the lines.
func checkMatches(t *testing.T, tests []patternTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.language+" "+test.name, func(t *testing.T) {
			l := all.ByName(test.language)
			if l == nil {
				t.Fatalf("no language %s", test.language)
			}
			r := compileRule(t, test)
			got := lines(t, pattern.Setting{Language: l, Options: r.Options}, r.Search, test.source)
			if want := marked(test.source); !slices.Equal(got, want) {
				t.Errorf("%s\nmatched lines %v, want %v", test.pattern, got, want)
			}
		})
	}
}

// TestFormulas joins patterns.
func TestFormulas(t *testing.T) {
	const src = `import db
def safe(x):
    db.run("a")
def f(req):
    q = "b" + req
    db.run(q)  # match
    db.run("c", req)  # match
    with quiet():
        db.run(q, 1)
`
	l := all.ByName("python")
	text := `rules:
- id: r
  languages: [python]
  severity: ERROR
  message: m $X
  patterns:
  - pattern: db.run($X, ...)
  - pattern-inside: |
      def $F(...):
        ...
  - pattern-not: db.run("a")
  - pattern-not-inside: |
      with quiet():
        ...
  - metavariable-regex: {metavariable: $F, regex: f}
  - focus-metavariable: $X
`
	rules, err := rule.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := lines(t, pattern.Setting{Language: l, Options: rules[0].Options}, rules[0].Search, src)
	if want := marked(src); !slices.Equal(got, want) {
		t.Errorf("matched lines %v, want %v", got, want)
	}
}

// conditionTests are rules of one metavariable $X in f($X).
var conditionTests = []struct{ name, condition, source string }{
	{"regex", "metavariable-regex: {metavariable: $X, regex: ^a}", "f(ab)  # match\nf(ba)\n"},
	{"comparison", "metavariable-comparison: {metavariable: $X, comparison: $X > 10}", "N = 20\nf(11)  # " +
		"match\nf(5)\nf(N)  # match\n"},
	{"pattern", "metavariable-pattern: {metavariable: $X, pattern: g(...)}", "f(g(1))  # match\nf(h(1))\n"},
	{"pattern without", "metavariable-pattern: {metavariable: $X, patterns: [{pattern-not: \"'...'\"}]}",
		"f(a)  # match\nf('a')\n"},
	{"pattern in a text", "metavariable-pattern: {metavariable: $X, language: python, pattern: " +
		"eval(...)}", "f('eval(1)')  # match\nf('print(1)')\n"},
	{"regex in a part", "metavariable-pattern: {metavariable: $X, pattern-regex: b+}", "f(abb)  # match\nf(acc)\n"},
	{"type", "metavariable-type: {metavariable: $X, type: str}", "def g(a: str, b: int):\n    f(a)  # match\n   " +
		" f(b)\n"},
}

func TestConditions(t *testing.T) {
	for _, test := range conditionTests {
		t.Run(test.name, func(t *testing.T) {
			text := "rules:\n- {id: r, languages: [python], severity: ERROR, message: m, patterns: [{pattern: " +
				"f($X)}, {" + test.condition + "}]}\n"
			rules, err := rule.Parse("test.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			got := lines(t, pattern.Setting{Language: all.ByName("python"), Languages: all.ByName,
				Options: rules[0].Options}, rules[0].Search, test.source)
			if want := marked(test.source); !slices.Equal(got, want) {
				t.Errorf("matched lines %v, want %v", got, want)
			}
		})
	}
}

// TestBudget ends a pattern that has too many ways to match, and says so.
func TestBudget(t *testing.T) {
	l := all.ByName("python")
	p, err := pattern.Compile(&rule.Formula{Op: rule.OpPattern, Text: "f(..., $A, ..., $B, ..., $C, ..., $D, ..., " +
		"$E, ...)"},
		pattern.Setting{Language: l, Options: rule.DefaultOptions()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Matches(parse(t, l, "f("+strings.Repeat("1, 2, 3, 4, ", 200)+"0)\n"))
	if err != pattern.ErrBudget {
		t.Errorf("error %v, want %v", err, pattern.ErrBudget)
	}
}

// TestTextBudget ends a condition that reads a long chain as often as it has parts.
func TestTextBudget(t *testing.T) {
	l := all.ByName("java")
	text := "rules:\n- {id: r, languages: [java], severity: ERROR, message: m, patterns: [{pattern: $X}, " +
		"{metavariable-regex: {metavariable: $X, regex: '.*evil.*'}}]}\n"
	rules, err := rule.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pattern.Compile(rules[0].Search, pattern.Setting{Language: l, Options: rules[0].Options})
	if err != nil {
		t.Fatal(err)
	}
	file := parse(t, l, "class A { int x = "+strings.Repeat("1+", 50_000)+"1; }")
	file.Limit(0)
	if _, err := p.Matches(file); err != pattern.ErrBudget {
		t.Errorf("error %v, want %v", err, pattern.ErrBudget)
	}
	file.Limit(0)
	if p, err = pattern.Compile(&rule.Formula{Op: rule.OpPattern, Text: "1 + 1"},
		pattern.Setting{Language: l, Options: rule.DefaultOptions()}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Matches(file); err != nil {
		t.Errorf("the next rule: %v", err)
	}
}

// TestTimeout ends a rule whose time is over, with nothing, and lets the next one
// have its own time.
func TestTimeout(t *testing.T) {
	l := all.ByName("python")
	o := rule.DefaultOptions()
	slow := func() *pattern.Program {
		p, err := pattern.Compile(&rule.Formula{Op: rule.OpAll, Children: []*rule.Formula{
			{Op: rule.OpPattern, Text: "f(...)"},
			{Op: rule.OpNot, Children: []*rule.Formula{{Op: rule.OpPattern, Text: "g(..., $A, ..., $B, ..., $C, ..., " +
				"$D, ...)"}}},
		}}, pattern.Setting{Language: l, Options: o})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	file := parse(t, l, "f(1)\ng("+strings.Repeat("1, 2, 3, 4, ", 200)+"0)\n")
	file.Limit(time.Microsecond)
	if got, err := slow().Matches(file); err != pattern.ErrTimeout || len(got) > 0 {
		t.Errorf("%d matches, error %v, want %v", len(got), err, pattern.ErrTimeout)
	}
	file.Limit(0)
	if got, err := slow().Matches(file); err != pattern.ErrBudget || len(got) > 0 {
		t.Errorf("%d matches although it is not known what is excluded, error %v, want %v", len(got), err,
			pattern.ErrBudget)
	}
	file.Limit(time.Hour)
	p, err := pattern.Compile(&rule.Formula{Op: rule.OpPattern, Text: "f(...)"},
		pattern.Setting{Language: l, Options: o})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Matches(file); err != nil || len(got) != 1 {
		t.Errorf("%d matches, error %v, want one", len(got), err)
	}
}

// FuzzMatch matches fragments of any kind with files of any kind.
func FuzzMatch(f *testing.F) {
	for _, test := range patternTests(f) {
		f.Add(test.language, test.pattern, test.source)
	}
	f.Fuzz(func(t *testing.T, language, fragment, src string) {
		l := all.ByName(language)
		if l == nil || len(src) > 4096 || len(fragment) > 512 {
			return
		}
		o := rule.DefaultOptions()
		o.SymbolicPropagation, o.CommutativeBoolOp, o.FlddefAssign = true, true, true
		p, err := pattern.Compile(&rule.Formula{Op: rule.OpPattern, Text: fragment},
			pattern.Setting{Language: l, Options: o})
		if err != nil {
			return
		}
		tree, err := l.Parse("test", []byte(src), cst.Limits{})
		if err != nil {
			return
		}
		matches, _ := p.Matches(pattern.NewFile(tree, l, scope.Analyze(tree, l, nil)))
		for _, m := range matches {
			if m.Start > m.End || int(m.End) > len(src) {
				t.Errorf("match %d–%d of %d bytes", m.Start, m.End, len(src))
			}
			for _, name := range m.Names() {
				m.Text(name)
				m.Value(name)
			}
		}
	})
}

// TestMetavariableName asks where names come from.
func TestMetavariableName(t *testing.T) {
	for _, test := range []struct{ name, language, pattern, condition, source string }{
		{"module with signs", "javascript", "$F(...)", "module: '@koa/cors'",
			"import cors from '@koa/cors';\nimport other from 'cors';\ncors();  // match\nother();\n"},
		{"required", "javascript", "$F(...)", "module: '@koa/cors'",
			"const c = require('@koa/cors');\nc();  // match\nfunction f(c) { c(); }\n"},
		{"one of several", "javascript", "$F.use(...)", "modules: [a-b, 'c/d']",
			"import * as x from 'a-b';\nimport {y as z} from 'c/d';\nimport w from 'a';\nx.use();  // " +
				"match\nz.use();  // match\nw.use();\n"},
		{"a member", "typescript", "$X", "module: crypto", "import {createHash} from 'crypto';\nlet h: any = " +
			"createHash;  // match\nlet g = other;\n"},
		{"alias", "python", "$F($X)", "module: os.path", "from os.path import join as j\nimport os.path as p\nimport " +
			"os\nj(a)  # match\np.exists(a)  # match\nos.system(a)\n"},
		{"package", "go", "$P.Sum(...)", "module: crypto/md5", "package a\n\nimport \"crypto/md5\"\nimport m " +
			"\"example.org/md5\"\n\nvar x = md5.Sum(nil)  // match\nvar y = m.Sum(nil)\n"},
		{"declared here", "python", "$F($X)", "module: md5", "def md5(x):\n    return x\nmd5(1)\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "rules:\n- {id: r, languages: [" + test.language + "], severity: ERROR, message: m, patterns: " +
				"[{pattern: \"" + test.pattern + "\"}, {metavariable-name: {metavariable: $" +
				test.pattern[1:2] + ", " + test.condition + "}}]}\n"
			rules, err := rule.Parse("test.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			got := lines(t, pattern.Setting{Language: all.ByName(test.language), Languages: all.ByName,
				Options: rules[0].Options}, rules[0].Search, test.source)
			want := marked(test.source)
			if test.name == "a member" { // the import speaks of the name, too
				got = slices.DeleteFunc(got, func(line int) bool { return line == 1 })
			}
			if !slices.Equal(got, want) {
				t.Errorf("matched lines %v, want %v", got, want)
			}
		})
	}
}

// TestToday compares a date with that of the setting.
func TestToday(t *testing.T) {
	text := "rules:\n- {id: r, languages: [python], severity: ERROR, message: m, patterns: [{pattern: f($X)}, " +
		"{metavariable-comparison: {metavariable: $X, comparison: strptime($X) < today()}}]}\n"
	rules, err := rule.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(2024, 5, 17, 0, 0, 0, 0, time.UTC) }
	const src = "f('2024-05-16')  # match\nf('2024-05-18')\n"
	got := lines(t, pattern.Setting{Language: all.ByName("python"), Options: rules[0].Options, Now: now},
		rules[0].Search, src)
	if want := marked(src); !slices.Equal(got, want) {
		t.Errorf("matched lines %v, want %v", got, want)
	}
}

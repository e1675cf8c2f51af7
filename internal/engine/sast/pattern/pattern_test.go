package pattern_test

import (
	"slices"
	"strings"
	"testing"

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

// TestPatterns matches one pattern with one source. The lines that must match are
// marked in the source.
func TestPatterns(t *testing.T) {
	for _, test := range patternTests {
		t.Run(test.language+" "+test.name, func(t *testing.T) {
			l := all.ByName(test.language)
			if l == nil {
				t.Fatalf("no language %s", test.language)
			}
			o := rule.DefaultOptions()
			if test.options != nil {
				test.options(&o)
			}
			got := lines(t, pattern.Setting{Language: l, Options: o}, &rule.Formula{Op: rule.OpPattern, Text: test.pattern}, test.source)
			if want := marked(test.source); !slices.Equal(got, want) {
				t.Errorf("%s\nmatched lines %v, want %v", test.pattern, got, want)
			}
		})
	}
}

type patternTest struct {
	language, name, pattern, source string
	options                         func(*rule.Options)
}

var patternTests = []patternTest{
	{"python", "ellipsis in arguments", `f(..., 1, ...)`, "f(1)  # match\nf(0, 1, 2)  # match\nf(2)\nf()\n", nil},
	{"python", "metavariables unify", `$X == $X`, "a == a  # match\na == b\nf(1) == f(1)  # match\nf(1) == f(2)\n", nil},
	{"python", "names of different declarations differ", "def f($X):\n  ...\n  $X", "def f(a):\n    g(a)\n", nil},
	{"python", "a rest of arguments", "f($...A, 1)", "f(2, 3, 1)  # match\nf(1)  # match\nf(1, 2)\n", nil},
	{"python", "keywords in any order", `f(a=1, b=2)`, "f(b=2, a=1)  # match\nf(a=1)\nf(a=1, b=2, c=3)\n", nil},
	{"python", "statements reach into blocks", "a()\n...\nb()", "a()  # match\nif x:\n    while y:\n        b()\n", nil},
	{"python", "statements follow each other", "a()\nb()", "a()\nc()\nb()\na()  # match\nb()\n", nil},
	{"python", "an import by another name", `os.system(...)`, "from os import system as s\nimport os as o\ns(1)  # match\no.system(2)  # match\nsystem(3)\n", nil},
	{"python", "a module imported as a whole", `os.path.join(...)`, "from os.path import *\njoin(1)  # match\n", nil},
	{"python", "imports are spelled in ways", `import a.b`, "from a import b  # match\nimport a.b  # match\nimport a\nimport a.b.c  # match\n", nil},
	{"python", "a constant is its value", `f("x")`, "K = 'x'\nf(K)  # match\nf('x')  # match\nf('y')\nf(\"\" + 'x')  # match\n", nil},
	{"python", "constants can be left alone", `f("x")`, "K = 'x'\nf(K)\nf('x')  # match\n", func(o *rule.Options) { o.ConstantPropagation = false }},
	{"python", "a value stands for its variable", `f(g(...))`, "v = g(1)\nf(v)  # match\nf(g(2))  # match\n", func(o *rule.Options) { o.SymbolicPropagation = true }},
	{"python", "strings by expression", `f("=~/^a.c$/")`, "f('abc')  # match\nf('abd')\n", nil},
	{"python", "deep expressions", `if <... f() ...>: ...`, "if a and (b or not f()):  # match\n    pass\nif a:\n    f()\n", nil},
	{"python", "an expression in a statement", "x = 1\nf()", "x = 1  # match\ny = g(f())\n", nil},
	{"python", "chains of calls", `$X. ... .run()`, "a.b().c.run()  # match\na.run()  # match\nrun()\n", nil},
	{"python", "decorators in any order", "@b\n@a\ndef $F(...):\n  ...", "@a  # match\n@b\n@c\ndef f(x):\n    pass\n@a\ndef g():\n    pass\n", nil},
	{"python", "a class with a member", "class $C(Base):\n  x = 1", "class A(Base):  # match\n    y = 2\n    x = 1\nclass B(Base):\n    x = 2\n", nil},
	{"python", "sets and maps in any order", `{"a": 1, ..., "b": 2}`, "x = {'b': 2, 'c': 3, 'a': 1}  # match\ny = {'a': 1}\n", nil},
	{"python", "lists in order", `[1, ..., 2]`, "x = [1, 3, 2]  # match\ny = [2, 1]\n", nil},
	{"python", "operators in a row", `a and ... and c`, "x = a and b and c  # match\ny = a and b\n", nil},
	{"python", "several assignments at once", `$X = secret()`, "a, b = 1, secret()  # match\nc = secret()  # match\n", nil},
	{"python", "every number of decorators matches a call", `route("/")`, "@route('/')  # match\ndef f():\n    pass\n", nil},
	{"python", "a function without a body", "def f($X, ...):\n    ...", "def f(a, b=1):  # match\n    return 1\ndef f():\n    pass\n", nil},
	{"python", "commutative operators", `$X == 1`, "1 == a  # match\na == 1  # match\n", func(o *rule.Options) { o.SymmetricEq = true }},

	{"javascript", "a declaration is an assignment", `$X = f()`, "var a = f(); // match\nlet b = f(); // match\nc = f(); // match\n", nil},
	{"javascript", "var covers let and const", `var $X = 1`, "let a = 1; // match\nconst b = 1; // match\nvar c = 1; // match\n", nil},
	{"javascript", "let covers only itself", `let $X = 1`, "let a = 1; // match\nconst b = 1;\n", nil},
	{"javascript", "objects may have more members", `f({a: 1})`, "f({b: 2, a: 1}); // match\nf({'a': 1}); // match\nf({a: 2});\n", nil},
	{"javascript", "required modules", `child_process.exec(...)`, "const {exec: e} = require('child_process');\nconst cp = require('child_process');\ne(1); // match\ncp.exec(2); // match\n", nil},
	{"javascript", "an arrow is a function", `function $F(...) { ... }`, "const a = (x) => { g(); } // match\nfunction b() {} // match\n", nil},
	{"javascript", "quotes do not matter", `f('x')`, "f(\"x\"); // match\nf(`x`); // match\n", nil},
	{"javascript", "attributes in any order", `<a b={$X} c="1" />`, "const e = <a c=\"1\" d b={v}>text</a>; // match\nconst g = <a c=\"2\" b={v}/>;\n", nil},
	{"javascript", "a metavariable is a statement", "if ($X) $S", "if (a) b();  // match\nif (a) { b(); }  // match\n", nil},
	{"javascript", "for with any head", "for (...) { ... }", "for (let i = 0; i < 1; i++) { f(); } // match\nfor (const a of b) { f(); } // match\nwhile (a) {}\n", nil},
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
	{"comparison", "metavariable-comparison: {metavariable: $X, comparison: $X > 10}", "N = 20\nf(11)  # match\nf(5)\nf(N)  # match\n"},
	{"pattern", "metavariable-pattern: {metavariable: $X, pattern: g(...)}", "f(g(1))  # match\nf(h(1))\n"},
	{"pattern without", "metavariable-pattern: {metavariable: $X, patterns: [{pattern-not: \"'...'\"}]}", "f(a)  # match\nf('a')\n"},
	{"pattern in a text", "metavariable-pattern: {metavariable: $X, language: python, pattern: eval(...)}", "f('eval(1)')  # match\nf('print(1)')\n"},
	{"regex in a part", "metavariable-pattern: {metavariable: $X, pattern-regex: b+}", "f(abb)  # match\nf(acc)\n"},
	{"type", "metavariable-type: {metavariable: $X, type: str}", "def g(a: str, b: int):\n    f(a)  # match\n    f(b)\n"},
}

func TestConditions(t *testing.T) {
	for _, test := range conditionTests {
		t.Run(test.name, func(t *testing.T) {
			text := "rules:\n- {id: r, languages: [python], severity: ERROR, message: m, patterns: [{pattern: f($X)}, {" + test.condition + "}]}\n"
			rules, err := rule.Parse("test.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			got := lines(t, pattern.Setting{Language: all.ByName("python"), Languages: all.ByName, Options: rules[0].Options}, rules[0].Search, test.source)
			if want := marked(test.source); !slices.Equal(got, want) {
				t.Errorf("matched lines %v, want %v", got, want)
			}
		})
	}
}

// TestBudget ends a pattern that has too many ways to match, and says so.
func TestBudget(t *testing.T) {
	l := all.ByName("python")
	p, err := pattern.Compile(&rule.Formula{Op: rule.OpPattern, Text: "f(..., $A, ..., $B, ..., $C, ..., $D, ..., $E, ...)"},
		pattern.Setting{Language: l, Options: rule.DefaultOptions()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Matches(parse(t, l, "f("+strings.Repeat("1, 2, 3, 4, ", 200)+"0)\n"))
	if err != pattern.ErrBudget {
		t.Errorf("error %v, want %v", err, pattern.ErrBudget)
	}
}

// FuzzMatch matches fragments of any kind with files of any kind.
func FuzzMatch(f *testing.F) {
	for _, test := range patternTests {
		f.Add(test.language, test.pattern, test.source)
	}
	f.Fuzz(func(t *testing.T, language, fragment, src string) {
		l := all.ByName(language)
		if l == nil || len(src) > 4096 || len(fragment) > 512 {
			return
		}
		o := rule.DefaultOptions()
		o.SymbolicPropagation, o.CommutativeBoolOp, o.FlddefAssign = true, true, true
		p, err := pattern.Compile(&rule.Formula{Op: rule.OpPattern, Text: fragment}, pattern.Setting{Language: l, Options: o})
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

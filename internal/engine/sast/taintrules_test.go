package sast_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
)

// plain is a rule whose parts are calls of source, clean and sink.
const plain = `  pattern-sources: [{pattern: source(...)}]
  pattern-sanitizers: [{pattern: clean(...)}]
  pattern-sinks: [{pattern: sink(...)}]
`

// follow returns the lines of the sinks that are found, and the lines that say so.
func follow(t *testing.T, language, parts, code string) (got, want []int) {
	t.Helper()
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: ["+language+
		"]\n  mode: taint\n"+parts)
	matches, problems := sast.Check(context.Background(), rules,
		[]sast.Source{{Path: "a", Text: []byte(code), Language: language}}, sast.Options{})
	for _, p := range problems {
		t.Errorf("%v", p.Err)
	}
	for _, m := range matches {
		got = append(got, m.Start.Line)
		if len(m.Steps) == 0 {
			t.Errorf("a finding without its way: %+v", m)
		}
	}
	for i, line := range strings.Split(code, "\n") {
		if strings.Contains(line, "found") {
			want = append(want, i+1)
		}
	}
	return got, want
}

// Rules in taint mode whose parts are patterns, as the format describes them.
func TestTaintRules(t *testing.T) {
	for _, c := range []struct{ name, language, parts, code string }{
		{"direct", "python", plain, "sink(source())  # found\nsink(1)\n"},
		{"variable", "python", plain, "def f():\n    x = source()\n    sink(x)  # found\n    x = 1\n    sink(x)\n"},
		{"operators and calls", "python", plain, "x = 'a' + g(source())\nsink('%s' % x)  # found\nsink(f'{x}')  # " +
			"found\nsink(x.strip())  # found\nsink([x, {1: x}])  # found\n"},
		{"sanitized", "python", plain, "x = source()\nsink(clean(x))\nx = clean(x)\nsink(x)\n"},
		{"branches join", "python", plain, "def f(c):\n    if c:\n        x = source()\n    else:\n        x = 1\n   " +
			" sink(x)  # found\n"},
		{"both branches clean", "python", plain, "def f(c):\n    x = source()\n    if c:\n        x = 2\n    else:\n " +
			"       x = 1\n    sink(x)\n"},
		{"a branch that leaves", "python", plain, "def f(c):\n    x = 1\n    if c:\n        x = source()\n        " +
			"return\n    sink(x)\n"},
		{"loops", "python", plain, "def f(c):\n    x = 1\n    while c:\n        sink(x)  # found\n        x = " +
			"source()\n    for y in source():\n        sink(y)  # found\n        break\n"},
		{"fields", "python", plain, "x = X()\nx.a = source()\nsink(x.a)  # found\nsink(x.b)\nsink(x)  # found\nx.a = " +
			"1\nsink(x.a)\n"},
		{"keys", "python", plain, "d = {}\nd['a'] = source()\nsink(d['a'])  # found\nsink(d['b'])\nd[k] = " +
			"source()\nsink(d['b'])  # found\n"},
		{"destructuring", "javascript", plain, "const {a, b: [c]} = source();\nsink(a); // found\nsink(c); // found\n"},
		{"compound assignment", "javascript", plain, "let x = 'a'; x += source();\nsink(x); // found\n"},
		{"closures", "javascript", plain, "const x = source();\nlist.forEach(y => { sink(x); }); // found\nlet z = " +
			"1;\nlist.forEach(() => { z = source(); });\nsink(z); // found\n"},
		{"functions see the file", "javascript", plain, "const x = source();\nfunction f() { sink(x); } // found\n"},
		{"functions", "javascript", plain, "function f() { return source(); }\nsink(f()); // found\n"},
		{"functions are apart", "javascript", "  options: {interfile: false}\n" + plain, "function f() { return " +
			"source(); }\nfunction g() { sink(f()); }\n"},
		{"try", "javascript", plain, "function f() {\n  let x = 1;\n  try { x = source(); g(); } catch (e) { " +
			"sink(x); } // found\n  finally { sink(x); } // found\n}\n"},
		{"switch", "javascript", plain, "function f(a) {\n  let x = 1;\n  switch (a) { case 1: x = source(); break; " +
			"case 2: sink(x); }\n  sink(x); // found\n}\n"},
		{"conditional", "javascript", plain, "const x = a ? source() : 1;\nsink(x); // found\n"},
		{"comprehension", "python", plain, "sink([y for y in source()])  # found\n"},
		{"with", "python", plain, "with source() as x:\n    sink(x)  # found\n"},
		{"parameters", "python", "  pattern-sources: [{patterns: [{pattern: 'def h($X, ...): ...'}, " +
			"{focus-metavariable: $X}]}]\n  pattern-sinks: [{pattern: sink(...)}]\n",
			"def h(a, b):\n    sink(a)  # found\n    sink(b)\ndef g(a):\n    sink(a)\n"},
		{"a sink with a focus", "python", "  pattern-sources: [{pattern: source()}]\n  pattern-sinks: [{patterns: " +
			"[{pattern: 'sink($A, $B)'}, {focus-metavariable: $B}]}]\n",
			"x = source()\nsink(x, 1)\nsink(1, x)  # found\nsink(1, g(x))  # found\n"},
		{"an exact sink", "python", "  pattern-sources: [{pattern: source()}]\n  pattern-sinks: [{pattern: " +
			"'sink(...)', exact: true}]\n",
			"x = source()\nsink(1 if x else 2)\n"},
		{"an inexact sink", "python", "  pattern-sources: [{pattern: source()}]\n  pattern-sinks: [{pattern: " +
			"'sink(...)', exact: false}]\n",
			"x = source()\nsink(1 if x else 2)  # found\n"},
		{"a returned sink", "python", "  pattern-sources: [{pattern: source()}]\n  pattern-sinks: [{pattern: " +
			"return $X}]\n",
			"def f():\n    x = source()\n    return x  # found\n"},
		{"an assigned sink", "javascript", "  pattern-sources: [{pattern: source()}]\n  pattern-sinks: [{pattern: " +
			"$E.innerHTML = $X}]\n",
			"e.innerHTML = source(); // found\ne.innerHTML = 'a';\n"},
		{"side effect of a source", "python", "  pattern-sources: [{patterns: [{pattern: read($X)}, " +
			"{focus-metavariable: $X}], by-side-effect: only}]\n  pattern-sinks: [{pattern: sink(...)}]\n",
			"def f(x):\n    sink(x)\n    read(x)\n    sink(x)  # found\n"},
		{"side effect of a sanitizer", "python", "  pattern-sources: [{pattern: source()}]\n  pattern-sanitizers: " +
			"[{patterns: [{pattern: check($X)}, {focus-metavariable: $X}], by-side-effect: true}]\n  pattern-sinks: " +
			"[{pattern: sink(...)}]\n",
			"x = source()\nsink(x)  # found\ncheck(x)\nsink(x)\n"},
		{"propagator", "python", plain + "  pattern-propagators: [{pattern: '$T.add($F)', from: $F, " +
			"to: $T}]\n", "x = set()\nx.put(source())\nsink(x)\nx.add(source())\nsink(x)  # found\n"},
		{"labels", "python", "  pattern-sources: [{pattern: a(), label: A}, {pattern: b(), label: B}, {pattern: " +
			"c($X), label: C, requires: A}]\n  pattern-sinks: [{pattern: 'sink(...)', requires: A and not B}, " +
			"{pattern: 'drain(...)', requires: C}]\n",
			"sink(a())  # found\nsink(b())\nsink(a(), b())\ndrain(c(a()))  # found\ndrain(c(1))\n"},
		{"labels of metavariables", "python", "  pattern-sources: [{pattern: a(), label: A}, {pattern: b(), label: " +
			"B}]\n  pattern-sinks: [{pattern: 'sink($X, $Y)', requires: [{$X: A}, {$Y: B}]}]\n",
			"sink(a(), b())  # found\nsink(a(), 1)\n"},
		{"a label that propagates", "python", "  pattern-sources: [{pattern: a(), label: A}]\n  pattern-propagators: " +
			"[{pattern: '$T.add($F)', from: $F, to: $T, label: B, requires: A}]\n  pattern-sinks: [{pattern: " +
			"'sink(...)', requires: B}]\n",
			"x = set()\nx.add(a())\nsink(x)  # found\nsink(a())\n"},
		{"control", "python", "  pattern-sources: [{pattern: start(), control: true}]\n  pattern-sinks: [{pattern: " +
			"end()}]\n", "end()\nstart()\nend()  # found\n"},
		{"at exit", "python", "  pattern-sources: [{pattern: source()}]\n  pattern-sinks: [{pattern: 'sink(...)', " +
			"at-exit: true}]\n", "def f(c):\n    x = source()\n    sink(x)\n    return sink(x)  # found\n"},
		{"not conflicting", "python", "  pattern-sources: [{pattern: source()}]\n  pattern-sanitizers: [{pattern: " +
			"$F(...), not_conflicting: true}]\n  pattern-sinks: [{pattern: sink(...)}]\n",
			"x = source()\nsink(x)  # found\nsink(g(x))\n"},
		{"safe functions", "python", "  options: {taint_assume_safe_functions: true}\n" + plain,
			"sink(g(source()))\nsink(source())  # found\n"},
		{"safe indexes", "python", "  options: {taint_assume_safe_indexes: true}\n" + plain, "sink(d[source()])\n"},
		{"safe comparisons", "python", "  options: {taint_assume_safe_comparisons: true}\n" + plain,
			"sink(source() == 1)\n"},
		{"only assignments", "python", "  options: {taint_only_propagate_through_assignments: true}\n" + plain,
			"sink('a' + source())\nx = source()\nsink(x)  # found\n"},
		{"unified", "python", "  options: {taint_unify_mvars: true}\n  pattern-sources: [{pattern: source($X)}]\n  " +
			"pattern-sinks: [{pattern: 'sink($X, ...)'}]\n",
			"a = source(1)\nsink(1, a)  # found\nsink(2, a)\n"},
		{"other languages", "ruby", plain, "def f\n  x = source(1)\n  sink(x) # found\n  sink(clean(x))\nend\n"},
		{"newer spelling", "python", "  taint: {sources: [source(...)], sinks: [sink(...)], sanitizers: " +
			"[clean(...)]}\n", "sink(source())  # found\n"},
	} {
		got, want := follow(t, c.language, c.parts, c.code)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s%s", c.name, diff, c.code)
		}
	}
}

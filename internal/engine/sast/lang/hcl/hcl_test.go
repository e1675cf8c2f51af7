package hcl

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

func TestTrees(t *testing.T) { langtest.Trees(t, Language) }

func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }

func TestCorpus(t *testing.T) { langtest.Corpus(t, Language) }

func TestRulesAreOfTheGrammar(t *testing.T) {
	if names := table.UnknownKinds(); len(names) > 0 {
		t.Errorf("the grammar has no %v", names)
	}
}

// A sign is an attribute only where the grammar wants one.
func TestPrepare(t *testing.T) {
	for text, want := range map[string]string{
		"a {\n  ...\n}":         "a {\n  ... = ...\n}",
		"a { ... b = 1 ... }":   "a { ... = ... b = 1 ... = ... }",
		"a = ...\n...":          "a = ...\n... = ...",
		"f(..., [...])":         "f(..., [...])",
		"a = \"{ ... }\"":       "a = \"{ ... }\"",
		"# { ... }\na = {...}":  "# { ... }\na = {... = ...}",
		"a = <... b ...>":       "a = <... b ...>",
		"$...A\nb {$...C}":      "$...A = $...A\nb {$...C = $...C}",
		"a = b ? ... : { ... }": "a = b ? ... : { ... = ... }",
	} {
		if got := preparePattern(text); len(got) != 1 || got[0] != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// seeds are sources for the fuzzer and for the hostile forms.
var seeds = []string{
	"resource \"a\" b {\n  c = \"d${e[0].f}g\"\n  h = [for i in j[*].k : i if !i && -1 < 2]\n  l { m = <<-N\n  o " +
		"${p}\n  N\n }\n}\n",
	"a = { b = 1, \"c\" : f(d...), (e) = x.0 }\n",
	"a = \"%{ if b }c%{ else }d%{ endif }%{ for e in f }g%{ endfor }\"\n",
}

func TestHostile(t *testing.T) { langtest.Hostile(t, Language, seeds...) }

func FuzzLower(f *testing.F) { langtest.Fuzz(f, Language, append(seeds, "a { ... }", "a = 1\n...")...) }

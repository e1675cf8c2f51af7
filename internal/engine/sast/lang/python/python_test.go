package python

import (
	"strings"
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

func TestNoPattern(t *testing.T) {
	if _, err := Language.ParsePattern("def (:"); err == nil || !strings.Contains(err.Error(), "python") {
		t.Errorf("got error %v, want one that names the language", err)
	}
}

func TestTypedMetavariableIsNoAnnotation(t *testing.T) {
	for text, want := range map[string]string{
		"f($X: int)":          "f(qztyped(int, $X))",
		"def f($X: int): ...": "def f($X: int): ...",
		"{$X: $Y}":            "{$X: $Y}",
		"f(lambda $X: $Y)":    "f(lambda $X: $Y)",
		`f("($X: int)")`:      `f("($X: int)")`,
	} {
		if got := typedMetavariables(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// seeds are sources for the fuzzer and for the hostile forms.
var seeds = []string{
	"def f(a, *b: int = 1):\n  return f'{a!r:>{b}}' if a < b < 3 else [x for x in b if x]\n",
	"match a:\n  case {-1: _, **k} | A(b=1): pass\n",
	"@d\nclass C[T](B, m=M):\n  x: int = 1\n",
	"'\\x4' b'\\400' \"\\\n\"",
	"print >>f, `a`\nexec a in b\n",
}

func TestHostile(t *testing.T) { langtest.Hostile(t, Language, seeds...) }

func FuzzLower(f *testing.F) {
	langtest.Fuzz(f, Language, append(seeds, "f($X: int)", "{..., 1: 2}")...)
}

package golang

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

func TestTrees(t *testing.T)         { langtest.Trees(t, Language) }
func TestPatterns(t *testing.T)      { langtest.Patterns(t, Language) }
func TestPatternCorpus(t *testing.T) { langtest.PatternCorpus(t, Language) }
func TestHostile(t *testing.T)       { langtest.Hostile(t, Language, seeds...) }
func TestCorpus(t *testing.T)        { langtest.Corpus(t, Language) }

func FuzzLower(f *testing.F) { langtest.Fuzz(f, Language, seeds...) }

func TestRulesAreInGrammar(t *testing.T) {
	if names := table.UnknownKinds(); len(names) > 0 {
		t.Errorf("the grammar has no %q", names)
	}
}

// seeds are small sources with many constructs.
var seeds = []string{
	"package a\n\nimport (\n\t\"b\"\n\tc \"d/e\"\n)\n\ntype T[K any] struct {\n\t*b.E\n\tf, g map[string][]int " +
		"`x`\n}\n\n" +
		"func (t *T) m(a, b int, c ...func()) (x int, err error) {\n\tif v, ok := a[1:2].(I); ok { defer f(c...) " +
		"}\n\tfor i, v := range T{A: 1, \"b\": {2}} { go func() { ch <- 1 }() }\n" +
		"\tswitch x := y.(type) { case int, *T: return 1, nil; default: }\n\tselect { case v := <-c: ; case d <- 1: " +
		"}\nL:\n\tbreak L\n}\n",
	"const (\n\tA = iota\n\tB\n)\nvar x, y = f()\nx, y = y, x\ni++\n",
	"$X, $ERR := f(..., $...ARGS)\n...\n$X.g(<... $Y ...>)", "($X : *http.Request).F()", "T{..., A: $V, ...}",
	"func $F(...) ($A, ...) { ... }",
}

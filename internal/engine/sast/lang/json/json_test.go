package json

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// seeds are small sources with many constructs.
var seeds = []string{
	`{"a": [1, -2.5e3, true, null, "x\u0041\n"], "b": {}, /* c */ "d": [[]]}`,
	`"a": {..., "b": $X}`,
	`{..., "$K": [..., "=~/x/"]}`,
}

func TestTrees(t *testing.T)    { langtest.Trees(t, Language) }
func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }
func TestHostile(t *testing.T)  { langtest.Hostile(t, Language, seeds...) }
func TestCorpus(t *testing.T)   { langtest.Corpus(t, Language) }
func FuzzLower(f *testing.F)    { langtest.Fuzz(f, Language, seeds...) }

func TestRulesAreInGrammar(t *testing.T) {
	if names := table.UnknownKinds(); len(names) > 0 {
		t.Errorf("the grammar has no %q", names)
	}
}

package yaml

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// seeds are small sources with many constructs.
var seeds = []string{
	"%YAML 1.2\n---\na: &x\n  b: [1, 2.5, true, ~, \"q\\x41\", 'it''s', {c: d, e}]\n  ? k\n  : v\nf: *x\n<<: " +
		"*x\n---\n- !t |+\n   text\n\n- >-\n  folded\n  text\n- plain\n  lines\n...\n",
	"a: &a [*a]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n",
	"rules:\n- ...\n  - id: $X\n  ...",
	"...\n$K: {..., a: $V}\n!$T $X",
}

func TestTrees(t *testing.T)    { langtest.Trees(t, Language) }
func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }
func TestHostile(t *testing.T)  { langtest.Hostile(t, Language, seeds...) }
func TestCorpus(t *testing.T)   { langtest.Corpus(t, Language) }
func FuzzLower(f *testing.F)    { langtest.Fuzz(f, Language, seeds...) }

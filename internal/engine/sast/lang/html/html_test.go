package html

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// seeds are small sources with many constructs.
var seeds = []string{
	`<!doctype html><HTML><a HREF="x&amp;y" b=c d>text &lt;<br><img src='y'/></a><script>if (a < b) {}</script><style>a{}</style><!-- c --></p></HTML>`,
	`<script ... src="$X" ...>...</script>`,
	`<$T ... a=$X>$...BODY</$T>`,
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

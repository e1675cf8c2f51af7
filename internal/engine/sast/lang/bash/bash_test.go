package bash

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

func TestEnds(t *testing.T) {
	for gap, want := range map[string]bool{"": false, "  ": false, " \\\n  ": false, " \\\r\n": false, "\n": true,
		" # a\n": true, "\\ \n": true} {
		if got := endsLine(gap); got != want {
			t.Errorf("%q: got %t", gap, got)
		}
	}
}

// seeds are sources for the fuzzer and for the hostile forms.
var seeds = []string{
	"if [ -f \"$a\" ] && b | c; then d=${e:-f} g <(h) > i 2>&1; elif j; then k; fi &\n",
	"f() { local x=$1; for i in \"$@\"; do echo $i$(j `k`)'l'; done; }\ncat <<E | m\nn $o\nE\n",
	"case $x in\n a|b) y;;\n *) z;;\nesac\nfor ((i=0;i<3;i++)); do arr[$i]+=(1 2); done\n",
	"cat > x\n# y\nb c | d\n",
}

func TestHostile(t *testing.T) { langtest.Hostile(t, Language, seeds...) }

func FuzzLower(f *testing.F) {
	langtest.Fuzz(f, Language, append(seeds, "foo <... bar ...>", "$X=${$Y}")...)
}

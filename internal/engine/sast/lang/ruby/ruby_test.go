package ruby

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

func TestEscape(t *testing.T) {
	for source, want := range map[string]string{
		`\n`: "\n", `\u00e9`: "é", `\u{1F600}`: "😀", `\x41`: "A", `\101`: "A", `\q`: "q", `\C-a`: `\C-a`,
		`\u{zz}`: `\u{zz}`, `\`: `\`,
	} {
		if got := decodeEscape(source); got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

// seeds are sources for the fuzzer and for the hostile forms.
var seeds = []string{
	"class A < B::C\n  def self.m(a, *b, c: 1, &d)\n    x = <<~E + <<F\n  y#{z}\nE\nF\n  rescue G => e\n    `ls " +
		"#{e}`\n  ensure\n    p(&:q) unless r\n  end\nend\n",
	"case a\nin [Integer => b, *c] | {d: 1, **nil} if e then f\nelse g\nend\n",
	"x.each do |(a, (b, c)), d = 1; e| next a, b while c end\n",
	"a&.b ||= {c: 1, 'd' => %w(e f), g:}.h(*i) { _1 }\n",
	":\"a#{b}\" /c#{d}/i ?e 1r (1..) defined? f\n",
}

func TestHostile(t *testing.T) { langtest.Hostile(t, Language, seeds...) }

func FuzzLower(f *testing.F) {
	langtest.Fuzz(f, Language, append(seeds, "$X ... { ... }", "class $A; end")...)
}

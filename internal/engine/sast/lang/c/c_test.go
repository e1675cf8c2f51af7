package c

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

func TestTrees(t *testing.T) { langtest.Trees(t, Language) }

func TestTreesOfCPP(t *testing.T) {
	t.Chdir("testdata/cpp")
	langtest.Trees(t, CPP)
}

func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }

func TestCorpus(t *testing.T) { langtest.Corpus(t, Language) }

func TestRulesAreOfAGrammar(t *testing.T) {
	in := map[string]bool{}
	for _, name := range table.UnknownKinds() {
		in[name] = true
	}
	for _, name := range cppTable.UnknownKinds() {
		if in[name] {
			t.Errorf("neither grammar has %s", name)
		}
	}
}

// A typed metavariable is in parentheses of its own; a product is none.
func TestTyped(t *testing.T) {
	for text, want := range map[string]string{
		"(char *$X) == 0":   "((char *)qztyped($X)) == 0",
		"($T *$X) = $Y":     "(($T *)qztyped($X)) = $Y",
		"f(char *$X) { }":   "f(char *$X) { }",
		"($A * $B)":         "($A * $B)",
		"f(($A *$B))":       "f((($A *)qztyped($B)))",
		"return ($X);":      "return ($X);",
		"(unsigned int $X)": "((unsigned int )qztyped($X))",
	} {
		if got := preparePattern(text); got[0] != want {
			t.Errorf("%s: got %s, want %s", text, got[0], want)
		}
	}
}

// seeds are sources for the fuzzer and for the hostile forms.
var seeds = []string{
	"static int *f(const char *a[2], ...) { for (int i = 0; i < 3; i++) a[i]->b.c = (T)x ? *y : &z; switch (x) { " +
		"case 1: default: goto e; } e: return 1; }\n",
	"typedef struct A { int a : 3; } B, *C;\nenum D { E = 1 };\nint (*g)(int), h[] = {1, [2] = 3, .x = \"a\" " +
		"\"\\x41\"};\n#if X\n#include <a>\n#elif Y\nint y;\n#endif\n",
	"template <typename T> class A : public B<T> { A() : a(1), b{2} {} ~A(); using C = D::E; };\nauto l = [&](int a) " +
		"-> int { throw a; };\n",
}

func TestHostile(t *testing.T) {
	langtest.Hostile(t, Language, seeds[:2]...)
	langtest.Hostile(t, CPP, seeds[2])
}

func FuzzLower(f *testing.F) {
	langtest.Fuzz(f, CPP, append(seeds, "($T *$X) == $Y", "free($X); ...")...)
}

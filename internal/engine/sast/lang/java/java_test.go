package java

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
	"package a.b;\nimport c.*;\nimport static d.E.f;\n@A(x = {1, 2}) public final class C<T extends D & E> extends " +
		"F<G[]> implements H, I {\n" +
		"  static { g(); } { h(); }\n  private int a[] = {1}, b = 2;\n  C(int... x) throws J { super(x); this.a " +
		"= x; }\n" +
		"  <U> U m(@K final List<? super U> l) { for (var o : l) if (o instanceof String s && s.length() > 0) return " +
		"null; else continue;\n" +
		"    return switch (a) { case 1, 2 -> \"x\"; default -> { yield y; } }; }\n}\n",
	"enum E { A(1) { int f() { return 1; } }, B; int f() { return 0; } }\nrecord R(int a, String b) { R { a = 1; } }\n",
	"void f() { try (var a = b(); c) { d(x -> y, (p, q) -> { z(); }, A::new); } catch (E | F e) { throw new " +
		"G(\"\\u0041\" + e) { }; } finally { } }\n",
	"$X.$M(..., \"=~/a/\", $...ARGS)", "(String $X).f(<... $Y ...>)", "if (...) { ... }", "$T $X = ...;\n...\n$X.f();",
}

package csharp

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
	"using A.B;\nusing C = D.E<F>;\nnamespace N.M {\n[A(1, B = 2)] public sealed class C<T> : D<T>, E where T : " +
		"new() {\n" +
		"  private readonly int[] a = {1}, b;\n  public string P { get; set; } = \"x\";\n  public int Q => a[0]?.b " +
		"?? 1;\n" +
		"  C(int x, params string[] y) : base(x) { }\n  async Task<U> M<U>(ref int a, T b = default) { await foo(out " +
		"var z, n: 1); return new T(1) { A = 2, B = { 3 } }; }\n" +
		"  public static bool operator ==(C a, C b) => true;\n  event E F;\n}\nenum G { A = 1, B }\nrecord R(int " +
		"A);\n}\n",
	"void f() { foreach (var (a, b) in c) { if (x is string s && y is { L: 1 }) continue; }\n using (var r = o()) " +
		"lock (this) { }\n" +
		" switch (x) { case 1: case T t when t.a: break; default: goto case 1; }\n var z = x switch { 1 => \"a\", > " +
		"2 and < 3 => b, _ => throw e };\n" +
		" try { } catch (E e) when (e.a) { throw; } finally { }\n var q = from a in b where a.c select new { a, d = " +
		"1 };\n var s = $\"a{b:c}{{d\" + @\"e\"\"\"; Func<int> g = (a, b) => a; }\n",
	"$X.$M(..., $...ARGS);", "(T $X).f(<... $Y ...>)", "public $T $F(..., $P, ...) { ... }",
	"new T { ..., A = $V, ... }",
}

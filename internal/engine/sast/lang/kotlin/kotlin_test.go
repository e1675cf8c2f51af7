package kotlin

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
	"package a.b\nimport c.*\nimport d.E as F\n@A(1) data class C<T : D>(private val a: Int = 1, vararg b: T) : " +
		"E(1), F by g {\n" +
		"  init { h() }\n  constructor(x: Int) : this(x, 2) { y = x }\n  companion object { const val Z = " +
		"\"a$b${c.d}\" }\n" +
		"  override suspend fun <U> List<U>.m(a: (Int) -> String = { it }): U? = a?.b!!.c(d = 1, *e) { x, (y, z) " +
		"-> x }\n" +
		"  var p by lazy { 1 }\n  val q: Int get() = 1\n}\nenum class G { A(1), B { }; fun f() {} }\n",
	"fun f() {\n  val (a, b) = if (x) y else z\n  l@ for ((i, j) in 1..2) { if (i in j) break else continue }\n  " +
		"when (val k = a) { is T, !in 1..2 -> 1; else -> { } }\n" +
		"  try { while (a) b() } catch (e: E) { throw e } finally { }\n  do { x++ } while (x < 1)\n  return object : " +
		"T() { }\n}\n",
	"$X.$M(..., $...ARGS)", "($X: T).f(<... $Y ...>)", "fun $F(..., $P: T, ...) { ... }",
	"val $X = ...\n...\n$X.f { ... }",
}

package scala

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
	"package a.b\nimport c._, d.{E, F => G}\n@A(1) case class C[+T](val a: Int = 1, b: T*) extends D(1) with E {\n  " +
		"private val (x, y) = f(a = 1, b: _*)\n" +
		"  def m[U](p: U)(implicit q: => Int): Option[U] = { x += 1; xs map g; return s\"a$b${c.d}\" }\n}\nobject O " +
		"{ type T = Int; var z = _ }\n",
	"def f() = a match { case 1 | 2 => b; case x: T if x > 1 => c; case C(d, _) => e; case _ => }\nval r = for (x <- " +
		"xs if x > 1; y = x) yield y\n" +
		"for (x <- xs) { if (x) y else z }\ntry { a } catch { case e: E => b } finally c\nval t = new T(1) { def g = " +
		"1 }\nxs.map { x => x + 1 }.filter(_ > 0)\n",
	"$X.$M(..., $...ARGS)", "foo($X : Int)", "def $F(..., $P: $T, ...) = { ... }", "$X match { ... }",
}

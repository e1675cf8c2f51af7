package scala

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestDeclarations pins the trees of declarations: what is declared, under which name, and its
// parts.
func TestDeclarations(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "function",
			Source: `def f(a: Int, b: String = "x")(c: T): Int = a`,
			Want: []string{
				`Function "function"(f, Parameter(type: <Int>, a), Parameter(type: <String>, b, "x"), ` +
					"Parameter(type: <T>, c), returntype: <Int>, body: a)",
			},
		},
		{
			Name:   "function with a by-name and a repeated parameter",
			Source: "def f(a: => Int, b: String*) = a",
			Want: []string{
				`Function "function"(f, Parameter(type: Type "=>"(<Int>), a), Parameter "*"(` +
					"type: <String>, b), body: a)",
			},
		},
		{
			Name:   "class",
			Source: "class A[T <: B](val a: Int, b: T) extends C(b) with D",
			Want: []string{
				`Class "class"(A, TypeParameter(T), Parameter(val, type: <Int>, a), Parameter(type: <T>, ` +
					"b), base: <C>, base: <D>)",
			},
		},
		{
			Name: "case class and object",
			Source: "case class A(a: Int)\n" +
				"case object B\n" +
				"object C extends App { val x = 1 }",
			Want: []string{
				`Class "class"(case, A, Parameter(type: <Int>, a))`,
				`Class "object"(case, B)`,
				`Class "object"(C, base: <App>, body: Block(Field "val"(x, 1)))`,
			},
		},
		{
			Name:   "trait",
			Source: "sealed trait T { def f: Int; type X = Int }",
			Want: []string{
				`Class "trait"(sealed, T, body: Block(Function "method"(f, returntype: <Int>), ` +
					`TypeAlias "="(X, type: <Int>)))`,
			},
		},
		{
			Name:   "values",
			Source: "val a: Int = 1; var b = 2; lazy val c = 3; val (d, e) = f",
			Want: []string{
				`Variable "val"(type: <Int>, a, 1)`,
				`Variable "var"(b, 2)`,
				`Variable "val"(lazy, c, 3)`,
				`Variable "val"(Tuple(d, e), f)`,
			},
		},
		{
			Name:   "modifiers and annotations",
			Source: `@deprecated("x") private[a] final def f = 1`,
			Want: []string{
				`Function "function"(Annotation(Call(deprecated, "x")), private[a], final, f, body: 1)`,
			},
		},
		{
			Name:   "type alias",
			Source: "type F = Int => String",
			Want:   []string{`TypeAlias "="(F, type: Type "func"(Parameter(type: <Int>), returntype: <String>))`},
		},
		{
			Name:   "secondary constructor",
			Source: "class A { def this(a: Int) = { this() } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "constructor"(this, Parameter(type: <Int>, a), ` +
					"body: Block(Call(this);))))",
			},
		},
		{
			Name:   "given and extension of Scala 3",
			Source: "extension (s: String) def f: Int = 1",
			Want:   []string{`Function "function"(f, returntype: <Int>, body: 1)`},
		},
		{
			Name:   "enum of Scala 3",
			Source: "enum E { case A, B }",
			Want:   []string{`Class "enum"(E, body: Block(Field "enum"(A), Field "enum"(B)))`},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "package and names",
			Source: "package a.b\n" +
				"import c.{D, E => F, _}",
			Want: []string{
				`Package "a.b"(Member "."(a, b))`,
				`Import "c"(path: c, D)`,
				`Import "c"(path: c, E, alias: F)`,
				`Import "c"(path: c, *)`,
			},
		},
		{
			Name: "name and everything",
			Source: "import a.B\n" +
				"import c.d._",
			Want: []string{
				`Import "a.B"(path: Member "."(a, B))`,
				`Import "c.d"(path: Member "."(c, d), *)`,
			},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "method and several lists",
			Source: "a.b(1)(c = 2)",
			Want:   []string{`Call(Call(Member "."(a, b), 1), Keyword(c, 2));`},
		},
		{
			Name:   "infix operator and method",
			Source: "a + b; c map f; d :: e",
			Want: []string{
				`Binary "+"(a, b);`,
				`Call(Member "."(c, map), f);`,
				`Binary "::"(d, e);`,
			},
		},
		{
			Name:   "block argument",
			Source: "a.map { x => x + 1 }",
			Want:   []string{`Call(Member "."(a, map), Lambda(Parameter(x), body: Block(Binary "+"(x, 1);)));`},
		},
		{
			Name:   "partial function",
			Source: "a.collect { case B(x) if x > 1 => x }",
			Want: []string{
				`Call(Member "."(a, collect), Lambda(body: Block [implied](Switch [implied](Case(` +
					`condition: Call(B, x), guard: Binary ">"(x, 1), body: Block [implied](x;))))));`,
			},
		},
		{
			Name:   "placeholder",
			Source: "a.map(_ + 1)",
			Want:   []string{`Call(Member "."(a, map), Binary "+"(_, 1));`},
		},
		{
			Name:   "new",
			Source: "new A(1); new B { val x = 1 }",
			Want: []string{
				`New "new"(type: <A>, 1);`,
				`Call(New "new"(type: <B>), Lambda(body: Block(Variable "val"(x, 1))));`,
			},
		},
		{
			Name:   "type arguments",
			Source: "f[Int](1)",
			Want:   []string{"Call(f, 1);"},
		},
		{
			Name:   "ascription and spread",
			Source: "f(a: _*)",
			Want:   []string{`Call(f, Spread "*"(a));`},
		},
		{
			Name:   "assignment",
			Source: "a = 1; b.c = 2; d += 1; e(0) = 3",
			Want: []string{
				`Assign "="(a, 1);`,
				`Assign "="(Member "."(b, c), 2);`,
				`Assign "+="(d, 1);`,
				`Assign "="(Call(e, 0), 3);`,
			},
		},
		{
			Name:   "unary and postfix",
			Source: "!a; -b",
			Want: []string{
				`Unary "!"(a);`,
				`Unary "-"(b);`,
			},
		},
		{
			Name:   "tuple",
			Source: "(a, 1)",
			Want:   []string{"Tuple(a, 1);"},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "strings",
			Source: `val a = "x\n\u00e9"; val b = """c\d"""`,
			Want: []string{
				`Variable "val"(a, "x\né")`,
				`Variable "val"(b, "c\\d")`,
			},
		},
		{
			Name:   "interpolated strings",
			Source: `val a = s"x $b ${c.d}"; val e = sql"y $f"`,
			Want: []string{
				`Variable "val"(a, Template("x ", b, " ", Member "."(c, d)))`,
				`Variable "val"(e, Call "tag"(sql, Template("y ", f)))`,
			},
		},
		{
			Name:   "numbers and characters",
			Source: "val a = List(1000L, 0x1F, 1.5f, 'c', true, null)",
			Want:   []string{`Variable "val"(a, Call(List, 1000, 0x1F, 1.5, 'c', true, Null "null"))`},
		},
		{
			Name:   "symbol and unit",
			Source: "val a = ()",
			Want:   []string{`Variable "val"(a, Tuple)`},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "if as a statement and as a value",
			Source: "def f() = { if (a) b() else c()\n" +
				" val x = if (d) 1 else 2; x }",
			Want: []string{
				`Function "function"(f, body: Block(If(condition: a, then: Call(b);, else: Call(c);), ` +
					`Variable "val"(x, Conditional(condition: d, then: 1, else: 2)), x;))`,
			},
		},
		{
			Name: "match",
			Source: "a match { case 1 | 2 => b; case x: Int if x > 1 => c; case B(y, " +
				"_) => d; case h :: t => e; case _ => g }",
			Want: []string{
				`Switch(a, Case(condition: Binary "|"(1, 2), body: Block [implied](b;)), Case(` +
					`condition: Variable(type: <Int>, x), guard: Binary ">"(x, 1), body: Block [implied](` +
					"c;)), Case(condition: Call(B, y, _), body: Block [implied](d;)), Case(" +
					`condition: Binary "::"(h, t), body: Block [implied](e;)), Case "default"(condition: _, ` +
					"body: Block [implied](g;)))",
			},
		},
		{
			Name:   "loops",
			Source: "def f() = { while (a) b(); do { c() } while (d); for (i <- e if i > 1; j = i) g(j) }",
			Want: []string{
				`Function "function"(f, body: Block(While(condition: a, body: Call(b);), DoWhile(` +
					`body: Block(Call(c);), condition: d), ForEach "of"(i, iterable: e, body: If(` +
					`condition: Binary ">"(i, 1), then: Block [implied](Variable "val"(j, i), Call(g, j);)))))`,
			},
		},
		{
			Name:   "comprehension",
			Source: "val a = for (x <- b; y <- c if x > y) yield x",
			Want: []string{
				`Variable "val"(a, Comprehension "generator"(x, Clause(x, iterable: b), Clause(y, ` +
					`iterable: c, condition: Binary ">"(x, y))))`,
			},
		},
		{
			Name:   "try",
			Source: "try { a } catch { case e: E => b; case _ => c } finally { d }",
			Want: []string{
				"Try(body: Block(a;), Catch(type: <E>, e, body: Block [implied](b;)), Catch(_, " +
					"body: Block [implied](c;)), finally: Block(d;))",
			},
		},
		{
			Name:   "throw and return",
			Source: `def f: Int = { throw new E("x"); return 1 }`,
			Want: []string{
				`Function "function"(f, returntype: <Int>, body: Block(Throw(New "new"(type: <E>, "x")), ` +
					"Return(1)))",
			},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "call",
			Source: "$X.execute($Q, ...)",
			Want:   []string{`Call(Member "."($X, execute), $Q, ...)`},
		},
		{
			Name:   "typed metavariable",
			Source: "f($X: String)",
			Want:   []string{"Call(f, Typed(type: <String>, $X))"},
		},
		{
			Name:   "function",
			Source: "def $F(..., $A: String, ...) = { ... }",
			Want:   []string{`Function "function"($F, ..., Parameter(type: <String>, $A), ..., body: Block(...))`},
		},
		{
			Name:   "class",
			Source: "class $C extends B { ... }",
			Want:   []string{`Class "class"($C, base: <B>, body: Block(...))`},
		},
		{
			Name: "statements with anything between",
			Source: "val $X = f()\n" +
				"...\n" +
				"g($X)",
			Want: []string{`Block(Variable "val"($X, Call(f)), ..., Call(g, $X);)`},
		},
		{
			Name:   "deep expression",
			Source: "f(<... $X ...>)",
			Want:   []string{"Call(f, Deep($X))"},
		},
		{
			Name:   "string that holds anything",
			Source: `f("...")`,
			Want:   []string{`Call(f, "...")`},
		},
		{
			Name:   "interpolation with any parts",
			Source: `s"..."`,
			Want:   []string{"Template(...)"},
		},
		{
			Name:   "match",
			Source: "$X match { case ... => ... }",
			Want:   []string{"Switch($X, Case(condition: ..., body: Block [implied](...)))"},
		},
		{
			Name:   "new",
			Source: "new $C(...)",
			Want:   []string{`New "new"(type: $C, ...)`},
		},
		{
			Name:   "import",
			Source: "import a.$X",
			Want:   []string{`Import "a.$X"(path: Member "."(a, $X))`},
		},
	})
}

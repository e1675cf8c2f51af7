package kotlin

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
			Source: `fun f(a: Int, b: String = "x", vararg c: T): Int { return a }`,
			Want: []string{
				`Function "function"(f, Parameter(type: <Int>, a), Parameter(type: <String>, b, "x"), ` +
					`Parameter "*"(vararg, type: <T>, c), returntype: <Int>, body: Block(Return(a)))`,
			},
		},
		{
			Name:   "function of an expression",
			Source: "fun f() = 1",
			Want:   []string{`Function "function"(f, body: 1)`},
		},
		{
			Name:   "extension function",
			Source: "fun String.f(): Int = length",
			Want: []string{
				`Function "function"(receiver: Parameter(type: <String>), f, returntype: <Int>, body: length)`,
			},
		},
		{
			Name:   "suspend and generic function",
			Source: "suspend fun <T : Any> f(a: T) {}",
			Want: []string{
				`Function "function"(suspend, TypeParameter(T, base: <Any>), f, Parameter(type: <T>, a), ` +
					"body: Block)",
			},
		},
		{
			Name:   "class with a primary constructor",
			Source: "open class A<T>(private val a: Int, b: T = 1) : B(b), C by d {}",
			Want: []string{
				`Class "class"(open, A, TypeParameter(T), Parameter(private, val, type: <Int>, a), ` +
					"Parameter(type: <T>, b, 1), base: <B>, base: <C>)",
			},
		},
		{
			Name:   "data class",
			Source: "data class A(val a: Int)",
			Want:   []string{`Class "class"(data, A, Parameter(val, type: <Int>, a))`},
		},
		{
			Name:   "secondary constructor",
			Source: "class A { constructor(a: Int) : this() { f() } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "constructor"(Parameter(type: <Int>, a), ` +
					"body: Block(Call(this);, Call(f);))))",
			},
		},
		{
			Name:   "initializer",
			Source: "class A { init { f() } }",
			Want:   []string{`Class "class"(A, body: Block(Function "initializer"(body: Block(Call(f);))))`},
		},
		{
			Name:   "properties",
			Source: "class A { val a: Int = 1; var b: String? = null; lateinit var c: T }",
			Want: []string{
				`Class "class"(A, body: Block(Field "val"(type: <Int>, a, 1), Field "var"(type: Type "?"(` +
					`<String>), b, Null "null"), Field "var"(lateinit, type: <T>, c)))`,
			},
		},
		{
			Name: "accessors",
			Source: "class A { val a: Int get() = 1\n" +
				" var b = 2\n" +
				"  set(v) { field = v } }",
			Want: []string{
				`Class "class"(A, body: Block(Field "val"(type: <Int>, a), Function "getter"(get, ` +
					`body: 1), Field "var"(b, 2), Function "setter"(set, Parameter(v), body: Block(Assign "="(` +
					"field, v);))))",
			},
		},
		{
			Name:   "delegated property",
			Source: "val a by lazy { 1 }",
			Want:   []string{`Variable "val"(a, Call(lazy, Lambda(body: Block(1;))))`},
		},
		{
			Name: "object",
			Source: "object O : T {\n" +
				"  val x = 1\n" +
				"}",
			Want: []string{`Class "object"(O, base: <T>, body: Block(Field "val"(x, 1)))`},
		},
		{
			Name: "companion object",
			Source: "class A {\n" +
				"  companion object {\n" +
				"    const val X = 1\n" +
				"  }\n" +
				"}",
			Want: []string{
				`Class "class"(A, body: Block(Class "object"(companion, body: Block(Field "val"(const, X, 1)))))`,
			},
		},
		{
			Name: "interface",
			Source: "interface I {\n" +
				"  fun f()\n" +
				"}",
			Want: []string{`Class "interface"(I, body: Block(Function "method"(f)))`},
		},
		{
			Name:   "enum",
			Source: "enum class E(val v: Int) { A(1), B(2) }",
			Want: []string{
				`Class "enum"(enum, E, Parameter(val, type: <Int>, v), body: Block(Field "enum"(A, ` +
					`New "new"(type: Type "E" [implied], 1)), Field "enum"(B, New "new"(` +
					`type: Type "E" [implied], 2))))`,
			},
		},
		{
			Name:   "annotations",
			Source: `@A("x") @field:B class C`,
			Want:   []string{`Class "class"(Annotation(Call(A, "x")), Annotation(Call(B)), C)`},
		},
		{
			Name:   "type alias",
			Source: "typealias F = (Int) -> String",
			Want:   []string{`TypeAlias "="(F, type: Type "func"(Parameter(type: <Int>), returntype: <String>))`},
		},
		{
			Name:   "destructuring",
			Source: "val (a, b) = c",
			Want:   []string{`Variable "val"(Tuple(a, b), c)`},
		},
		{
			Name:   "anonymous object",
			Source: "val a = object : B(1), C { override fun f() {} }",
			Want: []string{
				`Variable "val"(a, New "new"(type: <B>, 1, body: Block(Function "method"(override, f, ` +
					"body: Block))))",
			},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "package and name",
			Source: "package a.b\n" +
				"import c.d.E",
			Want: []string{
				`Package "a.b"(Member "."(a, b))`,
				`Import "c.d.E"(path: Member "."(Member "."(c, d), E))`,
			},
		},
		{
			Name: "alias and every name",
			Source: "import a.b as c\n" +
				"import d.*",
			Want: []string{
				`Import "a.b"(path: Member "."(a, b), alias: c)`,
				`Import "d"(path: d, *)`,
			},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "named arguments",
			Source: "f(1, b = 2, *c)",
			Want:   []string{`Call(f, 1, Keyword(b, 2), Spread "*"(c));`},
		},
		{
			Name:   "trailing lambda",
			Source: "a.map { it + 1 }",
			Want:   []string{`Call(Member "."(a, map), Lambda(body: Block(Binary "+"(it, 1);)));`},
		},
		{
			Name:   "lambda with parameters",
			Source: "f(1) { a, (b, c) -> d }",
			Want:   []string{"Call(f, 1, Lambda(Parameter(a), Parameter(Tuple(b, c)), body: Block(d;)));"},
		},
		{
			Name:   "safe call and elvis",
			Source: "a?.b?.c() ?: d",
			Want:   []string{`Binary "?:"(Call(Member "." [optional](Member "." [optional](a, b), c)), d);`},
		},
		{
			Name:   "not-null assertion",
			Source: "a!!.b",
			Want:   []string{`Member "."(Unary "!!"(a), b);`},
		},
		{
			Name:   "infix call",
			Source: "a to b",
			Want:   []string{`Binary "to"(a, b);`},
		},
		{
			Name:   "index",
			Source: "a[1, b]",
			Want:   []string{"Index(a, 1, b);"},
		},
		{
			Name:   "cast and test",
			Source: "a as B; c as? D; e is F; g !is H",
			Want: []string{
				`Cast "as"(type: <B>, a);`,
				`Cast "as?"(type: <D>, c);`,
				`TypeTest "is"(e, type: <F>);`,
				`TypeTest "is"(g, type: <H>);`,
			},
		},
		{
			Name:   "ranges",
			Source: "a in 1..3",
			Want:   []string{`Binary "in"(a, Binary ".."(1, 3));`},
		},
		{
			Name:   "operators",
			Source: "a += 1; b++; !c && d",
			Want: []string{
				`Assign "+="(a, 1);`,
				`Update "++" [postfix](b);`,
				`Binary "&&"(Unary "!"(c), d);`,
			},
		},
		{
			Name:   "references",
			Source: "f(A::b, ::g, C::class)",
			Want:   []string{`Call(f, Member "::"(A, b), g, Member "::"(C, class));`},
		},
		{
			Name:   "this and super",
			Source: "this.a; super.f(); this@A.b",
			Want: []string{
				`Member "."(this, a);`,
				`Call(Member "."(super, f));`,
				`Member "."(This "A", b);`,
			},
		},
		{
			Name:   "anonymous function",
			Source: "f(fun(a: Int): Int { return a })",
			Want: []string{
				"Call(f, Lambda(Parameter(type: <Int>, a), returntype: <Int>, body: Block(Return(a))));",
			},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "strings with parts",
			Source: `val a = "x\n$b ${c.d} \$"`,
			Want:   []string{`Variable "val"(a, Template("x\n", b, " ", Member "."(c, d), " $"))`},
		},
		{
			Name:   "raw string",
			Source: `val a = """a\d $b"""`,
			Want:   []string{`Variable "val"(a, Template("a\\d ", b))`},
		},
		{
			Name:   "numbers and characters",
			Source: `val a = listOf(1_000L, 0x1F, 1.5f, 'c', '\n', true, null)`,
			Want:   []string{`Variable "val"(a, Call(listOf, 1000, 0x1F, 1.5, 'c', '\n', true, Null "null"))`},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "if as a statement and as a value",
			Source: "fun f() { if (a) b() else { c() }\n" +
				" val x = if (d) 1 else 2 }",
			Want: []string{
				`Function "function"(f, body: Block(If(condition: a, then: Call(b);, else: Block(Call(` +
					`c);)), Variable "val"(x, Conditional(condition: d, then: 1, else: 2))))`,
			},
		},
		{
			Name:   "when with a value",
			Source: "fun f() { when (a) { 1, 2 -> b(); in 3..4 -> c(); is T -> d(); else -> { e() } } }",
			Want: []string{
				`Function "function"(f, body: Block(Switch(a, Case(condition: 1, condition: 2, ` +
					`body: Block [implied](Call(b);)), Case(condition: Unary "in"(Binary ".."(3, 4)), ` +
					"body: Block [implied](Call(c);)), Case(condition: <T>, body: Block [implied](Call(d);)), " +
					`Case "default"(body: Block(Call(e);)))))`,
			},
		},
		{
			Name: "when without a value",
			Source: "fun f() = when { a > 1 -> 2\n" +
				" else -> 3 }",
			Want: []string{
				`Function "function"(f, body: Switch(Case(condition: Binary ">"(a, 1), ` +
					`body: Block [implied](2;)), Case "default"(body: Block [implied](3;))))`,
			},
		},
		{
			Name: "loops",
			Source: "fun f() { while (a) b(); do { c() } while (d)\n" +
				" for (i in e) g(i)\n" +
				" for ((k, v) in m) h() }",
			Want: []string{
				`Function "function"(f, body: Block(While(condition: a, body: Call(b);), DoWhile(` +
					`body: Block(Call(c);), condition: d), ForEach "of"(Variable(i), iterable: e, body: Call(` +
					`g, i);), ForEach "of"(Tuple(k, v), iterable: m, body: Call(h);)))`,
			},
		},
		{
			Name: "label of a loop",
			Source: "fun f() {\n" +
				"  out@ for (a in b) {\n" +
				"    c()\n" +
				"  }\n" +
				"}",
			Want: []string{
				`Function "function"(f, body: Block(Label(out, body: ForEach "of"(Variable(a), ` +
					"iterable: b, body: Block(Call(c);)))))",
			},
		},
		{
			Name:   "try",
			Source: "fun f() { try { a() } catch (e: E) { b() } finally { c() } }",
			Want: []string{
				`Function "function"(f, body: Block(Try(body: Block(Call(a);), Catch(type: <E>, e, ` +
					"body: Block(Call(b);)), finally: Block(Call(c);))))",
			},
		},
		{
			Name:   "throw and return",
			Source: `fun f(): Int { throw E("x") }`,
			Want:   []string{`Function "function"(f, returntype: <Int>, body: Block(Throw(Call(E, "x"))))`},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "call",
			Source: "$X.exec($Q, ...)",
			Want:   []string{`Call(Member "."($X, exec), $Q, ...)`},
		},
		{
			Name:   "typed metavariable",
			Source: "($X: File).readText()",
			Want:   []string{`Call(Member "."(Typed(type: <File>, $X), readText))`},
		},
		{
			Name:   "function",
			Source: "fun $F(..., $A: String, ...) { ... }",
			Want:   []string{`Function "function"($F, ..., Parameter(type: <String>, $A), ..., body: Block(...))`},
		},
		{
			Name:   "class",
			Source: "class $C : B() { ... }",
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
			Name:   "template with any parts",
			Source: `"...$X..."`,
			Want:   []string{`"...$X..."`},
		},
		{
			Name:   "if",
			Source: "if ($X) { ... }",
			Want:   []string{"If(condition: $X, then: Block(...))"},
		},
		{
			Name:   "named argument",
			Source: "f(..., a = true, ...)",
			Want:   []string{"Call(f, ..., Keyword(a, true), ...)"},
		},
		{
			Name:   "trailing lambda",
			Source: "f { ... }",
			Want:   []string{"Call(f, Lambda(Ellipsis [implied], body: Block(...)))"},
		},
		{
			Name:   "import",
			Source: "import java.security.$X",
			Want:   []string{`Import "java.security.$X"(path: Member "."(Member "."(java, security), $X))`},
		},
	})
}

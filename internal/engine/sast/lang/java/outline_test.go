package java

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestDeclarations pins the trees of declarations: what is declared, under which name, and its
// parts.
func TestDeclarations(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "class",
			Source: "public final class A<T extends B & C> extends D<T> implements E, F {}",
			Want: []string{
				`Class "class"(public, final, A, TypeParameter(T, base: <B>, base: <C>), base: Type "D"(` +
					"<T>), interface: <E>, interface: <F>, body: Block)",
			},
		},
		{
			Name:   "interface",
			Source: "interface I extends J { int f(); default void g() {} }",
			Want: []string{
				`Class "interface"(I, interface: <J>, body: Block(Function "method"(f, ` +
					`returntype: <int>), Function "method"(default, g, returntype: <void>, body: Block)))`,
			},
		},
		{
			Name:   "enum",
			Source: "enum E { A, B(1) { void f() {} }; private int x; E() {} }",
			Want: []string{
				`Class "enum"(E, body: Block(Field "enum"(A), Field "enum"(B, New "new"(` +
					`type: Type "E" [implied], 1, body: Block(Function "method"(f, returntype: <void>, ` +
					`body: Block)))), Field(private, type: <int>, x), Function "constructor"(E, body: Block)))`,
			},
		},
		{
			Name:   "record",
			Source: "record R(int a, @N String b) implements I { R { check(a); } }",
			Want: []string{
				`Class "record"(R, Parameter(type: <int>, a), Parameter(Annotation(Call(N)), ` +
					`type: <String>, b), interface: <I>, body: Block(Function "constructor"(R, body: Block(` +
					"Call(check, a);))))",
			},
		},
		{
			Name:   "annotation type",
			Source: `@interface N { String value() default "x"; }`,
			Want: []string{
				`Class "annotation"(N, body: Block(Function "method"(value, returntype: <String>, "x")))`,
			},
		},
		{
			Name:   "sealed class",
			Source: "sealed class A permits B, C {}",
			Want:   []string{`Class "class"(sealed, A, Other "permits"(<B>, <C>), body: Block)`},
		},
		{
			Name:   "fields",
			Source: "class A { private static final int x = 1, y[] = {2}; }",
			Want: []string{
				`Class "class"(A, body: Block(Field(private, static, final, type: <int>, x, 1), Field(` +
					`private, static, final, type: Type "[]"(<int>), y, List(2))))`,
			},
		},
		{
			Name: "method",
			Source: "class A { @Override public <T> List<T> f(final int a, String... b) throws E, " +
				"F { return null; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(Annotation(Call(Override)), public, ` +
					`TypeParameter(T), f, Parameter(final, type: <int>, a), Parameter "*"(type: <String>, b), ` +
					`returntype: Type "List"(<T>), throws: <E>, throws: <F>, body: Block(Return(Null "null")))))`,
			},
		},
		{
			Name:   "constructor",
			Source: "class A { A(int a) { this.a = a; } A() { this(1); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "constructor"(A, Parameter(type: <int>, a), ` +
					`body: Block(Assign "="(Member "."(this, a), a);)), Function "constructor"(A, body: Block(` +
					"Call(this, 1);))))",
			},
		},
		{
			Name:   "initializers",
			Source: "class A { static { f(); } { g(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "initializer"(static, body: Block(Call(f);)), ` +
					`Function "initializer"(body: Block(Call(g);))))`,
			},
		},
		{
			Name:   "local variables",
			Source: `class A { void f() { int a = 1, b; var c = "x"; final String[] d; } }`,
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					`Variable(type: <int>, a, 1), Variable(type: <int>, b), Variable "var"(c, "x"), Variable(` +
					`final, type: Type "[]"(<String>), d)))))`,
			},
		},
		{
			Name:   "nested and anonymous classes",
			Source: "class A { class B {} Object f = new Object() { int x; }; }",
			Want: []string{
				`Class "class"(A, body: Block(Class "class"(B, body: Block), Field(type: <Object>, f, ` +
					`New "new"(type: <Object>, body: Block(Field(type: <int>, x))))))`,
			},
		},
		{
			Name:   "receiver parameter",
			Source: "class A { void f(A this) {} }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(receiver: Parameter(type: <A>, this), f, ` +
					"returntype: <void>, body: Block)))",
			},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "package and type",
			Source: "package a.b;\n" +
				"import java.util.List;",
			Want: []string{
				`Package "a.b"(Member "."(a, b))`,
				`Import "java.util.List"(path: Member "."(Member "."(java, util), List))`,
			},
		},
		{
			Name:   "every type of a package",
			Source: "import java.util.*;",
			Want:   []string{`Import "java.util"(path: Member "."(java, util), *)`},
		},
		{
			Name:   "static member",
			Source: "import static a.B.c;",
			Want:   []string{`Import "a.B"(path: Member "."(a, B), c)`},
		},
		{
			Name:   "static members",
			Source: "import static a.B.*;",
			Want:   []string{`Import "a.B"(path: Member "."(a, B), *)`},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "method",
			Source: `class A { void f() { a.b().c(1, "x"); } }`,
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(Call(` +
					`Member "."(Call(Member "."(a, b)), c), 1, "x");))))`,
			},
		},
		{
			Name:   "call of the own method",
			Source: "class A { void f() { g(); this.g(); super.g(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(Call(` +
					`g);, Call(Member "."(this, g));, Call(Member "."(super, g));))))`,
			},
		},
		{
			Name:   "constructor",
			Source: "class A { void f() { new B<>(1); o.new C(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					`New "new"(type: <B>, 1);, New "new"(o, type: <C>);))))`,
			},
		},
		{
			Name:   "arrays",
			Source: `class A { void f() { x = new int[2][]; y = new String[] {"a"}; z = a[1]; } }`,
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					`Assign "="(x, New "new"(type: Type "[]"(Type "[]"(<int>)), 2));, Assign "="(y, New "{}"(` +
					`type: Type "[]"(<String>), "a"));, Assign "="(z, Index(a, 1));))))`,
			},
		},
		{
			Name:   "method references",
			Source: "class A { void f() { g(B::c, D::new, this::e); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(Call(` +
					`g, Member "::"(B, c), Member "::"(D, new), Member "::"(this, e));))))`,
			},
		},
		{
			Name:   "lambdas",
			Source: "class A { void f() { g(a -> a + 1, (b, c) -> { return b; }, (int d) -> d); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(Call(` +
					`g, Lambda(Parameter(a), body: Binary "+"(a, 1)), Lambda(Parameter(b), Parameter(c), ` +
					"body: Block(Return(b))), Lambda(Parameter(type: <int>, d), body: d));))))",
			},
		},
		{
			Name:   "cast and instanceof",
			Source: "class A { void f() { x = (String) a; y = a instanceof B b; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					`Assign "="(x, Cast(type: <String>, a));, Assign "="(y, TypeTest "instanceof"(a, ` +
					"type: <B>, b));))))",
			},
		},
		{
			Name:   "fields",
			Source: "class A { void f() { x = a.b.c; y = B.this.d; z = int.class; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					`Assign "="(x, Member "."(Member "."(a, b), c));, Assign "="(y, Member "."(This "B", ` +
					`d));, Assign "="(z, Member "."(<int>, class));))))`,
			},
		},
		{
			Name:   "operators",
			Source: "class A { void f() { x = a ? b : c; d += 1; e++; --g; h = !i && j >>> 2; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					`Assign "="(x, Conditional(condition: a, then: b, else: c));, Assign "+="(d, 1);, ` +
					`Update "++" [postfix](e);, Update "--"(g);, Assign "="(h, Binary "&&"(Unary "!"(i), ` +
					`Binary ">>>"(j, 2)));))))`,
			},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "strings and characters",
			Source: `class A { String a = "x\n\u00e9\101"; char b = '\''; }`,
			Want: []string{
				`Class "class"(A, body: Block(Field(type: <String>, a, "x\néA"), Field(type: <char>, b, ''')))`,
			},
		},
		{
			Name: "text block",
			Source: `class A { String a = """` + "\n" +
				"    b\n" +
				"      c\\\n" +
				"    d\n" +
				`    """; }`,
			Want: []string{`Class "class"(A, body: Block(Field(type: <String>, a, "b\n  cd\n")))`},
		},
		{
			Name:   "numbers",
			Source: "class A { Object[] a = {1_000L, 0x1F, 1.5f, 1e3d, 0b11}; }",
			Want: []string{
				`Class "class"(A, body: Block(Field(type: Type "[]"(<Object>), a, List(1000, 0x1F, 1.5, ` +
					"1e3, 0b11))))",
			},
		},
		{
			Name:   "constants",
			Source: "class A { Object[] a = {true, false, null, this}; }",
			Want: []string{
				`Class "class"(A, body: Block(Field(type: Type "[]"(<Object>), a, List(true, false, ` +
					`Null "null", this))))`,
			},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "if and else",
			Source: "class A { void f() { if (a) b(); else if (c) { d(); } else e(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(If(` +
					"condition: a, then: Call(b);, else: If(condition: c, then: Block(Call(d);), else: Call(e);))))))",
			},
		},
		{
			Name: "loops",
			Source: "class A { void f() { while (a) b(); do { c(); } while (d); for (" +
				"int i = 0; i < 3; i++) e(); for (String s : g) h(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(While(` +
					"condition: a, body: Call(b);), DoWhile(body: Block(Call(c);), condition: d), For(" +
					`init: Variable(type: <int>, i, 0), condition: Binary "<"(i, 3), ` +
					`update: Update "++" [postfix](i), body: Call(e);), ForEach "of"(Variable(type: <String>, ` +
					"s), iterable: g, body: Call(h);)))))",
			},
		},
		{
			Name:   "switch of groups",
			Source: "class A { void f() { switch (a) { case 1: case 2: b(); break; default: c(); } } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					`Switch "fallthrough"(a, Case(condition: 1, body: Block [implied]), Case(condition: 2, ` +
					`body: Block [implied](Call(b);, Break)), Case "default"(body: Block [implied](Call(c);)))))))`,
			},
		},
		{
			Name:   "switch of rules",
			Source: "class A { void f() { int x = switch (a) { case 1, 2 -> 3; default -> { yield 4; } }; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					"Variable(type: <int>, x, Switch(a, Case(condition: 1, condition: 2, " +
					`body: Block [implied](3;)), Case "default"(body: Block(Yield(4);))))))))`,
			},
		},
		{
			Name: "switch of patterns",
			Source: "class A { void f() { switch (a) { case B b when b.c() -> d(); case E(int x, " +
				"var y) -> g(); case null -> h(); } } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(Switch(` +
					`a, Case(condition: Variable(type: <B>, b), guard: Call(Member "."(b, c)), ` +
					`body: Block [implied](Call(d);)), Case(condition: Other "record_pattern"(type: <E>, ` +
					`Variable(type: <int>, x), Variable "var"(y)), body: Block [implied](Call(g);)), Case(` +
					`condition: Null "null", body: Block [implied](Call(h);)))))))`,
			},
		},
		{
			Name: "try with resources",
			Source: "class A { void f() { try (R r = g(); s) { a(); } catch (E | F e) { b(" +
				"); } finally { c(); } } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(Try(` +
					"resource: Variable(type: <R>, r, Call(g)), resource: s, body: Block(Call(a);), Catch(" +
					"type: <E>, type: <F>, e, body: Block(Call(b);)), finally: Block(Call(c);))))))",
			},
		},
		{
			Name:   "synchronized and assert",
			Source: `class A { void f() { synchronized (a) { b(); } assert c : "m"; } }`,
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <void>, body: Block(` +
					`With "synchronized"(resource: a, body: Block(Call(b);)), Assert(condition: c, "m")))))`,
			},
		},
		{
			Name:   "jumps",
			Source: "class A { int f() { out: for (;;) { continue out; } throw new E(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(f, returntype: <int>, body: Block(Label(` +
					`out, body: For(body: Block(Continue(label: out)))), Throw(New "new"(type: <E>))))))`,
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
			Source: "$X.executeQuery($Q, ...)",
			Want:   []string{`Call(Member "."($X, executeQuery), $Q, ...)`},
		},
		{
			Name:   "typed metavariable",
			Source: "(HttpServletRequest $REQ).getParameter(...)",
			Want:   []string{`Call(Member "."(Typed(type: <HttpServletRequest>, $REQ), getParameter), ...)`},
		},
		{
			Name:   "variable",
			Source: "String $X = $Y.f();",
			Want:   []string{`Variable(type: <String>, $X, Call(Member "."($Y, f)))`},
		},
		{
			Name:   "method",
			Source: "public void $F(..., String $A, ...) { ... }",
			Want: []string{
				`Function "method"(public, $F, ..., Parameter(type: <String>, $A), ..., ` +
					"returntype: <void>, body: Block(...))",
			},
		},
		{
			Name: "annotated method",
			Source: "@GetMapping(...)\n" +
				"$T $F(...) { ... }",
			Want: []string{
				`Function "method"(Annotation(Call(GetMapping, ...)), $F, ..., returntype: $T, body: Block(...))`,
			},
		},
		{
			Name:   "class",
			Source: "class $C extends B { ... }",
			Want:   []string{`Class "class"($C, base: <B>, body: Block(...))`},
		},
		{
			Name: "statements with anything between",
			Source: "$X = f();\n" +
				"...\n" +
				"g($X);",
			Want: []string{`Block(Assign "="($X, Call(f));, ..., Call(g, $X);)`},
		},
		{
			Name:   "new",
			Source: "new $C(..., $X, ...)",
			Want:   []string{`New "new"(type: $C, ..., $X, ...)`},
		},
		{
			Name:   "if",
			Source: "if ($X) { ... }",
			Want:   []string{"If(condition: $X, then: Block(...))"},
		},
		{
			Name:   "try",
			Source: "try { ... } catch ($E $e) { ... }",
			Want:   []string{"Try(body: Block(...), Catch(type: $E, $e, body: Block(...)))"},
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
			Name:   "import",
			Source: "import java.util.$X;",
			Want:   []string{`Import "java.util.$X"(path: Member "."(Member "."(java, util), $X))`},
		},
		{
			Name:   "return",
			Source: "return $X;",
			Want:   []string{"Return($X)"},
		},
		{
			Name:   "any receiver",
			Source: "... .f()",
			Want:   []string{`Call(Member "."($_, f))`},
		},
		{
			Name:   "for",
			Source: "for (...) { ... }",
			Want:   []string{"For(init: ..., body: Block(...))"},
		},
		{
			Name:   "generic type",
			Source: "List<$T> $X;",
			Want:   []string{`Variable(type: Type "List"($T), $X)`},
		},
	})
}

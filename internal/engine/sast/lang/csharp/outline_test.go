package csharp

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestDeclarations pins the trees of declarations: what is declared, under which name, and its
// parts.
func TestDeclarations(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "namespace and class",
			Source: "namespace A.B { public sealed class C<T> : D, I where T : new() { } }",
			Want: []string{
				`Package "A.B"(Member "."(A, B))`,
				`Class "class"(public, sealed, C, TypeParameter(T), base: <D>, base: <I>, body: Block)`,
			},
		},
		{
			Name: "file-scoped namespace",
			Source: "namespace A.B;\n" +
				"class C {}",
			Want: []string{
				`Package "A.B"(Member "."(A, B))`,
				`Class "class"(C, body: Block)`,
			},
		},
		{
			Name:   "fields",
			Source: `class A { private static readonly int x = 1, y; const string Z = "z"; }`,
			Want: []string{
				`Class "class"(A, body: Block(Field(private, static, readonly, type: <int>, x, 1), Field(` +
					`private, static, readonly, type: <int>, y), Field(const, type: <string>, Z, "z")))`,
			},
		},
		{
			Name: "properties",
			Source: `class A { public int X { get; set; } = 1; int Y => 2; ` +
				`string Z { get { return "a"; } set { b = value; } } }`,
			Want: []string{
				`Class "class"(A, body: Block(Field(public, type: <int>, X, 1), Function "getter"(` +
					`Name "X" [implied]), Function "setter"(Name "X" [implied], Parameter [implied](` +
					`Name "value" [implied])), Field(type: <int>, Y), Function "getter"(Name "Y" [implied], ` +
					`body: 2), Field(type: <string>, Z), Function "getter"(Name "Z" [implied], body: Block(` +
					`Return("a"))), Function "setter"(Name "Z" [implied], Parameter [implied](` +
					`Name "value" [implied]), body: Block(Assign "="(b, value);))))`,
			},
		},
		{
			Name:   "indexer and event",
			Source: "class A { int this[int i] => i; event E F; }",
			Want: []string{
				`Class "class"(A, body: Block(Field(type: <int>, this), Function "getter"(Parameter(` +
					"type: <int>, i), body: i), Field(event, type: <E>, F)))",
			},
		},
		{
			Name: "method",
			Source: `class A { [B("x")] public async Task<int> F(int a, ref string b, ` +
				"params T[] c) { return 1; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(Annotation(Call(B, "x")), public, async, ` +
					`F, Parameter(type: <int>, a), Parameter(ref, type: <string>, b), Parameter "*"(` +
					`type: Type "[]"(<T>), c), returntype: Type "Task"(<int>), body: Block(Return(1)))))`,
			},
		},
		{
			Name:   "expression body",
			Source: "class A { int F(int a = 1) => a; }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, Parameter(type: <int>, a, 1), ` +
					"returntype: <int>, body: a)))",
			},
		},
		{
			Name:   "constructors",
			Source: "class A { A(int a) : base(a) { } static A() { } ~A() { } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "constructor"(A, Parameter(type: <int>, a), ` +
					`body: Block(Call(super, a);)), Function "constructor"(static, A, body: Block), ` +
					`Function "destructor"(A, body: Block)))`,
			},
		},
		{
			Name:   "operator",
			Source: "class A { public static A operator +(A a, A b) => a; }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(public, static, operator+, Parameter(` +
					"type: <A>, a), Parameter(type: <A>, b), returntype: <A>, body: a)))",
			},
		},
		{
			Name:   "struct, interface and enum",
			Source: "struct S { } interface I { void F(); } enum E { A = 1, B }",
			Want: []string{
				`Class "struct"(S, body: Block)`,
				`Class "interface"(I, body: Block(Function "method"(F, returntype: <void>)))`,
				`Class "enum"(E, body: Block(Field "enum"(A, 1), Field "enum"(B)))`,
			},
		},
		{
			Name:   "record",
			Source: "record R(int A, string B) : S(A);",
			Want: []string{
				`Class "record"(R, Parameter(type: <int>, A), Parameter(type: <string>, B), base: Call(<S>, A))`,
			},
		},
		{
			Name:   "delegate",
			Source: "delegate int F(string a);",
			Want:   []string{`TypeAlias(F, type: Type "func"(Parameter(type: <string>, a), returntype: <int>))`},
		},
		{
			Name:   "local function and variables",
			Source: `class A { void F() { int a = 1, b; var c = "x"; int G(int d) => d; } }`,
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Variable(type: <int>, a, 1), Variable(type: <int>, b), Variable "var"(c, "x"), ` +
					`Function "function"(G, Parameter(type: <int>, d), returntype: <int>, body: d)))))`,
			},
		},
		{
			Name: "attributes",
			Source: "[assembly: A(1)]\n" +
				"[B, C(D = 2)] class E { }",
			Want: []string{
				`Other "global_attribute"(Token "assembly", Token ":", Annotation(Call(A, 1)))`,
				`Class "class"(Annotation(Call(B)), Annotation(Call(C, Keyword(D, 2))), E, body: Block)`,
			},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "using forms",
			Source: "using System.IO;\n" +
				"using static A.B;\n" +
				"using X = C.D;",
			Want: []string{
				`Import "System.IO"(path: Member "."(System, IO), Name "*" [implied])`,
				`Import "A.B"(path: Member "."(A, B), Name "*" [implied])`,
				`Import "C.D"(path: Member "."(C, D), alias: X)`,
			},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "method",
			Source: "class A { void F() { a.B(1, c: 2, out var d, ref e); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(Call(` +
					`Member "."(a, B), 1, Keyword(c, 2), Variable "var"(d), e);))))`,
			},
		},
		{
			Name:   "conditional access",
			Source: "class A { void F() { a?.B?[1]?.C(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(Call(` +
					`Member "." [optional](Index [optional](Member "." [optional](a, B), 1), C));))))`,
			},
		},
		{
			Name: "new",
			Source: "class A { void F() { x = new B<int>(1) { C = 2 }; y = new List<int> { 1, " +
				"2 }; z = new(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Assign "="(x, New "new"(type: Type "B"(<int>), 1, Assign "="(C, 2)));, Assign "="(y, ` +
					`New "new"(type: Type "List"(<int>), 1, 2));, Assign "="(z, New "new"(type: Type [implied]));))))`,
			},
		},
		{
			Name: "arrays",
			Source: "class A { void F() { x = new int[2]; y = new[] { 1 }; z = a[1, " +
				"2]; w = b[^1]; v = b[1..2]; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Assign "="(x, New "new"(type: Type "[]"(<int>), 2));, Assign "="(y, List(1));, ` +
					`Assign "="(z, Index(a, 1, 2));, Assign "="(w, Index(b, Unary "^"(1)));, Assign "="(v, ` +
					"Index(b, Slice(low: 1, high: 2)));))))",
			},
		},
		{
			Name:   "anonymous object",
			Source: "class A { void F() { x = new { a = 1, b.c }; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Assign "="(x, New "{}"(type: Type [implied], Keyword(a, 1), Member "."(b, c)));))))`,
			},
		},
		{
			Name: "lambdas",
			Source: "class A { void F() { G(a => a + 1, (b, c) => { return b; }, async () => await d, " +
				"delegate (int e) { }); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(Call(` +
					`G, Lambda(Parameter(a), body: Binary "+"(a, 1)), Lambda(Parameter(b), Parameter(c), ` +
					"body: Block(Return(b))), Lambda(async, body: Await(d)), Lambda(Parameter(type: <int>, " +
					"e), body: Block));))))",
			},
		},
		{
			Name: "casts and tests",
			Source: "class A { void F() { x = (B)a; y = a as C; z = a is D d; w = typeof(" +
				"E); v = nameof(f); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Assign "="(x, Cast(type: <B>, a));, Assign "="(y, Cast "as"(type: <C>, a));, Assign "="(` +
					`z, TypeTest "is"(a, type: <D>, d));, Assign "="(w, Call(typeof, <E>));, Assign "="(v, ` +
					"Call(nameof, f));))))",
			},
		},
		{
			Name:   "operators",
			Source: "class A { void F() { x = a ?? b; c ??= d; e += 1; g++; h = !i && j ? k : l; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Assign "="(x, Binary "??"(a, b));, Assign "??="(c, d);, Assign "+="(e, 1);, ` +
					`Update "++" [postfix](g);, Assign "="(h, Conditional(condition: Binary "&&"(Unary "!"(` +
					"i), j), then: k, else: l));))))",
			},
		},
		{
			Name:   "this and base",
			Source: "class A { void F() { this.x = base.G(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Assign "="(Member "."(this, x), Call(Member "."(super, G)));))))`,
			},
		},
		{
			Name:   "query",
			Source: "class A { void F() { x = from a in b where a > 1 orderby a select a.c; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Assign "="(x, Comprehension "generator"(Member "."(a, c), Clause(a, iterable: b, ` +
					`condition: Binary ">"(a, 1))));))))`,
			},
		},
		{
			Name:   "await",
			Source: "class A { async void F() { await g(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(async, F, returntype: <void>, body: Block(` +
					"Await(Call(g));))))",
			},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "strings",
			Source: `class A { object[] a = { "x\n\u00e9", @"c\d""e", 'f', '\n' }; }`,
			Want: []string{
				`Class "class"(A, body: Block(Field(type: Type "[]"(<object>), a, List("x\né", "c\\d\"e", ` +
					`'f', '\n'))))`,
			},
		},
		{
			Name:   "interpolated strings",
			Source: `class A { string a = $"x{b:N2}y{c,3}{{"; }`,
			Want: []string{
				`Class "class"(A, body: Block(Field(type: <string>, a, Template("x", b, "y", c, "{"))))`,
			},
		},
		{
			Name:   "raw string",
			Source: `class A { string a = """b"c"""; }`,
			Want:   []string{`Class "class"(A, body: Block(Field(type: <string>, a, "b\"c")))`},
		},
		{
			Name:   "numbers and constants",
			Source: "class A { object[] a = { 1_000L, 0x1F, 1.5f, 2m, true, null }; }",
			Want: []string{
				`Class "class"(A, body: Block(Field(type: Type "[]"(<object>), a, List(1000, 0x1F, 1.5, ` +
					`2, true, Null "null"))))`,
			},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "if and else",
			Source: "class A { void F() { if (a) B(); else if (c) { D(); } else E(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(If(` +
					"condition: a, then: Call(B);, else: If(condition: c, then: Block(Call(D);), else: Call(E);))))))",
			},
		},
		{
			Name: "loops",
			Source: "class A { void F() { while (a) B(); do { C(); } while (d); for (" +
				"int i = 0; i < 3; i++) G(); foreach (var x in y) H(); } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(While(` +
					"condition: a, body: Call(B);), DoWhile(body: Block(Call(C);), condition: d), For(" +
					`init: Variable(type: <int>, i, 0), condition: Binary "<"(i, 3), ` +
					`update: Update "++" [postfix](i), body: Call(G);), ForEach "of"(Variable "var"(x), ` +
					"iterable: y, body: Call(H);)))))",
			},
		},
		{
			Name: "switch statement",
			Source: "class A { void F() { switch (a) { case 1: case 2: B(" +
				"); break; case C c when c.D: E(); break; default: break; } } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`Switch "fallthrough"(a, Case(condition: 1, body: Block [implied]), Case(condition: 2, ` +
					"body: Block [implied](Call(B);, Break)), Case(condition: Variable(type: <C>, c), " +
					`guard: Member "."(c, D), body: Block [implied](Call(E);, Break)), Case "default"(` +
					"body: Block [implied](Break)))))))",
			},
		},
		{
			Name:   "switch expression",
			Source: "class A { int F() => a switch { 1 or 2 => 3, B b => 4, { C: 5 } => 6, _ => 7 }; }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <int>, body: Switch(a, ` +
					`Case(condition: Binary "or"(1, 2), body: Block [implied](3;)), Case(condition: Variable(` +
					`type: <B>, b), body: Block [implied](4;)), Case(condition: Other "recursive_pattern"(` +
					`Other "property_pattern_clause"(Other "subpattern"(C, Token ":", 5))), ` +
					`body: Block [implied](6;)), Case "default"(body: Block [implied](7;))))))`,
			},
		},
		{
			Name: "try",
			Source: "class A { void F() { try { B(); } catch (E e) when (e.C) { D(); } catch { G(" +
				"); } finally { H(); } } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(Try(` +
					`body: Block(Call(B);), Catch(type: <E>, e, guard: Member "."(e, C), body: Block(Call(` +
					"D);)), Catch(body: Block(Call(G);)), finally: Block(Call(H);))))))",
			},
		},
		{
			Name:   "using and lock",
			Source: "class A { void F() { using (var a = b) { C(); } using var d = e; lock (f) { G(); } } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(` +
					`With "using"(resource: Variable "var"(a, b), body: Block(Call(C);)), Variable "var"(` +
					`using, d, e), With "lock"(resource: f, body: Block(Call(G);))))))`,
			},
		},
		{
			Name:   "jumps",
			Source: `class A { int F() { throw new E("x"); goto end; end: return 1; } }`,
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <int>, body: Block(Throw(` +
					`New "new"(type: <E>, "x")), Goto(label: end), Label(end, body: Return(1))))))`,
			},
		},
		{
			Name:   "yield",
			Source: "class A { IEnumerable<int> F() { yield return 1; yield break; } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: Type "IEnumerable"(<int>), ` +
					"body: Block(Yield(1);, Return))))",
			},
		},
		{
			Name:   "checked and unsafe",
			Source: "class A { void F() { checked { a(); } unsafe { b(); } } }",
			Want: []string{
				`Class "class"(A, body: Block(Function "method"(F, returntype: <void>, body: Block(Block(` +
					`Call(a);), With "unsafe"(body: Block(Call(b);))))))`,
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
			Source: "$X.Execute($Q, ...)",
			Want:   []string{`Call(Member "."($X, Execute), $Q, ...)`},
		},
		{
			Name:   "typed metavariable",
			Source: "(SqlCommand $C).ExecuteReader(...)",
			Want:   []string{`Call(Member "."(Typed(type: <SqlCommand>, $C), ExecuteReader), ...)`},
		},
		{
			Name:   "method",
			Source: "public $T $F(..., string $A, ...) { ... }",
			Want: []string{
				`Function "function"(public, $F, ..., Parameter(type: <string>, $A), ..., returntype: $T, ` +
					"body: Block(...))",
			},
		},
		{
			Name: "attributed method",
			Source: "[HttpGet]\n" +
				"public $T $F(...) { ... }",
			Want: []string{
				`Function "function"(Annotation(Call(HttpGet)), public, $F, ..., returntype: $T, ` +
					"body: Block(...))",
			},
		},
		{
			Name:   "class",
			Source: "class $C : Controller { ... }",
			Want:   []string{`Class "class"($C, base: <Controller>, body: Block(...))`},
		},
		{
			Name: "statements with anything between",
			Source: "$X = f();\n" +
				"...\n" +
				"g($X);",
			Want: []string{`Block(Assign "="($X, Call(f));, ..., Call(g, $X);)`},
		},
		{
			Name:   "new with any members",
			Source: "new $C(...) { ..., A = true, ... }",
			Want:   []string{`New "new"(type: $C, ..., ..., Assign "="(A, true), ...)`},
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
			Name:   "interpolation",
			Source: `$"...{$X}..."`,
			Want:   []string{"Template(..., $X, ...)"},
		},
		{
			Name:   "using",
			Source: "using $X;",
			Want:   []string{`Import "$X"(path: $X, Name "*" [implied])`},
		},
		{
			Name:   "if",
			Source: "if ($X) { ... }",
			Want:   []string{"If(condition: $X, then: Block(...))"},
		},
		{
			Name:   "return",
			Source: "return $X;",
			Want:   []string{"Return($X)"},
		},
	})
}

package rust

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestDeclarations pins the trees of declarations: what is declared, under which name, and its
// parts.
func TestDeclarations(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "function",
			Source: "pub async fn f<'a, T: A + B>(self: &Self, mut a: &'a str, (b, c): (u8, " +
				"T)) -> Result<T, E> where T: C { a }",
			Want: []string{
				`Function "function"(pub, async, TypeParameter(T, base: <A>, base: <B>), f, Parameter(` +
					`type: Type "*"(<Self>), this), Parameter(mut, type: Type "*"(<str>), a), Parameter(` +
					`type: Type "()"(<u8>, <T>), Tuple(b, c)), returntype: Type "Result"(<T>, <E>), body: Block(a;))`,
			},
		},
		{
			Name:   "struct",
			Source: "#[derive(Debug)] pub struct A<T> { pub a: u8, b: Vec<T> }",
			Want: []string{
				`Class "struct"(Annotation(Call(derive, Debug)), pub, A, TypeParameter(T), body: Block(` +
					`Field(type: <u8>, a), Field(type: Type "Vec"(<T>), b)))`,
			},
		},
		{
			Name:   "tuple and unit struct",
			Source: "struct A(u8, pub B); struct C;",
			Want: []string{
				`Class "struct"(A, body: Block(Field(type: <u8>), Field(type: <B>)))`,
				`Class "struct"(C)`,
			},
		},
		{
			Name:   "enum",
			Source: "enum E { A, B(u8), C { x: i32 }, D = 4 }",
			Want: []string{
				`Class "enum"(E, body: Block(Field "enum"(A), Field "enum"(type: Type "()"(<u8>), B), ` +
					`Field "enum"(type: Type "()"(<i32>), C), Field "enum"(D, 4)))`,
			},
		},
		{
			Name:   "trait",
			Source: "trait T: U { const X: u8 = 1; type Y; fn f(&self); fn g() {} }",
			Want: []string{
				`Class "trait"(T, base: <U>, body: Block(Field "const"(type: <u8>, X, 1), TypeAlias(Y), ` +
					`Function "method"(f, Parameter(self)), Function "method"(g, body: Block)))`,
			},
		},
		{
			Name:   "implementation",
			Source: "impl<T> A for B<T> { fn f(&mut self) {} }",
			Want: []string{
				`Class "impl"(Type "B"(<T>), TypeParameter(T), interface: <A>, body: Block(` +
					`Function "method"(f, Parameter(mut, self), body: Block)))`,
			},
		},
		{
			Name:   "module, constant and static",
			Source: "mod m { const A: u8 = 1; static mut B: u8 = 2; }",
			Want: []string{
				`Class "module"(m, body: Block(Variable "const"(type: <u8>, A, 1), Variable "static"(mut, ` +
					"type: <u8>, B, 2)))",
			},
		},
		{
			Name:   "type alias",
			Source: "type R<T> = Result<T, E>;",
			Want:   []string{`TypeAlias(R, TypeParameter(T), type: Type "Result"(<T>, <E>))`},
		},
		{
			Name: "variables",
			Source: "fn f() { let a = 1; let mut b: u8 = 2; let (c, d) = e; let Some(" +
				"g) = h else { return }; }",
			Want: []string{
				`Function "function"(f, body: Block(Variable "let"(a, 1), Variable "let"(mut, type: <u8>, ` +
					`b, 2), Variable "let"(Tuple(c, d), e), Variable "let"(Call(Some, g), h, else: Block(Return))))`,
			},
		},
		{
			Name:   "closures",
			Source: "fn f() { let a = |x, y: u8| x + y; let b = move || { c }; }",
			Want: []string{
				`Function "function"(f, body: Block(Variable "let"(a, Lambda(Parameter(x), Parameter(` +
					`type: <u8>, y), body: Binary "+"(x, y))), Variable "let"(b, Lambda(move, body: Block(c;)))))`,
			},
		},
		{
			Name:   "foreign items",
			Source: `extern "C" { fn f(a: i32) -> i32; }`,
			Want:   []string{`Function "function"(f, Parameter(type: <i32>, a), returntype: <i32>)`},
		},
		{
			Name:   "macro definition",
			Source: "macro_rules! m { ($a:expr) => { $a } }",
			Want:   []string{`Other "macro_definition"(m)`},
		},
		{
			Name:   "union and unsafe function",
			Source: "unsafe fn f() {} union U { a: u8 }",
			Want: []string{
				`Function "function"(unsafe, f, body: Block)`,
				`Class "struct"(U, body: Block(Field(type: <u8>, a)))`,
			},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "names",
			Source: "use a::b::C; use d::{self, E, f::G as H, i::*}; use crate::j; pub use super::k;",
			Want: []string{
				`Import "a.b"(path: Member "::"(a, b), C)`,
				`Import "d"(path: d)`,
				`Import "d"(path: d, E)`,
				`Import "d.f"(path: Member "::"(d, f), G, alias: H)`,
				`Import "d.i"(path: Member "::"(d, i), *)`,
				`Import "crate"(path: crate, j)`,
				`Import "super"(path: super, k)`,
			},
		},
		{
			Name:   "external crate and module",
			Source: "extern crate a; mod b;",
			Want: []string{
				`Import "a"(path: a)`,
				`Class "module"(b)`,
			},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "function, path and method",
			Source: "fn f() { a(1); A::b(2); c.d::<T>(3).e; }",
			Want: []string{
				`Function "function"(f, body: Block(Call(a, 1);, Call(Member "::"(A, b), 2);, Member "."(` +
					`Call(Member "."(c, d), 3), e);))`,
			},
		},
		{
			Name:   "question mark and await",
			Source: "fn f() { a()?.b().await; }",
			Want:   []string{`Function "function"(f, body: Block(Await(Call(Member "."(Unary "?"(Call(a)), b)));))`},
		},
		{
			Name:   "macros",
			Source: `fn f() { println!("{} {}", a, b.c()); vec![1, 2]; m! { d }; }`,
			Want: []string{
				`Function "function"(f, body: Block(Call(println!, "{} {}", a, Call(Member "."(b, c)));, ` +
					"Call(vec!, 1, 2);, Call(m!, d);))",
			},
		},
		{
			Name:   "struct literal",
			Source: "fn f() { A { a: 1, b, ..c }; }",
			Want: []string{
				`Function "function"(f, body: Block(New "{}"(type: A, Keyword(a, 1), Keyword(b, ` +
					`Name "b" [implied]), Spread ".."(c));))`,
			},
		},
		{
			Name:   "index and ranges",
			Source: "fn f() { a[1]; &b[..2]; 1..=3; }",
			Want: []string{
				`Function "function"(f, body: Block(Index(a, 1);, Unary "&"(Index(b, Binary ".."(` +
					`Null [implied], 2)));, Binary "..="(1, 3);))`,
			},
		},
		{
			Name:   "references and unary operators",
			Source: "fn f() { &mut a; *b; !c; -d; }",
			Want: []string{
				`Function "function"(f, body: Block(Unary "&"(a);, Unary "*"(b);, Unary "!"(c);, Unary "-"(d);))`,
			},
		},
		{
			Name:   "casts and operators",
			Source: "fn f() { a as u8; b += 1; c && d || e == g; }",
			Want: []string{
				`Function "function"(f, body: Block(Cast "as"(type: <u8>, a);, Assign "+="(b, 1);, ` +
					`Binary "||"(Binary "&&"(c, d), Binary "=="(e, g));))`,
			},
		},
		{
			Name:   "tuple and unit",
			Source: "fn f() { (1, a); (); b.0 }",
			Want:   []string{`Function "function"(f, body: Block(Tuple(1, a);, Tuple;, Member "."(b, 0);))`},
		},
		{
			Name:   "unsafe and async blocks",
			Source: "fn f() { unsafe { a() } async { b } }",
			Want: []string{
				`Function "function"(f, body: Block(With "unsafe"(body: Block(Call(a);)), With "async"(` +
					"body: Block(b;));))",
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
			Source: `const A: &[&str] = &["a\n\u{e9}\x41", r#"b"c\d"#];`,
			Want: []string{
				`Variable "const"(type: Type "*"(Type "[]"(Type "*"(<str>))), A, Unary "&"(List("a\néA", ` +
					`String "b\"c\\d" [raw])))`,
			},
		},
		{
			Name:   "bytes and characters",
			Source: `const A: (&[u8], u8, char) = (b"a", b'b', '\n');`,
			Want: []string{
				`Variable "const"(type: Type "()"(Type "*"(Type "[]"(<u8>)), <u8>, <char>), A, Tuple(` +
					`String "a" [raw], 'b', '\n'))`,
			},
		},
		{
			Name:   "numbers and constants",
			Source: "const A: (u64, u8, f32, bool) = (1_000u64, 0xFF, 1.5, true);",
			Want: []string{
				`Variable "const"(type: Type "()"(<u64>, <u8>, <f32>, <bool>), A, Tuple(1000, 0xFF, 1.5, true))`,
			},
		},
		{
			Name:   "arrays",
			Source: "const A: [u8; 2] = [1, 2]; const B: [u8; 3] = [0; 3];",
			Want: []string{
				`Variable "const"(type: Type "[]"(<u8>, 2), A, List(1, 2))`,
				`Variable "const"(type: Type "[]"(<u8>, 3), B, Other "array_expression"(0, 3))`,
			},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "if as a value and if let",
			Source: "fn f() { let x = if a { 1 } else { 2 }; if let Some(y) = b && c { d(" +
				") } else if e { g() } }",
			Want: []string{
				`Function "function"(f, body: Block(Variable "let"(x, Conditional(condition: a, then: 1, ` +
					`else: 2)), If(condition: Binary "&&"(Assign "let"(Call(Some, y), b), c), then: Block(` +
					"Call(d);), else: If(condition: e, then: Block(Call(g);)))))",
			},
		},
		{
			Name: "loops",
			Source: "fn f() { while a { b() } loop { break 1 } for (i, x) in c { d() } while let Some(" +
				"y) = e {} }",
			Want: []string{
				`Function "function"(f, body: Block(While(condition: a, body: Block(Call(b);)), While(` +
					`condition: Bool "true" [implied], body: Block(Break(1))), ForEach "of"(Tuple(i, x), ` +
					`iterable: c, body: Block(Call(d);)), While(condition: Assign "let"(Call(Some, y), e), ` +
					"body: Block)))",
			},
		},
		{
			Name:   "labels",
			Source: "fn f() { 'a: loop { continue 'a; break 'a; } }",
			Want: []string{
				`Function "function"(f, body: Block(Label(a, body: While(` +
					`condition: Bool "true" [implied], body: Block(Continue(label: a), Break(label: a))))))`,
			},
		},
		{
			Name: "match",
			Source: "fn f() { match a { 1 => b(), x if x > 3 => c, Some(y) => {} A { z, .. } => d, " +
				"4..=5 => e, ref g @ 6 => h, _ => i } }",
			Want: []string{
				`Function "function"(f, body: Block(Switch(a, Case(condition: 1, body: Block(Call(b);)), ` +
					`Case(condition: x, guard: Binary ">"(x, 3), body: Block(c;)), Case(condition: Call(Some, ` +
					`y), body: Block), Case(condition: New "{}"(type: A, Keyword(z, Name "z" [implied]), ` +
					`Other "remaining_field_pattern"(Token "..")), body: Block(d;)), Case(` +
					`condition: Binary "..="(4, 5), body: Block(e;)), Case(condition: Assign "@"(g, 6), ` +
					`body: Block(h;)), Case "default"(condition: _, body: Block(i;)))))`,
			},
		},
		{
			Name:   "return",
			Source: "fn f() -> u8 { return 1; }",
			Want:   []string{`Function "function"(f, returntype: <u8>, body: Block(Return(1)))`},
		},
		{
			Name:   "last expression",
			Source: "fn f() -> u8 { a(); b }",
			Want:   []string{`Function "function"(f, returntype: <u8>, body: Block(Call(a);, b;))`},
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
			Name:   "path call",
			Source: "A::new(...)",
			Want:   []string{`Call(Member "::"(A, new), ...)`},
		},
		{
			Name:   "macro",
			Source: `println!("...", $X)`,
			Want:   []string{`Call(println!, "...", $X)`},
		},
		{
			Name:   "function",
			Source: "fn $F(...) -> $T { ... }",
			Want:   []string{`Function "function"($F, ..., returntype: $T, body: Block(...))`},
		},
		{
			Name: "statements with anything between",
			Source: "let $X = f();\n" +
				"...\n" +
				"g($X);",
			Want: []string{`Block(Variable "let"($X, Call(f)), ..., Call(g, $X);)`},
		},
		{
			Name:   "typed metavariable",
			Source: "($X: String).f()",
			Want:   []string{`Call(Member "."(Typed(type: <String>, $X), f))`},
		},
		{
			Name:   "unsafe block",
			Source: "unsafe { ... }",
			Want:   []string{`With "unsafe"(body: Block(...))`},
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
			Name:   "struct literal",
			Source: "A { ..., a: true, ... }",
			Want:   []string{`New "{}"(type: A, ..., Keyword(a, true), ...)`},
		},
		{
			Name:   "match",
			Source: "match $X { ... }",
			Want:   []string{"Switch($X, ...)"},
		},
		{
			Name:   "implementation",
			Source: "impl $T for A { ... }",
			Want:   []string{`Class "impl"(<A>, interface: $T, body: Block(...))`},
		},
		{
			Name: "attribute",
			Source: "#[a(...)]\n" +
				"fn $F(...) { ... }",
			Want: []string{`Function "function"(Annotation(Call(a, ...)), $F, ..., body: Block(...))`},
		},
		{
			Name:   "use",
			Source: "use a::$X;",
			Want:   []string{`Import "a"(path: a, $X)`},
		},
	})
}

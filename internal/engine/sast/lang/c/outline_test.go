package c

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
			Source: "static int f(const char *a, int b[], ...) { return 1; }",
			Want: []string{
				`Function "function"(static, f, Parameter(const, type: Type "*"(<char>), a), Parameter(` +
					`type: Type "[]"(<int>), b), Parameter "*", returntype: <int>, body: Block(Return(1)))`,
			},
		},
		{
			Name:   "prototype",
			Source: "extern void g(void);",
			Want:   []string{`Function "function"(extern, g, returntype: <void>)`},
		},
		{
			Name:   "variables",
			Source: "int a = 1, *b, c[2] = {1, 2};",
			Want: []string{
				"Variable(type: <int>, a, 1)",
				`Variable(type: Type "*"(<int>), b)`,
				`Variable(type: Type "[]"(<int>, 2), c, List(1, 2))`,
			},
		},
		{
			Name:   "struct and members",
			Source: "struct S { int a; struct { char b; } c; unsigned d : 3; };",
			Want: []string{
				`Class "struct"(S, body: Block(Field(type: <int>, a), Class "struct"(body: Block(Field(` +
					"type: <char>, b))), Field(type: <>, c), Field(type: <unsigned>, d)))",
			},
		},
		{
			Name:   "enum and union",
			Source: "enum E { A = 1, B }; union U { int a; float b; };",
			Want: []string{
				`Class "enum"(E, body: Block(Field "enum"(A, 1), Field "enum"(B)))`,
				`Class "struct"(U, body: Block(Field(type: <int>, a), Field(type: <float>, b)))`,
			},
		},
		{
			Name:   "type definition",
			Source: "typedef struct { int a; } *T;",
			Want: []string{
				`Class "struct"(body: Block(Field(type: <int>, a)))`,
				`TypeAlias(T, type: Type "*"(<>))`,
			},
		},
		{
			Name:   "function pointer",
			Source: "int (*f)(char, void *);",
			Want:   []string{`Variable(type: Type "*"(Type "func"(<int>)), f)`},
		},
		{
			Name:   "initializer",
			Source: "struct S s = { .a = 1, .b = { 2 }, [3] = 4 };",
			Want:   []string{`Variable(type: <S>, s, List(Pair("a", 1), Pair("b", List(2)), Pair(3, 4)))`},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "headers",
			Source: "#include <stdio.h>\n" +
				`#include "a.h"`,
			Want: []string{
				`Import "stdio.h"(path: "stdio.h")`,
				`Import "a.h"(path: "a.h")`,
			},
		},
		{
			Name: "conditional code keeps every branch",
			Source: "#ifdef A\n" +
				"int a;\n" +
				"#else\n" +
				"int b;\n" +
				"#endif",
			Want: []string{
				"Variable(type: <int>, a)",
				"Variable(type: <int>, b)",
			},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "function",
			Source: `void f() { g(1, "a"); (*h)(2); s->m(3); }`,
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(Call(g, 1, "a");, Call(Unary "*"(` +
					`h), 2);, Call(Member "->"(s, m), 3);))`,
			},
		},
		{
			Name:   "members",
			Source: "void f() { a.b = c->d; }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(Assign "="(Member "."(a, b), ` +
					`Member "->"(c, d));))`,
			},
		},
		{
			Name:   "pointers and addresses",
			Source: "void f() { *a = &b; }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(Assign "="(Unary "*"(a), Unary "&"(b));))`,
			},
		},
		{
			Name:   "index",
			Source: "void f() { a[1] = b[c][2]; }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(Assign "="(Index(a, 1), Index(` +
					"Index(b, c), 2));))",
			},
		},
		{
			Name:   "casts and sizeof",
			Source: "void f() { (char *)a; sizeof(int); sizeof b; }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(Cast(type: Type "*"(<char>), a);, ` +
					"Call(sizeof, <int>);, Call(sizeof, b);))",
			},
		},
		{
			Name:   "operators",
			Source: "void f() { a += b << 2; c++; --d; !e && f || g; h ? i : j; k, l; }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(Assign "+="(a, Binary "<<"(b, ` +
					`2));, Update "++" [postfix](c);, Update "--"(d);, Binary "||"(Binary "&&"(Unary "!"(e), ` +
					"f), g);, Conditional(condition: h, then: i, else: j);, Sequence(k, l);))",
			},
		},
		{
			Name:   "compound literal",
			Source: "void f() { g((struct S){ 1, .b = 2 }); }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(Call(g, New "{}"(type: <S>, 1, ` +
					`Pair("b", 2)));))`,
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
			Source: `char *a = "x\n\x41" "y"; char b = '\0'; wchar_t *c = L"z";`,
			Want: []string{
				`Variable(type: Type "*"(<char>), a, "x\nAy")`,
				`Variable(type: <char>, b, '\x00')`,
				`Variable(type: Type "*"(<wchar_t>), c, "z")`,
			},
		},
		{
			Name:   "numbers",
			Source: "double a[] = { 1UL, 0x1F, 1.5f, 1e3 };",
			Want:   []string{`Variable(type: Type "[]"(<double>), a, List(1, 0x1F, 1.5, 1e3))`},
		},
		{
			Name:   "string with a macro",
			Source: `char *a = "x" PRIu64 "y";`,
			Want:   []string{`Variable(type: Type "*"(<char>), a, Template("x", PRIu64, "y"))`},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "if and else",
			Source: "void f() { if (a) b(); else if (c) { d(); } else e(); }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(If(condition: a, then: Call(b);, ` +
					"else: If(condition: c, then: Block(Call(d);), else: Call(e);))))",
			},
		},
		{
			Name: "loops",
			Source: "void f() { while (a) b(); do c(); while (d); for (int i = 0; i < 3; i++) e(" +
				"); for (;;) {} }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(While(condition: a, body: Call(` +
					"b);), DoWhile(body: Call(c);, condition: d), For(init: Variable(type: <int>, i, 0), " +
					`condition: Binary "<"(i, 3), update: Update "++" [postfix](i), body: Call(e);), For(` +
					"body: Block)))",
			},
		},
		{
			Name:   "switch that falls through",
			Source: "void f() { switch (a) { case 1: b(); case 2: c(); break; default: d(); } }",
			Want: []string{
				`Function "function"(f, returntype: <void>, body: Block(Switch "fallthrough"(a, Case(` +
					"condition: 1, body: Block(Call(b);)), Case(condition: 2, body: Block(Call(c);, Break)), " +
					`Case "default"(body: Block(Call(d);)))))`,
			},
		},
		{
			Name:   "jumps",
			Source: "int f() { goto end; end: return 1; }",
			Want: []string{
				`Function "function"(f, returntype: <int>, body: Block(Goto(label: end), Label(end, ` +
					"body: Return(1))))",
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
			Source: "strcpy($D, $S)",
			Want:   []string{"Call(strcpy, $D, $S)"},
		},
		{
			Name:   "arguments around one",
			Source: "printf(..., $X, ...)",
			Want:   []string{"Call(printf, ..., $X, ...)"},
		},
		{
			Name:   "typed metavariable",
			Source: "f((char *$X))",
			Want:   []string{`Call(f, Typed(type: Type "*"(<char>), $X))`},
		},
		{
			Name:   "function",
			Source: "$T $F(...) { ... }",
			Want:   []string{`Function "function"($F, ..., returntype: $T, body: Block(...))`},
		},
		{
			Name: "statements with anything between",
			Source: "free($X);\n" +
				"...\n" +
				"f($X);",
			Want: []string{"Block(Call(free, $X);, ..., Call(f, $X);)"},
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
			Name:   "if",
			Source: "if ($X) { ... }",
			Want:   []string{"If(condition: $X, then: Block(...))"},
		},
		{
			Name:   "assignment",
			Source: "$X = malloc(...);",
			Want:   []string{`Assign "="($X, Call(malloc, ...));`},
		},
		{
			Name:   "index",
			Source: "$X[$I]",
			Want:   []string{"Index($X, $I)"},
		},
	})
}

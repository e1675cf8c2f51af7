package golang

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestDeclarations pins the trees of declarations: what is declared, under which name, and its
// parts.
func TestDeclarations(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "function with results",
			Source: "package p\n" +
				"func f(a, b int, c ...string) (int, error) { return 1, nil }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, Parameter(type: <int>, a), Parameter(type: <int>, b), ` +
					`Parameter "*"(type: <string>, c), returntype: Type "()"(<int>, <error>), body: Block(` +
					`Return(Tuple(1, Null "nil"))))`,
			},
		},
		{
			Name: "named results",
			Source: "package p\n" +
				"func f() (n int, err error) { return }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, returntype: Type "()"(Parameter(type: <int>, n), Parameter(` +
					"type: <error>, err)), body: Block(Return))",
			},
		},
		{
			Name: "method",
			Source: "package p\n" +
				"func (s *Server) f() {}",
			Want: []string{
				`Package "p"(p)`,
				`Function "method"(receiver: Parameter(type: Type "*"(<Server>), s), f, body: Block)`,
			},
		},
		{
			Name: "generic function",
			Source: "package p\n" +
				"func f[T any, K comparable](a T) T { return a }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(TypeParameter(T, base: <any>), TypeParameter(K, base: <comparable>), ` +
					"f, Parameter(type: <T>, a), returntype: <T>, body: Block(Return(a)))",
			},
		},
		{
			Name: "struct",
			Source: "package p\n" +
				"type T struct { A, B int `json:\"a\"`; *C; m.D }",
			Want: []string{
				`Package "p"(p)`,
				`Class "struct"(T, base: <C>, base: <m.D>, body: Block(Field(Annotation("json:\"a\""), ` +
					`type: <int>, A), Field(Annotation("json:\"a\""), type: <int>, B), Field(type: Type "*"(` +
					`<C>), Name "C" [implied]), Field(type: <m.D>, Name "D" [implied])))`,
			},
		},
		{
			Name: "interface",
			Source: "package p\n" +
				"type I interface { F(int) error; io.Reader }",
			Want: []string{
				`Package "p"(p)`,
				`Class "interface"(I, interface: <io.Reader>, body: Block(Function "method"(F, Parameter(` +
					"type: <int>), returntype: <error>)))",
			},
		},
		{
			Name: "constraint",
			Source: "package p\n" +
				"type N interface { ~int | string }",
			Want: []string{
				`Package "p"(p)`,
				`Class "interface"(N, interface: Type "|"(Type "~"(<int>), <string>), body: Block)`,
			},
		},
		{
			Name: "type definition and alias",
			Source: "package p\n" +
				"type A []string\n" +
				"type B = C",
			Want: []string{
				`Package "p"(p)`,
				`TypeAlias(A, type: Type "[]"(<string>))`,
				`TypeAlias "="(B, type: <C>)`,
			},
		},
		{
			Name: "variables",
			Source: "package p\n" +
				"var a, b = 1, 2\n" +
				"var c T",
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(a, 1)`,
				`Variable "var"(b, 2)`,
				`Variable "var"(type: <T>, c)`,
			},
		},
		{
			Name: "constants",
			Source: "package p\n" +
				"const (\n" +
				" A = iota\n" +
				" B\n" +
				")",
			Want: []string{
				`Package "p"(p)`,
				`Variable "const"(A, iota)`,
				`Variable "const"(B)`,
			},
		},
		{
			Name: "variables of one call",
			Source: "package p\n" +
				"func f() { a, err := g() }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Variable ":="(Tuple(a, err), Call(g))))`,
			},
		},
		{
			Name: "function literal",
			Source: "package p\n" +
				"var f = func(a int) bool { return true }",
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(f, Lambda(Parameter(type: <int>, a), returntype: <bool>, body: Block(` +
					"Return(true))))",
			},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "one package",
			Source: "package p\n" +
				`import "net/http"`,
			Want: []string{
				`Package "p"(p)`,
				`Import "net/http"(path: "net/http")`,
			},
		},
		{
			Name: "names",
			Source: "package p\n" +
				"import (\n" +
				` h "net/http"` + "\n" +
				` . "fmt"` + "\n" +
				` _ "embed"` + "\n" +
				")",
			Want: []string{
				`Package "p"(p)`,
				`Import "net/http"(path: "net/http", alias: h)`,
				`Import "fmt"(path: "fmt", *)`,
				`Import "embed"(path: "embed", alias: _)`,
			},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "function and method",
			Source: "package p\n" +
				"func f() { a(1); b.c.d(e...) }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Call(a, 1);, Call(Member "."(Member "."(b, c), d), ` +
					`Spread "..."(e));))`,
			},
		},
		{
			Name: "builtin that makes a value",
			Source: "package p\n" +
				"func f() { a := make(map[string]int, 3); b := new(T) }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Variable ":="(a, Call(make, Type "map"(<string>, ` +
					`<int>), 3)), Variable ":="(b, Call(new, <T>))))`,
			},
		},
		{
			Name: "conversion",
			Source: "package p\n" +
				"func f() { a := []byte(s); b := (*T)(p) }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Variable ":="(a, Cast(type: Type "[]"(<byte>), s)), ` +
					`Variable ":="(b, Cast(type: Type "*"(<T>), p))))`,
			},
		},
		{
			Name: "generic call",
			Source: "package p\n" +
				"func f() { g[int](1) }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Call(g, 1);))`,
			},
		},
		{
			Name: "index and slice",
			Source: "package p\n" +
				"func f() { _ = a[1]; _ = b[1:2]; _ = c[:2:3] }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Assign "="(_, Index(a, 1));, Assign "="(_, Index(b, ` +
					`Slice(low: 1, high: 2)));, Assign "="(_, Index(c, Slice(high: 2, step: 3)));))`,
			},
		},
		{
			Name: "type assertion",
			Source: "package p\n" +
				"func f() { v, ok := a.(T) }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Variable ":="(Tuple(v, ok), Cast "."(type: <T>, a))))`,
			},
		},
		{
			Name: "pointers",
			Source: "package p\n" +
				"func f() { *a = &b }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Assign "="(Unary "*"(a), Unary "&"(b));))`,
			},
		},
		{
			Name: "channel",
			Source: "package p\n" +
				"func f() { c <- 1; x := <-c }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Binary "<-"(c, 1);, Variable ":="(x, Unary "<-"(c))))`,
			},
		},
		{
			Name: "operators",
			Source: "package p\n" +
				"func f() { a += b &^ c; d++; _ = !e && f || g }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Assign "+="(a, Binary "&^"(b, c));, ` +
					`Update "++" [postfix](d);, Assign "="(_, Binary "||"(Binary "&&"(Unary "!"(e), f), g));))`,
			},
		},
		{
			Name: "defer and go",
			Source: "package p\n" +
				"func f() { defer a.Close(); go b() }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Defer(Call(Member "."(a, Close))), Spawn(Call(b))))`,
			},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "strings",
			Source: "package p\n" +
				"var a, b = \"a\\n\\u00e9\", `c\\d`",
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(a, "a\né")`,
				`Variable "var"(b, "c\\d")`,
			},
		},
		{
			Name: "numbers",
			Source: "package p\n" +
				"var a = []any{1_000, 0x1F, 1.5e3, 2i, 'a', '\\n'}",
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(a, New "{}"(type: Type "[]"(<any>), 1000, 0x1F, 1.5e3, 2i, 'a', '\n'))`,
			},
		},
		{
			Name: "struct literal",
			Source: "package p\n" +
				"var a = T{A: 1, B: m.U{2, 3}}",
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(a, New "{}"(type: <T>, Keyword(A, 1), Keyword(B, New "{}"(type: <m.U>, 2, 3))))`,
			},
		},
		{
			Name: "pointer to a literal",
			Source: "package p\n" +
				"var a = &T{}",
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(a, Unary "&"(New "{}"(type: <T>)))`,
			},
		},
		{
			Name: "list and map literals",
			Source: "package p\n" +
				`var a, b = []T{{1}, {A: 2}}, map[string]T{"k": {3}}`,
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(a, New "{}"(type: Type "[]"(<T>), New "{}"(type: Type "T" [implied], 1), ` +
					`New "{}"(type: Type "T" [implied], Keyword(A, 2))))`,
				`Variable "var"(b, New "{}"(type: Type "map"(<string>, <T>), Pair("k", New "{}"(` +
					`type: Type "T" [implied], 3))))`,
			},
		},
		{
			Name: "array of a counted length",
			Source: "package p\n" +
				"var a = [...]int{1, 5: 2}",
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(a, New "{}"(type: Type "[]"(<int>), 1, Pair(5, 2)))`,
			},
		},
		{
			Name: "constants",
			Source: "package p\n" +
				"var a = []any{true, nil}",
			Want: []string{
				`Package "p"(p)`,
				`Variable "var"(a, New "{}"(type: Type "[]"(<any>), true, Null "nil"))`,
			},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "if with a statement",
			Source: "package p\n" +
				"func f() { if err := g(); err != nil { return } else if a { b() } else { c() } }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(If(init: Variable ":="(err, Call(g)), ` +
					`condition: Binary "!="(err, Null "nil"), then: Block(Return), else: If(condition: a, ` +
					"then: Block(Call(b);), else: Block(Call(c);)))))",
			},
		},
		{
			Name: "counting loop",
			Source: "package p\n" +
				"func f() { for i := 0; i < 3; i++ { continue } }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(For(init: Variable ":="(i, 0), condition: Binary "<"(` +
					`i, 3), update: Update "++" [postfix](i), body: Block(Continue))))`,
			},
		},
		{
			Name: "conditional and endless loop",
			Source: "package p\n" +
				"func f() { for a { }; for { break } }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(While(condition: a, body: Block), For(body: Block(Break))))`,
			},
		},
		{
			Name: "range",
			Source: "package p\n" +
				"func f() { for k, v := range m { }; for range c { }; for i := range 10 { } }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(ForEach "range"(Tuple(k, v), iterable: m, ` +
					`body: Block), ForEach "range"(iterable: c, body: Block), ForEach "range"(Tuple(i), ` +
					"iterable: 10, body: Block)))",
			},
		},
		{
			Name: "switch",
			Source: "package p\n" +
				"func f() { switch x := a; x { case 1, 2: b(); fallthrough; default: c() } }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Switch "fallthrough"(init: Variable ":="(x, a), x, ` +
					"Case(condition: 1, condition: 2, body: Block [implied](Call(b);, " +
					`Other "fallthrough_statement"(Token "fallthrough"))), Case "default"(` +
					"body: Block [implied](Call(c);, Break [implied])))))",
			},
		},
		{
			Name: "switch without a value",
			Source: "package p\n" +
				"func f() { switch { case a > 1: b() } }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Switch(Case(condition: Binary ">"(a, 1), ` +
					"body: Block [implied](Call(b);)))))",
			},
		},
		{
			Name: "switch over types",
			Source: "package p\n" +
				"func f() { switch v := a.(type) { case int, *T: b(v); case nil: } }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Switch(init: Variable ":="(v, a), Name "v" [implied], ` +
					`Case(condition: <int>, condition: Type "*"(<T>), body: Block [implied](Call(b, v);)), ` +
					`Case(condition: Null "nil", body: Block [implied]))))`,
			},
		},
		{
			Name: "select",
			Source: "package p\n" +
				"func f() { select { case v, ok := <-c: d(v); case e <- 1: default: } }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Switch "select"(Case(condition: Unary "<-"(c), ` +
					`body: Block [implied](Variable ":="(Tuple(v, ok), Unary "<-"(c)), Call(d, v);)), Case(` +
					`condition: Binary "<-"(e, 1), body: Block [implied]), Case "default"(body: Block [implied]))))`,
			},
		},
		{
			Name: "labels and goto",
			Source: "package p\n" +
				"func f() { out: for { break out }; goto end; end: }",
			Want: []string{
				`Package "p"(p)`,
				`Function "function"(f, body: Block(Label(out, body: For(body: Block(Break(` +
					"label: out)))), Goto(label: end), Label(end, body: Empty)))",
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
			Source: "$X.Query($Q, ...)",
			Want:   []string{`Call(Member "."($X, Query), $Q, ...)`},
		},
		{
			Name:   "arguments around one",
			Source: "f(..., $X, ...)",
			Want:   []string{"Call(f, ..., $X, ...)"},
		},
		{
			Name:   "declaration by a call",
			Source: "$X, $ERR := f(...)",
			Want:   []string{`Variable ":="(Tuple($X, $ERR), Call(f, ...))`},
		},
		{
			Name:   "struct literal with any fields",
			Source: "tls.Config{..., InsecureSkipVerify: true, ...}",
			Want:   []string{`New "{}"(type: <tls.Config>, ..., Keyword(InsecureSkipVerify, true), ...)`},
		},
		{
			Name:   "pointer to a struct literal",
			Source: "&http.Cookie{...}",
			Want:   []string{`Unary "&"(New "{}"(type: <http.Cookie>, ...))`},
		},
		{
			Name:   "function",
			Source: "func $F(...) { ... }",
			Want:   []string{`Function "function"($F, ..., body: Block(...))`},
		},
		{
			Name:   "method",
			Source: "func ($R $T) $F(...) error { ... }",
			Want: []string{
				`Function "method"(receiver: Parameter(type: $T, $R), $F, ..., returntype: <error>, ` +
					"body: Block(...))",
			},
		},
		{
			Name: "statements with anything between",
			Source: "$X := f()\n" +
				"...\n" +
				"g($X)",
			Want: []string{`Block(Variable ":="($X, Call(f)), ..., Call(g, $X);)`},
		},
		{
			Name:   "deep expression",
			Source: "f(<... $X ...>)",
			Want:   []string{"Call(f, Deep($X))"},
		},
		{
			Name:   "typed metavariable",
			Source: "($X : *http.Request).FormValue(...)",
			Want:   []string{`Call(Member "."(Typed(type: Type "*"(<http.Request>), $X), FormValue), ...)`},
		},
		{
			Name:   "string that holds anything",
			Source: `f("...")`,
			Want:   []string{`Call(f, "...")`},
		},
		{
			Name:   "if",
			Source: "if $X == nil { ... }",
			Want:   []string{`If(condition: Binary "=="($X, Null "nil"), then: Block(...))`},
		},
		{
			Name:   "import",
			Source: `import "crypto/md5"`,
			Want:   []string{`Import "crypto/md5"(path: "crypto/md5")`},
		},
		{
			Name:   "spread of the language",
			Source: "f($X...)",
			Want:   []string{`Call(f, Spread "..."($X))`},
		},
		{
			Name:   "binary",
			Source: `"..." + $X`,
			Want:   []string{`Binary "+"("...", $X)`},
		},
	})
}

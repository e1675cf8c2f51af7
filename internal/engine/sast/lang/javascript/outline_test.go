package javascript

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
			Source: "function f(a, b = 1, ...c) { return a }",
			Want: []string{
				`Function "function"(f, Parameter(a), Parameter(b, 1), Parameter "*"(c), body: Block(Return(a)))`,
			},
		},
		{
			Name:   "async generator",
			Source: "async function* f() { yield a }",
			Want:   []string{`Function "function"(async, *, f, body: Block(Yield(a);))`},
		},
		{
			Name:   "arrow with an expression",
			Source: "const f = a => a + 1",
			Want:   []string{`Variable "const"(f, Lambda(Parameter(a), body: Binary "+"(a, 1)))`},
		},
		{
			Name:   "arrow with a body",
			Source: "const f = async (a, b) => { return b }",
			Want: []string{
				`Variable "const"(f, Lambda(async, Parameter(a), Parameter(b), body: Block(Return(b))))`,
			},
		},
		{
			Name:   "var, let and const",
			Source: "var a = 1, b; let c; const d = 2",
			Want: []string{
				`Variable "var"(a, 1)`,
				`Variable "var"(b)`,
				`Variable "let"(c)`,
				`Variable "const"(d, 2)`,
			},
		},
		{
			Name:   "destructuring of an object",
			Source: "const {a, b: c, d = 1, ...e} = f",
			Want: []string{
				`Variable "const"(Map(Pair(String "a" [implied], Name "a" [implied]), Pair(` +
					`String "b" [implied], c), Pair(String "d" [implied], Assign "="(Name "d" [implied], 1)), ` +
					`Spread "..."(e)), f)`,
			},
		},
		{
			Name:   "destructuring of a list",
			Source: "let [a, , b = 2, ...c] = d",
			Want:   []string{`Variable "let"(List(a, Empty, Assign "="(b, 2), Spread "..."(c)), d)`},
		},
		{
			Name:   "class",
			Source: "class A extends B { constructor(a) { super(a) } }",
			Want: []string{
				`Class "class"(A, base: B, body: Block(Function "constructor"(constructor, Parameter(a), ` +
					"body: Block(Call(super, a);))))",
			},
		},
		{
			Name: "members of a class",
			Source: "class A { static x = 1; #y; get z() { return 1 } set z(v) {} static { init(" +
				") } async *m() {} }",
			Want: []string{
				`Class "class"(A, body: Block(Field(static, x, 1), Field(#y), Function "getter"(z, ` +
					`body: Block(Return(1))), Function "setter"(z, Parameter(v), body: Block), Block(Call(` +
					`init);), Function "method"(async, *, m, body: Block)))`,
			},
		},
		{
			Name:   "computed method",
			Source: "class A { [k]() {} }",
			Want:   []string{`Class "class"(A, body: Block(Function "method"(Sequence(k), body: Block)))`},
		},
		{
			Name:   "class expression",
			Source: "x = class B {}",
			Want:   []string{`Assign "="(x, Class "class"(B, body: Block));`},
		},
		{
			Name:   "function expression",
			Source: "x = function g() {}",
			Want:   []string{`Assign "="(x, Lambda [ownthis](g, body: Block));`},
		},
		{
			Name:   "parameter with a pattern",
			Source: "function f({a, b}, [c]) {}",
			Want: []string{
				`Function "function"(f, Parameter(Map(Pair(String "a" [implied], Name "a" [implied]), ` +
					`Pair(String "b" [implied], Name "b" [implied]))), Parameter(List(c)), body: Block)`,
			},
		},
		{
			Name:   "generator",
			Source: "function* f() { yield* g() }",
			Want:   []string{`Function "function"(*, f, body: Block(Yield "*"(Call(g));))`},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "default",
			Source: `import a from "m"`,
			Want:   []string{`Import "m"(path: "m", Name "default" [implied], alias: a)`},
		},
		{
			Name:   "names",
			Source: `import {a, b as c} from "./m"`,
			Want: []string{
				`Import "./m"(path: "./m", a)`,
				`Import "./m"(path: "./m", b, alias: c)`,
			},
		},
		{
			Name:   "namespace",
			Source: `import * as a from "m"`,
			Want:   []string{`Import "m"(path: "m", Name "*" [implied], alias: a)`},
		},
		{
			Name:   "default and names",
			Source: `import a, {b} from "m"`,
			Want: []string{
				`Import "m"(path: "m", Name "default" [implied], alias: a)`,
				`Import "m"(path: "m", b)`,
			},
		},
		{
			Name:   "for its effect",
			Source: `import "m"`,
			Want:   []string{`Import "m"(path: "m")`},
		},
		{
			Name:   "require",
			Source: `const a = require("m")`,
			Want:   []string{`Variable "const"(a, Call(require, "m"))`},
		},
		{
			Name:   "dynamic",
			Source: `const a = await import("m")`,
			Want:   []string{`Variable "const"(a, Await(Call(import, "m")))`},
		},
		{
			Name:   "export of a declaration",
			Source: "export const a = 1",
			Want:   []string{`Variable "const"(export, a, 1)`},
		},
		{
			Name:   "default export",
			Source: "export default function f() {}",
			Want:   []string{`Function "function"(export, default, f, body: Block)`},
		},
		{
			Name:   "default export of an expression",
			Source: "export default a.b",
			Want:   []string{`Export(default, Member "."(a, b))`},
		},
		{
			Name:   "export of names",
			Source: "export {a, b as c}",
			Want: []string{
				"Export(a, a)",
				"Export(c, b)",
			},
		},
		{
			Name:   "export from a module",
			Source: `export {a} from "m"`,
			Want:   []string{`Export "m"(path: "m", a, a)`},
		},
		{
			Name:   "export of everything",
			Source: `export * from "m"`,
			Want:   []string{`Export "m"(path: "m", *)`},
		},
		{
			Name:   "export of a namespace",
			Source: `export * as n from "m"`,
			Want:   []string{`Export "m"(path: "m", n, *)`},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "method",
			Source: "a.b.c(1)",
			Want:   []string{`Call(Member "."(Member "."(a, b), c), 1);`},
		},
		{
			Name:   "optional chain",
			Source: "a?.b?.[c]?.(d)",
			Want:   []string{`Call [optional](Index [optional](Member "." [optional](a, b), c), d);`},
		},
		{
			Name:   "spread",
			Source: "f(...a, 1)",
			Want:   []string{`Call(f, Spread "..."(a), 1);`},
		},
		{
			Name:   "new",
			Source: "new A(1)",
			Want:   []string{`New "new"(type: A, 1);`},
		},
		{
			Name:   "new without arguments",
			Source: "new A",
			Want:   []string{`New "new"(type: A);`},
		},
		{
			Name:   "tagged template",
			Source: "sql`a ${b}`",
			Want:   []string{`Call "tag"(sql, Template("a ", b));`},
		},
		{
			Name:   "call of a function expression",
			Source: "(function () {})()",
			Want:   []string{"Call(Lambda [ownthis](body: Block));"},
		},
		{
			Name:   "index",
			Source: `a["b"]`,
			Want:   []string{`Index(a, "b");`},
		},
		{
			Name:   "conditional",
			Source: "a ? b : c",
			Want:   []string{"Conditional(condition: a, then: b, else: c);"},
		},
		{
			Name:   "nullish and logical",
			Source: "a ?? b || c && d",
			Want:   []string{`Binary "??"(a, Binary "||"(b, Binary "&&"(c, d)));`},
		},
		{
			Name:   "assignment operators",
			Source: "a += 1, b ??= 2",
			Want:   []string{`Sequence(Assign "+="(a, 1), Assign "??="(b, 2));`},
		},
		{
			Name:   "update",
			Source: "a++; --b",
			Want: []string{
				`Update "++" [postfix](a);`,
				`Update "--"(b);`,
			},
		},
		{
			Name:   "unary",
			Source: "typeof a; void 0; delete a.b; !a",
			Want: []string{
				`Unary "typeof"(a);`,
				`Unary "void"(0);`,
				`Unary "delete"(Member "."(a, b));`,
				`Unary "!"(a);`,
			},
		},
		{
			Name:   "instanceof and in",
			Source: `a instanceof B; "x" in c`,
			Want: []string{
				`TypeTest "instanceof"(a, type: B);`,
				`Binary "in"("x", c);`,
			},
		},
		{
			Name:   "comma",
			Source: "a, b",
			Want:   []string{"Sequence(a, b);"},
		},
		{
			Name:   "await",
			Source: "async () => { await a }",
			Want:   []string{"Lambda(async, body: Block(Await(a);));"},
		},
		{
			Name:   "import.meta and new.target",
			Source: "import.meta.url; function f() { new.target }",
			Want: []string{
				`Member "."(Member "."(import, meta), url);`,
				`Function "function"(f, body: Block(Member "."(new, target);))`,
			},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "strings with escapes",
			Source: `x = ["a\n\u{1F600}\x41", 'b\'']`,
			Want:   []string{`Assign "="(x, List("a\n😀A", "b'"));`},
		},
		{
			Name:   "template without parts",
			Source: "x = `a\\n`",
			Want:   []string{`Assign "="(x, "a\n");`},
		},
		{
			Name:   "template with parts",
			Source: "x = `a${b}c${d.e}`",
			Want:   []string{`Assign "="(x, Template("a", b, "c", Member "."(d, e)));`},
		},
		{
			Name:   "numbers",
			Source: "x = [1_000, 0xFF, 1.5, 10n]",
			Want:   []string{`Assign "="(x, List(1000, 0xFF, 1.5, 10));`},
		},
		{
			Name:   "constants",
			Source: "x = [true, null, undefined, this]",
			Want:   []string{`Assign "="(x, List(true, Null "null", Null "undefined", this));`},
		},
		{
			Name:   "object",
			Source: `x = {a: 1, "b": 2, [c]: 3, d, ...e, f() {}, get g() { return 1 }}`,
			Want: []string{
				`Assign "="(x, Map(Pair(String "a" [implied], 1), Pair(String "b" [implied], 2), Pair(c, ` +
					`3), Pair(String "d" [implied], Name "d" [implied]), Spread "..."(e), Function "method"(` +
					`f, body: Block), Function "getter"(g, body: Block(Return(1)))));`,
			},
		},
		{
			Name:   "list with a hole",
			Source: "x = [1, , 2]",
			Want:   []string{`Assign "="(x, List(1, Empty, 2));`},
		},
		{
			Name:   "regular expression",
			Source: "x = /a[/]b/gi",
			Want:   []string{`Assign "="(x, Regex "/a[/]b/gi");`},
		},
		{
			Name:   "element",
			Source: `x = <A b="1" c={d} {...e}>t {f}<B/></A>`,
			Want: []string{
				`Assign "="(x, Element "A"(A, Attribute(b, "1"), Attribute(c, d), Spread "..."(e), "t ", ` +
					`f, Element "B"(B)));`,
			},
		},
		{
			Name:   "fragment",
			Source: "x = <>a</>",
			Want:   []string{`Assign "="(x, Element("a"));`},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "if, else if and else",
			Source: "if (a) b; else if (c) { d } else e",
			Want:   []string{"If(condition: a, then: b;, else: If(condition: c, then: Block(d;), else: e;))"},
		},
		{
			Name:   "while and do",
			Source: "while (a) b(); do { c } while (d)",
			Want: []string{
				"While(condition: a, body: Call(b);)",
				"DoWhile(body: Block(c;), condition: d)",
			},
		},
		{
			Name:   "counting loop",
			Source: "for (let i = 0, n = 1; i < n; i++) f(i)",
			Want: []string{
				`For(init: Variable "let"(i, 0), init: Variable "let"(n, 1), condition: Binary "<"(i, n), ` +
					`update: Update "++" [postfix](i), body: Call(f, i);)`,
			},
		},
		{
			Name:   "endless loop",
			Source: "for (;;) break",
			Want:   []string{"For(body: Break)"},
		},
		{
			Name:   "for of and for in",
			Source: "for (const a of b) c; for (k in o) d",
			Want: []string{
				`ForEach "of"(Variable "const"(a), iterable: b, body: c;)`,
				`ForEach "in"(k, iterable: o, body: d;)`,
			},
		},
		{
			Name:   "switch",
			Source: "switch (a) { case 1: case 2: b; break; default: c }",
			Want: []string{
				`Switch "fallthrough"(a, Case(condition: 1, body: Block), Case(condition: 2, body: Block(` +
					`b;, Break)), Case "default"(body: Block(c;)))`,
			},
		},
		{
			Name:   "try with every clause",
			Source: "try { a } catch (e) { b } finally { c }",
			Want:   []string{"Try(body: Block(a;), Catch(e, body: Block(b;)), finally: Block(c;))"},
		},
		{
			Name:   "catch without a name",
			Source: "try { a } catch { b }",
			Want:   []string{"Try(body: Block(a;), Catch(body: Block(b;)))"},
		},
		{
			Name:   "throw",
			Source: `throw new Error("x")`,
			Want:   []string{`Throw(New "new"(type: Error, "x"))`},
		},
		{
			Name:   "label",
			Source: "out: for (;;) { continue out }",
			Want:   []string{"Label(out, body: For(body: Block(Continue(label: out))))"},
		},
		{
			Name:   "return without a value",
			Source: "function f() { return }",
			Want:   []string{`Function "function"(f, body: Block(Return))`},
		},
		{
			Name:   "block and empty statement",
			Source: "{ a };",
			Want: []string{
				"Block(a;)",
				"Empty",
			},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "call with any arguments",
			Source: "$X.innerHTML = $Y",
			Want:   []string{`Assign "="(Member "."($X, innerHTML), $Y)`},
		},
		{
			Name:   "arguments around one",
			Source: "f(..., $X, ...)",
			Want:   []string{"Call(f, ..., $X, ...)"},
		},
		{
			Name:   "spread of the language",
			Source: "f(...$X)",
			Want:   []string{`Call(f, Spread "..."($X))`},
		},
		{
			Name:   "object with any members",
			Source: "{..., secure: false, ...}",
			Want:   []string{`Map(..., Pair(String "secure" [implied], false), ...)`},
		},
		{
			Name:   "function with any body",
			Source: "function $F(...) { ... }",
			Want:   []string{`Function "function"($F, ..., body: Block(...))`},
		},
		{
			Name:   "arrow with any body",
			Source: "($REQ, $RES) => { ... }",
			Want:   []string{"Lambda(Parameter($REQ), Parameter($RES), body: Block(...))"},
		},
		{
			Name: "statements with anything between",
			Source: "$X = f();\n" +
				"...\n" +
				"g($X);",
			Want: []string{`Block(Assign "="($X, Call(f));, ..., Call(g, $X);)`},
		},
		{
			Name:   "deep expression",
			Source: "f(<... $X ...>)",
			Want:   []string{"Call(f, Deep($X))"},
		},
		{
			Name:   "string that holds anything",
			Source: `require("...")`,
			Want:   []string{`Call(require, "...")`},
		},
		{
			Name:   "template with any parts",
			Source: "`...${$X}...`",
			Want:   []string{"Template(..., $X, ...)"},
		},
		{
			Name:   "typed metavariable",
			Source: "($X: T).f()",
			Want:   []string{`Call(Member "."(Typed(type: <T>, $X), f))`},
		},
		{
			Name:   "if",
			Source: "if (<... $X ...>) { ... }",
			Want:   []string{"If(condition: Deep($X), then: Block(...))"},
		},
		{
			Name:   "import",
			Source: `import $X from "m"`,
			Want:   []string{`Import "m"(path: "m", Name "default" [implied], alias: $X)`},
		},
		{
			Name:   "element",
			Source: "<$TAG dangerouslySetInnerHTML={$X} />",
			Want:   []string{`Element "$TAG"($TAG, Attribute(dangerouslySetInnerHTML, $X))`},
		},
		{
			Name:   "any receiver",
			Source: "... .f()",
			Want:   []string{`Call(Member "."($_, f))`},
		},
		{
			Name:   "new",
			Source: "new $C(...)",
			Want:   []string{`New "new"(type: $C, ...)`},
		},
		{
			Name:   "class",
			Source: "class $A extends B { ... }",
			Want:   []string{`Class "class"($A, base: B, body: Block(...))`},
		},
	})
}

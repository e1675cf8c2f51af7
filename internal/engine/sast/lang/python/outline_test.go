package python

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
			Source: "def f(a): return a",
			Want:   []string{`Function "function"(f, Parameter(a), body: Block(Return(a)))`},
		},
		{
			Name:   "function with defaults and rest",
			Source: "def f(a, b=1, *c, d=None, **e): pass",
			Want: []string{
				`Function "function"(f, Parameter(a), Parameter(b, 1), Parameter "*"(c), Parameter(d, ` +
					`Null "None"), Parameter "**"(e), body: Block(Empty))`,
			},
		},
		{
			Name:   "positional and keyword markers",
			Source: "def f(a, /, b, *, c): pass",
			Want: []string{
				`Function "function"(f, Parameter(a), Parameter "/", Parameter(b), Parameter "*", ` +
					"Parameter(c), body: Block(Empty))",
			},
		},
		{
			Name:   "annotated function",
			Source: `def f(a: int, b: "T" = 2) -> str: pass`,
			Want: []string{
				`Function "function"(f, Parameter(type: <int>, a), Parameter(type: <T>, b, 2), ` +
					"returntype: <str>, body: Block(Empty))",
			},
		},
		{
			Name:   "async function",
			Source: "async def f(): await g()",
			Want:   []string{`Function "function"(async, f, body: Block(Await(Call(g));))`},
		},
		{
			Name: "decorators",
			Source: `@app.route("/x", methods=["GET"])` + "\n" +
				"@d\n" +
				"def f(): pass",
			Want: []string{
				`Function "function"(Annotation(Call(Member "."(app, route), "/x", Keyword(methods, List(` +
					`"GET")))), Annotation(d), f, body: Block(Empty))`,
			},
		},
		{
			Name:   "lambda",
			Source: "f = lambda a, b=1: a",
			Want:   []string{`Assign "="(f, Lambda(Parameter(a), Parameter(b, 1), body: a));`},
		},
		{
			Name:   "class with bases and metaclass",
			Source: "class A(B, m.C, metaclass=M): pass",
			Want: []string{
				`Class "class"(A, base: B, base: Member "."(m, C), base: Keyword(metaclass, M), ` +
					"body: Block(Empty))",
			},
		},
		{
			Name: "method, constructor and field",
			Source: "class A:\n" +
				"  x: int = 1\n" +
				"  def __init__(self, a):\n" +
				"    self.a = a",
			Want: []string{
				`Class "class"(A, body: Block(Variable(type: <int>, x, 1), Function "constructor"(` +
					`__init__, Parameter(self), Parameter(a), body: Block(Assign "="(Member "."(self, a), a);))))`,
			},
		},
		{
			Name:   "annotated variable",
			Source: "x: List[int] = []",
			Want:   []string{`Variable(type: Type "List"(<int>), x, List)`},
		},
		{
			Name:   "annotation without a value",
			Source: "x: int",
			Want:   []string{"Variable(type: <int>, x)"},
		},
		{
			Name:   "type alias of Python 3.12",
			Source: "type P[T] = tuple[T, T]",
			Want:   []string{`TypeAlias(P, TypeParameter(T), type: Type "tuple"(<T>, <T>))`},
		},
		{
			Name:   "generic function",
			Source: "def f[T: int](a: T): pass",
			Want: []string{
				`Function "function"(TypeParameter(T, base: <int>), f, Parameter(type: <T>, a), ` +
					"body: Block(Empty))",
			},
		},
		{
			Name: "global and nonlocal",
			Source: "def f():\n" +
				"  global a, b\n" +
				"  nonlocal c",
			Want: []string{`Function "function"(f, body: Block(Global "global"(a, b), Global "nonlocal"(c)))`},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "module",
			Source: "import os",
			Want:   []string{`Import "os"(path: os)`},
		},
		{
			Name:   "dotted module",
			Source: "import os.path",
			Want:   []string{`Import "os.path"(path: Member "."(os, path))`},
		},
		{
			Name:   "module with an alias",
			Source: "import numpy as np",
			Want:   []string{`Import "numpy"(path: numpy, alias: np)`},
		},
		{
			Name:   "several modules",
			Source: "import os, sys",
			Want: []string{
				`Import "os"(path: os)`,
				`Import "sys"(path: sys)`,
			},
		},
		{
			Name:   "name of a module",
			Source: "from flask import request",
			Want:   []string{`Import "flask"(path: flask, request)`},
		},
		{
			Name:   "names with aliases",
			Source: "from a.b import c as d, e",
			Want: []string{
				`Import "a.b"(path: Member "."(a, b), c, alias: d)`,
				`Import "a.b"(path: Member "."(a, b), e)`,
			},
		},
		{
			Name:   "every name",
			Source: "from os import *",
			Want:   []string{`Import "os"(path: os, *)`},
		},
		{
			Name:   "relative module",
			Source: "from ..pkg import x",
			Want:   []string{`Import "..pkg"(path: ..pkg, x)`},
		},
		{
			Name:   "relative package",
			Source: "from . import x",
			Want:   []string{`Import "."(path: ., x)`},
		},
		{
			Name:   "future",
			Source: "from __future__ import annotations",
			Want:   []string{`Import "__future__"(path: __future__, annotations)`},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "positional and keyword arguments",
			Source: "f(1, a=2)",
			Want:   []string{"Call(f, 1, Keyword(a, 2));"},
		},
		{
			Name:   "spread arguments",
			Source: "f(*a, **b)",
			Want:   []string{`Call(f, Spread "*"(a), Spread "**"(b));`},
		},
		{
			Name:   "method",
			Source: "a.b.c(d)",
			Want:   []string{`Call(Member "."(Member "."(a, b), c), d);`},
		},
		{
			Name:   "call of a call",
			Source: "f(1)(2)",
			Want:   []string{"Call(Call(f, 1), 2);"},
		},
		{
			Name:   "generator as the only argument",
			Source: "f(x for x in y)",
			Want:   []string{`Call(f, Comprehension "generator"(x, Clause(x, iterable: y)));`},
		},
		{
			Name:   "subscript",
			Source: "a[1]",
			Want:   []string{"Index(a, 1);"},
		},
		{
			Name:   "subscript of several keys",
			Source: "a[1, b]",
			Want:   []string{"Index(a, 1, b);"},
		},
		{
			Name:   "slice",
			Source: "a[1:2]",
			Want:   []string{"Index(a, Slice(low: 1, high: 2));"},
		},
		{
			Name:   "slice with a step",
			Source: "a[::2]",
			Want:   []string{"Index(a, Slice(step: 2));"},
		},
		{
			Name:   "chained comparison",
			Source: "a < b < c",
			Want:   []string{`Binary "<"(Binary "<"(a, b), c);`},
		},
		{
			Name:   "conditional",
			Source: "a if b else c",
			Want:   []string{"Conditional(condition: b, then: a, else: c);"},
		},
		{
			Name:   "walrus",
			Source: "f(a := 1)",
			Want:   []string{`Call(f, Assign ":="(a, 1));`},
		},
		{
			Name: "await",
			Source: "async def f():\n" +
				"  x = await g(1)",
			Want: []string{`Function "function"(async, f, body: Block(Assign "="(x, Await(Call(g, 1)));))`},
		},
		{
			Name:   "matrix product",
			Source: "a @ b",
			Want:   []string{`Binary "@"(a, b);`},
		},
		{
			Name:   "not in",
			Source: "a not in b",
			Want:   []string{`Binary "not in"(a, b);`},
		},
		{
			Name:   "boolean operators",
			Source: "a and not b or c",
			Want:   []string{`Binary "or"(Binary "and"(a, Unary "not"(b)), c);`},
		},
		{
			Name:   "print statement of Python 2",
			Source: "print >>f, a",
			Want:   []string{`Call(print, Keyword(Name "file" [implied], f), a);`},
		},
		{
			Name:   "exec statement of Python 2",
			Source: "exec a in b",
			Want:   []string{"Call(exec, a, b);"},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "string with escapes",
			Source: `x = "a\n\x41\u00e9"`,
			Want:   []string{`Assign "="(x, "a\nAé");`},
		},
		{
			Name:   "raw string",
			Source: `x = r"\d"`,
			Want:   []string{`Assign "="(x, String "\\d" [raw]);`},
		},
		{
			Name:   "bytes",
			Source: `x = b"\xff"`,
			Want:   []string{`Assign "="(x, String "ÿ" [raw]);`},
		},
		{
			Name:   "adjacent strings",
			Source: `x = "a" 'b'`,
			Want:   []string{`Assign "="(x, "ab");`},
		},
		{
			Name:   "formatted string",
			Source: `x = f"a{b!r:>{c}}d"`,
			Want: []string{
				`Assign "="(x, Template("a", b, Other "type_conversion"(Token "!r"), ` +
					`Other "format_specifier"(c), "d"));`,
			},
		},
		{
			Name:   "numbers",
			Source: "x = [1_000, 0xFF, 1.5e3, 2j]",
			Want:   []string{`Assign "="(x, List(1000, 0xFF, 1.5e3, 2j));`},
		},
		{
			Name:   "constants",
			Source: "x = (True, False, None)",
			Want:   []string{`Assign "="(x, Tuple(true, false, Null "None"));`},
		},
		{
			Name:   "list, tuple, set and dictionary",
			Source: `x = [1], (1,), {1}, {"a": 1, **b}`,
			Want:   []string{`Assign "="(x, Tuple(List(1), Tuple(1), Set(1), Map(Pair("a", 1), Spread "**"(b))));`},
		},
		{
			Name:   "comprehensions",
			Source: "x = [a for a in b if c], {a for a in b}, {k: v for k, v in d}",
			Want: []string{
				`Assign "="(x, Tuple(Comprehension "list"(a, Clause(a, iterable: b, condition: c)), ` +
					`Comprehension "set"(a, Clause(a, iterable: b)), Comprehension "map"(Pair(k, v), Clause(` +
					"Tuple(k, v), iterable: d))));",
			},
		},
		{
			Name:   "nested comprehension",
			Source: "x = [a for b in c for a in b]",
			Want: []string{
				`Assign "="(x, Comprehension "list"(a, Clause(b, iterable: c), Clause(a, iterable: b)));`,
			},
		},
		{
			Name: "triple quotes",
			Source: `x = """a` + "\n" +
				`b"""`,
			Want: []string{`Assign "="(x, "a\nb");`},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "if, elif and else",
			Source: "if a: b\n" +
				"elif c: d\n" +
				"else: e",
			Want: []string{
				"If(condition: a, then: Block(b;), else: If(condition: c, then: Block(d;), else: Block(e;)))",
			},
		},
		{
			Name: "while with else",
			Source: "while a: break\n" +
				"else: b",
			Want: []string{"While(condition: a, body: Block(Break), else: Block(b;))"},
		},
		{
			Name: "for with else",
			Source: "for a, b in c: continue\n" +
				"else: d",
			Want: []string{`ForEach "of"(Tuple(a, b), iterable: c, body: Block(Continue), else: Block(d;))`},
		},
		{
			Name: "try with every clause",
			Source: "try: a\n" +
				"except E as e: b\n" +
				"except (F, G): c\n" +
				"else: d\n" +
				"finally: g",
			Want: []string{
				"Try(body: Block(a;), Catch(type: E, e, body: Block(b;)), Catch(type: Tuple(F, G), " +
					"body: Block(c;)), else: Block(d;), finally: Block(g;))",
			},
		},
		{
			Name: "exception groups",
			Source: "try: a\n" +
				"except* E: b",
			Want: []string{`Try(body: Block(a;), Catch "*"(type: E, body: Block(b;)))`},
		},
		{
			Name:   "raise with a cause",
			Source: `raise E("x") from c`,
			Want:   []string{`Throw(Call(E, "x"), c)`},
		},
		{
			Name:   "bare raise",
			Source: "raise",
			Want:   []string{"Throw"},
		},
		{
			Name:   "with several resources",
			Source: "with a as b, c: d",
			Want:   []string{`With "with"(resource: Variable(b, a), resource: c, body: Block(d;))`},
		},
		{
			Name:   "assert",
			Source: `assert a, "m"`,
			Want:   []string{`Assert(condition: a, "m")`},
		},
		{
			Name:   "delete",
			Source: "del a[1], b",
			Want:   []string{"Delete(Index(a, 1), b)"},
		},
		{
			Name: "yield",
			Source: "def f():\n" +
				"  x = yield 1\n" +
				"  yield from g()",
			Want: []string{
				`Function "function"(f, body: Block(Assign "="(x, Yield(1));, Yield "from"(Call(g));))`,
			},
		},
		{
			Name: "match",
			Source: "match a:\n" +
				"  case 1 | 2: b\n" +
				"  case [x, *y] if z: c\n" +
				"  case A(b=1): d\n" +
				`  case {"k": v, **r}: e` + "\n" +
				"  case _: g",
			Want: []string{
				`Switch(a, Case(condition: Binary "|"(1, 2), body: Block(b;)), Case(condition: List(x, ` +
					`Spread "*"(y)), guard: z, body: Block(c;)), Case(condition: Call(A, Keyword(b, 1)), ` +
					`body: Block(d;)), Case(condition: Map(Pair("k", v), Spread "**"(r)), body: Block(e;)), ` +
					`Case "default"(condition: _, body: Block(g;)))`,
			},
		},
		{
			Name:   "unpacking assignment",
			Source: "a, *b = c",
			Want:   []string{`Assign "="(Tuple(a, Spread "*"(b)), c);`},
		},
		{
			Name:   "augmented assignment",
			Source: "a += 1",
			Want:   []string{`Assign "+="(a, 1);`},
		},
		{
			Name:   "assignment to several targets",
			Source: "a = b = 1",
			Want:   []string{`Assign "="(a, Assign "="(b, 1));`},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "call with any arguments",
			Source: "f(...)",
			Want:   []string{"Call(f, ...)"},
		},
		{
			Name:   "call with a metavariable",
			Source: "$X.execute($Q, ...)",
			Want:   []string{`Call(Member "."($X, execute), $Q, ...)`},
		},
		{
			Name:   "keyword argument",
			Source: "f(..., shell=True)",
			Want:   []string{"Call(f, ..., Keyword(shell, true))"},
		},
		{
			Name:   "string that holds anything",
			Source: `f("...")`,
			Want:   []string{`Call(f, "...")`},
		},
		{
			Name:   "regular expression of a string",
			Source: `f("=~/ab+/")`,
			Want:   []string{`Call(f, String "=~/ab+/" [pattern])`},
		},
		{
			Name:   "function with any body",
			Source: "def $F(..., $A, ...): ...",
			Want:   []string{`Function "function"($F, ..., Parameter($A), ..., body: Block(...))`},
		},
		{
			Name: "decorated function",
			Source: "@app.route(...)\n" +
				"def $F(...): ...",
			Want: []string{
				`Function "function"(Annotation(Call(Member "."(app, route), ...)), $F, ..., body: Block(...))`,
			},
		},
		{
			Name:   "class",
			Source: "class $C(Base): ...",
			Want:   []string{`Class "class"($C, base: Base, body: Block(...))`},
		},
		{
			Name: "statements with anything between",
			Source: "$X = input()\n" +
				"...\n" +
				"eval($X)",
			Want: []string{`Block(Assign "="($X, Call(input));, ..., Call(eval, $X);)`},
		},
		{
			Name:   "deep expression",
			Source: "f(<... $X ...>)",
			Want:   []string{"Call(f, Deep($X))"},
		},
		{
			Name:   "typed metavariable",
			Source: "f($X: int)",
			Want:   []string{"Call(f, Typed(type: <int>, $X))"},
		},
		{
			Name:   "dictionary with any pairs",
			Source: `{..., "a": $X, ...}`,
			Want:   []string{`Map(..., Pair("a", $X), ...)`},
		},
		{
			Name:   "if with any body",
			Source: "if $X: ...",
			Want:   []string{"If(condition: $X, then: Block(...))"},
		},
		{
			Name:   "import",
			Source: "from $M import $N",
			Want:   []string{`Import "$M"(path: $M, $N)`},
		},
		{
			Name:   "every argument",
			Source: "f($...ARGS)",
			Want:   []string{"Call(f, $...ARGS)"},
		},
		{
			Name: "try",
			Source: "try: ...\n" +
				"except: pass",
			Want: []string{"Try(body: Block(...), Catch(body: Block(Empty)))"},
		},
	})
}

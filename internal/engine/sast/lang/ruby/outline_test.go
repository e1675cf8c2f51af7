package ruby

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestDeclarations pins the trees of declarations: what is declared, under which name, and its
// parts.
func TestDeclarations(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "method",
			Source: "def f(a, b = 1, *c, d:, e: 2, **g, &h); a; end",
			Want: []string{
				`Function "function"(f, Parameter(a), Parameter(b, 1), Parameter "*"(c), Parameter(d), ` +
					`Parameter(e, 2), Parameter "**"(g), Parameter "&"(h), body: Block(a;))`,
			},
		},
		{
			Name:   "endless method",
			Source: "def f(a) = a + 1",
			Want:   []string{`Function "function"(f, Parameter(a), body: Block(Binary "+"(a, 1);))`},
		},
		{
			Name:   "method of the class",
			Source: "class A; def self.f; end; end",
			Want:   []string{`Class "class"(A, body: Block(Function "method"(static, f, body: Block [implied])))`},
		},
		{
			Name:   "methods below class << self",
			Source: "class A; class << self; def f; end; end; end",
			Want: []string{
				`Class "class"(A, body: Block(Class "class"(static, base: this, body: Block(` +
					`Function "method"(f, body: Block [implied])))))`,
			},
		},
		{
			Name:   "class and module",
			Source: "module M; class A < B::C; include D; end; end",
			Want: []string{
				`Class "module"(M, body: Block(Class "class"(A, base: Member "::"(B, C), body: Block(Call(` +
					"include, D);))))",
			},
		},
		{
			Name:   "constructor and fields",
			Source: "class A; def initialize(a); @a = a; @@b = 1; $c = 2; end; end",
			Want: []string{
				`Class "class"(A, body: Block(Function "constructor"(initialize, Parameter(a), ` +
					`body: Block(Assign "="(@a, a);, Assign "="(@@b, 1);, Assign "="($c, 2);))))`,
			},
		},
		{
			Name:   "constant",
			Source: "A = 1",
			Want:   []string{`Assign "="(A, 1);`},
		},
		{
			Name:   "several targets",
			Source: "a, (b, *c), d = 1, [2], 3",
			Want:   []string{`Assign "="(Tuple(a, Tuple(b, Spread "*"(c)), d), Tuple(1, List(2), 3));`},
		},
		{
			Name:   "blocks",
			Source: "f { |a, (b, c), d = 1| a }; g do end",
			Want: []string{
				`Call(f, Lambda "block"(Parameter(a), Parameter(Tuple(b, c)), Parameter(d, 1), body: Block(a;)));`,
				`Call(g, Lambda "block"(body: Block [implied]));`,
			},
		},
		{
			Name:   "lambdas",
			Source: "a = ->(x, y = 1) { x }; b = lambda { |z| z }",
			Want: []string{
				`Assign "="(a, Lambda(Parameter(x), Parameter(y, 1), body: Block(x;)));`,
				`Assign "="(b, Call(lambda, Lambda "block"(Parameter(z), body: Block(z;))));`,
			},
		},
		{
			Name:   "numbered block parameter",
			Source: "f { _1 + 1 }",
			Want:   []string{`Call(f, Lambda "block"(body: Block(Binary "+"(_1, 1);)));`},
		},
		{
			Name:   "visibility",
			Source: "class A; private def f; end; end",
			Want: []string{
				`Class "class"(A, body: Block(Call(private, Function "function"(f, body: Block [implied]));))`,
			},
		},
		{
			Name:   "alias and undef",
			Source: "alias a b; undef c",
			Want: []string{
				`Other "alias"(Token "alias", a, b)`,
				`Other "undef"(Token "undef", c)`,
			},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "require",
			Source: `require "a/b"`,
			Want:   []string{`Call(require, "a/b");`},
		},
		{
			Name:   "require_relative",
			Source: `require_relative "c"`,
			Want:   []string{`Call(require_relative, "c");`},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "arguments without parentheses",
			Source: `foo a, b: 1, "c" => 2`,
			Want:   []string{`Call(foo, a, Keyword(b, 1), Pair("c", 2));`},
		},
		{
			Name:   "splats and blocks",
			Source: "f(*a, **b, &c)",
			Want:   []string{`Call(f, Spread "*"(a), Spread "**"(b), Spread "&"(c));`},
		},
		{
			Name:   "symbol as a block",
			Source: "a.map(&:b)",
			Want:   []string{`Call(Member "."(a, map), Spread "&"(Other "symbol"(b)));`},
		},
		{
			Name:   "method on a receiver",
			Source: "a.b.c(1)",
			Want:   []string{`Call(Member "."(Member "."(a, b), c), 1);`},
		},
		{
			Name:   "safe navigation",
			Source: "a&.b(1)",
			Want:   []string{`Call(Member "." [optional](a, b), 1);`},
		},
		{
			Name:   "call by a dot alone",
			Source: "a.(1)",
			Want:   []string{`Call(Member "."(a, Name "call" [implied]), 1);`},
		},
		{
			Name:   "constant path",
			Source: "A::B.c; ::D",
			Want: []string{
				`Member "."(Member "::"(A, B), c);`,
				"D;",
			},
		},
		{
			Name:   "index",
			Source: "a[1, 2]; a[:b] = 1",
			Want: []string{
				"Index(a, 1, 2);",
				`Assign "="(Index(a, Other "symbol"(b)), 1);`,
			},
		},
		{
			Name:   "operators",
			Source: "a + b; !c; -d; e <=> f; g =~ /h/",
			Want: []string{
				`Binary "+"(a, b);`,
				`Unary "!"(c);`,
				`Unary "-"(d);`,
				`Binary "<=>"(e, f);`,
				`Binary "=~"(g, Regex "/h/");`,
			},
		},
		{
			Name:   "logic",
			Source: "a && b || c; not d and e",
			Want: []string{
				`Binary "||"(Binary "&&"(a, b), c);`,
				`Binary "and"(Unary "not"(d), e);`,
			},
		},
		{
			Name:   "conditional",
			Source: "a ? b : c",
			Want:   []string{"Conditional(condition: a, then: b, else: c);"},
		},
		{
			Name:   "assignment operators",
			Source: "a ||= 1; b += 2; c.d &&= 3",
			Want: []string{
				`Assign "||="(a, 1);`,
				`Assign "+="(b, 2);`,
				`Assign "&&="(Member "."(c, d), 3);`,
			},
		},
		{
			Name:   "super and yield",
			Source: "def f(a); super; super(a); yield a, 1; end",
			Want: []string{
				`Function "function"(f, Parameter(a), body: Block(super;, Call(super, a);, Yield(Tuple(a, 1));))`,
			},
		},
		{
			Name:   "ranges",
			Source: "1..2; (3...); a[1..]",
			Want: []string{
				`Binary ".."(1, 2);`,
				`Binary "..."(3, Null "nil" [implied]);`,
				`Index(a, Binary ".."(1, Null "nil" [implied]));`,
			},
		},
		{
			Name:   "defined",
			Source: "defined?(a)",
			Want:   []string{`Unary "defined?"(a);`},
		},
		{
			Name:   "command in backquotes",
			Source: "`ls #{a}`",
			Want:   []string{"Call(`, Template(\"ls \", a));"},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "strings",
			Source: `x = ["a\n#{b}", 'c\n', %q(d), %Q(e#{f})]`,
			Want:   []string{`Assign "="(x, List(Template("a\n", b), "c\\n", "d", Template("e", f)));`},
		},
		{
			Name:   "adjacent strings",
			Source: `x = "a" 'b'`,
			Want:   []string{`Assign "="(x, "ab");`},
		},
		{
			Name:   "symbols",
			Source: `x = [:a, :"b c", :"d#{e}", %i(f g)]`,
			Want: []string{
				`Assign "="(x, List(Other "symbol"(a), Other "symbol"(b c), Other "symbol"(Template("d", ` +
					`e)), List(Other "symbol"(f), Other "symbol"(g))));`,
			},
		},
		{
			Name:   "words",
			Source: "x = %w(a b)",
			Want:   []string{`Assign "="(x, List("a", "b"));`},
		},
		{
			Name:   "hash",
			Source: `x = {a: 1, "b" => 2, c:, **d, "e": 3}`,
			Want: []string{
				`Assign "="(x, Map(Pair(Other "symbol"(a), 1), Pair("b", 2), Pair(Other "symbol"(c), ` +
					`Name "c" [implied]), Spread "**"(d), Pair(Other "symbol"(e), 3)));`,
			},
		},
		{
			Name:   "regular expression",
			Source: "x = /a#{b}/i",
			Want:   []string{`Assign "="(x, Regex "/a#{b}/i"(b));`},
		},
		{
			Name:   "numbers and constants",
			Source: "x = [1_000, 0xFF, 1.5, 2r, true, nil, self, __FILE__]",
			Want:   []string{`Assign "="(x, List(1000, 0xFF, 1.5, 2r, true, Null "nil", this, __FILE__));`},
		},
		{
			Name: "here-document",
			Source: "x = <<~E\n" +
				"  a #{b}\n" +
				"    c\n" +
				"E\n",
			Want: []string{`Assign "="(x, Template [raw]("  a ", b, "\n    c\n"));`},
		},
		{
			Name: "raw here-document",
			Source: "x = <<-'E'\n" +
				"a #{b}\n" +
				"E\n",
			Want: []string{`Assign "="(x, String "a #{b}\n" [raw]);`},
		},
		{
			Name:   "character",
			Source: "x = ?a",
			Want:   []string{`Assign "="(x, "a");`},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "if, elsif and else",
			Source: "if a then b elsif c then d else e end",
			Want: []string{
				"If(condition: a, then: Block(b;), else: If(condition: c, then: Block(d;), else: Block(e;)))",
			},
		},
		{
			Name:   "unless and modifiers",
			Source: "unless a; b; end; c if d; e unless f",
			Want: []string{
				`If(condition: Unary "!" [implied](a), then: Block(b;))`,
				"If(condition: d, then: Block(c;))",
				`If(condition: Unary "!" [implied](f), then: Block(e;))`,
			},
		},
		{
			Name:   "if as a value",
			Source: "x = if a then 1 else 2 end",
			Want:   []string{`Assign "="(x, Conditional(condition: a, then: 1, else: 2));`},
		},
		{
			Name:   "while, until and modifiers",
			Source: "while a do b end; until c; d; end; e while f",
			Want: []string{
				"While(condition: a, body: Block(b;))",
				`While(condition: Unary "!" [implied](c), body: Block(d;))`,
				"While(condition: f, body: Block(e;))",
			},
		},
		{
			Name:   "loop that tests behind",
			Source: "begin; a; end while b",
			Want:   []string{"DoWhile(body: Block(a;), condition: b)"},
		},
		{
			Name:   "for",
			Source: "for a, b in c do d end",
			Want:   []string{`ForEach "of"(Tuple(a, b), iterable: c, body: Block(d;))`},
		},
		{
			Name: "case and when",
			Source: "case a\n" +
				"when 1, String then b\n" +
				"else c\n" +
				"end",
			Want: []string{
				`Switch(a, Case(condition: 1, condition: String, body: Block(b;)), Case "default"(` +
					"body: Block(c;)))",
			},
		},
		{
			Name: "case without a value",
			Source: "case\n" +
				"when a then b\n" +
				"end",
			Want: []string{"Switch(Case(condition: a, body: Block(b;)))"},
		},
		{
			Name: "case and in",
			Source: "case a\n" +
				"in [Integer => b, *c] if d then e\n" +
				"in {k: 1, **nil} then f\n" +
				"in A(x:) | nil then g\n" +
				"end",
			Want: []string{
				`Switch(a, Case(condition: List(Assign "as"(b, Integer), Spread "*"(c)), guard: d, ` +
					`body: Block(e;)), Case(condition: Map(Pair(Other "symbol"(k), 1), Spread "**"(` +
					`Null "nil")), body: Block(f;)), Case(condition: Binary "|"(Call(A, Pair(Other "symbol"(` +
					`x), Name "x" [implied])), Null "nil"), body: Block(g;)))`,
			},
		},
		{
			Name:   "rescue, else and ensure",
			Source: "begin; a; rescue E, F => e; b; retry; rescue; c; else; d; ensure; g; end",
			Want: []string{
				`Try(body: Block(a;), Catch(type: E, type: F, e, body: Block(b;, Other "retry"(` +
					`Token "retry"))), Catch(body: Block(c;)), else: Block(d;), finally: Block(g;))`,
			},
		},
		{
			Name:   "rescue of a method",
			Source: "def f; a; rescue; b; ensure; c; end",
			Want: []string{
				`Function "function"(f, body: Block(Try(body: Block(a;), Catch(body: Block(b;)), ` +
					"finally: Block(c;))))",
			},
		},
		{
			Name:   "rescue modifier",
			Source: "a rescue b",
			Want:   []string{"Try(body: Block(a;), Catch(body: Block(b;)))"},
		},
		{
			Name:   "jumps",
			Source: "f { next 1; break; redo }; return 1, 2",
			Want: []string{
				`Call(f, Lambda "block"(body: Block(Continue(1), Break, Other "redo"(Token "redo"))));`,
				"Return(Tuple(1, 2))",
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
			Source: "$X.find_by_sql($Q, ...)",
			Want:   []string{`Call(Member "."($X, find_by_sql), $Q, ...)`},
		},
		{
			Name:   "call without parentheses",
			Source: "render ..., $X",
			Want:   []string{"Call(render, ..., $X)"},
		},
		{
			Name: "method",
			Source: "def $F(...)\n" +
				"  ...\n" +
				"end",
			Want: []string{`Function "function"($F, ..., body: Block(...))`},
		},
		{
			Name: "class",
			Source: "class $C < B\n" +
				"  ...\n" +
				"end",
			Want: []string{`Class "class"($C, base: B, body: Block(...))`},
		},
		{
			Name: "statements with anything between",
			Source: "$X = f()\n" +
				"...\n" +
				"g($X)",
			Want: []string{`Block(Assign "="($X, Call(f));, ..., Call(g, $X);)`},
		},
		{
			Name: "block",
			Source: "$X.each do |$Y|\n" +
				"  ...\n" +
				"end",
			Want: []string{`Call(Member "."($X, each), Lambda "block"(Parameter($Y), body: Block(...)))`},
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
			Source: `"...#{$X}..."`,
			Want:   []string{"Template(..., $X, ...)"},
		},
		{
			Name:   "hash with any pairs",
			Source: "{..., secure: false, ...}",
			Want:   []string{`Map(..., Pair(Other "symbol"(secure), false), ...)`},
		},
		{
			Name:   "keyword argument",
			Source: "f(..., a: true, ...)",
			Want:   []string{"Call(f, ..., Keyword(a, true), ...)"},
		},
		{
			Name: "if",
			Source: "if $X\n" +
				"  ...\n" +
				"end",
			Want: []string{"If(condition: $X, then: Block(...))"},
		},
		{
			Name:   "constant",
			Source: "$C.new(...)",
			Want:   []string{`Call(Member "."($C, new), ...)`},
		},
		{
			Name:   "backquotes",
			Source: "`...`",
			Want:   []string{"Call(`, \"...\")"},
		},
	})
}

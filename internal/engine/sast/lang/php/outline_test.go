package php

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
			Source: "<?php function f(int $a, ?B $b = null, &$c = 1, string ...$d): ?int { return $a; }",
			Want: []string{
				`Function "function"(f, Parameter(type: <int>, $a), Parameter(type: Type "?"(<B>), $b, ` +
					`Null "null"), Parameter(&, $c, 1), Parameter "*"(type: <string>, $d), ` +
					`returntype: Type "?"(<int>), body: Block(Return($a)))`,
			},
		},
		{
			Name:   "closure and arrow function",
			Source: "<?php $f = function ($a) use ($b, &$c) { return $a; }; $g = static fn($x) => $x + 1;",
			Want: []string{
				`Assign "="($f, Lambda(Parameter($a), body: Block(Return($a))));`,
				`Assign "="($g, Lambda(static, Parameter($x), body: Binary "+"($x, 1)));`,
			},
		},
		{
			Name:   "class",
			Source: "<?php abstract class A extends B implements C, D { use E, F; const X = 1; }",
			Want: []string{
				`Class "class"(abstract, A, base: <B>, base: <E>, base: <F>, interface: <C>, ` +
					`interface: <D>, body: Block(Field "const"(X, 1)))`,
			},
		},
		{
			Name: "members",
			Source: "<?php class A { public static ?int $a = 1; private readonly B $b; " +
				"public function f(): void {} abstract function g(); }",
			Want: []string{
				`Class "class"(A, body: Block(Field(public, static, type: Type "?"(<int>), $a, 1), Field(` +
					`private, readonly, type: <B>, $b), Function "method"(public, f, returntype: <void>, ` +
					`body: Block), Function "method"(abstract, g)))`,
			},
		},
		{
			Name:   "promoted constructor",
			Source: "<?php class A { function __construct(private int $a, public $b = 2) {} }",
			Want: []string{
				`Class "class"(A, body: Block(Function "constructor"(__construct, Parameter(private, ` +
					"type: <int>, $a), Parameter(public, $b, 2), body: Block), Field [implied](private, " +
					"type: <int>, $a), Field [implied](public, $b)))",
			},
		},
		{
			Name: "interface, trait and enum",
			Source: "<?php interface I extends J { function f(" +
				`); } trait T {} enum E: string { case A = "a"; const B = self::A; }`,
			Want: []string{
				`Class "interface"(I, interface: <J>, body: Block(Function "method"(f)))`,
				`Class "trait"(T, body: Block)`,
				`Class "enum"(E, body: Block(Field "enum"(A, "a"), Field "const"(B, Member "::"(self, A))))`,
			},
		},
		{
			Name:   "anonymous class",
			Source: "<?php $a = new class(1) extends B { };",
			Want:   []string{`Assign "="($a, New "new"(type: Class "class"(base: <B>, body: Block), 1));`},
		},
		{
			Name:   "attributes",
			Source: `<?php #[A("x"), B] function f() {}`,
			Want:   []string{`Function "function"(Annotation(Call(A, "x")), Annotation(B), f, body: Block)`},
		},
		{
			Name:   "static and global",
			Source: "<?php function f() { static $a = 1; global $b, $c; }",
			Want: []string{
				`Function "function"(f, body: Block(Variable "static"($a, 1), Global "global"($b, $c)))`,
			},
		},
		{
			Name:   "constants",
			Source: `<?php const A = 1; define("B", 2);`,
			Want: []string{
				`Variable "const"(A, 1)`,
				`Call(define, "B", 2);`,
			},
		},
		{
			Name:   "property hooks",
			Source: "<?php class A { public int $a { get => 1; set($v) { $this->a = $v; } } }",
			Want: []string{
				`Class "class"(A, body: Block(Field(public, type: <int>, $a, body: Block(` +
					`Function "getter"(get, body: 1), Function "setter"(set, Parameter($v), body: Block(` +
					`Assign "="(Member "->"(this, a), $v);))))))`,
			},
		},
	})
}

// TestImports pins what an import, or an export, binds: rules resolve names by it.
func TestImports(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "namespace and use",
			Source: `<?php namespace A\B; use C\D; use E\F as G; use function H\i; use const J\K;`,
			Want: []string{
				`Package "A.B"(Member "\\"(A, B))`,
				`Import "C.D"(path: Member "\\"(C, D))`,
				`Import "E.F"(path: Member "\\"(E, F), alias: G)`,
				`Import "H.i"(path: Member "\\"(H, i))`,
				`Import "J.K"(path: Member "\\"(J, K))`,
			},
		},
		{
			Name:   "group",
			Source: `<?php use A\{B, C as D};`,
			Want: []string{
				`Import "A.B"(path: Member "\\"(A, B))`,
				`Import "A.C"(path: Member "\\"(A, C), alias: D)`,
			},
		},
		{
			Name:   "namespace with a body",
			Source: "<?php namespace A { f(); }",
			Want: []string{
				`Package "A"(A)`,
				"Call(f);",
			},
		},
		{
			Name:   "include and require",
			Source: `<?php include "a.php"; require_once __DIR__ . "/b.php";`,
			Want: []string{
				`Call(include, "a.php");`,
				`Call(require_once, Binary "."(__DIR__, "/b.php"));`,
			},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "function",
			Source: `<?php f(1, ...$a); g(b: 2); \H\i();`,
			Want: []string{
				`Call(f, 1, Spread "..."($a));`,
				"Call(g, Keyword(b, 2));",
				`Call(Member "\\"(H, i));`,
			},
		},
		{
			Name:   "method and property",
			Source: `<?php $a->b->c(1); $a?->d; $e->$f; $g->{"h"}();`,
			Want: []string{
				`Call(Member "->"(Member "->"($a, b), c), 1);`,
				`Member "->" [optional]($a, d);`,
				`Member "->"($e, $f);`,
				`Call(Member "->"($g, "h"));`,
			},
		},
		{
			Name:   "static members",
			Source: "<?php A::b(1); A::$c; A::D; self::e(); parent::f(); static::g(); A::class;",
			Want: []string{
				`Call(Member "::"(A, b), 1);`,
				`Member "::"(A, $c);`,
				`Member "::"(A, D);`,
				`Call(Member "::"(self, e));`,
				`Call(Member "::"(super, f));`,
				`Call(Member "::"(static, g));`,
				`Member "::"(A, class);`,
			},
		},
		{
			Name:   "new",
			Source: "<?php new A(1); new B; new $c(2); new (f())();",
			Want: []string{
				`New "new"(type: <A>, 1);`,
				`New "new"(type: <B>);`,
				`New "new"(type: $c, 2);`,
				`New "new"(type: Call(f));`,
			},
		},
		{
			Name:   "index",
			Source: `<?php $a["b"][1]; $a[] = 2;`,
			Want: []string{
				`Index(Index($a, "b"), 1);`,
				`Assign "="(Index($a), 2);`,
			},
		},
		{
			Name:   "operators",
			Source: `<?php $a . "b"; $c ?? $d; !$e && $f; $g <=> $h; $i instanceof J; -$k;`,
			Want: []string{
				`Binary "."($a, "b");`,
				`Binary "??"($c, $d);`,
				`Binary "&&"(Unary "!"($e), $f);`,
				`Binary "<=>"($g, $h);`,
				`TypeTest "instanceof"($i, type: <J>);`,
				`Unary "-"($k);`,
			},
		},
		{
			Name:   "conditional",
			Source: "<?php $a ? $b : $c; $d ?: $e;",
			Want: []string{
				"Conditional(condition: $a, then: $b, else: $c);",
				`Binary "?:"($d, $e);`,
			},
		},
		{
			Name:   "assignment",
			Source: `<?php $a = 1; $b .= "x"; $c ??= 2; [$d, "k" => $e] = $f; list($g, , $h) = $i; $j = &$k;`,
			Want: []string{
				`Assign "="($a, 1);`,
				`Assign ".="($b, "x");`,
				`Assign "??="($c, 2);`,
				`Assign "="(Map($d, Pair("k", $e)), $f);`,
				`Assign "="(List($g, Empty, $h), $i);`,
				`Assign "="($j, Unary "&"($k));`,
			},
		},
		{
			Name:   "casts and silence",
			Source: "<?php (int)$a; @f(); clone $b; print $c;",
			Want: []string{
				"Cast(type: <int>, $a);",
				`Unary "@"(Call(f));`,
				`Unary "clone"($b);`,
				"Call(print, $c);",
			},
		},
		{
			Name:   "update",
			Source: "<?php $a++; --$b;",
			Want: []string{
				`Update "++" [postfix]($a);`,
				`Update "--"($b);`,
			},
		},
		{
			Name:   "dynamic names",
			Source: `<?php $$a; ${"b"}; $f(1);`,
			Want: []string{
				`Unary "$"($a);`,
				`Unary "$"("b");`,
				"Call($f, 1);",
			},
		},
		{
			Name:   "echo and exit",
			Source: `<?php echo $a, "b"; exit(1); die("x");`,
			Want: []string{
				`Call(echo, $a, "b");`,
				"Call(exit, 1);",
				`Call(die, "x");`,
			},
		},
		{
			Name:   "command in backquotes",
			Source: "<?php `ls $a`;",
			Want:   []string{"Call(`, Template(\"ls \", $a));"},
		},
		{
			Name:   "text around code",
			Source: "<b><?= $a ?></b>",
			Want:   []string{`Call(Name "echo" [implied], $a);`},
		},
		{
			Name:   "isset, empty and eval",
			Source: `<?php isset($a["b"], $c); empty($d); eval($e); unset($f);`,
			Want: []string{
				`Call(isset, Index($a, "b"), $c);`,
				"Call(empty, $d);",
				"Call(eval, $e);",
				"Delete($f)",
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
			Source: `<?php $x = ['a\n\'', "b\n\u{e9}\x41\101"];`,
			Want:   []string{`Assign "="($x, List("a\\n'", "b\néAA"));`},
		},
		{
			Name:   "strings with parts",
			Source: `<?php $x = "a $b {$c->d} $e[f] ${g} $h->i";`,
			Want: []string{
				`Assign "="($x, Template("a ", $b, " ", Member "->"($c, d), " ", Index($e, "f"), " ", $g, ` +
					`" ", Member "->"($h, i)));`,
			},
		},
		{
			Name: "here-document and raw one",
			Source: "<?php $x = <<<E\n" +
				"  a $b\n" +
				"  E;\n" +
				"$y = <<<'F'\n" +
				"c $d\n" +
				"F;",
			Want: []string{
				`Assign "="($x, Template("a ", $b));`,
				`Assign "="($y, String "c $d" [raw]);`,
			},
		},
		{
			Name:   "arrays",
			Source: `<?php $x = [1, "a" => 2, ...$b]; $y = array(3);`,
			Want: []string{
				`Assign "="($x, List(1, Pair("a", 2), Spread "..."($b)));`,
				`Assign "="($y, List(3));`,
			},
		},
		{
			Name:   "numbers and constants",
			Source: "<?php $x = [1_000, 0x1F, 1.5e3, true, NULL, PHP_EOL];",
			Want:   []string{`Assign "="($x, List(1000, 0x1F, 1.5e3, true, Null "null", PHP_EOL));`},
		},
		{
			Name:   "match",
			Source: "<?php $x = match(true) { $a, $b => 1, default => 2 };",
			Want: []string{
				`Assign "="($x, Switch(true, Case(condition: $a, condition: $b, body: Block(Yield(1))), ` +
					`Case "default"(body: Block(Yield(2)))));`,
			},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "if with every clause",
			Source: "<?php if ($a) { b(); } elseif ($c) d(); else { e(); }",
			Want: []string{
				"If(condition: $a, then: Block(Call(b);), else: If(condition: $c, then: Call(d);, " +
					"else: Block(Call(e);)))",
			},
		},
		{
			Name:   "alternative syntax",
			Source: "<?php if ($a): b(); else: c(); endif; foreach ($d as $e): f(); endforeach;",
			Want: []string{
				"If(condition: $a, then: Block(Call(b);), else: Block(Call(c);))",
				`ForEach "of"($e, iterable: $d, body: Block(Call(f);))`,
			},
		},
		{
			Name: "loops",
			Source: "<?php while ($a) b(); do { c(); } while ($d); for ($i = 0; $i < 3; $i++) e(" +
				"); foreach ($g as $k => $v) { h(); }",
			Want: []string{
				"While(condition: $a, body: Call(b);)",
				"DoWhile(body: Block(Call(c);), condition: $d)",
				`For(init: Assign "="($i, 0), condition: Binary "<"($i, 3), update: Update "++" [postfix](` +
					"$i), body: Call(e);)",
				`ForEach "range"(Tuple($k, $v), iterable: $g, body: Block(Call(h);))`,
			},
		},
		{
			Name:   "switch",
			Source: "<?php switch ($a) { case 1: case 2: b(); break; default: c(); }",
			Want: []string{
				`Switch "fallthrough"($a, Case(condition: 1, body: Block), Case(condition: 2, body: Block(` +
					`Call(b);, Break)), Case "default"(body: Block(Call(c);)))`,
			},
		},
		{
			Name:   "try",
			Source: "<?php try { a(); } catch (E | F $e) { b(); } finally { c(); }",
			Want: []string{
				"Try(body: Block(Call(a);), Catch(type: <E>, type: <F>, $e, body: Block(Call(b);)), " +
					"finally: Block(Call(c);))",
			},
		},
		{
			Name:   "throw, return and continue",
			Source: `<?php function f() { throw new E("x"); return; } while (1) { continue 2; }`,
			Want: []string{
				`Function "function"(f, body: Block(Throw(New "new"(type: <E>, "x")), Return))`,
				"While(condition: 1, body: Block(Continue))",
			},
		},
		{
			Name:   "generator",
			Source: "<?php function f() { yield 1; yield $k => $v; yield from g(); }",
			Want: []string{
				`Function "function"(f, body: Block(Yield(1);, Yield(Pair($k, $v));, Yield "from"(Call(g));))`,
			},
		},
		{
			Name:   "goto and declare",
			Source: "<?php declare(strict_types=1); goto a;",
			Want: []string{
				`Other "declare_statement"(Token "declare", Other "declare_directive"(` +
					`Token "strict_types", Token "=", 1))`,
				"Goto(label: a)",
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
			Source: "mysqli_query(..., $Q)",
			Want:   []string{"Call(mysqli_query, ..., $Q)"},
		},
		{
			Name:   "method",
			Source: "$X->query($Q, ...)",
			Want:   []string{`Call(Member "->"($X, query), $Q, ...)`},
		},
		{
			Name:   "superglobal",
			Source: "$_GET[...]",
			Want:   []string{"Index($_GET, ...)"},
		},
		{
			Name:   "echo",
			Source: "echo ...;",
			Want:   []string{"Call(echo, ...);"},
		},
		{
			Name:   "function",
			Source: "function $F(...) { ... }",
			Want:   []string{`Function "function"($F, ..., body: Block(...))`},
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
			Name:   "array with any elements",
			Source: `[..., "a" => true, ...]`,
			Want:   []string{`List(..., Pair("a", true), ...)`},
		},
		{
			Name:   "new",
			Source: "new $C(...)",
			Want:   []string{`New "new"(type: $C, ...)`},
		},
		{
			Name:   "include",
			Source: "include $X;",
			Want:   []string{"Call(include, $X);"},
		},
		{
			Name:   "concatenation",
			Source: `"..." . $X`,
			Want:   []string{`Binary "."("...", $X)`},
		},
		{
			Name:   "static call",
			Source: "A::f(...)",
			Want:   []string{`Call(Member "::"(A, f), ...)`},
		},
	})
}

package php

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// seeds are small sources with many constructs.
var seeds = []string{
	"<a><?= $x ?><?php namespace A\\B; use C\\{D, E as F};\n#[G(1)] abstract class H extends I implements J { use K; " +
		"const L = 1; public ?int $m = 2; " +
		"function __construct(private int $a, N|O &...$b) { parent::__construct($a); self::$c = static::D; " +
		"$this->e?->f(g: 1); } }\n",
	"<?php if ($a): echo 1, 2; elseif ($b): else: exit; endif; foreach ($a as $k => &$v) { [$p, , 'q' => $r] = $v; " +
		"list($s) = $t; }\n" +
		"switch ($a) { case 1: f(); break; default: } $m = match(true) { 1, 2 => 'x', default => throw new E };\n",
	"<?php $f = function() use (&$x) { yield $k => $v; }; $g = fn($x) => \"a{$b->c}d$e[f]\\x41\" . <<<TXT\n  l $x\n  " +
		"TXT . `ls $y`; try { } catch (A | B $e) { } finally { }\n",
	"$X->$M(..., \"...$Y...\", $...ARGS)", "class $C extends $D { ... function $M(..., $T $X) { ... } ... }",
	"foreach (...) { ... }", "'a' => $X",
}

func TestTrees(t *testing.T)    { langtest.Trees(t, Language) }
func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }
func TestHostile(t *testing.T)  { langtest.Hostile(t, Language, seeds...) }
func TestCorpus(t *testing.T)   { langtest.Corpus(t, Language) }
func FuzzLower(f *testing.F)    { langtest.Fuzz(f, Language, seeds...) }

func TestRulesAreInGrammar(t *testing.T) {
	if names := table.UnknownKinds(); len(names) > 0 {
		t.Errorf("the grammar has no %q", names)
	}
}

func TestEscapes(t *testing.T) {
	for source, want := range map[string]string{
		`a`: "a", `\n\t\$\"\\`: "\n\t$\"\\", `\x41\101\u{1F600}`: "AA😀", `\q\`: `\q\`, `\x`: `\x`,
		`\u{110000}`: `\u{110000}`, `\u12`: `\u12`, `\x4g`: "\x04g",
	} {
		if got := unescapeText(source); got != want {
			t.Errorf("%s is %q, want %q", source, got, want)
		}
	}
}

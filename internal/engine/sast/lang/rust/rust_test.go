package rust

import (
	"strings"
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

func TestTrees(t *testing.T) { langtest.Trees(t, Language) }

func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }

func TestCorpus(t *testing.T) { langtest.Corpus(t, Language) }

func TestRulesAreOfTheGrammar(t *testing.T) {
	if names := table.UnknownKinds(); len(names) > 0 {
		t.Errorf("the grammar has no %v", names)
	}
}

// Macros in macros are read again only so deep.
func TestShallow(t *testing.T) {
	for text, want := range map[string]bool{
		"a, b(c)": true, "a!(b!(c))": true, strings.Repeat("a!(", 5): false, strings.Repeat("(", 300): false,
		")]": true,
		"a!(1), b!(2), c!(3), d!(4), e!(5), f!(6)": true,
	} {
		if got := isShallow(text); got != want {
			t.Errorf("%.30s: got %t", text, got)
		}
	}
}

func TestUnescape(t *testing.T) {
	for text, want := range map[string]string{`\u{41}`: "A", `\u{1F_600}`: "😀", `\x41`: "A", `\u{zz}`: `\u{zz}`,
		`\u{ffffffff}`: `\u{ffffffff}`} {
		if got := unescapeText(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// seeds are sources for the fuzzer and for the hostile forms.
var seeds = []string{
	"use a::{self, b as c, d::*};\n#[e(f)]\npub struct G<T: H>(i32, pub T);\nenum I { J, K(u8), L { m: N } = 1 " +
		"}\nimpl<T> O for P<T> { const Q: R = 1; async fn s(&mut self, (t, u): (v, w)) -> X<Y> { self.z? } }\n",
	"fn a() { let b @ 1 = c else { return; }; if let Some(d) = e && f { g } 'h: loop { break 'h 1; } match i { 1 | 2 " +
		"if j => k, L::M { n, .. } => { o } _ => p } q!(r, \"{}\", s!(t)); u![v; w]; |x, y: z| -> A { ..=1 }; }\n",
	"a!a!(", // a macro at the very beginning
	"static mut A: &'static [u8; 3] = b\"\\x41\"; macro_rules! b { ($c:expr) => { $c } }\n",
}

func TestHostile(t *testing.T) {
	langtest.Hostile(t, Language, append(seeds, "a!(a!(a!(b), c), \"d\" e)")...)
}

func FuzzLower(f *testing.F) {
	langtest.Fuzz(f, Language, append(seeds, "sink(($X : T))", "match $X { ... }")...)
}

package javascript

import (
	"testing"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/langtest"
)

// seeds are small sources with many constructs.
var seeds = []string{
	"import a, {b as c} from 'm';\nexport default async function* f({a = 1, ...b}, [c, , d], ...e) { for await " +
		"(const x of y) yield* z; }\n" +
		"class A extends B { static #p = `x${1}y`; get [k]() { return super.k?.(...a) } static { new.target } }\n" +
		"l: switch (a) { case 1: break l; default: try { throw b, c } catch { } finally { } }\n",
	"const J = <A.b x=\"&amp;\" {...p} y={<></>}> t {k} </A.b>, o = {a, 'b': 1, [c]: /r/g, d() {}, async *e() {}};\n",
	"abstract class A<T extends B = C> implements D { constructor(private readonly a?: string, ...b: E[]) { super() " +
		"} abstract m(): asserts a is b; }\n" +
		"enum E { A = 1, 'b' }\nnamespace N.M { export type X = { [k in keyof T]?: T[k] } | ((a: 1) => `${b}`) " +
		"}\ndeclare module 'm' { export = n }\nlet v = <T>a as const;\n",
	"function $F(..., $X, ...) { ...\n foo(<... $X ...>); ... }", "<$EL ... a={$X} />", "`...${$X}...`",
	"{..., a: $X, ...}", "($X: T). ... .m($...A)",
}

func TestTreesOfJavaScript(t *testing.T) { langtest.Trees(t, Language) }

func TestTreesOfTypeScript(t *testing.T) {
	t.Chdir("testdata/typescript")
	langtest.Trees(t, TypeScript)
}

func TestTreesOfTSX(t *testing.T) {
	t.Chdir("testdata/tsx")
	langtest.Trees(t, TSX)
}

func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }

func TestHostile(t *testing.T) {
	for _, l := range []*lang.Language{Language, TypeScript, TSX} {
		t.Run(l.Name, func(t *testing.T) { langtest.Hostile(t, l, seeds...) })
	}
}

func TestCorpus(t *testing.T) {
	for _, l := range []*lang.Language{Language, TypeScript, TSX} {
		t.Run(l.Name, func(t *testing.T) { langtest.Corpus(t, l) })
	}
}

func FuzzJavaScript(f *testing.F) { langtest.Fuzz(f, Language, seeds...) }
func FuzzTypeScript(f *testing.F) { langtest.Fuzz(f, TypeScript, seeds...) }
func FuzzTSX(f *testing.F)        { langtest.Fuzz(f, TSX, seeds...) }

// Every rule is one of a grammar, so that none is misspelt.
func TestRulesAreInGrammars(t *testing.T) {
	missing := map[string]int{}
	for _, l := range []*lang.Language{Language, TypeScript, TSX} {
		for name := range rules {
			if len(l.Grammar.Kinds(name)) == 0 {
				missing[name]++
			}
		}
	}
	for name, n := range missing {
		if n == 3 {
			t.Errorf("no grammar has %q", name)
		}
	}
}

// A fragment of one dialect is a pattern of the other when only that one accepts it.
func TestPatternsOfOtherDialects(t *testing.T) {
	for l, text := range map[*lang.Language]string{Language: "($X: Foo).bar()", TypeScript: "<a href={$X} />"} {
		f, err := l.ParsePattern(text)
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
		} else if f.Language != l.Name {
			t.Errorf("the pattern %q of %s is one of %s", text, l.Name, f.Language)
		}
	}
	if _, err := Language.ParsePattern("foo((("); err == nil {
		t.Error("a broken fragment is a pattern")
	}
}

func TestEscapes(t *testing.T) {
	for source, want := range map[string]string{
		`a`: "a", `\n\t\0\'`: "\n\t\x00'", `\x41\u0042\u{43}\103`: "ABCC", `\uD83D\uDE00`: "😀", `\uD83D`: "\uFFFD",
		`\u{110000}`: `\u{110000}`,
		`\xZ1`:       `\xZ1`, `\u12`: `\u12`, "a\\\nb\\\r\nc\\\u2028d": "abcd", `\`: `\`, `\é`: "é", `\477`: "'7",
	} {
		if got := unescapeText(source); got != want {
			t.Errorf("%s is %q, want %q", source, got, want)
		}
	}
}

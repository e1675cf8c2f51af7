package lang_test

import (
	"errors"
	"strings"
	"testing"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/lang/langtest"
	"merlon/internal/engine/sast/tree"
)

// language returns the language of a name.
func language(t *testing.T, name string) *lang.Language {
	t.Helper()
	l := all.ByName(name)
	if l == nil {
		t.Fatalf("no language %s", name)
	}
	return l
}

func TestValidate(t *testing.T) {
	for _, l := range all.Languages() {
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
	}
	grammar, lower := all.Languages()[0].Grammar, func(*lang.Lowering) {}
	for _, c := range []struct {
		name, want string
		l          *lang.Language
	}{
		{"no name", "spellings", &lang.Language{Grammar: grammar, Lower: lower}},
		{"a name that rules cannot use", "spellings", &lang.Language{Name: "a", Spellings: []string{"b"},
			Grammar: grammar,
			Lower:   lower}},
		{"no grammar", "no grammar", &lang.Language{Name: "a", Spellings: []string{"a"}, Lower: lower}},
		{"no lowering", "no lowering", &lang.Language{Name: "a", Spellings: []string{"a"}, Grammar: grammar}},
	} {
		if err := c.l.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one about %q", c.name, err, c.want)
		}
	}
}

// TestParsePatternErrors pins that what no context makes valid is an error with the name
// of the language and the fragment, on one line.
func TestParsePatternErrors(t *testing.T) {
	for _, c := range []struct{ language, pattern, want string }{
		{"python", "def (:", "python: the pattern is not valid in this language: def (:"},
		{"java", "class {\n  x", "java: the pattern is not valid in this language: class { x"},
		{"go", "", "go: the pattern is not valid"},
		{"go", strings.Repeat("a ", 40<<10), "more than 65536"},
		{"javascript", strings.Repeat("( ", 300), "…"},
	} {
		_, err := language(t, c.language).ParsePattern(c.pattern)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %.20q: got error %v, want one with %q", c.language, c.pattern, err, c.want)
		}
	}
}

// TestSignsInEveryLanguage parses the signs of patterns as arguments of a call, which all
// these languages write the same way.
func TestSignsInEveryLanguage(t *testing.T) {
	for _, name := range []string{"c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "python", "ruby", "rust",
		"scala", "tsx", "typescript"} {
		l := language(t, name)
		for pattern, want := range map[string]string{
			"f(...)":                  "Call(f, ...)",
			"f($X)":                   "Call(f, $X)",
			"f($...ARGS)":             "Call(f, $...ARGS)",
			"f(..., $X, ...)":         "Call(f, ..., $X, ...)",
			"f(<... $X ...>)":         "Call(f, Deep($X))",
			"$F($X, 1)":               "Call($F, $X, 1)",
			`f("...")`:                `Call(f, "...")`,
			"f(g($X), $X)":            "Call(f, Call(g, $X), $X)",
			"f(<... g(...) ...>)":     "Call(f, Deep(Call(g, ...)))",
			"f($_)":                   "Call(f, $_)",
			"f($X, <... $Y ...>, $Z)": "Call(f, $X, Deep($Y), $Z)",
		} {
			f, err := l.ParsePattern(pattern)
			if err != nil {
				t.Errorf("%s %s: %v", name, pattern, err)
				continue
			}
			if got := strings.TrimSuffix(langtest.Outline(f), ";"); got != want {
				t.Errorf("%s %s: got %s, want %s", name, pattern, got, want)
			}
		}
	}
}

// TestSemicolonAsksForAStatement pins that a fragment is an expression unless it ends as a
// statement does.
func TestSemicolonAsksForAStatement(t *testing.T) {
	for pattern, want := range map[string]string{"f($X)": "Call(f, $X)", "f($X);": "Call(f, $X);"} {
		f, err := language(t, "java").ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := langtest.Outline(f); got != want {
			t.Errorf("%s: got %s, want %s", pattern, got, want)
		}
	}
}

// TestDialects pins that a fragment in a dialect is understood by the rules of the other
// one, under the name that the rule gives.
func TestDialects(t *testing.T) {
	for _, c := range []struct{ language, pattern string }{
		{"typescript", "<A b={$X} />"}, {"javascript", "function f(a: string) { ... }"},
	} {
		f, err := language(t, c.language).ParsePattern(c.pattern)
		if err != nil {
			t.Errorf("%s %s: %v", c.language, c.pattern, err)
			continue
		}
		if f.Language != c.language {
			t.Errorf("%s %s: the pattern is of %s", c.language, c.pattern, f.Language)
		}
	}
}

// TestParseBrokenSource pins that what is not understood is listed, and the rest lowered.
func TestParseBrokenSource(t *testing.T) {
	for _, c := range []struct{ language, source, want string }{
		{"python", "a = 1\nb = = 2\nc = f(3)\n", "f"},
		{"java", "class A { void f() { int = ; g(1); } }", "g"},
		{"go", "package p\nfunc f() { ) }\nfunc g() { h(1) }\n", "h"},
		{"javascript", "let = = 1;\nf(2);\n", "f"},
		{"ruby", "a = )\nf(1)\n", "f"},
	} {
		f, err := language(t, c.language).Parse("a", []byte(c.source), cst.Limits{})
		if err != nil {
			t.Errorf("%s: %v", c.language, err)
			continue
		}
		if err := f.Check(); err != nil {
			t.Errorf("%s: %v", c.language, err)
		}
		if len(f.Unknown) == 0 {
			t.Errorf("%s: nothing is listed as not understood", c.language)
		}
		called := false
		for i := range f.Nodes {
			called = called || f.Nodes[i].Kind == tree.Call && f.Text(f.Child(int32(i), tree.RoleCallee)) == c.want
		}
		if !called {
			t.Errorf("%s: the call of %s behind the fault is missing:\n%s", c.language, c.want, f)
		}
	}
}

// TestParseRefuses pins that the limits of package cst are those of a language.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		source []byte
		want   error
	}{
		{"a file that is no text", []byte("a\x00b"), cst.ErrBinary},
		{"a file that is too large", make([]byte, cst.MaxSource+1), cst.ErrTooLarge},
	} {
		if _, err := language(t, "go").Parse("a.go", c.source, cst.Limits{}); !errors.Is(err, c.want) {
			t.Errorf("%s: got error %v, want %v", c.name, err, c.want)
		}
	}
}

func TestNumberText(t *testing.T) {
	for _, c := range []struct{ source, suffixes, want string }{
		{"1_000", "", "1000"}, {"10L", "lL", "10"}, {"1.5f", "fF", "1.5"}, {"0xFFL", "lL", "0xFF"},
		{"0xFF", "fF", "0xFF"}, // digits, and no suffix
		{"0x1_F", "", "0x1F"}, {"ull", "ul", "ull"}, {"1", "", "1"},
	} {
		if got := lang.NumberText(c.source, c.suffixes); got != c.want {
			t.Errorf("NumberText(%q, %q) = %q, want %q", c.source, c.suffixes, got, c.want)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	for name, want := range map[string]bool{
		lang.Placeholder("$X"): true, lang.Placeholder("$A_1"): true, lang.EllipsisName: true, "qzmany_ARGS": true,
		"Qzmv_X": true, "qzmv_x": false, "x": false, "": false, "qz": false, "qzellipsis2": false,
	} {
		if got := lang.Holder(name); got != want {
			t.Errorf("Holder(%q) = %v, want %v", name, got, want)
		}
	}
	if !lang.Expression("=~/a/") || lang.Expression("a=~/b/") {
		t.Error("the regular expression of a pattern is told wrongly")
	}
}

// TestThirdParty pins the folders of installed packages.
func TestThirdParty(t *testing.T) {
	for name, want := range map[string]string{
		"node_modules/a/b.js": "node_modules/", "web/node_modules/a/b.js": "web/node_modules/",
		"vendor/github.com/a/b.go": "vendor/", "vendor/composer/a.php": "vendor/", "vendor/bundle/a.rb": "vendor/",
		"vendor/app/main.go": "", "src/vendor/models/a.go": "", ".venv/lib/a.py": ".venv/", "a.js": "", "": "",
		"node_modules": "",
	} {
		if got := lang.ThirdParty(name); got != want {
			t.Errorf("ThirdParty(%q) = %q, want %q", name, got, want)
		}
	}
}

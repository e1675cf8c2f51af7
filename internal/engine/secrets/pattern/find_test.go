package pattern

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFindsWhatTheStandardLibraryFinds runs each expression over texts in which a match
// stands at the start, at the end, alone, twice and across a window's edge.
func TestFindsWhatTheStandardLibraryFinds(t *testing.T) {
	for _, c := range []struct{ expression, match string }{
		{`ghp_[0-9a-zA-Z]{6}`, "ghp_abc123"},
		{`\bghp_[0-9a-zA-Z]{6}\b`, "ghp_abc123"},
		{`(?i)key\s*=\s*(\w{4,8})`, "Key = abcd1234"},
		{`(?m)^token=\S+$`, "token=abc"},
		{`(?:sk|rk)_live_\w+`, "rk_live_abcdef"},
		{`begin[\s\S]*?end`, "begin a\nb end"},
		{`-----BEGIN[ A-Z]*KEY-----[\s\S]+?-----END`, "-----BEGIN KEY-----\nabc\n-----END"},
		{`(?i)ſecret`, "SECRET"},
		{`k(?:e|é)y=\d+`, "kéy=12"},
		{`a+b`, "aaab"},
		{`x?`, "x"},
		{`^only`, "only"},
		{`only$`, "only"},
		{`\Bmid\B`, "amidb"},
	} {
		re, err := Compile(c.expression)
		if err != nil {
			t.Fatal(err)
		}
		want := regexp.MustCompile(c.expression)
		pad := strings.Repeat("lorem ipsum, ", 60)
		for name, text := range map[string]string{
			"nothing": "", "alone": c.match, "at the start": c.match + " " + pad, "at the end": pad + c.match,
			"between": pad + "\n" + c.match + "\n" + pad, "twice": c.match + "\n" + pad + "\n" + c.match,
			"side by side": c.match + c.match, "without a boundary": "z" + c.match + "z",
			"cut off":     c.match[:len(c.match)-1],
			"in capitals": strings.ToUpper(pad + c.match), "absent": pad,
		} {
			if diff := cmp.Diff(want.FindAllStringIndex(text, -1), re.FindAllStringIndex(text, -1)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", c.expression, name, diff)
			}
			if diff := cmp.Diff(want.FindAllStringIndex(text, 1), re.FindAllStringIndex(text, 1)); diff != "" {
				t.Errorf("%s, %s, one match (-want +got):\n%s", c.expression, name, diff)
			}
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, expression := range []string{"(", "[a", `\8`, "a{2,1}", "(?<a>", "*"} {
		if _, err := Compile(expression); err == nil {
			t.Errorf("%q: no error", expression)
		}
	}
}

// Sets of texts stay small: an expression with too many alternatives is run over the whole
// text.
func TestSetsOfLiterals(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []string
		want []string
	}{
		{"every text with every other", crossProduct([]string{"a", "b"}, []string{"c", "d"}),
			[]string{"ac", "ad", "bc", "bd"}},
		{"with the empty text", crossProduct([]string{""}, []string{"c"}), []string{"c"}},
		{"with what is not known", crossProduct([]string{"a"}, nil), nil},
		{"both", unionSets([]string{"a"}, []string{"b"}), []string{"a", "b"}},
		{"both, one of which is not known", unionSets([]string{"a"}, nil), nil},
		{"the longer texts", selectiveSet([]string{"ab"}, []string{"abcd"}), []string{"abcd"}},
		{"the only one", selectiveSet(nil, []string{"abcd"}), []string{"abcd"}},
		{"without those that hold another", minimalSet([]string{"abc", "b", "xy"}), []string{"b", "xy"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if got := shortestLength([]string{"abc", "de"}); got != 2 {
		t.Errorf("the shortest of abc and de has %d bytes", got)
	}
	if got := shortestLength(nil); got != -1 {
		t.Errorf("the shortest of none has %d bytes, want -1", got)
	}
}

// The longest match of an expression decides how wide windows are.
func TestLongestMatch(t *testing.T) {
	for expression, want := range map[string]int{
		"abc": 3, "a{2,5}": 5, "a?": 1, "a*": -1, "a+b": -1, "[a-z]{3}": 3, "[é]": 4, ".": 4, "a|bcd": 3,
		"(?:ab){3}c": 7,
		"^abc$":      3, "": 0, "(?:a{100}){10}": 1000,
	} {
		re, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := analyzeLiterals(re).max; got != want {
			t.Errorf("%q: %d bytes, want %d", expression, got, want)
		}
	}
}

func TestMergeWindows(t *testing.T) {
	for _, c := range []struct{ windows, want [][2]int }{
		{[][2]int{{0, 5}, {3, 8}, {10, 12}}, [][2]int{{0, 8}, {10, 12}}},
		{[][2]int{{0, 5}, {5, 8}}, [][2]int{{0, 8}}},
		{[][2]int{{4, 6}}, [][2]int{{4, 6}}},
		{[][2]int{{0, 9}, {2, 3}}, [][2]int{{0, 9}}},
	} {
		if diff := cmp.Diff(c.want, mergeWindows(c.windows)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.windows, diff)
		}
	}
}

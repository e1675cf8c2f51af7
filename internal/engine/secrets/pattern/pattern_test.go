package pattern

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStudy(t *testing.T) {
	for text, want := range map[string]struct {
		need []string
		max  int
	}{
		`\bghp_[0-9a-zA-Z]{36}\b`:    {[]string{"ghp_"}, 40},
		`(?i)\b(?:ghp|gho)_[a-z]{4}`: {[]string{"gho_", "ghp_"}, 8},
		`(?:sk|rk)_(?:test|live)_\w{10}`: {[]string{"rk_live_", "rk_test_", "sk_live_", "sk_test_"},
			18},
		`(?i)[\w.-]{0,50}?(?:adobe)(?:[ \t\w.-]{0,20})=`: {[]string{"adobe"}, 76},
		`-----BEGIN[ A-Z]*KEY-----[\s\S]+`:               {[]string{"-----begin"}, -1},
		`[a-z]+`:                                         {nil, -1},
		`(?:abc|\d+)`:                                    {nil, -1},
		`(?:abc|x?defg)`:                                 {[]string{"abc", "defg"}, 5},
		`(?:key){2}`:                                     {[]string{"keykey"}, 6},
		`(?:key)?x`:                                      {nil, 4},
		`(?i)k[e€]y`:                                     {nil, 6},
		`a{2}bc`:                                         {[]string{"aabc"}, 4},
		`^(?:[^a]|b)token$`:                              {[]string{"token"}, 9},
		`(?:eins|zwei|drei)[^\n]*`:                       {[]string{"drei", "eins", "zwei"}, -1},
	} {
		re, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		f := analyzeLiterals(re)
		if diff := cmp.Diff(want.need, minimalSet(selectiveSet(f.need, f.exact))); diff != "" || f.max != want.max {
			t.Errorf("%s: longest match %d, want %d; needed (-want +got):\n%s", text, f.max, want.max, diff)
		}
	}
}

// expressions are of the kinds that rules have.
var expressions = []string{`\bghp_[0-9a-zA-Z]{6}\b`,
	`(?i)[\w.-]{0,10}?(?:key|token)(?:[ \t\w.-]{0,5})[\s'"]{0,3}[=:][\s'"]{0,3}(\w{4,8})(?:['"\s;]|$)`,
	`(?m)^token=\S{2,9}$`, `^token`, `token$`, `\Btoken\B`, `(?s)begin.{0,12}?end`, `begin[\s\S]*?end`, `[^a]{0,3}ghp_`,
	`(?:ghp_|gho_)+`, `(?i)ſk_live|sk_live`, `\btoken\b`,
	`(?i)(?:key|token)[\w.-]{0,9}[=:]["' ]{0,3}([\w.=-]{6,12}|[a-z][a-z+/]{5,}={0,3})(?:[\s"']|$)`,
	`\btoken\b(?:.*|.*(?:[\r\n]{1,2}.*){1,2})[ \n]-u ["\w]+`,
	`(?:key){2,}x?`, `(?i)key[^\n]+token`, `(?:key|tok[e]n)+?.{2,}z`}

// Windows find what the standard library finds.
func FuzzFindAllStringIndex(f *testing.F) {
	f.Add(strings.Repeat("x ", 80)+"my_Token = abcdef;"+strings.Repeat("y\n", 90)+"ghp_123456 ghp_1234567 begin a end",
		uint8(0))
	f.Add(strings.Repeat("\n", 200)+"token=abc\ntoken=defg"+strings.Repeat("ä", 200)+"token", uint8(2))
	f.Add("toKen\u212a ſk_live"+strings.Repeat("z", 300)+"sK_LIVE", uint8(10))
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		for pad := range 2 {
			text := strings.Repeat("lorem ipsum\n", pad*40) + text + strings.Repeat(" dolor", pad*80)
			e := expressions[int(which)%len(expressions)]
			re, err := Compile(e)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(regexp.MustCompile(e).FindAllStringIndex(text, -1),
				re.FindAllStringIndex(text, -1)); diff != "" {
				t.Errorf("%s in %q (-want +got):\n%s", e, text, diff)
			}
		}
	})
}

// An expression that needs a text which is not there is not run, and one whose
// text is rare runs over little.
func TestWindows(t *testing.T) {
	re, err := Compile(`(?i)\bghp_[a-z]{6}\b`)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a", 5000) + " ghp_abcdef " + strings.Repeat("b", 5000)
	windows, all := re.findWindows(text, text)
	if diff := cmp.Diff([][2]int{{5001 - 8, 5001 + 18}}, windows); diff != "" || all {
		t.Errorf("all %v, windows (-want +got):\n%s", all, diff)
	}
	if windows, _ := re.findWindows(strings.Repeat("a", 100), strings.Repeat("a", 100)); windows != nil {
		t.Errorf("windows of a text without the word: %v", windows)
	}
}

func TestEngine(t *testing.T) {
	e := For(func(string) (interface{ NumSubexp() int }, error) { return nil, nil })
	if re, err := e.Compile("(a)(b)"); err != nil || re.NumSubexp() != 2 {
		t.Errorf("compiled: %v, %v", re, err)
	}
	if _, err := e.Compile("("); err == nil {
		t.Error("no error for an unfinished expression")
	}
	if _, err := For(func(string) (interface{ Fly() }, error) { return nil, nil }).Compile("a"); err == nil {
		t.Error("no error for a type that an expression is not")
	}
	if e.Version() == "" {
		t.Error("the engine has no name")
	}
}

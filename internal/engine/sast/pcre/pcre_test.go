package pcre

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		expr   string
		flags  Flags
		text   string
		want   []int
		linear bool
	}{
		{`a+b`, 0, "xaab", []int{1, 4}, true},
		{`(a)(?P<n>b)?`, 0, "xa", []int{1, 2, 1, 2, -1, -1}, true},
		{`(?<n>b)(c)`, 0, "bc", []int{0, 2, 0, 1, 1, 2}, true},
		{`a(?!b)`, 0, "abac", []int{2, 3}, false},
		{`(?<!é)a`, 0, "éaéxa", []int{6, 7}, false},
		{`(?<n>['"])(x)\k<n>`, 0, `'x" "x"`, []int{4, 7, 4, 5, 5, 6}, false},
		{`(['"])x\1`, 0, `'x" 'x'`, []int{4, 7, 4, 5}, false},
		{`(['"])x\g{-1}`, 0, `'x" 'x'`, []int{4, 7, 4, 5}, false},
		{`(?P<q>.)(?P=q)`, 0, "abb", []int{1, 3, 1, 2}, false},
		{`a++b`, 0, "aab", []int{0, 3}, false},
		{`a++a`, 0, "aaa", nil, false},
		{`(?>a|ab)c`, 0, "abc", nil, false},
		{`a{2}{2}`, 0, "aaaa", []int{0, 4}, true},
		{`a{2`, 0, "a{2", []int{0, 3}, true},
		{`a{,2}`, 0, "a{,2}", []int{0, 5}, true},
		{`^b$`, Multiline, "a\nb\nc", []int{2, 3}, true},
		{`^b$`, 0, "a\nb\nc", nil, true},
		{`(?m)^b$`, 0, "a\nb\nc", []int{2, 3}, true},
		{`b\Z`, 0, "ab\n", []int{1, 2}, false},
		{`b`, Anchored, "ab", nil, true},
		{`a|b`, Anchored, "ba", []int{0, 1}, true},
		{`(?i)AbC`, 0, "abc", []int{0, 3}, true},
		{`abc`, IgnoreCase, "ABC", []int{0, 3}, true},
		{`a.b`, DotAll, "a\nb", []int{0, 3}, true},
		{`a.b`, 0, "a\nb", nil, true},
		{`\Qa.b\E+`, 0, "a.bb", []int{0, 4}, true},
		{`\h+\d\H`, 0, "a \t7x", []int{1, 5}, true},
		{`[\h\d]+`, 0, "a 7\tx", []int{1, 4}, true},
		{`a\Rb`, 0, "a\r\nb", []int{0, 4}, true},
		{`\x41\x{42}\u0043`, 0, "ABC", []int{0, 3}, true},
		{`[^\x00-\x7F]`, 0, "abé", []int{2, 4}, true},
		{`[]a]+`, 0, "x]a", []int{1, 3}, true},
		{`[a\]]+`, 0, "x]a", []int{1, 3}, true},
		{`[\w-]+`, 0, " a-b ", []int{1, 4}, true},
		{`[a-\d]+`, 0, "x-5a", []int{1, 4}, true},
		{`[[:alpha:]_]+`, 0, "7a_b7", []int{1, 4}, true},
		{`[a[b]+`, 0, "x[ab", []int{1, 4}, true},
		{"(?x) a # comment (\n b", 0, "ab", []int{0, 2}, true},
		{`(?#note)a`, 0, "a", []int{0, 1}, true},
		{`\s`, 0, "a\vb", []int{1, 2}, true},
		{`(a)?(?(1)b|c)`, 0, "xc", []int{1, 2, -1, -1}, false},
		{`a{1001}`, 0, strings.Repeat("a", 1001), []int{0, 1001}, false},
		{`\p{Lu}+`, 0, "aÉB", []int{1, 4}, true},
		{`\<a\/\-\_`, 0, "<a/-_", []int{0, 5}, true},
	} {
		re, err := Compile(c.expr, c.flags)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		got, err := re.Find(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s in %q (-want +got):\n%s", c.expr, c.text, diff)
		}
		if re.Linear() != c.linear {
			t.Errorf("%s: linear %v, want %v", c.expr, re.Linear(), c.linear)
		}
		if ok, err := re.Match(c.text); err != nil || ok != (c.want != nil) {
			t.Errorf("%s: Match says %v, %v", c.expr, ok, err)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for expr, want := range map[string]string{
		`(`:                            "not closed",
		`)`:                            "closes nothing",
		`[a`:                           "not closed",
		`*a`:                           "nothing to repeat",
		`a\`:                           "backslash at the end",
		`\y`:                           "not known",
		`(?R)`:                         "not supported",
		`(?1)`:                         "not supported",
		`\g<1>`:                        "subroutines",
		`(*UTF8)a`:                     "verbs",
		`(?<1a>b)`:                     "malformed name",
		`[z-a]`:                        "out of order",
		`\k<x>`:                        "no group",
		`\x{110000}`:                   "no character",
		"a\xff":                        "UTF-8",
		strings.Repeat("(", 300):       "nested",
		strings.Repeat("a", 1+128<<10): "limit",
		`(?(DEFINE)a)`:                 "conditions",
		`[[:^alpha:]]`:                 "negated",
		`(?#`:                          "comment",
		`(?i`:                          "flags are not closed",
	} {
		if _, err := Compile(expr, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: error %v, want one with %q", expr, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, expr := range []string{`(a)(?P<X>b)(c)(?<Y>d)`, `(a)(?P<X>b)(c)(?<Y>d)(?=)`} {
		re, err := Compile(expr, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"", "", "X", "", "Y"}, re.Names()); diff != "" {
			t.Error(diff)
		}
		got, err := re.Find("abcd")
		if diff := cmp.Diff([]int{0, 4, 0, 1, 1, 2, 2, 3, 3, 4}, got); diff != "" || err != nil {
			t.Error(expr, diff, err)
		}
	}
}

func TestFindAllAndReplace(t *testing.T) {
	for _, expr := range []string{`(\w)=(?P<v>\w)`, `(\w)=(?P<v>\w)(?=)`} {
		re, err := Compile(expr, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := re.FindAll("é a=b é c=d", -1)
		want := [][]int{{3, 6, 3, 4, 5, 6}, {10, 13, 10, 11, 12, 13}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if got, err := re.FindAll("a=b c=d", 1); len(got) != 1 || err != nil {
			t.Error(got, err)
		}
		for _, c := range []struct {
			replacement string
			count       int
			want        string
		}{
			{`\2:\1`, 0, "b:a, d:c"}, {`\g<v>\g<1>\9\\`, 1, `ba\, c=d`}, {`<\0>`, 0, "<a=b>, <c=d>"},
		} {
			if got, err := re.Replace("a=b, c=d", c.replacement, c.count); got != c.want || err != nil {
				t.Errorf("%s: %q, %v, want %q", c.replacement, got, err, c.want)
			}
		}
	}
}

// An expression that backtracks without end stops.
func TestTimeout(t *testing.T) {
	re, err := Compile(`(a+)+(?=c)`, 0)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	re.slow.MatchTimeout = time.Second
	if _, err := re.Match(strings.Repeat("a", 50) + "b"); !errors.Is(err, ErrTimeout) {
		t.Errorf("error %v, want %v", err, ErrTimeout)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("stopped after %v", d)
	}
}

// Whatever compiles, matches without a panic and within the text.
func FuzzCompile(f *testing.F) {
	for _, expr := range []string{
		`^(?!.*(b|c))a(?<=a)$`, `(?>a|b(?!x))*+(?!')`, `(?<n>['"])(x)\k<n>`, `a++[^\]\h[:alpha:]]{2,3}?`,
		`(?i:a|(?=b))\Q.\E$`, `(?x) a # b`, `(a)?(?(1)b|c)\Z`, `\p{L}\x{41}`,
	} {
		f.Add(expr, "a'x'b\nc", uint8(1))
	}
	f.Fuzz(func(t *testing.T, expr, text string, flags uint8) {
		re, err := Compile(expr, Flags(flags)&(Multiline|IgnoreCase|DotAll|Anchored))
		if err != nil || len(text) > 200 || !re.Linear() && len(text) > 20 {
			return
		}
		if re.slow != nil && re.isImpossible(text) {
			if ok, err := re.slow.MatchString(text); err == nil && ok {
				t.Fatalf("%q matches %q, which is said to be impossible", expr, text)
			}
		}
		all, err := re.FindAll(text, 10)
		if err != nil && !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
		for _, m := range all {
			if len(m) != 2*len(re.Names()) {
				t.Fatalf("%d offsets for %d groups", len(m), len(re.Names()))
			}
			for i := 0; i < len(m); i += 2 {
				if m[i] > m[i+1] || m[i+1] > len(text) || m[i] < -1 {
					t.Fatalf("%v in %d bytes", m, len(text))
				}
			}
		}
	})
}

// Most texts are seen not to match without the backtracking engine.
func TestImpossible(t *testing.T) {
	for _, c := range []struct {
		expr, text string
		want       bool
	}{
		{`^(?!.*hash)[a-z]*password$`, "name", true},
		{`^(?!.*hash)[a-z]*password$`, "hashpassword", false}, // it takes looking ahead
		{`^(?!.*hash)[a-z]*password$`, "mypassword", false},
		{`(?i)(?<=x)K`, "\u212a", false}, // a letter whose cases are not those of ASCII
		{`(a+)+(?!c)$`, "aaaab", true},
		{`a++b(?>c|d)`, "ac", true},
		{`(?<!(a)b)(c)`, "ab", true},
		{`(['"])x\1`, "x", false}, // what it refers to is not known
		{`(a)?(?(1)b|c)`, "d", false},
		{`a+`, "b", false}, // the other engine is as quick
	} {
		re, err := Compile(c.expr, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := re.isImpossible(c.text); got != c.want {
			t.Errorf("%s on %q: impossible %v, want %v", c.expr, c.text, got, c.want)
		}
	}
}

func TestExplodes(t *testing.T) {
	for expr, want := range map[string]bool{
		`(a+)+$`:            true,
		`(?:a+)+$`:          true,
		`^(\w+\s?)*$`:       true,
		`(a*)*b`:            true,
		`(?=x)(a|b+)*c`:     true,
		`(?i:a+)+b`:         true,
		`((ab)*)*c`:         true,
		`(.*,){1,20}x`:      true,
		`(\w+\w*x)+y`:       true,
		`(a+)+`:             false, // nothing after it fails
		`(a+)+b*`:           false,
		`(a++)+b`:           false,
		`^(\d+\.)+\d+$`:     false, // the dot keeps the rounds apart
		`([a-z]+-)*[a-z]+$`: false,
		`(a{3})+b`:          false,
		`(?=(a+)+b)c`:       false, // look-around is left out
		`a+b+c+$`:           false,
		`(a+){2}b`:          false,
		`(abc)+$`:           false,
		`(`:                 false,
		"\xff(a+)+$":        false,
	} {
		if got := Explodes(expr); got != want {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}

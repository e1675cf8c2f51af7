package pcre

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A syntaxCase is an expression with the offsets of its first match in a text, and of its groups;
// nil for no match. Perl 5.36 finds the same, except that it counts a{,3}, has no \Q in text that it
// is given, and forgets the inner group of (a(b)?)+ with each round.
type syntaxCase struct {
	expr  string
	flags Flags
	text  string
	want  []int
}

// TestSyntax goes through the syntax, element by element. Which of the two engines runs an
// expression does not matter here: TestFind says so.
func TestSyntax(t *testing.T) {
	for group, cases := range syntaxCases {
		t.Run(group, func(t *testing.T) {
			for _, c := range cases {
				re, err := Compile(c.expr, c.flags)
				if err != nil {
					t.Errorf("%s: %v", c.expr, err)
					continue
				}
				got, err := re.Find(c.text)
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("%s in %q: %v (-want +got):\n%s", c.expr, c.text, err, diff)
				}
			}
		})
	}
}

var syntaxCases = map[string][]syntaxCase{
	"literals and escapes": {
		{`a.c`, 0, `abc xac`, []int{0, 3}},
		{`a\.c`, 0, `abc a.c`, []int{4, 7}},
		{`\t\n\r\f`, 0, "\t\n\r\f", []int{0, 4}},
		{`\e`, 0, "\x1b", []int{0, 1}},
		{`\a`, 0, "\a", []int{0, 1}},
		{`\cA`, 0, "\x01", []int{0, 1}},
		{`\x20x`, 0, `a x`, []int{1, 3}},
		{`\x2`, 0, "\x02", []int{0, 1}},
		{`\x{1F600}`, 0, `a😀`, []int{1, 5}},
		{`\101`, 0, `A`, []int{0, 1}},
		{`\0`, 0, "\x00", []int{0, 1}},
		{`\012`, 0, "\n", []int{0, 1}},
		{`\@\#\%`, 0, `@#%`, []int{0, 3}},
		{`\Qa.b*`, 0, `a.b*`, []int{0, 4}},
		{`\Q\E`, 0, `a`, []int{0, 0}},
		{`a\Q(\Eb`, 0, `a(b`, []int{0, 3}},
		{`é+`, 0, `éé`, []int{0, 4}},
		{`\N+`, 0, "ab\nc", []int{0, 2}},
		{`[\b]`, 0, "\b", []int{0, 1}},
	},
	"classes of characters": {
		{`\d+`, 0, `ab12`, []int{2, 4}},
		{`\D+`, 0, `12ab`, []int{2, 4}},
		{`\w+`, 0, `-a_1-`, []int{1, 4}},
		{`\W+`, 0, `a-+b`, []int{1, 3}},
		{`\s+`, 0, "a \t\nb", []int{1, 4}},
		{`\S+`, 0, `  ab `, []int{2, 4}},
		{`\h+`, 0, "a \t\n", []int{1, 3}},
		{`\H+`, 0, ` ab `, []int{1, 3}},
		{`\v+`, 0, "a\n\vb", []int{1, 3}},
		{`\V+`, 0, "\nab\n", []int{1, 3}},
		{`\R`, 0, "a\r\nb", []int{1, 3}},
		{`[abc]+`, 0, `xcabx`, []int{1, 4}},
		{`[^abc]+`, 0, `abxyc`, []int{2, 4}},
		{`[a-c]+`, 0, `xabcd`, []int{1, 4}},
		{`[a\-c]+`, 0, `b-ac`, []int{1, 4}},
		{`[-a]+`, 0, `b-a`, []int{1, 3}},
		{`[a-]+`, 0, `b-a`, []int{1, 3}},
		{`[]]+`, 0, `a]]`, []int{1, 3}},
		{`[^]]+`, 0, `]ab]`, []int{1, 3}},
		{`[\]]`, 0, `a]`, []int{1, 2}},
		{`[\d.]+`, 0, `a1.2b`, []int{1, 4}},
		{`[^\d]+`, 0, `12ab3`, []int{2, 4}},
		{`[\s\S]+`, 0, "a\nb", []int{0, 3}},
		{`[\w.-]+`, 0, `+a.b-c+`, []int{1, 6}},
		{`[[:digit:]]+`, 0, `a12`, []int{1, 3}},
		{`[[:space:][:punct:]]+`, 0, `a ,;b`, []int{1, 4}},
		{`[[:xdigit:]]+`, 0, `xyzAf09g`, []int{3, 7}},
		{`[[:word:]]+`, 0, `-a_1-`, []int{1, 4}},
		{`[\x41-\x43]+`, 0, `DABC`, []int{1, 4}},
		{`[\t-\r]+`, 0, "a\t\nb", []int{1, 3}},
		{`[.*+?]+`, 0, `a+*b`, []int{1, 3}},
		{`[\^a]+`, 0, `b^a`, []int{1, 3}},
		{`[a^]+`, 0, `b^a`, []int{1, 3}},
		{`[é-ü]+`, 0, `aéüz`, []int{1, 5}},
		{`[\p{L}]+`, 0, `1aé1`, []int{1, 4}},
		{`\p{Greek}+`, 0, `aαβ`, []int{1, 5}},
		{`\P{L}+`, 0, `a12b`, []int{1, 3}},
		{`\pL+`, 0, `1ab`, []int{1, 3}},
		{`[^\W_]+`, 0, `_a1_`, []int{1, 3}},
		{`[\h]+`, 0, "a \tb", []int{1, 3}},
		{`[^\s"]+`, 0, `" ab"`, []int{2, 4}},
	},
	"quantifiers": {
		{`a*`, 0, `aaa`, []int{0, 3}},
		{`a+?`, 0, `aaa`, []int{0, 1}},
		{`a??b`, 0, `ab`, []int{0, 2}},
		{`a{2}`, 0, `aaa`, []int{0, 2}},
		{`a{2,}`, 0, `aaaa`, []int{0, 4}},
		{`a{1,2}?`, 0, `aaa`, []int{0, 1}},
		{`a{0}b`, 0, `ab`, []int{1, 2}},
		{`a{2,3}+a`, 0, `aaa`, nil},
		{`a*+a`, 0, `aaa`, nil},
		{`a?+a`, 0, `a`, nil},
		{`(?:ab)+`, 0, `xababa`, []int{1, 5}},
		{`(ab)+`, 0, `ababx`, []int{0, 4, 2, 4}},
		{`a{,3}`, 0, `a{,3}`, []int{0, 5}},
		{`x{y}`, 0, `x{y}`, []int{0, 4}},
		{`{`, 0, `{`, []int{0, 1}},
		{`a{1`, 0, `a{1`, []int{0, 3}},
		{`(a|b)*c`, 0, `abac`, []int{0, 4, 2, 3}},
		{`.*?x`, 0, `abx x`, []int{0, 3}},
	},
	"groups and alternatives": {
		{`a|b|c`, 0, `xcb`, []int{1, 2}},
		{`(a)(b)`, 0, `xab`, []int{1, 3, 1, 2, 2, 3}},
		{`((a)b)`, 0, `ab`, []int{0, 2, 0, 2, 0, 1}},
		{`(?:a)(b)`, 0, `ab`, []int{0, 2, 1, 2}},
		{`(a)|(b)`, 0, `b`, []int{0, 1, -1, -1, 0, 1}},
		{`a(|b)c`, 0, `ac`, []int{0, 2, 1, 1}},
		{`(?'n'a)`, 0, `a`, []int{0, 1, 0, 1}},
		{`(?<first>a)(?<second>b)`, 0, `ab`, []int{0, 2, 0, 1, 1, 2}},
		{`(a(b)?)+`, 0, `aba`, []int{0, 3, 2, 3, 1, 2}},
		{`(?>a+)b`, 0, `aab`, []int{0, 3}},
		{`(?>a+)ab`, 0, `aaab`, nil},
		{`(?#x)a(?#y)b`, 0, `ab`, []int{0, 2}},
		{`()a`, 0, `a`, []int{0, 1, 0, 0}},
		{`(a||b)c`, 0, `bc`, []int{0, 2, 0, 1}},
	},
	"assertions": {
		{`^a`, 0, `ba`, nil},
		{`^a`, 0, `ab`, []int{0, 1}},
		{`a$`, 0, "ab\na", []int{3, 4}},
		{`\Aa`, 0, `ab`, []int{0, 1}},
		{`a\z`, 0, "a\n", nil},
		{`a\Z`, 0, "a\n", []int{0, 1}},
		{`\bfoo\b`, 0, `a foo b`, []int{2, 5}},
		{`\bfoo\b`, 0, `afoo`, nil},
		{`\Boo`, 0, `foo`, []int{1, 3}},
		{`a(?=b)`, 0, `acab`, []int{2, 3}},
		{`a(?!b)`, 0, `abac`, []int{2, 3}},
		{`(?<=a)b`, 0, `cbab`, []int{3, 4}},
		{`(?<!a)b`, 0, `abcb`, []int{3, 4}},
		{`(?=(a+))a*b`, 0, `aab`, []int{0, 3, 0, 2}},
		{`(?<=^|,)x`, 0, `y,x`, []int{2, 3}},
		{`(?<=ab|c)d`, 0, `cd`, []int{1, 2}},
		{`(?!$)b`, 0, `b`, []int{0, 1}},
		{`^(?!.*no).*$`, 0, `yes`, []int{0, 3}},
		{`^(?!.*no).*$`, 0, `a no`, nil},
		{`\Ga`, 0, `ab`, []int{0, 1}},
		{`^$`, 0, ``, []int{0, 0}},
		{`(?<![\w.])k`, 0, `a.k k`, []int{4, 5}},
		{`(?i)(?<=A)b`, 0, `ab`, []int{1, 2}},
	},
	"references": {
		{`(a)\1`, 0, `aa`, []int{0, 2, 0, 1}},
		{`(.)\1`, 0, `abb`, []int{1, 3, 1, 2}},
		{`(a)(b)\2\1`, 0, `abba`, []int{0, 4, 0, 1, 1, 2}},
		{`(?<n>a)\k{n}`, 0, `aa`, []int{0, 2, 0, 1}},
		{`(?<n>a)\k'n'`, 0, `aa`, []int{0, 2, 0, 1}},
		{`(?P<n>a)(?P=n)`, 0, `aa`, []int{0, 2, 0, 1}},
		{`(a)\g1`, 0, `aa`, []int{0, 2, 0, 1}},
		{`(a)\g{1}`, 0, `aa`, []int{0, 2, 0, 1}},
		{`(a)(b)\g{-2}`, 0, `aba`, []int{0, 3, 0, 1, 1, 2}},
		{`(["\']).*?\1`, 0, `x "a'" y`, []int{2, 6, 2, 3}},
		{`(?i)(a)\1`, 0, `aA`, []int{0, 2, 0, 1}},
		{`(a)?\1b`, 0, `b`, nil},
		{`(a)(?:\1)+`, 0, `aaa`, []int{0, 3, 0, 1}},
	},
	"conditions": {
		{`(a)?b(?(1)c|d)`, 0, `abc`, []int{0, 3, 0, 1}},
		{`(a)?b(?(1)c|d)`, 0, `bd`, []int{0, 2, -1, -1}},
		{`(a)?b(?(1)c|d)`, 0, `xbc`, nil},
		{`(?<n>a)?b(?(<n>)c|d)`, 0, `abc`, []int{0, 3, 0, 1}},
		{`(\()?a(?(1)\))`, 0, `(a)`, []int{0, 3, 0, 1}},
		{`(\()?a(?(1)\))`, 0, `a`, []int{0, 1, -1, -1}},
	},
	"flags": {
		{`(?i)abc`, 0, `aBC`, []int{0, 3}},
		{`a(?i)bc`, 0, `aBC`, []int{0, 3}},
		{`a(?i)bc`, 0, `ABC`, nil},
		{`a(?i:b)c`, 0, `aBc`, []int{0, 3}},
		{`a(?i:b)c`, 0, `aBC`, nil},
		{`(?s)a.b`, 0, "a\nb", []int{0, 3}},
		{`(?-s)a.b`, DotAll, "a\nb", nil},
		{`(?m)^b`, 0, "a\nb", []int{2, 3}},
		{`(?x) a b # c`, 0, `ab`, []int{0, 2}},
		{`(?x)a\ b`, 0, `a b`, []int{0, 3}},
		{`(?x)[ ]a`, 0, ` a`, []int{0, 2}},
		{`(?im)^B$`, 0, "a\nb", []int{2, 3}},
		{`(?i)a(?-i)b`, 0, `Ab`, []int{0, 2}},
		{`(?i)a(?-i)b`, 0, `AB`, nil},
		{`(?:(?i)a)b`, 0, `AB`, nil},
		{`((?i)a)b`, 0, `Ab`, []int{0, 2, 0, 1}},
		{`(?s-i:a.)b`, 0, "a\nb", []int{0, 3}},
		{`a b`, 0, `ab`, nil},
		{`abc`, IgnoreCase, `ABC`, []int{0, 3}},
		{`a.c`, DotAll, "a\nc", []int{0, 3}},
		{`^b$`, Multiline, "a\nb\nc", []int{2, 3}},
		{`É`, IgnoreCase, `é`, []int{0, 2}},
		{`[a-c]+`, IgnoreCase, `ABC`, []int{0, 3}},
		{`(?i)ß`, 0, `ẞ`, []int{0, 3}},
		{`(?i)[^a]`, 0, `A`, nil},
		{`(?i)k`, 0, `K`, []int{0, 1}},
	},
}

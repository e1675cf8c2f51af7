package generic

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/rule"
)

// say writes matches as their texts, with their bindings.
func say(text string, all []Match) []string {
	out := []string{}
	for _, m := range all {
		line := text[m.Start:m.End]
		for _, b := range m.Bindings {
			line += fmt.Sprintf(" %s=%q", b.Name, b.Text)
			if text[b.Start:b.End] != b.Text {
				line += "!"
			}
		}
		out = append(out, line)
	}
	return out
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		name, pattern, text string
		want                []string
	}{
		{"words", "a b", "a b\nab a  b", []string{"a b", "a  b"}},
		{"white space does not count", "f(x)", "f ( x )", []string{"f ( x )"}},
		{"lines do not count", "f(x) { a; }", "f(x)\n{\n  a; }", []string{"f(x)\n{\n  a; }"}},
		{"whole words", "ab", "abc xab ab_ ab", []string{"ab"}},
		{"metavariable", "$X = $Y", "a = 1\n*b = c", []string{`a = 1 $X="a" $Y="1"`, `b = c $X="b" $Y="c"`}},
		{"a metavariable is a word", "= $X;", "= +;", []string{}},
		{"equal metavariables", "$X == $X", "a == b; c == c", []string{`c == c $X="c"`}},
		{"ellipsis", "a ... b", "a x y b", []string{"a x y b"}},
		{"the shortest", "a ... b", "a 1 a 2 b b", []string{"a 2 b"}},
		{"overlapping", "a ... b", "a c a b d b", []string{"a b"}},
		{"ten lines", "a ... b", "a" + strings.Repeat("\nx", 9) + "\nb",
			[]string{"a" + strings.Repeat("\nx", 9) + "\nb"}},
		{"not eleven", "a ... b", "a" + strings.Repeat("\nx", 10) + "\nb", []string{}},
		{"twice as far", "a ... ... b", "a" + strings.Repeat("\nx", 19) + "\nb",
			[]string{"a" + strings.Repeat("\nx", 19) + "\nb"}},
		{"named ellipsis", "f($...ARGS)", "f(1, 2)", []string{`f(1, 2) $...ARGS="1, 2"`}},
		{"the first brace will do", "f($...ARGS)", "f(1, g(2))", []string{`f(1, g(2) $...ARGS="1, g(2"`}},
		{"equal named ellipses", "a $...X; b $...X;", "a 1 2; b 1 2; a 1; b 2;",
			[]string{`a 1 2; b 1 2; $...X=" 1 2"`}},
		{"last ellipsis", "a ...", "a b\nc", []string{"a b\nc"}},
		{"last ellipsis in braces", "a ...", "f(a b) c", []string{"a b"}},
		{"first ellipsis", "... b", "x b c", []string{"x b"}},
		{"four dots", "a .... b", "a .... b, a x b", []string{"a .... b"}},
		{"dots in the text", "a ... b", "a ... b", []string{"a ... b"}},
		{"dollar in the text", "a $X", "a $X", []string{}},
		{"block", "a\n  b\nc", "a\n  b\nc", []string{"a\n  b\nc"}},
		{"flat pattern", "a\nb\nc", "a\n    b\nc", []string{"a\n    b\nc"}},
		{"a block needs a block", "a\n  b\nc", "a\nb\nc", []string{}},
		{"a whole block", "a\n  b\nc", "a\n  b\n  d\nc", []string{}},
		{"a block with an ellipsis", "a\n  b\n  ...\nc", "a\n  b\n  d\nc", []string{"a\n  b\n  d\nc"}},
		{"an ellipsis stays in its block", "a\n  b\n  ...\nc", "a\n  b\nd\nc", []string{}},
		{"a block of one line", "f(\n  x\n)", "f(x)", []string{"f(x)"}},
		{"deeper blocks", "a\n  b\n    c\n  d", "a\n  b\n     c\n  d", []string{"a\n  b\n     c\n  d"}},
		{"tabs are eight", "a\n        b", "a\n\tb", []string{"a\n\tb"}},
		{"an optional block", "a\n  ...\nb", "a\nb", []string{"a\nb"}},
		{"bytes", "é=$X", "é = 1", []string{`é = 1 $X="1"`}},
		{"carriage returns", "a\nb", "a\r\nb\r\n", []string{"a\r\nb"}},
		{"out of a brace", "x ) y", "(x) y", []string{}},
		{"into a brace", "f ( x", "f(x)", []string{"f(x"}},
		{"indented pattern", "  a\n  b", "a b", []string{"a b"}},
	} {
		p, err := Parse(c.pattern, 10)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, complete := p.Find(NewDocument(c.text, ""))
		if diff := cmp.Diff(c.want, say(c.text, got)); diff != "" || !complete {
			t.Errorf("%s: complete %v (-want +got):\n%s", c.name, complete, diff)
		}
	}
}

func TestPatternErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "no word", "...": "no word", "a ... $...X": "cannot follow", strings.Repeat("a", 1+64<<10): "limit",
	} {
		if _, err := Parse(text, 10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

func TestComments(t *testing.T) {
	for _, c := range []struct {
		style, text string
		want        int
	}{
		{"", "a # x\nb", 0}, {"shell", "a # x\nb", 1}, {"shell", "a # b", 0}, {"c", "a /* x\n */ b", 1},
		{"c", "a // x\nb", 0},
		{"cpp", "a // x\nb", 1}, {"cpp", "a /* x */ b", 1}, {"c", "a /* b", 0},
	} {
		p, err := Parse("a b", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := p.Find(NewDocument(c.text, c.style)); len(got) != c.want {
			t.Errorf("%s %q: %d matches, want %d", c.style, c.text, len(got), c.want)
		}
	}
}

// A search that cannot end in time says so.
func TestGivenUp(t *testing.T) {
	p, err := Parse("a ... $X ... $X ... z", 10)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&text, "a w%d ", i)
	}
	text.WriteString("\n\n\n\n\n\n\n\n\n\n\n\n\n\n z")
	begin := time.Now()
	if _, complete := p.Find(NewDocument(text.String(), "")); complete {
		t.Error("the search was complete")
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("it took %v", d)
	}
}

// Where nothing compares with what is bound, failures are remembered: the time does
// not multiply with each ellipsis.
func TestRemembersFailures(t *testing.T) {
	p, err := Parse("a ... a ... a ... a ... a ... z", 10)
	if err != nil {
		t.Fatal(err)
	}
	if got, complete := p.Find(NewDocument(strings.Repeat("a ", 200)+"\n y z z", "")); !complete || len(got) == 0 {
		t.Errorf("%d matches, complete %v", len(got), complete)
	}
	if got, complete := p.Find(NewDocument(strings.Repeat("a ", 100)+strings.Repeat("\n", 60)+"z", "")); !complete ||
		len(got) != 0 {
		t.Errorf("%d matches, complete %v", len(got), complete)
	}
}

func alienOptions(change func(*rule.Options)) rule.Options {
	o := rule.DefaultOptions()
	o.GenericEngine = rule.Aliengrep
	change(&o)
	return o
}

func TestAlien(t *testing.T) {
	lines := func(o *rule.Options) { o.GenericMultiline = false }
	none := func(*rule.Options) {}
	for _, c := range []struct {
		name, pattern, text string
		change              func(*rule.Options)
		want                []string
	}{
		{"words", "a b", "ab a\nb", none, []string{"a\nb"}},
		{"metavariable", "$X = $X", "a = b, c = c", none, []string{`c = c $X="c"`}},
		{"balanced", "f(...)", "f(a (b) c) )", none, []string{"f(a (b) c)"}},
		{"the pair ends", "f(... x)", "f() x)", none, []string{}},
		{"unbalanced", "f(... x)", "f( [ x)", none, []string{"f( [ x)"}},
		{"named", "p $...URL;", "p http://x/$y ;", none, []string{`p http://x/$y ; $...URL="http://x/$y"`}},
		{"named and empty", "f($...A)", "f()", none, []string{`f() $...A=""`}},
		{"first to the edge", "... a", "b a a", none, []string{"b a"}},
		{"last to the edge", "a ...", "b a c\nd\n", none, []string{"a c\nd"}},
		{"lines", "a ... b", "a\nb a c b", lines, []string{"a c b"}},
		{"last of a line", "a ...", "a c\nd", lines, []string{"a c"}},
		{"four dots", "a .... b", "a c\nd b", lines, []string{"a c\nd b"}},
		{"line ends", "a\nb", "a b a\r\nb", lines, []string{"a\r\nb"}},
		{"caseless", "Foo", "fOO", func(o *rule.Options) { o.GenericCaseless = true }, []string{"fOO"}},
		{"word characters", "$X", "e-mail", func(o *rule.Options) {
			o.GenericExtraWord = "-"
		}, []string{`e-mail $X="e-mail"`}},
		{"braces", "<...>", "<a <b>>", func(o *rule.Options) { o.GenericExtraBraces = [][2]string{{"<", ">"}} },
			[]string{"<a <b>>"}},
	} {
		a, err := parseAlien(c.pattern, alienOptions(c.change))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := a.findMatches(c.text)
		if diff := cmp.Diff(c.want, say(c.text, got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
	for _, pattern := range []string{"...", "", strings.Repeat("a", 1+64<<10)} {
		if _, err := parseAlien(pattern, alienOptions(none)); err == nil {
			t.Errorf("%.10q was taken", pattern)
		}
	}
	if _, err := parseAlien("a", alienOptions(func(o *rule.Options) {
		o.GenericBraces = [][2]string{{"a", "b"}}
	})); err == nil {
		t.Error("letters were taken as braces")
	}
	a, err := parseAlien("x ( ... y", alienOptions(none))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.findMatches(strings.Repeat("x ( [ ", 5000)); !errors.Is(err, ErrGivenUp) {
		t.Errorf("hostile braces: %v", err)
	}
}

func TestMatcher(t *testing.T) {
	o := rule.DefaultOptions()
	text := strings.Repeat("a ", 300) + "b"
	for range 3 { // a document is made once
		m, err := Compile("a b", o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Find(text); len(got) != 1 || err != nil {
			t.Errorf("%v, %v", got, err)
		}
	}
	o.GenericComments = "shell"
	m, err := Compile("a b", o)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Find("a # x\nb"); len(got) != 1 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := m.Find(strings.Repeat("a", 17<<20)); err == nil {
		t.Error("17 MB were taken")
	}
	if m, err = Compile("a", o); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Find(strings.Repeat("a ", 200_000)); !errors.Is(err, ErrGivenUp) || len(got) == 0 {
		t.Errorf("200,000 matches: %d, %v", len(got), err)
	}
	o.GenericEngine = rule.Aliengrep
	if m, err = Compile("f(...)", o); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Find("f(a (b))"); len(got) != 1 || got[0].End != 8 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := m.Find(strings.Repeat("f() ", 200_000)); !errors.Is(err, ErrGivenUp) || len(got) == 0 {
		t.Errorf("200,000 matches: %d, %v", len(got), err)
	}
	for _, engine := range []string{rule.Spacegrep, rule.Aliengrep} {
		o.GenericEngine = engine
		if _, err := Compile("...", o); err == nil {
			t.Errorf("%s took an ellipsis alone", engine)
		}
	}
}

func TestReadable(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"", true}, {"a\n", true}, {strings.Repeat("a", 400), true}, {strings.Repeat("a", 600), false},
		{strings.Repeat(strings.Repeat("a", 100)+"\n", 100), true}, {"\x00\x01abc", false},
		{strings.Repeat("é\n", 10), true},
	} {
		if got := Readable(c.text); got != c.want {
			t.Errorf("%.10q: %v, want %v", c.text, got, c.want)
		}
	}
}

// No pattern and text make a search panic or leave the text.
func FuzzPattern(f *testing.F) {
	f.Add("a ... b\n  $X ($...Y)\nc $X", "a x b\n  d (1, 2)\nc d")
	f.Add("a\n  ...\nb ...", "a\nb\n\tc")
	f.Add("f($...A) { .... }", "f([)]{)}")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(text) > 2000 {
			return
		}
		check := func(m Match) {
			if m.Start > m.End || m.Start < 0 || m.End > len(text) {
				t.Fatalf("%d-%d of %d", m.Start, m.End, len(text))
			}
			for _, b := range m.Bindings {
				if text[b.Start:b.End] != b.Text {
					t.Fatalf("%q is not %q", text[b.Start:b.End], b.Text)
				}
			}
		}
		if p, err := Parse(pattern, 2); err == nil {
			matches, _ := p.Find(NewDocument(text, ""))
			for _, m := range matches {
				check(m)
			}
		}
		for _, multiline := range []bool{true, false} {
			a, err := parseAlien(pattern, alienOptions(func(o *rule.Options) { o.GenericMultiline = multiline }))
			if err != nil {
				continue
			}
			matches, _ := a.findMatches(text)
			for _, m := range matches {
				check(m)
			}
		}
	})
}

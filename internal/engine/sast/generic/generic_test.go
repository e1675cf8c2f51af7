package generic

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/pcre"
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
		{"ten lines", "a ... b", "a" + strings.Repeat("\nx", 9) + "\nb", []string{"a" + strings.Repeat("\nx", 9) + "\nb"}},
		{"not eleven", "a ... b", "a" + strings.Repeat("\nx", 10) + "\nb", []string{}},
		{"twice as far", "a ... ... b", "a" + strings.Repeat("\nx", 19) + "\nb", []string{"a" + strings.Repeat("\nx", 19) + "\nb"}},
		{"named ellipsis", "f($...ARGS)", "f(1, 2)", []string{`f(1, 2) $...ARGS="1, 2"`}},
		{"the first brace will do", "f($...ARGS)", "f(1, g(2))", []string{`f(1, g(2) $...ARGS="1, g(2"`}},
		{"equal named ellipses", "a $...X; b $...X;", "a 1 2; b 1 2; a 1; b 2;", []string{`a 1 2; b 1 2; $...X=" 1 2"`}},
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
		{"", "a # x\nb", 0}, {"shell", "a # x\nb", 1}, {"shell", "a # b", 0}, {"c", "a /* x\n */ b", 1}, {"c", "a // x\nb", 0},
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
	for i := range 20000 {
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
	if got, complete := p.Find(NewDocument(strings.Repeat("a ", 100)+strings.Repeat("\n", 60)+"z", "")); !complete || len(got) != 0 {
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
		{"word characters", "$X", "e-mail", func(o *rule.Options) { o.GenericExtraWord = "-" }, []string{`e-mail $X="e-mail"`}},
		{"braces", "<...>", "<a <b>>", func(o *rule.Options) { o.GenericExtraBraces = [][2]string{{"<", ">"}} }, []string{"<a <b>>"}},
	} {
		a, err := parseAlien(c.pattern, alienOptions(c.change))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := a.find(c.text)
		if diff := cmp.Diff(c.want, say(c.text, got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
	for _, pattern := range []string{"...", "", strings.Repeat("a", 1+64<<10)} {
		if _, err := parseAlien(pattern, alienOptions(none)); err == nil {
			t.Errorf("%.10q was taken", pattern)
		}
	}
	if _, err := parseAlien("a", alienOptions(func(o *rule.Options) { o.GenericBraces = [][2]string{{"a", "b"}} })); err == nil {
		t.Error("letters were taken as braces")
	}
	a, err := parseAlien("x ( ... y", alienOptions(none))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.find(strings.Repeat("x ( [ ", 30000)); !errors.Is(err, ErrGivenUp) {
		t.Errorf("hostile braces: %v", err)
	}
}

// run evaluates the formula of a rule, which is indented by two, on a text.
func run(t *testing.T, language, formula, text string, q Request) ([]Match, error) {
	t.Helper()
	rules, err := rule.Parse("r.yaml", []byte("rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: ["+language+"]\n"+formula))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(rules[0].Search, language, rules[0].Options)
	if err != nil {
		t.Fatal(err)
	}
	return p.Find(text, q)
}

func TestFormula(t *testing.T) {
	for _, c := range []struct {
		name, language, formula, text string
		want                          []string
	}{
		{"regex", "regex", "  pattern: a(\\d)(?<X>b)?\n", "a1 a2b", []string{`a1 $1="1"`, `a2b $1="2" $2="b" $X="b"`}},
		{"lines", "regex", "  pattern-regex: ^a$\n", "a\nba\na", []string{"a", "a"}},
		{"either", "generic", "  pattern-either: [{pattern: a}, {pattern: b}]\n", "b a", []string{"b", "a"}},
		{"inside", "generic", "  patterns: [{pattern: f($X)}, {pattern-inside: 'g { ... }'}]\n", "f(1) g { f(2) } f(3)", []string{`f(2) $X="2"`}},
		{"inside binds", "generic", "  patterns: [{pattern: f($X)}, {pattern-inside: '$Y { ... }'}]\n", "g { f(2) }", []string{`f(2) $X="2" $Y="g"`}},
		{"inside disagrees", "generic", "  patterns: [{pattern: f($X)}, {pattern-inside: '$X { ... }'}]\n", "g { f(2) } h { f(h) }", []string{`f(h) $X="h"`}},
		{"not inside", "generic", "  patterns: [{pattern: f($X)}, {pattern-not-inside: 'g { ... }'}]\n", "f(1) g { f(2) }", []string{`f(1) $X="1"`}},
		{"not", "generic", "  patterns: [{pattern: f($X)}, {pattern-not: f(2)}]\n", "f(1) f(2)", []string{`f(1) $X="1"`}},
		{"not is the same range", "generic", "  patterns: [{pattern: 'f($X)'}, {pattern-not: 'f'}]\n", "f(1)", []string{`f(1) $X="1"`}},
		{"not regex", "generic", "  patterns: [{pattern: f($X)}, {pattern-not-regex: '2'}]\n", "f(1) f(2)", []string{`f(1) $X="1"`}},
		{"two patterns", "generic", "  patterns: [{pattern: 'a ... b'}, {pattern: x}]\n", "x a x b x", []string{"x"}},
		{"regex and", "regex", "  patterns: [{pattern-regex: 'a.b'}, {pattern-regex: 'x'}]\n", "axb x", []string{"x"}},
		{"focus", "generic", "  patterns: [{pattern: 'f($X, $Y)'}, {focus-metavariable: [$X, $Y]}]\n", "f(1, 2)", []string{`1 $X="1" $Y="2"`, `2 $X="1" $Y="2"`}},
		{"two focuses", "generic", "  patterns: [{pattern: 'f($...A)'}, {pattern: 'g($X)'}, {focus-metavariable: $X}, {focus-metavariable: $...A}]\n", "f(h, g(1)) g(1)", []string{`1 $...A="h, g(1" $X="1"`}},
		{"metavariable-regex", "generic", "  patterns: [{pattern: f($X)}, {metavariable-regex: {metavariable: $X, regex: 'b(?<Y>c)'}}]\n", "f(abc) f(bc)", []string{`bc`}},
		{"metavariable-pattern", "generic", "  patterns: [{pattern: 'f($...X)'}, {metavariable-pattern: {metavariable: $...X, pattern: 'a b'}}]\n", "f(x a b) f(a)", []string{`f(x a b) $...X="x a b"`}},
		{"negative below metavariable", "generic", "  patterns: [{pattern: 'f($...X)'}, {metavariable-pattern: {metavariable: $...X, patterns: [{pattern-not-regex: a}]}}]\n", "f(x a b) f(c)", []string{`f(c) $...X="c"`}},
		{"metavariable-pattern in regex", "generic", "  patterns: [{pattern: f($X)}, {metavariable-pattern: {metavariable: $X, language: regex, pattern: '^a$'}}]\n", "f(ab) f(a)", []string{`f(a) $X="a"`}},
		{"agree below metavariable", "generic", "  patterns: [{pattern: 'f($Y, $...X)'}, {metavariable-pattern: {metavariable: $...X, pattern: 'g $Y'}}]\n", "f(1, g 2) f(1, g 1)", []string{`f(1, g 1) $...X=" g 1" $Y="1"`}},
		{"comparison", "generic", "  patterns: [{pattern: f($X)}, {metavariable-comparison: {comparison: $X > 5}}]\n", "f(9) f(4) f(x)", []string{`f(9) $X="9"`}},
		{"comparison of text", "generic", "  patterns: [{pattern: 'f($X, $Y)'}, {metavariable-comparison: {comparison: $X == $Y}}]\n", "f(a, b) f(a, a)", []string{`f(a, a) $X="a" $Y="a"`}},
		{"entropy", "generic", "  patterns: [{pattern: k=$X}, {metavariable-analysis: {metavariable: $X, analyzer: entropy}}]\n", "k=q8Zt2LmX9vRw4KpJ7nYb k=password", []string{`k=q8Zt2LmX9vRw4KpJ7nYb $X="q8Zt2LmX9vRw4KpJ7nYb"`}},
		{"entropy v2", "regex", "  patterns: [{pattern: 'k=(?<X>\\w+)'}, {metavariable-analysis: {metavariable: $X, analyzer: entropy_v2}}]\n", "k=password", []string{}},
		{"redos", "regex", "  patterns: [{pattern: '/(?<X>.*)/'}, {metavariable-analysis: {metavariable: $X, analyzer: redos}}]\n", "/(a+)+$/ and\n/a+$/", []string{`/(a+)+$/ $1="(a+)+$" $X="(a+)+$"`}},
		{"anywhere", "generic", "  match: {all: [a, {anywhere: z}]}\n", "a\n\nz", []string{"a"}},
		{"as", "generic", "  match: {all: [{pattern: 'f($X)', as: $F}]}\n", "f(1)", []string{`f(1) $F="f(1)" $X="1"`}},
		{"unbound", "generic", "  patterns: [{pattern: a}, {metavariable-regex: {metavariable: $X, regex: a}}, {metavariable-comparison: {comparison: $X > 1}}, {focus-metavariable: $X}]\n", "a", []string{}},
		{"aliengrep", "generic", "  options: {generic_engine: aliengrep}\n  pattern: f(...)\n", "f(a\n(b))", []string{"f(a\n(b))"}},
		{"span", "generic", "  options: {generic_ellipsis_max_span: 0}\n  pattern: a ... b\n", "a\nb\na b", []string{"a b"}},
		{"comments", "generic", "  options: {generic_comment_style: shell}\n  pattern: a b\n", "a # x\nb", []string{"a # x\nb"}},
	} {
		got, err := run(t, c.language, c.formula, c.text, Request{})
		said := say(c.text, got)
		if c.name == "metavariable-regex" { // the binding of the group is under test elsewhere
			for i := range said {
				said[i], _, _ = strings.Cut(said[i], " ")
				said[i] = strings.TrimSuffix(strings.TrimPrefix(said[i], "f("), ")")
			}
		}
		if diff := cmp.Diff(c.want, said); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
}

func TestNested(t *testing.T) {
	formula := "  patterns: [{pattern: 'f($...X)'}, {metavariable-pattern: {metavariable: $...X, language: js, pattern: 'g($Y)'}}, {focus-metavariable: $Y}]\n"
	_, err := run(t, "generic", formula, "f(g 1)", Request{})
	if err == nil || !strings.Contains(err.Error(), "javascript") {
		t.Errorf("without an engine for it: %v", err)
	}
	got, err := run(t, "generic", formula, "f(g 1)", Request{Nested: func(language, text string, f *rule.Formula) ([]Match, error) {
		if language != "javascript" || text != "g 1" || f.Text != "g($Y)" {
			t.Errorf("%s %q %v", language, text, f)
		}
		return []Match{{Start: 0, End: 4, Bindings: []Binding{{"$Y", "1", 2, 3}}}}, nil
	}})
	if diff := cmp.Diff([]string{`1 $...X="g 1" $Y="1"`}, say("f(g 1)", got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// Conditions that need a grammar are an error, and so is a text without end.
func TestRefused(t *testing.T) {
	if _, err := run(t, "generic", "  patterns: [{pattern: $X}, {metavariable-type: {metavariable: $X, type: int}}]\n", "a", Request{}); err == nil {
		t.Error("a type was asked of a text")
	}
	if _, err := run(t, "regex", "  pattern: a\n", strings.Repeat("a", 17<<20), Request{}); err == nil {
		t.Error("17 MB were taken")
	}
	if _, err := run(t, "regex", "  pattern: a\n", strings.Repeat("a", 200_000), Request{}); !errors.Is(err, ErrGivenUp) {
		t.Errorf("200,000 matches: %v", err)
	}
	if _, err := run(t, "regex", "  patterns: [{pattern: a}, {pattern: a}]\n", strings.Repeat("a", 50_000), Request{}); !errors.Is(err, ErrGivenUp) {
		t.Errorf("2.5 billion pairs: %v", err)
	}
	if _, err := run(t, "regex", "  pattern: '(?=a)(a+)+$'\n", strings.Repeat("a", 40)+"b", Request{}); !errors.Is(err, pcre.ErrTimeout) {
		t.Errorf("endless backtracking: %v", err)
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
			matches, _ := a.find(text)
			for _, m := range matches {
				check(m)
			}
		}
	})
}

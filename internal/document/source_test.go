package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *Node {
	t.Helper()
	docs, err := ParseAll([]byte(text), testLimits)
	if err != nil {
		t.Fatal(err)
	}
	return docs[0]
}

func TestParseAll(t *testing.T) {
	n := parse(t, "base: &b\n  x: 1\n  y: [a, {k: v}]\njob:\n  <<: *b\n  x: 2\nlist: !reference [.a, script]\n")
	if got := n.At("job", "x").Text(); got != "2" {
		t.Errorf("job.x is %q: the map's own key comes first", got)
	}
	if got := n.At("job", "y"); len(got.Scalars()) != 1 || got.Items[1].Get("k").Text() != "v" || got.Line != 3 {
		t.Errorf("job.y is %+v", got)
	}
	if n.Get("list").Scalars() != nil {
		t.Error("a reference has no scalars of its own")
	}
	if n.At("no", "such").Text() != "" || n.Key("job").Line != 4 {
		t.Error("absent values are nil, keys have places")
	}
}

// Hostile files end with an error that says where, quickly.
func TestLimits(t *testing.T) {
	bomb := "a0: &a0 [x, x]\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"bomb":      {bomb, "more than 500000 values"},
		"deep":      {strings.Repeat("[", 150) + strings.Repeat("]", 150), "inside each other"},
		"recursive": {"a: &a\n  b: *a\n", "stands inside of what it names"},
		"large":     {strings.Repeat("a", int(testLimits.Size)+1), "larger than 4 MiB"},
		"no YAML":   {"a: [\n", "line 1: not valid YAML"},
		"documents": {strings.Repeat("---\na\n", 1200), "more than 1000 documents"},
		"merged":    {"a: &a {<<: [*a]}", "stands inside of what it names"},
	} {
		_, err := ParseAll([]byte(c.text), testLimits)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// Places inside of scalars hold for every style.
func TestPart(t *testing.T) {
	text := "plain: ä echo $X\nquoted: \"a $X b\"\nliteral: |\n\n  one\n    two $X and $X\nfolded: >-\n  one\n  two " +
		"$X\nlong: one\n  two $X\nescaped: \"\\u0024X\"\n"
	n := parse(t, text)
	src := NewSource([]byte(text))
	for _, c := range []struct {
		key    string
		nth    int
		line   int
		column int
	}{{"plain", 0, 1, 15}, {"quoted", 0, 2, 12}, {"literal", 0, 6, 9}, {"literal", 1, 6, 16}, {"folded", 0, 9, 7},
		{"long", 0, 11, 7}, {"escaped", 0, 12, 10}} {
		v := n.Get(c.key)
		at := -1
		for range c.nth + 1 {
			at += 1 + strings.Index(v.Value[at+1:], "$X")
		}
		got := src.Part(v, at, 2)
		if got.Line != c.line || got.Column != c.column || got.EndLine != c.line {
			t.Errorf("%s %d: got %+v, want %d:%d", c.key, c.nth, got, c.line, c.column)
		}
	}
}

func TestComment(t *testing.T) {
	src := NewSource([]byte("a: b # one\nc: d#e\n# three\r\n"))
	for line, want := range map[int]string{1: "one", 2: "", 3: "three", 9: ""} {
		if got, ok := src.Comment(line); got != want || ok != (want != "") {
			t.Errorf("line %d: got %q, %v", line, got, ok)
		}
	}
}

func FuzzParseAll(f *testing.F) {
	f.Add([]byte("a: &a [1, *a]\n---\n<<: {b: |\n  c}\n"))
	f.Add([]byte("a: &a {x: y}\nb: {<<: [*a, *a]}\nc: !!merge d\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		docs, err := ParseAll(b, testLimits)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%T: %v", err, err)
			}
			return
		}
		src := NewSource(b)
		for _, d := range docs {
			d.Walk(func(n *Node) bool {
				if n.IsScalar() && len(n.Value) > 0 {
					src.Part(n, len(n.Value)/2, len(n.Value)-len(n.Value)/2)
				}
				return true
			})
		}
	})
}

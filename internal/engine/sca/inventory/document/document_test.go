package document

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// show writes a node in one line: members as key@line=value.
func show(n *Node) string {
	if n == nil {
		return "nil"
	}
	switch n.Kind {
	case Object, List:
		var parts []string
		for i := range n.Kids {
			kid := &n.Kids[i]
			text := fmt.Sprintf("@%d %s", kid.Line, show(kid))
			if n.Kind == Object {
				text = kid.Key + text
			}
			parts = append(parts, text)
		}
		if n.Kind == List {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if n.Quoted {
		return fmt.Sprintf("%q", n.Text)
	}
	return n.Text
}

func TestReading(t *testing.T) {
	for _, test := range []struct {
		name string
		read func([]byte) (*Node, error)
		text string
		want string
	}{
		{"JSON", JSON, "{\"a\": [1, -2.5e3,\n \"x\\u0041\"], \"b\": {\"c\": null}}",
			`{a@1 [@1 1, @1 -2.5e3, @2 "xA"], b@2 {c@2 null}}`},
		{"JSON with comments and commas", JSON, "// first\n{ /* two\nlines */ \"a\": true, // end\n}", `{a@3 true}`},
		{"TOML", TOML, "a = 1\nb.c = 'x'\n[t.u]\nd = [\"y\",\n  \"z\"]\n[[l]]\ne = { f = \"g\" }\n[[l]]\ne = " +
			"2\n[l.m]\nh = true\n",
			`{a@1 1, b@2 {c@2 "x"}, t@3 {u@3 {d@4 [@4 "y", @5 "z"]}}, l@6 [@6 {e@7 {f@7 "g"}}, @8 {e@9 2, m@10 {h@11 true}}]}`},
		{"YAML", YAML, "# c\na: 1 # one\n'b c': \"x: y\"\nd:\n  e: |\n    many\n    lines\n  f: >-\n    " +
			"folded\ng:\n- 1\n- h: i\n  j: k\n-\n  l: m\nn: {o: 'p, q', r: [s, t]}\nu:\n",
			`{a@2 1, b c@3 "x: y", d@4 {e@5 "many\nlines", f@8 "folded"}, g@10 [@11 1, @12 {h@12 i, j@13 k}, @14 {l@15 m}], n@16 {o@16 "p, q", r@16 [@16 s, @16 t]}, u@17 }`},
		{"YAML, a long key", YAML, "? \"long\"\n: a: b\n  c: d\n? other\n: e\n", `{long@1 {a@2 b, c@3 d}, other@4 e}`},
		{"YAML, folded", YAML, "a: one\n  two\nb: 'it''s'\n", `{a@1 one two, b@3 "it's"}`},
		{"YAML, flow over lines", YAML, "a: [1,\n  2]\nb: {}\n", `{a@1 [@1 1, @2 2], b@3 {}}`},
		{"YAML, flow alone", YAML, "{}\n", `{}`},
		{"YAML, nothing", YAML, "---\n# nothing\n", `{}`},
		{"XML", XML, "<?xml version=\"1.0\"?>\n<a x=\"1\">\n <b>t</b>\n <p:c><d/></p:c>\n</a>",
			`{a@2 {@x@2 "1", b@3 "t", c@4 {d@4 ""}}}`},
	} {
		n, err := test.read([]byte(test.text))
		if got := show(n); err != nil || got != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", test.name, err, got, test.want)
		}
	}
}

func TestRefusing(t *testing.T) {
	for _, test := range []struct {
		name string
		read func([]byte) (*Node, error)
		text string
		want string
	}{
		{"JSON, half", JSON, "{\"a\":\n[1,", "line 2: the document ends too early"},
		{"JSON, no value", JSON, "{\"a\": x}", `line 1: "x" is no value`},
		{"JSON, more", JSON, "{} {}", "line 1: something stands behind the end"},
		{"JSON, open text", JSON, "{\"a", "line 1: a text does not end"},
		{"JSON, deep", JSON, strings.Repeat("[", 1000), "too deep"},
		{"TOML", TOML, "a = 1\n[b\nc", "line 2: "},
		{"TOML, deep", TOML, "a = " + strings.Repeat("[", 300) + strings.Repeat("]", 300), "too deep"},
		{"YAML, anchors", YAML, "a: &x 1", "anchors"},
		{"YAML, indentation", YAML, "a: 1\n   b: 2\n", "line 2: the indentation does not fit"},
		{"YAML, mixed", YAML, "a: 1\n- b\n", "line 2: a list stands"},
		{"YAML, open", YAML, "a: [1, 2\n", "a bracket is not closed"},
		{"YAML, deep", YAML, "a: " + strings.Repeat("[", 300), "too deep"},
		{"XML, half", XML, "<a>\n<b>", "line 2: "},
		{"XML, deep", XML, strings.Repeat("<a>", 300), "too deep"},
	} {
		_, err := test.read([]byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}

func TestNil(t *testing.T) {
	var n *Node
	if n.Get("a") != nil || n.At("a", "b") != nil || n.Str("a") != "" || n.All() != nil || n.Strings() != nil ||
		n.True("a") || n.LineOr(3) != 3 || n.Named("a") != nil {
		t.Error("a nil node is not empty")
	}
	list, err := JSON([]byte(`{"a":["x",{},"y"],"b":"z","c":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(list.Get("a").Strings(), list.Get("b").Strings(), list.Str("c")); got != "[x y] [z]" {
		t.Errorf("got %s", got)
	}
}

// FuzzRead gives hostile texts to the parsers. What the standard library's decoder
// of JSON takes, ours takes, too.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,"b",{"c":null}]}`, "a = 1\n[b.c]\n[[d]]\ne = {f = [1, 2]}\n", "a:\n  - b: {c: [d]}\n  - |\n    x\n? " +
			"k\n: v\n", "<a b='c'><d>e</d></a>", "\xef\xbb\xbf{}", "{[}]", "- {,}\n- [:]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		lines := 1 + strings.Count(string(content), "\n")
		for name, read := range map[string]func([]byte) (*Node, error){"JSON": JSON, "TOML": TOML, "YAML": YAML,
			"XML": XML} {
			n, err := read(content)
			if name == "JSON" && json.Valid(content) && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err == nil {
				checkLines(t, name, n, lines)
			}
		}
	})
}

func checkLines(t *testing.T, name string, n *Node, lines int) {
	if n.Line < 1 || n.Line > lines {
		t.Errorf("%s: line %d of %d", name, n.Line, lines)
	}
	for i := range n.Kids {
		checkLines(t, name, &n.Kids[i], lines)
	}
}

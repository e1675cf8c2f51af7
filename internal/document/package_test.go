package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A packageReader reads one of the formats of package managers.
type packageReader func([]byte, Limits) (*Node, error)

// formatNode writes a node in one line: members as key@line=value.
func formatNode(n *Node) string {
	if n == nil {
		return "nil"
	}
	switch n.Kind {
	case Map, List:
		var parts []string
		for _, m := range n.Members() {
			parts = append(parts, fmt.Sprintf("%s@%d %s", m.Key, m.Line, formatNode(m.Node)))
		}
		if n.Kind == List {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case String:
		return fmt.Sprintf("%q", n.Value)
	}
	return n.Value
}

// TestPackageFormats reads each format with the line of every value.
func TestPackageFormats(t *testing.T) {
	for _, test := range []struct {
		name string
		read packageReader
		text string
		want string
	}{
		{"JSON", ParseJSON, "{\"a\": [1, -2.5e3,\n \"x\\u0041\"], \"b\": {\"c\": null}}",
			`{a@1 [@1 1, @1 -2.5e3, @2 "xA"], b@2 {c@2 null}}`},
		{"JSON at keys", ParseJSON, "{\"a\":\n{\"b\":\n1}}", `{a@1 {b@2 1}}`},
		{"JSON with comments and commas", ParseJSON, "// first\n{ /* two\nlines */ \"a\": true, // end\n}", `{a@3 true}`},
		{"TOML", ParseTOML, "a = 1\nb.c = 'x'\n[t.u]\nd = [\"y\",\n  \"z\"]\n[[l]]\ne = { f = \"g\" }\n[[l]]\ne = " +
			"2\n[l.m]\nh = true\n",
			`{a@1 1, b@2 {c@2 "x"}, t@3 {u@3 {d@4 [@4 "y", @5 "z"]}}, ` +
				`l@6 [@6 {e@7 {f@7 "g"}}, @8 {e@9 2, m@10 {h@11 true}}]}`},
		{"TOML, kinds", ParseTOML, "a = 1.5\nb = 2001-01-01\nc = [ # none\n]\n", `{a@1 1.5, b@2 "2001-01-01", c@3 []}`},
		{"YAML", ParseBlockYAML, "# c\na: x # one\n'b c': \"x: y\"\nd:\n  e: |\n    many\n    lines\n  f: >-\n    " +
			"folded\ng:\n- y\n- h: i\n  j: k\n-\n  l: m\nn: {o: 'p, q', r: [s, t]}\nu:\nv: null\nw: 'null'\n",
			`{a@2 "x", b c@3 "x: y", d@4 {e@5 "many\nlines", f@8 "folded"}, g@10 [@11 "y", ` +
				`@12 {h@12 "i", j@13 "k"}, @14 {l@15 "m"}], n@16 {o@16 "p, q", r@16 [@16 "s", @16 "t"]}, ` +
				`u@17 , v@18 null, w@19 "null"}`},
		{"YAML, a long key", ParseBlockYAML, "? \"long\"\n: a: b\n  c: d\n? other\n: e\n",
			`{long@1 {a@2 "b", c@3 "d"}, other@4 "e"}`},
		{"YAML, a long key of a block", ParseBlockYAML, "? long\n:\n  a: b\n", `{long@1 {a@3 "b"}}`},
		{"YAML, folded", ParseBlockYAML, "a: one\n  two\nb: 'it''s'\n", `{a@1 "one two", b@3 "it's"}`},
		{"YAML, escapes", ParseBlockYAML, "a: \"x\\ty\"\n", `{a@1 "x\ty"}`},
		{"YAML, flow over lines", ParseBlockYAML, "a: [x,\n  y]\nb: {}\n", `{a@1 [@1 "x", @2 "y"], b@3 {}}`},
		{"YAML, flow keys", ParseBlockYAML, "a: {b, 'c': d, e: f:g}\n", `{a@1 {b@1 , c@1 "d", e@1 "f:g"}}`},
		{"YAML, flow alone", ParseBlockYAML, "{}\n", `{}`},
		{"YAML, nothing", ParseBlockYAML, "---\n# nothing\n", `{}`},
		{"YAML, lists in lists", ParseBlockYAML, "- - a\n  - b\n-\n- c\n", `[@1 [@1 "a", @2 "b"], @3 , @4 "c"]`},
		{"XML", ParseXML, "<?xml version=\"1.0\"?>\n<a x=\"1\">\n <b>t</b>\n <p:c><d/></p:c>\n</a>",
			`{a@2 {@x@2 "1", b@3 "t", c@4 {d@4 ""}}}`},
		{"XML, entities of the document", ParseXML, `<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>x&e;</a>`,
			`{a@1 "x&e;"}`},
	} {
		n, err := test.read([]byte(test.text), PackageLimits)
		if got := formatNode(n); err != nil || got != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", test.name, err, got, test.want)
		}
	}
}

// TestPackageFormatErrors names the line and what is wrong; what exceeds a limit says so.
func TestPackageFormatErrors(t *testing.T) {
	few := Limits{Size: 1000, Depth: 10, Values: 5}
	for _, test := range []struct {
		name     string
		read     packageReader
		limits   Limits
		text     string
		want     string
		exceeded bool
	}{
		{"JSON, half", ParseJSON, PackageLimits, "{\"a\":\n[1,", "line 2: not valid JSON: the text ends", false},
		{"JSON, deep", ParseJSON, PackageLimits, strings.Repeat("[", 1000), "more than 200 values inside", true},
		{"TOML", ParseTOML, PackageLimits, "a = 1\n[b\nc", "line 2: not valid TOML: ", false},
		{"TOML, deep", ParseTOML, PackageLimits, "a = " + strings.Repeat("[", 300) + strings.Repeat("]", 300),
			"more than 200 values inside", true},
		{"TOML, deep keys", ParseTOML, PackageLimits, "a" + strings.Repeat(".a", 300) + " = 1",
			"more than 200 values inside", true},
		{"TOML, values", ParseTOML, few, "a = [1, 2, 3, 4, 5]", "more than 5 values", true},
		{"TOML, size", ParseTOML, few, strings.Repeat(" ", 1001), "is larger than", true},
		{"YAML, anchors", ParseBlockYAML, PackageLimits, "a: &x 1", "anchors", false},
		{"YAML, indentation", ParseBlockYAML, PackageLimits, "a: 1\n   b: 2\n",
			"line 2: not valid YAML: the indentation does not fit", false},
		{"YAML, indentation of a block", ParseBlockYAML, PackageLimits, "  a: 1\nb: 2\n", "the indentation does not fit",
			false},
		{"YAML, mixed", ParseBlockYAML, PackageLimits, "a: 1\n- b\n", "line 2: not valid YAML: a list item", false},
		{"YAML, no key", ParseBlockYAML, PackageLimits, "a: 1\nb\n", "a key with a colon", false},
		{"YAML, no value", ParseBlockYAML, PackageLimits, "? a\nb: 1\n", "a colon was expected", false},
		{"YAML, open", ParseBlockYAML, PackageLimits, "a: [1, 2\n", "a bracket is not closed", false},
		{"YAML, behind a bracket", ParseBlockYAML, PackageLimits, "a: [1] 2\n", "something follows a closed", false},
		{"YAML, deep", ParseBlockYAML, PackageLimits, "a: " + strings.Repeat("[", 300), "more than 200 values", true},
		{"YAML, deep blocks", ParseBlockYAML, PackageLimits, strings.Repeat("- ", 300) + "a", "more than 200 values", true},
		{"YAML, values", ParseBlockYAML, few, "- a\n- b\n- c\n- d\n- e\n- f\n", "line 6: more than 5 values", true},
		{"YAML, size", ParseBlockYAML, few, strings.Repeat(" ", 1001), "is larger than", true},
		{"XML, half", ParseXML, PackageLimits, "<a>\n<b>", "line 2: not valid XML: ", false},
		{"XML, deep", ParseXML, PackageLimits, strings.Repeat("<a>", 300), "more than 200 values inside", true},
		{"XML, values", ParseXML, few, "<a b='' c='' d=''><e/><f/></a>", "more than 5 values", true},
		{"XML, size", ParseXML, few, strings.Repeat(" ", 1001), "is larger than", true},
	} {
		_, err := test.read([]byte(test.text), test.limits)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) || e.Exceeded != test.exceeded {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}

// TestMembers treats maps and lists alike, and a nil node as an empty one.
func TestMembers(t *testing.T) {
	var n *Node
	if n.Members() != nil || n.Strings() != nil || n.TextOf("a") != "" || n.LineOr(3) != 3 || n.Len() != 0 ||
		n.Named("a") != nil {
		t.Error("a nil node is not empty")
	}
	n, err := ParseJSON([]byte(`{"a": ["x", {}, "y"], "b": "z", "c": null, "d": {"b": 1}}`), PackageLimits)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(n.Get("a").Strings(), n.Get("b").Strings(), n.Get("c").Strings(), n.Get("d").Strings(),
		n.TextOf("c"), n.TextOf("a"), n.Len(), n.Get("a").Len(), len(n.Named("b")), n.Get("b").LineOr(7))
	if want := "[x y] [z] [] [1]4 3 2 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzPackageFormats gives hostile texts to the readers. What the decoder of the standard
// library takes as JSON, ours takes too, unless it exceeds a limit.
func FuzzPackageFormats(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,"b",{"c":null}]}`, "a = 1\n[b.c]\n[[d]]\ne = {f = [1, 2]}\n",
		"a:\n  - b: {c: [d]}\n  - |\n    x\n? k\n: v\n", "<a b='c'><d>e</d></a>", "\xef\xbb\xbf{}", "{[}]",
		"- {,}\n- [:]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := 1 + strings.Count(string(text), "\n")
		for name, read := range map[string]packageReader{"JSON": ParseJSON, "TOML": ParseTOML,
			"YAML": ParseBlockYAML, "XML": ParseXML} {
			n, err := read(text, PackageLimits)
			var e *Error
			switch {
			case err == nil:
				checkLines(t, name, n, lines)
			case !errors.As(err, &e):
				t.Errorf("%s: %T: %v", name, err, err)
			case name == "JSON" && json.Valid(text) && !e.Exceeded:
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// checkLines wants every value in a line of the text.
func checkLines(t *testing.T, name string, n *Node, lines int) {
	if n.Line < 1 || n.Line > lines {
		t.Errorf("%s: line %d of %d", name, n.Line, lines)
	}
	for _, m := range n.Members() {
		checkLines(t, name, m.Node, lines)
	}
}

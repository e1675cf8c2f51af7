package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestParseJSON reads what tools take beyond RFC 8259, each with its place.
func TestParseJSON(t *testing.T) {
	commented := testLimits
	commented.Comments = true
	for name, c := range map[string]struct {
		text         string
		limits       Limits
		line, column int // of the key "a"
		want         string
	}{
		"plain":            {`{"a": 1}`, testLimits, 1, 2, "1"},
		"line comment":     {"// one\n{\"a\": 1}", commented, 2, 2, "1"},
		"block comment":    {"{/* one\ntwo */ \"a\": 1}", commented, 2, 8, "1"},
		"comment at end":   {"{\"a\": 1} // end", commented, 1, 2, "1"},
		"column after é":   {"{\"é\": 0, \"a\": \"x\"}", testLimits, 1, 10, "x"},
		"byte order mark":  {"\xef\xbb\xbf{\"a\": \"x\"}", testLimits, 1, 2, "x"},
		"surrogates":       {`{"a": "\ud83d\ude00"}`, testLimits, 1, 2, "\U0001f600"},
		"half a surrogate": {`{"a": "\ud83d"}`, testLimits, 1, 2, "\ufffd"},
		"not UTF-8":        {"{\"a\": \"\xff\"}", testLimits, 1, 2, "\ufffd"},
		"tab":              {"{\"a\": \"\t\"}", testLimits, 1, 2, "\t"},
		"large number":     {`{"a": 1e999}`, testLimits, 1, 2, "1e999"},
		"first of two":     {`{"a": 1, "a": 2}`, testLimits, 1, 2, "1"},
	} {
		n, err := ParseJSON([]byte(c.text), c.limits)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if line, column := n.Place("a"); line != c.line || column != c.column || n.Get("a").Value != c.want {
			t.Errorf("%s: %q at %d:%d, want %q at %d:%d", name, n.Get("a").Value, line, column, c.want, c.line, c.column)
		}
	}
}

// TestParseJSONErrors names the line and what is wrong; what exceeds a limit says so.
func TestParseJSONErrors(t *testing.T) {
	small := Limits{Size: 100, Depth: 3, Values: 5, Comments: true}
	for name, c := range map[string]struct {
		text, want string
		exceeded   bool
	}{
		"size":            {strings.Repeat(" ", 101), "is larger than 0 MiB", true},
		"depth":           {"[[\n[[]]]]", "line 2: more than 3 values inside each other", true},
		"values":          {"[1,2,3,4,5]", "line 1: more than 5 values", true},
		"empty":           {"", "line 1: not valid JSON: the text ends where a value is expected", false},
		"two values":      {"{}\n{}", "line 2: not valid JSON: something follows the end", false},
		"no end":          {"[1", "expected a comma", false},
		"no colon":        {`{"a" 1}`, "expected a colon after", false},
		"no key":          {`{1: 1}`, "expected a field", false},
		"word":            {`[yes]`, "does not begin a value", false},
		"number":          {`[1-2]`, "is not a number", false},
		"string":          {`["a`, "a string does not end", false},
		"line in string":  {"[\"a\n\"]", "a string does not end on its line", false},
		"escape":          {`["\q"]`, "an escape that means nothing", false},
		"half an escape":  {`["\u12"]`, "an escape that means nothing", false},
		"endless comment": {"[/* 1]", "a comment does not end", false},
		"slash":           {"[/1]", "does not begin a value", false},
	} {
		_, err := ParseJSON([]byte(c.text), small)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Exceeded != c.exceeded {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := ParseJSON([]byte("// no comments\n1"), testLimits); err == nil {
		t.Error("a comment was taken where none is allowed")
	}
}

// TestParseAllBeforeFault returns the documents before the one that cannot be read.
func TestParseAllBeforeFault(t *testing.T) {
	docs, err := ParseAll([]byte("a: 1\n---\n- b\n---\nc: [\n"), testLimits)
	if len(docs) != 2 || err == nil {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

// TestKinds gives each scalar the kind that YAML's core schema gives it.
func TestKinds(t *testing.T) {
	for text, want := range map[string]Kind{
		"~": Null, "null": Null, "true": Bool, "'true'": String, "7": Int, "0x1F": Int, "1.5": Float, ".inf": Float,
		"yes": String, "2001-01-01": String, "!!str 5": String, "!Ref x": String, "|\n  x": String,
	} {
		docs, err := ParseAll([]byte("- "+text), testLimits)
		if err != nil {
			t.Fatal(err)
		}
		if n := docs[0].Items[0]; n.Kind != want || !n.IsScalar() {
			t.Errorf("%s is of kind %d, want %d", text, n.Kind, want)
		}
	}
}

// TestNilNode lets callers go down a path without asking at each step.
func TestNilNode(t *testing.T) {
	var n *Node
	line, column := n.Place("a")
	number, ok := n.Number()
	got := fmt.Sprint(n.Get("a"), n.At("a", "b"), n.Key("a"), n.Text(), n.IsMap(), n.IsList(), n.IsScalar(), n.True(),
		n.False(), n.Pairs(), n.List(), n.Scalars(), n.Any(), n.Find("/a"), line, column, number, ok)
	if want := "<nil> <nil> <nil>false false false false false [] [] [] <nil> <nil> 0 0 0 false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	n.Walk(func(*Node) bool { t.Error("nothing was visited"); return true })
}

// TestLargeMap finds keys by the index that large maps have, as in small ones.
func TestLargeMap(t *testing.T) {
	for _, size := range []int{indexedSize - 1, indexedSize, 10 * indexedSize} {
		var text strings.Builder
		for i := range size {
			fmt.Fprintf(&text, "k%d: %d\n", i, i)
		}
		n, err := ParseFirst([]byte(text.String()+"k0: twice\n"), testLimits)
		if err != nil {
			t.Fatal(err)
		}
		if n.Get("k0").Text() != "0" || n.Get(fmt.Sprintf("k%d", size-1)) == nil || n.Get("none") != nil ||
			n.Key("k3").Line != 4 {
			t.Errorf("%d keys: %+v", size, n.Get("k0"))
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"a": [1, -2.5e3, "\ud83d\ude00", null, true], /* c */ "b": "\u00e9",}`))
	limits := testLimits
	limits.Comments = true
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := ParseJSON(text, limits)
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%T: %v", err, err)
		}
		n.Walk(func(n *Node) bool {
			if n.Line < 1 || n.Column < 1 {
				t.Errorf("no place: %+v", n)
			}
			return true
		})
	})
}

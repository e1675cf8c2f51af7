package document

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func yamlReader(text string) *Reader {
	r := NewReader([]byte(text))
	r.Depth, r.Values = 100, 10_000
	return r
}

// all returns what the documents of a text hold.
func readAll(r *Reader) ([]any, error) {
	var out []any
	for {
		n, err := r.Followed()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		var v any
		if err := n.Decode(&v); err != nil {
			return out, err
		}
		out = append(out, v)
	}
}

func TestFollowed(t *testing.T) {
	type m = map[string]any
	for name, c := range map[string]struct {
		text string
		want []any
	}{
		"documents": {"a: 1\n---\n- b\n---\n---\nc\n", []any{m{"a": 1}, []any{"b"}, nil, "c"}},
		"alias":     {"a: &x [1, {b: 2}]\nc: *x\n", []any{m{"a": []any{1, m{"b": 2}}, "c": []any{1, m{"b": 2}}}}},
		"key":       {"a: &x b\n*x : 1\n", []any{m{"a": "b", "b": 1}}},
		"own first": {"a: &x {b: 1, c: 2}\nd:\n  <<: *x\n " +
			" c: 3\n", []any{m{"a": m{"b": 1, "c": 2}, "d": m{"b": 1, "c": 3}}}},
		"first of list": {"a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne:\n  <<: " +
			"[*x, *y]\n", []any{m{"a": m{"b": 1}, "c": m{"b": 2, "d": 3}, "e": m{"b": 1, "d": 3}}}},
		"merged merged": {"a: &x {b: 1}\nc: &y\n  <<: *x\n  d: 2\ne:\n  " +
			"<<: *y\n", []any{m{"a": m{"b": 1}, "c": m{"b": 1, "d": 2}, "e": m{"b": 1, "d": 2}}}},
		"no map":         {"a: &x 1\nb:\n  <<: *x\n  c: 2\n", []any{m{"a": 1, "b": m{"c": 2}}}},
		"a word":         {"a:\n  \"<<\": {b: 1}\n", []any{m{"a": m{"<<": m{"b": 1}}}}},
		"anchors by doc": {"a: &x 1\nb: *x\n---\na: &x 2\nb: *x\n", []any{m{"a": 1, "b": 1}, m{"a": 2, "b": 2}}},
	} {
		got, err := readAll(yamlReader(c.text))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

// Keys stand where they are used, and what an anchor names is one node.
func TestFollowedPlaces(t *testing.T) {
	n, err := yamlReader("a: &x b\nlist: &l [1]\n*x : *l\n").Followed()
	if err != nil {
		t.Fatal(err)
	}
	if key := n.Content[4]; key.Value != "b" || key.Line != 3 || key.Column != 1 {
		t.Errorf("the key is %+v", key)
	}
	if n.Content[5] != n.Content[3] {
		t.Error("what the anchor names is there twice")
	}
}

func TestNext(t *testing.T) {
	n, err := yamlReader("a: &x 1\nb: *x\n").Next()
	if err != nil || n.Content[3].Kind != yaml.AliasNode {
		t.Errorf("%+v, %v: want the alias", n, err)
	}
}

// Hostile texts end with an error that says where, quickly.
func TestHostileYAML(t *testing.T) {
	bomb, merges := "a0: &a0 [x, x]\n", "a0: &a0 {k: v}\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
		merges += fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d], k%d: v}\n", i, i, i-1, i-1, i)
	}
	tower := "a0: &a0 x\n"
	for i := 1; i < 120; i++ {
		tower += fmt.Sprintf("a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	for name, c := range map[string]struct {
		text, want string
		exceeded   bool
	}{
		"bomb":   {bomb, "line 12: more than 10000 values", true},
		"merges": {merges, "more than 10000 values", true},
		"keys": {"a: &x " + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "\nb:\n" +
			strings.Repeat("  ? *x\n  : 1\n", 500), "more than 10000 values", true},
		"tower": {tower, "line 101: more than 100 values inside each other", true},
		"deep": {strings.Repeat("[", 150) + strings.Repeat("]", 150), "more than 100 values inside " +
			"each other", true},
		"deeper":       {strings.Repeat("[", 100_000), "not valid YAML", false},
		"itself":       {"a: &a\n  b: *a\n", "line 2: the alias *a stands inside of what it names", false},
		"merge itself": {"a: &a\n  <<: *a\n", "line 2: the alias *a stands inside of what it names", false},
		"key itself":   {"a: &a\n  ? *a\n  : 1\n", "the alias *a stands inside of what it names", false},
		"unknown":      {"a: *b\n", "not valid YAML", false},
		"half":         {"a: [\n", "line 1: not valid YAML", false},
		"control":      {"a: \x01", "not valid YAML", false},
	} {
		_, err := readAll(yamlReader(c.text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Exceeded != c.exceeded {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func FuzzFollowed(f *testing.F) {
	f.Add([]byte("a: &x {b: 1}\nc: *x\n<<: *x\n---\n? *x\n: [!!merge d, *x]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := yamlReader(string(text))
		for {
			n, err := r.Followed()
			if errors.Is(err, io.EOF) {
				return
			}
			var e *Error
			if err != nil {
				if !errors.As(err, &e) {
					t.Errorf("%T: %v", err, err)
				}
				return
			}
			walkYAML(t, n, 0)
		}
	})
}

func walkYAML(t *testing.T, n *yaml.Node, depth int) {
	t.Helper()
	if n.Kind == yaml.AliasNode || depth > 100 {
		t.Fatalf("%+v is left at depth %d", n, depth)
	}
	for _, c := range n.Content {
		walkYAML(t, c, depth+1)
	}
}

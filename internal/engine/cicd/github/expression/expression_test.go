package expression

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func paths(uses []Use) []string {
	var out []string
	for _, u := range uses {
		out = append(out, u.Path)
	}
	slices.Sort(out)
	return out
}

// Values are the contexts that can become text; All are those that are read.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		text        string
		values, all []string
	}{
		{"github.event.issue.title", []string{"github.event.issue.title"}, []string{"github.event.issue.title"}},
		{"github['Event'].commits[0].message", []string{"github.event.commits.*.message"},
			[]string{"github.event.commits.*.message"}},
		{"github.event.pages.*.page_name", []string{"github.event.pages.*.page_name"},
			[]string{"github.event.pages.*.page_name"}},
		{"a.b == 'x' && c.d || e.f", []string{"c.d", "e.f"}, []string{"a.b", "c.d", "e.f"}},
		{"contains(a.b, 'x')", nil, []string{"a.b"}},
		{"format('{0}', toJSON(a.b))", []string{"a.b"}, []string{"a.b"}},
		{"fromJSON(a.b).c", []string{"a.b"}, []string{"a.b"}},
		{"!a.b", nil, []string{"a.b"}},
		{"'text'", nil, nil},
		{"a[b.c]", []string{"a.*"}, []string{"a.*", "b.c"}},
	} {
		root, err := Parse(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if diff := cmp.Diff(c.values, paths(Values(root))); diff != "" {
			t.Errorf("values of %s (-want +got):\n%s", c.text, diff)
		}
		if diff := cmp.Diff(c.all, paths(AllUses(root))); diff != "" {
			t.Errorf("contexts of %s (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestIn(t *testing.T) {
	text := "a ${{ x.y }} b ${{ format('}}', z.w) }} ${{ no ${{"
	all := FindAll(text)
	if len(all) != 2 || text[all[0].Offset:all[0].Offset+all[0].Length] != "${{ x.y }}" ||
		all[1].Text != " format('}}', z.w) " {
		t.Errorf("got %+v", all)
	}
	if FindAll("${{ 1 +")[:0] == nil && len(FindAll("${{ a b }}")) != 1 || FindAll("${{ a b }}")[0].Err == nil {
		t.Error("what is no expression has an error")
	}
	if _, err := Parse(strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300)); err == nil {
		t.Error("300 brackets are accepted")
	}
	if _, err := Parse("'" + strings.Repeat("x", MaxLength) + "'"); err == nil {
		t.Error("an expression that GitHub refuses is accepted")
	}
}

func TestConstant(t *testing.T) {
	for text, want := range map[string]any{"'a'": "a", "!true": false, "false && x": false, "true && 'b'": "b",
		"'' || 'c'": "c", "12": 12.0, "null": nil} {
		root, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := ConstantValue(root); !ok || got != want {
			t.Errorf("%s: got %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"x", "x || 'a'", "x && false", "format('a')"} {
		root, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := ConstantValue(root); ok {
			t.Errorf("%s is no constant, got %v", text, got)
		}
	}
}

// A condition with anything around its expression is a text, which is true.
func TestCondition(t *testing.T) {
	for text, want := range map[string]bool{"a == b": true, "${{ a == b }}": true, "${{ a }} ": false,
		"${{ a }} && ${{ b }}": false, "a b": false} {
		if got := ParseCondition(text) != nil; got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func FuzzIn(f *testing.F) {
	f.Add("${{ github['a'].b[0].* || format('{0}', !x) }}")
	f.Add("${{ '}} ${{ }}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range FindAll(text) {
			if e.Offset < 0 || e.Offset+e.Length > len(text) || (e.Root == nil) == (e.Err == nil) {
				t.Errorf("%q: %+v", text, e)
			}
			if e.Root != nil {
				Values(e.Root)
				AllUses(e.Root)
				ConstantValue(e.Root)
			}
		}
		ParseCondition(text)
	})
}

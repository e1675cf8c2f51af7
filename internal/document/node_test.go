package document

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// testLimits are as large as those of the largest users.
var testLimits = Limits{Size: 4 << 20, Depth: 100, Values: 500_000, Documents: 1000}

func TestPlaces(t *testing.T) {
	for name, text := range map[string]string{
		"yaml": "a: 1\nb:\n  c: [x, 'é', {d: 2.5}]\n",
		"json": "{\"a\": 1,\n\"b\":\n  {\"c\": [\"x\", \"\\u00e9\", {\"d\": 2.5}]}\n}\n",
	} {
		n, err := ParseFirst([]byte(text), testLimits)
		if err != nil {
			t.Fatal(name, err)
		}
		want := map[string]any{"a": int64(1), "b": map[string]any{"c": []any{"x", "é", map[string]any{"d": 2.5}}}}
		if got := n.Any(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v", name, got)
		}
		if line, column := n.Get("b").Place("c"); line != 3 || column < 3 {
			t.Errorf("%s: c is at %d:%d", name, line, column)
		}
		if v := n.Find("/b/c/2/d"); v == nil || v.Line != 3 || v.Value != "2.5" {
			t.Errorf("%s: pointer leads to %+v", name, v)
		}
	}
}

func TestPointerEscapes(t *testing.T) {
	n, err := ParseFirst([]byte(`{"paths": {"/a/{b}": {"x~y": 1}}}`), testLimits)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/paths/~1a~1{b}/x~0y", "/paths/~1a~1%7Bb%7D/x~0y", Join("/paths", "/a/{b}", "x~y")} {
		if n.Find(p) == nil {
			t.Errorf("%s leads nowhere", p)
		}
	}
	for _, p := range []string{"/nowhere", "paths", "/paths/0"} {
		if n.Find(p) != nil {
			t.Errorf("%s leads somewhere", p)
		}
	}
}

func TestHostile(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'j'; c++ {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [*" + p + strings.Repeat(", *"+p, 8) + "]\n"
	}
	for name, text := range map[string]string{
		"bomb":         bomb,
		"itself":       "a: &a {b: *a}",
		"deep JSON":    strings.Repeat("[", 100_000),
		"deep YAML":    strings.Repeat("- ", 5000) + "x",
		"half":         `{"a": [1, 2`,
		"scalar":       "hello",
		"empty":        "",
		"control":      "a: \x01",
		"bad escape":   `{"a": "\q"}`,
		"merge itself": "a: &a\n  <<: *a\n",
	} {
		if n, err := ParseFirst([]byte(text), testLimits); err == nil {
			t.Errorf("%s was read as %v", name, n.Any())
		}
	}
}

func TestTolerates(t *testing.T) {
	for name, text := range map[string]string{
		"trailing comma": `{"a": [1, 2,], }`, "mark": "\xef\xbb\xbf{\"a\": [1, 2]}", "tab": "{\n\t\"a\":\t[1, 2]}",
		"twice": "a: [1, 2]\na: 3", "merged": "x: &x\n  a: [1, 2]\n<<: *x", "second": "---\n---\na: [1, 2]",
	} {
		n, err := ParseFirst([]byte(text), testLimits)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := n.Get("a").Any(); !reflect.DeepEqual(got, []any{int64(1), int64(2)}) {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func FuzzParseFirst(f *testing.F) {
	f.Add([]byte(`{"a": [1, -2.5e3, "\ud83d\ude00", null, true]}`))
	f.Add([]byte("a: &x {b: 1}\nc: *x\n<<: *x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := ParseFirst(text, testLimits)
		if err != nil {
			return
		}
		if n.Line < 1 {
			t.Errorf("no line: %+v", n)
		}
		if _, err := json.Marshal(n.Any()); err != nil {
			t.Error(err)
		}
	})
}

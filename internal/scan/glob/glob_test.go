package glob

import (
	"regexp"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern     string
		match, miss string // paths, separated by spaces
	}{
		{"foo", "foo a/foo", "foo/b food"},
		{"/foo", "foo", "a/foo"},
		{"a/*.go", "a/x.go", "a/b/x.go x/a/x.go"},
		{"**/a/b", "a/b x/a/b", "xa/b"},
		{"a/**/b", "a/b a/x/y/b", "a/xb"},
		{"a/**", "a/x a/x/y", "a b/a/x"},
		{"a**b", "ab axxb", "a/b"},
		{"[!a-c]?", "dx", "ax d"},
		{"a\\*", "a*", "ab"},
		{"a.b", "a.b", "aXb"},
		{"test_*.py", "test_.py x/test_a.py", "test.py a/test_b/x.py test_py"},
		{"*.spec.*", "a.spec.js b/a.spec.spec.ts", "a.spec spec.a"},
		{"a*a", "aa aba", "a ab"},
		{"src/test", "src/test", "x/src/test src/tests src"},
		{"[", "", "[ a"},
	} {
		g, err := Compile(c.pattern)
		if err != nil {
			t.Fatalf("%q: %v", c.pattern, err)
		}
		for _, p := range strings.Fields(c.match) {
			if !g.Match(p) || !g.Covers(p) || !g.Covers(p+"/below/it") {
				t.Errorf("%q does not name %q", c.pattern, p)
			}
		}
		for _, p := range strings.Fields(c.miss) {
			if g.Match(p) {
				t.Errorf("%q names %q", c.pattern, p)
			}
		}
	}
	for _, bad := range []string{"[z-a]", "[[:no:]]", strings.Repeat("a", maxPattern+1)} {
		if _, err := Compile(bad); err == nil {
			t.Errorf("%.20q was compiled", bad)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, p := range []string{"*b*", "x/b", "/b", "a/**/[!a-z]?", "[]", "[^]]", "\\", "[[:digit:]", "**", "[\\",
		"a[-&&~]", "\xff["} {
		f.Add(p, "a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := Compile(pattern)
		if err == nil && g.Match(path) && !g.Covers(path) {
			t.Errorf("%q names %q and does not cover it", pattern, path)
		}
		if err != nil || g.re != nil {
			return
		}
		slow := &Glob{re: regexp.MustCompile(patternExpression(pattern))}
		if g.Match(path) != slow.Match(path) || g.Covers(path) != slow.Covers(path) {
			t.Errorf("%q and its expression do not agree on %q", pattern, path)
		}
	})
}

package inventory

import (
	"fmt"
	"strings"
	"testing"

	"merlon/internal/finding"
)

func TestMakePURL(t *testing.T) {
	for _, test := range []struct{ ecosystem, name, version, want string }{
		{"npm", "@a/b", "1.0.0", "pkg:npm/%40a/b@1.0.0"},
		{"npm", "lodash", "", "pkg:npm/lodash"},
		{"Maven", "org.a:b", "1.0", "pkg:maven/org.a/b@1.0"},
		{"PyPI", "Flask_Login", "1", "pkg:pypi/flask-login@1"},
		{"Packagist", "a/b", "1", "pkg:composer/a/b@1"},
		{"Nowhere", "a", "1", ""},
	} {
		if got := makePURL(test.ecosystem, test.name, test.version); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.ecosystem, test.name, got, test.want)
		}
	}
}

func TestLineFinder(t *testing.T) {
	content := []byte("lodash-es\n\"lodash.merge\"\n  \"lodash\": 1\nany.aeson ==1\n")
	for name, want := range map[string]int{"lodash": 3, "lodash-es": 1, "lodash.merge": 2, "aeson": 4, "absent": 0} {
		l := lineFinder{content: content, budget: 1 << 20}
		if got := l.findLine(name); got != want {
			t.Errorf("%s: got line %d, want %d", name, got, want)
		}
	}
	if l := (&lineFinder{content: content}); l.findLine("lodash") != 0 {
		t.Error("a finder without budget searched")
	}
}

func TestDevOnly(t *testing.T) {
	for _, test := range []struct {
		groups []string
		want   bool
	}{{nil, false}, {[]string{"dev"}, true}, {[]string{"Development", "test"}, true},
		{[]string{"dev", "default"}, false}, {[]string{"provided"}, false}} {
		if got := isDevOnly(test.groups); got != test.want {
			t.Errorf("%v: got %t", test.groups, got)
		}
	}
}

func TestUnique(t *testing.T) {
	list := []finding.Package{
		{Path: "b", Name: "x", Version: "1", Line: 9, Dev: true, Scope: finding.Transitive},
		{Path: "a", Name: "x", Version: "1", Line: 5},
		{Path: "b", Name: "x", Version: "1", Line: 3, Scope: finding.Direct},
		{Path: "b", Name: "x", Version: "2", Line: 1, Dev: true},
	}
	got := fmt.Sprint(uniquePackages(list))
	want := fmt.Sprint([]finding.Package{
		{Path: "a", Name: "x", Version: "1", Line: 5},
		{Path: "b", Name: "x", Version: "1", Line: 3, Scope: finding.Direct},
		{Path: "b", Name: "x", Version: "2", Line: 1, Dev: true},
	})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestList(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("p%02d", i))
	}
	if got := List(many); !strings.HasSuffix(got, "p19 and 10 more") {
		t.Errorf("a long list ends %q", got[len(got)-20:])
	}
	if got := OneLine("a\x1b[31m\nb" + strings.Repeat("é", 400)); strings.ContainsAny(got, "\x1b\n") ||
		len([]rune(got)) > 301 {
		t.Errorf("got %q", got)
	}
}

package analyzer

import (
	"strings"
	"testing"

	"merlon/internal/engine/sast"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

func Test(t *testing.T) { scantest.Run(t, Analyzer) }

func TestMinified(t *testing.T) {
	long := []byte(strings.Repeat("a=b;", 5000))
	short := []byte(strings.Repeat("a = b;\n", 5000))
	for _, c := range []struct {
		name string
		text []byte
		want bool
	}{{"a.js", long, true}, {"a.js", short, false}, {"a.min.js", short, true}, {"a.java", long, false},
		{"web/static/x.js", []byte("/*!\n * Thing v1.2.3\n */\nf()\n"), true},
		{"src/x.js", []byte("/*! Thing v1.2.3 */\nf()\n"), false}} {
		if got := isMinified(c.name, c.text); got != c.want {
			t.Errorf("%s of %d bytes: got %v, want %v", c.name, len(c.text), got, c.want)
		}
	}
}

func TestDoubt(t *testing.T) {
	way := func(paths ...string) *sast.Match {
		m := &sast.Match{Path: paths[len(paths)-1]}
		for _, p := range paths {
			m.Steps = append(m.Steps, sast.Step{Path: p})
		}
		return m
	}
	for _, c := range []struct {
		match *sast.Match
		want  finding.Confidence
	}{
		{&sast.Match{Path: "app/views.py"}, ""},
		{&sast.Match{Path: "tests/test_views.py"}, finding.LowConfidence},
		{way("app/views.py", "app/store.py"), ""},
		{&sast.Match{Path: "app/views.py", Number: true}, finding.LowConfidence},
		{way("app/store_test.go", "app/store.go"), finding.LowConfidence},
		{way("app/store.go", "examples/main.go"), finding.LowConfidence},
	} {
		if got := matchConfidence(c.match); got != c.want {
			t.Errorf("%s: got %q, want %q", c.match.Path, got, c.want)
		}
	}
}

func TestTextRulesReadTheirPathsOnly(t *testing.T) {
	known, err := loadRules(scan.Code{})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"views/page.ejs": true, "templates/page.html": true, "web/page.jinja2": true, "a.py": true,
		"data/list.json": false, "main.tf": false,
	} {
		if got := known.wantsFile(path); got != want {
			t.Errorf("%s: wanted %v, want %v", path, got, want)
		}
	}
	for path, want := range map[string]bool{"views/page.ejs": true, "b/page.PUG": true, "notes.txt": false,
		"node_modules/a/x.ejs": false} {
		if got := Analyzer.Match(path); got != want {
			t.Errorf("%s: matched %v, want %v", path, got, want)
		}
	}
}

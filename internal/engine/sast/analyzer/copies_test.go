package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// texts is a file of n lines like no others, with the flagged code after each third.
func texts(name string, n int, flagged ...string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "var %s%d = compute('%s', %d)\n", name, i, name, i)
		if i%3 == 2 && len(flagged) > 0 {
			fmt.Fprintf(&b, "  %s\n", flagged[0])
			flagged = flagged[1:]
		}
	}
	return b.String()
}

// joinedIn returns the findings of the flagged texts in the files, after joining, as
// "path:line also path:line".
func joinedIn(files map[string]string, starts []packageStart, own bool, flagged ...string) []string {
	r := &rule.Rule{ID: "r"}
	var sources []sast.Source
	var matches []sast.Match
	var list []int
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		sources = append(sources, sast.Source{Path: name, Text: []byte(text)})
		for at := range text {
			for _, code := range flagged {
				if strings.HasPrefix(text[at:], code) {
					line := 1 + strings.Count(text[:at], "\n")
					list = append(list, len(matches))
					matches = append(matches,
						sast.Match{Rule: r, Path: name, Start: sast.Position{Offset: at, Line: line},
							End: sast.Position{Offset: at + len(code), Line: line}})
				}
			}
		}
	}
	var out []string
	for _, j := range newCopies(sources, starts).joinCopies(matches, list, func(*sast.Match) bool { return own }) {
		text := lineOf(finding.Location{Path: matches[j.match].Path, StartLine: matches[j.match].Start.Line})
		for _, at := range j.also {
			text += " also " + lineOf(at)
		}
		out = append(out, text)
	}
	return out
}

func lineOf(at finding.Location) string { return fmt.Sprintf("%s:%d", at.Path, at.StartLine) }

func TestJoin(t *testing.T) {
	const eval, run = "eval(code)", "exec(command)"
	a, b := texts("a", 30, eval), texts("b", 30, eval)
	one := texts("a", 30, eval)
	half := texts("a", 20, eval) + texts("z", 20)
	for name, c := range map[string]struct {
		files  map[string]string
		starts []packageStart
		want   []string
	}{
		"a build of a source": {map[string]string{"dist/x.js": one, "src/x.js": one}, nil,
			[]string{"src/x.js:4 also dist/x.js:4"}},
		"the copy that runs": {map[string]string{"dist/x.js": one, "src/x.js": one},
			[]packageStart{{"", "dist/x.js"}}, []string{"dist/x.js:4 also src/x.js:4"}},
		"made like the one that runs": {map[string]string{"es/u.js": one, "cjs/u.js": one},
			[]packageStart{{"", "es/index.js"}}, []string{"es/u.js:4 also cjs/u.js:4"}},
		"the package around it": {map[string]string{"p/es/u.js": one, "p/lib/u.js": one},
			[]packageStart{{"", "lib/i.js"}, {"p", "es/i.js"}}, []string{"p/es/u.js:4 also p/lib/u.js:4"}},
		"a bundle": {map[string]string{"dist/all.js": b + a, "src/x.js": one}, nil,
			[]string{"dist/all.js:4", "src/x.js:4 also dist/all.js:35"}},
		"of another language": {map[string]string{"lib/x.js": half, "src/x.ts": one}, nil,
			[]string{"src/x.ts:4 also lib/x.js:4"}},
		"releases side by side": {map[string]string{"x-1.0.0.js": half, "x-1.0.1.js": one}, nil,
			[]string{"x-1.0.0.js:4 also x-1.0.1.js:4"}},
		"a copy in another folder": {map[string]string{"copy/x.js": one, "x.js": one}, nil,
			[]string{"copy/x.js:4", "x.js:4"}},
		"the example is not the first": {map[string]string{"example/x.js": one, "sub/sub/x.js": one}, nil,
			[]string{"sub/sub/x.js:4 also example/x.js:4"}},
		"three": {map[string]string{"cjs/x.js": one, "es/x.js": one, "x.js": one}, nil,
			[]string{"x.js:4 also es/x.js:4 also cjs/x.js:4"}},

		"the same line in other files": {map[string]string{"dist/x.js": a, "src/x.js": b}, nil,
			[]string{"dist/x.js:4", "src/x.js:4"}},
		"alike, with names of their own": {map[string]string{"users.js": one, "orders.js": one}, nil,
			[]string{"orders.js:4", "users.js:4"}},
		"half alike in another folder": {map[string]string{"users/x.js": one, "orders/x.js": half}, nil,
			[]string{"orders/x.js:4", "users/x.js:4"}},
		"half alike in a bundle": {map[string]string{"dist/all.js": half, "src/x.js": one}, nil,
			[]string{"dist/all.js:4", "src/x.js:4"}},
		"alike in what is served": {map[string]string{"public/all.js": one, "src/x.js": one}, nil,
			[]string{"public/all.js:4", "src/x.js:4"}},
		"few lines, not all": {map[string]string{"src/x.js": texts("a", 4, eval), "dist/x.js": texts("a", 3, eval) +
			texts("b", 3)}, nil,
			[]string{"dist/x.js:4", "src/x.js:4"}},
		"twice in each": {map[string]string{"dist/x.js": texts("a", 30, eval, eval),
			"src/x.js": texts("a", 30, eval, eval)}, nil,
			[]string{"src/x.js:4 also dist/x.js:4", "src/x.js:8 also dist/x.js:8"}},
		"once more in the copy": {map[string]string{"dist/x.js": texts("a", 30, eval, eval), "src/x.js": one}, nil,
			[]string{"dist/x.js:8", "src/x.js:4 also dist/x.js:4"}},
		"twice in one file": {map[string]string{"src/x.js": texts("a", 30, eval, eval)}, nil,
			[]string{"src/x.js:4", "src/x.js:8"}},
		"of other code": {map[string]string{"dist/x.js": texts("a", 30, run), "src/x.js": one}, nil,
			[]string{"dist/x.js:4", "src/x.js:4"}},
		"of another language's": {map[string]string{"dist/x.py": one, "src/x.js": one}, nil,
			[]string{"dist/x.py:4", "src/x.js:4"}},
	} {
		if diff := cmp.Diff(c.want, joinedIn(c.files, c.starts, true, eval, run)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	files := map[string]string{"dist/x.js": one, "src/x.js": one}
	if diff := cmp.Diff([]string{"dist/x.js:4", "src/x.js:4"}, joinedIn(files, nil, false, eval)); diff != "" {
		t.Errorf("a rule of the user (-want +got):\n%s", diff)
	}
}

// A thousand copies are one finding that names the first of them.
func TestJoinMany(t *testing.T) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("examples/copy%03d/x.js", i)] = texts("a", 30, "eval(code)")
	}
	got := joinedIn(files, nil, true, "eval(code)")
	if len(got) != 1 || strings.Count(got[0], " also ") != maxAlso {
		t.Errorf("got %d findings, want one with %d places", len(got), maxAlso)
	}
}

func TestStarts(t *testing.T) {
	files := fstest.MapFS{
		"package.json":              file(`{"main": "./dist/x.js", "bin": {"b": "bin/b.js", "a": "./a.js"}}`),
		"packages/p/package.json":   file(`{"bin": "cli.js"}`),
		"packages/q/package.json":   file(`not json`),
		"node_modules/package.json": file(`{"main": "n.js"}`),
	}
	p := &scan.ProjectPass{Context: t.Context(), FS: unreadable{files}, Reporter: scan.Reporter{
		Degrade: func(r scan.Reason) { t.Errorf("degraded: %v", r) }}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p.Files = append(p.Files, scan.File{Path: name, Size: int64(len(files[name].Data))})
	}
	want := []packageStart{{"", "dist/x.js"}, {"", "a.js"}, {"", "bin/b.js"}, {"packages/p", "index.js"},
		{"packages/p", "cli.js"}}
	if diff := cmp.Diff(want, readPackageStarts(p, []sast.Source{{Path: "a.ts"}}),
		cmp.AllowUnexported(packageStart{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := readPackageStarts(p, inGo); got != nil {
		t.Errorf("of Go: %v", got)
	}
}

// What is joined keeps the fingerprint that it has alone.
func TestCopiesKeepFingerprints(t *testing.T) {
	text := "const cp = require('child_process')\nmodule.exports = function (name, done) {\n  cp.exec('ls ' + name, " +
		"done)\n}\n"
	find := func(files fstest.MapFS) []finding.Finding {
		var found []finding.Finding
		p := &scan.ProjectPass{Context: t.Context(), FS: files, Workers: 1, Progress: func(int, string) {},
			Reporter: scan.Reporter{
				Degrade: func(scan.Reason) {}, Report: func(_ *finding.Rule, f finding.Finding) {
					found = append(found, f)
				}}}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			p.Files = append(p.Files, scan.File{Path: name, Size: int64(len(files[name].Data))})
		}
		if err := analyzeProject(p); err != nil {
			t.Fatal(err)
		}
		return found
	}
	alone := find(fstest.MapFS{"src/x.js": file(text)})
	both := find(fstest.MapFS{"src/x.js": file(text), "dist/x.js": file(text)})
	if len(alone) != 1 || len(both) != 1 {
		t.Fatalf("got %d and %d findings, want one each", len(alone), len(both))
	}
	if len(both[0].Also) != 1 || both[0].Also[0].Path != "dist/x.js" || both[0].Also[0].StartLine != 3 {
		t.Errorf("also %v, want dist/x.js:3", both[0].Also)
	}
	both[0].Also = nil
	if diff := cmp.Diff(alone, both); diff != "" {
		t.Errorf("(-alone +joined):\n%s", diff)
	}
}

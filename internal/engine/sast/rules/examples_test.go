package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/rules"
)

// exampleFiles are names of files by the languages of examples.
var exampleFiles = map[string]string{
	"bash": "a.sh", "c": "a.c", "csharp": "A.cs", "dockerfile": "Dockerfile", "go": "a.go", "html": "a.html",
	"java": "A.java", "javascript": "a.js", "kotlin": "A.kt", "php": "a.php", "python": "a.py", "ruby": "a.rb",
	"rust": "a.rs", "scala": "A.scala",
}

var exampleFence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// TestExamples scans the examples of the pages of one language with the rules of their
// folder: the bad ones must be reported, and the good ones must not, or the remediation
// would not close the finding. Examples of the rules of several languages are fragments
// of handlers; their testdata holds whole programs.
func TestExamples(t *testing.T) {
	all, err := rules.Default()
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string][]*rule.Rule{}
	for _, r := range all {
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(r.Path)), "rules/")
		if !strings.HasPrefix(dir, "all/") {
			folders[dir] = append(folders[dir], r.Rule)
		}
	}
	for dir, of := range folders {
		text, err := os.ReadFile(filepath.Join(filepath.FromSlash(dir), "doc.md"))
		if err != nil {
			t.Fatal(err)
		}
		bad, good, _ := strings.Cut(string(text), "\n## Good\n")
		if scanExamples(t, of, bad) == 0 {
			t.Errorf("%s: the bad example is not reported", dir)
		}
		if n := scanExamples(t, of, good); n > 0 {
			t.Errorf("%s: %d findings in the good example", dir, n)
		}
	}
}

// scanExamples returns the number of findings in the examples of a part of a page.
func scanExamples(t *testing.T, of []*rule.Rule, part string) int {
	t.Helper()
	findings := 0
	for _, m := range exampleFence.FindAllStringSubmatch(part, -1) {
		name := exampleFiles[m[1]]
		matches, problems := sast.Check(t.Context(), of, []sast.Source{{Path: name, Text: []byte(m[2])}}, sast.Options{})
		for _, p := range problems {
			t.Errorf("%s: %s: %v", p.Rule, name, p.Err)
		}
		findings += len(matches)
	}
	return findings
}

package rules_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/sast/rules"
)

// coverageColumns are the folders that the columns of docs/coverage.md speak of,
// after the number; the last column names several.
var coverageColumns = []string{"all", "java", "javascript", "python", "go"}

// coverageLanguages are the names that the last column gives to folders, where they
// are not those of the folders with a capital letter.
var coverageLanguages = map[string]string{"C, C++": "c", "C#": "csharp"}

var (
	coverageRow  = regexp.MustCompile(`^\| (\d+), [^|]*\|(.*)\|$`)
	coverageName = regexp.MustCompile("`([a-z0-9-]+)`")
)

// TestCoverage checks that each rule that docs/coverage.md names is there, and that
// the rule says of itself that it tells the flaw of the row.
func TestCoverage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	tells := tellsCWE(t)
	rows := 0
	for line := range strings.Lines(string(page)) {
		m := coverageRow.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		rows++
		for _, folder := range coverageFolders(m[2]) {
			if !slices.Contains(tells[folder], "CWE-"+m[1]) {
				t.Errorf("docs/coverage.md names %s for CWE-%s; the rule says %q", folder, m[1], tells[folder])
			}
		}
	}
	if rows < 25 {
		t.Errorf("docs/coverage.md has %d rows, want 25 and more", rows)
	}
}

// tellsCWE returns the flaws that the rules of each folder tell.
func tellsCWE(t *testing.T) map[string][]string {
	t.Helper()
	all, err := rules.Default()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, r := range all {
		folder := strings.TrimPrefix(path.Dir(filepath.ToSlash(r.Path)), "rules/")
		out[folder] = append(out[folder], r.About.CWE...)
	}
	return out
}

// coverageFolders returns the folders of rules that a row names.
func coverageFolders(row string) []string {
	var out []string
	for i, cell := range strings.Split(row, "|") {
		if i < len(coverageColumns) {
			out = append(out, named(coverageColumns[i], cell)...)
			continue
		}
		for part := range strings.SplitSeq(cell, ";") {
			language, names, _ := strings.Cut(strings.TrimSpace(part), ":")
			folder, ok := coverageLanguages[language]
			if !ok {
				folder = strings.ToLower(language)
			}
			out = append(out, named(folder, names)...)
		}
	}
	return out
}

// named returns the folders of the rules of a language that a text names.
func named(language, text string) []string {
	var out []string
	for _, m := range coverageName.FindAllStringSubmatch(text, -1) {
		out = append(out, language+"/"+m[1])
	}
	return out
}

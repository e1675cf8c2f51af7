package rules_test

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/sast/rules"
)

var (
	pageHeading = regexp.MustCompile(`(?m)^#+ .*$`)
	pageFence   = regexp.MustCompile("(?ms)^```([a-z]+)\n.*?^```$")
	pageLabel   = regexp.MustCompile(`(?m)^- \*\*([^*]+)\*\*: `)
)

// pageSections are the headings of every page under its title. The loader and the
// filter by language of reports read them.
var pageSections = []string{"## Why it matters", "## Bad", "## Good", "## How to fix"}

// pageLabels are the names of the languages in the list items of a page.
var pageLabels = map[string]string{"go": "Go", "java": "Java", "javascript": "JavaScript", "python": "Python"}

// pageGrammars are the languages of examples whose folder has another name.
var pageGrammars = map[string]string{"template": "html"}

// TestPages checks the form of every page: its sections, and that a page of several
// languages has an example and a remediation for each. A finding shows only those of
// its own language, so a missing one would leave an empty section.
func TestPages(t *testing.T) {
	for dir, languages := range pageLanguages(t) {
		text, err := os.ReadFile(filepath.Join(filepath.FromSlash(dir), "doc.md"))
		if err != nil {
			t.Fatal(err)
		}
		page := string(text)
		headings := pageHeading.FindAllString(pageFence.ReplaceAllString(page, ""), -1)
		if len(headings) != 5 || !slices.Equal(headings[1:], pageSections) {
			t.Errorf("%s: headings %q, want a title and %q", dir, headings, pageSections)
			continue
		}
		_, rest, _ := strings.Cut(page, pageSections[1])
		bad, rest, _ := strings.Cut(rest, pageSections[2])
		good, fix, _ := strings.Cut(rest, pageSections[3])
		for name, section := range map[string]string{"Bad": bad, "Good": good} {
			if got := submatches(pageFence, section); !slices.Equal(got, languages) {
				t.Errorf("%s: section %s has examples in %q, want %q", dir, name, got, languages)
			}
		}
		var labels []string
		for _, l := range languages {
			if len(languages) > 1 {
				labels = append(labels, pageLabels[l])
			}
		}
		if got := submatches(pageLabel, fix); !slices.Equal(got, labels) {
			t.Errorf("%s: the remediation has items for %q, want %q", dir, got, labels)
		}
	}
}

// pageLanguages returns the languages of the examples of each page, in order. The
// examples in JavaScript serve TypeScript.
func pageLanguages(t *testing.T) map[string][]string {
	t.Helper()
	all, err := rules.Default()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, r := range all {
		dir := strings.TrimPrefix(path.Dir(filepath.ToSlash(r.Path)), "rules/")
		if folder := path.Dir(dir); folder != "all" {
			out[dir] = []string{cmp.Or(pageGrammars[folder], folder)}
			continue
		}
		for _, l := range r.Languages {
			if l != "typescript" && !slices.Contains(out[dir], l) {
				out[dir] = append(out[dir], l)
			}
		}
		slices.Sort(out[dir])
	}
	return out
}

// submatches returns the first group of every match.
func submatches(re *regexp.Regexp, text string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

package score

import (
	"regexp"
	"slices"
	"strings"
)

// A RuleTest is one rule and one annotated file: the rule must report exactly the
// expected lines in it. Paths are below the root of the rules.
// Todo are lines that the authors want reported and their own engine does not report.
type RuleTest struct {
	Rules  string   `json:"rules"`
	ID     string   `json:"id"`
	Mode   string   `json:"mode"`
	Langs  []string `json:"langs"`
	Target string   `json:"target"`
	Expect []int    `json:"expect"`
	Todo   []int    `json:"todo"`
}

// Conforms reports whether the sets of lines are equal.
func Conforms(expect, got []int) bool {
	return slices.Equal(sortedSet(expect), sortedSet(got))
}

// Without returns the lines that are not among those given.
func Without(lines, other []int) []int {
	return slices.DeleteFunc(slices.Clone(lines), func(n int) bool { return slices.Contains(other, n) })
}

// sortedSet returns the lines in ascending order, each once: a rule may match a line in several
// ways.
func sortedSet(lines []int) []int { return slices.Compact(slices.Sorted(slices.Values(lines))) }

// languages are the names that rules use for the languages whose rules must run,
// each with the name of its group.
var languages = map[string]string{
	"java": "java", "javascript": "js", "js": "js", "typescript": "js", "ts": "js", "python": "python",
	"python3": "python",
	"py":      "python", "python2": "python", "go": "go", "golang": "go", "php": "php", "ruby": "ruby", "rb": "ruby",
	"csharp": "csharp", "c#": "csharp", "kotlin": "kotlin", "kt": "kotlin", "c": "c", "cpp": "cpp", "c++": "cpp",
	"rust": "rust", "rs": "rust", "scala": "scala", "bash": "bash", "sh": "bash", "hcl": "hcl", "terraform": "hcl",
	"tf":   "hcl",
	"yaml": "yaml", "json": "json", "dockerfile": "dockerfile", "docker": "dockerfile", "html": "html", "xml": "xml",
	"generic": "generic", "regex": "regex", "none": "regex",
}

// Language returns the group of the first language of the list that must run, and
// "" if none must.
func Language(names []string) string {
	for _, name := range names {
		if group := languages[strings.ToLower(name)]; group != "" {
			return group
		}
	}
	return ""
}

// marker is what a file of the pattern tests has on the line before a match.
// MATCH is the marker of the older tests.
var marker = regexp.MustCompile(`(ERROR|MATCH):`)

// Marked returns the lines that follow a marker.
func Marked(text string) []int {
	var out []int
	for i, line := range strings.Split(text, "\n") {
		if marker.MatchString(line) {
			// i counts from 0, and the marked line is the next one.
			out = append(out, i+2)
		}
	}
	return out
}

// snippet is an annotation of juice-shop's code: the kind of line and the
// challenges that it is part of.
var snippet = regexp.MustCompile(`vuln-code-snippet (vuln|neutral)-line((?: \w+)+)`)

// Snippets returns the labels in a file of juice-shop: the lines at fault, and
// those around them that are not.
func Snippets(file, text string) []Label {
	var out []Label
	for i, line := range strings.Split(text, "\n") {
		if m := snippet.FindStringSubmatch(line); m != nil {
			out = append(out, Label{File: file, Line: i + 1, Vuln: m[1] == "vuln", Group: strings.TrimSpace(m[2])})
		}
	}
	return out
}

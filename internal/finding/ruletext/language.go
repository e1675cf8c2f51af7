package ruletext

import (
	"regexp"
	"strings"
)

// This file leaves out what a text says about other programming languages than that of the
// finding.

// aliases maps the names of programming languages, in lower case, as they stand behind the
// fence of a code block or as a label, to that of findings. Formats such as YAML are not
// among them: a Java finding may show YAML.
var aliases = map[string]string{
	"bash": "bash", "shell": "bash",
	"c": "c", "c++": "cpp", "cpp": "cpp", "c#": "csharp", "csharp": "csharp",
	"go": "go", "java": "java", "javascript": "javascript", "js": "javascript", "jsx": "javascript",
	"kotlin": "kotlin", "php": "php", "python": "python", "ruby": "ruby", "rust": "rust", "scala": "scala",
	"typescript": "typescript", "ts": "typescript", "tsx": "typescript",
}

// substitutes names the languages whose code serves for another one.
var substitutes = map[string]string{"typescript": "javascript", "cpp": "c"}

// labelled is a list item about one language: "- **Go**: use filepath.IsLocal."
var labelled = regexp.MustCompile(`^- \*\*([^*]+)\*\*:`)

// ForLanguage returns the Markdown text without code blocks and list items about other
// programming languages, and without sections that are then empty. A language that is
// unknown, or none, leaves the text as it is.
func ForLanguage(text, language string) string {
	language = aliases[strings.ToLower(language)]
	if language == "" {
		return text
	}
	f := filter{language: language}
	for _, line := range strings.Split(text, "\n") {
		f.add(line)
	}
	f.endSection()
	if !f.changed {
		return text
	}
	return strings.TrimSpace(strings.Join(f.out, "\n"))
}

// A filter copies lines, except of code and list items of other languages.
type filter struct {
	language string
	out      []string
	heading  int  // 1 + index in out of the heading of the section, 0 before the first
	inCode   bool // between fences
	skipping bool // the code or list item at hand is about another language
	dropped  bool // the section has lost something
	changed  bool // some section has
}

func (f *filter) add(line string) {
	switch {
	case f.inCode:
		if strings.HasPrefix(line, "```") {
			f.inCode = false
			f.copy(line)
			f.skipping = false
			return
		}
	case strings.HasPrefix(line, "```"):
		f.inCode, f.skipping = true, f.isForeign(strings.TrimPrefix(line, "```"))
	case strings.HasPrefix(line, "#"):
		f.skipping = false
		f.endSection()
		f.out = append(f.out, line)
		f.heading = len(f.out)
		return
	case strings.HasPrefix(line, "- "):
		f.skipping = false
		if label := labelled.FindStringSubmatch(line); label != nil {
			f.skipping = f.isForeign(label[1])
		}
	case f.skipping && !strings.HasPrefix(line, " "): // a list item ends
		f.skipping = false
	}
	f.copy(line)
}

// copy copies the line unless it is about another language. Of the blank lines around what is
// left out, one stays.
func (f *filter) copy(line string) {
	if f.skipping {
		f.dropped, f.changed = true, true
		return
	}
	if line == "" && !f.inCode && len(f.out) > 0 && f.out[len(f.out)-1] == "" {
		return
	}
	f.out = append(f.out, line)
}

// endSection removes the section's heading if nothing is left below it.
func (f *filter) endSection() {
	if f.dropped && f.heading > 0 && strings.TrimSpace(strings.Join(f.out[f.heading:], "")) == "" {
		f.out = f.out[:f.heading-1]
	}
	f.dropped, f.heading = false, 0
}

// isForeign reports whether name is a programming language other than the finding's.
func (f *filter) isForeign(name string) bool {
	other := aliases[strings.ToLower(strings.TrimSpace(name))]
	return other != "" && other != f.language && substitutes[f.language] != other
}

package analyzer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/rules/cloud"
)

// dedupe leaves one of the flaws that are the same: one rule on one line of one file about
// one resource, whichever document and module instance shows it. Of several, that with the
// shortest key is left: it is about the whole.
func dedupe(flaws []kics.Flaw) []kics.Flaw {
	slices.SortStableFunc(flaws, func(a, b kics.Flaw) int {
		return cmp.Or(
			strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule.ID, b.Rule.ID),
			strings.Compare(a.Key, b.Key), strings.Compare(a.Actual, b.Actual),
		)
	})
	// What a kustomization or other values do not change is told of the file itself
	// already, with the name that the object has there.
	told := map[string]bool{}
	for _, f := range flaws {
		told[flawKey(f)] = told[flawKey(f)] || !isBuilt(f)
	}
	seen := map[string]bool{}
	var out []kics.Flaw
	for i, f := range flaws {
		whole := &flaws[i]
		if isBuilt(f) {
			if told[flawKey(f)] {
				continue
			}
			told[flawKey(f)] = true
		}
		if f.Document != nil && f.Document.Format == document.Bicep {
			f.Key, f.Actual = "", "" // the turns of a loop say the same of one line
		}
		key := fmt.Sprintf("%s\x00%d\x00%s\x00%s\x00%s", f.Path, f.Line, f.Rule.ID, f.Key, f.Actual)
		if !seen[key] {
			seen[key] = true
			out = append(out, *whole)
		}
	}
	return out
}

// isBuilt reports whether the flaw is in what a kustomization or other values make of a
// file.
func isBuilt(f kics.Flaw) bool {
	return f.Document != nil && (f.Document.Format == document.Kustomize || f.Document.Variant != "")
}

// flawKey is one rule on one line.
func flawKey(f kics.Flaw) string { return fmt.Sprintf("%s\x00%d\x00%s", f.Path, f.Line, f.Rule.ID) }

// namedArgument is how our own rules name, at the end of a message, what they are about.
var namedArgument = regexp.MustCompile(`\(([A-Za-z0-9_.]+)\)\.?$`)

// missingWords is how queries say that something is not there.
var missingWords = regexp.MustCompile(`undefined|not defined|missing|not set`)

// knownMatches returns whether a match of our own rules is a flaw that a query reported:
// on the same line, about the same argument.
func knownMatches(flaws []kics.Flaw) func(cloud.Match) bool {
	type place struct {
		path string
		line int
	}
	texts := map[place][]string{}
	for _, f := range flaws {
		at := place{f.Path, f.Line}
		texts[at] = append(texts[at], strings.Join(append([]string{f.Key, f.Actual, f.Expected}, f.Steps...), " "))
	}
	return func(m cloud.Match) bool {
		at := namedArgument.FindStringSubmatch(m.Message)
		if at == nil {
			return false
		}
		steps := strings.Split(at[1], ".")
		return slices.ContainsFunc(texts[place{m.Place.Path, m.Place.StartLine}], func(text string) bool {
			if !containsWord(text, steps[0]) {
				return false
			}
			all := !slices.ContainsFunc(steps[1:], func(s string) bool { return !containsWord(text, s) })
			return all || missingWords.MatchString(text)
		})
	}
}

// containsWord reports whether the word is in the text, and not as a part of another.
func containsWord(text, word string) bool {
	for rest := text; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || !isWordByte(rest[i-1])) && (end == len(rest) || !isWordByte(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

// isWordByte reports whether a byte is part of a word.
func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

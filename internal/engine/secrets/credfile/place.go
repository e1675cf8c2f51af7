package credfile

import (
	"math"
	"path"
	"strings"
	"unicode/utf8"

	"merlon/internal/lazyregexp"
)

// This file says what the place of a file, and the look of a value, tell about a
// secret.

// exampleKeys are names under which descriptions of APIs and forms show what a value looks like
// (OpenAPI 3.1, sections 4.8.12 and 4.8.19; JSON Schema, section 9.5; HTML's placeholder).
var exampleKeys = lazyregexp.New(`(?i)^\s*(?:-\s+)?["']?(?:x-)?(?:examples?|sample|placeholder)["']?\s*:|` +
	`\bfor example\b|\be\.g\.|\b(?:placeholder|example|sample)\s*=\s*\{?["'\x60][^"'\x60]*$`)

// contextLines is how many lines above a value are looked at for what it stands in.
const contextLines = 60

// contextBytes is how far behind the start of a value the end of an HTML example is looked for.
const contextBytes = 300

// IsExampleContext reports whether the value at the offset stands in an example of an API
// description, in a piece of code of an HTML page, or is the hint of an input field: its line, or
// one above that is indented less and so contains it, is named so.
func IsExampleContext(text string, at int) bool {
	start := lineStart(text, at)
	line := text[start:at]
	if len(line) > longLine {
		return false
	}
	if rest := text[at:min(at+contextBytes, len(text))]; exampleKeys.MatchString(line) ||
		strings.Contains(rest[:strings.IndexByte(rest+"\n", '\n')], "</code>") {
		return true
	}
	return isEnclosedBy(text, at, exampleKeys.MatchString)
}

// developmentKeys are sections for development and tests: the environments of Rails, Symfony and
// others, that are a key of their own.
var developmentKeys = lazyregexp.New(`^\s*["']?(?:development|dev|test|testing|local|when@dev|when@test)["']?\s*:`)

// IsDevelopmentSection reports whether the place belongs to a section for development or tests,
// by the lines that enclose it.
func IsDevelopmentSection(text string, at int) bool {
	return isEnclosedBy(text, at, developmentKeys.MatchString)
}

// isEnclosedBy reports whether one of the lines above the place that are indented less, each less
// than the one below it, matches.
func isEnclosedBy(text string, at int, matches func(line string) bool) bool {
	start := lineStart(text, at)
	if at-start > longLine {
		return false
	}
	indent := indentation(text[start:at])
	for n := 0; n < contextLines && start > 0 && indent > 0; n++ {
		end := start - 1
		start = lineStart(text, end)
		if end-start > longLine {
			return false
		}
		line := text[start:end]
		if in := indentation(line); in < indent && in < len(line) {
			indent = in
			if matches(line) {
				return true
			}
		}
	}
	return false
}

// indentation returns how many blanks the line begins with.
func indentation(line string) int {
	return len(line) - len(strings.TrimLeft(line, " \t\r"))
}

// isTranslation reports whether the file holds the words of a user interface, in
// which "password" is a word of a language. The path is in lower case.
func isTranslation(name string) bool {
	for _, dir := range []string{"/lang/", "/langs/", "/language/", "/languages/", "/locale/", "/locales/", "/i18n/",
		"/l10n/", "/intl/", "/translations/", "/translation/", "/nls/", ".lproj/", "/values-", "/res/values/"} {
		if strings.Contains(name, dir) {
			return true
		}
	}
	base := path.Base(name)
	for _, start := range []string{"messages", "labels", "strings", "translation", "i18n", "locale", "resources",
		"validationmessages", "applicationresources", "displaytext", "text_"} {
		if strings.HasPrefix(base, start) {
			return true
		}
	}
	return false
}

// IsRandom reports whether the value is long and irregular enough that nobody finds
// it by trying. The measure is the entropy of its characters times its length.
func IsRandom(value string) bool {
	return len(value) >= 20 && Entropy(value)*float64(utf8.RuneCountInString(value)) >= 70
}

// Entropy returns the bits per character of a text by how often each character
// comes (Shannon, 1948).
func Entropy(value string) float64 {
	counts := map[rune]int{}
	for _, r := range value {
		counts[r]++
	}
	n := float64(utf8.RuneCountInString(value))
	bits := 0.0
	for _, c := range counts {
		bits -= float64(c) / n * math.Log2(float64(c)/n)
	}
	return bits
}

// longLine is the length of a line that nobody wrote.
const longLine = 5000

// IsMinified reports whether the place is in a line that a program made.
func IsMinified(text string, start, end int) bool {
	from := max(start-longLine, 0)
	to := min(end+longLine, len(text))
	begin := strings.LastIndexByte(text[from:start], '\n')
	stop := strings.IndexByte(text[end:to], '\n')
	if begin < 0 && from > 0 || stop < 0 && to < len(text) {
		return true
	}
	if stop < 0 {
		stop = to - end
	}
	return end+stop-(from+begin+1) > longLine
}

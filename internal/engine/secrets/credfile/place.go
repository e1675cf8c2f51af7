package credfile

import (
	"math"
	"path"
	"strings"
	"unicode/utf8"
)

// This file says what the place of a file, and the look of a value, tell about a
// secret.

// folders hold tests, examples and manuals.
var folders = map[string]bool{"test": true, "tests": true, "testing": true, "__tests__": true, "spec": true,
	"specs": true, "testdata": true,
	"test-data": true, "test_data": true, "fixtures": true, "fixture": true, "__fixtures__": true, "mock": true,
	"mocks": true, "__mocks__": true, "e2e": true,
	"cypress": true, "example": true, "examples": true, "sample": true, "samples": true, "demo": true, "demos": true,
	"doc": true, "docs": true,
	"documentation": true, "unittest": true, "unittests": true, "integration-tests": true, "integrationtests": true}

// IsExample reports whether the file belongs to tests, examples or manuals, in
// which most secrets open nothing.
func IsExample(name string) bool {
	lower := strings.ToLower(name)
	dirs := strings.Split(lower, "/")
	for _, dir := range dirs[:len(dirs)-1] {
		if folders[dir] {
			return true
		}
	}
	base := dirs[len(dirs)-1]
	switch path.Ext(base) {
	case ".md", ".rst", ".adoc", ".asciidoc", ".markdown":
		return true
	}
	return hasExampleMark(base)
}

// hasExampleMark reports whether the name of a file says that it is a test or an example:
// settings_test.py, .env.example, app-sample.yml, php.ini.dist.
func hasExampleMark(base string) bool {
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, mark := range []string{"test", "tests", "spec"} {
		if strings.HasSuffix(stem, "."+mark) || strings.HasSuffix(stem, "_"+mark) ||
			strings.HasSuffix(stem, "-"+mark) || strings.HasPrefix(stem, mark+"_") {
			return true
		}
	}
	for _, mark := range []string{"example", "sample", "template"} {
		if strings.Contains(base, "."+mark) || strings.Contains(base, "-"+mark) || strings.Contains(base, "_"+mark) {
			return true
		}
	}
	return strings.HasSuffix(base, ".dist")
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

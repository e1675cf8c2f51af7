package lang

import (
	"path"
	"regexp"
	"strings"
)

// This file knows by their paths which files are not part of what a program does for
// its users.

var (
	testFile      = regexp.MustCompile(`_test\.go$|(^test_[^/]*|_test|^conftest)\.py$|\.(test|spec|e2e|bench)\.[cm]?[jt]sx?$`)
	testFolder    = regexp.MustCompile(`(^|/)(tests?|__tests__|__mocks__|spec|e2e)/`)
	exampleFolder = regexp.MustCompile(`(^|/)(_?examples?|samples?|bench|benchmarks?)/`)
)

// mainSource is where the builds of Java and its kin keep what is shipped. Below it
// folders are packages, whose names (com.example) say nothing of their use.
const mainSource = "src/main/"

// Test reports whether the file, by its path below the scanned root, tests a program:
// by the names that the test tools of its language ask for, and by its folders.
func Test(name string) bool {
	base := path.Base(name)
	if testFile.MatchString(base) {
		return true
	}
	switch path.Ext(name) {
	case ".go": // the tool knows tests by their file's name only
		return false
	case ".java", ".kt", ".scala", ".groovy":
		name, _, _ = strings.Cut(name, mainSource)
		return strings.HasPrefix(name, "src/test/") || strings.Contains(name, "/src/test/") || strings.HasPrefix(name, "test/")
	}
	name, _, _ = strings.Cut(name, mainSource)
	return testFolder.MatchString(name)
}

// Aside reports whether the file is a test, an example or a measurement: code that
// runs, but not where the program serves its users.
func Aside(name string) bool {
	if Test(name) {
		return true
	}
	ext := path.Ext(name)
	before, _, shipped := strings.Cut(name, mainSource)
	if (ext == ".java" || ext == ".kt" || ext == ".scala") && !shipped {
		before, _, _ = strings.Cut(name, "src/")
	}
	return exampleFolder.MatchString(before)
}

package lang

import (
	"path"
	"regexp"
	"strings"
)

// This file knows by their paths which files are not part of what a program does for
// its users.

var (
	testFile      = regexp.MustCompile(`(^test_[^/]*|_test|^conftest)\.py$|\.(test|spec|e2e|bench)\.[cm]?[jt]sx?$`)
	testFolder    = regexp.MustCompile(`(^|/)(tests?|__tests__|__mocks__|spec|e2e)/`)
	exampleFolder = regexp.MustCompile(`(^|/)(_?examples?|samples?|bench|benchmarks?)/`)
)

// mainSource is where the builds of Java and its kin keep what is shipped. Below it
// folders are packages, whose names (com.example) say nothing of their use.
const mainSource = "src/main/"

// Test reports whether the file, by its path below the scanned root, tests a program:
// by the names that the test tools of its language ask for, and by its folders.
func Test(name string) bool {
	switch path.Ext(name) {
	case ".go": // the tool knows tests by their file's name only
		return strings.HasSuffix(name, "_test.go")
	case ".java", ".kt", ".scala", ".groovy":
		name, _, _ = strings.Cut(name, mainSource)
		return strings.HasPrefix(name, "src/test/") || strings.Contains(name, "/src/test/") ||
			strings.HasPrefix(name, "test/")
	}
	if testFile.MatchString(path.Base(name)) {
		return true
	}
	name, _, _ = strings.Cut(name, mainSource)
	return testFolder.MatchString(name)
}

// pytestFinds is what makes a file of Python with the name of a test one: a function, a
// method or a class that the tools run, or the tools themselves.
var pytestFinds = regexp.MustCompile(`(?m)^\s*(async\s+)?(def|class)\s+([tT]est|\w*Test(s|Case)?\b)|^\s*(from|import)\s+(pytest|unittest2?|nose|testtools|hypothesis|asynctest)\b|\b(django|flask_testing)\.?test\b|\bTestCase\b`)

// Tests reports whether a file tests a program: Test says so, and where nothing but the
// name of a Python file does, something in it is for the tools that look for such names.
// A module about tests, exams or a test of speech is a module.
func Tests(name string, text []byte) bool {
	if !Test(name) {
		return false
	}
	if path.Ext(name) != ".py" || path.Base(name) == "conftest.py" || testFolder.MatchString(name) {
		return true
	}
	return pytestFinds.Match(text)
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
	if !strings.Contains(before, "ample") && !strings.Contains(before, "bench") {
		return false // it is asked for often
	}
	return exampleFolder.MatchString(before)
}

// thirdParty are folders that hold code of others, by the tools that make them.
var thirdParty = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, ".yarn": true,
	"site-packages": true, ".venv": true, "__pypackages__": true, ".tox": true, ".eggs": true,
	".gradle": true, ".m2": true, ".terraform": true, ".git": true, "Pods": true,
}

// ThirdParty returns the folder of installed packages in which the file lies, with a
// trailing slash, and "" for a file of the program itself. The folder "vendor" of Go
// and PHP is one only where it holds what package managers put there.
func ThirdParty(name string) string {
	for i := 0; i < len(name); {
		n := strings.IndexByte(name[i:], '/')
		if n < 0 {
			return ""
		}
		part := name[i : i+n]
		if thirdParty[part] || part == "vendor" && isVendored(name[i+n+1:]) {
			return name[:i+n+1]
		}
		i += n + 1
	}
	return ""
}

// isVendored reports whether a path below a folder "vendor" is one that a package
// manager makes: a host name (Go), or autoload and bundle files (PHP, Ruby).
func isVendored(rest string) bool {
	first, _, _ := strings.Cut(rest, "/")
	return strings.Contains(first, ".") || first == "composer" || first == "bundle" || first == "cache"
}

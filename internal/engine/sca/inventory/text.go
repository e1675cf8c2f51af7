package inventory

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/google/osv-scalibr/purl"
)

// List lists at most twenty names and counts the rest.
func List(list []string) string {
	// Sorted, so that the message of two scans is the same.
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	more := ""
	if len(list) > 20 {
		list, more = list[:20], fmt.Sprintf(" and %d more", len(list)-20)
	}
	return strings.Join(list, ", ") + more
}

// Count writes a number of things: "1 package", "2 packages".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// OneLine makes a text safe to print: one line of at most 300 characters.
func OneLine(s string) string {
	// Names come from files of the tree: escape sequences could rewrite the terminal (CWE-150).
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}

// purlTypes gives the type of package URLs by ecosystem.
// The key is the name of the ecosystem in OSV records, the value the type in the purl
// specification. An ecosystem without a row has no package URL.
var purlTypes = map[string]string{
	"npm": purl.TypeNPM, "PyPI": purl.TypePyPi, "Maven": purl.TypeMaven, "Packagist": purl.TypeComposer,
	"RubyGems": purl.TypeGem, "crates.io": purl.TypeCargo, "Pub": purl.TypePub, "Hex": purl.TypeHex,
	"ConanCenter": purl.TypeConan, "CocoaPods": purl.TypeCocoapods, "NuGet": purl.TypeNuget, "SwiftURL": purl.TypeSwift,
	"GitHub Actions": purl.TypeGithub, "Go": purl.TypeGolang, "conda": purl.TypeConda,
}

// makePURL makes a package URL (https://github.com/package-url/purl-spec).
func makePURL(ecosystem, name, version string) string {
	kind, ok := purlTypes[ecosystem]
	if !ok {
		return ""
	}
	namespace := ""
	switch ecosystem {
	// group:artifact
	case "Maven":
		namespace, name, _ = strings.Cut(name, ":")
	// "@scope/name", "vendor/name", "github.com/owner/name": all but the last part is the
	// namespace.
	case "npm", "Packagist", "SwiftURL", "Go", "GitHub Actions":
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			namespace, name = name[:i], name[i+1:]
		}
	// The type pypi asks for lower case and "-" in place of "_".
	case "PyPI":
		name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
	return (&purl.PackageURL{Type: kind, Namespace: namespace, Name: name, Version: version}).String()
}

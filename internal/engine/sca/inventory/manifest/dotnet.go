package manifest

import (
	"strings"

	"merlon/internal/document"
	"merlon/internal/lazyregexp"
)

// NuGetVersion returns the version that a requirement of NuGet takes: a bare
// version is the lowest that it allows, and the lowest is what is taken
// (https://learn.microsoft.com/nuget/concepts/dependency-resolution).
func NuGetVersion(wanted string) string {
	wanted = strings.TrimSpace(wanted)
	if inner, ok := strings.CutPrefix(wanted, "["); ok {
		inner, _, _ = strings.Cut(strings.TrimSuffix(inner, "]"), ",")
		wanted = strings.TrimSpace(inner)
	}
	if strings.ContainsAny(wanted, "*$(),[]") {
		return ""
	}
	return FixedVersion(wanted)
}

// Nuspec reads the dependencies of a .nuspec, which are those of a package to be.
func Nuspec(content []byte) ([]Requirement, error) {
	n, err := document.ParseXML(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, e := range n.Named("dependency") {
		if name := e.TextOf("@id"); name != "" && !strings.Contains(name, "$") {
			out = append(out, Requirement{Name: name, Version: NuGetVersion(e.TextOf("@version")),
				Wanted: e.TextOf("@version"), Line: e.Line})
		}
	}
	return out, nil
}

// paketCall matches a line that asks for a package of NuGet.
var paketCall = lazyregexp.New(`(?mi)^[ \t]*(?:nuget|clitool)[ \t]+"?(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)"?[ \t]*(?:"?(?:==?[ \t]*)?(?P<version>[0-9][0-9A-Za-z.+-]*)"?[ \t]*(?:[a-z_]+:.*)?$|(?P<rest>.*)$)`)

// Paket reads a paket.dependencies (https://fsprojects.github.io/Paket/dependencies-file.html).
func Paket(content []byte) ([]Requirement, error) { return findCalls(content, paketCall, "//"), nil }

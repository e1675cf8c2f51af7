package sbom

import (
	"regexp"
	"strings"

	"github.com/google/osv-scalibr/purl"

	"merlon/internal/finding"
)

// This file translates between package URLs
// (https://github.com/package-url/purl-spec) and the ecosystems and names of
// vulnerability records (https://ossf.github.io/osv-schema/#defined-ecosystems).

// ecosystems gives the ecosystem of a type of package URL.
var ecosystems = map[string]string{
	purl.TypeNPM: "npm", purl.TypePyPi: "PyPI", purl.TypeMaven: "Maven", purl.TypeGolang: "Go", purl.TypeNuget: "NuGet",
	purl.TypeGem: "RubyGems", purl.TypeComposer: "Packagist", purl.TypeCargo: "crates.io", purl.TypePub: "Pub",
	purl.TypeHex:   "Hex",
	purl.TypeConan: "ConanCenter", purl.TypeCocoapods: "CocoaPods", purl.TypeSwift: "SwiftURL",
	purl.TypeGithub: "GitHub Actions",
	purl.TypeCran:   "CRAN", purl.TypeHackage: "Hackage", purl.TypeJulia: "Julia", "bitnami": "Bitnami",
	"clojars": "Clojars", purl.TypeConda: "conda", purl.TypeDocker: "Docker",
}

// distributions gives the ecosystem of the packages of a distribution, by the
// namespace of a package URL, and how its release is written.
var distributions = map[string]distribution{
	"debian": {"Debian", majorVersion}, "ubuntu": {"Ubuntu", wholeVersion},
	"alpine": {"Alpine", func(v string) string { return "v" + minorVersion(v) }},
	"wolfi":  {"Wolfi", noVersion}, "chainguard": {"Chainguard", noVersion}, "rocky": {"Rocky Linux", majorVersion},
	"almalinux": {"AlmaLinux", majorVersion},
	"alma":      {"AlmaLinux", majorVersion}, "redhat": {"Red Hat", noVersion}, "rhel": {"Red Hat", noVersion},
	"opensuse": {"openSUSE", noVersion}, "suse": {"SUSE", noVersion},
	"mageia": {"Mageia", majorVersion}, "openeuler": {"openEuler", noVersion},
}

// wholeVersion keeps the version of a distribution as it is.
func wholeVersion(v string) string { return v }

// noVersion is for distributions whose records name no version.
func noVersion(string) string { return "" }

// majorVersion returns the first part of a version.
func majorVersion(v string) string {
	v, _, _ = strings.Cut(v, ".")
	return v
}

// minorVersion returns the first two parts of a version.
func minorVersion(v string) string {
	a, rest, ok := strings.Cut(v, ".")
	if !ok {
		return v
	}
	b, _, _ := strings.Cut(rest, ".")
	return a + "." + b
}

// parsePackage fills ecosystem, name and version from the package URL; false when it
// cannot be read or names nothing that vulnerability records are about.
func parsePackage(p *finding.Package, text string) bool {
	u, err := parsePURL(text)
	if err != nil || u.Name == "" {
		return false
	}
	p.PURL, p.Name, p.Version = text, u.Name, u.Version
	if u.Type == purl.TypeDebian || u.Type == purl.TypeApk || u.Type == purl.TypeRPM {
		if d, ok := distributions[u.Namespace]; ok {
			d.fill(p, u)
			return true
		}
	}
	ecosystem, ok := ecosystems[u.Type]
	if !ok {
		return false
	}
	p.Ecosystem, p.Name = ecosystem, fullName(u)
	switch u.Type {
	case purl.TypeGolang:
		p.Version = strings.TrimPrefix(u.Version, "v")
	case purl.TypeDocker: // the registry is part of the name of an image, the digest stands above its tag
		for _, q := range u.Qualifiers {
			switch q.Key {
			case "repository_url":
				p.Name = q.Value + "/" + p.Name
			case "tag":
				p.Version = q.Value
			}
		}
	case "bitnami": // "1.2.3-4" is a further build of 1.2.3; records speak of that
		p.Version = buildSuffix.ReplaceAllString(u.Version, "")
	}
	return true
}

// fullName returns the name of a package with its namespace, as records spell it.
func fullName(u purl.PackageURL) string {
	switch {
	case u.Namespace == "":
		return u.Name
	case u.Type == purl.TypeMaven || u.Type == "clojars":
		return u.Namespace + ":" + u.Name
	}
	return u.Namespace + "/" + u.Name
}

// buildSuffix matches the number of a further build.
var buildSuffix = regexp.MustCompile(`-[0-9]+$`)

// parsePURL reads a package URL, also of the types of ecosystems that the library does not
// know.
func parsePURL(text string) (purl.PackageURL, error) {
	rest := strings.TrimLeft(strings.TrimPrefix(text, "pkg:"), "/")
	kind, rest, ok := strings.Cut(rest, "/")
	kind = strings.ToLower(kind)
	if !ok || kind != "bitnami" && kind != "clojars" && kind != purl.TypeJulia {
		return purl.FromString(text)
	}
	u, err := purl.FromString("pkg:" + purl.TypeGeneric + "/" + rest)
	u.Type = kind
	return u, err
}

// A distribution is an ecosystem of packages of an operating system.
type distribution struct {
	ecosystem string
	release   func(version string) string // as OSV writes it
}

// fill fills ecosystem and version from the qualifiers of a package URL, and the name of
// the source package, because records are about these.
func (d distribution) fill(p *finding.Package, u purl.PackageURL) {
	q := map[string]string{}
	for _, pair := range u.Qualifiers {
		q[pair.Key] = pair.Value
	}
	p.Ecosystem = d.ecosystem
	if release := d.release(releaseOf(q["distro"])); release != "" {
		p.Ecosystem += ":" + release
	}
	if epoch := q["epoch"]; epoch != "" && epoch != "0" && !strings.Contains(u.Version, ":") {
		p.Version = epoch + ":" + u.Version
	}
	if source, _, _ := strings.Cut(q["upstream"], "@"); source != "" {
		p.Name = source
	}
}

// releaseOf returns the number in "debian-12", "alpine-3.19.1" or "12".
func releaseOf(distro string) string {
	if i := strings.LastIndexByte(distro, '-'); i >= 0 {
		return distro[i+1:]
	}
	return distro
}

// genericURL names a package for which there is no type.
func genericURL(p *finding.Package) string {
	u := purl.PackageURL{Type: purl.TypeGeneric, Namespace: p.Ecosystem, Name: p.Name, Version: p.Version}
	return u.String()
}

// splitName cuts the group off a package's name where its ecosystem has groups.
func splitName(ecosystem, name string) (group, rest string) {
	switch ecosystem {
	case "Maven":
		if group, rest, ok := strings.Cut(name, ":"); ok {
			return group, rest
		}
	case "npm", "Packagist":
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			return name[:i], name[i+1:]
		}
	}
	return "", name
}

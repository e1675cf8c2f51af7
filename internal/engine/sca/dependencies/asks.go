package dependencies

import (
	"regexp"
	"strings"

	"github.com/google/osv-scalibr/purl"
)

// This file reads what manifests of programs ask for. Several of them are
// programs themselves and are never run: what is written out is found by its
// form, and what is computed stays unknown, as the reason says.

// find returns a requirement for each match of a pattern whose groups "name",
// "group" and "version" are used.
func find(content []byte, pattern *regexp.Regexp) []requirement {
	var out []requirement
	seen := map[string]bool{}
	for _, m := range pattern.FindAllStringSubmatch(string(content), 10_000) {
		get := func(group string) string {
			if i := pattern.SubexpIndex(group); i >= 0 {
				return m[i]
			}
			return ""
		}
		name := get("name")
		if g := get("group"); g != "" {
			name = g + ":" + name
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, requirement{name: name, version: fixedVersion(get("version"))})
		}
	}
	return out
}

var (
	gemCall     = regexp.MustCompile(`(?m)^\s*(?:gem|\w+\.add(?:_runtime|_development)?_dependency)[ (]+["'](?P<name>[A-Za-z0-9._-]+)["']`)
	mixTuple    = regexp.MustCompile(`\{\s*:(?P<name>[a-z0-9_]+)\s*,\s*["'~>=<]`)
	rebarTuple  = regexp.MustCompile(`(?s)\{\s*(?P<name>[a-z0-9_]+)\s*,\s*"(?P<version>[0-9][^"]*)"`)
	swiftCall   = regexp.MustCompile(`\.package\((?:[^()]*?,\s*)?url:\s*"(?P<name>[^"]+)"(?:\s*,\s*exact:\s*"(?P<version>[^"]+)")?`)
	podCall     = regexp.MustCompile(`(?m)^\s*pod\s+["'](?P<name>[^"'/]+)[^"']*["'](?:\s*,\s*["'](?P<version>[0-9][^"']*)["'])?`)
	conanLine   = regexp.MustCompile(`(?m)^\s*(?P<name>[a-z0-9_+.-]+)/(?P<version>[^\s@#]+)`)
	gradleText  = regexp.MustCompile(`["'](?P<group>[A-Za-z0-9_.-]+):(?P<name>[A-Za-z0-9_.-]+)(?::(?P<version>[^"':@\s]+))?(?::[^"'\s]+)?["']`)
	sbtText     = regexp.MustCompile(`"(?P<group>[A-Za-z0-9_.-]+)"\s*%{1,3}\s*"(?P<name>[A-Za-z0-9_.-]+)"\s*%\s*(?:"(?P<version>[^"]+)")?`)
	ednText     = regexp.MustCompile(`(?P<group>[A-Za-z0-9_.-]+)/(?P<name>[A-Za-z0-9_.-]+)\s*\{[^{}]*:mvn/version\s+"(?P<version>[^"]+)"`)
	pyString    = regexp.MustCompile(`["'](?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:==\s*(?P<version>[0-9][^"',;\s]*)|[<>=!~;(@][^"']*)?["']`)
	pyLine      = regexp.MustCompile(`(?m)^\s+(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:==\s*(?P<version>[0-9][^,;\s]*)\s*|[<>=!~;@].*)?$`)
	tomlKey     = regexp.MustCompile(`(?m)^\s*["']?(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)["']?\s*=\s*(?:["'](?P<version>=[^"']*)["'])?`)
	yamlKey     = regexp.MustCompile(`(?m)^  (?P<name>[a-z0-9_]+):[ \t]*(?P<version>[0-9][^\s#]*)?`)
	tomlSection = regexp.MustCompile(`(?m)^\s*\[+([^\[\]\n]+)\]+\s*(?:#.*)?$`)
	yamlSection = regexp.MustCompile(`(?m)^([a-z_]+):[ \t]*$`)
	cfgSection  = regexp.MustCompile(`(?m)^([a-z_.]+)\s*=[ \t]*`)
)

func askGems(content []byte) []requirement  { return find(content, gemCall) }
func askMix(content []byte) []requirement   { return find(content, mixTuple) }
func askRebar(content []byte) []requirement { return find(content, rebarTuple) }
func askSwift(content []byte) []requirement { return find(content, swiftCall) }
func askPods(content []byte) []requirement  { return find(content, podCall) }
func askSbt(content []byte) []requirement   { return find(content, sbtText) }
func askEdn(content []byte) []requirement   { return find(content, ednText) }

// askConan reads the section [requires] and its like.
func askConan(content []byte) []requirement {
	return inSections(content, tomlSection, conanLine, func(s string) bool { return strings.Contains(s, "requires") })
}

// askGradle finds coordinates in the block "dependencies".
func askGradle(content []byte) []requirement {
	_, rest, ok := strings.Cut(string(content), "dependencies")
	if !ok {
		return nil
	}
	var out []requirement
	for _, r := range find([]byte(rest), gradleText) {
		if strings.Contains(r.name, ".") { // a group is a domain; ":project:path" is none
			out = append(out, r)
		}
	}
	return out
}

// askPyproject reads PEP 621 dependencies and Poetry's tables.
func askPyproject(content []byte) []requirement {
	var out []requirement
	eachSection(string(content), tomlSection, func(name, body string) {
		switch {
		case name == "project":
			if _, list, ok := strings.Cut(body, "\ndependencies"); ok {
				list, _, _ = strings.Cut(list, "\n]")
				out = append(out, find([]byte(list), pyString)...)
			}
		case name == "project.optional-dependencies", name == "dependency-groups":
			out = append(out, find([]byte(body), pyString)...)
		case strings.HasPrefix(name, "tool.poetry.") && strings.HasSuffix(name, "dependencies"):
			for _, r := range find([]byte(body), tomlKey) {
				if r.name != "python" {
					r.dev = name != "tool.poetry.dependencies"
					out = append(out, r)
				}
			}
		}
	})
	return out
}

func askPipfile(content []byte) []requirement {
	return inSections(content, tomlSection, tomlKey, func(s string) bool { return strings.HasSuffix(s, "packages") })
}

func askCargo(content []byte) []requirement {
	return inSections(content, tomlSection, tomlKey, func(s string) bool {
		return s == "dependencies" || s == "build-dependencies" || s == "workspace.dependencies" || s == "dev-dependencies" ||
			strings.HasPrefix(s, "target.") && strings.HasSuffix(s, ".dependencies")
	})
}

func askPub(content []byte) []requirement {
	var out []requirement
	for _, r := range inSections(content, yamlSection, yamlKey, func(s string) bool { return strings.HasSuffix(s, "dependencies") }) {
		if r.name != "flutter" && r.name != "flutter_test" { // parts of the kit, not packages
			out = append(out, r)
		}
	}
	return out
}

func askSetupCfg(content []byte) []requirement {
	return inSections(content, cfgSection, pyLine, func(s string) bool { return s == "install_requires" })
}

// inSections applies the pattern to the sections that want accepts.
func inSections(content []byte, heading, pattern *regexp.Regexp, want func(string) bool) []requirement {
	var out []requirement
	eachSection(string(content), heading, func(name, body string) {
		if want(name) {
			out = append(out, find([]byte(body), pattern)...)
		}
	})
	return out
}

// eachSection calls do with the name and the text of each section.
func eachSection(content string, heading *regexp.Regexp, do func(name, body string)) {
	at := heading.FindAllStringSubmatchIndex(content, -1)
	for i, m := range at {
		end := len(content)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		do(strings.TrimSpace(content[m[2]:m[3]]), content[m[1]:end])
	}
}

// makePURL makes a package URL (https://github.com/package-url/purl-spec).
func makePURL(ecosystem, name, version string) string {
	kinds := map[string]string{
		"npm": purl.TypeNPM, "PyPI": purl.TypePyPi, "Maven": purl.TypeMaven, "Packagist": purl.TypeComposer,
		"RubyGems": purl.TypeGem, "crates.io": purl.TypeCargo, "Pub": purl.TypePub, "Hex": purl.TypeHex,
		"ConanCenter": purl.TypeConan, "CocoaPods": purl.TypeCocoapods,
	}
	kind, ok := kinds[ecosystem]
	if !ok {
		return ""
	}
	namespace := ""
	switch ecosystem {
	case "Maven":
		namespace, name, _ = strings.Cut(name, ":")
	case "npm", "Packagist":
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			namespace, name = name[:i], name[i+1:]
		}
	case "PyPI":
		name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
	return (&purl.PackageURL{Type: kind, Namespace: namespace, Name: name, Version: version}).String()
}

package upgrade

import (
	"path"
	"slices"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file knows the commands of package managers.

// A packageManager is the package manager of a lock file or manifest. In its commands NAME stands
// for the package, VERSION for the one to take, OLD for the present one, PARENT for the
// package that asks for it; what stands between [ and ] is for packages that are only
// for development. What overrules a package's own requirement is for the requirements
// that the present version fits, where the package manager can tell them apart.
// files are patterns of path.Match for the base name of the file that lists the package; "*" is
// for all others of the ecosystem. To add one: its files, ecosystem and both commands, before the
// "*" row of the ecosystem; an empty command is one that does not exist.
type packageManager struct {
	files     []string
	ecosystem string
	direct    string
	forced    string // for packages that others brought in
}

// packageManagers lists the package managers, the more special files first.
var packageManagers = []packageManager{
	{[]string{"yarn.lock"}, "npm", "yarn add NAME@VERSION[ --dev]", "npm pkg set 'resolutions[PARENT/NAME]=VERSION' " +
		"&& yarn install"},
	{[]string{"pnpm-lock.yaml"}, "npm", "pnpm add NAME@VERSION[ --save-dev]", "npm pkg set " +
		"'pnpm.overrides[NAME@OLD]=VERSION' && pnpm install"},
	{[]string{"bun.lock"}, "npm", "bun add NAME@VERSION[ --dev]", "npm pkg set 'overrides[NAME]=VERSION' && bun " +
		"install"},
	{[]string{"deno.lock"}, "npm", "deno add npm:NAME@VERSION", ""},
	{[]string{"*"}, "npm", "npm install NAME@VERSION[ --save-dev]", "npm pkg set 'overrides[NAME@OLD]=VERSION' && " +
		"npm install"},
	{[]string{"poetry.lock"}, "PyPI", "poetry add NAME@^VERSION[ --group dev]", "poetry add NAME@^VERSION"},
	{[]string{"pdm.lock"}, "PyPI", "pdm add 'NAME>=VERSION'[ --dev]", "pdm update NAME"},
	{[]string{"uv.lock"}, "PyPI", "uv add 'NAME>=VERSION'[ --dev]", "uv lock --upgrade-package NAME==VERSION"},
	{[]string{"Pipfile.lock", "Pipfile"}, "PyPI", "pipenv install NAME==VERSION[ --dev]",
		"pipenv upgrade NAME==VERSION"},
	{[]string{"*"}, "PyPI", "pip install NAME==VERSION", "pip install NAME==VERSION"},
	{[]string{"*"}, "Go", "go get NAME@vVERSION", "go get NAME@vVERSION"},
	{[]string{"*"}, "crates.io", "cargo update -p NAME@OLD --precise VERSION", "cargo update -p NAME@OLD --precise " +
		"VERSION"},
	{[]string{"*"}, "Packagist", "composer require NAME:^VERSION[ --dev] --with-all-dependencies", "composer update " +
		"NAME --with NAME:^VERSION"},
	{[]string{"*"}, "RubyGems", "bundle update --conservative NAME", "bundle update --conservative NAME"},
	{[]string{"packages.config", "*.props", "*.targets", "paket.lock", "*.nuspec"}, "NuGet", "", ""},
	{[]string{"*"}, "NuGet", "dotnet add package NAME --version VERSION", "dotnet add package NAME --version VERSION"},
	{[]string{"*"}, "Pub", "dart pub add NAME:^VERSION", "dart pub upgrade NAME"},
	{[]string{"*"}, "Hex", "mix deps.update NAME", "mix deps.update NAME"},
	{[]string{"Podfile.lock", "Podfile"}, "CocoaPods", "pod update NAME", "pod update NAME"},
	{[]string{"pom.xml"}, "Maven", "mvn versions:use-dep-version -Dincludes=NAME -DdepVersion=VERSION", ""},
}

// shellSafe matches what can stand in a shell command as one word. Names come from
// scanned files, and somebody may paste the command.
// It excludes white space, quotes, $, ; & | and a leading hyphen, which would be read as an
// option.
var shellSafe = lazyregexp.New(`^[A-Za-z0-9@][A-Za-z0-9._/@:+-]*$`)

// Command returns a command that brings a package to a version, or "" where none is
// known.
func Command(p *finding.Package, version string) string {
	// The templates write the v of Go themselves.
	version, old := strings.TrimPrefix(version, "v"), strings.TrimPrefix(p.Version, "v")
	if !shellSafe.MatchString(p.Name) || !shellSafe.MatchString(version) || !shellSafe.MatchString(old) {
		return ""
	}
	// The standard library is upgraded with the release of Go.
	if p.Ecosystem == "Go" && (p.Name == "stdlib" || p.Name == "toolchain") {
		return "go get go@" + version
	}
	for _, t := range packageManagers {
		if t.ecosystem != p.Ecosystem || !t.matchesFile(p.Path) {
			continue
		}
		text := t.direct
		if p.Scope == finding.Transitive {
			text = t.forced
		}
		// "[ --dev]" becomes " --dev" for a development dependency and nothing for others.
		if before, rest, ok := strings.Cut(text, "[ --"); ok {
			option, after, _ := strings.Cut(rest, "]")
			if text = before + after; p.Dev {
				text = before + " --" + option + after
			}
		}
		asker := parentPackage(p)
		if asker == "" {
			// Without a known parent the resolution applies to the package wherever it is used.
			text = strings.ReplaceAll(text, "PARENT/", "")
		}
		return strings.NewReplacer("NAME", p.Name, "VERSION", version, "OLD", old, "PARENT", asker).Replace(text)
	}
	return ""
}

// parentPackage is the name of the package that asks for a package, or "".
func parentPackage(p *finding.Package) string {
	if len(p.Via) == 0 {
		return ""
	}
	last := p.Via[len(p.Via)-1]
	// The version after the last @; the first character is the @ of a scope of npm.
	if at := strings.LastIndexByte(last, '@'); at > 0 {
		last = last[:at]
	}
	if !shellSafe.MatchString(last) {
		return ""
	}
	return last
}

// Commands joins the commands of fixes: of one package in one file, the one for the
// highest version. Each goes to the folder of its file first. They come sorted.
func Commands(needs []VulnerablePackage, fixes []Fix) []string {
	type place struct{ path, name, old string }
	best := map[place]int{}
	for i := range fixes {
		p := &needs[i].Match.Package
		at := place{p.Path, p.Name, p.Version}
		if p.Scope == finding.Direct {
			// A direct package has one version in a file, and one command for it.
			at.old = ""
		}
		if old, ok := best[at]; fixes[i].Command != "" &&
			(!ok || lessVersion(p.Ecosystem, fixes[old].Target, fixes[i].Target)) {
			best[at] = i
		}
	}
	var out []string
	for at, i := range best {
		switch dir := path.Dir(at.path); {
		case dir == ".":
			out = append(out, fixes[i].Command)
		case shellSafeFolder.MatchString(dir):
			out = append(out, "cd "+dir+" && "+fixes[i].Command)
		default:
			out = append(out, fixes[i].Command+" # in the folder of "+needs[i].Match.Package.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shellSafeFolder matches a folder that needs no quoting in a shell.
var shellSafeFolder = lazyregexp.New(`^[A-Za-z0-9_.][A-Za-z0-9._/@+-]*$`)

// matchesFile reports whether the file is one of the package manager's.
func (t *packageManager) matchesFile(file string) bool {
	for _, name := range t.files {
		if ok, err := path.Match(name, path.Base(file)); ok && err == nil {
			return true
		}
	}
	return false
}

// Package manifest reads what manifests ask for. A manifest may be data, which is
// read, or a program, which is never run: of a program what is written out is
// found by its form, and what it computes stays unknown.
package manifest

import (
	"path"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/lazyregexp"
)

// A Requirement is what a manifest asks for.
type Requirement struct {
	Name    string
	Version string // when the manifest allows only one
	Wanted  string // the range as it is written; may be empty
	Dev     bool   // only for development or tests
	Line    int
	Local   bool // a place in the file system: a part of the project
}

// maxRequirements bounds what is read of one manifest.
// Real manifests are far below; a generated one may have any number.
const maxRequirements = 20_000

// A Kind is a kind of manifest.
type Kind struct {
	Match     string   // of the file's name, as path.Match reads it
	Ecosystem string   // of its packages, as OSV spells it
	Locks     []string // any of them fixes the versions
	Above     bool     // a lock file in a folder above counts too (workspaces)
	// nil for a file that is known but not read
	Read  func(content []byte) ([]Requirement, error)
	Whole bool // it names every package with its version, like a lock file
}

// PythonLocks are the files that fix versions for a Python project.
var PythonLocks = []string{"poetry.lock", "pdm.lock", "uv.lock", "pylock.toml", "Pipfile.lock", "requirements*.txt"}

// Kinds lists the manifests that are read. Those of Maven and Gradle need more
// than their own text, and have packages of their own.
var Kinds = []Kind{
	{Match: "package.json", Ecosystem: "npm", Locks: []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock",
		"pnpm-lock.yaml", "bun.lock", "deno.lock"}, Above: true, Read: PackageJSON},
	{Match: "pyproject.toml", Ecosystem: "PyPI", Locks: PythonLocks, Above: true, Read: Pyproject},
	{Match: "Pipfile", Ecosystem: "PyPI", Locks: []string{"Pipfile.lock"}, Read: Pipfile},
	{Match: "setup.cfg", Ecosystem: "PyPI", Locks: PythonLocks, Above: true, Read: SetupCfg},
	{Match: "composer.json", Ecosystem: "Packagist", Locks: []string{"composer.lock"}, Read: Composer},
	{Match: "Gemfile", Ecosystem: "RubyGems", Locks: []string{"Gemfile.lock"}, Read: Gems},
	{Match: "gems.rb", Ecosystem: "RubyGems", Locks: []string{"gems.locked"}, Read: Gems},
	{Match: "*.gemspec", Ecosystem: "RubyGems", Locks: []string{"Gemfile.lock", "gems.locked"}, Above: true,
		Read: Gems},
	{Match: "Cargo.toml", Ecosystem: "crates.io", Locks: []string{"Cargo.lock"}, Above: true, Read: Cargo},
	{Match: "pubspec.yaml", Ecosystem: "Pub", Locks: []string{"pubspec.lock"}, Above: true, Read: Pubspec},
	{Match: "mix.exs", Ecosystem: "Hex", Locks: []string{"mix.lock"}, Above: true, Read: Mix},
	{Match: "rebar.config", Ecosystem: "Hex", Locks: []string{"rebar.lock"}, Above: true, Read: Rebar},
	{Match: "Package.swift", Ecosystem: "SwiftURL", Locks: []string{"Package.resolved"}, Read: Swift},
	{Match: "Podfile", Ecosystem: "CocoaPods", Locks: []string{"Podfile.lock"}, Read: Pods},
	{Match: "conanfile.txt", Ecosystem: "ConanCenter", Locks: []string{"conan.lock"}, Read: Conan},
	{Match: "conanfile.py", Ecosystem: "ConanCenter", Locks: []string{"conan.lock"}, Read: Conan},
	{Match: "*.sbt", Ecosystem: "Maven", Locks: []string{"build.sbt.lock"}, Above: true, Read: Sbt},
	{Match: "deps.edn", Ecosystem: "Maven", Read: Edn},
	{Match: "project.clj", Ecosystem: "Maven", Read: Leiningen},
	{Match: "libman.json", Ecosystem: "npm", Read: Libman, Whole: true},
	{Match: "paket.dependencies", Ecosystem: "NuGet", Locks: []string{"paket.lock"}, Read: Paket},
	{Match: "environment.yml", Ecosystem: "PyPI", Read: CondaPip},
	{Match: "environment.yaml", Ecosystem: "PyPI", Read: CondaPip},
	{Match: "environment.yml", Ecosystem: "conda", Read: Conda},
	{Match: "environment.yaml", Ecosystem: "conda", Read: Conda},
	{Match: "stack.yaml", Ecosystem: "Hackage", Locks: []string{"stack.yaml.lock"}, Read: Stack},
	{Match: "*.nuspec", Ecosystem: "NuGet", Read: Nuspec},
	{Match: "bun.lockb", Ecosystem: "npm", Locks: []string{"bun.lock"}},
}

// Matches reports whether a file of this name is of the kind.
func (k Kind) Matches(file string) bool {
	ok, err := path.Match(k.Match, path.Base(file))
	return err == nil && ok
}

// Fixed matches a requirement that only one version fulfils.
// "1.2.3", "=1.2.3", "v1.2.3"; no ranges such as "^1.2" or "1.x".
var fixed = lazyregexp.New(`^[=v]*\s*([0-9]+(\.[0-9A-Za-z_+-]+)*)$`)

// FixedVersion returns the version when the text allows only that one, else "".
func FixedVersion(text string) string {
	if m := fixed.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		return m[1]
	}
	return ""
}

// isLocal reports whether a version is a path in the file system.
func isLocal(s string) bool {
	return slices.ContainsFunc([]string{"./", "../", "/", "~/", "file:", "link:", "portal:", "workspace:"},
		func(prefix string) bool {
			return strings.HasPrefix(s, prefix)
		}) || s == "." || s == ".."
}

// PackageJSON reads a package.json (https://docs.npmjs.com/cli/configuring-npm/package-json).
func PackageJSON(content []byte) ([]Requirement, error) {
	n, err := document.ParseJSON(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, section := range []string{"dependencies", "optionalDependencies", "devDependencies"} {
		for _, d := range n.Get(section).Members() {
			name, wanted := d.Key, d.Text()
			if alias, ok := strings.CutPrefix(wanted, "npm:"); ok { // "npm:real@1.2.3"
				if at := strings.LastIndexByte(alias, '@'); at > 0 {
					name, wanted = alias[:at], alias[at+1:]
				} else {
					name, wanted = alias, ""
				}
			}
			r := Requirement{Name: name, Wanted: wanted, Dev: section == "devDependencies", Line: d.Line,
				Local: isLocal(wanted)}
			// "1" and "1.2" are ranges for npm: 1.x.x and 1.2.x.
			if v := FixedVersion(wanted); strings.Count(v, ".") >= 2 {
				r.Version = v
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// Composer reads a composer.json (https://getcomposer.org/doc/04-schema.md).
// "php" and "ext-…" are parts of the platform.
func Composer(content []byte) ([]Requirement, error) {
	n, err := document.ParseJSON(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, section := range []string{"require", "require-dev"} {
		for _, d := range n.Get(section).Members() {
			if strings.Contains(d.Key, "/") {
				out = append(out, Requirement{Name: d.Key, Version: FixedVersion(d.Text()), Wanted: d.Text(),
					Dev: section == "require-dev", Line: d.Line})
			}
		}
	}
	return out, nil
}

// Libman reads a libman.json (https://learn.microsoft.com/aspnet/core/client-side/libman).
func Libman(content []byte) ([]Requirement, error) {
	n, err := document.ParseJSON(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, m := range n.Get("libraries").Members() {
		l := m.Get("library")
		provider := m.TextOf("provider")
		if provider == "" {
			provider = n.TextOf("defaultProvider")
		}
		name := l.Text()
		// Files from the disk are part of the project.
		if name == "" || provider == "filesystem" {
			continue
		}
		version := ""
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			name, version = name[:at], name[at+1:]
		}
		out = append(out, Requirement{Name: name, Version: FixedVersion(version), Wanted: version, Line: l.Line})
	}
	return out, nil
}

// Pyproject reads what a pyproject.toml asks for: PEP 621, dependency groups
// (PEP 735), Poetry's and PDM's tables.
func Pyproject(content []byte) ([]Requirement, error) {
	n, err := document.ParseTOML(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []Requirement
	out = pythonList(out, n.At("project", "dependencies"), false)
	for _, m := range n.At("project", "optional-dependencies").Members() {
		out = pythonList(out, m.Node, false)
	}
	for _, groups := range []*document.Node{n.Get("dependency-groups"), n.At("tool", "pdm", "dev-dependencies")} {
		for _, m := range groups.Members() {
			out = pythonList(out, m.Node, true)
		}
	}
	tool := n.At("tool", "poetry")
	out = pythonTable(out, tool.Get("dependencies"), false)
	out = pythonTable(out, tool.Get("dev-dependencies"), true)
	for _, g := range tool.Get("group").Members() {
		out = pythonTable(out, g.Get("dependencies"), g.Key != "main")
	}
	return out, nil
}

// Pipfile reads a Pipfile (https://github.com/pypa/pipfile).
func Pipfile(content []byte) ([]Requirement, error) {
	n, err := document.ParseTOML(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, s := range n.Members() {
		if s.IsMap() && (s.Key == "packages" || strings.HasSuffix(s.Key, "-packages")) {
			out = pythonTable(out, s.Node, s.Key == "dev-packages")
		}
	}
	return out, nil
}

// python matches a requirement of PEP 508, and the only version that it allows.
// Groups: the name, the whole rest if it is "== version", that version.
var python = lazyregexp.New(`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(\(?\s*==\s*([0-9][^,;)*\s]*)\s*\)?\s*(?:;.*)?$)?`)

// Python reads one requirement of PEP 508.
func Python(text string) (Requirement, bool) {
	m := python.FindStringSubmatch(text)
	if m == nil {
		return Requirement{}, false
	}
	wanted := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), m[1]))
	// "name @ file:///…": a direct reference (PEP 508).
	_, address, at := strings.Cut(wanted, "@")
	return Requirement{Name: m[1], Version: m[3], Wanted: wanted, Local: at &&
		strings.HasPrefix(strings.TrimSpace(address), "file:")}, true
}

// pythonList adds the requirements of a list of PEP 508 texts.
func pythonList(out []Requirement, list *document.Node, dev bool) []Requirement {
	for _, item := range list.Members() {
		if r, ok := Python(item.Text()); ok {
			r.Dev, r.Line = dev, item.Line
			out = append(out, r)
		}
	}
	return out
}

// pythonTable adds the requirements of a table from names to versions.
func pythonTable(out []Requirement, table *document.Node, dev bool) []Requirement {
	for _, d := range table.Members() {
		// The interpreter is listed like a package.
		if d.Key == "python" {
			continue
		}
		wanted := d.Text()
		if d.Kind == document.Map {
			wanted = d.TextOf("version")
		}
		r := Requirement{Name: d.Key, Wanted: wanted, Dev: dev, Line: d.Line, Local: d.Get("path") != nil}
		if strings.HasPrefix(wanted, "==") || dotted.MatchString(wanted) {
			r.Version = FixedVersion(wanted)
		}
		out = append(out, r)
	}
	return out
}

// dotted matches a bare version, which both tools read as exactly that one.
var dotted = lazyregexp.New(`^[0-9]+(\.[0-9A-Za-z]+)+$`)

// Cargo reads a Cargo.toml (https://doc.rust-lang.org/cargo/reference/manifest.html).
func Cargo(content []byte) ([]Requirement, error) {
	n, err := document.ParseTOML(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	out := cargoSections(nil, n)
	out = cargoSections(out, n.Get("workspace"))
	// [target.'cfg(windows)'.dependencies]
	for _, m := range n.Get("target").Members() {
		out = cargoSections(out, m.Node)
	}
	return out, nil
}

// cargoSections adds the requirements of the sections of a package or a target.
func cargoSections(out []Requirement, n *document.Node) []Requirement {
	for _, section := range []string{"dependencies", "build-dependencies", "dev-dependencies"} {
		for _, d := range n.Get(section).Members() {
			name, wanted := d.Key, d.Text()
			if d.Kind == document.Map {
				wanted = d.TextOf("version")
				if real := d.TextOf("package"); real != "" {
					name = real
				}
			}
			r := Requirement{Name: name, Wanted: wanted, Dev: section == "dev-dependencies", Line: d.Line,
				Local: d.Get("path") != nil && d.Get("git") == nil}
			if strings.HasPrefix(wanted, "=") { // a bare version is a range
				r.Version = FixedVersion(wanted)
			}
			if !d.Get("workspace").True() { // the workspace says which version
				out = append(out, r)
			}
		}
	}
	return out
}

// Pubspec reads a pubspec.yaml (https://dart.dev/tools/pub/dependencies).
func Pubspec(content []byte) ([]Requirement, error) {
	n, err := document.ParseBlockYAML(content, document.PackageLimits)
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, section := range []string{"dependencies", "dev_dependencies"} {
		for _, d := range n.Get(section).Members() {
			if d.Get("sdk") != nil || d.Key == "flutter" { // a part of the kit
				continue
			}
			wanted := d.Text()
			if d.Kind == document.Map {
				wanted = d.TextOf("version")
			}
			out = append(out, Requirement{Name: d.Key, Version: FixedVersion(wanted), Wanted: wanted,
				Dev: section == "dev_dependencies", Line: d.Line, Local: d.Get("path") != nil})
		}
	}
	return out, nil
}

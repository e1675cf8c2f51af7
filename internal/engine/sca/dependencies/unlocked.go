package dependencies

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file finds manifests whose lock file is missing: what they ask for is a
// range, and what will be used is not known.

// A manifest is a kind of file that a lock file should stand beside.
type manifest struct {
	match     string   // of the file's name, as path.Match reads it
	ecosystem string   // of its packages
	locks     []string // any of them fixes the versions
	above     bool     // a lock file in a folder above counts too (workspaces)
	asks      func(content []byte) []requirement
	whole     bool // it is a lock file itself, of a format that the library lacks
}

// A requirement is what a manifest asks for.
type requirement struct {
	name    string
	version string // when the manifest itself fixes it
	dev     bool
}

var pythonLocks = []string{"poetry.lock", "pdm.lock", "uv.lock", "pylock.toml", "Pipfile.lock", "requirements*.txt"}

var manifests = []manifest{
	{match: "package.json", ecosystem: "npm", locks: []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"}, above: true, asks: askPackageJSON},
	{match: "pyproject.toml", ecosystem: "PyPI", locks: pythonLocks, above: true, asks: askPyproject},
	{match: "Pipfile", ecosystem: "PyPI", locks: []string{"Pipfile.lock"}, asks: askPipfile},
	{match: "setup.cfg", ecosystem: "PyPI", locks: pythonLocks, above: true, asks: askSetupCfg},
	{match: "composer.json", ecosystem: "Packagist", locks: []string{"composer.lock"}, asks: askComposer},
	{match: "Gemfile", ecosystem: "RubyGems", locks: []string{"Gemfile.lock"}, asks: askGems},
	{match: "gems.rb", ecosystem: "RubyGems", locks: []string{"gems.locked"}, asks: askGems},
	{match: "*.gemspec", ecosystem: "RubyGems", locks: []string{"Gemfile.lock", "gems.locked"}, asks: askGems},
	{match: "Cargo.toml", ecosystem: "crates.io", locks: []string{"Cargo.lock"}, above: true, asks: askCargo},
	{match: "pubspec.yaml", ecosystem: "Pub", locks: []string{"pubspec.lock"}, above: true, asks: askPub},
	{match: "mix.exs", ecosystem: "Hex", locks: []string{"mix.lock"}, above: true, asks: askMix},
	{match: "rebar.config", ecosystem: "Hex", asks: askRebar},
	{match: "Package.swift", ecosystem: "SwiftURL", locks: []string{"Package.resolved"}, asks: askSwift},
	{match: "Podfile", ecosystem: "CocoaPods", locks: []string{"Podfile.lock"}, asks: askPods},
	{match: "conanfile.txt", ecosystem: "ConanCenter", locks: []string{"conan.lock"}, asks: askConan},
	{match: "build.gradle", ecosystem: "Maven", locks: []string{"gradle.lockfile"}, asks: askGradle},
	{match: "build.gradle.kts", ecosystem: "Maven", locks: []string{"gradle.lockfile"}, asks: askGradle},
	{match: "build.sbt", ecosystem: "Maven", asks: askSbt},
	{match: "deps.edn", ecosystem: "Maven", asks: askEdn},
	{match: "libman.json", ecosystem: "npm", asks: askLibman, whole: true},
	{match: "bun.lockb", ecosystem: "npm", locks: []string{"bun.lock"}},
	{match: "deno.lock", ecosystem: "npm", asks: askDenoLock, whole: true},
}

func (m manifest) matches(file string) bool {
	ok, err := path.Match(m.match, path.Base(file))
	return err == nil && ok
}

// scope is that of what the manifest asks for: a lock file does not say.
func (m manifest) scope() finding.Dependency {
	if m.whole && m.match != "libman.json" {
		return finding.UnknownDependency
	}
	return finding.Direct
}

// unlocked reports what a manifest asks for when nothing fixes it.
func (inv *inventory) unlocked(f scan.File) {
	for _, m := range manifests {
		if !m.matches(f.Path) || inv.locked(f.Path, m) {
			continue
		}
		if m.asks == nil {
			inv.Degrade(scan.Reason{Code: "unsupported", Path: f.Path, Message: "is a binary lock file, which is not read; write a text one beside it"})
			continue
		}
		content, ok := inv.read(f)
		if !ok {
			continue
		}
		inv.ask(f.Path, m, content)
	}
}

// locked reports whether a lock file stands beside the manifest, or above it.
func (inv *inventory) locked(file string, m manifest) bool {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, lock := range m.locks {
			if inv.files[path.Join(dir, lock)] || strings.Contains(lock, "*") && inv.any(dir, lock) {
				return true
			}
		}
		if !m.above || dir == "." {
			return false
		}
	}
}

// any reports whether a file of the folder has such a name.
func (inv *inventory) any(dir, pattern string) bool {
	return slices.ContainsFunc(inv.folders[dir], func(name string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	})
}

// ask adds what the manifest asks for and says what is not known.
func (inv *inventory) ask(file string, m manifest, content []byte) {
	asked := m.asks(content)
	if len(asked) == 0 {
		return
	}
	lines := lineFinder{content: content, budget: 1 << 30}
	var all []string
	for _, r := range asked {
		if r.name == "" || local(r.version) {
			continue
		}
		all = append(all, r.name)
		inv.packages = append(inv.packages, finding.Package{
			Ecosystem: m.ecosystem, Name: r.name, Version: r.version, PURL: makePURL(m.ecosystem, r.name, r.version),
			Path: file, Line: lines.find(lastPart(r.name)), Scope: m.scope(), Dev: r.dev,
		})
	}
	if len(all) == 0 || m.whole {
		return
	}
	without := "has no lock file"
	if len(m.locks) > 0 {
		without = "has no lock file (" + m.locks[0] + ")"
	}
	inv.Degrade(scan.Reason{Code: "no-lock-file", Path: file,
		Message: without + ": not known are the versions of what it brings, nor, where it does not fix them, of " + names(all)})
}

// lastPart is the part of a name that stands in the manifest: "artifact" of
// "group:artifact".
func lastPart(name string) string {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		return name[i+1:]
	}
	return name
}

// exact matches a requirement that only one version fulfils.
var exact = regexp.MustCompile(`^[=v]*\s*([0-9]+(\.[0-9A-Za-z_+-]+)*)$`)

// fixedVersion returns the version when the text allows only that one.
func fixedVersion(text string) string {
	if m := exact.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		return m[1]
	}
	return ""
}

func askPackageJSON(content []byte) []requirement {
	var p npmPackage
	if json.Unmarshal(content, &p) != nil {
		return nil
	}
	var out []requirement
	for i, m := range []map[string]string{p.Dependencies, p.Optional, p.Dev} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			out = append(out, requirement{name, npmVersion(m[name]), i == 2})
		}
	}
	return out
}

// npmVersion reads a version range of npm: the version when there is only one,
// the place when it is one, else empty.
func npmVersion(text string) string {
	if local(text) {
		return text
	}
	if v := fixedVersion(text); strings.Count(v, ".") >= 2 {
		return v
	}
	return ""
}

func askComposer(content []byte) []requirement {
	var p struct {
		Require map[string]string `json:"require"`
		Dev     map[string]string `json:"require-dev"`
	}
	if json.Unmarshal(content, &p) != nil {
		return nil
	}
	var out []requirement
	for i, m := range []map[string]string{p.Require, p.Dev} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if strings.Contains(name, "/") { // "php" and "ext-…" are no packages
				out = append(out, requirement{name, fixedVersion(m[name]), i == 1})
			}
		}
	}
	return out
}

func askLibman(content []byte) []requirement {
	var p struct {
		Libraries []struct {
			Library string `json:"library"`
		} `json:"libraries"`
	}
	if json.Unmarshal(content, &p) != nil {
		return nil
	}
	var out []requirement
	for _, l := range p.Libraries {
		name, version := cutLast(l.Library, "@")
		out = append(out, requirement{name: name, version: fixedVersion(version)})
	}
	return out
}

// askDenoLock reads the npm packages of deno.lock; those of other registries
// have no vulnerability records.
func askDenoLock(content []byte) []requirement {
	type npm map[string]any
	var lock struct {
		NPM      npm `json:"npm"` // version 4 and later
		Packages struct {
			NPM npm `json:"npm"`
		} `json:"packages"`
	}
	if json.Unmarshal(content, &lock) != nil {
		return nil
	}
	all := lock.NPM
	if all == nil {
		all = lock.Packages.NPM
	}
	var out []requirement
	for _, id := range slices.Sorted(maps.Keys(all)) {
		id, _, _ = strings.Cut(id, "_") // the versions of its peers
		name, version := cutLast(id, "@")
		out = append(out, requirement{name: name, version: version})
	}
	return out
}

// cutLast cuts at the last separator that is not the first character.
func cutLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i > 0 {
		return s[:i], s[i+len(sep):]
	}
	return s, ""
}

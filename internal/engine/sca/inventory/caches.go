package inventory

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"merlon/internal/document"
	"merlon/internal/engine/sca/license"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file reads licences from the caches of package managers on the machine of a local scan:
// they hold the very versions that lock files name. Only paths that are made of a package's name
// and version are opened, and only their licences leave this file.

// maxParents bounds the parents of a pom.xml whose licences are asked for.
const maxParents = 5

// LicenseCaches finds licences in the caches of package managers. It is not safe for concurrent
// use.
type LicenseCaches struct {
	goModules string   // GOMODCACHE
	maven     []string // repositories
	gradle    string   // files-2.1
	cargo     []string // sources of a registry
	nuget     string
	gems      []string // folders of specifications
	python    []string // site-packages
	known     map[string]string
}

// NewLicenseCaches returns the caches of a user, at the places that the environment says or the
// usual ones.
func NewLicenseCaches(getenv func(string) string) *LicenseCaches {
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE")
	}
	c := &LicenseCaches{known: map[string]string{}}
	// below returns the folder that a variable names, or the usual one.
	below := func(variable, rest, usual string) string {
		if dir := getenv(variable); dir != "" {
			return filepath.Join(dir, rest)
		}
		if home == "" {
			return ""
		}
		return filepath.Join(home, usual, rest)
	}
	c.goModules = getenv("GOMODCACHE")
	if c.goModules == "" {
		// GOPATH is a list; modules are in the first.
		first, _, _ := strings.Cut(getenv("GOPATH"), string(os.PathListSeparator))
		if first == "" && home != "" {
			first = filepath.Join(home, "go")
		}
		if first != "" {
			c.goModules = filepath.Join(first, "pkg", "mod")
		}
	}
	if dir := below("M2_REPO", "", ".m2/repository"); dir != "" {
		c.maven = append(c.maven, dir)
	}
	c.gradle = below("GRADLE_USER_HOME", "caches/modules-2/files-2.1", ".gradle")
	c.nuget = below("NUGET_PACKAGES", "", ".nuget/packages")
	c.cargo = globFolders(below("CARGO_HOME", "registry/src", ".cargo"), "*")
	c.gems = globFolders(below("GEM_HOME", "specifications", ".gem"))
	if home != "" {
		c.gems = append(c.gems, globFolders(filepath.Join(home, ".gem/ruby"), "*", "specifications")...)
	}
	if env := getenv("VIRTUAL_ENV"); env != "" {
		c.python = globFolders(filepath.Join(env, "lib"), "*", "site-packages")
	}
	return c
}

// globFolders returns the folders below a folder that a pattern matches.
func globFolders(dir string, pattern ...string) []string {
	if dir == "" {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(append([]string{dir}, pattern...)...))
	if err != nil {
		return nil // a home folder with signs of a pattern has no caches for us
	}
	return found
}

// License returns the licence of a version of a package, or "".
func (c *LicenseCaches) License(ecosystem, name, version string) string {
	if name == "" || version == "" || strings.ContainsAny(name+version, `\`) ||
		slices.Contains(strings.Split(name+"/"+version, "/"), "..") {
		return ""
	}
	key := ecosystem + " " + name + " " + version
	e, seen := c.known[key]
	if !seen {
		e = license.Expression(c.findLicense(ecosystem, name, version))
		c.known[key] = e
	}
	return e
}

// findLicense looks a package up in the caches of its ecosystem.
func (c *LicenseCaches) findLicense(ecosystem, name, version string) string {
	p := &finding.Package{Ecosystem: ecosystem, Name: name, Version: version}
	switch ecosystem {
	case "Go":
		return c.moduleLicense(name, version)
	case "Maven":
		return c.mavenLicense(name, version, 0)
	case "crates.io":
		return declaredIn(p, joinEach(c.cargo, name+"-"+version, "Cargo.toml"))
	case "NuGet":
		if c.nuget != "" {
			lower := strings.ToLower(name)
			return declaredIn(p, []string{filepath.Join(c.nuget, lower, strings.ToLower(version), lower+".nuspec")})
		}
	case "RubyGems":
		return declaredIn(p, joinEach(c.gems, name+"-"+version+".gemspec"))
	case "PyPI":
		flat := strings.NewReplacer("-", "_", ".", "_").Replace(name)
		return declaredIn(p, slices.Concat(joinEach(c.python, name+"-"+version+".dist-info", "METADATA"),
			joinEach(c.python, flat+"-"+version+".dist-info", "METADATA")))
	}
	return ""
}

// joinEach puts a path behind each folder.
func joinEach(folders []string, parts ...string) []string {
	var out []string
	for _, dir := range folders {
		out = append(out, filepath.Join(append([]string{dir}, parts...)...))
	}
	return out
}

// declaredIn returns the licence that the first file about the package declares, else that of a
// text beside it.
func declaredIn(p *finding.Package, files []string) string {
	for _, file := range files {
		content := readCached(file)
		if content == nil {
			continue
		}
		version, declared := readMetadata(p, filepath.ToSlash(file), content)
		if version != p.Version && !strings.EqualFold(version, p.Version) {
			continue
		}
		if e := license.Expression(declared); license.Known(e) {
			return e
		}
		if p.Ecosystem != "RubyGems" { // specifications lie together
			if e := textIn(filepath.Dir(file)); e != "" {
				return e
			}
		}
		return declared
	}
	return ""
}

// moduleLicense returns the licence of a module of Go in the module cache.
func (c *LicenseCaches) moduleLicense(name, version string) string {
	dir, err := module.EscapePath(name)
	if err != nil || c.goModules == "" {
		return ""
	}
	escaped, err := module.EscapeVersion("v" + strings.TrimPrefix(version, "v"))
	if err != nil {
		return ""
	}
	return textIn(filepath.Join(c.goModules, filepath.FromSlash(dir)+"@"+escaped))
}

// mavenLicense returns the licence of an artifact, which may stand in a parent of its pom.xml.
func (c *LicenseCaches) mavenLicense(name, version string, depth int) string {
	group, artifact, ok := strings.Cut(name, ":")
	if !ok || depth > maxParents || group == "" || artifact == "" || strings.ContainsAny(group+artifact, "/") {
		return ""
	}
	file := artifact + "-" + version + ".pom"
	paths := joinEach(c.maven, filepath.FromSlash(strings.ReplaceAll(group, ".", "/")), artifact, version, file)
	if c.gradle != "" {
		paths = append(paths, globFolders(c.gradle, group, artifact, version, "*", file)...)
	}
	for _, p := range paths {
		content := readCached(p)
		if content == nil {
			continue
		}
		if e := pomLicense(content); e != "" {
			return e
		}
		n, err := document.ParseXML(content, document.PackageLimits)
		if err != nil {
			continue
		}
		parent := n.At("project", "parent")
		if e := c.mavenLicense(parent.TextOf("groupId")+":"+parent.TextOf("artifactId"), parent.TextOf("version"),
			depth+1); e != "" {
			return e
		}
	}
	return ""
}

// textIn returns the licence whose text is in a folder, or "".
func textIn(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "" // the package is not in the cache
	}
	for _, e := range entries {
		if !isLicenseFile(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		content := readCached(filepath.Join(dir, e.Name()))
		if len(content) == 0 || len(content) > maxText {
			continue
		}
		if id, err := license.OfText(content); err == nil && id != "" {
			return id
		}
	}
	return ""
}

// isLicenseFile reports whether a file has the name of a licence text: LICENSE, License.txt,
// LICENSE-MIT, COPYING.LESSER.
func isLicenseFile(name string) bool {
	upper := strings.ToUpper(path.Base(name))
	return strings.HasPrefix(upper, "LICENSE") || strings.HasPrefix(upper, "LICENCE") ||
		strings.HasPrefix(upper, "COPYING")
}

// readCached reads a file of a cache; nil when it is not there, no regular file, or too large.
func readCached(file string) []byte {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // read only
	content, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil
	}
	return content
}

// FillLicenses returns a handler that completes the licences of packages from the caches of the
// user, for the next handler. That is done behind the analyzers, which see the tree only.
func FillLicenses(next scan.Handler, getenv func(string) string) scan.Handler {
	return &licenseFiller{Handler: next, caches: NewLicenseCaches(getenv)}
}

// A licenseFiller completes the licences of packages.
type licenseFiller struct {
	scan.Handler
	caches *LicenseCaches
}

// Package adds the licence of a package without one.
func (f *licenseFiller) Package(p *finding.Package) error {
	if len(p.Licenses) == 0 {
		if e := f.caches.License(p.Ecosystem, p.Name, p.Version); e != "" {
			p.Licenses = []string{e}
		}
	}
	return f.Handler.Package(p)
}

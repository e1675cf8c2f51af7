// Package inventory lists the packages that the manifests and lock files of a tree
// name: each with the file and line, whether it is direct, only for development,
// and what brought it. Nothing is fetched and nothing of the tree is run.
package inventory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	cpb "github.com/google/osv-scalibr/binary/proto/config_go_proto"
	"github.com/google/osv-scalibr/extractor"
	"github.com/google/osv-scalibr/extractor/filesystem"
	"github.com/google/osv-scalibr/extractor/filesystem/simplefileapi"
	scalibrlog "github.com/google/osv-scalibr/log"
	"github.com/google/osv-scalibr/purl"

	"merlon/internal/engine/sca/inventory/dotnet"
	"merlon/internal/engine/sca/inventory/gradle"
	"merlon/internal/engine/sca/inventory/lock"
	"merlon/internal/engine/sca/inventory/manifest"
	"merlon/internal/engine/sca/inventory/maven"
	"merlon/internal/finding"
	"merlon/internal/sbom"
	"merlon/internal/scan"
)

// maxManifest bounds a manifest or lock file, in bytes.
const maxManifest = 32 << 20

// A Tree is what an inventory is taken of.
type Tree struct {
	Context context.Context
	FS      fs.FS
	Files   []scan.File       // sorted by path
	Degrade func(scan.Reason) // takes what could not be looked at

	Licenses LicenseSource // what was imported; nil for nothing
}

// A LicenseSource knows licences of packages that the tree says nothing of.
type LicenseSource interface {
	// License returns the licence of a version of a package, or "".
	License(ecosystem, name, version string) string
}

// Take returns the packages of all files, sorted, each once per file and version.
// What cannot be read is degraded. The error is one of the context, or of the
// build.
func Take(t Tree) ([]finding.Package, error) {
	readers, err := makeReaders()
	if err != nil {
		return nil, err
	}
	inv := newInventory(t)
	for _, f := range t.Files {
		if err := t.Context.Err(); err != nil {
			return nil, err
		}
		// The name only suggests an SBOM: with other content the file is read like any other.
		if sbom.IsFileName(f.Path) && inv.addSBOM(f) || isInstalled(f.Path) {
			continue
		}
		if form, ok := sbom.UnsupportedFormat(f.Path); ok {
			inv.Degrade(scan.Reason{Code: "unsupported", Path: f.Path, Message: "is a bill of materials (" + form +
				") in a form that is not read; write CycloneDX or SPDX in JSON"})
			continue
		}
		if lock.Reads(f.Path) {
			inv.addLockFile(f)
		} else {
			inv.readByLibrary(f, readers)
		}
		inv.addUnlocked(f)
		inv.addImages(f)
	}
	packages := uniquePackages(inv.packages)
	inv.addLicenses(packages)
	return packages, t.Context.Err()
}

// newInventory lists the files of a tree by name and folder, and makes the readers that need more
// than one of them.
func newInventory(t Tree) *inventory {
	inv := &inventory{Tree: t, files: map[string]bool{}, folders: map[string][]string{}, named: map[string][]string{},
		lines: map[string]map[string]int{}, copies: map[string]bool{}}
	for _, f := range t.Files {
		inv.files[f.Path] = true
		inv.folders[path.Dir(f.Path)] = append(inv.folders[path.Dir(f.Path)], path.Base(f.Path))
		if dir := vendorFolder(f.Path); dir != "" {
			inv.copies[dir] = true
		}
		if kind := kindOf(f.Path); kind != "" && !isInstalled(f.Path) {
			inv.named[kind] = append(inv.named[kind], f.Path)
		}
	}
	inv.gradle = gradle.Build{Read: inv.readOther, Names: func(folder string) []string { return inv.folders[folder] }}
	inv.maven = maven.New(inv.named["pom.xml"], inv.readOther)
	inv.dotnet = dotnet.New(slices.Concat(inv.named["*.csproj"], inv.named["*.vbproj"], inv.named["*.fsproj"]),
		inv.readOther)
	return inv
}

// kindOf returns the name by which files are looked for below a lock file, or "".
func kindOf(file string) string {
	switch base := path.Base(file); base {
	case "package.json", "Cargo.toml", "mix.exs", "pom.xml":
		return base
	default:
		switch ext := path.Ext(base); ext {
		case ".csproj", ".vbproj", ".fsproj":
			return "*" + ext
		case ".pom":
			return "pom.xml"
		}
	}
	return ""
}

// uniquePackages sorts the packages and joins those that a file names more than once.
func uniquePackages(list []finding.Package) []finding.Package {
	slices.SortFunc(list, func(a, b finding.Package) int {
		return cmp.Or(comparePackages(a, b), cmp.Compare(a.Line, b.Line))
	})
	out := list[:0]
	for _, pkg := range list {
		if n := len(out); n > 0 && comparePackages(out[n-1], pkg) == 0 {
			// A package that is also shipped is not for development only, and one that is also
			// direct is direct.
			out[n-1].Dev = out[n-1].Dev && pkg.Dev
			if pkg.Scope == finding.Direct {
				out[n-1].Scope = finding.Direct
			}
			continue
		}
		out = append(out, pkg)
	}
	return out
}

// Wanted reports whether the file is a manifest or a lock file.
func Wanted(name string) bool {
	readers, err := makeReaders()
	if err != nil || isInstalled(name) {
		return false // Take itself fails with the error
	}
	if lock.Reads(name) {
		return true
	}
	if _, unread := sbom.UnsupportedFormat(name); unread || sbom.IsFileName(name) {
		return true
	}
	api := simplefileapi.New(name, fileInfo{name: path.Base(name)})
	return slices.ContainsFunc(readers, func(r libraryReader) bool { return r.wantsFile(name, api) }) ||
		gradle.Reads(name) || dotnet.Reads(name) || isWorkflow(name) || mayNameImages(name) ||
		path.Base(name) == "pom.xml" ||
		slices.ContainsFunc(manifestKinds, func(k manifest.Kind) bool { return k.Matches(name) })
}

// isInstalled reports whether the file is in a folder of installed packages: the lock file
// beside that folder says what is in it.
func isInstalled(name string) bool {
	return slices.Contains(strings.Split(path.Dir(name), "/"), "node_modules")
}

// comparePackages orders packages by file, ecosystem, name and version.
func comparePackages(a, b finding.Package) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Ecosystem, b.Ecosystem),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
}

// An inventory is one run over the tree.
type inventory struct {
	Tree
	files    map[string]bool
	folders  map[string][]string       // names of the files by folder
	named    map[string][]string       // paths of the manifests that lock files look for
	lines    map[string]map[string]int // of each manifest, the lines of what it asks for
	copies   map[string]bool           // folders into which tools have copied packages
	gradle   gradle.Build
	maven    *maven.Project
	dotnet   *dotnet.Solution
	packages []finding.Package
}

// readByLibrary lets each reader that wants it read the file.
func (inv *inventory) readByLibrary(f scan.File, readers []libraryReader) {
	info := fileInfo{name: path.Base(f.Path), size: f.Size}
	api := simplefileapi.New(f.Path, info)
	var content []byte
	for _, r := range readers {
		// A lock file is more exact than the manifest that it was made of.
		if !r.wantsFile(f.Path, api) || inv.hasLock(f.Path, r.locks, true) {
			continue
		}
		// The file is only read when a reader wants it, and only once for all of them.
		if content == nil {
			var ok bool
			if content, ok = inv.readFile(f); !ok {
				return
			}
		}
		if r.includes {
			content = normalizeText(content)
		}
		found, err := runReader(inv.Context, r, &filesystem.ScanInput{
			FS: scalibrFS{inv.FS}, Path: f.Path, Info: info, Reader: bytes.NewReader(content),
		})
		if err != nil {
			inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a list of " +
				"packages: " + OneLine(err.Error())})
			continue
		}
		inv.addFound(f.Path, r, found, content)
	}
}

// readFile returns the content of a manifest; false when it was degraded.
func (inv *inventory) readFile(f scan.File) ([]byte, bool) {
	if f.Size > maxManifest {
		inv.Degrade(scan.Reason{Code: "too-large", Path: f.Path, Message: fmt.Sprintf("is larger than %d MiB",
			maxManifest>>20)})
		return nil, false
	}
	content, err := fs.ReadFile(inv.FS, f.Path)
	if err != nil {
		inv.Degrade(scan.Reason{Code: "unreadable", Path: f.Path, Message: OneLine(err.Error())})
		return nil, false
	}
	return content, true
}

// runReader runs a reader. Readers are written for well-formed files; one that panics has
// met one that is not.
func runReader(ctx context.Context, r libraryReader,
	in *filesystem.ScanInput) (packages []*extractor.Package, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the reader of the format failed: %v", v)
		}
	}()
	found, err := r.Extract(ctx, in)
	return found.Packages, err
}

// addFound adds what a reader found in a file.
func (inv *inventory) addFound(file string, r libraryReader, found []*extractor.Package, content []byte) {
	roles := rolesOf(file, content)
	// Each name is searched from the beginning: with n names in a file of n lines the time is
	// quadratic, and the budget ends it.
	lines := lineFinder{content: content, budget: 1 << 30}
	unfixed := []string{}
	for _, x := range found {
		pkg, ok := toPackage(x, r, file)
		if !ok {
			continue
		}
		roles.setScope(&pkg)
		if pkg.Line == 0 && pkg.Path == file {
			pkg.Line = lines.findLine(pkg.Name)
		}
		if pkg.Version == "" {
			unfixed = append(unfixed, pkg.Name)
		}
		inv.packages = append(inv.packages, pkg)
	}
	if len(unfixed) > 0 {
		inv.Degrade(scan.Reason{Code: scan.NoVersion, Skipped: true, Path: file, Message: "does not fix the version of " +
			List(unfixed)})
	}
	if r.includes {
		inv.reportLeftOut(file, content)
	}
	if r.partial != "" && len(found) > 0 {
		inv.Degrade(scan.Reason{Code: scan.NoLockFile, Skipped: true, Path: file, Message: r.partial})
	}
}

// toPackage makes one of our packages; false for what is not a published package.
func toPackage(x *extractor.Package, r libraryReader, file string) (finding.Package, bool) {
	pkg := finding.Package{
		Ecosystem: r.ecosystem, Name: x.Name, Version: x.Version, Path: file, Scope: r.scope,
	}
	if loc := x.Location.Descriptor; loc != nil && loc.File != nil {
		pkg.Line = loc.File.LineNumber
		if path.Base(loc.File.Path) == "go.sum" { // read with go.mod
			pkg.Path = loc.File.Path
		}
	}
	// A package of an included file stands there, not at the inclusion.
	if rel := x.Location.Related; r.includes && len(rel) > 0 && rel[0].File != nil {
		pkg.Path, pkg.Line = rel[0].File.Path, rel[0].File.LineNumber
	}
	if pkg.Name == "" || isLocal(pkg.Name) || isLocal(pkg.Version) {
		return pkg, false
	}
	if !r.isPinned(x) {
		pkg.Version = ""
	}
	if groups, ok := x.Metadata.(interface{ DepGroups() []string }); ok {
		pkg.Dev = isDevOnly(groups.DepGroups())
	}
	// A package of a repository is none of the registry, even with the same name.
	if x.PURLType != purl.TypeGit {
		pkg.PURL = makePURL(pkg.Ecosystem, pkg.Name, pkg.Version)
		if withVersion := *x; pkg.PURL == "" {
			withVersion.Version = pkg.Version
			if u := withVersion.PURL(); u != nil {
				pkg.PURL = u.String()
			}
		}
	}
	pkg.Licenses = x.Licenses
	return pkg, true
}

// isLocal reports whether a name or version is a path in the file system: such a package
// is part of the scanned code, not of a registry.
func isLocal(s string) bool {
	for _, prefix := range []string{"./", "../", "/", "file:", "link:", "portal:", "workspace:"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return s == "." || s == ".."
}

// isDevOnly reports whether every group of a dependency is one that is not shipped.
func isDevOnly(groups []string) bool {
	for _, g := range groups {
		switch strings.ToLower(g) {
		case "dev", "development", "develop", "dev-dependencies", "packages-dev", "test", "tests", "testing", "lint",
			"typing", "docs":
		default:
			return false
		}
	}
	// Without groups nothing is said, so the package counts as shipped.
	return len(groups) > 0
}

// scalibrFS gives the readers the scanned tree in the form that they want.
type scalibrFS struct{ fs.FS }

// ReadDir lists a folder.
func (t scalibrFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(t.FS, path.Clean(name))
}
func (t scalibrFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(t.FS, path.Clean(name)) }

// Open opens a file that a manifest refers to, within the limit of a manifest.
func (t scalibrFS) Open(name string) (fs.File, error) {
	f, err := t.FS.Open(path.Clean(name))
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() > maxManifest {
		return nil, errors.Join(err, fmt.Errorf("%s is too large", name), f.Close())
	}
	return f, nil
}

// A lineFinder finds the line of a name in a file whose reader does not tell.
type lineFinder struct {
	content []byte
	budget  int // bytes that may still be searched
}

// findLine returns the first line that has the name as a whole word, else the first that
// has it at all, else 0.
func (l *lineFinder) findLine(name string) int {
	first := 0
	for at := 0; l.budget > 0; {
		i := bytes.Index(l.content[at:], []byte(name))
		l.budget -= len(l.content) - at
		if i < 0 {
			break
		}
		i += at
		whole := !isNameByte(l.content, i-1) && !isNameByte(l.content, i+len(name))
		// "lodash" is also part of "lodash.merge" and "@types/lodash": a whole word is preferred.
		if whole || first == 0 {
			first = 1 + bytes.Count(l.content[:i], []byte("\n"))
		}
		if whole {
			break
		}
		at = i + len(name)
	}
	return first
}

// isNameByte reports whether a name could go on at the position.
func isNameByte(b []byte, i int) bool {
	if i < 0 || i >= len(b) {
		return false
	}
	c := b[i]
	return c == '-' || c == '_' || c == '.' || c == '@' ||
		c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// silentLogger drops what the library logs: what matters comes back as an error.
type silentLogger struct{}

func (silentLogger) Errorf(string, ...any) {}
func (silentLogger) Error(...any)          {}
func (silentLogger) Warnf(string, ...any)  {}
func (silentLogger) Warn(...any)           {}
func (silentLogger) Infof(string, ...any)  {}
func (silentLogger) Info(...any)           {}
func (silentLogger) Debugf(string, ...any) {}
func (silentLogger) Debug(...any)          {}

// makeReaders makes the readers once per process.
var makeReaders = sync.OnceValues(func() ([]libraryReader, error) {
	scalibrlog.SetLogger(silentLogger{})
	out := slices.Clone(libraryReaders)
	for i := range out {
		x, err := out[i].make(&cpb.PluginConfig{})
		if err != nil {
			return nil, fmt.Errorf("prepare to read %s: %w", out[i].ecosystem, err)
		}
		out[i].Extractor = x
	}
	return out, nil
})

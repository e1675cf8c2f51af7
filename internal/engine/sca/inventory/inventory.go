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
}

// Take returns the packages of all files, sorted, each once per file and version.
// What cannot be read is degraded. The error is one of the context, or of the
// build.
func Take(t Tree) ([]finding.Package, error) {
	readers, err := makeReaders()
	if err != nil {
		return nil, err
	}
	inv := inventory{Tree: t, files: map[string]bool{}, folders: map[string][]string{}, named: map[string][]string{},
		lines: map[string]map[string]int{}, copies: map[string]bool{}}
	for _, f := range t.Files {
		inv.files[f.Path] = true
		inv.folders[path.Dir(f.Path)] = append(inv.folders[path.Dir(f.Path)], path.Base(f.Path))
		if dir := copiesOf(f.Path); dir != "" {
			inv.copies[dir] = true
		}
		if kind := kindOf(f.Path); kind != "" && !installed(f.Path) {
			inv.named[kind] = append(inv.named[kind], f.Path)
		}
	}
	inv.gradle = gradle.Build{Read: inv.other, Names: func(folder string) []string { return inv.folders[folder] }}
	inv.maven = maven.New(inv.named["pom.xml"], inv.other)
	inv.dotnet = dotnet.New(slices.Concat(inv.named["*.csproj"], inv.named["*.vbproj"], inv.named["*.fsproj"]),
		inv.other)
	for _, f := range t.Files {
		if err := t.Context.Err(); err != nil {
			return nil, err
		}
		if sbom.IsFileName(f.Path) && inv.bill(f) || installed(f.Path) {
			continue
		}
		if form, ok := sbom.UnsupportedFormat(f.Path); ok {
			inv.Degrade(scan.Reason{Code: "unsupported", Path: f.Path, Message: "is a bill of materials (" + form +
				") in a form that is not read; write CycloneDX or SPDX in JSON"})
			continue
		}
		if lock.Reads(f.Path) {
			inv.lockFile(f)
		} else {
			inv.file(f, readers)
		}
		inv.unlocked(f)
	}
	packages := unique(inv.packages)
	inv.licenses(packages)
	return packages, t.Context.Err()
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

// unique sorts the packages and joins those that a file names more than once.
func unique(list []finding.Package) []finding.Package {
	slices.SortFunc(list, func(a, b finding.Package) int {
		return cmp.Or(comparePackages(a, b), cmp.Compare(a.Line, b.Line))
	})
	out := list[:0]
	for _, pkg := range list {
		if n := len(out); n > 0 && comparePackages(out[n-1], pkg) == 0 {
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
	if err != nil || installed(name) {
		return false // Take itself fails with the error
	}
	if lock.Reads(name) {
		return true
	}
	if _, unread := sbom.UnsupportedFormat(name); unread || sbom.IsFileName(name) {
		return true
	}
	api := simplefileapi.New(name, fileInfo{name: path.Base(name)})
	return slices.ContainsFunc(readers, func(r reader) bool { return r.reads(name, api) }) ||
		gradle.Reads(name) || dotnet.Reads(name) || isWorkflow(name) || path.Base(name) == "pom.xml" ||
		slices.ContainsFunc(kinds, func(k manifest.Kind) bool { return k.Matches(name) })
}

// installed reports whether the file lies in a folder of installed packages:
// the lock file beside that folder says what is in it.
func installed(name string) bool {
	return slices.Contains(strings.Split(path.Dir(name), "/"), "node_modules")
}

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

// file lets each reader that wants it read the file.
func (inv *inventory) file(f scan.File, readers []reader) {
	info := fileInfo{name: path.Base(f.Path), size: f.Size}
	api := simplefileapi.New(f.Path, info)
	var content []byte
	for _, r := range readers {
		if !r.reads(f.Path, api) || inv.locked(f.Path, r.locks, true) {
			continue
		}
		if content == nil {
			var ok bool
			if content, ok = inv.read(f); !ok {
				return
			}
		}
		if r.includes {
			content = spaced(content)
		}
		found, err := extract(inv.Context, r, &filesystem.ScanInput{
			FS: tree{inv.FS}, Path: f.Path, Info: info, Reader: bytes.NewReader(content),
		})
		if err != nil {
			inv.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Message: "cannot be read as a list of " +
				"packages: " + OneLine(err.Error())})
			continue
		}
		inv.add(f.Path, r, found, content)
	}
}

// read returns the content of a manifest; false when it was degraded.
func (inv *inventory) read(f scan.File) ([]byte, bool) {
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

// extract runs a reader. Readers are written for well-formed files; one that
// panics has met one that is not.
func extract(ctx context.Context, r reader, in *filesystem.ScanInput) (packages []*extractor.Package, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the reader of the format failed: %v", v)
		}
	}()
	found, err := r.Extract(ctx, in)
	return found.Packages, err
}

// add takes over what a reader found in a file.
func (inv *inventory) add(file string, r reader, found []*extractor.Package, content []byte) {
	roles := rolesOf(file, content)
	lines := lineFinder{content: content, budget: 1 << 30}
	unfixed := []string{}
	for _, x := range found {
		pkg, ok := convert(x, r, file)
		if !ok {
			continue
		}
		roles.apply(&pkg)
		if pkg.Line == 0 && pkg.Path == file {
			pkg.Line = lines.find(pkg.Name)
		}
		if pkg.Version == "" {
			unfixed = append(unfixed, pkg.Name)
		}
		inv.packages = append(inv.packages, pkg)
	}
	if len(unfixed) > 0 {
		inv.Degrade(scan.Reason{Code: "no-version", Path: file, Message: "does not fix the version of " +
			List(unfixed)})
	}
	if r.includes {
		inv.leftOut(file, content)
	}
	if r.partial != "" && len(found) > 0 {
		inv.Degrade(scan.Reason{Code: "no-lock-file", Path: file, Message: r.partial})
	}
}

// convert makes one of our packages; false for what is no published package.
func convert(x *extractor.Package, r reader, file string) (finding.Package, bool) {
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
	if pkg.Name == "" || local(pkg.Name) || local(pkg.Version) {
		return pkg, false
	}
	if !r.pinned(x) {
		pkg.Version = ""
	}
	if groups, ok := x.Metadata.(interface{ DepGroups() []string }); ok {
		pkg.Dev = devOnly(groups.DepGroups())
	}
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

// local reports whether a name or version is a place in the file system: such a
// package is part of the scanned code, not of a registry.
func local(s string) bool {
	for _, prefix := range []string{"./", "../", "/", "file:", "link:", "portal:", "workspace:"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return s == "." || s == ".."
}

// devOnly reports whether every group of a dependency is one that is not
// shipped.
func devOnly(groups []string) bool {
	for _, g := range groups {
		switch strings.ToLower(g) {
		case "dev", "development", "develop", "dev-dependencies", "packages-dev", "test", "tests", "testing", "lint", "typing", "docs":

		default:
			return false
		}
	}
	return len(groups) > 0
}

// A tree gives the readers the scanned tree in the form that they want.
type tree struct{ fs.FS }

func (t tree) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(t.FS, path.Clean(name)) }
func (t tree) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(t.FS, path.Clean(name)) }

// Open opens a file that a manifest refers to, within the limit of a manifest.
func (t tree) Open(name string) (fs.File, error) {
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

// find returns the first line that holds the name as a whole word, else the
// first that holds it at all, else 0.
func (l *lineFinder) find(name string) int {
	first := 0
	for at := 0; l.budget > 0; {
		i := bytes.Index(l.content[at:], []byte(name))
		l.budget -= len(l.content) - at
		if i < 0 {
			break
		}
		i += at
		whole := !wordAt(l.content, i-1) && !wordAt(l.content, i+len(name))
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

// wordAt reports whether a name could go on at the position.
func wordAt(b []byte, i int) bool {
	if i < 0 || i >= len(b) {
		return false
	}
	c := b[i]
	return c == '-' || c == '_' || c == '.' || c == '@' ||
		c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// quiet drops what the library logs: what matters comes back as an error.
type quiet struct{}

func (quiet) Errorf(string, ...any) {}
func (quiet) Error(...any)          {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Warn(...any)           {}
func (quiet) Infof(string, ...any)  {}
func (quiet) Info(...any)           {}
func (quiet) Debugf(string, ...any) {}
func (quiet) Debug(...any)          {}

// makeReaders makes the readers once per process.
var makeReaders = sync.OnceValues(func() ([]reader, error) {
	scalibrlog.SetLogger(quiet{})
	out := slices.Clone(readers)
	for i := range out {
		x, err := out[i].make(&cpb.PluginConfig{})
		if err != nil {
			return nil, fmt.Errorf("prepare to read %s: %w", out[i].ecosystem, err)
		}
		out[i].Extractor = x
	}
	return out, nil
})

package lock

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sca/inventory/manifest"
)

// A File is a lock file to be read.
type File struct {
	Path    string
	Content []byte
	// Read returns another file of the tree, or nil when it is not there.
	Read func(path string) []byte
	// Below returns the paths of the files with this name in the folder of the
	// lock file and below, those of installed packages left out.
	Below func(name string) []string
	// Asks returns what a manifest asks for that takes more than its text to read.
	// It may be nil.
	Asks func(path string) []manifest.Requirement
}

// A reader reads one format.
type reader struct {
	ecosystem string
	read      func(*builder) error
}

// readers gives the readers by the name of the file.
var readers = map[string]reader{
	"package-lock.json":           {"npm", readNPM},
	"npm-shrinkwrap.json":         {"npm", readNPM},
	"yarn.lock":                   {"npm", readYarnLock},
	"pnpm-lock.yaml":              {"npm", readPnpm},
	"bun.lock":                    {"npm", readBun},
	"deno.lock":                   {"npm", readDeno},
	"Pipfile.lock":                {"PyPI", readPipfile},
	"poetry.lock":                 {"PyPI", readPoetry},
	"pdm.lock":                    {"PyPI", readPDM},
	"uv.lock":                     {"PyPI", readUV},
	"Cargo.lock":                  {"crates.io", readCargo},
	"composer.lock":               {"Packagist", readComposer},
	"Gemfile.lock":                {"RubyGems", readGemfile},
	"gems.locked":                 {"RubyGems", readGemfile},
	"mix.lock":                    {"Hex", readMix},
	"pubspec.lock":                {"Pub", readPubspec},
	"packages.lock.json":          {"NuGet", readNuGet},
	"Podfile.lock":                {"CocoaPods", readPodfile},
	"conan.lock":                  {"ConanCenter", readConan},
	"rebar.lock":                  {"Hex", readRebar},
	"gradle.lockfile":             {"Maven", readGradle},
	"buildscript-gradle.lockfile": {"Maven", readGradle},
	"build.sbt.lock":              {"Maven", readSbt},
	"paket.lock":                  {"NuGet", readPaket},
	"Package.resolved":            {"SwiftURL", readSwift},
}

// readerOf returns the reader of a file of this path.
func readerOf(file string) (reader, bool) {
	if strings.HasSuffix(file, ".deps.json") {
		return reader{"NuGet", readDepsJSON}, true
	}
	r, ok := readers[path.Base(file)]
	return r, ok
}

// Reads reports whether a file of this path is a lock file that Read reads.
func Reads(file string) bool {
	_, ok := readerOf(file)
	return ok
}

// maxPackages and maxEdges bound the graph of one file.
const (
	maxPackages = 500_000
	maxEdges    = 5_000_000
	maxBroken   = 20 // lines that are told
)

// Read reads a lock file. The error says what of it cannot be read.
func Read(f File) (*Graph, error) {
	r, ok := readerOf(f.Path)
	if !ok {
		return nil, errors.New("is no lock file that is read")
	}
	b := builder{File: f, Graph: &Graph{Ecosystem: r.ecosystem}, index: map[string]int{}}
	if err := r.read(&b); err != nil {
		return nil, err
	}
	if b.full {
		return nil, fmt.Errorf("names more than %d packages or %d dependencies", maxPackages, maxEdges)
	}
	if len(b.Graph.Broken) > 0 && len(b.Nodes) == 0 {
		return nil, fmt.Errorf("line %d: no package was understood", b.Graph.Broken[0])
	}
	return b.Graph, nil
}

// A builder makes a graph. Nodes are known by a key of the format.
type builder struct {
	File
	*Graph
	index map[string]int
	edges int
	full  bool
}

// addNode adds a node with the keys by which others refer to it, and returns where it is.
// A key that is taken stays with its first node.
func (b *builder) addNode(n Node, keys ...string) int {
	if len(b.Nodes) >= maxPackages {
		b.full = true
		return 0
	}
	b.Nodes = append(b.Nodes, n)
	at := len(b.Nodes) - 1
	for _, k := range keys {
		if _, taken := b.index[k]; !taken {
			b.index[k] = at
		}
	}
	return at
}

// addBroken notes a line that should name a package and could not be read: the file is
// reported, and the other lines count.
func (b *builder) addBroken(line int) {
	if len(b.Graph.Broken) < maxBroken {
		b.Graph.Broken = append(b.Graph.Broken, line)
	}
}

// addEdge adds an edge to the node of the first key that is known, and reports whether
// there is one.
func (b *builder) addEdge(from int, dev bool, keys ...string) bool {
	for _, k := range keys {
		to, ok := b.index[k]
		if !ok {
			continue
		}
		if b.edges++; b.edges > maxEdges {
			b.full = true
			return false
		}
		b.Nodes[from].Deps = append(b.Nodes[from].Deps, Dep{To: to, Dev: dev})
		return true
	}
	return false
}

// siblingPath returns the path of a file in the folder of the lock file.
func (b *builder) siblingPath(name string) string { return path.Join(path.Dir(b.Path), name) }

// isLocal reports whether a version or address is a path in the file system: what is there
// is part of the project.
func isLocal(s string) bool {
	return slices.ContainsFunc([]string{"./", "../", "/", "file:", "link:", "portal:", "workspace:"},
		func(prefix string) bool {
			return strings.HasPrefix(s, prefix)
		}) || s == "." || s == ".."
}

// cutLast cuts at the last separator that is not the first character.
func cutLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i > 0 {
		return s[:i], s[i+len(sep):]
	}
	return s, ""
}

// requirement is what a package.json requires.
type requirement struct {
	name, wanted string
	dev          bool
}

// readPackageJSON returns what the manifest requires; false when it is not there or cannot
// be read.
func (b *builder) readPackageJSON(file string) ([]requirement, bool) {
	n, err := document.ParseJSON(b.Read(file), document.PackageLimits)
	if err != nil || n.Kind != document.Map {
		return nil, false
	}
	return npmRequirements(n), true
}

// npmRequirements returns the dependencies of a package.json, or of a part of a lock file
// in its form. What is required twice is not only for development.
func npmRequirements(n *document.Node) []requirement {
	var out []requirement
	for _, section := range []string{"dependencies", "optionalDependencies", "peerDependencies", "devDependencies"} {
		for _, d := range n.Get(section).Members() {
			out = append(out, requirement{d.Key, d.Text(), section == "devDependencies"})
		}
	}
	return out
}

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
	"package-lock.json":           {"npm", npm},
	"npm-shrinkwrap.json":         {"npm", npm},
	"yarn.lock":                   {"npm", yarn},
	"pnpm-lock.yaml":              {"npm", pnpm},
	"bun.lock":                    {"npm", bun},
	"deno.lock":                   {"npm", deno},
	"Pipfile.lock":                {"PyPI", pipfile},
	"poetry.lock":                 {"PyPI", poetry},
	"pdm.lock":                    {"PyPI", pdm},
	"uv.lock":                     {"PyPI", uv},
	"Cargo.lock":                  {"crates.io", cargo},
	"composer.lock":               {"Packagist", composer},
	"Gemfile.lock":                {"RubyGems", gemfile},
	"gems.locked":                 {"RubyGems", gemfile},
	"mix.lock":                    {"Hex", mix},
	"pubspec.lock":                {"Pub", pubspec},
	"packages.lock.json":          {"NuGet", nuget},
	"Podfile.lock":                {"CocoaPods", podfile},
	"conan.lock":                  {"ConanCenter", conan},
	"rebar.lock":                  {"Hex", rebar},
	"gradle.lockfile":             {"Maven", gradle},
	"buildscript-gradle.lockfile": {"Maven", gradle},
	"build.sbt.lock":              {"Maven", sbtLock},
	"paket.lock":                  {"NuGet", paket},
	"Package.resolved":            {"SwiftURL", swift},
}

// readerOf returns the reader of a file of this path.
func readerOf(file string) (reader, bool) {
	if strings.HasSuffix(file, ".deps.json") {
		return reader{"NuGet", depsJSON}, true
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

// add adds a node with the keys by which others refer to it, and returns where it
// is. A key that is taken stays with its first node.
func (b *builder) add(n Node, keys ...string) int {
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

// broken notes a line that should name a package and could not be read: the file is
// told of, and the other lines count.
func (b *builder) broken(line int) {
	if len(b.Graph.Broken) < maxBroken {
		b.Graph.Broken = append(b.Graph.Broken, line)
	}
}

// link adds an edge to the node of the first key that is known, and reports
// whether there is one.
func (b *builder) link(from int, dev bool, keys ...string) bool {
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

// beside returns the path of a file in the folder of the lock file.
func (b *builder) beside(name string) string { return path.Join(path.Dir(b.Path), name) }

// local reports whether a version or address is a place in the file system: what
// is there is part of the project.
func local(s string) bool {
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

// asked is what a package.json asks for.
type asked struct {
	name, wanted string
	dev          bool
}

// packageJSON returns what the manifest asks for; false when it is not there or
// cannot be read.
func (b *builder) packageJSON(file string) ([]asked, bool) {
	n, err := document.ParseJSON(b.Read(file), document.PackageLimits)
	if err != nil || n.Kind != document.Map {
		return nil, false
	}
	return npmAsks(n), true
}

// npmAsks returns the dependencies of a package.json, or of a part of a lock file
// in its form. What is asked for twice is not only for development.
func npmAsks(n *document.Node) []asked {
	var out []asked
	for _, section := range []string{"dependencies", "optionalDependencies", "peerDependencies", "devDependencies"} {
		for _, d := range n.Get(section).Members() {
			out = append(out, asked{d.Key, d.Text(), section == "devDependencies"})
		}
	}
	return out
}

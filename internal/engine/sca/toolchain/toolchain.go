// Package toolchain finds which release of Go builds the modules of a tree. The go line of a
// go.mod is a minimum: the standard library that ends up in a program is that of the toolchain
// that builds it, which Dockerfiles, workflows and files of version managers name.
package toolchain

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"merlon/internal/engine/sca/inventory/imageref"
	"merlon/internal/lazyregexp"
)

// A Build is a place that says with which release of Go something is built.
type Build struct {
	Path string
	Line int
	// Version is "1.26.4". A floating one says the newest of a line, "1.26", or of all, "".
	Version  string
	Floating bool
	Source   string // for people: "the image golang:1.26.4-alpine"

	rank int // which source decides: what ships comes before what tests
}

// The ranks of sources.
const (
	imageRank = iota
	versionFileRank
	workflowRank
)

// A Tree is the files of a scanned tree, by name and content.
type Tree struct {
	Files []string
	Read  func(path string) []byte // nil for a file that cannot be read
}

// Find returns the builds of a tree, sorted by path and line. Folders of tests and examples count
// for modules in them only (see For).
func Find(t Tree) []Build {
	var out []Build
	environment := map[string]string{}
	for _, file := range t.Files {
		// Projects keep versions of tools in a file that workflows load into their environment.
		if path.Base(path.Dir(file)) == ".github" && (path.Base(file) == "env" || path.Base(file) == ".env") {
			readEnvironment(string(t.Read(file)), environment)
		}
	}
	for _, file := range t.Files {
		switch base := path.Base(file); {
		case imageref.KindOf(file) == imageref.Dockerfile:
			out = append(out, imageBuilds(file, t.Read(file))...)
		case base == ".go-version", base == ".tool-versions", base == "mise.toml", base == ".mise.toml":
			if b, ok := versionFile(file, string(t.Read(file))); ok {
				out = append(out, b)
			}
		case isWorkflow(file):
			out = append(out, workflowBuilds(t, file, environment)...)
		}
	}
	return out
}

// For returns the build that decides about a module: images before version files before
// workflows, of these the nearest ones to the go.mod, and of those the highest release, because a
// matrix also tests old ones. It is nil when nothing in the tree says it.
func For(goMod string, builds []Build) *Build {
	var best *Build
	distance := 0
	for i := range builds {
		b := &builds[i]
		d, related := distanceOf(path.Dir(goMod), b.folder())
		if !related || isAside(b.Path) && !isAside(goMod) {
			continue
		}
		if best == nil || b.rank < best.rank || b.rank == best.rank && (d < distance ||
			d == distance && b.after(best)) {
			best, distance = b, d
		}
	}
	return best
}

// folder returns the folder whose modules a build is about: workflows are about the repository.
func (b *Build) folder() string {
	dir, _, found := strings.Cut("/"+b.Path, "/.github/")
	switch {
	case !found:
		return path.Dir(b.Path)
	case dir == "":
		return "."
	}
	return dir[1:]
}

// after reports whether a build uses a later release than another one.
func (b *Build) after(o *Build) bool {
	if b.Version == "" || o.Version == "" {
		return b.Version == "" && o.Version != ""
	}
	return semver.Compare("v"+b.Newest(), "v"+o.Newest()) > 0
}

// newestPatch stands for the latest patch release of a line.
const newestPatch = ".9999"

// Newest returns the version to compare with: of a floating build one above all of its line.
// Empty is the newest of all.
func (b *Build) Newest() string {
	if b.Floating && b.Version != "" {
		return b.Version + newestPatch
	}
	return b.Version
}

// distanceOf counts the folders between two folders of which one is in the other.
func distanceOf(a, b string) (int, bool) {
	if a == b {
		return 0, true
	}
	if b == "." || a != "." && len(a) > len(b) {
		a, b = b, a
	}
	if a == "." {
		return strings.Count(b, "/") + 1, true
	}
	rest, ok := strings.CutPrefix(b, a+"/")
	return strings.Count(rest, "/") + 1, ok
}

// aside matches folders whose files build nothing that ships.
var aside = lazyregexp.New(`(?i)(^|/)(tests?|e2e|testdata|fixtures?|examples?|samples?|docs?|hack|tools?|tooling|` +
	`suites|integrationtest|benchmarks?)/`)

// isAside reports whether a file belongs to tests, examples or tools.
func isAside(file string) bool { return aside.MatchString(file) }

// release matches a release of Go. A word behind it is a variant.
var release = lazyregexp.New(`^(?:go)?v?(1\.[0-9]{1,3})(?:\.([0-9]{1,3}|x|\*))?(?:-?(?:rc|beta)[0-9]+)?$`)

// parseRelease reads a release or a line of releases as people write it; false for what is none.
// Ranges name their lowest: "^1.22", ">=1.22.3" allow all later ones of the major version.
func parseRelease(text string) (version string, floating, ok bool) {
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	switch strings.ToLower(text) {
	case "stable", "latest", "oldstable", "1", "1.x", "tip", "*":
		return "", true, true
	}
	if rest := strings.TrimLeft(text, "^>=~ "); rest != text {
		if _, _, ok := parseRelease(rest); ok && !strings.HasPrefix(text, "~") &&
			!strings.HasPrefix(text, "=") {
			return "", true, true
		}
		text = rest
	}
	m := release.FindStringSubmatch(text)
	if m == nil {
		return "", false, false
	}
	if m[2] == "" || m[2] == "x" || m[2] == "*" {
		return m[1], true, true
	}
	return m[1] + "." + m[2], false, true
}

// imageBuilds returns the images of Go that a Dockerfile builds on.
func imageBuilds(file string, content []byte) []Build {
	var out []Build
	for _, r := range imageref.Read(imageref.Dockerfile, content) {
		name := path.Base(r.Name)
		if name != "golang" && name != "golang-builder" && name != "go-toolset" && r.Name != "cimg/go" &&
			r.Name != "cgr.dev/chainguard/go" {
			continue
		}
		number, _ := imageref.Version(r.Tag)
		if number == "" && (r.Tag == "" || r.Tag == "latest" || !strings.ContainsAny(r.Tag, "0123456789")) {
			number = "latest"
		}
		if b, ok := newBuild(file, r.Line, number, "the image "+r.Name+":"+r.Tag, imageRank); ok {
			out = append(out, b)
		}
	}
	return out
}

// newBuild makes a build of a release; false for what is none.
func newBuild(file string, line int, text, source string, rank int) (Build, bool) {
	version, floating, ok := parseRelease(text)
	return Build{Path: file, Line: line, Version: version, Floating: floating, Source: strings.TrimSuffix(source, ":"),
		rank: rank}, ok
}

// versionFile reads a file of a version manager: goenv, asdf, mise.
func versionFile(file, text string) (Build, bool) {
	line := 0
	for raw := range strings.Lines(text) {
		line++
		raw, _, _ = strings.Cut(raw, "#")
		words := strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune(" \t\r\n=\"'", r) })
		if path.Base(file) != ".go-version" {
			if len(words) < 2 || words[0] != "golang" && words[0] != "go" {
				continue
			}
			words = words[1:]
		}
		if len(words) > 0 {
			return newBuild(file, line, words[0], path.Base(file), versionFileRank)
		}
	}
	return Build{}, false
}

// readEnvironment adds the assignments of a file to an environment.
func readEnvironment(text string, into map[string]string) {
	for raw := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(raw), "=")
		if ok && len(into) < 1000 && !strings.HasPrefix(name, "#") {
			into[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
}

// isWorkflow reports whether a file is a workflow or an action of GitHub.
func isWorkflow(file string) bool {
	ext := path.Ext(file)
	return (ext == ".yml" || ext == ".yaml") && slices.Contains(strings.Split(path.Dir(file), "/"), ".github")
}

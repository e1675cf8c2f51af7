// Package dotnet reads what the projects of .NET ask for
// (https://learn.microsoft.com/nuget/consume-packages/package-references-in-project-files),
// with the versions that stand in properties, in files that are imported, and in a
// central list of versions
// (https://learn.microsoft.com/nuget/consume-packages/central-package-management).
package dotnet

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sca/inventory/manifest"
)

// Central is the name of the file with the central list of versions.
const Central = "Directory.Packages.props"

// Locks names the files that fix the versions of a project.
var Locks = []string{"packages.lock.json"}

// sharedFiles are the files that every project below their folder takes in.
var sharedFiles = []string{"Directory.Build.props", Central, "Directory.Build.targets", "Packages.props"}

// maxFolders bounds how far up shared files are looked for, maxImports how many
// files a project takes in.
const (
	maxFolders = 64
	maxImports = 100
)

// A Solution is a tree with projects.
type Solution struct {
	read     func(path string) []byte // nil when the file is not there
	projects []string
	docs     map[string]*document.Node
	asked    map[string][]string // projects that ask for a package, by its lower-case name; nil before they are known
}

// New returns the solution of the projects. Read returns a file, or nil.
func New(projects []string, read func(path string) []byte) *Solution {
	return &Solution{read: read, projects: projects, docs: map[string]*document.Node{}}
}

// Reads reports whether the file is a project or one that projects take in.
func Reads(file string) bool {
	switch path.Ext(file) {
	case ".csproj", ".vbproj", ".fsproj":
		return true
	}
	return slices.Contains(sharedFiles, path.Base(file))
}

// readProject reads a file, once; nil when it cannot be read.
func (s *Solution) readProject(file string) *document.Node {
	if known, ok := s.docs[file]; ok {
		return known
	}
	var n *document.Node
	if content := s.read(file); content != nil {
		n, _ = document.ParseXML(content, document.PackageLimits) // Requirements says so when it reads the file itself
	}
	s.docs[file] = n
	return n
}

// A scope is what a project sees.
type scope struct {
	properties map[string]string
	versions   map[string]string // of the central list, by lower-case name
}

// scopeOf returns what the file sees: the shared files of the folders above, what
// they import, and itself.
func (s *Solution) scopeOf(file string) scope {
	out := scope{properties: map[string]string{}, versions: map[string]string{}}
	var folders []string
	for dir := path.Dir(file); len(folders) < maxFolders; dir = path.Dir(dir) {
		folders = append(folders, dir)
		if dir == "." {
			break
		}
	}
	seen := map[string]bool{}
	for _, dir := range slices.Backward(folders) {
		for _, name := range sharedFiles {
			s.importFile(path.Join(dir, name), &out, seen)
		}
	}
	s.importFile(file, &out, seen)
	return out
}

// importFile takes a file in with what it imports.
func (s *Solution) importFile(file string, out *scope, seen map[string]bool) {
	if seen[file] || len(seen) > maxImports {
		return
	}
	n := s.readProject(file)
	if n == nil {
		return
	}
	seen[file] = true
	for _, i := range n.Named("Import") {
		target := expandProperties(i.TextOf("@Project"), map[string]string{"MSBuildThisFileDirectory": ""})
		if target = strings.ReplaceAll(target, `\`, "/"); target != "" && !strings.Contains(target, "$(") {
			s.importFile(path.Join(path.Dir(file), target), out, seen)
		}
	}
	for _, group := range n.Named("PropertyGroup") {
		for _, p := range group.Members() {
			if v := p.Text(); v != "" && !strings.HasPrefix(p.Key, "@") {
				out.properties[p.Key] = expandProperties(v, out.properties)
			}
		}
	}
	for _, v := range n.Named("PackageVersion", "GlobalPackageReference") {
		if name, version := nameOf(v.Node), attributeOf(v.Node, "Version"); name != "" && version != "" {
			out.versions[strings.ToLower(name)] = version
		}
	}
}

// Requirements returns what a file asks for. Of a central list these are the
// packages that no project below its folder asks for by itself.
func (s *Solution) Requirements(file string) ([]manifest.Requirement, error) {
	n, err := document.ParseXML(s.read(file), document.PackageLimits)
	if err != nil {
		return nil, err
	}
	seen := s.scopeOf(file)
	var out []manifest.Requirement
	for _, e := range n.Named("PackageReference", "GlobalPackageReference", "PackageVersion") {
		name := nameOf(e.Node)
		if name == "" || strings.Contains(name, "$(") || e.Key == "PackageVersion" &&
			s.isRequired(path.Dir(file), name) {
			continue
		}
		wanted := attributeOf(e.Node, "VersionOverride")
		if wanted == "" {
			wanted = attributeOf(e.Node, "Version")
		}
		if wanted == "" {
			wanted = seen.versions[strings.ToLower(name)]
		}
		wanted = expandProperties(wanted, seen.properties)
		out = append(out, manifest.Requirement{
			Name: name, Version: manifest.NuGetVersion(wanted), Wanted: wanted, Line: e.Line,
			Dev: strings.EqualFold(attributeOf(e.Node, "PrivateAssets"), "all"),
		})
	}
	return out, nil
}

// isRequired reports whether a project in the folder or below requires the package.
func (s *Solution) isRequired(folder, name string) bool {
	if s.asked == nil {
		s.asked = map[string][]string{}
		for _, file := range s.projects {
			for _, e := range s.readProject(file).Named("PackageReference") {
				key := strings.ToLower(nameOf(e.Node))
				s.asked[key] = append(s.asked[key], file)
			}
		}
	}
	return slices.ContainsFunc(s.asked[strings.ToLower(name)], func(project string) bool {
		return folder == "." || strings.HasPrefix(project, folder+"/")
	})
}

// nameOf returns the package that an element includes or changes.
func nameOf(e *document.Node) string {
	if name := strings.TrimSpace(e.TextOf("@Include")); name != "" {
		return name
	}
	return strings.TrimSpace(e.TextOf("@Update"))
}

// attributeOf returns an attribute, or the text of the element of that name.
func attributeOf(e *document.Node, name string) string {
	if v := strings.TrimSpace(e.TextOf("@" + name)); v != "" {
		return v
	}
	return strings.TrimSpace(e.TextOf(name))
}

// reference matches a property that is put in: "$(Name)".
var reference = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_.]*)\)`)

// expandProperties replaces $(Name) by what is known; else it stays.
func expandProperties(text string, properties map[string]string) string {
	for range 10 {
		if !strings.Contains(text, "$(") || len(text) > 1000 {
			break
		}
		text = reference.ReplaceAllStringFunc(text, func(ref string) string {
			if v, ok := properties[ref[2:len(ref)-1]]; ok {
				return v
			}
			return ref
		})
	}
	return text
}

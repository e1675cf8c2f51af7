package lock

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/document"
)

// PythonName is the normalised name of a Python project
// (https://packaging.python.org/en/latest/specifications/name-normalization/).
func PythonName(name string) string {
	return strings.ToLower(pythonSeparators.ReplaceAllString(name, "-"))
}

// pythonSeparators matches what names of packages are compared without (PEP 503).
var pythonSeparators = regexp.MustCompile(`[-_.]+`)

// requirementName matches the name at the beginning of a requirement (PEP 508).
var requirementName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`)

// readPipfile reads Pipfile.lock (https://github.com/pypa/pipfile), which does not say
// which package brought which.
func readPipfile(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	b.Marked = true
	// "default", "develop", and categories of one's own.
	for _, section := range n.Members() {
		if section.Key == "_meta" {
			continue
		}
		for _, e := range section.Members() {
			// The file has "==2.31.0"; hand-edited ones also "=2.31.0".
			version := strings.TrimPrefix(strings.TrimPrefix(e.TextOf("version"), "=="), "=")
			foreign := e.Get("git") != nil || e.Get("file") != nil
			b.addNode(Node{Name: e.Key, Version: version, Line: e.Line, Dev: section.Key == "develop", Foreign: foreign,
				Local: e.Get("path") != nil}, PythonName(e.Key))
		}
	}
	project, err := document.ParseTOML(b.Read(b.siblingPath("Pipfile")), document.PackageLimits)
	if err != nil || project.Len() == 0 {
		// Without a manifest it is not known what is direct; the inventory reports manifests it cannot read.
		return nil //nolint:nilerr // see above
	}
	root := b.addNode(Node{Local: true, Manifest: b.siblingPath("Pipfile")})
	for _, s := range project.Members() {
		if s.IsMap() && strings.HasSuffix(s.Key, "packages") {
			b.pythonRoots(root, s.Node, s.Key == "dev-packages")
		}
	}
	return nil
}

// pythonRoots links to what the members of a table name.
func (b *builder) pythonRoots(root int, table *document.Node, dev bool) {
	for _, d := range table.Members() {
		if b.addEdge(root, dev, PythonName(d.Key)) {
			b.Rooted = true
		}
	}
}

// tomlPackages adds the packages of a lock file in TOML, and returns them with
// the nodes.
func (b *builder) tomlPackages() (root *document.Node, packages []document.Member, at []int, err error) {
	root, err = document.ParseTOML(b.Content, document.PackageLimits)
	if err != nil {
		return nil, nil, nil, err
	}
	packages = root.Get("package").Members()
	at = make([]int, len(packages))
	for i := range packages {
		e := &packages[i]
		name := e.TextOf("name")
		node := Node{Name: name, Version: e.TextOf("version"), Line: e.Get("name").LineOr(e.Line)}
		tomlSource(&node, e.Node)
		// Forks for several versions of Python put a package in twice: the key with the version
		// tells them apart.
		at[i] = b.addNode(node, PythonName(name)+"@"+node.Version, PythonName(name))
	}
	return root, packages, at, nil
}

// readPoetry reads poetry.lock (https://python-poetry.org/docs/basic-usage/).
func readPoetry(b *builder) error {
	_, packages, at, err := b.tomlPackages()
	if err != nil {
		return err
	}
	for i, from := range at {
		e := &packages[i]
		if groups := e.Get("groups").Strings(); len(groups) > 0 { // Poetry 2
			b.Marked = true
			b.Nodes[from].Dev = !slices.Contains(groups, "main")
		} else if category := e.TextOf("category"); category != "" { // before Poetry 1.5
			b.Marked = true
			b.Nodes[from].Dev = category != "main"
		}
		for _, d := range e.Get("dependencies").Members() {
			b.addEdge(from, false, PythonName(d.Key))
		}
	}
	b.addPyproject(b.siblingPath("pyproject.toml"))
	return nil
}

// readPDM reads pdm.lock (https://pdm-project.org/latest/usage/lockfile/).
func readPDM(b *builder) error {
	_, packages, at, err := b.tomlPackages()
	if err != nil {
		return err
	}
	for i, from := range at {
		e := &packages[i]
		if groups := e.Get("groups").Strings(); len(groups) > 0 {
			b.Marked = true
			b.Nodes[from].Dev = !slices.ContainsFunc(groups, func(g string) bool { return g == "default" })
		}
		for _, d := range e.Get("dependencies").Strings() {
			b.addEdge(from, false, PythonName(requirementName.FindString(d)))
		}
	}
	b.addPyproject(b.siblingPath("pyproject.toml"))
	return nil
}

// addPyproject adds what a pyproject.toml requires: by PEP 621, by dependency groups (PEP
// 735), by Poetry's and PDM's tables.
func (b *builder) addPyproject(file string) {
	n, err := document.ParseTOML(b.Read(file), document.PackageLimits)
	if err != nil || len(n.Members()) == 0 {
		return // without a manifest it is not known what is direct; the inventory reads the manifest itself
	}
	root := b.addNode(Node{Local: true, Manifest: file})
	list := func(requirements *document.Node, dev bool) {
		for _, r := range requirements.Strings() {
			if b.addEdge(root, dev, PythonName(requirementName.FindString(r))) {
				b.Rooted = true
			}
		}
	}
	list(n.At("project", "dependencies"), false)
	for _, m := range n.At("project", "optional-dependencies").Members() {
		list(m.Node, false)
	}
	for _, groups := range []*document.Node{n.Get("dependency-groups"), n.At("tool", "pdm", "dev-dependencies")} {
		for _, m := range groups.Members() {
			list(m.Node, true)
		}
	}
	tool := n.At("tool", "poetry")
	b.pythonRoots(root, tool.Get("dependencies"), false)
	b.pythonRoots(root, tool.Get("dev-dependencies"), true)
	for _, g := range tool.Get("group").Members() {
		b.pythonRoots(root, g.Get("dependencies"), g.Key != "main")
	}
}

// readUV reads uv.lock (https://docs.astral.sh/uv/concepts/projects/layout/): the members
// of the workspace are entries without a registry.
func readUV(b *builder) error {
	root, packages, at, err := b.tomlPackages()
	if err != nil {
		return err
	}
	if groups := root.At("manifest", "dependency-groups"); groups != nil { // of a workspace that is no project
		b.Rooted = true
		from := b.addNode(Node{Local: true, Manifest: b.siblingPath("pyproject.toml")})
		for _, m := range groups.Members() {
			b.uvLinks(from, true, m.Node)
		}
	}
	for i, from := range at {
		e := &packages[i]
		if b.Nodes[from].Local {
			b.Rooted = true
			if dir := e.Get("source").TextOf("editable") + e.Get("source").TextOf("virtual"); dir != "" {
				b.Nodes[from].Manifest = b.siblingPath(path.Join(dir, "pyproject.toml"))
			}
		}
		b.uvLinks(from, false, e.Get("dependencies"))
		for _, extras := range e.Get("optional-dependencies").Members() {
			b.uvLinks(from, false, extras.Node)
		}
		for _, group := range e.Get("dev-dependencies").Members() {
			b.uvLinks(from, true, group.Node)
		}
	}
	return nil
}

// uvLinks adds the packages that an entry of uv.lock needs.
func (b *builder) uvLinks(from int, dev bool, list *document.Node) {
	for _, d := range list.Members() {
		name := PythonName(d.TextOf("name"))
		b.addEdge(from, dev, name+"@"+d.TextOf("version"), name)
	}
}

// tomlSource says where the package of a lock file in TOML comes from.
func tomlSource(n *Node, e *document.Node) {
	source := e.Get("source")
	for _, place := range []string{"virtual", "editable", "directory", "path", "workspace"} {
		if source.Get(place) != nil && source.TextOf("url") == "" {
			n.Local = true
		}
	}
	switch source.TextOf("type") { // Poetry
	case "directory", "file":
		n.Local = source.TextOf("type") == "directory"
	case "git":
		n.Foreign = true
	}
	if path := e.TextOf("path"); path != "" && source == nil { // PDM
		n.Local = true
	}
	if source.Get("git") != nil || e.TextOf("git") != "" {
		n.Foreign = true
	}
}

// readCargo reads Cargo.lock
// (https://doc.rust-lang.org/cargo/guide/cargo-toml-vs-cargo-lock.html): entries without a
// source are the project and what is beside it.
func readCargo(b *builder) error {
	n, err := document.ParseTOML(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	packages := n.Get("package").Members()
	at := make([]int, len(packages))
	for i := range packages {
		e := &packages[i]
		name, version, source := e.TextOf("name"), e.TextOf("version"), e.TextOf("source")
		node := Node{Name: name, Version: version, Line: e.Get("name").LineOr(e.Line), Local: source == "",
			Foreign: strings.HasPrefix(source, "git+")}
		at[i] = b.addNode(node, name+" "+version, name)
		b.Rooted = b.Rooted || node.Local
	}
	manifests := b.cargoManifests()
	for i, from := range at {
		develop := map[string]bool{}
		if m, ok := manifests[packages[i].TextOf("name")]; ok && b.Nodes[from].Local {
			b.Nodes[from].Manifest, develop = m.file, m.develop
		}
		for _, d := range packages[i].Get("dependencies").Strings() {
			name, version, _ := strings.Cut(d, " ")
			version, _, _ = strings.Cut(version, " ")
			b.addEdge(from, develop[name], name+" "+version, name)
		}
	}
	return nil
}

// A cargoManifest is a Cargo.toml with what it asks for in development only.
type cargoManifest struct {
	file    string
	develop map[string]bool
}

// cargoManifests returns the manifests of the workspace by the package's name.
func (b *builder) cargoManifests() map[string]cargoManifest {
	out := map[string]cargoManifest{}
	for _, file := range b.Below("Cargo.toml") {
		n, err := document.ParseTOML(b.Read(file), document.PackageLimits)
		if err != nil {
			continue // the inventory says so when it reads the manifest
		}
		m := cargoManifest{file: file, develop: map[string]bool{}}
		cargoDevelop(n, m.develop)
		for _, target := range n.Get("target").Members() {
			cargoDevelop(target.Node, m.develop)
		}
		if name := n.At("package", "name").Text(); name != "" {
			out[name] = m
		}
	}
	return out
}

// cargoDevelop notes what is asked for in development and not else.
func cargoDevelop(n *document.Node, develop map[string]bool) {
	for _, d := range n.Get("dev-dependencies").Members() {
		if _, known := develop[cargoName(d)]; !known {
			develop[cargoName(d)] = true
		}
	}
	for _, section := range []string{"dependencies", "build-dependencies"} {
		for _, d := range n.Get(section).Members() {
			develop[cargoName(d)] = false
		}
	}
}

// cargoName is the name of the package, which the manifest may give another one.
func cargoName(d document.Member) string {
	if real := d.TextOf("package"); real != "" {
		return real
	}
	return d.Key
}

package lock

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory/document"
)

// PythonName is the normalised name of a Python project
// (https://packaging.python.org/en/latest/specifications/name-normalization/).
func PythonName(name string) string {
	return strings.ToLower(pythonSeparators.ReplaceAllString(name, "-"))
}

var pythonSeparators = regexp.MustCompile(`[-_.]+`)

// requirementName matches the name at the beginning of a requirement (PEP 508).
var requirementName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`)

// pipfile reads Pipfile.lock (https://github.com/pypa/pipfile), which does not say
// which package brought which.
func pipfile(b *builder) error {
	n, err := document.JSON(b.Content)
	if err != nil {
		return err
	}
	b.Marked = true
	for i := range n.All() {
		section := &n.Kids[i]
		if section.Key == "_meta" {
			continue
		}
		for k := range section.All() {
			e := &section.Kids[k]
			version := strings.TrimPrefix(strings.TrimPrefix(e.Str("version"), "=="), "=")
			foreign := e.Get("git") != nil || e.Get("file") != nil
			b.add(Node{Name: e.Key, Version: version, Line: e.Line, Dev: section.Key == "develop", Foreign: foreign,
				Local: e.Get("path") != nil}, PythonName(e.Key))
		}
	}
	project, err := document.TOML(b.Read(b.beside("Pipfile")))
	if err != nil || len(project.Kids) == 0 {
		return nil //nolint:nilerr // without a manifest it is not known what is direct; the inventory reads the manifest itself
	}
	root := b.add(Node{Local: true, Manifest: b.beside("Pipfile")})
	for i := range project.Kids {
		if s := &project.Kids[i]; s.Kind == document.Object && strings.HasSuffix(s.Key, "packages") {
			b.pythonRoots(root, s, s.Key == "dev-packages")
		}
	}
	return nil
}

// pythonRoots links to what the members of a table name.
func (b *builder) pythonRoots(root int, table *document.Node, dev bool) {
	for _, d := range table.All() {
		if b.link(root, dev, PythonName(d.Key)) {
			b.Rooted = true
		}
	}
}

// tomlPackages adds the packages of a lock file in TOML, and returns them with
// the nodes.
func (b *builder) tomlPackages() (root *document.Node, packages []document.Node, at []int, err error) {
	root, err = document.TOML(b.Content)
	if err != nil {
		return nil, nil, nil, err
	}
	packages = root.Get("package").All()
	at = make([]int, len(packages))
	for i := range packages {
		e := &packages[i]
		name := e.Str("name")
		node := Node{Name: name, Version: e.Str("version"), Line: e.Get("name").LineOr(e.Line)}
		tomlSource(&node, e)
		at[i] = b.add(node, PythonName(name)+"@"+node.Version, PythonName(name))
	}
	return root, packages, at, nil
}

// poetry reads poetry.lock (https://python-poetry.org/docs/basic-usage/).
func poetry(b *builder) error {
	_, packages, at, err := b.tomlPackages()
	if err != nil {
		return err
	}
	for i, from := range at {
		e := &packages[i]
		if groups := e.Get("groups").Strings(); len(groups) > 0 { // Poetry 2
			b.Marked = true
			b.Nodes[from].Dev = !slices.Contains(groups, "main")
		} else if category := e.Str("category"); category != "" { // before Poetry 1.5
			b.Marked = true
			b.Nodes[from].Dev = category != "main"
		}
		for _, d := range e.Get("dependencies").All() {
			b.link(from, false, PythonName(d.Key))
		}
	}
	b.pyproject(b.beside("pyproject.toml"))
	return nil
}

// pdm reads pdm.lock (https://pdm-project.org/latest/usage/lockfile/).
func pdm(b *builder) error {
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
			b.link(from, false, PythonName(requirementName.FindString(d)))
		}
	}
	b.pyproject(b.beside("pyproject.toml"))
	return nil
}

// pyproject adds what a pyproject.toml asks for: by PEP 621, by dependency groups
// (PEP 735), by Poetry's and PDM's tables.
func (b *builder) pyproject(file string) {
	n, err := document.TOML(b.Read(file))
	if err != nil || len(n.Kids) == 0 {
		return // without a manifest it is not known what is direct; the inventory reads the manifest itself
	}
	root := b.add(Node{Local: true, Manifest: file})
	list := func(requirements *document.Node, dev bool) {
		for _, r := range requirements.Strings() {
			if b.link(root, dev, PythonName(requirementName.FindString(r))) {
				b.Rooted = true
			}
		}
	}
	list(n.At("project", "dependencies"), false)
	for i := range n.At("project", "optional-dependencies").All() {
		list(&n.At("project", "optional-dependencies").Kids[i], false)
	}
	for _, groups := range []*document.Node{n.Get("dependency-groups"), n.At("tool", "pdm", "dev-dependencies")} {
		for i := range groups.All() {
			list(&groups.Kids[i], true)
		}
	}
	tool := n.At("tool", "poetry")
	b.pythonRoots(root, tool.Get("dependencies"), false)
	b.pythonRoots(root, tool.Get("dev-dependencies"), true)
	for i := range tool.Get("group").All() {
		g := &tool.Get("group").Kids[i]
		b.pythonRoots(root, g.Get("dependencies"), g.Key != "main")
	}
}

// uv reads uv.lock (https://docs.astral.sh/uv/concepts/projects/layout/): the
// members of the workspace are entries without a registry.
func uv(b *builder) error {
	root, packages, at, err := b.tomlPackages()
	if err != nil {
		return err
	}
	if groups := root.At("manifest", "dependency-groups"); groups != nil { // of a workspace that is no project
		b.Rooted = true
		from := b.add(Node{Local: true, Manifest: b.beside("pyproject.toml")})
		for i := range groups.All() {
			b.uvLinks(from, true, &groups.Kids[i])
		}
	}
	for i, from := range at {
		e := &packages[i]
		if b.Nodes[from].Local {
			b.Rooted = true
			if dir := e.Get("source").Str("editable") + e.Get("source").Str("virtual"); dir != "" {
				b.Nodes[from].Manifest = b.beside(path.Join(dir, "pyproject.toml"))
			}
		}
		b.uvLinks(from, false, e.Get("dependencies"))
		for _, extras := range e.Get("optional-dependencies").All() {
			b.uvLinks(from, false, &extras)
		}
		for _, group := range e.Get("dev-dependencies").All() {
			b.uvLinks(from, true, &group)
		}
	}
	return nil
}

func (b *builder) uvLinks(from int, dev bool, list *document.Node) {
	for i := range list.All() {
		d := &list.Kids[i]
		name := PythonName(d.Str("name"))
		b.link(from, dev, name+"@"+d.Str("version"), name)
	}
}

// tomlSource says where the package of a lock file in TOML comes from.
func tomlSource(n *Node, e *document.Node) {
	source := e.Get("source")
	for _, place := range []string{"virtual", "editable", "directory", "path", "workspace"} {
		if source.Get(place) != nil && source.Str("url") == "" {
			n.Local = true
		}
	}
	switch source.Str("type") { // Poetry
	case "directory", "file":
		n.Local = source.Str("type") == "directory"
	case "git":
		n.Foreign = true
	}
	if path := e.Str("path"); path != "" && source == nil { // PDM
		n.Local = true
	}
	if source.Get("git") != nil || e.Str("git") != "" {
		n.Foreign = true
	}
}

// cargo reads Cargo.lock (https://doc.rust-lang.org/cargo/guide/cargo-toml-vs-cargo-lock.html):
// entries without a source are the project and what lies beside it.
func cargo(b *builder) error {
	n, err := document.TOML(b.Content)
	if err != nil {
		return err
	}
	packages := n.Get("package").All()
	at := make([]int, len(packages))
	for i := range packages {
		e := &packages[i]
		name, version, source := e.Str("name"), e.Str("version"), e.Str("source")
		node := Node{Name: name, Version: version, Line: e.Get("name").LineOr(e.Line), Local: source == "",
			Foreign: strings.HasPrefix(source, "git+")}
		at[i] = b.add(node, name+" "+version, name)
		b.Rooted = b.Rooted || node.Local
	}
	manifests := b.cargoManifests()
	for i, from := range at {
		develop := map[string]bool{}
		if m, ok := manifests[packages[i].Str("name")]; ok && b.Nodes[from].Local {
			b.Nodes[from].Manifest, develop = m.file, m.develop
		}
		for _, d := range packages[i].Get("dependencies").Strings() {
			name, version, _ := strings.Cut(d, " ")
			version, _, _ = strings.Cut(version, " ")
			b.link(from, develop[name], name+" "+version, name)
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
		n, err := document.TOML(b.Read(file))
		if err != nil {
			continue // the inventory says so when it reads the manifest
		}
		m := cargoManifest{file: file, develop: map[string]bool{}}
		cargoDevelop(n, m.develop)
		for i := range n.Get("target").All() {
			cargoDevelop(&n.Get("target").Kids[i], m.develop)
		}
		if name := n.At("package", "name").Value(); name != "" {
			out[name] = m
		}
	}
	return out
}

// cargoDevelop notes what is asked for in development and not else.
func cargoDevelop(n *document.Node, develop map[string]bool) {
	for _, d := range n.Get("dev-dependencies").All() {
		if _, known := develop[cargoName(&d)]; !known {
			develop[cargoName(&d)] = true
		}
	}
	for _, section := range []string{"dependencies", "build-dependencies"} {
		for _, d := range n.Get(section).All() {
			develop[cargoName(&d)] = false
		}
	}
}

// cargoName is the name of the package, which the manifest may give another one.
func cargoName(d *document.Node) string {
	if real := d.Str("package"); real != "" {
		return real
	}
	return d.Key
}

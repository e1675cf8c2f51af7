package lock

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"merlon/internal/document"
)

// readBun reads bun.lock (https://bun.sh/docs/pm/lockfile): JSON with comments. A key such
// as "a/b" is the package b where a sees it.
func readBun(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	packages := n.Get("packages")
	entries := packages.Members()
	if n.Kind != document.Map || packages != nil && packages.Kind != document.Map {
		return errors.New("an object was expected")
	}
	at := make([]int, len(entries))
	for i, e := range entries {
		// ["lodash@4.17.21", "", {…}, "sha512-…"]: name and version, registry, requirements, hash.
		if len(e.List()) == 0 {
			return fmt.Errorf("packages: %q is no list", e.Key)
		}
		at[i] = b.addNode(b.bunNode(e), e.Key)
	}
	for i, from := range at {
		b.linkBunEntry(from, entries[i])
	}
	for _, w := range n.Get("workspaces").Members() {
		b.Rooted = true
		root := b.addNode(Node{Local: true, Manifest: b.siblingPath(path.Join(w.Key, "package.json"))})
		for _, d := range npmRequirements(w.Node) {
			b.bunLink(root, w.TextOf("name"), d)
		}
	}
	return nil
}

// bunNode makes the node of an entry: a list that begins with "name@version".
func (b *builder) bunNode(e document.Member) Node {
	name, version := cutName(e.Items[0].Text())
	node := Node{Name: name, Version: version, Line: e.Line, Local: isLocal(version) || version == "root:"}
	if dir, ok := strings.CutPrefix(version, "file:"); ok { // a folder, which requires packages like a workspace
		node.Manifest = b.siblingPath(path.Join(dir, "package.json"))
	}
	// "github:owner/name#commit" or "https://…": not from the registry, and without a version.
	if strings.Contains(version, ":") && !node.Local {
		node.Foreign, node.Version = true, ""
	}
	return node
}

// linkBunEntry links to what the entry of a package requires. Workspaces say that in a list
// of their own.
func (b *builder) linkBunEntry(from int, e document.Member) {
	if strings.HasPrefix(b.Nodes[from].Version, "workspace:") {
		return
	}
	for _, item := range e.Items {
		if !item.IsMap() {
			continue
		}
		for _, d := range npmRequirements(item) {
			b.bunLink(from, e.Key, d)
		}
	}
}

// bunLink links to the package that is seen from a key: below it, else above.
func (b *builder) bunLink(from int, key string, d requirement) {
	for depth := 0; depth < 100; depth++ {
		if key == "" {
			b.addEdge(from, d.dev, d.name)
			return
		}
		if b.addEdge(from, d.dev, key+"/"+d.name) {
			return
		}
		if key = strings.TrimSuffix(path.Dir(key), "."); strings.HasPrefix(path.Base(key),
			"@") { // "@scope/name" is one name
			key = strings.TrimSuffix(path.Dir(key), ".")
		}
	}
}

// readDeno reads the npm packages of deno.lock, version 3 and later
// (https://docs.deno.com/runtime/fundamentals/modules/). Those of JSR have no ecosystem in
// vulnerability records.
func readDeno(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	if n.Kind != document.Map {
		return errors.New("an object was expected")
	}
	// The members moved from version to version; the entries themselves stayed the same.
	list, specifiers := n.Get("npm"), n.Get("specifiers")
	if list == nil { // version 2 and 3
		list, specifiers = n.At("packages", "npm"), n.At("packages", "specifiers")
	}
	if list.Get("packages") != nil && list.Get("specifiers") != nil { // version 2
		list, specifiers = list.Get("packages"), list.Get("specifiers")
	}
	packages := list.Members()
	at := make([]int, len(packages))
	for i, e := range packages {
		name, version := cutName(e.Key)
		version, _, _ = strings.Cut(version, "_") // the versions of its peers
		at[i] = b.addNode(Node{Name: name, Version: version, Line: e.Line}, e.Key, name+"@"+version, name)
	}
	for i, from := range at {
		for _, section := range []string{"dependencies", "optionalDependencies", "optionalPeers"} {
			for _, d := range packages[i].Get(section).Members() {
				b.addEdge(from, false, d.Text(), npmOfDeno(d.Text()))
			}
		}
	}
	b.denoRoots(n, specifiers)
	return nil
}

// npmOfDeno returns the key of a reference such as "npm:name@1.2.3" or
// "alias@npm:name@1.2.3".
func npmOfDeno(reference string) string {
	_, rest, ok := strings.Cut(reference, "npm:")
	if !ok {
		return reference
	}
	return rest
}

// denoRoots adds what the project asks for: its workspace says so, else what the
// specifiers name counts.
func (b *builder) denoRoots(n, specifiers *document.Node) {
	wants := map[string]string{} // manifest by specifier
	var collect func(w *document.Node, dir string)
	collect = func(w *document.Node, dir string) {
		for _, s := range w.Get("dependencies").Strings() {
			wants[s] = path.Join(dir, "deno.json")
		}
		for _, s := range w.At("packageJson", "dependencies").Strings() {
			wants[s] = path.Join(dir, "package.json")
		}
		for _, m := range w.Get("members").Members() {
			collect(m.Node, path.Join(dir, m.Key))
		}
	}
	workspace := n.Get("workspace")
	collect(workspace, path.Dir(b.Path))
	if specifiers.Len() == 0 {
		return
	}
	roots := map[string]int{}
	for _, s := range specifiers.Members() {
		manifest, ok := wants[s.Key]
		// Specifiers of modules (imports in the code) are not in the workspace: they are transitive
		// or unused.
		if !ok && workspace != nil {
			continue
		}
		name, _ := cutName(npmOfDeno(s.Key))
		root, known := roots[manifest]
		if !known {
			root = b.addNode(Node{Local: true, Manifest: manifest})
			roots[manifest] = root
		}
		b.Rooted = true
		b.addEdge(root, false, npmOfDeno(s.Text()), name+"@"+s.Text())
	}
}

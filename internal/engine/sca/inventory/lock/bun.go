package lock

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"merlon/internal/engine/sca/inventory/document"
)

// bun reads bun.lock (https://bun.sh/docs/pm/lockfile): JSON with comments. A key
// such as "a/b" is the package b where a sees it.
func bun(b *builder) error {
	n, err := document.JSON(b.Content)
	if err != nil {
		return err
	}
	packages := n.Get("packages")
	if n.Kind != document.Object || packages != nil && packages.Kind != document.Object {
		return errors.New("an object was expected")
	}
	at := make([]int, len(packages.All()))
	for i := range packages.All() {
		e := &packages.Kids[i]
		if e.Kind != document.List || len(e.Kids) == 0 {
			return fmt.Errorf("packages: %q is no list", e.Key)
		}
		name, version := cutName(e.Kids[0].Value())
		node := Node{Name: name, Version: version, Line: e.Line, Local: local(version) || version == "root:"}
		if dir, ok := strings.CutPrefix(version, "file:"); ok { // a folder, which asks for packages like a workspace
			node.Manifest = b.beside(path.Join(dir, "package.json"))
		}
		if strings.Contains(version, ":") && !node.Local {
			node.Foreign, node.Version = true, ""
		}
		at[i] = b.add(node, e.Key)
	}
	for i, from := range at {
		e := &packages.Kids[i]
		for k := range e.Kids {
			if e.Kids[k].Kind != document.Object {
				continue
			}
			for _, d := range npmAsks(&e.Kids[k]) {
				if !strings.HasPrefix(b.Nodes[from].Version, "workspace:") {
					b.bunLink(from, e.Key, d)
				}
			}
		}
	}
	workspaces := n.Get("workspaces")
	for i := range workspaces.All() {
		w := &workspaces.Kids[i]
		b.Rooted = true
		root := b.add(Node{Local: true, Manifest: b.beside(path.Join(w.Key, "package.json"))})
		for _, d := range npmAsks(w) {
			b.bunLink(root, w.Str("name"), d)
		}
	}
	return nil
}

// bunLink links to the package that is seen from a key: below it, else above.
func (b *builder) bunLink(from int, key string, d asked) {
	for depth := 0; depth < 100; depth++ {
		if key == "" {
			b.link(from, d.dev, d.name)
			return
		}
		if b.link(from, d.dev, key+"/"+d.name) {
			return
		}
		if key = strings.TrimSuffix(path.Dir(key), "."); strings.HasPrefix(path.Base(key),
			"@") { // "@scope/name" is one name
			key = strings.TrimSuffix(path.Dir(key), ".")
		}
	}
}

// deno reads the npm packages of deno.lock, version 3 and later
// (https://docs.deno.com/runtime/fundamentals/modules/). Those of JSR have no
// ecosystem in vulnerability records.
func deno(b *builder) error {
	n, err := document.JSON(b.Content)
	if err != nil {
		return err
	}
	if n.Kind != document.Object {
		return errors.New("an object was expected")
	}
	list, specifiers := n.Get("npm"), n.Get("specifiers")
	if list == nil { // version 2 and 3
		list, specifiers = n.At("packages", "npm"), n.At("packages", "specifiers")
	}
	if list.Get("packages") != nil && list.Get("specifiers") != nil { // version 2
		list, specifiers = list.Get("packages"), list.Get("specifiers")
	}
	at := make([]int, len(list.All()))
	for i := range list.All() {
		e := &list.Kids[i]
		name, version := cutName(e.Key)
		version, _, _ = strings.Cut(version, "_") // the versions of its peers
		at[i] = b.add(Node{Name: name, Version: version, Line: e.Line}, e.Key, name+"@"+version, name)
	}
	for i, from := range at {
		for _, section := range []string{"dependencies", "optionalDependencies", "optionalPeers"} {
			for _, d := range list.Kids[i].Get(section).All() {
				b.link(from, false, d.Value(), npmOfDeno(d.Value()))
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
		for i := range w.Get("members").All() {
			collect(&w.Get("members").Kids[i], path.Join(dir, w.Get("members").Kids[i].Key))
		}
	}
	workspace := n.Get("workspace")
	collect(workspace, path.Dir(b.Path))
	if len(specifiers.All()) == 0 {
		return
	}
	roots := map[string]int{}
	for i := range specifiers.All() {
		s := &specifiers.Kids[i]
		manifest, ok := wants[s.Key]
		if !ok && workspace != nil {
			continue
		}
		name, _ := cutName(npmOfDeno(s.Key))
		root, known := roots[manifest]
		if !known {
			root = b.add(Node{Local: true, Manifest: manifest})
			roots[manifest] = root
		}
		b.Rooted = true
		b.link(root, false, npmOfDeno(s.Value()), name+"@"+s.Value())
	}
}

package lock

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"merlon/internal/document"
)

// readNPM reads package-lock.json and npm-shrinkwrap.json of all versions
// (https://docs.npmjs.com/cli/configuring-npm/package-lock-json).
func readNPM(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	if n.Kind != document.Map {
		return errors.New("an object was expected")
	}
	// Entries say themselves whether they are for development ("dev": true).
	b.Marked = true
	// "packages" came with version 2 (npm 7). Version 2 also has the old "dependencies" for older
	// clients, which is then ignored.
	if places := n.Get("packages"); places != nil {
		if places.Kind != document.Map {
			return errors.New(`"packages" is no object`)
		}
		return b.readNPMPlaces(places)
	}
	return b.readNPMNested(n)
}

// readNPMPlaces reads the entries by path: "" is the project, "node_modules/a" a package,
// any other path a workspace.
func (b *builder) readNPMPlaces(places *document.Node) error {
	entries := places.Members()
	from := make([]int, len(entries))
	for i, e := range entries {
		if e.Kind != document.Map {
			return fmt.Errorf("packages: %q is no object", e.Key)
		}
		from[i] = -1
		if target := e.TextOf("resolved"); e.Get("link").True() {
			continue
			// A link is a second name of a workspace: {"node_modules/a": {"resolved": "a", "link":
			// true}}. Workspaces and the project have no node_modules in their path.
		} else if !strings.Contains(e.Key, "node_modules/") {
			from[i] = b.addNode(Node{Local: true, Manifest: b.siblingPath(path.Join(e.Key, "package.json"))}, e.Key)
		} else {
			from[i] = b.addNode(npmNode(e, target), e.Key)
		}
	}
	for _, e := range entries { // after all of them, because places may lie anywhere
		if e.Get("link").True() {
			if to, ok := b.index[strings.TrimPrefix(e.TextOf("resolved"), "file:")]; ok {
				b.index[e.Key] = to
			}
		}
	}
	for i, at := range from {
		if at < 0 {
			continue
		}
		e := entries[i]
		b.Rooted = b.Rooted || b.Nodes[at].Local
		for _, d := range npmRequirements(e.Node) {
			b.npmLink(at, e.Key, d)
		}
	}
	return nil
}

// npmNode makes the node of an entry below node_modules.
func npmNode(e document.Member, resolved string) Node {
	// The name is only written for an alias, where the folder has another name than the package.
	name := e.TextOf("name")
	if name == "" {
		name = e.Key[strings.LastIndex(e.Key, "node_modules/")+len("node_modules/"):]
	}
	n := Node{
		Name: name, Version: e.TextOf("version"), Line: e.Line, Dev: e.Get("dev").True(),
		Licenses: e.Get("license").Strings(), Foreign: fromRepository(resolved),
	}
	if isLocal(resolved) && !isArchive(resolved) {
		n.Local = true
	}
	if strings.Contains(n.Version, ":") {
		n.Foreign, n.Version = true, "" // an address; the version is in its package.json
	}
	return n
}

// fromRepository reports whether an address is one of a version control system.
func fromRepository(address string) bool {
	// Such a package is not from the registry: the advisories of its name may not apply to it.
	for _, mark := range []string{"git+", "git:", "git@", "github:", "gitlab:", "bitbucket:", "codeload.github.com",
		".git#"} {
		if strings.Contains(address, mark) {
			return true
		}
	}
	return false
}

// npmLink links to where Node finds a package that is asked for at a place: in the
// folder node_modules there, else in one above.
func (b *builder) npmLink(from int, place string, d requirement) {
	// No real path has 100 levels; the limit ends the walk for a path that does not shrink.
	for dir, depth := place, 0; depth < 100; depth++ {
		if b.addEdge(from, d.dev, path.Join(dir, "node_modules", d.name)) || dir == "" {
			return
		}
		// Above "a/node_modules/b" the next folder to try is "a", not "a/node_modules".
		if dir = path.Dir(dir); path.Base(dir) == "node_modules" {
			dir = path.Dir(dir)
		}
		if dir == "." || dir == "/" {
			dir = ""
		}
	}
}

// readNPMNested reads version 1, whose entries are in each other. It does not say what the
// project requires, so the manifest beside it is read.
func (b *builder) readNPMNested(n *document.Node) error {
	root := -1
	if asks, ok := b.readPackageJSON(b.siblingPath("package.json")); ok {
		b.Rooted = true
		root = b.addNode(Node{Local: true, Manifest: b.siblingPath("package.json")})
		// The project is the first node but links to packages that are added below, so its links
		// come at the end.
		defer func() {
			for _, d := range asks {
				b.npmLink(root, "", d)
			}
		}()
	}
	type entry struct {
		document.Member
		place string
		at    int
	}
	var all []entry
	var collect func(list *document.Node, place string) error
	collect = func(list *document.Node, place string) error {
		for _, e := range list.Members() {
			if e.Kind != document.Map {
				return fmt.Errorf("dependencies: %q is no object", e.Key)
			}
			node, err := npmOldNode(e)
			if err != nil {
				return err
			}
			// Version 1 nests as the folders do; the path makes one lookup for both versions.
			in := path.Join(place, "node_modules", e.Key)
			all = append(all, entry{e, in, b.addNode(node, in)})
			if err := collect(e.Get("dependencies"), in); err != nil {
				return err
			}
		}
		return nil
	}
	if err := collect(n.Get("dependencies"), ""); err != nil {
		return err
	}
	for _, e := range all {
		for _, d := range e.Get("requires").Members() {
			b.npmLink(e.at, e.place, requirement{name: d.Key})
		}
	}
	return nil
}

// npmOldNode makes the node of an entry of version 1.
func npmOldNode(e document.Member) (Node, error) {
	n := Node{Name: e.Key, Version: e.TextOf("version"), Line: e.Line, Dev: e.Get("dev").True()}
	if alias, ok := strings.CutPrefix(n.Version, "npm:"); ok { // "npm:string-width@4.2.0"
		if n.Name, n.Version = cutLast(alias, "@"); n.Version == "" {
			return n, fmt.Errorf("dependencies: %q has no version", alias)
		}
	}
	switch {
	case isLocal(n.Version):
		n.Local = true
	case strings.Contains(n.Version, ":"):
		n.Foreign, n.Version = true, ""
	case fromRepository(e.TextOf("resolved")):
		n.Foreign = true
	}
	return n, nil
}

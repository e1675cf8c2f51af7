package lock

import (
	"errors"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sca/inventory/manifest"
)

// readPubspec reads pubspec.lock (https://dart.dev/tools/pub/glossary#lockfile), which
// says what is direct, but not which package brought which.
func readPubspec(b *builder) error {
	n, err := document.ParseBlockYAML(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	b.Marked, b.Rooted = true, true
	root := b.addNode(Node{Local: true, Manifest: b.siblingPath("pubspec.yaml")})
	for _, e := range n.Get("packages").Members() {
		// "direct main", "direct dev", "direct overridden" or "transitive"; the source is "hosted",
		// "git", "path" or "sdk".
		how, source := e.TextOf("dependency"), e.TextOf("source")
		b.addNode(Node{Name: e.Key, Version: e.TextOf("version"), Line: e.Line, Dev: how == "direct dev",
			Local: source == "path" || source == "sdk", Foreign: source == "git"}, e.Key)
		if strings.HasPrefix(how, "direct") {
			b.addEdge(root, how == "direct dev", e.Key)
		}
	}
	return nil
}

// readPodfile reads Podfile.lock
// (https://guides.cocoapods.org/using/using-cocoapods.html). A pod may have parts,
// "Name/Part", which are published as one package.
func readPodfile(b *builder) error {
	n, err := document.ParseBlockYAML(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	// Pods from a path or a repository, by name; absent when all come from the trunk.
	external := n.Get("EXTERNAL SOURCES")
	type edge struct {
		from int
		name string
	}
	var edges []edge
	for _, item := range n.Get("PODS").Members() {
		// "- Name (1.0)" alone, or a map with the pods that it requires.
		text, line := item.Value, item.Line
		if pairs := item.Pairs(); len(pairs) > 0 {
			text, line = pairs[0].Key, pairs[0].Line
		}
		name, version, ok := strings.Cut(strings.Trim(text, `"`), " (")
		if !ok {
			b.addBroken(line)
			continue
		}
		pod, _, _ := strings.Cut(name, "/")
		source := external.Get(pod)
		node := Node{Name: pod, Version: strings.TrimSuffix(version, ")"), Line: line,
			Local: source.Get(":path") != nil, Foreign: source != nil && source.Get(":path") == nil}
		at := b.addNode(node, name)
		if pairs := item.Pairs(); len(pairs) > 0 {
			for _, d := range pairs[0].Value.Members() {
				dep, _, _ := strings.Cut(strings.Trim(d.Value, `"`), " (")
				edges = append(edges, edge{at, dep})
			}
		}
	}
	for _, e := range edges {
		b.addEdge(e.from, false, e.name)
	}
	root := b.addNode(Node{Local: true, Manifest: b.siblingPath("Podfile")})
	for _, d := range n.Get("DEPENDENCIES").Strings() {
		name, _, _ := strings.Cut(strings.Trim(d, `"`), " (")
		b.Rooted = true
		b.addEdge(root, false, strings.TrimSpace(name))
	}
	return nil
}

// readSwift reads Package.resolved of the versions 1 to 3
// (https://github.com/swiftlang/swift-package-manager/blob/main/Sources/PackageGraph/ResolvedPackagesStore.swift),
// which says neither what is direct nor which package brought which. The manifest beside
// it says the first.
func readSwift(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	if n.Kind != document.Map {
		return errors.New("an object was expected")
	}
	pins := n.Get("pins")
	if pins == nil { // version 1
		pins = n.At("object", "pins")
	}
	for _, e := range pins.Members() {
		address := e.Get("location")
		if address.Text() == "" {
			address = e.Get("repositoryURL")
		}
		// A pin of a branch or commit has no version: it is reported as one without.
		node := Node{Name: manifest.SwiftName(address.Text()), Version: e.At("state", "version").Text(),
			Line: address.LineOr(e.Line)}
		if node.Name == "" { // of a registry: scope.name
			node.Name, node.Line = e.TextOf("identity"), e.Get("identity").LineOr(e.Line)
		}
		kind := e.TextOf("kind")
		node.Local = isLocal(address.Text()) || kind == "localSourceControl" || kind == "fileSystem"
		b.addNode(node, strings.ToLower(node.Name))
	}
	project := b.siblingPath("Package.swift")
	asks, err := manifest.Swift(b.Read(project))
	if err != nil {
		return err
	}
	root := b.addNode(Node{Local: true, Manifest: project})
	for _, r := range asks {
		if b.addEdge(root, r.Dev, strings.ToLower(r.Name)) {
			b.Rooted = true
		}
	}
	return nil
}

// readConan reads conan.lock, of version 1 of Conan (a graph) and of version 2 (lists)
// (https://docs.conan.io/2/tutorial/versioning/lockfiles.html).
func readConan(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	if n.Kind != document.Map {
		return errors.New("an object was expected")
	}
	if nodes := n.At("graph_lock", "nodes"); nodes != nil {
		return b.conanGraph(nodes)
	}
	b.Marked = true
	// build_requires are tools such as cmake: they run in the build and are not shipped.
	for _, section := range []string{"requires", "build_requires", "python_requires"} {
		for _, item := range n.Get(section).Members() {
			if name, version, ok := conanReference(item.Text()); ok {
				b.addNode(Node{Name: name, Version: version, Line: item.Line, Dev: section == "build_requires"}, name)
			}
		}
	}
	project := b.siblingPath("conanfile.txt")
	if b.Read(project) == nil {
		project = b.siblingPath("conanfile.py")
	}
	asks, err := manifest.Conan(b.Read(project))
	if err != nil {
		return err
	}
	root := b.addNode(Node{Local: true, Manifest: project})
	for _, r := range asks {
		if b.addEdge(root, r.Dev, r.Name) {
			b.Rooted = true
		}
	}
	return nil
}

// conanGraph reads the nodes of version 1; "0" is the project when it has no
// reference or says "conanfile".
func (b *builder) conanGraph(nodes *document.Node) error {
	members := nodes.Members()
	at := make([]int, len(members))
	for i, e := range members {
		reference := e.TextOf("ref")
		if reference == "" {
			reference = e.TextOf("pref")
		}
		name, version, ok := conanReference(reference)
		line := e.Get("ref").LineOr(e.Get("pref").LineOr(e.Line))
		node := Node{Name: name, Version: version, Line: line, Dev: e.TextOf("context") == "build"}
		if !ok || e.TextOf("path") != "" {
			node = Node{Local: true, Manifest: b.siblingPath("conanfile.txt")}
			b.Rooted = true
		}
		at[i] = b.addNode(node, e.Key)
	}
	for i, e := range members {
		for _, to := range e.Get("requires").Strings() {
			b.addEdge(at[i], false, to)
		}
		for _, to := range e.Get("build_requires").Strings() {
			b.addEdge(at[i], true, to)
		}
	}
	return nil
}

// conanReference reads name/version@user/channel#revision:package.
func conanReference(text string) (name, version string, ok bool) {
	// "%" precedes the timestamp of a revision in version 2: zlib/1.2.13#4e7f%1666619820.1.
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "@")
	text, _, _ = strings.Cut(text, "%")
	name, version, ok = strings.Cut(strings.TrimSpace(text), "/")
	return name, version, ok && name != "" && version != ""
}

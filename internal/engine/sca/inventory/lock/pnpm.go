package lock

import (
	"bytes"
	"errors"
	"path"
	"strings"

	"merlon/internal/document"
)

// readPnpm reads pnpm-lock.yaml of the versions 5, 6 and 9
// (https://github.com/pnpm/spec/tree/master/lockfile).
func readPnpm(b *builder) error {
	for _, part := range splitDocuments(b.Content) {
		n, err := document.ParseBlockYAML(part, document.PackageLimits)
		if err != nil {
			return err
		}
		if err := b.readPnpmDocument(n); err != nil {
			return err
		}
	}
	return nil
}

// maxDocuments bounds the documents of a file; pnpm writes two.
const maxDocuments = 16

// splitDocuments splits a file of several documents, of which the first one is about pnpm
// itself. In front of each are as many empty lines as there were lines.
func splitDocuments(content []byte) [][]byte {
	var out [][]byte
	lines := 0
	for len(out) < maxDocuments-1 {
		rest := bytes.TrimPrefix(content, []byte("---\n"))
		i := bytes.Index(rest, []byte("\n---\n"))
		if i < 0 {
			break
		}
		end := len(content) - len(rest) + i + 1
		out = append(out, append(bytes.Repeat([]byte("\n"), lines), content[:end]...))
		lines += bytes.Count(content[:end], []byte("\n"))
		content = content[end:]
	}
	return append(out, append(bytes.Repeat([]byte("\n"), lines), content...))
}

// readPnpmDocument reads one document of a lock file.
func (b *builder) readPnpmDocument(n *document.Node) error {
	version := n.TextOf("lockfileVersion")
	if version == "" {
		return errors.New("has no lockfileVersion")
	}
	packages, snapshots := n.Get("packages").Members(), n.Get("snapshots")
	// Until version 6 entries have "dev: true"; version 9 leaves it out.
	b.Marked = snapshots == nil
	at := make([]int, len(packages))
	for i, e := range packages {
		at[i] = b.addNode(pnpmNode(e, strings.HasPrefix(version, "5")), e.Key, strings.TrimPrefix(e.Key, "/"))
	}
	from := func(i int) int { return at[i] }
	if snapshots != nil { // version 9: what is asked for stands apart, by peers
		packages = snapshots.Members()
		from = func(i int) int { return b.snapshotNode(packages[i].Key) }
	}
	for i, e := range packages {
		node := from(i)
		if node < 0 {
			continue
		}
		for _, section := range []string{"dependencies", "optionalDependencies"} {
			for _, d := range e.Get(section).Members() {
				b.addEdge(node, false, pnpmKeys(d.Key, d.Text())...)
			}
		}
	}
	importers := []document.Member{{Key: ".", Node: n}} // a file without importers is of one project
	if all := n.Get("importers"); all != nil {
		importers = all.Members()
	}
	for _, m := range importers {
		b.addPnpmImporter(m)
	}
	return nil
}

// snapshotNode returns the node of a snapshot: the key without its peers.
func (b *builder) snapshotNode(key string) int {
	if i := strings.IndexByte(key, '('); i > 0 {
		key = key[:i]
	}
	if at, ok := b.index[key]; ok {
		return at
	}
	return -1
}

// addPnpmImporter adds a part of the project with what it requires.
func (b *builder) addPnpmImporter(e document.Member) {
	b.Rooted = true
	root := b.addNode(Node{Local: true, Manifest: b.siblingPath(path.Join(e.Key, "package.json"))})
	for _, section := range []string{"dependencies", "optionalDependencies", "devDependencies"} {
		for _, d := range e.Get(section).Members() {
			version := d.Text()
			if d.Kind == document.Map { // version 6 and later
				version = d.TextOf("version")
			}
			// "link:../shared" is another project of the workspace.
			if isLocal(version) && !strings.HasPrefix(version, "/") && !isArchive(version) {
				continue
			}
			if b.addEdge(root, section == "devDependencies", pnpmKeys(d.Key, version)...) || version == "" ||
				version[0] < '0' || version[0] > '9' {
				continue
			}
			// A file that was cut, or merged by hand: what is asked for is known all the same.
			version, _, _ = strings.Cut(version, "(")
			version, _, _ = strings.Cut(version, "_")
			b.addNode(Node{Name: d.Key, Version: version, Line: d.Line, Dev: section == "devDependencies"}, d.Key+"@"+
				version)
			b.addEdge(root, section == "devDependencies", d.Key+"@"+version)
		}
	}
}

// pnpmKeys returns the keys under which a package may stand that is asked for by
// name and version.
func pnpmKeys(name, version string) []string {
	bare := version
	if i := strings.IndexByte(bare, '('); i > 0 {
		bare = bare[:i]
	}
	// The forms of the versions: "/name/1.0.0" (5), "/name@1.0.0(peer@2.0.0)" (6), "name@1.0.0"
	// (9). The first key that exists is used.
	keys := []string{version, bare, name + "@" + version, name + "@" + bare, name + "/" + version, name + "/" + bare}
	if strings.HasPrefix(version, "/") {
		keys = append(keys, version[1:], bare[1:])
	}
	return keys
}

// pnpmNode makes the node of a package.
func pnpmNode(e document.Member, five bool) Node {
	key := pnpmPackageKey(e.Key)
	n := Node{Line: e.Line, Dev: e.Get("dev").True()}
	if five { // name/1.2.3_peer@4
		n.Name, n.Version = cutLast(key, "/")
		if i := strings.IndexByte(n.Version, '_'); i > 0 {
			n.Version = n.Version[:i]
		}
	} else {
		n.Name, n.Version = cutName(key)
	}
	// Packages from tarballs and repositories have an address as key and say both themselves.
	if name, version := e.TextOf("name"), e.TextOf("version"); name != "" {
		n.Name, n.Version = name, version
	} else if version != "" && !five {
		n.Version = version
	}
	resolution := e.Get("resolution")
	switch {
	case resolution.TextOf("type") == "directory", strings.HasPrefix(e.Key, "file:") && !isArchive(key),
		strings.Contains(e.Key, "@file:") && !isArchive(key), strings.Contains(e.Key, "@link:"):
		n.Local = true
	case resolution.TextOf("type") == "git", resolution.TextOf("repo") != "",
		fromRepository(resolution.TextOf("tarball")), fromRepository(n.Version):
		n.Foreign = true
	}
	if strings.Contains(n.Version, ":") {
		n.Foreign, n.Version = true, ""
	}
	return n
}

// pnpmPackageKey returns the key of a package without its peers and the host of another
// registry: "registry.example.org/name/1.2.3".
func pnpmPackageKey(written string) string {
	key := strings.TrimPrefix(written, "/")
	if i := strings.IndexByte(key, '('); i > 0 {
		key = key[:i]
	}
	host, rest, ok := strings.Cut(key, "/")
	if ok && !strings.HasPrefix(written, "/") && strings.Contains(host, ".") && !strings.ContainsAny(host, "@:") &&
		!repositoryHosts[host] {
		return rest
	}
	return key
}

// repositoryHosts begin the key of a package that comes from a repository.
var repositoryHosts = map[string]bool{"github.com": true, "gitlab.com": true, "bitbucket.org": true,
	"codeload.github.com": true}

// isArchive reports whether a path is a packed package, which is not part of the project.
func isArchive(place string) bool {
	return strings.HasSuffix(place, ".tgz") || strings.HasSuffix(place, ".tar.gz")
}

package lock

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"merlon/internal/document"
)

// readYarnLock reads yarn.lock, of version 1
// (https://classic.yarnpkg.com/lang/en/docs/yarn-lock/) and of later ones, which are YAML.
func readYarnLock(b *builder) error {
	if bytes.Contains(b.Content, []byte("\n__metadata:")) || bytes.HasPrefix(b.Content, []byte("__metadata:")) {
		return b.readYarnBerry()
	}
	return b.readYarnClassic()
}

// A yarnEntry is an entry of version 1.
type yarnEntry struct {
	// "lodash@^4.17.0", several for ranges that resolve to one version
	keys []string
	// resolved is the address of the archive; "" for a workspace
	version, resolved string
	// dependencies and optional ones
	deps []requirement
	// of the keys
	line int
}

// readYarnClassic reads version 1. Entries name their dependencies by the keys of other
// entries.
func (b *builder) readYarnClassic() error {
	entries, err := parseYarn(string(b.Content))
	if err != nil {
		return err
	}
	at := make([]int, len(entries))
	for i, e := range entries {
		if len(e.keys) == 0 {
			continue
		}
		// All keys of an entry have one name, so the first is enough.
		name, wanted := cutName(e.keys[0])
		if real, ok := strings.CutPrefix(wanted, "npm:"); ok { // an alias
			name, wanted = cutName(real)
		}
		n := Node{Name: name, Version: e.version, Line: e.line, Foreign: fromRepository(e.resolved) ||
			fromRepository(wanted)}
		n.Local = isLocal(wanted) && !strings.HasSuffix(wanted, ".tgz") && !strings.HasPrefix(e.resolved, "http")
		at[i] = b.addNode(n, e.keys...)
	}
	for i, e := range entries {
		for _, d := range e.deps {
			b.addEdge(at[i], false, d.name+"@"+d.wanted)
		}
	}
	// Version 1 does not list the workspaces, so every manifest below is taken for one.
	for _, manifest := range b.Below("package.json") {
		asks, ok := b.readPackageJSON(manifest)
		if !ok {
			continue
		}
		root := b.addNode(Node{Local: true, Manifest: manifest})
		for _, d := range asks {
			if b.addEdge(root, d.dev, d.name+"@"+d.wanted) {
				b.Rooted = true
			}
		}
	}
	return nil
}

// parseYarn reads the text of version 1.
func parseYarn(text string) ([]yarnEntry, error) {
	var out []yarnEntry
	inDeps, line := false, 0
	for raw := range strings.Lines(text) {
		line++
		raw = strings.TrimRight(raw, " \r\n")
		body := strings.TrimLeft(raw, " ")
		if body == "" || body[0] == '#' {
			continue
		}
		indent := len(raw) - len(body)
		if indent == 0 {
			keys, ok := strings.CutSuffix(body, ":")
			if !ok {
				return nil, fmt.Errorf("line %d: a name with a colon was expected", line)
			}
			out = append(out, newYarnEntry(keys, line))
			inDeps = false
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("line %d: an indented line belongs to nothing", line)
		}
		e := &out[len(out)-1]
		key, value := yarnPair(body)
		switch {
		case indent == 2 && strings.HasSuffix(body, ":"):
			// "peerDependencies:" and others are no edges: what they name is installed by somebody
			// else.
			inDeps = body == "dependencies:" || body == "optionalDependencies:"
		case indent == 2 && key == "version":
			e.version = value
		case indent == 2 && key == "resolved":
			e.resolved = value
		case indent == 4 && inDeps:
			e.deps = append(e.deps, requirement{name: key, wanted: value})
		}
	}
	return out, nil
}

// newYarnEntry reads the keys of an entry: "name@range, name@range".
func newYarnEntry(keys string, line int) yarnEntry {
	e := yarnEntry{line: line}
	for _, k := range strings.Split(keys, ", ") {
		if k = strings.Trim(k, `"`); k != "" {
			e.keys = append(e.keys, k)
		}
	}
	return e
}

// yarnPair cuts `key "value"`; both may be quoted.
func yarnPair(text string) (key, value string) {
	if rest, ok := strings.CutPrefix(text, `"`); ok {
		key, value, _ = strings.Cut(rest, `"`)
	} else {
		key, value, _ = strings.Cut(text, " ")
	}
	return key, strings.Trim(strings.TrimSpace(value), `"`)
}

// readYarnBerry reads version 2 and later (https://yarnpkg.com/protocols). The workspaces
// are entries of the file; what they require only in development is in their manifests.
func (b *builder) readYarnBerry() error {
	n, err := document.ParseBlockYAML(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	entries := n.Members()
	at := make([]int, len(entries))
	for i, e := range entries {
		// __metadata contains the version of the format and the cache key.
		if e.Key == "__metadata" || !e.IsMap() {
			at[i] = -1
			continue
		}
		resolution := e.TextOf("resolution")
		name, from := cutName(resolution)
		node := Node{Name: name, Version: e.TextOf("version"), Line: e.Line, Local: isLocal(from),
			Foreign: from != "" &&
				!strings.HasPrefix(from, "npm:") && !strings.HasPrefix(from, "patch:")}
		if dir, ok := strings.CutPrefix(from, "workspace:"); ok {
			b.Rooted = true
			node.Manifest = b.siblingPath(path.Join(dir, "package.json"))
		}
		if strings.HasPrefix(from, "patch:") { // the patched package; the one below it is an entry, too
			node.Name, _ = cutName(strings.TrimPrefix(from, "patch:"))
			node.Foreign = false
		}
		at[i] = b.addNode(node, strings.Split(e.Key, ", ")...)
	}
	for i, from := range at {
		if from < 0 {
			continue
		}
		develop := b.developOnly(from)
		for _, section := range []string{"dependencies", "optionalDependencies"} {
			for _, d := range entries[i].Get(section).Members() {
				wanted := d.Text()
				// Before Yarn 4 dependencies say "^1.0.0" where keys say "npm:^1.0.0"; since then both name
				// the protocol.
				b.addEdge(from, develop[d.Key], d.Key+"@"+wanted, d.Key+"@npm:"+wanted,
					patchedKey(entries[i].Key, d.Key, wanted))
			}
		}
	}
	return nil
}

// patchedKey is how a patch that is written in a manifest is named in the lock file: bound
// to the workspace that requires it.
func patchedKey(from, name, wanted string) string {
	if !strings.HasPrefix(wanted, "patch:") {
		return ""
	}
	return name + "@" + wanted + "::locator=" + strings.NewReplacer("@", "%40", ":", "%3A", "/", "%2F").Replace(from)
}

// developOnly returns the names that a workspace asks for in development only.
func (b *builder) developOnly(from int) map[string]bool {
	out := map[string]bool{}
	if manifest := b.Nodes[from].Manifest; manifest != "" {
		asks, _ := b.readPackageJSON(manifest)
		for i := len(asks) - 1; i >= 0; i-- { // what is shipped comes first and counts
			out[asks[i].name] = asks[i].dev
		}
	}
	return out
}

// cutName cuts "name@rest"; a name may begin with "@".
func cutName(s string) (name, rest string) {
	if s == "" {
		return "", ""
	}
	if i := strings.Index(s[1:], "@"); i >= 0 {
		return s[:i+1], s[i+2:]
	}
	return s, ""
}

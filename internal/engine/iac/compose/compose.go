// Package compose puts together what Docker Compose makes of a file: the files that it
// includes, the file that it is laid over, the services that its own extend, and the
// variables of the places. A value keeps the file and line in which it is written.
// Services of all profiles are part of it. Nothing is fetched.
//
// The format: https://docs.docker.com/reference/compose-file/.
package compose

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// Limits of one model.
const (
	maxDepth    = 20        // files that include, and services that extend, each other
	maxIncludes = 200       // inclusions
	maxFiles    = 100       // other files that are read
	maxValues   = 2_000_000 // values that are put into others
)

// A Source reads another file of the tree.
type Source func(name string) ([]byte, error)

// A Model is what Compose makes of a file.
type Model struct {
	document.Tree

	Parts []string       // the other files that it was put together of
	Gaps  []document.Gap // what was not followed

	// Fragment is set when no service of the file can be started: it is meant to be laid
	// over another one, or to be extended. A gap says so if it is not known over which.
	Fragment bool
}

// canonical are the names that Compose looks for, in its order. The others are those
// that people give what they lay other files over.
var canonical = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}

// usual are names of files that others are laid over by habit.
var usual = []string{"compose.base.yaml", "compose.base.yml", "docker-compose.base.yaml", "docker-compose.base.yml"}

// Load returns the model of a file of the tree.
func Load(file string, tree document.Tree, source Source) Model {
	l := &loader{source: source, main: file, trees: map[string]read{file: {tree: tree}}, left: maxIncludes,
		values: maxValues}
	env := &environment{source: source, files: []string{path.Join(path.Dir(file), ".env")}}
	parts := incompleteServices(tree)
	base := ""
	if parts != nil || strings.Contains(path.Base(file), ".override.") {
		base = l.baseFile(file)
	}
	over := l.buildModel(file, tree, env, nil)
	m := Model{Tree: over}
	switch {
	case base != "":
		under, err := l.readTree(base)
		if err != nil {
			break // it is told where the file itself is looked at
		}
		m.Tree = overlayTree(over, l.buildModel(base, under, env, nil))
	case document.ComposeName(file) && len(parts) > 0 && len(parts) == len(servicesOf(over.Root)) &&
		!slices.Contains(canonical, path.Base(file)):

		m.Fragment = true
		l.addGap(document.Gap{
			Code: "unavailable", Path: file, Line: fieldNode(tree.Lines, "services").Line, Alone: true,
			Message: "its services have neither an image nor a build: it is laid over a file that is not beside it",
		})
	}
	for name, r := range l.trees {
		if name != file && r.err == nil {
			m.Parts = append(m.Parts, name)
		}
	}
	slices.Sort(m.Parts)
	m.Gaps = l.gaps
	return m
}

// servicesOf returns the services of a model.
func servicesOf(root map[string]any) map[string]any {
	m, _ := root["services"].(map[string]any)
	return m
}

// fieldNode returns the node of a field, or an empty one.
func fieldNode(n *document.Node, key string) *document.Node {
	if n == nil || n.Fields[key] == nil {
		return &document.Node{}
	}
	return n.Fields[key]
}

// incompleteServices returns the names of the services that cannot be started as they are
// written.
func incompleteServices(tree document.Tree) []string {
	var out []string
	for name, v := range servicesOf(tree.Root) {
		s, ok := v.(map[string]any)
		if ok && s["image"] == nil && s["build"] == nil && s["extends"] == nil && s["provider"] == nil {
			out = append(out, name)
		}
	}
	return out
}

// baseFile returns the file beside this one that it is laid over, "" when there is none.
func (l *loader) baseFile(file string) string {
	if !document.ComposeName(file) || slices.Contains(canonical, path.Base(file)) {
		return ""
	}
	for _, name := range slices.Concat(canonical, usual) {
		name = path.Join(path.Dir(file), name)
		if name == file {
			continue
		}
		if _, err := l.readTree(name); err == nil {
			return name
		}
		delete(l.trees, name)
	}
	return ""
}

// A loader loads one model.
type loader struct {
	source Source
	main   string
	trees  map[string]read
	gaps   []document.Gap
	left   int // inclusions
	values int // values that may be put into others
}

// A read is a file that was read, or why it was not.
type read struct {
	tree document.Tree
	err  error
}

// addGap records what is not followed.
func (l *loader) addGap(g document.Gap) {
	if !slices.Contains(l.gaps, g) {
		l.gaps = append(l.gaps, g)
	}
}

// spendValues counts the values below a node; it is false when there were too many.
func (l *loader) spendValues(n *document.Node) bool {
	if l.values--; n == nil || l.values < 0 {
		return l.values >= 0
	}
	for _, below := range n.Fields {
		if !l.spendValues(below) {
			return false
		}
	}
	for _, below := range n.Items {
		if !l.spendValues(below) {
			return false
		}
	}
	return true
}

// readTree returns the content of a file of the tree.
func (l *loader) readTree(name string) (document.Tree, error) {
	if r, ok := l.trees[name]; ok {
		return r.tree, r.err
	}
	if len(l.trees) > maxFiles {
		return document.Tree{}, fmt.Errorf("more than %d files", maxFiles)
	}
	var r read
	switch text, err := l.source(name); {
	case err != nil:
		r.err = errElsewhere
	default:
		trees, err := document.DecodeYAML(text)
		if len(trees) > 0 {
			r.tree = trees[0]
		} else if r.err = err; err == nil {
			r.tree = document.Tree{Root: map[string]any{}, Lines: &document.Node{Line: 1}}
		}
	}
	l.trees[name] = r
	return r.tree, r.err
}

// errElsewhere is why most files cannot be read.
var errElsewhere = errors.New("it is not part of the tree, and nothing is fetched")

// readReferenced reads the file that a text in another file names, and returns its path.
func (l *loader) readReferenced(dir, text string) (string, document.Tree, error) {
	switch {
	case strings.Contains(text, "://"), strings.HasPrefix(text, "git@"):
		return "", document.Tree{}, errElsewhere
	case strings.Contains(text, "$"):
		return "", document.Tree{}, fmt.Errorf("the value of its variable is not known")
	}
	name := path.Join(dir, text)
	if path.IsAbs(text) || !fs.ValidPath(name) {
		return "", document.Tree{}, fmt.Errorf("it lies outside of the tree")
	}
	tree, err := l.readTree(name)
	return name, tree, err
}

// buildModel returns the file with its variables, with what its services extend and with
// what it includes; chain is the files that include it.
func (l *loader) buildModel(file string, tree document.Tree, env *environment, chain []string) document.Tree {
	tree = env.interpolateTree(tree)
	if whole, changed := l.extendServices(tree, file); changed {
		tree = env.interpolateTree(whole)
	}
	if file != l.main {
		tree.Lines = tree.Lines.In(file)
	}
	chain = append(slices.Clone(chain), file)
	list, _ := tree.Root["include"].([]any)
	nodes := fieldNode(tree.Lines, "include").Items
	for i, entry := range list {
		if i < len(nodes) {
			tree = l.addInclusion(tree, inclusion{entry, nodes[i], chain}, env)
		}
	}
	return tree
}

// An inclusion is an entry of "include" with its place and the files that lead to it,
// the last of which it stands in.
type inclusion struct {
	entry any
	node  *document.Node
	chain []string
}

// addInclusion adds the models of an entry of "include". See
// https://docs.docker.com/reference/compose-file/include/.
func (l *loader) addInclusion(tree document.Tree, in inclusion, env *environment) document.Tree {
	names, dir, files := entryOf(in.entry)
	n, file := in.node, in.chain[len(in.chain)-1]
	tell := func(code, format string, args ...any) {
		l.addGap(document.Gap{Code: code, Path: cmp.Or(n.Path, file), Line: n.Line,
			Message: fmt.Sprintf(format, args...)})
	}
	if len(names) == 0 {
		tell("malformed", "the entry of include names no file")
		return tree
	}
	var whole document.Tree
	var inner *environment
	for _, text := range names {
		name, part, err := l.readReferenced(path.Dir(file), text)
		if err != nil {
			tell("unavailable", "the included file %s is not analyzed: %v", text, err)
			continue
		}
		if l.left--; l.left < 0 || len(in.chain) > maxDepth || slices.Contains(in.chain, name) ||
			!l.spendValues(part.Lines) {
			tell("too-complex", "files include each other in a circle, too deeply or too often")
			return tree
		}
		if inner == nil {
			inner = env.withFiles(path.Join(path.Dir(file), cmp.Or(dir, path.Dir(text))), path.Dir(file), files)
		}
		part = l.buildModel(name, part, inner, in.chain)
		if whole.Root == nil {
			whole = part
		} else {
			whole = overlayTree(part, whole)
		}
	}
	return addMissing(tree, whole)
}

// entryOf reads an entry of "include": its files, the folder of the project and the
// files of variables.
func entryOf(entry any) (files []string, dir string, env []string) {
	m, ok := entry.(map[string]any)
	if !ok {
		return textsOf(entry), "", nil
	}
	dir, _ = m["project_directory"].(string)
	return textsOf(m["path"]), dir, textsOf(m["env_file"])
}

// textsOf returns a text or a list of texts as a list.
func textsOf(v any) []string {
	if s, ok := v.(string); ok && s != "" {
		return []string{s}
	}
	var out []string
	list, _ := v.([]any)
	for _, e := range list {
		if s, ok := e.(string); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}

// sections are the maps of a file whose entries an inclusion adds.
var sections = []string{"services", "networks", "volumes", "secrets", "configs", "models"}

// addMissing adds what another model has and this one does not.
func addMissing(tree, other document.Tree) document.Tree {
	if other.Root == nil || tree.Lines == nil || other.Lines == nil {
		return tree
	}
	root, lines := maps.Clone(tree.Root), *tree.Lines
	lines.Fields = maps.Clone(tree.Lines.Fields)
	for _, section := range sections {
		theirs, ok := other.Root[section].(map[string]any)
		places := other.Lines.Fields[section]
		if !ok || places == nil {
			continue
		}
		mine, isMap := root[section].(map[string]any)
		if !isMap {
			if root[section] == nil {
				root[section], lines.Fields[section] = theirs, places
			}
			continue
		}
		out, node := maps.Clone(theirs), *fieldNode(&lines, section)
		maps.Copy(out, mine)
		fields := maps.Clone(places.Fields)
		maps.Copy(fields, node.Fields)
		node.Fields = fields
		root[section], lines.Fields[section] = out, &node
	}
	return document.Tree{Root: root, Lines: &lines}
}

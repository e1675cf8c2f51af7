// Package kustomize builds what a kustomization.yaml describes, in process and from
// the tree alone: resources, bases and components, patches, generators and the
// fields that change all objects. A value keeps the place where it is written: in
// the resource's own file, in the patch that set it, or in the kustomization.
//
// The fields: https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/.
package kustomize

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/iac/document"
)

// Limits of one build.
const (
	maxDepth   = 20     // kustomizations inside of each other
	maxFiles   = 2000   // files read for one kustomization, each time counted
	maxReads   = 20_000 // files read for all of them
	maxObjects = 10_000 // objects
	maxText    = 64 << 10
)

// A Problem is a part of a kustomization that was not looked at.
type Problem struct {
	Code    string // that of a reason: "unavailable", "unknown-value"; "" is "malformed"
	Path    string // relative to the root of the tree
	Line    int    // 0 when it is not known
	Message string
}

// An object is a resource with its places. Where a node names no file it is
// written in the object's own.
type object struct {
	// shared between objects: changes replace it by a copy
	root  map[string]any
	lines *document.Node
	path  string
	// of the document in its file, from 0
	index   int
	names   []string // all that it was called
	changed bool     // its content is not what its file says
	copied  int      // values that replacements put into it
}

// IsKustomization reports whether the file is a kustomization, by its name.
func IsKustomization(name string) bool {
	switch path.Base(name) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return true
	}
	return false
}

// Documents builds the kustomizations among the files that no other one uses, and
// returns the objects whose content differs from their files: patched, generated,
// with another image. All others are what their files say. A document's unit is
// the folder of the kustomization.
func Documents(tree fs.FS, paths []string) ([]*document.Document, []Problem) {
	b := &builder{tree: tree, paths: paths, files: map[string]string{}, used: map[string]bool{}, decoded: map[string]decodedFile{},
		rendered: map[string][]*object{}}
	var dirs []string
	for _, p := range paths {
		if IsKustomization(p) {
			b.files[path.Dir(p)] = p
			dirs = append(dirs, path.Dir(p))
		}
	}
	built, vars := map[string][]*object{}, map[string][]variable{}
	b.total = maxReads
	for _, dir := range dirs {
		b.left, b.vars = maxFiles, nil
		objects, err := b.buildObjects(dir, 0)
		if err != nil {
			b.addProblem(b.files[dir], 0, "%w", err)
		}
		built[dir], vars[dir] = objects, b.vars
	}
	var docs []*document.Document
	for _, dir := range dirs {
		if b.used[dir] {
			continue
		}
		b.substituteVars(vars[dir], built[dir])
		for _, o := range built[dir] {
			if !o.changed {
				continue
			}
			for _, platform := range document.Detect(o.path, o.root) {
				docs = append(docs, &document.Document{
					Platform: platform, Format: document.Kustomize, Path: o.path, Index: o.index, Unit: dir,
					Root: o.root, Lines: o.lines,
				})
			}
		}
	}
	return docs, b.uniqueProblems()
}

// A builder builds kustomizations of one tree.
type builder struct {
	tree  fs.FS
	paths []string          // of the tree, sorted
	files map[string]string // kustomization by folder

	decoded map[string]decodedFile // files of resources by path
	used    map[string]bool        // folders that another kustomization uses
	open    []string               // folders that are being built
	left    int                    // files that may be read for this one
	total   int                    // files that may be read
	told    []Problem

	chosen   int                  // objects that selectors of replacements looked at
	taken    int                  // values that replacements took
	rendered map[string][]*object // of charts, by kustomization
	until    time.Time            // when no further chart is rendered
	vars     []variable           // variables of the one that is built
}

// errAbsent is why what others hold is not looked at.
var errAbsent = errors.New("not fetched")

// addProblem records what was not analyzed. What is not part of the tree is unavailable,
// all else malformed.
func (b *builder) addProblem(p string, line int, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	one := Problem{Path: p, Line: line, Message: err.Error()}
	if errors.Is(err, errAbsent) || errors.Is(err, fs.ErrNotExist) {
		one.Code = "unavailable"
	}
	b.told = append(b.told, one)
}

// uniqueProblems returns each problem once: a base is built for each that uses it.
func (b *builder) uniqueProblems() []Problem {
	seen := map[Problem]bool{}
	var out []Problem
	for _, p := range b.told {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// A kustomization is the file's fields.
type kustomization struct {
	path  string
	dir   string
	root  map[string]any
	lines *document.Node
	text  []string // lines of the file
}

// buildObjects returns the objects of the kustomization in the folder.
func (b *builder) buildObjects(dir string, depth int) ([]*object, error) {
	if depth > maxDepth || slices.Contains(b.open, dir) {
		return nil, fmt.Errorf("kustomizations use each other in a circle, or more than %d deep", maxDepth)
	}
	b.open = append(b.open, dir)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	k, err := b.loadKustomization(dir)
	if err != nil || k == nil || k.root["kind"] == "Component" {
		return nil, err // a component has no objects to change before it is used
	}
	var objects []*object
	// "bases" is deprecated and means the same.
	for _, field := range []string{"resources", "bases"} {
		for _, e := range k.listEntries(field) {
			more, err := b.readResource(k, e, depth)
			if err != nil {
				b.addProblem(k.path, e.lines.Line, "%w", err)
			}
			if objects = append(objects, more...); len(objects) > maxObjects {
				return nil, fmt.Errorf("more than %d objects", maxObjects)
			}
		}
	}
	objects = append(objects, b.renderCharts(k)...)
	objects = b.addGenerated(k, objects)
	for _, e := range k.listEntries("components") {
		if objects, err = b.applyComponent(k, e, objects, depth); err != nil {
			b.addProblem(k.path, e.lines.Line, "%w", err)
		}
	}
	b.applyFields(k, objects)
	return objects, nil
}

// loadKustomization reads the kustomization in the folder.
func (b *builder) loadKustomization(dir string) (*kustomization, error) {
	name, ok := b.files[dir]
	if !ok {
		return nil, fmt.Errorf("no kustomization in the folder %s of the tree", dir)
	}
	text, err := b.readFile(name)
	if err != nil {
		return nil, err
	}
	trees, err := document.DecodeYAML(text)
	if err != nil {
		return nil, err
	}
	if len(trees) == 0 {
		return nil, nil
	}
	k := &kustomization{path: name, dir: dir, root: trees[0].Root, lines: trees[0].Lines,
		text: strings.Split(string(text), "\n")}
	setFile(k.lines, name)
	// Plugins are programs: they are never run.
	for _, field := range []string{"helmChartInflationGenerator", "generators", "transformers", "validators"} {
		if n := k.lines.Fields[field]; n != nil {
			b.told = append(b.told, Problem{"unavailable", name, n.Line, strconv.Quote(field) + " is not followed: " +
				"what it creates or changes is not analyzed"})
		}
	}
	return k, nil
}

// countRead counts a file that a kustomization uses, within the limits.
func (b *builder) countRead() error {
	b.left--
	if b.total--; b.left < 0 || b.total < 0 {
		return fmt.Errorf("more than %d files for one kustomization, or %d for all", maxFiles, maxReads)
	}
	return nil
}

// readFile returns a file of the tree.
func (b *builder) readFile(name string) ([]byte, error) {
	if err := b.countRead(); err != nil {
		return nil, err
	}
	f, err := b.tree.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read from
	text, err := io.ReadAll(io.LimitReader(f, document.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	return text, nil // the decoder refuses what is too large
}

// An entry is one item of a list in the kustomization.
type entry struct {
	value any
	lines *document.Node
}

// listEntries returns the items of a list.
func (k *kustomization) listEntries(field string) []entry {
	return itemsOf(k.root[field], k.lines.Fields[field])
}

// itemsOf returns the items of a list with their positions.
func itemsOf(v any, lines *document.Node) []entry {
	list, _ := v.([]any)
	var out []entry
	for i, one := range list {
		if lines != nil && i < len(lines.Items) {
			out = append(out, entry{one, lines.Items[i]})
		}
	}
	return out
}

// localPath returns the path that an entry names, relative to the root of the tree.
// Addresses are never fetched.
func (k *kustomization) localPath(e entry) (string, error) {
	s, ok := e.value.(string)
	if !ok || s == "" {
		return "", errors.New("the entry is no path")
	}
	// Remote bases: "https://…", "git@github.com:…", "github.com/owner/name//path?ref=v1".
	if strings.Contains(s, "://") || strings.HasPrefix(s, "git@") || strings.HasPrefix(s, "github.com/") ||
		strings.Contains(s, "?ref=") {
		return "", fmt.Errorf("%s is %w", s, errAbsent)
	}
	p := path.Join(k.dir, s)
	if path.IsAbs(s) || !fs.ValidPath(p) {
		return "", fmt.Errorf("%s is outside of the tree", s)
	}
	return p, nil
}

// readResource returns the objects of one entry of "resources".
func (b *builder) readResource(k *kustomization, e entry, depth int) ([]*object, error) {
	p, err := k.localPath(e)
	if err != nil {
		return nil, err
	}
	if _, ok := b.files[p]; ok {
		b.used[p] = true
		return b.buildObjects(p, depth+1)
	}
	trees, err := b.decodeResources(p)
	if err != nil && trees == nil {
		return nil, err
	}
	var out []*object
	for i, t := range trees {
		for _, o := range expandList(t) {
			o.path, o.index = p, i
			o.names = []string{o.name()}
			out = append(out, o)
		}
	}
	if err != nil {
		b.addProblem(p, 0, "%v", err)
	}
	return out, nil
}

// decodeResources returns the documents of a file, decoded once for all kustomizations that use it:
// objects share them until they are changed. The documents before a fault come with the error.
func (b *builder) decodeResources(p string) ([]document.Tree, error) {
	if have, ok := b.decoded[p]; ok {
		if err := b.countRead(); err != nil {
			return nil, err
		}
		return have.trees, have.err
	}
	text, err := b.readFile(p)
	if err != nil {
		return nil, err
	}
	trees, err := document.DecodeYAML(text)
	if trees == nil {
		trees = []document.Tree{} // the file was read
	}
	b.decoded[p] = decodedFile{trees, err}
	return trees, err
}

// decodedFile is what a file of resources holds.
type decodedFile struct {
	trees []document.Tree
	err   error
}

// expandList returns the objects of a document; a List has several.
func expandList(t document.Tree) []*object {
	if kind, _ := t.Root["kind"].(string); !strings.HasSuffix(kind, "List") || t.Root["items"] == nil {
		return []*object{{root: t.Root, lines: t.Lines}}
	}
	var out []*object
	for _, e := range itemsOf(t.Root["items"], t.Lines.Fields["items"]) {
		if root, ok := e.value.(map[string]any); ok {
			out = append(out, &object{root: root, lines: e.lines})
		}
	}
	return out
}

// applyComponent applies a component to the objects.
func (b *builder) applyComponent(k *kustomization, e entry, objects []*object, depth int) ([]*object, error) {
	p, err := k.localPath(e)
	if err != nil {
		return objects, err
	}
	b.used[p] = true
	if depth > maxDepth || slices.Contains(b.open, p) {
		return objects, errors.New("components use each other in a circle")
	}
	c, err := b.loadKustomization(p)
	if err != nil || c == nil {
		return objects, err
	}
	b.open = append(b.open, p)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	for _, r := range c.listEntries("resources") {
		more, err := b.readResource(c, r, depth+1)
		if err != nil {
			b.addProblem(c.path, r.lines.Line, "%w", err)
		}
		objects = append(objects, more...)
	}
	objects = append(objects, b.renderCharts(c)...)
	objects = b.addGenerated(c, objects)
	for _, inner := range c.listEntries("components") {
		if objects, err = b.applyComponent(c, inner, objects, depth+1); err != nil {
			b.addProblem(c.path, inner.lines.Line, "%w", err)
		}
	}
	b.applyFields(c, objects)
	return objects, nil
}

// setFile writes the file into all nodes that name none.
func setFile(n *document.Node, file string) {
	if n == nil {
		return
	}
	if n.Path == "" {
		n.Path = file
	}
	for _, below := range n.Fields {
		setFile(below, file)
	}
	for _, below := range n.Items {
		setFile(below, file)
	}
}

// kind returns the object's kind.
func (o *object) kind() string { s, _ := o.root["kind"].(string); return s }

// metadata returns the map that has the object's name.
func (o *object) metadata() map[string]any {
	m, _ := o.root["metadata"].(map[string]any)
	return m
}

// name returns the object's name.
func (o *object) name() string { s, _ := o.metadata()["name"].(string); return s }

// decodeText reads YAML that is text in the kustomization, and moves its lines there.
func (k *kustomization) decodeText(text string, at *document.Node) ([]document.Tree, error) {
	trees, err := document.DecodeYAML([]byte(text))
	shift := at.Line - 1
	if at.Line >= 1 && at.Line <= len(k.text) {
		// A block begins on the line after its sign: "patch: |-".
		if l := strings.TrimRight(k.text[at.Line-1], " \t\r"); strings.HasSuffix(strings.TrimRight(l, "+-0123456789"),
			"|") || strings.HasSuffix(strings.TrimRight(l, "+-0123456789"), ">") {
			shift = at.Line
		}
	}
	for _, t := range trees {
		moveLines(t.Lines, shift, k.path)
	}
	return trees, err
}

// moveLines moves the nodes of a text in the kustomization to their lines in the file.
func moveLines(n *document.Node, lines int, file string) {
	if n == nil {
		return
	}
	n.Line, n.Column, n.Path = n.Line+lines, 0, file
	for _, below := range n.Fields {
		moveLines(below, lines, file)
	}
	for _, below := range n.Items {
		moveLines(below, lines, file)
	}
}

// selector is what "target" of a patch, or the patch itself, selects.
type selector struct {
	Kind, Group, Version, Name, Namespace string
	LabelSelector                         string
	AnnotationSelector                    string
}

// parseSelector reads the selector of a patch.
func parseSelector(v any) (selector, error) {
	var m selector
	text, err := yaml.Marshal(v)
	if err != nil {
		return m, fmt.Errorf("target: %w", err)
	}
	var t struct {
		Kind               string `yaml:"kind"`
		Group              string `yaml:"group"`
		Version            string `yaml:"version"`
		Name               string `yaml:"name"`
		Namespace          string `yaml:"namespace"`
		LabelSelector      string `yaml:"labelSelector"`
		AnnotationSelector string `yaml:"annotationSelector"`
	}
	if err := yaml.Unmarshal(text, &t); err != nil {
		return m, fmt.Errorf("target: %w", err)
	}
	return selector(t), nil
}

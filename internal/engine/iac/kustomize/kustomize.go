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
	root    map[string]any
	lines   *document.Node
	path    string
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
	b := &builder{tree: tree, paths: paths, files: map[string]string{}, used: map[string]bool{},
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
		objects, err := b.build(dir, 0)
		if err != nil {
			b.problem(b.files[dir], 0, "%w", err)
		}
		built[dir], vars[dir] = objects, b.vars
	}
	var docs []*document.Document
	for _, dir := range dirs {
		if b.used[dir] {
			continue
		}
		b.substitute(vars[dir], built[dir])
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
	return docs, b.problems()
}

// A builder builds kustomizations of one tree.
type builder struct {
	tree  fs.FS
	paths []string          // of the tree, sorted
	files map[string]string // kustomization by folder
	used  map[string]bool   // folders that another kustomization uses
	open  []string          // folders that are being built
	left  int               // files that may be read for this one
	total int               // files that may be read
	told  []Problem

	chosen   int                  // objects that selectors of replacements looked at
	taken    int                  // values that replacements took
	rendered map[string][]*object // of charts, by kustomization
	until    time.Time            // when no further chart is rendered
	vars     []variable           // variables of the one that is built
}

// errAbsent is why what others hold is not looked at.
var errAbsent = errors.New("not fetched")

func (b *builder) problem(p string, line int, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	one := Problem{Path: p, Line: line, Message: err.Error()}
	if errors.Is(err, errAbsent) || errors.Is(err, fs.ErrNotExist) {
		one.Code = "unavailable"
	}
	b.told = append(b.told, one)
}

// problems returns each problem once: a base is built for each that uses it.
func (b *builder) problems() []Problem {
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

// build returns the objects of the kustomization in the folder.
func (b *builder) build(dir string, depth int) ([]*object, error) {
	if depth > maxDepth || slices.Contains(b.open, dir) {
		return nil, fmt.Errorf("kustomizations use each other in a circle, or more than %d deep", maxDepth)
	}
	b.open = append(b.open, dir)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	k, err := b.load(dir)
	if err != nil || k == nil || k.root["kind"] == "Component" {
		return nil, err // a component has no objects to change before it is used
	}
	var objects []*object
	for _, field := range []string{"resources", "bases"} {
		for _, e := range k.entries(field) {
			more, err := b.resource(k, e, depth)
			if err != nil {
				b.problem(k.path, e.lines.Line, "%w", err)
			}
			if objects = append(objects, more...); len(objects) > maxObjects {
				return nil, fmt.Errorf("more than %d objects", maxObjects)
			}
		}
	}
	objects = append(objects, b.charts(k)...)
	objects = b.generate(k, objects)
	for _, e := range k.entries("components") {
		if objects, err = b.component(k, e, objects, depth); err != nil {
			b.problem(k.path, e.lines.Line, "%w", err)
		}
	}
	b.apply(k, objects)
	return objects, nil
}

// load reads the kustomization in the folder.
func (b *builder) load(dir string) (*kustomization, error) {
	name, ok := b.files[dir]
	if !ok {
		return nil, fmt.Errorf("no kustomization in the folder %s of the tree", dir)
	}
	text, err := b.read(name)
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
	from(k.lines, name)
	for _, field := range []string{"helmChartInflationGenerator", "generators", "transformers", "validators"} {
		if n := k.lines.Fields[field]; n != nil {
			b.told = append(b.told, Problem{"unavailable", name, n.Line, strconv.Quote(field) + " is not followed: " +
				"what it makes or changes is not looked at"})
		}
	}
	return k, nil
}

// read returns a file of the tree.
func (b *builder) read(name string) ([]byte, error) {
	b.left--
	if b.total--; b.left < 0 || b.total < 0 {
		return nil, fmt.Errorf("more than %d files for one kustomization, or %d for all", maxFiles, maxReads)
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

// entries returns the items of a list.
func (k *kustomization) entries(field string) []entry {
	return items(k.root[field], k.lines.Fields[field])
}

func items(v any, lines *document.Node) []entry {
	list, _ := v.([]any)
	var out []entry
	for i, one := range list {
		if lines != nil && i < len(lines.Items) {
			out = append(out, entry{one, lines.Items[i]})
		}
	}
	return out
}

// local returns the path that an entry names, relative to the root of the tree.
// Addresses are never fetched.
func (k *kustomization) local(e entry) (string, error) {
	s, ok := e.value.(string)
	if !ok || s == "" {
		return "", errors.New("the entry is no path")
	}
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

// resource returns the objects of one entry of "resources".
func (b *builder) resource(k *kustomization, e entry, depth int) ([]*object, error) {
	p, err := k.local(e)
	if err != nil {
		return nil, err
	}
	if _, ok := b.files[p]; ok {
		b.used[p] = true
		return b.build(p, depth+1)
	}
	text, err := b.read(p)
	if err != nil {
		return nil, err
	}
	trees, err := document.DecodeYAML(text)
	var out []*object
	for i, t := range trees {
		for _, o := range expand(t) {
			o.path, o.index = p, i
			o.names = []string{o.name()}
			out = append(out, o)
		}
	}
	if err != nil {
		b.problem(p, 0, "%v", err)
	}
	return out, nil
}

// expand returns the objects of a document; a List holds several.
func expand(t document.Tree) []*object {
	if kind, _ := t.Root["kind"].(string); !strings.HasSuffix(kind, "List") || t.Root["items"] == nil {
		return []*object{{root: t.Root, lines: t.Lines}}
	}
	var out []*object
	for _, e := range items(t.Root["items"], t.Lines.Fields["items"]) {
		if root, ok := e.value.(map[string]any); ok {
			out = append(out, &object{root: root, lines: e.lines})
		}
	}
	return out
}

// component applies a component to the objects.
func (b *builder) component(k *kustomization, e entry, objects []*object, depth int) ([]*object, error) {
	p, err := k.local(e)
	if err != nil {
		return objects, err
	}
	b.used[p] = true
	if depth > maxDepth || slices.Contains(b.open, p) {
		return objects, errors.New("components use each other in a circle")
	}
	c, err := b.load(p)
	if err != nil || c == nil {
		return objects, err
	}
	b.open = append(b.open, p)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	for _, r := range c.entries("resources") {
		more, err := b.resource(c, r, depth+1)
		if err != nil {
			b.problem(c.path, r.lines.Line, "%w", err)
		}
		objects = append(objects, more...)
	}
	objects = append(objects, b.charts(c)...)
	objects = b.generate(c, objects)
	for _, inner := range c.entries("components") {
		if objects, err = b.component(c, inner, objects, depth+1); err != nil {
			b.problem(c.path, inner.lines.Line, "%w", err)
		}
	}
	b.apply(c, objects)
	return objects, nil
}

// from writes the file into all nodes that name none.
func from(n *document.Node, file string) {
	if n == nil {
		return
	}
	if n.Path == "" {
		n.Path = file
	}
	for _, below := range n.Fields {
		from(below, file)
	}
	for _, below := range n.Items {
		from(below, file)
	}
}

func (o *object) kind() string { s, _ := o.root["kind"].(string); return s }

func (o *object) metadata() map[string]any {
	m, _ := o.root["metadata"].(map[string]any)
	return m
}

func (o *object) name() string { s, _ := o.metadata()["name"].(string); return s }

// decodeText reads YAML that stands as text in the kustomization, and moves its
// lines there.
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
		move(t.Lines, shift, k.path)
	}
	return trees, err
}

func move(n *document.Node, lines int, file string) {
	if n == nil {
		return
	}
	n.Line, n.Column, n.Path = n.Line+lines, 0, file
	for _, below := range n.Fields {
		move(below, lines, file)
	}
	for _, below := range n.Items {
		move(below, lines, file)
	}
}

// match is what "target" of a patch, or the patch itself, asks of an object.
type match struct {
	Kind, Group, Version, Name, Namespace string
	LabelSelector                         string
	AnnotationSelector                    string
}

// target reads the selector of a patch.
func target(v any) (match, error) {
	var m match
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
	return match(t), nil
}

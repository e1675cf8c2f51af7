package compose

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"merlon/internal/engine/iac/document"
)

// This file follows "extends".
// See https://docs.docker.com/reference/compose-file/services/#extends.

// A service is one service with its place.
type service struct {
	// as in the file; shared with it, so it is cloned before a change
	fields map[string]any
	// the positions of the fields
	node *document.Node
}

// extendServices returns the tree with the fields of extended services in those that
// extend them, and whether there are any.
func (l *loader) extendServices(tree document.Tree, file string) (document.Tree, bool) {
	all, above := servicesOf(tree.Root), fieldNode(tree.Lines, "services")
	// The tree of a file is cached and serves several projects, so changes go to copies.
	out, lines := maps.Clone(all), *above
	lines.Fields = maps.Clone(above.Fields)
	changed := false
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fields, ok := all[name].(map[string]any)
		if !ok || fields["extends"] == nil || above.Fields[name] == nil {
			continue
		}
		whole := l.resolveService(service{fields, above.Fields[name]}, file, 0)
		out[name], lines.Fields[name], changed = whole.fields, whole.node, true
	}
	if !changed {
		return tree, false
	}
	root, top := maps.Clone(tree.Root), *tree.Lines
	top.Fields = maps.Clone(tree.Lines.Fields)
	root["services"], top.Fields["services"] = out, &lines
	return document.Tree{Root: root, Lines: &top}, true
}

// resolveService returns the service of the file with the fields of the one it extends.
func (l *loader) resolveService(s service, file string, depth int) service {
	if s.fields["extends"] == nil {
		return s
	}
	name, where, from, own := "", "", file, fieldNode(s.node, "extends")
	tell := func(code string, why any) {
		l.addGap(document.Gap{
			Code: code, Path: cmp.Or(own.Path, file), Line: own.Line,
			Message: fmt.Sprintf("the extended service %s%s is not analyzed: %v", name, where, why),
		})
	}
	var other document.Tree
	var err error
	switch v := s.fields["extends"].(type) {
	case string:
		name = v
		other, err = l.readTree(file)
	case map[string]any:
		name, _ = v["service"].(string)
		if text, ok := v["file"].(string); ok {
			from, other, err = l.readReferenced(path.Dir(file), text)
			where = " of " + text
		} else {
			other, err = l.readTree(file)
		}
	}
	if err != nil {
		tell("unavailable", err)
		return s
	}
	base, ok := findService(other, name)
	if !ok {
		tell("unavailable", "there is none of the name")
		return s
	}
	// A circle (a extends b extends a) ends at the depth. The budget bounds services that are
	// extended by many, of which each is a copy.
	if depth > maxDepth || !l.spendValues(base.node) {
		tell("too-complex", "services extend each other in a circle, too deeply or too often")
		return s
	}
	base = l.resolveService(base, from, depth+1)
	// Positions name the other file, so that a finding is reported where the field is written.
	if from != file {
		base.node = base.node.In(from)
	}
	base.fields = maps.Clone(base.fields)
	// The specification excludes depends_on from what is inherited, and extends is resolved.
	delete(base.fields, "extends")
	delete(base.fields, "depends_on")
	// The extending service takes precedence over the base.
	v, n := mergeValue("", s.fields, s.node, base.fields, base.node)
	fields, ok := v.(map[string]any)
	if !ok || n == nil {
		return s
	}
	node := *n
	node.Line, node.Column, node.Path = s.node.Line, s.node.Column, s.node.Path
	return service{fields, &node}
}

// findService returns a service of a file.
func findService(tree document.Tree, name string) (service, bool) {
	fields, ok := servicesOf(tree.Root)[name].(map[string]any)
	return service{fields, fieldNode(fieldNode(tree.Lines, "services"), name)}, ok
}

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
	fields map[string]any
	node   *document.Node
}

// extend returns the tree with the fields of extended services in those that extend
// them, and whether there are any.
func (l *loader) extend(tree document.Tree, file string) (document.Tree, bool) {
	all, above := services(tree.Root), at(tree.Lines, "services")
	out, lines := maps.Clone(all), *above
	lines.Fields = maps.Clone(above.Fields)
	changed := false
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fields, ok := all[name].(map[string]any)
		if !ok || fields["extends"] == nil || above.Fields[name] == nil {
			continue
		}
		whole := l.whole(service{fields, above.Fields[name]}, file, 0)
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

// whole returns the service of the file with the fields of the one it extends.
func (l *loader) whole(s service, file string, depth int) service {
	if s.fields["extends"] == nil {
		return s
	}
	name, where, from, own := "", "", file, at(s.node, "extends")
	tell := func(code string, why any) {
		l.gap(document.Gap{
			Code: code, Path: cmp.Or(own.Path, file), Line: own.Line,
			Message: fmt.Sprintf("the extended service %s%s is not looked at: %v", name, where, why),
		})
	}
	var other document.Tree
	var err error
	switch v := s.fields["extends"].(type) {
	case string:
		name = v
		other, err = l.tree(file)
	case map[string]any:
		name, _ = v["service"].(string)
		if text, ok := v["file"].(string); ok {
			from, other, err = l.reach(path.Dir(file), text)
			where = " of " + text
		} else {
			other, err = l.tree(file)
		}
	}
	if err != nil {
		tell("unavailable", err)
		return s
	}
	base, ok := find(other, name)
	if !ok {
		tell("unavailable", "there is none of the name")
		return s
	}
	if depth > maxDepth || !l.spend(base.node) {
		tell("too-complex", "services extend each other in a circle, too deeply or too often")
		return s
	}
	base = l.whole(base, from, depth+1)
	if from != file {
		base.node = base.node.In(from)
	}
	base.fields = maps.Clone(base.fields)
	delete(base.fields, "extends")
	delete(base.fields, "depends_on")
	v, n := merge("", s.fields, s.node, base.fields, base.node)
	fields, ok := v.(map[string]any)
	if !ok || n == nil {
		return s
	}
	node := *n
	node.Line, node.Column, node.Path = s.node.Line, s.node.Column, s.node.Path
	return service{fields, &node}
}

// find returns a service of a file.
func find(tree document.Tree, name string) (service, bool) {
	fields, ok := services(tree.Root)[name].(map[string]any)
	return service{fields, at(at(tree.Lines, "services"), name)}, ok
}

package template

import (
	"io/fs"
	"maps"
	"path"
	"slices"

	"merlon/internal/engine/iac/document"
)

// This file follows "extends" of Compose files.
// See https://docs.docker.com/reference/compose-file/services/#extends.

// maxExtends bounds services that extend each other.
const maxExtends = 20

// A service is one service with its place.
type service struct {
	fields map[string]any
	node   *document.Node
}

// compose returns the tree with the fields of extended services in those that
// extend them. A field keeps the file and line in which it is written.
func compose(tree document.Tree, file string, source Source) document.Tree {
	services, _ := tree.Root["services"].(map[string]any)
	at := field(tree.Lines, "services")
	if at == nil {
		return tree
	}
	e := extender{source: source, files: map[string]document.Tree{file: tree}}
	out, lines := maps.Clone(services), *at
	lines.Fields = maps.Clone(at.Fields)
	changed := false
	for name, v := range services {
		fields, ok := v.(map[string]any)
		if !ok || fields["extends"] == nil || at.Fields[name] == nil {
			continue
		}
		whole := e.extend(service{fields, at.Fields[name]}, file, 0)
		out[name], lines.Fields[name], changed = whole.fields, whole.node, true
	}
	if !changed {
		return tree
	}
	root, top := maps.Clone(tree.Root), *tree.Lines
	top.Fields = maps.Clone(tree.Lines.Fields)
	root["services"], top.Fields["services"] = out, &lines
	return document.Tree{Root: root, Lines: &top}
}

type extender struct {
	source Source
	files  map[string]document.Tree
}

// extend returns the service of the file with the fields of the one it extends.
func (e *extender) extend(s service, file string, depth int) service {
	name, from := "", file
	switch v := s.fields["extends"].(type) {
	case string:
		name = v
	case map[string]any:
		name, _ = v["service"].(string)
		if other, ok := v["file"].(string); ok {
			from = path.Join(path.Dir(file), other)
		}
	}
	base, ok := e.find(from, name)
	if !ok || depth > maxExtends {
		return s
	}
	base = e.extend(base, from, depth+1)
	out := service{maps.Clone(s.fields), s.node}
	node := *s.node
	node.Fields = maps.Clone(s.node.Fields)
	out.node = &node
	for key, v := range base.fields {
		n := base.node.Fields[key]
		if n == nil || key == "extends" || key == "depends_on" {
			continue
		}
		if from != file {
			n = placed(n, from)
		}
		mine, has := out.fields[key]
		if !has {
			out.fields[key], node.Fields[key] = v, n
			continue
		}
		out.fields[key], node.Fields[key] = join(mine, node.Fields[key], v, n)
	}
	return out
}

// join lays a field over the extended service's: maps and lists are put together.
func join(mine any, at *document.Node, theirs any, from *document.Node) (any, *document.Node) {
	if at == nil {
		return mine, at
	}
	own := *at
	switch m := mine.(type) {
	case map[string]any:
		t, ok := theirs.(map[string]any)
		if !ok {
			return mine, at
		}
		out := maps.Clone(t)
		own.Fields = maps.Clone(from.Fields)
		if own.Fields == nil {
			own.Fields = map[string]*document.Node{}
		}
		maps.Copy(out, m)
		maps.Copy(own.Fields, at.Fields)
		return out, &own
	case []any:
		t, ok := theirs.([]any)
		if !ok || len(t) != len(from.Items) || len(m) != len(at.Items) {
			return mine, at
		}
		own.Items = append(slices.Clone(from.Items), at.Items...)
		return append(slices.Clone(t), m...), &own
	}
	return mine, at
}

// find returns a service of a file.
func (e *extender) find(file, name string) (service, bool) {
	tree, ok := e.files[file]
	if !ok {
		if !fs.ValidPath(file) || len(e.files) > maxExtends {
			return service{}, false
		}
		if text, err := e.source(file); err == nil {
			// What cannot be read is told where the file itself is looked at.
			if trees, _ := document.DecodeYAML(text); len(trees) > 0 {
				tree = trees[0]
			}
		}
		e.files[file] = tree
	}
	services, _ := tree.Root["services"].(map[string]any)
	fields, ok := services[name].(map[string]any)
	at := field(field(tree.Lines, "services"), name)
	return service{fields, at}, ok && at != nil
}

// placed returns the node with the file in all that name none.
func placed(n *document.Node, file string) *document.Node {
	if n == nil {
		return nil
	}
	own := *n
	if own.Path == "" {
		own.Path = file
	}
	if n.Fields != nil {
		own.Fields = make(map[string]*document.Node, len(n.Fields))
		for key, below := range n.Fields {
			own.Fields[key] = placed(below, file)
		}
	}
	own.Items = slices.Clone(n.Items)
	for i, below := range own.Items {
		own.Items[i] = placed(below, file)
	}
	return &own
}

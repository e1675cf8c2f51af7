package bicep

import (
	"strings"

	"merlon/internal/engine/iac/document"
)

// A resource is one declared resource with those that belong to it.
type resource struct {
	// the symbolic name, by which other declarations refer to it
	name   string
	parent string // the name of the resource it belongs to
	// the type without the version: "Microsoft.Storage/storageAccounts"
	kind string
	// only referred to: it is not deployed, so rules do not apply
	existing bool
	// the resource in the form of the queries
	root map[string]any
	// the positions of root
	lines *document.Node
	// declared inside of it, or with it as parent
	children []*resource
}

// convertResources makes the resources of a declaration: of a loop one for each turn.
func (c *converter) convertResources(d *declaration) []*resource {
	if d.value == nil || d.value.what != loop {
		return []*resource{c.convertResource(d)}
	}
	var out []*resource
	c.forEachItem(d.value, func() { out = append(out, c.convertResource(d)) })
	return out
}

// convertResource makes one resource, with those that are declared inside of it.
func (c *converter) convertResource(d *declaration) *resource {
	// The type is written 'Microsoft.Storage/storageAccounts@2023-01-01'.
	kind, version, _ := strings.Cut(d.kind, "@")
	r := &resource{
		name: d.name.text, kind: kind, existing: d.existing,
		root: map[string]any{"identifier": d.name.text, "type": kind, "apiVersion": version},
	}
	fields := map[string]*document.Node{"identifier": {Line: d.line}, "type": {Line: d.line},
		"apiVersion": {Line: d.line}}
	r.lines = declarationNode(d, fields)
	c.addDecorators(d, r.root, fields)
	if d.condition != nil {
		r.root["condition"] = c.bracketed(d.condition)
		fields["condition"] = &document.Node{Line: d.line}
	}
	body := d.value
	if body != nil && body.what == loop {
		body = body.items[1]
	}
	if body == nil || body.what != object {
		return r
	}
	value, lines := c.convertValue(body)
	for key, v := range value.(map[string]any) {
		r.root[key], fields[key] = v, lines.Fields[key]
	}
	r.parent, _ = r.root["parent"].(string)
	for _, inner := range body.nested {
		if inner.word == "resource" {
			r.children = append(r.children, c.convertResources(inner)...)
		}
	}
	return r
}

// nestResources puts children into their parents. Those of a resource that exists already,
// or that another file declares, are at the top.
func nestResources(resources []*resource) ([]any, []*document.Node) {
	byName := map[string]*resource{}
	for _, r := range resources {
		byName[r.name] = r
	}
	var top []*resource
	for _, r := range resources {
		parent := byName[r.parent]
		if parent == nil || parent.existing || isCyclic(byName, r) {
			top = append(top, r)
			continue
		}
		parent.children = append(parent.children, r)
	}
	return emitResources(top, "")
}

// isCyclic reports whether a resource is its own parent, over others.
func isCyclic(byName map[string]*resource, r *resource) bool {
	seen := map[*resource]bool{}
	// Such a file does not compile, but the writer of the tree would not end on it.
	for at := r; at != nil; at = byName[at.parent] {
		if seen[at] {
			return true
		}
		seen[at] = true
	}
	return false
}

// emitResources writes resources whose parent has the type.
func emitResources(resources []*resource, parent string) ([]any, []*document.Node) {
	list := []any{}
	var lines []*document.Node
	for _, r := range resources {
		if r.existing {
			more, at := emitResources(r.children, "")
			list, lines = append(list, more...), append(lines, at...)
			continue
		}
		if parent != "" {
			// Inside of its parent a child has the rest of the type only: "blobServices".
			r.root["type"] = strings.TrimPrefix(r.kind, parent+"/")
		} else if r.parent != "" {
			delete(r.root, "parent")
			delete(r.lines.Fields, "parent")
		}
		if len(r.children) > 0 {
			children, at := emitResources(r.children, r.kind)
			r.root["resources"] = children
			r.lines.Fields["resources"] = &document.Node{Line: r.lines.Line, Items: at}
		}
		list, lines = append(list, r.root), append(lines, r.lines)
	}
	return list, lines
}

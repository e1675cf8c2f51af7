package analyzer

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
)

// planTree turns what "terraform show -json" prints into the form of Terraform's files:
// {"resource": {TYPE: {ADDRESS: {…}}}} with what will be there after it is applied. Any
// other tree is returned as it is. The format:
// https://developer.hashicorp.com/terraform/internals/json-format.
func planTree(t document.Tree) document.Tree {
	values, ok := t.Root["planned_values"].(map[string]any)
	if !ok {
		return t
	}
	at, _ := t.Lines.Find("planned_values", "root_module")
	p := planReader{types: map[string]any{}, lines: newBranch(at), unknown: map[string]any{}}
	// "planned_values" leaves out what is unknown; the changes say where something will be.
	changes, _ := t.Root["resource_changes"].([]any)
	for _, one := range changes {
		c, _ := one.(map[string]any)
		address, _ := c["address"].(string)
		change, _ := c["change"].(map[string]any)
		p.unknown[address] = change["after_unknown"]
	}
	root, _ := values["root_module"].(map[string]any)
	p.addModule(root, at)
	return document.Tree{
		Root:  map[string]any{"resource": p.types},
		Lines: &document.Node{Line: 1, Column: 1, Fields: map[string]*document.Node{"resource": p.lines}},
	}
}

// planReader collects resources by their types.
type planReader struct {
	// by type, then by address
	types map[string]any
	// the positions of types
	lines   *document.Node
	unknown map[string]any // what is known only after the plan is applied, by address
}

// newBranch returns a node at the position of another, to be filled.
func newBranch(at *document.Node) *document.Node {
	return &document.Node{Line: at.Line, Column: at.Column, Fields: map[string]*document.Node{}}
}

// addModule adds the resources of a module and of those that it calls.
func (p *planReader) addModule(m map[string]any, at *document.Node) {
	resources, _ := m["resources"].([]any)
	for i, one := range resources {
		if r, ok := one.(map[string]any); ok {
			n, _ := at.Find("resources", strconv.Itoa(i))
			p.addResource(r, n)
		}
	}
	children, _ := m["child_modules"].([]any)
	for i, one := range children {
		if c, ok := one.(map[string]any); ok {
			n, _ := at.Find("child_modules", strconv.Itoa(i))
			p.addModule(c, n)
		}
	}
}

// addResource adds one resource; what is only read is not one.
func (p *planReader) addResource(r map[string]any, at *document.Node) {
	kind, _ := r["type"].(string)
	address, _ := r["address"].(string)
	values, _ := r["values"].(map[string]any)
	if kind == "" || address == "" || values == nil || r["mode"] == "data" {
		return
	}
	of, ok := p.types[kind].(map[string]any)
	if !ok {
		of = map[string]any{}
		p.types[kind], p.lines.Fields[kind] = of, newBranch(at)
	}
	n := newBranch(at)
	if inner, one := at.Find("values"); one == 1 {
		n.Fields = inner.Fields
	}
	whole, at := markUnknown(values, p.unknown[address], n, 0)
	if fields, ok := whole.(map[string]any); ok && strings.HasPrefix(kind, "aws_") {
		// All tags are those of the resource and those that the provider adds.
		if all, ok := fields["tags_all"].(map[string]any); ok && len(all) > 0 {
			fields, own := maps.Clone(fields), *at
			own.Fields = maps.Clone(at.Fields)
			fields["tags"], own.Fields["tags"] = all, at.Fields["tags_all"]
			whole, at = fields, &own
		}
	}
	of[address], p.lines.Fields[kind].Fields[address] = whole, at
}

// markFields marks the fields of a map that are not known.
func markFields(fields, unknown map[string]any, n *document.Node, depth int) (any, *document.Node) {
	out, at := maps.Clone(fields), *n
	if at.Fields = maps.Clone(n.Fields); at.Fields == nil {
		at.Fields = map[string]*document.Node{}
	}
	for name, below := range unknown {
		place := n.Fields[name]
		if place == nil {
			place = &document.Node{Line: n.Line, Column: n.Column}
		}
		if inner, node := markUnknown(fields[name], below, place, depth+1); inner != nil {
			out[name], at.Fields[name] = inner, node
		}
	}
	return out, &at
}

// markUnknown puts texts where a value is known only after the plan is applied: the other
// tree says true there.
func markUnknown(v, unknown any, n *document.Node, depth int) (any, *document.Node) {
	if n == nil || depth > document.MaxDepth {
		return v, n
	}
	switch u := unknown.(type) {
	// {"arn": true}: the provider computes the attribute when the resource is created.
	case bool:
		if u {
			return "${known after apply}", &document.Node{Line: n.Line, Column: n.Column, Unknown: true}
		}
	case map[string]any:
		if fields, ok := v.(map[string]any); ok {
			return markFields(fields, u, n, depth)
		}
	case []any:
		list, ok := v.([]any)
		if !ok || len(list) != len(n.Items) {
			return v, n
		}
		out, at := slices.Clone(list), *n
		at.Items = slices.Clone(n.Items)
		for i := range min(len(u), len(list)) {
			out[i], at.Items[i] = markUnknown(list[i], u[i], n.Items[i], depth+1)
		}
		return out, &at
	}
	return v, n
}

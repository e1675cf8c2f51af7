package configuration

import (
	"strconv"

	"merlon/internal/engine/iac/document"
)

// plan turns what "terraform show -json" prints into the form of Terraform's files:
// {"resource": {TYPE: {ADDRESS: {…}}}} with what will be there after it is applied.
// Any other tree is returned as it is. The format:
// https://developer.hashicorp.com/terraform/internals/json-format.
func plan(t document.Tree) document.Tree {
	values, ok := t.Root["planned_values"].(map[string]any)
	if !ok {
		return t
	}
	at, _ := t.Lines.Find("planned_values", "root_module")
	p := planned{types: map[string]any{}, lines: branch(at)}
	root, _ := values["root_module"].(map[string]any)
	p.module(root, at)
	return document.Tree{
		Root:  map[string]any{"resource": p.types},
		Lines: &document.Node{Line: 1, Column: 1, Fields: map[string]*document.Node{"resource": p.lines}},
	}
}

// planned collects resources by their types.
type planned struct {
	types map[string]any
	lines *document.Node
}

// branch returns a node at the place of another, to be filled.
func branch(at *document.Node) *document.Node {
	return &document.Node{Line: at.Line, Column: at.Column, Fields: map[string]*document.Node{}}
}

// module adds the resources of a module and of those that it calls.
func (p *planned) module(m map[string]any, at *document.Node) {
	resources, _ := m["resources"].([]any)
	for i, one := range resources {
		if r, ok := one.(map[string]any); ok {
			n, _ := at.Find("resources", strconv.Itoa(i))
			p.resource(r, n)
		}
	}
	children, _ := m["child_modules"].([]any)
	for i, one := range children {
		if c, ok := one.(map[string]any); ok {
			n, _ := at.Find("child_modules", strconv.Itoa(i))
			p.module(c, n)
		}
	}
}

// resource adds one resource; what is only read is none.
func (p *planned) resource(r map[string]any, at *document.Node) {
	kind, _ := r["type"].(string)
	address, _ := r["address"].(string)
	values, _ := r["values"].(map[string]any)
	if kind == "" || address == "" || values == nil || r["mode"] == "data" {
		return
	}
	of, ok := p.types[kind].(map[string]any)
	if !ok {
		of = map[string]any{}
		p.types[kind], p.lines.Fields[kind] = of, branch(at)
	}
	n := branch(at)
	if inner, one := at.Find("values"); one == 1 {
		n.Fields = inner.Fields
	}
	of[address], p.lines.Fields[kind].Fields[address] = values, n
}

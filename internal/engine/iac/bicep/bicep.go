// Package bicep reads Bicep files into the form of the JSON templates that they
// become, as the query library expects it:
//
//	{"parameters": {name: {"type", "defaultValue", …}}, "variables": {name: {"value"}},
//	 "resources": [{"identifier", "type", "apiVersion", "name", "properties", …, "resources": […]}]}
//
// A child stands in its parent's "resources", with its type relative to it.
// Expressions stand between brackets, as in a template: "[parameters('x')]"; a
// variable or expression whose value is known stands for its value, as do parameters
// that have a simple default or were given one. A loop over a known list is its body for
// each item, else once. The language: https://learn.microsoft.com/azure/azure-resource-manager/bicep/file.
package bicep

import (
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

// MaxSize bounds a file, in bytes.
const MaxSize = 4 << 20

// Decode reads a file. Errors are a *document.Malformed, or errs.TooLarge; what
// stands before a mistake is returned with it.
func Decode(name string, text []byte) (*document.Document, error) {
	return DecodeGiven(name, text, nil)
}

// DecodeGiven reads a file that another deploys with these values for its parameters:
// document.Unknown where only the deployment knows.
func DecodeGiven(name string, text []byte, given map[string]any) (*document.Document, error) {
	if len(text) > MaxSize {
		return nil, errs.E(errs.TooLarge, "%d bytes; Bicep files are read up to %d", len(text), MaxSize)
	}
	values := 0
	p, err := newParser(&lexer{src: strings.TrimPrefix(string(text), "\ufeff"), line: 1, begins: true}, 0, &values)
	if err != nil {
		return nil, err
	}
	declarations, err := p.parseDeclarations()
	if len(declarations) == 0 {
		return nil, err
	}
	c := converter{
		path: name, given: given, params: map[string]bool{}, defaults: map[string]*expr{}, vars: map[string]*expr{},
		open:  map[string]bool{},
		names: map[string]any{}, computed: map[string]any{},
	}
	root, lines := c.convertFile(declarations)
	return &document.Document{
		Platform: document.ARM, Format: document.Bicep, Path: name, Root: root, Lines: lines, Text: text,
		Deploys: c.deploys,
	}, err
}

// A converter turns declarations into a document.
type converter struct {
	path     string
	given    map[string]any // by whoever deploys the file
	params   map[string]bool
	defaults map[string]*expr // of parameters that hold no secret
	vars     map[string]*expr
	open     map[string]bool // variables that are being followed
	names    map[string]any  // of the loops that are being expanded
	computed map[string]any  // variables
	made     int             // values made of variables
	deploys  []document.Deployment
}

// convertFile makes the whole document.
func (c *converter) convertFile(declarations []*declaration) (map[string]any, *document.Node) {
	for _, d := range declarations {
		switch d.word {
		case "param":
			c.params[d.name.text] = true
			if !d.isSecure() {
				c.defaults[d.name.text] = d.value
			}
		case "var":
			c.vars[d.name.text] = d.value
		}
	}
	params, variables := map[string]any{}, map[string]any{}
	at := map[string]*document.Node{}
	for _, key := range []string{"parameters", "variables", "resources"} {
		at[key] = &document.Node{Line: 1, Fields: map[string]*document.Node{}}
	}
	var resources []*resource
	for _, d := range declarations {
		key := d.name.text
		switch d.word {
		case "param":
			params[key], at["parameters"].Fields[key] = c.convertParam(d)
		case "var":
			value, lines := c.convertValue(d.value)
			variables[key] = map[string]any{"value": value}
			at["variables"].Fields[key] = declarationNode(d, map[string]*document.Node{"value": lines})
		case "resource":
			resources = append(resources, c.convertResources(d)...)
		case "module", "using":
			c.addModule(d, declarations)
		}
	}
	list, lines := nestResources(resources)
	at["resources"].Items, at["resources"].Fields = lines, nil
	return map[string]any{"parameters": params, "variables": variables, "resources": list},
		&document.Node{Line: 1, Column: 1, Fields: at}
}

// declarationNode makes the node of a declaration. Fields without a line of their own have
// that of the declaration.
func declarationNode(d *declaration, fields map[string]*document.Node) *document.Node {
	for _, n := range fields {
		if n.Line == 0 {
			n.Line = d.line
		}
	}
	return &document.Node{Line: d.line, Fields: fields}
}

// convertParam makes a parameter with its decorators.
func (c *converter) convertParam(d *declaration) (map[string]any, *document.Node) {
	kind, _, _ := strings.Cut(d.kind, "?")
	out := map[string]any{"type": kind}
	lines := map[string]*document.Node{"type": {Line: d.last}}
	if d.value != nil {
		var at *document.Node
		out["defaultValue"], at = c.convertValue(d.value)
		at.Line = d.last
		lines["defaultValue"] = at
	}
	if v, ok := c.given[d.name.text]; ok {
		delete(out, "defaultValue")
		if _, unknown := v.(document.Unknown); !unknown {
			out["defaultValue"], lines["defaultValue"] = v, nodeAt(v, &document.Node{Line: d.last})
		}
	}
	c.addDecorators(d, out, lines)
	if _, secure := out["secure"]; secure {
		delete(out, "secure")
		switch kind {
		case "string":
			out["type"] = "secureString"
		case "object":
			out["type"] = "secureObject"
		}
	}
	return out, declarationNode(d, lines)
}

// decoratorField returns the field of a template that a decorator stands for.
func decoratorField(name string, values []any) (string, any) {
	switch {
	case len(values) == 0:
		return name, []any{}
	case name == "description":
		return "metadata", map[string]any{"description": values[0]}
	case name == "allowed":
		return "allowedValues", values[0]
	case name == "metadata" || strings.HasPrefix(name, "max") || strings.HasPrefix(name, "min"):
		return name, values[0]
	}
	return name, values
}

// addDecorators adds what decorators say: "@minLength(3)", "@allowed([…])", "@secure()".
func (c *converter) addDecorators(d *declaration, out map[string]any, lines map[string]*document.Node) {
	for _, e := range d.decorators {
		if e.what != call {
			continue
		}
		var values []any
		for _, item := range e.items {
			v, _ := c.convertValue(item)
			values = append(values, v)
		}
		key, value := decoratorField(e.name, values)
		out[key] = value
		lines[key] = &document.Node{Line: e.line, Column: e.column}
	}
}

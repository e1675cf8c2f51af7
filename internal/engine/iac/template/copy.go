package template

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/bicep"
	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// This file goes through the resources of Azure templates: loops become what they make,
// what is not deployed is left out, and what nobody knows is marked.
// See https://learn.microsoft.com/azure/azure-resource-manager/templates/copy-resources.

// maxTurns bounds the turns of a loop that are looked at.
// The first turns show what all have in common; the values differ mostly in names.
const maxTurns = 16

// A turn is one of a loop; known is false where the loop stands for all its turns.
type turn struct {
	// its name, by which copyIndex('name') refers to it
	loop string
	// from 0
	index int64
	known bool
}

// Turn returns the index of the turn of a loop.
func (d *deployment) Turn(loop string) (int64, bool) {
	// Without a name the innermost loop is meant.
	for _, t := range slices.Backward(d.loops) {
		if loop == "" || strings.EqualFold(t.loop, loop) {
			return t.index, t.known
		}
	}
	return 0, false
}

// forEachTurn calls the function for each turn of a loop {name, count} that is known, else
// once.
func (d *deployment) forEachTurn(loop map[string]any, f func()) {
	name, _ := loop["name"].(string)
	count, ok := d.computeWhole(loop["count"])
	n, isNumber := count.(int64)
	if !ok || !isNumber || len(d.loops) > document.MaxDepth {
		d.loops = append(d.loops, turn{loop: name})
		f()
		d.loops = d.loops[:len(d.loops)-1]
		return
	}
	for i := range min(n, maxTurns) {
		d.loops = append(d.loops, turn{name, i, true})
		f()
		d.loops = d.loops[:len(d.loops)-1]
	}
}

// loopNamed returns the loop of the name in a list of loops, as a list.
func loopNamed(loops any, name string) []any {
	list, _ := loops.([]any)
	for _, l := range list {
		if m, ok := l.(map[string]any); ok && m["name"] == name {
			return []any{l}
		}
	}
	return nil
}

// addCopies adds the lists that loops {name, count, input} make; false if not all is
// known.
func (d *deployment) addCopies(loops any, out map[string]any) bool {
	list, ok := loops.([]any)
	for _, l := range list {
		loop, _ := l.(map[string]any)
		name, _ := loop["name"].(string)
		count, known := d.computeWhole(loop["count"])
		// A list that is cut would be a wrong value, for example for length().
		if n, isNumber := count.(int64); !known || !isNumber || n > maxTurns || name == "" {
			return false
		}
		made := []any{}
		d.forEachTurn(loop, func() {
			v, known := d.computeWhole(loop["input"])
			made, ok = append(made, v), ok && known
		})
		out[name] = made
	}
	return ok
}

// evaluateValue returns a value with its positions and what is known put in.
func (d *deployment) evaluateValue(v any, n *document.Node) (any, *document.Node) {
	d.depth++
	defer func() { d.depth-- }()
	if d.made++; d.made > maxMade || d.depth > document.MaxDepth || n == nil {
		return v, n
	}
	switch v := v.(type) {
	case string:
		return d.evaluateText(v, n)
	case []any:
		out, at := make([]any, 0, len(v)), *n
		at.Items = make([]*document.Node, 0, len(v))
		for i, e := range v {
			d.forEachDeployed(e, func() {
				if inner, place := d.evaluateValue(e, itemNode(n, i)); place != nil {
					out, at.Items = append(out, inner), append(at.Items, place)
				}
			})
		}
		return out, &at
	case map[string]any:
		if inner, ok := v["template"].(map[string]any); ok && inner["resources"] != nil && ownScope(v) {
			return d.evaluateNested(v, inner, n)
		}
		return d.evaluateObject(v, n)
	}
	return v, n
}

// forEachDeployed calls the function for each time that an item of a list is deployed.
func (d *deployment) forEachDeployed(v any, f func()) {
	m, _ := v.(map[string]any)
	if m["type"] == nil {
		f()
		return
	}
	deployed := func() {
		// An unknown condition counts as true: the resource may be deployed.
		if v, ok := d.computeWhole(m["condition"]); !ok || v != false {
			f()
		}
	}
	if loop, ok := m["copy"].(map[string]any); ok {
		d.forEachTurn(loop, deployed)
		return
	}
	deployed()
}

// evaluateObject evaluates the fields of a map; loops among them are the lists that they
// make. The names of resources stay as they are written: rules join resources by them.
func (d *deployment) evaluateObject(v map[string]any, n *document.Node) (any, *document.Node) {
	out, at := make(map[string]any, len(v)), *n
	at.Fields = make(map[string]*document.Node, len(v))
	for _, key := range slices.Sorted(maps.Keys(v)) {
		below := fieldNode(n, key)
		if loops, ok := v[key].([]any); ok && key == "copy" && d.addLists(loops, below, out, at.Fields) {
			continue
		}
		if v["type"] != nil && (key == "name" || key == "type" || key == "apiVersion" || key == "dependsOn") {
			out[key], at.Fields[key] = v[key], below
			continue
		}
		out[key], at.Fields[key] = d.evaluateValue(v[key], below)
	}
	return out, &at
}

// addLists adds the lists that loops {name, count, input} of an object make.
func (d *deployment) addLists(loops []any, n *document.Node, out map[string]any, at map[string]*document.Node) bool {
	for i, l := range loops {
		loop, _ := l.(map[string]any)
		name, _ := loop["name"].(string)
		input := fieldNode(itemNode(n, i), "input")
		if name == "" || input == nil {
			return false
		}
		made := []any{}
		place := &document.Node{Line: input.Line, Column: input.Column, Path: input.Path}
		d.forEachTurn(loop, func() {
			v, below := d.evaluateValue(loop["input"], input)
			made, place.Items = append(made, v), append(place.Items, below)
		})
		out[name], at[name] = made, place
	}
	return true
}

// variable matches an expression that is a variable, parameter one that is a parameter.
var (
	aVariable  = lazyregexp.New(`^\s*variables\(\s*'([^']+)'\s*\)\s*$`)
	aParameter = lazyregexp.New(`(?i)^\s*parameters\(\s*'([^']+)'\s*\)\s*$`)
)

// evaluateText returns what an expression stands for.
func (d *deployment) evaluateText(s string, n *document.Node) (any, *document.Node) {
	text, ok := templateExpression(s)
	if !ok {
		return s, n
	}
	if with, ok := bicep.Compute(text, d); ok && with != nil {
		return with, asValue(with, n)
	}
	// A variable whose parts are not all known stands for what it says.
	if name := aVariable.FindStringSubmatch(text); name != nil && !d.open[name[1]] && len(d.open) < document.MaxDepth {
		if v, ok := d.variables[name[1]]; ok {
			if _, computed := v.(string); !computed {
				d.open[name[1]] = true
				defer delete(d.open, name[1])
				return d.evaluateValue(v, asValue(v, n))
			}
		}
	}
	own := *n
	own.Unknown = !d.isBesideParameter(text)
	return s, &own
}

// isBesideParameter reports whether rules find the value beside the parameter that an
// expression is: a secret's, or one that is computed.
func (d *deployment) isBesideParameter(text string) bool {
	name := aParameter.FindStringSubmatch(text)
	if name == nil {
		return false
	}
	p, _ := d.params[name[1]].(map[string]any)
	given, is := d.given[name[1]]
	_, unknown := given.(document.Unknown)
	return p["defaultValue"] != nil && (!is || !unknown)
}

// ownScope reports whether a nested template has parameters and variables of its own.
func ownScope(properties map[string]any) bool {
	options, _ := properties["expressionEvaluationOptions"].(map[string]any)
	scope, _ := options["scope"].(string)
	return strings.EqualFold(scope, "inner")
}

// evaluateNested evaluates a nested template with what it is given.
func (d *deployment) evaluateNested(v, inner map[string]any, n *document.Node) (any, *document.Node) {
	at := fieldNode(n, "template")
	resources := fieldNode(at, "resources")
	if resources == nil {
		return v, n
	}
	own := newDeployment(inner, d.parameterValues(v["parameters"]))
	// The limits are those of the whole file, not of each nested template.
	own.made, own.depth = d.made, d.depth
	whole, template := maps.Clone(v), maps.Clone(inner)
	outer, place := *n, *at
	outer.Fields, place.Fields = maps.Clone(n.Fields), maps.Clone(at.Fields)
	template["resources"], place.Fields["resources"] = own.evaluateValue(inner["resources"], resources)
	whole["template"], outer.Fields["template"] = template, &place
	d.made = own.made
	return whole, &outer
}

package bicep

import (
	"cmp"
	"fmt"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file turns expressions into values, and those that are computed into the
// text of a template's expression.

// maxMade bounds how many values variables stand for: one in another, they double.
const maxMade = 100_000

// convertList converts the items of an array, or what a loop makes of each item.
func (c *converter) convertList(e *expr, at *document.Node) []any {
	list := []any{}
	add := func(item *expr) {
		v, below := c.convertValue(item)
		list, at.Items = append(list, v), append(at.Items, below)
	}
	if e.what == loop {
		c.forEachItem(e, func() { add(e.items[1]) })
		return list
	}
	for _, item := range e.items {
		add(item)
	}
	return list
}

// convertValue returns what an expression is, with its positions.
func (c *converter) convertValue(e *expr) (any, *document.Node) {
	if e == nil {
		return nil, &document.Node{}
	}
	at := &document.Node{Line: e.line, Column: e.column}
	switch e.what {
	case literal:
		return e.value, at
	case object:
		return c.convertObject(e, at), at
	case array, loop:
		return c.convertList(e, at), at
	case ident:
		if v, lines, ok := c.convertName(e, at); ok {
			return v, lines
		}
	}
	if v, ok := c.evaluate(e); ok {
		return v, nodeAt(v, at)
	}
	at.Unknown = e.what == ident && c.params[e.name] && !c.hasValue(e.name) || e.what == operation && e.name == "if"
	return c.bracketed(e), at
}

// convertName returns what a name stands for, if that is written out.
func (c *converter) convertName(e *expr, at *document.Node) (any, *document.Node, bool) {
	if v, ok := c.names[e.name]; ok {
		return v, nodeAt(v, at), true
	}
	if v, lines, ok := c.writtenVariable(e.name); ok {
		lines.Line, lines.Column = e.line, e.column
		return v, lines, true
	}
	// Any other name that is declared nowhere is a resource, or a loop's variable.
	return e.name, at, !c.params[e.name] && c.vars[e.name] == nil
}

// evaluate computes an expression.
func (c *converter) evaluate(e *expr) (any, bool) {
	k := evaluator{env: c, names: c.names}
	return k.evaluate(e)
}

// maxTurns bounds the turns of a loop that are looked at.
const maxTurns = 16

// forEachItem calls the function for each turn of a loop over a known list, else once.
func (c *converter) forEachItem(e *expr, f func()) {
	v, ok := c.evaluate(e.items[0])
	list, isList := v.([]any)
	if !ok || !isList || c.made > maxMade {
		f()
		return
	}
	outer := c.names
	defer func() { c.names = outer }()
	for i, item := range list[:min(len(list), maxTurns)] {
		k := evaluator{names: outer}
		c.names = k.forItem(e, item, i).names
		c.made++
		f()
	}
}

// Parameter returns what was given for a parameter, or its default if it is written
// out. Secrets are left to the rules about parameters.
func (c *converter) Parameter(name string) (any, bool) {
	e, ok := c.defaults[name]
	if !ok {
		return nil, false
	}
	if v, given := c.given[name]; given {
		_, unknown := v.(document.Unknown)
		return v, !unknown
	}
	// An empty text as default asks whoever deploys for a value.
	if e == nil || e.what != literal && e.what != array && e.what != object || e.value == "" || c.open["="+name] {
		return nil, false
	}
	c.open["="+name] = true
	defer delete(c.open, "="+name)
	return c.evaluate(e)
}

// Turn is a function of JSON templates.
func (c *converter) Turn(string) (int64, bool) { return 0, false }

// hasValue reports whether a parameter has a value, known or computed, that rules find
// beside the parameter.
func (c *converter) hasValue(name string) bool {
	v, given := c.given[name]
	_, unknown := v.(document.Unknown)
	return given && !unknown || !given && c.defaults[name] != nil
}

// Variable returns the value of a variable.
func (c *converter) Variable(name string) (any, bool) {
	if v, ok := c.computed[name]; ok {
		_, unknown := v.(document.Unknown)
		return v, !unknown
	}
	e := c.vars[name]
	if e == nil || c.open["="+name] || len(c.open) > maxDepth {
		return nil, false
	}
	c.open["="+name] = true
	defer delete(c.open, "="+name)
	// Without the names of loops: a variable is declared at the top and cannot use them.
	k := evaluator{env: c}
	v, ok := k.evaluate(e)
	if c.computed[name] = v; !ok {
		c.computed[name] = document.Unknown{}
	}
	return v, ok
}

// writtenVariable returns what a variable stands for, when it is written out.
func (c *converter) writtenVariable(name string) (any, *document.Node, bool) {
	e := c.vars[name]
	if e == nil || c.open[name] || len(c.open) > maxDepth || !isWritten(e) {
		return nil, nil, false
	}
	if c.made++; c.made > maxMade {
		return nil, nil, false
	}
	c.open[name] = true
	defer delete(c.open, name)
	v, lines := c.convertValue(e)
	return v, lines, true
}

// isWritten reports whether the expression is a value and nothing to be computed. Of
// objects and lists the parts may be computed.
func isWritten(e *expr) bool {
	switch e.what {
	case literal, object, array, ident:
		return true
	}
	return false
}

// convertObject returns the fields of an object, each at its key.
func (c *converter) convertObject(e *expr, at *document.Node) map[string]any {
	out := make(map[string]any, len(e.fields))
	at.Fields = make(map[string]*document.Node, len(e.fields))
	for _, f := range e.fields {
		key := c.writeExpression(f.key)
		v, below := c.convertValue(f.value)
		below.Line, below.Column = f.line, f.column
		out[key], at.Fields[key] = v, below
	}
	return out
}

// bracketed returns an expression as a template has it.
func (c *converter) bracketed(e *expr) string { return "[" + c.writeExpression(e) + "]" }

// writeExpression returns the text of an expression. Strings are without quotes, which is
// what the query library looks for.
func (c *converter) writeExpression(e *expr) string {
	switch e.what {
	case literal:
		if e.value == nil {
			return "null()"
		}
		return fmt.Sprint(e.value)
	case textParts:
		return c.writeText(e.items)
	case ident:
		return c.writeName(e.name)
	case call:
		if e.base != nil {
			return c.writeExpression(e.base) + "." + e.name + "(" + c.writeList(e.items) + ")"
		}
		return e.name + "(" + c.writeList(e.items) + ")"
	case member:
		return c.writeExpression(e.base) + "." + e.name
	case index:
		return c.writeExpression(e.base) + "[" + c.writeExpression(e.items[0]) + "]"
	case operation:
		return operationName(e) + "(" + c.writeList(e.items) + ")"
	case object:
		return "createObject()"
	case array:
		return "createArray(" + c.writeList(e.items) + ")"
	case loop:
		return "map(" + c.writeList(e.items) + ")"
	}
	return "lambda(" + c.writeList(e.items) + ")"
}

// writeText writes a string with interpolations, which are the odd parts.
func (c *converter) writeText(parts []*expr) string {
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 1 {
			b.WriteString("${" + c.writeExpression(part) + "}")
			continue
		}
		b.WriteString(c.writeExpression(part))
	}
	return "'" + b.String() + "'"
}

// writeName writes a name as the template refers to what it declares.
func (c *converter) writeName(name string) string {
	switch {
	case c.vars[name] != nil:
		return "variables('" + name + "')"
	case c.params[name]:
		return "parameters('" + name + "')"
	}
	return name
}

// writeList joins the texts of expressions by commas.
func (c *converter) writeList(items []*expr) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = c.writeExpression(item)
	}
	return strings.Join(parts, ", ")
}

// operationName returns the function of templates for an operator.
func operationName(e *expr) string { return cmp.Or(operationNames[e.name], e.name) }

// operationNames are the functions of templates that do what an operator does.
var operationNames = map[string]string{
	"==": "equals", "=~": "equals", "!=": "not-equals", "!~": "not-equals", "&&": "and", "||": "or", "!": "not",
	"??": "coalesce", "<": "less", "<=": "lessOrEquals", ">": "greater", ">=": "greaterOrEquals", "+": "add",
	"-": "sub", "*": "mul", "/": "div", "%": "mod",
}

package ansible

import (
	"fmt"
	"maps"

	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// This file holds the variables that hold for a task.

// A candidate is a value of a variable; document.Unknown where nobody knows it.
type candidate struct {
	value any
	maybe bool // for some hosts, or at some times, only
}

// A layer holds variables of one place.
type layer map[string]candidate

// certainLayer makes a layer of values that are certain.
func certainLayer(values map[string]any) layer {
	out := make(layer, len(values))
	for name, v := range values {
		out[name] = candidate{value: v}
	}
	return out
}

// A budget bounds what is computed for a tree.
type budget struct{ left, depth int }

// spendValue counts a value; it is true when nothing is left.
func (b *budget) spendValue() bool {
	b.left--
	return b.left < 0
}

// A scope is the layers that hold at a place, the strongest first.
type scope struct {
	layers []layer
	hidden bool // variables are defined in a way that cannot be read
	// variables that are being evaluated, to find circles
	open   map[string]bool
	budget *budget
}

// withLayers returns the scope below layers that are stronger.
func (s *scope) withLayers(stronger ...layer) *scope {
	out := &scope{hidden: s.hidden, open: map[string]bool{}, budget: s.budget}
	for _, l := range stronger {
		if len(l) > 0 {
			out.layers = append(out.layers, l)
		}
	}
	out.layers = append(out.layers, s.layers...)
	return out
}

// withDefaults returns the scope with a layer that all others are stronger than.
func (s *scope) withDefaults(weaker layer) *scope {
	out := &scope{hidden: s.hidden, open: map[string]bool{}, budget: s.budget,
		layers: append([]layer(nil), s.layers...)}
	if len(weaker) > 0 {
		out.layers = append(out.layers, weaker)
	}
	return out
}

// secretName matches variables whose values must not come into a finding.
var secretName = lazyregexp.New(`(?i)pass|pwd|secret|token|key|cred|auth|dsn|salt|vault`)

// variableValue returns the value of a variable. Where some hosts have another, it is
// unknown.
func (s *scope) variableValue(name string) (any, state) {
	// Findings quote values: a password from a file of variables must not get into a report.
	if s.open[name] || len(s.open) > maxOpen || secretName.MatchString(name) {
		return nil, unknown
	}
	var others []any
	for _, l := range s.layers {
		c, ok := l[name]
		if !ok {
			continue
		}
		if _, is := c.value.(document.Unknown); is {
			return nil, unknown
		}
		if c.maybe {
			others = append(others, c.value)
			continue
		}
		// A stronger layer may have another value for some hosts: only agreement makes it certain.
		for _, o := range others {
			if fmt.Sprint(o) != fmt.Sprint(c.value) {
				return nil, unknown
			}
		}
		s.open[name] = true
		defer delete(s.open, name)
		return s.computeWhole(c.value)
	}
	if len(others) > 0 || s.hidden {
		return nil, unknown
	}
	return nil, undefined
}

// evaluateValue returns a value with what is known put in, and what is not known marked.
// What did not change is shared.
func (s *scope) evaluateValue(v any, n *document.Node) (any, *document.Node) {
	if n == nil || n.Tag != "" || s.budget.depth > document.MaxDepth {
		return v, n
	}
	s.budget.depth++
	defer func() { s.budget.depth-- }()
	switch v := v.(type) {
	case string:
		if !isTemplate(v) {
			return v, n
		}
		if s.budget.spendValue() {
			return v, unknownNode(n)
		}
		if with, ok := s.computeText(v); ok {
			return with, nodeAt(with, n, 0)
		}
		return v, unknownNode(n)
	case map[string]any:
		return s.evaluateMap(v, n)
	case []any:
		return s.evaluateList(v, n)
	}
	return v, n
}

// evaluateMap evaluates the fields of a map, which is copied when the first one changes.
func (s *scope) evaluateMap(m map[string]any, n *document.Node) (any, *document.Node) {
	var out map[string]any
	at := *n
	for key, e := range m {
		with, where := s.evaluateValue(e, n.Fields[key])
		if where == n.Fields[key] {
			continue
		}
		if out == nil {
			out, at.Fields = maps.Clone(m), maps.Clone(n.Fields)
		}
		out[key], at.Fields[key] = with, where
	}
	if out == nil {
		return m, n
	}
	return out, &at
}

// evaluateList evaluates the items of a list, which is copied when the first one changes.
func (s *scope) evaluateList(list []any, n *document.Node) (any, *document.Node) {
	var out []any
	at := *n
	for i, e := range list[:min(len(list), len(n.Items))] {
		with, where := s.evaluateValue(e, n.Items[i])
		if where == n.Items[i] {
			continue
		}
		if out == nil {
			out, at.Items = append([]any(nil), list...), append([]*document.Node(nil), n.Items...)
		}
		out[i], at.Items[i] = with, where
	}
	if out == nil {
		return list, n
	}
	return out, &at
}

// unknownNode is the node of a value that is not known.
func unknownNode(n *document.Node) *document.Node {
	own := *n
	own.Unknown = true
	return &own
}

// nodeAt is the node of a value that is where a template is written.
func nodeAt(v any, n *document.Node, depth int) *document.Node {
	out := &document.Node{Line: n.Line, Column: n.Column, Path: n.Path}
	if depth > document.MaxDepth {
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		out.Fields = make(map[string]*document.Node, len(v))
		for key, e := range v {
			out.Fields[key] = nodeAt(e, n, depth+1)
		}
	case []any:
		for _, e := range v {
			out.Items = append(out.Items, nodeAt(e, n, depth+1))
		}
	}
	return out
}

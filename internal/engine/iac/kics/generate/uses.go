package main

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// This file finds out which rules of the libraries a query may call, so that a scan
// compiles only those. Rules are told by their names alone: a query that has a field
// of the same name keeps a rule too many, which costs a little and changes nothing.

// uses maps the name of each rule of the libraries to the names in its bodies.
type uses map[string]map[string]bool

// usesOf looks through the libraries. It returns all names in order, too.
func usesOf(modules ...*ast.Module) (uses, []string) {
	u := uses{}
	for _, m := range modules {
		for _, r := range m.Rules {
			u[r.Head.Name.String()] = map[string]bool{}
		}
	}
	var names []string
	for name := range u {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, m := range modules {
		for _, r := range m.Rules {
			u.collectNames(r, u[r.Head.Name.String()])
		}
	}
	return u, names
}

// collectNames notes the names of rules that are anywhere in a part of a module.
func (u uses) collectNames(part any, into map[string]bool) {
	note := func(name string) {
		if _, ok := u[name]; ok {
			into[name] = true
		}
	}
	ast.WalkTerms(part, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Var:
			note(string(v))
		case ast.String:
			note(string(v))
		}
		return false
	})
}

// reachableRules returns the positions, among the sorted names, of all rules that a module
// may call, also by way of others.
func (u uses) reachableRules(m *ast.Module) []int {
	reached := map[string]bool{}
	for _, r := range m.Rules {
		u.collectNames(r, reached)
	}
	for grown := true; grown; {
		before := len(reached)
		for name := range reached {
			for below := range u[name] {
				reached[below] = true
			}
		}
		grown = len(reached) > before
	}
	var names []string
	for name := range u {
		names = append(names, name)
	}
	slices.Sort(names)
	out := []int{}
	for i, name := range names {
		if reached[name] {
			out = append(out, i)
		}
	}
	return out
}

package callgraph

import (
	"slices"

	"merlon/internal/engine/sast/ir"
)

// This file finds what somebody can call who has a module.

// The bounds of what is looked at for one module: members of members, and functions.
const (
	maxMembers = 4
	maxExposed = 2000
)

// exposed is a walk through the members of one module's value. Values are visited once each.
type exposed struct {
	*solver
	seen map[value]bool
	list []int32
}

// findExposed notes the functions that each module's value holds, and its members. In a library
// these are the entry points: its callers are not part of the program.
func (s *solver) findExposed() {
	s.Graph.exposed = map[string][]int32{}
	for _, f := range s.Files {
		if f.Lang.Semantics.Exports == "" || f.Module == "" {
			continue
		}
		n, ok := s.globals[f.Module]
		if !ok {
			continue
		}
		e := exposed{solver: s, seen: map[value]bool{}}
		e.visitNode(n, 0)
		if len(e.list) > 0 {
			slices.Sort(e.list)
			s.Graph.exposed[f.Module] = slices.Compact(e.list)
		}
	}
}

// visitNode notes the functions that a node may hold, and goes on with the members of its values.
// The number of functions is bounded, as a library may export a whole tree of objects.
func (e *exposed) visitNode(n int32, depth int) {
	for _, v := range e.pool[e.set[n]] {
		if e.seen[v] || len(e.list) >= maxExposed {
			continue
		}
		e.seen[v] = true
		switch v.kind() {
		case functionValue:
			e.list = append(e.list, v.index())
			e.visitMembers(newValue(madeValue, v.index()), depth)
		case classValue, instanceValue:
			for _, m := range e.Classes[v.index()].Methods {
				e.list = append(e.list, m.ID)
			}
		case moduleValue: // that module tells itself
			continue
		}
		e.visitMembers(v, depth)
	}
}

// visitMembers visits the fields of a value. Values may contain themselves, so the depth is
// bounded.
func (e *exposed) visitMembers(v value, depth int) {
	if depth >= maxMembers {
		return
	}
	for _, f := range e.fieldsOf[v] {
		e.visitNode(f.node, depth+1)
	}
}

// Exposed returns the functions that somebody can call who has the module with the name:
// what was assigned to the module as a whole, and its members, by ID.
func (g *Graph) Exposed(module string) []*ir.Function { return g.functionList(g.exposed[module]) }

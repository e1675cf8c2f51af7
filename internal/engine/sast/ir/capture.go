package ir

import (
	"slices"

	"merlon/internal/engine/sast/tree"
)

// maxShared bounds the variables that a function captures for those that it calls.
const maxShared = 64

// A captureAnalysis finds which variables of outer functions a function needs, by itself and for
// the nested functions that it may call: whoever calls a function that shares a variable must be
// able to pass the variable on.
type captureAnalysis struct {
	*lowerer
	needs [][]int32 // by function: declaring Names of outer functions
	calls [][]int32 // by function: nested functions that it names
}

// shareCaptures fills in lowerer.passedCaptures: a fixed point over the calls between the nested
// functions of the file. Eight rounds are more than nesting in practice needs and bound the time
// for generated code.
func (l *lowerer) shareCaptures() {
	s := &captureAnalysis{lowerer: l, needs: make([][]int32, len(l.Functions)),
		calls: make([][]int32, len(l.Functions))}
	for i := range l.t.Nodes {
		if n := &l.t.Nodes[i]; n.Kind == tree.Name {
			s.noteName(int32(i))
		}
	}
	for _, c := range l.Classes {
		s.linkMethods(c)
	}
	l.passedCaptures = make([][]int32, len(l.Functions))
	for changed, round := true, 0; changed && round < 8; round++ {
		changed = false
		for f := range s.calls {
			for _, callee := range s.calls[f] {
				changed = s.passCaptures(int32(f), callee) || changed
			}
		}
	}
}

// noteName notes what a Name says about the function that it stands in: that the function needs
// the variable of an outer one, or that it may call a nested function or construct a nested class.
func (s *captureAnalysis) noteName(i int32) {
	d := s.names.Declaration(i)
	if d < 0 {
		return
	}
	f, home := s.unit[i], s.unit[d]
	if f != home && home != 0 && !slices.Contains(s.needs[f], d) {
		s.needs[f] = append(s.needs[f], d)
	}
	by := s.declaringNode(d)
	if by < 0 || d == i {
		return
	}
	owner, ok := s.owner[by]
	switch {
	case !ok:
	case s.t.Is(by, tree.Function) && s.unit[by] != 0:
		s.addCall(f, owner)
	case s.t.Is(by, tree.Class) && s.unit[by] != 0:
		s.addClassCalls(f, s.Classes[owner])
	}
}

// addCall notes that a function names a nested function, and so may call it.
func (s *captureAnalysis) addCall(f, callee int32) {
	if f != callee && !slices.Contains(s.calls[f], callee) {
		s.calls[f] = append(s.calls[f], callee)
	}
}

// addClassCalls makes a function one that may call every method of the class. Whoever names a
// class can construct it and call its methods through the object.
func (s *captureAnalysis) addClassCalls(f int32, c *Class) {
	for _, m := range c.Methods {
		s.addCall(f, m.Index)
	}
	if c.Init != nil {
		s.addCall(f, c.Init.Index)
	}
	if c.Static != nil {
		s.addCall(f, c.Static.Index)
	}
}

// linkMethods makes the methods of a class in a function callers of each other, and of
// those of its bases in the file.
func (s *captureAnalysis) linkMethods(c *Class) {
	if s.unit[c.Node] == 0 {
		return
	}
	related := []*Class{c}
	for _, b := range s.Classes {
		if slices.Contains(c.Bases, b.Qualified) && s.unit[b.Node] != 0 {
			related = append(related, b)
		}
	}
	own := slices.Clone(c.Methods)
	if c.Init != nil {
		own = append(own, c.Init)
	}
	for _, m := range own {
		for _, r := range related {
			s.addClassCalls(m.Index, r)
		}
	}
}

// passCaptures gives a function what its callee needs of functions around both. It reports whether
// anything was added, for the fixed point of shareCaptures. Functions that the variable's home
// does not surround cannot see it.
func (s *captureAnalysis) passCaptures(f, callee int32) bool {
	changed := false
	for _, d := range s.needs[callee] {
		home := s.unit[d]
		if home == f || slices.Contains(s.needs[f], d) || len(s.passedCaptures[f]) >= maxShared ||
			!s.isNestedIn(f, home) {
			continue
		}
		s.needs[f] = append(s.needs[f], d)
		s.passedCaptures[f] = append(s.passedCaptures[f], d)
		changed = true
	}
	return changed
}

// isNestedIn reports whether the function is nested in the other one. Only then can it use the
// variables of the other one.
func (s *captureAnalysis) isNestedIn(f, outer int32) bool {
	for fn := s.Functions[f].Parent; fn != nil; fn = fn.Parent {
		if fn.Index == outer {
			return true
		}
	}
	return false
}

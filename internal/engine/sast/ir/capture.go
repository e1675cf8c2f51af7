package ir

import (
	"slices"

	"merlon/internal/engine/sast/tree"
)

// maxShared bounds the variables that a function captures for those that it calls.
const maxShared = 64

// sharing tells which variables of outer functions a function needs, by itself and
// for the nested functions that it may call: whoever calls a function that shares a
// variable must be able to pass the variable on.
type sharing struct {
	*lowerer
	needs [][]int32 // by function: declaring Names of outer functions
	calls [][]int32 // by function: nested functions that it names
}

// shareCaptures fills in lowerer.passed.
func (l *lowerer) shareCaptures() {
	s := &sharing{lowerer: l, needs: make([][]int32, len(l.Functions)), calls: make([][]int32, len(l.Functions))}
	for i := range l.t.Nodes {
		if n := &l.t.Nodes[i]; n.Kind == tree.Name {
			s.note(int32(i))
		}
	}
	for _, c := range l.Classes {
		s.members(c)
	}
	l.passed = make([][]int32, len(l.Functions))
	for changed, round := true, 0; changed && round < 8; round++ {
		changed = false
		for f := range s.calls {
			for _, callee := range s.calls[f] {
				changed = s.pass(int32(f), callee) || changed
			}
		}
	}
}

// note notes what a Name says about the function that it stands in.
func (s *sharing) note(i int32) {
	d := s.names.Declaration(i)
	if d < 0 {
		return
	}
	f, home := s.unit[i], s.unit[d]
	if f != home && home != 0 && !slices.Contains(s.needs[f], d) {
		s.needs[f] = append(s.needs[f], d)
	}
	by := s.declarator(d)
	if by < 0 || d == i {
		return
	}
	owner, ok := s.owner[by]
	switch {
	case !ok:
	case s.t.Is(by, tree.Function) && s.unit[by] != 0:
		s.call(f, owner)
	case s.t.Is(by, tree.Class) && s.unit[by] != 0:
		s.callClass(f, s.Classes[owner])
	}
}

func (s *sharing) call(f, callee int32) {
	if f != callee && !slices.Contains(s.calls[f], callee) {
		s.calls[f] = append(s.calls[f], callee)
	}
}

// callClass makes a function one that may call every method of the class.
func (s *sharing) callClass(f int32, c *Class) {
	for _, m := range c.Methods {
		s.call(f, m.Index)
	}
	if c.Init != nil {
		s.call(f, c.Init.Index)
	}
	if c.Static != nil {
		s.call(f, c.Static.Index)
	}
}

// members makes the methods of a class in a function callers of each other, and of
// those of its bases in the file.
func (s *sharing) members(c *Class) {
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
			s.callClass(m.Index, r)
		}
	}
}

// pass gives a function what its callee needs of functions around both.
func (s *sharing) pass(f, callee int32) bool {
	changed := false
	for _, d := range s.needs[callee] {
		home := s.unit[d]
		if home == f || slices.Contains(s.needs[f], d) || len(s.passed[f]) >= maxShared || !s.within(f, home) {
			continue
		}
		s.needs[f] = append(s.needs[f], d)
		s.passed[f] = append(s.passed[f], d)
		changed = true
	}
	return changed
}

// within reports whether the function is nested in the other one.
func (s *sharing) within(f, outer int32) bool {
	for fn := s.Functions[f].Parent; fn != nil; fn = fn.Parent {
		if fn.Index == outer {
			return true
		}
	}
	return false
}

package frame

import (
	"slices"

	"merlon/internal/engine/sast/taint/value"
)

// This file joins states where paths of the control flow meet.

// Merge joins a state into another, which it changes, or into a new one; changed tells
// whether that says more than it did.
func (a *Frame) Merge(into, from *State) (out *State, changed bool) {
	return a.MergeVars(into, from, a.places.kept)
}

// joinedObjects is how many objects of two states are joined for the cost of a step.
const joinedObjects = 16

// MergeVars is merge for the variables whose places are below a number.
func (a *Frame) MergeVars(into, from *State, vars int) (out *State, changed bool) {
	if into == nil {
		c := *from
		c.Vars, c.Heap = slices.Clone(from.Vars[:min(vars, len(from.Vars))]), slices.Clone(from.Heap)
		return &c, true
	}
	for i, v := range from.Vars[:min(vars, len(from.Vars))] {
		old := into.Vars[i]
		if v == old {
			continue
		}
		if j := value.Join(old, v); j != old {
			into.Vars[i] = j
			changed = changed || !j.Same(old)
		}
	}
	if t := into.Control.Union(from.Control); !t.Same(into.Control) {
		into.Control, changed = t, true
	}
	if len(into.Approved) > 0 {
		if both := bothApproved(into.Approved, from.Approved); !slices.Equal(both, into.Approved) {
			into.Approved, changed = both, true
		}
	}
	n := max(len(into.Heap), len(from.Heap))
	a.Scratch.Steps += int64(n / joinedObjects)
	for i := 0; i < n; i++ {
		id := value.ObjectID(i)
		old := into.Object(id)
		if j := a.mergeObject(id, old, from.Object(id)); j != old {
			into.Put(id, j)
			changed = changed || !j.Same(old)
		}
	}
	return into, changed
}

// mergeObject joins two states of an object.
func (a *Frame) mergeObject(id value.ObjectID, o, p *value.Object) *value.Object {
	if o == p {
		return o
	}
	info := &a.Objects[id]
	if o == nil || p == nil {
		if info.Input == nil { // made on one way only
			if o == nil {
				return p
			}
			return o
		}
	}
	if o == nil {
		o = &value.Object{Size: value.Unsized}
	} else if p == nil {
		p = &value.Object{Size: value.Unsized}
	}
	if o.Same(p) {
		return o
	}
	return a.JoinObjects(info, o, p)
}

// JoinObjects returns what is known of an object that is in one of two states.
func (a *Frame) JoinObjects(info *value.ObjectInfo, o, p *value.Object) *value.Object {
	j := &value.Object{
		Elements: value.Join(o.Elements, p.Elements), Keys: value.Join(o.Keys, p.Keys), Self: o.Self.Union(p.Self),
		Text: value.Join(o.Text, p.Text), Size: o.Size, Weak: o.Weak || p.Weak,
	}
	if o.Size != p.Size {
		o, p = o.Clone(), p.Clone()
		o.ForgetPositions()
		p.ForgetPositions()
		j.Elements, j.Size = value.Join(o.Elements, p.Elements), value.Unsized
	}
	missing := func(from *value.Object, name string) *value.Value {
		v := from.Elements
		if info.Input != nil {
			return value.Join(a.partOf(info.Input, name), v)
		}
		return value.OrUnknown(v)
	}
	i, k := 0, 0
	for i < len(o.Fields) || k < len(p.Fields) {
		switch {
		case k == len(p.Fields) || i < len(o.Fields) && o.Fields[i].Name < p.Fields[k].Name:
			f := o.Fields[i]
			j.Fields = append(j.Fields, value.Field{Name: f.Name, Value: value.Join(f.Value, missing(p, f.Name))})
			i++
		case i == len(o.Fields) || p.Fields[k].Name < o.Fields[i].Name:
			f := p.Fields[k]
			j.Fields = append(j.Fields, value.Field{Name: f.Name, Value: value.Join(missing(o, f.Name), f.Value)})
			k++
		default:
			j.Fields = append(j.Fields,
				value.Field{Name: o.Fields[i].Name, Value: value.Join(o.Fields[i].Value, p.Fields[k].Value)})
			i, k = i+1, k+1
		}
	}
	if j.Same(o) {
		return o
	}
	return j
}

// Borrow returns a copy of a state with room for all variables, in memory that is used
// again: giveBack takes it.
func (a *Frame) Borrow(s *State) *State {
	w := a.Scratch
	n := len(w.idle)
	if n == 0 {
		return a.copyState(s, &State{})
	}
	st := w.idle[n-1]
	w.idle = w.idle[:n-1]
	return a.copyState(s, st)
}

// GiveBack takes a state that nobody looks at any more.
func (a *Frame) GiveBack(st *State) { a.Scratch.idle = append(a.Scratch.idle, st) }

// copyState copies a state into another, with room for all variables.
func (a *Frame) copyState(s, into *State) *State {
	vars := slices.Grow(into.Vars[:0], a.Function.Vars)[:a.Function.Vars]
	clear(vars[copy(vars, s.Vars):])
	*into = State{Vars: vars, Heap: append(into.Heap[:0], s.Heap...), Control: s.Control, Approved: s.Approved}
	return into
}

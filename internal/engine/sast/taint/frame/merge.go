package frame

import (
	"slices"

	"merlon/internal/engine/sast/taint/value"
)

// This file joins states where paths of the control flow meet.
//
// A state at a join says what is valid on every path: values are joined (may be this or that),
// approvals are intersected (must have been checked on all paths).

// Merge joins a state into another, which it changes, or into a new one; changed tells
// whether that says more than it did.
// changed is true only when the joined state contains something new. The fixed point of loops
// depends on it: without a change the block is not interpreted again.
func (a *Frame) Merge(into, from *State) (out *State, changed bool) {
	return a.MergeVars(into, from, a.places.kept)
}

// joinedObjects is how many objects of two states are joined for the cost of a step.
// Joining objects costs less than interpreting an instruction; 16 objects count as one step of
// the budget.
const joinedObjects = 16

// MergeVars is merge for the variables whose places are below a number.
// Temporaries live within a block; outside of it only the variables below the number are
// needed.
func (a *Frame) MergeVars(into, from *State, vars int) (out *State, changed bool) {
	// The first path that reaches the join becomes the state; it is copied, since the caller's
	// state goes on.
	if into == nil {
		c := *from
		c.Vars, c.Heap = slices.Clone(from.Vars[:min(vars, len(from.Vars))]), slices.Clone(from.Heap)
		return &c, true
	}
	for i, v := range from.Vars[:min(vars, len(from.Vars))] {
		// Most variables are identical pointers, which makes the comparison cheap.
		old := into.Vars[i]
		if v == old {
			continue
		}
		// Join returns the old pointer if nothing is new. Same compares by content, for values
		// that were built anew.
		if j := value.Join(old, v); j != old {
			into.Vars[i] = j
			changed = changed || !j.Same(old)
		}
	}
	// Control taint of either path may have led here.
	if t := into.Control.Union(from.Control); !t.Same(into.Control) {
		into.Control, changed = t, true
	}
	// A check that only one of the paths has made is worth nothing behind the join.
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
	// An object that was made on one path only keeps its state: on the other path nobody can refer
	// to it.
	if o == nil || p == nil {
		if info.Input == nil { // made on one way only
			if o == nil {
				return p
			}
			return o
		}
	}
	// An input that one path has not touched has the parts that the caller gave: it is an object
	// without known parts.
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
// Positions are known only while both states have the same size. Fields that one state lacks
// get what a read there would give.
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
	// A part that was never written: for an input the caller's part, otherwise the value of
	// unknown elements.
	missing := func(from *value.Object, name string) *value.Value {
		v := from.Elements
		if info.Input != nil {
			return value.Join(a.partOf(info.Input, name), v)
		}
		return value.OrUnknown(v)
	}
	// Fields are sorted by name in both objects, so that one pass merges them.
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
	// The old object is returned if nothing is new, which keeps the pointers of states equal.
	if j.Same(o) {
		return o
	}
	return j
}

// Borrow returns a copy of a state with room for all variables, in memory that is used
// again: giveBack takes it.
// States are large slices; without reuse they would be most of the garbage of an analysis.
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
// The state must not be referred to any more, also not by a part of another one.
func (a *Frame) GiveBack(st *State) { a.Scratch.idle = append(a.Scratch.idle, st) }

// copyState copies a state into another, with room for all variables.
func (a *Frame) copyState(s, into *State) *State {
	vars := slices.Grow(into.Vars[:0], a.Function.Vars)[:a.Function.Vars]
	// The remaining variables are cleared, since the memory has values of an earlier state.
	clear(vars[copy(vars, s.Vars):])
	*into = State{Vars: vars, Heap: append(into.Heap[:0], s.Heap...), Control: s.Control, Approved: s.Approved}
	return into
}

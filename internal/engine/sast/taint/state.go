package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
)

// This file joins states where ways of the control flow meet.

// merge joins a state into another, which it changes, or into a new one; changed tells
// whether that says more than it did.
func (a *analysis) merge(into, from *state) (out *state, changed bool) {
	return a.mergeVars(into, from, a.places.kept)
}

// joinedObjects is how many objects of two states are joined for the cost of a step.
const joinedObjects = 16

// mergeVars is merge for the variables whose places are below a number.
func (a *analysis) mergeVars(into, from *state, vars int) (out *state, changed bool) {
	if into == nil {
		c := *from
		c.vars, c.heap = slices.Clone(from.vars[:min(vars, len(from.vars))]), slices.Clone(from.heap)
		return &c, true
	}
	for i, v := range from.vars[:min(vars, len(from.vars))] {
		old := into.vars[i]
		if v == old {
			continue
		}
		if j := join(old, v); j != old {
			into.vars[i] = j
			changed = changed || !j.same(old)
		}
	}
	if t := into.control.union(from.control); !t.same(into.control) {
		into.control, changed = t, true
	}
	if len(into.approved) > 0 {
		if both := bothApproved(into.approved, from.approved); !slices.Equal(both, into.approved) {
			into.approved, changed = both, true
		}
	}
	n := max(len(into.heap), len(from.heap))
	a.work.steps += int64(n / joinedObjects)
	for i := 0; i < n; i++ {
		id := objID(i)
		old := into.object(id)
		if j := a.mergeObject(id, old, from.object(id)); j != old {
			into.put(id, j)
			changed = changed || !j.same(old)
		}
	}
	return into, changed
}

// mergeObject joins two states of an object.
func (a *analysis) mergeObject(id objID, o, p *object) *object {
	if o == p {
		return o
	}
	info := &a.objects[id]
	if o == nil || p == nil {
		if info.atom == nil { // made on one way only
			if o == nil {
				return p
			}
			return o
		}
	}
	if o == nil {
		o = &object{size: unsized}
	} else if p == nil {
		p = &object{size: unsized}
	}
	if o.same(p) {
		return o
	}
	return a.joinObjects(info, o, p)
}

func (a *analysis) joinObjects(info *objInfo, o, p *object) *object {
	j := &object{
		elems: join(o.elems, p.elems), keys: join(o.keys, p.keys), self: o.self.union(p.self),
		text: join(o.text, p.text), size: o.size, many: o.many || p.many,
	}
	if o.size != p.size {
		o, p = o.clone(), p.clone()
		o.blur()
		p.blur()
		j.elems, j.size = join(o.elems, p.elems), unsized
	}
	missing := func(from *object, name string) *value {
		v := from.elems
		if info.atom != nil {
			return join(a.part(info.atom, name), v)
		}
		return orUnknown(v)
	}
	i, k := 0, 0
	for i < len(o.fields) || k < len(p.fields) {
		switch {
		case k == len(p.fields) || i < len(o.fields) && o.fields[i].name < p.fields[k].name:
			f := o.fields[i]
			j.fields = append(j.fields, field{f.name, join(f.val, missing(p, f.name))})
			i++
		case i == len(o.fields) || p.fields[k].name < o.fields[i].name:
			f := p.fields[k]
			j.fields = append(j.fields, field{f.name, join(missing(o, f.name), f.val)})
			k++
		default:
			j.fields = append(j.fields, field{o.fields[i].name, join(o.fields[i].val, p.fields[k].val)})
			i, k = i+1, k+1
		}
	}
	if j.same(o) {
		return o
	}
	return j
}

// borrow returns a copy of a state with room for all variables, in memory that is used
// again: giveBack takes it.
func (a *analysis) borrow(s *state) *state {
	w := a.work
	n := len(w.idle)
	if n == 0 {
		return a.copyState(s, &state{})
	}
	st := w.idle[n-1]
	w.idle = w.idle[:n-1]
	return a.copyState(s, st)
}

// giveBack takes a state that nobody looks at any more.
func (a *analysis) giveBack(st *state) { a.work.idle = append(a.work.idle, st) }

// copyState copies a state into another, with room for all variables.
func (a *analysis) copyState(s, into *state) *state {
	vars := slices.Grow(into.vars[:0], a.fn.Vars)[:a.fn.Vars]
	clear(vars[copy(vars, s.vars):])
	*into = state{vars: vars, heap: append(into.heap[:0], s.heap...), control: s.control, approved: s.approved}
	return into
}

// A varPlaces says where states have the variables of a function. Those that several
// blocks use come first: a state between blocks has no others.
type varPlaces struct {
	of   []int32 // by variable
	kept int     // how many several blocks use
}

// placeVars places the variables. With all, every one is taken for used by several.
func (r *run) placeVars(fn *ir.Function, all bool) varPlaces {
	p := varPlaces{of: make([]int32, fn.Vars), kept: fn.Vars}
	if all {
		for v := range p.of {
			p.of[v] = int32(v)
		}
		return p
	}
	briefs := findBriefs(fn)
	r.keepAsked(fn, briefs)
	p.kept = 0
	brief := fn.Vars - 1
	for v := range p.of {
		if briefs[v] {
			p.of[v] = int32(brief)
			brief--
		} else {
			p.of[v] = int32(p.kept)
			p.kept++
		}
	}
	return p
}

// findBriefs finds the temporaries that only one block uses: other blocks need not know
// of them.
func findBriefs(fn *ir.Function) []bool {
	home := make([]int32, fn.Vars) // 1 + the block that uses it, -1 for several
	note := func(v ir.Var, b int32) {
		switch {
		case v < 0 || int(v) >= fn.Vars:
		case home[v] == 0:
			home[v] = b + 1
		case home[v] != b+1:
			home[v] = -1
		}
	}
	for b := range fn.Blocks {
		for i := fn.Blocks[b].Start; i < fn.Blocks[b].End; i++ {
			eachVar(fn, &fn.Code[i], func(v ir.Var) { note(v, int32(b)) })
		}
	}
	out := make([]bool, fn.Vars)
	for v := len(fn.Locals); v < fn.Vars; v++ {
		out[v] = home[v] > 0
	}
	return out
}

// keepAsked keeps what calls were asked about whose answer a variable holds: a condition
// may ask for it later.
func (r *run) keepAsked(fn *ir.Function, briefs []bool) {
	for i := range fn.Code {
		in := &fn.Code[i]
		if in.Op != ir.Copy || !fn.IsLocal(in.Dst) || in.A < 0 {
			continue
		}
		if d := fn.Def(in.A); d >= 0 && fn.Code[d].Op == ir.Invoke && r.set(fn).Guards(fn.Call(&fn.Code[d]).Name) {
			eachVar(fn, &fn.Code[d], func(v ir.Var) {
				if v >= 0 && int(v) < fn.Vars {
					briefs[v] = false
				}
			})
		}
	}
}

// eachVar calls f for every variable of an instruction.
func eachVar(fn *ir.Function, in *ir.Instr, f func(ir.Var)) {
	f(in.Dst)
	switch in.Op {
	case ir.Concat:
		for _, v := range fn.Operands(in) {
			f(v)
		}
		return
	case ir.Invoke:
		c := fn.Call(in)
		f(c.Receiver)
		f(c.Callee)
		for _, arg := range fn.Args(c) {
			f(arg.Value)
		}
		return
	}
	f(in.A)
	f(in.B)
	f(in.C)
}

package frame

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// AllConstant reports whether every element of a collection is a constant.
// An allow list is such a collection: if x is in it, x is one of the constants.
func (a *Frame) AllConstant(st *State, v *value.Value) bool {
	if v.IsKnown() {
		// null in place of a list is no list of constants.
		return v.Constant.Kind != value.NullConstant
	}
	if len(v.Objects) == 0 {
		return false
	}
	for _, id := range v.Objects {
		o, info := st.Object(id), &a.Objects[id]
		// A global constant list is not in the state of the function; the survey knows it.
		if o == nil && a.Run.HoldsConstants(info.Input) {
			continue
		}
		// An incomplete object may have further elements that are not known.
		if o == nil || !info.Complete || !holdsConstants(o, info) {
			return false
		}
	}
	return true
}

// holdsConstants reports whether an object holds something, and constants alone. The
// values of a map may be anything: its keys are what is compared.
// An empty collection proves nothing: x in [] is never true.
func holdsConstants(o *value.Object, info *value.ObjectInfo) bool {
	if len(o.Self) > 0 || len(o.Fields) == 0 && o.Elements == nil {
		return false
	}
	if o.Elements != nil && (!o.Elements.IsKnown() && o.Elements.Kind != value.KindString ||
		len(o.Elements.Taint) > 0) {
		return false
	}
	for _, f := range o.Fields {
		if !f.Value.IsKnown() && info.Kind != value.KindMap {
			return false
		}
	}
	return true
}

// HasConstantKeys reports whether every key of a map is a constant.
// Such a map is an allow list for the key that is looked up in it.
func (a *Frame) HasConstantKeys(st *State, v *value.Value) bool {
	for _, id := range v.Objects {
		o, info := st.Object(id), &a.Objects[id]
		if o == nil && a.Run.HoldsConstants(info.Input) {
			continue
		}
		if o == nil || !info.Complete || info.Kind != value.KindMap || info.Input != nil || o.Keys != nil ||
			o.Elements != nil ||
			len(o.Self) > 0 || len(o.Fields) == 0 {
			return false
		}
	}
	return len(v.Objects) > 0
}

// SoleAssignment returns the one instruction that gives the variable a value, -1 when there
// are none or several.
// Temporaries have one definition by construction; named variables are searched.
func (a *Frame) SoleAssignment(v ir.Var) int32 {
	if v < 0 || !a.Function.IsLocal(v) {
		return a.Function.Def(v)
	}
	found := int32(-1)
	for i := range a.Function.Code {
		if a.Function.Code[i].Dst == v {
			if found >= 0 {
				return -1
			}
			found = int32(i)
		}
	}
	return found
}

// Sanitize returns the value made harmless. Its origins stay, so that a function
// which approves of its parameter can be told. Parts of inputs are no longer told
// apart, because they are approved of together.
func (a *Frame) Sanitize(st *State, v *value.Value, kinds uint64) *value.Value {
	w := *v
	// The kinds are added to Clean; the taint itself stays, because another kind of sink is still
	// reachable.
	w.Taint = a.DeepTaint(st, v).FilterMap(func(e *taintset.Element) bool {
		e.Clean |= kinds
		return true
	})
	w.Objects = nil
	for _, id := range v.Objects {
		// Objects of the caller are dropped: their parts were approved of together, and the parts
		// of the caller's object are unknown here.
		if a.Objects[id].Input != nil {
			continue
		}
		// A library's object without parts that are known is its taint, which is here
		// already. In a loop the object stands for others, of which nothing was asked.
		if o := st.Object(id); o == nil || !o.Weak && !o.IsOpaque() {
			w.Objects = append(w.Objects, id)
		}
		a.cleanObject(st, id, kinds)
	}
	return &w
}

// cleanObject makes an object harmless.
func (a *Frame) cleanObject(st *State, id value.ObjectID, kinds uint64) {
	// A weak object stands for several instances, of which only one was checked.
	o := st.Object(id)
	if o == nil || o.Weak {
		return
	}
	o = o.Clone()
	o.Self = o.Self.Sanitized(kinds)
	if o.Text != nil {
		o.Text = o.Text.WithTaint(o.Text.Taint.Sanitized(kinds))
	}
	for i, f := range o.Fields {
		if f.Value != nil {
			o.Fields[i].Value = f.Value.WithTaint(f.Value.Taint.Sanitized(kinds))
		}
	}
	if o.Elements != nil {
		o.Elements = o.Elements.WithTaint(o.Elements.Taint.Sanitized(kinds))
	}
	st.Put(id, o)
}

// Refine changes the value of a variable and of where it was read from.
// An example is if (isSafe(user.name)): both the temporary and the field of the object become
// safe, so that the next read of user.name is safe as well.
func (a *Frame) Refine(st *State, v ir.Var, f func(*value.Value) *value.Value) {
	if v < 0 {
		return
	}
	old := a.Read(st, v)
	st.Vars[a.places.of[v]] = f(old)
	i := a.Function.Def(v)
	if i < 0 {
		return
	}
	switch in := &a.Function.Code[i]; in.Op {
	case ir.Copy:
		if in.A == ir.NoVar {
			return
		}
		// The source of the copy changes only if it still has the same value.
		if x := a.Read(st, in.A); x.Same(old) {
			if a.Function.IsLocal(in.A) {
				a.Assign(st, in.A, f(x))
			} else {
				a.Refine(st, in.A, f)
			}
		}
	case ir.LoadField:
		a.Store(st, a.Read(st, in.A), in.Text, f(old))
	case ir.LoadGlobal:
		if a.Run.Declares(in.Text) {
			a.Store(st, a.Globals(), in.Text, f(old))
		}
	case ir.LoadIndex:
		// An unknown index may be another element the next time.
		if key, known := a.IndexKey(st, in); known {
			a.Store(st, a.Read(st, in.A), key, f(old))
		}
	case ir.Cast:
		a.Refine(st, in.A, f)
	}
}

package survey

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/taintset"
)

// This file finds the globals that hold a collection of constants: the allow-lists that
// programs keep beside their functions.

// constantList reports whether a variable is defined as a collection that is not
// empty, all of whose elements, or keys, are constants of the function's text.
func (r *Survey) constantList(fn *ir.Function, v ir.Var, depth int) bool {
	i := fn.Def(v)
	if i < 0 || depth > 4 {
		return false
	}
	in := &fn.Code[i]
	switch in.Op {
	case ir.Copy, ir.Cast:
		return r.constantList(fn, in.A, depth+1)
	case ir.New:
		return in.Text == "{}" && r.constantKeys(fn, v) || in.Text != "{}" && r.constantElements(fn, v)
	case ir.Invoke:
		return r.constantCopy(fn, fn.Call(in), depth)
	}
	return false
}

// constantElements reports whether every element stored to a new list is a constant.
func (r *Survey) constantElements(fn *ir.Function, list ir.Var) bool {
	n := 0
	for i := range fn.Code {
		in := &fn.Code[i]
		if in.Op != ir.StoreIndex && in.Op != ir.StoreField || in.A != list {
			continue
		}
		value := in.C
		if in.Op == ir.StoreField {
			value = in.B
		}
		if r.constantOf(fn, value, 0) == nil {
			return false
		}
		n++
	}
	return n > 0
}

// constantKeys reports whether every key of a new map is known.
func (r *Survey) constantKeys(fn *ir.Function, object ir.Var) bool {
	n := 0
	for i := range fn.Code {
		in := &fn.Code[i]
		if in.Op != ir.StoreIndex && in.Op != ir.StoreField || in.A != object {
			continue
		}
		if in.Op == ir.StoreIndex &&
			(in.Text == "..." || in.Text == "" && (in.B == ir.NoVar || r.constantOf(fn, in.B, 0) == nil)) {
			return false
		}
		n++
	}
	return n > 0
}

// constantCopy reports whether a call makes a collection of constants, or passes one on.
func (r *Survey) constantCopy(fn *ir.Function, c *ir.Call, depth int) bool {
	name := c.Qualified
	if c.Kind == ir.CallNew {
		name += ".new"
	}
	if !slices.ContainsFunc(r.ModelsOf(fn).Match(name)[model.Operations], func(e *model.Entry) bool {
		return e.Kind == "list.copy" || e.Kind == "list.of" || e.Kind == "value.same"
	}) {
		return false
	}
	args := fn.Args(c)
	for _, arg := range args {
		if r.constantOf(fn, arg.Value, 0) == nil && !r.constantList(fn, arg.Value, depth+1) {
			return false
		}
	}
	return len(args) > 0
}

// HoldsConstants reports whether an object is a global that holds such a collection.
func (r *Survey) HoldsConstants(at *taintset.Origin) bool {
	return at != nil && at.In.Kind == taintset.Global && len(at.Path) > 1 && r.lists[at.Path[1:]]
}

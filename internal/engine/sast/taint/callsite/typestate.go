package callsite

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/survey"
)

// This file tracks typestate: configuration calls that make an object safe, such as a
// parser with external entities disabled, or a response with a content type that no
// browser shows as a page. Models name these calls ("value.settle"), and conditions ask
// for them ("this is settled"). The state holds for the receiver and for what it makes:
// the parser of a factory, the writer of a response. A field is configured when every
// value that its file stores in it is, the result of a call when every function that the
// call may mean returns such a value.

// settles names the operation.
const settles = "value.settle"

// Settle notes what the call settles: its receiver, or what the only function that it
// can mean settles of its arguments.
func (c *Site) Settle(targets []Target) {
	if slices.ContainsFunc(c.Matches(model.Operations), func(e *model.Entry) bool {
		return e.Kind == settles && c.Holds(e.If)
	}) {
		c.Frame.NoteSettled(c.State, survey.OriginOf(c.Frame.Function, c.Call.Receiver))
	}
	if len(targets) != 1 {
		return
	}
	fn := targets[0].Function
	for _, p := range settledIn(c.Frame, fn) {
		k := slices.IndexFunc(fn.Params, func(q ir.Param) bool { return q.Var == p.Root })
		if k >= 0 && p.Path == "" && k < len(c.Args) && c.Args[k].From != ir.NoVar {
			c.Frame.NoteSettled(c.State, survey.OriginOf(c.Frame.Function, c.Args[k].From))
		}
	}
}

// isSettled reports whether what a variable holds is settled.
func (c *Site) isSettled(v ir.Var) bool {
	if v == ir.NoVar {
		return false
	}
	a, at := c.Frame, survey.OriginOf(c.Frame.Function, v)
	for i := range c.State.Approved {
		if p := &c.State.Approved[i]; p.Within(at.Root, frame.SettledMark+at.Path) {
			return true
		}
	}
	if at.Path != "" && (at.Root == a.Function.This || at.Root == ir.NoVar) {
		return fieldSettled(a, model.Last(at.Path))
	}
	i := survey.AssignedOnce(a.Function, at.Root)
	if i < 0 || a.Function.Code[i].Op != ir.Invoke || at.Path != "" {
		return false
	}
	targets, _ := New(a, c.State, i).Targets()
	return len(targets) > 0 && !slices.ContainsFunc(targets, func(t Target) bool {
		return !returnsSettled(a, t.Function)
	})
}

// fieldSettled reports whether every value that the file stores in a field, or global,
// of that name is settled by the function that stores it.
func fieldSettled(a *frame.Frame, name string) bool {
	found := false
	for _, fn := range a.Function.File.Functions {
		for i := range fn.Code {
			in := &fn.Code[i]
			stores := in.Op == ir.StoreField && in.Text == name || in.Op == ir.StoreGlobal &&
				model.Last(in.Text) == name
			if !stores || survey.IsNull(fn, in.B) {
				continue
			}
			at := survey.Place{Root: fn.This, Path: "." + name}
			if in.Op == ir.StoreGlobal {
				at = survey.Place{Root: ir.NoVar, Path: "." + in.Text}
			}
			if found = true; !settledBy(a, fn, survey.OriginOf(fn, in.B)) && !settledBy(a, fn, at) {
				return false
			}
		}
	}
	return found
}

// returnsSettled reports whether a function settles everything that it returns.
func returnsSettled(a *frame.Frame, fn *ir.Function) bool {
	found := false
	for i := range fn.Code {
		if in := &fn.Code[i]; in.Op == ir.Return && in.A != ir.NoVar && !survey.IsNull(fn, in.A) {
			if found = true; !settledBy(a, fn, survey.OriginOf(fn, in.A)) {
				return false
			}
		}
	}
	return found
}

// settledBy reports whether a function settles, somewhere, what is at a place of it.
func settledBy(a *frame.Frame, fn *ir.Function, at survey.Place) bool {
	return slices.ContainsFunc(settledIn(a, fn), func(p survey.Place) bool { return p.Covers(at) })
}

// settledIn returns what calls of a function settle, whatever its state.
func settledIn(a *frame.Frame, fn *ir.Function) []survey.Place {
	if list, ok := a.Run.Settled.Load(fn); ok {
		return list
	}
	list := []survey.Place{}
	for i := range fn.Calls {
		c := &fn.Calls[i]
		if c.Receiver == ir.NoVar {
			continue
		}
		k := modelindex.CallKey{NameKey: modelindex.NameKey{Language: fn.File.Lang, Name: c.Name}, Kind: c.Kind,
			Qualified: c.Qualified, Type: c.Type,
			HasReceiver: true}
		n := a.Scratch.Calls[k]
		if n == nil {
			n = a.Run.FindCallNames(fn, &k)
			a.Scratch.Calls[k] = n
		}
		for _, m := range n.Matches {
			if slices.ContainsFunc(m[model.Operations], func(e *model.Entry) bool {
				return e.Kind == settles && a.Run.HoldsAlways(fn, c, e.If)
			}) {
				list = append(list, survey.OriginOf(fn, c.Receiver))
			}
		}
	}
	a.Run.Settled.LoadOrStore(fn, list)
	return list
}

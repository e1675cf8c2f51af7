package taint

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file knows what a call has settled about its receiver: that a parser resolves
// no entities, that a response is no page. Models say which calls settle
// ("value.settle"), and conditions ask ("this is settled"). What is settled holds for
// the receiver and for what it makes: the parser of a factory, the writer of a
// response. Inside of a function it is part of the state. A field is settled when
// every value that its file stores in it is, a call's result when every function that
// the call may mean returns such a value.

// settledMark begins the path of what is settled, among the paths of a state.
const settledMark = ".#"

// settles names the operation.
const settles = "value.settle"

// A settledPlace is a variable, or members of it, that calls of a function settle.
type settledPlace struct {
	root ir.Var
	path string
}

// covers reports whether what is settled at the place is so at another: it is the
// same, or a part of it.
func (p settledPlace) covers(q settledPlace) bool {
	return p.root == q.root && strings.HasPrefix(q.path, p.path) && (len(q.path) == len(p.path) ||
		q.path[len(p.path)] == '.')
}

// origin returns what a variable was made from: the local that holds it, or the
// members of one. Methods that were called on the way are left out.
func origin(fn *ir.Function, v ir.Var) settledPlace {
	path := ""
	for range 2 * maxAssume {
		i := assignedOnce(fn, v)
		if i < 0 {
			break
		}
		in := &fn.Code[i]
		next := in.A
		switch in.Op {
		case ir.Copy, ir.Cast:
		case ir.LoadField:
			path = "." + in.Text + path
		case ir.LoadGlobal:
			return settledPlace{ir.NoVar, "." + in.Text + path}
		case ir.Invoke:
			next = fn.Call(in).Receiver
			if j := assignedOnce(fn, next); next == ir.NoVar ||
				j >= 0 && (fn.Code[j].Op == ir.LoadGlobal || fn.Code[j].Op == ir.ClassValue) {
				return settledPlace{v, path} // a static method: nothing is known of the class
			}
		default:
			return settledPlace{v, path}
		}
		v = next
	}
	return settledPlace{v, path}
}

// settle notes what the call settles: its receiver, or what the only function that it
// can mean settles of its arguments.
func (c *callSite) settle(targets []target) {
	if slices.ContainsFunc(c.matches(model.Operations), func(e *model.Entry) bool {
		return e.Kind == settles && c.holds(e.If)
	}) {
		c.a.settled(c.st, origin(c.a.fn, c.call.Receiver))
	}
	if len(targets) != 1 {
		return
	}
	fn := targets[0].fn
	for _, p := range c.a.settledIn(fn) {
		k := slices.IndexFunc(fn.Params, func(q ir.Param) bool { return q.Var == p.root })
		if k >= 0 && p.path == "" && k < len(c.args) && c.args[k].from != ir.NoVar {
			c.a.settled(c.st, origin(c.a.fn, c.args[k].from))
		}
	}
}

func (a *analysis) settled(st *state, p settledPlace) {
	if p.root == ir.NoVar && p.path == "" || len(st.approved) >= maxApproved {
		return
	}
	st.approved = append(slices.Clone(st.approved), approvedPath{p.root, settledMark + p.path, allKinds})
}

// isSettled reports whether what a variable holds is settled.
func (c *callSite) isSettled(v ir.Var) bool {
	if v == ir.NoVar {
		return false
	}
	a, at := c.a, origin(c.a.fn, v)
	for i := range c.st.approved {
		if p := &c.st.approved[i]; p.within(at.root, settledMark+at.path) {
			return true
		}
	}
	if at.path != "" && (at.root == a.fn.This || at.root == ir.NoVar) {
		return a.fieldSettled(model.Last(at.path))
	}
	i := assignedOnce(a.fn, at.root)
	if i < 0 || a.fn.Code[i].Op != ir.Invoke || at.path != "" {
		return false
	}
	targets, _ := a.callSite(c.st, i).targets()
	return len(targets) > 0 && !slices.ContainsFunc(targets, func(t target) bool { return !a.returnsSettled(t.fn) })
}

// fieldSettled reports whether every value that the file stores in a field, or global,
// of that name is settled by the function that stores it.
func (a *analysis) fieldSettled(name string) bool {
	found := false
	for _, fn := range a.fn.File.Functions {
		for i := range fn.Code {
			in := &fn.Code[i]
			stores := in.Op == ir.StoreField && in.Text == name || in.Op == ir.StoreGlobal &&
				model.Last(in.Text) == name
			if !stores || isNull(fn, in.B) {
				continue
			}
			at := settledPlace{fn.This, "." + name}
			if in.Op == ir.StoreGlobal {
				at = settledPlace{ir.NoVar, "." + in.Text}
			}
			if found = true; !a.settledBy(fn, origin(fn, in.B)) && !a.settledBy(fn, at) {
				return false
			}
		}
	}
	return found
}

// returnsSettled reports whether a function settles everything that it returns.
func (a *analysis) returnsSettled(fn *ir.Function) bool {
	found := false
	for i := range fn.Code {
		if in := &fn.Code[i]; in.Op == ir.Return && in.A != ir.NoVar && !isNull(fn, in.A) {
			if found = true; !a.settledBy(fn, origin(fn, in.A)) {
				return false
			}
		}
	}
	return found
}

// settledBy reports whether a function settles, somewhere, what is at a place of it.
func (a *analysis) settledBy(fn *ir.Function, at settledPlace) bool {
	return slices.ContainsFunc(a.settledIn(fn), func(p settledPlace) bool { return p.covers(at) })
}

// settledIn returns what calls of a function settle, whatever its state.
func (a *analysis) settledIn(fn *ir.Function) []settledPlace {
	if list, ok := a.run.settled.Load(fn); ok {
		return list.([]settledPlace)
	}
	list := []settledPlace{}
	for i := range fn.Calls {
		c := &fn.Calls[i]
		if c.Receiver == ir.NoVar {
			continue
		}
		k := callKey{nameKey: nameKey{fn.File.Lang, c.Name}, kind: c.Kind, qualified: c.Qualified, typ: c.Type,
			recv: true}
		n := a.work.calls[k]
		if n == nil {
			n = a.run.callNames(fn, &k)
			a.work.calls[k] = n
		}
		for _, m := range n.matches {
			if slices.ContainsFunc(m[model.Operations], func(e *model.Entry) bool {
				return e.Kind == settles && a.run.holdsAlways(fn, c, e.If)
			}) {
				list = append(list, origin(fn, c.Receiver))
			}
		}
	}
	a.run.settled.Store(fn, list)
	return list
}

// holdsAlways reports whether conditions on arguments hold by the function's text alone.
func (r *run) holdsAlways(fn *ir.Function, c *ir.Call, list []model.Condition) bool {
	args := fn.Args(c)
	for i := range list {
		cond := &list[i]
		if cond.Place.Base != model.Argument || cond.Place.Index < 0 || cond.Place.Index >= len(args) ||
			len(cond.Place.Steps) > 0 {
			return false
		}
		v := args[cond.Place.Index].Value
		known := r.constantOf(fn, v, 0)
		holds := false
		switch {
		case cond.Test == model.Is && cond.Type:
			holds = namesGlobal(fn, v, cond.Word)
		case known == nil:
			return false
		case cond.Test == model.Like:
			holds = cond.Like.MatchString(known.c.String())
		case cond.Test == model.Equals:
			holds = equalsWord(known.c, cond.Word)
		case cond.Test == model.Is:
			b, ok := known.truth()
			holds = ok && b == (cond.Word == "true")
		}
		if holds == cond.Not {
			return false
		}
	}
	return true
}

// namesGlobal reports whether a variable is the global, or the member of a class, of
// the name.
func namesGlobal(fn *ir.Function, v ir.Var, name string) bool {
	at := origin(fn, v)
	return at.root == ir.NoVar && at.path == "."+name
}

// isNull reports whether a variable is the constant null.
func isNull(fn *ir.Function, v ir.Var) bool {
	i := assignedOnce(fn, v)
	return i >= 0 && fn.Code[i].Op == ir.Const && ir.ConstKind(fn.Code[i].X) == ir.ConstNull
}

// assignedOnce returns the one instruction that gives the variable a value other than
// null, -1 when there are none or several.
func assignedOnce(fn *ir.Function, v ir.Var) int32 {
	if v < 0 || !fn.IsLocal(v) {
		return fn.Def(v)
	}
	found := int32(-1)
	for i := range fn.Code {
		in := &fn.Code[i]
		if in.Dst != v || in.Op == ir.Copy && in.A != v && in.A >= 0 && !fn.IsLocal(in.A) && isNull(fn, in.A) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = int32(i)
	}
	return found
}

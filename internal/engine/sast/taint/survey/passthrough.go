package survey

import (
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/modelindex"
)

// This file finds globals that hold a module of a library, what a library made of one of
// its functions, or an object that it made.

// held is what libraries gave to the members of the object literals of a function, by
// the object's variable and the key.
type held map[ir.Var]map[string]string

// noteMember notes a member that is set.
func (h held) noteMember(r *Survey, fn *ir.Function, in *ir.Instr) {
	object := fn.Def(in.A)
	if object < 0 || fn.Code[object].Op != ir.New {
		return
	}
	if name := r.passedOn(fn, in.B, 0); name != "" {
		if h[in.A] == nil {
			h[in.A] = map[string]string{}
		}
		h[in.A][in.Text] = name
	}
}

// notePassed notes what a library gave to a global, or to a member of the object literal
// that it holds: the name of the member is the global's with the key.
func (r *Survey) notePassed(fn *ir.Function, in *ir.Instr, members held) {
	if name := r.passedOn(fn, in.B, 0); name != "" {
		r.APIs[in.Text] = name
		return
	}
	for key, name := range members[in.B] {
		r.APIs[in.Text+"."+key] = name
	}
}

// passedOnly keeps what is known of globals that are set once, and comes, by way of
// other such globals, from outside of the program.
func (r *Survey) passedOnly(stores map[string]int, modules map[string]bool) {
	apis := map[string]string{}
	for name, api := range r.APIs {
		for range 4 {
			if next := r.APIs[api]; next != "" && stores[api] == 1 {
				api = next
			}
		}
		holder := strings.TrimSuffix(name[:len(name)-len(model.Last(name))], ".")
		if stores[name] <= 1 && stores[holder] <= 1 && !r.declared[api] && !modules[api] {
			apis[name] = api
		}
	}
	r.APIs = apis
}

// passedOn returns the name of what a library's function got from another and gives
// back, "" when it is anything else: promisify(child_process.exec).
func (r *Survey) passedOn(fn *ir.Function, v ir.Var, depth int) string {
	if fn.Kind == ir.TopLevel && fn.IsLocal(v) && fn.Locals[v].Kind == ir.Declared {
		return strings.TrimPrefix(fn.File.Module+"."+fn.Locals[v].Name, ".")
	}
	i := fn.Def(v)
	if i < 0 || depth > 4 {
		return ""
	}
	switch in := &fn.Code[i]; in.Op {
	case ir.Copy, ir.Await:
		return r.passedOn(fn, in.A, depth+1)
	case ir.LoadGlobal:
		return in.Text
	case ir.LoadIndex:
		if d := fn.Def(in.A); in.Text == "0" && d >= 0 && fn.Code[d].Op == ir.Invoke && fn.File.Lang.Semantics.CommaOk {
			return r.madeType(fn, fn.Call(&fn.Code[d])) // the error stands behind it
		}
	case ir.Invoke:
		c := fn.Call(in)
		if name := r.madeType(fn, c); name != "" {
			return name
		}
		if args := fn.Args(c); len(args) > 0 && c.Direct < 0 && r.passesArgument(fn, c.Qualified) {
			return r.passedOn(fn, args[0].Value, depth+1)
		}
	}
	return ""
}

// madeType returns the type of what a library's function makes, or the name that models
// have for it; "" when they say nothing of it.
func (r *Survey) madeType(fn *ir.Function, c *ir.Call) string {
	name := c.Qualified
	if i := fn.Def(c.Callee); name == "" && i >= 0 && fn.Code[i].Op == ir.LoadGlobal {
		name = fn.Code[i].Text // require("knex")({})
	}
	if name == "" || c.Direct >= 0 {
		return ""
	}
	if c.Kind == ir.CallNew {
		name += ".new"
	}
	set := r.ModelsOf(fn)
	for _, e := range set.Match(name)[model.Types] {
		if e.Form == model.Call && e.Type != "" && len(e.If) == 0 && modelindex.IsReturn(e.Places) {
			return e.Type
		}
	}
	if set.Known(name + "()") {
		return name + "()"
	}
	return ""
}

// passesArgument reports whether a function of a library answers its first argument.
func (r *Survey) passesArgument(fn *ir.Function, name string) bool {
	for _, e := range r.ModelsOf(fn).Match(name)[model.Summaries] {
		for _, f := range e.Flows {
			if f.From.Base == model.Argument && f.From.Index == 0 && len(f.From.Steps) == 0 &&
				f.To.Base == model.Return && len(f.To.Steps) == 0 {
				return true
			}
		}
	}
	return false
}

package taint

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file finds globals that hold what a library made of one of its functions.

// passedOn returns the name of what a library's function got from another and gives
// back, "" when it is anything else: promisify(child_process.exec).
func (r *run) passedOn(fn *ir.Function, v ir.Var, depth int) string {
	i := fn.Def(v)
	if i < 0 || depth > 4 {
		return ""
	}
	switch in := &fn.Code[i]; in.Op {
	case ir.Copy:
		return r.passedOn(fn, in.A, depth+1)
	case ir.LoadGlobal:
		if depth > 0 && !r.declared[in.Text] {
			return in.Text
		}
	case ir.Invoke:
		c := fn.Call(in)
		if args := fn.Args(c); len(args) > 0 && c.Direct < 0 && r.passes(fn, c.Qualified) {
			return r.passedOn(fn, args[0].Value, depth+1)
		}
	}
	return ""
}

// passes reports whether a function of a library answers its first argument.
func (r *run) passes(fn *ir.Function, name string) bool {
	for _, e := range r.set(fn).Match(name)[model.Summaries] {
		for _, f := range e.Flows {
			if f.From.Base == model.Argument && f.From.Index == 0 && len(f.From.Steps) == 0 && f.To.Base == model.Return && len(f.To.Steps) == 0 {
				return true
			}
		}
	}
	return false
}

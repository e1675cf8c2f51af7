package taint

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/model"
)

// This file tells applications from libraries.

// handled is how many places of a program must read what requests bring for it to be
// an application. A library may read one or two: a middleware, a small server.
const handled = 5

// application reports whether the program answers requests itself. What it exports is
// then for its own files: its callers from outside come as requests.
func (r *run) application() bool {
	n := 0
	r.sources.Range(func(k, _ any) bool {
		if s := k.(source); s.kind == "remote" && !lang.Aside(s.file.Tree.Path) {
			n++
		}
		return n < handled
	})
	return n >= handled
}

// byNames returns what models know of functions by the names of their first two
// parameters: "named.req.res" is what everybody calls those of a handler.
func (r *run) byNames(fn *ir.Function) *model.Matches {
	if len(fn.Params) < 2 || fn.Params[0].Name == "" || fn.Params[1].Name == "" {
		return &model.Matches{}
	}
	return r.set(fn).Match("named." + fn.Params[0].Name + "." + fn.Params[1].Name)
}

package taint

import (
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/model"
)

// This file tells applications from libraries.

// handled is how many places of a program must read what requests bring for it to be
// an application. A library may read one or two: a middleware, a small server.
const handled = 5

// crowd is how many functions of an application there are at most for one such place.
// Where there are more, requests are a side of a library: a client with callbacks, a
// toolkit with one module for the web.
const crowd = 100

// application reports whether the program answers requests itself. What it exports is
// then for its own files: its callers from outside come as requests.
func (r *run) application() bool {
	places, functions := 0, 0
	r.sources.Range(func(k, _ any) bool {
		if s := k.(source); s.kind == "remote" && !lang.Aside(s.file.Tree.Path) {
			places++
		}
		return true
	})
	r.summaries.Range(func(k, _ any) bool {
		if key := k.(summaryKey); key.ctx == "" && key.fn.Kind != ir.TopLevel {
			functions++
		}
		return true
	})
	return places >= handled && places*crowd >= functions
}

// byNames returns what models know of functions by the names of two parameters that
// follow each other, and where they are: "named.req.res" is what everybody calls those of
// a handler, which may have others before them (options that were bound). Handlers of
// errors are left out: they answer what was refused, and mostly to paths of the own site.
func (r *run) byNames(fn *ir.Function) (*model.Matches, int) {
	for i := 1; i < len(fn.Params); i++ {
		first, second := fn.Params[i-1].Name, fn.Params[i].Name
		if first == "" || second == "" || i > 1 && strings.HasPrefix(fn.Params[i-2].Name, "err") {
			continue
		}
		if m := r.set(fn).Match("named." + first + "." + second); !m.Empty() {
			return m, i - 1
		}
	}
	return &model.Matches{}, 0
}

package findings

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/syncmap"
	"merlon/internal/engine/sast/taint/taintset"
)

// This file tells applications from libraries.

// handled is how many places of a program must read what requests bring for it to be
// an application. A library may read one or two: a middleware, a small server.
const handled = 5

// crowd is how many functions of an application there are at most for one such place.
// Where there are more, requests are a side of a library: a client with callbacks, a
// toolkit with one module for the web.
const crowd = 100

// isApplication reports whether the program answers requests itself. What it exports is
// then for its own files: its callers from outside come as requests.
func isApplication(origins *taintset.Origins, sums *syncmap.Map[summary.Key, *summary.Summary]) bool {
	places, functions := 0, 0
	origins.Sources.Range(func(s taintset.Source, _ *taintset.Source) bool {
		if s.Kind == "remote" && !lang.Aside(s.File.Tree.Path) {
			places++
		}
		return true
	})
	sums.Range(func(key summary.Key, _ *summary.Summary) bool {
		if key.Context == "" && key.Function.Kind != ir.TopLevel {
			functions++
		}
		return true
	})
	return places >= handled && places*crowd >= functions
}

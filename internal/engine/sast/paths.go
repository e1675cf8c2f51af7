package sast

import (
	"slices"
	"sync"

	"merlon/internal/engine/sast/rule"
	"merlon/internal/scan/glob"
)

// This file decides by the paths of a rule which files it looks at.

// Applies reports whether the rule looks at the file. Exclusion comes before inclusion. A pattern
// that is malformed applies to nothing; the reader of rules has reported it.
func Applies(r *rule.Rule, path string) bool {
	covers := func(pattern string) bool {
		g := compileGlob(pattern)
		return g != nil && g.Covers(path)
	}
	if slices.ContainsFunc(r.Exclude, covers) {
		return false
	}
	return len(r.Include) == 0 || slices.ContainsFunc(r.Include, covers)
}

var globs sync.Map // of *glob.Glob by pattern; nil for one that is no pattern

// compileGlob compiles a pattern of a rule, once. The reader of rules has refused
// what is no pattern; in a rule of another maker it names nothing.
func compileGlob(pattern string) *glob.Glob {
	if g, ok := globs.Load(pattern); ok {
		return g.(*glob.Glob)
	}
	g, err := rule.Glob(pattern)
	if err != nil {
		g = nil
	}
	globs.Store(pattern, g)
	return g
}

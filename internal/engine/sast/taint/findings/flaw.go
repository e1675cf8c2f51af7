package findings

import (
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/tree"
)

// This file merges findings that are one flaw, though they are at several places.

// A flawKey is what findings of one flaw have in common: the expression that is slow, the
// function that writes by a key that others choose, or the function that does harm, in
// whatever number of places, with one parameter of the program's interface.
type flawKey struct {
	family     string
	expression Point
	fn         *ir.Function
	parameter  *taintset.Source
}

// flawKeyOf returns what makes the finding one flaw with others; ok is false for a finding
// that is a flaw of its own.
func (f *Finding) flawKeyOf() (k flawKey, ok bool) {
	switch {
	case f.sink.Rule >= 0:
		return k, false
	case f.Expression != nil:
		return flawKey{family: f.Rule.Family(), expression: *f.Expression}, true
	case f.Kind == model.Inherited:
		return flawKey{family: f.Rule.Rule.ID, fn: f.sink.Function}, true
	case f.source != nil && f.source.Kind == model.Library:
		return flawKey{family: f.Rule.Rule.ID, fn: f.sink.Function, parameter: f.source}, true
	}
	return k, false
}

// isWorseThan reports whether a finding tells more of a slow expression than one before it: a
// graver rule, or, of equals, a place where a text is matched and not only the expression.
func (f *Finding) isWorseThan(old *Finding) bool {
	a, b := f.Rule.Rule.Severity.Rank(), old.Rule.Rule.Severity.Rank()
	return a > b || a == b && old.isExpressionAlone() && !f.isExpressionAlone()
}

// isExpressionAlone reports whether a slow expression was found where it is written.
func (f *Finding) isExpressionAlone() bool { return f.Expression != nil && f.Sink() == *f.Expression }

// Deduplicate returns the findings of a list, which has the order of their sinks, with one for
// each flaw. A slow expression is mended where it is written, however often it is used:
// the worst of its uses counts, and of equals the first. A function that writes by a
// foreign key is mended once: its last write counts, because those before it make the
// levels that lead there. What a caller gives is checked once where it comes in: the first
// place of a function counts.
func Deduplicate(list []*Finding) []*Finding {
	list = withoutStatus(list)
	best := map[flawKey]*Finding{}
	for _, f := range list {
		k, ok := f.flawKeyOf()
		if !ok {
			continue
		}
		old := best[k]
		if old == nil || k.fn != nil && k.parameter == nil || f.isWorseThan(old) {
			best[k] = f
		}
	}
	out := list[:0]
	for _, f := range list {
		if k, ok := f.flawKeyOf(); !ok || best[k] == f {
			out = append(out, f)
		}
	}
	return out
}

// A pathKey is the path of a file as one function or its callbacks have it: what the
// same source gives in the same words of one file.
type pathKey struct {
	rule   *rulematch.Rule
	source Point
	file   *ir.File
	words  string
}

// withoutStatus leaves out what only asks about a path that is used for more: a file is
// asked whether it is there before it is sent. Of several questions the first stays.
func withoutStatus(list []*Finding) []*Finding {
	used := map[pathKey]bool{}
	for _, f := range list {
		if f.Kind == model.Path {
			used[f.pathKeyOf()] = true
		}
	}
	out := list[:0]
	for _, f := range list {
		if f.Kind == model.PathStatus {
			k := f.pathKeyOf()
			if used[k] {
				continue
			}
			used[k] = true
		}
		out = append(out, f)
	}
	return out
}

// pathKeyOf returns which path a finding speaks of: that which the call at the sink is given
// first.
func (f *Finding) pathKeyOf() pathKey {
	t := f.sink.Function.File.Tree
	node := f.sink.Node
	if t.Nodes[node].Role == tree.RoleProperty { // the name of a call stands for it; see place
		node = t.Nodes[t.Nodes[node].Parent].Parent
	}
	words := strings.Join(strings.Fields(t.Code(t.Child(node, tree.RoleArgument))), " ")
	return pathKey{f.Rule, Point{f.source.File, f.source.Node}, f.sink.Function.File, words}
}

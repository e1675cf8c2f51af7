// Package taintset has the taint of values: sets of origins, each with the kinds of
// sinks for which it is sanitized and the trace of its way.
//
// An origin is a source of the program, or an access path from an input of the function
// that is analysed, for which callers fill in their own origins. Sets are sorted and
// bounded, and do not change once they are made.
package taintset

import (
	"slices"

	"merlon/internal/engine/sast/ir"
)

// A Set is who chose a value, sorted by origin. Nil is clean.
type Set []Element

// An Element is one origin of a value.
type Element struct {
	Origin *Origin
	Clean  uint64 // bits of the kinds of sinks for which it is harmless
	Trace  *Step
}

// maxTaint bounds the origins of one value. What is beyond is the later part of
// the order of origins: callers' inputs are kept before sources.
const maxTaint = 24

// maxGlobalTaint bounds the globals among the origins of one value: a value with more
// comes from everywhere, and they must not crowd out the others.
const maxGlobalTaint = 4

// fullOfGlobals reports whether the taint has as many globals as it may, all before
// the one.
func (t Set) fullOfGlobals(at *Origin) bool {
	n := 0
	for i := range t {
		if t[i].Origin.IsGlobal() && t[i].Origin.Compare(at) < 0 {
			n++
		}
	}
	return n >= maxGlobalTaint
}

// Union joins two taints: an origin that comes on two ways is clean only for what
// both ways made it clean for. Parts of an input that is there with all of its parts
// are left out.
func (t Set) Union(u Set) Set {
	if len(u) == 0 {
		return t
	}
	if len(t) == 0 {
		return u
	}
	if t.Covers(u) {
		return t
	}
	out := make(Set, 0, min(len(t)+len(u), maxTaint))
	var f filter
	i, j := 0, 0
	for (i < len(t) || j < len(u)) && len(out) < maxTaint {
		e := Element{}
		switch c := compareAt(t, i, u, j); {
		case c < 0:
			e = t[i]
			i++
		case c > 0:
			e = u[j]
			j++
		default:
			e = Element{t[i].Origin, t[i].Clean & u[j].Clean, shorterTrace(t[i].Trace, u[j].Trace)}
			i, j = i+1, j+1
		}
		if f.acceptElement(&e) {
			out = append(out, e)
		}
	}
	return out
}

// A filter leaves out of sorted origins what the others say already, and globals
// beyond maxGlobalTaint.
type filter struct {
	wholes  [MaxPath]Element // origins that stand for all of their parts
	n       int              // of wholes
	globals int
}

// acceptElement reports whether the element stays: no part of an origin that is there as a
// whole, and no more globals than are kept. Elements come sorted, so that the wholes above
// one are on the stack.
func (f *filter) acceptElement(e *Element) bool {
	for i := range f.n {
		if f.wholes[i].absorbsPart(e) {
			return false
		}
	}
	if e.Origin.IsGlobal() {
		if f.globals++; f.globals > maxGlobalTaint {
			return false
		}
	}
	if e.Origin.Deep {
		for f.n > 0 && (f.n == len(f.wholes) || !f.wholes[f.n-1].Origin.isAbove(e.Origin)) {
			f.n--
		}
		f.wholes[f.n] = *e
		f.n++
	}
	return true
}

// compareAt orders the elements at two places; what is behind the end is last.
func compareAt(t Set, i int, u Set, j int) int {
	switch {
	case i == len(t):
		return 1
	case j == len(u):
		return -1
	}
	return t[i].Origin.Compare(u[j].Origin)
}

// absorbsPart reports whether e, an input with all of its parts, says what f says of one
// of the parts.
func (e *Element) absorbsPart(f *Element) bool {
	return e.Origin.Deep && e.Clean&^f.Clean == 0 && e.Origin.isAbove(f.Origin)
}

// Covers reports whether t says all that u says, on ways that are no longer, and would
// not grow by it.
func (t Set) Covers(u Set) bool {
	from := 0
	for k := range u {
		e := &u[k]
		i := from
		for i < len(t) && t[i].Origin != e.Origin {
			i++
		}
		if i == len(t) {
			if len(t) == maxTaint && t[i-1].Origin.Compare(e.Origin) < 0 {
				return true
			}
			if e.Origin.IsGlobal() && t.fullOfGlobals(e.Origin) {
				continue
			}
			if !slices.ContainsFunc(t, func(f Element) bool { return f.absorbsPart(e) }) {
				return false
			}
			continue
		}
		if t[i].Clean&^e.Clean != 0 || t[i].Trace.Length() > e.Trace.Length() {
			return false
		}
		from = i + 1
	}
	return true
}

// Same reports whether two taints have the same origins, cleaned for the same.
func (t Set) Same(u Set) bool {
	return slices.EqualFunc(t, u, func(a, b Element) bool { return a.Origin == b.Origin && a.Clean == b.Clean })
}

// Filter returns the elements for which f holds: the taint itself when these are all.
func (t Set) Filter(f func(*Element) bool) Set {
	for i := range t {
		if f(&t[i]) {
			continue
		}
		out := slices.Clone(t[:i])
		for j := i + 1; j < len(t); j++ {
			if f(&t[j]) {
				out = append(out, t[j])
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return t
}

// FilterMap returns the taint with every element changed by f; those for which it
// returns false go.
func (t Set) FilterMap(f func(*Element) bool) Set {
	if len(t) == 0 {
		return nil
	}
	out := make(Set, 0, len(t))
	for _, e := range t {
		if f(&e) {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// AllKinds has the bit of every kind.
const AllKinds = ^uint64(0)

// Sanitized returns the taint made harmless for the kinds.
func (t Set) Sanitized(kinds uint64) Set {
	if !slices.ContainsFunc(t, func(e Element) bool { return kinds&^e.Clean != 0 }) {
		return t
	}
	return t.FilterMap(func(e *Element) bool {
		e.Clean |= kinds
		return true
	})
}

// At returns the taint with one more step in each way.
func (t Set) At(fn *ir.Function, node int32) Set {
	if !slices.ContainsFunc(t, func(e Element) bool {
		return e.Trace == nil || e.Trace.Function != fn || e.Trace.Node != node
	}) {
		return t
	}
	return t.Through(NextStep{Function: fn, Node: node})
}

// Through returns the taint with the step of the way added to each way.
func (t Set) Through(w NextStep) Set {
	out := slices.Clone(t)
	var s steps
	for i := range out {
		out[i].Trace = s.appendStep(out[i].Trace, &w, len(out)-i)
	}
	return out
}

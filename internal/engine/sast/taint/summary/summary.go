// Package summary has what a function does, in terms of its inputs: its result, what it
// leaves in objects, and what arrives at sinks. A summary holds for a function alone, or
// in a context: what a caller knows of the inputs.
package summary

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// A Summary says what a function does, in terms of its inputs. It belongs to the
// function alone, or to the function in a context.
type Summary struct {
	Function     *ir.Function
	Context      Facts
	Work         int64 // that it took, of one in a context that was computed apart
	Objects      []value.ObjectInfo
	Heap         []*value.Object // what is left in objects: of inputs what was written
	Result       *value.Value
	Thrown       *value.Value
	Pending      []*PendingSink
	Needs        []*taintset.Origin
	NeverReturns bool // does not return

	// Approvals tells for which kinds a parameter is harmless after a call that
	// answers no, one that answers yes, and one that returns at all.
	Approvals  [3][]Approval
	OverBudget bool
	Callees    []*Summary // that were applied
	Cost       int        // instructions that it took to interpret the function and what it calls
	OwnCost    int        // instructions that it took to interpret the function
}

// The answers of approves.
const (
	WhenFalse = iota
	WhenTrue
	WhenReturned
)

// An Approval is a parameter and the kinds for which it is approved of.
type Approval struct {
	Parameter int32
	Kinds     uint64
}

// Same reports whether two summaries of a function say the same, whatever the ways are
// that data takes.
func (s *Summary) Same(t *Summary) bool {
	if s.NeverReturns != t.NeverReturns || s.OverBudget != t.OverBudget || len(s.Heap) != len(t.Heap) ||
		len(s.Objects) != len(t.Objects) ||
		!s.Result.Same(t.Result) || !s.Thrown.Same(t.Thrown) || !slices.Equal(s.Needs, t.Needs) {
		return false
	}
	for i := range s.Approvals {
		if !slices.Equal(s.Approvals[i], t.Approvals[i]) {
			return false
		}
	}
	for id := range s.Heap {
		if !s.Heap[id].Same(t.Heap[id]) {
			return false
		}
	}
	return slices.EqualFunc(s.Objects, t.Objects, func(a, b value.ObjectInfo) bool {
		return a.Key == b.Key && a.Depth == b.Depth
	}) &&
		slices.EqualFunc(s.Pending, t.Pending, func(p, q *PendingSink) bool {
			return p.SinkKey == q.SinkKey && p.Harmless == q.Harmless && p.Taint.Same(q.Taint)
		})
}

// A Key names a function in a context.
type Key struct {
	Function *ir.Function
	Context  string
}

// Weight measures how much a summary says. It only grows from round to round.
func (s *Summary) Weight() int {
	n := len(s.Result.TaintOrNone()) + len(s.Thrown.TaintOrNone()) + len(s.Needs)
	for _, p := range s.Pending {
		n += 1 + len(p.Taint)
	}
	for _, o := range s.Heap {
		if o == nil {
			continue
		}
		n += 1 + len(o.Self) + len(o.Elements.TaintOrNone()) + len(o.Text.TaintOrNone())
		for _, f := range o.Fields {
			n += 1 + len(f.Value.TaintOrNone())
		}
	}
	return n
}

package summary

import (
	"cmp"
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/taint/taintset"
)

// A SinkKey is a place of the program where data of a kind must not arrive.
type SinkKey struct {
	Function *ir.Function
	Node     int32
	Kind     string
	Rule     int32 // of a rule's own sink, -1 for one of a model
	Spec     int32

	Match *pattern.Match // of the rule's sink
}

// A PendingSink is data that arrived at a sink.
type PendingSink struct {
	SinkKey
	Harmless uint64 // data is harmless that is clean for one of these
	Taint    taintset.Set
}

// Compare orders sinks by their locations, kinds and rules.
func (k SinkKey) Compare(l SinkKey) int {
	return cmp.Or(cmp.Compare(k.Function.File.Tree.Path, l.Function.File.Tree.Path), cmp.Compare(k.Node, l.Node),
		cmp.Compare(k.Kind, l.Kind), cmp.Compare(k.Rule, l.Rule), cmp.Compare(k.Spec, l.Spec),
		cmp.Compare(k.Function.Index, l.Function.Index), taintset.CompareMatches(k.Match, l.Match))
}

// maxPending bounds the sinks of one summary.
const maxPending = 400

// SortSinks returns the sinks in order.
func SortSinks(m map[SinkKey]*PendingSink) []*PendingSink {
	list := make([]*PendingSink, 0, len(m))
	for _, p := range m {
		list = append(list, p)
	}
	slices.SortFunc(list, func(p, q *PendingSink) int { return p.Compare(q.SinkKey) })
	if len(list) > maxPending {
		list = list[:maxPending]
	}
	return list
}

package rulematch

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
)

// HasLabel reports whether a source of the rule with the label is in the taint.
func (r *Set) HasLabel(k int32, t taintset.Set, label string) bool {
	return slices.ContainsFunc(t, func(e taintset.Element) bool {
		s := e.Origin.Source
		return s != nil && s.Rule == k && e.Clean&r.RuleBit(k) == 0 && r.Label(s) == label
	})
}

// Relabelled is added to the number of a propagator that gives data a new label.
const Relabelled = 1 << 16

// Label returns the label of a source of a rule.
func (r *Set) Label(s *taintset.Source) string {
	t := r.Rules[s.Rule].Rule.Taint
	if s.Spec >= Relabelled {
		return t.Propagators[s.Spec-Relabelled].Label
	}
	return t.Sources[s.Spec].Label
}

// A Set is the rules of a run that have places of their own. Their data is followed
// as their format says: every operator and unknown call carries it, and models have no
// say.
type Set struct {
	Rules     []*Rule
	Marks     map[*ir.Function]*Marks
	RuleBits  []uint64
	AllRules  uint64
	HasPlaces bool // rules have places of their own

	SafeCalls, SafeIndexes, SafeComparisons, SafePrimitives, AssignOnly uint64 // bits of rules
}

// RuleBit returns the bit of what the sanitizers of a rule clean.
func (r *Set) RuleBit(k int32) uint64 {
	if int(k) < len(r.RuleBits) {
		return r.RuleBits[k]
	}
	return 0
}

// JudgesTogether reports whether what arrives at a sink is judged together: a rule asks for
// labels, or data has to meet an expression.
func (r *Set) JudgesTogether(k summary.SinkKey) bool {
	if k.Rule < 0 {
		return k.Kind == model.Match
	}
	s := &r.Rules[k.Rule].Rule.Taint.Sinks[k.Spec]
	return s.Requires != nil || len(s.RequiresEach) > 0
}

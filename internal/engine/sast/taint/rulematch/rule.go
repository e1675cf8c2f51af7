// Package rulematch matches the patterns of taint rules, and finds the instructions for
// which the matches stand: sources, sinks, sanitizers and propagators.
package rulematch

import (
	"slices"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
)

// A Rule is a rule in taint mode. Places are what its own patterns match, by the path
// of the file; a rule that asks only for models needs none.
type Rule struct {
	Rule   *rule.Rule
	Places map[string]*Places
}

// HasPatterns reports whether the rule says places of its own.
func (r *Rule) HasPatterns() bool {
	t := r.Rule.Taint
	return len(t.Sources)+len(t.Sinks)+len(t.Sanitizers)+len(t.Propagators) > 0
}

// Wants reports whether the rule, which has the number k in its run, asks for data of
// the source at the sink.
func (r *Rule) Wants(k int32, s *taintset.Source, p *summary.PendingSink) bool {
	m := r.Rule.Taint.Model
	asked := s.Rule == k || s.Rule < 0 && m != nil && slices.Contains(m.Sources, s.Kind)
	return asked && (p.Rule == k || p.Rule < 0 && m != nil && slices.Contains(m.Sinks, p.Kind))
}

// AppliesTo reports whether the rule is for a language; one that names none is for all.
func (r *Rule) AppliesTo(l *lang.Language) bool {
	return len(r.Rule.Languages) == 0 || slices.ContainsFunc(r.Rule.Languages, l.Is)
}

// AsksForPrefix reports whether the rule asks for data with something before it.
func (r *Rule) AsksForPrefix() bool { return r.Rule.Taint.Model != nil && r.Rule.Taint.Model.Behind }

// AsksLibrary reports whether the rule asks for what callers of a library pass.
func (r *Rule) AsksLibrary() bool {
	m := r.Rule.Taint.Model
	return m != nil && slices.Contains(m.Sources, model.Library)
}

// AsksForExpressions reports whether the rule asks for expressions, whatever the data.
func (r *Rule) AsksForExpressions() bool {
	m := r.Rule.Taint.Model
	return m != nil && len(m.Sources) == 1 && m.Sources[0] == model.ExponentialExpression
}

// SlowExpression returns the expression of the kinds that the rule asks for, among what arrived.
func (r *Rule) SlowExpression(k int32, p *summary.PendingSink, arrived taintset.Set) *taintset.Element {
	for i, e := range arrived {
		if e.Origin.Source.IsExpression() && r.Wants(k, e.Origin.Source, p) {
			return &arrived[i]
		}
	}
	return nil
}

// Family returns the name that the rule shares with those that tell the same flaw.
func (r *Rule) Family() string {
	if name, ok := r.Rule.Metadata["family"].(string); ok {
		return name
	}
	return r.Rule.ID
}

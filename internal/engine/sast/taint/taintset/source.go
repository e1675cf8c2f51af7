package taintset

import (
	"cmp"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pattern"
)

// IsExpression reports whether a source is a regular expression.
func (s *Source) IsExpression() bool {
	switch s.Kind {
	case model.RescanningExpression, model.PolynomialExpression, model.ExponentialExpression:
		return s.Rule < 0
	}
	return false
}

// A Source is a place of the program where data comes in.
type Source struct {
	File *ir.File
	Node int32
	Kind string
	Rule int32 // of a rule's own source, -1 for one of a model
	Spec int32 // which of the rule's sources

	Match *pattern.Match // of the rule's source
}

// Compare orders sources by their locations, kinds and rules.
func (s *Source) Compare(t *Source) int {
	return cmp.Or(cmp.Compare(s.File.Tree.Path, t.File.Tree.Path), cmp.Compare(s.Node, t.Node),
		cmp.Compare(s.Kind, t.Kind), cmp.Compare(s.Rule, t.Rule), cmp.Compare(s.Spec, t.Spec),
		CompareMatches(s.Match, t.Match))
}

// CompareMatches orders matches by their ranges, then by what they bind.
func CompareMatches(a, b *pattern.Match) int {
	if a == b || a == nil || b == nil {
		return 0
	}
	if c := cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)); c != 0 {
		return c
	}
	for _, name := range a.Names() {
		x, _ := a.Text(name)
		y, _ := b.Text(name)
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

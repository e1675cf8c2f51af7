package taint

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file tells which findings are one flaw, though they are at several places.

// A flawKey is what findings of one flaw have in common: the expression that is slow,
// or the function that writes by a key that others choose.
type flawKey struct {
	family     string
	expression Point
	fn         *ir.Function
}

// flaw returns what makes the finding one flaw with others; ok is false for a finding
// that is a flaw of its own.
func (f *Finding) flaw() (k flawKey, ok bool) {
	switch {
	case f.sink.rule >= 0:
		return k, false
	case f.Expression != nil:
		return flawKey{family: f.Rule.family(), expression: *f.Expression}, true
	case f.Kind == model.Inherited:
		return flawKey{family: f.Rule.Rule.ID, fn: f.sink.fn}, true
	}
	return k, false
}

// family returns the name that the rule shares with those that tell the same flaw.
func (r *Rule) family() string {
	if name, ok := r.Rule.Metadata["family"].(string); ok {
		return name
	}
	return r.Rule.ID
}

// flaws returns the findings of a list, which has the order of their sinks, with one for
// each flaw. A slow expression is mended where it is written, however often it is used:
// the worst of its uses counts, and of equals the first. A function that writes by a
// foreign key is mended once: its last write counts, because those before it make the
// levels that lead there.
func flaws(list []*Finding) []*Finding {
	best := map[flawKey]*Finding{}
	for _, f := range list {
		k, ok := f.flaw()
		if !ok {
			continue
		}
		old := best[k]
		if old == nil || k.fn != nil || f.Rule.Rule.Severity.Rank() > old.Rule.Rule.Severity.Rank() {
			best[k] = f
		}
	}
	out := list[:0]
	for _, f := range list {
		if k, ok := f.flaw(); !ok || best[k] == f {
			out = append(out, f)
		}
	}
	return out
}

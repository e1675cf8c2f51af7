package frame

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file models property accesses with an attacker-controlled key (prototype
// pollution). In a language whose objects inherit from objects, the key "__proto__"
// picks the one from which all others inherit, and a write to it is a write to them all.
//
// That data picked an object is a taint of its own: an origin with the mark picked,
// sanitized for every kind of sinks but model.Inherited. So it goes through variables,
// fields and summaries as any other taint does, and a function that writes into its
// parameter says so to callers who pass what they picked. It is not in the parts of
// the object: they are somebody's own objects again.

// picksInherited reports whether keys of the function's language reach inherited objects, and
// some rule may ask for that.
func (a *Frame) picksInherited() bool {
	return a.Run.InheritedBit != 0 && a.Function.File.Lang.Semantics.Prototypes
}

// chosenKeyTaint returns the taint of a key that may be any text.
func (a *Frame) chosenKeyTaint(st *State, key *value.Value) taintset.Set {
	if key.IsKnown() || key.Kind == value.KindNumber || key.Kind == value.KindBool || key.Prefix != "" {
		return nil
	}
	return a.WholeValue(st, key).Taint.FilterMap(func(e *taintset.Element) bool {
		return !e.Origin.Picked && e.Clean&a.Run.KeyBits == 0
	})
}

// SumOf returns the sum of two values. One of a number and of something that is not
// known to be a text is an index; and were it a text, it would end with the number.
func (a *Frame) SumOf(sum, x, y *value.Value) *value.Value {
	if x.Kind == value.KindNumber && y.Kind == value.KindAny || x.Kind == value.KindAny && y.Kind == value.KindNumber {
		return sum.WithTaint(sum.Taint.Sanitized(a.Run.KeyBits))
	}
	return sum
}

// PickedValue adds to what was read from a value that the key picked it.
func (a *Frame) PickedValue(st *State, in *ir.Instr, base, v *value.Value) *value.Value {
	if in.B == ir.NoVar || !a.picksInherited() || a.hasNoPrototype(base) {
		return v
	}
	t := a.chosenKeyTaint(st, a.Read(st, in.B))
	t = t.Filter(func(e *taintset.Element) bool { return !a.ownKey(base, e.Origin) })
	if len(t) == 0 {
		return v
	}
	return v.WithTaint(v.Taint.Union(a.Run.PickedBy(t).At(a.Function, in.Node)))
}

// ownKey reports whether a key comes from going through the keys of the value itself:
// under it is what somebody put there, and nothing that is inherited.
func (a *Frame) ownKey(base *value.Value, key *taintset.Origin) bool {
	if key.Source != nil || key.Name != value.KeysPart || key.Up == nil {
		return false
	}
	id, ok := base.SoleObject()
	return ok && a.Objects[id].Input == key.Up
}

// hasNoPrototype reports whether a value inherits nothing that a key could reach, or is a list,
// whose keys are numbers.
func (a *Frame) hasNoPrototype(v *value.Value) bool {
	if v.Kind == value.KindList || v.API == "Array" {
		return true
	}
	if len(v.Objects) == 0 {
		return false
	}
	for _, id := range v.Objects {
		if info := &a.Objects[id]; !info.NoPrototype && info.Kind != value.KindList {
			return false
		}
	}
	return true
}

// NotePollution notes a write by a key that data chose: whoever picked the object writes
// into what others inherit. What is written must be somebody's choice too.
func (a *Frame) NotePollution(st *State, in *ir.Instr, base, x *value.Value) {
	if !a.Noting || in.B == ir.NoVar || len(base.Taint) == 0 || !a.picksInherited() || x.IsKnown() || a.isMade(in.C) {
		return
	}
	if len(a.chosenKeyTaint(st, a.Read(st, in.B))) == 0 || !isForeign(a.DeepTaint(st, x), base.Taint) {
		return
	}
	a.NoteSink(a.SinkAt(in.Node, model.Inherited), a.Run.InheritedBit, base.Taint)
}

// isMade reports whether a variable holds what is made for it: a new level for o[k] = {}.
func (a *Frame) isMade(v ir.Var) bool {
	i := a.Function.Def(v)
	return i >= 0 && a.Function.Code[i].Op == ir.New
}

// isForeign reports whether what is written comes from elsewhere than the object that it
// is written to: not so in o[k] = o[k] || {}.
func isForeign(x, base taintset.Set) bool {
	for _, e := range x {
		if !e.Origin.Picked && (e.Origin.Source != nil || !isPartOf(e.Origin, base)) {
			return true
		}
	}
	return false
}

// isPartOf reports whether an input is a part of one in the taint.
func isPartOf(at *taintset.Origin, base taintset.Set) bool {
	return slices.ContainsFunc(base, func(b taintset.Element) bool {
		return !b.Origin.Picked && b.Origin.Source == nil && b.Origin.In == at.In &&
			(at.Path == b.Origin.Path || strings.HasPrefix(at.Path, b.Origin.Path+taintset.Separator) ||
				strings.HasPrefix(b.Origin.Path, at.Path+taintset.Separator))
	})
}

// onlyPicked drops what is there, but was not picked, from what arrives at a sink that
// asks for picked objects. Inputs stay: callers may have picked them.
func onlyPicked(t taintset.Set) taintset.Set {
	return t.FilterMap(func(e *taintset.Element) bool { return e.Origin.Picked || e.Origin.Source == nil })
}

package taint

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file follows objects that data picks: what o[key] is where somebody else chose
// the key. In a language whose objects inherit from objects, the key "__proto__" picks
// the one from which all others inherit, and a write to it is a write to them all.
//
// That an object was picked is a taint of its own: an origin with the mark picked,
// clean for every kind of sinks but model.Inherited. So it goes through variables,
// fields and summaries as any other taint does, and a function that writes into its
// parameter says so to callers who pass what they picked. It is not in the parts of
// the object: they are somebody's own objects again.

// picks reports whether keys of the function's language reach inherited objects, and
// some rule may ask for that.
func (a *analysis) picks() bool {
	return a.run.inheritedBit != 0 && a.fn.File.Lang.Meaning.Prototypes
}

// picked returns the taint of an object under a key with the taint.
func (r *run) picked(t taint) taint {
	var out taint
	for _, e := range t {
		if e.atom.picked || e.clean&r.keyBits != 0 {
			continue
		}
		at := e.atom.atomKey
		at.picked = true
		out = append(out, elem{r.atom(at), ^r.inheritedBit, e.trace})
	}
	slices.SortFunc(out, func(x, y elem) int { return x.atom.compare(y.atom) })
	return out
}

// chosen returns the taint of a key that may be any text.
func (a *analysis) chosen(st *state, key *value) taint {
	if key.known() || key.kind == kindNumber || key.kind == kindBool || key.start != "" {
		return nil
	}
	return a.whole(st, key).taint.each(func(e *elem) bool {
		return !e.atom.picked && e.clean&a.run.keyBits == 0
	})
}

// counted returns the sum of two values. One of a number and of something that is not
// known to be a text is an index; and were it a text, it would end with the number.
func (a *analysis) counted(sum, x, y *value) *value {
	if x.kind == kindNumber && y.kind == kindAny || x.kind == kindAny && y.kind == kindNumber {
		return sum.with(sum.taint.cleaned(a.run.keyBits))
	}
	return sum
}

// pick adds to what was read from a value that the key picked it.
func (a *analysis) pick(st *state, in *ir.Instr, base, v *value) *value {
	if in.B == ir.NoVar || !a.picks() || a.bare(base) {
		return v
	}
	t := a.chosen(st, a.read(st, in.B)).where(func(e *elem) bool { return !a.ownKey(base, e.atom) })
	if len(t) == 0 {
		return v
	}
	return v.with(v.taint.union(a.run.picked(t).at(a.fn, in.Node)))
}

// ownKey reports whether a key comes from going through the keys of the value itself:
// under it is what somebody put there, and nothing that is inherited.
func (a *analysis) ownKey(base *value, key *atom) bool {
	if key.source != nil || key.name != keysPart || key.up == nil {
		return false
	}
	id, ok := base.sole()
	return ok && a.objects[id].atom == key.up
}

// bare reports whether a value inherits nothing that a key could reach, or is a list,
// whose keys are numbers.
func (a *analysis) bare(v *value) bool {
	if v.kind == kindList || v.api == "Array" {
		return true
	}
	if len(v.objs) == 0 {
		return false
	}
	for _, id := range v.objs {
		if info := &a.objects[id]; !info.bare && info.kind != kindList {
			return false
		}
	}
	return true
}

// bareObject makes an object that inherits nothing.
func (m *modelCall) bareObject() *value {
	return m.a.make(m.st, m.i, 1, objInfo{kind: kindMap, own: true, bare: true}, &object{size: unsized})
}

// pollutes notes a write by a key that data chose: whoever picked the object writes
// into what others inherit. What is written must be somebody's choice too.
func (a *analysis) pollutes(st *state, in *ir.Instr, base, x *value) {
	if !a.noting || in.B == ir.NoVar || len(base.taint) == 0 || !a.picks() || x.known() || a.isMade(in.C) {
		return
	}
	if len(a.chosen(st, a.read(st, in.B))) == 0 || !foreign(a.deep(st, x), base.taint) {
		return
	}
	a.arrives(a.sinkAt(in.Node, model.Inherited), a.run.inheritedBit, base.taint)
}

// isMade reports whether a variable holds what is made for it: a new level for o[k] = {}.
func (a *analysis) isMade(v ir.Var) bool {
	i := a.fn.Def(v)
	return i >= 0 && a.fn.Code[i].Op == ir.New
}

// foreign reports whether what is written comes from elsewhere than the object that it
// is written to: not so in o[k] = o[k] || {}.
func foreign(x, base taint) bool {
	for _, e := range x {
		if !e.atom.picked && (e.atom.source != nil || !within(e.atom, base)) {
			return true
		}
	}
	return false
}

// within reports whether an input is a part of one in the taint.
func within(at *atom, base taint) bool {
	return slices.ContainsFunc(base, func(b elem) bool {
		return !b.atom.picked && b.atom.source == nil && b.atom.in == at.in &&
			(at.path == b.atom.path || strings.HasPrefix(at.path, b.atom.path+separator) ||
				strings.HasPrefix(b.atom.path, at.path+separator))
	})
}

// onlyPicked drops what is there, but was not picked, from what arrives at a sink that
// asks for picked objects. Inputs stay: callers may have picked them.
func onlyPicked(t taint) taint {
	return t.each(func(e *elem) bool { return e.atom.picked || e.atom.source == nil })
}

// heirs are the keys under which an object has what others inherit.
var heirs = map[string]bool{"__proto__": true, "constructor": true, "prototype": true}

// assumeKey uses that a text is none of the keys that reach inherited objects. One
// comparison is taken for all of them: who knows of one has looked for the others.
func (a *analysis) assumeKey(st *state, v ir.Var, other *value) {
	if other.c.isText() && heirs[other.c.s] {
		a.clean(st, v, a.run.keyBits)
	}
}

// assumeFound looks through a comparison of a position with a number: what is at -1
// was not found.
func (a *analysis) assumeFound(st *state, in *ir.Instr, y *value, holds bool) {
	if !y.c.number() {
		return
	}
	switch in.Text + " " + y.c.String() {
	case "=== -1", "== -1", "< 0", "<= -1":
		holds = !holds
	case "!== -1", "!= -1", ">= 0", "> -1":
	default:
		return
	}
	if i := a.fn.Def(in.A); i >= 0 && a.fn.Code[i].Op == ir.Invoke {
		a.assumeCall(st, i, holds)
	} else if call := a.answered(in.A); call >= 0 {
		a.assumeCall(st, call, holds)
	}
}

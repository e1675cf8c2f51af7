package interpret

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file has the sources, sinks, sanitizers and propagators of rules take effect on
// values.
// Patterns of taint rules (mode: taint) match syntax. Before the analysis each match is
// translated to a mark at the instruction that computes the matched expression. The marks take
// effect right after the instruction was interpreted.

// applyMarks does what the marks of an instruction say, once it has been interpreted.
func (a *analysis) applyMarks(st *frame.State, i int32) {
	// Most functions have no marks at all.
	if a.marks == nil {
		return
	}
	list := a.marks.At[i]
	for j, k := range list {
		// A source that is also matched by a sanitizer of its rule is none. The sanitizer comes
		// first in the list.
		if k.Kind == rulematch.MarkSource && hasSanitizer(list[:j], k.Rule) {
			continue
		}
		a.applyMark(st, i, k)
	}
}

// hasSanitizer reports whether a sanitizer of the rule is among the marks: it wins over a
// source at the same place.
func hasSanitizer(list []rulematch.Mark, k int32) bool {
	return slices.ContainsFunc(list, func(m rulematch.Mark) bool {
		return m.Kind == rulematch.MarkSanitizer && m.Rule == k
	})
}

// resultOf returns the variable that holds the value of an instruction.
// Stores, returns and conditions define no variable. What the pattern matches there is the
// value that is stored, returned or tested.
func resultOf(in *ir.Instr) ir.Var {
	switch in.Op {
	case ir.StoreField, ir.StoreGlobal:
		return in.B
	case ir.StoreIndex:
		return in.C
	case ir.Return, ir.Throw, ir.If:
		return in.A
	}
	return in.Dst
}

// applyMark applies what a pattern of a rule matched at the instruction. A sink needs no
// result; everything else does.
func (a *analysis) applyMark(st *frame.State, i int32, k rulematch.Mark) {
	in := &a.Function.Code[i]
	v := resultOf(in)
	// An instruction without a value can still be a sink: a jump, or a call whose result is not
	// used.
	if v < 0 {
		if k.Kind == rulematch.MarkSink {
			a.sinkMark(st, i, k, value.Unknown)
		}
		return
	}
	t := a.Run.Rules[k.Rule].Rule.Taint
	switch k.Kind {
	case rulematch.MarkSanitizer:
		a.sanitizeMark(st, in, v, k, t.Sanitizers[k.Spec].BySideEffect)
	case rulematch.MarkPropagator:
		// The low byte of Spec is the index of the propagator, the rest the instruction of its
		// target; see propagateTaint.
		a.propagateTaint(st, in, k, &t.Propagators[k.Spec&0xff])
	case rulematch.MarkSource:
		a.sourceMark(st, in, v, k, &t.Sources[k.Spec])
	case rulematch.MarkSink:
		a.sinkMark(st, i, k, a.Read(st, v))
	}
}

// sanitizeMark makes a value harmless for the rule of a sanitizer.
// By side effect, the variable itself becomes clean for all later uses, as after validate(x).
// Otherwise only this value does.
func (a *analysis) sanitizeMark(st *frame.State, in *ir.Instr, v ir.Var, k rulematch.Mark, by rule.SideEffect) {
	bit := a.Run.RuleBit(k.Rule)
	if by != rule.SideEffectNo && k.Whole {
		a.SanitizeVariable(st, v, bit)
		return
	}
	a.setResult(st, in, v, a.Sanitize(st, a.Read(st, v), bit))
}

// setResult replaces the value of an instruction.
// A store is repeated with the new value, since the object has been written already.
func (a *analysis) setResult(st *frame.State, in *ir.Instr, v ir.Var, x *value.Value) {
	switch in.Op {
	case ir.StoreField:
		a.Store(st, a.Read(st, in.A), in.Text, x)
	case ir.StoreGlobal:
		a.Store(st, a.Globals(), in.Text, x)
	case ir.StoreIndex:
		key, _ := a.IndexKey(st, in)
		a.Store(st, a.Read(st, in.A), key, x)
	default:
		a.Assign(st, v, x)
	}
}

// ruleTaint returns the taint of one rule's source.
// The trace begins at the match.
func (a *analysis) ruleTaint(k rulematch.Mark, node int32) taintset.Set {
	at := a.Run.FromSource(taintset.Source{File: a.Function.File, Node: node, Rule: k.Rule, Spec: k.Spec,
		Match: k.Match})
	return taintset.Set{{Origin: at, Trace: taintset.Extend(nil, a.Function, node, nil)}}
}

// sourceMark makes a value tainted.
// Requires is a condition on labels: the source only counts if the data has those labels
// already ("requires: A and not B").
func (a *analysis) sourceMark(st *frame.State, in *ir.Instr, v ir.Var, k rulematch.Mark, s *rule.Source) {
	x := a.Read(st, v)
	if s.Requires != nil && !a.hasLabels(k.Rule, a.DeepTaint(st, x), s.Requires) {
		return
	}
	t := a.ruleTaint(k, k.Node)
	// A control source taints the fact that the point is reached, not a value: every sink behind
	// it is then reported.
	if s.Control {
		st.Control = st.Control.Union(t)
		return
	}
	// By side effect, the variable is tainted from here on ("by-side-effect: true"). With "only"
	// the matched expression itself stays clean.
	if s.BySideEffect != rule.SideEffectNo && k.Whole {
		a.Refine(st, v, func(x *value.Value) *value.Value { return x.WithTaint(x.Taint.Union(t)) })
		if s.BySideEffect == rule.SideEffectOnly {
			a.setResult(st, in, v, x)
		}
		return
	}
	a.setResult(st, in, v, a.withTaint(st, x, t))
}

// withTaint returns the value with more taint; a constant stays one.
func (a *analysis) withTaint(st *frame.State, v *value.Value, t taintset.Set) *value.Value {
	w := *v
	w.Taint = v.Taint.Union(t)
	return &w
}

// hasLabels evaluates a condition on the labels of the taint of one rule.
// Only taint of the same rule counts; labels of different rules are independent even when they
// are spelled alike.
func (a *analysis) hasLabels(k int32, t taintset.Set, e *rule.LabelExpr) bool {
	return e.Eval(func(label string) bool { return a.Run.HasLabel(k, t, label) })
}

// getsLabel reports whether a propagator gives data of the source its own label.
// Without ReplaceLabels data of all labels gets the new one.
func (a *analysis) getsLabel(p *rule.Propagator, s *taintset.Source) bool {
	return p.Label != "" && (p.ReplaceLabels == nil || slices.Contains(p.ReplaceLabels, a.Run.Label(s)))
}

// propagateTaint carries the taint of one variable to another.
func (a *analysis) propagateTaint(st *frame.State, in *ir.Instr, k rulematch.Mark, p *rule.Propagator) {
	t := a.DeepTaint(st, a.Read(st, k.From))
	if p.Requires != nil && !a.hasLabels(k.Rule, t, p.Requires) {
		return
	}
	// Taint of other rules must not travel on this propagator. Their bits are therefore set to
	// clean in the copy.
	others := a.Run.AllRules &^ a.Run.RuleBit(k.Rule)
	t = t.FilterMap(func(e *taintset.Element) bool {
		if e.Clean&a.Run.RuleBit(k.Rule) != 0 || e.Origin.Source != nil && e.Origin.Source.Rule != k.Rule {
			return false
		}
		e.Clean |= others
		e.Trace = taintset.Extend(e.Trace, a.Function, in.Node, nil)
		// A new label needs an origin of its own, because labels are a property of the source.
		if s := e.Origin.Source; s != nil && a.getsLabel(p, s) {
			c := *s
			c.Spec = rulematch.Relabelled + k.Spec&0xff
			e.Origin = a.Run.FromSource(c)
		}
		return true
	})
	// The new origins may have another order; sets are sorted by origin.
	slices.SortFunc(t, func(x, y taintset.Element) int { return x.Origin.Compare(y.Origin) })
	// Spec>>8 is the instruction that the target of the propagator stands for.
	to := &a.Function.Code[k.Spec>>8]
	v := resultOf(to)
	if v < 0 || len(t) == 0 {
		return
	}
	add := func(x *value.Value) *value.Value { return x.WithTaint(x.Taint.Union(t)) }
	if p.BySideEffect == rule.SideEffectNo {
		a.setResult(st, to, v, add(a.Read(st, v)))
		return
	}
	// The target variable and its objects become tainted, so that a later read through an alias
	// sees it.
	a.Refine(st, v, add)
	a.taintOwner(st, to, t)
}

// taintOwner taints the objects that a variable refers to, so that whoever else has
// them sees it.
func (a *analysis) taintOwner(st *frame.State, to *ir.Instr, t taintset.Set) {
	v := a.Read(st, resultOf(to))
	for _, id := range v.Objects {
		// Objects of the caller are left out: which of them it is, only the caller knows, and it
		// gets the taint from the value.
		if a.Objects[id].Input == nil {
			a.TaintObject(st, &value.Value{Objects: []value.ObjectID{id}}, t)
		}
	}
}

// sinkMark notes what arrives at a sink of a rule.
// The values that count depend on what the pattern matched: the matched expression, and for a
// whole call its arguments, receiver and callee, since rules usually write sinks as
// "exec(...)".
func (a *analysis) sinkMark(st *frame.State, i int32, k rulematch.Mark, v *value.Value) {
	if !a.Noting {
		return
	}
	in := &a.Function.Code[i]
	// Control taint arrives at every sink.
	t := a.DeepTaint(st, v).Union(st.Control)
	if in.Op == ir.Invoke && k.Whole {
		c := a.Function.Call(in)
		for _, arg := range a.Function.Args(c) {
			t = t.Union(a.DeepTaint(st, a.Read(st, arg.Value)))
		}
		if c.Receiver >= 0 && c.Kind == ir.CallMethod {
			t = t.Union(a.DeepTaint(st, a.Read(st, c.Receiver)))
		}
		if c.Callee >= 0 {
			t = t.Union(a.DerivedTaint(a.Read(st, c.Callee)))
		}
	}
	// A match of x[k] as a whole includes the collection and the index.
	if in.Op == ir.StoreIndex || in.Op == ir.LoadIndex {
		t = t.Union(a.DeepTaint(st, a.Read(st, in.A))).Union(a.DeepTaint(st, a.Read(st, in.B)))
	}
	s := &a.Run.Rules[k.Rule].Rule.Taint.Sinks[k.Spec]
	// An "at-exit" sink only counts where the function ends.
	if s.AtExit && !a.endsFunction(i) {
		return
	}
	// Sources of other rules do not concern this sink. A negative rule number marks a source of
	// the models, which a rule may ask for by its kind; inputs of the function have no source yet.
	t = t.FilterMap(func(e *taintset.Element) bool {
		return e.Origin.Source == nil || e.Origin.Source.Rule == k.Rule || e.Origin.Source.Rule < 0
	})
	a.NoteSink(summary.SinkKey{Function: a.Function, Node: k.Node, Rule: k.Rule, Spec: k.Spec, Match: k.Match},
		a.Run.RuleBit(k.Rule), t)
}

// endsFunction reports whether the function ends after the instruction: nothing else is
// computed but what is returned.
func (a *analysis) endsFunction(i int32) bool {
	for j := i + 1; j < int32(len(a.Function.Code)); j++ {
		switch a.Function.Code[j].Op {
		case ir.Return, ir.Stop, ir.Throw:
			return true
		// These only move values; a function that ends with them has no effect behind the sink.
		case ir.Jump, ir.Copy, ir.Const, ir.Nop:
		default:
			return false
		}
	}
	return true
}

// markedParameter gives a parameter the taint of the rules' sources on it.
// A source with Requires on a parameter is left out, since a fresh parameter has no labels.
func (a *analysis) markedParameter(st *frame.State, i int32, v *value.Value) *value.Value {
	if a.marks == nil {
		return v
	}
	for _, k := range a.marks.Parameters[i] {
		t := a.Run.Rules[k.Rule].Rule.Taint
		switch {
		case k.Kind == rulematch.MarkSource && t.Sources[k.Spec].Requires == nil:
			v = a.withTaint(st, v, a.ruleTaint(k, k.Node))
		case k.Kind == rulematch.MarkSanitizer:
			v = a.Sanitize(st, v, a.Run.RuleBit(k.Rule))
		}
	}
	return v
}

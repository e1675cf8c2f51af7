package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/rule"
)

// This file has the places of rules take effect on values.

// after does what the marks of an instruction say, once it has been interpreted.
func (a *analysis) after(st *state, i int32) {
	if a.marks == nil {
		return
	}
	list := a.marks.at[i]
	for j, k := range list {
		if k.kind == markSource && sanitized(list[:j], k.rule) {
			continue
		}
		a.effect(st, i, k)
	}
}

// sanitized reports whether a sanitizer of the rule is among the marks: it wins over a
// source at the same place.
func sanitized(list []mark, k int32) bool {
	return slices.ContainsFunc(list, func(m mark) bool { return m.kind == markSanitizer && m.rule == k })
}

// resultOf returns the variable that holds the value of an instruction.
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

func (a *analysis) effect(st *state, i int32, k mark) {
	in := &a.fn.Code[i]
	v := resultOf(in)
	if v < 0 {
		if k.kind == markSink {
			a.sinkMark(st, i, k, unknown)
		}
		return
	}
	t := a.run.rules[k.rule].Rule.Taint
	switch k.kind {
	case markSanitizer:
		a.sanitizeMark(st, in, v, k, t.Sanitizers[k.spec].BySideEffect)
	case markPropagator:
		a.propagate(st, in, k, &t.Propagators[k.spec&0xff])
	case markSource:
		a.sourceMark(st, in, v, k, &t.Sources[k.spec])
	case markSink:
		a.sinkMark(st, i, k, a.read(st, v))
	}
}

// sanitizeMark makes a value harmless for the rule of a sanitizer.
func (a *analysis) sanitizeMark(st *state, in *ir.Instr, v ir.Var, k mark, by rule.SideEffect) {
	bit := a.run.ruleBit(k.rule)
	if by != rule.SideEffectNo && k.whole {
		a.clean(st, v, bit)
		return
	}
	a.set(st, in, v, a.approved(st, a.read(st, v), bit))
}

// set replaces the value of an instruction.
func (a *analysis) set(st *state, in *ir.Instr, v ir.Var, x *value) {
	switch in.Op {
	case ir.StoreField:
		a.store(st, a.read(st, in.A), in.Text, x)
	case ir.StoreGlobal:
		a.store(st, a.globals(), in.Text, x)
	case ir.StoreIndex:
		key, _ := a.indexKey(st, in)
		a.store(st, a.read(st, in.A), key, x)
	default:
		a.assign(st, v, x)
	}
}

// ruleTaint returns the taint of one rule's source.
func (a *analysis) ruleTaint(k mark, node int32) taint {
	at := a.run.sourceAtom(source{file: a.fn.File, node: node, rule: k.rule, spec: k.spec, match: k.match})
	return taint{{atom: at, trace: then(nil, a.fn, node, nil)}}
}

// sourceMark makes a value tainted.
func (a *analysis) sourceMark(st *state, in *ir.Instr, v ir.Var, k mark, s *rule.Source) {
	x := a.read(st, v)
	if s.Requires != nil && !a.labelled(k.rule, a.deep(st, x), s.Requires) {
		return
	}
	t := a.ruleTaint(k, k.node)
	if s.Control {
		st.control = st.control.union(t)
		return
	}
	if s.BySideEffect != rule.SideEffectNo && k.whole {
		a.refine(st, v, func(x *value) *value { return x.with(x.taint.union(t)) })
		if s.BySideEffect == rule.SideEffectOnly {
			a.set(st, in, v, x)
		}
		return
	}
	a.set(st, in, v, a.tainted(st, x, t))
}

// tainted returns the value with more taint; a constant stays one.
func (a *analysis) tainted(st *state, v *value, t taint) *value {
	w := *v
	w.taint = v.taint.union(t)
	return &w
}

// labelled evaluates a condition on the labels of the taint of one rule.
func (a *analysis) labelled(k int32, t taint, e *rule.LabelExpr) bool {
	return e.Eval(func(label string) bool { return a.run.hasLabel(k, t, label) })
}

// hasLabel reports whether a source of the rule with the label is in the taint.
func (r *run) hasLabel(k int32, t taint, label string) bool {
	return slices.ContainsFunc(t, func(e elem) bool {
		s := e.atom.source
		return s != nil && s.rule == k && e.clean&r.ruleBit(k) == 0 && r.label(s) == label
	})
}

// relabelled is added to the number of a propagator that gives data a new label.
const relabelled = 1 << 16

// label returns the label of a source of a rule.
func (r *run) label(s *source) string {
	t := r.rules[s.rule].Rule.Taint
	if s.spec >= relabelled {
		return t.Propagators[s.spec-relabelled].Label
	}
	return t.Sources[s.spec].Label
}

// propagate carries the taint of one variable to another.
func (a *analysis) propagate(st *state, in *ir.Instr, k mark, p *rule.Propagator) {
	t := a.deep(st, a.read(st, k.from))
	if p.Requires != nil && !a.labelled(k.rule, t, p.Requires) {
		return
	}
	others := a.run.allRules &^ a.run.ruleBit(k.rule)
	t = t.each(func(e *elem) bool {
		if e.clean&a.run.ruleBit(k.rule) != 0 || e.atom.source != nil && e.atom.source.rule != k.rule {
			return false
		}
		e.clean |= others
		e.trace = then(e.trace, a.fn, in.Node, nil)
		if s := e.atom.source; s != nil && p.Label != "" {
			if p.ReplaceLabels == nil || slices.Contains(p.ReplaceLabels, a.run.label(s)) {
				c := *s
				c.spec = relabelled + k.spec&0xff
				e.atom = a.run.sourceAtom(c)
			}
		}
		return true
	})
	slices.SortFunc(t, func(x, y elem) int { return x.atom.compare(y.atom) })
	to := &a.fn.Code[k.spec>>8]
	v := resultOf(to)
	if v < 0 || len(t) == 0 {
		return
	}
	add := func(x *value) *value { return x.with(x.taint.union(t)) }
	if p.BySideEffect == rule.SideEffectNo {
		a.set(st, to, v, add(a.read(st, v)))
		return
	}
	a.refine(st, v, add)
	a.taintOwner(st, to, t)
}

// taintOwner taints the objects that a variable refers to, so that whoever else has
// them sees it.
func (a *analysis) taintOwner(st *state, to *ir.Instr, t taint) {
	v := a.read(st, resultOf(to))
	for _, id := range v.objs {
		if a.objects[id].atom == nil {
			a.taintObject(st, &value{objs: []objID{id}}, t)
		}
	}
}

// sinkMark notes what arrives at a sink of a rule.
func (a *analysis) sinkMark(st *state, i int32, k mark, v *value) {
	if !a.noting {
		return
	}
	in := &a.fn.Code[i]
	t := a.deep(st, v).union(st.control)
	if in.Op == ir.Invoke && k.whole {
		c := a.fn.Call(in)
		for _, arg := range a.fn.Args(c) {
			t = t.union(a.deep(st, a.read(st, arg.Value)))
		}
		if c.Receiver >= 0 && c.Kind == ir.CallMethod {
			t = t.union(a.deep(st, a.read(st, c.Receiver)))
		}
		if c.Callee >= 0 {
			t = t.union(a.derived(a.read(st, c.Callee)))
		}
	}
	if in.Op == ir.StoreIndex || in.Op == ir.LoadIndex {
		t = t.union(a.deep(st, a.read(st, in.A))).union(a.deep(st, a.read(st, in.B)))
	}
	s := &a.run.rules[k.rule].Rule.Taint.Sinks[k.spec]
	if s.AtExit && !a.ends(i) {
		return
	}
	t = t.each(func(e *elem) bool {
		return e.atom.source == nil || e.atom.source.rule == k.rule || e.atom.source.rule < 0
	})
	a.arrives(sinkKey{fn: a.fn, node: k.node, rule: k.rule, spec: k.spec, match: k.match}, a.run.ruleBit(k.rule), t)
}

// ends reports whether the function ends after the instruction: nothing else is
// computed but what is returned.
func (a *analysis) ends(i int32) bool {
	for j := i + 1; j < int32(len(a.fn.Code)); j++ {
		switch a.fn.Code[j].Op {
		case ir.Return, ir.Stop, ir.Throw:
			return true
		case ir.Jump, ir.Copy, ir.Const, ir.Nop:
		default:
			return false
		}
	}
	return true
}

// markedParameter gives a parameter the taint of the rules' sources on it.
func (a *analysis) markedParameter(st *state, i int32, v *value) *value {
	if a.marks == nil {
		return v
	}
	for _, k := range a.marks.params[i] {
		t := a.run.rules[k.rule].Rule.Taint
		switch {
		case k.kind == markSource && t.Sources[k.spec].Requires == nil:
			v = a.tainted(st, v, a.ruleTaint(k, k.node))
		case k.kind == markSanitizer:
			v = a.approved(st, v, a.run.ruleBit(k.rule))
		}
	}
	return v
}

// mentions reports whether the rule says places of its own.
func (r *Rule) mentions() bool {
	t := r.Rule.Taint
	return len(t.Sources)+len(t.Sinks)+len(t.Sanitizers)+len(t.Propagators) > 0
}

// wants reports whether the rule, which has the number k in its run, asks for data of
// the source at the sink.
func (r *Rule) wants(k int32, s *source, p *pendingSink) bool {
	m := r.Rule.Taint.Model
	asked := s.rule == k || s.rule < 0 && m != nil && slices.Contains(m.Sources, s.kind)
	return asked && (p.rule == k || p.rule < 0 && m != nil && slices.Contains(m.Sinks, p.kind))
}

// speaks reports whether the rule is for a language; one that names none is for all.
func (r *Rule) speaks(l *lang.Language) bool {
	return len(r.Rule.Languages) == 0 || slices.ContainsFunc(r.Rule.Languages, l.Is)
}

// asksBehind reports whether the rule asks for data with something before it.
func (r *Rule) asksBehind() bool { return r.Rule.Taint.Model != nil && r.Rule.Taint.Model.Behind }

// asksLibrary reports whether the rule asks for what callers of a library pass.
func (r *Rule) asksLibrary() bool {
	m := r.Rule.Taint.Model
	return m != nil && slices.Contains(m.Sources, model.Library)
}

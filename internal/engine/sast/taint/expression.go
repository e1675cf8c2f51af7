package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/tree"
)

// This file follows regular expressions whose time grows faster than the text: an
// expression is a source of its own kind, and data that is matched with one is judged
// together with it, wherever the program keeps the expression.

// expressionKinds are the kinds of sources that expressions are.
var expressionKinds = map[pcre.Growth]string{
	pcre.Rescans:     model.RescanningExpression,
	pcre.Polynomial:  model.PolynomialExpression,
	pcre.Exponential: model.ExponentialExpression,
}

// isExpression reports whether a source is a regular expression.
func (s *source) isExpression() bool {
	switch s.kind {
	case model.RescanningExpression, model.PolynomialExpression, model.ExponentialExpression:
		return s.rule < 0
	}
	return false
}

// expression returns the taint of a regular expression at a node, nil when matching
// with it is harmless.
func (r *run) expression(fn *ir.Function, node int32, text, flags string) taint {
	kind := expressionKinds[r.growth(fn, text, flags)]
	if kind == "" {
		return nil
	}
	at := r.sourceAtom(source{file: fn.File, node: node, kind: kind, rule: -1})
	return taint{{atom: at, trace: then(nil, fn, node, nil)}}
}

// alone notes an expression that needs exponential time where it is written: what it
// is matched with may be out of sight. Where a match is seen, that is told instead. One in
// a table of many is data: whoever reads the table decides what is matched with it. One
// of which the source is taken is a part of another.
func (a *analysis) alone(node int32, t taint) {
	file := a.fn.File.Tree
	if at := file.Nodes[node].Parent; file.Is(at, tree.Pair) || file.Is(at, tree.List) || file.Is(at, tree.Member) {
		return
	}
	t = t.where(func(e *elem) bool { return e.atom.source != nil && e.atom.source.kind == model.ExponentialExpression })
	if len(t) > 0 {
		a.arrives(a.sinkAt(node, model.Match), 0, t)
	}
}

// growth analyses an expression once.
func (r *run) growth(fn *ir.Function, text, flags string) pcre.Growth {
	k := [3]string{fn.File.Lang.Name, text, flags}
	if g, ok := r.growths.Load(k); ok {
		return g.(pcre.Growth)
	}
	g := pcre.Linear
	switch fn.File.Lang.Name {
	case "javascript", "typescript", "tsx", "component":
		g = pcre.ScriptGrowth(text, flags)
	case "go": // its engine takes linear time
	default:
		g = pcre.GrowthOf(text, 0)
	}
	r.growths.Store(k, g)
	return g
}

// regexLiteral returns the value of a literal expression.
func (a *analysis) regexLiteral(in *ir.Instr) *value {
	if a.run.plain {
		return unknown
	}
	v := a.run.regexOf(a.fn, in)
	if a.noting {
		a.alone(in.Node, v.taint)
	}
	return v
}

// compile computes "regexp.compile": the expression that a text is, or another one.
func (m *modelCall) compile(args []*value) (*value, bool) {
	from := operand(args, 0)
	if !from.c.isText() {
		return nil, false
	}
	flags := ""
	if f := operand(args, 1); f.c.isText() {
		flags = f.c.s
	}
	v := &value{kind: kindObject}
	if len(args) < 2 || args[1].c.isText() {
		v.c = m.a.run.patternOf(m.a.fn, from.c.s, flags)
	}
	found := m.a.run.expression(m.a.fn, m.in.Node, from.c.s, flags)
	if m.a.noting {
		m.a.alone(m.in.Node, found)
	}
	return v.with(from.taint.union(found)), true
}

// expressions returns the slow expressions that may be at the places that an entry's
// conditions name, and inputs that may be one; joint is false for an entry that asks
// for none.
func (c *callSite) expressions(e *model.Entry) (found taint, joint bool) {
	for i := range e.If {
		cond := &e.If[i]
		if cond.Test != model.Backtracks {
			continue
		}
		joint = true
		m := &modelCall{callSite: c, callbacks: map[int]*callback{}}
		for _, v := range m.values(cond.Place) {
			t := v.taint
			if v.c.isText() && cond.Word != "" {
				t = t.union(c.a.run.expression(c.a.fn, c.in.Node, v.c.s, ""))
			}
			found = found.union(t.each(func(x *elem) bool {
				if s := x.atom.source; s != nil {
					return s.isExpression() && (cond.Word != "anchored" || s.kind != model.RescanningExpression)
				}
				return true
			}))
		}
	}
	return found, joint
}

// meets returns what arrives where a value is matched with expressions. Of a text of
// which nothing is known, only what needs exponential time is worth a word; a constant
// text takes the time that it takes.
func meets(v *value, t, with taint) taint {
	if len(t) > 0 {
		return t.union(with)
	}
	if v.known() {
		return nil
	}
	return with.each(func(e *elem) bool {
		return e.atom.source != nil && e.atom.source.kind == model.ExponentialExpression
	})
}

// tames notes expressions that a constant text is matched with.
func (r *run) tames(with taint) {
	for i := range with {
		r.tame.Store(with[i].atom, true)
	}
}

// expressionsOnly reports whether the rule asks for expressions, whatever the data.
func (r *Rule) expressionsOnly() bool {
	m := r.Rule.Taint.Model
	return m != nil && len(m.Sources) == 1 && m.Sources[0] == model.ExponentialExpression
}

// slow returns the expression of the kinds that the rule asks for, among what arrived.
func (r *Rule) slow(k int32, p *pendingSink, arrived taint) *elem {
	for i, e := range arrived {
		if e.atom.source.isExpression() && r.wants(k, e.atom.source, p) {
			return &arrived[i]
		}
	}
	return nil
}

// compiled returns the value of a call that compiles an expression which the program
// spells, nil for any other call.
func (r *run) compiled(fn *ir.Function, c *ir.Call, node int32, depth int) *value {
	name := c.Qualified
	if c.Kind == ir.CallNew {
		name += ".new"
	}
	args := fn.Args(c)
	if r.plain || len(args) == 0 || !slices.ContainsFunc(r.set(fn).Match(name)[model.Operations],
		func(e *model.Entry) bool {
			return e.Kind == "regexp.compile"
		}) {
		return nil
	}
	text, letters := r.constantOf(fn, args[0].Value, depth+1), ""
	if len(args) > 1 {
		flags := r.constantOf(fn, args[1].Value, depth+1)
		if flags == nil || !flags.c.isText() {
			return nil
		}
		letters = flags.c.s
	}
	if text == nil || !text.c.isText() {
		return nil
	}
	v := &value{c: r.patternOf(fn, text.c.s, letters), kind: kindObject}
	return v.with(r.expression(fn, node, text.c.s, letters))
}

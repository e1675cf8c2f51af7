package taint

import (
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file knows what frameworks do with the answers of the functions that they
// call, and which answers of operators are guards.

// answers notes what arrives at whoever called a function that carries an annotation:
// "@app.route(return)" as a sink.
func (a *analysis) answers(st *state, in *ir.Instr) {
	v := a.read(st, in.A)
	if strings.Contains(v.api, ".") {
		return // an object of a library: what it was made of has been looked at
	}
	set := a.run.set(a.fn)
	for _, name := range annotations(a.fn.File, a.fn.Node) {
		for _, e := range set.Match(name)[model.Sinks] {
			if e.Form != model.Annotation || !answered(e) {
				continue
			}
			t := a.deep(st, a.textOf(st, v))
			a.arrives(a.sinkAt(in.Node, e.Kind), a.run.kindBits(e.Kind)|a.run.opens(e), t)
		}
	}
}

// answered reports whether the entry speaks of the result.
func answered(e *model.Entry) bool {
	for _, p := range e.Places {
		if p.Base == model.Return && len(p.Steps) == 0 {
			return true
		}
	}
	return false
}

// assumeOperator cleans what a guard has approved of that is an operator: the model
// calls it by the operator's name, "in(arg1)", with the operands as arguments.
func (a *analysis) assumeOperator(st *state, in *ir.Instr, name string, holds bool) {
	m := a.run.set(a.fn).Match(name)
	if len(m[model.Guards]) == 0 {
		return
	}
	c := &callSite{a: a, st: st, in: in, call: &ir.Call{Receiver: ir.NoVar}, names: &callNames{list: []string{name}, matches: []*model.Matches{m}}, args: []argument{
		{v: a.read(st, in.A), from: in.A, node: in.Node}, {v: a.read(st, in.B), from: in.B, node: in.Node},
	}}
	c.approve(holds)
}

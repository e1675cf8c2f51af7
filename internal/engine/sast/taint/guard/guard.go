// Package guard uses what conditions and validating calls say of data: on a path on
// which a guard has approved of data, the data is sanitized for the guard's kinds of
// sinks.
package guard

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/survey"
	"merlon/internal/engine/sast/taint/value"
)

// assumeOperator cleans what a guard has approved of that is an operator: the model
// calls it by the operator's name, "in(arg1)", with the operands as arguments.
func (a *Guards) assumeOperator(st *frame.State, in *ir.Instr, name string, holds bool) {
	m := a.Run.ModelsOf(a.Function).Match(name)
	if len(m[model.Guards]) == 0 {
		return
	}
	c := &callsite.Site{Frame: a.Frame, State: st, Instruction: in, Call: &ir.Call{Receiver: ir.NoVar},
		Names: &modelindex.CallNames{Names: []string{name}, Matches: []*model.Matches{m}}, Args: []callsite.Argument{
			{Value: a.Read(st, in.A), From: in.A, Node: in.Node}, {Value: a.Read(st, in.B), From: in.B, Node: in.Node},
		}}
	a.approveCall(c, holds)
}

// ApproveArgument makes an argument harmless, where it is a variable.
func (a *Guards) ApproveArgument(st *frame.State, x *callsite.Actuals, ok summary.Approval) {
	in := &a.Function.Code[x.Instruction]
	if x.Sub != 0 || in.Op != ir.Invoke {
		return // not called here: a callback, an accessor, a function that escapes
	}
	for _, arg := range a.Function.Args(a.Function.Call(in)) {
		if int(ok.Parameter) < len(x.Parameters) && arg.Rest == ir.One &&
			a.Read(st, arg.Value) == x.Parameters[ok.Parameter] {
			a.SanitizeVariable(st, arg.Value, ok.Kinds)
		}
	}
}

// Guards use, in the state of a frame, what conditions and calls say of data.
type Guards struct {
	*frame.Frame
	Summaries Summarizer
}

// A Summarizer knows what functions do.
type Summarizer interface {
	// Summary returns the summary of a function in a context; nil when it is only being
	// computed for the first time.
	Summary(fn *ir.Function, ctx summary.Facts) *summary.Summary
	// NoteLarge notes a function that is too large to be analysed for what a caller knows.
	NoteLarge(fn *ir.Function)
	// Spent reports whether the task at hand has taken too much.
	Spent() bool
}

// assumeCall cleans what a guard has approved of.
func (a *Guards) assumeCall(st *frame.State, i int32, holds bool) {
	a.approveCall(callsite.New(a.Frame, st, i), holds)
	a.assumeSummary(st, i, holds)
}

// approveCall cleans what the guards that know the call approve of by its answer.
func (a *Guards) approveCall(c *callsite.Site, holds bool) {
	for _, e := range c.Matches(model.Guards) {
		if e.Negated == holds || !c.Holds(e.If) {
			continue
		}
		bits := a.Run.KindBits(e.Kind) & c.AdmittedKinds(e)
		if bits == 0 {
			continue
		}
		for _, place := range e.Places {
			for _, v := range c.Variables(place) {
				a.SanitizeVariable(c.State, v, bits)
			}
		}
	}
}

// SanitizeVariable makes what a variable holds harmless for the kinds, and what the variable or
// field that it was read from holds.
func (a *Guards) SanitizeVariable(st *frame.State, v ir.Var, kinds uint64) {
	if bits := a.addressBits(); kinds&bits == bits {
		a.approveHost(st, v)
	}
	for range survey.MaxDepth {
		a.Refine(st, v, func(x *value.Value) *value.Value { return a.Sanitize(st, x, kinds) })
		a.rememberMember(st, v, kinds)
		if v = a.sameAs(st, v); v == ir.NoVar {
			return
		}
	}
}

// sameAs returns the variable that a variable is another view of, as a file's
// canonical path is of the file: what is approved of the one holds for the other.
// It returns ir.NoVar when there is none.
func (a *Guards) sameAs(st *frame.State, v ir.Var) ir.Var {
	i := a.SoleAssignment(v)
	for range survey.MaxDepth {
		if i < 0 || a.Function.Code[i].Op != ir.Copy {
			break
		}
		i = a.SoleAssignment(a.Function.Code[i].A)
	}
	if i >= 0 && a.Function.Code[i].Op == ir.LoadIndex && a.Function.Code[i].Text == "0" &&
		a.Function.File.Lang.Semantics.CommaOk {
		i = a.Function.Def(a.Function.Code[i].A) // an error stands behind it
	}
	if i < 0 || a.Function.Code[i].Op != ir.Invoke {
		return ir.NoVar
	}
	c := callsite.New(a.Frame, st, i)
	view := func(kind string) bool {
		return slices.ContainsFunc(c.Matches(model.Operations), func(e *model.Entry) bool { return e.Kind == kind })
	}
	of := c.Call.Receiver
	switch {
	case view("value.relative") && len(c.Args) > 1:
		of = c.Args[1].From
	case !view("value.view"):
		return ir.NoVar
	}
	// What was read for a call inside of try is not kept behind it. A variable that is
	// assigned once still holds it.
	if i := a.Function.Def(of); i >= 0 && a.Function.Code[i].Op == ir.Copy &&
		a.SoleAssignment(a.Function.Code[i].A) >= 0 &&
		a.Function.IsLocal(a.Function.Code[i].A) {
		return a.Function.Code[i].A
	}
	return of
}

// assumeSummary uses what functions of the program approve of with their answer.
func (a *Guards) assumeSummary(st *frame.State, i int32, holds bool) {
	c := callsite.New(a.Frame, st, i)
	if c.Call.Kind == ir.CallNew {
		return
	}
	targets, _ := c.Targets()
	if len(targets) != 1 || a.Run.Local {
		return
	}
	s := a.Summaries.Summary(targets[0].Function, nil)
	if s == nil {
		return
	}
	answer := summary.WhenFalse
	if holds {
		answer = summary.WhenTrue
	}
	x := &callsite.Actuals{Function: targets[0].Function,
		Parameters: make([]*value.Value, len(targets[0].Function.Params)), Instruction: i}
	x.Bind(a.Frame, st, c.Args, i)
	for _, ok := range s.Approvals[answer] {
		a.ApproveArgument(st, x, ok)
	}
}

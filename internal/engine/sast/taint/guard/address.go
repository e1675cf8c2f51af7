package guard

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/survey"
	"merlon/internal/engine/sast/taint/value"
)

// This file approves of an address by its host: when the host that was parsed of it is
// one of some constants, nobody else decides where the address leads.

// hostNames are the members and methods that give the host of a parsed address.
var hostNames = map[string]bool{
	"netloc": true, "hostname": true, "host": true, "Host": true, "origin": true, // members
	"getHost": true, "getAuthority": true, "Hostname": true, // methods
}

// hostOwner returns the parsed address whose host the instruction reads, ir.NoVar when it
// reads something else.
func (a *Guards) hostOwner(i int32) ir.Var {
	switch in := &a.Function.Code[i]; in.Op {
	case ir.LoadField:
		if hostNames[in.Text] {
			return in.A
		}
	case ir.Invoke:
		if c := a.Function.Call(in); c.Kind == ir.CallMethod && hostNames[c.Name] {
			return c.Receiver
		}
	}
	return ir.NoVar
}

// approveHost makes the address harmless whose host a variable holds.
func (a *Guards) approveHost(st *frame.State, v ir.Var) {
	i := survey.AssignedOnce(a.Function, v)
	for n := 0; i >= 0 && a.Function.Code[i].Op == ir.Copy && n < survey.MaxDepth; n++ {
		i = survey.AssignedOnce(a.Function, a.Function.Code[i].A)
	}
	if i < 0 {
		return
	}
	parsed := a.hostOwner(i)
	for n := 0; parsed != ir.NoVar && n < survey.MaxDepth; n++ {
		if i = survey.AssignedOnce(a.Function, parsed); i < 0 {
			return
		}
		in := &a.Function.Code[i]
		if in.Op == ir.Invoke {
			a.approveParsed(st, i, parsed)
			return
		}
		if in.Op != ir.Copy && in.Op != ir.Cast && (in.Op != ir.LoadIndex || in.B != ir.NoVar) {
			return
		}
		a.refineAddress(st, parsed)
		parsed = in.A
	}
}

// approveParsed approves of what a call has parsed, and of the result.
func (a *Guards) approveParsed(st *frame.State, i int32, result ir.Var) {
	c := callsite.New(a.Frame, st, i)
	if len(c.Args) == 0 || !slices.ContainsFunc(c.Matches(model.Operations), func(e *model.Entry) bool {
		return e.Kind == "value.address"
	}) {
		return
	}
	a.refineAddress(st, result)
	if text := a.heldLocal(c.Args[0].From, i); text != ir.NoVar {
		a.refineAddress(st, text)
		a.rememberMember(st, text, a.addressBits())
	}
}

// addressBits returns the bits of the kinds of sinks that a host decides.
func (a *Guards) addressBits() uint64 {
	return a.Run.KindBits("redirect") | a.Run.KindBits("ssrf")
}

// refineAddress makes an address harmless for those kinds.
func (a *Guards) refineAddress(st *frame.State, v ir.Var) {
	a.Refine(st, v, func(x *value.Value) *value.Value { return a.Sanitize(st, x, a.addressBits()) })
}

// heldLocal returns the local that an argument of a call was copied from, when it is not
// assigned behind the call; temporaries do not outlive a block. Otherwise it returns
// the argument.
func (a *Guards) heldLocal(v ir.Var, call int32) ir.Var {
	from := v
	for range survey.MaxDepth {
		i := a.Function.Def(from)
		if a.Function.IsLocal(from) || i < 0 || a.Function.Code[i].Op != ir.Copy {
			break
		}
		from = a.Function.Code[i].A
	}
	if from < 0 || !a.Function.IsLocal(from) {
		return v
	}
	for i := call; int(i) < len(a.Function.Code); i++ {
		if a.Function.Code[i].Dst == from {
			return v
		}
	}
	return from
}

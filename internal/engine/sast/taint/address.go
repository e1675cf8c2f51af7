package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// This file approves of an address by its host: when the host that was parsed of it is
// one of some constants, nobody else decides where the address leads.

// hostNames are the members and methods that give the host of a parsed address.
var hostNames = map[string]bool{
	"netloc": true, "hostname": true, "host": true, "Host": true, "origin": true, // members
	"getHost": true, "getAuthority": true, "Hostname": true, // methods
}

// approveHost makes the address harmless whose host a variable holds.
func (a *analysis) approveHost(st *state, v ir.Var) {
	i := assignedOnce(a.fn, v)
	for n := 0; i >= 0 && a.fn.Code[i].Op == ir.Copy && n < maxAssume; n++ {
		i = assignedOnce(a.fn, a.fn.Code[i].A)
	}
	if i < 0 {
		return
	}
	parsed := ir.NoVar
	switch in := &a.fn.Code[i]; in.Op {
	case ir.LoadField:
		if hostNames[in.Text] {
			parsed = in.A
		}
	case ir.Invoke:
		if c := a.fn.Call(in); c.Kind == ir.CallMethod && hostNames[c.Name] {
			parsed = c.Receiver
		}
	}
	for n := 0; parsed != ir.NoVar && n < maxAssume; n++ {
		if i = assignedOnce(a.fn, parsed); i < 0 {
			return
		}
		in := &a.fn.Code[i]
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
func (a *analysis) approveParsed(st *state, i int32, result ir.Var) {
	c := a.callSite(st, i)
	if len(c.args) == 0 || !slices.ContainsFunc(c.matches(model.Operations), func(e *model.Entry) bool {
		return e.Kind == "value.address"
	}) {
		return
	}
	a.refineAddress(st, result)
	if text := a.held(c.args[0].from, i); text != ir.NoVar {
		a.refineAddress(st, text)
		a.remember(st, text, a.addressBits())
	}
}

func (a *analysis) addressBits() uint64 {
	return a.run.kindBits("redirect") | a.run.kindBits("ssrf")
}

func (a *analysis) refineAddress(st *state, v ir.Var) {
	a.refine(st, v, func(x *value) *value { return a.approved(st, x, a.addressBits()) })
}

// held returns the local that an argument of a call was copied from, when it is not
// assigned behind the call; temporaries do not outlive a block. Otherwise it returns
// the argument.
func (a *analysis) held(v ir.Var, call int32) ir.Var {
	from := v
	for range maxAssume {
		i := a.fn.Def(from)
		if a.fn.IsLocal(from) || i < 0 || a.fn.Code[i].Op != ir.Copy {
			break
		}
		from = a.fn.Code[i].A
	}
	if from < 0 || !a.fn.IsLocal(from) {
		return v
	}
	for i := call; int(i) < len(a.fn.Code); i++ {
		if a.fn.Code[i].Dst == from {
			return v
		}
	}
	return from
}

package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
)

// This file calls the function values that a library is given.

// maxFormals bounds the parameters of callbacks.
const maxFormals = 8

// A callback is what a library calls one function value with.
type callback struct {
	f      *value
	params [maxFormals]*value
	any    *value // every parameter
	result *value
	called bool
}

// A heldCallback is what a library calls a function value with that is a part of an
// argument: the handler of a route that is described by an object.
type heldCallback struct {
	callback
	steps string // the way from the argument
}

// callback returns the callback of an argument.
func (m *modelCall) callback(arg int) *callback {
	if cb := m.callbacks[arg]; cb != nil {
		return cb
	}
	cb := &callback{f: m.recv}
	if arg >= 0 {
		cb.f = m.args[arg].v
	}
	m.callbacks[arg] = cb
	return cb
}

// call calls the function values among the arguments, in their order.
func (m *modelCall) call() {
	for i := -1; i < len(m.args); i++ {
		cb := m.callbacks[i]
		if cb == nil {
			if i < 0 || !m.a.isFunction(m.args[i].v) {
				continue
			}
			cb = m.callback(i)
		}
		m.callWith(cb, i)
	}
	for i, h := range m.held {
		m.callWith(&h.callback, heldSub+i)
	}
}

// heldSub tells the calls of held callbacks from those of arguments.
const heldSub = 200

// callWith calls a callback with what its parameters are known to be.
func (m *modelCall) callWith(cb *callback, arg int) {
	n := 0
	for k := range cb.params {
		if cb.params[k] != nil {
			n = k + 1
		}
	}
	if cb.any != nil {
		n = maxFormals
	}
	args := make([]*value, n)
	for k := range args {
		args[k] = orUnknown(join(cb.params[k], cb.any))
	}
	result := m.a.callValue(m.st, cb.f, args, m.callSite, int32(arg+2))
	if result == nil && arg >= 0 && arg < len(m.args) && n > 0 {
		result = m.callHeld(arg, args)
	}
	cb.result, cb.called = join(cb.result, result), true
}

// callHeld calls the functions that an argument may hold of which only the call graph
// knows: a handler that another file declares, an element of a list of handlers.
func (m *modelCall) callHeld(arg int, args []*value) *value {
	if m.a.run.local || m.a.calls(m.args[arg].v) {
		return nil
	}
	var result *value
	for _, fn := range m.a.run.program.FunctionValues(m.a.fn, m.args[arg].from) {
		x := &actuals{fn: fn, params: make([]*value, len(fn.Params)), instr: m.i, node: m.in.Node,
			sub: int32(arg+2)<<16 | 2, captures: func(int) *value { return unknown }}
		list := make([]argument, len(args))
		for i, v := range args {
			list[i] = argument{v: v, from: ir.NoVar}
		}
		m.a.bindArguments(m.st, x, list, m.i)
		r, _ := m.a.apply(m.st, x)
		result = join(result, r)
	}
	return result
}

// calls reports whether the value holds what callValue calls.
func (a *analysis) calls(v *value) bool {
	return slices.ContainsFunc(v.objs, func(id objID) bool { return a.objects[id].take || a.objects[id].fn != nil })
}

// isFunction reports whether the value may be a function of the program.
func (a *analysis) isFunction(v *value) bool {
	for _, id := range v.objs {
		if a.objects[id].fn != nil {
			return true
		}
	}
	return v.api != "" && len(v.objs) == 0 && a.run.function(v.api) != nil
}

// toHeld passes a value to a parameter of a function that is a part of an argument.
func (m *modelCall) toHeld(f *value, steps string, formal int, v *value) {
	if formal < 0 || formal >= maxFormals {
		return
	}
	i := slices.IndexFunc(m.held, func(h *heldCallback) bool { return h.steps == steps })
	if i < 0 {
		i = len(m.held)
		m.held = append(m.held, &heldCallback{callback: callback{f: f}, steps: steps})
	}
	m.held[i].params[formal] = merged(m.held[i].params[formal], v)
}

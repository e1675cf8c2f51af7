package libcall

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/value"
)

// This file calls the function values that a library is given.

// A heldCallback is what a library calls a function value with that is a part of an
// argument: the handler of a route that is described by an object.
type heldCallback struct {
	callsite.Callback
	steps string // the way from the argument
}

// runCallbacks calls the function values among the arguments, in their order.
func (m *Call) runCallbacks() {
	for i := -1; i < len(m.Args); i++ {
		cb := m.Callbacks[i]
		if cb == nil {
			if i < 0 || !m.Frame.IsFunction(m.Args[i].Value) {
				continue
			}
			cb = m.Callback(i)
		}
		m.callWith(cb, i)
	}
	for i, h := range m.held {
		m.callWith(&h.Callback, heldSub+i)
	}
}

// heldSub tells the calls of held callbacks from those of arguments.
const heldSub = 200

// callWith calls a callback with what its parameters are known to be.
func (m *Call) callWith(cb *callsite.Callback, arg int) {
	n := 0
	for k := range cb.Parameters {
		if cb.Parameters[k] != nil {
			n = k + 1
		}
	}
	if cb.Any != nil {
		n = callsite.MaxFormals
	}
	args := make([]*value.Value, n)
	for k := range args {
		args[k] = value.OrUnknown(value.Join(cb.Parameters[k], cb.Any))
	}
	result := m.program.CallValue(m.State, cb.Function, args, m.Site, int32(arg+2))
	if result == nil && arg >= 0 && arg < len(m.Args) && n > 0 {
		result = m.callHeld(arg, args)
	}
	cb.Result, cb.Called = value.Join(cb.Result, result), true
}

// callHeld calls the functions that an argument may hold of which only the call graph
// knows: a handler that another file declares, an element of a list of handlers.
func (m *Call) callHeld(arg int, args []*value.Value) *value.Value {
	if m.Frame.Run.Local || m.Frame.HoldsFunction(m.Args[arg].Value) {
		return nil
	}
	var result *value.Value
	for _, fn := range m.Frame.Run.Program.FunctionValues(m.Frame.Function, m.Args[arg].From) {
		x := &callsite.Actuals{Function: fn, Parameters: make([]*value.Value, len(fn.Params)), Instruction: m.Index,
			Node: m.Instruction.Node,
			Sub:  int32(arg+2)<<16 | 2, Captures: func(int) *value.Value { return value.Unknown }}
		list := make([]callsite.Argument, len(args))
		for i, v := range args {
			list[i] = callsite.Argument{Value: v, From: ir.NoVar}
		}
		x.Bind(m.Frame, m.State, list, m.Index)
		r, _ := m.program.Apply(m.State, x)
		result = value.Join(result, r)
	}
	return result
}

// toHeld passes a value to a parameter of a function that is a part of an argument.
func (m *Call) toHeld(f *value.Value, steps string, formal int, v *value.Value) {
	if formal < 0 || formal >= callsite.MaxFormals {
		return
	}
	i := slices.IndexFunc(m.held, func(h *heldCallback) bool { return h.steps == steps })
	if i < 0 {
		i = len(m.held)
		m.held = append(m.held, &heldCallback{Callback: callsite.Callback{Function: f}, steps: steps})
	}
	m.held[i].Parameters[formal] = mergeTyped(m.held[i].Parameters[formal], v)
}

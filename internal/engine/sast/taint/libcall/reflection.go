package libcall

import (
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/value"
)

// This file computes calls through values that stand for others: reflection that holds a
// value in its part heldPart, and the ends of a pipe.

// heldPart is the part of a value of reflection that is the value it stands for.
const heldPart = "value"

// heldBy returns what a value of reflection stands for; any other value is itself.
func (m *Call) heldBy(v *value.Value) *value.Value {
	if o := m.Frame.SoleObject(m.State, v); o != nil {
		if held, ok := o.Get(heldPart); ok {
			return value.OrUnknown(held)
		}
	}
	return v
}

// callReflected calls a function that reflection stands for with the elements of a
// list, each of which stands for an argument, and answers a list of what it returns.
func (m *Call) callReflected(args []*value.Value) (*value.Value, bool) {
	f := m.heldBy(operandAt(args, 0))
	if !m.Frame.IsFunction(f) {
		m.Frame.Need(f)
		return nil, false
	}
	var given []*value.Value
	if list, ok := m.Frame.SoleObject(m.State, operandAt(args, 1)).List(); ok {
		for _, v := range list {
			given = append(given, m.heldBy(value.OrUnknown(v)))
		}
	} else {
		any := m.heldBy(m.Frame.Load(m.State, operandAt(args, 1), value.AnyKey))
		for range callsite.MaxFormals {
			given = append(given, any)
		}
	}
	result := value.OrUnknown(m.program.CallValue(m.State, f, given, m.Site, 103))
	v := m.newResult(value.KindObject)
	m.Frame.Store(m.State, v, value.AnyKey, result)
	return v.WithTaint(result.Taint), true
}

// reflectMethod answers the method of what reflection stands for that a constant names.
func (m *Call) reflectMethod(args []*value.Value) (*value.Value, bool) {
	of, name := m.heldBy(operandAt(args, 0)), operandAt(args, 1)
	if !name.Constant.IsText() {
		m.Frame.Need(name)
		return nil, false
	}
	f := m.Frame.MethodValue(m.State, m.Index, of, of.API, name.Constant.Text)
	if f == nil {
		return nil, false
	}
	v := m.newResult(value.KindObject)
	m.Frame.Store(m.State, v, heldPart, f)
	return v, true
}

// pipeEnds answers the ends of a pipe: whatever is taken out of the answer is the pipe
// itself, so that what is written to one end is read from the other.
func (m *Call) pipeEnds() *value.Value {
	v := m.newResult(value.KindObject)
	pipe := *v
	for _, t := range m.Matches(model.Types) {
		if t.Type != "" {
			pipe.API = t.Type
		}
	}
	m.Frame.Store(m.State, v, value.AnyKey, &pipe)
	return v
}

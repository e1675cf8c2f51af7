package taint

import "merlon/internal/engine/sast/model"

// This file computes calls through values that stand for others: reflection that holds
// a value in its part heldPart, and the ends of a pipe.

// heldPart is the part of a value of reflection that is the value it stands for.
const heldPart = "value"

// heldBy returns what a value of reflection stands for; any other value is itself.
func (m *modelCall) heldBy(v *value) *value {
	if o := m.a.soleObject(m.st, v); o != nil {
		if held, ok := o.get(heldPart); ok {
			return orUnknown(held)
		}
	}
	return v
}

// callReflected calls a function that reflection stands for with the elements of a
// list, each of which stands for an argument, and answers a list of what it returns.
func (m *modelCall) callReflected(args []*value) (*value, bool) {
	f := m.heldBy(operand(args, 0))
	if !m.a.isFunction(f) {
		m.a.need(f)
		return nil, false
	}
	var given []*value
	if list, ok := m.a.soleObject(m.st, operand(args, 1)).list(); ok {
		for _, v := range list {
			given = append(given, m.heldBy(orUnknown(v)))
		}
	} else {
		any := m.heldBy(m.a.load(m.st, operand(args, 1), anyKey))
		for range maxFormals {
			given = append(given, any)
		}
	}
	result := orUnknown(m.a.callValue(m.st, f, given, m.callSite, 103))
	v := m.newResult(kindObject)
	m.a.store(m.st, v, anyKey, result)
	return v.with(result.taint), true
}

// reflectMethod answers the method of what reflection stands for that a constant names.
func (m *modelCall) reflectMethod(args []*value) (*value, bool) {
	of, name := m.heldBy(operand(args, 0)), operand(args, 1)
	if !name.c.isText() {
		m.a.need(name)
		return nil, false
	}
	f := m.a.methodValue(m.st, m.i, of, of.api, name.c.s)
	if f == nil {
		return nil, false
	}
	v := m.newResult(kindObject)
	m.a.store(m.st, v, heldPart, f)
	return v, true
}

// ends answers the ends of a pipe: whatever is taken out of the answer is the pipe
// itself, so that what is written to one end is read from the other.
func (m *modelCall) ends() *value {
	v := m.newResult(kindObject)
	pipe := *v
	for _, t := range m.matches(model.Types) {
		if t.Type != "" {
			pipe.api = t.Type
		}
	}
	m.a.store(m.st, v, anyKey, &pipe)
	return v
}

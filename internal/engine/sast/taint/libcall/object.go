package libcall

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/value"
)

// assignFields copies the fields of the others to the first.
// It computes Object.assign(target, …sources) and its relatives: later sources overwrite
// earlier ones. The result is the target itself, not a copy.
func (m *Call) assignFields(args []*value.Value) *value.Value {
	to := operandAt(args, 0)
	for _, from := range args[min(1, len(args)):] {
		m.Frame.CopyParts(m.State, to, from)
	}
	return to
}

// bareObject makes an object that inherits nothing.
// Object.create(null) of JavaScript: a key "__proto__" is an ordinary key there, so writes
// with tainted keys are no prototype pollution (CWE-1321).
func (m *Call) bareObject() *value.Value {
	return m.Frame.Allocate(m.State, m.Index, 1, value.ObjectInfo{Kind: value.KindMap, Complete: true,
		NoPrototype: true}, &value.Object{Size: value.Unsized})
}

// defineProperty computes "object.define".
// This is Object.defineProperty(o, name, {value: …, get: …, set: …}). The value becomes the
// field; accessors are kept as fields of their own, which reads and writes of the member then
// run.
func (m *Call) defineProperty(args []*value.Value) (*value.Value, bool) {
	o, how := operandAt(args, 0), operandAt(args, 2)
	name, known := m.Frame.KeyOf(operandAt(args, 1))
	// An unknown name could hide any field; the general rules keep the taint of the descriptor.
	if !known || len(o.Objects) == 0 {
		return nil, false
	}
	for _, part := range []struct{ from, to string }{{"value", name}, {"get", ir.GetterField + name},
		{"set", ir.SetterField + name}} {
		if v := m.Frame.Load(m.State, how, part.from); v != value.Unknown {
			m.Frame.Store(m.State, o, part.to, v)
		}
	}
	return o, true
}

package libcall

import (
	"strconv"

	"merlon/internal/engine/sast/taint/value"
)

// This file interprets the state of components (React hooks): what a component keeps
// from one run to the next.

// keptState computes "state.new": a list of what a component keeps, and of the function
// that replaces it. What the function is given in one run of the component is there in
// the next, so it is kept among the globals.
func (m *Call) keptState() *value.Value {
	name := "state " + m.Frame.Function.File.Tree.Path + "#" + strconv.Itoa(int(m.Instruction.Node))
	kept := m.Frame.Load(m.State, m.Frame.Globals(), name)
	if len(m.Args) > 0 {
		first := m.Args[0].Value
		if m.Frame.IsFunction(first) {
			first = value.OrUnknown(m.program.CallValue(m.State, first, nil, m.Site, 103))
		}
		kept = value.Join(first, kept)
	}
	v := m.newResult(value.KindList)
	m.Frame.Push(m.State, v, kept)
	info := value.ObjectInfo{Kind: value.KindFunction, Complete: true, Collector: true, KeepsIn: name}
	id := m.Frame.ObjectOf(value.ObjectKey{Instruction: m.Index, Sub: 6000}, info)
	m.Frame.Push(m.State, v, &value.Value{Objects: []value.ObjectID{id}})
	return v
}

// keepState gives what a function that replaces a component's state was called with.
func (m *Call) keepState(f *value.Value, args []*value.Value) {
	for _, id := range f.Objects {
		name := m.Frame.Objects[id].KeepsIn
		if name == "" || len(args) == 0 {
			continue
		}
		v := args[0]
		if m.Frame.IsFunction(v) {
			v = value.OrUnknown(m.program.CallValue(m.State, v,
				[]*value.Value{m.Frame.Load(m.State, m.Frame.Globals(), name)}, m.Site, 104))
		}
		old := m.Frame.Load(m.State, m.Frame.Globals(), name)
		m.Frame.Store(m.State, m.Frame.Globals(), name, value.Join(old, v))
	}
}

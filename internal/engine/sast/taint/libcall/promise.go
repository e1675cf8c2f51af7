package libcall

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/value"
)

// This file follows data through promises that hold several others, and through
// functions of the program that were made to return promises.

// promiseOf makes the promise of a value.
func (m *Call) promiseOf(v *value.Value) *value.Value {
	p := m.newResult(value.KindObject)
	m.Frame.Store(m.State, p, value.AnyKey, v)
	return p.WithAPI(m.Frame.Function.File.Lang.Semantics.Promise)
}

// settledValue returns what a value gives that may be a promise.
func (m *Call) settledValue(v *value.Value) *value.Value {
	v = value.OrUnknown(v)
	if v.API == "" || v.API != m.Frame.Function.File.Lang.Semantics.Promise {
		return v
	}
	return m.Frame.PromisedValue(m.State, v)
}

// promiseAll computes "promise.all" for a list whose elements are known.
func (m *Call) promiseAll(args []*value.Value) (*value.Value, bool) {
	list, ok := m.Frame.SoleObject(m.State, operandAt(args, 0)).List()
	if !ok {
		return nil, false
	}
	all := m.Frame.Allocate(m.State, m.Index, 2, value.ObjectInfo{Kind: value.KindList, Complete: true},
		&value.Object{})
	for k, e := range list {
		v := m.settledValue(e)
		if m.Call.Name == "allSettled" {
			outcome := m.Frame.Allocate(m.State, m.Index, int32(20+k),
				value.ObjectInfo{Kind: value.KindMap, Complete: true}, &value.Object{Size: value.Unsized})
			m.Frame.Store(m.State, outcome, "value", v)
			m.Frame.Store(m.State, outcome, "reason", m.Frame.Load(m.State, value.OrUnknown(e), "error"))
			v = outcome
		}
		m.Frame.Push(m.State, all, v)
	}
	return m.promiseOf(all), true
}

// promisifyFunction computes "value.promisify" for a function of the program.
func (m *Call) promisifyFunction() (*value.Value, bool) {
	if len(m.Args) == 0 {
		return nil, false
	}
	f := m.Args[0].Value
	if !m.Frame.IsFunction(f) {
		m.Frame.Need(f)
		return nil, false
	}
	v := m.Frame.Allocate(m.State, m.Index, 1, value.ObjectInfo{Kind: value.KindFunction, Complete: true,
		Promisified: true}, &value.Object{Size: value.Unsized})
	m.Frame.Store(m.State, v, value.CellContent, f)
	return v, true
}

// CallMade calls what only the analysis makes: the functions that a value was made of by
// "value.promisify", and one that keeps what it is called with. It reports false when the
// call is of neither.
func (m *Call) CallMade() (*value.Value, bool) {
	if m.Function == nil || m.Frame.Run.Local {
		return nil, false
	}
	if m.Frame.IsCollector(m.Function) {
		args := make([]*value.Value, len(m.Args))
		for i, arg := range m.Args {
			args[i] = arg.Value
		}
		m.keepState(m.Function, args)
		return value.OrUnknown(m.program.CallValue(m.State, m.Function, args, m.Site, 102)), true
	}
	for _, id := range m.Function.Objects {
		if !m.Frame.Objects[id].Promisified {
			continue
		}
		answer := m.Collector(len(m.Args), 0)
		args := append(slices.Clone(m.Args), callsite.Argument{Value: answer, From: ir.NoVar})
		for k, t := range m.FunctionTargets(m.Frame.LoadObject(m.State, id, value.CellContent), nil) {
			x := m.Bind(m.State, t, int32(k))
			x.Parameters, x.Sub = make([]*value.Value, len(t.Function.Params)), int32(k)<<8|3
			x.Bind(m.Frame, m.State, args, m.Index)
			m.program.Apply(m.State, x)
		}
		return m.promiseOf(m.Frame.Load(m.State, answer, value.AnyKey)), true
	}
	return nil, false
}

package libcall

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/value"
)

// This file computes the operations of maps.

// mapOperation computes with a map.
func (m *Call) mapOperation(op string, args []*value.Value) (*value.Value, bool) {
	if op == "new" {
		return m.newMap(args), true
	}
	b, key := operandAt(args, 0), operandAt(args, 1)
	switch op {
	case "defaults":
		v := m.newResult(value.KindMap)
		m.Frame.Objects[v.Objects[0]].DefaultsToList = true
		return v, true
	case "pairs":
		return m.mapOfPairs(args), true
	case "put", "set":
		name, known := m.Frame.KeyOf(key)
		m.Frame.Store(m.State, b, name, operandAt(args, 2))
		if !known {
			m.Frame.StoreKey(m.State, b, key)
		}
		if op == "set" {
			return b, true
		}
		return value.Unknown, true
	case "get":
		return m.fromMap(b, key, args), true
	case "remove":
		name, known := m.Frame.KeyOf(key)
		v := m.Frame.Load(m.State, b, name)
		if known {
			m.Frame.RemoveKey(m.State, b, name)
		}
		return v, true
	case "has":
		return &value.Value{Kind: value.KindBool}, true
	case "addall":
		m.updateMap(b, key)
		return value.Unknown, true
	case "keys":
		v := m.newResult(value.KindObject)
		m.Frame.Store(m.State, v, value.AnyKey, m.Frame.KeysOf(m.State, b))
		return v, true
	case "values":
		v := m.newResult(value.KindObject)
		m.Frame.Store(m.State, v, value.AnyKey, m.Frame.Load(m.State, b, value.AnyKey))
		return v, true
	case "clear":
		if id, ok := b.SoleObject(); ok && m.Frame.Objects[id].Complete {
			m.State.Put(id, &value.Object{Size: value.Unsized})
		}
		return value.Unknown, true
	}
	return nil, false
}

// updateMap copies the entries of another map, and those that are given by name.
func (m *Call) updateMap(b, from *value.Value) {
	for _, arg := range m.Args {
		if arg.Name != "" && arg.Name != "**" {
			m.Frame.Store(m.State, b, arg.Name, arg.Value)
			continue
		}
		m.Frame.CopyParts(m.State, b, from)
	}
}

// mapOfPairs makes a map of the pairs that a list holds.
func (m *Call) mapOfPairs(args []*value.Value) *value.Value {
	v := m.newMap(nil)
	pairs := operandAt(args, 0)
	list, ok := m.Frame.SoleObject(m.State, pairs).List()
	if !ok {
		list = []*value.Value{m.Frame.Load(m.State, pairs, value.AnyKey)}
	}
	for _, p := range list {
		p = value.OrUnknown(p)
		key := m.Frame.Load(m.State, p, "0")
		name, known := m.Frame.KeyOf(key)
		m.Frame.Store(m.State, v, name, m.Frame.Load(m.State, p, "1"))
		if !known {
			m.Frame.StoreKey(m.State, v, key)
		}
	}
	return v.WithTaint(m.Frame.DerivedTaint(pairs))
}

// newMap makes a map of the maps and the named arguments that it is given.
func (m *Call) newMap(args []*value.Value) *value.Value {
	v := m.Receiver
	if v == nil || m.Call.Kind != ir.CallNew {
		v = m.newResult(value.KindMap)
	}
	id := v.Objects[0]
	m.Frame.Objects[id].Kind, m.Frame.Objects[id].Complete = value.KindMap, true
	for _, from := range args {
		m.Frame.CopyParts(m.State, v, from)
	}
	for _, arg := range m.Args {
		if arg.Name != "" && arg.Name != "**" {
			m.Frame.Store(m.State, v, arg.Name, arg.Value)
		}
	}
	return &value.Value{Objects: v.Objects, Kind: value.KindMap, API: v.API}
}

// fromMap returns the value of a key, or the default.
func (m *Call) fromMap(b, key *value.Value, args []*value.Value) *value.Value {
	name, known := m.Frame.KeyOf(key)
	v := m.Frame.Load(m.State, b, name)
	if len(args) > 2 {
		if o := m.Frame.SoleObject(m.State, b); known && o != nil {
			if _, ok := o.Get(name); ok && o.Elements == nil {
				return v
			}
		}
		v = value.Join(v, args[2])
	}
	return v
}

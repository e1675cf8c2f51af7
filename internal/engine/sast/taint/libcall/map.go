package libcall

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/value"
)

// This file computes the operations of maps ("map.…"): dict of Python, Map of Java and
// JavaScript, Hash of Ruby.
//
// Keys that are constants are fields of the object. Everything under other keys shares the
// value of AnyKey, and the keys themselves are kept in Keys, since a program may write them
// into a page while the values are clean.

// mapOperation computes with a map.
// It returns false for an operation that it does not know. The map is the first operand, the
// key the second.
func (m *Call) mapOperation(op string, args []*value.Value) (*value.Value, bool) {
	if op == "new" {
		return m.newMap(args), true
	}
	b, key := operandAt(args, 0), operandAt(args, 1)
	switch op {
	case "defaults":
		// Python: defaultdict(list). A read of a missing key makes a list, which the flag has the
		// analysis do too.
		v := m.newResult(value.KindMap)
		m.Frame.Objects[v.Objects[0]].DefaultsToList = true
		return v, true
	case "pairs":
		return m.mapOfPairs(args), true
	case "put", "set":
		// KeyOf gives AnyKey for a key that is not known; the store then joins the value with all
		// others.
		name, known := m.Frame.KeyOf(key)
		m.Frame.Store(m.State, b, name, operandAt(args, 2))
		// An unknown key may itself be tainted: headers[name] = value.
		if !known {
			m.Frame.StoreKey(m.State, b, key)
		}
		// Map.set of JavaScript returns the map for chains, put of Java the old value.
		if op == "set" {
			return b, true
		}
		return value.Unknown, true
	case "get":
		return m.fromMap(b, key, args), true
	case "remove":
		name, known := m.Frame.KeyOf(key)
		// remove and pop return the value. Without a constant key nothing is removed: each key may
		// be the one that stays.
		v := m.Frame.Load(m.State, b, name)
		if known {
			m.Frame.RemoveKey(m.State, b, name)
		}
		return v, true
	case "has":
		// The truth value carries no taint. Guards treat has as an allow list of keys on their
		// own.
		return &value.Value{Kind: value.KindBool}, true
	case "addall":
		m.updateMap(b, key)
		return value.Unknown, true
	case "keys":
		// The result is an iterator or a view, whose elements are the keys.
		v := m.newResult(value.KindObject)
		m.Frame.Store(m.State, v, value.AnyKey, m.Frame.KeysOf(m.State, b))
		return v, true
	case "values":
		v := m.newResult(value.KindObject)
		m.Frame.Store(m.State, v, value.AnyKey, m.Frame.Load(m.State, b, value.AnyKey))
		return v, true
	case "clear":
		// Only one object that this function has made completely is certainly empty afterwards.
		if id, ok := b.SoleObject(); ok && m.Frame.Objects[id].Complete {
			m.State.Put(id, &value.Object{Size: value.Unsized})
		}
		return value.Unknown, true
	}
	return nil, false
}

// updateMap copies the entries of another map, and those that are given by name.
// The two forms of Python's update are covered: d.update(other) and d.update(a=1). "**" marks
// a map that is spread into named arguments.
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
// Examples are dict([("a", 1)]) and Object.fromEntries. Each pair is a list of two, whose
// elements are the fields "0" and "1".
func (m *Call) mapOfPairs(args []*value.Value) *value.Value {
	v := m.newMap(nil)
	pairs := operandAt(args, 0)
	list, ok := m.Frame.SoleObject(m.State, pairs).List()
	if !ok {
		// The list is not known exactly: one pair stands for all of them.
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
// Examples are new HashMap(other), dict(other, a=1) and new Map(). A constructor fills the
// object that the instruction allocated.
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
// The default is the third operand: d.get(key, fallback) of Python, getOrDefault of Java.
func (m *Call) fromMap(b, key *value.Value, args []*value.Value) *value.Value {
	name, known := m.Frame.KeyOf(key)
	v := m.Frame.Load(m.State, b, name)
	if len(args) > 2 {
		// The default cannot come out where the key is certainly there: it was stored under this
		// constant and nothing was stored under an unknown one.
		if o := m.Frame.SoleObject(m.State, b); known && o != nil {
			if _, ok := o.Get(name); ok && o.Elements == nil {
				return v
			}
		}
		v = value.Join(v, args[2])
	}
	return v
}

package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
)

// This file computes the operations of lists and maps.

// listOperation computes with a list.
func (m *modelCall) listOperation(op string, args []*value) (*value, bool) {
	switch op {
	case "new", "of", "copy":
		return m.newList(op, args), true
	}
	l := operand(args, 0)
	switch op {
	case "add", "prepend", "insert", "addall", "set", "clear":
		m.changeList(op, l, args)
		return unknown, true
	case "remove", "pop", "shift":
		return m.takeFrom(op, l, args), true
	case "get", "first", "last":
		return m.element(op, l, args), true
	case "size":
		if list, ok := m.a.soleObject(m.st, l).list(); ok && !m.a.soleObject(m.st, l).many {
			return intValue(float64(len(list))), true
		}
		return &value{kind: kindNumber}, true
	case "contains":
		return &value{kind: kindBool}, true
	case "reverse", "sort", "splice":
		return m.rearranged(op, l, args), true
	case "slice", "concat", "append":
		return m.joined(op, l, args), true
	case "elements":
		v := m.newResult(kindObject)
		m.a.store(m.st, v, anyKey, m.a.load(m.st, l, anyKey))
		return v, true
	}
	return nil, false
}

// newList makes a list: empty, of the arguments, or of the elements of one.
func (m *modelCall) newList(op string, args []*value) *value {
	v := m.recv
	if v == nil || m.call_().Kind != ir.CallNew {
		v = m.newResult(kindList)
	}
	id := v.objs[0]
	m.a.objects[id].kind, m.a.objects[id].own = kindList, true
	o := &object{}
	switch op {
	case "of":
		if len(args) == 1 && m.a.isCollection(m.st, args[0]) {
			return args[0]
		}
		o.setList(slices.Clone(args))
	case "copy":
		from := operand(args, 0)
		if list, ok := m.a.soleObject(m.st, from).list(); ok {
			o.setList(list)
		} else {
			o.size = unsized
			if len(args) > 0 {
				o.elems = m.a.load(m.st, from, anyKey)
			}
		}
	}
	if old := m.st.object(id); old != nil && old.many {
		o = m.a.joinObjects(&m.a.objects[id], old, o).clone()
		o.many = true
	}
	m.st.put(id, o)
	return &value{objs: []objID{id}, kind: kindList, api: v.api}
}

// isCollection reports whether the value is known to be a list.
func (a *analysis) isCollection(st *state, v *value) bool {
	id, ok := v.sole()
	return ok && a.objects[id].kind == kindList
}

// changeList changes a list in place.
func (m *modelCall) changeList(op string, l *value, args []*value) {
	for _, id := range l.objs {
		o := m.st.object(id).clone()
		list, exact := o.list()
		exact = exact && len(l.objs) == 1 && !o.many
		if exact {
			list, exact = m.changed(op, list, args)
		}
		switch {
		case exact:
			o.setList(list)
		case op == "clear":
			if len(l.objs) == 1 && !o.many {
				*o = object{}
			}
		default:
			o.blur()
			for _, v := range args[1:] {
				if op == "addall" {
					v = m.a.load(m.st, v, anyKey)
				}
				o.elems = join(o.elems, v)
			}
		}
		m.st.put(id, o)
	}
}

// changed returns the elements after a change, false when they are not known.
func (m *modelCall) changed(op string, list, args []*value) ([]*value, bool) {
	list = slices.Clone(list)
	switch op {
	case "add":
		return append(list, args[1:]...), true
	case "prepend":
		return append(slices.Clone(args[1:]), list...), true
	case "clear":
		return nil, true
	case "addall":
		more, ok := m.a.soleObject(m.st, operand(args, 1)).list()
		return append(list, more...), ok
	}
	i, ok := position(operand(args, 1), len(list))
	if !ok || len(args) < 3 {
		m.a.need(operand(args, 1))
		return nil, false
	}
	if op == "insert" {
		return slices.Insert(list, i, args[2]), true
	}
	if i < len(list) {
		list[i] = args[2]
	}
	return list, true
}

// position returns a constant index into n elements, or behind them.
func position(v *value, n int) (int, bool) {
	if !v.c.number() {
		return 0, false
	}
	i := int(v.c.n)
	if i < 0 {
		i += n
	}
	return i, i >= 0 && i <= n
}

// takeFrom removes an element and returns it.
func (m *modelCall) takeFrom(op string, l *value, args []*value) *value {
	v := m.element(op, l, args)
	for _, id := range l.objs {
		o := m.st.object(id)
		list, exact := o.list()
		if o == nil {
			continue
		}
		i, ok := m.index(op, args, len(list))
		o = o.clone()
		if exact && ok && len(l.objs) == 1 && !o.many && i < len(list) {
			o.setList(append(slices.Clone(list[:i]), list[i+1:]...))
		} else {
			o.blur()
		}
		m.st.put(id, o)
	}
	return v
}

// index returns which of n elements an operation speaks of.
func (m *modelCall) index(op string, args []*value, n int) (int, bool) {
	switch op {
	case "first", "shift":
		return 0, n > 0
	case "last", "pop":
		if op == "pop" && len(args) > 1 {
			break
		}
		return n - 1, n > 0
	}
	i, ok := position(operand(args, 1), n)
	return i, ok && i < n
}

// element returns the element that an operation speaks of.
func (m *modelCall) element(op string, l *value, args []*value) *value {
	if list, ok := m.a.soleObject(m.st, l).list(); ok {
		if i, ok := m.index(op, args, len(list)); ok {
			o := m.a.soleObject(m.st, l)
			v := orUnknown(list[i])
			if o.elems != nil {
				v = join(v, o.elems)
			}
			return v.with(v.taint.union(o.self).union(m.a.derived(l)))
		}
	}
	if len(args) > 1 {
		m.a.need(args[1])
	}
	if len(l.objs) == 1 && m.a.objects[l.objs[0]].atom != nil && m.st.object(l.objs[0]) == nil {
		if i, ok := m.inputIndex(op, args); ok {
			m.a.need(l)
			return m.a.load(m.st, l, i)
		}
	}
	return m.a.load(m.st, l, anyKey)
}

// inputIndex returns the part of an input that an operation speaks of.
func (m *modelCall) inputIndex(op string, args []*value) (string, bool) {
	switch op {
	case "first", "shift":
		return index(0), true
	case "get", "remove":
		if i := operand(args, 1); i.c.number() && i.c.n >= 0 {
			return i.c.String(), true
		}
	}
	return "", false
}

// mapOperation computes with a map.
func (m *modelCall) mapOperation(op string, args []*value) (*value, bool) {
	if op == "new" {
		return m.newMap(args), true
	}
	b, key := operand(args, 0), operand(args, 1)
	switch op {
	case "defaults":
		v := m.newResult(kindMap)
		m.a.objects[v.objs[0]].makes = true
		return v, true
	case "pairs":
		return m.mapOfPairs(args), true
	case "put", "set":
		name, known := m.a.keyOf(key)
		m.a.store(m.st, b, name, operand(args, 2))
		if !known {
			m.a.storeKey(m.st, b, key)
		}
		if op == "set" {
			return b, true
		}
		return unknown, true
	case "get":
		return m.fromMap(b, key, args), true
	case "remove":
		name, known := m.a.keyOf(key)
		v := m.a.load(m.st, b, name)
		if known {
			m.a.removeKey(m.st, b, name)
		}
		return v, true
	case "has":
		return &value{kind: kindBool}, true
	case "addall":
		m.update(b, key)
		return unknown, true
	case "keys":
		v := m.newResult(kindObject)
		m.a.store(m.st, v, anyKey, m.a.keysOf(m.st, b))
		return v, true
	case "values":
		v := m.newResult(kindObject)
		m.a.store(m.st, v, anyKey, m.a.load(m.st, b, anyKey))
		return v, true
	case "clear":
		if id, ok := b.sole(); ok && m.a.objects[id].own {
			m.st.put(id, &object{size: unsized})
		}
		return unknown, true
	}
	return nil, false
}

// update copies the entries of another map, and those that are given by name.
func (m *modelCall) update(b, from *value) {
	for _, arg := range m.args {
		if arg.name != "" && arg.name != "**" {
			m.a.store(m.st, b, arg.name, arg.v)
			continue
		}
		m.a.copyParts(m.st, b, from)
	}
}

// mapOfPairs makes a map of the pairs that a list holds.
func (m *modelCall) mapOfPairs(args []*value) *value {
	v := m.newMap(nil)
	pairs := operand(args, 0)
	list, ok := m.a.soleObject(m.st, pairs).list()
	if !ok {
		list = []*value{m.a.load(m.st, pairs, anyKey)}
	}
	for _, p := range list {
		p = orUnknown(p)
		key := m.a.load(m.st, p, "0")
		name, known := m.a.keyOf(key)
		m.a.store(m.st, v, name, m.a.load(m.st, p, "1"))
		if !known {
			m.a.storeKey(m.st, v, key)
		}
	}
	return v.with(m.a.derived(pairs))
}

func (m *modelCall) newMap(args []*value) *value {
	v := m.recv
	if v == nil || m.call_().Kind != ir.CallNew {
		v = m.newResult(kindMap)
	}
	id := v.objs[0]
	m.a.objects[id].kind, m.a.objects[id].own = kindMap, true
	for _, from := range args {
		m.a.copyParts(m.st, v, from)
	}
	for _, arg := range m.args {
		if arg.name != "" && arg.name != "**" {
			m.a.store(m.st, v, arg.name, arg.v)
		}
	}
	return &value{objs: v.objs, kind: kindMap, api: v.api}
}

// fromMap returns the value of a key, or the default.
func (m *modelCall) fromMap(b, key *value, args []*value) *value {
	name, known := m.a.keyOf(key)
	v := m.a.load(m.st, b, name)
	if len(args) > 2 {
		if o := m.a.soleObject(m.st, b); known && o != nil {
			if _, ok := o.get(name); ok && o.elems == nil {
				return v
			}
		}
		v = join(v, args[2])
	}
	return v
}

package taint

import (
	"slices"
	"strings"
)

// This file computes the operations that move the elements of lists.

// rearranged changes the order of a list in place, or cuts a part out of it and puts
// others there. It answers the list, or the part.
func (m *modelCall) rearranged(op string, l *value, args []*value) *value {
	o := m.a.soleObject(m.st, l)
	list, exact := o.list()
	if op == "splice" {
		return m.splice(l, list, exact && !o.many, args)
	}
	if exact && !o.many && op == "reverse" {
		list = slices.Clone(list)
		slices.Reverse(list)
		m.setList(l.objs[0], list)
		return l
	}
	for _, id := range l.objs {
		c := m.st.object(id).clone()
		c.blur()
		m.st.put(id, c)
	}
	return l
}

// setList gives a list other elements.
func (m *modelCall) setList(id objID, list []*value) {
	o := m.st.object(id).clone()
	o.setList(list)
	m.st.put(id, o)
}

// splice removes elements from a position on, and inserts the arguments behind the
// count there.
func (m *modelCall) splice(l *value, list []*value, exact bool, args []*value) *value {
	removed := m.newResult(kindList)
	from, ok := position(operand(args, 1), len(list))
	n := len(list) - from
	if len(args) > 2 {
		n, ok = int(args[2].c.n), ok && args[2].c.number()
	}
	if exact && ok && n >= 0 {
		n = min(n, len(list)-from)
		m.setList(removed.objs[0], slices.Clone(list[from:from+n]))
		list = slices.Concat(list[:from], args[min(3, len(args)):], list[from+n:])
		m.setList(l.objs[0], list)
		return removed
	}
	m.a.need(operand(args, 1))
	m.a.spread(m.st, m.i, removed, l)
	for _, id := range l.objs {
		o := m.st.object(id).clone()
		o.blur()
		for _, v := range args[min(3, len(args)):] {
			o.elems = join(o.elems, v)
		}
		m.st.put(id, o)
	}
	return removed.with(m.a.derived(l))
}

// joined makes a list of a part of one, of several one behind the other, or of one and
// the elements behind it.
func (m *modelCall) joined(op string, l *value, args []*value) *value {
	v := m.newResult(kindList)
	if list, ok := m.a.soleObject(m.st, l).list(); op == "slice" && ok {
		if part, ok := cutList(list, at(args, 1), at(args, 2)); ok && !m.a.soleObject(m.st, l).many {
			m.setList(v.objs[0], slices.Clone(part))
			return v
		}
	}
	m.a.spread(m.st, m.i, v, l)
	t := m.a.derived(l)
	for k, arg := range args[min(1, len(args)):] {
		switch {
		case op == "slice":
		case op == "concat" && m.a.isCollection(m.st, arg):
			m.a.spread(m.st, m.i, v, arg)
		case op == "append" && m.args[k+len(m.args)-len(args)+1].many:
			m.a.spread(m.st, m.i, v, &value{objs: arg.objs})
			m.a.store(m.st, v, anyKey, arg)
		case op == "concat" && len(arg.objs) > 0:
			m.a.store(m.st, v, anyKey, m.a.load(m.st, arg, anyKey))
			m.a.store(m.st, v, anyKey, arg)
		default:
			m.a.push(m.st, v, arg)
		}
		if op == "concat" {
			t = t.union(m.a.derived(arg))
		}
	}
	return v.with(t)
}

// at returns the operand, nil when there is none.
func at(args []*value, i int) *value {
	if i < len(args) {
		return args[i]
	}
	return nil
}

// spread adds the parts of a value to a collection: to a list its elements in their
// order, to a map or object its fields.
func (a *analysis) spread(st *state, i int32, base, x *value) {
	for _, id := range base.objs {
		if a.objects[id].kind != kindList {
			a.copyParts(st, &value{objs: []objID{id}}, x)
			continue
		}
		if list, ok := a.soleObject(st, x).list(); ok && len(a.derived(x)) == 0 {
			for _, e := range list {
				a.push(st, &value{objs: []objID{id}}, orUnknown(e))
			}
			continue
		}
		o := st.object(id).clone()
		o.blur()
		o.elems = join(o.elems, a.elementOf(st, i, x))
		st.put(id, o)
	}
}

// copyParts copies every known part of an object to another.
func (a *analysis) copyParts(st *state, to, from *value) {
	if o := a.soleObject(st, from); o != nil {
		for _, f := range o.fields {
			if f.val != nil && !strings.HasPrefix(f.name, "#") {
				a.store(st, to, f.name, f.val)
			}
		}
		if o.elems != nil {
			a.store(st, to, anyKey, o.elems)
		}
	}
	if id, ok := from.sole(); !ok || a.objects[id].atom != nil {
		if t := a.deep(st, from); len(t) > 0 {
			v := (&value{}).with(t)
			a.store(st, to, anyKey, v)
			a.storeKey(st, to, v)
		}
	}
}

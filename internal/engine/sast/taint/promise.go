package taint

import (
	"slices"

	"merlon/internal/engine/sast/ir"
)

// This file follows data through promises that hold several others, and through
// functions of the program that were made to return promises.

// promiseOf makes the promise of a value.
func (m *modelCall) promiseOf(v *value) *value {
	p := m.newResult(kindObject)
	m.a.store(m.st, p, anyKey, v)
	return p.typed(m.a.fn.File.Lang.Meaning.Promise)
}

// settled returns what a value gives that may be a promise.
func (m *modelCall) settled(v *value) *value {
	v = orUnknown(v)
	if v.api == "" || v.api != m.a.fn.File.Lang.Meaning.Promise {
		return v
	}
	return m.a.promised(m.st, v)
}

// promised returns what a promise gives. Of one that the program does not make, or that
// an async function is only taken to return, it may be the value itself.
func (a *analysis) promised(st *state, v *value) *value {
	given := a.load(st, v, anyKey)
	if id, sole := v.sole(); sole && a.objects[id].own && st.object(id) != nil && st.object(id).elems != nil {
		return given
	}
	return join(v, given)
}

// promiseAll computes "promise.all" for a list whose elements are known.
func (m *modelCall) promiseAll(args []*value) (*value, bool) {
	list, ok := m.a.soleObject(m.st, operand(args, 0)).list()
	if !ok {
		return nil, false
	}
	all := m.a.make(m.st, m.i, 2, objInfo{kind: kindList, own: true}, &object{})
	for k, e := range list {
		v := m.settled(e)
		if m.call_().Name == "allSettled" {
			outcome := m.a.make(m.st, m.i, int32(20+k), objInfo{kind: kindMap, own: true}, &object{size: unsized})
			m.a.store(m.st, outcome, "value", v)
			m.a.store(m.st, outcome, "reason", m.a.load(m.st, orUnknown(e), "error"))
			v = outcome
		}
		m.a.push(m.st, all, v)
	}
	return m.promiseOf(all), true
}

// promisify computes "value.promisify" for a function of the program.
func (m *modelCall) promisify() (*value, bool) {
	if len(m.args) == 0 {
		return nil, false
	}
	f := m.args[0].v
	if !m.a.isFunction(f) {
		m.a.need(f)
		return nil, false
	}
	v := m.a.make(m.st, m.i, 1, objInfo{kind: kindFunction, own: true, promised: true}, &object{size: unsized})
	m.a.store(m.st, v, content, f)
	return v, true
}

// made calls what only the analysis makes: the functions that a value was made of by
// "value.promisify", and one that keeps what it is called with. It reports false when the
// call is of neither.
func (c *callSite) made() (*value, bool) {
	if c.fun == nil || c.a.run.local {
		return nil, false
	}
	if c.a.taken(c.fun) {
		args := make([]*value, len(c.args))
		for i, arg := range c.args {
			args[i] = arg.v
		}
		c.a.keepState(c.st, c.fun, args, c)
		return orUnknown(c.a.callValue(c.st, c.fun, args, c, 102)), true
	}
	m := &modelCall{callSite: c, callbacks: map[int]*callback{}}
	for _, id := range c.fun.objs {
		if !c.a.objects[id].promised {
			continue
		}
		answer := m.collector(len(c.args), 0)
		args := append(slices.Clone(c.args), argument{v: answer, from: ir.NoVar})
		for k, t := range c.functions(c.a.loadObject(c.st, id, content), nil) {
			x := c.bind(c.st, t, int32(k))
			x.params, x.sub = make([]*value, len(t.fn.Params)), int32(k)<<8|3
			c.a.bindArguments(c.st, x, args, c.i)
			c.a.apply(c.st, x)
		}
		return m.promiseOf(c.a.load(c.st, answer, anyKey)), true
	}
	return nil, false
}

// define computes "object.define".
func (m *modelCall) define(args []*value) (*value, bool) {
	o, how := operand(args, 0), operand(args, 2)
	name, known := m.a.keyOf(operand(args, 1))
	if !known || len(o.objs) == 0 {
		return nil, false
	}
	for _, part := range []struct{ from, to string }{{"value", name}, {"get", ir.GetterField + name},
		{"set", ir.SetterField + name}} {
		if v := m.a.load(m.st, how, part.from); v != unknown {
			m.a.store(m.st, o, part.to, v)
		}
	}
	return o, true
}

package taint

import (
	"cmp"

	"merlon/internal/engine/sast/ir"
)

// This file interprets elements of markup in a program (JSX): attributes of elements of
// a page are properties that are set, those of components are what the component's
// function, or the object of its class, is given.

// Fields of markup.
const (
	propsField    = "props"
	childrenField = "children"
	providedField = "provided" // what an element gives to all components inside of it
)

// markup interprets an element. What comes out is no text: a framework writes it, with
// what is between tags encoded.
func (c *callSite) markup() *value {
	props := c.a.make(c.st, c.i, 3, objInfo{kind: kindMap, own: true}, &object{size: unsized})
	for _, arg := range c.args {
		name := cmp.Or(arg.name, childrenField)
		if arg.many {
			name = anyKey
		}
		v := arg.v.with(arg.v.taint.at(c.a.fn, arg.node))
		c.a.store(c.st, props, name, v)
		if c.a.noting && name != anyKey {
			c.attribute(name, arg.node, v)
		}
	}
	if c.fun == nil {
		return unknown
	}
	c.provide(props)
	targets, _ := c.targets()
	if len(targets) == 0 && !c.a.run.local {
		for _, fn := range c.a.run.program.FunctionValues(c.a.fn, c.call.Callee) {
			targets = append(targets, target{fn: fn})
		}
	}
	for k, t := range targets {
		x := c.bind(c.st, t, int32(k))
		x.params = make([]*value, len(t.fn.Params))
		if len(x.params) > 0 {
			x.params[0] = props
		}
		c.a.apply(c.st, x)
	}
	if len(targets) == 0 {
		c.render(props)
	}
	return unknown
}

// attribute notes what arrives at an attribute that is a sink.
func (c *callSite) attribute(name string, node int32, v *value) {
	owner := "jsx." + c.call.Name
	if c.fun != nil {
		owner = cmp.Or(c.fun.api, c.call.Qualified)
	}
	c.a.assignsAt(c.st, node, owner, name, v)
}

// provide keeps what an element gives to the components inside of it: the value of a
// context's provider.
func (c *callSite) provide(props *value) {
	i := c.a.fn.Def(c.call.Callee)
	if i < 0 || c.a.fn.Code[i].Op != ir.LoadField || c.a.fn.Code[i].Text != "Provider" {
		return
	}
	if v := c.a.load(c.st, props, "value"); v != unknown {
		c.a.store(c.st, c.a.read(c.st, c.a.fn.Code[i].A), providedField, v)
	}
}

// render runs what the class of a component has, on an object with the attributes.
func (c *callSite) render(props *value) {
	name := cmp.Or(c.fun.api, c.call.Qualified)
	class := c.a.run.program.Class(name)
	if class == nil || c.a.run.local {
		return
	}
	this := c.a.make(c.st, c.i, 4, objInfo{kind: kindObject, own: true, typ: name}, &object{size: unsized})
	this.api = name
	c.a.store(c.st, this, propsField, props)
	for k, method := range []string{"constructor", "componentDidMount", "render"} {
		for _, fn := range c.a.run.program.Method(class, method) {
			x := c.bind(c.st, target{fn: fn, this: this}, int32(40+k))
			x.params = make([]*value, len(fn.Params))
			if len(x.params) > 0 {
				x.params[0] = props
			}
			c.a.apply(c.st, x)
		}
	}
}

// keptState computes "state.new": a list of what a component keeps, and of the function
// that replaces it. What the function is given in one run of the component is there in
// the next, so it is kept among the globals.
func (m *modelCall) keptState() *value {
	name := "state " + m.a.fn.File.Tree.Path + "#" + itoa(m.in.Node)
	kept := m.a.load(m.st, m.a.globals(), name)
	if len(m.args) > 0 {
		first := m.args[0].v
		if m.a.isFunction(first) {
			first = orUnknown(m.a.callValue(m.st, first, nil, m.callSite, 103))
		}
		kept = join(first, kept)
	}
	v := m.newResult(kindList)
	m.a.push(m.st, v, kept)
	info := objInfo{kind: kindFunction, own: true, take: true, keeps: name}
	m.a.push(m.st, v, &value{objs: []objID{m.a.key(objKey{instr: m.i, sub: 6000}, info)}})
	return v
}

// keepState gives what a function that replaces a component's state was called with.
func (a *analysis) keepState(st *state, f *value, args []*value, site *callSite) {
	for _, id := range f.objs {
		name := a.objects[id].keeps
		if name == "" || len(args) == 0 {
			continue
		}
		v := args[0]
		if a.isFunction(v) {
			v = orUnknown(a.callValue(st, v, []*value{a.load(st, a.globals(), name)}, site, 104))
		}
		old := a.load(st, a.globals(), name)
		a.store(st, a.globals(), name, join(old, v))
	}
}

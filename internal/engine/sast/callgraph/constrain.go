package callgraph

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// The names of fields that stand for elements: those with unknown keys, and all.
const (
	unknownKey = "[]"
	anyKey     = "[*]"
)

// constraints enters the nodes, edges and watches of a function.
func (s *solver) constraints(fn *ir.Function) {
	for _, c := range fn.Captures {
		if fn.Parent != nil {
			in, out := s.variable(fn, c.Inner), s.variable(fn.Parent, c.Outer)
			s.edge(out, in)
			s.edge(in, out)
		}
	}
	for _, p := range fn.Params {
		if p.Rest != ir.One {
			s.add(s.variable(fn, p.Var), newValue(packValue, fn.ID<<1))
		}
	}
	if fn.Generator {
		s.add(s.resultOf(fn.ID), newValue(packValue, fn.ID<<1|1))
	}
	for i := range fn.Code {
		s.instruction(fn, int32(i))
	}
}

// instruction enters what one instruction does.
func (s *solver) instruction(fn *ir.Function, i int32) {
	in := &fn.Code[i]
	node := func(v ir.Var) int32 { return s.variable(fn, v) }
	switch in.Op {
	case ir.Copy, ir.Cast, ir.Iterate, ir.Await, ir.Enter, ir.Slice, ir.Catch:
		if in.A != ir.NoVar {
			s.edge(node(in.A), node(in.Dst))
		}
	case ir.Closure:
		s.add(node(in.Dst), newValue(functionValue, fn.File.Functions[in.X].ID))
	case ir.ClassValue:
		s.add(node(in.Dst), newValue(classValue, fn.File.Classes[in.X].ID))
	case ir.New:
		if c, ok := s.classes[in.Text]; ok {
			s.add(node(in.Dst), newValue(instanceValue, c))
			return
		}
		s.add(node(in.Dst), s.site())
	case ir.LoadField:
		s.on(node(in.A), act{do: doLoad, fn: fn.ID, at: i, name: s.fieldName(in.Text)})
	case ir.StoreField:
		s.on(node(in.A), act{do: doStore, fn: fn.ID, at: node(in.B), name: s.fieldName(in.Text)})
	case ir.LoadIndex, ir.Next:
		key := anyKey
		if in.Op == ir.LoadIndex && in.Text != "" {
			key = in.Text
		}
		s.on(node(in.A), act{do: doLoad, fn: fn.ID, at: i, name: s.fieldName(key)})
	case ir.StoreIndex:
		key := unknownKey
		if in.Text != "" && in.Text != "..." {
			key = in.Text
		}
		s.on(node(in.A), act{do: doStore, fn: fn.ID, at: node(in.C), name: s.fieldName(key)})
		if in.Text == "..." {
			s.edge(node(in.C), node(in.A))
		}
	case ir.LoadGlobal:
		s.loadGlobal(fn, i)
	case ir.StoreGlobal:
		s.edge(node(in.B), s.global(in.Text))
		if in.A != ir.NoVar {
			s.on(node(in.A), act{do: doStore, fn: fn.ID, at: node(in.B), name: s.fieldName(lastPart(in.Text))})
		}
	case ir.Return:
		if in.A != ir.NoVar {
			s.edge(node(in.A), s.resultOf(fn.ID))
		}
	case ir.Yield:
		if in.A != ir.NoVar {
			s.yields(fn, in)
		}
	case ir.Invoke:
		s.invoke(fn, i)
	}
}

// yields puts what a generator gives into what it returns.
func (s *solver) yields(fn *ir.Function, in *ir.Instr) {
	if in.Text == "from" {
		s.edge(s.variable(fn, in.A), s.resultOf(fn.ID))
		return
	}
	s.edge(s.variable(fn, in.A), s.field(newValue(packValue, fn.ID<<1|1), s.fieldName(anyKey)))
}

// site returns a value for what an instruction makes.
func (s *solver) site() value {
	s.sites++
	return newValue(siteValue, s.sites)
}

// loadGlobal enters the value of a qualified name.
func (s *solver) loadGlobal(fn *ir.Function, i int32) {
	in := &fn.Code[i]
	dst := s.variable(fn, in.Dst)
	if c, ok := s.classes[in.Text]; ok {
		s.add(dst, newValue(classValue, c))
	}
	for _, f := range s.byName[in.Text] {
		s.add(dst, newValue(functionValue, f))
	}
	if m, ok := s.modules[in.Text]; ok {
		s.add(dst, newValue(moduleValue, m))
	}
	s.edge(s.global(in.Text), dst)
	if in.A != ir.NoVar {
		s.on(s.variable(fn, in.A), act{do: doLoad, fn: fn.ID, at: i, name: s.fieldName(lastPart(in.Text))})
	}
}

// invoke enters a call: what is certain at once, the rest when values arrive.
func (s *solver) invoke(fn *ir.Function, i int32) {
	in := &fn.Code[i]
	c := fn.Call(in)
	switch c.Kind {
	case ir.CallInit:
		p := passed{receiver: -1}
		if c.Receiver != ir.NoVar {
			p.receiver = s.variable(fn, c.Receiver)
		}
		s.link(fn, c, fn.File.Functions[c.Direct].ID, p)
		return
	case ir.CallSuper, ir.CallSelf:
		s.upwards(fn, c)
		return
	case ir.CallNew:
		if id, ok := s.classes[c.Qualified]; ok {
			s.construct(fn, c, id)
			return
		}
	}
	if c.Direct >= 0 {
		f := fn.File.Functions[c.Direct]
		s.direct(fn, c, f.ID)
		if c.Callee == ir.NoVar { // what decorators made of it goes by the same name
			s.on(s.global(f.Qualified), act{do: doCall, fn: fn.ID, at: i})
		}
	} else if s.static(fn, c) {
		return
	} else if c.Qualified != "" && (c.Kind == ir.CallNew || c.Kind == ir.CallMethod) {
		s.on(s.global(c.Qualified), act{do: doCall, fn: fn.ID, at: i})
	}
	if c.Callee != ir.NoVar {
		s.on(s.variable(fn, c.Callee), act{do: doCall, fn: fn.ID, at: i})
	}
	if c.Kind == ir.CallMethod && c.Receiver != ir.NoVar {
		s.on(s.variable(fn, c.Receiver), act{do: doDispatch, fn: fn.ID, at: i, name: -1})
	}
}

// direct links a function that is certain. With new it makes an object.
func (s *solver) direct(fn *ir.Function, c *ir.Call, f int32) {
	if c.Kind != ir.CallNew {
		s.link(fn, c, f, passed{receiver: -1})
		return
	}
	s.made(fn, c, f)
}

// made links a function that is called with new.
func (s *solver) made(fn *ir.Function, c *ir.Call, f int32) {
	v := newValue(madeValue, f)
	s.link(fn, c, f, passed{receiver: -1, this: v, is: true})
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar {
		s.add(s.variable(fn, dst), v)
	}
}

// static links a call whose qualified name the program declares: a function, a
// method of a class or of one above it, or the class itself. It reports whether it
// did.
func (s *solver) static(fn *ir.Function, c *ir.Call) bool {
	if c.Qualified == "" {
		return false
	}
	if id, ok := s.classes[c.Qualified]; ok && fn.File.Lang.Semantics.SelfParameter {
		s.construct(fn, c, id)
		return true
	}
	list := s.byName[c.Qualified]
	if len(list) == 0 {
		if i := strings.LastIndexByte(c.Qualified, '.'); i > 0 {
			if id, ok := s.classes[c.Qualified[:i]]; ok {
				list = s.lookup(id, c.Qualified[i+1:])
			}
		}
	}
	if len(list) == 0 {
		return false
	}
	if f := s.Functions[list[0]]; f.Class != nil && !f.Static && c.Receiver != ir.NoVar && c.Type != "" {
		return false // a method of an object, which may be overridden
	}
	for _, f := range s.overloaded(s.Graph, list, fn, c) {
		if c.Kind == ir.CallNew {
			s.made(fn, c, f)
		} else {
			s.link(fn, c, f, s.explicitSelf(fn, c, f, classOf(s, c.Qualified)))
		}
	}
	return true
}

// classOf returns the class that the qualified name of a member begins with, as a
// value; 0 when there is none.
func classOf(s *solver, q string) value {
	if i := strings.LastIndexByte(q, '.'); i > 0 {
		if id, ok := s.classes[q[:i]]; ok {
			return newValue(classValue, id)
		}
	}
	return 0
}

// explicitSelf returns what a call of a method through its class passes: where the
// receiver is a parameter it is the first argument, or the class.
func (s *solver) explicitSelf(fn *ir.Function, c *ir.Call, f int32, class value) passed {
	callee := s.Functions[f]
	if callee.OnClass {
		return passed{receiver: -1, this: class, is: class != 0}
	}
	if args := fn.Args(c); callee.Class != nil && !callee.Static && fn.File.Lang.Semantics.SelfParameter &&
		len(args) > 0 {
		return passed{receiver: s.variable(fn, args[0].Value), skip: 1}
	}
	return passed{receiver: -1}
}

// upwards links a call of the superclass' part, or of another constructor.
func (s *solver) upwards(fn *ir.Function, c *ir.Call) {
	class := memberOf(fn)
	if class == nil {
		return
	}
	name := c.Name
	constructor := name == "" || name == fn.File.Lang.Semantics.Constructor
	if constructor {
		name = newName
	}
	var list []int32
	if c.Kind == ir.CallSelf {
		list = s.own(class.ID, name)
	} else {
		for _, b := range s.bases[class.ID] {
			if list = s.lookup(b, name); list == nil && constructor {
				list = s.constructors(b)
			}
			if list != nil {
				break
			}
		}
	}
	for _, f := range s.overloaded(s.Graph, list, fn, c) {
		if f != fn.ID || c.Kind != ir.CallSelf {
			s.link(fn, c, f, passed{receiver: s.variable(fn, c.Receiver)})
		}
	}
}

// memberOf returns the class whose member the function is, or is nested in.
func memberOf(fn *ir.Function) *ir.Class {
	for ; fn != nil; fn = fn.Parent {
		if fn.Class != nil {
			return fn.Class
		}
	}
	return nil
}

// construct links the making of an object of a class.
func (s *solver) construct(fn *ir.Function, c *ir.Call, class int32) {
	s.allocates[s.call(fn, c)] = class + 1
	v := newValue(instanceValue, class)
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar {
		s.add(s.variable(fn, dst), v)
	}
	for _, f := range s.overloaded(s.Graph, s.constructors(class), fn, c) {
		s.link(fn, c, f, passed{receiver: -1, this: v, is: true, constructs: true})
	}
	if fn.File.Lang.Semantics.SelfParameter { // what makes the object may return another one
		for _, f := range s.lookup(class, "__new__") {
			s.link(fn, c, f, passed{receiver: -1, this: newValue(classValue, class), is: true})
		}
	}
}

// seed gives the methods of classes that no code of the program makes objects of,
// such as those that a framework makes, an object of their class as receiver.
func (s *solver) seed() {
	for i, c := range s.Classes {
		if c.Kind == "interface" || slices.ContainsFunc(s.below(int32(i)), func(k int32) bool { return s.created[k] }) {
			continue
		}
		v := newValue(instanceValue, int32(i))
		for _, k := range s.above(int32(i)) {
			above := s.Classes[k]
			for _, m := range above.Methods {
				s.receive(m, v)
			}
			if above.Init != nil {
				s.receive(above.Init, v)
			}
		}
	}
}

// receive gives a method a receiver.
func (s *solver) receive(m *ir.Function, v value) {
	if m.This != ir.NoVar && !m.OnClass && m.Locals[m.This].Kind == ir.Receiver {
		s.add(s.variable(m, m.This), v)
	}
}

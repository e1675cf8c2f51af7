package callgraph

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file says what each instruction means for the solver: which nodes flow into which, and what
// waits for a value.

// The names of fields that stand for elements: those with unknown keys, and all.
const (
	unknownKey = "[]"
	anyKey     = "[*]"
)

// addConstraints enters the nodes, edges and watches of a function. Captured variables are shared
// between both functions, so their nodes have edges in both directions.
func (s *solver) addConstraints(fn *ir.Function) {
	for _, c := range fn.Captures {
		if fn.Parent != nil {
			in, out := s.variableNode(fn, c.Inner), s.variableNode(fn.Parent, c.Outer)
			s.addEdge(out, in)
			s.addEdge(in, out)
		}
	}
	for _, p := range fn.Params {
		if p.Rest != ir.One {
			s.addValue(s.variableNode(fn, p.Var), newValue(packValue, fn.ID<<1))
		}
	}
	if fn.Generator {
		s.addValue(s.resultNode(fn.ID), newValue(packValue, fn.ID<<1|1))
	}
	for i := range fn.Code {
		s.addInstruction(fn, int32(i))
	}
}

// addInstruction enters what one instruction does. Arithmetic, tests and constants hold no
// function or object and are left out.
func (s *solver) addInstruction(fn *ir.Function, i int32) {
	in := &fn.Code[i]
	switch in.Op {
	case ir.Copy, ir.Cast, ir.Iterate, ir.Await, ir.Enter, ir.Slice, ir.Catch:
		if in.A != ir.NoVar {
			s.addEdge(s.variableNode(fn, in.A), s.variableNode(fn, in.Dst))
		}
	case ir.Closure, ir.ClassValue, ir.New:
		s.addValue(s.variableNode(fn, in.Dst), s.createdValue(fn, in))
	case ir.LoadField, ir.LoadIndex, ir.Next:
		s.addWatch(s.variableNode(fn, in.A), watchAction{kind: doLoad, fn: fn.ID, at: i, name: s.loadedField(in)})
	case ir.StoreField:
		s.addWatch(s.variableNode(fn, in.A),
			watchAction{kind: doStore, fn: fn.ID, at: s.variableNode(fn, in.B), name: s.fieldNumber(in.Text)})
	case ir.StoreIndex:
		s.addElementStore(fn, in)
	case ir.LoadGlobal:
		s.loadGlobal(fn, i)
	case ir.StoreGlobal:
		s.addEdge(s.variableNode(fn, in.B), s.globalNode(in.Text))
		if in.A != ir.NoVar {
			s.addWatch(s.variableNode(fn, in.A), watchAction{kind: doStore, fn: fn.ID, at: s.variableNode(fn, in.B),
				name: s.fieldNumber(lastPart(in.Text))})
		}
	case ir.Return:
		if in.A != ir.NoVar {
			s.addEdge(s.variableNode(fn, in.A), s.resultNode(fn.ID))
		}
	case ir.Yield:
		if in.A != ir.NoVar {
			s.addYield(fn, in)
		}
	case ir.Invoke:
		s.addCall(fn, i)
	}
}

// createdValue returns the value that an instruction creates. All instances of a class of
// the program are one value; each literal is one of its own.
func (s *solver) createdValue(fn *ir.Function, in *ir.Instr) value {
	switch in.Op {
	case ir.Closure:
		return newValue(functionValue, fn.File.Functions[in.X].ID)
	case ir.ClassValue:
		return newValue(classValue, fn.File.Classes[in.X].ID)
	}
	if c, ok := s.classes[in.Text]; ok {
		return newValue(instanceValue, c)
	}
	return s.newSite()
}

// loadedField returns the field that an instruction reads: that of a constant key, or the
// one that holds all elements.
func (s *solver) loadedField(in *ir.Instr) int32 {
	if in.Op == ir.LoadField || in.Op == ir.LoadIndex && in.Text != "" {
		return s.fieldNumber(in.Text)
	}
	return s.fieldNumber(anyKey)
}

// addElementStore enters the store of an element, or of all elements of a collection
// ("..."), which then holds what that collection is.
func (s *solver) addElementStore(fn *ir.Function, in *ir.Instr) {
	key := unknownKey
	if in.Text != "" && in.Text != "..." {
		key = in.Text
	}
	collection, element := s.variableNode(fn, in.A), s.variableNode(fn, in.C)
	s.addWatch(collection, watchAction{kind: doStore, fn: fn.ID, at: element, name: s.fieldNumber(key)})
	if in.Text == "..." {
		s.addEdge(element, collection)
	}
}

// addYield puts what a generator gives into what it returns. What iterates over the result reads
// the elements of the pack.
func (s *solver) addYield(fn *ir.Function, in *ir.Instr) {
	if in.Text == "from" {
		s.addEdge(s.variableNode(fn, in.A), s.resultNode(fn.ID))
		return
	}
	s.addEdge(s.variableNode(fn, in.A), s.fieldNode(newValue(packValue, fn.ID<<1|1), s.fieldNumber(anyKey)))
}

// newSite returns a value for what an instruction makes. Values are told apart by where they are
// made, as usual in a points-to analysis.
func (s *solver) newSite() value {
	s.sites++
	return newValue(siteValue, s.sites)
}

// loadGlobal enters the value of a qualified name. It may be declared by the program, assigned by
// any file, or be a member of the object that the source writes in front of it.
func (s *solver) loadGlobal(fn *ir.Function, i int32) {
	in := &fn.Code[i]
	dst := s.variableNode(fn, in.Dst)
	if c, ok := s.classes[in.Text]; ok {
		s.addValue(dst, newValue(classValue, c))
	}
	for _, f := range s.byName[in.Text] {
		s.addValue(dst, newValue(functionValue, f))
	}
	if m, ok := s.modules[in.Text]; ok {
		s.addValue(dst, newValue(moduleValue, m))
	}
	s.addEdge(s.globalNode(in.Text), dst)
	if in.A != ir.NoVar {
		s.addWatch(s.variableNode(fn, in.A),
			watchAction{kind: doLoad, fn: fn.ID, at: i, name: s.fieldNumber(lastPart(in.Text))})
	}
}

// addCall enters a call: what is certain at once, the rest when values arrive. A method call waits
// for objects to arrive at its receiver; until then it has no targets.
func (s *solver) addCall(fn *ir.Function, i int32) {
	c := fn.Call(&fn.Code[i])
	if s.linkFixed(fn, c) {
		return
	}
	if c.Direct >= 0 {
		f := fn.File.Functions[c.Direct]
		s.linkDirect(fn, c, f.ID)
		if c.Callee == ir.NoVar { // what decorators made of it goes by the same name
			s.addWatch(s.globalNode(f.Qualified), watchAction{kind: doCall, fn: fn.ID, at: i})
		}
	} else if s.linkStatic(fn, c) {
		return
	} else if c.Qualified != "" && (c.Kind == ir.CallNew || c.Kind == ir.CallMethod) {
		s.addWatch(s.globalNode(c.Qualified), watchAction{kind: doCall, fn: fn.ID, at: i})
	}
	if c.Callee != ir.NoVar {
		s.addWatch(s.variableNode(fn, c.Callee), watchAction{kind: doCall, fn: fn.ID, at: i})
	}
	if c.Kind == ir.CallMethod && c.Receiver != ir.NoVar {
		s.addWatch(s.variableNode(fn, c.Receiver), watchAction{kind: doDispatch, fn: fn.ID, at: i, name: -1})
	}
}

// linkFixed links a call whose kind alone decides its targets: initializers, calls of the
// superclass, and constructors of a class of the program. It reports whether it did.
func (s *solver) linkFixed(fn *ir.Function, c *ir.Call) bool {
	switch c.Kind {
	case ir.CallInit:
		p := callContext{receiver: -1}
		if c.Receiver != ir.NoVar {
			p.receiver = s.variableNode(fn, c.Receiver)
		}
		s.linkTarget(fn, c, fn.File.Functions[c.Direct].ID, p)
		return true
	case ir.CallSuper, ir.CallSelf:
		s.linkSuper(fn, c)
		return true
	case ir.CallNew:
		if id, ok := s.classes[c.Qualified]; ok {
			s.linkConstructor(fn, c, id)
			return true
		}
	}
	return false
}

// linkDirect links a function that is certain. With new it makes an object. Functions are
// constructors only in JavaScript.
func (s *solver) linkDirect(fn *ir.Function, c *ir.Call, f int32) {
	if c.Kind != ir.CallNew {
		s.linkTarget(fn, c, f, callContext{receiver: -1})
		return
	}
	s.linkConstructed(fn, c, f)
}

// linkConstructed links a function that is called with new. The object is one value for each such
// function.
func (s *solver) linkConstructed(fn *ir.Function, c *ir.Call, f int32) {
	v := newValue(madeValue, f)
	s.linkTarget(fn, c, f, callContext{receiver: -1, this: v, hasThis: true})
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar {
		s.addValue(s.variableNode(fn, dst), v)
	}
}

// linkStatic links a call whose qualified name the program declares: a function, a
// method of a class or of one above it, or the class itself. It reports whether it
// did.
func (s *solver) linkStatic(fn *ir.Function, c *ir.Call) bool {
	if c.Qualified == "" {
		return false
	}
	if id, ok := s.classes[c.Qualified]; ok && fn.File.Lang.Semantics.SelfParameter {
		s.linkConstructor(fn, c, id)
		return true
	}
	list := s.functionsNamed(c.Qualified)
	if len(list) == 0 {
		return false
	}
	if f := s.Functions[list[0]]; f.Class != nil && !f.Static && c.Receiver != ir.NoVar && c.Type != "" {
		return false // a method of an object, which may be overridden
	}
	for _, f := range s.selectOverloads(s.Graph, list, fn, c) {
		if c.Kind == ir.CallNew {
			s.linkConstructed(fn, c, f)
		} else {
			s.linkTarget(fn, c, f, s.explicitSelf(fn, c, f, classOf(s, c.Qualified)))
		}
	}
	return true
}

// functionsNamed returns the functions that a qualified name means: declared under it, or
// inherited by the class that it begins with.
func (s *solver) functionsNamed(q string) []int32 {
	if list := s.byName[q]; len(list) > 0 {
		return list
	}
	if i := strings.LastIndexByte(q, '.'); i > 0 {
		if id, ok := s.classes[q[:i]]; ok {
			return s.lookupMethod(id, q[i+1:])
		}
	}
	return nil
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
func (s *solver) explicitSelf(fn *ir.Function, c *ir.Call, f int32, class value) callContext {
	callee := s.Functions[f]
	if callee.OnClass {
		return callContext{receiver: -1, this: class, hasThis: class != 0}
	}
	if args := fn.Args(c); callee.Class != nil && !callee.Static && fn.File.Lang.Semantics.SelfParameter &&
		len(args) > 0 {
		return callContext{receiver: s.variableNode(fn, args[0].Value), skip: 1}
	}
	return callContext{receiver: -1}
}

// linkSuper links a call of the superclass' part, or of another constructor. A class without a
// constructor of its own inherits that of the nearest class above.
func (s *solver) linkSuper(fn *ir.Function, c *ir.Call) {
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
		list = s.ownMethods(class.ID, name)
	} else {
		for _, b := range s.bases[class.ID] {
			if list = s.lookupMethod(b, name); list == nil && constructor {
				list = s.constructorsOf(b)
			}
			if list != nil {
				break
			}
		}
	}
	for _, f := range s.selectOverloads(s.Graph, list, fn, c) {
		if f != fn.ID || c.Kind != ir.CallSelf {
			s.linkTarget(fn, c, f, callContext{receiver: s.variableNode(fn, c.Receiver)})
		}
	}
}

// memberOf returns the class whose member the function is, or is nested in. A lambda in a method
// uses the receiver of the method.
func memberOf(fn *ir.Function) *ir.Class {
	for ; fn != nil; fn = fn.Parent {
		if fn.Class != nil {
			return fn.Class
		}
	}
	return nil
}

// linkConstructor links the making of an object of a class. The class counts as instantiated at
// this call, which package taint asks for.
func (s *solver) linkConstructor(fn *ir.Function, c *ir.Call, class int32) {
	s.allocates[s.callNumber(fn, c)] = class + 1
	v := newValue(instanceValue, class)
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar {
		s.addValue(s.variableNode(fn, dst), v)
	}
	for _, f := range s.selectOverloads(s.Graph, s.constructorsOf(class), fn, c) {
		s.linkTarget(fn, c, f, callContext{receiver: -1, this: v, hasThis: true, constructs: true})
	}
	if fn.File.Lang.Semantics.SelfParameter { // what makes the object may return another one
		for _, f := range s.lookupMethod(class, "__new__") {
			s.linkTarget(fn, c, f, callContext{receiver: -1, this: newValue(classValue, class), hasThis: true})
		}
	}
}

// seedReceivers gives the methods of classes that no code of the program makes objects of, such as
// those that a framework makes, an object of their class as receiver. Without one nothing would be
// known of the fields in handlers and other entry points.
func (s *solver) seedReceivers() {
	for i, c := range s.Classes {
		if c.Kind == "interface" || slices.ContainsFunc(s.subclasses(int32(i)), func(k int32) bool {
			return s.instantiated[k]
		}) {
			continue
		}
		v := newValue(instanceValue, int32(i))
		for _, k := range s.superclasses(int32(i)) {
			above := s.Classes[k]
			for _, m := range above.Methods {
				s.addReceiver(m, v)
			}
			if above.Init != nil {
				s.addReceiver(above.Init, v)
			}
		}
	}
}

// addReceiver gives a method a receiver. Class methods and lambdas have no receiver of their own.
func (s *solver) addReceiver(m *ir.Function, v value) {
	if m.This != ir.NoVar && !m.OnClass && m.Locals[m.This].Kind == ir.Receiver {
		s.addValue(s.variableNode(m, m.This), v)
	}
}

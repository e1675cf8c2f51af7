package callgraph

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file acts on values that reach calls and members.

// passed says what a call passes to a function beside its arguments.
type passed struct {
	receiver   int32 // node, or -1
	this       value // the receiver, when it is one value
	is         bool  // this is set
	skip       int   // leading arguments that are none of the parameters
	constructs bool  // the result is not that of the call
}

// act acts on a value.
func (s *solver) act(a act, v value) {
	fn := s.Functions[a.fn]
	switch a.do {
	case doLoad:
		s.load(fn, &fn.Code[a.at], v, a.name)
	case doStore:
		s.store(v, a.name, a.at)
	case doDispatch:
		s.dispatch(fn, fn.Call(&fn.Code[a.at]), v)
	case doCall:
		s.callValue(fn, fn.Call(&fn.Code[a.at]), v, passed{receiver: -1})
	case doSpread:
		s.edge(s.field(v, s.fieldName(anyKey)), a.at)
	case doCallback:
		s.callback(fn, &fn.Calls[a.at], v, a.name)
	case doFluent:
		if v.kind() == siteValue || v.kind() == packValue {
			s.add(a.at, v)
		}
	case doProto:
		s.inherit(newValue(madeValue, a.at), v)
		s.bequeath(v, a.at)
	case doMethod:
		if v.kind() == functionValue {
			s.receive(s.Functions[v.index()], newValue(madeValue, a.at))
		}
	}
}

// load gives a field of the value to the instruction's result.
func (s *solver) load(fn *ir.Function, in *ir.Instr, v value, name int32) {
	dst := s.variable(fn, in.Dst)
	field := in.Text
	if in.Op == ir.LoadGlobal {
		field = lastPart(in.Text)
	}
	switch v.kind() {
	case functionValue:
		if field == "prototype" && in.Op != ir.Next {
			s.add(dst, newValue(madeValue, v.index()))
			return
		}
	case instanceValue:
		if in.Op == ir.LoadField {
			for _, m := range s.lookup(v.index(), field) {
				s.add(dst, newValue(functionValue, m))
				if this := s.Functions[m].This; this != ir.NoVar {
					s.add(s.variable(s.Functions[m], this), v)
				}
			}
		}
	case classValue:
		if field == "prototype" {
			s.add(dst, newValue(instanceValue, v.index()))
			return
		}
		for _, m := range s.lookup(v.index(), field) {
			s.add(dst, newValue(functionValue, m))
		}
		s.edge(s.global(s.Classes[v.index()].Qualified+"."+field), dst)
	case moduleValue:
		q := s.Files[v.index()].Module + "." + field
		for _, f := range s.byName[q] {
			s.add(dst, newValue(functionValue, f))
		}
		if class, ok := s.classes[q]; ok {
			s.add(dst, newValue(classValue, class))
		}
		s.edge(s.global(q), dst)
		return
	}
	s.edge(s.field(v, name), dst)
	if in.Op == ir.LoadIndex && in.Text != "" {
		s.edge(s.field(v, s.fieldName(unknownKey)), dst)
	}
}

// store gives the field of the value what the node holds.
func (s *solver) store(v value, name, from int32) {
	if v.kind() == functionValue && name == s.fieldName("prototype") {
		s.on(from, act{do: doProto, at: v.index()})
	}
	s.edge(from, s.field(v, name))
	switch v.kind() {
	case siteValue, packValue:
		s.edge(from, s.field(v, s.fieldName(anyKey)))
	case madeValue:
		s.on(from, act{do: doMethod, at: v.index()})
	}
}

// bequeath makes the functions in an object methods of what a function makes, whose
// prototype the object is: callers that are not part of the program call them with
// such a receiver.
func (s *solver) bequeath(proto value, maker int32) {
	if slices.Contains(s.heirs[proto], maker) {
		return
	}
	s.heirs[proto] = append(s.heirs[proto], maker)
	for _, f := range slices.Clone(s.of[proto]) {
		s.on(f.node, act{do: doMethod, at: maker})
	}
}

// inherit gives an object the fields of another one.
func (s *solver) inherit(v, proto value) {
	if v == proto || slices.Contains(s.protos[v], proto) {
		return
	}
	s.protos[v] = append(s.protos[v], proto)
	for _, f := range slices.Clone(s.of[v]) {
		s.edge(s.field(proto, f.name), f.node)
	}
}

// dispatch links a method call on the value.
func (s *solver) dispatch(fn *ir.Function, c *ir.Call, v value) {
	m := &fn.File.Lang.Semantics
	switch v.kind() {
	case instanceValue:
		if list := s.lookup(v.index(), c.Name); list != nil {
			for _, f := range s.overloaded(s.Graph, list, fn, c) {
				s.link(fn, c, f, passed{receiver: -1, this: v, is: true})
			}
			return
		}
	case classValue:
		for _, f := range s.overloaded(s.Graph, s.lookup(v.index(), c.Name), fn, c) {
			s.link(fn, c, f, s.explicitSelf(fn, c, f, v))
		}
	case moduleValue:
		q := s.Files[v.index()].Module + "." + c.Name
		for _, f := range s.overloaded(s.Graph, s.byName[q], fn, c) {
			s.link(fn, c, f, passed{receiver: -1})
		}
		if class, ok := s.classes[q]; ok {
			s.callValue(fn, c, newValue(classValue, class), passed{receiver: -1})
		}
		s.on(s.global(q), act{do: doCall, fn: fn.ID, at: c.Instr})
		return
	case functionValue:
		switch {
		case m.ImplicitThis:
			s.callValue(fn, c, v, passed{receiver: -1})
			return
		case c.Name == "call" && m.KeysAreFields:
			p := passed{receiver: -1, skip: 1}
			if args := fn.Args(c); len(args) > 0 {
				p.receiver = s.variable(fn, args[0].Value)
			}
			s.callValue(fn, c, v, p)
			return
		case c.Name == "apply" && m.KeysAreFields:
			s.apply(fn, c, v)
			return
		case c.Name == "bind" && m.KeysAreFields:
			s.bindReceiver(fn, c, v)
			return
		}
	}
	s.on(s.field(v, s.fieldName(c.Name)), act{do: doCall, fn: fn.ID, at: c.Instr})
}

// bindReceiver leads f.bind(this) to f, which has that receiver wherever it is called.
func (s *solver) bindReceiver(fn *ir.Function, c *ir.Call, v value) {
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar {
		s.add(s.variable(fn, dst), v)
	}
	f := s.Functions[v.index()]
	if args := fn.Args(c); len(args) > 0 && f.This != ir.NoVar && f.Locals[f.This].Kind == ir.Receiver {
		s.edge(s.variable(fn, args[0].Value), s.variable(f, f.This))
	}
}

// apply links f.apply(this, arguments).
func (s *solver) apply(fn *ir.Function, c *ir.Call, v value) {
	args := fn.Args(c)
	p := passed{receiver: -1, skip: len(args)}
	if len(args) > 0 {
		p.receiver = s.variable(fn, args[0].Value)
	}
	s.callValue(fn, c, v, p)
	if len(args) > 1 {
		f := s.Functions[v.index()]
		for _, param := range f.Params {
			s.on(s.variable(fn, args[1].Value), act{do: doSpread, fn: fn.ID, at: s.variable(f, param.Var)})
		}
	}
}

// callValue links a call of the value.
func (s *solver) callValue(fn *ir.Function, c *ir.Call, v value, p passed) {
	switch v.kind() {
	case functionValue:
		if c.Kind == ir.CallNew {
			s.made(fn, c, v.index())
			return
		}
		if p.receiver < 0 && c.Receiver != ir.NoVar && (s.Functions[v.index()].Class == nil ||
			c.Kind == ir.CallFunction) {
			p.receiver = s.variable(fn, c.Receiver)
		}
		s.link(fn, c, v.index(), p)
	case classValue:
		if c.Kind == ir.CallNew || fn.File.Lang.Semantics.SelfParameter {
			s.construct(fn, c, v.index())
		}
	case instanceValue:
		for _, f := range s.lookup(v.index(), "__call__") {
			s.link(fn, c, f, passed{receiver: -1, this: v, is: true})
		}
	}
}

// link makes the function a target of the call: arguments go to parameters, the
// result comes back.
func (s *solver) link(fn *ir.Function, c *ir.Call, f int32, p passed) {
	call := s.call(fn, c)
	known := slices.Contains(s.targets[call], f)
	if !known {
		if len(s.targets[call]) >= s.limit {
			s.Truncated++
			return
		}
		s.targets[call] = append(s.targets[call], f)
	}
	callee := s.Functions[f]
	if callee.This != ir.NoVar && callee.Locals[callee.This].Kind == ir.Receiver {
		this := s.variable(callee, callee.This)
		if p.is {
			s.add(this, p.this)
		}
		if p.receiver >= 0 {
			s.edge(p.receiver, this)
		}
	}
	if known {
		return
	}
	s.arguments(fn, c, callee, p.skip)
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar && !p.constructs {
		s.edge(s.resultOf(f), s.variable(fn, dst))
	}
}

// arguments leads arguments to parameters.
func (s *solver) arguments(fn *ir.Function, c *ir.Call, callee *ir.Function, skip int) {
	pack := newValue(packValue, callee.ID<<1)
	position := -skip
	for _, a := range fn.Args(c) {
		from := s.variable(fn, a.Value)
		switch {
		case a.Rest != ir.One:
			for k := max(position, 0); k < len(callee.Params); k++ {
				s.on(from, act{do: doSpread, fn: fn.ID, at: s.variable(callee, callee.Params[k].Var)})
			}
		case a.Name != "":
			if p := named(callee, a.Name); p != nil {
				s.edge(from, s.variable(callee, p.Var))
			} else {
				s.edge(from, s.field(pack, s.fieldName(a.Name)))
			}
		default:
			if position >= 0 {
				s.positional(from, position, callee, pack)
			}
			position++
		}
	}
}

func named(callee *ir.Function, name string) *ir.Param {
	for i := range callee.Params {
		if p := &callee.Params[i]; p.Name == name && p.Rest == ir.One {
			return p
		}
	}
	return nil
}

// positional leads an argument to the parameter at the position.
func (s *solver) positional(from int32, position int, callee *ir.Function, pack value) {
	for k := range callee.Params {
		p := &callee.Params[k]
		switch {
		case p.Rest == ir.Positional && k <= position:
			s.edge(from, s.field(pack, s.fieldName(anyKey)))
			return
		case k == position && p.Rest == ir.One && !p.ByName:
			s.edge(from, s.variable(callee, p.Var))
			return
		}
	}
}

// byType links a method call by the type that its receiver is declared with: the
// method of the type, and those of the types below it.
func (s *solver) byType(fn *ir.Function, c *ir.Call) {
	if c.Kind != ir.CallMethod || c.Type == "" {
		return
	}
	class, ok := s.classes[c.Type]
	if !ok {
		return
	}
	below := s.below(class)
	if some := slices.DeleteFunc(slices.Clone(below), func(k int32) bool { return !s.created[k] }); len(some) > 0 {
		below = some
	}
	receiver := int32(-1)
	if c.Receiver != ir.NoVar {
		receiver = s.variable(fn, c.Receiver)
	}
	for _, k := range below {
		for _, f := range s.overloaded(s.Graph, s.lookup(k, c.Name), fn, c) {
			s.link(fn, c, f, passed{receiver: receiver, this: newValue(instanceValue, k), is: true})
		}
	}
}

// leavesSurely is leaves for a call whose receiver has no type of the program.
func (s *solver) leavesSurely(fn *ir.Function, c *ir.Call) {
	if _, ok := s.classes[c.Type]; !ok {
		s.leaves(fn, c)
	}
}

// keeps reports whether a method of unknown code with the name keeps its arguments.
func keeps(name string) bool {
	for _, verb := range []string{"add", "push", "put", "set", "append", "insert", "offer", "unshift", "enqueue",
		"register", "extend"} {
		if strings.HasPrefix(strings.ToLower(name), verb) {
			return true
		}
	}
	return false
}

// leaves treats a call as one of unknown code: it may keep its arguments in its
// receiver, return a function that it is given, or a collection or what is in it
// that is its receiver, and call functions with what the receiver holds.
func (s *solver) leaves(fn *ir.Function, c *ir.Call) {
	if call := s.call(fn, c); s.opened[call] {
		return
	} else {
		s.opened[call] = true
	}
	kept := c.Kind == ir.CallNew || keeps(c.Name)
	dst := fn.Code[c.Instr].Dst
	receiver := int32(-1)
	if c.Kind == ir.CallNew && dst != ir.NoVar {
		s.add(s.variable(fn, dst), s.site())
		receiver = s.variable(fn, dst)
	} else if c.Receiver != ir.NoVar {
		receiver = s.variable(fn, c.Receiver)
		if dst != ir.NoVar {
			s.on(receiver, act{do: doFluent, fn: fn.ID, at: s.variable(fn, dst)})
			s.on(receiver, act{do: doSpread, fn: fn.ID, at: s.variable(fn, dst)})
		}
	}
	for _, a := range fn.Args(c) {
		from := s.variable(fn, a.Value)
		if receiver >= 0 && kept {
			s.on(receiver, act{do: doStore, fn: fn.ID, at: from, name: s.fieldName(anyKey)})
		}
		s.on(from, act{do: doCallback, fn: fn.ID, at: fn.Code[c.Instr].X, name: receiver})
	}
}

// callback notes a function that unknown code is given. It may be called with what
// the receiver holds.
func (s *solver) callback(fn *ir.Function, c *ir.Call, v value, receiver int32) {
	call := s.call(fn, c)
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar && c.Kind != ir.CallNew &&
		(v.kind() == functionValue || v.kind() == classValue) {
		s.add(s.variable(fn, dst), v) // it may be wrapped: bound, made a promise, memoized
	}
	switch v.kind() {
	case functionValue:
		if !slices.Contains(s.callbacks[call], v.index()) && len(s.callbacks[call]) < s.limit {
			s.callbacks[call] = append(s.callbacks[call], v.index())
			f := s.Functions[v.index()]
			for _, p := range f.Params {
				if receiver >= 0 && p.Rest == ir.One {
					s.on(receiver, act{do: doSpread, fn: fn.ID, at: s.variable(f, p.Var)})
				}
			}
		}
	}
}

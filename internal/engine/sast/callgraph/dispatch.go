package callgraph

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file acts on values that reach calls and members.

// A callContext is what a call passes to a function beside its arguments.
type callContext struct {
	receiver   int32 // node, or -1
	this       value // the receiver, when it is one value
	hasThis    bool  // this is set
	skip       int   // leading arguments that are none of the parameters
	constructs bool  // the result is not that of the call
}

// runWatch acts on a value. It runs once for each value that reaches the node. Values that it adds
// are put on the queue of the solver and followed later.
func (s *solver) runWatch(a watchAction, v value) {
	fn := s.Functions[a.fn]
	switch a.kind {
	case doLoad:
		s.loadMember(fn, &fn.Code[a.at], v, a.name)
	case doStore:
		s.storeMember(v, a.name, a.at)
	case doDispatch:
		s.dispatchMethod(fn, fn.Call(&fn.Code[a.at]), v)
	case doCall:
		s.callValue(fn, fn.Call(&fn.Code[a.at]), v, callContext{receiver: -1})
	case doSpread:
		s.addEdge(s.fieldNode(v, s.fieldNumber(anyKey)), a.at)
	case doCallback:
		s.addCallback(fn, &fn.Calls[a.at], v, a.name)
	case doFluent:
		if v.kind() == siteValue || v.kind() == packValue {
			s.addValue(a.at, v)
		}
	case doProto:
		s.addPrototype(newValue(madeValue, a.at), v)
		s.addHeir(v, a.at)
	case doMethod:
		if v.kind() == functionValue {
			s.addReceiver(s.Functions[v.index()], newValue(madeValue, a.at))
		}
	}
}

// loadMember gives a field of the value to the instruction's result. Members that the
// program declares have no fields of their own: methods of a class, functions of a module.
func (s *solver) loadMember(fn *ir.Function, in *ir.Instr, v value, name int32) {
	dst := s.variableNode(fn, in.Dst)
	field := in.Text
	if in.Op == ir.LoadGlobal {
		field = lastPart(in.Text)
	}
	switch v.kind() {
	case functionValue:
		if field == "prototype" && in.Op != ir.Next {
			s.addValue(dst, newValue(madeValue, v.index()))
			return
		}
	case instanceValue:
		if in.Op == ir.LoadField {
			s.loadMethod(dst, v, field)
		}
	case classValue:
		if field == "prototype" {
			s.addValue(dst, newValue(instanceValue, v.index()))
			return
		}
		for _, m := range s.lookupMethod(v.index(), field) {
			s.addValue(dst, newValue(functionValue, m))
		}
		s.addEdge(s.globalNode(s.Classes[v.index()].Qualified+"."+field), dst)
	case moduleValue:
		s.loadExport(dst, s.Files[v.index()].Module+"."+field)
		return
	}
	s.addEdge(s.fieldNode(v, name), dst)
	if in.Op == ir.LoadIndex && in.Text != "" {
		s.addEdge(s.fieldNode(v, s.fieldNumber(unknownKey)), dst)
	}
}

// loadMethod gives the methods of an object's class to a node: a method value, whose
// receiver is the object it was taken from.
func (s *solver) loadMethod(dst int32, v value, name string) {
	for _, m := range s.lookupMethod(v.index(), name) {
		s.addValue(dst, newValue(functionValue, m))
		if this := s.Functions[m].This; this != ir.NoVar {
			s.addValue(s.variableNode(s.Functions[m], this), v)
		}
	}
}

// loadExport gives what a module exports under the name to a node. What the module declares is
// certain, what it assigns arrives later.
func (s *solver) loadExport(dst int32, q string) {
	for _, f := range s.byName[q] {
		s.addValue(dst, newValue(functionValue, f))
	}
	if class, ok := s.classes[q]; ok {
		s.addValue(dst, newValue(classValue, class))
	}
	s.addEdge(s.globalNode(q), dst)
}

// storeMember gives the field of the value what the node holds. A function that is stored in the
// prototype becomes a method of what the constructor makes.
func (s *solver) storeMember(v value, name, from int32) {
	if v.kind() == functionValue && name == s.fieldNumber("prototype") {
		s.addWatch(from, watchAction{kind: doProto, at: v.index()})
	}
	s.addEdge(from, s.fieldNode(v, name))
	switch v.kind() {
	case siteValue, packValue:
		s.addEdge(from, s.fieldNode(v, s.fieldNumber(anyKey)))
	case madeValue:
		s.addWatch(from, watchAction{kind: doMethod, at: v.index()})
	}
}

// addHeir makes the functions in an object methods of what a function makes, whose
// prototype the object is: callers that are not part of the program call them with
// such a receiver.
func (s *solver) addHeir(proto value, maker int32) {
	if slices.Contains(s.heirs[proto], maker) {
		return
	}
	s.heirs[proto] = append(s.heirs[proto], maker)
	for _, f := range slices.Clone(s.fieldsOf[proto]) {
		s.addWatch(f.node, watchAction{kind: doMethod, at: maker})
	}
}

// addPrototype gives an object the fields of another one. Later fields are inherited too, see
// fieldNode.
func (s *solver) addPrototype(v, proto value) {
	if v == proto || slices.Contains(s.protos[v], proto) {
		return
	}
	s.protos[v] = append(s.protos[v], proto)
	for _, f := range slices.Clone(s.fieldsOf[v]) {
		s.addEdge(s.fieldNode(proto, f.name), f.node)
	}
}

// dispatchMethod links a method call on the value. A field that holds a function is called as
// well: JavaScript and Python make no difference.
func (s *solver) dispatchMethod(fn *ir.Function, c *ir.Call, v value) {
	switch v.kind() {
	case instanceValue:
		if list := s.lookupMethod(v.index(), c.Name); list != nil {
			for _, f := range s.selectOverloads(s.Graph, list, fn, c) {
				s.linkTarget(fn, c, f, callContext{receiver: -1, this: v, hasThis: true})
			}
			return
		}
	case classValue:
		for _, f := range s.selectOverloads(s.Graph, s.lookupMethod(v.index(), c.Name), fn, c) {
			s.linkTarget(fn, c, f, s.explicitSelf(fn, c, f, v))
		}
	case moduleValue:
		s.callExport(fn, c, s.Files[v.index()].Module+"."+c.Name)
		return
	case functionValue:
		if s.callFunctionMethod(fn, c, v) {
			return
		}
	}
	s.addWatch(s.fieldNode(v, s.fieldNumber(c.Name)), watchAction{kind: doCall, fn: fn.ID, at: c.Instr})
}

// callExport links a call of what a module exports under the name. The module object stands for
// its exports.
func (s *solver) callExport(fn *ir.Function, c *ir.Call, q string) {
	for _, f := range s.selectOverloads(s.Graph, s.byName[q], fn, c) {
		s.linkTarget(fn, c, f, callContext{receiver: -1})
	}
	if class, ok := s.classes[q]; ok {
		s.callValue(fn, c, newValue(classValue, class), callContext{receiver: -1})
	}
	s.addWatch(s.globalNode(q), watchAction{kind: doCall, fn: fn.ID, at: c.Instr})
}

// callFunctionMethod links a call of a method of a function value: JavaScript's call,
// apply and bind, and the only method of a functional interface (Java). It reports whether
// the method is one of those.
func (s *solver) callFunctionMethod(fn *ir.Function, c *ir.Call, v value) bool {
	m := &fn.File.Lang.Semantics
	switch {
	case m.ImplicitThis:
		s.callValue(fn, c, v, callContext{receiver: -1})
	case !m.KeysAreFields:
		return false
	case c.Name == "call":
		p := callContext{receiver: -1, skip: 1}
		if args := fn.Args(c); len(args) > 0 {
			p.receiver = s.variableNode(fn, args[0].Value)
		}
		s.callValue(fn, c, v, p)
	case c.Name == "apply":
		s.linkApply(fn, c, v)
	case c.Name == "bind":
		s.bindReceiver(fn, c, v)
	default:
		return false
	}
	return true
}

// bindReceiver leads f.bind(this) to f, which has that receiver wherever it is called. The
// receiver holds for every call of the function, which is less precise than a bound copy but needs
// no new value.
func (s *solver) bindReceiver(fn *ir.Function, c *ir.Call, v value) {
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar {
		s.addValue(s.variableNode(fn, dst), v)
	}
	f := s.Functions[v.index()]
	if args := fn.Args(c); len(args) > 0 && f.This != ir.NoVar && f.Locals[f.This].Kind == ir.Receiver {
		s.addEdge(s.variableNode(fn, args[0].Value), s.variableNode(f, f.This))
	}
}

// linkApply links f.apply(this, arguments). The elements of the array may go to any parameter.
// Arguments in front of the array are skipped: the first one is the receiver. Which element goes
// where is not known, and which parameters there are only once the function is.
func (s *solver) linkApply(fn *ir.Function, c *ir.Call, v value) {
	args := fn.Args(c)
	p := callContext{receiver: -1, skip: len(args)}
	if len(args) > 0 {
		p.receiver = s.variableNode(fn, args[0].Value)
	}
	s.callValue(fn, c, v, p)
	if len(args) > 1 {
		f := s.Functions[v.index()]
		for _, param := range f.Params {
			s.addWatch(s.variableNode(fn, args[1].Value),
				watchAction{kind: doSpread, fn: fn.ID, at: s.variableNode(f, param.Var)})
		}
	}
}

// callValue links a call of the value. A class is called with new, or by itself where the language
// has no such word (Python); an object by its method __call__.
func (s *solver) callValue(fn *ir.Function, c *ir.Call, v value, p callContext) {
	switch v.kind() {
	case functionValue:
		if c.Kind == ir.CallNew {
			s.linkConstructed(fn, c, v.index())
			return
		}
		if p.receiver < 0 && c.Receiver != ir.NoVar && (s.Functions[v.index()].Class == nil ||
			c.Kind == ir.CallFunction) {
			p.receiver = s.variableNode(fn, c.Receiver)
		}
		s.linkTarget(fn, c, v.index(), p)
	case classValue:
		if c.Kind == ir.CallNew || fn.File.Lang.Semantics.SelfParameter {
			s.linkConstructor(fn, c, v.index())
		}
	case instanceValue:
		for _, f := range s.lookupMethod(v.index(), "__call__") {
			s.linkTarget(fn, c, f, callContext{receiver: -1, this: v, hasThis: true})
		}
	}
}

// linkTarget makes the function a target of the call: arguments go to parameters, the result comes
// back. Targets are bounded: a call with very many, such as one of toString, tells nothing and
// costs time. What is left out is counted in Truncated.
func (s *solver) linkTarget(fn *ir.Function, c *ir.Call, f int32, p callContext) {
	call := s.callNumber(fn, c)
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
		this := s.variableNode(callee, callee.This)
		if p.hasThis {
			s.addValue(this, p.this)
		}
		if p.receiver >= 0 {
			s.addEdge(p.receiver, this)
		}
	}
	if known {
		return
	}
	s.passArguments(fn, c, callee, p.skip)
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar && !p.constructs {
		s.addEdge(s.resultNode(f), s.variableNode(fn, dst))
	}
}

// passArguments leads arguments to parameters. Arguments by name that no parameter takes are
// fields of the parameter for the rest.
func (s *solver) passArguments(fn *ir.Function, c *ir.Call, callee *ir.Function, skip int) {
	pack := newValue(packValue, callee.ID<<1)
	position := -skip
	for _, a := range fn.Args(c) {
		from := s.variableNode(fn, a.Value)
		switch {
		case a.Rest != ir.One:
			for k := max(position, 0); k < len(callee.Params); k++ {
				s.addWatch(from,
					watchAction{kind: doSpread, fn: fn.ID, at: s.variableNode(callee, callee.Params[k].Var)})
			}
		case a.Name != "":
			if p := namedParam(callee, a.Name); p != nil {
				s.addEdge(from, s.variableNode(callee, p.Var))
			} else {
				s.addEdge(from, s.fieldNode(pack, s.fieldNumber(a.Name)))
			}
		default:
			if position >= 0 {
				s.passPositional(from, position, callee, pack)
			}
			position++
		}
	}
}

// namedParam returns the parameter that takes an argument of the name, nil for none. A parameter
// that takes all other names is none of them.
func namedParam(callee *ir.Function, name string) *ir.Param {
	for i := range callee.Params {
		if p := &callee.Params[i]; p.Name == name && p.Rest == ir.One {
			return p
		}
	}
	return nil
}

// passPositional leads an argument to the parameter at the position. A parameter that takes
// arguments only by name is passed over.
func (s *solver) passPositional(from int32, position int, callee *ir.Function, pack value) {
	for k := range callee.Params {
		p := &callee.Params[k]
		switch {
		case p.Rest == ir.Positional && k <= position:
			s.addEdge(from, s.fieldNode(pack, s.fieldNumber(anyKey)))
			return
		case k == position && p.Rest == ir.One && !p.ByName:
			s.addEdge(from, s.variableNode(callee, p.Var))
			return
		}
	}
}

// linkByType links a method call by the type that its receiver is declared with: the method of the
// type, and those of the types below it. It is class hierarchy analysis, narrowed to classes that
// the program makes objects of (rapid type analysis).
func (s *solver) linkByType(fn *ir.Function, c *ir.Call) {
	if c.Kind != ir.CallMethod || c.Type == "" {
		return
	}
	class, ok := s.classes[c.Type]
	if !ok {
		return
	}
	below := s.subclasses(class)
	if some := slices.DeleteFunc(slices.Clone(below), func(k int32) bool { return !s.instantiated[k] }); len(some) > 0 {
		below = some
	}
	receiver := int32(-1)
	if c.Receiver != ir.NoVar {
		receiver = s.variableNode(fn, c.Receiver)
	}
	for _, k := range below {
		for _, f := range s.selectOverloads(s.Graph, s.lookupMethod(k, c.Name), fn, c) {
			s.linkTarget(fn, c, f, callContext{receiver: receiver, this: newValue(instanceValue, k), hasThis: true})
		}
	}
}

// treatUntypedAsUnknown treats a call as one of unknown code when its receiver has no type of the
// program. It runs before linkByType, so that callbacks of libraries are known by then.
func (s *solver) treatUntypedAsUnknown(fn *ir.Function, c *ir.Call) {
	if _, ok := s.classes[c.Type]; !ok {
		s.treatAsUnknown(fn, c)
	}
}

// keepsArguments reports whether a method of unknown code with the name keeps its arguments. Names
// of methods are all that is known of code that is not there.
func keepsArguments(name string) bool {
	for _, verb := range []string{"add", "push", "put", "set", "append", "insert", "offer", "unshift", "enqueue",
		"register", "extend"} {
		if strings.HasPrefix(strings.ToLower(name), verb) {
			return true
		}
	}
	return false
}

// treatAsUnknown treats a call as one of unknown code: it may keep its arguments in its
// receiver, return a function that it is given, or a collection or what is in it
// that is its receiver, and call functions with what the receiver holds.
func (s *solver) treatAsUnknown(fn *ir.Function, c *ir.Call) {
	if call := s.callNumber(fn, c); s.opened[call] {
		return
	} else {
		s.opened[call] = true
	}
	kept := c.Kind == ir.CallNew || keepsArguments(c.Name)
	dst := fn.Code[c.Instr].Dst
	receiver := int32(-1)
	if c.Kind == ir.CallNew && dst != ir.NoVar {
		s.addValue(s.variableNode(fn, dst), s.newSite())
		receiver = s.variableNode(fn, dst)
	} else if c.Receiver != ir.NoVar {
		receiver = s.variableNode(fn, c.Receiver)
		if dst != ir.NoVar {
			s.addWatch(receiver, watchAction{kind: doFluent, fn: fn.ID, at: s.variableNode(fn, dst)})
			s.addWatch(receiver, watchAction{kind: doSpread, fn: fn.ID, at: s.variableNode(fn, dst)})
		}
	}
	for _, a := range fn.Args(c) {
		from := s.variableNode(fn, a.Value)
		if receiver >= 0 && kept {
			s.addWatch(receiver, watchAction{kind: doStore, fn: fn.ID, at: from, name: s.fieldNumber(anyKey)})
		}
		s.addWatch(from, watchAction{kind: doCallback, fn: fn.ID, at: fn.Code[c.Instr].X, name: receiver})
	}
}

// addCallback notes a function that unknown code is given. It may be called with what the receiver
// holds. The callee may also return it wrapped, such as a bound or memoized function.
func (s *solver) addCallback(fn *ir.Function, c *ir.Call, v value, receiver int32) {
	call := s.callNumber(fn, c)
	if dst := fn.Code[c.Instr].Dst; dst != ir.NoVar && c.Kind != ir.CallNew &&
		(v.kind() == functionValue || v.kind() == classValue) {
		s.addValue(s.variableNode(fn, dst), v) // it may be wrapped: bound, made a promise, memoized
	}
	switch v.kind() {
	case functionValue:
		if !slices.Contains(s.callbacks[call], v.index()) && len(s.callbacks[call]) < s.limit {
			s.callbacks[call] = append(s.callbacks[call], v.index())
			f := s.Functions[v.index()]
			for _, p := range f.Params {
				if receiver >= 0 && p.Rest == ir.One {
					s.addWatch(receiver, watchAction{kind: doSpread, fn: fn.ID, at: s.variableNode(f, p.Var)})
				}
			}
		}
	}
}

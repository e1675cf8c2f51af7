package ir

import (
	"slices"

	"merlon/internal/engine/sast/tree"
)

// This file lowers functions and classes.

// lowerFunction lowers a function unless it is done. Functions are lowered when their declaration
// is reached, because a closure needs the builder of the function around it for its captures; the
// rest is lowered at the end of the file.
func (l *lowerer) lowerFunction(fn *Function, outer *builder) {
	if l.lowered[fn.Index] {
		return
	}
	l.lowered[fn.Index] = true
	if l.t.Is(fn.Node, tree.Function) && l.t.Child(fn.Node, tree.RoleBody) < 0 {
		l.lowerSignature(fn)
		return
	}
	b := l.newBuilder(fn, outer)
	switch fn.Kind {
	case TopLevel:
		b.lowerBlock(tree.Root)
	case Initializer, StaticInit:
		b.lowerInitializers()
	default:
		b.addReceiver()
		b.addParameters()
		b.buildArgumentsList()
		b.passOnCaptures()
		b.namedResults()
		b.bodyAndDeferred()
	}
	b.finishFunction()
}

// lowerSignature notes the parameters of a function without a body. Calls of an interface method
// or of an overload still need the parameters' names and types.
func (l *lowerer) lowerSignature(fn *Function) {
	b := &builder{lowerer: l, fn: fn, vars: map[int32]Var{}}
	for p := range l.t.All(fn.Node, tree.RoleParameter) {
		b.addParameter(p)
	}
	fn.Vars = len(fn.Locals)
}

// addReceiver makes the receiver: this, Go's receiver, Python's first parameter. Languages differ
// in where it is declared: nowhere, in front of the name (Go), or as the first parameter (Python).
func (b *builder) addReceiver() {
	fn := b.fn
	if r := b.t.Child(fn.Node, tree.RoleReceiver); r >= 0 {
		fn.This = b.addLocal(Local{Name: "this", Kind: Receiver, Node: tree.None, Type: fn.Owner})
		if t := b.t.Child(r, tree.RoleTarget); b.t.Is(t, tree.Name) {
			fn.Locals[fn.This].Name, fn.Locals[fn.This].Node = b.t.Text(t), t
			b.vars[t] = fn.This
			b.ownCopy(t, fn.This, b.t.Child(r, tree.RoleType))
		}
		return
	}
	if fn.Class == nil || fn.Static {
		return
	}
	if !b.m.SelfParameter {
		b.thisVar()
		return
	}
	if p := b.t.Child(fn.Node, tree.RoleParameter); p >= 0 && b.t.Text(p) == "" {
		t := b.t.Child(p, tree.RoleTarget)
		fn.This = b.addLocal(Local{Name: b.t.Text(t), Kind: Receiver, Node: t, Type: fn.Class.Qualified})
		b.vars[t] = fn.This
	}
}

// addParameters makes the parameters, then assigns defaults and takes patterns apart. All
// variables exist before the first default is evaluated, since a default may name another
// parameter.
func (b *builder) addParameters() {
	first, byName := true, false
	for p := range b.t.All(b.fn.Node, tree.RoleParameter) {
		self := first && b.m.SelfParameter && b.fn.This != NoVar && b.fn.Class != nil && b.fn.Kind != LambdaFunction
		first = false
		switch {
		case self, b.t.Text(p) == "/":
		case b.t.Text(p) == "*" && b.t.Child(p, tree.RoleTarget) < 0:
			byName = true
		default:
			b.addParameter(p)
			b.fn.Params[len(b.fn.Params)-1].ByName = byName
			byName = byName || b.t.Text(p) == "*"
		}
	}
	for k := range b.fn.Params {
		p := &b.fn.Params[k]
		b.initParameter(p)
	}
}

// buildArgumentsList makes the list of all arguments for a function that names it (JavaScript):
// the parameters, and behind them a parameter for all the others. The list is filled with the
// values at the entry; assignments to a parameter do not change it, as in strict mode.
func (b *builder) buildArgumentsList() {
	body := b.t.Child(b.fn.Node, tree.RoleBody)
	if b.m.Arguments == "" || body < 0 || !b.usesArgumentsList(body) {
		return
	}
	b.argumentsVar = b.addLocal(Local{Name: b.m.Arguments, Kind: Hidden, Node: tree.None})
	list := b.emitValue(New, tree.None, "{}")
	rest := false
	for k := range b.fn.Params {
		p := &b.fn.Params[k]
		if p.Rest == Positional {
			rest = true
			b.appendElements(list, p.Var)
			continue
		}
		b.emitPlain(StoreIndex, tree.None, itoa(k), list, NoVar, b.emitValue(Copy, tree.None, "", p.Var))
	}
	if !rest {
		n := len(b.fn.Params)
		v := b.addLocal(Local{Kind: Parameter, Node: body})
		b.fn.Params = append(b.fn.Params, Param{Var: v, Rest: Positional, Node: body})
		for k := n; k < distinctArguments; k++ {
			b.emitPlain(StoreIndex, tree.None, itoa(k), list, NoVar, b.emitValue(LoadIndex, tree.None, itoa(k-n), v,
				NoVar))
		}
		b.appendElements(list, v)
	}
	b.copyTo(b.argumentsVar, tree.None, list)
}

// distinctArguments is how many arguments behind the parameters have a key of their own in the list.
const distinctArguments = 4

// appendElements adds the elements of a list to another. Which elements there are is not known, so
// the store has no key.
func (b *builder) appendElements(list, from Var) {
	it := b.emitValue(Iterate, tree.None, "values", from)
	b.emitPlain(StoreIndex, tree.None, "", list, b.emitValue(Missing, tree.None, "", from),
		b.emitValue(Next, tree.None, "", it))
}

// usesArgumentsList reports whether the function itself names the list of its arguments. Functions
// within, other than arrows, have lists of their own, which isArguments knows.
func (b *builder) usesArgumentsList(body int32) bool {
	for i := body; i < b.t.Nodes[body].Next; i++ {
		if b.t.Nodes[i].Kind == tree.Name && b.isArguments(i) {
			return true
		}
	}
	return false
}

// isArguments reports whether a Name is that of the list of the function's arguments.
func (b *builder) isArguments(i int32) bool {
	return b.m.Arguments != "" && b.t.Text(i) == b.m.Arguments && b.unit[i] == b.fn.Index && b.names.Declaration(i) < 0
}

// namedResults makes the variables that a return without values returns (Go). They begin as zero
// values, and any statement may assign them, deferred functions included.
func (b *builder) namedResults() {
	r := b.t.Child(b.fn.Node, tree.RoleReturnType)
	if !b.t.Is(r, tree.Type) || b.t.Text(r) != "()" {
		return
	}
	for c := range b.t.All(r, tree.RoleElement) {
		if t := b.t.Child(c, tree.RoleTarget); b.t.Is(c, tree.Parameter) && b.t.Is(t, tree.Name) {
			v := b.localVar(t)
			b.copyTo(v, tree.None, b.emitConstant(tree.None, ConstNull, "zero"))
			b.fn.named = append(b.fn.named, v)
		}
	}
}

// namedResult returns the value of a return without values. Copies are returned: a deferred
// function may change the variables afterwards, and must not change what was returned before.
func (b *builder) namedResult(i int32) Var {
	switch vars := b.fn.named; len(vars) {
	case 0:
		return NoVar
	case 1:
		return b.emitValue(Copy, i, "", vars[0])
	default:
		tuple := b.emitValue(New, i, "()")
		for k, v := range vars {
			b.emitPlain(StoreIndex, i, itoa(k), tuple, NoVar, b.emitValue(Copy, tree.None, "", v))
		}
		return tuple
	}
}

// setNamed assigns the values of a return to the results with names. A deferred function may read
// and change them on the way out.
func (b *builder) setNamed(v Var) {
	for k, r := range b.fn.named {
		if len(b.fn.named) == 1 {
			b.copyTo(r, tree.None, v)
		} else {
			b.copyTo(r, tree.None, b.emitValue(LoadIndex, tree.None, itoa(k), v, NoVar))
		}
	}
}

// passOnCaptures captures what functions need that this one may call. The variables become
// captures of this function, so that they are at hand when the callee's closure is made or called.
func (b *builder) passOnCaptures() {
	for _, d := range b.passedCaptures[b.fn.Index] {
		if by := b.declaringNode(d); by >= 0 && b.isInside(b.unit[d]) {
			switch b.t.Nodes[by].Kind {
			case tree.Import, tree.Class, tree.Field, tree.TypeAlias:
			default:
				b.localVar(d)
			}
		}
	}
}

// addParameter makes the variable of a parameter. A parameter that is a pattern has no name; its
// parts are assigned at the start of the body. Variables that a function within writes are shared:
// their value may change between two statements.
func (b *builder) addParameter(p int32) {
	t := b.t.Child(p, tree.RoleTarget)
	typ := ""
	if c := b.t.Child(p, tree.RoleType); c >= 0 {
		typ = b.absoluteName(b.names.Type(c))
	}
	param := Param{Type: typ, Node: p}
	switch b.t.Text(p) {
	case "*", "...":
		param.Rest = Positional
	case "**":
		param.Rest = Keywords
	}
	l := Local{Kind: Parameter, Node: p, Type: typ}
	if b.t.Is(t, tree.Name) {
		l.Name, l.Node = b.t.Text(t), t
		param.Name, l.Shared = l.Name, b.use[t]&writtenInside != 0
	}
	param.Var = b.addLocal(l)
	if l.Name != "" {
		b.vars[t] = param.Var
	}
	b.fn.Params = append(b.fn.Params, param)
}

// initParameter assigns the default of a parameter and takes a pattern apart. The default is
// evaluated at the entry, on the branch where no argument was given.
func (b *builder) initParameter(p *Param) {
	v := p.Var
	if value := b.t.Child(p.Node, tree.RoleValue); value >= 0 {
		none, done := b.newBlock(), b.newBlock()
		b.branchOn(value, b.emitValue(Missing, tree.None, "", v), none, done)
		b.startBlock(none)
		b.copyTo(v, value, b.lowerExpr(value))
		b.startBlock(done)
	}
	t := b.t.Child(p.Node, tree.RoleTarget)
	if p.Name == "" && t >= 0 {
		b.storeTarget(t, v)
	}
	b.ownCopy(t, v, b.t.Child(p.Node, tree.RoleType))
	if p.Name != "" && b.t.Child(p.Node, tree.RoleModifier) >= 0 && b.fn.Kind == Constructor && b.fn.Class != nil {
		b.emitPlain(StoreField, t, p.Name, b.thisVar(), v) // a parameter that is a member: TypeScript, Kotlin
	}
}

// lowerBody lowers the body: a block, or an expression that is returned. A constructor first calls
// the initializer of its class, unless another constructor does so for it.
func (b *builder) lowerBody() {
	fn := b.fn
	body := b.t.Child(fn.Node, tree.RoleBody)
	if fn.Kind == Constructor && fn.Class != nil && fn.Class.Init != nil && !b.callsOwnConstructor(body) {
		b.emitCall(tree.None, Call{
			Kind: CallInit, Name: "<init>", Qualified: fn.Class.Init.Qualified, Type: fn.Class.Qualified,
			Receiver: b.thisVar(), Callee: NoVar, Direct: fn.Class.Init.Index,
		}, nil)
	}
	if body >= 0 && hasValue(b.t.Nodes[body].Kind) {
		b.emitPlain(Return, body, "", b.lowerExpr(body))
		b.endBlock()
		return
	}
	b.lowerStmt(body)
}

// callsOwnConstructor reports whether a constructor calls another one of its class. Then that one
// runs the initializer, and running it twice would be wrong.
func (b *builder) callsOwnConstructor(body int32) bool {
	first := body + 1
	if body < 0 || first >= b.t.Nodes[body].Next || !b.t.Is(first, tree.ExpressionStatement) {
		return false
	}
	call := b.t.Child(first, tree.RoleValue)
	return b.t.Is(call, tree.Call) && b.t.Is(b.t.Child(call, tree.RoleCallee), tree.This)
}

// lowerFunctionStatement lowers a declared function. One inside of a function is a
// variable of that function; decorators are called with it.
func (b *builder) lowerFunctionStatement(i int32) {
	f, ok := b.owner[i]
	if !ok {
		return
	}
	fn := b.Functions[f]
	if !b.lowered[f] {
		b.lowerer.lowerFunction(fn, b)
	}
	name := b.t.Child(i, tree.RoleName)
	member := fn.Class != nil || fn.Owner != ""
	v := NoVar
	if !member && b.isFunctionVariable(name) {
		v = b.emitIndexed(Closure, i, f)
		b.storeTarget(name, v)
	}
	if !member && !b.t.Is(name, tree.Name) && name >= 0 {
		b.storeTarget(name, b.emitIndexed(Closure, i, f))
	}
	closure := func() Var {
		if v == NoVar {
			v = b.emitIndexed(Closure, i, f)
		}
		return v
	}
	b.exportDefault(i, fn.Qualified, closure)
	if d := b.applyDecorators(i, closure); d != NoVar && !member {
		if b.t.Is(name, tree.Name) && b.fn.Kind != TopLevel {
			b.storeTarget(name, d)
		} else {
			b.emitPlain(StoreGlobal, name, fn.Qualified, NoVar, d)
		}
	}
}

// isFunctionVariable reports whether the name of a declared function has to be a variable:
// it is nested, or something else is assigned to the name later.
func (b *builder) isFunctionVariable(name int32) bool {
	return b.fn.Kind != TopLevel || b.t.Is(name, tree.Name) && b.use[name]&rewritten != 0
}

// exportDefault exports a declaration that has the modifier "default" (JavaScript).
func (b *builder) exportDefault(i int32, qualified string, value func() Var) {
	if b.hasModifier(i, "default") && b.m.Exports != "" {
		b.aliasName("", qualified)
		b.storeExport(i, "default", value())
	}
}

// applyDecorators calls the decorators of a declaration with what they decorate, the last
// one first, and returns what comes out; NoVar when there are none.
func (b *builder) applyDecorators(i int32, value func() Var) Var {
	v := NoVar
	if !b.m.Decorators {
		return v
	}
	var list []int32
	for a := range b.t.All(i, tree.RoleAnnotation) {
		list = append(list, a)
	}
	for _, a := range slices.Backward(list) {
		c := Call{Receiver: NoVar, Callee: NoVar, Direct: -1}
		d := b.t.Child(a, tree.RoleValue)
		if b.t.Is(d, tree.Name) {
			b.callName(&c, d)
		} else {
			c.Qualified = b.qualifiedName(d)
			c.Callee = b.lowerExpr(d)
		}
		if v == NoVar {
			v = value()
		}
		v = b.emitCall(a, c, []Arg{{Value: v, Node: i}})
	}
	return v
}

// lowerLambda evaluates a function value. The closure is stored before the body is lowered, so
// that a recursive function expression finds itself.
func (b *builder) lowerLambda(i int32) Var {
	f, ok := b.owner[i]
	if !ok {
		return b.emitUnknown(i, "function")
	}
	v := b.emitIndexed(Closure, i, f)
	if name := b.t.Child(i, tree.RoleName); name >= 0 && b.t.Is(i, tree.Lambda) && b.unit[name] == b.fn.Index {
		b.storeTarget(name, v)
	}
	b.lowerer.lowerFunction(b.Functions[f], b)
	return v
}

// lowerClassStatement lowers a declared class: its members, then the code that runs when
// the declaration does.
func (b *builder) lowerClassStatement(i int32) {
	c, ok := b.owner[i]
	if !ok {
		return
	}
	b.lowerClassMembers(b.Classes[c])
	if s := b.Classes[c].Static; s != nil && b.unit[i] == b.fn.Index {
		b.emitCall(tree.None, Call{
			Kind: CallInit, Name: s.Name, Qualified: s.Qualified, Receiver: NoVar, Callee: NoVar, Direct: s.Index,
		}, nil)
	}
	if name := b.t.Child(i, tree.RoleName); name >= 0 && b.use[name]&rewritten != 0 {
		b.storeTarget(name, b.emitIndexed(ClassValue, i, c))
	}
	value := func() Var { return b.emitIndexed(ClassValue, i, c) }
	b.exportDefault(i, b.Classes[c].Qualified, value)
	b.applyDecorators(i, value)
}

// lowerClassMembers lowers the functions of a class. Nested classes are lowered with the class
// around them, which their methods may refer to.
func (b *builder) lowerClassMembers(c *Class) {
	if c.Static != nil {
		b.lowerer.lowerFunction(c.Static, b)
	}
	if c.Init != nil {
		b.lowerer.lowerFunction(c.Init, b)
	}
	for _, m := range c.Methods {
		b.lowerer.lowerFunction(m, b)
	}
	body := c.Node
	if k := b.t.Child(c.Node, tree.RoleBody); k >= 0 {
		body = k
	}
	for i := range b.t.Children(body) {
		if b.t.Is(i, tree.Class) {
			b.lowerClassStatement(i)
		}
	}
}

// lowerInitializers lowers the members of a class that give values to its objects, or to
// the class itself.
func (b *builder) lowerInitializers() {
	fn := b.fn
	body := b.t.Child(fn.Class.Node, tree.RoleBody)
	if body < 0 {
		return
	}
	if fn.Kind == Initializer {
		b.thisVar()
		b.passOnCaptures()
		if b.m.SelfParameter {
			for _, f := range fn.Class.Fields { // objects see what their class has
				b.emitPlain(StoreField, tree.None, f.Name, fn.This,
					b.emitValue(LoadGlobal, tree.None, joinName(fn.Class.Qualified, f.Name)))
			}
		}
	}
	for i := range b.t.Children(body) {
		if b.unit[i] != fn.Index || b.t.Is(i, tree.Class) {
			continue
		}
		switch b.t.Nodes[i].Kind {
		case tree.Field:
			b.lowerField(i)
		case tree.Function:
			b.lowerStmt(b.t.Child(i, tree.RoleBody))
		default:
			b.lowerStmt(i)
		}
	}
}

// lowerField lowers the initialiser of a field. Static fields are globals under the name of their
// class.
func (b *builder) lowerField(i int32) {
	c := b.fn.Class
	target, value := b.t.Child(i, tree.RoleTarget), b.t.Child(i, tree.RoleValue)
	v := NoVar
	switch {
	case value >= 0:
		v = b.lowerExpr(value)
	case b.t.Text(i) == "enum":
		v = b.emitValue(New, i, c.Qualified)
	default:
		return
	}
	switch {
	case !b.t.Is(target, tree.Name) && !b.t.Is(target, tree.String):
		b.storeTarget(target, v)
	case b.fn.Kind == StaticInit:
		b.emitPlain(StoreGlobal, target, joinName(c.Qualified, b.t.Text(target)), NoVar, v)
	default:
		b.emitPlain(StoreField, target, b.t.Text(target), b.thisVar(), v)
	}
}

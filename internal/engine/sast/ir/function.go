package ir

import (
	"slices"

	"merlon/internal/engine/sast/tree"
)

// This file lowers functions and classes.

// function lowers a function unless it is done.
func (l *lowerer) function(fn *Function, outer *builder) {
	if l.lowered[fn.Index] {
		return
	}
	l.lowered[fn.Index] = true
	if l.t.Is(fn.Node, tree.Function) && l.t.Child(fn.Node, tree.RoleBody) < 0 {
		l.signature(fn)
		return
	}
	b := l.newBuilder(fn, outer)
	switch fn.Kind {
	case TopLevel:
		b.block(tree.Root)
	case Initializer, StaticInit:
		b.initializers()
	default:
		b.receive()
		b.parameters()
		b.allArguments()
		b.passOnCaptures()
		b.namedResults()
		b.bodyAndDeferred()
	}
	b.finish()
}

// signature notes the parameters of a function without a body.
func (l *lowerer) signature(fn *Function) {
	b := &builder{lowerer: l, fn: fn, vars: map[int32]Var{}}
	for p := range l.t.All(fn.Node, tree.RoleParameter) {
		b.parameter(p)
	}
	fn.Vars = len(fn.Locals)
}

// receive makes the receiver: this, Go's receiver, Python's first parameter.
func (b *builder) receive() {
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
		b.this()
		return
	}
	if p := b.t.Child(fn.Node, tree.RoleParameter); p >= 0 && b.t.Text(p) == "" {
		t := b.t.Child(p, tree.RoleTarget)
		fn.This = b.addLocal(Local{Name: b.t.Text(t), Kind: Receiver, Node: t, Type: fn.Class.Qualified})
		b.vars[t] = fn.This
	}
}

// parameters makes the parameters, then assigns defaults and takes patterns apart.
func (b *builder) parameters() {
	first, byName := true, false
	for p := range b.t.All(b.fn.Node, tree.RoleParameter) {
		self := first && b.m.SelfParameter && b.fn.This != NoVar && b.fn.Class != nil && b.fn.Kind != LambdaFunction
		first = false
		switch {
		case self, b.t.Text(p) == "/":
		case b.t.Text(p) == "*" && b.t.Child(p, tree.RoleTarget) < 0:
			byName = true
		default:
			b.parameter(p)
			b.fn.Params[len(b.fn.Params)-1].ByName = byName
			byName = byName || b.t.Text(p) == "*"
		}
	}
	for k := range b.fn.Params {
		p := &b.fn.Params[k]
		b.enter(p)
	}
}

// allArguments makes the list of all arguments for a function that names it
// (JavaScript): the parameters, and behind them a parameter for all the others.
func (b *builder) allArguments() {
	body := b.t.Child(b.fn.Node, tree.RoleBody)
	if b.m.Arguments == "" || body < 0 || !b.namesArguments(body) {
		return
	}
	b.given = b.addLocal(Local{Name: b.m.Arguments, Kind: Hidden, Node: tree.None})
	list := b.value(New, tree.None, "{}")
	rest := false
	for k := range b.fn.Params {
		p := &b.fn.Params[k]
		if p.Rest == Positional {
			rest = true
			b.takeRest(list, p.Var)
			continue
		}
		b.do(StoreIndex, tree.None, itoa(k), list, NoVar, b.value(Copy, tree.None, "", p.Var))
	}
	if !rest {
		n := len(b.fn.Params)
		v := b.addLocal(Local{Kind: Parameter, Node: body})
		b.fn.Params = append(b.fn.Params, Param{Var: v, Rest: Positional, Node: body})
		for k := n; k < fewArguments; k++ {
			b.do(StoreIndex, tree.None, itoa(k), list, NoVar, b.value(LoadIndex, tree.None, itoa(k-n), v, NoVar))
		}
		b.takeRest(list, v)
	}
	b.copyTo(b.given, tree.None, list)
}

// fewArguments is how many arguments are told apart that are no parameters.
const fewArguments = 4

// takeRest adds the elements of a list to another.
func (b *builder) takeRest(list, from Var) {
	it := b.value(Iterate, tree.None, "values", from)
	b.do(StoreIndex, tree.None, "", list, b.value(Missing, tree.None, "", from), b.value(Next, tree.None, "", it))
}

// namesArguments reports whether the function itself names the list of its arguments.
func (b *builder) namesArguments(body int32) bool {
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

// namedResults makes the variables that a return without values returns (Go).
func (b *builder) namedResults() {
	r := b.t.Child(b.fn.Node, tree.RoleReturnType)
	if !b.t.Is(r, tree.Type) || b.t.Text(r) != "()" {
		return
	}
	for c := range b.t.All(r, tree.RoleElement) {
		if t := b.t.Child(c, tree.RoleTarget); b.t.Is(c, tree.Parameter) && b.t.Is(t, tree.Name) {
			v := b.local(t)
			b.copyTo(v, tree.None, b.constant(tree.None, ConstNull, "zero"))
			b.fn.named = append(b.fn.named, v)
		}
	}
}

// namedResult returns the value of a return without values.
func (b *builder) namedResult(i int32) Var {
	switch vars := b.fn.named; len(vars) {
	case 0:
		return NoVar
	case 1:
		return b.value(Copy, i, "", vars[0])
	default:
		tuple := b.value(New, i, "()")
		for k, v := range vars {
			b.do(StoreIndex, i, itoa(k), tuple, NoVar, b.value(Copy, tree.None, "", v))
		}
		return tuple
	}
}

// setNamed assigns the values of a return to the results with names.
func (b *builder) setNamed(v Var) {
	for k, r := range b.fn.named {
		if len(b.fn.named) == 1 {
			b.copyTo(r, tree.None, v)
		} else {
			b.copyTo(r, tree.None, b.value(LoadIndex, tree.None, itoa(k), v, NoVar))
		}
	}
}

// passOnCaptures captures what functions need that this one may call.
func (b *builder) passOnCaptures() {
	for _, d := range b.passed[b.fn.Index] {
		if by := b.declarator(d); by >= 0 && b.inside(b.unit[d]) {
			switch b.t.Nodes[by].Kind {
			case tree.Import, tree.Class, tree.Field, tree.TypeAlias:
			default:
				b.local(d)
			}
		}
	}
}

// parameter makes the variable of a parameter.
func (b *builder) parameter(p int32) {
	t := b.t.Child(p, tree.RoleTarget)
	typ := ""
	if c := b.t.Child(p, tree.RoleType); c >= 0 {
		typ = b.absolute(b.names.Type(c))
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

// enter assigns the default of a parameter and takes a pattern apart.
func (b *builder) enter(p *Param) {
	v := p.Var
	if value := b.t.Child(p.Node, tree.RoleValue); value >= 0 {
		none, done := b.newBlock(), b.newBlock()
		b.branch(value, b.value(Missing, tree.None, "", v), none, done)
		b.start(none)
		b.copyTo(v, value, b.expr(value))
		b.start(done)
	}
	t := b.t.Child(p.Node, tree.RoleTarget)
	if p.Name == "" && t >= 0 {
		b.store(t, v)
	}
	b.ownCopy(t, v, b.t.Child(p.Node, tree.RoleType))
	if p.Name != "" && b.t.Child(p.Node, tree.RoleModifier) >= 0 && b.fn.Kind == Constructor && b.fn.Class != nil {
		b.do(StoreField, t, p.Name, b.this(), v) // a parameter that is a member: TypeScript, Kotlin
	}
}

// body lowers the body: a block, or an expression that is returned.
func (b *builder) body() {
	fn := b.fn
	body := b.t.Child(fn.Node, tree.RoleBody)
	if fn.Kind == Constructor && fn.Class != nil && fn.Class.Init != nil && !b.delegates(body) {
		b.invoke(tree.None, Call{
			Kind: CallInit, Name: "<init>", Qualified: fn.Class.Init.Qualified, Type: fn.Class.Qualified,
			Receiver: b.this(), Callee: NoVar, Direct: fn.Class.Init.Index,
		}, nil)
	}
	if body >= 0 && evaluates(b.t.Nodes[body].Kind) {
		b.do(Return, body, "", b.expr(body))
		b.end()
		return
	}
	b.stmt(body)
}

// delegates reports whether a constructor calls another one of its class.
func (b *builder) delegates(body int32) bool {
	first := body + 1
	if body < 0 || first >= b.t.Nodes[body].Next || !b.t.Is(first, tree.ExpressionStatement) {
		return false
	}
	call := b.t.Child(first, tree.RoleValue)
	return b.t.Is(call, tree.Call) && b.t.Is(b.t.Child(call, tree.RoleCallee), tree.This)
}

// functionStatement lowers a declared function. One inside of a function is a
// variable of that function; decorators are called with it.
func (b *builder) functionStatement(i int32) {
	f, ok := b.owner[i]
	if !ok {
		return
	}
	fn := b.Functions[f]
	if !b.lowered[f] {
		b.lowerer.function(fn, b)
	}
	name := b.t.Child(i, tree.RoleName)
	member := fn.Class != nil || fn.Owner != ""
	v := NoVar
	if !member && (b.fn.Kind != TopLevel || b.t.Is(name, tree.Name) && b.use[name]&rewritten != 0) {
		v = b.indexed(Closure, i, f)
		b.store(name, v)
	}
	if !member && !b.t.Is(name, tree.Name) && name >= 0 {
		b.store(name, b.indexed(Closure, i, f))
	}
	closure := func() Var {
		if v == NoVar {
			v = b.indexed(Closure, i, f)
		}
		return v
	}
	if b.modified(i, "default") && b.m.Exports != "" {
		b.aliasName("", fn.Qualified)
		b.export(i, "default", closure())
	}
	if d := b.decorate(i, closure); d != NoVar && !member {
		if b.t.Is(name, tree.Name) && b.fn.Kind != TopLevel {
			b.store(name, d)
		} else {
			b.do(StoreGlobal, name, fn.Qualified, NoVar, d)
		}
	}
}

// decorate calls the decorators of a declaration with what they decorate, the last
// one first, and returns what comes out; NoVar when there are none.
func (b *builder) decorate(i int32, value func() Var) Var {
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
			c.Qualified = b.qualified(d)
			c.Callee = b.expr(d)
		}
		if v == NoVar {
			v = value()
		}
		v = b.invoke(a, c, []Arg{{Value: v, Node: i}})
	}
	return v
}

// lambda evaluates a function value.
func (b *builder) lambda(i int32) Var {
	f, ok := b.owner[i]
	if !ok {
		return b.unknown(i, "function")
	}
	v := b.indexed(Closure, i, f)
	if name := b.t.Child(i, tree.RoleName); name >= 0 && b.t.Is(i, tree.Lambda) && b.unit[name] == b.fn.Index {
		b.store(name, v)
	}
	b.lowerer.function(b.Functions[f], b)
	return v
}

// classStatement lowers a declared class.
func (b *builder) classStatement(i int32) {
	c, ok := b.owner[i]
	if !ok {
		return
	}
	b.classMembers(b.Classes[c])
	if s := b.Classes[c].Static; s != nil && b.unit[i] == b.fn.Index {
		b.invoke(tree.None, Call{
			Kind: CallInit, Name: s.Name, Qualified: s.Qualified, Receiver: NoVar, Callee: NoVar, Direct: s.Index,
		}, nil)
	}
	if name := b.t.Child(i, tree.RoleName); name >= 0 && b.use[name]&rewritten != 0 {
		b.store(name, b.indexed(ClassValue, i, c))
	}
	value := func() Var { return b.indexed(ClassValue, i, c) }
	if b.modified(i, "default") && b.m.Exports != "" {
		b.aliasName("", b.Classes[c].Qualified)
		b.export(i, "default", value())
	}
	b.decorate(i, value)
}

// classMembers lowers the functions of a class.
func (b *builder) classMembers(c *Class) {
	if c.Static != nil {
		b.lowerer.function(c.Static, b)
	}
	if c.Init != nil {
		b.lowerer.function(c.Init, b)
	}
	for _, m := range c.Methods {
		b.lowerer.function(m, b)
	}
	body := c.Node
	if k := b.t.Child(c.Node, tree.RoleBody); k >= 0 {
		body = k
	}
	for i := range b.t.Children(body) {
		if b.t.Is(i, tree.Class) {
			b.classStatement(i)
		}
	}
}

// initializers lowers the members of a class that give values to its objects, or to
// the class itself.
func (b *builder) initializers() {
	fn := b.fn
	body := b.t.Child(fn.Class.Node, tree.RoleBody)
	if body < 0 {
		return
	}
	if fn.Kind == Initializer {
		b.this()
		b.passOnCaptures()
		if b.m.SelfParameter {
			for _, f := range fn.Class.Fields { // objects see what their class has
				b.do(StoreField, tree.None, f.Name, fn.This,
					b.value(LoadGlobal, tree.None, join(fn.Class.Qualified, f.Name)))
			}
		}
	}
	for i := range b.t.Children(body) {
		if b.unit[i] != fn.Index || b.t.Is(i, tree.Class) {
			continue
		}
		switch b.t.Nodes[i].Kind {
		case tree.Field:
			b.field(i)
		case tree.Function:
			b.stmt(b.t.Child(i, tree.RoleBody))
		default:
			b.stmt(i)
		}
	}
}

// field lowers the initialiser of a field.
func (b *builder) field(i int32) {
	c := b.fn.Class
	target, value := b.t.Child(i, tree.RoleTarget), b.t.Child(i, tree.RoleValue)
	v := NoVar
	switch {
	case value >= 0:
		v = b.expr(value)
	case b.t.Text(i) == "enum":
		v = b.value(New, i, c.Qualified)
	default:
		return
	}
	switch {
	case !b.t.Is(target, tree.Name) && !b.t.Is(target, tree.String):
		b.store(target, v)
	case b.fn.Kind == StaticInit:
		b.do(StoreGlobal, target, join(c.Qualified, b.t.Text(target)), NoVar, v)
	default:
		b.do(StoreField, target, b.t.Text(target), b.this(), v)
	}
}

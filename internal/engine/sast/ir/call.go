package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file lowers calls. How a callee is found is decided here, by what its syntax and its name
// tell.

// lowerCall lowers a call. Calls that are something else in the language's semantics
// (an import, a conversion, a panic, a maker such as Go's make) are lowered as that.
func (b *builder) lowerCall(i int32) Var {
	if q := b.requiredModule(i); q != "" {
		return b.emitValue(LoadGlobal, i, q)
	}
	callee := b.t.Child(i, tree.RoleCallee)
	if b.isConversion(callee) {
		v := b.lowerExpr(b.t.Child(i, tree.RoleArgument))
		return b.emitValue(Cast, i, b.typeName(callee), v)
	}
	if v := b.lowerBuiltin(i, callee); v != NoVar {
		return v
	}
	if v := b.lowerResolverCall(i, callee); v != NoVar {
		return v
	}
	if v := b.lowerApply(i, callee); v != NoVar {
		return v
	}
	if v := b.lowerMethodExpressionCall(i, callee); v != NoVar {
		return v
	}
	c := b.lowerCallee(i)
	from := len(b.lent)
	v := b.emitCall(i, c, b.lowerArguments(i))
	b.writeBackLent(from)
	return v
}

// lowerBuiltin lowers the call of a function that the language itself declares and that
// the form has instructions for: panic, recover, make and new; NoVar for other calls.
func (b *builder) lowerBuiltin(i, callee int32) Var {
	if !b.t.Is(callee, tree.Name) || b.names.Declaration(callee) >= 0 {
		return NoVar
	}
	switch name := b.t.Text(callee); {
	case name == "":
	case name == b.m.Panic:
		v := b.emitUnknown(tree.None, name)
		if a := b.t.Child(i, tree.RoleArgument); a >= 0 {
			v = b.lowerExpr(a)
		}
		b.emitThrow(i, v)
		return v
	case b.m.Makers[name]:
		return b.lowerMake(i)
	case name == b.m.Recover && b.outer != nil && b.outer.exc != NoVar:
		return b.emitValue(Catch, i, "", b.captureVar(b.outer.exc))
	}
	return NoVar
}

// lowerApply lowers "f.call(this, a)" and "f.apply(this, args)" as calls of f on the
// receiver; NoVar for other calls.
func (b *builder) lowerApply(i, callee int32) Var {
	if !b.m.KeysAreFields || !b.t.Is(callee, tree.Member) {
		return NoVar
	}
	f, name := b.t.Child(callee, tree.RoleObject), b.t.Text(b.t.Child(callee, tree.RoleProperty))
	this := b.t.Child(i, tree.RoleArgument)
	n := b.t.Count(i, tree.RoleArgument)
	if n == 0 || b.t.Is(this, tree.Spread) || name != "call" && (name != "apply" || n != 2) || b.isSuper(f) {
		return NoVar
	}
	c := b.lowerAppliedFunction(f)
	args := b.lowerArguments(i)
	if !b.t.Is(this, tree.Null) {
		c.Receiver = args[0].Value
	}
	args = args[1:]
	if name == "apply" {
		args[0].Rest = Positional
	}
	return b.emitCall(i, c, args)
}

// lowerAppliedFunction lowers the function in front of ".call" and ".apply". The function is not
// called by its own name there, so the call is one of a value, unless the name tells which
// function it is.
func (b *builder) lowerAppliedFunction(f int32) Call {
	c := Call{Receiver: NoVar, Callee: NoVar, Direct: -1}
	switch {
	case b.t.Is(f, tree.Member):
		c.Name, c.Qualified = b.t.Text(b.t.Child(f, tree.RoleProperty)), b.qualifiedName(f)
		if c.Callee = b.lowerExpr(f); c.Qualified != "" {
			c.Kind = CallMethod
		}
	case b.t.Is(f, tree.Name):
		b.callName(&c, f)
	default:
		c.Callee = b.lowerExpr(f)
	}
	return c
}

// lowerMake evaluates a call that makes a value of a type; NoVar when the type is not one that has
// parts. The arguments that are lengths are evaluated for their effects alone.
func (b *builder) lowerMake(i int32) Var {
	typ := b.t.Child(i, tree.RoleArgument)
	if typ < 0 {
		return NoVar
	}
	if c := b.structOf(typ); c != nil {
		v := b.emitValue(New, i, c.Qualified)
		b.zeroFields(v, c, nil, 0)
		return v
	}
	if q := b.foreignStruct(typ); q != "" && b.t.Text(b.t.Child(i, tree.RoleCallee)) == "new" {
		return b.newForeignStruct(i, q, Allocated)
	}
	kind := ""
	if b.t.Is(typ, tree.Type) {
		switch b.t.Text(typ) {
		case "[]", "chan":
			kind = "[]"
		case "map":
			kind = "{}"
		}
	}
	if kind == "" {
		return NoVar
	}
	first := true
	for a := range b.t.All(i, tree.RoleArgument) {
		if !first {
			b.lowerExpr(a) // lengths
		}
		first = false
	}
	return b.emitValue(New, i, kind)
}

// lowerCallee evaluates what a call calls. The receiver or callee is evaluated before the
// arguments, in the order of the source.
func (b *builder) lowerCallee(i int32) Call {
	callee := b.t.Child(i, tree.RoleCallee)
	c := Call{Receiver: NoVar, Callee: NoVar, Direct: -1}
	switch n := &b.t.Nodes[callee]; n.Kind {
	case tree.Super:
		c.Kind, c.Name, c.Receiver = CallSuper, b.m.Constructor, b.thisVar()
	case tree.This:
		c.Kind, c.Receiver, c.Type = CallSelf, b.thisVar(), b.className()
	case tree.Member:
		b.callMember(&c, callee)
	case tree.Name:
		b.callName(&c, callee)
	case tree.Index:
		if text, field := b.constantKey(b.t.Child(callee, tree.RoleIndex)); field {
			c.Kind, c.Name, c.Qualified = CallMethod, text, b.qualifiedName(callee)
			c.Receiver = b.lowerExpr(b.t.Child(callee, tree.RoleObject))
		} else {
			c.Callee = b.lowerExpr(callee)
		}
	case tree.Type:
		c.Kind, c.Qualified = CallNew, b.typeName(callee)
		c.Name = lastPart(c.Qualified)
	default:
		c.Callee = b.lowerExpr(callee)
	}
	return c
}

// isConversion reports whether a call is a conversion: its callee is a type (Go). A conversion
// keeps the value and is no call, so that a type with the name of a sanitizer function does not
// count as one.
func (b *builder) isConversion(callee int32) bool {
	if b.m.Conversions == nil {
		return false
	}
	switch b.t.Nodes[callee].Kind {
	case tree.Type:
		return true
	case tree.Name:
		d := b.names.Declaration(callee)
		if d < 0 {
			return b.m.Conversions[b.t.Text(callee)]
		}
		by := b.declaringNode(d)
		return b.t.Is(by, tree.Class) || b.t.Is(by, tree.TypeAlias)
	}
	return false
}

// requiredModule returns the module of a call that imports one, and notes the import. "require" is
// a call in JavaScript's grammar, but an import in all that follows.
func (b *builder) requiredModule(i int32) string {
	if b.m.ImportFunction == "" {
		return ""
	}
	q := b.names.Qualified(i)
	if q != "" {
		b.Imports = append(b.Imports, Import{Node: i, Module: q})
	}
	return b.absoluteName(q)
}

// callMember fills in the call of a member. A computed property ("a[b]()") is a call of a function
// value whose receiver is the object.
func (b *builder) callMember(c *Call, callee int32) {
	object, property := b.t.Child(callee, tree.RoleObject), b.t.Child(callee, tree.RoleProperty)
	c.Kind, c.Name = CallMethod, b.t.Text(property)
	if b.isSuper(object) {
		c.Kind, c.Receiver = CallSuper, b.thisVar()
		return
	}
	c.Qualified = b.qualifiedName(callee)
	c.Type = b.absoluteName(b.names.Type(object))
	c.Receiver = b.lowerExpr(object)
	if property >= 0 && !b.t.Is(property, tree.Name) {
		c.Kind, c.Name = CallFunction, ""
		c.Callee = b.emitValue(LoadIndex, callee, "", c.Receiver, b.lowerExpr(property))
	}
}

// isSuper reports whether the node is the superclass' part of the receiver: the
// keyword, or Python's call of super.
func (b *builder) isSuper(i int32) bool {
	if b.t.Is(i, tree.Super) {
		return true
	}
	if !b.m.SelfParameter || !b.t.Is(i, tree.Call) {
		return false
	}
	callee := b.t.Child(i, tree.RoleCallee)
	return b.t.Is(callee, tree.Super) ||
		b.t.Is(callee, tree.Name) && b.t.Text(callee) == "super" && b.names.Declaration(callee) < 0
}

// callName fills in the call of a name.
func (b *builder) callName(c *Call, callee int32) {
	m := b.resolveName(callee)
	c.Name, c.Qualified = b.t.Text(callee), b.qualifiedName(callee)
	switch m.kind {
	case meansMember:
		c.Kind, c.Type = CallMethod, m.class.Qualified
		if !m.static {
			c.Receiver = b.receiverFor(m.class)
		}
		if b.names.Declaration(callee) < 0 {
			c.Qualified = ""
		}
	case meansFunction:
		c.Direct, c.Qualified = m.index, b.Functions[m.index].Qualified
	case meansClass:
		c.Kind, c.Qualified = CallNew, b.Classes[m.index].Qualified
	default:
		if b.m.ImplicitThis && m.kind == meansGlobal && b.names.Declaration(callee) < 0 && b.fn.Class != nil {
			c.Kind, c.Type, c.Qualified = CallMethod, b.fn.Class.Qualified, ""
			c.Receiver = b.receiverFor(b.fn.Class)
			return
		}
		c.Callee = b.readName(callee)
		if c.Direct = b.directFunction(callee); c.Direct >= 0 && !strings.Contains(c.Qualified, ".") {
			c.Qualified = "" // a function of the file, whatever its name means elsewhere
		}
	}
}

// directFunction returns the function that a name means for certain, -1 for none. A name that is
// assigned elsewhere may hold another function at the time of the call.
func (b *builder) directFunction(i int32) int32 {
	if !b.t.Is(i, tree.Name) {
		return -1
	}
	d := b.names.Declaration(i)
	if d < 0 || b.use[d]&rewritten != 0 {
		return -1
	}
	if by := b.declaringNode(d); b.t.Is(by, tree.Function) {
		if f, ok := b.owner[by]; ok && d == b.t.Child(by, tree.RoleName) {
			return f
		}
	}
	return -1
}

// lowerArguments evaluates the arguments of a Call or New. The address of a plain value is lent to
// the call (see lendAddress).
func (b *builder) lowerArguments(i int32) []Arg {
	var args []Arg
	for a := range b.t.All(i, tree.RoleArgument) {
		arg := Arg{Node: a}
		switch n := &b.t.Nodes[a]; n.Kind {
		case tree.Keyword:
			arg.Name = b.t.Name(a)
		case tree.Spread:
			arg.Rest = Positional
			if n.Text == "**" {
				arg.Rest = Keywords
			}
		}
		if arg.Value = b.lendAddress(a); arg.Value == NoVar {
			arg.Value = b.lowerExpr(a)
		}
		args = append(args, arg)
	}
	return args
}

// lowerNew lowers the construction of an object: a constructor call, or a literal of a
// composite type.
func (b *builder) lowerNew(i int32) Var {
	if v := b.lowerPromise(i); v != NoVar {
		return v
	}
	if o := b.t.Child(i, tree.RoleObject); o >= 0 {
		b.lowerExpr(o)
	}
	typ := b.t.Child(i, tree.RoleType)
	if b.t.Is(typ, tree.Type) {
		switch text := b.t.Text(typ); {
		case text == "[]":
			return b.lowerCompositeLiteral(i, "[]")
		case text == "map":
			return b.lowerCompositeLiteral(i, "{}")
		case b.t.Text(i) == "{}":
			return b.lowerCompositeLiteral(i, b.typeName(typ))
		}
	}
	c := b.constructorCall(typ)
	args := b.lowerArguments(i)
	if body := b.t.Child(i, tree.RoleBody); body >= 0 {
		c.Qualified = b.Classes[b.owner[i]].Qualified
		b.lowerClassMembers(b.Classes[b.owner[i]])
	}
	return b.emitCall(i, c, args)
}

// constructorCall returns the call of the constructor of a type. What stands for the type
// may be an expression or a variable that holds the class.
func (b *builder) constructorCall(typ int32) Call {
	c := Call{Kind: CallNew, Receiver: NoVar, Callee: NoVar, Direct: -1, Qualified: b.typeName(typ)}
	c.Name = lastPart(c.Qualified)
	if typ < 0 || b.t.Is(typ, tree.Type) {
		return c
	}
	if c.Qualified == "" {
		c.Callee = b.lowerExpr(typ)
	} else if b.t.Is(typ, tree.Name) {
		if m := b.resolveName(typ); m.kind == meansLocal || m.kind == meansModule {
			c.Callee = b.readName(typ)
		}
		c.Direct = b.directFunction(typ)
	}
	return c
}

// lowerCompositeLiteral makes a composite literal. An array of a length has no elements. Fields
// that the literal leaves out and that are structs get their zero values, so that stores into them
// have an object to go to.
func (b *builder) lowerCompositeLiteral(i int32, kind string) Var {
	object := b.emitValue(New, i, kind)
	if b.t.Text(i) == "{}" {
		b.storeElements(i, tree.RoleArgument, object)
		if c := b.structOf(b.t.Child(i, tree.RoleType)); c != nil {
			given, k := map[string]bool{}, 0
			for a := range b.t.All(i, tree.RoleArgument) {
				if name := b.t.Name(a); name != "" {
					given[name] = true
				} else if k < len(c.Fields) {
					given[c.Fields[k].Name] = true
				}
				k++
			}
			b.zeroFields(object, c, given, 0)
		}
		return object
	}
	for a := range b.t.All(i, tree.RoleArgument) {
		b.lowerExpr(a)
	}
	return object
}

// lastPart returns the last part of a dotted name.
func lastPart(q string) string {
	for i := len(q) - 1; i >= 0; i-- {
		if q[i] == '.' {
			return q[i+1:]
		}
	}
	return q
}

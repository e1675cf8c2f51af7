package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// call evaluates a call.
func (b *builder) call(i int32) Var {
	if q := b.required(i); q != "" {
		return b.value(LoadGlobal, i, q)
	}
	callee := b.t.Child(i, tree.RoleCallee)
	if b.converts(callee) {
		v := b.expr(b.t.Child(i, tree.RoleArgument))
		return b.value(Cast, i, b.typeName(callee), v)
	}
	if b.t.Is(callee, tree.Name) && b.names.Declaration(callee) < 0 {
		switch name := b.t.Text(callee); {
		case name == "":
		case name == b.m.Panic:
			v := b.unknown(tree.None, name)
			if a := b.t.Child(i, tree.RoleArgument); a >= 0 {
				v = b.expr(a)
			}
			b.throw(i, v)
			return v
		case b.m.Makers[name]:
			if v := b.made(i); v != NoVar {
				return v
			}
		case name == b.m.Recover && b.outer != nil && b.outer.exc != NoVar:
			return b.value(Catch, i, "", b.capture(b.outer.exc))
		}
	}
	if v := b.resolves(i, callee); v != NoVar {
		return v
	}
	if v := b.applied(i, callee); v != NoVar {
		return v
	}
	if v := b.callExpression(i, callee); v != NoVar {
		return v
	}
	c := b.callee(i)
	from := len(b.lent)
	v := b.invoke(i, c, b.arguments(i))
	b.giveBack(from)
	return v
}

// applied evaluates "f.call(this, a)" and "f.apply(this, args)" as calls of f on the
// receiver; NoVar for other calls.
func (b *builder) applied(i, callee int32) Var {
	if !b.m.KeysAreFields || !b.t.Is(callee, tree.Member) {
		return NoVar
	}
	f, name := b.t.Child(callee, tree.RoleObject), b.t.Text(b.t.Child(callee, tree.RoleProperty))
	n := b.t.Count(i, tree.RoleArgument)
	this := b.t.Child(i, tree.RoleArgument)
	if n == 0 || b.t.Is(this, tree.Spread) || name != "call" && (name != "apply" || n != 2) || b.isSuper(f) {
		return NoVar
	}
	c := Call{Receiver: NoVar, Callee: NoVar, Direct: -1}
	switch {
	case b.t.Is(f, tree.Member):
		c.Name, c.Qualified = b.t.Text(b.t.Child(f, tree.RoleProperty)), b.qualified(f)
		if c.Callee = b.expr(f); c.Qualified != "" {
			c.Kind = CallMethod
		}
	case b.t.Is(f, tree.Name):
		b.callName(&c, f)
	default:
		c.Callee = b.expr(f)
	}
	args := b.arguments(i)
	if !b.t.Is(this, tree.Null) {
		c.Receiver = args[0].Value
	}
	args = args[1:]
	if name == "apply" {
		args[0].Rest = Positional
	}
	return b.invoke(i, c, args)
}

// made evaluates a call that makes a value of a type; NoVar when the type is not
// one that has parts.
func (b *builder) made(i int32) Var {
	typ := b.t.Child(i, tree.RoleArgument)
	if typ < 0 {
		return NoVar
	}
	if c := b.structOf(typ); c != nil {
		v := b.value(New, i, c.Qualified)
		b.zeroFields(v, c, nil, 0)
		return v
	}
	if q := b.foreignStruct(typ); q != "" && b.t.Text(b.t.Child(i, tree.RoleCallee)) == "new" {
		return b.maybeStruct(i, q, Allocated)
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
			b.expr(a) // lengths
		}
		first = false
	}
	return b.value(New, i, kind)
}

// callee evaluates what a call calls.
func (b *builder) callee(i int32) Call {
	callee := b.t.Child(i, tree.RoleCallee)
	c := Call{Receiver: NoVar, Callee: NoVar, Direct: -1}
	switch n := &b.t.Nodes[callee]; n.Kind {
	case tree.Super:
		c.Kind, c.Name, c.Receiver = CallSuper, b.m.Constructor, b.this()
	case tree.This:
		c.Kind, c.Receiver, c.Type = CallSelf, b.this(), b.className()
	case tree.Member:
		b.callMember(&c, callee)
	case tree.Name:
		b.callName(&c, callee)
	case tree.Index:
		if text, field := b.key(b.t.Child(callee, tree.RoleIndex)); field {
			c.Kind, c.Name, c.Qualified = CallMethod, text, b.qualified(callee)
			c.Receiver = b.expr(b.t.Child(callee, tree.RoleObject))
		} else {
			c.Callee = b.expr(callee)
		}
	case tree.Type:
		c.Kind, c.Qualified = CallNew, b.typeName(callee)
		c.Name = lastPart(c.Qualified)
	default:
		c.Callee = b.expr(callee)
	}
	return c
}

// converts reports whether a call is a conversion: its callee is a type (Go).
func (b *builder) converts(callee int32) bool {
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
		by := b.declarator(d)
		return b.t.Is(by, tree.Class) || b.t.Is(by, tree.TypeAlias)
	}
	return false
}

// required returns the module of a call that imports one, and notes the import.
func (b *builder) required(i int32) string {
	if b.m.ImportFunction == "" {
		return ""
	}
	q := b.names.Qualified(i)
	if q != "" {
		b.Imports = append(b.Imports, Import{Node: i, Module: q})
	}
	return b.absolute(q)
}

// callMember fills in the call of a member.
func (b *builder) callMember(c *Call, callee int32) {
	object, property := b.t.Child(callee, tree.RoleObject), b.t.Child(callee, tree.RoleProperty)
	c.Kind, c.Name = CallMethod, b.t.Text(property)
	if b.isSuper(object) {
		c.Kind, c.Receiver = CallSuper, b.this()
		return
	}
	c.Qualified = b.qualified(callee)
	c.Type = b.absolute(b.names.Type(object))
	c.Receiver = b.expr(object)
	if property >= 0 && !b.t.Is(property, tree.Name) {
		c.Kind, c.Name = CallFunction, ""
		c.Callee = b.value(LoadIndex, callee, "", c.Receiver, b.expr(property))
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
	m := b.means(callee)
	c.Name, c.Qualified = b.t.Text(callee), b.qualified(callee)
	switch m.kind {
	case meansMember:
		c.Kind, c.Type = CallMethod, m.class.Qualified
		if !m.static {
			c.Receiver = b.receiver(m.class)
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
			c.Receiver = b.receiver(b.fn.Class)
			return
		}
		c.Callee = b.read(callee)
		if c.Direct = b.direct(callee); c.Direct >= 0 && !strings.Contains(c.Qualified, ".") {
			c.Qualified = "" // a function of the file, whatever its name means elsewhere
		}
	}
}

// direct returns the function that a name means for certain, -1 for none.
func (b *builder) direct(i int32) int32 {
	if !b.t.Is(i, tree.Name) {
		return -1
	}
	d := b.names.Declaration(i)
	if d < 0 || b.use[d]&rewritten != 0 {
		return -1
	}
	if by := b.declarator(d); b.t.Is(by, tree.Function) {
		if f, ok := b.owner[by]; ok && d == b.t.Child(by, tree.RoleName) {
			return f
		}
	}
	return -1
}

// arguments evaluates the arguments of a Call or New.
func (b *builder) arguments(i int32) []Arg {
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
		if arg.Value = b.lend(a); arg.Value == NoVar {
			arg.Value = b.expr(a)
		}
		args = append(args, arg)
	}
	return args
}

// newObject evaluates a New.
func (b *builder) newObject(i int32) Var {
	if v := b.promise(i); v != NoVar {
		return v
	}
	if o := b.t.Child(i, tree.RoleObject); o >= 0 {
		b.expr(o)
	}
	typ := b.t.Child(i, tree.RoleType)
	if b.t.Is(typ, tree.Type) {
		switch text := b.t.Text(typ); {
		case text == "[]":
			return b.literal(i, "[]")
		case text == "map":
			return b.literal(i, "{}")
		case b.t.Text(i) == "{}":
			return b.literal(i, b.typeName(typ))
		}
	}
	c := Call{Kind: CallNew, Receiver: NoVar, Callee: NoVar, Direct: -1, Qualified: b.typeName(typ)}
	c.Name = lastPart(c.Qualified)
	if c.Qualified == "" && typ >= 0 && !b.t.Is(typ, tree.Type) {
		c.Callee = b.expr(typ)
	} else if typ >= 0 && !b.t.Is(typ, tree.Type) && b.t.Is(typ, tree.Name) {
		if m := b.means(typ); m.kind == meansLocal || m.kind == meansModule {
			c.Callee = b.read(typ)
		}
		c.Direct = b.direct(typ)
	}
	args := b.arguments(i)
	if body := b.t.Child(i, tree.RoleBody); body >= 0 {
		c.Qualified = b.Classes[b.owner[i]].Qualified
		b.classMembers(b.Classes[b.owner[i]])
	}
	return b.invoke(i, c, args)
}

// literal makes a composite literal. An array of a length has no elements.
func (b *builder) literal(i int32, kind string) Var {
	object := b.value(New, i, kind)
	if b.t.Text(i) == "{}" {
		b.elements(i, tree.RoleArgument, object)
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
		b.expr(a)
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

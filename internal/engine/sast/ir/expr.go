package ir

import (
	"merlon/internal/engine/sast/tree"
)

// expr evaluates an expression.
func (b *builder) expr(i int32) Var {
	if i < 0 || b.over {
		return b.unknown(tree.None, "missing")
	}
	n := &b.t.Nodes[i]
	switch n.Kind {
	case tree.Name:
		return b.read(i)
	case tree.String:
		return b.constant(i, ConstString, n.Text)
	case tree.Number:
		return b.constant(i, ConstNumber, n.Text)
	case tree.Character:
		return b.constant(i, ConstCharacter, n.Text)
	case tree.Bool:
		return b.constant(i, ConstBool, n.Text)
	case tree.Null:
		return b.constant(i, ConstNull, n.Text)
	case tree.Regex:
		return b.constant(i, ConstRegex, n.Text)
	case tree.Template:
		return b.template(i)
	case tree.Call:
		return b.call(i)
	case tree.New:
		return b.newObject(i)
	case tree.Member:
		return b.member(i)
	case tree.Index:
		return b.index(i)
	case tree.Assign:
		return b.assign(i)
	case tree.Binary:
		return b.binary(i)
	case tree.Unary:
		return b.unary(i)
	case tree.Update:
		return b.update(i)
	case tree.Conditional:
		return b.conditional(i)
	case tree.Cast:
		v := b.expr(b.t.Child(i, tree.RoleValue))
		return b.value(Cast, i, b.typeName(b.t.Child(i, tree.RoleType)), v)
	case tree.TypeTest:
		return b.typeTest(i)
	case tree.Lambda, tree.Function:
		return b.lambda(i)
	case tree.Class:
		b.classStatement(i)
		return b.indexed(ClassValue, i, b.owner[i])
	case tree.This:
		return b.value(Copy, i, "", b.this())
	case tree.Super:
		return b.value(Copy, i, "super", b.this())
	case tree.Type:
		if q := b.typeName(i); q != "" {
			return b.value(LoadGlobal, i, q)
		}
		return b.unknown(i, "type")
	}
	return b.compound(i)
}

// compound evaluates literals with parts, and the rarer expressions.
func (b *builder) compound(i int32) Var {
	n := &b.t.Nodes[i]
	value := b.t.Child(i, tree.RoleValue)
	switch n.Kind {
	case tree.List:
		return b.sequence(i, "[]")
	case tree.Set:
		return b.sequence(i, "set")
	case tree.Tuple:
		return b.sequence(i, "()")
	case tree.Map:
		return b.mapping(i)
	case tree.Pair, tree.Keyword, tree.Spread, tree.Deep, tree.Typed:
		v := b.expr(value)
		b.alias(i, value)
		return v
	case tree.Comprehension:
		return b.comprehension(i)
	case tree.Sequence:
		v, last := NoVar, tree.None
		for c := range b.t.Children(i) {
			v, last = b.expr(c), c
		}
		if last < 0 {
			return b.unknown(i, "empty")
		}
		b.alias(i, last)
		return v
	case tree.Await:
		v := b.value(Await, i, "", b.expr(value))
		b.mayThrow()
		return v
	case tree.Yield:
		if b.yields != NoVar { // Java's yield of a switch
			b.copyTo(b.yields, i, b.expr(value))
			b.leaveSwitch()
			return b.yields
		}
		b.fn.Generator = true
		v := NoVar
		if value >= 0 {
			v = b.expr(value)
		}
		text := ""
		if n.Text == "from" || n.Text == "*" {
			text = "from"
		}
		return b.value(Yield, i, text, v)
	case tree.Element:
		return b.markup(i)
	case tree.Slice:
		for c := range b.t.Children(i) {
			b.expr(c)
		}
		return b.unknown(i, "slice")
	case tree.Variable, tree.Throw, tree.Return, tree.If, tree.Switch, tree.Block, tree.Try, tree.ExpressionStatement:
		return b.statementValue(i)
	}
	return b.other(i)
}

// evaluates reports whether a node of the kind, in the place of an expression, has a
// value.
func evaluates(k tree.Kind) bool { return k == tree.Lambda || !k.Statement() }

// alias makes the value of one node that of another.
func (b *builder) alias(node, of int32) {
	if of >= 0 {
		b.aliases = append(b.aliases, [2]int32{node, of})
	}
}

// other evaluates a construct that has no generic kind: its value is made of those
// of its parts.
func (b *builder) other(i int32) Var {
	var parts []Var
	for c := range b.t.Children(i) {
		switch k := b.t.Nodes[c].Kind; {
		case k == tree.Token || k == tree.Type || k == tree.Modifier || k == tree.Annotation:
		case evaluates(k):
			parts = append(parts, b.expr(c))
		default:
			b.stmt(c)
		}
	}
	switch len(parts) {
	case 0:
		return b.unknown(i, b.t.Text(i))
	case 1:
		return b.value(Copy, i, "", parts[0])
	}
	return b.concat(i, "other", parts)
}

// template evaluates a string with parts.
func (b *builder) template(i int32) Var {
	var parts []Var
	for c := range b.t.Children(i) {
		parts = append(parts, b.expr(c))
	}
	if len(parts) == 0 {
		return b.constant(i, ConstString, "")
	}
	return b.concat(i, "", parts)
}

// member evaluates "a.b".
func (b *builder) member(i int32) Var {
	if c := b.methodExpression(i); c != nil {
		return b.value(LoadGlobal, i, join(c.Qualified, b.t.Text(b.t.Child(i, tree.RoleProperty))))
	}
	return b.load(b.place(i))
}

// index evaluates "a[b]" and "a[b:c]".
func (b *builder) index(i int32) Var {
	k := b.t.Child(i, tree.RoleIndex)
	if !b.t.Is(k, tree.Slice) {
		return b.load(b.place(i))
	}
	o := b.expr(b.t.Child(i, tree.RoleObject))
	low, high := NoVar, NoVar
	if c := b.t.Child(k, tree.RoleLow); c >= 0 {
		low = b.expr(c)
	}
	if c := b.t.Child(k, tree.RoleHigh); c >= 0 {
		high = b.expr(c)
	}
	return b.value(Slice, i, "", o, low, high)
}

// key returns the constant text of an index, and whether it names a field.
func (b *builder) key(k int32) (text string, field bool) {
	if k < 0 {
		return "", false
	}
	switch b.t.Nodes[k].Kind {
	case tree.String:
		return b.t.Text(k), b.m.KeysAreFields && b.t.Text(k) != ""
	case tree.Number, tree.Character:
		return b.t.Text(k), false
	}
	return "", false
}

// binary evaluates an operator of two operands.
func (b *builder) binary(i int32) Var {
	left, right := b.t.Child(i, tree.RoleLeft), b.t.Child(i, tree.RoleRight)
	op := b.t.Text(i)
	if logical(op) {
		return b.join(i, func(result Var) { b.shortCircuit(i, result) })
	}
	if op == "<-" && b.m.ImportsFolders { // sends to a channel
		c := b.expr(left)
		v := b.copied(tree.None, right, b.expr(right))
		b.do(StoreIndex, i, "", c, NoVar, v)
		return v
	}
	l := b.expr(left)
	return b.value(Binary, i, op, l, b.expr(right))
}

// shortCircuit evaluates the right side of an operator only when the left one does not
// decide. A left side that counts as false is copied where that is known.
func (b *builder) shortCircuit(i int32, result Var) {
	left, right := b.t.Child(i, tree.RoleLeft), b.t.Child(i, tree.RoleRight)
	then, done := b.newBlock(), b.newBlock()
	l := b.expr(left)
	switch b.t.Text(i) {
	case "||", "or":
		b.copyTo(result, left, l)
		b.branch(left, l, done, then)
	case "??":
		b.copyTo(result, left, l)
		b.branch(left, b.value(Unary, tree.None, "present", l), done, then)
	default:
		short := b.newBlock()
		b.branch(left, l, then, short)
		b.start(short)
		b.copyTo(result, left, l)
		b.jump(done)
	}
	b.start(then)
	b.copyTo(result, right, b.expr(right))
	b.start(done)
}

// logical reports whether the operator evaluates its right side only when needed.
func logical(op string) bool {
	switch op {
	case "&&", "||", "??", "and", "or":
		return true
	}
	return false
}

// join evaluates what assigns its result on several ways, and copies the result.
func (b *builder) join(i int32, ways func(result Var)) Var {
	result := b.temp()
	ways(result)
	return b.value(Copy, i, "", result)
}

func (b *builder) unary(i int32) Var {
	value := b.t.Child(i, tree.RoleValue)
	switch op := b.t.Text(i); op {
	case "&", "*", "<-":
		if op == "*" {
			if v := b.behindPointer(i, value); v != NoVar {
				return v
			}
		}
		v := b.expr(value)
		if op == "<-" {
			return b.value(LoadIndex, i, "", v, NoVar)
		}
		return b.value(Copy, i, op, v)
	case "delete":
		b.delete(value)
		return b.unknown(i, "delete")
	default:
		return b.value(Unary, i, op, b.expr(value))
	}
}

// update evaluates "x++" and "--x".
func (b *builder) update(i int32) Var {
	target := b.place(b.t.Child(i, tree.RoleValue))
	old := b.load(target)
	one := b.constant(tree.None, ConstNumber, "1")
	changed := b.value(Binary, i, b.t.Text(i)[:min(1, len(b.t.Text(i)))], old, one)
	b.set(target, changed)
	if b.t.Nodes[i].Flags&tree.Postfix != 0 {
		return old
	}
	return changed
}

func (b *builder) conditional(i int32) Var {
	return b.join(i, func(result Var) {
		then, other, done := b.newBlock(), b.newBlock(), b.newBlock()
		b.cond(b.t.Child(i, tree.RoleCondition), then, other)
		b.start(then)
		c := b.t.Child(i, tree.RoleThen)
		b.copyTo(result, c, b.expr(c))
		b.jump(done)
		b.start(other)
		c = b.t.Child(i, tree.RoleElse)
		b.copyTo(result, c, b.expr(c))
		b.start(done)
	})
}

// typeTest evaluates "x instanceof T name", which binds the name.
func (b *builder) typeTest(i int32) Var {
	value := b.expr(b.t.Child(i, tree.RoleValue))
	typ := b.t.Child(i, tree.RoleType)
	v := b.value(TypeTest, i, b.typeName(typ), value)
	if target := b.t.Child(i, tree.RoleTarget); target >= 0 {
		b.store(target, b.value(Cast, typ, b.typeName(typ), value))
	} else if typ >= 0 && !b.t.Is(typ, tree.Type) && b.binds(typ) {
		b.pattern(typ, value)
	}
	return v
}

// cond evaluates a condition and goes on in one of the blocks.
func (b *builder) cond(i int32, then, other BlockID) {
	if i >= 0 {
		op := b.t.Text(i)
		switch n := &b.t.Nodes[i]; {
		case n.Kind == tree.Binary && (op == "&&" || op == "and"):
			next := b.newBlock()
			b.cond(b.t.Child(i, tree.RoleLeft), next, other)
			b.start(next)
			b.cond(b.t.Child(i, tree.RoleRight), then, other)
			return
		case n.Kind == tree.Binary && (op == "||" || op == "or"):
			next := b.newBlock()
			b.cond(b.t.Child(i, tree.RoleLeft), then, next)
			b.start(next)
			b.cond(b.t.Child(i, tree.RoleRight), then, other)
			return
		case n.Kind == tree.Unary && (op == "!" || op == "not"):
			b.cond(b.t.Child(i, tree.RoleValue), other, then)
			return
		}
	}
	v := b.expr(i)
	b.branch(i, v, then, other)
}

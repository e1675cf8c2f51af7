package ir

import (
	"merlon/internal/engine/sast/tree"
)

// lowerExpr lowers an expression and returns the variable that has its value. The frequent kinds
// come first; the others are grouped by what they have in common, each group in a function of its
// own. A missing expression gives an unknown value and no fault: source with errors is lowered as
// far as it goes.
func (b *builder) lowerExpr(i int32) Var {
	if i < 0 || b.overLimit {
		return b.emitUnknown(tree.None, "missing")
	}
	switch b.t.Nodes[i].Kind {
	case tree.Name:
		return b.readName(i)
	case tree.String, tree.Number, tree.Character, tree.Bool, tree.Null, tree.Regex:
		return b.lowerLiteral(i)
	case tree.Template:
		return b.lowerTemplate(i)
	case tree.Call:
		return b.lowerCall(i)
	case tree.New:
		return b.lowerNew(i)
	case tree.Member:
		return b.lowerMember(i)
	case tree.Index:
		return b.lowerIndex(i)
	case tree.Assign:
		return b.lowerAssignment(i)
	case tree.Binary:
		return b.lowerBinary(i)
	}
	return b.lowerOperation(i)
}

// lowerLiteral lowers a literal without parts. The text is that without quotes and with its
// escapes resolved; the lexer of the language did that.
func (b *builder) lowerLiteral(i int32) Var {
	n := &b.t.Nodes[i]
	kind := ConstString
	switch n.Kind {
	case tree.Number:
		kind = ConstNumber
	case tree.Character:
		kind = ConstCharacter
	case tree.Bool:
		kind = ConstBool
	case tree.Null:
		kind = ConstNull
	case tree.Regex:
		kind = ConstRegex
	}
	return b.emitConstant(i, kind, n.Text)
}

// lowerOperation lowers operators that are less frequent, functions, classes and types as
// values, and the receiver.
func (b *builder) lowerOperation(i int32) Var {
	switch b.t.Nodes[i].Kind {
	case tree.Unary:
		return b.lowerUnary(i)
	case tree.Update:
		return b.lowerUpdate(i)
	case tree.Conditional:
		return b.lowerConditional(i)
	case tree.Cast:
		v := b.lowerExpr(b.t.Child(i, tree.RoleValue))
		return b.emitValue(Cast, i, b.typeName(b.t.Child(i, tree.RoleType)), v)
	case tree.TypeTest:
		return b.lowerTypeTest(i)
	case tree.Lambda, tree.Function:
		return b.lowerLambda(i)
	case tree.Class:
		b.lowerClassStatement(i)
		return b.emitIndexed(ClassValue, i, b.owner[i])
	case tree.This:
		return b.emitValue(Copy, i, "", b.thisVar())
	case tree.Super:
		return b.emitValue(Copy, i, "super", b.thisVar())
	case tree.Type:
		if q := b.typeName(i); q != "" {
			return b.emitValue(LoadGlobal, i, q)
		}
		return b.emitUnknown(i, "type")
	}
	return b.lowerCompound(i)
}

// lowerCompound lowers literals with parts, and the rarer expressions. Most of them are
// collections. What stands for its value (a keyword, a spread) becomes that value, and the node is
// noted as another name of it, so that patterns find either.
func (b *builder) lowerCompound(i int32) Var {
	switch b.t.Nodes[i].Kind {
	case tree.List:
		return b.lowerSequence(i, "[]")
	case tree.Set:
		return b.lowerSequence(i, "set")
	case tree.Tuple:
		return b.lowerSequence(i, "()")
	case tree.Map:
		return b.lowerMap(i)
	case tree.Pair, tree.Keyword, tree.Spread, tree.Deep, tree.Typed:
		value := b.t.Child(i, tree.RoleValue)
		v := b.lowerExpr(value)
		b.aliasNode(i, value)
		return v
	case tree.Comprehension:
		return b.lowerComprehension(i)
	case tree.Sequence:
		return b.lowerCommaSequence(i)
	case tree.Await:
		v := b.emitValue(Await, i, "", b.lowerExpr(b.t.Child(i, tree.RoleValue)))
		b.mayThrow()
		return v
	case tree.Yield:
		return b.lowerYield(i)
	case tree.Element:
		return b.lowerMarkup(i)
	case tree.Slice:
		for c := range b.t.Children(i) {
			b.lowerExpr(c)
		}
		return b.emitUnknown(i, "slice")
	case tree.Variable, tree.Throw, tree.Return, tree.If, tree.Switch, tree.Block, tree.Try, tree.ExpressionStatement:
		return b.lowerStatementValue(i)
	}
	return b.lowerOther(i)
}

// lowerCommaSequence lowers "a, b, c", whose value is that of the last part. The other parts are
// evaluated for their effects.
func (b *builder) lowerCommaSequence(i int32) Var {
	v, last := NoVar, tree.None
	for c := range b.t.Children(i) {
		v, last = b.lowerExpr(c), c
	}
	if last < 0 {
		return b.emitUnknown(i, "empty")
	}
	b.aliasNode(i, last)
	return v
}

// lowerYield lowers the yield of a generator, or that of a switch expression (Java), which
// assigns the value of the switch.
func (b *builder) lowerYield(i int32) Var {
	value := b.t.Child(i, tree.RoleValue)
	if b.yieldVar != NoVar {
		b.copyTo(b.yieldVar, i, b.lowerExpr(value))
		b.leaveSwitch()
		return b.yieldVar
	}
	b.fn.Generator = true
	v := NoVar
	if value >= 0 {
		v = b.lowerExpr(value)
	}
	text := ""
	if n := &b.t.Nodes[i]; n.Text == "from" || n.Text == "*" {
		text = "from"
	}
	return b.emitValue(Yield, i, text, v)
}

// hasValue reports whether a node of the kind, in the place of an expression, has a
// value.
func hasValue(k tree.Kind) bool { return k == tree.Lambda || !k.Statement() }

// aliasNode makes the value of one node that of another. Lower copies the location at the end,
// when it is known.
func (b *builder) aliasNode(node, of int32) {
	if of >= 0 {
		b.aliases = append(b.aliases, [2]int32{node, of})
	}
}

// lowerOther evaluates a construct that has no generic kind: its value is made of those of its
// parts. Data in any part is taken to be data in the result: missing a flow is worse here than
// inventing one.
func (b *builder) lowerOther(i int32) Var {
	var parts []Var
	for c := range b.t.Children(i) {
		switch k := b.t.Nodes[c].Kind; {
		case k == tree.Token || k == tree.Type || k == tree.Modifier || k == tree.Annotation:
		case hasValue(k):
			parts = append(parts, b.lowerExpr(c))
		default:
			b.lowerStmt(c)
		}
	}
	switch len(parts) {
	case 0:
		return b.emitUnknown(i, b.t.Text(i))
	case 1:
		return b.emitValue(Copy, i, "", parts[0])
	}
	return b.emitConcat(i, "other", parts)
}

// lowerTemplate evaluates a string with parts. The literal parts are constants among the others,
// so that an analysis sees what the text begins with.
func (b *builder) lowerTemplate(i int32) Var {
	var parts []Var
	for c := range b.t.Children(i) {
		parts = append(parts, b.lowerExpr(c))
	}
	if len(parts) == 0 {
		return b.emitConstant(i, ConstString, "")
	}
	return b.emitConcat(i, "", parts)
}

// lowerMember evaluates "a.b".
func (b *builder) lowerMember(i int32) Var {
	if c := b.methodExpression(i); c != nil {
		return b.emitValue(LoadGlobal, i, joinName(c.Qualified, b.t.Text(b.t.Child(i, tree.RoleProperty))))
	}
	return b.loadReference(b.evaluateReference(i))
}

// lowerIndex evaluates "a[b]" and "a[b:c]". A slice has bounds instead of a key, and its result is
// a collection.
func (b *builder) lowerIndex(i int32) Var {
	k := b.t.Child(i, tree.RoleIndex)
	if !b.t.Is(k, tree.Slice) {
		return b.loadReference(b.evaluateReference(i))
	}
	o := b.lowerExpr(b.t.Child(i, tree.RoleObject))
	low, high := NoVar, NoVar
	if c := b.t.Child(k, tree.RoleLow); c >= 0 {
		low = b.lowerExpr(c)
	}
	if c := b.t.Child(k, tree.RoleHigh); c >= 0 {
		high = b.lowerExpr(c)
	}
	return b.emitValue(Slice, i, "", o, low, high)
}

// constantKey returns the constant text of an index, and whether it names a field. Only literals
// count; a key that is a variable is not known here.
func (b *builder) constantKey(k int32) (text string, field bool) {
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

// lowerBinary evaluates an operator of two operands.
func (b *builder) lowerBinary(i int32) Var {
	left, right := b.t.Child(i, tree.RoleLeft), b.t.Child(i, tree.RoleRight)
	op := b.t.Text(i)
	if isLogical(op) {
		return b.joinBranches(i, func(result Var) { b.shortCircuit(i, result) })
	}
	if op == "<-" && b.m.ImportsFolders { // sends to a channel
		c := b.lowerExpr(left)
		v := b.copyOnAssign(tree.None, right, b.lowerExpr(right))
		b.emitPlain(StoreIndex, i, "", c, NoVar, v)
		return v
	}
	l := b.lowerExpr(left)
	return b.emitValue(Binary, i, op, l, b.lowerExpr(right))
}

// shortCircuit evaluates the right side of an operator only when the left one does not
// decide. A left side that counts as false is copied where that is known.
func (b *builder) shortCircuit(i int32, result Var) {
	left, right := b.t.Child(i, tree.RoleLeft), b.t.Child(i, tree.RoleRight)
	then, done := b.newBlock(), b.newBlock()
	l := b.lowerExpr(left)
	switch b.t.Text(i) {
	case "||", "or":
		b.copyTo(result, left, l)
		b.branchOn(left, l, done, then)
	case "??":
		b.copyTo(result, left, l)
		b.branchOn(left, b.emitValue(Unary, tree.None, "present", l), done, then)
	default:
		short := b.newBlock()
		b.branchOn(left, l, then, short)
		b.startBlock(short)
		b.copyTo(result, left, l)
		b.jumpTo(done)
	}
	b.startBlock(then)
	b.copyTo(result, right, b.lowerExpr(right))
	b.startBlock(done)
}

// isLogical reports whether the operator evaluates its right side only when needed. Such operators
// become branches, and what the left side tells of a value holds on the right.
func isLogical(op string) bool {
	switch op {
	case "&&", "||", "??", "and", "or":
		return true
	}
	return false
}

// joinBranches evaluates what assigns its result on several ways, and copies the result. The
// result is assigned on each branch, so it cannot have one defining instruction; the copy gives
// the node a variable that has.
func (b *builder) joinBranches(i int32, ways func(result Var)) Var {
	result := b.newTemp()
	ways(result)
	return b.emitValue(Copy, i, "", result)
}

// lowerUnary lowers an operator of one operand. Pointers to objects are the objects themselves, so
// "&" and "*" are copies; "<-" receives from a channel.
func (b *builder) lowerUnary(i int32) Var {
	value := b.t.Child(i, tree.RoleValue)
	switch op := b.t.Text(i); op {
	case "&", "*", "<-":
		if op == "*" {
			if v := b.loadPointed(i, value); v != NoVar {
				return v
			}
		}
		v := b.lowerExpr(value)
		if op == "<-" {
			return b.emitValue(LoadIndex, i, "", v, NoVar)
		}
		return b.emitValue(Copy, i, op, v)
	case "delete":
		b.lowerDelete(value)
		return b.emitUnknown(i, "delete")
	default:
		return b.emitValue(Unary, i, op, b.lowerExpr(value))
	}
}

// lowerUpdate evaluates "x++" and "--x". The value is that before the change for the postfix form.
// The number is a constant without a node, since no text of the source stands for it.
func (b *builder) lowerUpdate(i int32) Var {
	target := b.evaluateReference(b.t.Child(i, tree.RoleValue))
	old := b.loadReference(target)
	one := b.emitConstant(tree.None, ConstNumber, "1")
	changed := b.emitValue(Binary, i, b.t.Text(i)[:min(1, len(b.t.Text(i)))], old, one)
	b.storeReference(target, changed)
	if b.t.Nodes[i].Flags&tree.Postfix != 0 {
		return old
	}
	return changed
}

// lowerConditional lowers "c ? a : b", whose branches assign one result. It is lowered like an if,
// not as an operator: only one of the branches is evaluated, and what the condition tells of a
// value holds in its branch.
func (b *builder) lowerConditional(i int32) Var {
	return b.joinBranches(i, func(result Var) {
		then, other, done := b.newBlock(), b.newBlock(), b.newBlock()
		b.branchCondition(b.t.Child(i, tree.RoleCondition), then, other)
		b.startBlock(then)
		c := b.t.Child(i, tree.RoleThen)
		b.copyTo(result, c, b.lowerExpr(c))
		b.jumpTo(done)
		b.startBlock(other)
		c = b.t.Child(i, tree.RoleElse)
		b.copyTo(result, c, b.lowerExpr(c))
		b.startBlock(done)
	})
}

// lowerTypeTest evaluates "x instanceof T name", which binds the name. The bound name gets a cast
// of the value and not the value itself: behind the test its type is known. A type that binds
// names in turn is a pattern of a record.
func (b *builder) lowerTypeTest(i int32) Var {
	value := b.lowerExpr(b.t.Child(i, tree.RoleValue))
	typ := b.t.Child(i, tree.RoleType)
	v := b.emitValue(TypeTest, i, b.typeName(typ), value)
	if target := b.t.Child(i, tree.RoleTarget); target >= 0 {
		b.storeTarget(target, b.emitValue(Cast, typ, b.typeName(typ), value))
	} else if typ >= 0 && !b.t.Is(typ, tree.Type) && b.bindsNames(typ) {
		b.matchPattern(typ, value)
	}
	return v
}

// branchCondition evaluates a condition and goes on in one of the blocks. "&&", "||" and "!"
// become jumps, so that each part is a guard of its own: behind "a && b" both are known to be
// true.
func (b *builder) branchCondition(i int32, then, other BlockID) {
	if i >= 0 {
		op := b.t.Text(i)
		switch n := &b.t.Nodes[i]; {
		case n.Kind == tree.Binary && (op == "&&" || op == "and"):
			next := b.newBlock()
			b.branchCondition(b.t.Child(i, tree.RoleLeft), next, other)
			b.startBlock(next)
			b.branchCondition(b.t.Child(i, tree.RoleRight), then, other)
			return
		case n.Kind == tree.Binary && (op == "||" || op == "or"):
			next := b.newBlock()
			b.branchCondition(b.t.Child(i, tree.RoleLeft), then, next)
			b.startBlock(next)
			b.branchCondition(b.t.Child(i, tree.RoleRight), then, other)
			return
		case n.Kind == tree.Unary && (op == "!" || op == "not"):
			b.branchCondition(b.t.Child(i, tree.RoleValue), other, then)
			return
		}
	}
	v := b.lowerExpr(i)
	b.branchOn(i, v, then, other)
}

package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file stores values: assignments, declarations and patterns.

// lowerAssignment evaluates "a = b" and "a += b". Of a compound assignment the target's parts are
// evaluated once, as the languages define; "||=" and its like store on one branch only.
func (b *builder) lowerAssignment(i int32) Var {
	target, value := b.t.Child(i, tree.RoleTarget), b.t.Child(i, tree.RoleValue)
	op := b.t.Text(i)
	if op == "=" || op == ":=" || op == "" {
		return b.assignValue(i, target, value)
	}
	op = strings.TrimSuffix(op, "=")
	place := b.evaluateReference(target)
	if !isLogical(op) {
		old := b.loadReference(place)
		v := b.emitValue(Binary, i, op, old, b.lowerExpr(value))
		b.storeReference(place, v)
		return v
	}
	return b.joinBranches(i, func(result Var) {
		old := b.loadReference(place)
		b.copyTo(result, tree.None, old)
		set, done := b.newBlock(), b.newBlock()
		switch op {
		case "||":
			b.branchOn(target, old, done, set)
		case "??":
			b.branchOn(target, b.emitValue(Unary, tree.None, "present", old), done, set)
		default:
			b.branchOn(target, old, set, done)
		}
		b.startBlock(set)
		v := b.lowerExpr(value)
		b.copyTo(result, value, v)
		b.storeReference(place, v)
		b.startBlock(done)
	})
}

// A reference is what can be read and written: a member or an element, whose object and key are
// evaluated once, or any other target. Compound assignments and updates read and write the same
// one, and the source's side effects must happen once.
type reference struct {
	node   int32
	object Var
	key    Var    // of an element
	text   string // the field, or the constant key
	global string // the qualified name of a member of a module or class
	kind   referenceKind
}

// A referenceKind says how a reference is read and written.
type referenceKind uint8

const (
	otherReference referenceKind = iota
	fieldReference
	elementReference
)

// evaluateReference evaluates the parts of a target. They are evaluated once, in the order of the
// source, so that "a().x += 1" calls a only once. A member whose property is computed, and an
// index whose key is a constant, change places: what counts is whether the key is known.
func (b *builder) evaluateReference(i int32) reference {
	p := reference{node: i, object: NoVar, key: NoVar}
	switch {
	case b.overLimit:
	case b.t.Is(i, tree.Member):
		object, property := b.t.Child(i, tree.RoleObject), b.t.Child(i, tree.RoleProperty)
		p.kind, p.text, p.global = fieldReference, b.t.Text(property), b.qualifiedName(i)
		p.object = b.lowerExpr(object)
		if property >= 0 && !b.t.Is(property, tree.Name) && !b.t.Is(property, tree.String) {
			p.kind, p.text, p.key = elementReference, "", b.lowerExpr(property)
		}
	case b.t.Is(i, tree.Index):
		k := b.t.Child(i, tree.RoleIndex)
		p.kind, p.object = elementReference, b.lowerExpr(b.t.Child(i, tree.RoleObject))
		if k < 0 || b.t.Is(k, tree.Slice) {
			break
		}
		text, field := b.constantKey(k)
		p.text, p.key = text, b.lowerExpr(k)
		if field {
			p.kind = fieldReference
		}
	}
	return p
}

// loadReference reads a place. A member that has a qualified name, such as a static field, is a
// global.
func (b *builder) loadReference(p reference) Var {
	switch {
	case p.kind == otherReference:
		return b.lowerExpr(p.node)
	case p.kind == elementReference:
		return b.emitValue(LoadIndex, p.node, p.text, p.object, p.key)
	case p.global != "":
		return b.emitValue(LoadGlobal, p.node, p.global, p.object)
	}
	return b.emitValue(LoadField, p.node, p.text, p.object)
}

// storeReference writes a place. It is the counterpart of loadReference. A member of a package or
// a class is a global, whatever its spelling; the object is kept for analyses that know it better.
func (b *builder) storeReference(p reference, v Var) {
	switch {
	case p.kind == otherReference:
		b.storeTarget(p.node, v)
	case p.kind == elementReference:
		b.emitPlain(StoreIndex, p.node, p.text, p.object, p.key, v)
	case p.global != "":
		b.emitPlain(StoreGlobal, p.node, p.global, p.object, v)
	default:
		b.emitPlain(StoreField, p.node, p.text, p.object, v)
	}
}

// assignValue stores the value of an expression. The parts of a tuple are assigned one by
// one when the value is a tuple too; all values are evaluated first.
func (b *builder) assignValue(i, target, value int32) Var {
	if pairs := b.pairElements(target, value); pairs != nil {
		values := make([]Var, len(pairs))
		for k, p := range pairs {
			values[k] = b.copyOnAssign(p[0], p[1], b.lowerExpr(p[1]))
		}
		for k, p := range pairs {
			b.storeTarget(p[0], values[k])
		}
		return b.emitUnknown(i, "tuple")
	}
	v := b.copyOnAssign(target, value, b.lowerExpr(value))
	b.aliasNode(i, value)
	if b.m.Exports != "" && b.t.Is(target, tree.Member) {
		b.exportAlias(target, value)
	}
	if b.m.CommaOk && b.t.Is(target, tree.Tuple) && b.hasCommaOk(value) {
		b.storeCommaOk(target, v, b.t.Is(value, tree.Index))
		return v
	}
	b.storeTarget(target, v)
	return v
}

// exportAlias notes the name that "exports.a = b" gives to what b means. "exports.query =
// db.query" makes both names mean one function.
func (b *builder) exportAlias(target, value int32) {
	t, q := b.qualifiedName(target), b.qualifiedName(value)
	if q == "" || b.fn.Kind != TopLevel {
		return
	}
	if t == b.Module {
		b.aliasName("", q)
	} else if member, ok := strings.CutPrefix(t, b.Module+"."); ok && !strings.Contains(member, ".") {
		b.aliasName(member, q)
	}
}

// hasCommaOk reports whether the expression, assigned to two variables, gives the
// value and whether there was one (Go's v, ok := m[k]).
func (b *builder) hasCommaOk(i int32) bool {
	switch n := &b.t.Nodes[i]; n.Kind {
	case tree.Index, tree.Cast, tree.TypeTest:
		return true
	case tree.Unary:
		return n.Text == "<-"
	}
	return false
}

// Found is the operator that asks whether there was an element (Go's ok).
const Found = "found"

// storeCommaOk stores the value in the first variable and in the second whether there was one. For
// an element of a map that is worth an operator of its own: a guard on it is an allow list.
func (b *builder) storeCommaOk(target int32, v Var, element bool) {
	first := true
	for c := range b.t.Children(target) {
		switch {
		case first:
			b.storeTarget(c, v)
		case element:
			b.storeTarget(c, b.emitValue(Unary, tree.None, Found, v))
		default:
			b.storeTarget(c, b.emitUnknown(tree.None, "ok"))
		}
		first = false
	}
}

// pairElements pairs the parts of two tuples; nil when they do not pair. "a, b = b, a" must read
// both values before it writes one, so pairs are only told apart here; a spread takes any number
// of elements and pairs with none.
func (b *builder) pairElements(target, value int32) [][2]int32 {
	if !b.isTuple(target) || !b.isTuple(value) {
		return nil
	}
	var pairs [][2]int32
	v := value + 1
	for t := range b.t.Children(target) {
		if v >= b.t.Nodes[value].Next || b.t.Is(t, tree.Spread) || b.t.Is(v, tree.Spread) {
			return nil
		}
		pairs = append(pairs, [2]int32{t, v})
		v = b.t.Nodes[v].Next
	}
	if v != b.t.Nodes[value].Next {
		return nil
	}
	return pairs
}

// isTuple reports whether the node is a list of targets or values.
func (b *builder) isTuple(i int32) bool { return b.t.Is(i, tree.Tuple) || b.t.Is(i, tree.List) }

// lowerDeclaration lowers the declaration of a variable. A declaration without a value stores the
// zero value of its type, except where the variable exists before it already (JavaScript's var).
func (b *builder) lowerDeclaration(i int32) {
	target, value := b.t.Child(i, tree.RoleTarget), b.t.Child(i, tree.RoleValue)
	switch {
	case target < 0:
		if value >= 0 {
			b.lowerExpr(value)
		}
	case value >= 0:
		b.assignValue(i, target, value)
	case b.t.Text(i) != "var" || !b.m.VarHoists:
		if b.t.Is(target, tree.Name) {
			b.storeTarget(target, b.zeroValue(b.t.Child(i, tree.RoleType), 0))
		}
	}
}

// maxZero bounds the nesting of structs without values.
const maxZero = 10

// zeroValue returns the value of a variable that has none: an object for a struct of the
// file where the language makes one, with those that are its fields.
func (b *builder) zeroValue(typ int32, depth int) Var {
	c := b.structOf(typ)
	if c == nil {
		if q := b.standardStruct(typ); q != "" {
			return b.emitValue(New, tree.None, q)
		}
		if b.isArray(typ) {
			return b.emitValue(New, tree.None, "[]")
		}
	}
	if c == nil && depth == 0 {
		if q := b.foreignStruct(typ); q != "" {
			return b.newForeignStruct(tree.None, q, ZeroValue)
		}
	}
	if c == nil || depth > maxZero {
		return b.emitConstant(tree.None, ConstNull, "null")
	}
	object := b.emitValue(New, tree.None, c.Qualified)
	b.zeroFields(object, c, nil, depth)
	return object
}

// zeroFields gives the fields that are structs, and are not among those given, their
// objects.
func (b *builder) zeroFields(object Var, c *Class, given map[string]bool, depth int) {
	for _, f := range c.Fields {
		typ := b.t.Child(f.Node, tree.RoleType)
		if !given[f.Name] && depth < maxZero && (b.structOf(typ) != nil || b.standardStruct(typ) != "") {
			b.emitPlain(StoreField, tree.None, f.Name, object, b.zeroValue(typ, depth+1))
		}
	}
}

// isArray reports whether a Type is that of an array, which is there without a value: "[3]string",
// but not "[]string" (Go). An array is a value, so that assigning it copies its elements; a slice
// is a reference.
func (b *builder) isArray(typ int32) bool {
	return b.m.ZeroValues && b.t.Is(typ, tree.Type) && b.t.Text(typ) == "[]" && !strings.HasPrefix(b.t.Code(typ), "[]")
}

// standardStruct returns the name of the struct of the standard library that a Type
// names, "" for none.
func (b *builder) standardStruct(typ int32) string {
	if typ < 0 || b.m.Structs == nil || b.t.Is(typ, tree.Type) && pointsOrHolds[b.t.Text(typ)] {
		return ""
	}
	if q := b.typeName(typ); b.m.Structs[q] {
		return q
	}
	return ""
}

// foreignStruct returns the qualified name of a Type that another file of the program may
// declare as a struct, "" for a type that is none.
func (b *builder) foreignStruct(typ int32) string {
	switch {
	case typ < 0 || !b.m.ZeroValues || b.t.Is(typ, tree.Type) && pointsOrHolds[b.t.Text(typ)]:
		return ""
	case !b.t.Is(typ, tree.Type) && !b.t.Is(typ, tree.Name) && !b.t.Is(typ, tree.Member):
		return ""
	}
	if d := b.names.Declaration(typ); d >= 0 && !b.t.Is(b.declaringNode(d), tree.Import) {
		return ""
	}
	q := b.typeName(typ)
	if b.m.Conversions[q] {
		return ""
	}
	return q
}

// newForeignStruct makes an object of a type that may be a struct; what says how it is made
// (see New). Package callgraph knows the declaration.
func (b *builder) newForeignStruct(node int32, qualified string, what int32) Var {
	in := newInstr(New, node)
	in.Text, in.X, in.Dst = qualified, what, b.newTemp()
	b.emitInstr(in)
	return in.Dst
}

// pointsOrHolds has the types of which a struct is a part and not the whole (Go).
var pointsOrHolds = map[string]bool{"*": true, "[]": true, "map": true, "chan": true, "func": true}

// structOf returns the struct of the file that a Type names, nil for none. Only structs are copied
// when they are assigned, and only of those that the file declares are the fields known.
func (b *builder) structOf(typ int32) *Class {
	if !b.m.ZeroValues || !b.t.Is(typ, tree.Type) && !b.t.Is(typ, tree.Name) {
		return nil
	}
	d := b.names.Declaration(typ)
	if d < 0 {
		return nil
	}
	c, ok := b.owner[b.declaringNode(d)]
	if !ok || !b.t.Is(b.declaringNode(d), tree.Class) || b.Classes[c].Kind != "struct" {
		return nil
	}
	return b.Classes[c]
}

// storeTarget gives a target a value: a name, a member, an element, or a pattern.
func (b *builder) storeTarget(target int32, v Var) {
	if target < 0 || b.overLimit {
		return
	}
	n := &b.t.Nodes[target]
	switch n.Kind {
	case tree.Name:
		b.writeName(target, v)
	case tree.Member, tree.Index:
		b.storeReference(b.evaluateReference(target), v)
	case tree.Tuple, tree.List, tree.Set:
		b.unpackSequence(target, v)
	case tree.Map:
		b.unpackMap(target, v)
	case tree.Variable, tree.Parameter, tree.Field:
		if value := b.t.Child(target, tree.RoleValue); value >= 0 && value != b.t.Child(target, tree.RoleTarget) {
			v = b.orDefault(target, v, value)
		}
		b.storeTarget(b.t.Child(target, tree.RoleTarget), v)
	case tree.Assign: // a default in a pattern
		b.storeTarget(b.t.Child(target, tree.RoleTarget), b.orDefault(target, v, b.t.Child(target, tree.RoleValue)))
	case tree.Unary:
		if value := b.t.Child(target, tree.RoleValue); n.Text != "*" || !b.storePointed(target, value, v) {
			b.storeTarget(value, v)
		}
	case tree.Spread, tree.Keyword, tree.Cast, tree.Typed:
		b.storeTarget(b.t.Child(target, tree.RoleValue), v)
	default:
		b.lowerExpr(target)
	}
}

// orDefault returns the value, or that of the default when there is none. Whether there is one is
// not known, so both ways stay possible.
func (b *builder) orDefault(i int32, v Var, value int32) Var {
	result := b.newTemp()
	none, done := b.newBlock(), b.newBlock()
	b.copyTo(result, tree.None, v)
	b.branchOn(value, b.emitValue(Missing, tree.None, "", v), none, done)
	b.startBlock(none)
	b.copyTo(result, value, b.lowerExpr(value))
	b.startBlock(done)
	return b.emitValue(Copy, tree.None, "", result)
}

// unpackSequence assigns the elements of a value to those of a pattern. Behind a spread the
// position from the front is not known, so the elements are counted from the end.
func (b *builder) unpackSequence(target int32, v Var) {
	k, spread := 0, false
	for c := range b.t.Children(target) {
		switch {
		case b.t.Is(c, tree.Spread):
			low, high := b.emitConstant(tree.None, ConstNumber, itoa(k)), NoVar
			if n := b.countAfter(target, c); n > 0 {
				high = b.emitConstant(tree.None, ConstNumber, "-"+itoa(n))
			}
			b.storeTarget(c, b.emitValue(Slice, c, "", v, low, high))
			spread = true
		case b.t.Is(c, tree.Empty), b.t.Is(c, tree.Token):
		case spread:
			last := b.emitConstant(tree.None, ConstNumber, "-"+itoa(b.countAfter(target, c)+1))
			b.storeTarget(c, b.emitValue(LoadIndex, tree.None, "", v, last))
		default:
			b.storeTarget(c, b.emitValue(LoadIndex, tree.None, itoa(k), v, NoVar))
		}
		k++
	}
}

// countAfter returns the number of children behind one. Words of the grammar between them do not
// count.
func (b *builder) countAfter(i, child int32) int {
	n := 0
	for c := range b.t.Children(i) {
		if c > child && !b.t.Is(c, tree.Token) {
			n++
		}
	}
	return n
}

// unpackMap assigns the members of a value to those of a pattern. What the pattern leaves out
// stays in the value: a rest ("...others") is taken to be the whole value, which has more members
// than the rest, never fewer.
func (b *builder) unpackMap(target int32, v Var) {
	for c := range b.t.Children(target) {
		switch n := &b.t.Nodes[c]; n.Kind {
		case tree.Pair:
			k := b.t.Child(c, tree.RoleKey)
			text, field := b.constantKey(k)
			part := NoVar
			switch {
			case field, b.m.KeysAreFields && b.t.Is(k, tree.Name):
				part = b.emitValue(LoadField, k, b.t.Text(k), v)
			default:
				part = b.emitValue(LoadIndex, tree.None, text, v, b.lowerExpr(k))
			}
			b.storeTarget(b.t.Child(c, tree.RoleValue), part)
		default:
			b.storeTarget(c, v)
		}
	}
}

// lowerDelete removes a variable, member or element. The parts are evaluated for their effects.
// Only members and elements have an instruction for it: the name of a deleted variable cannot be
// read afterwards.
func (b *builder) lowerDelete(i int32) {
	if i < 0 {
		return
	}
	switch n := &b.t.Nodes[i]; n.Kind {
	case tree.Member:
		b.emitPlain(Delete, i, b.t.Text(b.t.Child(i, tree.RoleProperty)), b.lowerExpr(b.t.Child(i, tree.RoleObject)))
	case tree.Index:
		o := b.lowerExpr(b.t.Child(i, tree.RoleObject))
		text, _ := b.constantKey(b.t.Child(i, tree.RoleIndex))
		b.emitPlain(Delete, i, text, o, b.lowerExpr(b.t.Child(i, tree.RoleIndex)))
	default:
		b.lowerExpr(i)
	}
}

// bindsNames reports whether an expression in the place of a type or case is a pattern
// that declares names.
func (b *builder) bindsNames(i int32) bool {
	for c := i; c < b.t.Nodes[i].Next; c++ {
		if b.t.Nodes[c].Kind == tree.Name && b.names.Declaration(c) == c {
			return true
		}
	}
	return false
}

// matchPattern compares a value with a pattern and returns whether it matches: literals
// are compared, names bound, parts taken apart.
func (b *builder) matchPattern(i int32, v Var) Var {
	n := &b.t.Nodes[i]
	switch n.Kind {
	case tree.Name:
		if b.names.Declaration(i) == i || n.Text == "_" {
			b.storeTarget(i, v)
			return b.emitConstant(tree.None, ConstBool, "true")
		}
	case tree.Variable, tree.Parameter:
		return b.matchTyped(i, v)
	case tree.Type:
		return b.emitValue(TypeTest, i, b.typeName(i), v)
	case tree.TypeTest:
		typ := b.t.Child(i, tree.RoleType)
		b.storeTarget(b.t.Child(i, tree.RoleTarget), v)
		return b.emitValue(TypeTest, i, b.typeName(typ), v)
	case tree.Assign: // "case pattern as name"
		is := b.matchPattern(b.t.Child(i, tree.RoleValue), v)
		b.storeTarget(b.t.Child(i, tree.RoleTarget), v)
		return is
	case tree.Tuple, tree.List, tree.Map, tree.Call, tree.New, tree.Other, tree.Spread, tree.Keyword, tree.Pair:
		if b.bindsNames(i) || n.Kind != tree.Call && n.Kind != tree.Other {
			b.matchParts(i, v)
			return b.emitUnknown(i, "pattern")
		}
	case tree.Binary:
		if b.bindsNames(i) {
			b.matchPattern(b.t.Child(i, tree.RoleLeft), v)
			b.matchPattern(b.t.Child(i, tree.RoleRight), v)
			return b.emitUnknown(i, "pattern")
		}
	}
	c := b.lowerExpr(i)
	return b.emitValue(Binary, tree.None, "==", v, c)
}

// matchTyped binds a declared name of a pattern; one with a type matches values of that
// type only.
func (b *builder) matchTyped(i int32, v Var) Var {
	typ := b.t.Child(i, tree.RoleType)
	if typ < 0 {
		b.storeTarget(i, v)
		return b.emitConstant(tree.None, ConstBool, "true")
	}
	is := b.emitValue(TypeTest, tree.None, b.typeName(typ), v)
	b.storeTarget(i, b.emitValue(Cast, tree.None, b.typeName(typ), v))
	return is
}

// matchParts matches the parts of a value with those of a pattern. Positions of parts that are no
// elements, such as the class of a class pattern, are not counted.
func (b *builder) matchParts(i int32, v Var) {
	k := 0
	for c := range b.t.Children(i) {
		n := &b.t.Nodes[c]
		switch {
		case n.Role == tree.RoleCallee, n.Role == tree.RoleType, n.Kind == tree.Token, n.Kind == tree.Type:
			continue
		case n.Kind == tree.Keyword:
			b.matchPattern(b.t.Child(c, tree.RoleValue), b.emitValue(LoadField, tree.None, b.t.Name(c), v))
		case n.Kind == tree.Pair:
			key := b.t.Child(c, tree.RoleKey)
			text, _ := b.constantKey(key)
			b.matchPattern(b.t.Child(c, tree.RoleValue), b.emitValue(LoadIndex, tree.None, text, v, b.lowerExpr(key)))
		case n.Kind == tree.Spread:
			b.storeTarget(b.t.Child(c, tree.RoleValue), b.emitValue(Slice, tree.None, "", v))
		default:
			b.matchPattern(c, b.emitValue(LoadIndex, tree.None, itoa(k), v))
		}
		k++
	}
}

package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file stores values: assignments, declarations and patterns.

// assign evaluates "a = b" and "a += b".
func (b *builder) assign(i int32) Var {
	target, value := b.t.Child(i, tree.RoleTarget), b.t.Child(i, tree.RoleValue)
	op := b.t.Text(i)
	if op == "=" || op == ":=" || op == "" {
		return b.bind(i, target, value)
	}
	op = strings.TrimSuffix(op, "=")
	place := b.place(target)
	if !logical(op) {
		old := b.load(place)
		v := b.value(Binary, i, op, old, b.expr(value))
		b.set(place, v)
		return v
	}
	return b.join(i, func(result Var) {
		old := b.load(place)
		b.copyTo(result, tree.None, old)
		set, done := b.newBlock(), b.newBlock()
		switch op {
		case "||":
			b.branch(target, old, done, set)
		case "??":
			b.branch(target, b.value(Unary, tree.None, "present", old), done, set)
		default:
			b.branch(target, old, set, done)
		}
		b.start(set)
		v := b.expr(value)
		b.copyTo(result, value, v)
		b.set(place, v)
		b.start(done)
	})
}

// A reference is what can be read and written: a member or an element, whose object and
// key are evaluated once, or any other target.
type reference struct {
	node   int32
	object Var
	key    Var    // of an element
	text   string // the field, or the constant key
	global string // the qualified name of a member of a module or class
	kind   placeKind
}

type placeKind uint8

const (
	otherPlace placeKind = iota
	fieldPlace
	elementPlace
)

// place evaluates the parts of a target.
func (b *builder) place(i int32) reference {
	p := reference{node: i, object: NoVar, key: NoVar}
	switch {
	case b.over:
	case b.t.Is(i, tree.Member):
		object, property := b.t.Child(i, tree.RoleObject), b.t.Child(i, tree.RoleProperty)
		p.kind, p.text, p.global = fieldPlace, b.t.Text(property), b.qualified(i)
		p.object = b.expr(object)
		if property >= 0 && !b.t.Is(property, tree.Name) && !b.t.Is(property, tree.String) {
			p.kind, p.text, p.key = elementPlace, "", b.expr(property)
		}
	case b.t.Is(i, tree.Index):
		k := b.t.Child(i, tree.RoleIndex)
		p.kind, p.object = elementPlace, b.expr(b.t.Child(i, tree.RoleObject))
		if k < 0 || b.t.Is(k, tree.Slice) {
			break
		}
		text, field := b.key(k)
		p.text, p.key = text, b.expr(k)
		if field {
			p.kind = fieldPlace
		}
	}
	return p
}

// load reads a place.
func (b *builder) load(p reference) Var {
	switch {
	case p.kind == otherPlace:
		return b.expr(p.node)
	case p.kind == elementPlace:
		return b.value(LoadIndex, p.node, p.text, p.object, p.key)
	case p.global != "":
		return b.value(LoadGlobal, p.node, p.global, p.object)
	}
	return b.value(LoadField, p.node, p.text, p.object)
}

// set writes a place.
func (b *builder) set(p reference, v Var) {
	switch {
	case p.kind == otherPlace:
		b.store(p.node, v)
	case p.kind == elementPlace:
		b.do(StoreIndex, p.node, p.text, p.object, p.key, v)
	case p.global != "":
		b.do(StoreGlobal, p.node, p.global, p.object, v)
	default:
		b.do(StoreField, p.node, p.text, p.object, v)
	}
}

// bind stores the value of an expression. The parts of a tuple are assigned one by
// one when the value is a tuple too; all values are evaluated first.
func (b *builder) bind(i, target, value int32) Var {
	if pairs := b.pairwise(target, value); pairs != nil {
		values := make([]Var, len(pairs))
		for k, p := range pairs {
			values[k] = b.copied(p[0], p[1], b.expr(p[1]))
		}
		for k, p := range pairs {
			b.store(p[0], values[k])
		}
		return b.unknown(i, "tuple")
	}
	v := b.copied(target, value, b.expr(value))
	b.alias(i, value)
	if b.m.Exports != "" && b.t.Is(target, tree.Member) {
		b.exportAlias(target, value)
	}
	if b.m.CommaOk && b.t.Is(target, tree.Tuple) && b.answersTwice(value) {
		b.commaOk(target, v, b.t.Is(value, tree.Index))
		return v
	}
	b.store(target, v)
	return v
}

// exportAlias notes the name that "exports.a = b" gives to what b means.
func (b *builder) exportAlias(target, value int32) {
	t, q := b.qualified(target), b.qualified(value)
	if q == "" || b.fn.Kind != TopLevel {
		return
	}
	if t == b.Module {
		b.aliasName("", q)
	} else if member, ok := strings.CutPrefix(t, b.Module+"."); ok && !strings.Contains(member, ".") {
		b.aliasName(member, q)
	}
}

// answersTwice reports whether the expression, assigned to two variables, gives the
// value and whether there was one (Go's v, ok := m[k]).
func (b *builder) answersTwice(i int32) bool {
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

func (b *builder) commaOk(target int32, v Var, element bool) {
	first := true
	for c := range b.t.Children(target) {
		switch {
		case first:
			b.store(c, v)
		case element:
			b.store(c, b.value(Unary, tree.None, Found, v))
		default:
			b.store(c, b.unknown(tree.None, "ok"))
		}
		first = false
	}
}

// pairwise pairs the parts of two tuples; nil when they do not pair.
func (b *builder) pairwise(target, value int32) [][2]int32 {
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

func (b *builder) isTuple(i int32) bool { return b.t.Is(i, tree.Tuple) || b.t.Is(i, tree.List) }

// variable lowers the declaration of a variable.
func (b *builder) declaration(i int32) {
	target, value := b.t.Child(i, tree.RoleTarget), b.t.Child(i, tree.RoleValue)
	switch {
	case target < 0:
		if value >= 0 {
			b.expr(value)
		}
	case value >= 0:
		b.bind(i, target, value)
	case b.t.Text(i) != "var" || !b.m.VarHoists:
		if b.t.Is(target, tree.Name) {
			b.store(target, b.zero(b.t.Child(i, tree.RoleType), 0))
		}
	}
}

// maxZero bounds the nesting of structs without values.
const maxZero = 10

// zero returns the value of a variable that has none: an object for a struct of the
// file where the language makes one, with those that are its fields.
func (b *builder) zero(typ int32, depth int) Var {
	c := b.structOf(typ)
	if c == nil {
		if q := b.standardStruct(typ); q != "" {
			return b.value(New, tree.None, q)
		}
		if b.isArray(typ) {
			return b.value(New, tree.None, "[]")
		}
	}
	if c == nil && depth == 0 {
		if q := b.foreignStruct(typ); q != "" {
			return b.maybeStruct(tree.None, q, ZeroValue)
		}
	}
	if c == nil || depth > maxZero {
		return b.constant(tree.None, ConstNull, "null")
	}
	object := b.value(New, tree.None, c.Qualified)
	b.zeroFields(object, c, nil, depth)
	return object
}

// zeroFields gives the fields that are structs, and are not among those given, their
// objects.
func (b *builder) zeroFields(object Var, c *Class, given map[string]bool, depth int) {
	for _, f := range c.Fields {
		typ := b.t.Child(f.Node, tree.RoleType)
		if !given[f.Name] && depth < maxZero && (b.structOf(typ) != nil || b.standardStruct(typ) != "") {
			b.do(StoreField, tree.None, f.Name, object, b.zero(typ, depth+1))
		}
	}
}

// isArray reports whether a Type is that of an array, which is there without a value:
// "[3]string", but not "[]string" (Go).
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
	if d := b.names.Declaration(typ); d >= 0 && !b.t.Is(b.declarator(d), tree.Import) {
		return ""
	}
	q := b.typeName(typ)
	if b.m.Conversions[q] {
		return ""
	}
	return q
}

// maybeStruct makes an object of a type that may be a struct; what says how it is made
// (see New). Package callgraph knows the declaration.
func (b *builder) maybeStruct(node int32, qualified string, what int32) Var {
	in := plain(New, node)
	in.Text, in.X, in.Dst = qualified, what, b.temp()
	b.emit(in)
	return in.Dst
}

// pointsOrHolds has the types of which a struct is a part and not the whole (Go).
var pointsOrHolds = map[string]bool{"*": true, "[]": true, "map": true, "chan": true, "func": true}

// structOf returns the struct of the file that a Type names, nil for none.
func (b *builder) structOf(typ int32) *Class {
	if !b.m.ZeroValues || !b.t.Is(typ, tree.Type) && !b.t.Is(typ, tree.Name) {
		return nil
	}
	d := b.names.Declaration(typ)
	if d < 0 {
		return nil
	}
	c, ok := b.owner[b.declarator(d)]
	if !ok || !b.t.Is(b.declarator(d), tree.Class) || b.Classes[c].Kind != "struct" {
		return nil
	}
	return b.Classes[c]
}

// store gives a target a value: a name, a member, an element, or a pattern.
func (b *builder) store(target int32, v Var) {
	if target < 0 || b.over {
		return
	}
	n := &b.t.Nodes[target]
	switch n.Kind {
	case tree.Name:
		b.write(target, v)
	case tree.Member, tree.Index:
		b.set(b.place(target), v)
	case tree.Tuple, tree.List, tree.Set:
		b.unpack(target, v)
	case tree.Map:
		b.unpackMap(target, v)
	case tree.Variable, tree.Parameter, tree.Cast, tree.Typed, tree.Field:
		inner := b.t.Child(target, tree.RoleTarget)
		if n.Kind == tree.Cast || n.Kind == tree.Typed {
			inner = b.t.Child(target, tree.RoleValue)
		}
		if value := b.t.Child(target, tree.RoleValue); value >= 0 && inner != value {
			v = b.orDefault(target, v, value)
		}
		b.store(inner, v)
	case tree.Assign: // a default in a pattern
		b.store(b.t.Child(target, tree.RoleTarget), b.orDefault(target, v, b.t.Child(target, tree.RoleValue)))
	case tree.Unary:
		if value := b.t.Child(target, tree.RoleValue); n.Text != "*" || !b.storeBehind(target, value, v) {
			b.store(value, v)
		}
	case tree.Spread, tree.Keyword:
		b.store(b.t.Child(target, tree.RoleValue), v)
	default:
		b.expr(target)
	}
}

// orDefault returns the value, or that of the default when there is none.
func (b *builder) orDefault(i int32, v Var, value int32) Var {
	result := b.temp()
	none, done := b.newBlock(), b.newBlock()
	b.copyTo(result, tree.None, v)
	b.branch(value, b.value(Missing, tree.None, "", v), none, done)
	b.start(none)
	b.copyTo(result, value, b.expr(value))
	b.start(done)
	return b.value(Copy, tree.None, "", result)
}

// unpack assigns the elements of a value to those of a pattern.
func (b *builder) unpack(target int32, v Var) {
	k, spread := 0, false
	for c := range b.t.Children(target) {
		switch {
		case b.t.Is(c, tree.Spread):
			low, high := b.constant(tree.None, ConstNumber, itoa(k)), NoVar
			if n := b.behind(target, c); n > 0 {
				high = b.constant(tree.None, ConstNumber, "-"+itoa(n))
			}
			b.store(c, b.value(Slice, c, "", v, low, high))
			spread = true
		case b.t.Is(c, tree.Empty), b.t.Is(c, tree.Token):
		case spread:
			last := b.constant(tree.None, ConstNumber, "-"+itoa(b.behind(target, c)+1))
			b.store(c, b.value(LoadIndex, tree.None, "", v, last))
		default:
			b.store(c, b.value(LoadIndex, tree.None, itoa(k), v, NoVar))
		}
		k++
	}
}

// behind returns the number of children behind one.
func (b *builder) behind(i, child int32) int {
	n := 0
	for c := range b.t.Children(i) {
		if c > child && !b.t.Is(c, tree.Token) {
			n++
		}
	}
	return n
}

// unpackMap assigns the members of a value to those of a pattern.
func (b *builder) unpackMap(target int32, v Var) {
	for c := range b.t.Children(target) {
		switch n := &b.t.Nodes[c]; n.Kind {
		case tree.Pair:
			k := b.t.Child(c, tree.RoleKey)
			text, field := b.key(k)
			part := NoVar
			switch {
			case field, b.m.KeysAreFields && b.t.Is(k, tree.Name):
				part = b.value(LoadField, k, b.t.Text(k), v)
			default:
				part = b.value(LoadIndex, tree.None, text, v, b.expr(k))
			}
			b.store(b.t.Child(c, tree.RoleValue), part)
		default:
			b.store(c, v)
		}
	}
}

// delete removes a variable, member or element.
func (b *builder) delete(i int32) {
	if i < 0 {
		return
	}
	switch n := &b.t.Nodes[i]; n.Kind {
	case tree.Member:
		b.do(Delete, i, b.t.Text(b.t.Child(i, tree.RoleProperty)), b.expr(b.t.Child(i, tree.RoleObject)))
	case tree.Index:
		o := b.expr(b.t.Child(i, tree.RoleObject))
		text, _ := b.key(b.t.Child(i, tree.RoleIndex))
		b.do(Delete, i, text, o, b.expr(b.t.Child(i, tree.RoleIndex)))
	default:
		b.expr(i)
	}
}

// binds reports whether an expression in the place of a type or case is a pattern
// that declares names.
func (b *builder) binds(i int32) bool {
	for c := i; c < b.t.Nodes[i].Next; c++ {
		if b.t.Nodes[c].Kind == tree.Name && b.names.Declaration(c) == c {
			return true
		}
	}
	return false
}

// pattern matches a value with a pattern and returns whether it matches: literals
// are compared, names bound, parts taken apart.
func (b *builder) pattern(i int32, v Var) Var {
	n := &b.t.Nodes[i]
	switch n.Kind {
	case tree.Name:
		if b.names.Declaration(i) == i || n.Text == "_" {
			b.store(i, v)
			return b.constant(tree.None, ConstBool, "true")
		}
	case tree.Variable, tree.Parameter:
		typ := b.t.Child(i, tree.RoleType)
		if typ < 0 {
			b.store(i, v)
			return b.constant(tree.None, ConstBool, "true")
		}
		is := b.value(TypeTest, tree.None, b.typeName(typ), v)
		b.store(i, b.value(Cast, tree.None, b.typeName(typ), v))
		return is
	case tree.Type:
		return b.value(TypeTest, i, b.typeName(i), v)
	case tree.TypeTest:
		typ := b.t.Child(i, tree.RoleType)
		b.store(b.t.Child(i, tree.RoleTarget), v)
		return b.value(TypeTest, i, b.typeName(typ), v)
	case tree.Assign: // "case pattern as name"
		is := b.pattern(b.t.Child(i, tree.RoleValue), v)
		b.store(b.t.Child(i, tree.RoleTarget), v)
		return is
	case tree.Tuple, tree.List, tree.Map, tree.Call, tree.New, tree.Other, tree.Spread, tree.Keyword, tree.Pair:
		if b.binds(i) || n.Kind != tree.Call && n.Kind != tree.Other {
			b.parts(i, v)
			return b.unknown(i, "pattern")
		}
	case tree.Binary:
		if b.binds(i) {
			b.pattern(b.t.Child(i, tree.RoleLeft), v)
			b.pattern(b.t.Child(i, tree.RoleRight), v)
			return b.unknown(i, "pattern")
		}
	}
	c := b.expr(i)
	return b.value(Binary, tree.None, "==", v, c)
}

// parts matches the parts of a value with those of a pattern.
func (b *builder) parts(i int32, v Var) {
	k := 0
	for c := range b.t.Children(i) {
		n := &b.t.Nodes[c]
		switch {
		case n.Role == tree.RoleCallee, n.Role == tree.RoleType, n.Kind == tree.Token, n.Kind == tree.Type:
			continue
		case n.Kind == tree.Keyword:
			b.pattern(b.t.Child(c, tree.RoleValue), b.value(LoadField, tree.None, b.t.Name(c), v))
		case n.Kind == tree.Pair:
			key := b.t.Child(c, tree.RoleKey)
			text, _ := b.key(key)
			b.pattern(b.t.Child(c, tree.RoleValue), b.value(LoadIndex, tree.None, text, v, b.expr(key)))
		case n.Kind == tree.Spread:
			b.store(b.t.Child(c, tree.RoleValue), b.value(Slice, tree.None, "", v))
		default:
			b.pattern(c, b.value(LoadIndex, tree.None, itoa(k), v))
		}
		k++
	}
}

package ir

import (
	"merlon/internal/engine/sast/tree"
)

// This file lowers the copies that an assignment makes of structs and arrays (Go).
// Everywhere else an object and what refers to it are one, so a copy is only made where
// one of the two is changed: what is never changed may as well be shared. Only types
// that the file itself declares are known.

// maxCopied bounds the fields of a struct, with those of structs in it, that are copied
// one by one.
const maxCopied = 24

// copyOnAssign returns the value of an expression as an assignment gives it to somebody
// else: a copy, if it is a struct or array in a variable that is changed. Target is
// what it is assigned to, None for a parameter.
func (b *builder) copyOnAssign(target, value int32, v Var) Var {
	if !b.m.ZeroValues || !b.isStored(value) || !b.isChanged(value) &&
		!(b.t.Is(target, tree.Name) && b.isChanged(target)) {
		return v
	}
	return b.copyOf(b.declaredType(value, 0), v)
}

// ownCopy gives a function its own copy of a parameter that it changes. The caller must not see
// the changes.
func (b *builder) ownCopy(name int32, v Var, typ int32) {
	if !b.m.ZeroValues || !b.t.Is(name, tree.Name) || !b.isChanged(name) {
		return
	}
	if own := b.copyOf(typ, v); own != v {
		b.copyTo(v, tree.None, own)
	}
}

// ownElements gives a loop its own copies of the elements that it changes. In Go the variable of a
// range is a copy of the element: what the loop writes to it must not reach the list.
func (b *builder) ownElements(target int32) {
	for c := target; b.m.ZeroValues && c >= 0 && c < b.t.Nodes[target].Next; c++ {
		if !b.t.Is(c, tree.Name) || !b.isChanged(c) {
			continue
		}
		v := b.readName(c)
		if own := b.copyOf(b.variableType(c, 0), v); own != v {
			b.writeName(c, own)
		}
	}
}

// copyOf copies a value of a declared type. Only structs and arrays are; pointers, slices and maps
// share what they refer to. A type with very many parts is left as it is.
func (b *builder) copyOf(typ int32, v Var) Var {
	left := maxCopied
	if !b.isCopiedType(typ, &left, 0) {
		return v
	}
	return b.duplicateValue(typ, v)
}

// isCopiedType reports whether a value of the type is copied when it is assigned, and has no
// more fields than are left.
func (b *builder) isCopiedType(typ int32, left *int, depth int) bool {
	if b.isArray(typ) {
		return true
	}
	c := b.structOf(typ)
	if c == nil || len(c.Bases) > 0 || depth > maxZero {
		return false
	}
	for _, f := range c.Fields {
		if *left--; *left < 0 {
			return false
		}
		of := b.t.Child(f.Node, tree.RoleType)
		if b.isEmbedded(f.Node, of) || b.structOf(of) != nil && !b.isCopiedType(of, left, depth+1) {
			return false
		}
	}
	return true
}

// isEmbedded reports whether a field has the name of its type: the parts of what it
// holds are parts of the struct around it too.
func (b *builder) isEmbedded(field, typ int32) bool {
	name := b.t.Child(field, tree.RoleTarget)
	return name < 0 || typ < 0 || b.t.Nodes[name].Start >= b.t.Nodes[typ].Start
}

// duplicateValue makes the copy of a value whose type is copied. Fields that are structs are
// copied in turn; pointers and slices are shared, as in the language.
func (b *builder) duplicateValue(typ int32, v Var) Var {
	c := b.structOf(typ)
	if c == nil {
		if !b.isArray(typ) {
			return v
		}
		return b.emitValue(Slice, tree.None, "", v, NoVar, NoVar)
	}
	object := b.emitValue(New, tree.None, c.Qualified)
	for _, f := range c.Fields {
		part := b.emitValue(LoadField, tree.None, f.Name, v)
		b.emitPlain(StoreField, tree.None, f.Name, object, b.duplicateValue(b.t.Child(f.Node, tree.RoleType), part))
	}
	return object
}

// isStored reports whether an expression reads a variable, a field or an element, or what a
// pointer points to: whoever has it can change it. Values that nobody else can reach need no copy.
func (b *builder) isStored(i int32) bool {
	return b.t.Is(i, tree.Name) || b.t.Is(i, tree.Member) || b.t.Is(i, tree.Index) || b.t.Is(i, tree.Unary) &&
		b.t.Text(i) == "*"
}

// isChanged reports whether the function changes a part of what the variable holds at
// which an expression begins, or lets others do so.
func (b *builder) isChanged(i int32) bool {
	for b.isStored(i) && !b.t.Is(i, tree.Name) {
		i = max(b.t.Child(i, tree.RoleObject), b.t.Child(i, tree.RoleValue))
	}
	d := b.names.Declaration(i)
	return d >= 0 && b.use[d]&changed != 0
}

// noteChange notes that a part of what a variable holds is changed at one of its uses:
// by an assignment, through its address, or by a method.
func (l *lowerer) noteChange(i, d int32) {
	top := i
	for p := l.t.Nodes[top].Parent; l.t.Is(p, tree.Member) || l.t.Is(p, tree.Index); p = l.t.Nodes[top].Parent {
		if l.t.Nodes[top].Role != tree.RoleObject {
			return
		}
		top = p
	}
	p := l.t.Nodes[top].Parent
	switch {
	case top != i && (l.isAssigned(top) || l.t.Is(p, tree.Call) && l.t.Nodes[top].Role == tree.RoleCallee),
		l.t.Is(p, tree.Unary) && l.t.Text(p) == "&",
		l.t.Is(p, tree.Unary) && l.t.Text(p) == "*" && l.t.Nodes[p].Role == tree.RoleTarget:
		l.use[d] |= changed
	}
}

// declaredType returns the Type that the file declares for the value of an expression;
// None when it is not known. Depth bounds the search, since declarations may refer to
// each other in a circle.
func (b *builder) declaredType(i int32, depth int) int32 {
	if i < 0 || depth > maxZero {
		return tree.None
	}
	switch b.t.Nodes[i].Kind {
	case tree.Name:
		return b.variableType(i, depth)
	case tree.New, tree.List, tree.Map:
		return b.t.Child(i, tree.RoleType)
	case tree.Member:
		if f := b.fieldOf(b.declaredType(b.t.Child(i, tree.RoleObject), depth+1),
			b.t.Text(b.t.Child(i, tree.RoleProperty))); f != nil {
			return b.t.Child(f.Node, tree.RoleType)
		}
	case tree.Index:
		return b.elementType(b.declaredType(b.t.Child(i, tree.RoleObject), depth+1))
	case tree.Unary:
		return b.operandType(i, depth)
	case tree.Call:
		return b.callType(i)
	}
	return tree.None
}

// operandType returns the type of what a pointer points to or a channel carries. For a pointer
// whose target is known in this function, that is the type of the target itself.
func (b *builder) operandType(i int32, depth int) int32 {
	op, value := b.t.Nodes[i].Text, b.t.Child(i, tree.RoleValue)
	if pointed := b.pointedTarget(value); op == "*" && pointed >= 0 {
		return b.declaredType(pointed, depth+1)
	}
	if op == "*" || op == "<-" {
		return b.elementType(b.declaredType(value, depth+1))
	}
	return tree.None
}

// variableType returns the declared type of a variable, or that of the value which it
// is declared with.
func (b *builder) variableType(i int32, depth int) int32 {
	d := b.names.Declaration(i)
	if d < 0 {
		return tree.None
	}
	by := b.declaringNode(d)
	switch {
	case by < 0 || b.t.Is(by, tree.Function) || b.t.Is(by, tree.Class):
		return tree.None
	case b.t.Child(by, tree.RoleType) >= 0:
		return b.t.Child(by, tree.RoleType)
	case b.t.Is(by, tree.ForEach):
		if target := b.t.Child(by, tree.RoleTarget); b.isTuple(target) && b.t.Count(target, tree.RoleElement) == 2 &&
			d > target+1 {
			return b.elementType(b.declaredType(b.t.Child(by, tree.RoleIterable), depth+1))
		}
		return tree.None
	case b.t.Child(by, tree.RoleTarget) != d:
		return tree.None
	}
	return b.declaredType(b.t.Child(by, tree.RoleValue), depth+1)
}

// fieldOf returns the field of a struct, or of what a pointer to one points to; nil for none.
// Embedded fields are not searched: their promotion is up to package callgraph, which knows the
// types of other files.
func (b *builder) fieldOf(typ int32, name string) *ClassField {
	c := b.structOf(typ)
	if c == nil && b.t.Is(typ, tree.Type) && b.t.Text(typ) == "*" {
		c = b.structOf(b.t.Child(typ, tree.RoleElement))
	}
	if c == nil {
		return nil
	}
	for k := range c.Fields {
		if c.Fields[k].Name == name {
			return &c.Fields[k]
		}
	}
	return nil
}

// elementType returns the type of the elements of a collection or channel, and of what
// a pointer points to.
func (b *builder) elementType(typ int32) int32 {
	last := tree.None
	if b.t.Is(typ, tree.Type) && pointsOrHolds[b.t.Text(typ)] {
		for e := range b.t.All(typ, tree.RoleElement) {
			last = e // that of a map stands behind the key's
		}
	}
	return last
}

// callType returns the type of what a function of the file returns, or of what "make" makes. Only
// the first result counts, since a copy has one type.
func (b *builder) callType(i int32) int32 {
	callee := b.t.Child(i, tree.RoleCallee)
	d := b.names.Declaration(callee)
	if d < 0 {
		if b.t.Is(callee, tree.Name) && b.t.Text(callee) == "make" {
			return b.t.Child(i, tree.RoleArgument)
		}
		return tree.None
	}
	if by := b.declaringNode(d); b.t.Is(by, tree.Function) {
		return b.t.Child(by, tree.RoleReturnType)
	}
	return tree.None
}

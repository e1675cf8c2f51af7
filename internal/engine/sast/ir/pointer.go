package ir

import (
	"merlon/internal/engine/sast/tree"
)

// This file lowers pointers to what is no object: variables, fields and elements that
// hold plain values (Go). An object and a pointer to it are one. A call that is given
// the address of a plain value gets a cell with it, whose content is written back
// behind the call; that the callee keeps the pointer is not followed.

// cellContent is the field of a cell that holds its value.
const cellContent = "="

// A lent place is one whose address a call was given, and the cell that stands for it.
type lent struct {
	place reference
	cell  Var
}

// lendAddress evaluates an argument that is the address of a place, and notes the place; NoVar
// when it is none. Scanf-like functions write their results through such pointers; the cell makes
// the result an object that the callee's code or its model can write to.
func (b *builder) lendAddress(i int32) Var {
	if !b.m.ZeroValues || !b.t.Is(i, tree.Unary) || b.t.Text(i) != "&" {
		return NoVar
	}
	value := b.t.Child(i, tree.RoleValue)
	if !b.t.Is(value, tree.Name) && !b.t.Is(value, tree.Member) && !b.t.Is(value, tree.Index) {
		return NoVar
	}
	place := b.evaluateReference(value)
	old := b.loadReference(place)
	text := "&"
	if b.m.Conversions[b.names.Type(value)] {
		text = "&="
	}
	cell := b.emitValue(Copy, i, text, old)
	b.lent = append(b.lent, lent{place, cell})
	return cell
}

// writeBackLent writes the places that were lent, from the one with the number on. Pointers that
// the callee keeps are not followed, see the head of the file.
func (b *builder) writeBackLent(from int) {
	list := b.lent[from:]
	b.lent = b.lent[:from]
	for _, l := range list {
		b.storeReference(l.place, b.emitValue(Copy, tree.None, "*", l.cell))
	}
}

// pointedTarget returns the place of which a variable that is set once holds the address; None
// when it is not known. With one assignment the pointer is another name for its target, and "*p"
// can be lowered as the target itself.
func (b *builder) pointedTarget(pointer int32) int32 {
	d := b.pointerName(pointer)
	if d < 0 || b.use[d]&(rewritten|assigned) != 0 {
		return tree.None
	}
	by := b.declaringNode(d)
	if !b.t.Is(by, tree.Assign) && !b.t.Is(by, tree.Variable) || b.t.Child(by, tree.RoleTarget) != d {
		return tree.None
	}
	address := b.t.Child(by, tree.RoleValue)
	if !b.t.Is(address, tree.Unary) || b.t.Text(address) != "&" {
		return tree.None
	}
	place := b.t.Child(address, tree.RoleValue)
	if !b.t.Is(place, tree.Name) && !b.t.Is(place, tree.Member) || b.unit[d] != b.fn.Index {
		return tree.None
	}
	return place
}

// pointerName returns the declaration of a pointer that is a variable, in languages that have
// pointers to plain values.
func (b *builder) pointerName(i int32) int32 {
	if !b.m.ZeroValues || !b.t.Is(i, tree.Name) {
		return tree.None
	}
	return b.names.Declaration(i)
}

// pointsToPlain reports whether a parameter is declared as a pointer to what is no
// object of a class.
func (b *builder) pointsToPlain(i int32) bool {
	d := b.pointerName(i)
	if d < 0 || !b.t.Is(b.declaringNode(d), tree.Parameter) {
		return false
	}
	typ := b.t.Child(b.declaringNode(d), tree.RoleType)
	if !b.t.Is(typ, tree.Type) || b.t.Text(typ) != "*" {
		return false
	}
	element := b.t.Child(typ, tree.RoleElement)
	return b.t.Is(element, tree.Type) && pointsOrHolds[b.t.Text(element)] || b.m.Conversions[b.t.Text(element)]
}

// loadPointed evaluates "*p"; NoVar when a pointer and what it points to are one. A pointer to a
// local variable whose target is known reads the variable itself; a pointer to a plain value is a
// cell with one field.
func (b *builder) loadPointed(i, pointer int32) Var {
	if place := b.pointedTarget(pointer); place >= 0 {
		return b.emitValue(Copy, i, "", b.loadReference(b.evaluateReference(place)))
	}
	if b.pointsToPlain(pointer) {
		return b.emitValue(LoadField, i, cellContent, b.lowerExpr(pointer))
	}
	return NoVar
}

// storePointed assigns to "*p". It reports false when a pointer and what it points to
// are one.
func (b *builder) storePointed(target, pointer int32, v Var) bool {
	if place := b.pointedTarget(pointer); place >= 0 {
		b.storeReference(b.evaluateReference(place), v)
		return true
	}
	if b.pointsToPlain(pointer) {
		b.emitPlain(StoreField, target, cellContent, b.lowerExpr(pointer), v)
		return true
	}
	return false
}

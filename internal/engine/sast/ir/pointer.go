package ir

import (
	"merlon/internal/engine/sast/tree"
)

// This file lowers pointers to what is no object: variables, fields and elements that
// hold plain values (Go). An object and a pointer to it are one. A call that is given
// the address of a plain value gets a cell with it, whose content is written back
// behind the call; that the callee keeps the pointer is not followed.

// content is the field of a cell that holds its value.
const content = "="

// A lent place is one whose address a call was given, and the cell that stands for it.
type lent struct {
	place reference
	cell  Var
}

// lend evaluates an argument that is the address of a place, and notes the place;
// NoVar when it is none.
func (b *builder) lend(i int32) Var {
	if !b.m.ZeroValues || !b.t.Is(i, tree.Unary) || b.t.Text(i) != "&" {
		return NoVar
	}
	value := b.t.Child(i, tree.RoleValue)
	if !b.t.Is(value, tree.Name) && !b.t.Is(value, tree.Member) && !b.t.Is(value, tree.Index) {
		return NoVar
	}
	place := b.place(value)
	old := b.load(place)
	text := "&"
	if b.m.Conversions[b.names.Type(value)] {
		text = "&="
	}
	cell := b.value(Copy, i, text, old)
	b.lent = append(b.lent, lent{place, cell})
	return cell
}

// giveBack writes the places that were lent, from the one with the number on.
func (b *builder) giveBack(from int) {
	list := b.lent[from:]
	b.lent = b.lent[:from]
	for _, l := range list {
		b.set(l.place, b.value(Copy, tree.None, "*", l.cell))
	}
}

// pointee returns the place of which a variable that is set once holds the address;
// None when it is not known.
func (b *builder) pointee(pointer int32) int32 {
	d := b.pointerName(pointer)
	if d < 0 || b.use[d]&(rewritten|assigned) != 0 {
		return tree.None
	}
	by := b.declarator(d)
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
	if d < 0 || !b.t.Is(b.declarator(d), tree.Parameter) {
		return false
	}
	typ := b.t.Child(b.declarator(d), tree.RoleType)
	if !b.t.Is(typ, tree.Type) || b.t.Text(typ) != "*" {
		return false
	}
	element := b.t.Child(typ, tree.RoleElement)
	return b.t.Is(element, tree.Type) && pointsOrHolds[b.t.Text(element)] || b.m.Conversions[b.t.Text(element)]
}

// behindPointer evaluates "*p"; NoVar when a pointer and what it points to are one.
func (b *builder) behindPointer(i, pointer int32) Var {
	if place := b.pointee(pointer); place >= 0 {
		return b.value(Copy, i, "", b.load(b.place(place)))
	}
	if b.pointsToPlain(pointer) {
		return b.value(LoadField, i, content, b.expr(pointer))
	}
	return NoVar
}

// storeBehind assigns to "*p". It reports false when a pointer and what it points to
// are one.
func (b *builder) storeBehind(target, pointer int32, v Var) bool {
	if place := b.pointee(pointer); place >= 0 {
		b.set(b.place(place), v)
		return true
	}
	if b.pointsToPlain(pointer) {
		b.do(StoreField, target, content, b.expr(pointer), v)
		return true
	}
	return false
}

package frame

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/value"
)

// This file makes the zero values of structs (Go) that other files declare; package ir
// makes those of its own file.

// zeroFields gives the fields of a struct that are structs their objects (Go).
type zeroFields struct {
	a     *Frame
	st    *State
	instr int32
	made  int32 // so far
}

// Limits of the objects for the fields of one struct.
const (
	maxZeroDepth  = 10
	maxZeroFields = 64
)

// FillZeroFields gives the fields of a new struct that are structs their objects.
func (a *Frame) FillZeroFields(st *State, instr int32, v *value.Value, class *ir.Class) {
	z := zeroFields{a: a, st: st, instr: instr}
	z.fillFields(v, class, 0)
}

// fillFields makes the structs that a struct holds by value. Their depth and number are
// bounded: generated types nest without end.
func (z *zeroFields) fillFields(v *value.Value, class *ir.Class, depth int) {
	for i := range class.Fields {
		f := &class.Fields[i]
		inner := z.a.Run.StructOf(class, f)
		if inner == nil || depth == 0 && class.File == z.a.Function.File && inner.File == class.File { // ir makes those
			continue
		}
		if z.made++; z.made > maxZeroFields || depth >= maxZeroDepth {
			return
		}
		part := z.a.Allocate(z.st, z.instr, z.made, value.ObjectInfo{Kind: value.KindObject, Complete: true,
			Type: inner.Qualified},
			&value.Object{Size: value.Unsized})
		part.API = inner.Qualified
		z.fillFields(part, inner, depth+1)
		z.a.Store(z.st, v, f.Name, part)
	}
}

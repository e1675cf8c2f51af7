package taint

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/tree"
)

// This file makes the zero values of structs (Go) that other files declare; package ir
// makes those of its own file.

// zeroFields gives the fields of a struct that are structs their objects (Go).
type zeroFields struct {
	a     *analysis
	st    *state
	instr int32
	made  int32 // so far
}

// Limits of the objects for the fields of one struct.
const (
	maxZeroDepth  = 10
	maxZeroFields = 64
)

func (z *zeroFields) fill(v *value, class *ir.Class, depth int) {
	for i := range class.Fields {
		f := &class.Fields[i]
		inner := z.a.run.structOf(class, f)
		if inner == nil || depth == 0 && class.File == z.a.fn.File && inner.File == class.File { // ir makes those
			continue
		}
		if z.made++; z.made > maxZeroFields || depth >= maxZeroDepth {
			return
		}
		part := z.a.make(z.st, z.instr, z.made, objInfo{kind: kindObject, own: true, typ: inner.Qualified},
			&object{size: unsized})
		part.api = inner.Qualified
		z.fill(part, inner, depth+1)
		z.a.store(z.st, v, f.Name, part)
	}
}

// structOf returns the struct of the program that a field holds, nil for anything else:
// a pointer to one is nil until it is set.
func (r *run) structOf(class *ir.Class, f *ir.ClassField) *ir.Class {
	t := class.File.Tree
	if f.Node < 0 || f.Static {
		return nil
	}
	typ := t.Child(f.Node, tree.RoleType)
	if typ < 0 || t.Is(typ, tree.Type) && t.Child(typ, tree.RoleElement) >= 0 {
		return nil
	}
	c := r.program.Class(f.Type)
	if c == nil || c.Kind != "struct" {
		return nil
	}
	return c
}

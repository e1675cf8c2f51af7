package survey

import (
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/taintset"
)

// This file asks the instructions of a function, without interpreting it, what a
// variable was made from.

// MaxDepth bounds how deep a condition is looked into.
const MaxDepth = 8

// WrittenName returns the name by which the source calls what a variable holds: "$.fn" where $
// is a parameter. It is "" for what has no such name.
func WrittenName(fn *ir.Function, v ir.Var, depth int) string {
	if fn.IsLocal(v) {
		return fn.Locals[v].Name
	}
	i := fn.Def(v)
	if i < 0 || depth > taintset.MaxPath {
		return ""
	}
	switch in := &fn.Code[i]; in.Op {
	case ir.Copy:
		return WrittenName(fn, in.A, depth+1)
	case ir.LoadGlobal:
		return in.Text
	case ir.LoadField:
		if base := WrittenName(fn, in.A, depth+1); base != "" {
			return base + "." + in.Text
		}
	}
	return ""
}

// A Place is a variable, or members of it, that calls of a function settle.
type Place struct {
	Root ir.Var
	Path string
}

// Covers reports whether what is settled at the place is so at another: it is the
// same, or a part of it.
func (p Place) Covers(q Place) bool {
	return p.Root == q.Root && strings.HasPrefix(q.Path, p.Path) && (len(q.Path) == len(p.Path) ||
		q.Path[len(p.Path)] == '.')
}

// OriginOf returns what a variable was made from: the local that holds it, or the
// members of one. Methods that were called on the way are left out.
func OriginOf(fn *ir.Function, v ir.Var) Place {
	path := ""
	for range 2 * MaxDepth {
		i := AssignedOnce(fn, v)
		if i < 0 {
			break
		}
		in := &fn.Code[i]
		next := in.A
		switch in.Op {
		case ir.Copy, ir.Cast:
		case ir.LoadField:
			path = "." + in.Text + path
		case ir.LoadGlobal:
			return Place{ir.NoVar, "." + in.Text + path}
		case ir.Invoke:
			next = fn.Call(in).Receiver
			if j := AssignedOnce(fn, next); next == ir.NoVar ||
				j >= 0 && (fn.Code[j].Op == ir.LoadGlobal || fn.Code[j].Op == ir.ClassValue) {
				return Place{v, path} // a static method: nothing is known of the class
			}
		default:
			return Place{v, path}
		}
		v = next
	}
	return Place{v, path}
}

// namesGlobal reports whether a variable is the global, or the member of a class, of
// the name.
func namesGlobal(fn *ir.Function, v ir.Var, name string) bool {
	at := OriginOf(fn, v)
	return at.Root == ir.NoVar && at.Path == "."+name
}

// IsNull reports whether a variable is the constant null.
func IsNull(fn *ir.Function, v ir.Var) bool {
	i := AssignedOnce(fn, v)
	return i >= 0 && fn.Code[i].Op == ir.Const && ir.ConstKind(fn.Code[i].X) == ir.ConstNull
}

// AssignedOnce returns the one instruction that gives the variable a value other than
// null, -1 when there are none or several.
func AssignedOnce(fn *ir.Function, v ir.Var) int32 {
	if v < 0 || !fn.IsLocal(v) {
		return fn.Def(v)
	}
	found := int32(-1)
	for i := range fn.Code {
		in := &fn.Code[i]
		if in.Dst != v || in.Op == ir.Copy && in.A != v && in.A >= 0 && !fn.IsLocal(in.A) && IsNull(fn, in.A) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = int32(i)
	}
	return found
}

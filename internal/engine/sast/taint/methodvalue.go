package taint

import (
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file follows methods that are taken for values, in languages where such a value
// keeps its receiver, and where a class names a function that takes it first (Go).

// receiverPart is the part of a function value that holds its receiver.
const receiverPart = "#receiver"

// methodValue returns the method of an object as a function that keeps the object; nil
// when its class has no such method.
func (a *analysis) methodValue(st *state, i int32, base *value, owner, name string) *value {
	if !a.fn.File.Lang.Meaning.ZeroValues {
		return nil
	}
	if id, ok := base.sole(); ok && a.objects[id].typ != "" {
		owner = a.objects[id].typ
	}
	fn := a.run.method(owner, name, -1)
	if fn == nil || fn.This == ir.NoVar {
		return nil
	}
	v := a.make(st, i, 3, objInfo{kind: kindFunction, fn: fn, own: true}, &object{size: unsized})
	a.store(st, v, receiverPart, base)
	return v
}

// methodExpression returns the method that a global names by its class, as a function
// without a receiver; nil for any other global.
func (a *analysis) methodExpression(st *state, i int32, name string) *value {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || !a.fn.File.Lang.Meaning.ZeroValues {
		return nil
	}
	fn := a.run.method(name[:dot], name[dot+1:], -1)
	if fn == nil || fn.This == ir.NoVar {
		return nil
	}
	return a.make(st, i, 3, objInfo{kind: kindFunction, fn: fn, own: true}, &object{size: unsized})
}

// receiverOf returns the receiver with which a method is called that is a value, nil
// when the first argument is the receiver.
func (a *analysis) receiverOf(st *state, id objID) *value {
	if a.objects[id].atom == nil {
		if _, bound := st.object(id).get(receiverPart); !bound {
			return nil
		}
	}
	return a.load(st, &value{objs: []objID{id}}, receiverPart)
}

// expects reports whether the function is a method whose values keep a receiver.
func expects(fn *ir.Function) bool {
	return fn.This != ir.NoVar && (fn.Class != nil || fn.Owner != "") && fn.File.Lang.Meaning.ZeroValues
}

package frame

import (
	"strconv"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file reads and writes the elements and keys of lists and maps.

// SoleObject returns the state of the only object that a value can be, nil when
// there are several.
func (a *Frame) SoleObject(st *State, v *value.Value) *value.Object {
	if v == nil || len(v.Objects) != 1 {
		return nil
	}
	return st.Object(v.Objects[0])
}

// IndexKey returns the constant key of an index, and whether it is known.
// The key is an operand, or a constant in the instruction: the position of a destructuring
// pattern.
func (a *Frame) IndexKey(st *State, in *ir.Instr) (string, bool) {
	switch {
	case in.B != ir.NoVar:
		return a.KeyOf(a.Read(st, in.B))
	case in.Text == "": // what is received from a channel
		return value.AnyKey, true
	}
	return in.Text, true
}

// KeyOf returns the part that a value is the key of.
// null as a key is a mistake in most languages; it is treated as unknown.
func (a *Frame) KeyOf(v *value.Value) (string, bool) {
	if v.IsKnown() && v.Constant.Kind != value.NullConstant {
		return v.Constant.String(), true
	}
	// Callers may know the key.
	a.Need(v)
	return value.AnyKey, false
}

// FromEnd returns the key of an element that is counted from the end of a list; of a
// map, the key itself.
// -1 is the last element in Python and Ruby, and an ordinary key of a map.
func (a *Frame) FromEnd(st *State, base *value.Value, key string) (string, bool) {
	n, err := strconv.Atoi(key)
	if err != nil || !a.IsCollection(st, base) {
		return key, true
	}
	if list, ok := a.SoleObject(st, base).List(); ok && len(list)+n >= 0 {
		return value.IndexKey(len(list) + n), true
	}
	return value.AnyKey, false
}

// StoreKey notes a key that is not known.
// Only tainted keys are kept: constants are the names of fields already, and other unknown
// keys do no harm.
func (a *Frame) StoreKey(st *State, base, key *value.Value) {
	if len(key.Taint) == 0 {
		return
	}
	for _, id := range base.Objects {
		o := st.Object(id).Clone()
		o.Keys = value.Join(o.Keys, key)
		st.Put(id, o)
	}
}

// Push adds an element at the end of a list.
// A position can only be given to the element if the list is one object and exact.
func (a *Frame) Push(st *State, base, x *value.Value) {
	for _, id := range base.Objects {
		o := st.Object(id).Clone()
		if list, ok := o.List(); ok && !o.Weak && len(base.Objects) == 1 {
			o.SetList(append(list, x))
		} else {
			o.ForgetPositions()
			o.Elements = value.Join(o.Elements, x)
		}
		st.Put(id, o)
	}
}

// Slice returns a part of a text or list.
func (a *Frame) Slice(st *State, i int32, in *ir.Instr) *value.Value {
	base := a.Read(st, in.A)
	low, high := a.ReadOptional(st, in.B), a.ReadOptional(st, in.C)
	// A slice of a text: s[1:3].
	if v := value.SliceText(base, low, high); v != nil {
		return v.WithTaint(base.Taint)
	}
	// Without an object the value is not known any better; its part has the same taint.
	if len(base.Objects) == 0 {
		return base.WithTaint(base.Taint)
	}
	v := a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindList, Complete: true},
		&value.Object{Size: value.Unsized})
	id := v.Objects[0]
	// Exact bounds keep the positions, others join all elements.
	if list, ok := a.SoleObject(st, base).List(); ok {
		if part, ok := value.CutList(list, low, high); ok {
			o := st.Object(id).Clone()
			o.SetList(part)
			st.Put(id, o)
			return v.WithTaint(a.DerivedTaint(base))
		}
	}
	a.Store(st, v, value.AnyKey, a.Load(st, base, value.AnyKey))
	return v.WithTaint(a.DerivedTaint(base))
}

// Globals returns the object whose fields are the globals of the program.
func (a *Frame) Globals() *value.Value { return a.Input(taintset.Input{Kind: taintset.Global}, "") }

// Allocate makes the object of an instruction. One that is made again while it is
// there stands for several from then on.
// The key of the object is the instruction, so that a loop makes the same object in each
// round. The old object may still be referred to, which is what Weak says.
func (a *Frame) Allocate(st *State, i int32, sub int32, info value.ObjectInfo, o *value.Object) *value.Value {
	id := a.ObjectOf(value.ObjectKey{Instruction: i, Sub: sub}, info)
	if old := st.Object(id); old != nil {
		o = a.JoinObjects(&a.Objects[id], old, o).Clone()
		o.Weak = true
	}
	st.Put(id, o)
	return &value.Value{Objects: []value.ObjectID{id}, Kind: info.Kind}
}

// ElementOf returns what iterating over a value gives: the elements of lists; of a
// map its keys in some languages, in others pairs, so something that is both.
func (a *Frame) ElementOf(st *State, i int32, base *value.Value) *value.Value {
	id, ok := base.SoleObject()
	if !ok || a.Objects[id].Kind != value.KindMap {
		// Not a map, or not known to be one: an element is any part.
		return a.Load(st, base, value.AnyKey)
	}
	// "for k, v of map" takes a pair apart, "for k in dict" uses the value as the key: the pair
	// has the taint of the keys itself.
	pair := a.Allocate(st, i, 1, value.ObjectInfo{Kind: value.KindList, Complete: true}, &value.Object{})
	keys := a.KeysOf(st, base)
	a.Push(st, pair, keys)
	a.Push(st, pair, a.Load(st, base, value.AnyKey))
	return pair.WithTaint(keys.Taint)
}

// KeysOf returns what a key of the value may be.
func (a *Frame) KeysOf(st *State, base *value.Value) *value.Value {
	var v *value.Value
	for _, id := range base.Objects {
		if at := a.Objects[id].Input; at != nil {
			v = value.Join(v, a.partOf(at, value.KeysPart))
		}
		if o := st.Object(id); o != nil {
			// Tainted keys that are unknown, and the constant names of the fields.
			v = value.Join(v, o.Keys)
			for _, f := range o.Fields {
				// Indexes are no keys of interest, and names with "#" are internal.
				if !strings.HasPrefix(f.Name, "#") && !value.IsIndex(f.Name) {
					v = value.Join(v, value.FromString(f.Name))
				}
			}
			v = value.OrUnknown(v).WithTaint(value.OrUnknown(v).Taint.Union(o.Self))
		}
	}
	v = value.OrUnknown(v)
	return v.WithTaint(v.Taint.Union(a.DerivedTaint(base)))
}

// RemoveKey removes a part of an object.
// Only a certain removal has an effect: with several objects, or a weak one, the part may
// still be there.
func (a *Frame) RemoveKey(st *State, base *value.Value, name string) {
	id, ok := base.SoleObject()
	if !ok {
		return
	}
	o := st.Object(id).Clone()
	if o.Weak {
		return
	}
	if list, ok := o.List(); ok && value.IsIndex(name) {
		o.SetList(value.RemoveAt(list, name))
	} else {
		// The field stays with an unknown value, so that a later read does not fall back to the
		// prototype or the caller's part.
		o.Set(name, value.Unknown, value.MaxFields)
	}
	st.Put(id, o)
}

// IsCollection reports whether the value is known to be a list.
func (a *Frame) IsCollection(st *State, v *value.Value) bool {
	id, ok := v.SoleObject()
	return ok && a.Objects[id].Kind == value.KindList
}

// Spread adds the parts of a value to a collection: to a list its elements in their
// order, to a map or object its fields.
func (a *Frame) Spread(st *State, i int32, base, x *value.Value) {
	for _, id := range base.Objects {
		if a.Objects[id].Kind != value.KindList {
			a.CopyParts(st, &value.Value{Objects: []value.ObjectID{id}}, x)
			continue
		}
		// With taint of the list as a whole the elements are not exact.
		if list, ok := a.SoleObject(st, x).List(); ok && len(a.DerivedTaint(x)) == 0 {
			for _, e := range list {
				a.Push(st, &value.Value{Objects: []value.ObjectID{id}}, value.OrUnknown(e))
			}
			continue
		}
		o := st.Object(id).Clone()
		o.ForgetPositions()
		o.Elements = value.Join(o.Elements, a.ElementOf(st, i, x))
		st.Put(id, o)
	}
}

// CopyParts copies every known part of an object to another.
// Object.assign, {...a} and dict(a) copy what is known; unknown parts of an input are copied
// as taint under any key.
func (a *Frame) CopyParts(st *State, to, from *value.Value) {
	if o := a.SoleObject(st, from); o != nil {
		for _, f := range o.Fields {
			if f.Value != nil && !strings.HasPrefix(f.Name, "#") {
				a.Store(st, to, f.Name, f.Value)
			}
		}
		if o.Elements != nil {
			a.Store(st, to, value.AnyKey, o.Elements)
		}
	}
	if id, ok := from.SoleObject(); !ok || a.Objects[id].Input != nil {
		if t := a.DeepTaint(st, from); len(t) > 0 {
			v := (&value.Value{}).WithTaint(t)
			a.Store(st, to, value.AnyKey, v)
			a.StoreKey(st, to, v)
		}
	}
}

package frame

import (
	"cmp"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file reads and writes the parts of values.
//
// Objects are identified by where they are made (allocation sites), inputs by their path. A
// value refers to objects by number; their content depends on the state.

// ObjectOf returns the object of the key, made when it is new.
// The key is the same in each round of the fixed point, so that loops do not make new objects
// without end.
func (a *Frame) ObjectOf(k value.ObjectKey, info value.ObjectInfo) value.ObjectID {
	if id, ok := a.ids[k]; ok {
		return id
	}
	id := value.ObjectID(len(a.Objects))
	info.Key = k
	// Objects of a callee bring their own site along.
	if info.Allocated.Function == nil {
		info.Allocated = value.AllocationSite{Function: a.Function, Instruction: k.Instruction, Sub: k.Sub}
	}
	a.Objects = append(a.Objects, info)
	a.ids[k] = id
	return id
}

// Input returns the value of an input of the function, or of a part of one.
// Every input is an object with an origin of its own. What it really is, callers put in when
// they apply the summary.
func (a *Frame) Input(in taintset.Input, path string) *value.Value {
	at := a.Run.Intern(taintset.OriginKey{In: in, Path: path})
	if v, ok := a.inputs[at]; ok {
		return v
	}
	info := value.ObjectInfo{Input: at}
	v := &value.Value{Taint: taintset.Set{{Origin: at}}}
	// In a context the input is partly known: a constant, a function or a type.
	if f := a.Context.About(at); f != nil {
		info.Function, info.Collector, info.KeepsIn, info.Type = f.Function, f.Collector, f.KeepsIn, f.Type
		v.Constant, v.Kind, v.API = f.Constant, f.Constant.ValueKind(), cmp.Or(f.Type, f.API)
	}
	// A constant has no parts and needs no object.
	if !v.IsKnown() {
		id := a.ObjectOf(value.ObjectKey{Input: at}, info)
		a.inputIDs[at] = id
		v.Objects = []value.ObjectID{id}
	}
	// The set of all globals is not data.
	if in.Kind == taintset.Global && path == "" {
		v.Taint = nil
	}
	a.inputs[at] = v
	return v
}

// partOf returns the value of a part of an input. Below maxPath parts are not told
// apart.
func (a *Frame) partOf(at *taintset.Origin, name string) *value.Value {
	k := partKey{at, name}
	v, ok := a.parts[k]
	if !ok {
		v = a.newPart(at, name)
		a.parts[k] = v
	}
	return v
}

// A partKey names a part of an input.
// Used as a key of the cache of parts.
type partKey struct {
	at   *taintset.Origin
	name string
}

// newPart makes the value of a part of an input that is asked for the first time. Beyond
// the reach, and where a part repeats one above it (next.next), it is the input as a whole:
// objects that contain themselves have parts without end.
func (a *Frame) newPart(at *taintset.Origin, name string) *value.Value {
	depth := strings.Count(at.Path, taintset.Separator)
	// The first step below the globals is the name of the global, and not a part.
	if at.In.Kind == taintset.Global {
		depth--
	}
	// Deep: the part and everything below it have one origin from here on.
	if depth >= a.reach || at.Deep || depth > 0 && repeatsPart(at, name) {
		return &value.Value{Taint: taintset.Set{{Origin: a.Run.Deep(at)}}}
	}
	// A global that the program sets once to a constant is known everywhere.
	if at.In.Kind == taintset.Global && at.Path == "" {
		if v := a.Run.ConstantGlobal(name); v != nil {
			return v
		}
	}
	v := a.Input(at.In, at.Path+taintset.Separator+name)
	if c := a.Run.ConstantField(a.classOf(at), name); c != nil {
		return c
	}
	return v
}

// repeatsPart reports whether the part of the name is among those of the path: then the
// data is a list or a tree, whose further parts are not told apart.
// next.next of a linked list, parent.parent of a tree.
func repeatsPart(at *taintset.Origin, name string) bool {
	return name != value.CellContent && (strings.HasSuffix(at.Path, taintset.Separator+name) ||
		strings.Contains(at.Path, taintset.Separator+name+taintset.Separator))
}

// Load returns the part of a value with the name.
// A value may be several objects; the parts of all are joined. Taint that covers the whole
// value covers the part.
func (a *Frame) Load(st *State, v *value.Value, name string) *value.Value {
	if v == nil {
		return value.Unknown
	}
	var out *value.Value
	for _, id := range v.Objects {
		out = value.Join(out, a.LoadObject(st, id, name))
	}
	if rest := a.DerivedTaint(v); len(rest) > 0 {
		if out == nil {
			out = value.Unknown
		}
		out = out.WithTaint(out.Taint.Union(rest))
	}
	if out == nil {
		return value.Unknown
	}
	return out
}

// LoadObject returns a part of an object.
// The order: an explicit part, the part of an input, the prototype, unknown elements.
func (a *Frame) LoadObject(st *State, id value.ObjectID, name string) *value.Value {
	o, info := st.Object(id), &a.Objects[id]
	if name == value.AnyKey {
		return a.loadAny(st, id)
	}
	v, ok := o.Get(name)
	if !ok || v == nil {
		switch {
		// A part that was deleted is there, with a nil value.
		case ok: // removed
			v = value.Unknown
		case info.Input != nil:
			v = a.partOf(info.Input, name)
		case o != nil && o.Elements != nil:
			v = a.inheritedPart(st, o, name, 0)
		default:
			if v = a.inheritedPart(st, o, name, 0); v == nil {
				v = value.Unknown
			}
		}
	}
	if o == nil {
		return v
	}
	if o.Elements != nil && !ok { // a part that is known has been joined with them already
		v = value.Join(v, o.Elements)
	}
	// Self: the object as a whole is tainted, for example a decoded request body.
	if len(o.Self) > 0 {
		if v == nil {
			v = value.Unknown
		}
		v = v.WithTaint(v.Taint.Union(o.Self))
	}
	return v
}

// loadAny returns what an element of an object may be.
func (a *Frame) loadAny(st *State, id value.ObjectID) *value.Value {
	o, info := st.Object(id), &a.Objects[id]
	var v *value.Value
	if info.Input != nil {
		v = a.partOf(info.Input, value.AnyKey)
	}
	if o == nil {
		if v == nil {
			return value.Unknown
		}
		return v
	}
	v = value.Join(v, o.Elements)
	for _, f := range o.Fields {
		// Internal parts, such as listeners, are no elements.
		if !strings.HasPrefix(f.Name, "#") {
			v = value.Join(v, f.Value)
		}
	}
	if v == nil {
		v = value.Unknown
	}
	return v.WithTaint(v.Taint.Union(o.Self))
}

// DerivedTaint returns the taint of a value that is in all of its parts: not that which
// says only that the value is an input, whose parts are inputs of their own.
// The taint of an input object itself is left out: the part of the input has a finer origin,
// which decides.
func (a *Frame) DerivedTaint(v *value.Value) taintset.Set {
	if len(v.Taint) == 0 {
		return nil
	}
	return v.Taint.Filter(func(e *taintset.Element) bool {
		// What an attacker's key selects is not the whole object.
		if e.Origin.Picked {
			return false
		}
		// A source, a deep origin or sanitized data: the parts have no origins of their own.
		if e.Origin.Source != nil || e.Origin.Deep || e.Clean != 0 {
			return true
		}
		id, ok := a.inputIDs[e.Origin]
		return !ok || !slices.Contains(v.Objects, id)
	})
}

// Store sets the part of a value with the name.
// With several possible objects each store is weak.
func (a *Frame) Store(st *State, v *value.Value, name string, x *value.Value) {
	if v == nil || x == nil {
		return
	}
	for _, id := range v.Objects {
		a.StoreObject(st, id, name, x, len(v.Objects) == 1)
	}
}

// StoreObject sets a part of an object; strong says that the old value is gone.
func (a *Frame) StoreObject(st *State, id value.ObjectID, name string, x *value.Value, strong bool) {
	o := st.Object(id).Clone()
	a.SetPart(id, o, name, x, strong)
	st.Put(id, o)
}

// SetPart sets a part of the object's state, which nobody else has.
// The limits keep objects with generated keys from growing without end; the set of globals may
// be larger.
func (a *Frame) SetPart(id value.ObjectID, o *value.Object, name string, x *value.Value, strong bool) {
	limit := value.MaxFields
	if at := a.Objects[id].Input; at != nil && at.In.Kind == taintset.Global && at.Path == "" {
		limit = value.MaxGlobals
	}
	switch {
	// An unknown key joins the elements, and every known field may have been overwritten.
	case name == value.AnyKey:
		o.JoinElements(x)
	// HasAccessors spares the search for accessors in all other objects.
	case strings.HasPrefix(name, ir.GetterField) || strings.HasPrefix(name, ir.SetterField):
		a.Objects[id].HasAccessors = true
		o.Set(name, x, limit)
	// A strong update replaces the part. A list grows with an index at its end.
	case strong && !o.Weak:
		o.Set(name, x, limit)
		if o.Size >= 0 && value.IsIndex(name) {
			o.GrowTo(name)
		}
	default:
		// A weak one keeps the old part as well; for an untouched input that is the caller's.
		old, ok := o.Get(name)
		if !ok && a.Objects[id].Input != nil {
			old = a.partOf(a.Objects[id].Input, name)
		}
		if !ok {
			old = value.Join(old, o.Elements)
		}
		o.Set(name, value.Join(old, x), limit)
		if o.Size >= 0 && value.IsIndex(name) {
			o.ForgetPositions()
		}
	}
}

// DeepTaint returns the taint of a value and of all its parts.
// A sink that takes an object takes everything inside. The result is used at once: the memory
// is shared by all walks of a worker.
func (a *Frame) DeepTaint(st *State, v *value.Value) taintset.Set {
	if v == nil {
		return nil
	}
	if len(v.Objects) == 0 {
		return v.Taint
	}
	w := a.Scratch
	// The number of the walk marks visited objects without a set.
	w.walk++
	w.Deep.Reset()
	d := deepWalk{a: a, st: st, left: a.walk}
	d.walkValue(v, 0)
	return w.Deep.Set()
}

// deepWalk collects the taint of values and their parts.
type deepWalk struct {
	a    *Frame
	st   *State
	left int // objects that may still be looked at
}

// maxDeep bounds how far the parts of a value are looked at.
// Twelve levels and a hundred objects cover request bodies and configuration objects. Larger
// graphs are those of frameworks, whose parts rarely matter.
const (
	maxDeep = 12
	maxWalk = 100 // objects
)

// addTaint adds taint to what the walk has found.
func (d *deepWalk) addTaint(t taintset.Set) { d.a.Scratch.Deep.Add(t, 0, taintset.NextStep{}) }

// walkValue walks over a value, each object once. The number of objects is bounded, since a
// call may be given everything that a program holds.
func (d *deepWalk) walkValue(v *value.Value, depth int) {
	if v == nil {
		return
	}
	d.addTaint(d.a.DerivedTaint(v))
	for _, id := range v.Objects {
		if info := &d.a.Objects[id]; info.LastWalk != d.a.Scratch.walk && d.left > 0 {
			info.LastWalk = d.a.Scratch.walk
			d.left--
			d.walkObject(id, depth)
		}
	}
}

// walkObject walks over what an object holds.
func (d *deepWalk) walkObject(id value.ObjectID, depth int) {
	info := &d.a.Objects[id]
	// The captured variables of a closure are not data of a value.
	if info.Function != nil {
		return
	}
	// An input that has not been walked here contributes everything below it as one origin.
	if at := info.Input; at != nil && !(at.In.Kind == taintset.Global && at.Path == "") {
		if info.Deep == nil {
			info.Deep = taintset.Set{{Origin: d.a.Run.Deep(at)}}
		}
		d.addTaint(info.Deep)
	}
	o := d.st.Object(id)
	if o == nil {
		return
	}
	d.addTaint(o.Self)
	if depth >= maxDeep {
		return
	}
	if o.Text != nil {
		d.addTaint(o.Text.Taint)
	}
	for _, f := range o.Fields {
		d.walkValue(f.Value, depth+1)
	}
	d.walkValue(o.Elements, depth+1)
	d.walkValue(o.Keys, depth+1)
}

// TaintObject makes the object itself, and so every part of it, tainted.
func (a *Frame) TaintObject(st *State, v *value.Value, t taintset.Set) {
	if v == nil || len(t) == 0 {
		return
	}
	for _, id := range v.Objects {
		o := st.Object(id).Clone()
		o.Self = o.Self.Union(t)
		// A buffer is tainted through its text as well.
		if o.Text != nil {
			o.Text = o.Text.WithTaint(o.Text.Taint.Union(t))
		}
		st.Put(id, o)
	}
}

// WholeValue returns a value with the taint that its object has gathered: that of the
// object as a whole and of the text that it holds.
func (a *Frame) WholeValue(st *State, v *value.Value) *value.Value {
	if v == nil {
		return value.Unknown
	}
	t := v.Taint
	for _, id := range v.Objects {
		if o := st.Object(id); o != nil {
			t = t.Union(o.Self)
			if o.Text != nil {
				t = t.Union(o.Text.Taint)
			}
		}
	}
	return v.WithTaint(t)
}

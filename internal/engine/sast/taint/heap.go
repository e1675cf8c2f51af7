package taint

import (
	"cmp"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file reads and writes the parts of values. The heap of a function begins
// with its inputs, whose parts come into being when somebody looks at them.

// key returns the object of the key, made when it is new.
func (a *analysis) key(k objKey, info objInfo) objID {
	if id, ok := a.ids[k]; ok {
		return id
	}
	id := objID(len(a.objects))
	info.key = k
	if info.made.fn == nil {
		info.made = madeAt{a.fn, k.instr, k.sub}
	}
	a.objects = append(a.objects, info)
	a.ids[k] = id
	return id
}

// input returns the value of an input of the function, or of a part of one.
func (a *analysis) input(in input, path string) *value {
	at := a.run.atom(atomKey{in: in, path: path})
	if v, ok := a.inputs[at]; ok {
		return v
	}
	info := objInfo{atom: at}
	v := &value{taint: taint{{atom: at}}}
	if f := a.ctx.of(at); f != nil {
		info.fn, info.take, info.keeps, info.typ = f.fn, f.take, f.keeps, f.typ
		v.c, v.kind, v.api = f.c, f.c.valueKind(), cmp.Or(f.typ, f.api)
	}
	if !v.known() {
		id := a.key(objKey{atom: at}, info)
		a.inputIDs[at] = id
		v.objs = []objID{id}
	}
	if in.kind == inGlobal && path == "" {
		v.taint = nil
	}
	a.inputs[at] = v
	return v
}

// part returns the value of a part of an input. Below maxPath parts are not told
// apart.
func (a *analysis) part(at *atom, name string) *value {
	k := partKey{at, name}
	v, ok := a.parts[k]
	if !ok {
		v = a.newPart(at, name)
		a.parts[k] = v
	}
	return v
}

// A partKey names a part of an input.
type partKey struct {
	at   *atom
	name string
}

func (a *analysis) newPart(at *atom, name string) *value {
	depth := strings.Count(at.path, separator)
	if at.in.kind == inGlobal {
		depth--
	}
	if depth >= a.reach || at.deep || depth > 0 && repeats(at, name) {
		return &value{taint: taint{{atom: a.run.deepAtom(at)}}}
	}
	if at.in.kind == inGlobal && at.path == "" {
		if v := a.run.constantGlobal(name); v != nil {
			return v
		}
	}
	v := a.input(at.in, at.path+separator+name)
	if c := a.run.constantField(a.classOf(at), name); c != nil {
		return c
	}
	return v
}

// repeats reports whether the part of the name is among those of the path: then the
// data is a list or a tree, whose further parts are not told apart.
func repeats(at *atom, name string) bool {
	return name != content && (strings.HasSuffix(at.path, separator+name) ||
		strings.Contains(at.path, separator+name+separator))
}

// anyKey is the part of a path that stands for an element whose key is not known.
const anyKey = "*"

// keysPart is the part of a path that stands for the keys.
const keysPart = "#keys"

// load returns the part of a value with the name.
func (a *analysis) load(st *state, v *value, name string) *value {
	if v == nil {
		return unknown
	}
	var out *value
	for _, id := range v.objs {
		out = join(out, a.loadObject(st, id, name))
	}
	if rest := a.derived(v); len(rest) > 0 {
		if out == nil {
			out = unknown
		}
		out = out.with(out.taint.union(rest))
	}
	if out == nil {
		return unknown
	}
	return out
}

// loadObject returns a part of an object.
func (a *analysis) loadObject(st *state, id objID, name string) *value {
	o, info := st.object(id), &a.objects[id]
	if name == anyKey {
		return a.loadAny(st, id)
	}
	v, ok := o.get(name)
	if !ok || v == nil {
		switch {
		case ok: // removed
			v = unknown
		case info.atom != nil:
			v = a.part(info.atom, name)
		case o != nil && o.elems != nil:
			v = a.inherited(st, o, name, 0)
		default:
			if v = a.inherited(st, o, name, 0); v == nil {
				v = unknown
			}
		}
	}
	if o == nil {
		return v
	}
	if o.elems != nil && !ok { // a part that is known has been joined with them already
		v = join(v, o.elems)
	}
	if len(o.self) > 0 {
		if v == nil {
			v = unknown
		}
		v = v.with(v.taint.union(o.self))
	}
	return v
}

// loadAny returns what an element of an object may be.
func (a *analysis) loadAny(st *state, id objID) *value {
	o, info := st.object(id), &a.objects[id]
	var v *value
	if info.atom != nil {
		v = a.part(info.atom, anyKey)
	}
	if o == nil {
		if v == nil {
			return unknown
		}
		return v
	}
	v = join(v, o.elems)
	for _, f := range o.fields {
		if !strings.HasPrefix(f.name, "#") {
			v = join(v, f.val)
		}
	}
	if v == nil {
		v = unknown
	}
	return v.with(v.taint.union(o.self))
}

// derived returns the taint of a value that is in all of its parts: not that which
// says only that the value is an input, whose parts are inputs of their own.
func (a *analysis) derived(v *value) taint {
	if len(v.taint) == 0 {
		return nil
	}
	return v.taint.where(func(e *elem) bool {
		if e.atom.picked {
			return false
		}
		if e.atom.source != nil || e.atom.deep || e.clean != 0 {
			return true
		}
		id, ok := a.inputIDs[e.atom]
		return !ok || !slices.Contains(v.objs, id)
	})
}

// store sets the part of a value with the name.
func (a *analysis) store(st *state, v *value, name string, x *value) {
	if v == nil || x == nil {
		return
	}
	for _, id := range v.objs {
		a.storeObject(st, id, name, x, len(v.objs) == 1)
	}
}

// storeObject sets a part of an object; strong says that the old value is gone.
func (a *analysis) storeObject(st *state, id objID, name string, x *value, strong bool) {
	o := st.object(id).clone()
	a.setPart(id, o, name, x, strong)
	st.put(id, o)
}

// setPart sets a part of the object's state, which nobody else has.
func (a *analysis) setPart(id objID, o *object, name string, x *value, strong bool) {
	limit := maxFields
	if at := a.objects[id].atom; at != nil && at.in.kind == inGlobal && at.path == "" {
		limit = maxGlobals
	}
	switch {
	case name == anyKey:
		o.joinElems(x)
	case strings.HasPrefix(name, ir.GetterField) || strings.HasPrefix(name, ir.SetterField):
		a.objects[id].accessors = true
		o.set(name, x, limit)
	case strong && !o.many:
		o.set(name, x, limit)
		if o.size >= 0 && isIndex(name) {
			o.grow(name)
		}
	default:
		old, ok := o.get(name)
		if !ok && a.objects[id].atom != nil {
			old = a.part(a.objects[id].atom, name)
		}
		if !ok {
			old = join(old, o.elems)
		}
		o.set(name, join(old, x), limit)
		if o.size >= 0 && isIndex(name) {
			o.blur()
		}
	}
}

// joinElems notes that an element whose key is not known may be the value: so may each
// part that is known. What is set later replaces both.
func (o *object) joinElems(x *value) {
	o.elems = join(o.elems, x)
	for i := range o.fields {
		if f := &o.fields[i]; !strings.HasPrefix(f.name, "#") {
			f.val = join(f.val, x)
		}
	}
}

// grow makes room in a list whose element was set.
func (o *object) grow(name string) {
	n := 0
	for _, c := range name {
		if n = n*10 + int(c-'0'); n > maxList {
			o.blur()
			return
		}
	}
	for ; int(o.size) <= n; o.size++ {
	}
}

// deep returns the taint of a value and of all its parts.
func (a *analysis) deep(st *state, v *value) taint {
	if v == nil {
		return nil
	}
	if len(v.objs) == 0 {
		return v.taint
	}
	w := a.work
	w.walk++
	w.deep.reset()
	d := deepWalk{a: a, st: st, left: a.walk}
	d.value(v, 0)
	return w.deep.taint()
}

// deepWalk collects the taint of values and their parts.
type deepWalk struct {
	a    *analysis
	st   *state
	left int // objects that may still be looked at
}

// maxDeep bounds how far the parts of a value are looked at.
const (
	maxDeep = 12
	maxWalk = 100 // objects
)

func (d *deepWalk) add(t taint) { d.a.work.deep.add(t, 0, way{}) }

func (d *deepWalk) value(v *value, depth int) {
	if v == nil {
		return
	}
	d.add(d.a.derived(v))
	for _, id := range v.objs {
		if info := &d.a.objects[id]; info.walk != d.a.work.walk && d.left > 0 {
			info.walk = d.a.work.walk
			d.left--
			d.object(id, depth)
		}
	}
}

func (d *deepWalk) object(id objID, depth int) {
	info := &d.a.objects[id]
	if info.fn != nil {
		return
	}
	if at := info.atom; at != nil && !(at.in.kind == inGlobal && at.path == "") {
		if info.deep == nil {
			info.deep = taint{{atom: d.a.run.deepAtom(at)}}
		}
		d.add(info.deep)
	}
	o := d.st.object(id)
	if o == nil {
		return
	}
	d.add(o.self)
	if depth >= maxDeep {
		return
	}
	if o.text != nil {
		d.add(o.text.taint)
	}
	for _, f := range o.fields {
		d.value(f.val, depth+1)
	}
	d.value(o.elems, depth+1)
	d.value(o.keys, depth+1)
}

// taintObject makes the object itself, and so every part of it, tainted.
func (a *analysis) taintObject(st *state, v *value, t taint) {
	if v == nil || len(t) == 0 {
		return
	}
	for _, id := range v.objs {
		o := st.object(id).clone()
		o.self = o.self.union(t)
		if o.text != nil {
			o.text = o.text.with(o.text.taint.union(t))
		}
		st.put(id, o)
	}
}

// whole returns a value with the taint that its object has gathered: that of the
// object as a whole and of the text that it holds.
func (a *analysis) whole(st *state, v *value) *value {
	if v == nil {
		return unknown
	}
	t := v.taint
	for _, id := range v.objs {
		if o := st.object(id); o != nil {
			t = t.union(o.self)
			if o.text != nil {
				t = t.union(o.text.taint)
			}
		}
	}
	return v.with(t)
}

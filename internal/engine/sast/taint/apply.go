package taint

import (
	"strconv"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// This file brings what a called function does into the state of its caller.

// actuals are what a called function's inputs are where it is called.
type actuals struct {
	fn       *ir.Function
	this     *value
	params   []*value
	captures func(k int) *value
	instr    int32
	sub      int32 // tells several calls of one instruction apart
	back     bool  // a library calls the function, which it was given here
	node     int32
}

// captureField returns the field of a function value that holds a captured cell.
func captureField(k int) string { return "#" + strconv.Itoa(k) }

func itoa(n int32) string { return strconv.Itoa(int(n)) }

// input returns what the called function's input is.
func (x *actuals) input(a *analysis, in input) *value {
	switch in.kind {
	case inParam:
		if int(in.index) < len(x.params) {
			return x.params[in.index]
		}
	case inThis:
		return x.this
	case inCapture:
		return x.captures(int(in.index))
	case inGlobal:
		return a.globals()
	}
	return nil
}

// An application is one call being brought into a state.
type application struct {
	a   *analysis
	st  *state // before the call: actuals are read here
	x   *actuals
	sum *summary

	objs   map[objID][]objID
	parts  map[*atom]*value // what inputs and their parts are
	taints map[*atom]taint
	values map[*value]*value
}

// resolve returns what the called function's atom is: a part of an actual.
func (p *application) resolve(at *atom) *value {
	if at.up == nil {
		return p.x.input(p.a, at.in)
	}
	if v, ok := p.parts[at]; ok {
		return v
	}
	v := p.resolve(at.up)
	if v != nil && !at.deep && !at.picked {
		api := v.api
		v = p.a.load(p.st, v, at.name)
		if api != "" {
			v = p.a.run.partOf(p.a, api, at.name, v)
		}
	}
	p.parts[at] = v
	return v
}

// apply interprets a call of a function of the program. The result is nil when it
// does not return.
func (a *analysis) apply(st *state, x *actuals) (result, thrown *value) {
	s := a.work.summary(x.fn, nil)
	if s == nil {
		return unknown, nil
	}
	p := &application{a: a, st: st, x: x, objs: map[objID][]objID{}, parts: map[*atom]*value{},
		taints: map[*atom]taint{}, values: map[*value]*value{}}
	p.sum = p.inContext(s)
	s = p.sum
	result, thrown = p.value(s.result), p.value(s.thrown)
	p.effects()
	if a.noting {
		clear(p.parts) // what the call wrote may arrive by another name
		p.sinks()
	}
	if s.never {
		return nil, thrown
	}
	p.approvals()
	return orUnknown(result), thrown
}

// inContext returns the summary for what the caller knows, or the one for every caller.
// A function that the callee is given may ask for more, once it is known which it is.
func (p *application) inContext(s *summary) *summary {
	var ctx facts
	asks := s
	for range maxAsked {
		more := ctx.and(p.facts(asks))
		if len(more) == len(ctx) {
			break
		}
		t := p.a.work.summary(p.x.fn, more)
		if t == nil {
			break
		}
		ctx, asks, s = more, t, t
	}
	return s
}

// maxAsked bounds how often a caller is asked what it knows.
const maxAsked = 2

// facts returns what the caller knows of the inputs that the function asks
// about.
func (p *application) facts(s *summary) facts {
	a := p.a
	var ctx facts
	if unit := a.run.unitOf[a.fn]; len(unit) > someFunctions && a.run.unitOf[s.fn][0] == unit[0] {
		return nil
	}
	whole := s.cost <= maxContextCost
	for _, at := range s.needs {
		v := p.resolve(at)
		if v == nil {
			continue
		}
		f := fact{atom: at}
		switch id, sole := v.sole(); {
		case v.known() && len(v.c.s) <= maxFactText:
			if !whole {
				continue
			}
			f.c = v.c
		case sole && a.objects[id].fn != nil:
			if !whole && !p.x.back {
				a.work.noteLarge(s.fn)
				continue
			}
			f.fn = a.objects[id].fn
		case sole && a.objects[id].take:
			if !whole && !p.x.back {
				a.work.noteLarge(s.fn)
				continue
			}
			f.take, f.keeps = true, a.objects[id].keeps
		case sole && a.objects[id].typ != "":
			if !whole {
				continue
			}
			f.typ = a.objects[id].typ
		case v.api != "" && !a.isProgramType(v.api):
			if !whole && !p.x.back {
				continue
			}
			f.api = v.api
		default:
			a.need(v)
			continue
		}
		if s.own > maxLargeCost {
			a.work.noteLarge(s.fn)
			return nil
		}
		if ctx = append(ctx, f); len(ctx) == maxFacts {
			break
		}
	}
	return ctx
}

// maxCalls bounds the calls through which objects of one place are told apart.
const maxCalls = 3

// Limits of contexts.
const (
	maxFacts    = 8
	maxFactText = 200

	// maxContextCost bounds the instructions that are looked at anew for whatever a caller
	// knows. Larger functions are looked at anew only if they are call-backs, for the values
	// of libraries and the functions that they are called with: the one of a connection that
	// registers all handlers knows by its argument alone what it registers them with. Others
	// are reported if they are given functions, which are not followed.
	maxContextCost = 2000
	// maxLargeCost bounds the instructions of these, without what they call. Beyond it the
	// function is reported.
	maxLargeCost = 100_000
)

// objects returns the caller's objects for one of the callee.
func (p *application) objects(id objID) []objID {
	if ids, ok := p.objs[id]; ok {
		return ids
	}
	p.objs[id] = nil
	info := &p.sum.objects[id]
	if info.atom != nil {
		if v := p.resolve(info.atom); v != nil {
			p.objs[id] = v.objs
		}
		return p.objs[id]
	}
	key := objKey{instr: p.x.instr, from: p.x.fn, id: id, sub: p.x.sub}
	if info.depth >= maxCalls { // whatever one place makes is one object from here on
		key = objKey{instr: p.x.instr, from: info.made.fn, id: objID(-1 - info.made.instr), sub: info.made.sub}
	}
	ids := []objID{p.a.key(key, objInfo{typ: info.typ, kind: info.kind, fn: info.fn, own: info.own, take: info.take,
		keeps: info.keeps, bare: info.bare, accessors: info.accessors, promised: info.promised,
		made: info.made, depth: info.depth + 1})}
	p.objs[id] = ids
	return ids
}

// value returns the caller's value for one of the callee.
func (p *application) value(v *value) *value {
	if v == nil {
		return nil
	}
	if w, ok := p.values[v]; ok {
		return w
	}
	w := p.translate(v)
	p.values[v] = w
	return w
}

func (p *application) translate(v *value) *value {
	if at := p.passed(v); at != nil {
		if w := p.resolve(at); w != nil {
			return w.with(w.taint.through(way{p.a.fn, p.x.node, v.taint[0].trace})).typed(v.api)
		}
	}
	w := &value{c: v.c, api: v.api, start: v.start, kind: v.kind, taint: p.taint(v.taint)}
	for _, id := range v.objs {
		w.objs = joinObjs(w.objs, p.objects(id))
	}
	return w
}

// passed returns the input that the value is, nil when it is anything else.
func (p *application) passed(v *value) *atom {
	if len(v.objs) != 1 || len(v.taint) != 1 || v.known() || v.taint[0].clean != 0 {
		return nil
	}
	at := v.taint[0].atom
	if at.source != nil || at.deep || at.picked || p.sum.objects[v.objs[0]].atom != at {
		return nil
	}
	return at
}

// taint returns the caller's taint for one of the callee.
func (p *application) taint(t taint) taint {
	if len(t) == 0 {
		return nil
	}
	for _, e := range t {
		if e.atom.source == nil {
			p.base(e.atom) // before the mix is begun, which another call may need
		}
	}
	m := &p.a.work.arriving
	m.reset()
	for i := range t {
		e := &t[i]
		w := way{p.a.fn, p.x.node, e.trace}
		if e.atom.source != nil {
			m.add(taint{{atom: e.atom, clean: e.clean}}, 0, w)
		} else {
			m.add(p.base(e.atom), e.clean, w)
		}
	}
	return m.taint()
}

// base returns the taint of what an atom of the callee is.
func (p *application) base(at *atom) taint {
	if t, ok := p.taints[at]; ok {
		return t
	}
	var t taint
	if v := p.resolve(at); v != nil {
		if at.deep {
			t = p.a.deep(p.st, v)
		} else {
			t = p.a.whole(p.st, v).taint
		}
	}
	if at.picked {
		t = p.a.run.picked(t)
	}
	p.taints[at] = t
	return t
}

// effects writes what the callee left in objects into the caller's heap. Whatever
// is read for it is read before anything is written.
func (p *application) effects() {
	type write struct {
		ids []objID
		o   *object
		in  bool
	}
	var writes []write
	for id, o := range p.sum.heap {
		if o == nil {
			continue
		}
		c := &object{elems: p.value(o.elems), keys: p.value(o.keys), self: p.taint(o.self), text: p.value(o.text),
			size: o.size, many: o.many}
		for _, f := range o.fields {
			c.fields = append(c.fields, field{f.name, p.value(f.val)})
		}
		writes = append(writes, write{p.objects(objID(id)), c, p.sum.objects[id].atom != nil})
	}
	for _, w := range writes {
		for _, id := range w.ids {
			if w.in {
				p.a.update(p.st, id, w.o, len(w.ids) == 1)
				continue
			}
			o := w.o
			if old := p.st.object(id); old != nil {
				o = p.a.joinObjects(&p.a.objects[id], old, o).clone()
				o.many = true
			}
			p.st.put(id, o)
		}
	}
}

// update writes what a call left in an input into one of the caller's objects.
func (a *analysis) update(st *state, id objID, w *object, strong bool) {
	o := st.object(id).clone()
	for _, f := range w.fields {
		if f.val != nil {
			a.setPart(id, o, f.name, f.val, strong && !w.many)
		}
	}
	if w.elems != nil {
		for i := range o.fields {
			f := &o.fields[i]
			if _, set := w.get(f.name); !set && !strings.HasPrefix(f.name, "#") {
				f.val = join(f.val, w.elems)
			}
		}
		o.elems = join(o.elems, w.elems)
	}
	o.keys = join(o.keys, w.keys)
	o.self = o.self.union(w.self)
	switch {
	case w.text == nil:
	case strong && !o.many:
		o.text = w.text
	default:
		o.text = join(o.text, w.text)
	}
	if w.elems != nil {
		o.blur()
	}
	st.put(id, o)
}

// approvals makes the arguments harmless that the callee approved of by returning.
func (p *application) approvals() {
	for _, ok := range p.sum.approves[answerAny] {
		p.a.approveArgument(p.st, p.x, ok)
	}
}

// approveArgument makes an argument harmless, where it is a variable.
func (a *analysis) approveArgument(st *state, x *actuals, ok approval) {
	in := &a.fn.Code[x.instr]
	if x.sub != 0 || in.Op != ir.Invoke {
		return // not called here: a callback, an accessor, a function that escapes
	}
	for _, arg := range a.fn.Args(a.fn.Call(in)) {
		if int(ok.param) < len(x.params) && arg.Rest == ir.One && a.read(st, arg.Value) == x.params[ok.param] {
			a.clean(st, arg.Value, ok.kinds)
		}
	}
}

package interpret

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/taint/callsite"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// This file applies the summary of a called function: it translates what the summary
// says of the inputs to the values and objects of the caller.

// An application is one call being brought into a state.
// It lives for one call of Apply. The maps cache translations, since a summary refers to the
// same origins and values many times.
type application struct {
	a  *analysis
	st *frame.State // before the call: actuals are read here
	// The actual receiver, arguments and captured variables.
	x *callsite.Actuals
	// The summary that is applied: of the context that fits, or the one for every caller.
	sum *summary.Summary

	// The caller's objects for each of the callee's. Nil but present: being translated.
	objs  map[value.ObjectID][]value.ObjectID
	parts map[*taintset.Origin]*value.Value // what inputs and their parts are
	// Taint of each input or part of one.
	taints map[*taintset.Origin]taintset.Set
	// By identity of the callee's value.
	values map[*value.Value]*value.Value
}

// resolveOrigin returns what the called function's atom is: a part of an actual.
// An input is translated directly. A part (request.body.name) is loaded from its parent, step
// by step. The result is nil when the call has no such input.
func (p *application) resolveOrigin(at *taintset.Origin) *value.Value {
	if at.Up == nil {
		return p.x.Input(p.a.Frame, at.In)
	}
	if v, ok := p.parts[at]; ok {
		return v
	}
	v := p.resolveOrigin(at.Up)
	// A deep or picked part is the parent itself; the difference is applied to its taint later.
	if v != nil && !at.Deep && !at.Picked {
		api := v.API
		v = p.a.Load(p.st, v, at.Name)
		// Library types know the types and sources of their members.
		if api != "" {
			v = p.a.Run.PartOf(p.a.Function, api, at.Name, v)
		}
	}
	// Failures are cached as well (nil).
	p.parts[at] = v
	return v
}

// Apply interprets a call of a function of the program. The result is nil when it
// does not return.
func (a *analysis) Apply(st *frame.State, x *callsite.Actuals) (result, thrown *value.Value) {
	// A nil context asks for the general summary.
	s := a.Summaries.Summary(x.Function, nil)
	// There is no summary yet: the function is being analyzed further up (recursion). The solver
	// repeats the caller when it is there.
	if s == nil {
		return value.Unknown, nil
	}
	p := &application{a: a, st: st, x: x, objs: map[value.ObjectID][]value.ObjectID{},
		parts:  map[*taintset.Origin]*value.Value{},
		taints: map[*taintset.Origin]taintset.Set{}, values: map[*value.Value]*value.Value{}}
	p.sum = p.inContext(s)
	s = p.sum
	// The result is translated before the effects are written: it is what the callee saw.
	result, thrown = p.translateValue(s.Result), p.translateValue(s.Thrown)
	p.applyEffects()
	if a.Noting {
		clear(p.parts) // what the call wrote may arrive by another name
		p.applySinks()
	}
	// The effects are applied nonetheless: sinks in front of a throw have been reached.
	if s.NeverReturns {
		return nil, thrown
	}
	p.applyApprovals()
	return value.OrUnknown(result), thrown
}

// inContext returns the summary for what the caller knows, or the one for every caller.
// A function that the callee is given may ask for more, once it is known which it is.
func (p *application) inContext(s *summary.Summary) *summary.Summary {
	var ctx summary.Facts
	asks := s
	// The summary in a context can ask for further facts. Each repetition adds some; without new
	// ones, or without a summary in time, the best one so far is used.
	for range maxAsked {
		more := ctx.With(p.findFacts(asks))
		if len(more) == len(ctx) {
			break
		}
		t := p.a.Summaries.Summary(p.x.Function, more)
		if t == nil {
			break
		}
		ctx, asks, s = more, t, t
	}
	return s
}

// maxAsked bounds how often a caller is asked what it knows.
// The first round learns the facts, the second those that a function among them makes
// necessary. More rounds were of no use in practice and multiply the number of contexts.
const maxAsked = 2

// factOf returns what the caller knows of a value. It reports false when it knows nothing,
// and when the function is too large to be followed once more for the fact: a function
// that is given to it is worth more than a constant.
func (p *application) factOf(s *summary.Summary, v *value.Value) (summary.Fact, bool) {
	a := p.a
	// whole: the function and what it calls are small enough for a copy per context.
	whole := s.Cost <= summary.MaxContextCost
	id, sole := v.SoleObject()
	switch {
	// Long texts (embedded files, templates) are no facts: comparing them costs more than they
	// decide.
	case v.IsKnown() && len(v.Constant.Text) <= summary.MaxFactText:
		return summary.Fact{Constant: v.Constant}, whole
	// A function as an argument decides what is called. It is worth a context even for large
	// functions when it is a callback, otherwise the function is noted as too large and reported
	// in the statistics.
	case sole && (a.Objects[id].Function != nil || a.Objects[id].Collector):
		if !whole && !p.x.Callback {
			a.Summaries.NoteLarge(s.Function)
			return summary.Fact{}, false
		}
		if fn := a.Objects[id].Function; fn != nil {
			return summary.Fact{Function: fn}, true
		}
		return summary.Fact{Collector: true, KeepsIn: a.Objects[id].KeepsIn}, true
	// The type of the only object decides which methods are called.
	case sole && a.Objects[id].Type != "":
		return summary.Fact{Type: a.Objects[id].Type}, whole
	// A type of a library decides which models apply.
	case v.API != "" && !a.IsProgramType(v.API):
		return summary.Fact{API: v.API}, whole || p.x.Callback
	}
	// Nothing is known here either: the question is passed on to this function's callers.
	a.Need(v)
	return summary.Fact{}, false
}

// findFacts returns what the caller knows of the inputs that the function asks
// about.
func (p *application) findFacts(s *summary.Summary) summary.Facts {
	a := p.a
	var ctx summary.Facts
	// Many functions that call each other would be followed once for each fact that any of
	// them knows; their summaries for every caller have to do.
	// A unit has functions that call each other (a cycle of the call graph).
	if unit := a.Run.UnitOf[a.Function]; len(unit) > frame.SomeFunctions && a.Run.UnitOf[s.Function][0] == unit[0] {
		return nil
	}
	for _, at := range s.Needs {
		v := p.resolveOrigin(at)
		if v == nil {
			continue
		}
		f, ok := p.factOf(s, v)
		if !ok {
			continue
		}
		// The fact is about this input.
		f.Origin = at
		// Not even a function that it calls is worth following this one again.
		if s.OwnCost > summary.MaxLargeCost {
			a.Summaries.NoteLarge(s.Function)
			return nil
		}
		// MaxFacts bounds the size of the key of a context.
		if ctx = append(ctx, f); len(ctx) == summary.MaxFacts {
			break
		}
	}
	return ctx
}

// maxCalls bounds the calls through which objects of one place are told apart.
// Beyond it, recursion such as a tree builder would make objects without end.
const maxCalls = 3

// translateObjects returns the caller's objects for one of the callee.
func (p *application) translateObjects(id value.ObjectID) []value.ObjectID {
	if ids, ok := p.objs[id]; ok {
		return ids
	}
	// An object that refers to itself (parent pointers) ends the recursion here.
	p.objs[id] = nil // for an object that holds itself
	info := &p.sum.Objects[id]
	// What was given to the callee is the caller's own object, whatever it is there.
	if info.Input != nil {
		if v := p.resolveOrigin(info.Input); v != nil {
			p.objs[id] = v.Objects
		}
		return p.objs[id]
	}
	// What the callee made is one object for each call, so that two calls of a factory make
	// two objects, up to maxCalls calls around it.
	key := value.ObjectKey{Instruction: p.x.Instruction, From: p.x.Function, ID: id, Sub: p.x.Sub}
	// From the limit on, the key is that of the allocation in the callee. Different calls then
	// share the object.
	if info.Depth >= maxCalls { // whatever one place makes is one object from here on
		key = value.ObjectKey{Instruction: p.x.Instruction, From: info.Allocated.Function,
			ID: value.ObjectID(-1 - info.Allocated.Instruction), Sub: info.Allocated.Sub}
	}
	ids := []value.ObjectID{p.a.ObjectOf(key, value.ObjectInfo{Type: info.Type, Kind: info.Kind,
		Function: info.Function, Complete: info.Complete, Collector: info.Collector,
		KeepsIn: info.KeepsIn, NoPrototype: info.NoPrototype, HasAccessors: info.HasAccessors,
		Promisified: info.Promisified,
		Allocated:   info.Allocated, Depth: info.Depth + 1})}
	p.objs[id] = ids
	return ids
}

// translateValue returns the caller's value for one of the callee.
func (p *application) translateValue(v *value.Value) *value.Value {
	if v == nil {
		return nil
	}
	if w, ok := p.values[v]; ok {
		return w
	}
	w := p.newTranslation(v)
	p.values[v] = w
	return w
}

// newTranslation translates a value of a summary to the caller. A value that is an input of
// the callee as it was given is the caller's own one, with its constant and its objects.
// The condition makes identity functions transparent: f(x) returns x with its constant and its
// type.
func (p *application) newTranslation(v *value.Value) *value.Value {
	if at := p.passedInput(v); at != nil {
		if w := p.resolveOrigin(at); w != nil {
			// The trace gets the step of the call, with the inner trace below it.
			return w.WithTaint(w.Taint.Through(taintset.NextStep{Function: p.a.Function, Node: p.x.Node,
				Inner: v.Taint[0].Trace})).WithAPI(v.API)
		}
	}
	w := &value.Value{Constant: v.Constant, API: v.API, Prefix: v.Prefix, Kind: v.Kind,
		Taint: p.translateTaint(v.Taint)}
	for _, id := range v.Objects {
		w.Objects = value.JoinObjects(w.Objects, p.translateObjects(id))
	}
	return w
}

// passedInput returns the input that the value is, nil when it is anything else.
func (p *application) passedInput(v *value.Value) *taintset.Origin {
	// A value with a constant, with more than one origin or with sanitized bits differs from the
	// input and is translated piece by piece.
	if len(v.Objects) != 1 || len(v.Taint) != 1 || v.IsKnown() || v.Taint[0].Clean != 0 {
		return nil
	}
	at := v.Taint[0].Origin
	if at.Source != nil || at.Deep || at.Picked || p.sum.Objects[v.Objects[0]].Input != at {
		return nil
	}
	return at
}

// translateTaint returns the caller's taint for one of the callee.
func (p *application) translateTaint(t taintset.Set) taintset.Set {
	if len(t) == 0 {
		return nil
	}
	// The loop fills the cache first. originTaint uses the same scratch memory, so it must not run
	// while the set is being built.
	for _, e := range t {
		if e.Origin.Source == nil {
			p.originTaint(e.Origin) // before the mix is begun, which another call may need
		}
	}
	m := &p.a.Scratch.Arriving
	m.Reset()
	for i := range t {
		e := &t[i]
		// A source inside of the callee stays one. Data of an input is that of the argument,
		// and is harmless for what either side has made it harmless for.
		w := taintset.NextStep{Function: p.a.Function, Node: p.x.Node, Inner: e.Trace}
		if e.Origin.Source != nil {
			m.Add(taintset.Set{{Origin: e.Origin, Clean: e.Clean}}, 0, w)
		} else {
			m.Add(p.originTaint(e.Origin), e.Clean, w)
		}
	}
	return m.Set()
}

// originTaint returns the taint of what an atom of the callee is.
func (p *application) originTaint(at *taintset.Origin) taintset.Set {
	if t, ok := p.taints[at]; ok {
		return t
	}
	var t taintset.Set
	if v := p.resolveOrigin(at); v != nil {
		if at.Deep {
			t = p.a.DeepTaint(p.st, v)
		} else {
			t = p.a.WholeValue(p.st, v).Taint
		}
	}
	if at.Picked {
		t = p.a.Run.PickedBy(t)
	}
	p.taints[at] = t
	// What was picked by an attacker's key is itself under control, as far as the kinds of
	// PickedBy go.
	return t
}

// applyEffects writes what the callee left in objects into the caller's heap. Whatever
// is read for it is read before anything is written.
func (p *application) applyEffects() {
	// ids are the caller's objects, o is the translated content, in reports that the object came
	// from the caller.
	type write struct {
		ids []value.ObjectID
		o   *value.Object
		in  bool
	}
	var writes []write
	// A nil object was not touched by the callee or not kept in its summary.
	for id, o := range p.sum.Heap {
		if o == nil {
			continue
		}
		c := &value.Object{Elements: p.translateValue(o.Elements), Keys: p.translateValue(o.Keys),
			Self: p.translateTaint(o.Self), Text: p.translateValue(o.Text), Size: o.Size, Weak: o.Weak}
		for _, f := range o.Fields {
			c.Fields = append(c.Fields, value.Field{Name: f.Name, Value: p.translateValue(f.Value)})
		}
		writes = append(writes, write{p.translateObjects(value.ObjectID(id)), c, p.sum.Objects[id].Input != nil})
	}
	for _, w := range writes {
		for _, id := range w.ids {
			// Parts of an input are replaced where it is one object of the caller's for sure;
			// otherwise each may have the old part or the new one.
			if w.in {
				p.a.updateObject(p.st, id, w.o, len(w.ids) == 1)
				continue
			}
			// An object that the call made before, in a loop, stands for several from now on.
			o := w.o
			if old := p.st.Object(id); old != nil {
				// JoinObjects respects kinds: two lists are joined by position while both are
				// exact.
				o = p.a.JoinObjects(&p.a.Objects[id], old, o).Clone()
				o.Weak = true
			}
			p.st.Put(id, o)
		}
	}
}

// updateObject writes what a call left in an input into one of the caller's objects.
// The write is strong only for one object that stands for one instance. Otherwise old and new
// parts are joined.
func (a *analysis) updateObject(st *frame.State, id value.ObjectID, w *value.Object, strong bool) {
	o := st.Object(id).Clone() // states share objects until one is written
	for _, f := range w.Fields {
		if f.Value != nil {
			a.SetPart(id, o, f.Name, f.Value, strong && !w.Weak)
		}
	}
	// An element under a key that is not known may be at any of the known ones, but for
	// the parts with "#", which no program can name.
	// Such parts are the listeners and captured variables, which are kept under reserved names.
	if w.Elements != nil {
		for i := range o.Fields {
			f := &o.Fields[i]
			if _, set := w.Get(f.Name); !set && !strings.HasPrefix(f.Name, "#") {
				f.Value = value.Join(f.Value, w.Elements)
			}
		}
		o.Elements = value.Join(o.Elements, w.Elements)
	}
	o.Keys = value.Join(o.Keys, w.Keys)
	o.Self = o.Self.Union(w.Self)
	switch {
	case w.Text == nil:
	case strong && !o.Weak:
		o.Text = w.Text
	default:
		o.Text = value.Join(o.Text, w.Text)
	}
	// After a write at an unknown position the positions of the list are no longer exact.
	if w.Elements != nil {
		o.ForgetPositions()
	}
	st.Put(id, o)
}

// applyApprovals makes the arguments harmless that the callee approved of by returning.
// The other two outcomes, WhenTrue and WhenFalse, are applied by guards at the branch that
// tests the result.
func (p *application) applyApprovals() {
	for _, ok := range p.sum.Approvals[summary.WhenReturned] {
		p.a.ApproveArgument(p.st, p.x, ok)
	}
}

// applySinks brings the sinks of the called function to the caller: with what the
// caller gave. What is decided already stays with the callee.
func (p *application) applySinks() {
	// The list is needed for the costs of the caller and for reports of what was reached.
	if !slices.Contains(p.a.children, p.sum) {
		p.a.children = append(p.a.children, p.sum)
	}
	for _, s := range p.sum.Pending {
		// Sinks that only globals or sources reach were decided in the callee. Only what arrives
		// through parameters can still change.
		isInput := func(e *taintset.Element) bool {
			return e.Origin.Source == nil && e.Origin.In.Kind != taintset.Global
		}
		inputs := s.Taint.Filter(isInput)
		if len(inputs) == 0 {
			continue
		}
		// A sink with several inputs that must be tainted together needs all of them.
		if p.a.Run.JudgesTogether(s.SinkKey) {
			inputs = s.Taint // what arrives is judged together
		}
		p.a.NoteSink(s.SinkKey, s.Harmless, p.translateTaint(inputs))
	}
}

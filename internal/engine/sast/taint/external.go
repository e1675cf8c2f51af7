package taint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/tree"
)

// This file interprets calls of libraries by their models.

// A modelCall is a call that is interpreted by models.
type modelCall struct {
	*callSite
	result    *value
	callbacks map[int]*callback // by argument; -1 is the receiver
	held      []*heldCallback   // of parts of arguments
}

// modelled interprets the call by what the models compute and summarize. It
// reports whether they know the call.
func (c *callSite) modelled(certain bool) (*value, bool) {
	m := &modelCall{callSite: c, callbacks: map[int]*callback{}}
	known := false
	if !certain {
		known = m.operations() || m.summaries()
	}
	m.fromLibrary()
	m.call()
	if known {
		m.again()
		m.returned()
	}
	return m.result, known
}

// operations computes the call when a model says how.
func (m *modelCall) operations() bool {
	for _, e := range m.matches(model.Operations) {
		if m.holds(e.If) {
			if v, ok := m.operation(e.Kind); ok {
				m.result = join(m.result, v)
				return true
			}
		}
	}
	return false
}

// summaries moves what the summaries say.
func (m *modelCall) summaries() bool {
	known := false
	for _, e := range m.matches(model.Summaries) {
		if !m.holds(e.If) {
			continue
		}
		known = true
		for _, f := range e.Flows {
			switch {
			case takesFormal(f.From):
				m.collect(f.From)
			case !hasStep(f.From, model.Result):
				m.move(m.values(f.From), f.To)
			case f.From.Base == model.This:
				m.callback(-1) // a function that is called without arguments
			}
		}
	}
	if known && m.call_().Kind == ir.CallNew {
		m.result = m.a.whole(m.st, m.recv)
	} else if known && m.result == nil {
		m.result = unknown
	}
	return known
}

// returned moves what callbacks returned.
func (m *modelCall) returned() {
	for _, e := range m.matches(model.Summaries) {
		if !m.holds(e.If) {
			continue
		}
		for _, f := range e.Flows {
			if hasStep(f.From, model.Result) || takesFormal(f.From) {
				m.move(m.values(f.From), f.To)
			}
		}
	}
}

// again calls the callbacks once more that are given what they returned.
func (m *modelCall) again() {
	for _, e := range m.matches(model.Summaries) {
		if !m.holds(e.If) {
			continue
		}
		for _, f := range e.Flows {
			if !hasStep(f.From, model.Result) || f.To.Base != model.Argument || len(f.To.Steps) != 1 ||
				f.To.Steps[0].Kind != model.Formal {
				continue
			}
			for _, i := range m.positions(f.To) {
				m.feed(m.callback(i), f, i)
			}
		}
	}
}

// feed calls a callback with what the flow brings to one of its parameters.
func (m *modelCall) feed(cb *callback, f model.Flow, arg int) {
	k := f.To.Steps[0].Index
	if !cb.called || k < 0 || k >= maxFormals {
		return
	}
	v := cb.params[k]
	for _, from := range m.values(f.From) {
		v = join(v, from)
	}
	if v.same(cb.params[k]) {
		return
	}
	cb.params[k] = v
	m.callWith(cb, arg)
}

func hasStep(p model.Place, kind model.StepKind) bool {
	return slices.ContainsFunc(p.Steps, func(s model.Step) bool { return s.Kind == kind })
}

// takesFormal reports whether the place is what a callback passes to a function
// that it is given: "arg0(0)(0)".
func takesFormal(p model.Place) bool {
	n := 0
	for _, s := range p.Steps {
		if s.Kind == model.Formal {
			n++
		}
	}
	return n > 1
}

// fromLibrary adds what the library passes to callbacks by itself: sources and
// typed objects.
func (m *modelCall) fromLibrary() {
	for _, e := range m.matches(model.Sources) {
		for _, p := range e.Places {
			if hasStep(p, model.Formal) && m.holds(e.If) {
				m.move([]*value{m.a.run.sourceValue(m.a, e, m.in.Node)}, p)
			}
		}
	}
	for _, e := range m.matches(model.Types) {
		for _, p := range e.Places {
			if hasStep(p, model.Formal) && m.holds(e.If) {
				m.move([]*value{{api: e.Type}}, p)
			}
		}
	}
}

// positions returns the indexes of the arguments that a place means.
func (c *callSite) positions(p model.Place) []int {
	var list []int
	pos := 0
	for i, arg := range c.args {
		named := arg.name != ""
		switch {
		case p.Index == model.Any:
			list = append(list, i)
		case named && p.Name != "" && (arg.name == p.Name || arg.name == "**"):
			list = append(list, i)
		case named || p.Index == model.Only:
		case pos == p.Index, p.Rest && pos >= p.Index, arg.many && pos <= p.Index:
			list = append(list, i)
		}
		if !named {
			pos++
		}
	}
	return list
}

// values returns what is at a place.
func (m *modelCall) values(p model.Place) []*value {
	switch p.Base {
	case model.This:
		if m.recv == nil {
			return nil
		}
		return []*value{m.walk(m.recv, -1, p.Steps)}
	case model.Return:
		return []*value{m.walk(orUnknown(m.result), -1, p.Steps)}
	case model.Argument:
		var list []*value
		for _, i := range m.positions(p) {
			list = append(list, m.walk(m.args[i].v, i, p.Steps))
		}
		return list
	}
	return nil
}

// walk follows the steps from a value.
func (m *modelCall) walk(v *value, arg int, steps []model.Step) *value {
	formal := -1
	for _, s := range steps {
		switch s.Kind {
		case model.Result:
			if formal < 0 {
				v = orUnknown(m.callback(arg).result)
			}
		case model.Formal:
			if formal >= 0 {
				return m.a.load(m.st, m.collector(arg, formal), anyKey)
			}
			formal = s.Index
		default:
			v = m.step(v, s)
		}
	}
	return m.a.whole(m.st, v)
}

// step reads one part of a value.
func (m *modelCall) step(v *value, s model.Step) *value {
	switch s.Kind {
	case model.Field:
		return m.a.load(m.st, v, s.Name)
	case model.Elements, model.Append:
		return m.a.load(m.st, v, anyKey)
	case model.Keys:
		return m.a.keysOf(m.st, v)
	case model.KeyOf:
		return m.a.load(m.st, v, m.keyName(s.Index))
	case model.Deep:
		return v.with(m.a.deep(m.st, v))
	}
	return v
}

// keyName returns the part that an argument is the key of.
func (c *callSite) keyName(arg int) string {
	if arg >= len(c.args) {
		return anyKey
	}
	name, _ := c.a.keyOf(c.args[arg].v)
	return name
}

// collect gives the callbacks of a place a function that keeps what they pass to it.
func (m *modelCall) collect(p model.Place) {
	k := p.Steps[slices.IndexFunc(p.Steps, func(s model.Step) bool { return s.Kind == model.Formal })].Index
	if p.Base != model.Argument || k < 0 || k >= maxFormals {
		return
	}
	for _, i := range m.positions(p) {
		m.callback(i).params[k] = m.collector(i, k)
	}
}

// collector returns the function that keeps what a callback passes to it, which was
// given it as one of its parameters.
func (m *modelCall) collector(arg, formal int) *value {
	info := objInfo{kind: kindFunction, own: true, take: true}
	return &value{objs: []objID{m.a.key(objKey{instr: m.i, sub: int32(5000 + (arg+1)*maxFormals + formal)}, info)}}
}

// move brings values to a place.
func (m *modelCall) move(list []*value, to model.Place) {
	for _, v := range list {
		if v == nil {
			continue
		}
		v = v.with(v.taint.at(m.a.fn, m.in.Node))
		switch to.Base {
		case model.This:
			m.put(m.recv, -1, to, v)
		case model.Return:
			m.toResult(to, v)
		case model.Argument:
			for _, i := range m.positions(to) {
				m.put(m.args[i].v, i, to, v)
			}
		}
	}
}

// toResult brings a value to the result, or a part of it.
func (m *modelCall) toResult(to model.Place, v *value) {
	if len(to.Steps) == 0 {
		if m.result == unknown {
			m.result = nil
		}
		m.result = join(m.result, v)
		return
	}
	if m.result == nil || len(m.result.objs) == 0 {
		taint := orUnknown(m.result).taint
		m.result = m.newResult(kindObject).with(taint)
	}
	m.put(m.result, -1, to, v)
}

// newResult makes the object that the call returns.
func (m *modelCall) newResult(kind valueKind) *value {
	o := &object{size: unsized}
	if kind == kindList {
		o.size = 0
	}
	return m.a.make(m.st, m.i, 1, objInfo{kind: kind, own: true}, o)
}

// put brings a value to a part of another.
func (m *modelCall) put(base *value, arg int, to model.Place, v *value) {
	if base == nil {
		return
	}
	for k, s := range to.Steps {
		last := k == len(to.Steps)-1
		switch {
		case s.Kind == model.Formal && arg >= 0 && k > 0:
			m.toHeld(base, fmt.Sprint(arg, to.Steps[:k]), s.Index, v)
			return
		case s.Kind == model.Formal && arg >= -1:
			m.toFormal(arg, s.Index, to.Steps[k+1:], v)
			return
		case !last && s.Kind == model.Append:
			return
		case !last:
			next := m.step(base, s)
			if len(next.objs) == 0 {
				next = m.a.make(m.st, m.i, int32(10+k), objInfo{kind: kindObject, own: true}, &object{size: unsized})
				m.store(base, s, next)
			}
			base = next
		default:
			m.store(base, s, v)
			return
		}
	}
	m.into(base, arg, v)
}

// into makes a whole object tainted, and the variable that holds a plain value.
func (m *modelCall) into(base *value, arg int, v *value) {
	t := m.a.deep(m.st, v)
	m.a.taintObject(m.st, base, t)
	from := m.call_().Receiver
	if arg >= 0 {
		from = m.args[arg].from
	}
	if from >= 0 && len(t) > 0 {
		m.a.refine(m.st, from, func(x *value) *value { return x.with(x.taint.union(t)) })
	}
}

func (m *modelCall) call_() *ir.Call { return m.callSite.call }

// store writes the last step of a place.
func (m *modelCall) store(base *value, s model.Step, v *value) {
	switch s.Kind {
	case model.Field:
		m.a.store(m.st, base, s.Name, v)
	case model.Elements:
		m.a.store(m.st, base, anyKey, v)
	case model.Append:
		m.a.push(m.st, base, v)
	case model.KeyOf:
		m.a.store(m.st, base, m.keyName(s.Index), v)
	case model.Keys:
		m.a.storeKey(m.st, base, v)
	case model.Deep:
		m.a.taintObject(m.st, base, m.a.deep(m.st, v))
	}
}

// toFormal passes a value to a parameter of a callback.
func (m *modelCall) toFormal(arg, formal int, rest []model.Step, v *value) {
	cb := m.callback(arg)
	if len(rest) > 0 { // a part of the parameter
		if rest[0].Kind == model.Formal || rest[0].Kind == model.Result {
			return
		}
		info := objInfo{kind: kindObject}
		base := m.a.make(m.st, m.i, int32(7000+(arg+1)*maxFormals+formal+1), info, &object{size: unsized})
		m.put(base, -2, model.Place{Steps: rest}, v)
		v = base
	}
	switch {
	case formal == model.Any:
		cb.any = merged(cb.any, v)
	case formal < maxFormals:
		cb.params[formal] = merged(cb.params[formal], v)
	}
}

// merged joins what a library passes, where one says the value and the other its
// type.
func merged(a, b *value) *value {
	v := join(a, b)
	if a != nil && b != nil && v.api == "" {
		v = v.typed(a.api).typed(b.api)
	}
	return v
}

// external interprets a call of which no model knows more: everything that goes in
// may come out.
func (c *callSite) external() *value {
	a := c.a
	if v := c.generated(); v != nil {
		return v
	}
	var t taint
	statement := c.statement()
	for i, arg := range c.args {
		if c.call.Kind == ir.CallNew && c.keepsField(i) {
			continue
		}
		if statement {
			break
		}
		t = t.union(a.deep(c.st, arg.v))
		for _, id := range arg.v.objs {
			if a.objects[id].fn == nil && a.objects[id].atom != nil {
				a.needFunction(arg.v)
			}
		}
	}
	if c.fun != nil && a.taken(c.fun) {
		for _, arg := range c.args {
			a.keep(c.st, c.fun, arg.v.with(arg.v.taint.at(a.fn, c.in.Node)))
		}
	}
	from := t
	if owner, ok := strings.CutSuffix(c.call.Qualified, ".valueOf"); ok {
		if class := a.run.program.Class(owner); class != nil && class.Kind == "enum" {
			t = nil // one of the program's own values
		}
	}
	if c.recv != nil && c.call.Kind != ir.CallNew {
		t = t.union(a.deep(c.st, c.recv))
	}
	if c.fun != nil && c.call.Kind != ir.CallNew {
		t = t.union(a.derived(c.fun))
		a.need(c.fun)
	}
	t = t.cleaned(a.run.safeCalls | a.run.assignOnly)
	if c.call.Kind == ir.CallNew {
		t = t.cleaned(c.inheritedCleaning())
		a.taintObject(c.st, c.recv, t.at(a.fn, c.in.Node))
		if name := a.fn.File.Lang.Meaning.AfterFields; name != "" {
			a.runHook(c.st, c.i, c.recv, hook{name: name, sub: subRun})
		}
		return c.recv.with(t.at(a.fn, c.in.Node))
	}
	if c.recv != nil && len(from) > 0 && !a.run.plain && changes(c.call.Name) && !a.global(c.recv) {
		a.taintObject(c.st, c.recv, from.at(a.fn, c.in.Node))
	}
	if c.call.Kind == ir.CallSuper || c.call.Kind == ir.CallSelf {
		a.taintObject(c.st, c.recv, from.at(a.fn, c.in.Node))
	}
	v := a.make(c.st, c.i, 1, objInfo{kind: kindAny}, &object{size: unsized})
	return v.with(t.at(a.fn, c.in.Node))
}

// inheritedCleaning returns the kinds for which a New of a class of the program makes data
// harmless, because a class above it does: a member of an enumeration is one of the
// program's own values.
func (c *callSite) inheritedCleaning() uint64 {
	bits := uint64(0)
	for _, t := range c.a.run.types(c.a.fn, c.recv.api) {
		for _, e := range c.a.run.set(c.a.fn).Match(t)[model.Sanitizers] {
			if e.Form == model.Call && isReturn(e.Places) {
				bits |= c.a.run.kindBits(e.Kind)
			}
		}
	}
	return bits
}

// keepsField gives an argument of a New to the field that takes it, where the program
// declares a class of fields without a constructor: a data class, a named tuple, a model of
// a library that makes one. It reports false when the object as a whole takes it.
func (c *callSite) keepsField(i int) bool {
	class := c.a.run.program.Class(c.recv.api)
	if class == nil || !class.File.Lang.Meaning.SelfParameter && class.Kind != "record" || c.args[i].many {
		return false
	}
	name := c.args[i].name
	if typed, all := c.a.run.declaredFields(c.a.fn, class); name == "" && i < len(typed) {
		name = typed[i]
	} else if name == "" || !slices.Contains(all, name) {
		return false
	}
	c.a.store(c.st, c.recv, name, c.args[i].v)
	return true
}

// generated interprets a method that a class of the program has but its source does not
// show: the accessor of a record's component, and what a tool makes of fields, getName and
// setName. It is nil for any other.
func (c *callSite) generated() *value {
	name := c.call.Name
	if c.recv == nil || c.call.Kind != ir.CallMethod || len(c.args) > 1 || name == "" ||
		c.a.fn.File.Lang.Meaning.SelfParameter {
		return nil
	}
	class := c.a.run.program.Class(c.recv.api)
	if class == nil && len(c.recv.objs) == 1 {
		class = c.a.run.program.Class(c.a.objects[c.recv.objs[0]].typ)
	}
	if class == nil {
		return nil
	}
	_, fields := c.a.run.declaredFields(c.a.fn, class)
	if len(c.args) == 0 {
		for _, prefix := range []string{"get", "is"} {
			if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
				name = strings.ToLower(rest[:1]) + rest[1:]
			}
		}
		if !slices.Contains(fields, name) || class.Kind != "record" && name == c.call.Name {
			return nil
		}
		return c.a.load(c.st, c.recv, name)
	}
	rest, ok := strings.CutPrefix(name, "set")
	if !ok || rest == "" || !slices.Contains(fields, strings.ToLower(rest[:1])+rest[1:]) {
		return nil
	}
	c.a.store(c.st, c.recv, strings.ToLower(rest[:1])+rest[1:], c.args[0].v)
	return c.recv
}

// declaredFields returns the names that the body of a class and those of its bases assign
// or declare, the bases' first: those with a type, and all.
func (r *run) declaredFields(fn *ir.Function, class *ir.Class) (typed, all []string) {
	for _, name := range slices.Backward(r.types(fn, class.Qualified)) {
		k := r.program.Class(name)
		if k == nil {
			continue
		}
		t := k.File.Tree
		for p := range t.All(k.Node, tree.RoleParameter) { // components of a record
			if target := t.Child(p, tree.RoleTarget); t.Is(target, tree.Name) {
				typed, all = append(typed, t.Text(target)), append(all, t.Text(target))
			}
		}
		for i := k.Node + 1; i < t.Nodes[k.Node].Next; i++ {
			if t.Is(i, tree.Function) || t.Is(i, tree.Class) || t.Is(i, tree.Lambda) {
				i = t.Nodes[i].Next - 1
				continue
			}
			target := t.Child(i, tree.RoleTarget)
			if !t.Is(i, tree.Variable) && !t.Is(i, tree.Assign) && !t.Is(i, tree.Field) || !t.Is(target, tree.Name) {
				continue
			}
			name := t.Text(target)
			if t.Child(i, tree.RoleType) >= 0 && !slices.Contains(typed, name) {
				typed = append(typed, name)
			}
			all = append(all, name)
		}
	}
	return typed, all
}

// needFunction notes that an input might be a function that a library calls.
func (a *analysis) needFunction(v *value) {
	if len(v.objs) == 1 && len(v.taint) <= 1 {
		a.need(v)
	}
}

// placeholder matches a statement of SQL, or a part of one, whose values stand beside it.
var placeholder = regexp.MustCompile(`(?is)^\s*(select|insert|update|delete|with)\s.*\s(from|into|set|select)\s|(=|<|>|\slike|\sin)\s*\(?\s*(\?|\$\d|:[a-z_])`)

// statement reports whether a call asks a database with a constant statement: what
// comes back is what the database holds, not the values that choose the rows.
func (c *callSite) statement() bool {
	return len(c.args) > 1 && slices.ContainsFunc(c.args, func(arg argument) bool {
		return arg.v.known() && placeholder.MatchString(arg.v.c.String())
	})
}

// global reports whether a value is a global, or a part of one: a client of a database,
// a cache. What one request gives to it is not what every other request gets from it.
func (a *analysis) global(v *value) bool {
	for _, id := range v.objs {
		if at := a.objects[id].atom; at == nil || at.in.kind != inGlobal {
			return false
		}
	}
	return len(v.objs) > 0
}

// setters are the first words of names of methods that take what they are given
// into their receiver.
var setters = []string{"set", "add", "append", "put", "push", "write", "insert", "with", "update", "load", "init",
	"store"}

// changes reports whether a method takes its arguments into its receiver, by its
// name.
func changes(name string) bool {
	low := strings.ToLower(name)
	return slices.ContainsFunc(setters, func(s string) bool { return strings.HasPrefix(low, s) })
}

// finish gives the result of a call its type, and what sources and sanitizers say.
func (c *callSite) finish(v *value) *value {
	a := c.a
	typ := ""
	for _, e := range c.matches(model.Types) {
		if e.Type != "" && c.holds(e.If) && isReturn(e.Places) {
			typ = e.Type
			break
		}
	}
	switch {
	case typ != "" && (v.api == "" || !a.isProgramType(v.api)):
		w := *v
		w.api = typ
		v = &w
	case v.api == "":
		v = v.typed(c.resultType())
	}
	for _, e := range c.matches(model.Sanitizers) {
		if e.Form == model.Call && c.holds(e.If) {
			v = c.sanitize(e, v)
		}
	}
	for _, e := range c.matches(model.Sources) {
		if c.holds(e.If) {
			v = c.source(e, v)
		}
	}
	if a.run.plain && primitive[v.api] {
		v = v.with(v.taint.cleaned(a.run.safePrimitives))
	}
	if v.api != "" && a.run.harmless(v.api) && len(v.taint) > 0 {
		v = &value{c: v.c, kind: v.kind, api: v.api}
	}
	return v
}

func isReturn(places []model.Place) bool {
	return len(places) > 0 && places[0].Base == model.Return && len(places[0].Steps) == 0
}

// resultType names what a call returns for the models.
func (c *callSite) resultType() string {
	if t := c.a.staticType(c.in.Node); t != "" {
		return t
	}
	if len(c.names.list) == 0 || c.names.list[0] == "" {
		return ""
	}
	name := strings.TrimSuffix(c.names.list[0], ".new")
	last := model.Last(name)
	if last != "" && last[0] >= 'A' && last[0] <= 'Z' && strings.Contains(name, ".") || c.call.Kind == ir.CallNew {
		return name
	}
	if strings.Count(name, "()") >= 3 {
		return ""
	}
	return name + "()"
}

// sanitize makes the place that a sanitizer speaks of harmless.
func (c *callSite) sanitize(e *model.Entry, v *value) *value {
	bits := c.a.run.kindBits(e.Kind)
	for _, p := range e.Places {
		switch p.Base {
		case model.Return:
			w := *c.a.approved(c.st, v, bits)
			if bits == allKinds {
				w.taint = nil
			}
			v = &w
		case model.This:
			c.a.clean(c.st, c.call.Receiver, bits)
		case model.Argument:
			for _, i := range c.positions(p) {
				c.a.clean(c.st, c.args[i].from, bits)
			}
		}
	}
	return v
}

// source adds what a source says to the result, or to what the call fills.
func (c *callSite) source(e *model.Entry, v *value) *value {
	for _, p := range e.Places {
		if hasStep(p, model.Formal) || p.Base == model.Parameter {
			continue
		}
		s := c.a.run.sourceValue(c.a, e, c.in.Node)
		if p.Base == model.Return && len(p.Steps) == 0 {
			w := v.with(v.taint.union(s.taint))
			if c.a.fn != nil {
				c.a.taintObject(c.st, v, s.taint)
			}
			v = &value{objs: w.objs, taint: w.taint, api: w.api, kind: w.kind}
			continue
		}
		m := &modelCall{callSite: c, result: v, callbacks: map[int]*callback{}}
		m.move([]*value{s}, p)
		v = orUnknown(m.result)
	}
	return v
}

// variables returns the variables at a place, for guards.
func (c *callSite) variables(p model.Place) []ir.Var {
	switch p.Base {
	case model.This:
		return []ir.Var{c.call.Receiver}
	case model.Argument:
		var list []ir.Var
		for _, i := range c.positions(p) {
			list = append(list, c.args[i].from)
		}
		return list
	}
	return nil
}

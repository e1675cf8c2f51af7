package taint

import (
	"slices"
	"strconv"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
)

// A callSite is a call that is interpreted, with what is known of its parts.
type callSite struct {
	a     *analysis
	st    *state
	i     int32
	in    *ir.Instr
	call  *ir.Call
	args  []argument
	recv  *value
	fun   *value     // the function value that is called, nil for a method
	names *callNames // by which models may know it
}

// An argument is one argument of a call. After a spread one, positions are not
// known.
type argument struct {
	v    *value
	name string
	from ir.Var
	node int32
	many bool // stands for any number of arguments
}

// callSite gathers the parts of a call.
func (a *analysis) callSite(st *state, i int32) *callSite {
	in := &a.fn.Code[i]
	c := &callSite{a: a, st: st, i: i, in: in, call: a.fn.Call(in)}
	for _, arg := range a.fn.Args(c.call) {
		v := a.read(st, arg.Value)
		switch arg.Rest {
		case ir.Positional:
			if list, ok := a.soleObject(st, v).list(); ok {
				for _, e := range list {
					c.args = append(c.args, argument{v: orUnknown(e), from: ir.NoVar, node: arg.Node})
				}
				continue
			}
			c.args = append(c.args, argument{v: a.load(st, v, anyKey), from: ir.NoVar, node: arg.Node, many: true})
		case ir.Keywords:
			c.spreadKeywords(v, arg)
		default:
			c.args = append(c.args, argument{v: v, name: arg.Name, from: arg.Value, node: arg.Node})
		}
	}
	if c.call.Receiver != ir.NoVar {
		c.recv = a.read(st, c.call.Receiver)
	}
	if c.call.Callee != ir.NoVar {
		c.fun = a.read(st, c.call.Callee)
	}
	c.names = a.names(c)
	return c
}

// spreadKeywords adds the pairs of a map as named arguments.
func (c *callSite) spreadKeywords(v *value, arg ir.Arg) {
	if o := c.a.soleObject(c.st, v); o != nil {
		for _, f := range o.fields {
			c.args = append(c.args, argument{v: orUnknown(f.val), name: f.name, from: ir.NoVar, node: arg.Node})
		}
		if o.elems == nil {
			return
		}
	}
	c.args = append(c.args, argument{v: c.a.load(c.st, v, anyKey), name: "**", from: ir.NoVar, node: arg.Node,
		many: true})
}

// matches returns the entries of a section for the call, whose conditions hold.
func (c *callSite) matches(s model.Section) []*model.Entry {
	return c.entries(s, model.Call)
}

func (c *callSite) entries(s model.Section, form model.Form) []*model.Entry {
	var list []*model.Entry
	for _, m := range c.names.matches {
		for _, e := range m[s] {
			if e.Form == form {
				list = append(list, e)
			}
		}
	}
	return list
}

// invoke interprets a call. It returns false when the program does not come back.
func (a *analysis) invoke(st *state, i int32, b *ir.Block) bool {
	c := a.callSite(st, i)
	if c.call.Kind == ir.CallMarkup && !a.run.plain {
		if v := c.markup(); c.in.Dst != ir.NoVar {
			a.assign(st, c.in.Dst, v)
		}
		return true
	}
	for _, e := range c.matches(model.Exits) {
		if c.holds(e.If) {
			if a.noting {
				c.sinks()
			}
			return false
		}
	}
	targets, certain := c.targets()
	if a.run.local {
		targets = slices.DeleteFunc(targets, func(t target) bool { return t.fn.Parent != a.fn })
	}
	result, modelled := c.modelled(certain)
	if v, ok := c.made(); ok {
		result, modelled = join(result, v), true
	}
	if a.noting {
		c.sinks()
	}
	c.settle(targets)
	returns := true
	switch {
	case len(targets) > 0 && !(modelled && !certain):
		var thrown, v *value
		v, thrown, returns = c.applyAll(targets)
		if b.Except != ir.NoBlock && thrown != nil {
			a.except[b.Except] = join(a.except[b.Except], thrown)
		}
		if a.noting && b.Except == ir.NoBlock && thrown != nil {
			a.throws(st, thrown)
		}
		result = join(result, v)
	case !modelled:
		result = join(result, c.external())
	}
	if !returns && b.Except == ir.NoBlock {
		return false
	}
	if !returns {
		result = unknown
	}
	result = c.finish(orUnknown(result))
	if c.in.Dst != ir.NoVar {
		a.assign(st, c.in.Dst, result)
	}
	return true
}

// A target is a function that a call may mean.
type target struct {
	fn   *ir.Function
	fun  *value // the function value, nil for a method
	this *value
}

// targets returns the functions of the program that the call may mean. They are
// certain when the values say so, and not only the types.
func (c *callSite) targets() (list []target, certain bool) {
	if c.call.Kind == ir.CallNew {
		return c.constructors()
	}
	if c.fun != nil {
		if list := c.functions(c.fun, c.recv); len(list) > 0 {
			return list, true
		}
	}
	if c.call.Direct >= 0 {
		return []target{{fn: c.a.fn.File.Functions[c.call.Direct], this: c.recv}}, true
	}
	if c.recv != nil && c.call.Kind == ir.CallMethod {
		if list := c.functions(c.a.load(c.st, c.recv, c.call.Name), c.recv); len(list) > 0 {
			return list, true
		}
		if list := c.methods(); len(list) > 0 {
			return list, true
		}
	}
	for _, fn := range c.a.run.program.Targets(c.a.fn, c.call) {
		list = append(list, target{fn: fn, this: c.recv})
	}
	if len(list) > 1 && c.recv != nil {
		c.a.need(c.recv)
	}
	if c.fun != nil && (len(list) == 0 || slices.ContainsFunc(list, sharing)) {
		c.a.need(c.fun) // only who made the function value knows what it shares
	}
	return list, c.call.Kind != ir.CallMethod && len(list) > 0
}

// sharing reports whether the function of a target shares variables with the one around it.
func sharing(t target) bool { return len(t.fn.Captures) > 0 }

// functions returns the functions that a function value may be.
func (c *callSite) functions(f, this *value) []target {
	var list []target
	for _, id := range f.objs {
		info := &c.a.objects[id]
		if info.fn != nil {
			t := target{fn: info.fn, fun: &value{objs: []objID{id}}, this: this}
			if this == nil && expects(info.fn) {
				t.this = c.a.receiverOf(c.st, id)
			}
			list = append(list, t)
			c.a.applied[id] = true
		}
	}
	if on := c.a.fn.File.Lang.Meaning.OnCall; on != "" && len(list) == 0 {
		for _, id := range f.objs {
			if fn := c.a.hooked(f, id, hook{name: on}); fn != nil {
				list = append(list, target{fn: fn, this: &value{objs: []objID{id}, api: f.api}})
			}
		}
	}
	if len(list) == 0 && f.api != "" {
		if fn := c.a.run.function(f.api); fn != nil {
			list = append(list, target{fn: fn, this: this})
		}
	}
	return list
}

// methods returns the methods that the classes of the receiver have.
func (c *callSite) methods() []target {
	var list []target
	for _, id := range c.recv.objs {
		typ := c.a.objects[id].typ
		if typ == "" {
			if c.recv.api == "" || c.a.objects[id].atom == nil || c.a.objects[id].atom.in.kind == inThis {
				return nil
			}
			return nil
		}
		fn := c.a.run.method(typ, c.call.Name, len(c.args))
		if fn == nil {
			return nil
		}
		list = append(list, target{fn: fn, this: &value{objs: []objID{id}, taint: c.recv.taint, api: c.recv.api}})
	}
	return list
}

// constructors returns the constructors of the class of a New.
func (c *callSite) constructors() ([]target, bool) {
	a := c.a
	name := c.call.Qualified
	if c.fun != nil && c.fun.api != "" && a.run.program.Class(c.fun.api) != nil {
		name = c.fun.api
	}
	class := a.run.program.Class(name)
	own := class != nil
	id := a.make(c.st, c.i, 0, objInfo{kind: kindObject, own: own, typ: c.classOf(name, own)}, &object{size: unsized})
	id.api = name
	c.recv = id
	if c.fun != nil && !own {
		a.inherit(c.st, id, c.fun)
		if list := c.functions(c.fun, id); len(list) > 0 {
			return list, true
		}
	}
	var list []target
	for _, fn := range a.run.program.Targets(a.fn, c.call) {
		list = append(list, target{fn: fn, this: id})
	}
	return list, own
}

// classOf returns the class by which methods of a new object are found.
func (c *callSite) classOf(name string, own bool) string {
	if own {
		return name
	}
	return ""
}

// applyAll applies every target and joins what comes out.
func (c *callSite) applyAll(targets []target) (result, thrown *value, returns bool) {
	a, before := c.a, c.st
	var after *state
	if len(targets) > maxTargets {
		targets = targets[:maxTargets]
	}
	for k, t := range targets {
		st := c.st
		if len(targets) > 1 {
			st = a.borrow(before)
		}
		r, th := a.apply(st, c.bind(st, t, int32(k)))
		thrown = join(thrown, th)
		if r == nil {
			continue
		}
		returns = true
		result = join(result, r)
		if len(targets) > 1 {
			after, _ = a.mergeVars(after, st, a.fn.Vars) // the block goes on and needs its temporaries
			a.giveBack(st)
		}
	}
	if after != nil {
		*c.st = *after
	}
	if c.call.Kind == ir.CallNew {
		result = c.recv
	}
	return result, thrown, returns
}

// maxTargets bounds the functions that one call is taken to mean.
const maxTargets = 12

// bind gives the arguments to the parameters.
func (c *callSite) bind(st *state, t target, sub int32) *actuals {
	fn := t.fn
	x := &actuals{fn: fn, this: t.this, params: make([]*value, len(fn.Params)), instr: c.i, node: c.in.Node,
		sub: sub << 8}
	x.captures = c.a.captureOf(st, t)
	args := c.args
	if t.fun != nil && t.this == nil && len(args) > 0 && !args[0].many && expects(fn) {
		x.this, args = args[0].v, args[1:]
	}
	c.a.bindArguments(st, x, args, c.i)
	return x
}

// captureOf returns the way to the cells that a function value shares.
func (a *analysis) captureOf(st *state, t target) func(int) *value {
	return func(k int) *value {
		outer := t.fn.Captures[k].Outer
		if t.fn.Parent == a.fn.Parent && t.fn.Parent != nil { // both share the activation around them
			for j, c := range a.fn.Captures {
				if c.Outer == outer {
					return a.input(input{inCapture, int32(j)}, "")
				}
			}
		}
		if t.fun != nil {
			return a.load(st, t.fun, captureField(k))
		}
		switch {
		case t.fn.Parent == a.fn:
			return a.captured(st, outer)
		case t.fn == a.fn:
			return a.input(input{inCapture, int32(k)}, "")
		}
		return unknown
	}
}

// bindArguments finds the parameter of each argument.
func (a *analysis) bindArguments(st *state, x *actuals, args []argument, instr int32) {
	next := 0
	for _, arg := range args {
		if arg.name != "" && arg.name != "**" {
			if p := paramNamed(x.fn, arg.name); p >= 0 {
				x.params[p] = join(x.params[p], arg.v)
				continue
			}
			if p := restParam(x.fn, ir.Keywords); p >= 0 {
				x.params[p] = a.rest(st, x, p, instr, kindMap)
				a.store(st, x.params[p], arg.name, arg.v)
			}
			continue
		}
		for next < len(x.fn.Params) && x.fn.Params[next].ByName {
			next++
		}
		switch {
		case arg.many:
			for p := next; p < len(x.params); p++ {
				x.params[p] = join(x.params[p], arg.v)
			}
		case next >= len(x.params):
		case x.fn.Params[next].Rest == ir.Positional:
			x.params[next] = a.rest(st, x, next, instr, kindList)
			a.push(st, x.params[next], arg.v)
		default:
			x.params[next] = join(x.params[next], arg.v)
			next++
		}
	}
}

// rest returns the collection of a parameter that takes all other arguments.
func (a *analysis) rest(st *state, x *actuals, p int, instr int32, kind valueKind) *value {
	if x.params[p] != nil {
		return x.params[p]
	}
	info := objInfo{kind: kind, own: true}
	o := &object{}
	if kind == kindMap {
		o.size = unsized
	}
	id := a.key(objKey{instr: instr, sub: 1000 + x.sub + int32(p)}, info)
	st.put(id, o)
	return &value{objs: []objID{id}, kind: kind}
}

func paramNamed(fn *ir.Function, name string) int {
	for i := range fn.Params {
		if fn.Params[i].Name == name && fn.Params[i].Rest == ir.One {
			return i
		}
	}
	return -1
}

func restParam(fn *ir.Function, kind ir.Spread) int {
	for i := range fn.Params {
		if fn.Params[i].Rest == kind {
			return i
		}
	}
	return -1
}

// callValue calls a function value from within a library, with the arguments.
func (a *analysis) callValue(st *state, f *value, args []*value, site *callSite, sub int32) *value {
	if f == nil {
		return nil
	}
	var result *value
	for _, id := range f.objs {
		info := &a.objects[id]
		switch {
		case info.take:
			for _, v := range args {
				a.storeObject(st, id, anyKey, v, false)
			}
		case info.fn != nil && !(a.run.local && info.fn.Parent != a.fn):
			a.applied[id] = true
			t := target{fn: info.fn, fun: &value{objs: []objID{id}}}
			x := &actuals{fn: info.fn, params: make([]*value, len(info.fn.Params)), instr: site.i, node: site.in.Node,
				sub: sub<<16 | 1, back: true}
			x.captures = a.captureOf(st, t)
			list := make([]argument, len(args))
			for i, v := range args {
				list[i] = argument{v: v, from: ir.NoVar}
			}
			if expects(info.fn) {
				if x.this = a.receiverOf(st, id); x.this == nil && len(list) > 0 {
					x.this, list = list[0].v, list[1:]
				}
			}
			a.bindArguments(st, x, list, site.i)
			r, _ := a.apply(st, x)
			result = join(result, r)
		}
	}
	if result == nil && len(f.objs) > 0 && !a.run.local {
		result = a.callObject(st, f, args, site, sub)
	}
	if result == nil && f.api != "" && !a.isFunction(f) {
		result = a.callLibrary(st, f.api, args, site)
	}
	return result
}

// callLibrary interprets a function of a library that is given to another one to call: a
// thread's target, what an executor runs, String::trim. Its sinks are asked, and what goes
// in comes out, but for what it makes harmless.
func (a *analysis) callLibrary(st *state, name string, args []*value, site *callSite) *value {
	call := *site.call
	call.Kind, call.Name, call.Qualified, call.Type, call.Receiver, call.Callee = ir.CallFunction, model.Last(name),
		name, "", ir.NoVar, ir.NoVar
	c := &callSite{a: a, st: st, i: site.i, in: site.in, call: &call}
	var t taint
	for _, v := range args {
		c.args = append(c.args, argument{v: orUnknown(v), from: ir.NoVar, node: site.in.Node})
		t = t.union(a.deep(st, orUnknown(v)))
	}
	c.names = a.names(c)
	if a.noting {
		c.sinks()
	}
	if len(t) == 0 || !a.fn.File.Lang.Meaning.FunctionsApart {
		return nil
	}
	return c.finish(&value{taint: t.at(a.fn, site.in.Node)})
}

// callObject calls the only method of an object that stands for a function.
func (a *analysis) callObject(st *state, f *value, args []*value, site *callSite, sub int32) *value {
	var result *value
	for _, id := range f.objs {
		typ := a.objects[id].typ
		if typ == "" {
			a.need(f)
			continue
		}
		fn := a.run.soleMethod(typ)
		if fn == nil {
			continue
		}
		x := &actuals{fn: fn, this: &value{objs: []objID{id}}, params: make([]*value, len(fn.Params)),
			instr: site.i, node: site.in.Node, sub: sub<<16 | 1, captures: func(int) *value { return unknown }}
		for i, v := range args {
			if i < len(x.params) {
				x.params[i] = v
			}
		}
		r, _ := a.apply(st, x)
		result = join(result, r)
	}
	return result
}

// escapes calls the function values that were made and never called: somebody
// else will.
func (a *analysis) escapes() {
	if a.exit == nil {
		return
	}
	for id := range a.objects {
		info := &a.objects[id]
		if info.fn == nil || info.key.from != nil || info.atom != nil || a.applied[objID(id)] ||
			len(info.fn.Captures) == 0 {
			continue
		}
		t := target{fn: info.fn, fun: &value{objs: []objID{objID(id)}}}
		st := a.borrow(a.exit)
		x := &actuals{fn: info.fn, params: make([]*value, len(info.fn.Params)), instr: 0, node: info.fn.Node,
			sub: 1 << 24}
		if info.key.instr >= 0 {
			x.instr, x.node = info.key.instr, a.fn.Code[info.key.instr].Node
		}
		x.captures = a.captureOf(st, t)
		a.apply(st, x)
		a.giveBack(st)
	}
}

// assumeSummary uses what functions of the program approve of with their answer.
func (a *analysis) assumeSummary(st *state, i int32, holds bool) {
	c := a.callSite(st, i)
	if c.call.Kind == ir.CallNew {
		return
	}
	targets, _ := c.targets()
	if len(targets) != 1 || a.run.local {
		return
	}
	s := a.work.summary(targets[0].fn, nil)
	if s == nil {
		return
	}
	answer := answerNo
	if holds {
		answer = answerYes
	}
	x := &actuals{fn: targets[0].fn, params: make([]*value, len(targets[0].fn.Params)), instr: i}
	a.bindArguments(st, x, c.args, i)
	for _, ok := range s.approves[answer] {
		a.approveArgument(st, x, ok)
	}
}

// index returns the key of a position.
func index(i int) string { return strconv.Itoa(i) }

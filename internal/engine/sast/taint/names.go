package taint

import (
	"cmp"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/tree"
)

// This file knows what models say of calls, globals and literals by their names. What
// functions of a program call is mostly the same: each worker keeps what it has looked
// up, because a table that workers share costs more than most of what is done with it.

// lookups is what a worker has looked up.
type lookups struct {
	calls    map[callKey]*callNames
	globals  map[nameKey]*valueInfo
	members  map[nameKey]*valueInfo // of values of which nothing is known
	literals map[nameKey][]*model.Entry
}

func newLookups() lookups {
	return lookups{calls: map[callKey]*callNames{}, globals: map[nameKey]*valueInfo{},
		members: map[nameKey]*valueInfo{}, literals: map[nameKey][]*model.Entry{}}
}

// maxLiterals bounds the texts of literals that a worker keeps.
const maxLiterals = 1 << 14

// A nameKey is a name, or a text, in a language.
type nameKey struct {
	lang *lang.Language
	name string
}

// A callKey is what the names of a call hang on.
type callKey struct {
	nameKey
	kind            ir.CallKind
	qualified, typ  string
	recv, fun       bool // it has a receiver, a function value
	recvAPI, funAPI string
	own             bool // the function value is of the program
}

// callNames are the names by which models may know a call.
type callNames struct {
	list    []string         // best first
	matches []*model.Matches // what models say of them, but for those they do not know
	untyped bool             // it would help to know the type of the receiver
}

// add adds a name, once.
func (n *callNames) add(set *model.Set, name string) {
	if name == "" || slices.Contains(n.list, name) {
		return
	}
	n.list = append(n.list, name)
	if m := set.Match(name); !m.Empty() {
		n.matches = append(n.matches, m)
	}
}

// names returns the names by which models may know a call.
func (a *analysis) names(c *callSite) *callNames {
	call := c.call
	k := callKey{nameKey: nameKey{a.fn.File.Lang, call.Name}, kind: call.Kind, qualified: call.Qualified,
		typ: call.Type}
	if c.recv != nil {
		k.recv, k.recvAPI = true, cmp.Or(c.recv.api, a.basicType(c.recv))
	}
	if c.fun != nil {
		k.fun, k.funAPI = true, c.fun.api
		k.own = call.Kind != ir.CallNew && a.isFunction(c.fun) // one that is called "exec" is no other
	}
	if call.Callee != ir.NoVar && k.qualified == "" && k.funAPI == "" && !k.own {
		k.funAPI = a.run.everybodys(a.fn, written(a.fn, call.Callee, 0))
	}
	n := a.work.calls[k]
	if n == nil {
		n = a.run.callNames(a.fn, &k)
		a.work.calls[k] = n
	}
	if n.untyped {
		a.needType(c.recv)
	}
	return n
}

// basicType names the type of a value that is known to be a text, a list or a regular
// expression, in languages whose programs do not say so.
func (a *analysis) basicType(v *value) string {
	m := &a.fn.File.Lang.Meaning
	switch {
	case m.TextType == "":
	case v.kind == kindString:
		return m.TextType
	case v.kind == kindList:
		return m.Literals[tree.List]
	case v.c.kind == constRegex:
		return m.Literals[tree.Regex]
	}
	return ""
}

// everybodys returns what everybody means by a name of a variable, as the models say:
// "named.$ is jQuery". It is "" for most names.
func (r *run) everybodys(fn *ir.Function, name string) string {
	if name == "" {
		return ""
	}
	for _, e := range r.set(fn).Match("named." + name)[model.Types] {
		if e.Form == model.Value {
			return e.Type
		}
	}
	return ""
}

// callNames finds the names of a call.
func (r *run) callNames(fn *ir.Function, k *callKey) *callNames {
	n, set := &callNames{}, r.set(fn)
	if k.kind == ir.CallNew {
		n.add(set, k.qualified+".new")
		n.add(set, k.qualified)
		if k.funAPI != "" {
			n.add(set, k.funAPI+".new")
			n.add(set, k.funAPI)
		}
		return n
	}
	typed := k.typ != ""
	if k.name != "" && k.recv {
		if k.recvAPI != "" {
			typed = true
			for _, t := range r.types(fn, k.recvAPI) {
				n.add(set, r.memberName(t, k.name))
			}
		}
		for _, t := range r.types(fn, k.typ) {
			n.add(set, r.memberName(t, k.name))
		}
	}
	if !k.own || strings.Contains(k.qualified, ".") {
		n.add(set, k.qualified)
	}
	if k.fun && (!k.own || strings.Contains(k.funAPI, ".")) {
		n.add(set, k.funAPI)
	}
	n.untyped = k.recv && (!typed || set.HidesSink(k.typ) || set.HidesSink(k.recvAPI))
	if k.recv && k.name != "" && (!typed || len(n.matches) == 0) {
		n.add(set, "?."+k.name)
	}
	return n
}

// globalValue gives a global that was read what the models say of it.
func (a *analysis) globalValue(in *ir.Instr, v *value) *value {
	k := nameKey{a.fn.File.Lang, in.Text}
	x := a.work.globals[k]
	if x == nil {
		x = &valueInfo{}
		x.add(a.run.set(a.fn).Match(in.Text))
		a.work.globals[k] = x
	}
	return x.give(a.run, a, in.Node, v)
}

// unknownMember gives a member of a value of which nothing is known what the models say
// of all members with that name: "?.length".
func (a *analysis) unknownMember(node int32, name string, v *value) *value {
	k := nameKey{a.fn.File.Lang, name}
	x := a.work.members[k]
	if x == nil {
		x = &valueInfo{}
		x.add(a.run.set(a.fn).Match("?." + name))
		a.work.members[k] = x
	}
	if len(x.cleans) > 0 { // a number, a text: it has no parts that would not be clean
		v = &value{taint: v.taint, c: v.c, kind: v.kind}
	}
	return x.give(a.run, a, node, v)
}

// literalSource makes a literal a source when a model says so.
func (a *analysis) literalSource(in *ir.Instr, v *value) *value {
	k := nameKey{a.fn.File.Lang, v.c.s}
	entries, ok := a.work.literals[k]
	if !ok {
		if len(a.work.literals) >= maxLiterals {
			clear(a.work.literals)
		}
		entries = a.run.literalEntries(a.fn, v.c.s)
		a.work.literals[k] = entries
	}
	return a.run.fromLiteral(a.fn, in, v, entries)
}

// literalEntries returns the entries that make a text a source.
func (r *run) literalEntries(fn *ir.Function, text string) []*model.Entry {
	var list []*model.Entry
	for _, e := range r.set(fn).Literals() {
		if e.Literal.MatchString(text) && e.Agrees(text) {
			list = append(list, e)
		}
	}
	return list
}

// fromLiteral gives the value of a literal the taint of the entries.
func (r *run) fromLiteral(fn *ir.Function, in *ir.Instr, v *value, entries []*model.Entry) *value {
	for _, e := range entries {
		v = v.with(v.taint.union(r.sourceTaint(fn, e, in.Node)))
	}
	return v
}

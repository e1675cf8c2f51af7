package reach

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/tree"
)

// This file finds which calls go to a package although no name says so: methods of
// what a function of the package has made, functions of it that were handed on, and
// methods that a class of the program inherits from it.

// origins says from which package the values of variables come, as far as that can be
// told without regard to order: "yaml.NewDecoder" for what that has returned.
type origins struct {
	*Program
	foreign map[string]map[string]bool // by language: modules that are imported
	// indexed by the id of the function; nil for one without foreign values
	vars []map[ir.Var]string // by function
	// what the function returns; "" when it is not foreign or not known
	results []string          // by function
	fields  map[string]string // by class and field
	globals map[string]string // by qualified name
	changed bool
}

// rounds bounds how many calls an object is followed through.
// Each round follows values through one more call; the work grows with the program, and real chains
// (client → session → request) are short.
const rounds = 4

// followValues adds the uses that names do not show.
func (p *Program) followValues() {
	o := origins{Program: p, foreign: map[string]map[string]bool{},
		vars:    make([]map[ir.Var]string, len(p.graph.Functions)),
		results: make([]string, len(p.graph.Functions)), fields: map[string]string{}, globals: map[string]string{}}
	for language, uses := range p.uses {
		o.foreign[language] = map[string]bool{}
		for _, u := range uses {
			if !u.call {
				o.foreign[language][u.name] = true
			}
		}
	}
	for range rounds {
		o.changed = false
		for _, fn := range p.graph.Functions {
			o.followFunction(fn)
		}
		if !o.changed || p.tree.Context.Err() != nil {
			break
		}
	}
	for _, fn := range p.graph.Functions {
		o.addCalls(fn)
		o.addFunctionValues(fn)
	}
}

// isForeign reports whether the name is of a module that is imported from outside.
func (o *origins) isForeign(language, name string) bool {
	set := o.foreign[language]
	// "yaml.v3.Decoder", "yaml.v3", "yaml": the longest prefix that is imported decides.
	for end := len(name); end > 0; end = strings.LastIndexAny(name[:end], "./") {
		if set[name[:end]] {
			return true
		}
	}
	return false
}

// originOf returns where a variable's value comes from, "" when it is not foreign.
func (o *origins) originOf(fn *ir.Function, v ir.Var) string {
	if v == ir.NoVar {
		return ""
	}
	return o.vars[fn.ID][v]
}

// setOrigin notes where a variable's value comes from; the first one stays.
func (o *origins) setOrigin(fn *ir.Function, v ir.Var, from string) {
	// A chain a().b().c()… makes ever longer names. The first origin stays, so that the rounds end.
	if from == "" || v == ir.NoVar || len(from) > 300 || o.originOf(fn, v) != "" {
		return
	}
	if o.vars[fn.ID] == nil {
		o.vars[fn.ID] = map[ir.Var]string{}
	}
	o.vars[fn.ID][v] = from
	o.changed = true
}

// keepFirst notes an origin in a table; the first one stays.
func (o *origins) keepFirst(in map[string]string, key, from string) {
	if from != "" && in[key] == "" {
		in[key] = from
		o.changed = true
	}
}

// followField follows a value into a field of the function's class, or out of one.
func (o *origins) followField(fn *ir.Function, in *ir.Instr) {
	if in.Op == ir.LoadField {
		o.setOrigin(fn, in.Dst, o.originOf(fn, in.A))
	}
	if fn.Class == nil {
		return
	}
	field := fn.Class.Qualified + "." + in.Text
	if in.Op == ir.LoadField {
		o.setOrigin(fn, in.Dst, o.fields[field])
		return
	}
	o.keepFirst(o.fields, field, o.originOf(fn, in.B))
}

// followFunction follows the values of one function.
func (o *origins) followFunction(fn *ir.Function) {
	language := languageFamily(fn.File.Lang)
	if fn.Parent != nil {
		for _, c := range fn.Captures {
			o.setOrigin(fn, c.Inner, o.originOf(fn.Parent, c.Outer))
			// Both ways: a closure reads what the function around it has, and assigns to it.
			o.setOrigin(fn.Parent, c.Outer, o.originOf(fn, c.Inner))
		}
	}
	for i := range fn.Code {
		in := &fn.Code[i]
		switch in.Op {
		case ir.Copy, ir.Await, ir.Cast, ir.LoadIndex, ir.Slice, ir.Iterate, ir.Next, ir.Enter:
			o.setOrigin(fn, in.Dst, o.originOf(fn, in.A))
		case ir.StoreIndex:
			o.setOrigin(fn, in.A, o.originOf(fn, in.C))
		case ir.LoadField, ir.StoreField:
			o.followField(fn, in)
		case ir.LoadGlobal:
			from := o.globals[in.Text]
			if from == "" && o.isForeign(language, in.Text) {
				from = in.Text
			}
			o.setOrigin(fn, in.Dst, from)
		case ir.StoreGlobal:
			o.keepFirst(o.globals, in.Text, o.originOf(fn, in.B))
		case ir.Return:
			if from := o.originOf(fn, in.A); from != "" && o.results[fn.ID] == "" {
				o.results[fn.ID], o.changed = from, true
			}
		case ir.Invoke:
			o.followCall(fn, in)
		}
	}
}

// followCall follows the values that a call takes and gives.
func (o *origins) followCall(fn *ir.Function, in *ir.Instr) {
	c := fn.Call(in)
	targets := o.graph.Targets(fn, c)
	for _, to := range targets {
		o.setOrigin(fn, in.Dst, o.results[to.ID])
		for i, a := range fn.Args(c) {
			if i < len(to.Params) {
				o.setOrigin(to, to.Params[i].Var, o.originOf(fn, a.Value))
			}
		}
	}
	if len(targets) > 0 {
		return
	}
	from := o.resultOrigin(fn, c)
	o.setOrigin(fn, in.Dst, from)
	for _, to := range o.graph.Callbacks(fn, c) { // the package gives its objects to what it calls back
		for i := range to.Params {
			o.setOrigin(to, to.Params[i].Var, from)
		}
	}
}

// resultOrigin returns where the result of a call comes from whose code is not part of the
// program: from the module that it loads, the function that it names, its receiver, the
// class that it makes, or an argument, as of partial(f), promisify(f), Promise.all([…]).
func (o *origins) resultOrigin(fn *ir.Function, c *ir.Call) string {
	if from := o.loadedModule(fn, c); from != "" {
		return from
	}
	if name := calledName(c); name != "" && o.isForeign(languageFamily(fn.File.Lang), name) {
		return name
	}
	if from := o.originOf(fn, c.Receiver); from != "" {
		return from
	}
	if from := o.originOf(fn, c.Callee); from != "" {
		return from
	}
	if bases := o.foreignBases(fn, c); len(bases) > 0 {
		return bases[0]
	}
	for _, a := range fn.Args(c) {
		if from := o.originOf(fn, a.Value); from != "" {
			return from
		}
	}
	return ""
}

// loadedModule returns the module that a call loads by a constant name.
func (o *origins) loadedModule(fn *ir.Function, c *ir.Call) string {
	if args := fn.Args(c); len(args) > 0 && loadsCode(languageFamily(fn.File.Lang), c) {
		return constantText(fn, args[0].Value)
	}
	return ""
}

// constantText returns the text of a variable that has one, else "".
func constantText(fn *ir.Function, v ir.Var) string {
	if at := fn.Def(v); at >= 0 && fn.Code[at].Op == ir.Const && ir.ConstKind(fn.Code[at].X) == ir.ConstString {
		return strings.Trim(fn.Code[at].Text, `"'`)
	}
	return ""
}

// calledName is the name of what a call calls, "" when it does not say.
func calledName(c *ir.Call) string {
	if c.Qualified == "" && c.Type != "" {
		return c.Type + "." + c.Name
	}
	return c.Qualified
}

// foreignBases returns the foreign types that the class of a call's receiver, or the class
// that it makes, inherits from.
func (o *origins) foreignBases(fn *ir.Function, c *ir.Call) []string {
	name := c.Type
	if c.Kind == ir.CallNew {
		name = c.Qualified
	}
	if name == "" {
		return nil
	}
	class := o.graph.Class(name)
	if class == nil {
		return nil
	}
	var out []string
	for _, b := range o.graph.Supertypes(class) {
		if o.graph.Class(b) == nil && o.isForeign(languageFamily(fn.File.Lang), b) {
			out = append(out, b)
		}
	}
	return out
}

// addCalls adds the calls that go to a package by way of an object, of a function value,
// or of a class that inherits.
func (o *origins) addCalls(fn *ir.Function) {
	language := languageFamily(fn.File.Lang)
	for i := range fn.Calls {
		c := &fn.Calls[i]
		// The call goes to code of the program itself.
		if slices.ContainsFunc(o.graph.Targets(fn, c), hasBody) {
			continue
		}
		node := fn.Code[c.Instr].Node
		add := func(name string) {
			o.uses[language] = append(o.uses[language], use{name: name, function: fn, node: node, call: true,
				loose: true})
		}
		for _, b := range o.foreignBases(fn, c) {
			add(b + "." + c.Name)
		}
		if from := o.originOf(fn, c.Receiver); from != "" && c.Name != "" {
			add(from + "." + c.Name)
		} else if from := o.originOf(fn, c.Callee); from != "" {
			add(from)
		}
		if names := importedNames(fn.File, node); len(names) > 1 || c.Qualified == "" && c.Type == "" ||
			c.Kind == ir.CallMarkup {
			for _, name := range names {
				add(name + "." + c.Name)
			}
		}
	}
}

// hasBody reports whether a function has code; a method of an interface has none.
func hasBody(fn *ir.Function) bool {
	return fn.Node < 0 || fn.File.Tree.Child(fn.Node, tree.RoleBody) >= 0
}

// importedNames returns what the name that a call begins with may be by the file's
// imports. Several may bind it, one of which is there: try: import simplejson as json,
// except ImportError: import json.
func importedNames(f *ir.File, call int32) []string {
	at := f.Tree.Child(call, tree.RoleCallee)
	if f.Tree.Is(call, tree.Element) {
		at = f.Tree.Child(call, tree.RoleName)
	}
	for at >= 0 && f.Tree.Is(at, tree.Member) {
		at = f.Tree.Child(at, tree.RoleObject)
	}
	if at < 0 || !f.Tree.Is(at, tree.Name) {
		return nil
	}
	var out []string
	for _, i := range f.Imports {
		if i.Local == f.Tree.Text(at) {
			name := i.Module
			if i.Name != "" && i.Name != "*" && i.Name != "default" {
				name += "." + i.Name
			}
			out = append(out, name)
		}
	}
	return out
}

// addFunctionValues adds the functions of packages that are handed on: map(yaml.load,
// texts).
func (o *origins) addFunctionValues(fn *ir.Function) {
	language := languageFamily(fn.File.Lang)
	for i := range fn.Calls {
		c := &fn.Calls[i]
		for _, a := range fn.Args(c) {
			name := o.originOf(fn, a.Value)
			if name == "" || o.foreign[language][name] && language != "python" {
				continue // a whole module
			}
			if at := fn.Def(a.Value); at >= 0 && fn.Code[at].Op != ir.Invoke && fn.Code[at].Op != ir.Const {
				o.uses[language] = append(o.uses[language], use{name: o.valueName(fn, a.Node, name), function: fn,
					node: fn.Code[c.Instr].Node, call: true, loose: true})
			}
		}
	}
}

// valueName is the name of a value that is handed on, with the member that the source
// writes.
func (o *origins) valueName(fn *ir.Function, node int32, name string) string {
	if node >= 0 && fn.File.Tree.Is(node, tree.Member) {
		if member := fn.File.Tree.Text(fn.File.Tree.Child(node, tree.RoleProperty)); member != "" &&
			!strings.HasSuffix(name, "."+member) {
			return name + "." + member
		}
	}
	return name
}

package taint

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/tree"
)

// This file tells which functions are there for callers outside of the program: what
// modules export; in languages without exports what nobody calls but the code that
// starts the program. Their parameters are sources of the kind model.Library.

// library finds the functions of the program's interface.
type library struct {
	run    *run
	api    map[*ir.Function]bool
	inside map[*ir.Function]bool // called by other functions
	open   map[*ir.File]bool     // files that say what they export
	seen   map[objID]bool
	known  map[*ir.Function]bool     // what has answered
	made   map[string][]*ir.Function // by function that makes objects: itself and their methods
}

// findLibrary looks at all summaries that count.
func findLibrary(r *run, order []*summary) *library {
	l := &library{run: r, api: map[*ir.Function]bool{}, inside: map[*ir.Function]bool{}, open: map[*ir.File]bool{},
		known: map[*ir.Function]bool{}, made: map[string][]*ir.Function{}}
	for fn, owner := range r.owners {
		l.made[owner] = append(l.made[owner], fn)
	}
	for _, s := range order {
		l.plugins(s.fn)
		for _, child := range s.children {
			if !starts(s.fn) && child.fn != s.fn {
				l.inside[child.fn] = true
			}
		}
		if s.fn.Kind == ir.TopLevel && s.fn.File.Lang.Meaning.Exports != "" {
			l.exports(s)
		}
	}
	l.factories()
	return l
}

// factories adds the functions that the interface makes: what factories return, and what
// constructors put into the object. Those may be factories again.
func (l *library) factories() {
	done := map[*ir.Function]bool{}
	for before := -1; before < len(l.api); {
		before = len(l.api)
		for fn := range maps.Clone(l.api) {
			if s, ok := l.run.summaries.Load(summaryKey{fn: fn}); ok && !done[fn] {
				done[fn] = true
				l.makes(s.(*summary))
			}
		}
	}
}

// makes adds the functions that one function of the interface makes.
func (l *library) makes(s *summary) {
	l.seen = map[objID]bool{}
	l.value(s, s.result, 0)
	for id, o := range s.heap {
		if at := s.objects[id].atom; o != nil && at != nil && at.in.kind == inThis && at.path == "" {
			for _, f := range o.fields {
				l.value(s, f.val, 1)
			}
		}
	}
}

// plugins adds the functions that one function gives to a library for everybody who uses
// that library: what models call an entry point where it is assigned. The library itself
// makes the object there, and no plugins.
func (l *library) plugins(fn *ir.Function) {
	set := l.run.set(fn)
	for i := range fn.Code {
		in := &fn.Code[i]
		name := stored(fn, in)
		if name == "" {
			continue // most instructions set nothing that has a name
		}
		if !slices.ContainsFunc(set.Match(name)[model.Entrypoints], func(e *model.Entry) bool {
			return e.Form == model.Assignment
		}) ||
			l.makesObject(fn.File, strings.TrimSuffix(name, "."+model.Last(name))) {
			continue
		}
		for _, plugin := range l.run.program.FunctionValues(fn, in.B) {
			l.function(plugin)
		}
	}
}

// makesObject reports whether a file sets what has the name, to something of its own.
func (l *library) makesObject(f *ir.File, name string) bool {
	return slices.ContainsFunc(f.Functions, func(fn *ir.Function) bool {
		return slices.ContainsFunc(fn.Code, func(in ir.Instr) bool {
			return stored(fn, &in) == name && len(l.run.program.FunctionValues(fn, in.B)) == 0
		})
	})
}

// stored returns the name that the source gives to what an instruction sets, "" when it
// sets no member or global.
func stored(fn *ir.Function, in *ir.Instr) string {
	switch in.Op {
	case ir.StoreField:
		if base := written(fn, in.A, 0); base != "" {
			return base + "." + in.Text
		}
	case ir.StoreGlobal:
		return in.Text
	}
	return ""
}

// written returns the name by which the source calls what a variable holds: "$.fn" where $
// is a parameter. It is "" for what has no such name.
func written(fn *ir.Function, v ir.Var, depth int) string {
	if fn.IsLocal(v) {
		return fn.Locals[v].Name
	}
	i := fn.Def(v)
	if i < 0 || depth > maxPath {
		return ""
	}
	switch in := &fn.Code[i]; in.Op {
	case ir.Copy:
		return written(fn, in.A, depth+1)
	case ir.LoadGlobal:
		return in.Text
	case ir.LoadField:
		if base := written(fn, in.A, depth+1); base != "" {
			return base + "." + in.Text
		}
	}
	return ""
}

// starts reports whether the function starts a program.
func starts(fn *ir.Function) bool { return fn.Kind == ir.TopLevel || fn.Name == "main" }

// exports finds what a module exports, in the heap that its top-level code leaves.
func (l *library) exports(s *summary) {
	for _, fn := range l.run.program.Exposed(s.fn.File.Module) { // also what a large summary has forgotten
		l.open[s.fn.File] = true
		l.function(fn)
	}
	names := exportedNames(s.fn.File)
	l.seen = map[objID]bool{}
	module := separator + s.fn.File.Module
	for id, o := range s.heap {
		at := s.objects[id].atom
		if o == nil || at == nil || at.in.kind != inGlobal || at.path != "" && at.path != module {
			continue
		}
		for _, f := range o.fields {
			if names[f.name] || at.path == module { // in the module itself: a call was given it to fill
				l.open[s.fn.File] = true
				l.value(s, f.val, 0)
			}
		}
	}
}

// value adds the functions that somebody who has the value can call.
func (l *library) value(s *summary, v *value, depth int) {
	if v == nil || depth > maxPath {
		return
	}
	if c := l.run.program.Class(v.api); c != nil {
		for _, m := range c.Methods {
			l.api[m] = true
		}
	}
	for _, m := range l.made[v.api] { // an object that a function makes
		l.api[m] = true
	}
	if fn := l.run.function(v.api); fn != nil && v.kind == kindFunction {
		l.function(fn)
	}
	for _, id := range v.objs {
		if l.seen[id] {
			continue
		}
		l.seen[id] = true
		if fn := s.objects[id].fn; fn != nil {
			l.function(fn)
		}
		if c := l.run.program.Class(s.objects[id].typ); c != nil {
			for _, m := range c.Methods {
				l.api[m] = true
			}
		}
		if int(id) < len(s.heap) && s.heap[id] != nil {
			for _, f := range s.heap[id].fields {
				if !strings.HasPrefix(f.name, "#") {
					l.value(s, f.val, depth+1)
				}
			}
			l.value(s, s.heap[id].elems, depth+1)
		}
	}
}

// function adds a function, and the methods of what it makes.
func (l *library) function(fn *ir.Function) {
	l.api[fn] = true
	if owner := l.run.owners[fn]; owner != "" {
		for _, m := range l.made[owner] {
			l.api[m] = true
		}
	}
}

// exportedNames returns the globals that a module exports: those written as members
// of the module, also by functions that its top-level code calls, and declarations
// that say so.
func exportedNames(f *ir.File) map[string]bool {
	names := map[string]bool{}
	for _, fn := range f.Functions {
		for i := range fn.Code {
			in := &fn.Code[i]
			if in.Op != ir.StoreGlobal || in.Text != f.Module && !strings.HasPrefix(in.Text, f.Module+".") {
				continue
			}
			if strings.Contains(in.Text+".", ".prototype.") { // exported if what makes such objects is
				continue
			}
			if in.A != ir.NoVar || in.Text == f.Module || fn.Kind == ir.TopLevel && exportedNode(f.Tree, in.Node) {
				names[in.Text] = true
			}
		}
	}
	return names
}

// exportedNode reports whether the declaration around a node is exported.
func exportedNode(t *tree.File, node int32) bool {
	for ; node > 0; node = t.Nodes[node].Parent {
		if t.Nodes[node].Kind == tree.Export {
			return true
		}
		for m := range t.All(node, tree.RoleModifier) {
			if t.Text(m) == "export" {
				return true
			}
		}
	}
	return false
}

// has reports whether callers outside of the program can call the function.
func (l *library) has(fn *ir.Function) bool {
	is, ok := l.known[fn]
	if !ok {
		named, _ := l.run.byNames(fn) // a handler by the names of its parameters: the program may call it with more
		is = l.offers(fn) && (!named.Empty() || !l.run.entry(fn)) && !l.answers(fn)
		l.known[fn] = is
	}
	return is
}

// answers reports whether it is a framework that calls the method: it says that it
// overrides one, and no class of the program declares that. What a framework passes
// is for models to say.
func (l *library) answers(fn *ir.Function) bool {
	if fn.Class == nil || !slices.Contains(annotations(fn.File, fn.Node), "java.lang.Override") {
		return false
	}
	return !l.declares(fn.Class, fn.Name, 0)
}

// declares reports whether a class above the class, of the program, has the method.
func (l *library) declares(c *ir.Class, method string, depth int) bool {
	for _, base := range c.Bases {
		b := l.run.program.Class(base)
		if b == nil || depth > maxPath {
			continue
		}
		if slices.ContainsFunc(b.Methods, func(m *ir.Function) bool { return m.Name == method }) ||
			l.declares(b, method, depth+1) {
			return true
		}
	}
	return false
}

// offers reports whether the function is declared so that others may call it.
func (l *library) offers(fn *ir.Function) bool {
	if l.api[fn] {
		return true
	}
	if l.open[fn.File] || l.inside[fn] || starts(fn) || strings.HasPrefix(fn.Name, "_") {
		return false
	}
	if fn.File.Lang.Meaning.Exports != "" && exportedNode(fn.File.Tree, fn.Node) {
		return true
	}
	return fn.Kind == ir.Plain && (fn.Parent == nil || fn.Parent.Kind == ir.TopLevel) || fn.Kind == ir.Method
}

// librarySource returns the source that a parameter of the program's interface is.
func (r *run) librarySource(fn *ir.Function, param int32) *atom {
	return r.sourceAtom(source{file: fn.File, node: fn.Params[param].Node, kind: model.Library, rule: -1})
}

// callers tell what one call of a library's function leaves in globals for itself from
// what it leaves for other calls: that is how the library is set up, see model.Library.
type callers struct {
	givers map[*source]*summary // the functions whose parameters the sources are
	near   map[*source]map[*ir.Function]bool
}

func newCallers() *callers {
	return &callers{map[*source]*summary{}, map[*source]map[*ir.Function]bool{}}
}

// gave notes whose parameter a source is.
func (c *callers) gave(s *source, to *summary) { c.givers[s] = to }

// A function that is some calls away takes part in the same call of the library; what is
// farther may as well be one that was started for others.
const (
	maxAway = 3
	maxNear = 2000 // functions
)

// calls reports whether the function that is given the source is the one, or is not far
// above it.
func (c *callers) calls(s *source, fn *ir.Function) bool {
	near, ok := c.near[s]
	if !ok {
		near = map[*ir.Function]bool{}
		if giver := c.givers[s]; giver != nil {
			near[giver.fn] = true
			level := []*summary{giver}
			for range maxAway {
				var next []*summary
				for _, sum := range level {
					for _, child := range sum.children {
						if !near[child.fn] && len(near) < maxNear {
							near[child.fn] = true
							next = append(next, child)
						}
					}
				}
				level = next
			}
		}
		c.near[s] = near
	}
	return near[fn]
}

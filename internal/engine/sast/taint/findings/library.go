package findings

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/survey"
	"merlon/internal/engine/sast/taint/syncmap"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
	"merlon/internal/engine/sast/tree"
)

// This file finds the functions that callers outside of the program can call: what
// modules export; in languages without exports what nobody calls but the code that
// starts the program. Their parameters are sources of the kind model.Library.

// library finds the functions of the program's interface.
type library struct {
	run    *frame.Run
	sums   *syncmap.Map[summary.Key, *summary.Summary]
	api    map[*ir.Function]bool
	inside map[*ir.Function]bool // called by other functions
	open   map[*ir.File]bool     // files that say what they export
	seen   map[value.ObjectID]bool
	known  map[*ir.Function]bool     // what has answered
	made   map[string][]*ir.Function // by function that makes objects: itself and their methods
}

// findLibrary looks at all summaries that count.
func findLibrary(r *frame.Run, sums *syncmap.Map[summary.Key, *summary.Summary], order []*summary.Summary) *library {
	l := &library{run: r, sums: sums, api: map[*ir.Function]bool{}, inside: map[*ir.Function]bool{},
		open:  map[*ir.File]bool{},
		known: map[*ir.Function]bool{}, made: map[string][]*ir.Function{}}
	for fn, owner := range r.Owners {
		l.made[owner] = append(l.made[owner], fn)
	}
	for _, s := range order {
		l.addPlugins(s.Function)
		for _, child := range s.Callees {
			if !startsProgram(s.Function) && child.Function != s.Function {
				l.inside[child.Function] = true
			}
		}
		if s.Function.Kind == ir.TopLevel && s.Function.File.Lang.Semantics.Exports != "" {
			l.addExports(s)
		}
	}
	l.addFactoryFunctions()
	return l
}

// addFactoryFunctions adds the functions that the interface makes: what factories return, and what
// constructors put into the object. Those may be factories again.
func (l *library) addFactoryFunctions() {
	done := map[*ir.Function]bool{}
	for before := -1; before < len(l.api); {
		before = len(l.api)
		for fn := range maps.Clone(l.api) {
			if s, ok := l.sums.Load(summary.Key{Function: fn}); ok && !done[fn] {
				done[fn] = true
				l.addMadeFunctions(s)
			}
		}
	}
}

// addMadeFunctions adds the functions that one function of the interface makes.
func (l *library) addMadeFunctions(s *summary.Summary) {
	l.seen = map[value.ObjectID]bool{}
	l.addValue(s, s.Result, 0)
	for id, o := range s.Heap {
		if at := s.Objects[id].Input; o != nil && at != nil && at.In.Kind == taintset.Receiver && at.Path == "" {
			for _, f := range o.Fields {
				l.addValue(s, f.Value, 1)
			}
		}
	}
}

// addPlugins adds the functions that one function gives to a library for everybody who uses
// that library: what models call an entry point where it is assigned. The library itself
// makes the object there, and no plugins.
func (l *library) addPlugins(fn *ir.Function) {
	set := l.run.ModelsOf(fn)
	for i := range fn.Code {
		in := &fn.Code[i]
		name := storedName(fn, in)
		if name == "" {
			continue // most instructions set nothing that has a name
		}
		if !slices.ContainsFunc(set.Match(name)[model.Entrypoints], func(e *model.Entry) bool {
			return e.Form == model.Assignment
		}) ||
			l.makesObject(fn.File, strings.TrimSuffix(name, "."+model.Last(name))) {
			continue
		}
		for _, plugin := range l.run.Program.FunctionValues(fn, in.B) {
			l.addFunction(plugin)
		}
	}
}

// makesObject reports whether a file sets what has the name, to something of its own.
func (l *library) makesObject(f *ir.File, name string) bool {
	return slices.ContainsFunc(f.Functions, func(fn *ir.Function) bool {
		return slices.ContainsFunc(fn.Code, func(in ir.Instr) bool {
			return storedName(fn, &in) == name && len(l.run.Program.FunctionValues(fn, in.B)) == 0
		})
	})
}

// storedName returns the name that the source gives to what an instruction sets, "" when it
// sets no member or global.
func storedName(fn *ir.Function, in *ir.Instr) string {
	switch in.Op {
	case ir.StoreField:
		if base := survey.WrittenName(fn, in.A, 0); base != "" {
			return base + "." + in.Text
		}
	case ir.StoreGlobal:
		return in.Text
	}
	return ""
}

// startsProgram reports whether the function starts a program.
func startsProgram(fn *ir.Function) bool { return fn.Kind == ir.TopLevel || fn.Name == "main" }

// addExports finds what a module exports, in the heap that its top-level code leaves.
func (l *library) addExports(s *summary.Summary) {
	for _, fn := range l.run.Program.Exposed(s.Function.File.Module) { // also what a large summary has forgotten
		l.open[s.Function.File] = true
		l.addFunction(fn)
	}
	names := exportedNames(s.Function.File)
	l.seen = map[value.ObjectID]bool{}
	module := taintset.Separator + s.Function.File.Module
	for id, o := range s.Heap {
		at := s.Objects[id].Input
		if o == nil || at == nil || at.In.Kind != taintset.Global || at.Path != "" && at.Path != module {
			continue
		}
		for _, f := range o.Fields {
			if names[f.Name] || at.Path == module { // in the module itself: a call was given it to fill
				l.open[s.Function.File] = true
				l.addValue(s, f.Value, 0)
			}
		}
	}
}

// addValue adds the functions that somebody who has the value can call.
func (l *library) addValue(s *summary.Summary, v *value.Value, depth int) {
	if v == nil || depth > taintset.MaxPath {
		return
	}
	if c := l.run.Program.Class(v.API); c != nil {
		for _, m := range c.Methods {
			l.api[m] = true
		}
	}
	for _, m := range l.made[v.API] { // an object that a function makes
		l.api[m] = true
	}
	if fn := l.run.FindFunction(v.API); fn != nil && v.Kind == value.KindFunction {
		l.addFunction(fn)
	}
	for _, id := range v.Objects {
		if l.seen[id] {
			continue
		}
		l.seen[id] = true
		l.addObject(s, id, depth)
	}
}

// addObject adds the functions that somebody who has the object can call: itself, the
// methods of its class, and what it holds but for private fields.
func (l *library) addObject(s *summary.Summary, id value.ObjectID, depth int) {
	if fn := s.Objects[id].Function; fn != nil {
		l.addFunction(fn)
	}
	if c := l.run.Program.Class(s.Objects[id].Type); c != nil {
		for _, m := range c.Methods {
			l.api[m] = true
		}
	}
	if int(id) >= len(s.Heap) || s.Heap[id] == nil {
		return
	}
	for _, f := range s.Heap[id].Fields {
		if !strings.HasPrefix(f.Name, "#") {
			l.addValue(s, f.Value, depth+1)
		}
	}
	l.addValue(s, s.Heap[id].Elements, depth+1)
}

// addFunction adds a function, and the methods of what it makes.
func (l *library) addFunction(fn *ir.Function) {
	l.api[fn] = true
	if owner := l.run.Owners[fn]; owner != "" {
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

// isCallable reports whether callers outside of the program can call the function.
func (l *library) isCallable(fn *ir.Function) bool {
	is, ok := l.known[fn]
	if !ok {
		// a handler by the names of its parameters: the program may call it with more
		named, _ := l.run.MatchParameterNames(fn)
		is = l.isOffered(fn) && (!named.Empty() || !l.run.IsEntrypoint(fn)) && !l.overridesFramework(fn)
		l.known[fn] = is
	}
	return is
}

// overridesFramework reports whether it is a framework that calls the method: it says that it
// overrides one, and no class of the program declares that. What a framework passes
// is for models to say.
func (l *library) overridesFramework(fn *ir.Function) bool {
	if fn.Class == nil || !slices.Contains(modelindex.Annotations(fn.File, fn.Node), "java.lang.Override") {
		return false
	}
	return !l.isDeclaredAbove(fn.Class, fn.Name, 0)
}

// isDeclaredAbove reports whether a class above the class, of the program, has the method.
func (l *library) isDeclaredAbove(c *ir.Class, method string, depth int) bool {
	for _, base := range c.Bases {
		b := l.run.Program.Class(base)
		if b == nil || depth > taintset.MaxPath {
			continue
		}
		if slices.ContainsFunc(b.Methods, func(m *ir.Function) bool { return m.Name == method }) ||
			l.isDeclaredAbove(b, method, depth+1) {
			return true
		}
	}
	return false
}

// isOffered reports whether the function is declared so that others may call it.
func (l *library) isOffered(fn *ir.Function) bool {
	if l.api[fn] {
		return true
	}
	if l.open[fn.File] || l.inside[fn] || startsProgram(fn) || strings.HasPrefix(fn.Name, "_") {
		return false
	}
	if fn.File.Lang.Semantics.Exports != "" && exportedNode(fn.File.Tree, fn.Node) {
		return true
	}
	return fn.Kind == ir.Plain && (fn.Parent == nil || fn.Parent.Kind == ir.TopLevel) || fn.Kind == ir.Method
}

// callers tell what one call of a library's function leaves in globals for itself from
// what it leaves for other calls: that is how the library is set up, see model.Library.
type callers struct {
	givers map[*taintset.Source]*summary.Summary // the functions whose parameters the sources are
	near   map[*taintset.Source]map[*ir.Function]bool
}

// newCallers returns an empty table.
func newCallers() *callers {
	return &callers{map[*taintset.Source]*summary.Summary{}, map[*taintset.Source]map[*ir.Function]bool{}}
}

// noteGiver notes whose parameter a source is.
func (c *callers) noteGiver(s *taintset.Source, to *summary.Summary) { c.givers[s] = to }

// A function that is some calls away takes part in the same call of the library; what is
// farther may as well be one that was started for others.
const (
	maxAway = 3
	maxNear = 2000 // functions
)

// isNear reports whether the function that is given the source is the one, or is not far
// above it.
func (c *callers) isNear(s *taintset.Source, fn *ir.Function) bool {
	near, ok := c.near[s]
	if !ok {
		near = map[*ir.Function]bool{}
		if giver := c.givers[s]; giver != nil {
			near[giver.Function] = true
			level := []*summary.Summary{giver}
			for range maxAway {
				var next []*summary.Summary
				for _, sum := range level {
					for _, child := range sum.Callees {
						if !near[child.Function] && len(near) < maxNear {
							near[child.Function] = true
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

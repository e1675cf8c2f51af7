package taint

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/tree"
)

// A run is one analysis of a program: what all functions share.
type run struct {
	program Program
	options Options
	done    <-chan struct{} // closed when the analysis is to end
	models  []*model.Model
	meter   *meter
	unitOf  map[*ir.Function][]*ir.Function
	turns   *turns
	work    atomic.Int64          // that all tasks which are done took
	sets    map[string]*model.Set // by language
	bits    map[string]uint64     // by kind of sink

	startBit, hostBit uint64

	inheritedBit uint64 // of model.Inherited
	keyBits      uint64 // of what is harmless as a key: model.Prototype

	// Rules with places of their own. Their data is followed as their format says:
	// every operator and unknown call carries it, and models have no say.
	rules    []*Rule
	marks    map[*ir.Function]*marks
	ruleBits []uint64
	allRules uint64
	plain    bool // no models
	marked   bool // rules have places of their own
	local    bool // calls of functions of the program are not looked into

	safeCalls, safeIndexes, safeComparisons, safePrimitives, assignOnly uint64 // bits of rules

	boxed     map[*ir.Function]map[ir.Var]bool
	declared  map[string]bool   // globals that the program sets
	accessors map[string]bool   // names of the program's getters and setters
	globals   map[string]*value // constants
	lists     map[string]bool   // globals that hold a collection of constants
	fields    map[string]*value // constants, by class and field
	apis      map[string]string // by global: the function of a library that it holds

	written map[string]bool // names of fields that the program sets

	owners map[*ir.Function]string // of methods and makers of prototypes: the name of the maker

	atoms         sync.Map // atomKey → *atom
	sources       sync.Map // source → *source
	declaredTypes sync.Map // [2]string → string
	members       sync.Map // [2]string → string
	sharedTypes   sync.Map // [2]string → string
	tame          sync.Map // *atom → true: expressions that constant texts are matched with
	supers        sync.Map // [2]string → []string
	values        sync.Map // [3]string → *valueInfo
	params        sync.Map // *ir.Function → [][]*model.Entry
	roots         sync.Map // *ir.File → []string
	growths       sync.Map // [3]string → pcre.Growth
	summaries     sync.Map // summaryKey → *summary
	settled       sync.Map // *ir.Function → []settledPlace
}

// stopped reports whether the analysis is to end.
func (r *run) stopped() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// atom returns the interned atom.
func (r *run) atom(k atomKey) *atom {
	if p, ok := r.atoms.Load(k); ok {
		return p.(*atom)
	}
	at := &atom{atomKey: k}
	if i := strings.LastIndex(k.path, separator); k.deep || k.picked {
		if k.source == nil {
			at.up = r.atom(atomKey{in: k.in, path: k.path})
		}
	} else if i >= 0 {
		at.up, at.name = r.atom(atomKey{in: k.in, path: k.path[:i]}), k.path[i+len(separator):]
	}
	p, _ := r.atoms.LoadOrStore(k, at)
	return p.(*atom)
}

// deepAtom returns the atom of an input with all of its parts.
func (r *run) deepAtom(at *atom) *atom {
	if at.deep {
		return at
	}
	return r.atom(atomKey{in: at.in, path: at.path, deep: true})
}

// sourceAtom returns the atom of a source.
func (r *run) sourceAtom(s source) *atom {
	p, ok := r.sources.Load(s)
	if !ok {
		p, _ = r.sources.LoadOrStore(s, &s)
	}
	return r.atom(atomKey{source: p.(*source)})
}

// sourceValue returns the value of a source of a model.
func (r *run) sourceValue(a *analysis, e *model.Entry, node int32) *value {
	return &value{taint: r.sourceTaint(a.fn, e, node)}
}

// sourceTaint returns the taint of a source of a model.
func (r *run) sourceTaint(fn *ir.Function, e *model.Entry, node int32) taint {
	at := r.sourceAtom(source{file: fn.File, node: node, kind: e.Kind, rule: -1})
	return taint{{atom: at, trace: then(nil, fn, node, nil)}}
}

// set returns the models of the function's language.
func (r *run) set(fn *ir.Function) *model.Set {
	if s := r.sets[fn.File.Lang.Name]; s != nil {
		return s
	}
	return noModels
}

var noModels = model.NewSet("", nil)

// ruleBit returns the bit of what the sanitizers of a rule clean.
func (r *run) ruleBit(k int32) uint64 {
	if int(k) < len(r.ruleBits) {
		return r.ruleBits[k]
	}
	return 0
}

// labels reports whether what arrives at a sink is judged together: a rule asks for
// labels, or data has to meet an expression.
func (r *run) labels(k sinkKey) bool {
	if k.rule < 0 {
		return k.kind == model.Match
	}
	s := &r.rules[k.rule].Rule.Taint.Sinks[k.spec]
	return s.Requires != nil || len(s.RequiresEach) > 0
}

// kindBits returns the bits of a kind of sinks.
func (r *run) kindBits(kind string) uint64 {
	if kind == model.All {
		return allKinds
	}
	return r.bits[kind]
}

// memberName returns the name of a member for the models.
func (r *run) memberName(owner, name string) string {
	k := [2]string{owner, name}
	if s, ok := r.members.Load(k); ok {
		return s.(string)
	}
	s := owner + "." + name
	if strings.Count(s, ".") > 12 || len(s) > 300 {
		s = ""
	}
	r.members.Store(k, s)
	return s
}

// fieldType returns the type that the program declares for a field of a class, or of
// one above it.
func (r *run) fieldType(fn *ir.Function, class, name string) string {
	k := [2]string{class, name}
	if t, ok := r.declaredTypes.Load(k); ok {
		return t.(string)
	}
	found := ""
	for _, t := range r.types(fn, class) {
		c := r.program.Class(t)
		if c == nil || found != "" {
			continue
		}
		for i := range c.Fields {
			if c.Fields[i].Name == name {
				found = c.Fields[i].Type
			}
		}
	}
	r.declaredTypes.Store(k, found)
	return found
}

// types returns a type and its supertypes, nearest first.
func (r *run) types(fn *ir.Function, name string) []string {
	if name == "" {
		return nil
	}
	k := [2]string{fn.File.Lang.Name, name}
	if list, ok := r.supers.Load(k); ok {
		return list.([]string)
	}
	set := r.set(fn)
	list := []string{name}
	for i := 0; i < len(list) && len(list) < 100; i++ {
		more := set.Supertypes(list[i])
		if c := r.program.Class(list[i]); c != nil {
			more = append(slices.Clone(c.Bases), more...)
		}
		for _, t := range more {
			if !slices.Contains(list, t) {
				list = append(list, t)
			}
		}
	}
	r.supers.Store(k, list)
	return list
}

// A valueInfo is what models say of a member that is read.
type valueInfo struct {
	api     string
	sources []*model.Entry
	cleans  []*model.Entry // sanitizers: what the member can never hold
}

// value gives a member that was read what the models say of it.
func (r *run) value(a *analysis, i int32, owner, name string, v *value) *value {
	return r.info(a, owner, name).give(r, a, a.fn.Code[i].Node, v)
}

// info returns what the models say of a member.
func (r *run) info(a *analysis, owner, name string) *valueInfo {
	k := [3]string{a.fn.File.Lang.Name, owner, name}
	info, ok := r.values.Load(k)
	if !ok {
		x := &valueInfo{}
		for _, t := range r.types(a.fn, owner) {
			x.add(r.set(a.fn).Match(t + "." + name))
		}
		info, _ = r.values.LoadOrStore(k, x)
	}
	return info.(*valueInfo)
}

// partOf returns a part of a value whose owner models know by a name, with what they
// say makes it harmless: a function that is given the owner does not know of it.
func (r *run) partOf(a *analysis, owner, name string, v *value) *value {
	return r.info(a, owner, name).clean(r, v)
}

func (x *valueInfo) add(m *model.Matches) {
	for _, e := range m[model.Types] {
		if e.Form == model.Value && e.Type != "" && x.api == "" {
			x.api = e.Type
		}
	}
	for _, e := range m[model.Sources] {
		if e.Form == model.Value {
			x.sources = append(x.sources, e)
		}
	}
	for _, e := range m[model.Sanitizers] {
		if e.Form == model.Value {
			x.cleans = append(x.cleans, e)
		}
	}
}

func (x *valueInfo) give(r *run, a *analysis, node int32, v *value) *value {
	if x.api != "" {
		w := *v
		w.api = x.api
		v = &w
	}
	for _, e := range x.sources {
		v = v.with(v.taint.union(r.sourceValue(a, e, node).taint))
	}
	return x.clean(r, v)
}

func (x *valueInfo) clean(r *run, v *value) *value {
	for _, e := range x.cleans {
		v = v.with(v.taint.cleaned(r.kindBits(e.Kind)))
	}
	return v
}

// parameter gives a parameter what the models say of it: what the framework that
// calls the function passes.
func (r *run) parameter(a *analysis, st *state, i int, v *value) *value {
	lists, ok := r.params.Load(a.fn)
	if !ok {
		lists, _ = r.params.LoadOrStore(a.fn, r.parameterEntries(a.fn))
	}
	list := lists.([][]*model.Entry)
	if list == nil {
		return v
	}
	for _, e := range list[i] {
		switch e.Section {
		case model.Types:
			w := *v
			w.api = e.Type
			v = &w
		case model.Sources:
			if e.Form == model.Annotation && a.fn.File.Lang.Meaning.Decorators && (r.harmless(a.fn.Params[i].Type) ||
				numberInRoute(a.fn, a.fn.Params[i].Name)) {
				continue
			}
			s := r.sourceValue(a, e, a.fn.Params[i].Node)
			v = v.with(v.taint.union(s.taint))
			a.taintObject(st, v, s.taint)
		}
	}
	return v
}

// parameterEntries returns the entries for each parameter of a function, nil when
// there are none.
func (r *run) parameterEntries(fn *ir.Function) [][]*model.Entry {
	out := make([][]*model.Entry, len(fn.Params))
	any := false
	add := func(i int, e *model.Entry) {
		out[i] = append(out[i], e)
		any = true
	}
	set := r.set(fn)
	for _, name := range annotations(fn.File, fn.Node) {
		r.eachParameter(fn, set.Match(name), model.Annotation, add)
	}
	named, at := r.byNames(fn)
	r.eachParameter(fn, named, model.Call, func(i int, e *model.Entry) {
		if i += at; i < len(out) {
			add(i, e)
		}
	})
	if len(fn.Params) > 0 && fn.Params[0].Name != "" {
		for _, root := range r.importedRoots(fn.File) {
			r.eachParameter(fn, set.Match("importing."+root+"."+fn.Params[0].Name), model.Call, add)
		}
	}
	if fn.Name != "" && fn.Class == nil && fn.Parent != nil && fn.Parent.Kind == ir.TopLevel {
		r.eachParameter(fn, set.Match("exported."+fn.Name), model.Call, add)
	}
	if fn.Class != nil {
		for _, t := range r.types(fn, fn.Class.Qualified) {
			r.eachParameter(fn, set.Match(r.memberName(t, fn.Name)), model.Call, add)
		}
	}
	for i := range fn.Params {
		for _, name := range annotations(fn.File, fn.Params[i].Node) {
			m := set.Match(name)
			for _, e := range slices.Concat(m[model.Types], m[model.Sources]) {
				for _, p := range e.Places {
					if e.Form == model.Annotation && p.Base == model.Parameter && p.Index == model.Self {
						add(i, e)
					}
				}
			}
		}
	}
	if !any {
		return nil
	}
	return out
}

// eachParameter calls add for the parameters of which entries speak.
func (r *run) eachParameter(fn *ir.Function, m *model.Matches, form model.Form, add func(int, *model.Entry)) {
	for _, e := range slices.Concat(m[model.Types], m[model.Sources]) {
		if e.Form != form {
			continue
		}
		holds := func(i int) bool {
			return !slices.ContainsFunc(e.If, func(c model.Condition) bool { return r.parameterIs(fn, i, &c) == c.Not })
		}
		for _, p := range e.Places {
			if p.Base != model.Parameter || p.Index == model.Self {
				continue
			}
			for i := range fn.Params {
				if p.Index == model.Any || p.Index == i || p.Rest && i >= p.Index || p.Name != "" &&
					fn.Params[i].Name == p.Name {
					if !holds(i) {
						continue
					}
					add(i, e)
				}
			}
		}
	}
}

// annotations returns the qualified names of the annotations of a declaration.
func annotations(f *ir.File, node int32) []string {
	if node < 0 {
		return nil
	}
	var names []string
	for an := range f.Tree.All(node, tree.RoleAnnotation) {
		v := f.Tree.Child(an, tree.RoleValue)
		if f.Tree.Is(v, tree.Call) {
			v = f.Tree.Child(v, tree.RoleCallee)
		} else if f.Tree.Is(v, tree.New) {
			v = f.Tree.Child(v, tree.RoleType)
		}
		name := f.Names.Qualified(v)
		if name == "" {
			name = f.Tree.Dotted(v)
		}
		if f.Tree.Is(v, tree.Member) { // a method of a value: @app.route
			object := f.Tree.Child(v, tree.RoleObject)
			if t := f.Names.Type(object); t != "" {
				names = append(names, t+"."+f.Tree.Text(f.Tree.Child(v, tree.RoleProperty)))
			} else if f.Names.Qualified(object) == "" {
				names = append(names, "?."+f.Tree.Text(f.Tree.Child(v, tree.RoleProperty)))
			}
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// staticType returns the type of an expression as the source says it.
func (a *analysis) staticType(node int32) string {
	if node < 0 {
		return ""
	}
	return a.fn.File.Names.Type(node)
}

// classOf returns the class of an input, "" when it is not known.
func (a *analysis) classOf(at *atom) string {
	if at.in.kind == inThis && at.path == "" && a.fn.Class != nil {
		return a.fn.Class.Qualified
	}
	return ""
}

// primitive are the names of types whose values hold no text.
var primitive = map[string]bool{
	"int": true, "long": true, "short": true, "byte": true, "float": true, "double": true, "boolean": true,
	"bool":   true,
	"number": true, "bigint": true, "Number": true, "Boolean": true, "complex": true, "char": true, "uint": true,
	"int8": true, "int16": true, "int32": true, "int64": true, "uint8": true, "uint16": true, "uint32": true,
	"uint64":  true,
	"float32": true, "float64": true, "uintptr": true, "rune": true, "decimal": true,
	"java.lang.Integer": true, "java.lang.Long": true, "java.lang.Boolean": true, "java.lang.Double": true,
	"java.lang.Float": true, "java.lang.Short": true, "java.lang.Byte": true, "java.lang.Character": true,
	"java.util.UUID": true, "java.math.BigInteger": true, "java.math.BigDecimal": true,
}

// harmless reports whether values of the type cannot hold what somebody wrote.
func (r *run) harmless(typ string) bool { return !r.plain && primitive[typ] }

func (r *run) constantGlobal(name string) *value { return r.globals[name] }

func (r *run) constantField(class, name string) *value {
	if class == "" {
		return nil
	}
	return r.fields[class+"."+name]
}

// survey finds the variables that functions share, and the globals and fields that
// hold one constant for ever.
func (r *run) survey(units [][]*ir.Function) {
	r.declared, r.accessors = map[string]bool{}, map[string]bool{}
	r.boxed, r.globals, r.fields = map[*ir.Function]map[ir.Var]bool{}, map[string]*value{}, map[string]*value{}
	r.lists, r.apis, r.owners = map[string]bool{}, map[string]string{}, map[*ir.Function]string{}
	stores, names, modules := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, unit := range units {
		for _, fn := range unit {
			if fn.Accessor != ir.NoAccessor {
				r.accessors[fn.Name] = true
			}
			modules[fn.File.Module] = true
			r.shared(fn)
			r.own(fn)
			r.constants(fn, stores, names)
		}
	}
	for name, n := range stores {
		if n > 1 {
			delete(r.globals, name)
			delete(r.lists, name)
		}
	}
	r.written = make(map[string]bool, len(names))
	for name := range names {
		r.written[name] = true
	}
	r.passedOnly(stores, modules)
	for name := range r.fields {
		if names[model.Last(name)] > 1 {
			delete(r.fields, name)
		}
	}
}

// shared notes the variables that a function takes from the one around it.
func (r *run) shared(fn *ir.Function) {
	if fn.Parent == nil {
		return
	}
	for _, c := range fn.Captures {
		if c.Outer < 0 {
			continue
		}
		if r.boxed[fn.Parent] == nil {
			r.boxed[fn.Parent] = map[ir.Var]bool{}
		}
		r.boxed[fn.Parent][c.Outer] = true
	}
}

// constants notes what a function stores to globals and fields.
func (r *run) constants(fn *ir.Function, stores, names map[string]int) {
	members := held{}
	for i := range fn.Code {
		in := &fn.Code[i]
		switch in.Op {
		case ir.StoreGlobal:
			stores[in.Text]++
			r.declared[in.Text] = true
			r.passed(fn, in, members)
			if v := r.constantOf(fn, in.B, 0); v != nil {
				r.globals[in.Text] = v
			} else if r.constantList(fn, in.B, 0) {
				r.lists[in.Text] = true
			}
		case ir.StoreField:
			names[in.Text]++
			members.store(r, fn, in)
			if fn.Class != nil && (fn.Kind == ir.Initializer || fn.Kind == ir.Constructor) {
				if v := r.constantOf(fn, in.B, 0); v != nil {
					r.fields[fn.Class.Qualified+"."+in.Text] = v
				}
			}
		}
	}
}

// constantOf returns the constant that a variable is defined as, or nil.
func (r *run) constantOf(fn *ir.Function, v ir.Var, depth int) *value {
	i := fn.Def(v)
	if i < 0 || depth > 4 || r.marksSource(fn, i) {
		return nil
	}
	in := &fn.Code[i]
	switch in.Op {
	case ir.Copy, ir.Cast:
		return r.constantOf(fn, in.A, depth+1)
	case ir.Const:
		switch ir.ConstKind(in.X) {
		case ir.ConstString:
			return r.fromLiteral(fn, in, stringValue(in.Text), r.literalEntries(fn, in.Text))
		case ir.ConstCharacter:
			return charValue(in.Text)
		case ir.ConstNumber:
			n, _ := parseNumber(in.Text)
			return n
		case ir.ConstBool:
			return boolValue(strings.EqualFold(in.Text, "true"))
		case ir.ConstRegex:
			return r.regexOf(fn, in)
		}
	case ir.Invoke:
		return r.compiled(fn, fn.Call(in), in.Node, depth)
	case ir.Binary:
		x, y := r.constantOf(fn, in.A, depth+1), r.constantOf(fn, in.B, depth+1)
		if x == nil || y == nil {
			return nil
		}
		if v := foldBinary(in.Text, x, y); v != nil {
			return v.with(x.taint.union(y.taint))
		}
	}
	return nil
}

// marksSource reports whether a rule takes the value of an instruction for a source:
// it is followed then, and not only known.
func (r *run) marksSource(fn *ir.Function, i int32) bool {
	m := r.marks[fn]
	return m != nil && slices.ContainsFunc(m.at[i], func(k mark) bool { return k.kind == markSource })
}

// entry reports whether a framework calls the function.
func (r *run) entry(fn *ir.Function) bool {
	set := r.set(fn)
	for _, name := range annotations(fn.File, fn.Node) {
		if len(set.Match(name)[model.Entrypoints]) > 0 {
			return true
		}
	}
	if fn.Class != nil {
		for _, t := range r.types(fn, fn.Class.Qualified) {
			if len(set.Match(r.memberName(t, fn.Name))[model.Entrypoints]) > 0 {
				return true
			}
		}
	}
	return r.parameterEntries(fn) != nil
}

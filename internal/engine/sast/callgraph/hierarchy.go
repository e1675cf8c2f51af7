package callgraph

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/tree"
)

// maxWalk bounds walks through the classes above or below one.
const maxWalk = 2000

// newName is the name under which constructors are found.
const newName = "<new>"

// hierarchy knows the classes of the program. It is complete before calls are resolved, and does
// not change afterwards.
type hierarchy struct {
	classes      map[string]int32   // by qualified name
	byName       map[string][]int32 // functions, by qualified name
	names        map[string]int32   // numbers of member names
	methods      map[int64][]int32  // by class and member name
	members      [][]string         // by class: the names of its methods
	bases        [][]int32          // by class: those in the program
	subs         [][]int32          // by class
	declared     []*ir.Class
	instantiated []bool // by class: some code makes an object of it
}

// buildClasses enters the classes, functions and members of the program. The first class
// of a name wins, which is the one of the first path.
func (h *hierarchy) buildClasses(g *Graph) {
	h.classes, h.byName, h.names, h.methods = map[string]int32{}, map[string][]int32{}, map[string]int32{},
		map[int64][]int32{}
	h.declared = g.Classes
	n := len(g.Classes)
	h.members = make([][]string, n)
	h.bases, h.subs, h.instantiated = make([][]int32, n), make([][]int32, n), make([]bool, n)
	for i, c := range g.Classes {
		if _, ok := h.classes[c.Qualified]; !ok {
			h.classes[c.Qualified] = int32(i)
		}
	}
	for _, fn := range g.Functions {
		if fn.Kind == ir.LambdaFunction || fn.Kind == ir.TopLevel {
			continue
		}
		h.byName[fn.Qualified] = append(h.byName[fn.Qualified], fn.ID)
		if c, ok := h.classes[fn.Owner]; ok && fn.Owner != "" {
			h.addMethod(c, fn.Name, fn.ID)
		}
	}
	for i, c := range g.Classes {
		h.addClass(int32(i), c)
	}
	h.addImplicitInterfaces(g)
	h.findInstantiated(g)
}

// addClass enters the methods of a class and the classes above it that the program has. Bases
// outside of the program are only names, see Supertypes.
func (h *hierarchy) addClass(i int32, c *ir.Class) {
	for _, m := range c.Methods {
		h.addMethod(i, m.Name, m.ID)
		if m.Kind == ir.Constructor {
			h.addMethod(i, newName, m.ID)
		}
	}
	for _, b := range c.Bases {
		if k, ok := h.classes[b]; ok && k != i && !slices.Contains(h.bases[i], k) {
			h.bases[i] = append(h.bases[i], k)
			h.subs[k] = append(h.subs[k], i)
		}
	}
}

// findInstantiated notes which classes have objects. A class that is used as a value may be
// instantiated by whoever gets it.
func (h *hierarchy) findInstantiated(g *Graph) {
	note := func(q string) {
		if c, ok := h.classes[q]; ok {
			h.instantiated[c] = true
		}
	}
	for _, fn := range g.Functions {
		for i := range fn.Calls {
			if c := &fn.Calls[i]; c.Kind == ir.CallNew || c.Kind == ir.CallFunction {
				note(c.Qualified)
			}
		}
		for i := range fn.Code {
			switch in := &fn.Code[i]; in.Op {
			case ir.New:
				note(in.Text)
			case ir.ClassValue:
				h.instantiated[fn.File.Classes[in.X].ID] = true
			}
		}
	}
}

// addImplicitInterfaces makes the types of Go that have all methods of an interface its subtypes.
// Go's interfaces are satisfied without a declaration. Only names are compared, as signatures
// would need the types of all packages.
func (h *hierarchy) addImplicitInterfaces(g *Graph) {
	having := map[string][]int32{}
	for i, c := range g.Classes {
		if c.Kind != "interface" && c.File.Lang.Semantics.ImportsFolders {
			for _, m := range h.memberNames(int32(i)) {
				having[m] = append(having[m], int32(i))
			}
		}
	}
	for i, c := range g.Classes {
		if c.Kind != "interface" || !c.File.Lang.Semantics.ImportsFolders {
			continue
		}
		need := h.memberNames(int32(i))
		if len(need) == 0 {
			continue
		}
		for _, s := range having[need[0]] {
			if !slices.Contains(h.bases[s], int32(i)) && h.hasAll(s, need) {
				h.bases[s] = append(h.bases[s], int32(i))
				h.subs[i] = append(h.subs[i], s)
			}
		}
	}
}

// hasAll reports whether a class has a method of each name. It may inherit them: whether a type
// implements an interface of Go is asked so.
func (h *hierarchy) hasAll(c int32, names []string) bool {
	for _, n := range names {
		if len(h.lookupMethod(c, n)) == 0 {
			return false
		}
	}
	return true
}

// memberNames returns the names of the methods of a class and of those it embeds. They decide
// which interfaces a type of Go satisfies.
func (h *hierarchy) memberNames(c int32) []string {
	var list []string
	for _, k := range h.superclasses(c) {
		list = append(list, h.members[k]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// addMethod enters a method of a class. A name may have several, which are overloads. Names are
// numbered once for all classes, so that a key is two small numbers. The order of members is that
// of the files, which makes the results repeat.
func (h *hierarchy) addMethod(c int32, name string, fn int32) {
	id, ok := h.names[name]
	if !ok {
		id = int32(len(h.names))
		h.names[name] = id
	}
	k := int64(c)<<32 | int64(id)
	if !slices.Contains(h.methods[k], fn) {
		if len(h.methods[k]) == 0 {
			h.members[c] = append(h.members[c], name)
		}
		h.methods[k] = append(h.methods[k], fn)
	}
}

// ownMethods returns the methods that the class itself declares under the name. Names are
// numbered, so that one map serves all classes.
func (h *hierarchy) ownMethods(c int32, name string) []int32 {
	id, ok := h.names[name]
	if !ok {
		return nil
	}
	return h.methods[int64(c)<<32|int64(id)]
}

// lookupMethod returns the methods that the name means for an object of the class: its own, or
// those of the nearest class above. The nearest is the first in breadth, which agrees with the
// languages' rules except for diamonds.
func (h *hierarchy) lookupMethod(c int32, name string) []int32 {
	if list := h.ownMethods(c, name); list != nil || len(h.bases[c]) == 0 {
		return list
	}
	for _, k := range h.superclasses(c) {
		if list := h.ownMethods(k, name); list != nil {
			return list
		}
	}
	return nil
}

// superclasses returns the class and those above it, the nearest first.
func (h *hierarchy) superclasses(c int32) []int32 { return walkClasses(c, h.bases) }

// subclasses returns the class and those below it.
func (h *hierarchy) subclasses(c int32) []int32 { return walkClasses(c, h.subs) }

// walkClasses returns a class and those that are reached from it, in breadth. Circles are possible
// in broken source.
func walkClasses(c int32, next [][]int32) []int32 {
	list := []int32{c}
	if len(next[c]) == 0 {
		return list
	}
	seen := map[int32]bool{c: true}
	for i := 0; i < len(list) && len(list) < maxWalk; i++ {
		for _, k := range next[list[i]] {
			if !seen[k] {
				seen[k] = true
				list = append(list, k)
			}
		}
	}
	return list
}

// Class returns the class with the qualified name, nil when the program has none.
func (g *Graph) Class(qualified string) *ir.Class {
	if c, ok := g.classes[qualified]; ok {
		return g.Classes[c]
	}
	return nil
}

// Function returns the functions with the qualified name.
func (g *Graph) Function(qualified string) []*ir.Function { return g.functionList(g.byName[qualified]) }

// Method returns the methods that the name means for an object of the class; several
// when it is overloaded.
func (g *Graph) Method(c *ir.Class, name string) []*ir.Function {
	return g.functionList(g.lookupMethod(c.ID, name))
}

// Constructors returns the constructors that making an object of the class runs:
// its own, or the inherited ones; and its Initializer when it has none of its own.
func (g *Graph) Constructors(c *ir.Class) []*ir.Function {
	return g.functionList(g.constructorsOf(c.ID))
}

// constructorsOf returns the constructors that run for a new object of the class, see
// Graph.Constructors.
func (h *hierarchy) constructorsOf(c int32) []int32 {
	if list := h.ownMethods(c, newName); list != nil {
		return list
	}
	var list []int32
	for _, k := range h.superclasses(c) {
		if own := h.ownMethods(k, newName); own != nil {
			return append(list, own...)
		}
		if init := h.declared[k].Init; init != nil {
			list = append(list, init.ID)
		}
	}
	return list
}

// Supertypes returns the names of the class' bases and of theirs, in the program or
// not, the nearest first; not its own.
func (g *Graph) Supertypes(c *ir.Class) []string {
	var list []string
	for _, k := range g.superclasses(c.ID) {
		for _, b := range g.Classes[k].Bases {
			if !slices.Contains(list, b) {
				list = append(list, b)
			}
		}
		for _, b := range g.bases[k] { // interfaces of Go, which nobody declares
			if q := g.Classes[b].Qualified; !slices.Contains(list, q) {
				list = append(list, q)
			}
		}
	}
	return list
}

// IsSubtype reports whether the type is the other one or has it above, which need
// not be in the program.
func (g *Graph) IsSubtype(typ, of string) bool {
	if typ == of {
		return true
	}
	c, ok := g.classes[typ]
	return ok && slices.Contains(g.Supertypes(g.Classes[c]), of)
}

// Subtypes returns the classes of the program that have the type above them, by ID,
// or are it. The type need not be in the program.
func (g *Graph) Subtypes(of string) []*ir.Class {
	var roots []int32
	if c, ok := g.classes[of]; ok {
		roots = []int32{c}
	} else {
		for i, c := range g.Classes {
			if slices.Contains(c.Bases, of) {
				roots = append(roots, int32(i))
			}
		}
	}
	var ids []int32
	for _, r := range roots {
		ids = append(ids, g.subclasses(r)...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	list := make([]*ir.Class, len(ids))
	for i, id := range ids {
		list[i] = g.Classes[id]
	}
	return list
}

// selectOverloads chooses among functions of one name those that take the arguments: by their
// number, then by the types that are known of both sides. When none fits all are kept: a call
// without a target would lose its data.
func (h *hierarchy) selectOverloads(g *Graph, list []int32, fn *ir.Function, c *ir.Call) []int32 {
	if len(list) < 2 {
		return list
	}
	args := fn.Args(c)
	var fit []int32
	best := -1
	for _, id := range list {
		score := scoreArguments(g.Functions[id], fn, args)
		if score < 0 || score < best {
			continue
		}
		if score > best {
			fit, best = nil, score
		}
		fit = append(fit, id)
	}
	if fit == nil {
		return list
	}
	return fit
}

// scoreArguments returns how well arguments fit the parameters of a function: two for each
// argument of the parameter's very type, one for a function without a rest parameter; -1
// when their numbers do not agree.
func scoreArguments(callee, fn *ir.Function, args []ir.Arg) int {
	n := len(callee.Params)
	rest := n > 0 && callee.Params[n-1].Rest == ir.Positional
	for _, a := range args {
		if a.Rest != ir.One {
			return 0 // how many arguments there are is not known
		}
	}
	if len(args) > n && !rest || needsMore(callee, len(args)) {
		return -1
	}
	score := 0
	for i, a := range args[:min(n, len(args))] {
		if t := fn.File.Names.Type(a.Node); t != "" && lastPart(t) == lastPart(callee.Params[i].Type) {
			score += 2
		}
	}
	if !rest {
		score++
	}
	return score
}

// needsMore reports whether one of the parameters behind the number of arguments has no
// default.
func needsMore(callee *ir.Function, given int) bool {
	for i := given; i < len(callee.Params); i++ {
		p := &callee.Params[i]
		if p.Rest == ir.One && callee.File.Tree.Child(p.Node, tree.RoleValue) < 0 {
			return true
		}
	}
	return false
}

// lastPart returns the last part of a dotted name or a path.
func lastPart(q string) string {
	for i := len(q) - 1; i >= 0; i-- {
		if q[i] == '.' || q[i] == '/' {
			return q[i+1:]
		}
	}
	return q
}

package scope

import "merlon/internal/engine/sast/tree"

// This file finds the declarations of a file and what its names mean.

// A binder enters the declarations of a file and resolves its names, in two walks over the nodes:
// a use may stand in front of the declaration.
type binder struct {
	*Info
	stack []int32                    // open scopes
	ends  []int32                    // the node at which each one ends
	outer map[int32]map[string]int32 // by scope: names that Global gives to another scope
	again map[int32][]int32          // by binding of an Import: later imports of the name
}

// declareNames makes the scopes and puts every declared name into one. Scopes are numbered in the
// order of the nodes that open them.
func (b *binder) declareNames() {
	f := b.File
	for i := int32(0); i < int32(len(f.Nodes)); i++ {
		for len(b.ends) > 0 && i >= b.ends[len(b.ends)-1] {
			b.stack, b.ends = b.stack[:len(b.stack)-1], b.ends[:len(b.ends)-1]
		}
		if b.opensScope(i) {
			b.in[i] = int32(len(b.scopes))
			b.scopes = append(b.scopes, scope{parent: b.topScope(), node: i})
			b.stack = append(b.stack, b.in[i])
			b.ends = append(b.ends, f.Nodes[i].Next)
		}
		b.declareNode(i)
	}
}

// opensScope reports whether the node is a scope. Languages without block scope (Python, older
// JavaScript) have those of functions and classes only.
func (b *binder) opensScope(i int32) bool {
	switch b.File.Nodes[i].Kind {
	case tree.FileKind, tree.Function, tree.Lambda, tree.Class, tree.Comprehension:
		return true
	case tree.Block:
		if p := b.File.Nodes[i].Parent; p >= 0 && b.File.Nodes[p].Kind == tree.Class {
			return false // the members are those of the class
		}
		return b.Semantics.BlockScope || i == tree.Root
	case tree.For, tree.ForEach, tree.Catch, tree.With, tree.If, tree.Switch, tree.Case, tree.Try:
		return b.Semantics.BlockScope || i == tree.Root
	default:
		return i == tree.Root
	}
}

// declareNode declares what the node declares. The name of a function belongs to the scope around
// it, but the function has opened its own already.
func (b *binder) declareNode(i int32) {
	f := b.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Package:
		b.Package = n.Text
	case tree.Import:
		b.declareImport(i)
	case tree.Function, tree.Class:
		if name := f.Child(i, tree.RoleName); f.Is(name, tree.Name) {
			b.bindAs(b.functionName(i, f.Nodes[name].Text), name, max(0, b.scopes[b.topScope()].parent), write{i, i})
		}
	case tree.Lambda, tree.TypeAlias, tree.TypeParameter:
		if name := f.Child(i, tree.RoleName); f.Is(name, tree.Name) {
			b.bindName(name, b.topScope(), write{i, i})
		}
	case tree.Assign:
		if b.Semantics.AssignDeclares {
			b.declareAssigned(f.Child(i, tree.RoleTarget), assignmentWrite(f, i))
		}
	case tree.Case:
		for c := range f.All(i, tree.RoleCondition) {
			b.declareCaptures(c, write{i, tree.None})
		}
	case tree.Global:
		for name := range f.All(i, tree.RoleName) {
			b.declareGlobal(n.Text, f.Text(name))
		}
	default:
		b.declareVariables(i)
	}
}

// declareVariables declares the variables of a node that has them as its target. The variables of
// a loop are declared where the language lets an assignment declare.
func (b *binder) declareVariables(i int32) {
	f := b.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Variable:
		b.declareTargets(f.Child(i, tree.RoleTarget), b.variableScope(n.Text), write{i, f.Child(i, tree.RoleValue)})
	case tree.Field:
		b.declareTargets(f.Child(i, tree.RoleTarget), b.topScope(), write{i, f.Child(i, tree.RoleValue)})
	case tree.Parameter, tree.Catch, tree.Clause:
		b.declareTargets(f.Child(i, tree.RoleTarget), b.variableScope(""), write{i, tree.None})
	case tree.ForEach:
		t := f.Child(i, tree.RoleTarget)
		if t >= 0 && !f.Is(t, tree.Variable) && (b.Semantics.AssignDeclares || n.Text == "range") {
			b.declareTargets(t, b.variableScope(""), write{i, tree.None})
		}
	case tree.TypeTest:
		b.declareTargets(f.Child(i, tree.RoleTarget), b.testScope(i), write{i, tree.None})
	}
}

// assignmentWrite returns the write that an Assign is. A compound assignment has no value of its
// own.
func assignmentWrite(f *tree.File, i int32) write {
	if t := f.Nodes[i].Text; t == "=" || t == ":=" {
		return write{i, f.Child(i, tree.RoleValue)}
	}
	return write{i, tree.None}
}

// declareImport binds an import's name. An import of all names binds none: it is kept as a
// wildcard.
func (b *binder) declareImport(i int32) {
	f := b.File
	if f.Text(f.Child(i, tree.RoleName)) == "*" && f.Child(i, tree.RoleAlias) < 0 {
		b.Wildcards = append(b.Wildcards, b.moduleName(f.Text(i)))
		return
	}
	name := b.Bound(i)
	if name == "" {
		return
	}
	binding := i
	for _, r := range []tree.Role{tree.RoleAlias, tree.RoleName, tree.RolePath} {
		if c := f.Child(i, r); c >= 0 {
			binding = c
			break
		}
	}
	b.putName(b.topScope(), name, binding)
	b.writes[binding] = append(b.writes[binding], write{i, i})
}

// topScope returns the innermost open scope, -1 before the first.
func (b *binder) topScope() int32 {
	if len(b.stack) == 0 {
		return -1
	}
	return b.stack[len(b.stack)-1]
}

// variableScope returns the scope of a variable declared here with the keyword. JavaScript's var
// belongs to the function, let and const to the block.
func (b *binder) variableScope(keyword string) int32 {
	if b.Semantics.BlockScope && (keyword != "var" || !b.Semantics.VarHoists) {
		return b.topScope()
	}
	return b.functionScope(b.topScope())
}

// testScope returns the scope of a name that a type test binds. A negated test in
// the condition of an If is true behind the If: "if (!(x instanceof T t)) return;".
func (b *binder) testScope(i int32) int32 {
	sc := b.variableScope("")
	negated := false
	for p := b.File.Nodes[i].Parent; p >= 0 && b.File.Nodes[p].Kind.Expression(); p = b.File.Nodes[p].Parent {
		negated = negated || b.File.Is(p, tree.Unary)
	}
	if negated && b.File.Is(b.scopes[sc].node, tree.If) {
		return b.scopes[sc].parent
	}
	return sc
}

// functionScope returns the nearest scope outwards that is a function, class or file. Scope 0 is
// the file.
func (b *binder) functionScope(sc int32) int32 {
	for ; sc > 0; sc = b.scopes[sc].parent {
		switch b.File.Nodes[b.scopes[sc].node].Kind {
		case tree.FileKind, tree.Function, tree.Lambda, tree.Class, tree.Comprehension:
			return sc
		}
	}
	return 0
}

// declareTargets declares every name of a target, which may be a pattern. The parts of a pattern
// get parts of the value, which are not known.
func (b *binder) declareTargets(t, sc int32, w write) {
	if t < 0 {
		return
	}
	f := b.File
	switch n := &f.Nodes[t]; n.Kind {
	case tree.Name:
		b.bindName(t, sc, w)
	case tree.Tuple, tree.List, tree.Set, tree.Map:
		for c := range f.All(t, tree.RoleElement) {
			b.declareTargets(c, sc, write{w.node, tree.None})
		}
	case tree.Pair, tree.Spread, tree.Keyword:
		b.declareTargets(f.Child(t, tree.RoleValue), sc, write{w.node, tree.None})
	case tree.Assign, tree.Parameter, tree.Variable: // a part with a default
		b.declareTargets(f.Child(t, tree.RoleTarget), sc, write{w.node, tree.None})
	}
}

// declareCaptures declares the names that a case binds: where an assignment declares, a
// mere name in a pattern does so too (Python's match).
func (b *binder) declareCaptures(i int32, w write) {
	if i < 0 || !b.Semantics.AssignDeclares {
		return
	}
	f := b.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Name:
		if n.Text != "_" {
			b.declareAssigned(i, w)
		}
	case tree.Tuple, tree.List, tree.Map, tree.Binary, tree.Set:
		for c := range f.Children(i) {
			b.declareCaptures(c, w)
		}
	case tree.Call, tree.New:
		for c := range f.All(i, tree.RoleArgument) {
			b.declareCaptures(c, w)
		}
	case tree.Pair, tree.Spread, tree.Keyword:
		b.declareCaptures(f.Child(i, tree.RoleValue), w)
	case tree.Assign:
		b.declareCaptures(f.Child(i, tree.RoleValue), w)
		b.declareAssigned(f.Child(i, tree.RoleTarget), w)
	}
}

// declareAssigned declares the names of an assignment's target that are new. In Python the first
// assignment in a function declares the variable; in a comprehension that of the function around
// it ("walrus").
func (b *binder) declareAssigned(t int32, w write) {
	if t < 0 {
		return
	}
	f := b.File
	switch n := &f.Nodes[t]; n.Kind {
	case tree.Name:
		sc := b.functionScope(b.topScope())
		if f.Nodes[b.scopes[sc].node].Kind == tree.Comprehension {
			sc = b.functionScope(b.scopes[sc].parent)
		}
		d, known := b.scopes[sc].names[n.Text]
		if !known {
			if d, known = b.outer[sc][n.Text]; !known {
				b.bindName(t, sc, w)
				return
			}
		}
		b.decl[t] = d
		b.writes[d] = append(b.writes[d], w)
	case tree.Tuple, tree.List:
		for c := range f.All(t, tree.RoleElement) {
			b.declareAssigned(c, write{w.node, tree.None})
		}
	case tree.Spread:
		b.declareAssigned(f.Child(t, tree.RoleValue), write{w.node, tree.None})
	}
}

// declareGlobal takes a name out of the innermost function. Assignments in the function then write
// the variable outside.
func (b *binder) declareGlobal(keyword, name string) {
	sc := b.functionScope(b.topScope())
	if sc == 0 {
		return
	}
	d := tree.None
	if keyword == "nonlocal" {
		d = b.lookupFrom(b.scopes[sc].parent, name)
	} else if g, ok := b.scopes[0].names[name]; ok {
		d = g
	}
	if b.outer == nil {
		b.outer = map[int32]map[string]int32{}
	}
	if b.outer[sc] == nil {
		b.outer[sc] = map[string]int32{}
	}
	if d >= 0 {
		b.outer[sc][name] = d
	}
}

// bindName declares a name in a scope. A second declaration in one scope is a further
// write of the first, as in languages in which that is allowed.
func (b *binder) bindName(name, sc int32, w write) {
	b.bindAs(b.File.Nodes[name].Text, name, sc, w)
}

// functionName is the key under which a scope keeps the name of a Function or Class:
// with parentheses where functions have names of their own.
func (b *binder) functionName(i int32, name string) string {
	if b.Semantics.FunctionsApart && b.File.Is(i, tree.Function) && name != "" {
		return name + "()"
	}
	return name
}

// bindAs declares the binding name under a key. A name without a text is bound to itself. All
// writes of a declaration are kept, since a name has the value of one of them only if it has no
// other.
func (b *binder) bindAs(text string, name, sc int32, w write) {
	if text == "" {
		b.decl[name] = name
		return
	}
	d := b.putName(sc, text, name)
	b.decl[name] = d
	b.writes[d] = append(b.writes[d], w)
}

// putName returns the binding of the name in the scope, which is this one when it is the first. At
// the top of a file a later import replaces an earlier one of the name for the uses behind it.
func (b *binder) putName(sc int32, name string, binding int32) int32 {
	s := &b.scopes[sc]
	if d, ok := s.names[name]; ok && b.File.Nodes[b.scopes[sc].node].Kind != tree.FileKind {
		return d
	} else if ok && b.Declares(d, tree.Import) == b.Declares(binding, tree.Import) {
		if d != binding && b.Declares(d, tree.Import) {
			if b.again == nil {
				b.again = map[int32][]int32{}
			}
			b.again[d] = append(b.again[d], binding)
			b.decl[binding] = binding
			return binding
		}
		return d
	}
	if s.names == nil {
		s.names = map[string]int32{}
	}
	s.names[name] = binding
	b.decl[binding] = binding
	return binding
}

// Declares reports whether the binding is one of a construct of the kind.
func (s *Info) Declares(binding int32, k tree.Kind) bool {
	return s.File.Is(s.Declarator(binding), k) || s.File.Is(binding, k)
}

// resolveNames gives every other name its meaning, and finds the writes that are no declarations.
// The walk opens the same scopes as declareNames.
func (b *binder) resolveNames() {
	f := b.File
	b.stack, b.ends = b.stack[:0], b.ends[:0]
	for i := int32(0); i < int32(len(f.Nodes)); i++ {
		for len(b.ends) > 0 && i >= b.ends[len(b.ends)-1] {
			b.stack, b.ends = b.stack[:len(b.stack)-1], b.ends[:len(b.ends)-1]
		}
		if b.in[i] >= 0 {
			b.stack = append(b.stack, b.in[i])
			b.ends = append(b.ends, f.Nodes[i].Next)
		}
		n := &f.Nodes[i]
		switch {
		case n.Kind == tree.Name && b.decl[i] < 0 && isUse(f, i):
			b.decl[i] = b.latestImport(b.findAt(i), i)
		case n.Kind == tree.Type && b.decl[i] < 0 && isTypeName(n.Text):
			b.decl[i] = b.latestImport(b.findName(firstPart(n.Text)), i)
		}
	}
	for i := int32(0); i < int32(len(f.Nodes)); i++ {
		b.recordWrite(i)
		b.recordUndeclared(i)
	}
}

// recordUndeclared records an assignment to a name that the file does not declare: what it holds
// is known at least inside of the function. JavaScript and Ruby make globals that way.
func (b *binder) recordUndeclared(i int32) {
	f := b.File
	if f.Nodes[i].Kind != tree.Assign {
		return
	}
	t := f.Child(i, tree.RoleTarget)
	if !f.Is(t, tree.Name) || b.decl[t] >= 0 {
		return
	}
	if b.free == nil {
		b.free = map[freeName][]write{}
	}
	k := freeName{b.functionOf(i), f.Nodes[t].Text}
	b.free[k] = append(b.free[k], assignmentWrite(f, i))
}

// findName looks the name up from the innermost open scope. Names that Global has given to another
// scope come first.
func (b *binder) findName(name string) int32 {
	sc := b.topScope()
	if d, ok := b.outer[b.functionScope(sc)][name]; ok {
		return d
	}
	return b.lookupFrom(sc, name)
}

// findAt looks up what a Name means where it stands. Where functions have names of their own, a
// name in another place than a call means a variable first.
func (b *binder) findAt(i int32) int32 {
	n := &b.File.Nodes[i]
	if !b.Semantics.FunctionsApart {
		return b.findName(n.Text)
	}
	if n.Role == tree.RoleCallee {
		return b.findCalled(n.Text)
	}
	if d := b.findName(n.Text); d >= 0 {
		return d
	}
	return b.lookupFrom(b.topScope(), n.Text+"()")
}

// findCalled looks up the function that a call names, where variables hide none. In Java a local
// variable and a method may share a name.
func (b *binder) findCalled(name string) int32 {
	for sc := b.topScope(); sc >= 0; sc = b.scopes[sc].parent {
		names := b.scopes[sc].names
		if d, ok := names[name+"()"]; ok {
			return d
		}
		if d, ok := names[name]; ok && (b.Declares(d, tree.Import) || b.Declares(d, tree.Class)) {
			return d
		}
	}
	return tree.None
}

// latestImport returns the last import of a name in front of its use, where the file
// imports several things by one name.
func (b *binder) latestImport(d, use int32) int32 {
	for _, other := range b.again[d] {
		if other < use {
			d = other
		}
	}
	return d
}

// isUse reports whether a Name stands for what it is bound to, and is not a mere
// label in a construct.
func isUse(f *tree.File, i int32) bool {
	n := &f.Nodes[i]
	if n.Parent < 0 {
		return true
	}
	switch f.Nodes[n.Parent].Kind {
	case tree.Keyword, tree.Attribute, tree.Element, tree.Label, tree.Import, tree.Package, tree.Function, tree.Class:
		return n.Role != tree.RoleName && n.Role != tree.RolePath && n.Role != tree.RoleAlias
	case tree.Export:
		return n.Role == tree.RoleValue && f.Child(n.Parent, tree.RolePath) < 0
	case tree.Member:
		return n.Role != tree.RoleProperty
	case tree.Break, tree.Continue, tree.Goto:
		return false
	}
	return true
}

// recordWrite records a write by something that declares nothing. Declarations have noted their
// own writes before.
func (b *binder) recordWrite(i int32) {
	f := b.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Assign:
		t := f.Child(i, tree.RoleTarget)
		if b.Semantics.AssignDeclares && !f.Is(t, tree.Member) {
			return
		}
		b.writeTarget(t, assignmentWrite(f, i))
	case tree.Update:
		b.writeTarget(f.Child(i, tree.RoleValue), write{i, tree.None})
	case tree.Unary:
		if n.Text == "&" { // its address is taken: somebody may write
			b.writeTarget(f.Child(i, tree.RoleValue), write{i, tree.None})
		}
	case tree.ForEach:
		if t := f.Child(i, tree.RoleTarget); t >= 0 && !f.Is(t, tree.Variable) && !b.Semantics.AssignDeclares {
			b.writeTarget(t, write{i, tree.None})
		}
	}
}

// writeTarget records a write of the names of a target, and of the fields of this. Parts of a
// pattern are written with values that are not known.
func (b *binder) writeTarget(t int32, w write) {
	f := b.File
	if t < 0 {
		return
	}
	switch f.Nodes[t].Kind {
	case tree.Name:
		if d := b.decl[t]; d >= 0 && d != t {
			b.writes[d] = append(b.writes[d], w)
		}
	case tree.Tuple, tree.List:
		for c := range f.All(t, tree.RoleElement) {
			b.writeTarget(c, write{w.node, tree.None})
		}
	case tree.Member:
		if d := b.memberBinding(t); d >= 0 {
			b.writes[d] = append(b.writes[d], w)
		}
	}
}

// isTypeName reports whether the text of a Type names one, and is no sign. Types such as "[]" and
// "*" are made of others.
func isTypeName(text string) bool {
	return text != "" && (text[0] == '_' || text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z' ||
		text[0] >= 0x80)
}

// firstPart returns what is in front of the first dot.
func firstPart(dotted string) string {
	for i := range len(dotted) {
		if dotted[i] == '.' {
			return dotted[:i]
		}
	}
	return dotted
}

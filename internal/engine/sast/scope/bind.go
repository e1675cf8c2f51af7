package scope

import "merlon/internal/engine/sast/tree"

// This file finds the declarations of a file and what its names mean.

type binder struct {
	*Info
	stack []int32                    // open scopes
	ends  []int32                    // the node at which each one ends
	outer map[int32]map[string]int32 // by scope: names that Global gives to another scope
	again map[int32][]int32          // by binding of an Import: later imports of the name
}

// declare makes the scopes and puts every declared name into one.
func (b *binder) declare() {
	f := b.File
	for i := int32(0); i < int32(len(f.Nodes)); i++ {
		for len(b.ends) > 0 && i >= b.ends[len(b.ends)-1] {
			b.stack, b.ends = b.stack[:len(b.stack)-1], b.ends[:len(b.ends)-1]
		}
		if b.opens(i) {
			b.in[i] = int32(len(b.scopes))
			b.scopes = append(b.scopes, scope{parent: b.top(), node: i})
			b.stack = append(b.stack, b.in[i])
			b.ends = append(b.ends, f.Nodes[i].Next)
		}
		b.declareNode(i)
	}
}

// opens reports whether the node is a scope.
func (b *binder) opens(i int32) bool {
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

// declareNode declares what the node declares.
func (b *binder) declareNode(i int32) {
	f := b.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Package:
		b.Package = n.Text
	case tree.Import:
		b.declareImport(i)
	case tree.Function, tree.Class:
		if name := f.Child(i, tree.RoleName); f.Is(name, tree.Name) {
			b.bindAs(b.functionName(i, f.Nodes[name].Text), name, max(0, b.scopes[b.top()].parent), write{i, i})
		}
	case tree.Lambda, tree.TypeAlias, tree.TypeParameter:
		if name := f.Child(i, tree.RoleName); f.Is(name, tree.Name) {
			b.bind(name, b.top(), write{i, i})
		}
	case tree.Variable:
		b.targets(f.Child(i, tree.RoleTarget), b.variableScope(n.Text), write{i, f.Child(i, tree.RoleValue)})
	case tree.Field:
		b.targets(f.Child(i, tree.RoleTarget), b.top(), write{i, f.Child(i, tree.RoleValue)})
	case tree.Parameter, tree.Catch:
		b.targets(f.Child(i, tree.RoleTarget), b.variableScope(""), write{i, tree.None})
	case tree.ForEach:
		t := f.Child(i, tree.RoleTarget)
		if t >= 0 && !f.Is(t, tree.Variable) && (b.Semantics.AssignDeclares || n.Text == "range") {
			b.targets(t, b.variableScope(""), write{i, tree.None})
		}
	case tree.Clause:
		b.targets(f.Child(i, tree.RoleTarget), b.variableScope(""), write{i, tree.None})
	case tree.TypeTest:
		b.targets(f.Child(i, tree.RoleTarget), b.testScope(i), write{i, tree.None})
	case tree.Assign:
		if b.Semantics.AssignDeclares {
			b.assigned(f.Child(i, tree.RoleTarget), assignment(f, i))
		}
	case tree.Case:
		for c := range f.All(i, tree.RoleCondition) {
			b.captures(c, write{i, tree.None})
		}
	case tree.Global:
		for name := range f.All(i, tree.RoleName) {
			b.global(n.Text, f.Text(name))
		}
	}
}

// assignment returns the write that an Assign is.
func assignment(f *tree.File, i int32) write {
	if t := f.Nodes[i].Text; t == "=" || t == ":=" {
		return write{i, f.Child(i, tree.RoleValue)}
	}
	return write{i, tree.None}
}

// declareImport binds an import's name.
func (b *binder) declareImport(i int32) {
	f := b.File
	if f.Text(f.Child(i, tree.RoleName)) == "*" && f.Child(i, tree.RoleAlias) < 0 {
		b.Wildcards = append(b.Wildcards, b.module(f.Text(i)))
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
	b.put(b.top(), name, binding)
	b.writes[binding] = append(b.writes[binding], write{i, i})
}

// top returns the innermost open scope, -1 before the first.
func (b *binder) top() int32 {
	if len(b.stack) == 0 {
		return -1
	}
	return b.stack[len(b.stack)-1]
}

// variableScope returns the scope of a variable declared here with the keyword.
func (b *binder) variableScope(keyword string) int32 {
	if b.Semantics.BlockScope && (keyword != "var" || !b.Semantics.VarHoists) {
		return b.top()
	}
	return b.function(b.top())
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

// function returns the nearest scope outwards that is a function, class or file.
func (b *binder) function(sc int32) int32 {
	for ; sc > 0; sc = b.scopes[sc].parent {
		switch b.File.Nodes[b.scopes[sc].node].Kind {
		case tree.FileKind, tree.Function, tree.Lambda, tree.Class, tree.Comprehension:
			return sc
		}
	}
	return 0
}

// targets declares every name of a target, which may be a pattern.
func (b *binder) targets(t, sc int32, w write) {
	if t < 0 {
		return
	}
	f := b.File
	switch n := &f.Nodes[t]; n.Kind {
	case tree.Name:
		b.bind(t, sc, w)
	case tree.Tuple, tree.List, tree.Set, tree.Map:
		for c := range f.All(t, tree.RoleElement) {
			b.targets(c, sc, write{w.node, tree.None})
		}
	case tree.Pair, tree.Spread, tree.Keyword:
		b.targets(f.Child(t, tree.RoleValue), sc, write{w.node, tree.None})
	case tree.Assign, tree.Parameter, tree.Variable: // a part with a default
		b.targets(f.Child(t, tree.RoleTarget), sc, write{w.node, tree.None})
	}
}

// captures declares the names that a case binds: where an assignment declares, a
// mere name in a pattern does so too (Python's match).
func (b *binder) captures(i int32, w write) {
	if i < 0 || !b.Semantics.AssignDeclares {
		return
	}
	f := b.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Name:
		if n.Text != "_" {
			b.assigned(i, w)
		}
	case tree.Tuple, tree.List, tree.Map, tree.Binary, tree.Set:
		for c := range f.Children(i) {
			b.captures(c, w)
		}
	case tree.Call, tree.New:
		for c := range f.All(i, tree.RoleArgument) {
			b.captures(c, w)
		}
	case tree.Pair, tree.Spread, tree.Keyword:
		b.captures(f.Child(i, tree.RoleValue), w)
	case tree.Assign:
		b.captures(f.Child(i, tree.RoleValue), w)
		b.assigned(f.Child(i, tree.RoleTarget), w)
	}
}

// assigned declares the names of an assignment's target that are new.
func (b *binder) assigned(t int32, w write) {
	if t < 0 {
		return
	}
	f := b.File
	switch n := &f.Nodes[t]; n.Kind {
	case tree.Name:
		sc := b.function(b.top())
		if f.Nodes[b.scopes[sc].node].Kind == tree.Comprehension {
			sc = b.function(b.scopes[sc].parent)
		}
		d, known := b.scopes[sc].names[n.Text]
		if !known {
			if d, known = b.outer[sc][n.Text]; !known {
				b.bind(t, sc, w)
				return
			}
		}
		b.decl[t] = d
		b.writes[d] = append(b.writes[d], w)
	case tree.Tuple, tree.List:
		for c := range f.All(t, tree.RoleElement) {
			b.assigned(c, write{w.node, tree.None})
		}
	case tree.Spread:
		b.assigned(f.Child(t, tree.RoleValue), write{w.node, tree.None})
	}
}

// global takes a name out of the innermost function.
func (b *binder) global(keyword, name string) {
	sc := b.function(b.top())
	if sc == 0 {
		return
	}
	d := tree.None
	if keyword == "nonlocal" {
		d = b.lookup(b.scopes[sc].parent, name)
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

// bind declares a name in a scope. A second declaration in one scope is a further
// write of the first, as in languages in which that is allowed.
func (b *binder) bind(name, sc int32, w write) {
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

// bindAs declares the binding name under a key.
func (b *binder) bindAs(text string, name, sc int32, w write) {
	if text == "" {
		b.decl[name] = name
		return
	}
	d := b.put(sc, text, name)
	b.decl[name] = d
	b.writes[d] = append(b.writes[d], w)
}

// put returns the binding of the name in the scope, which is this one when it is
// the first.
func (b *binder) put(sc int32, name string, binding int32) int32 {
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

// resolve gives every other name its meaning, and finds the writes that are no
// declarations.
func (b *binder) resolve() {
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
		case n.Kind == tree.Name && b.decl[i] < 0 && uses(f, i):
			b.decl[i] = b.latest(b.findAt(i), i)
		case n.Kind == tree.Type && b.decl[i] < 0 && isTypeName(n.Text):
			b.decl[i] = b.latest(b.find(firstPart(n.Text)), i)
		}
	}
	for i := int32(0); i < int32(len(f.Nodes)); i++ {
		b.written(i)
		b.loose(i)
	}
}

// loose records an assignment to a name that the file does not declare: what it holds
// is known at least inside of the function.
func (b *binder) loose(i int32) {
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
	b.free[k] = append(b.free[k], assignment(f, i))
}

// find looks the name up from the innermost open scope.
func (b *binder) find(name string) int32 {
	sc := b.top()
	if d, ok := b.outer[b.function(sc)][name]; ok {
		return d
	}
	return b.lookup(sc, name)
}

// findAt looks up what a Name means where it stands.
func (b *binder) findAt(i int32) int32 {
	n := &b.File.Nodes[i]
	if !b.Semantics.FunctionsApart {
		return b.find(n.Text)
	}
	if n.Role == tree.RoleCallee {
		return b.called(n.Text)
	}
	if d := b.find(n.Text); d >= 0 {
		return d
	}
	return b.lookup(b.top(), n.Text+"()")
}

// called looks up the function that a call names, where variables hide none.
func (b *binder) called(name string) int32 {
	for sc := b.top(); sc >= 0; sc = b.scopes[sc].parent {
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

// latest returns the last import of a name in front of its use, where the file
// imports several things by one name.
func (b *binder) latest(d, use int32) int32 {
	for _, other := range b.again[d] {
		if other < use {
			d = other
		}
	}
	return d
}

// uses reports whether a Name stands for what it is bound to, and is not a mere
// label in a construct.
func uses(f *tree.File, i int32) bool {
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

// written records a write by something that declares nothing.
func (b *binder) written(i int32) {
	f := b.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Assign:
		t := f.Child(i, tree.RoleTarget)
		if b.Semantics.AssignDeclares && !f.Is(t, tree.Member) {
			return
		}
		b.writeTarget(t, assignment(f, i))
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

// writeTarget records a write of the names of a target, and of the fields of this.
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
		if d := b.member(t); d >= 0 {
			b.writes[d] = append(b.writes[d], w)
		}
	}
}

// isTypeName reports whether the text of a Type names one, and is no sign.
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

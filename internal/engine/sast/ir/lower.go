package ir

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
	"strings"
)

// This file finds the functions and classes of a file, and lowers one after the other.

// Limits bound the work on one file. Zero values are the defaults.
type Limits struct {
	Instructions int // of one function; 0 is 200,000
}

// Lower makes the intermediate form of a file. It never fails: what it cannot lower
// is in Skipped.
func Lower(names *scope.Info, l *lang.Language, limits Limits) *File {
	if limits.Instructions <= 0 {
		limits.Instructions = 200_000
	}
	f := names.File
	low := &lowerer{File: &File{Tree: f, Lang: l, Names: names}, t: f, m: &l.Semantics, names: names, limits: limits}
	low.Module = moduleOf(f.Path, l, names)
	low.values = make([]valueLocation, len(f.Nodes))
	for i := range low.values {
		low.values[i] = valueLocation{-1, -1}
	}
	low.surveyTree()
	low.resolvers = map[int32]resolver{}
	low.shareCaptures()
	low.lowerFunction(low.Functions[0], nil)
	for _, fn := range low.Functions { // those that stand where nothing is evaluated
		low.lowerFunction(fn, nil)
	}
	for _, a := range low.aliases {
		if p := low.values[a[1]]; low.values[a[0]].function < 0 {
			low.values[a[0]] = p
		}
	}
	return low.File
}

// A lowerer lowers one file. The functions of the file share it, each with a builder of its own.
type lowerer struct {
	*File
	t      *tree.File
	m      *lang.Semantics
	names  *scope.Info
	limits Limits

	unit           []int32            // by node: the function that evaluates it
	use            []uint8            // by declaring Name: how functions use the variable
	owner          map[int32]int32    // by Function, Lambda, Class and New node: its Function or Class
	members        map[string]bool    // names declared at the top of the file
	resolvers      map[int32]resolver // by declaring Name
	passedCaptures [][]int32          // by function: variables that it captures for its callees
	lowered        []bool             // by function
	classNames     map[string]int     // qualified names of classes
	aliases        [][2]int32         // nodes whose value is that of another node
}

// How a variable is used.
const (
	usedInside uint8 = 1 << iota // by another function than the one that declares it
	writtenInside
	rewritten // a Function's or Class' name that is assigned
	changed   // a part of what it holds is changed (Go)
	assigned  // it is written behind its declaration
)

// skipNode records that a part of the file was not lowered, which the scan reports as a coverage
// gap.
func (l *lowerer) skipNode(node int32, reason string) {
	l.Skipped = append(l.Skipped, Skip{node, reason})
}

// surveyTree finds the functions and classes, tells which function evaluates which node, and how
// variables are used. It runs before any code is written, because a use may stand in front of the
// declaration and because writes by nested functions decide whether a variable can be kept in a
// temporary.
func (l *lowerer) surveyTree() {
	l.owner, l.members = map[int32]int32{}, map[string]bool{}
	l.unit = make([]int32, len(l.t.Nodes))
	l.use = make([]uint8, len(l.t.Nodes))
	l.addFunction(&Function{Node: tree.Root, Kind: TopLevel, Name: "<top>", Qualified: l.Module})
	for i := range l.t.Nodes {
		if k := l.t.Nodes[i].Kind; k == tree.Function && l.atTop(int32(i)) || k == tree.Class {
			l.members[l.t.Name(int32(i))] = true
		}
	}
	s := &surveyor{lowerer: l}
	s.walkTree()
	l.lowered = make([]bool, len(l.Functions))
	for i := range l.t.Nodes {
		if l.t.Nodes[i].Kind == tree.Name {
			l.noteUse(int32(i))
		}
	}
}

// atTop reports whether no function or class is around the node. Only such functions are members
// of the module that others can name.
func (l *lowerer) atTop(i int32) bool {
	return l.t.Enclosing(i, tree.Function, tree.Lambda, tree.Class) < 0
}

// noteUse notes a use of a variable by a function that does not declare it. What functions within
// use or write decides later whether a variable can be kept in one function or has to be shared
// between several. A function or class that is assigned again is no longer known by its name.
func (l *lowerer) noteUse(i int32) {
	d := l.names.Declaration(i)
	if d < 0 || d == i {
		return
	}
	if l.m.ZeroValues {
		l.noteChange(i, d)
	}
	by := l.declaringNode(d)
	written := l.isAssigned(i)
	if written {
		l.use[d] |= assigned
	}
	if written && by >= 0 && (l.t.Nodes[by].Kind == tree.Function || l.t.Nodes[by].Kind == tree.Class) {
		l.use[d] |= rewritten
	}
	if l.unit[i] != l.unit[d] {
		l.use[d] |= usedInside
		if written {
			l.use[d] |= writtenInside
		}
	}
}

// isAssigned reports whether the Name is written where it stands. The Name may be nested in a
// pattern on the left side, or be the operand of "x++".
func (l *lowerer) isAssigned(i int32) bool {
	for ; i >= 0; i = l.t.Nodes[i].Parent {
		n := &l.t.Nodes[i]
		if n.Role == tree.RoleTarget {
			return true
		}
		if n.Parent < 0 {
			return false
		}
		switch l.t.Nodes[n.Parent].Kind {
		case tree.Update:
			return true
		case tree.Tuple, tree.List, tree.Map, tree.Pair, tree.Spread:
		default:
			return false
		}
	}
	return false
}

// declaringNode returns the construct that declares a binding Name.
func (l *lowerer) declaringNode(d int32) int32 {
	if l.t.Is(d, tree.Import) {
		return d
	}
	return l.names.Declarator(d)
}

// addFunction enters a function. Its index is the order in which the tree declares it.
func (l *lowerer) addFunction(fn *Function) *Function {
	fn.File, fn.Index, fn.This = l.File, int32(len(l.Functions)), NoVar
	l.Functions = append(l.Functions, fn)
	return fn
}

// A surveyor walks the tree once, in order. It finds the functions and classes before any of them
// is lowered, so that code can refer to what is declared below it.
type surveyor struct {
	*lowerer
	stack []frame
}

// A frame is a region of the tree that belongs to a function.
type frame struct {
	end      int32 // node at which it ends
	function int32
	class    *Class // around it, nil for none
	members  bool   // its statements are members of the class
}

// walkTree visits the nodes in their order and assigns each to the function that
// evaluates it. The stack holds the regions that are open.
func (s *surveyor) walkTree() {
	s.stack = []frame{{end: int32(len(s.t.Nodes))}}
	for i := int32(0); i < int32(len(s.t.Nodes)); i++ {
		for i >= s.stack[len(s.stack)-1].end {
			s.stack = s.stack[:len(s.stack)-1]
		}
		top := s.stack[len(s.stack)-1]
		s.unit[i] = top.function
		n := &s.t.Nodes[i]
		if top.members && n.Role == tree.RoleStatement && s.isBody(n.Parent) {
			if top = s.enterMember(i, top); top.end > 0 {
				s.pushFrame(top)
				s.unit[i] = top.function
			}
		}
		s.enterNode(i)
	}
}

// enterNode opens the region of a node that is a function or a class. The name of a
// declaration belongs to the function around it.
func (s *surveyor) enterNode(i int32) {
	n := &s.t.Nodes[i]
	switch n.Kind {
	case tree.Function:
		if n.Text != "initializer" {
			s.enterFunction(i)
		}
	case tree.Lambda:
		s.enterLambda(i)
	case tree.Class:
		s.enterClass(i, i)
	case tree.Block:
		if s.t.Is(n.Parent, tree.New) && n.Role == tree.RoleBody {
			s.enterClass(n.Parent, i)
		}
	case tree.Name:
		if n.Role == tree.RoleName && (s.t.Is(n.Parent, tree.Function) || s.t.Is(n.Parent, tree.Class)) {
			s.unit[i] = s.unit[n.Parent]
		}
	}
}

// pushFrame opens a region; walkTree closes it at its end.
func (s *surveyor) pushFrame(f frame) { s.stack = append(s.stack, f) }

// isBody reports whether the node is the body of a class.
func (s *surveyor) isBody(i int32) bool {
	return s.t.Is(i, tree.Block) && s.t.Nodes[i].Role == tree.RoleBody &&
		(s.t.Is(s.t.Nodes[i].Parent, tree.Class) || s.t.Is(s.t.Nodes[i].Parent, tree.New))
}

// enterMember puts a member of a class that is no function into one of the initialisers. The frame
// has no end for a member that has its own function. Field initializers run when an object is
// constructed, static ones when the class is loaded; both become functions of their own, so that
// data in them has a place to flow from.
func (s *surveyor) enterMember(i int32, top frame) frame {
	n := &s.t.Nodes[i]
	c := top.class
	switch {
	case n.Kind == tree.Function && n.Text != "initializer", n.Kind == tree.Class, n.Kind == tree.TypeAlias,
		n.Kind == tree.Empty:

		return frame{}
	}
	static := s.isStatic(i) || c.Kind == "interface" || s.m.SelfParameter || n.Text == "enum"
	if n.Kind == tree.Field {
		s.addField(c, i, static)
		if s.m.SelfParameter {
			s.ensureInitializer(c, false) // gives them to objects
		}
		if s.t.Child(i, tree.RoleValue) < 0 && n.Text != "enum" {
			return frame{}
		}
	}
	return frame{end: n.Next, function: s.ensureInitializer(c, static).Index, class: c}
}

// addField enters a declared field with its type. Patterns and computed names declare no field
// that could be looked up.
func (s *surveyor) addField(c *Class, i int32, static bool) {
	t := s.t.Child(i, tree.RoleTarget)
	if s.t.Is(t, tree.Name) || s.t.Is(t, tree.String) {
		typ := s.absoluteName(s.names.Type(s.t.Child(i, tree.RoleType)))
		if typ == "" {
			typ = s.injectedType(s.t.Child(i, tree.RoleValue))
		}
		c.Fields = append(c.Fields, ClassField{Name: s.t.Text(t), Type: typ, Static: static, Node: i})
	}
}

// injectedType returns the class of which a field asks its framework for an object, as
// inject(Class) does in Angular; "" for any other value.
func (s *surveyor) injectedType(value int32) string {
	if !s.m.Decorators || !s.t.Is(value, tree.Call) || s.t.Text(s.t.Child(value, tree.RoleCallee)) != "inject" {
		return ""
	}
	if arg := s.t.Child(value, tree.RoleArgument); s.t.Is(arg, tree.Name) {
		return s.absoluteName(s.names.Qualified(arg))
	}
	return ""
}

// parameterFields enters the parameters of a constructor that are fields as well
// (TypeScript).
func (s *surveyor) parameterFields(c *Class, i int32) {
	for p := range s.t.All(i, tree.RoleParameter) {
		if s.isField(p) {
			s.addField(c, p, false)
		}
	}
}

// isField reports whether a parameter has a modifier of a member. TypeScript makes a field of such
// a parameter.
func (l *lowerer) isField(p int32) bool {
	return l.hasModifier(p, "private") || l.hasModifier(p, "public") || l.hasModifier(p, "protected") ||
		l.hasModifier(p, "readonly")
}

// isStatic reports whether the declaration has the modifier "static".
func (l *lowerer) isStatic(i int32) bool { return l.hasModifier(i, "static") }

// hasModifier reports whether the declaration carries the modifier.
func (l *lowerer) hasModifier(i int32, word string) bool {
	for m := range l.t.All(i, tree.RoleModifier) {
		if l.t.Text(m) == word {
			return true
		}
	}
	return false
}

// ensureInitializer returns the class' function for field initialisers. It is made at the first
// member that needs it.
func (s *surveyor) ensureInitializer(c *Class, static bool) *Function {
	p, kind, name := &c.Init, Initializer, "<init>"
	if static {
		p, kind, name = &c.Static, StaticInit, "<static>"
	}
	if *p == nil {
		*p = s.addFunction(&Function{
			Node: c.Node, Kind: kind, Name: name, Qualified: c.Qualified + "." + name, Class: c, Static: static,
		})
		(*p).Parent = s.Functions[s.unit[c.Node]]
	}
	return *p
}

// enterFunction enters a declared function or method. A method is qualified by its class, a nested
// function by the function around it, and a method that is declared outside of its type (Go) by
// the type of its receiver.
func (s *surveyor) enterFunction(i int32) {
	top := s.stack[len(s.stack)-1]
	fn := s.addFunction(&Function{Node: i, Kind: Plain, Name: s.functionName(i), Parent: s.Functions[top.function]})
	fn.Accessor = s.accessorKind(i)
	fn.Async, fn.Generator = s.hasModifier(i, "async"), s.hasModifier(i, "*")
	outer := s.Module
	if top.function != 0 {
		outer = s.Functions[top.function].Qualified
	}
	if c := top.class; c != nil && top.members {
		outer = c.Qualified
		fn.Class, fn.Kind, fn.Static = c, Method, s.isStatic(i) || s.hasAnnotation(i, "staticmethod")
		fn.OnClass = s.hasAnnotation(i, "classmethod")
		if s.t.Nodes[i].Text == "constructor" || s.m.Constructor != "" && fn.Name == s.m.Constructor {
			fn.Kind = Constructor
			s.parameterFields(c, i)
		}
		c.Methods = append(c.Methods, fn)
	}
	if r := s.t.Child(i, tree.RoleReceiver); r >= 0 && !fn.isMember() {
		if t := s.absoluteName(s.names.Type(s.t.Child(r, tree.RoleType))); t != "" {
			outer, fn.Owner, fn.Kind = t, t, Method
		}
	}
	fn.Qualified = joinName(outer, fn.Name)
	fn.Results = s.resultTypes(i)
	s.owner[i] = fn.Index
	s.pushFrame(frame{end: s.t.Nodes[i].Next, function: fn.Index, class: top.class})
}

// resultTypes returns the declared types of the results. Functions of Go may have several; of
// other languages the list has one, or none when nothing is declared.
func (l *lowerer) resultTypes(i int32) []string {
	r := l.t.Child(i, tree.RoleReturnType)
	if !l.t.Is(r, tree.Type) {
		return nil
	}
	if l.t.Text(r) != "()" {
		return []string{l.absoluteName(l.names.Type(r))}
	}
	var list []string
	for c := range l.t.All(r, tree.RoleElement) {
		if l.t.Is(c, tree.Parameter) {
			c = l.t.Child(c, tree.RoleType)
		}
		list = append(list, l.absoluteName(l.names.Type(c)))
	}
	return list
}

// isMember reports whether the function is declared in the body of a class.
func (fn *Function) isMember() bool { return fn.Class != nil }

// functionName returns the name of a declared function; in JavaScript it can be an
// expression.
func (l *lowerer) functionName(i int32) string {
	name := l.t.Child(i, tree.RoleName)
	switch {
	case name < 0:
		return ""
	case l.t.Is(name, tree.Name), l.t.Is(name, tree.String), l.t.Is(name, tree.Number):
		return l.t.Text(name)
	}
	return ""
}

// accessorKind returns whether a method is read or written like a member: by a word of the
// language, or by a decorator.
func (l *lowerer) accessorKind(i int32) Accessor {
	switch l.t.Text(i) {
	case "getter":
		return Getter
	case "setter":
		return Setter
	}
	for a := range l.t.All(i, tree.RoleAnnotation) {
		name := l.t.Dotted(l.t.Child(a, tree.RoleValue))
		switch {
		case l.m.Getters[name]:
			return Getter
		case len(l.m.Getters) > 0 && strings.HasSuffix(name, ".setter"):
			return Setter
		}
	}
	return NoAccessor
}

// hasAnnotation reports whether the declaration has a mere name as annotation. An annotation with
// arguments is never the one that is asked for here (staticmethod, classmethod).
func (l *lowerer) hasAnnotation(i int32, name string) bool {
	for a := range l.t.All(i, tree.RoleAnnotation) {
		if l.t.Dotted(l.t.Child(a, tree.RoleValue)) == name {
			return true
		}
	}
	return false
}

// enterLambda enters a function value. A function expression may have a name, which only its own
// body knows.
func (s *surveyor) enterLambda(i int32) {
	top := s.stack[len(s.stack)-1]
	fn := s.addFunction(&Function{Node: i, Kind: LambdaFunction, Name: s.t.Name(i), Parent: s.Functions[top.function]})
	fn.Async, fn.Generator = s.hasModifier(i, "async"), s.hasModifier(i, "*")
	outer := s.Module
	if top.function != 0 {
		outer = s.Functions[top.function].Qualified
	}
	fn.Qualified = joinName(outer, fn.Name)
	s.owner[i] = fn.Index
	s.pushFrame(frame{end: s.t.Nodes[i].Next, function: fn.Index, class: top.class})
}

// enterClass enters a class; its members begin with the body. An anonymous class ("new T() { … }")
// has its T as the base; its body is the region, but the node is that of the expression. The
// qualified name is made unique, since files may declare a class twice under conditions.
func (s *surveyor) enterClass(node, region int32) {
	top := s.stack[len(s.stack)-1]
	c := &Class{File: s.File, Node: node, Kind: "class", Outer: top.class}
	outer := s.Module
	if top.class != nil {
		outer = top.class.Qualified
	}
	if s.t.Is(node, tree.Class) {
		c.Kind, c.Name = s.t.Text(node), s.t.Name(node)
		c.Bases = s.baseClasses(node)
	} else if q := s.typeName(s.t.Child(node, tree.RoleType)); q != "" {
		c.Bases = []string{q}
	}
	c.Qualified = s.uniqueName(joinName(outer, c.Name), c.Name)
	s.owner[node] = int32(len(s.Classes))
	if s.t.Is(node, tree.New) {
		s.owner[region] = int32(len(s.Classes))
	}
	s.Classes = append(s.Classes, c)
	s.pushFrame(frame{end: s.t.Nodes[region].Next, function: top.function, class: c, members: true})
}

// uniqueName returns the name with a number when a class of the file has it already, or when it
// has no name of its own. Two classes in different functions may share a name, and hierarchies are
// keyed by it.
func (s *surveyor) uniqueName(qualified, name string) string {
	if s.classNames == nil {
		s.classNames = map[string]int{}
	}
	s.classNames[qualified]++
	if n := s.classNames[qualified]; n > 1 || name == "" {
		return qualified + "$" + itoa(n)
	}
	return qualified
}

// baseClasses returns the names of the superclasses and interfaces. Keywords among them
// ("metaclass=M") are no bases. Their order is kept: methods are looked up in it.
func (s *surveyor) baseClasses(i int32) []string {
	var list []string
	for c := range s.t.Children(i) {
		switch n := &s.t.Nodes[c]; {
		case n.Role != tree.RoleBase && n.Role != tree.RoleInterface, n.Kind == tree.Keyword:
		default:
			list = append(list, s.baseNames(c)...)
		}
	}
	return list
}

// baseNames returns the classes that an expression in the place of a base may mean: that of "a ? B
// : C" and of "mixin(B)" as well. Mixins and conditional bases are frequent in JavaScript and
// Python; naming all candidates errs on the side of more possible callees.
func (l *lowerer) baseNames(i int32) []string {
	var list []string
	switch l.t.Nodes[i].Kind {
	case tree.Conditional:
		for _, r := range []tree.Role{tree.RoleThen, tree.RoleElse} {
			list = append(list, l.baseNames(l.t.Child(i, r))...)
		}
	case tree.Call:
		for a := range l.t.All(i, tree.RoleArgument) {
			if l.t.Is(a, tree.Name) || l.t.Is(a, tree.Member) {
				list = append(list, l.baseNames(a)...)
			}
		}
	default:
		if q := l.typeName(i); q != "" {
			list = append(list, q)
		}
	}
	return list
}

// typeName returns the qualified name of a type or of an expression in its place. An import tells
// the most, then what the file declares. The plain text remains for names that nobody resolves,
// and models may still know them.
func (l *lowerer) typeName(i int32) string {
	if i < 0 {
		return ""
	}
	if q := l.qualifiedName(i); q != "" {
		return q
	}
	if l.t.Is(i, tree.Type) {
		return l.absoluteName(l.names.Type(i))
	}
	return l.t.Dotted(i)
}

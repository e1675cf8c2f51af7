package scope

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file gives names their qualified names, and values their types.

// maxChain bounds how far a name is followed from variable to variable.
const maxChain = 8

// Qualified returns the dotted name of what the expression or Type refers to, as
// seen from outside of the file: "os.path.join" for p.join after "from os import
// path as p", "java.sql.Statement", "express.Router". A name that the file does not
// declare is itself: "eval", "document.cookie". It is "" for a local variable and
// for anything that is no name, and for an instance: "x.m" of a local x has none.
func (s *Info) Qualified(i int32) string { return s.qualify(i, 0) }

// qualify is Qualified with a bound on the variables that are looked through, since they
// may be assigned to each other.
func (s *Info) qualify(i int32, depth int) string {
	if i < 0 || depth > maxChain {
		return ""
	}
	f := s.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Name:
		return s.qualifiedName(i, n.Text, depth)
	case tree.Type:
		return s.qualifyType(i, depth)
	case tree.Member:
		return s.qualifyMember(i, depth)
	case tree.Index:
		if k := f.Child(i, tree.RoleIndex); f.Is(k, tree.String) && s.Semantics.FileModule {
			if q := s.qualify(f.Child(i, tree.RoleObject), depth+1); q != "" {
				return q + "." + f.Nodes[k].Text
			}
		}
	case tree.Call:
		return s.requiredModule(i)
	case tree.Await:
		return s.qualify(f.Child(i, tree.RoleValue), depth+1)
	}
	return ""
}

// qualifyType returns the qualified name of a Type; "" for one that is made of others. Arguments
// of generic types do not matter.
func (s *Info) qualifyType(i int32, depth int) string {
	text := s.File.Nodes[i].Text
	switch text {
	case "[]", "*", "|", "func", "map", "chan":
		return ""
	}
	first := firstPart(text)
	q := s.qualifiedName(i, first, depth)
	if q == "" {
		return ""
	}
	return q + text[len(first):]
}

// qualifyMember returns the qualified name of "a.b". The default export of a module is the
// module itself.
func (s *Info) qualifyMember(i int32, depth int) string {
	f := s.File
	p := f.Child(i, tree.RoleProperty)
	if !f.Is(p, tree.Name) {
		return ""
	}
	q := s.qualify(f.Child(i, tree.RoleObject), depth+1)
	if q == "" || f.Nodes[p].Text == "default" {
		return q
	}
	return q + "." + f.Nodes[p].Text
}

// requiredModule returns the module of a call that imports one. JavaScript imports by calls of
// require and of import.
func (s *Info) requiredModule(i int32) string {
	f := s.File
	if s.Semantics.ImportFunction == "" {
		return ""
	}
	c := f.Child(i, tree.RoleCallee)
	arg := f.Child(i, tree.RoleArgument)
	if f.Is(c, tree.Name) && (f.Nodes[c].Text == s.Semantics.ImportFunction || f.Nodes[c].Text == "import") &&
		f.Is(arg, tree.String) {
		return s.moduleName(f.Nodes[arg].Text)
	}
	return ""
}

// moduleName returns the plain name of a module. "node:fs" and "fs" are one module.
func (s *Info) moduleName(name string) string {
	if s.Semantics.ModulePrefix != "" {
		name = strings.TrimPrefix(name, s.Semantics.ModulePrefix)
	}
	return name
}

// qualifiedName returns the qualified name of a simple name at the node. A variable that is
// assigned once to a name means what that name means.
func (s *Info) qualifiedName(i int32, name string, depth int) string {
	d := s.decl[i]
	if d < 0 {
		return s.qualifyUndeclared(name)
	}
	f := s.File
	by := s.Declarator(d)
	if f.Is(d, tree.Import) {
		by = d
	}
	if by < 0 {
		return ""
	}
	switch f.Nodes[by].Kind {
	case tree.Import:
		return s.qualifyImport(by)
	case tree.Class, tree.Function, tree.TypeAlias:
		return s.Declared(by)
	case tree.Variable, tree.Assign, tree.Field:
		if len(s.writes[d]) != 1 {
			return ""
		}
		value := f.Child(by, tree.RoleValue)
		if t := f.Child(by, tree.RoleTarget); !f.Is(t, tree.Name) {
			return s.qualifyDestructured(d, t, value, depth)
		}
		switch {
		case value < 0:
			return ""
		case f.Is(value, tree.Name), f.Is(value, tree.Member), f.Is(value, tree.Call):
			return s.qualify(value, depth+1)
		}
	}
	return ""
}

// qualifyDestructured returns the qualified name of a variable that takes a part of a
// module: const {exec: run} = require("child_process").
func (s *Info) qualifyDestructured(d, target, value int32, depth int) string {
	f := s.File
	if !f.Is(target, tree.Map) || value < 0 {
		return ""
	}
	pair := f.Nodes[d].Parent
	if !f.Is(pair, tree.Pair) || f.Nodes[pair].Parent != target {
		return ""
	}
	if q := s.qualify(value, depth+1); q != "" {
		return q + "." + f.Text(f.Child(pair, tree.RoleKey))
	}
	return ""
}

// qualifyImport returns the qualified name of what an Import binds. "import a.b" binds a in
// Python, but b in Java.
func (s *Info) qualifyImport(imp int32) string {
	f := s.File
	module := s.moduleName(f.Text(imp))
	name := f.Child(imp, tree.RoleName)
	switch text := f.Text(name); {
	case name < 0 && f.Child(imp, tree.RoleAlias) < 0 && s.Semantics.ImportBindsFirst:
		return firstPart(module)
	case name < 0 || text == "*" || text == "default":
		return module
	default:
		if strings.HasSuffix(module, ".") {
			return module + text // "from .. import a"
		}
		return module + "." + text
	}
}

// qualifyUndeclared returns the qualified name of a name that the file does not declare. Names of
// classes of the own package need no import in Java.
func (s *Info) qualifyUndeclared(name string) string {
	if s.Semantics.Builtin != nil {
		if q := s.Semantics.Builtin(name); q != "" {
			return q
		}
	}
	if q, ok := s.chosen[name]; ok {
		return q
	}
	if s.Package != "" && s.Semantics.ImplicitThis && name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		return s.Package + "." + name
	}
	return name
}

// chooseKnown decides for each name that the file does not declare from which of the modules
// imported as a whole it comes: the only one whose name somebody knows, or the only module there
// is when the file's package cannot hold it. The choice is made once for the whole file, so that a
// name means one thing in it.
func (s *Info) chooseKnown(known func(string) bool) {
	s.chosen = map[string]string{}
	if len(s.Wildcards) == 0 || known == nil {
		return
	}
	f := s.File
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Kind != tree.Name && n.Kind != tree.Type || s.decl[i] >= 0 || n.Text == "" {
			continue
		}
		name := firstPart(n.Text)
		if _, done := s.chosen[name]; done {
			continue
		}
		for _, w := range s.Wildcards {
			if known(w + "." + name) {
				s.chosen[name] = w + "." + name
				break
			}
		}
	}
}

// Declared returns the qualified name of a Class, Function or TypeAlias of the file:
// its package, the classes around it, its name. Languages whose modules are files
// have no package here; whoever knows the file's module puts it in front.
func (s *Info) Declared(i int32) string {
	f := s.File
	name := f.Name(i)
	if name == "" {
		return ""
	}
	for c := f.Enclosing(i, tree.Class, tree.Function, tree.Lambda); c >= 0; c = f.Enclosing(c, tree.Class,
		tree.Function, tree.Lambda) {
		if outer := f.Name(c); outer != "" && f.Is(c, tree.Class) {
			name = outer + "." + name
		}
	}
	if s.Package != "" {
		return s.Package + "." + name
	}
	return name
}

// Type returns the qualified name of the type of a value, as far as the file
// declares it: a declared type, the class of a New, a literal, a cast. "" when it is
// not known.
func (s *Info) Type(i int32) string { return s.typeOf(i, 0) }

// typeOf is Type with a bound on the variables that are looked through. Frequent kinds come first;
// a literal has the type of its kind.
func (s *Info) typeOf(i int32, depth int) string {
	if i < 0 || depth > maxChain {
		return ""
	}
	f := s.File
	t, known := "", false
	switch n := &f.Nodes[i]; n.Kind {
	case tree.Name:
		return s.typeOfName(s.decl[i], depth)
	case tree.Member:
		if d := s.memberBinding(i); d >= 0 {
			return s.typeOfName(d, depth)
		}
		return s.typeOfName(s.fieldBinding(i, depth), depth)
	case tree.Type:
		if n.Text == "*" {
			return s.typeOf(f.Child(i, tree.RoleElement), depth+1)
		}
		return s.Qualified(i)
	case tree.Cast:
		return s.typeOf(f.Child(i, tree.RoleType), depth+1)
	case tree.Call:
		t, known = s.typeOfCall(i, depth)
	default:
		t, known = s.typeOfOperation(i, depth)
	}
	if known {
		return t
	}
	return s.Semantics.Literals[f.Nodes[i].Kind]
}

// typeOfOperation returns the type of an expression that makes a value or passes one on.
// It is false for other kinds.
func (s *Info) typeOfOperation(i int32, depth int) (string, bool) {
	f := s.File
	switch n := &f.Nodes[i]; n.Kind {
	case tree.New:
		t := f.Child(i, tree.RoleType)
		if f.Is(t, tree.Type) {
			return s.typeOf(t, depth+1), true
		}
		return s.Qualified(t), true
	case tree.This:
		if c := f.Enclosing(i, tree.Class); c >= 0 {
			return s.Declared(c), true
		}
	case tree.Unary:
		if n.Text == "&" || n.Text == "*" {
			return s.typeOf(f.Child(i, tree.RoleValue), depth+1), true
		}
	case tree.Await:
		return s.typeOf(f.Child(i, tree.RoleValue), depth+1), true
	case tree.Conditional:
		if t := s.typeOf(f.Child(i, tree.RoleThen), depth+1); t != "" {
			return t, true
		}
		return s.typeOf(f.Child(i, tree.RoleElse), depth+1), true
	}
	return "", false
}

// typeOfCall returns the type of what a call returns: the declared one of a function of
// the file, or the class that is called.
func (s *Info) typeOfCall(i int32, depth int) (string, bool) {
	f := s.File
	c := f.Child(i, tree.RoleCallee)
	if d := s.declarationOf(c); d >= 0 {
		by := s.Declarator(d)
		switch {
		case f.Is(by, tree.Class):
			return s.Declared(by), true
		case f.Is(by, tree.Function):
			return s.typeOf(f.Child(by, tree.RoleReturnType), depth+1), true
		}
	}
	if q := s.Qualified(c); q != "" && s.Semantics.SelfParameter && isCapital(q) {
		return q, true // calling a class makes an object
	}
	return "", false
}

// fieldBinding returns the binding of a field of an object whose class the file declares, None for
// anything else. It lets the type of "a.b" be known when that of a is.
func (s *Info) fieldBinding(i int32, depth int) int32 {
	f := s.File
	property := f.Child(i, tree.RoleProperty)
	if !f.Is(property, tree.Name) || len(s.classes) == 0 {
		return tree.None
	}
	class, ok := s.classes[s.typeOf(f.Child(i, tree.RoleObject), depth+1)]
	if !ok {
		return tree.None
	}
	if d, ok := s.scopes[s.in[class]].names[f.Text(property)]; ok {
		return d
	}
	return tree.None
}

// isCapital reports whether the last part of a dotted name begins with a capital. Classes are
// named so by convention.
func isCapital(q string) bool {
	c := q[strings.LastIndexByte(q, '.')+1:]
	return c != "" && c[0] >= 'A' && c[0] <= 'Z'
}

// Binding returns the binding of a Name, or of a member of the enclosing class; None
// for anything else.
func (s *Info) Binding(i int32) int32 {
	if i < 0 {
		return tree.None
	}
	return s.declarationOf(i)
}

// declarationOf returns the binding of a Name, or of a member of this. It is None for a member of
// any other object.
func (s *Info) declarationOf(i int32) int32 {
	switch {
	case s.File.Is(i, tree.Name):
		return s.decl[i]
	case s.File.Is(i, tree.Member):
		return s.memberBinding(i)
	}
	return tree.None
}

// typeOfName returns the type that a binding was declared with, or that of the only
// value it gets.
func (s *Info) typeOfName(d int32, depth int) string {
	if d < 0 {
		return ""
	}
	f := s.File
	by := s.Declarator(d)
	if by < 0 || !f.Is(f.Child(by, tree.RoleTarget), tree.Name) {
		return ""
	}
	if t := f.Child(by, tree.RoleType); t >= 0 && f.Text(t) != "var" && f.Text(t) != "" {
		return s.typeOf(t, depth+1)
	}
	w := s.writes[d]
	if len(w) != 1 || w[0].value < 0 || w[0].value == by {
		return ""
	}
	return s.typeOf(w[0].value, depth+1)
}

// memberBinding returns the binding of a member of the enclosing class: "this.x", "self.x",
// "Class.x"; None for any other member.
func (s *Info) memberBinding(i int32) int32 {
	f := s.File
	p := f.Child(i, tree.RoleProperty)
	if !f.Is(p, tree.Name) {
		return tree.None
	}
	class := s.classOfObject(i)
	if class < 0 || s.in[class] < 0 {
		return tree.None
	}
	names := s.scopes[s.in[class]].names
	d, ok := names[f.Nodes[p].Text]
	if s.Semantics.FunctionsApart {
		if called, is := names[f.Nodes[p].Text+"()"]; is && (!ok || f.Nodes[i].Role == tree.RoleCallee) {
			return called
		}
	}
	if ok {
		return d
	}
	return tree.None
}

// classOfObject returns the class of the file whose member a Member names by its receiver
// or by the class itself; None when it is not known.
func (s *Info) classOfObject(i int32) int32 {
	f := s.File
	o := f.Child(i, tree.RoleObject)
	switch {
	case f.Is(o, tree.This), f.Is(o, tree.Name) && s.decl[o] < 0 && (f.Text(o) == "self" || f.Text(o) == "static"):
		return f.Enclosing(i, tree.Class)
	case f.Is(o, tree.Name) && s.decl[o] >= 0:
		by := s.Declarator(s.decl[o])
		if f.Is(by, tree.Class) {
			return by
		}
		if s.Semantics.SelfParameter && s.isReceiver(by) {
			return f.Enclosing(by, tree.Class)
		}
	}
	return tree.None
}

// isReceiver reports whether the node is the first parameter of a method. Python names it by its
// position, not by "self".
func (s *Info) isReceiver(i int32) bool {
	f := s.File
	if !f.Is(i, tree.Parameter) {
		return false
	}
	fn := f.Nodes[i].Parent
	if !f.Is(fn, tree.Function) || f.Child(fn, tree.RoleParameter) != i {
		return false
	}
	return f.Is(f.Enclosing(fn, tree.Class, tree.Function, tree.Lambda), tree.Class)
}

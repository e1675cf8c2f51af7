package ir

import (
	"path"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

// This file reads and writes names: local, captured, module and global variables,
// and members that are written without their receiver.

// itoa is the text of a constant key.
func itoa(n int) string { return strconv.Itoa(n) }

// joinName joins two dotted names, either of which may be empty. The empty name is the top of a
// module.
func joinName(outer, name string) string {
	if outer == "" || name == "" {
		return outer + name
	}
	return outer + "." + name
}

// moduleOf returns the File.Module of a path. It is how other files import the file: by its folder
// in Go, by its path in Python and JavaScript, by the package that it declares in Java.
func moduleOf(file string, l *lang.Language, names *scope.Info) string {
	switch m := &l.Semantics; {
	case m.ImportsFolders:
		if dir := path.Dir(file); dir != "." {
			return dir
		}
		return ""
	case m.FileModule:
		return modulePath(trimExtension(file, l), m)
	}
	return names.Package
}

// modulePath returns the module of a path without extension. The path of an index file is that of
// its folder, because imports name the folder.
func modulePath(p string, m *lang.Semantics) string {
	p = path.Clean(p)
	if m.IndexFile != "" && path.Base(p) == m.IndexFile {
		p = path.Dir(p)
	}
	switch {
	case p == "." && m.SlashModules:
		return m.IndexFile // the root has no name of its own
	case p == ".":
		return ""
	case m.SlashModules:
		return p
	}
	return strings.ReplaceAll(p, "/", ".")
}

// trimExtension removes the extension of the language's files, longer ones (".d.ts") as listed.
// The file's own name may have more dots.
func trimExtension(file string, l *lang.Language) string {
	for _, x := range l.Grammar.Extensions {
		if strings.HasSuffix(file, x) {
			return strings.TrimSuffix(file, x)
		}
	}
	return file
}

// qualifiedName returns the qualified name of a node as the whole program knows it. It is what
// rules and the call graph compare: the same function must have the same name in every file.
func (l *lowerer) qualifiedName(i int32) string {
	if i >= 0 && (l.t.Nodes[i].Kind == tree.Name || l.t.Nodes[i].Kind == tree.Type) {
		if d := l.names.Declaration(i); d >= 0 { // a class in a function may share its name with others
			if c, ok := l.owner[l.declaringNode(d)]; ok && l.t.Is(l.declaringNode(d), tree.Class) &&
				int(c) < len(l.Classes) {
				_, rest, _ := strings.Cut(l.t.Text(i), ".")
				return joinName(l.Classes[c].Qualified, rest)
			}
		}
	}
	return l.absoluteName(l.names.Qualified(i))
}

// absoluteName makes a name that scope gives a name for the whole program: what the file declares
// gets the file's module, a relative module its place in the tree. Names of packages outside of
// the tree stay as they are.
func (l *lowerer) absoluteName(q string) string {
	switch {
	case q == "":
		return ""
	case l.m.ImportsFolders:
		if rest, ok := strings.CutPrefix(q, l.names.Package+"."); ok {
			return joinName(l.Module, rest)
		}
		return q
	case !l.m.FileModule:
		return q
	case q[0] == '.':
		return l.resolveRelative(q)
	}
	if x := l.m.Exports; x != "" { // module.exports.a is the module's a
		rest := strings.TrimPrefix(q, "module.")
		if rest == x {
			return l.Module
		}
		if member, ok := strings.CutPrefix(rest, x+"."); ok {
			return joinName(l.Module, member)
		}
	}
	first, _, _ := strings.Cut(q, ".")
	if l.members[first] {
		return joinName(l.Module, q)
	}
	return q
}

// resolveRelative resolves a name that begins with a relative module: "./db.query" of
// src/app.js is "src/db.query", "..models.User" of pkg/web/app.py "pkg.models.User".
func (l *lowerer) resolveRelative(q string) string {
	dir := path.Dir(l.t.Path)
	if !l.m.SlashModules {
		rest := strings.TrimLeft(q, ".")
		for range len(q) - len(rest) - 1 {
			dir = path.Dir(dir)
		}
		if dir = modulePath(dir, l.m); dir == "" {
			return rest
		}
		return joinName(dir, rest)
	}
	for _, x := range l.m.ModuleExtensions {
		if i := strings.Index(q, x+"."); i > 1 {
			q = q[:i] + q[i+len(x):]
			break
		}
		q = strings.TrimSuffix(q, x)
	}
	p := path.Join(dir, q)
	if m := l.m.IndexFile; m != "" {
		if folder, member, ok := splitDots(q); ok {
			if p = path.Join(dir, folder); p == "." {
				p = m
			}
			return joinName(p, member)
		}
		if strings.HasSuffix(p, "/"+m) {
			p = strings.TrimSuffix(p, "/"+m)
		}
		p = strings.Replace(p, "/"+m+".", ".", 1)
		if p == "." { // the folder at the top
			return m
		}
	}
	return p
}

// splitDots takes the name of a folder by dots alone apart, and what it is a member of:
// "../..parse" is "parse" of "../.".
func splitDots(q string) (folder, member string, ok bool) {
	i := 0
	for strings.HasPrefix(q[i:], "./") || strings.HasPrefix(q[i:], "../") {
		i += strings.IndexByte(q[i:], '/') + 1
	}
	member = strings.TrimLeft(q[i:], ".")
	dots := len(q) - i - len(member)
	if strings.Contains(member, "/") || member != "" && dots == 0 {
		return "", "", false
	}
	if member != "" {
		dots--
	}
	return q[:i+dots], member, true
}

// A meaning is what a Name stands for in a function. It depends on the function as well: the
// variable of one function is a captured one in another.
type meaning struct {
	kind    meaningKind
	binding int32 // of a variable
	index   int32 // of a function or class
	text    string
	static  bool // of a member
	class   *Class
}

// A meaningKind says which of the fields of a meaning are set.
type meaningKind uint8

const (
	meansGlobal   meaningKind = iota // text is its qualified name
	meansLocal                       // a variable of a function
	meansModule                      // a variable at the top of the file; text is its qualified name
	meansMember                      // a member of class
	meansFunction                    // a function that never changes
	meansClass
)

// resolveName says what a Name stands for in the function.
func (b *builder) resolveName(i int32) meaning {
	d := b.names.Declaration(i)
	if d < 0 {
		return b.resolveUndeclared(i)
	}
	by := b.declaringNode(d)
	if by < 0 {
		return meaning{kind: meansLocal, binding: d}
	}
	switch b.t.Nodes[by].Kind {
	case tree.Import, tree.TypeAlias, tree.TypeParameter, tree.Package:
		q := b.qualifiedName(i)
		if q == "" {
			q = b.t.Text(i)
		}
		return meaning{kind: meansGlobal, text: q}
	case tree.Class:
		if c, ok := b.owner[by]; ok && b.use[d]&rewritten == 0 {
			return meaning{kind: meansClass, index: c}
		}
	case tree.Function:
		return b.resolveFunction(d, by)
	case tree.Lambda:
		if f, ok := b.owner[by]; ok && d == b.t.Child(by, tree.RoleName) && b.unit[d] == f && b.use[d]&rewritten == 0 {
			return meaning{kind: meansFunction, index: f} // the name that a function expression has for itself
		}
	case tree.Field:
		if c := b.classAround(by); c != nil {
			return meaning{kind: meansMember, class: c, static: b.Functions[b.unit[by]].Kind == StaticInit ||
				b.staticField(c, by), text: b.t.Text(i)}
		}
	}
	return b.resolveVariable(d)
}

// resolveFunction says what the name of a declared function, or of one of its parameters,
// stands for.
func (b *builder) resolveFunction(d, by int32) meaning {
	if f, ok := b.owner[by]; ok {
		fn := b.Functions[f]
		if fn.Class != nil && d == b.t.Child(by, tree.RoleName) {
			return meaning{kind: meansMember, class: fn.Class, static: fn.Static, text: fn.Name, index: f}
		}
		if b.unit[by] == 0 && b.use[d]&rewritten == 0 {
			return meaning{kind: meansFunction, index: f}
		}
	}
	return b.resolveVariable(d)
}

// staticField reports whether the field that is declared by the node belongs to the class and not
// to its objects.
func (l *lowerer) staticField(c *Class, node int32) bool {
	for i := range c.Fields {
		if c.Fields[i].Node == node {
			return c.Fields[i].Static
		}
	}
	return false
}

// classAround returns the class whose body the node stands in. A function literal inside of a
// method still belongs to the method's class.
func (l *lowerer) classAround(i int32) *Class {
	for i = l.t.Nodes[i].Parent; i >= 0; i = l.t.Nodes[i].Parent {
		if k := l.t.Nodes[i].Kind; k == tree.Class || k == tree.New {
			if c, ok := l.owner[i]; ok {
				return l.Classes[c]
			}
		}
	}
	return nil
}

// resolveVariable says what kind of variable the binding is. Variables at the top of a file can be
// imported by others, so they are named by the module. Those in the body of a class are its
// members, as in Python.
func (b *builder) resolveVariable(d int32) meaning {
	unit := b.Functions[b.unit[d]]
	switch {
	case unit.Kind == TopLevel:
		return meaning{kind: meansModule, binding: d, text: joinName(b.Module, b.t.Text(d))}
	case unit.Kind == StaticInit && b.t.Nodes[d].Role == tree.RoleTarget && b.isBodyStatement(d):
		return meaning{kind: meansMember, class: unit.Class, static: true, text: b.t.Text(d)}
	}
	return meaning{kind: meansLocal, binding: d}
}

// isBodyStatement reports whether the binding is declared by a statement of a
// class' body (Python), so that it is a member.
func (b *builder) isBodyStatement(d int32) bool {
	return b.t.Is(b.t.Enclosing(d, tree.Class, tree.Function, tree.Lambda, tree.Comprehension), tree.Class)
}

// resolveUndeclared says what a name means that the file does not declare. In Java and C# it may
// be a member that is inherited from a class of another file: names of variables begin with a
// small letter there, those of classes with a capital one.
func (b *builder) resolveUndeclared(i int32) meaning {
	name := b.t.Text(i)
	if b.m.ImplicitThis && b.fn.Class != nil && len(b.fn.Class.Bases) > 0 && name != "" &&
		(name[0] < 'A' || name[0] > 'Z') {
		return meaning{kind: meansMember, class: b.fn.Class, static: b.fn.Static, text: name}
	}
	q := b.qualifiedName(i)
	if q == "" {
		q = name
	}
	return meaning{kind: meansGlobal, text: q}
}

// readName returns the value of a Name.
func (b *builder) readName(i int32) Var {
	if b.argumentsVar != NoVar && b.isArguments(i) {
		return b.emitValue(Copy, i, "", b.argumentsVar)
	}
	switch m := b.resolveName(i); m.kind {
	case meansLocal:
		return b.emitValue(Copy, i, "", b.localVar(m.binding))
	case meansModule:
		if b.isTopLevelLocal(m.binding) {
			return b.emitValue(Copy, i, "", b.localVar(m.binding))
		}
		return b.emitValue(LoadGlobal, i, m.text)
	case meansMember:
		if this := b.receiverFor(m.class); this != NoVar && !m.static {
			return b.emitValue(LoadField, i, m.text, this)
		}
		return b.emitValue(LoadGlobal, i, joinName(m.class.Qualified, m.text))
	case meansFunction:
		if fn := b.Functions[m.index]; fn.Parent != nil && fn.Parent.Kind != TopLevel {
			return b.emitUnknown(i, fn.Name) // what it captures is out of reach here
		}
		return b.emitIndexed(Closure, i, m.index)
	case meansClass:
		return b.emitIndexed(ClassValue, i, m.index)
	default:
		return b.emitValue(LoadGlobal, i, m.text)
	}
}

// isTopLevelLocal reports whether the top-level code may keep a variable of the file in a
// local one: no other function writes it.
func (b *builder) isTopLevelLocal(binding int32) bool {
	return b.fn.Kind == TopLevel && b.use[binding]&writtenInside == 0
}

// writeName gives a Name a value.
func (b *builder) writeName(i int32, v Var) {
	if b.t.Text(i) == "_" && (b.names.Declaration(i) < 0 || b.names.Declaration(i) == i) {
		return // the blank name discards the value
	}
	switch m := b.resolveName(i); m.kind {
	case meansLocal:
		b.copyTo(b.localVar(m.binding), i, v)
	case meansModule:
		b.writeModuleVariable(i, m, v)
	case meansMember:
		if this := b.receiverFor(m.class); this != NoVar && !m.static {
			b.emitPlain(StoreField, i, m.text, this, v)
			return
		}
		b.emitPlain(StoreGlobal, i, joinName(m.class.Qualified, m.text), NoVar, v)
	case meansFunction:
		b.emitPlain(StoreGlobal, i, b.Functions[m.index].Qualified, NoVar, v)
	case meansClass:
		b.emitPlain(StoreGlobal, i, b.Classes[m.index].Qualified, NoVar, v)
	default:
		b.emitPlain(StoreGlobal, i, m.text, NoVar, v)
	}
}

// writeModuleVariable writes a variable of the file's top: the local copy of the top-level
// code, and the global for whoever else can see it.
func (b *builder) writeModuleVariable(i int32, m meaning, v Var) {
	if b.isTopLevelLocal(m.binding) {
		b.copyTo(b.localVar(m.binding), i, v)
		if b.use[m.binding]&usedInside == 0 && !b.isExported(m.binding) {
			return
		}
	}
	b.emitPlain(StoreGlobal, i, m.text, NoVar, v)
}

// isExported reports whether other files can see a variable of the file's top. Loop variables and
// exceptions at the top of a file are nobody else's in practice.
func (b *builder) isExported(d int32) bool {
	switch by := b.declaringNode(d); {
	case by < 0:
		return false
	case b.t.Is(by, tree.Clause), b.t.Is(by, tree.Catch):
		return false
	default:
		return !b.m.BlockScope || b.t.Nodes[by].Parent == tree.Root
	}
}

// emitIndexed emits a Closure or ClassValue. The text is for people who read the form; analyses
// use the index.
func (b *builder) emitIndexed(op Op, i, index int32) Var {
	in := newInstr(op, i)
	in.X, in.Dst = index, b.newTemp()
	switch op {
	case Closure:
		in.Text = b.Functions[index].Qualified
	case ClassValue:
		in.Text = b.Classes[index].Qualified
	}
	b.emitInstr(in)
	return in.Dst
}

// localVar returns the variable of a binding; that of an outer function is captured. The functions
// between this one and the declaring one capture the variable as well, one link each.
func (b *builder) localVar(d int32) Var {
	if v, ok := b.vars[d]; ok {
		return v
	}
	l := Local{Name: b.t.Text(d), Node: d, Type: b.absoluteName(b.names.Type(d)), Shared: b.use[d]&writtenInside != 0}
	v := NoVar
	if b.unit[d] != b.fn.Index && b.isInside(b.unit[d]) {
		l.Kind = Captured
		outer := b.outer.localVar(d)
		v = b.addLocal(l)
		b.fn.Captures = append(b.fn.Captures, Capture{Inner: v, Outer: outer})
	} else {
		v = b.addLocal(l)
	}
	b.vars[d] = v
	return v
}

// isInside reports whether one of the functions around is the unit. Then the variable is captured,
// and otherwise it cannot be seen from here.
func (b *builder) isInside(unit int32) bool {
	for o := b.outer; o != nil; o = o.outer {
		if o.fn.Index == unit {
			return true
		}
	}
	return false
}

// thisVar returns the receiver of the function, or that of the one around a lambda. Arrow
// functions and lambdas use the receiver of the function around them.
func (b *builder) thisVar() Var {
	if b.fn.This != NoVar {
		return b.fn.This
	}
	if b.fn.Kind == LambdaFunction && !b.hasOwnThis() && b.outer != nil {
		return b.captureThis(b.outer.thisVar())
	}
	b.fn.This = b.addLocal(Local{Name: "this", Kind: Receiver, Node: tree.None, Type: b.className()})
	return b.fn.This
}

// captureThis makes an outer receiver the function's own.
func (b *builder) captureThis(outer Var) Var {
	l := b.outer.fn.Locals[outer]
	b.fn.This = b.addLocal(Local{Name: l.Name, Kind: Captured, Node: l.Node, Type: l.Type})
	b.fn.Captures = append(b.fn.Captures, Capture{Inner: b.fn.This, Outer: outer})
	return b.fn.This
}

// captureVar makes a variable of the function around the function's own. A variable is captured
// once, however often it is used. The number of the outer variable is one of the function directly
// around: captures pass through each function in between.
func (b *builder) captureVar(outer Var) Var {
	for _, c := range b.fn.Captures {
		if c.Outer == outer {
			return c.Inner
		}
	}
	l := b.outer.fn.Locals[outer]
	v := b.addLocal(Local{Name: l.Name, Kind: Captured, Node: l.Node, Type: l.Type})
	b.fn.Captures = append(b.fn.Captures, Capture{Inner: v, Outer: outer})
	return v
}

// hasOwnThis reports whether the lambda has a receiver of its own, as JavaScript's
// function expressions have.
func (b *builder) hasOwnThis() bool { return b.t.Nodes[b.fn.Node].Flags&tree.OwnThis != 0 }

// className returns the class whose method is being lowered, "" outside of methods.
func (b *builder) className() string {
	if b.fn.Class != nil {
		return b.fn.Class.Qualified
	}
	return b.fn.Owner
}

// receiverFor returns the object whose members of the class the function may name without a
// receiver; NoVar in static code and where no function around has it. An inner class of Java may
// name members of its outer class; the link to the outer object is modelled as a capture. The
// result is kept under a key that no node has.
func (b *builder) receiverFor(c *Class) Var {
	switch {
	case b.fn.Class == c || b.outer == nil:
		if b.fn.Static || b.fn.Class != c {
			return NoVar
		}
		return b.thisVar()
	case b.vars == nil:
		return NoVar
	}
	key := -2 - int32(len(b.Classes)) // no node has it
	for i, known := range b.Classes {
		if known == c {
			key = -2 - int32(i)
		}
	}
	if v, ok := b.vars[key]; ok {
		return v
	}
	v := NoVar
	if outer := b.outer.receiverFor(c); outer != NoVar {
		l := b.outer.fn.Locals[outer]
		v = b.addLocal(Local{Name: l.Name, Kind: Captured, Node: l.Node, Type: l.Type})
		b.fn.Captures = append(b.fn.Captures, Capture{Inner: v, Outer: outer})
	}
	b.vars[key] = v
	return v
}

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

func itoa(n int) string { return strconv.Itoa(n) }

// join joins two dotted names, either of which may be empty.
func join(outer, name string) string {
	if outer == "" || name == "" {
		return outer + name
	}
	return outer + "." + name
}

// moduleOf returns the File.Module of a path.
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

// modulePath returns the module of a path without extension.
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

func trimExtension(file string, l *lang.Language) string {
	for _, x := range l.Grammar.Extensions {
		if strings.HasSuffix(file, x) {
			return strings.TrimSuffix(file, x)
		}
	}
	return file
}

// qualified returns the qualified name of a node as the whole program knows it.
func (l *lowerer) qualified(i int32) string {
	if i >= 0 && (l.t.Nodes[i].Kind == tree.Name || l.t.Nodes[i].Kind == tree.Type) {
		if d := l.names.Declaration(i); d >= 0 { // a class in a function may share its name with others
			if c, ok := l.owner[l.declarator(d)]; ok && l.t.Is(l.declarator(d), tree.Class) && int(c) < len(l.Classes) {
				_, rest, _ := strings.Cut(l.t.Text(i), ".")
				return join(l.Classes[c].Qualified, rest)
			}
		}
	}
	return l.absolute(l.names.Qualified(i))
}

// absolute makes a name that scope gives a name for the whole program: what the
// file declares gets the file's module, a relative module its place in the tree.
func (l *lowerer) absolute(q string) string {
	switch {
	case q == "":
		return ""
	case l.m.ImportsFolders:
		if rest, ok := strings.CutPrefix(q, l.names.Package+"."); ok {
			return join(l.Module, rest)
		}
		return q
	case !l.m.FileModule:
		return q
	case q[0] == '.':
		return l.relative(q)
	}
	if x := l.m.Exports; x != "" { // module.exports.a is the module's a
		rest := strings.TrimPrefix(q, "module.")
		if rest == x {
			return l.Module
		}
		if member, ok := strings.CutPrefix(rest, x+"."); ok {
			return join(l.Module, member)
		}
	}
	first, _, _ := strings.Cut(q, ".")
	if l.members[first] {
		return join(l.Module, q)
	}
	return q
}

// relative resolves a name that begins with a relative module: "./db.query" of
// src/app.js is "src/db.query", "..models.User" of pkg/web/app.py "pkg.models.User".
func (l *lowerer) relative(q string) string {
	dir := path.Dir(l.t.Path)
	if !l.m.SlashModules {
		rest := strings.TrimLeft(q, ".")
		for range len(q) - len(rest) - 1 {
			dir = path.Dir(dir)
		}
		if dir = modulePath(dir, l.m); dir == "" {
			return rest
		}
		return join(dir, rest)
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
		if folder, member, ok := dotted(q); ok {
			if p = path.Join(dir, folder); p == "." {
				p = m
			}
			return join(p, member)
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

// dotted takes the name of a folder by dots alone apart, and what it is a member of:
// "../..parse" is "parse" of "../.".
func dotted(q string) (folder, member string, ok bool) {
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

// meaning says what a Name stands for.
type meaning struct {
	kind    meaningKind
	binding int32 // of a variable
	index   int32 // of a function or class
	text    string
	static  bool // of a member
	class   *Class
}

type meaningKind uint8

const (
	meansGlobal   meaningKind = iota // text is its qualified name
	meansLocal                       // a variable of a function
	meansModule                      // a variable at the top of the file; text is its qualified name
	meansMember                      // a member of class
	meansFunction                    // a function that never changes
	meansClass
)

// means says what the Name means.
func (b *builder) means(i int32) meaning {
	d := b.names.Declaration(i)
	if d < 0 {
		return b.undeclared(i)
	}
	by := b.declarator(d)
	if by < 0 {
		return meaning{kind: meansLocal, binding: d}
	}
	n := &b.t.Nodes[by]
	switch n.Kind {
	case tree.Import, tree.TypeAlias, tree.TypeParameter, tree.Package:
		q := b.qualified(i)
		if q == "" {
			q = b.t.Text(i)
		}
		return meaning{kind: meansGlobal, text: q}
	case tree.Class:
		if c, ok := b.owner[by]; ok && b.use[d]&rewritten == 0 {
			return meaning{kind: meansClass, index: c}
		}
	case tree.Function:
		if f, ok := b.owner[by]; ok {
			fn := b.Functions[f]
			if fn.Class != nil && d == b.t.Child(by, tree.RoleName) {
				return meaning{kind: meansMember, class: fn.Class, static: fn.Static, text: fn.Name, index: f}
			}
			if b.unit[by] == 0 && b.use[d]&rewritten == 0 {
				return meaning{kind: meansFunction, index: f}
			}
		}
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
	return b.variable(d)
}

func (l *lowerer) staticField(c *Class, node int32) bool {
	for i := range c.Fields {
		if c.Fields[i].Node == node {
			return c.Fields[i].Static
		}
	}
	return false
}

// classAround returns the class whose body the node stands in.
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

// variable says what kind of variable the binding is.
func (b *builder) variable(d int32) meaning {
	unit := b.Functions[b.unit[d]]
	switch {
	case unit.Kind == TopLevel:
		return meaning{kind: meansModule, binding: d, text: join(b.Module, b.t.Text(d))}
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

// undeclared says what a name means that the file does not declare.
func (b *builder) undeclared(i int32) meaning {
	name := b.t.Text(i)
	if b.m.ImplicitThis && b.fn.Class != nil && len(b.fn.Class.Bases) > 0 && name != "" &&
		(name[0] < 'A' || name[0] > 'Z') {
		return meaning{kind: meansMember, class: b.fn.Class, static: b.fn.Static, text: name}
	}
	q := b.qualified(i)
	if q == "" {
		q = name
	}
	return meaning{kind: meansGlobal, text: q}
}

// read returns the value of a Name.
func (b *builder) read(i int32) Var {
	if b.given != NoVar && b.isArguments(i) {
		return b.value(Copy, i, "", b.given)
	}
	switch m := b.means(i); m.kind {
	case meansLocal:
		return b.value(Copy, i, "", b.local(m.binding))
	case meansModule:
		if b.fn.Kind == TopLevel && b.use[m.binding]&writtenInside == 0 {
			return b.value(Copy, i, "", b.local(m.binding))
		}
		return b.value(LoadGlobal, i, m.text)
	case meansMember:
		if this := b.receiver(m.class); this != NoVar && !m.static {
			return b.value(LoadField, i, m.text, this)
		}
		return b.value(LoadGlobal, i, join(m.class.Qualified, m.text))
	case meansFunction:
		if fn := b.Functions[m.index]; fn.Parent != nil && fn.Parent.Kind != TopLevel {
			return b.unknown(i, fn.Name) // what it captures is out of reach here
		}
		return b.indexed(Closure, i, m.index)
	case meansClass:
		return b.indexed(ClassValue, i, m.index)
	default:
		return b.value(LoadGlobal, i, m.text)
	}
}

// write gives a Name a value.
func (b *builder) write(i int32, v Var) {
	if b.t.Text(i) == "_" && (b.names.Declaration(i) < 0 || b.names.Declaration(i) == i) {
		return // takes what nobody wants
	}
	switch m := b.means(i); m.kind {
	case meansLocal:
		b.copyTo(b.local(m.binding), i, v)
	case meansModule:
		if b.fn.Kind == TopLevel && b.use[m.binding]&writtenInside == 0 {
			b.copyTo(b.local(m.binding), i, v)
			if b.use[m.binding]&usedInside == 0 && !b.exported(m.binding) {
				return
			}
		}
		b.do(StoreGlobal, i, m.text, NoVar, v)
	case meansMember:
		if this := b.receiver(m.class); this != NoVar && !m.static {
			b.do(StoreField, i, m.text, this, v)
			return
		}
		b.do(StoreGlobal, i, join(m.class.Qualified, m.text), NoVar, v)
	case meansFunction:
		b.do(StoreGlobal, i, b.Functions[m.index].Qualified, NoVar, v)
	case meansClass:
		b.do(StoreGlobal, i, b.Classes[m.index].Qualified, NoVar, v)
	default:
		b.do(StoreGlobal, i, m.text, NoVar, v)
	}
}

// exported reports whether other files can see a variable of the file's top.
func (b *builder) exported(d int32) bool {
	switch by := b.declarator(d); {
	case by < 0:
		return false
	case b.t.Is(by, tree.Clause), b.t.Is(by, tree.Catch):
		return false
	default:
		return !b.m.BlockScope || b.t.Nodes[by].Parent == tree.Root
	}
}

// indexed emits a Closure or ClassValue.
func (b *builder) indexed(op Op, i, index int32) Var {
	in := plain(op, i)
	in.X, in.Dst = index, b.temp()
	switch op {
	case Closure:
		in.Text = b.Functions[index].Qualified
	case ClassValue:
		in.Text = b.Classes[index].Qualified
	}
	b.emit(in)
	return in.Dst
}

// local returns the variable of a binding; that of an outer function is captured.
func (b *builder) local(d int32) Var {
	if v, ok := b.vars[d]; ok {
		return v
	}
	l := Local{Name: b.t.Text(d), Node: d, Type: b.absolute(b.names.Type(d)), Shared: b.use[d]&writtenInside != 0}
	v := NoVar
	if b.unit[d] != b.fn.Index && b.inside(b.unit[d]) {
		l.Kind = Captured
		outer := b.outer.local(d)
		v = b.addLocal(l)
		b.fn.Captures = append(b.fn.Captures, Capture{Inner: v, Outer: outer})
	} else {
		v = b.addLocal(l)
	}
	b.vars[d] = v
	return v
}

// inside reports whether one of the functions around is the unit.
func (b *builder) inside(unit int32) bool {
	for o := b.outer; o != nil; o = o.outer {
		if o.fn.Index == unit {
			return true
		}
	}
	return false
}

// this returns the receiver of the function, or that of the one around a lambda.
func (b *builder) this() Var {
	if b.fn.This != NoVar {
		return b.fn.This
	}
	if b.fn.Kind == LambdaFunction && !b.ownThis() && b.outer != nil {
		return b.captureThis(b.outer.this())
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

// capture makes a variable of the function around the function's own.
func (b *builder) capture(outer Var) Var {
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

// ownThis reports whether the lambda has a receiver of its own, as JavaScript's
// function expressions have.
func (b *builder) ownThis() bool { return b.t.Nodes[b.fn.Node].Flags&tree.OwnThis != 0 }

func (b *builder) className() string {
	if b.fn.Class != nil {
		return b.fn.Class.Qualified
	}
	return b.fn.Owner
}

// receiver returns the object whose members of the class the function may name
// without a receiver; NoVar in static code and where no function around has it.
func (b *builder) receiver(c *Class) Var {
	switch {
	case b.fn.Class == c || b.outer == nil:
		if b.fn.Static || b.fn.Class != c {
			return NoVar
		}
		return b.this()
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
	if outer := b.outer.receiver(c); outer != NoVar {
		l := b.outer.fn.Locals[outer]
		v = b.addLocal(Local{Name: l.Name, Kind: Captured, Node: l.Node, Type: l.Type})
		b.fn.Captures = append(b.fn.Captures, Capture{Inner: v, Outer: outer})
	}
	b.vars[key] = v
	return v
}

package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// A target is where break and continue go.
type target struct {
	label     string
	breaks    BlockID
	continues BlockID // NoBlock when it is no loop
	final     *final  // the finally outside of it
	block     bool    // a labelled block, which only a break with its label leaves
}

// stmt lowers a statement.
func (b *builder) stmt(i int32) {
	if i < 0 || b.over {
		return
	}
	n := &b.t.Nodes[i]
	value := b.t.Child(i, tree.RoleValue)
	switch n.Kind {
	case tree.Block, tree.FileKind, tree.Error:
		b.block(i)
	case tree.ExpressionStatement:
		b.expr(value)
	case tree.Variable, tree.Field:
		b.declaration(i)
	case tree.If:
		b.ifStatement(i)
	case tree.While, tree.DoWhile, tree.For:
		b.loop(i)
	case tree.ForEach:
		b.forEach(i)
	case tree.Switch:
		b.switchStatement(i, NoVar)
	case tree.Try:
		b.try(i)
	case tree.With:
		b.with(i)
	case tree.Return:
		b.returns(i, value)
	case tree.Throw:
		v := b.caughtVar
		if value >= 0 {
			v = b.expr(value)
		}
		b.throw(i, v)
	case tree.Break, tree.Continue:
		b.leaveLoop(i)
	case tree.Goto:
		b.jump(b.labelled(b.t.Text(b.t.Child(i, tree.RoleLabel))))
	case tree.Label:
		b.labelStatement(i)
	case tree.Defer:
		b.deferCall(value)
	case tree.Spawn:
		b.spawn(value)
	case tree.Assert:
		b.assert(i)
	case tree.Delete:
		for c := range b.t.All(i, tree.RoleValue) {
			b.delete(c)
		}
	case tree.Function:
		b.functionStatement(i)
	case tree.Class:
		b.classStatement(i)
	case tree.Import:
		b.importStatement(i)
	case tree.Export:
		b.exportStatement(i)
	case tree.Package, tree.TypeAlias, tree.Global, tree.Empty, tree.Modifier, tree.Annotation, tree.Token, tree.Type,
		tree.TypeParameter:
	case tree.Other:
		if k := len(b.next) - 1; k >= 0 && n.Text == b.m.Fallthrough && n.Text != "" && b.next[k] != NoBlock {
			b.jump(b.next[k])
			return
		}
		b.expr(i)
	default:
		b.expr(i)
	}
}

// block lowers the statements of a block. Functions that are declared in it are
// made first where they can be called before their declaration.
func (b *builder) block(i int32) {
	if !b.m.AssignDeclares {
		for c := range b.t.Children(i) {
			if b.t.Is(c, tree.Function) {
				b.functionStatement(c)
			}
		}
	}
	spawned := len(b.spawned)
	for c := range b.t.Children(i) {
		if b.m.AssignDeclares || !b.t.Is(c, tree.Function) {
			b.stmt(c)
		}
	}
	b.meet(spawned)
}

// statementValue evaluates a statement in the place of an expression: its value is
// not known.
func (b *builder) statementValue(i int32) Var {
	if b.t.Is(i, tree.Switch) {
		return b.join(i, func(result Var) {
			b.copyTo(result, tree.None, b.unknown(tree.None, "switch")) // no case may match
			b.switchStatement(i, result)
		})
	}
	if b.t.Is(i, tree.ExpressionStatement) {
		return b.expr(b.t.Child(i, tree.RoleValue))
	}
	if b.t.Is(i, tree.Variable) {
		b.stmt(i)
		if t := b.t.Child(i, tree.RoleTarget); b.t.Is(t, tree.Name) {
			return b.read(t)
		}
		return b.unknown(i, "variable")
	}
	b.stmt(i)
	return b.unknown(i, "statement")
}

func (b *builder) ifStatement(i int32) {
	for c := range b.t.All(i, tree.RoleInit) {
		b.stmt(c)
	}
	then, other, done := b.newBlock(), b.newBlock(), b.newBlock()
	b.cond(b.t.Child(i, tree.RoleCondition), then, other)
	b.start(then)
	b.stmt(b.t.Child(i, tree.RoleThen))
	b.jump(done)
	b.start(other)
	b.stmt(b.t.Child(i, tree.RoleElse))
	b.start(done)
}

// loop lowers While, DoWhile and For.
func (b *builder) loop(i int32) {
	for c := range b.t.All(i, tree.RoleInit) {
		b.stmt(c)
	}
	test, body, update, other, done := b.newBlock(), b.newBlock(), b.newBlock(), b.newBlock(), b.newBlock()
	condition := b.t.Child(i, tree.RoleCondition)
	if b.t.Is(i, tree.DoWhile) {
		b.start(body)
		b.loopBody(i, done, test)
		b.start(test)
		b.cond(condition, body, done)
		b.start(update)
		b.jump(done)
		b.start(other)
		b.start(done)
		return
	}
	b.start(test)
	if condition >= 0 {
		b.cond(condition, body, other)
	} else {
		b.jump(body)
	}
	b.start(body)
	b.loopBody(i, done, update)
	b.start(update)
	for c := range b.t.All(i, tree.RoleUpdate) {
		b.stmt(c)
	}
	b.jump(test)
	b.start(other)
	b.stmt(b.t.Child(i, tree.RoleElse))
	b.start(done)
}

// loopBody lowers the body of a loop.
func (b *builder) loopBody(i int32, breaks, continues BlockID) {
	b.jumps = append(b.jumps, target{label: b.label, breaks: breaks, continues: continues, final: b.final})
	b.label = ""
	b.stmt(b.t.Child(i, tree.RoleBody))
	b.jumps = b.jumps[:len(b.jumps)-1]
}

func (b *builder) forEach(i int32) {
	kind := "values"
	switch b.t.Text(i) {
	case "in":
		kind = "keys"
	case "range":
		kind = "entries"
		if t := b.t.Child(i, tree.RoleTarget); b.isTuple(t) && b.t.Count(t, tree.RoleElement) == 1 &&
			b.isChannel(b.t.Child(i, tree.RoleIterable)) {
			kind = "values"
		}
	}
	if b.m.AssignDeclares {
		kind = "values" // Python's "for x in xs"
	}
	label := b.label
	b.label = ""
	b.iterate(i, kind, b.t.Child(i, tree.RoleIterable), b.t.Child(i, tree.RoleTarget), func(next BlockID) {
		b.label = label
		b.loopBody(i, b.jumpsDone, next)
	})
}

// iterate lowers a loop over the elements of a collection; body is told where the
// next round begins.
func (b *builder) iterate(i int32, kind string, iterable, to int32, body func(next BlockID)) {
	it := b.iterator(kind, iterable)
	test, round, other, done := b.newBlock(), b.newBlock(), b.newBlock(), b.newBlock()
	b.start(test)
	b.branch(iterable, b.value(HasNext, tree.None, "", it), round, other)
	b.start(round)
	b.element(kind, it, to)
	b.ownElements(to)
	outer := b.jumpsDone
	b.jumpsDone = done
	body(test)
	b.jumpsDone = outer
	b.jump(test)
	b.start(other)
	b.stmt(b.t.Child(i, tree.RoleElse))
	b.start(done)
}

// iterator makes the iterator of a loop.
func (b *builder) iterator(kind string, iterable int32) Var {
	in := plain(Iterate, iterable, b.expr(iterable))
	if kind == "entries" {
		switch b.t.Text(b.declaredType(iterable, 0)) {
		case "[]", "map", "chan":
			in.X = 1
		}
	}
	in.Text, in.Dst = kind, b.temp()
	b.emit(in)
	return in.Dst
}

// isChannel reports whether the expression is declared as a channel.
func (b *builder) isChannel(i int32) bool {
	return b.t.Text(b.declaredType(i, 0)) == "chan"
}

// element binds the next element of an iterator.
func (b *builder) element(kind string, it Var, to int32) {
	if to < 0 {
		return
	}
	v := b.value(Next, to, "", it)
	if kind == "values" && b.t.Text(b.t.Nodes[to].Parent) == "range" && b.isTuple(to) {
		b.store(to+1, v) // what comes out of a channel
		return
	}
	if kind != "entries" || b.isTuple(to) {
		b.store(to, v)
		return
	}
	b.store(to, b.value(LoadIndex, tree.None, "0", v)) // only the key is wanted
}

// labelled returns the block of a label.
func (b *builder) labelled(name string) BlockID {
	if b.labels == nil {
		b.labels = map[string]BlockID{}
	}
	id, ok := b.labels[name]
	if !ok {
		id = b.newBlock()
		b.labels[name] = id
	}
	return id
}

func (b *builder) labelStatement(i int32) {
	name, body := b.t.Name(i), b.t.Child(i, tree.RoleBody)
	id := b.labelled(name)
	if b.blocks[id].start >= 0 { // the same label again, in another region
		delete(b.labels, name)
		id = b.labelled(name)
	}
	b.start(id)
	if body < 0 {
		return
	}
	switch b.t.Nodes[body].Kind {
	case tree.While, tree.DoWhile, tree.For, tree.ForEach, tree.Switch:
		b.label = name
		b.stmt(body)
		b.label = ""
	default:
		done := b.newBlock()
		b.jumps = append(b.jumps, target{label: name, breaks: done, continues: NoBlock, final: b.final, block: true})
		b.stmt(body)
		b.jumps = b.jumps[:len(b.jumps)-1]
		b.start(done)
	}
}

// leaveLoop lowers break and continue.
func (b *builder) leaveLoop(i int32) {
	label := b.t.Text(b.t.Child(i, tree.RoleLabel))
	for k := len(b.jumps) - 1; k >= 0; k-- {
		t := b.jumps[k]
		to := t.breaks
		if b.t.Is(i, tree.Continue) {
			to = t.continues
		}
		if to == NoBlock || label != "" && label != t.label || label == "" && t.block {
			continue
		}
		b.leave(to, t.final)
		return
	}
	b.do(Stop, i, "") // a break of nothing
	b.end()
}

func (b *builder) returns(i, value int32) {
	v := NoVar
	if value >= 0 {
		v = b.expr(value)
	} else {
		v = b.namedResult(i)
	}
	if b.final == nil {
		b.do(Return, i, "", v)
		b.end()
		return
	}
	if b.result == NoVar {
		b.result = b.addLocal(Local{Name: "<result>", Kind: Hidden, Node: tree.None})
	}
	if v == NoVar {
		v = b.constant(tree.None, ConstNull, "null")
	}
	if value >= 0 {
		b.setNamed(v)
	}
	b.copyTo(b.result, i, v)
	b.leave(NoBlock, nil)
}

func (b *builder) assert(i int32) {
	ok, fails := b.newBlock(), b.newBlock()
	b.cond(b.t.Child(i, tree.RoleCondition), ok, fails)
	b.start(fails)
	v := NoVar
	if value := b.t.Child(i, tree.RoleValue); value >= 0 {
		v = b.expr(value)
	}
	b.throw(i, v)
	b.start(ok)
}

// importStatement notes an import.
func (b *builder) importStatement(i int32) {
	in := Import{Node: i, Module: b.t.Text(i), Name: b.t.Name(i), Local: b.names.Bound(i)}
	if (in.Name == "*") && b.t.Child(i, tree.RoleAlias) >= 0 {
		in.Name = "" // the module itself under a name
	}
	b.Imports = append(b.Imports, in)
	if b.fn.Kind == TopLevel && b.m.FileModule && b.m.Exports == "" {
		b.passOn(i, in)
	}
}

// passOn notes that what is imported can be imported from this file too (Python).
func (b *builder) passOn(i int32, in Import) {
	switch {
	case in.Name == "*":
		b.Reexports = append(b.Reexports, b.moduleName(in.Module))
	case in.Local != "":
		for _, r := range []tree.Role{tree.RoleAlias, tree.RoleName, tree.RolePath} {
			if c := b.t.Child(i, r); c >= 0 {
				if q := b.qualified(c); q != "" && b.t.Is(c, tree.Name) {
					b.aliasName(in.Local, q)
				}
				return
			}
		}
	}
}

// aliasName notes another name for what a qualified name means: that of a member
// of the file, or of the file when it is "".
func (b *builder) aliasName(member, q string) {
	if name := join(b.Module, member); name != q && name != "" {
		b.Aliases = append(b.Aliases, Alias{name, q})
	}
}

// exportStatement gives what is exported the name that others know it by.
func (b *builder) exportStatement(i int32) {
	name, value := b.t.Name(i), b.t.Child(i, tree.RoleValue)
	from := b.t.Text(i)
	if from != "" && name == "*" {
		b.Reexports = append(b.Reexports, b.moduleName(from))
		return
	}
	var v Var
	outside := name
	if name == "default" || name == "=" {
		outside = ""
	}
	if q := b.qualified(value); q != "" && from == "" {
		b.aliasName(outside, q)
	}
	switch {
	case from != "":
		q := b.moduleName(from)
		if t := b.t.Text(value); t != "*" && t != "default" {
			q = join(q, t)
		}
		b.aliasName(outside, q)
		v = b.value(LoadGlobal, i, q)
	case value >= 0:
		v = b.expr(value)
	default:
		return
	}
	b.export(i, name, v)
}

// export stores what is exported under the name. The default and the whole of a
// module are one.
func (b *builder) export(i int32, name string, v Var) {
	q := b.Module
	if name != "default" && name != "=" {
		q = join(q, name)
	}
	b.do(StoreGlobal, i, q, NoVar, v)
}

// moduleName returns the module that the source calls so.
func (l *lowerer) moduleName(written string) string {
	return l.absolute(strings.TrimPrefix(written, l.m.ModulePrefix))
}

package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file lowers statements. Each one goes on in the open block or begins new ones; after a jump
// there is no open block.

// A target is where break and continue go. It knows the finally parts that lie between, which run
// on the way.
type target struct {
	label     string
	breaks    BlockID
	continues BlockID // NoBlock when it is no loop
	final     *final  // the finally outside of it
	block     bool    // a labelled block, which only a break with its label leaves
}

// lowerStmt lowers a statement. The kinds are split over three switches, which the
// compiler turns into jump tables; the frequent ones come first.
func (b *builder) lowerStmt(i int32) {
	if i < 0 || b.overLimit {
		return
	}
	switch b.t.Nodes[i].Kind {
	case tree.Block, tree.FileKind, tree.Error:
		b.lowerBlock(i)
	case tree.ExpressionStatement:
		b.lowerExpr(b.t.Child(i, tree.RoleValue))
	case tree.Variable, tree.Field:
		b.lowerDeclaration(i)
	case tree.If:
		b.lowerIf(i)
	case tree.While, tree.DoWhile, tree.For:
		b.lowerLoop(i)
	case tree.ForEach:
		b.lowerForEach(i)
	case tree.Switch:
		b.lowerSwitch(i, NoVar)
	case tree.Try:
		b.lowerTry(i)
	case tree.With:
		b.lowerWith(i)
	default:
		b.lowerJumpStmt(i)
	}
}

// lowerJumpStmt lowers the statements that leave their place, or call something that runs
// at another time.
func (b *builder) lowerJumpStmt(i int32) {
	value := b.t.Child(i, tree.RoleValue)
	switch b.t.Nodes[i].Kind {
	case tree.Return:
		b.lowerReturn(i, value)
	case tree.Throw:
		v := b.caughtVar
		if value >= 0 {
			v = b.lowerExpr(value)
		}
		b.emitThrow(i, v)
	case tree.Break, tree.Continue:
		b.leaveLoop(i)
	case tree.Goto:
		b.jumpTo(b.labelBlock(b.t.Text(b.t.Child(i, tree.RoleLabel))))
	case tree.Label:
		b.lowerLabel(i)
	case tree.Defer:
		b.deferCall(value)
	case tree.Spawn:
		b.spawnCall(value)
	case tree.Assert:
		b.lowerAssert(i)
	default:
		b.lowerDeclarationStmt(i)
	}
}

// lowerDeclarationStmt lowers the statements that declare or remove names, and any
// expression in the place of a statement.
func (b *builder) lowerDeclarationStmt(i int32) {
	switch b.t.Nodes[i].Kind {
	case tree.Delete:
		for c := range b.t.All(i, tree.RoleValue) {
			b.lowerDelete(c)
		}
	case tree.Function:
		b.lowerFunctionStatement(i)
	case tree.Class:
		b.lowerClassStatement(i)
	case tree.Import:
		b.lowerImport(i)
	case tree.Export:
		b.lowerExport(i)
	case tree.Package, tree.TypeAlias, tree.Global, tree.Empty, tree.Modifier, tree.Annotation, tree.Token, tree.Type,
		tree.TypeParameter:
	case tree.Other:
		if to := b.fallthroughTarget(i); to != NoBlock {
			b.jumpTo(to)
			return
		}
		b.lowerExpr(i)
	default:
		b.lowerExpr(i)
	}
}

// fallthroughTarget returns the body of the next case when the node is the language's
// fallthrough statement (Go); NoBlock otherwise.
func (b *builder) fallthroughTarget(i int32) BlockID {
	text := b.t.Nodes[i].Text
	if k := len(b.nextBodies) - 1; k >= 0 && text == b.m.Fallthrough && text != "" {
		return b.nextBodies[k]
	}
	return NoBlock
}

// lowerBlock lowers the statements of a block. Functions that are declared in it are made first
// where they can be called before their declaration. JavaScript hoists function declarations to
// the top of their block; a call above the declaration must find the function. In languages where
// an assignment declares (Python) the declaration is a statement like others and stays in its
// place.
func (b *builder) lowerBlock(i int32) {
	if !b.m.AssignDeclares {
		for c := range b.t.Children(i) {
			if b.t.Is(c, tree.Function) {
				b.lowerFunctionStatement(c)
			}
		}
	}
	spawned := len(b.spawned)
	for c := range b.t.Children(i) {
		if b.m.AssignDeclares || !b.t.Is(c, tree.Function) {
			b.lowerStmt(c)
		}
	}
	b.joinSpawned(spawned)
}

// lowerStatementValue evaluates a statement in the place of an expression: its value is
// not known.
func (b *builder) lowerStatementValue(i int32) Var {
	if b.t.Is(i, tree.Switch) {
		return b.joinBranches(i, func(result Var) {
			b.copyTo(result, tree.None, b.emitUnknown(tree.None, "switch")) // no case may match
			b.lowerSwitch(i, result)
		})
	}
	if b.t.Is(i, tree.ExpressionStatement) {
		return b.lowerExpr(b.t.Child(i, tree.RoleValue))
	}
	if b.t.Is(i, tree.Variable) {
		b.lowerStmt(i)
		if t := b.t.Child(i, tree.RoleTarget); b.t.Is(t, tree.Name) {
			return b.readName(t)
		}
		return b.emitUnknown(i, "variable")
	}
	b.lowerStmt(i)
	return b.emitUnknown(i, "statement")
}

// lowerIf lowers an If. Its initializer ("if v, err := f(); err != nil") runs in front of the
// condition, in the block that is open.
func (b *builder) lowerIf(i int32) {
	for c := range b.t.All(i, tree.RoleInit) {
		b.lowerStmt(c)
	}
	then, other, done := b.newBlock(), b.newBlock(), b.newBlock()
	b.branchCondition(b.t.Child(i, tree.RoleCondition), then, other)
	b.startBlock(then)
	b.lowerStmt(b.t.Child(i, tree.RoleThen))
	b.jumpTo(done)
	b.startBlock(other)
	b.lowerStmt(b.t.Child(i, tree.RoleElse))
	b.startBlock(done)
}

// lowerLoop lowers While, DoWhile and For. The block "other" contains the else part of a loop
// (Python), which runs when the condition ends the loop and not when a break does.
func (b *builder) lowerLoop(i int32) {
	for c := range b.t.All(i, tree.RoleInit) {
		b.lowerStmt(c)
	}
	test, body, update, other, done := b.newBlock(), b.newBlock(), b.newBlock(), b.newBlock(), b.newBlock()
	condition := b.t.Child(i, tree.RoleCondition)
	if b.t.Is(i, tree.DoWhile) {
		b.startBlock(body)
		b.lowerLoopBody(i, done, test)
		b.startBlock(test)
		b.branchCondition(condition, body, done)
		b.startBlock(update)
		b.jumpTo(done)
		b.startBlock(other)
		b.startBlock(done)
		return
	}
	b.startBlock(test)
	if condition >= 0 {
		b.branchCondition(condition, body, other)
	} else {
		b.jumpTo(body)
	}
	b.startBlock(body)
	b.lowerLoopBody(i, done, update)
	b.startBlock(update)
	for c := range b.t.All(i, tree.RoleUpdate) {
		b.lowerStmt(c)
	}
	b.jumpTo(test)
	b.startBlock(other)
	b.lowerStmt(b.t.Child(i, tree.RoleElse))
	b.startBlock(done)
}

// lowerLoopBody lowers the body of a loop. The label belongs to this loop only: nested loops must
// not inherit it.
func (b *builder) lowerLoopBody(i int32, breaks, continues BlockID) {
	b.jumps = append(b.jumps, target{label: b.label, breaks: breaks, continues: continues, final: b.final})
	b.label = ""
	b.lowerStmt(b.t.Child(i, tree.RoleBody))
	b.jumps = b.jumps[:len(b.jumps)-1]
}

// lowerForEach lowers a loop over a collection. What the variables get depends on the language:
// the keys of JavaScript's "for in", key and value of Go's range (only the value for a channel),
// else the elements.
func (b *builder) lowerForEach(i int32) {
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
	b.lowerIteration(i, kind, b.t.Child(i, tree.RoleIterable), b.t.Child(i, tree.RoleTarget), func(next BlockID) {
		b.label = label
		b.lowerLoopBody(i, b.loopEnd, next)
	})
}

// lowerIteration lowers a loop over the elements of a collection; body gets the block of the test
// for the next element. Comprehensions use it too, so the body is a function and no node. After the body
// the iterator is asked again; the else part and the code behind the loop follow.
func (b *builder) lowerIteration(i int32, kind string, iterable, to int32, body func(next BlockID)) {
	it := b.emitIterator(kind, iterable)
	test, round, other, done := b.newBlock(), b.newBlock(), b.newBlock(), b.newBlock()
	b.startBlock(test)
	b.branchOn(iterable, b.emitValue(HasNext, tree.None, "", it), round, other)
	b.startBlock(round)
	b.bindElement(kind, it, to)
	b.ownElements(to)
	outer := b.loopEnd
	b.loopEnd = done
	body(test)
	b.loopEnd = outer
	b.jumpTo(test)
	b.startBlock(other)
	b.lowerStmt(b.t.Child(i, tree.RoleElse))
	b.startBlock(done)
}

// emitIterator makes the iterator of a loop. X tells package taint that the iterable cannot be an
// iterator function (Go 1.23), whose body would be called back.
func (b *builder) emitIterator(kind string, iterable int32) Var {
	in := newInstr(Iterate, iterable, b.lowerExpr(iterable))
	if kind == "entries" {
		switch b.t.Text(b.declaredType(iterable, 0)) {
		case "[]", "map", "chan":
			in.X = 1
		}
	}
	in.Text, in.Dst = kind, b.newTemp()
	b.emitInstr(in)
	return in.Dst
}

// isChannel reports whether the expression is declared as a channel.
func (b *builder) isChannel(i int32) bool {
	return b.t.Text(b.declaredType(i, 0)) == "chan"
}

// bindElement binds the next element of an iterator. An entry is a tuple of key and value; a loop
// that binds one name wants the key alone.
func (b *builder) bindElement(kind string, it Var, to int32) {
	if to < 0 {
		return
	}
	v := b.emitValue(Next, to, "", it)
	if kind == "values" && b.t.Text(b.t.Nodes[to].Parent) == "range" && b.isTuple(to) {
		b.storeTarget(to+1, v) // what comes out of a channel
		return
	}
	if kind != "entries" || b.isTuple(to) {
		b.storeTarget(to, v)
		return
	}
	b.storeTarget(to, b.emitValue(LoadIndex, tree.None, "0", v)) // only the key is wanted
}

// labelBlock returns the block of a label. A goto may come before its label, so whoever comes
// first creates the block.
func (b *builder) labelBlock(name string) BlockID {
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

// lowerLabel lowers a labelled statement. A loop takes the label for its own break and continue;
// any other statement is a region that a break with the label leaves.
func (b *builder) lowerLabel(i int32) {
	name, body := b.t.Name(i), b.t.Child(i, tree.RoleBody)
	id := b.labelBlock(name)
	if b.blocks[id].start >= 0 { // the same label again, in another region
		delete(b.labels, name)
		id = b.labelBlock(name)
	}
	b.startBlock(id)
	if body < 0 {
		return
	}
	switch b.t.Nodes[body].Kind {
	case tree.While, tree.DoWhile, tree.For, tree.ForEach, tree.Switch:
		b.label = name
		b.lowerStmt(body)
		b.label = ""
	default:
		done := b.newBlock()
		b.jumps = append(b.jumps, target{label: name, breaks: done, continues: NoBlock, final: b.final, block: true})
		b.lowerStmt(body)
		b.jumps = b.jumps[:len(b.jumps)-1]
		b.startBlock(done)
	}
}

// leaveLoop lowers break and continue: a jump to the innermost target that fits, through the
// finally blocks that are open inside of it. A break without a target is an error of the source;
// the code behind it is not reached.
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
		b.leaveTo(to, t.final)
		return
	}
	b.emitPlain(Stop, i, "") // a break of nothing
	b.endBlock()
}

// lowerReturn lowers a return. Inside of a try with a finally the value is kept in a hidden
// variable until the finally has run, which may replace it (Go's named results).
func (b *builder) lowerReturn(i, value int32) {
	v := NoVar
	if value >= 0 {
		v = b.lowerExpr(value)
	} else {
		v = b.namedResult(i)
	}
	if b.final == nil {
		b.emitPlain(Return, i, "", v)
		b.endBlock()
		return
	}
	if b.result == NoVar {
		b.result = b.addLocal(Local{Name: "<result>", Kind: Hidden, Node: tree.None})
	}
	if v == NoVar {
		v = b.emitConstant(tree.None, ConstNull, "null")
	}
	if value >= 0 {
		b.setNamed(v)
	}
	b.copyTo(b.result, i, v)
	b.leaveTo(NoBlock, nil)
}

// lowerAssert lowers an assertion as a conditional throw, so that what follows knows the condition
// to be true.
func (b *builder) lowerAssert(i int32) {
	ok, fails := b.newBlock(), b.newBlock()
	b.branchCondition(b.t.Child(i, tree.RoleCondition), ok, fails)
	b.startBlock(fails)
	v := NoVar
	if value := b.t.Child(i, tree.RoleValue); value >= 0 {
		v = b.lowerExpr(value)
	}
	b.emitThrow(i, v)
	b.startBlock(ok)
}

// lowerImport notes an import. The imports of the top level are also visible to other files in
// languages whose modules are their files (Python): "from app import db" finds a db that app
// itself imports.
func (b *builder) lowerImport(i int32) {
	in := Import{Node: i, Module: b.t.Text(i), Name: b.t.Name(i), Local: b.names.Bound(i)}
	if (in.Name == "*") && b.t.Child(i, tree.RoleAlias) >= 0 {
		in.Name = "" // the module itself under a name
	}
	b.Imports = append(b.Imports, in)
	if b.fn.Kind == TopLevel && b.m.FileModule && b.m.Exports == "" {
		b.reexportImport(i, in)
	}
}

// reexportImport notes that what is imported can be imported from this file too (Python). "from a
// import b" makes b a member of the module, and other files may import it from there. So the name
// becomes an alias of what is imported.
func (b *builder) reexportImport(i int32, in Import) {
	switch {
	case in.Name == "*":
		b.Reexports = append(b.Reexports, b.moduleName(in.Module))
	case in.Local != "":
		for _, r := range []tree.Role{tree.RoleAlias, tree.RoleName, tree.RolePath} {
			if c := b.t.Child(i, r); c >= 0 {
				if q := b.qualifiedName(c); q != "" && b.t.Is(c, tree.Name) {
					b.aliasName(in.Local, q)
				}
				return
			}
		}
	}
}

// aliasName notes another name for what a qualified name means: that of a member of the file, or
// of the file when it is "". A file of re-exports declares nothing itself; without the aliases
// calls through it would not reach their functions.
func (b *builder) aliasName(member, q string) {
	if name := joinName(b.Module, member); name != q && name != "" {
		b.Aliases = append(b.Aliases, Alias{name, q})
	}
}

// lowerExport gives what is exported the name that others know it by. "export {a as b} from 'm'"
// names a member of another module; it is both an alias, for resolution of calls, and a store, for
// data.
func (b *builder) lowerExport(i int32) {
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
	if q := b.qualifiedName(value); q != "" && from == "" {
		b.aliasName(outside, q)
	}
	switch {
	case from != "":
		q := b.moduleName(from)
		if t := b.t.Text(value); t != "*" && t != "default" {
			q = joinName(q, t)
		}
		b.aliasName(outside, q)
		v = b.emitValue(LoadGlobal, i, q)
	case value >= 0:
		v = b.lowerExpr(value)
	default:
		return
	}
	b.storeExport(i, name, v)
}

// storeExport stores what is exported under the name. The default and the whole of a module are
// one. Importers read the global under that name.
func (b *builder) storeExport(i int32, name string, v Var) {
	q := b.Module
	if name != "default" && name != "=" {
		q = joinName(q, name)
	}
	b.emitPlain(StoreGlobal, i, q, NoVar, v)
}

// moduleName returns the module that the source calls so. The prefix is that of schemes such as
// "node:".
func (l *lowerer) moduleName(written string) string {
	return l.absoluteName(strings.TrimPrefix(written, l.m.ModulePrefix))
}

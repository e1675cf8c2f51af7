package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file makes collections, comprehensions and elements of mark-up.

// lowerSequence makes a list, set or tuple. Lists, sets and tuples differ only in the kind of the
// New.
func (b *builder) lowerSequence(i int32, kind string) Var {
	list := b.emitValue(New, i, kind)
	b.storeElements(i, tree.RoleElement, list)
	return list
}

// storeElements stores the children with the role at the keys 0, 1, 2 and so on, those after a
// spread without a key. Constant keys let the analysis keep the elements of short literals apart;
// behind a spread the positions are not known. The values of a struct literal without names are
// its fields in their order.
func (b *builder) storeElements(i int32, role tree.Role, list Var) {
	k, spread := 0, false
	fields := b.structFields(i)
	for c := range b.t.All(i, role) {
		switch n := &b.t.Nodes[c]; n.Kind {
		case tree.Spread:
			b.emitPlain(StoreIndex, i, "...", list, NoVar, b.lowerExpr(c))
			spread = true
			continue
		case tree.Pair, tree.Keyword:
			b.storePair(c, list)
		case tree.Empty, tree.Ellipsis:
		default:
			text := ""
			if !spread {
				text = itoa(k)
			}
			if k < len(fields) {
				b.emitPlain(StoreField, i, fields[k].Name, list, b.lowerExpr(c))
			} else {
				b.emitPlain(StoreIndex, i, text, list, NoVar, b.lowerExpr(c))
			}
		}
		k++
	}
}

// structFields returns the fields of the file's class that a literal names, whose
// values may be given in their order.
func (b *builder) structFields(i int32) []ClassField {
	typ := b.t.Child(i, tree.RoleType)
	if !b.t.Is(i, tree.New) || !b.t.Is(typ, tree.Type) {
		return nil
	}
	if d := b.names.Declaration(typ); d >= 0 {
		if by := b.declaringNode(d); b.t.Is(by, tree.Class) {
			return b.Classes[b.owner[by]].Fields
		}
	}
	return nil
}

// lowerMap makes a map or an object. Members are stored one by one in the order of the source, so
// that a later one replaces an earlier one of the same name, as at run time.
func (b *builder) lowerMap(i int32) Var {
	object := b.emitValue(New, i, "{}")
	for c := range b.t.All(i, tree.RoleElement) {
		switch n := &b.t.Nodes[c]; n.Kind {
		case tree.Pair, tree.Keyword:
			b.storePair(c, object)
		case tree.Spread:
			v := b.lowerExpr(c)
			b.emitPlain(StoreIndex, c, "...", object, NoVar, v)
		case tree.Function:
			b.emitPlain(StoreField, c, b.memberField(c), object, b.lowerLambda(c))
		default:
			b.emitPlain(StoreIndex, c, "", object, NoVar, b.lowerExpr(c))
		}
	}
	return object
}

// Accessors of an object are kept in fields of their own, whose names begin so.
const (
	GetterField = "#get "
	SetterField = "#set "
)

// memberField returns the field in which an object keeps a function that is declared
// among its members.
func (b *builder) memberField(i int32) string {
	name := b.functionName(i)
	switch b.accessorKind(i) {
	case Getter:
		return GetterField + name
	case Setter:
		return SetterField + name
	}
	return name
}

// storePair stores one entry of a map or object. In languages where keys are fields (JavaScript) a
// constant key is stored as a field, so that "o['a']" and "o.a" are one.
func (b *builder) storePair(c int32, object Var) {
	k := b.t.Child(c, tree.RoleKey)
	if b.t.Is(c, tree.Keyword) {
		k = b.t.Child(c, tree.RoleName)
	}
	value := b.t.Child(c, tree.RoleValue)
	if b.t.Is(c, tree.Keyword) || b.m.KeysAreFields && b.t.Is(k, tree.Name) {
		b.emitPlain(StoreField, c, b.t.Text(k), object, b.lowerExpr(value))
		return
	}
	text, field := b.constantKey(k)
	if field {
		b.emitPlain(StoreField, c, text, object, b.lowerExpr(value))
		return
	}
	key := b.lowerExpr(k)
	in := newInstr(StoreIndex, c, object, key, b.lowerExpr(value))
	in.Text = text
	b.emitInstr(in)
}

// lowerComprehension fills a collection in loops. The elements are stored without a key. Later
// clauses are loops within earlier ones, so that a condition sees the names that the loops in
// front of it bind.
func (b *builder) lowerComprehension(i int32) Var {
	kind := "[]"
	switch b.t.Text(i) {
	case "set":
		kind = "set"
	case "map":
		kind = "{}"
	}
	list := b.emitValue(New, i, kind)
	var clauses []int32
	for c := range b.t.All(i, tree.RoleClause) {
		clauses = append(clauses, c)
	}
	b.lowerClauses(i, clauses, list)
	return list
}

// lowerClauses lowers the clauses of a comprehension from the outer to the inner one; behind the
// last stands the value, which is added to the collection.
func (b *builder) lowerClauses(i int32, clauses []int32, list Var) {
	if len(clauses) == 0 {
		value := b.t.Child(i, tree.RoleValue)
		if b.t.Is(value, tree.Pair) {
			b.storePair(value, list)
		} else {
			b.emitPlain(StoreIndex, i, "", list, NoVar, b.lowerExpr(value))
		}
		return
	}
	c := clauses[0]
	b.lowerIteration(c, "values", b.t.Child(c, tree.RoleIterable), b.t.Child(c, tree.RoleTarget), func(next BlockID) {
		for k := range b.t.All(c, tree.RoleCondition) {
			then := b.newBlock()
			b.branchCondition(k, then, next)
			b.startBlock(then)
		}
		b.lowerClauses(i, clauses[1:], list)
	})
}

// lowerMarkup evaluates an element of a mark-up language: a call of the element with its
// attributes. A component (JSX) is a function that gets the attributes as one object; for an
// element of HTML the call has no callee, and rules match it by its name.
func (b *builder) lowerMarkup(i int32) Var {
	name := b.t.Child(i, tree.RoleName)
	c := Call{Kind: CallMarkup, Name: b.t.Text(i), Receiver: NoVar, Callee: NoVar, Direct: -1}
	if name >= 0 && isComponent(b.t.Text(i)) {
		c.Qualified = b.qualifiedName(name)
		c.Callee = b.lowerExpr(name)
		c.Direct = b.directFunction(name)
	}
	var args []Arg
	for a := range b.t.Children(i) {
		n := &b.t.Nodes[a]
		switch {
		case n.Role == tree.RoleName:
		case n.Kind == tree.Attribute:
			v := b.t.Child(a, tree.RoleValue)
			arg := Arg{Name: b.t.Name(a), Node: a}
			if v >= 0 {
				arg.Value = b.lowerExpr(v)
				b.aliasNode(a, v)
			} else {
				arg.Value = b.emitConstant(a, ConstBool, "true")
			}
			args = append(args, arg)
		case n.Kind == tree.Spread:
			args = append(args, Arg{Value: b.lowerExpr(a), Rest: Keywords, Node: a})
		default:
			args = append(args, Arg{Value: b.lowerExpr(a), Node: a})
		}
	}
	return b.emitCall(i, c, args)
}

// isComponent reports whether an element's name is that of a function or class: those
// of the mark-up language begin with a small letter.
func isComponent(name string) bool {
	return name != "" && (name[0] >= 'A' && name[0] <= 'Z' || strings.Contains(name, "."))
}

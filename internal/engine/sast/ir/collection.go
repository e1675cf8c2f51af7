package ir

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file makes collections, comprehensions and elements of mark-up.

// sequence makes a list, set or tuple.
func (b *builder) sequence(i int32, kind string) Var {
	list := b.value(New, i, kind)
	b.elements(i, tree.RoleElement, list)
	return list
}

// elements stores the children with the role at the keys 0, 1, 2 and so on, those
// after a spread without a key.
func (b *builder) elements(i int32, role tree.Role, list Var) {
	k, spread := 0, false
	fields := b.structFields(i)
	for c := range b.t.All(i, role) {
		switch n := &b.t.Nodes[c]; n.Kind {
		case tree.Spread:
			b.do(StoreIndex, i, "...", list, NoVar, b.expr(c))
			spread = true
			continue
		case tree.Pair, tree.Keyword:
			b.pair(c, list)
		case tree.Empty, tree.Ellipsis:
		default:
			text := ""
			if !spread {
				text = itoa(k)
			}
			if k < len(fields) {
				b.do(StoreField, i, fields[k].Name, list, b.expr(c))
			} else {
				b.do(StoreIndex, i, text, list, NoVar, b.expr(c))
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
		if by := b.declarator(d); b.t.Is(by, tree.Class) {
			return b.Classes[b.owner[by]].Fields
		}
	}
	return nil
}

// mapping makes a map or an object.
func (b *builder) mapping(i int32) Var {
	object := b.value(New, i, "{}")
	for c := range b.t.All(i, tree.RoleElement) {
		switch n := &b.t.Nodes[c]; n.Kind {
		case tree.Pair, tree.Keyword:
			b.pair(c, object)
		case tree.Spread:
			v := b.expr(c)
			b.do(StoreIndex, c, "...", object, NoVar, v)
		case tree.Function:
			b.do(StoreField, c, b.memberField(c), object, b.lambda(c))
		default:
			b.do(StoreIndex, c, "", object, NoVar, b.expr(c))
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
	switch b.accessor(i) {
	case Getter:
		return GetterField + name
	case Setter:
		return SetterField + name
	}
	return name
}

// pair stores one entry of a map or object.
func (b *builder) pair(c int32, object Var) {
	k := b.t.Child(c, tree.RoleKey)
	if b.t.Is(c, tree.Keyword) {
		k = b.t.Child(c, tree.RoleName)
	}
	value := b.t.Child(c, tree.RoleValue)
	if b.t.Is(c, tree.Keyword) || b.m.KeysAreFields && b.t.Is(k, tree.Name) {
		b.do(StoreField, c, b.t.Text(k), object, b.expr(value))
		return
	}
	text, field := b.key(k)
	if field {
		b.do(StoreField, c, text, object, b.expr(value))
		return
	}
	key := b.expr(k)
	in := plain(StoreIndex, c, object, key, b.expr(value))
	in.Text = text
	b.emit(in)
}

// comprehension fills a collection in loops.
func (b *builder) comprehension(i int32) Var {
	kind := "[]"
	switch b.t.Text(i) {
	case "set":
		kind = "set"
	case "map":
		kind = "{}"
	}
	list := b.value(New, i, kind)
	var clauses []int32
	for c := range b.t.All(i, tree.RoleClause) {
		clauses = append(clauses, c)
	}
	b.clauses(i, clauses, list)
	return list
}

func (b *builder) clauses(i int32, clauses []int32, list Var) {
	if len(clauses) == 0 {
		value := b.t.Child(i, tree.RoleValue)
		if b.t.Is(value, tree.Pair) {
			b.pair(value, list)
		} else {
			b.do(StoreIndex, i, "", list, NoVar, b.expr(value))
		}
		return
	}
	c := clauses[0]
	b.iterate(c, "values", b.t.Child(c, tree.RoleIterable), b.t.Child(c, tree.RoleTarget), func(next BlockID) {
		for k := range b.t.All(c, tree.RoleCondition) {
			then := b.newBlock()
			b.cond(k, then, next)
			b.start(then)
		}
		b.clauses(i, clauses[1:], list)
	})
}

// markup evaluates an element of a mark-up language: a call of the element with its
// attributes.
func (b *builder) markup(i int32) Var {
	name := b.t.Child(i, tree.RoleName)
	c := Call{Kind: CallMarkup, Name: b.t.Text(i), Receiver: NoVar, Callee: NoVar, Direct: -1}
	if name >= 0 && component(b.t.Text(i)) {
		c.Qualified = b.qualified(name)
		c.Callee = b.expr(name)
		c.Direct = b.direct(name)
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
				arg.Value = b.expr(v)
				b.alias(a, v)
			} else {
				arg.Value = b.constant(a, ConstBool, "true")
			}
			args = append(args, arg)
		case n.Kind == tree.Spread:
			args = append(args, Arg{Value: b.expr(a), Rest: Keywords, Node: a})
		default:
			args = append(args, Arg{Value: b.expr(a), Node: a})
		}
	}
	return b.invoke(i, c, args)
}

// component reports whether an element's name is that of a function or class: those
// of the mark-up language begin with a small letter.
func component(name string) bool {
	return name != "" && (name[0] >= 'A' && name[0] <= 'Z' || strings.Contains(name, "."))
}

package lang

import (
	"sort"
	"strings"
	"sync"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/tree"
)

// A Rule lowers one concrete node: it adds what the node means, with the role, to
// the open node.
type Rule func(l *Lowering, r tree.Role, i int32)

// A Table says how the nodes of a grammar are lowered, by their kinds. Its rules go
// on with Lowering.Node and never name the table, so it can be a variable.
type Table struct {
	grammar *cst.Language
	rules   map[string]Rule
	byKind  func() []Rule
}

// NewTable returns a table. A kind without a rule falls back to Other. Names that
// the grammar does not have do no harm: dialects share rules.
func NewTable(g *cst.Language, rules map[string]Rule) *Table {
	t := &Table{grammar: g, rules: rules}
	t.byKind = sync.OnceValue(func() []Rule {
		var list []Rule
		for name, rule := range rules {
			for _, k := range g.Kinds(name) {
				if int(k) >= len(list) {
					list = append(list, make([]Rule, int(k)+1-len(list))...)
				}
				list[k] = rule
			}
		}
		return list
	})
	return t
}

// Lower lowers the whole tree from its root. It is a Language's Lower. When the
// grammar understood so little that its root is an error, the parts that it found
// are the statements of the file.
func (t *Table) Lower(l *Lowering) {
	l.table = t.byKind()
	if l.CST.Nodes[0].Flags&cst.Error == 0 {
		l.Node(tree.RoleNone, 0)
		return
	}
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(l.File.Source)))
	l.Nodes(tree.RoleStatement, 0)
	l.Close()
}

// Again lowers another concrete tree of the grammar, whose ranges are of the same
// source, to a tree of its own: what a grammar leaves as mere tokens can be read once
// more.
func (l *Lowering) Again(t *cst.Tree) *tree.File {
	inner := &Lowering{Builder: tree.Builder{File: &tree.File{Language: l.File.Language, Source: l.File.Source}},
		CST: t, table: l.table}
	inner.Node(tree.RoleNone, 0)
	return inner.Finish()
}

// UnknownKinds returns the names of rules that the grammar does not have, so that a
// test can tell a misspelt rule.
func (t *Table) UnknownKinds() []string {
	var names []string
	for name := range t.rules {
		if len(t.grammar.Kinds(name)) == 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// Node lowers the concrete node by its rule; none does nothing. What the grammar
// did not understand and what is too deep becomes an Error.
func (l *Lowering) Node(r tree.Role, i int32) {
	if i < 0 {
		return
	}
	n := &l.CST.Nodes[i]
	l.nesting++
	switch {
	case l.TooDeep(), l.nesting > maxNesting, n.Flags&cst.Missing != 0:
		l.Lost(r, i)
	case n.Flags&cst.Error == 0 && int(n.Kind) < len(l.table) && l.table[n.Kind] != nil:
		l.table[n.Kind](l, r, i)
	default:
		l.Fallback(r, i, l.Node)
	}
	l.nesting--
}

// Nodes lowers every named child of the concrete node.
func (l *Lowering) Nodes(r tree.Role, i int32) {
	if i < 0 {
		return
	}
	for c := range l.Children(i) {
		l.Node(r, c)
	}
}

// Part lowers the child with the field, if there is one.
func (l *Lowering) Part(r tree.Role, i int32, field string) { l.Node(r, l.Field(i, field)) }

// Parts lowers every child with the field.
func (l *Lowering) Parts(r tree.Role, i int32, field string) {
	for c := range l.Fields(i, field) {
		if l.Named(c) {
			l.Node(r, c)
		}
	}
}

// Need lowers a part that the kind cannot do without: an Error stands in its place
// when broken source lacks it.
func (l *Lowering) Need(r tree.Role, i, part int32) {
	if part >= 0 {
		before := l.Mark()
		l.Node(r, part)
		if l.Mark() != before {
			return
		}
	}
	_, end := l.Range(i)
	l.Unknown(r, end, end)
}

// Chain lowers names as a dotted one: a Name, or Members over one.
func (l *Lowering) Chain(r tree.Role, names []int32) {
	last := len(names) - 1
	switch {
	case last < 0:
		return
	case last == 0 || l.TooDeep():
		l.Same(tree.Name, r, names[last])
		return
	}
	l.File.Nodes[l.Open(tree.Member, r, l.CST.Nodes[names[0]].Start, l.CST.Nodes[names[last]].End)].Text = "."
	l.Chain(tree.RoleObject, names[:last])
	l.Same(tree.Name, tree.RoleProperty, names[last])
	l.Close()
}

// Same returns the rule for a leaf whose text is its source.
func Same(k tree.Kind) Rule {
	return func(l *Lowering, r tree.Role, i int32) { l.Same(k, r, i) }
}

// Leaf returns the rule for a leaf with a fixed text.
func Leaf(k tree.Kind, text string) Rule {
	return func(l *Lowering, r tree.Role, i int32) { l.Put(k, r, text, i) }
}

// Around returns the rule for a node whose children all have one role.
func Around(k tree.Kind, text string, child tree.Role) Rule {
	return func(l *Lowering, r tree.Role, i int32) {
		l.BeginText(k, r, text, i)
		l.Nodes(child, i)
		l.Close()
	}
}

// Inner is the rule for what stands for its only child, such as parentheses.
func Inner(l *Lowering, r tree.Role, i int32) { l.Need(r, i, l.First(i)) }

// A Slot is a part of a node: the child with the field.
type Slot struct {
	Role     tree.Role
	Field    string
	Optional bool
}

// Slots returns the rule for a node of fields. Their order is that of the tree.
// The field "" is the first named child.
func Slots(k tree.Kind, text string, slots ...Slot) Rule {
	return func(l *Lowering, r tree.Role, i int32) {
		l.BeginText(k, r, text, i)
		for _, s := range slots {
			part := l.First(i)
			if s.Field != "" {
				part = l.Field(i, s.Field)
			}
			if s.Optional {
				l.Node(s.Role, part)
			} else {
				l.Need(s.Role, i, part)
			}
		}
		l.Close()
	}
}

// Skip is the rule for what has no meaning.
func Skip(*Lowering, tree.Role, int32) {}

// Merge returns a map that holds the rules of all; the later ones win.
func Merge(all ...map[string]Rule) map[string]Rule {
	merged := map[string]Rule{}
	for _, rules := range all {
		for name, rule := range rules {
			merged[name] = rule
		}
	}
	return merged
}

// NumberText removes the separators of digits and a suffix made of the letters.
func NumberText(source, suffixes string) string {
	text := strings.ReplaceAll(source, "_", "")
	if hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X"); hex {
		suffixes = strings.Map(func(c rune) rune {
			if strings.ContainsRune("abcdefABCDEF", c) {
				return -1
			}
			return c
		}, suffixes)
	}
	if trimmed := strings.TrimRight(text, suffixes); trimmed != "" {
		return trimmed
	}
	return text
}

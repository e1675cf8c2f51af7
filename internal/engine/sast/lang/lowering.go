package lang

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/tree"
)

// A Lowering is the work of making a generic tree from a concrete one. Concrete
// nodes are named by their index in CST.Nodes; -1 is none.
type Lowering struct {
	tree.Builder
	CST *cst.Tree

	table   []Rule // by the grammar's kind; see Table
	nesting int    // of calls of Node
}

// maxNesting bounds the recursion over concrete nodes, more of which than of the
// generic ones stand inside of each other.
const maxNesting = 3 * tree.MaxDepth

// Kind returns the grammar's name of the node, "" for none.
func (l *Lowering) Kind(i int32) string {
	if i < 0 {
		return ""
	}
	return l.CST.Lang.KindName(l.CST.Nodes[i].Kind)
}

// Source returns the text of the node, "" for none.
func (l *Lowering) Source(i int32) string {
	if i < 0 {
		return ""
	}
	n := &l.CST.Nodes[i]
	return l.File.Source[n.Start:n.End]
}

// Range returns the bytes of the node.
func (l *Lowering) Range(i int32) (start, end uint32) {
	n := &l.CST.Nodes[i]
	return n.Start, n.End
}

// Named reports whether the node has a name in the grammar.
func (l *Lowering) Named(i int32) bool { return l.CST.Nodes[i].Flags&cst.Named != 0 }

// Extra reports whether the node is a comment or the like.
func (l *Lowering) Extra(i int32) bool { return l.CST.Nodes[i].Flags&cst.Extra != 0 }

// Field returns the node's first child with the field, -1 when there is none.
func (l *Lowering) Field(i int32, name string) int32 {
	if i < 0 {
		return -1
	}
	field := l.CST.Lang.FieldOf(name)
	nodes := l.CST.Nodes
	for c := i + 1; c < nodes[i].SubtreeEnd; c = nodes[c].SubtreeEnd {
		if nodes[c].Field == field && field != 0 {
			return c
		}
	}
	return -1
}

// FieldName returns the name of the field that the node is in its parent, "" for
// none.
func (l *Lowering) FieldName(i int32) string { return l.CST.Lang.FieldName(l.CST.Nodes[i].Field) }

// Fields calls f for each child with the field, in order.
func (l *Lowering) Fields(i int32, name string) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		field := l.CST.Lang.FieldOf(name)
		nodes := l.CST.Nodes
		for c := i + 1; c < nodes[i].SubtreeEnd; c = nodes[c].SubtreeEnd {
			if nodes[c].Field == field && field != 0 && !yield(c) {
				return
			}
		}
	}
}

// Children calls f for each named child that is no comment, in order; -1 has none.
func (l *Lowering) Children(i int32) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		if i < 0 {
			return
		}
		nodes := l.CST.Nodes
		for c := i + 1; c < nodes[i].SubtreeEnd; c = nodes[c].SubtreeEnd {
			if nodes[c].Flags&cst.Named != 0 && (nodes[c].Flags&cst.Extra == 0 || nodes[c].Flags&cst.Error != 0) &&
				!yield(c) {
				return
			}
		}
	}
}

// Before returns the child of the same parent that Children gives before the node, -1
// when there is none. It takes no longer for a parent of many children.
func (l *Lowering) Before(i int32) int32 {
	nodes := l.CST.Nodes
	parent := nodes[i].Parent
	for c := i - 1; c > parent && parent >= 0; c-- {
		for nodes[c].Parent != parent { // the last descendant of the one before
			c = nodes[c].Parent
		}
		if nodes[c].Flags&cst.Named != 0 && (nodes[c].Flags&cst.Extra == 0 || nodes[c].Flags&cst.Error != 0) {
			return c
		}
	}
	return -1
}

// Every calls f for each child, tokens and comments included, in order; -1 has none.
func (l *Lowering) Every(i int32) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		if i < 0 {
			return
		}
		nodes := l.CST.Nodes
		for c := i + 1; c < nodes[i].SubtreeEnd; c = nodes[c].SubtreeEnd {
			if !yield(c) {
				return
			}
		}
	}
}

// First returns the first named child that is no comment, -1 when there is none.
func (l *Lowering) First(i int32) int32 {
	for c := range l.Children(i) {
		return c
	}
	return -1
}

// Find returns the first child of the grammar's kind, a token included, -1 when
// there is none.
func (l *Lowering) Find(i int32, kind string) int32 {
	if i < 0 {
		return -1
	}
	for c := range l.Every(i) {
		if l.Kind(c) == kind {
			return c
		}
	}
	return -1
}

// Has reports whether the node has a child of the grammar's kind, such as a token.
func (l *Lowering) Has(i int32, kind string) bool { return l.Find(i, kind) >= 0 }

// Begin opens a node with the range of the concrete one.
func (l *Lowering) Begin(k tree.Kind, r tree.Role, i int32) int32 {
	start, end := l.Range(i)
	return l.Open(k, r, start, end)
}

// BeginText opens a node with a text.
func (l *Lowering) BeginText(k tree.Kind, r tree.Role, text string, i int32) int32 {
	n := l.Begin(k, r, i)
	l.File.Nodes[n].Text = text
	return n
}

// Put adds a node without children and with the text.
func (l *Lowering) Put(k tree.Kind, r tree.Role, text string, i int32) int32 {
	start, end := l.Range(i)
	return l.Leaf(k, r, text, start, end)
}

// Same adds a node without children whose text is its source.
func (l *Lowering) Same(k tree.Kind, r tree.Role, i int32) int32 { return l.Put(k, r, l.Source(i), i) }

// Flag sets flags of a node that was added.
func (l *Lowering) Flag(node int32, flags tree.Flags) { l.File.Nodes[node].Flags |= flags }

// Lost adds an Error for a concrete node that could not be lowered: one that the
// grammar did not understand, or one that is too deep.
func (l *Lowering) Lost(r tree.Role, i int32) {
	start, end := l.Range(i)
	l.Unknown(r, start, end)
}

// Fallback lowers a construct that has no generic kind to an Other: named children
// by lower, as elements, and the tokens that are not mere punctuation as Tokens. A
// leaf keeps its source as a Token.
func (l *Lowering) Fallback(r tree.Role, i int32, lower func(tree.Role, int32)) {
	if l.CST.Nodes[i].Flags&cst.Error != 0 {
		start, end := l.Range(i)
		l.Open(tree.Error, r, start, end)
		l.File.Missed(start, end)
		for c := range l.Children(i) {
			l.lowerChild(c, lower)
		}
		l.Close()
		return
	}
	l.BeginText(tree.Other, r, l.Kind(i), i)
	any := false
	for c := range l.Every(i) {
		any = true
		switch {
		case l.Extra(c):
		case l.Named(c):
			l.lowerChild(c, lower)
		case !punctuation[l.Kind(c)]:
			l.Same(tree.Token, tree.RoleElement, c)
		}
	}
	if !any {
		l.Same(tree.Token, tree.RoleElement, i)
	}
	l.Close()
}

// lowerChild lowers a child of a Fallback unless the tree is too deep for it.
func (l *Lowering) lowerChild(c int32, lower func(tree.Role, int32)) {
	if l.TooDeep() {
		l.Lost(tree.RoleElement, c)
		return
	}
	lower(tree.RoleElement, c)
}

// punctuation are the tokens that a Fallback leaves out: they tell no two constructs apart.
var punctuation = map[string]bool{
	"(": true, ")": true, "{": true, "}": true, "[": true, "]": true, ",": true, ";": true, "\n": true, "": true,
	"\"": true, "'": true,
}

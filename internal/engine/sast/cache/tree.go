package cache

import (
	"unsafe"

	"merlon/internal/engine/sast/tree"
)

// This file writes and reads trees. A node is its kind, role and flags, how far it
// begins behind the node before it, its length, the number of its descendants, and its
// text. Most texts are parts of the source and written as places in it; the others
// are few and written once for the file.

// The forms of a text: what its number begins with, in the two lowest bits.
const (
	textWhole   = iota // the source of the node
	textPart           // another part of the source
	textLiteral        // one of the literals
)

// Tree writes a tree, without path, language and source, which the reader has to
// know. It reports false, and leaves the writer as it was, for a tree that is not
// well formed.
func (w *Writer) Tree(f *tree.File) bool {
	begin := len(w.Bytes)
	t := treeWriter{Writer: w, source: f.Source, literals: map[string]uint64{}}
	for i := range f.Nodes {
		t.addLiteral(f.Nodes[i].Text)
	}
	w.Uint(uint64(len(t.list)))
	for _, s := range t.list {
		w.Text(s)
	}
	w.Uint(uint64(len(f.Unknown)))
	for _, u := range f.Unknown {
		w.Uint(uint64(u.Start))
		w.Uint(uint64(u.End))
	}
	w.Uint(uint64(len(f.Nodes)))
	open := ancestors{nodes: f.Nodes}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if !open.openNode(int32(i), n.Parent) || n.End < n.Start || int(n.End) > len(f.Source) {
			w.Bytes = w.Bytes[:begin]
			return false
		}
		t.writeNode(int32(i), n)
	}
	return true
}

// A treeWriter writes the nodes of one tree.
type treeWriter struct {
	*Writer
	source   string
	literals map[string]uint64
	list     []string
	at       uint32 // where the node before begins
}

// sourceOffset returns where in the source a text lies that shares its memory. Texts of nodes are
// slices of the source wherever the lowering did not make them up.
func (t *treeWriter) sourceOffset(s string) (uint32, bool) {
	first, at := uintptr(unsafe.Pointer(unsafe.StringData(t.source))), uintptr(unsafe.Pointer(unsafe.StringData(s)))
	if at < first || at-first+uintptr(len(s)) > uintptr(len(t.source)) {
		return 0, false
	}
	return uint32(at - first), true
}

// addLiteral notes a text that is no part of the source. Most texts of nodes are parts of the
// source and need only an offset; each other one is written once.
func (t *treeWriter) addLiteral(s string) {
	if s == "" {
		return
	}
	if _, ok := t.sourceOffset(s); ok {
		return
	}
	if _, ok := t.literals[s]; !ok {
		t.literals[s] = uint64(len(t.list))
		t.list = append(t.list, s)
	}
}

// writeNode writes a node relative to the one before it, which keeps most numbers in one byte.
func (t *treeWriter) writeNode(i int32, n *tree.Node) {
	t.Bytes = append(t.Bytes, byte(n.Kind), byte(n.Role), byte(n.Flags))
	t.Int(int64(n.Start) - int64(t.at))
	t.at = n.Start
	t.Uint(uint64(n.End - n.Start))
	t.Uint(uint64(n.Next - i - 1))
	at, ok := t.sourceOffset(n.Text)
	switch {
	case n.Text == "":
		t.Uint(textPart) // of length 0
	case ok && at == n.Start && len(n.Text) == int(n.End-n.Start):
		t.Uint(textWhole)
	case ok:
		t.Uint(uint64(len(n.Text))<<2 | textPart)
		t.Int(int64(at) - int64(n.Start))
	default:
		t.Uint(t.literals[n.Text]<<2 | textLiteral)
	}
}

// ancestors follows the nesting of nodes in pre-order.
type ancestors struct {
	nodes []tree.Node
	stack []int32
}

// openNode opens the next node. It reports whether the parent is what the ends of the nodes before
// say, and whether the node ends within its parent. A tree that fails this would send walks out of
// its bounds.
func (a *ancestors) openNode(i, parent int32) bool {
	for len(a.stack) > 0 && a.nodes[a.stack[len(a.stack)-1]].Next <= i {
		a.stack = a.stack[:len(a.stack)-1]
	}
	limit := int32(len(a.nodes))
	if len(a.stack) == 0 {
		if i != tree.Root || parent != tree.None || a.nodes[i].Next != limit {
			return false
		}
	} else if top := a.stack[len(a.stack)-1]; top != parent {
		return false
	} else {
		limit = a.nodes[top].Next
	}
	if next := a.nodes[i].Next; next <= i || next > limit || len(a.stack) > tree.MaxDepth {
		return false
	}
	a.stack = append(a.stack, i)
	return true
}

// parentOf returns the parent of the next node. Nodes come in the order of the source, and each
// says where its subtree ends; so the stack holds just the ancestors.
func (a *ancestors) parentOf(i int32) int32 {
	for len(a.stack) > 0 && a.nodes[a.stack[len(a.stack)-1]].Next <= i {
		a.stack = a.stack[:len(a.stack)-1]
	}
	if len(a.stack) == 0 {
		return tree.None
	}
	return a.stack[len(a.stack)-1]
}

// Tree reads a tree of the source into the file, whose path, language and source are
// set. Whatever it reads, the tree is well formed when Err is nil.
func (r *Reader) Tree(f *tree.File) {
	literals := make([]string, r.Count(1))
	for i := range literals {
		literals[i] = r.Text()
	}
	if n := r.Count(2); n > 0 {
		f.Unknown = make([]tree.Range, n)
		for i := range f.Unknown {
			f.Unknown[i] = tree.Range{Start: uint32(r.Below(len(f.Source) + 1)),
				End: uint32(r.Below(len(f.Source) + 1))}
		}
	}
	f.Nodes = make([]tree.Node, r.Count(minNode))
	t := treeReader{Reader: r, source: f.Source, literals: literals}
	open := ancestors{nodes: f.Nodes}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		t.readNode(int32(i), n)
		if r.Err != nil {
			return
		}
		n.Parent = open.parentOf(int32(i))
		if !open.openNode(int32(i), n.Parent) {
			r.Fail()
			return
		}
	}
	if len(f.Nodes) == 0 {
		r.Fail()
		return
	}
	(&tree.Builder{File: f}).Finish()
}

// minNode is the least that a node takes, in bytes.
const minNode = 7

// A treeReader reads the nodes of one tree.
type treeReader struct {
	*Reader
	source   string
	literals []string
	at       uint32
}

// readNode reads a node and checks each number: the file may be damaged. A node within bounds can
// still be wrong, but it cannot make the reader leave the source or the tree.
func (t *treeReader) readNode(i int32, n *tree.Node) {
	if len(t.rest) < minNode {
		t.Fail()
		return
	}
	n.Kind, n.Role, n.Flags = tree.Kind(t.rest[0]), tree.Role(t.rest[1]), tree.Flags(t.rest[2])
	t.rest = t.rest[3:]
	size := int64(len(t.source))
	start := int64(t.at) + t.Int()
	if start < 0 || start > size || !n.Kind.Known() || !n.Role.Known() {
		t.Fail()
		return
	}
	length := t.Uint()
	more := t.Uint()
	if length > uint64(size-start) || more > uint64(1<<31-2-int(i)) {
		t.Fail()
		return
	}
	n.Start, n.End, n.Next = uint32(start), uint32(start)+uint32(length), i+1+int32(more)
	t.at = n.Start
	t.readText(n)
}

// readText reads the text of a node. It shares the memory of the source. Its two lowest bits say
// where it is: the whole of the node, a part of the source, or a literal of the entry. A part of
// length zero is the empty text.
func (t *treeReader) readText(n *tree.Node) {
	x := t.Uint()
	switch x & 3 {
	case textWhole:
		n.Text = t.source[n.Start:n.End]
	case textPart:
		length := x >> 2
		if length == 0 {
			return
		}
		at := int64(n.Start) + t.Int()
		if at < 0 || at > int64(len(t.source)) || length > uint64(int64(len(t.source))-at) {
			t.Fail()
			return
		}
		n.Text = t.source[at : at+int64(length)]
	case textLiteral:
		if x>>2 >= uint64(len(t.literals)) {
			t.Fail()
			return
		}
		n.Text = t.literals[x>>2]
	default:
		t.Fail()
	}
}

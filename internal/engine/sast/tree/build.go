package tree

// MaxDepth bounds the nesting of a tree, so that walks may recurse.
const MaxDepth = 2000

// maxUnknown bounds the ranges that a file lists as not understood.
const maxUnknown = 100

// A Builder makes a tree from the top down, left to right. The zero value with a
// File is ready.
type Builder struct {
	File  *File
	stack []int32
}

// Open begins a node below the open one. Deeper than MaxDepth it records an Unknown
// range; see TooDeep.
func (b *Builder) Open(k Kind, r Role, start, end uint32) int32 {
	i := int32(len(b.File.Nodes))
	parent := None
	if n := len(b.stack); n > 0 {
		parent = b.stack[n-1]
	}
	b.File.Nodes = append(b.File.Nodes, Node{Kind: k, Role: r, Start: start, End: end, Parent: parent})
	b.stack = append(b.stack, i)
	return i
}

// Close ends the innermost open node.
func (b *Builder) Close() {
	n := len(b.stack) - 1
	b.File.Nodes[b.stack[n]].Next = int32(len(b.File.Nodes))
	b.stack = b.stack[:n]
}

// Leaf adds a node without children.
func (b *Builder) Leaf(k Kind, r Role, text string, start, end uint32) int32 {
	i := b.Open(k, r, start, end)
	b.File.Nodes[i].Text = text
	b.Close()
	return i
}

// Depth returns the number of open nodes.
func (b *Builder) Depth() int { return len(b.stack) }

// TooDeep reports whether the tree is as deep as it may become. A lowering asks
// before it recurses, and calls Unknown and goes on with the next sibling.
func (b *Builder) TooDeep() bool { return len(b.stack) >= MaxDepth }

// Unknown adds an Error without children, and lists its range.
func (b *Builder) Unknown(r Role, start, end uint32) {
	b.Leaf(Error, r, "", start, end)
	b.File.Missed(start, end)
}

// Missed lists a range that was not understood, as far as there is room.
func (f *File) Missed(start, end uint32) {
	if len(f.Unknown) < maxUnknown {
		f.Unknown = append(f.Unknown, Range{start, end})
	}
}

// Mark is a place among the children of the open node, for Wrap.
type Mark int32

// Mark returns the place where the next child will be.
func (b *Builder) Mark() Mark { return Mark(len(b.File.Nodes)) }

// Wrap puts what was added since the mark below a new node, which becomes a child
// of the open one. It is for constructs whose head is known only after their first
// part, such as chains of calls and postfix operators. The cost is that of moving
// the nodes.
func (b *Builder) Wrap(m Mark, k Kind, r Role, start, end uint32) int32 {
	i := int32(m)
	f := b.File
	parent := None
	if n := len(b.stack); n > 0 {
		parent = b.stack[n-1]
	}
	f.Nodes = append(f.Nodes, Node{})
	copy(f.Nodes[i+1:], f.Nodes[i:])
	f.Nodes[i] = Node{Kind: k, Role: r, Start: start, End: end, Parent: parent, Next: int32(len(f.Nodes))}
	for c := i + 1; c < int32(len(f.Nodes)); c++ {
		n := &f.Nodes[c]
		n.Next++
		if n.Parent == parent {
			n.Parent = i
		} else {
			n.Parent++
		}
	}
	return i
}

// Reopen makes a node that Wrap has just returned the open one, so that more
// children can follow; Close ends it.
func (b *Builder) Reopen(i int32) { b.stack = append(b.stack, i) }

// Finish ends the tree and makes it ready to be shared between goroutines.
func (b *Builder) Finish() *File {
	for len(b.stack) > 0 {
		b.Close()
	}
	b.File.indexLines()
	return b.File
}

package pattern

import (
	"merlon/internal/engine/sast/tree"
)

// A Binding is what a metavariable stands for: one node, several siblings, or a
// text (the content of a string, a group of a regular expression).
type Binding struct {
	Node, Last  int32  // the first and the last node; tree.None for a text
	Start, End  uint32 // bytes of the file
	Text        string // of a text; else "", see Text of Match
	list        bool   // several siblings, or none
	declaration int32  // of a name: what it means; tree.None when that is not known
}

// IsText reports whether the binding is a text without a node.
func (b *Binding) IsText() bool { return b.Node < 0 && !b.list }

// env is a list of bindings that is shared, and never changed. Matching tries many ways, most of
// which fail; sharing the tail makes each attempt cheap, and never changing it makes it safe to go
// back.
type env struct {
	name  string
	value Binding
	next  *env
	self  [1]*env // so that the most frequent result, itself, needs no room
}

// empty is the environment without bindings.
var empty = func() *env {
	e := &env{}
	e.self[0] = e
	return e
}()

// asResult is the result of a match that added nothing. The slice is part of the environment, so
// that the most frequent outcome of a comparison allocates nothing.
func (e *env) asResult() []*env { return e.self[:] }

// get returns the binding of the name, nil for none. Lists are short, so a search beats a map.
// Environments are linked lists whose tails are shared: an alternative that fails is forgotten by
// dropping its head.
func (e *env) get(name string) *Binding {
	for ; e != nil; e = e.next {
		if e.name == name {
			return &e.value
		}
	}
	return nil
}

// with returns the environment with one more binding. The old environment stays valid: other
// attempts go on from it.
func (e *env) with(name string, value Binding) *env {
	out := &env{name: name, value: value, next: e}
	out.self[0] = out
	return out
}

// each calls f for every binding, the first one first. Iteration ends when f returns false; the
// result says whether it went through.
func (e *env) each(f func(name string, b *Binding) bool) bool {
	if e == nil {
		return true
	}
	return e.next.each(f) && (e.name == "" || f(e.name, &e.value))
}

// bindValue adds a binding, or compares it with the one that there is. "$_" unifies with nothing.
// This is what makes "$X == $X" find comparisons of equal operands only.
func (m *matcher) bindValue(name string, value Binding, e *env) []*env {
	if name == "$_" {
		return e.asResult()
	}
	if old := e.get(name); old != nil {
		if m.sameCode(old, &value) {
			return e.asResult()
		}
		return nil
	}
	return e.with(name, value).asResult()
}

// bindNode binds a metavariable to a node.
func (m *matcher) bindNode(name string, i int32, e *env) []*env {
	return m.bindValue(name, m.nodeBinding(i), e)
}

// nodeBinding makes the binding of a node. A statement that is only an expression counts as the
// expression. So "$X" in a list of statements and in an expression can be equal.
func (m *matcher) nodeBinding(i int32) Binding {
	t := m.file.Tree
	if t.Is(i, tree.ExpressionStatement) {
		i = t.Child(i, tree.RoleValue)
	}
	return m.exactBinding(i)
}

// exactBinding makes the binding of a node as it is.
func (m *matcher) exactBinding(i int32) Binding {
	n := &m.file.Tree.Nodes[i]
	return Binding{Node: i, Last: i, Start: n.Start, End: n.End, declaration: m.declarationOf(i)}
}

// bindList binds a "$...X" to siblings. The list may be empty. One of no siblings is bound to
// nothing, and equals another one of none.
func (m *matcher) bindList(name string, list []int32, e *env) []*env {
	b := Binding{Node: tree.None, Last: tree.None, list: true, declaration: tree.None}
	if len(list) > 0 {
		t := m.file.Tree
		b.Node, b.Last = list[0], list[len(list)-1]
		b.Start, b.End = t.Nodes[b.Node].Start, t.Nodes[b.Last].End
	}
	return m.bindValue(name, b, e)
}

// bindText binds a metavariable to a text at a node. The range is that of the text within the
// node, without quotes.
func (m *matcher) bindText(name, text string, at int32, e *env) []*env {
	start, end := m.contentRange(at, text)
	return m.bindValue(name, Binding{Node: tree.None, Last: tree.None, Start: start, End: end, Text: text,
		declaration: tree.None}, e)
}

// contentRange returns the bytes that hold the text of a string, without its quotes. A finding
// that focuses on the content of a string then leaves the quotes out.
func (m *matcher) contentRange(at int32, text string) (start, end uint32) {
	n := &m.file.Tree.Nodes[at]
	code := m.file.Tree.Code(at)
	if n.Kind == tree.String && len(text) < len(code) {
		if i := lastIndex(code, text); i >= 0 && text != "" {
			return n.Start + uint32(i), n.Start + uint32(i+len(text))
		}
	}
	return n.Start, n.End
}

// lastIndex returns where the text is in the code: in the middle, if it is there
// more than once, as quotes are at both ends.
func lastIndex(code, text string) int {
	for i := 0; i+len(text) <= len(code); i++ {
		if code[i:i+len(text)] == text && (i > 0 || len(code) == len(text)) {
			return i
		}
	}
	return -1
}

// declarationOf returns what a name means, tree.None when that is not known. Files without a
// scope, such as plain text, know no declarations.
func (m *matcher) declarationOf(i int32) int32 {
	if m.file.Scope == nil || i < 0 || !m.file.Tree.Is(i, tree.Name) {
		return tree.None
	}
	return m.file.Scope.Declaration(i)
}

// sameCode reports whether two bindings are the same code. A text (of a string or a group of an
// expression) equals a node that is written so.
func (m *matcher) sameCode(a, b *Binding) bool {
	t := m.file.Tree
	switch {
	case a.list != b.list:
		return false
	case a.list:
		return m.equalLists(a, b)
	case a.Node >= 0 && b.Node >= 0:
		if x, y := m.bareExpression(a), m.bareExpression(b); x.Node != a.Node || y.Node != b.Node {
			return m.equalBindings(&x, &y)
		}
		return m.equalBindings(a, b)
	case a.Node < 0 && b.Node < 0:
		return a.Text == b.Text
	case a.Node >= 0:
		return m.equalText(t, a.Node, b.Text)
	default:
		return m.equalText(t, b.Node, a.Text)
	}
}

// bareExpression returns the binding of the expression that a statement only is. "$X;" as a
// statement and $X as an expression are then the same.
func (m *matcher) bareExpression(b *Binding) Binding {
	if m.file.Tree.Is(b.Node, tree.ExpressionStatement) {
		return m.nodeBinding(b.Node)
	}
	return *b
}

// equalBindings compares two nodes that metavariables are bound to. A name that means
// nothing known equals any of its spelling, and a name with a constant value equals
// the constant.
func (m *matcher) equalBindings(a, b *Binding) bool {
	t := m.file.Tree
	x, y := &t.Nodes[a.Node], &t.Nodes[b.Node]
	switch {
	case a.Node == b.Node:
		return true
	case isNameLike(x.Kind) && isNameLike(y.Kind) && x.Next == a.Node+1 && y.Next == b.Node+1:
		return x.Text == y.Text && m.sameDeclaration(a, b)
	case m.isWordFor(a.Node, b.Node), m.isWordFor(b.Node, a.Node):
		return x.Text == y.Text
	case isLiteral(x.Kind) != isLiteral(y.Kind) && m.options.ConstantPropagation && m.file.Scope != nil:
		v, ok := m.file.constantOf(a.Node)
		w, also := m.file.constantOf(b.Node)
		return ok && also && v == w
	}
	return m.equalNodes(a.Node, b.Node)
}

// sameDeclaration reports whether two names of one spelling may mean the same variable.
func (m *matcher) sameDeclaration(a, b *Binding) bool {
	return !m.options.UnifyIDsStrictly || a.declaration < 0 || b.declaration < 0 || a.declaration == b.declaration
}

// isWordFor reports whether the first node is a string without quotes, such as a bare key,
// and the second one a name.
func (m *matcher) isWordFor(word, name int32) bool {
	t := m.file.Tree
	return t.Is(word, tree.String) && t.Is(name, tree.Name) && !startsQuoted(t.Code(word))
}

// isNameLike reports whether a node of the kind is a bare name.
func isNameLike(k tree.Kind) bool { return k == tree.Name || k == tree.Type }

// isLiteral reports whether a node of the kind is a constant that is written out.
func isLiteral(k tree.Kind) bool {
	return k == tree.String || k == tree.Number || k == tree.Bool || k == tree.Null || k == tree.Character
}

// equalNodes compares two subtrees: kinds, texts, and what the names in them mean. Two lambdas
// with their own parameters are equal when each name means the parameter in the same place. The
// size of the subtrees is compared first, and counts as steps.
func (m *matcher) equalNodes(a, b int32) bool {
	t := m.file.Tree
	size := t.Nodes[a].Next - a
	if t.Nodes[b].Next-b != size {
		return false
	}
	m.steps -= int(size)
	for i := int32(0); i < size; i++ {
		x, y := &t.Nodes[a+i], &t.Nodes[b+i]
		if x.Kind != y.Kind || x.Text != y.Text || x.Next-a != y.Next-b || (x.Flags^y.Flags)&tree.Raw != 0 {
			return false
		}
		if x.Kind == tree.Name && m.options.UnifyIDsStrictly && !m.sameVariable(a, b, i) {
			return false
		}
	}
	return true
}

// sameVariable reports whether the names at one offset of two subtrees may mean the same:
// nothing that is known to differ, or each a variable that its subtree declares itself.
func (m *matcher) sameVariable(a, b, offset int32) bool {
	t := m.file.Tree
	x, y := m.declarationOf(a+offset), m.declarationOf(b+offset)
	return x == y || x < 0 || y < 0 || t.Contains(a, x) && t.Contains(b, y) && x-a == y-b
}

// equalLists compares two lists of siblings node by node. It runs along the siblings of both until
// one list ends; the other must end there too. Bindings of nothing equal each other.
func (m *matcher) equalLists(a, b *Binding) bool {
	if a.Node < 0 || b.Node < 0 {
		return a.Node == b.Node
	}
	t := m.file.Tree
	for x, y := a.Node, b.Node; ; x, y = t.Nodes[x].Next, t.Nodes[y].Next {
		if !m.equalNodes(x, y) {
			return false
		}
		if x == a.Last || y == b.Last {
			return x == a.Last && y == b.Last
		}
	}
}

// equalText compares a node with the text of another binding. The content of a string counts, not
// its quotes.
func (m *matcher) equalText(t *tree.File, i int32, text string) bool {
	switch n := &t.Nodes[i]; n.Kind {
	case tree.Name, tree.String, tree.Type, tree.Character:
		return n.Text == text
	default:
		return t.Code(i) == text
	}
}

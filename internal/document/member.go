package document

import "math"

// PackageLimits bound manifests and lock files of package managers. The largest lock
// files have 50,000 packages and some millions of values. The size of the text is bounded by
// whoever reads the file.
var PackageLimits = Limits{Size: math.MaxInt64, Depth: 200, Values: 8_000_000, Comments: true, AtKeys: true}

// A Member is a child of a map or a list, with its key: readers of package files treat
// both alike.
type Member struct {
	Key string // "" in a list
	*Node
}

// Members returns the children of a map or a list, in the order of the file.
func (n *Node) Members() []Member {
	if n == nil {
		return nil
	}
	if n.Kind == List {
		members := make([]Member, len(n.Items))
		for i, item := range n.Items {
			members[i].Node = item
		}
		return members
	}
	members := make([]Member, len(n.Entries))
	for i, e := range n.Entries {
		members[i] = Member{Key: e.Key, Node: e.Value}
	}
	return members
}

// Len returns the number of children.
func (n *Node) Len() int {
	if n == nil {
		return 0
	}
	return len(n.Entries) + len(n.Items)
}

// TextOf returns the text of the key's value, or "" when it is not a scalar.
func (n *Node) TextOf(key string) string { return n.Get(key).Text() }

// Strings returns the texts of the scalars of a list; one scalar is a list of one.
// Values of a map count as the items of a list.
func (n *Node) Strings() []string {
	if text := n.Text(); text != "" {
		return []string{text}
	}
	var texts []string
	for _, m := range n.Members() {
		if m.IsScalar() {
			texts = append(texts, m.Value)
		}
	}
	return texts
}

// LineOr returns the line of the node, or the given one when there is no node.
func (n *Node) LineOr(line int) int {
	if n == nil || n.Line == 0 {
		return line
	}
	return n.Line
}

// addEntry appends a field to a map.
func (n *Node) addEntry(key string, value *Node) {
	n.Entries = append(n.Entries, Entry{Key: key, Line: value.Line, Column: value.Column, Value: value})
}

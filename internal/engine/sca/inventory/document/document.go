// Package document reads JSON, TOML and the block form of YAML, as lock files and
// manifests are written in, into one tree that knows the line of everything. The
// common decoders do not tell lines, or cost more than a lock file of 50,000
// packages may.
package document

import "fmt"

// Limits of a document, whatever its form.
const (
	maxDepth = 200       // values inside each other
	maxNodes = 8_000_000 // values
)

// A Kind is what a node is.
type Kind uint8

// The kinds of nodes.
const (
	Text   Kind = iota // a scalar: text, number, true, false, null
	Object             // members, by name
	List               // items
)

// A Node is a value with its place. The methods of a nil Node answer as those of
// an empty one.
type Node struct {
	Kind   Kind
	Quoted bool   // a scalar that was written as text
	Key    string // of a member of an object
	Line   int    // of the key of a member, else of the value; starts at 1
	Text   string // of a scalar: its text, or how it is written
	Kids   []Node // members or items
}

// Get returns the first member with the name, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for i := range n.Kids {
		if n.Kids[i].Key == key {
			return &n.Kids[i]
		}
	}
	return nil
}

// At returns the member of a member of a member, or nil.
func (n *Node) At(keys ...string) *Node {
	for _, k := range keys {
		n = n.Get(k)
	}
	return n
}

// Str returns the text of the member, or "" when it is not a scalar.
func (n *Node) Str(key string) string { return n.Get(key).Value() }

// Value returns the text of a scalar, else "". The null of JSON is "".
func (n *Node) Value() string {
	if n == nil || n.Kind != Text || !n.Quoted && n.Text == "null" {
		return ""
	}
	return n.Text
}

// True reports whether the member is true.
func (n *Node) True(key string) bool { return n.Str(key) == "true" }

// All returns the members or items.
func (n *Node) All() []Node {
	if n == nil {
		return nil
	}
	return n.Kids
}

// Strings returns the texts of a list's scalars; a lone scalar is a list of one.
func (n *Node) Strings() []string {
	if n == nil {
		return nil
	}
	if n.Kind == Text && n.Value() != "" {
		return []string{n.Text}
	}
	var out []string
	for i := range n.Kids {
		if n.Kids[i].Kind == Text {
			out = append(out, n.Kids[i].Text)
		}
	}
	return out
}

// A SyntaxError says where a document cannot be read.
type SyntaxError struct {
	Line    int
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// LineOr returns the line of the node, or another one when there is none.
func (n *Node) LineOr(line int) int {
	if n == nil || n.Line == 0 {
		return line
	}
	return n.Line
}

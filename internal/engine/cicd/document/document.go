// Package document reads YAML for the analyzers of pipelines: values with their
// places, aliases and merge keys resolved, within limits that hold for files
// somebody hostile wrote.
package document

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"merlon/internal/yamltext"

	"go.yaml.in/yaml/v3"
)

// Limits of one file. Pipelines of very large projects stay below a tenth.
const (
	MaxSize   = 4 << 20 // bytes
	maxDepth  = 100     // values inside each other, aliases followed
	maxValues = 500_000 // values, aliases followed
	maxDocs   = 1000
)

// A Kind is what a Node holds.
type Kind int

// The kinds of YAML values.
const (
	Scalar Kind = iota
	Map
	List
)

// A Node is a value with its place. All methods accept nil, which stands for a
// value that is not there.
type Node struct {
	Kind    Kind
	Value   string // of a scalar, unquoted
	Tag     string // "!!str", "!!null", "!reference", …
	Block   bool   // a scalar in literal or folded style
	Line    int    // from 1
	Column  int    // from 1, in characters
	Entries []Entry
	Items   []*Node
	Comment string // what stands behind the value on its line, without #
}

// An Entry is a key and its value in a map, in the order of the file.
type Entry struct {
	Key   *Node
	Value *Node
}

// An Error says where a file cannot be read.
type Error = yamltext.Error

// Parse returns the documents of a file. Its error is a *Error.
func Parse(b []byte) ([]*Node, error) {
	if len(b) > MaxSize {
		return nil, &Error{Message: fmt.Sprintf("is larger than %d MiB", MaxSize>>20), Exceeded: true}
	}
	r := yamltext.NewReader(b)
	r.Depth, r.Values = maxDepth, maxValues
	var docs []*Node
	c := converter{}
	for {
		y, err := r.Followed()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		if len(docs) == maxDocs {
			return nil, &Error{Line: y.Line, Message: fmt.Sprintf("has more than %d documents", maxDocs),
				Exceeded: true}
		}
		docs = append(docs, c.convert(y))
	}
}

// converter turns the library's nodes into ours. It has those that anchors name, which
// stay shared.
type converter map[*yaml.Node]*Node

func (c converter) convert(y *yaml.Node) *Node {
	if n := c[y]; n != nil {
		return n
	}
	n := &Node{Value: y.Value, Tag: y.Tag, Line: y.Line, Column: y.Column, Comment: comment(y)}
	n.Block = y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Map
		for i := 0; i+1 < len(y.Content); i += 2 {
			key, value := c.convert(y.Content[i]), c.convert(y.Content[i+1])
			if value.Comment == "" && key.Comment != "" {
				value.Comment = key.Comment
			}
			n.Entries = append(n.Entries, Entry{Key: key, Value: value})
		}
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			n.Items = append(n.Items, c.convert(item))
		}
	}
	if y.Anchor != "" {
		c[y] = n
	}
	return n
}

// comment returns the comment behind a value.
func comment(y *yaml.Node) string {
	return strings.TrimSpace(strings.TrimLeft(y.LineComment, "#"))
}

// Get returns the value of the key, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for _, e := range n.Entries {
		if e.Key.Value == key {
			return e.Value
		}
	}
	return nil
}

// At returns the value that the keys lead to, or nil.
func (n *Node) At(keys ...string) *Node {
	for _, k := range keys {
		n = n.Get(k)
	}
	return n
}

// Key returns the key itself, for its place, or nil.
func (n *Node) Key(key string) *Node {
	if n == nil {
		return nil
	}
	for _, e := range n.Entries {
		if e.Key.Value == key {
			return e.Key
		}
	}
	return nil
}

// Text returns the text of a scalar, and "" for anything else and for null.
func (n *Node) Text() string {
	if n == nil || n.Kind != Scalar || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// Scalars returns the scalar itself, or those of a list, lists inside included.
// A list that names a value elsewhere (GitLab's !reference) has none.
func (n *Node) Scalars() []*Node {
	switch {
	case n == nil || n.Kind == Map || n.Tag == "!!null" || n.Tag == "!reference":
		return nil
	case n.Kind == Scalar:
		return []*Node{n}
	}
	var out []*Node
	for _, item := range n.Items {
		out = append(out, item.Scalars()...)
	}
	return out
}

// IsMap reports whether the node is a map.
func (n *Node) IsMap() bool { return n != nil && n.Kind == Map }

// IsList reports whether the node is a list.
func (n *Node) IsList() bool { return n != nil && n.Kind == List }

// True reports whether a scalar says yes.
func (n *Node) True() bool { return strings.EqualFold(n.Text(), "true") }

// False reports whether a scalar says no.
func (n *Node) False() bool { return strings.EqualFold(n.Text(), "false") }

// Walk calls visit for the node and every value below it, keys left out, until
// visit says that it does not want what is below.
func (n *Node) Walk(visit func(*Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	for _, e := range n.Entries {
		e.Value.Walk(visit)
	}
	for _, item := range n.Items {
		item.Walk(visit)
	}
}

// List returns the items of a list, and nothing of anything else.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Pairs returns the entries of a map, and nothing of anything else.
func (n *Node) Pairs() []Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

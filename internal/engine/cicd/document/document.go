// Package document reads YAML for the analyzers of pipelines: values with their
// places, aliases and merge keys resolved, within limits that hold for files
// somebody hostile wrote.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

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
type Error struct {
	Line    int // 0 when unknown
	Message string
}

// Error returns the message, with the line in front.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return "line " + strconv.Itoa(e.Line) + ": " + e.Message
}

// Parse returns the documents of a file. Its error is an *Error.
func Parse(b []byte) ([]*Node, error) {
	if len(b) > MaxSize {
		return nil, &Error{Message: fmt.Sprintf("is larger than %d MiB", MaxSize>>20)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var docs []*Node
	c := &converter{done: map[*yaml.Node]*Node{}, sizes: map[*yaml.Node]int{}}
	for {
		var y yaml.Node
		err := dec.Decode(&y)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, fault(err)
		}
		if len(docs) == maxDocs {
			return nil, &Error{Line: y.Line, Message: fmt.Sprintf("has more than %d documents", maxDocs)}
		}
		n, err := c.convert(&y, 0)
		if err != nil {
			return nil, err
		}
		docs = append(docs, n)
	}
}

var atLine = regexp.MustCompile(`line (\d+): `)

// fault makes an Error of what the YAML library says.
func fault(err error) *Error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := atLine.FindStringSubmatchIndex(text); m != nil {
		line, _ = strconv.Atoi(text[m[2]:m[3]]) // digits
		text = text[:m[0]] + text[m[1]:]
	}
	return &Error{Line: line, Message: "is not valid YAML: " + strings.Join(strings.Fields(text), " ")}
}

// converter turns the library's nodes into ours. What an anchor names is
// converted once and shared; its size counts at every use, so that a file that
// doubles itself over and over is refused before anybody walks it.
type converter struct {
	done  map[*yaml.Node]*Node
	sizes map[*yaml.Node]int
	open  []*yaml.Node
	total int
}

func (c *converter) convert(y *yaml.Node, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, &Error{Line: y.Line, Message: fmt.Sprintf("has more than %d values inside each other", maxDepth)}
	}
	switch y.Kind {
	case 0:
		return &Node{Kind: Scalar, Tag: "!!null", Line: 1, Column: 1}, nil
	case yaml.DocumentNode:
		return c.convert(y.Content[0], depth)
	case yaml.AliasNode:
		return c.alias(y, depth)
	}
	if err := c.count(y, 1); err != nil {
		return nil, err
	}
	before := c.total
	n := &Node{Value: y.Value, Tag: y.Tag, Line: y.Line, Column: y.Column, Comment: comment(y)}
	n.Block = y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	c.open = append(c.open, y)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	var err error
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Map
		err = c.entries(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			var v *Node
			if v, err = c.convert(item, depth+1); err != nil {
				break
			}
			n.Items = append(n.Items, v)
		}
	}
	if err != nil {
		return nil, err
	}
	if y.Anchor != "" {
		c.done[y], c.sizes[y] = n, c.total-before+1
	}
	return n, nil
}

// comment returns the comment behind a value.
func comment(y *yaml.Node) string {
	return strings.TrimSpace(strings.TrimLeft(y.LineComment, "#"))
}

func (c *converter) alias(y *yaml.Node, depth int) (*Node, error) {
	n := c.done[y.Alias]
	if n == nil {
		return nil, &Error{Line: y.Line, Message: "the alias *" + y.Value + " stands inside of what it names"}
	}
	if depth+height(n, maxDepth) > maxDepth {
		return nil, &Error{Line: y.Line, Message: fmt.Sprintf("has more than %d values inside each other", maxDepth)}
	}
	return n, c.count(y, c.sizes[y.Alias])
}

// height returns how many values stand inside each other below the node, at
// most limit.
func height(n *Node, limit int) int {
	if limit == 0 {
		return 0
	}
	most := 0
	for _, e := range n.Entries {
		most = max(most, 1+height(e.Value, limit-1))
	}
	for _, item := range n.Items {
		most = max(most, 1+height(item, limit-1))
	}
	return most
}

func (c *converter) count(y *yaml.Node, n int) error {
	if c.total += n; c.total > maxValues {
		return &Error{Line: y.Line, Message: fmt.Sprintf("has more than %d values", maxValues)}
	}
	return nil
}

// entries converts a map. Merged maps (<<) come after the map's own keys and give
// way to them.
func (c *converter) entries(n *Node, y *yaml.Node, depth int) error {
	var merged []*Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, err := c.convert(y.Content[i], depth+1)
		if err != nil {
			return err
		}
		value, err := c.convert(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if value.Comment == "" && key.Comment != "" {
			value.Comment = key.Comment
		}
		n.Entries = append(n.Entries, Entry{Key: key, Value: value})
	}
	if len(merged) == 0 {
		return nil
	}
	have := map[string]bool{}
	for _, e := range n.Entries {
		have[e.Key.Value] = true
	}
	for _, m := range merged {
		sources := []*Node{m}
		if m.Kind == List {
			sources = m.Items
		}
		for _, s := range sources {
			for _, e := range s.Entries {
				if !have[e.Key.Value] {
					have[e.Key.Value] = true
					n.Entries = append(n.Entries, e)
				}
			}
		}
	}
	return c.count(y, len(n.Entries))
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

package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Limits bound what one text may become in memory. Files come from people that nobody
// trusts: a list of aliases of aliases is a few lines of text and billions of values.
type Limits struct {
	Size      int64 // bytes
	Depth     int   // values inside each other, aliases followed
	Values    int   // values of all documents, aliases followed
	Documents int   // documents of one text; 0: Values is bound enough

	// Comments says that JSON may have comments.
	Comments bool

	// AtKeys says that the value of a field of JSON has the position of its key, as
	// findings about packages point to it.
	AtKeys bool
}

const byteOrderMark = "\xef\xbb\xbf"

// checkSize compares the size of a text with the limit before anything is made of it.
func (l Limits) checkSize(text []byte) error {
	if int64(len(text)) > l.Size {
		return &Error{Message: fmt.Sprintf("is larger than %d MiB", l.Size>>20), Exceeded: true}
	}
	return nil
}

// tooMany is the error of a text with more values than the limit.
func tooMany(line, limit int) *Error {
	return &Error{Line: line, Message: fmt.Sprintf("more than %d values", limit), Exceeded: true}
}

// tooDeep is the error of a text whose values stand deeper inside each other than the limit.
func tooDeep(line, limit int) *Error {
	return &Error{Line: line, Message: fmt.Sprintf("more than %d values inside each other", limit), Exceeded: true}
}

// ParseFirst reads a text of YAML or JSON, whichever it is; of several YAML documents the
// first one that is a map or a list. Its error is an *Error.
func ParseFirst(text []byte, limits Limits) (*Node, error) {
	if err := limits.checkSize(text); err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	head := bytes.TrimLeft(text, " \t\r\n")
	var fault error
	if len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		n, err := ParseJSON(text, limits)
		if err == nil {
			return n, nil
		}
		fault = err
		var e *Error
		if errors.As(err, &e) && e.Exceeded { // the other reader would only take longer to say the same
			return nil, err
		}
	}
	n, err := firstYAML(text, limits)
	if err != nil && fault != nil {
		return nil, fault
	}
	return n, err
}

// firstYAML returns the first document that is a map or a list.
func firstYAML(text []byte, limits Limits) (*Node, error) {
	r := newReader(text, limits)
	for c := (converter{}); ; {
		y, err := r.Followed()
		if errors.Is(err, io.EOF) {
			return nil, &Error{Message: "contains no document"}
		}
		if err != nil {
			return nil, err
		}
		if n := c.convert(y); n.IsMap() || n.IsList() {
			return n, nil
		}
	}
}

// ParseAll returns the documents of a YAML text. Its error is an *Error; the documents
// before it are returned with it.
func ParseAll(text []byte, limits Limits) ([]*Node, error) {
	if err := limits.checkSize(text); err != nil {
		return nil, err
	}
	r := newReader(text, limits)
	var all []*Node
	for c := (converter{}); ; {
		y, err := r.Followed()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if limits.Documents > 0 && len(all) == limits.Documents {
			return all, &Error{Line: y.Line, Message: fmt.Sprintf("has more than %d documents", limits.Documents),
				Exceeded: true}
		}
		all = append(all, c.convert(y))
	}
}

// newReader returns the reader of a YAML text with the limits.
func newReader(text []byte, limits Limits) *Reader {
	r := NewReader(text)
	r.Depth, r.Values = limits.Depth, limits.Values
	return r
}

// converter turns the library's nodes into ours. It has those that anchors name, which
// stay shared.
type converter map[*yaml.Node]*Node

// convert converts a node with everything below it. A node that an anchor names is
// converted once.
func (c converter) convert(y *yaml.Node) *Node {
	if n := c[y]; n != nil {
		return n
	}
	n := &Node{Tag: y.Tag, Line: y.Line, Column: y.Column}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Map
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := y.Content[i]
			if key.Kind != yaml.ScalarNode {
				continue // a key that is a list or a map means nothing here
			}
			n.Entries = append(n.Entries, Entry{Key: key.Value, Line: key.Line, Column: key.Column,
				Value: c.convert(y.Content[i+1])})
		}
		n.indexKeys()
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			n.Items = append(n.Items, c.convert(item))
		}
	default:
		n.Kind, n.Value = kindOf(y), y.Value
		n.Block = y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	}
	if y.Anchor != "" {
		c[y] = n
	}
	return n
}

// kindOf returns the kind of a scalar. What JSON has no kind for, a date for example, is a
// string.
func kindOf(y *yaml.Node) Kind {
	switch y.ShortTag() {
	case "!!null":
		return Null
	case "!!bool":
		return Bool
	case "!!int":
		return Int
	case "!!float":
		return Float
	}
	return String
}

package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// ParseXML reads an XML text. An element is a field of the element around it, named
// without prefix; its attributes are fields whose names begin with "@". An element
// without attributes and children is a string; an element with them has the text that is
// directly in it as its Value. Entities that the document declares are not expanded, which
// keeps out external entities (CWE-611) and entity expansion (CWE-776). Positions have no
// columns. Its error is an *Error.
func ParseXML(text []byte, limits Limits) (*Node, error) {
	if err := limits.checkSize(text); err != nil {
		return nil, err
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	// Names are ASCII in every encoding that package files use.
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	r := xmlReader{limits: limits, stack: []openElement{{node: &Node{Kind: Map, Line: 1}}}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && len(r.stack) == 1 {
			return r.stack[0].node, nil
		}
		line, _ := d.InputPos()
		if err != nil {
			return nil, xmlError(line, err)
		}
		if err := r.readToken(token, line); err != nil {
			return nil, err
		}
	}
}

// xmlError adds the line to an error of the decoder.
func xmlError(line int, err error) *Error {
	var e *xml.SyntaxError
	if errors.As(err, &e) {
		return &Error{Line: e.Line, Message: "not valid XML: " + e.Msg}
	}
	return &Error{Line: line, Message: "not valid XML: " + err.Error()}
}

// xmlReader builds the tree of the elements that are open.
type xmlReader struct {
	limits Limits
	values int
	stack  []openElement
}

// An openElement is an element whose end was not read yet.
type openElement struct {
	name string
	node *Node
}

// readToken takes one token of the decoder.
func (r *xmlReader) readToken(token xml.Token, line int) error {
	top := r.stack[len(r.stack)-1]
	switch t := token.(type) {
	case xml.StartElement:
		r.values += 1 + len(t.Attr)
		switch {
		case r.values > r.limits.Values:
			return tooMany(line, r.limits.Values)
		case len(r.stack) > r.limits.Depth:
			return tooDeep(line, r.limits.Depth)
		}
		n := &Node{Kind: Map, Line: line}
		for _, a := range t.Attr {
			n.addEntry("@"+a.Name.Local, &Node{Kind: String, Line: line, Value: a.Value})
		}
		r.stack = append(r.stack, openElement{t.Name.Local, n})
	case xml.CharData:
		top.node.Value += strings.TrimSpace(string(t))
	case xml.EndElement:
		r.stack = r.stack[:len(r.stack)-1]
		if len(top.node.Entries) == 0 {
			top.node.Kind = String
		}
		top.node.indexKeys()
		r.stack[len(r.stack)-1].node.addEntry(top.name, top.node)
	}
	return nil
}

// Named returns the members with one of the names at any depth, in the order of the
// document. The members of one that is returned are not searched.
func (n *Node) Named(names ...string) []Member {
	var found []Member
	for _, m := range n.Members() {
		if slices.Contains(names, m.Key) {
			found = append(found, m)
		} else {
			found = append(found, m.Named(names...)...)
		}
	}
	return found
}

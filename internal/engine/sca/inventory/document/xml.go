package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// XML reads an XML text. An element is a member of the element around it, named
// without prefix; its attributes are members whose names begin with "@". Its Text
// is the text that stands directly in it. Entities of the document's own are not
// expanded.
func XML(content []byte) (*Node, error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // names are ASCII
	root := &Node{Kind: Object, Line: 1}
	stack := []*Node{root}
	nodes := 0
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && len(stack) == 1 {
			return root, nil
		}
		line, _ := d.InputPos()
		if err != nil {
			message := err.Error()
			if e := (*xml.SyntaxError)(nil); errors.As(err, &e) {
				line, message = e.Line, e.Msg
			}
			return nil, &SyntaxError{Line: line, Message: message}
		}
		top := stack[len(stack)-1]
		switch t := t.(type) {
		case xml.StartElement:
			if nodes += 1 + len(t.Attr); nodes > maxNodes || len(stack) > maxDepth {
				return nil, &SyntaxError{Line: line, Message: "the document is too large or too deep"}
			}
			n := &Node{Kind: Object, Key: t.Name.Local, Line: line}
			for _, a := range t.Attr {
				n.Kids = append(n.Kids, Node{Key: "@" + a.Name.Local, Line: line, Text: a.Value, Quoted: true})
			}
			stack = append(stack, n)
		case xml.CharData:
			top.Text += strings.TrimSpace(string(t))
		case xml.EndElement:
			stack = stack[:len(stack)-1]
			above := stack[len(stack)-1]
			if len(top.Kids) == 0 {
				top.Kind, top.Quoted = Text, true
			}
			above.Kids = append(above.Kids, *top)
		}
	}
}

// Named returns the members with the name, at any depth, in the order of the
// document; members inside of one that is returned are not looked at.
func (n *Node) Named(names ...string) []*Node {
	var out []*Node
	for i := range n.All() {
		kid := &n.Kids[i]
		found := false
		for _, name := range names {
			found = found || kid.Key == name
		}
		if found {
			out = append(out, kid)
		} else {
			out = append(out, kid.Named(names...)...)
		}
	}
	return out
}

package document

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// TOML reads a TOML text (https://toml.io/en/v1.0.0). Tables are objects, arrays
// of tables are lists.
func TOML(content []byte) (_ *Node, err error) {
	t := tomlReader{content: content}
	defer func() { // the parser is written for well-formed texts
		if v := recover(); v != nil {
			err = &SyntaxError{Line: t.line + 1, Message: fmt.Sprint(v)}
		}
	}()
	root := &Node{Kind: Object, Line: 1}
	at := root
	t.parser.Reset(content)
	for t.parser.NextExpression() {
		e := t.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			if at, err = t.table(root, e); err != nil {
				return nil, err
			}
		case unstable.KeyValue:
			if err := t.member(at, e, 0); err != nil {
				return nil, err
			}
		}
	}
	if err := t.parser.Error(); err != nil {
		return nil, t.syntax(err)
	}
	return root, nil
}

type tomlReader struct {
	content []byte
	parser  unstable.Parser
	offset  int // lines counts the lines before it
	line    int
	nodes   int
	steps   int // members compared with a name
}

// maxSteps bounds the search for tables by name, which is linear.
const maxSteps = 500_000_000

// search counts a search among the members of a table.
func (t *tomlReader) search(at *Node) error {
	if t.steps += len(at.Kids); t.steps > maxSteps {
		return &SyntaxError{Line: t.line + 1, Message: "the document has too many tables"}
	}
	return nil
}

// lineAt returns the line of an offset; offsets rise but for a little.
func (t *tomlReader) lineAt(offset uint32) int {
	at := min(int(offset), len(t.content))
	if at >= t.offset {
		t.line += bytes.Count(t.content[t.offset:at], []byte("\n"))
	} else {
		t.line -= bytes.Count(t.content[at:t.offset], []byte("\n"))
	}
	t.offset = at
	return t.line + 1
}

// syntax adds the line to an error of the parser.
func (t *tomlReader) syntax(err error) error {
	line := t.line + 1
	var at *unstable.ParserError
	if errors.As(err, &at) && len(at.Highlight) > 0 {
		line = t.lineAt(t.parser.Range(at.Highlight).Offset)
	}
	return &SyntaxError{Line: line, Message: err.Error()}
}

// room counts a node.
func (t *tomlReader) room(depth int) error {
	if t.nodes++; t.nodes > maxNodes || depth > maxDepth {
		return &SyntaxError{Line: t.line + 1, Message: "the document is too large or too deep"}
	}
	return nil
}

// table returns the object that a heading opens.
func (t *tomlReader) table(root *Node, e *unstable.Node) (*Node, error) {
	at := root
	key := e.Key()
	for depth := 0; key.Next(); depth++ {
		k := key.Node()
		line := t.lineAt(k.Raw.Offset)
		if err := t.room(depth); err != nil {
			return nil, err
		}
		last := key.IsLast()
		if err := t.search(at); err != nil {
			return nil, err
		}
		at = step(at, string(k.Data), line, last && e.Kind == unstable.ArrayTable)
	}
	return at, nil
}

// step goes to the member of a table. In an array of tables that is its last
// table, or a new one.
func step(at *Node, key string, line int, array bool) *Node {
	kid := at.Get(key)
	if kid == nil || kid.Kind == Text {
		kind := Object
		if array {
			kind = List
		}
		at.Kids = append(at.Kids, Node{Kind: kind, Key: key, Line: line})
		kid = &at.Kids[len(at.Kids)-1]
	}
	if kid.Kind != List {
		return kid
	}
	if n := len(kid.Kids); n == 0 || array || kid.Kids[n-1].Kind != Object {
		kid.Kids = append(kid.Kids, Node{Kind: Object, Line: line})
	}
	return &kid.Kids[len(kid.Kids)-1]
}

// member adds "a.b = value".
func (t *tomlReader) member(at *Node, e *unstable.Node, depth int) error {
	key := e.Key()
	for key.Next() {
		k := key.Node()
		line := t.lineAt(k.Raw.Offset)
		if depth++; depth > maxDepth {
			return t.room(depth)
		}
		if !key.IsLast() {
			if err := errors.Join(t.room(depth), t.search(at)); err != nil {
				return err
			}
			at = step(at, string(k.Data), line, false)
			continue
		}
		kid := Node{Key: string(k.Data), Line: line}
		if err := t.value(&kid, e.Value(), depth); err != nil {
			return err
		}
		at.Kids = append(at.Kids, kid)
	}
	return nil
}

func (t *tomlReader) value(n *Node, v *unstable.Node, depth int) error {
	if err := t.room(depth); err != nil {
		return err
	}
	switch v.Kind {
	case unstable.Array:
		n.Kind = List
		for it := v.Children(); it.Next(); {
			item := it.Node()
			if item.Kind == unstable.Comment {
				continue
			}
			kid := Node{Line: n.Line}
			if item.Raw.Offset > 0 {
				kid.Line = t.lineAt(item.Raw.Offset)
			}
			if err := t.value(&kid, item, depth+1); err != nil {
				return err
			}
			n.Kids = append(n.Kids, kid)
		}
	case unstable.InlineTable:
		n.Kind = Object
		for it := v.Children(); it.Next(); {
			if err := t.member(n, it.Node(), depth+1); err != nil {
				return err
			}
		}
	default:
		n.Quoted = v.Kind == unstable.String
		n.Text = string(v.Data)
	}
	return nil
}

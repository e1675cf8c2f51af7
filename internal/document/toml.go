package document

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// ParseTOML reads a TOML text (https://toml.io/en/v1.0.0). Tables are maps, arrays of
// tables are lists. Positions have no columns; the value of a key is in the line of the
// key. Its error is an *Error.
func ParseTOML(text []byte, limits Limits) (_ *Node, err error) {
	if err := limits.checkSize(text); err != nil {
		return nil, err
	}
	r := tomlReader{text: text, limits: limits}
	defer func() { // the parser is written for well-formed texts
		if v := recover(); v != nil {
			err = &Error{Line: r.line + 1, Message: "not valid TOML: " + fmt.Sprint(v)}
		}
	}()
	root := &Node{Kind: Map, Line: 1}
	table := root
	r.parser.Reset(text)
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			if table, err = r.openTable(root, e); err != nil {
				return nil, err
			}
		case unstable.KeyValue:
			if err := r.readField(table, e, 0); err != nil {
				return nil, err
			}
		}
	}
	if err := r.parser.Error(); err != nil {
		return nil, r.syntaxError(err)
	}
	return root, nil
}

// A tomlReader builds the nodes of a document.
type tomlReader struct {
	text   []byte
	limits Limits
	parser unstable.Parser
	offset int // line counts the lines before it
	line   int
	values int
	steps  int // fields compared with a name
}

// maxSteps bounds the search for tables by name, which is linear: a text of many headings
// in a table of many fields takes quadratic time.
const maxSteps = 500_000_000

// countSearch counts a search among the fields of a table.
func (r *tomlReader) countSearch(table *Node) error {
	if r.steps += len(table.Entries); r.steps > maxSteps {
		return &Error{Line: r.line + 1, Message: "more tables than can be searched", Exceeded: true}
	}
	return nil
}

// lineAt returns the line of an offset. Lines are counted from the last offset, because
// offsets rise but for a little.
func (r *tomlReader) lineAt(offset uint32) int {
	at := min(int(offset), len(r.text))
	if at >= r.offset {
		r.line += bytes.Count(r.text[r.offset:at], []byte("\n"))
	} else {
		r.line -= bytes.Count(r.text[at:r.offset], []byte("\n"))
	}
	r.offset = at
	return r.line + 1
}

// syntaxError adds the line to an error of the parser.
func (r *tomlReader) syntaxError(err error) error {
	line := r.line + 1
	var at *unstable.ParserError
	if errors.As(err, &at) && len(at.Highlight) > 0 {
		line = r.lineAt(r.parser.Range(at.Highlight).Offset)
	}
	return &Error{Line: line, Message: "not valid TOML: " + err.Error()}
}

// countValue counts a value at a depth and compares both with the limits.
func (r *tomlReader) countValue(depth int) error {
	r.values++
	switch {
	case r.values > r.limits.Values:
		return tooMany(r.line+1, r.limits.Values)
	case depth > r.limits.Depth:
		return tooDeep(r.line+1, r.limits.Depth)
	}
	return nil
}

// openTable returns the map that a heading opens.
func (r *tomlReader) openTable(root *Node, e *unstable.Node) (*Node, error) {
	table := root
	key := e.Key()
	// [a.b.c] opens the tables a and a.b on the way; each of them counts.
	for depth := 0; key.Next(); depth++ {
		k := key.Node()
		line := r.lineAt(k.Raw.Offset)
		if err := r.countValue(depth); err != nil {
			return nil, err
		}
		last := key.IsLast()
		if err := r.countSearch(table); err != nil {
			return nil, err
		}
		table = enterTable(table, string(k.Data), line, last && e.Kind == unstable.ArrayTable)
	}
	return table, nil
}

// enterTable returns the table below a key. In an array of tables that is its last
// table, or a new one.
func enterTable(table *Node, key string, line int, array bool) *Node {
	below := table.Get(key)
	if !below.IsMap() && !below.IsList() {
		below = &Node{Kind: Map, Line: line}
		if array {
			below.Kind = List
		}
		table.addEntry(key, below)
	}
	if below.Kind != List {
		return below
	}
	// [a.b] after [[a]] belongs to the last table of the array a.
	if n := len(below.Items); n == 0 || array || !below.Items[n-1].IsMap() {
		below.Items = append(below.Items, &Node{Kind: Map, Line: line})
	}
	return below.Items[len(below.Items)-1]
}

// readField adds "a.b = value" to a table.
func (r *tomlReader) readField(table *Node, e *unstable.Node, depth int) error {
	key := e.Key()
	for key.Next() {
		k := key.Node()
		line := r.lineAt(k.Raw.Offset)
		if depth++; depth > r.limits.Depth {
			return r.countValue(depth)
		}
		if !key.IsLast() {
			if err := errors.Join(r.countValue(depth), r.countSearch(table)); err != nil {
				return err
			}
			table = enterTable(table, string(k.Data), line, false)
			continue
		}
		value := &Node{Line: line}
		if err := r.readValue(value, e.Value(), depth); err != nil {
			return err
		}
		table.addEntry(string(k.Data), value)
	}
	return nil
}

// readValue reads a scalar, a list or an inline table.
func (r *tomlReader) readValue(n *Node, v *unstable.Node, depth int) error {
	if err := r.countValue(depth); err != nil {
		return err
	}
	switch v.Kind {
	case unstable.Array:
		n.Kind = List
		return r.readArray(n, v, depth)
	case unstable.InlineTable:
		n.Kind = Map
		for it := v.Children(); it.Next(); {
			if err := r.readField(n, it.Node(), depth+1); err != nil {
				return err
			}
		}
		return nil
	case unstable.Bool:
		n.Kind = Bool
	case unstable.Integer:
		n.Kind = Int
	case unstable.Float:
		n.Kind = Float
	default: // a string, or a date, for which JSON has no kind
		n.Kind = String
	}
	n.Value = string(v.Data)
	return nil
}

// readArray reads the items of an array. One without an offset of its own is in the line
// of the array.
func (r *tomlReader) readArray(n *Node, v *unstable.Node, depth int) error {
	for it := v.Children(); it.Next(); {
		item := it.Node()
		if item.Kind == unstable.Comment {
			continue
		}
		value := &Node{Line: n.Line}
		if item.Raw.Offset > 0 {
			value.Line = r.lineAt(item.Raw.Offset)
		}
		if err := r.readValue(value, item, depth+1); err != nil {
			return err
		}
		n.Items = append(n.Items, value)
	}
	return nil
}

package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// DecodeJSON reads a JSON text: an object, or a list of objects, each of which is
// then a tree. As the tools that read such files do, it takes comments ("//", "/*")
// and a comma after the last field. Errors are a *Malformed, or errs.TooLarge.
func DecodeJSON(text []byte) ([]Tree, error) {
	if err := fits(text); err != nil {
		return nil, err
	}
	d := jsonDecoder{text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), line: 1}
	if err := d.space(); err != nil {
		return nil, err
	}
	value, lines, err := d.value()
	if err != nil {
		return nil, err
	}
	if err := d.space(); err != nil {
		return nil, err
	}
	if d.at < len(d.text) {
		return nil, d.fault("text after the value")
	}
	switch v := value.(type) {
	case map[string]any:
		return []Tree{{Root: v, Lines: lines}}, nil
	case []any:
		var trees []Tree
		for i, one := range v {
			if root, ok := one.(map[string]any); ok {
				trees = append(trees, Tree{Root: root, Lines: lines.Items[i]})
			}
		}
		return trees, nil
	}
	return nil, nil
}

// jsonDecoder reads RFC 8259 with the place of each value; encoding/json does not
// tell places.
type jsonDecoder struct {
	text   []byte
	at     int // offset of the next byte
	line   int
	start  int // offset of the line's first byte, or of a later place on it
	column int // of start, from 0
	budget budget
}

func (d *jsonDecoder) fault(format string, args ...any) error {
	return &Malformed{Line: d.line, Message: fmt.Sprintf(format, args...)}
}

// place returns a node for the next byte.
// Counting goes on from the place before, because a line can be the whole file.
func (d *jsonDecoder) place() *Node {
	d.column += utf8.RuneCount(d.text[d.start:d.at])
	d.start = d.at
	return &Node{Line: d.line, Column: d.column + 1}
}

// space skips white space and comments.
func (d *jsonDecoder) space() error {
	for d.at < len(d.text) {
		switch c := d.text[d.at]; {
		case c == '\n':
			d.at++
			d.line, d.start, d.column = d.line+1, d.at, 0
		case c == ' ' || c == '\t' || c == '\r':
			d.at++
		case c == '/' && bytes.HasPrefix(d.text[d.at:], []byte("//")):
			n := bytes.IndexByte(d.text[d.at:], '\n')
			if n < 0 {
				n = len(d.text) - d.at
			}
			d.at += n
		case c == '/' && bytes.HasPrefix(d.text[d.at:], []byte("/*")):
			n := bytes.Index(d.text[d.at+2:], []byte("*/"))
			if n < 0 {
				return d.fault("a comment does not end")
			}
			d.skip(n + 4)
		default:
			return nil
		}
	}
	return nil
}

// skip goes on by n bytes, and counts their lines.
func (d *jsonDecoder) skip(n int) {
	for end := d.at + n; d.at < end; d.at++ {
		if d.text[d.at] == '\n' {
			d.line, d.start, d.column = d.line+1, d.at+1, 0
		}
	}
}

func (d *jsonDecoder) peek() byte {
	if d.at < len(d.text) {
		return d.text[d.at]
	}
	return 0
}

// value reads one value.
func (d *jsonDecoder) value() (any, *Node, error) {
	if err := d.budget.enter(d.line); err != nil {
		return nil, nil, err
	}
	defer d.budget.leave()
	lines := d.place()
	switch c := d.peek(); {
	case c == '{':
		v, err := d.object(lines)
		return v, lines, err
	case c == '[':
		v, err := d.list(lines)
		return v, lines, err
	case c == '"':
		v, err := d.str()
		return v, lines, err
	case c == '-' || c >= '0' && c <= '9':
		v, err := d.number()
		return v, lines, err
	}
	for word, v := range map[string]any{"true": true, "false": false, "null": nil} {
		if bytes.HasPrefix(d.text[d.at:], []byte(word)) {
			d.at += len(word)
			return v, lines, nil
		}
	}
	if d.at >= len(d.text) {
		return nil, nil, d.fault("the text ends where a value is expected")
	}
	return nil, nil, d.fault("%q does not begin a value", d.peek())
}

func (d *jsonDecoder) object(lines *Node) (map[string]any, error) {
	root := map[string]any{}
	lines.Fields = map[string]*Node{}
	for d.at++; ; {
		if err := d.space(); err != nil {
			return nil, err
		}
		if d.peek() == '}' {
			d.at++
			return root, nil
		}
		if d.peek() != '"' {
			return nil, d.fault("expected a field or the end of an object")
		}
		at := d.place()
		if len(root) == 0 { // an object in a list is told by its first field, as in YAML
			lines.Line, lines.Column = at.Line, at.Column
		}
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		if err := d.space(); err != nil {
			return nil, err
		}
		if d.peek() != ':' {
			return nil, d.fault("expected a colon after %.40q", key)
		}
		d.at++
		if err := d.space(); err != nil {
			return nil, err
		}
		v, below, err := d.value()
		if err != nil {
			return nil, err
		}
		below.Line, below.Column = at.Line, at.Column
		root[key], lines.Fields[key] = v, below
		if err := d.comma('}'); err != nil {
			return nil, err
		}
	}
}

func (d *jsonDecoder) list(lines *Node) ([]any, error) {
	list := []any{}
	for d.at++; ; {
		if err := d.space(); err != nil {
			return nil, err
		}
		if d.peek() == ']' {
			d.at++
			return list, nil
		}
		v, below, err := d.value()
		if err != nil {
			return nil, err
		}
		list, lines.Items = append(list, v), append(lines.Items, below)
		if err := d.comma(']'); err != nil {
			return nil, err
		}
	}
}

// comma skips the comma between two values; before the end there may be none.
func (d *jsonDecoder) comma(end byte) error {
	if err := d.space(); err != nil {
		return err
	}
	switch d.peek() {
	case ',':
		d.at++
	case end:
	default:
		return d.fault("expected a comma or %q", end)
	}
	return nil
}

// str reads a string. A tab inside is taken, as editors write it; a line's end is
// not.
func (d *jsonDecoder) str() (string, error) {
	from, escaped := d.at, false
	for d.at++; d.at < len(d.text); d.at++ {
		switch d.text[d.at] {
		case '"':
			d.at++
			raw := d.text[from:d.at]
			if !escaped {
				return string(bytes.ToValidUTF8(raw[1:len(raw)-1], []byte("\ufffd"))), nil
			}
			var s string
			if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte("\t"), []byte(`\t`)), &s); err != nil {
				return "", d.fault("a string cannot be read: %v", err)
			}
			return s, nil
		case '\\':
			escaped = true
			d.at++
		case '\n':
			return "", d.fault("a string does not end on its line")
		}
	}
	return "", d.fault("a string does not end")
}

// number reads a number: an int64 where it is one.
func (d *jsonDecoder) number() (any, error) {
	from := d.at
	for d.at < len(d.text) && bytes.IndexByte([]byte("+-.eE0123456789"), d.text[d.at]) >= 0 {
		d.at++
	}
	raw := string(d.text[from:d.at])
	if v, err := strconv.ParseInt(raw, 10, 64); err == nil {
		return v, nil
	}
	if v, err := strconv.ParseFloat(raw, 64); err == nil {
		return v, nil
	}
	return nil, d.fault("%.40q is not a number", raw)
}

package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"merlon/internal/yamltext"

	"go.yaml.in/yaml/v3"
)

// Parse reads a text of YAML or JSON; of several YAML documents the first one that
// is a map or a list. Its error is an *Error.
func Parse(text []byte) (*Node, error) {
	if len(text) > MaxSize {
		return nil, &Error{Message: fmt.Sprintf("is larger than %d MiB", MaxSize>>20)}
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	head := bytes.TrimLeft(text, " \t\r\n")
	var fault error
	if len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		r := &jsonReader{text: text, line: 1}
		n, err := r.document()
		if err == nil {
			return n, nil
		}
		fault = err
		if r.exceeded { // the other reader would only take longer to say the same
			return nil, err
		}
	}
	n, err := parseYAML(text)
	if err != nil && fault != nil {
		return nil, fault
	}
	return n, err
}

func parseYAML(text []byte) (*Node, error) {
	r := yamltext.NewReader(text)
	r.Depth, r.Values = MaxDepth, MaxValues
	c := converter{}
	for {
		y, err := r.Followed()
		if errors.Is(err, io.EOF) {
			return nil, &Error{Message: "holds no document"}
		}
		if err != nil {
			return nil, err
		}
		if n := c.convert(y); n.IsMap() || n.IsList() {
			return n, nil
		}
	}
}

// converter turns the library's nodes into ours. It has those that anchors name, which
// stay shared.
type converter map[*yaml.Node]*Node

func (c converter) convert(y *yaml.Node) *Node {
	if n := c[y]; n != nil {
		return n
	}
	n := &Node{Line: y.Line, Column: y.Column}
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
		n.close()
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			n.Items = append(n.Items, c.convert(item))
		}
	default:
		n.Kind, n.Value = scalar(y), y.Value
	}
	if y.Anchor != "" {
		c[y] = n
	}
	return n
}

func scalar(y *yaml.Node) Kind {
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

// jsonReader reads JSON (RFC 8259), and besides: a comma before the end of a map or
// a list, and tabs in strings. It knows the line of each value, which the library's
// decoder does not tell.
type jsonReader struct {
	text     []byte
	at       int
	line     int
	start    int // offset of the line
	column   int // characters up to counted
	counted  int
	values   int
	depth    int
	exceeded bool
}

func (r *jsonReader) document() (*Node, error) {
	r.space()
	n, err := r.value()
	if err != nil {
		return nil, err
	}
	if r.space(); r.at < len(r.text) {
		return nil, r.fault("something follows the end of the document")
	}
	return n, nil
}

func (r *jsonReader) fault(format string, args ...any) error {
	return &Error{Line: r.line, Message: "is not valid JSON: " + fmt.Sprintf(format, args...)}
}

// place returns the line and the column of the next byte.
func (r *jsonReader) place() (line, column int) {
	if r.counted < r.start {
		r.counted, r.column = r.start, 0
	}
	r.column += utf8.RuneCount(r.text[r.counted:r.at])
	r.counted = r.at
	return r.line, r.column + 1
}

func (r *jsonReader) space() {
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\n':
			r.line, r.start = r.line+1, r.at+1
		case ' ', '\t', '\r':
		default:
			return
		}
	}
}

func (r *jsonReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *jsonReader) value() (*Node, error) {
	r.values++
	r.depth++
	defer func() { r.depth-- }()
	if r.values > MaxValues || r.depth > MaxDepth {
		r.exceeded = true
		return nil, &Error{Line: r.line, Message: fmt.Sprintf("has more than %d values, or %d inside "+
			"each other", MaxValues, MaxDepth)}
	}
	n := &Node{}
	n.Line, n.Column = r.place()
	switch c := r.peek(); {
	case c == '{':
		n.Kind = Map
		return n, r.object(n)
	case c == '[':
		n.Kind = List
		return n, r.list(n)
	case c == '"':
		s, err := r.str()
		n.Kind, n.Value = String, s
		return n, err
	case c == '-' || c >= '0' && c <= '9':
		return n, r.number(n)
	}
	for _, w := range []struct {
		word string
		kind Kind
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if bytes.HasPrefix(r.text[r.at:], []byte(w.word)) {
			n.Kind, n.Value = w.kind, w.word
			r.at += len(w.word)
			return n, nil
		}
	}
	if r.at >= len(r.text) {
		return nil, r.fault("the text ends where a value is expected")
	}
	return nil, r.fault("%q does not begin a value", r.peek())
}

func (r *jsonReader) object(n *Node) error {
	for r.at++; ; {
		if r.space(); r.peek() == '}' {
			r.at++
			n.close()
			return nil
		}
		if r.peek() != '"' {
			return r.fault("expected a field or the end of an object")
		}
		e := Entry{}
		e.Line, e.Column = r.place()
		var err error
		if e.Key, err = r.str(); err != nil {
			return err
		}
		if r.space(); r.peek() != ':' {
			return r.fault("expected a colon after %.40q", e.Key)
		}
		r.at++
		r.space()
		if e.Value, err = r.value(); err != nil {
			return err
		}
		n.Entries = append(n.Entries, e)
		if err := r.comma('}'); err != nil {
			return err
		}
	}
}

func (r *jsonReader) list(n *Node) error {
	for r.at++; ; {
		if r.space(); r.peek() == ']' {
			r.at++
			return nil
		}
		v, err := r.value()
		if err != nil {
			return err
		}
		n.Items = append(n.Items, v)
		if err := r.comma(']'); err != nil {
			return err
		}
	}
}

// comma skips the comma between two values; before the end there may be none.
func (r *jsonReader) comma(end byte) error {
	r.space()
	switch r.peek() {
	case ',':
		r.at++
	case end:
	default:
		return r.fault("expected a comma or %q", end)
	}
	return nil
}

func (r *jsonReader) str() (string, error) {
	from := r.at + 1
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '"':
			s := string(bytes.ToValidUTF8(r.text[from:r.at], []byte("\ufffd")))
			r.at++
			return s, nil
		case '\\':
			return r.escaped(from)
		case '\n':
			return "", r.fault("a string does not end on its line")
		}
	}
	return "", r.fault("a string does not end")
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped reads a string from its first escape on.
func (r *jsonReader) escaped(from int) (string, error) {
	out := append([]byte(nil), r.text[from:r.at]...)
	for r.at < len(r.text) {
		switch c := r.text[r.at]; c {
		case '"':
			r.at++
			return string(bytes.ToValidUTF8(out, []byte("\ufffd"))), nil
		case '\n':
			return "", r.fault("a string does not end on its line")
		case '\\':
			char, size := r.escape()
			if size == 0 {
				return "", r.fault("a string has an escape that means nothing")
			}
			out = utf8.AppendRune(out, char)
			r.at += size
		default:
			out = append(out, c)
			r.at++
		}
	}
	return "", r.fault("a string does not end")
}

// escape returns the character of the escape at the place, and how long it is.
func (r *jsonReader) escape() (char rune, size int) {
	if r.at+1 >= len(r.text) {
		return 0, 0
	}
	if char, ok := escapes[r.text[r.at+1]]; ok {
		return char, 2
	}
	high, ok := r.unit(r.at)
	if !ok {
		return 0, 0
	}
	if low, ok := r.unit(r.at + 6); ok && high >= 0xD800 && high < 0xDC00 && low >= 0xDC00 && low < 0xE000 {
		return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
	}
	return high, 6
}

// unit reads \uXXXX.
func (r *jsonReader) unit(at int) (rune, bool) {
	if at+6 > len(r.text) || r.text[at] != '\\' || r.text[at+1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(r.text[at+2:at+6]), 16, 16)
	return rune(v), err == nil
}

func (r *jsonReader) number(n *Node) error {
	from := r.at
	n.Kind = Int
	for ; r.at < len(r.text) && bytes.IndexByte([]byte("+-.eE0123456789"), r.text[r.at]) >= 0; r.at++ {
		if bytes.IndexByte([]byte(".eE"), r.text[r.at]) >= 0 {
			n.Kind = Float
		}
	}
	n.Value = string(r.text[from:r.at])
	if _, err := strconv.ParseFloat(n.Value, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
		return r.fault("%.40q is not a number", n.Value)
	}
	return nil
}

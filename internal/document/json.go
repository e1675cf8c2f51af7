package document

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseJSON reads one JSON value (RFC 8259). As the tools that read such files do, it
// takes a comma before the end of a map or a list and tabs in strings; comments ("//",
// "/*") only if Limits.Comments says so. Its error is an *Error.
func ParseJSON(text []byte, limits Limits) (*Node, error) {
	if err := limits.checkSize(text); err != nil {
		return nil, err
	}
	// A byte order mark is written by editors on Windows; RFC 8259, section 8.1, permits to ignore
	// it.
	r := &jsonReader{text: strings.TrimPrefix(string(text), byteOrderMark), line: 1, limits: limits}
	return r.readDocument()
}

// jsonReader reads JSON with the place of each value, which encoding/json does not
// tell.
type jsonReader struct {
	text    string // strings without escapes share its memory
	limits  Limits
	at      int // offset of the next byte
	line    int
	start   int // offset of the line
	column  int // characters from start up to counted
	counted int // offset: columns are counted on from here, because a line can be the whole file
	// read so far, at most limits.Values
	values int
	// of the present value, at most limits.Depth
	depth int
}

// readDocument reads the one value of the text.
func (r *jsonReader) readDocument() (*Node, error) {
	if err := r.skipSpace(); err != nil {
		return nil, err
	}
	n, err := r.readValue()
	if err != nil {
		return nil, err
	}
	if err := r.skipSpace(); err != nil {
		return nil, err
	}
	if r.at < len(r.text) {
		return nil, r.fault("something follows the end of the document")
	}
	return n, nil
}

// fault is the error of a text that is not JSON, with the line of the next byte.
func (r *jsonReader) fault(format string, args ...any) error {
	return &Error{Line: r.line, Message: "not valid JSON: " + fmt.Sprintf(format, args...)}
}

// position returns the line and the column of the next byte. Columns are counted on from
// the last position, because the whole file can be one line.
func (r *jsonReader) position() (line, column int) {
	if r.counted < r.start {
		r.counted, r.column = r.start, 0
	}
	r.column += utf8.RuneCountInString(r.text[r.counted:r.at])
	r.counted = r.at
	return r.line, r.column + 1
}

// skipSpace skips white space, and comments where they are allowed.
func (r *jsonReader) skipSpace() error {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '\n':
			r.line, r.start = r.line+1, r.at+1
			r.at++
		case c == ' ' || c == '\t' || c == '\r':
			r.at++
		case c == '/' && r.limits.Comments:
			size, err := r.commentSize()
			if err != nil || size == 0 {
				return err
			}
			r.skipBytes(size)
		default:
			return nil
		}
	}
	return nil
}

// commentSize returns the size of the comment at the position; 0: there is none.
func (r *jsonReader) commentSize() (int, error) {
	rest := r.text[r.at:]
	switch {
	case strings.HasPrefix(rest, "//"):
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			return end, nil
		}
		return len(rest), nil
	case strings.HasPrefix(rest, "/*"):
		// From the third byte on: "/*/" begins a comment and does not end it.
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return 0, r.fault("a comment does not end")
		}
		return end + 4, nil
	}
	return 0, nil
}

// skipBytes goes on by a number of bytes and counts their lines.
func (r *jsonReader) skipBytes(size int) {
	for end := r.at + size; r.at < end; r.at++ {
		if r.text[r.at] == '\n' {
			r.line, r.start = r.line+1, r.at+1
		}
	}
}

// peek returns the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// readValue reads a value. Depth and number are bounded before anything is made of it
// (CWE-674, CWE-770).
func (r *jsonReader) readValue() (*Node, error) {
	r.values++
	r.depth++
	defer func() { r.depth-- }()
	switch {
	case r.values > r.limits.Values:
		return nil, tooMany(r.line, r.limits.Values)
	case r.depth > r.limits.Depth:
		return nil, tooDeep(r.line, r.limits.Depth)
	}
	n := &Node{}
	n.Line, n.Column = r.position()
	switch c := r.peek(); {
	case c == '{':
		n.Kind = Map
		return n, r.readObject(n)
	case c == '[':
		n.Kind = List
		return n, r.readList(n)
	case c == '"':
		s, err := r.readString()
		n.Kind, n.Value = String, s
		return n, err
	case c == '-' || c >= '0' && c <= '9':
		return n, r.readNumber(n)
	}
	for _, w := range []struct {
		word string
		kind Kind
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if strings.HasPrefix(r.text[r.at:], w.word) {
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

// readObject reads the fields of an object.
func (r *jsonReader) readObject(n *Node) error {
	for r.at++; ; {
		if err := r.skipSpace(); err != nil {
			return err
		}
		if r.peek() == '}' {
			r.at++
			n.indexKeys()
			return nil
		}
		if r.peek() != '"' {
			return r.fault("expected a field or the end of an object")
		}
		e := Entry{}
		e.Line, e.Column = r.position()
		var err error
		if e.Key, err = r.readString(); err != nil {
			return err
		}
		if err := r.skipSpace(); err != nil {
			return err
		}
		if r.peek() != ':' {
			return r.fault("expected a colon after %.40q", e.Key)
		}
		r.at++
		if err := r.skipSpace(); err != nil {
			return err
		}
		if e.Value, err = r.readValue(); err != nil {
			return err
		}
		// Lock files are read by line: an entry is found by its key.
		if r.limits.AtKeys {
			e.Value.Line, e.Value.Column = e.Line, e.Column
		}
		n.Entries = append(n.Entries, e)
		if err := r.skipComma('}'); err != nil {
			return err
		}
	}
}

// readList reads the items of an array.
func (r *jsonReader) readList(n *Node) error {
	for r.at++; ; {
		if err := r.skipSpace(); err != nil {
			return err
		}
		if r.peek() == ']' {
			r.at++
			return nil
		}
		v, err := r.readValue()
		if err != nil {
			return err
		}
		n.Items = append(n.Items, v)
		if err := r.skipComma(']'); err != nil {
			return err
		}
	}
}

// skipComma skips the comma between two values; before the end there may be none.
func (r *jsonReader) skipComma(end byte) error {
	if err := r.skipSpace(); err != nil {
		return err
	}
	switch r.peek() {
	case ',':
		r.at++
	case end:
	default:
		return r.fault("expected a comma or %q", end)
	}
	return nil
}

// readString reads a string; without escapes it shares the memory of the text.
func (r *jsonReader) readString() (string, error) {
	from := r.at + 1
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '"':
			// Invalid bytes would fail later, in the database or in a report.
			s := strings.ToValidUTF8(r.text[from:r.at], "\ufffd")
			r.at++
			return s, nil
		case '\\':
			return r.readEscaped(from)
		case '\n':
			return "", r.fault("a string does not end on its line")
		}
	}
	return "", r.fault("a string does not end")
}

// escapes are what the letters after a backslash stand for.
var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// readEscaped reads a string from its first escape on.
func (r *jsonReader) readEscaped(from int) (string, error) {
	out := append([]byte(nil), r.text[from:r.at]...)
	for r.at < len(r.text) {
		switch c := r.text[r.at]; c {
		case '"':
			r.at++
			return string(bytes.ToValidUTF8(out, []byte("\ufffd"))), nil
		case '\n':
			return "", r.fault("a string does not end on its line")
		case '\\':
			char, size := r.readEscape()
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

// readEscape returns the character of the escape at the position, and how long it is.
func (r *jsonReader) readEscape() (char rune, size int) {
	if r.at+1 >= len(r.text) {
		return 0, 0
	}
	if char, ok := escapes[r.text[r.at+1]]; ok {
		return char, 2
	}
	high, ok := r.readUnit(r.at)
	if !ok {
		return 0, 0
	}
	// Characters beyond U+FFFF are written as two surrogates (RFC 8259, section 7). A single one
	// becomes U+FFFD when it is encoded.
	if low, ok := r.readUnit(r.at + 6); ok && high >= 0xD800 && high < 0xDC00 && low >= 0xDC00 && low < 0xE000 {
		return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
	}
	return high, 6
}

// readUnit reads \uXXXX.
func (r *jsonReader) readUnit(at int) (rune, bool) {
	if at+6 > len(r.text) || r.text[at] != '\\' || r.text[at+1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(r.text[at+2:at+6], 16, 16)
	return rune(v), err == nil
}

// readNumber reads a number. Its text is kept, because a float64 has not all of its
// digits.
func (r *jsonReader) readNumber(n *Node) error {
	from := r.at
	n.Kind = Int
	for ; r.at < len(r.text) && strings.IndexByte("+-.eE0123456789", r.text[r.at]) >= 0; r.at++ {
		if strings.IndexByte(".eE", r.text[r.at]) >= 0 {
			n.Kind = Float
		}
	}
	n.Value = r.text[from:r.at]
	// Numbers beyond float64 are valid JSON and remain texts.
	if _, err := strconv.ParseFloat(n.Value, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
		return r.fault("%.40q is not a number", n.Value)
	}
	return nil
}

package message

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// This file finds and replaces the leaves of JSON and XML bodies without writing the
// rest of them anew.

// maxValues bounds the values of a query and of a body that are insertion points.
const maxValues = 500

// maxDepth bounds the depth of a body.
const maxDepth = 100

// A leaf is a scalar of a body, with its place in the text.
type leaf struct {
	pointer    string // JSON
	name       string // XML
	value      string // decoded
	kind       string // JSON
	start, end int    // bytes of the encoded value
	member     string // JSON: the name in front of it
	nameStart  int    // JSON: bytes of the encoded name
	nameEnd    int    // 0: there is none
	attribute  bool   // XML
}

// jsonLeaves returns the scalars of a JSON text in their order; of one that is not
// JSON, those before the fault.
func jsonLeaves(text []byte) []leaf {
	w := &jsonWalk{dec: json.NewDecoder(bytes.NewReader(text)), text: text}
	w.dec.UseNumber()
	w.readValue("", 0, leaf{})
	return w.leaves
}

// jsonWalk goes through a document and collects its leaves with their places in the
// text.
type jsonWalk struct {
	dec    *json.Decoder
	text   []byte
	leaves []leaf
}

// readValue reads the next value, which has the name of l, and reports whether the text goes on.
func (w *jsonWalk) readValue(pointer string, depth int, l leaf) bool {
	before := int(w.dec.InputOffset())
	token, err := w.dec.Token()
	if err != nil || depth > maxDepth || len(w.leaves) == maxValues {
		return false
	}
	l.pointer, l.end = pointer, int(w.dec.InputOffset())
	l.start = w.tokenStart(before, l.end)
	switch v := token.(type) {
	case json.Delim:
		return w.readContainer(v, pointer, depth)
	case string:
		l.value, l.kind = v, "string"
	case json.Number:
		l.value, l.kind = v.String(), "number"
	case bool:
		l.value, l.kind = "false", "boolean"
		if v {
			l.value = "true"
		}
	case nil:
		l.value, l.kind = "", "null"
	}
	w.leaves = append(w.leaves, l)
	return true
}

// tokenStart is where a token begins that ends at the offset.
func (w *jsonWalk) tokenStart(before, end int) int {
	return before + bytes.IndexFunc(w.text[before:end], func(c rune) bool {
		return !strings.ContainsRune(" \t\r\n,:", c)
	})
}

// readContainer reads the members of an object or array that was opened.
func (w *jsonWalk) readContainer(open json.Delim, pointer string, depth int) bool {
	for i := 0; w.dec.More(); i++ {
		name, l := itoa(i), leaf{}
		if open == '{' {
			before := int(w.dec.InputOffset())
			key, err := w.dec.Token()
			if err != nil {
				return false
			}
			l.member = key.(string) // a decoder accepts no other key
			name, l.nameEnd = EscapePointer(l.member), int(w.dec.InputOffset())
			l.nameStart = w.tokenStart(before, l.nameEnd)
		}
		if !w.readValue(pointer+"/"+name, depth+1, l) {
			return false
		}
	}
	_, err := w.dec.Token()
	return err == nil
}

// itoa writes a number as it stands in a pointer.
func itoa(i int) string {
	b, _ := json.Marshal(i) // an int has a text
	return string(b)
}

// EscapePointer writes a name as a part of a JSON pointer (RFC 6901).
func EscapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// unescapePointer reads a part of a JSON pointer (RFC 6901).
func unescapePointer(part string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}

// quoteJSON writes a string as JSON, without the escapes that only HTML needs.
func quoteJSON(value string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // a string can be written
	return bytes.TrimRight(b.Bytes(), "\n")
}

// setJSON replaces the leaf at the point, or adds a member where there is none.
func setJSON(text []byte, p Point, value []byte) []byte {
	for _, l := range jsonLeaves(text) {
		if l.pointer == p.Name {
			return spliceText(text, l.start, l.end, value)
		}
	}
	var root any
	if json.Unmarshal(text, &root) != nil {
		return text
	}
	at := root
	parts := strings.Split(strings.TrimPrefix(p.Name, "/"), "/")
	for i, part := range parts {
		object, ok := at.(map[string]any)
		if !ok {
			return text
		}
		name := unescapePointer(part)
		if i == len(parts)-1 {
			object[name] = json.RawMessage(value)
			break
		}
		at = object[name]
	}
	out, err := json.Marshal(root)
	if err != nil {
		return text
	}
	return out
}

// setMember replaces the name of the member at the point.
func setMember(text []byte, p Point, name string) []byte {
	for _, l := range jsonLeaves(text) {
		if l.pointer == p.Name && l.nameEnd > 0 {
			return spliceText(text, l.nameStart, l.nameEnd, quoteJSON(name))
		}
	}
	return text
}

// spliceText puts a value in the place of a part of a text, which stays as it is.
func spliceText(text []byte, start, end int, value []byte) []byte {
	out := make([]byte, 0, len(text)+len(value))
	out = append(out, text[:start]...)
	out = append(out, value...)
	return append(out, text[end:]...)
}

// xmlLeaves returns the texts of elements that hold nothing else, and the values of
// attributes but for declarations of name spaces, in their order.
func xmlLeaves(text []byte) []leaf {
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.Strict = false
	var leaves []leaf
	var names []string
	from, only := 0, false // where the open element's content begins; it holds only text so far
	for len(leaves) < maxValues {
		before := int(dec.InputOffset())
		token, err := dec.RawToken()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return nil
			}
			break
		}
		after := int(dec.InputOffset())
		switch t := token.(type) {
		case xml.StartElement:
			if len(names) == maxDepth {
				return leaves
			}
			names = append(names, qualified(t.Name))
			leaves = append(leaves, attributeValues(text[before:after], before, strings.Join(names, "/"), t.Attr)...)
			from, only = after, !bytes.HasSuffix(text[before:after], []byte("/>"))
		case xml.EndElement:
			if only && len(names) > 0 {
				leaves = append(leaves, leaf{name: strings.Join(names, "/"), value: xmlText(text[from:before]),
					start: from, end: before})
			}
			only = false
			if len(names) > 0 {
				names = names[:len(names)-1]
			}
		}
	}
	return leaves
}

// qualified is the name of an element or attribute as it is written, with its prefix.
func qualified(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

// attributeValues finds the values of attributes in the text of a tag.
func attributeValues(tag []byte, offset int, name string, attrs []xml.Attr) []leaf {
	var out []leaf
	at := 0
	for _, a := range attrs {
		full := qualified(a.Name)
		i := bytes.Index(tag[at:], []byte(full))
		if i < 0 {
			return out
		}
		at += i + len(full)
		quote := bytes.IndexAny(tag[at:], `"'`)
		if quote < 0 {
			return out
		}
		start := at + quote + 1
		length := bytes.IndexByte(tag[start:], tag[at+quote])
		if length < 0 {
			return out
		}
		if at = start + length; full != "xmlns" && a.Name.Space != "xmlns" {
			out = append(out, leaf{name: name + "/@" + full, value: a.Value, start: offset + start, end: offset + at,
				attribute: true})
		}
	}
	return out
}

// xmlText decodes the text of an element.
func xmlText(raw []byte) string {
	var b strings.Builder
	dec := xml.NewDecoder(bytes.NewReader(raw))
	dec.Strict = false
	for {
		token, err := dec.RawToken()
		if err != nil {
			return b.String()
		}
		if data, ok := token.(xml.CharData); ok {
			b.Write(data)
		}
	}
}

// setXML replaces the leaf with the point's number.
func setXML(text []byte, p Point, value string) []byte {
	leaves := xmlLeaves(text)
	if p.Index < 0 || p.Index >= len(leaves) {
		return text
	}
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(value)) // a buffer takes everything
	return spliceText(text, leaves[p.Index].start, leaves[p.Index].end, b.Bytes())
}

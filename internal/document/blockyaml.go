package document

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseBlockYAML reads the part of YAML that package managers write: maps and lists in
// block form, scalars on one line, flow collections, block scalars and folded plain
// scalars. Anchors, tags and several documents are refused. It makes no nodes of the
// library's first, as ParseFirst does, because lock files have ten megabytes and more. Plain
// scalars are strings or null, because versions such as 1.10 are no numbers. Positions
// have no columns; a value in a map is in the line of its key. Its error is an *Error.
func ParseBlockYAML(text []byte, limits Limits) (*Node, error) {
	if err := limits.checkSize(text); err != nil {
		return nil, err
	}
	p := blockReader{rest: strings.ToValidUTF8(string(text), "\ufffd"), limits: limits}
	p.nextContent()
	root := &Node{Kind: Map, Line: 1}
	if p.done {
		return root, nil
	}
	var err error
	// A document in flow form, as JSON is.
	if p.text[0] == '{' || p.text[0] == '[' {
		err = p.readScalar(root, p.text, -1, 0)
	} else {
		err = p.readBlock(root, p.indent, 0)
	}
	if err != nil {
		return nil, err
	}
	if !p.done {
		return nil, p.fault("the indentation does not fit")
	}
	return root, nil
}

// blockReader reads a text line by line.
type blockReader struct {
	// what follows the present line
	rest   string
	limits Limits
	text   string // of the present line, without indentation
	// of the present line, in spaces; tabs are no indentation in YAML
	indent int
	// from 1
	line int
	// read so far, at most limits.Values
	values int
	// no line is left
	done bool
}

// fault is the error of a text that is not YAML, with the present line.
func (p *blockReader) fault(format string, args ...any) error {
	return &Error{Line: p.line, Message: "not valid YAML: " + fmt.Sprintf(format, args...)}
}

// countValue counts a value at a depth and compares both with the limits.
func (p *blockReader) countValue(depth int) error {
	p.values++
	switch {
	case p.values > p.limits.Values:
		return tooMany(p.line, p.limits.Values)
	case depth > p.limits.Depth:
		return tooDeep(p.line, p.limits.Depth)
	}
	return nil
}

// nextLine goes to the next line, whatever is in it.
func (p *blockReader) nextLine() bool {
	if p.rest == "" {
		p.done, p.text = true, ""
		return false
	}
	var text string
	text, p.rest, _ = strings.Cut(p.rest, "\n")
	p.line++
	text = strings.TrimRight(text, " \t\r")
	p.text = strings.TrimLeft(text, " ")
	p.indent = len(text) - len(p.text)
	return true
}

// nextContent goes to the next line that is neither empty nor a comment.
func (p *blockReader) nextContent() {
	for p.nextLine() {
		if p.text != "" && p.text[0] != '#' &&
			// The start of the document and a directive carry no value.
			!(p.indent == 0 && (p.text == "---" || strings.HasPrefix(p.text, "%YAML"))) {
			return
		}
	}
}

// atItem reports whether the line begins an item of a list.
func (p *blockReader) atItem() bool { return p.text == "-" || strings.HasPrefix(p.text, "- ") }

// readBlock reads the lines of one indentation into the node.
func (p *blockReader) readBlock(n *Node, indent, depth int) error {
	if depth > p.limits.Depth {
		return tooDeep(p.line, p.limits.Depth)
	}
	n.Kind = Map
	if p.atItem() {
		n.Kind = List
	}
	for !p.done && p.indent == indent {
		if err := p.countValue(depth); err != nil {
			return err
		}
		item := p.atItem()
		if item != (n.Kind == List) {
			if item {
				return p.fault("a list item where a key was expected")
			}
			break // a list may be as deep as its key: the next key ends it
		}
		var err error
		if item {
			err = p.readItem(n, indent, depth)
		} else {
			err = p.readField(n, indent, depth)
		}
		if err != nil {
			return err
		}
	}
	if !p.done && p.indent > indent {
		return p.fault("the indentation does not fit")
	}
	n.indexKeys()
	return nil
}

// readItem reads "- value", where the value may be the first field of a map.
func (p *blockReader) readItem(list *Node, indent, depth int) error {
	item := &Node{Line: p.line}
	list.Items = append(list.Items, item)
	text := strings.TrimLeft(strings.TrimPrefix(p.text, "-"), " ")
	if text == "" || text[0] == '#' {
		return p.readBelow(item, indent, depth, true)
	}
	// "- name: a" begins a map whose further fields are aligned with "name": the dash counts as
	// indentation.
	if _, _, ok := cutKey(text); ok || strings.HasPrefix(text, "- ") {
		p.indent += len(p.text) - len(text)
		p.text = text
		return p.readBlock(item, p.indent, depth+1)
	}
	return p.readScalar(item, text, indent, depth)
}

// readField reads "key: value".
func (p *blockReader) readField(n *Node, indent, depth int) error {
	value := &Node{Line: p.line}
	if long, ok := strings.CutPrefix(p.text, "? "); ok { // a key of more than 1,024 characters
		n.addEntry(unquoteScalar(long), value)
		return p.readLongField(value, indent, depth)
	}
	key, text, ok := cutKey(p.text)
	if !ok {
		return p.fault("a key with a colon was expected")
	}
	n.addEntry(key, value)
	if text == "" {
		return p.readBelow(value, indent, depth, false)
	}
	return p.readScalar(value, text, indent, depth)
}

// readLongField reads the value of an explicit key ("? key"), which is behind a colon in the
// next line.
func (p *blockReader) readLongField(value *Node, indent, depth int) error {
	p.nextContent()
	text, ok := strings.CutPrefix(p.text, ":")
	if p.done || !ok || p.indent != indent {
		return p.fault("a colon was expected")
	}
	if text = strings.TrimSpace(text); text == "" {
		return p.readBelow(value, indent, depth, false)
	}
	if _, _, ok := cutKey(text); ok {
		p.indent += 2
		p.text = text
		return p.readBlock(value, p.indent, depth+1)
	}
	return p.readScalar(value, text, indent, depth)
}

// readBelow reads what is deeper than a key or a dash that has nothing behind it.
func (p *blockReader) readBelow(n *Node, indent, depth int, ofItem bool) error {
	p.nextContent()
	item := p.atItem()
	// A list may be at the indentation of its key, but not at that of the dash it belongs to.
	if p.done || p.indent < indent || p.indent == indent && (!item || ofItem) {
		return nil // null
	}
	if _, _, ok := cutKey(p.text); !ok && !item && !strings.HasPrefix(p.text, "? ") {
		return p.readScalar(n, p.text, p.indent-1, depth)
	}
	return p.readBlock(n, p.indent, depth+1)
}

// readScalar reads a value that begins on this line, and what belongs to it of the
// deeper lines.
func (p *blockReader) readScalar(n *Node, text string, indent, depth int) error {
	switch text[0] {
	// Without aliases the size of the tree is bounded by the text: no "billion laughs".
	case '&', '*', '!':
		return p.fault("anchors and tags are not supported")
	case '|', '>':
		return p.readBlockScalar(n, indent)
	case '{', '[':
		f := flowReader{s: text, lines: p}
		if err := f.readValue(n, depth+1); err != nil {
			return err
		}
		if rest := strings.TrimSpace(f.s); rest != "" && rest[0] != '#' {
			return p.fault("something follows a closed bracket")
		}
		p.nextContent()
		return nil
	}
	quoted := text[0] == '"' || text[0] == '\''
	parts := []string{text}
	// A scalar continues on deeper lines, and line breaks become spaces (folding).
	for p.nextContent(); !p.done && p.indent > indent; p.nextContent() {
		if !quoted {
			if _, _, ok := cutKey(p.text); ok {
				return p.fault("the indentation does not fit")
			}
		}
		parts = append(parts, p.text)
	}
	n.setPlain(unquoteScalar(strings.Join(parts, " ")), quoted)
	return nil
}

// setPlain makes the node a scalar: null or a string.
func (n *Node) setPlain(text string, quoted bool) {
	n.Kind, n.Value = String, text
	if !quoted && (text == "null" || text == "") {
		n.Kind = Null
	}
}

// readBlockScalar reads a literal or folded scalar. Both keep their lines.
func (p *blockReader) readBlockScalar(n *Node, indent int) error {
	n.Kind, n.Block = String, true
	var lines []string
	for p.nextLine() {
		if p.text != "" && p.indent <= indent {
			break
		}
		lines = append(lines, p.text)
	}
	if p.text == "" || p.text[0] == '#' {
		p.nextContent()
	}
	n.Value = strings.Join(lines, "\n")
	return nil
}

// cutKey cuts "key: value"; the key may be quoted.
func cutKey(text string) (key, value string, ok bool) {
	if text[0] == '"' || text[0] == '\'' {
		end := endOfQuote(text)
		if end < 0 || end+1 >= len(text) || text[end+1] != ':' {
			return "", "", false
		}
		key, value = unquoteScalar(text[:end+1]), text[end+2:]
	} else if i := strings.Index(text, ": "); i > 0 && text[0] != '{' && text[0] != '[' {
		key, value = text[:i], text[i+1:]
	} else if k, found := strings.CutSuffix(text, ":"); found && k != "" && text[0] != '{' && text[0] != '[' {
		key = k
	} else {
		return "", "", false
	}
	value = strings.TrimLeft(value, " \t")
	if strings.HasPrefix(value, "#") {
		value = ""
	}
	return strings.TrimRight(key, " "), value, true
}

// endOfQuote returns where the quote ends that the text begins with, or -1.
func endOfQuote(text string) int {
	q := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		// Only double quotes have escapes; in single ones a quote is written twice.
		case text[i] == '\\' && q == '"':
			i++
		case text[i] == q && q == '\'' && i+1 < len(text) && text[i+1] == q:
			i++
		case text[i] == q:
			return i
		}
	}
	return -1
}

// unquoteScalar returns the value of a scalar without quotes or comment.
func unquoteScalar(text string) string {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		// A "#" without a space before it is part of the value, as in "file.tgz#sha1".
		if i := strings.Index(text, " #"); i >= 0 {
			text = text[:i]
		}
		return strings.TrimSpace(text)
	}
	end := endOfQuote(text)
	if end < 0 {
		return text
	}
	if inner := text[1:end]; text[0] == '\'' {
		return strings.ReplaceAll(inner, "''", "'")
	} else if !strings.Contains(inner, `\`) {
		return inner
	}
	if s, err := strconv.Unquote(text[:end+1]); err == nil {
		return s
	}
	return text[1:end]
}

// flowReader reads a collection in brackets, which may go on over further lines.
type flowReader struct {
	s     string
	lines *blockReader
}

// skipSpace skips to the next character, on further lines too.
func (f *flowReader) skipSpace() {
	for f.s = strings.TrimLeft(f.s, " \t"); f.s == "" || f.s[0] == '#'; f.s = strings.TrimLeft(f.s, " \t") {
		if f.lines.nextLine(); f.lines.done {
			f.s = ""
			return
		}
		f.s = f.lines.text
	}
}

// readValue reads a list, a map or a scalar in brackets.
func (f *flowReader) readValue(n *Node, depth int) error {
	if err := f.lines.countValue(depth); err != nil {
		return err
	}
	f.skipSpace()
	if f.s == "" {
		return f.lines.fault("the document ends too early")
	}
	switch f.s[0] {
	case '{':
		n.Kind = Map
		return f.readCollection(n, '}', depth)
	case '[':
		n.Kind = List
		return f.readCollection(n, ']', depth)
	}
	n.setPlain(f.readWord(",]}"))
	return nil
}

// readWord reads a scalar up to one of the characters, and reports whether it is quoted.
func (f *flowReader) readWord(ends string) (string, bool) {
	if q := f.s[0]; q == '"' || q == '\'' {
		if end := endOfQuote(f.s); end > 0 {
			text := unquoteScalar(f.s[:end+1])
			f.s = f.s[end+1:]
			return text, true
		}
	}
	end := strings.IndexAny(f.s, ends)
	if i := strings.Index(f.s, ": "); strings.Contains(ends, ":") && i >= 0 && (end < 0 || i < end) {
		end = i
	}
	if end < 0 {
		end = len(f.s)
	}
	text := strings.TrimSpace(f.s[:end])
	f.s = f.s[end:]
	return text, false
}

// readCollection reads the fields of a map or the items of a list up to the bracket that
// ends it.
func (f *flowReader) readCollection(n *Node, end byte, depth int) error {
	f.s = f.s[1:]
	for {
		f.skipSpace()
		if f.s == "" {
			return f.lines.fault("a bracket is not closed")
		}
		if f.s[0] == end {
			f.s = f.s[1:]
			n.indexKeys()
			return nil
		}
		value := &Node{Line: f.lines.line}
		key := ""
		if end == '}' {
			key = f.readKey()
			if f.skipSpace(); strings.HasPrefix(f.s, ":") {
				f.s = f.s[1:]
			}
		}
		before := len(f.s)
		f.skipSpace()
		// {a, b: 1}: a key without a value.
		if alone := f.s != "" && (f.s[0] == ',' || f.s[0] == end) && end == '}'; !alone {
			if err := f.readValue(value, depth+1); err != nil {
				return err
			}
		}
		if end == '}' {
			n.addEntry(key, value)
		} else {
			n.Items = append(n.Items, value)
		}
		if f.skipSpace(); strings.HasPrefix(f.s, ",") {
			f.s = f.s[1:]
			// Nothing was consumed: without the error the loop would not end.
		} else if len(f.s) == before && f.s != "" && f.s[0] != end {
			return f.lines.fault("a comma or a closing bracket was expected")
		}
	}
}

// readKey reads a key: a colon ends it when space or a bracket follows.
func (f *flowReader) readKey() string {
	if q := f.s[0]; q == '"' || q == '\'' {
		key, _ := f.readWord(":,}")
		return key
	}
	for i := 0; i < len(f.s); i++ {
		switch c := f.s[i]; {
		// "a:b" is a key with a colon in it, "a: b" a key and a value.
		case c == ',' || c == '}', c == ':' && (i+1 == len(f.s) || f.s[i+1] == ' '):
			text := strings.TrimSpace(f.s[:i])
			f.s = f.s[i:]
			return text
		}
	}
	text := strings.TrimSpace(f.s)
	f.s = ""
	return text
}

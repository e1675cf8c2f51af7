package document

import (
	"fmt"
	"strconv"
	"strings"
)

// YAML reads the part of YAML that package managers write: objects and lists in
// block form, scalars on one line, flow collections on one line, block scalars
// and folded plain scalars. Anchors, tags and several documents are refused.
func YAML(content []byte) (*Node, error) {
	p := yamlParser{rest: strings.ToValidUTF8(string(content), "\ufffd")}
	p.next()
	root := &Node{Kind: Object, Line: 1}
	if p.done {
		return root, nil
	}
	read := func() error { return p.block(root, p.indent, 0) }
	if p.text[0] == '{' || p.text[0] == '[' {
		read = func() error { return p.scalar(root, p.text, -1, 0) }
	}
	if err := read(); err != nil {
		return nil, err
	}
	if !p.done {
		return nil, p.fail("the indentation does not fit")
	}
	return root, nil
}

type yamlParser struct {
	rest   string
	text   string // of the present line, without indentation
	indent int
	line   int
	nodes  int
	done   bool
}

func (p *yamlParser) fail(format string, args ...any) error {
	return &SyntaxError{Line: p.line, Message: fmt.Sprintf(format, args...)}
}

// raw goes to the next line, whatever it holds.
func (p *yamlParser) raw() bool {
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

// next goes to the next line with content.
func (p *yamlParser) next() {
	for p.raw() {
		if p.text != "" && p.text[0] != '#' &&
			!(p.indent == 0 && (p.text == "---" || strings.HasPrefix(p.text, "%YAML"))) {
			return
		}
	}
}

// block reads the lines of one indentation into the node.
func (p *yamlParser) block(n *Node, indent, depth int) error {
	if depth > maxDepth {
		return p.fail("the document is too deep")
	}
	if p.text == "-" || strings.HasPrefix(p.text, "- ") {
		n.Kind = List
	} else {
		n.Kind = Object
	}
	for !p.done && p.indent == indent {
		if p.nodes++; p.nodes > maxNodes {
			return p.fail("the document is too large")
		}
		item := p.text == "-" || strings.HasPrefix(p.text, "- ")
		if item != (n.Kind == List) {
			if item {
				return p.fail("a list stands where a member was expected")
			}
			return nil // a list may stand as deep as its key: the next key ends it
		}
		n.Kids = append(n.Kids, Node{Line: p.line})
		kid := &n.Kids[len(n.Kids)-1]
		var err error
		if item {
			err = p.item(kid, indent, depth)
		} else {
			err = p.member(kid, indent, depth)
		}
		if err != nil {
			return err
		}
	}
	if !p.done && p.indent > indent {
		return p.fail("the indentation does not fit")
	}
	return nil
}

// item reads "- value", where the value may be the first member of an object.
func (p *yamlParser) item(kid *Node, indent, depth int) error {
	text := strings.TrimLeft(strings.TrimPrefix(p.text, "-"), " ")
	if text == "" || text[0] == '#' {
		return p.inner(kid, indent, depth)
	}
	if _, _, ok := cutKey(text); ok || strings.HasPrefix(text, "- ") {
		p.indent += len(p.text) - len(text)
		p.text = text
		return p.block(kid, p.indent, depth+1)
	}
	return p.scalar(kid, text, indent, depth)
}

// member reads "key: value".
func (p *yamlParser) member(kid *Node, indent, depth int) error {
	if long, ok := strings.CutPrefix(p.text, "? "); ok { // a key of more than 1,024 characters
		kid.Key = unquote(long)
		p.next()
		value, ok := strings.CutPrefix(p.text, ":")
		if p.done || !ok || p.indent != indent {
			return p.fail("a colon was expected")
		}
		if value = strings.TrimSpace(value); value == "" {
			return p.inner(kid, indent, depth)
		} else if _, _, ok := cutKey(value); ok {
			p.indent += 2
			p.text = value
			return p.block(kid, p.indent, depth+1)
		}
		return p.scalar(kid, value, indent, depth)
	}
	key, value, ok := cutKey(p.text)
	if !ok {
		return p.fail("a name with a colon was expected")
	}
	kid.Key = key
	if value == "" {
		return p.inner(kid, indent, depth)
	}
	return p.scalar(kid, value, indent, depth)
}

// inner reads what stands deeper than a key or dash that has nothing behind it.
func (p *yamlParser) inner(kid *Node, indent, depth int) error {
	p.next()
	dash := p.text == "-" || strings.HasPrefix(p.text, "- ")
	if p.done || p.indent < indent || p.indent == indent && !dash {
		return nil // null
	}
	if p.indent == indent && kid.Key == "" {
		return nil
	}
	if _, _, ok := cutKey(p.text); !ok && !dash && !strings.HasPrefix(p.text, "? ") {
		return p.scalar(kid, p.text, p.indent-1, depth)
	}
	return p.block(kid, p.indent, depth+1)
}

// scalar reads a value that begins on this line, and what belongs to it of the
// deeper lines.
func (p *yamlParser) scalar(kid *Node, text string, indent, depth int) error {
	switch text[0] {
	case '&', '*', '!':
		return p.fail("anchors and tags are not read")
	case '|', '>':
		return p.literal(kid, indent)
	case '{', '[':
		f := flow{s: text, p: p, kid: kid.Line}
		if err := f.value(kid, depth+1); err != nil {
			return err
		}
		if rest := strings.TrimSpace(f.s); rest != "" && rest[0] != '#' {
			return p.fail("something stands behind a closed bracket")
		}
		p.next()
		return nil
	}
	kid.Quoted = text[0] == '"' || text[0] == '\''
	parts := []string{text}
	for p.next(); !p.done && p.indent > indent; p.next() {
		if !kid.Quoted {
			if _, _, ok := cutKey(p.text); ok {
				return p.fail("the indentation does not fit")
			}
		}
		parts = append(parts, p.text)
	}
	kid.Text = unquote(strings.Join(parts, " "))
	return nil
}

// literal reads a block scalar.
func (p *yamlParser) literal(kid *Node, indent int) error {
	kid.Quoted = true
	var lines []string
	for p.raw() {
		if p.text != "" && p.indent <= indent {
			break
		}
		lines = append(lines, p.text)
	}
	if p.text == "" || p.text[0] == '#' {
		p.next()
	}
	kid.Text = strings.Join(lines, "\n")
	return nil
}

// cutKey cuts "key: value"; the key may be quoted.
func cutKey(text string) (key, value string, ok bool) {
	if text[0] == '"' || text[0] == '\'' {
		end := endOfQuote(text)
		if end < 0 || end+1 >= len(text) || text[end+1] != ':' {
			return "", "", false
		}
		key, value = unquote(text[:end+1]), text[end+2:]
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

// unquote returns the value of a scalar without quotes or comment.
func unquote(text string) string {
	if text == "" || text[0] != '"' && text[0] != '\'' {
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

// flow reads a collection in brackets, which may go on on further lines.
type flow struct {
	s   string
	p   *yamlParser
	kid int
}

// space skips to the next character, on further lines too.
func (f *flow) space() {
	for f.s = strings.TrimLeft(f.s, " \t"); f.s == "" || f.s[0] == '#'; f.s = strings.TrimLeft(f.s, " \t") {
		if f.p.raw(); f.p.done {
			f.s = ""
			return
		}
		f.s = f.p.text
	}
}

func (f *flow) value(n *Node, depth int) error {
	if f.p.nodes++; f.p.nodes > maxNodes || depth > maxDepth {
		return f.p.fail("the document is too large or too deep")
	}
	f.space()
	if f.s == "" {
		return f.p.fail("the document ends too early")
	}
	switch f.s[0] {
	case '{':
		n.Kind = Object
		return f.list(n, '}', depth)
	case '[':
		n.Kind = List
		return f.list(n, ']', depth)
	}
	n.Text, n.Quoted = f.word(",]}")
	return nil
}

// word reads a scalar up to one of the characters.
func (f *flow) word(ends string) (string, bool) {
	if q := f.s[0]; q == '"' || q == '\'' {
		if end := endOfQuote(f.s); end > 0 {
			text := unquote(f.s[:end+1])
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

func (f *flow) list(n *Node, end byte, depth int) error {
	f.s = f.s[1:]
	for {
		f.space()
		if f.s == "" {
			return f.p.fail("a bracket is not closed")
		}
		if f.s[0] == end {
			f.s = f.s[1:]
			return nil
		}
		kid := Node{Line: f.p.line}
		if end == '}' {
			kid.Key, _ = f.flowKey()
			if f.space(); strings.HasPrefix(f.s, ":") {
				f.s = f.s[1:]
			}
		}
		before := len(f.s)
		if f.space(); f.s != "" && (f.s[0] == ',' || f.s[0] == end) && end == '}' {
			// a name without value
		} else if err := f.value(&kid, depth+1); err != nil {
			return err
		}
		n.Kids = append(n.Kids, kid)
		if f.space(); strings.HasPrefix(f.s, ",") {
			f.s = f.s[1:]
		} else if len(f.s) == before && f.s != "" && f.s[0] != end {
			return f.p.fail("a comma or a closing bracket was expected")
		}
	}
}

// flowKey reads a key: a colon ends it when space or a bracket follows.
func (f *flow) flowKey() (string, bool) {
	if q := f.s[0]; q == '"' || q == '\'' {
		return f.word(":,}")
	}
	for i := 0; i < len(f.s); i++ {
		switch c := f.s[i]; {
		case c == ',' || c == '}', c == ':' && (i+1 == len(f.s) || f.s[i+1] == ' '):
			text := strings.TrimSpace(f.s[:i])
			f.s = f.s[i:]
			return text, false
		}
	}
	text := strings.TrimSpace(f.s)
	f.s = ""
	return text, false
}

package document

import (
	"encoding/json"
	"fmt"
	"strings"
)

// JSON reads a JSON text (RFC 8259). Comments and commas before a closing bracket
// are allowed, as bun.lock and many manifests have them.
func JSON(content []byte) (*Node, error) {
	p := jsonParser{s: strings.TrimPrefix(string(content), "\ufeff"), line: 1}
	var n Node
	if err := p.value(&n, 0); err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(p.s) {
		return nil, p.fail("something stands behind the end of the document")
	}
	return &n, nil
}

type jsonParser struct {
	s     string
	at    int
	line  int
	nodes int
}

func (p *jsonParser) fail(format string, args ...any) error {
	return &SyntaxError{Line: p.line, Message: fmt.Sprintf(format, args...)}
}

// space skips white space and comments.
func (p *jsonParser) space() error {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == '\n':
			p.line++
			p.at++
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
		case c == '/' && strings.HasPrefix(p.s[p.at:], "//"):
			end := strings.IndexByte(p.s[p.at:], '\n')
			if end < 0 {
				end = len(p.s) - p.at
			}
			p.at += end
		case c == '/' && strings.HasPrefix(p.s[p.at:], "/*"):
			end := strings.Index(p.s[p.at:], "*/")
			if end < 0 {
				return p.fail("a comment does not end")
			}
			p.line += strings.Count(p.s[p.at:p.at+end], "\n")
			p.at += end + 2
		default:
			return nil
		}
	}
	return nil
}

// peek skips space and returns the next character, or 0 at the end.
func (p *jsonParser) peek() (byte, error) {
	if err := p.space(); err != nil || p.at >= len(p.s) {
		return 0, err
	}
	return p.s[p.at], nil
}

// value reads a value. Its line is that where it begins, unless a key has set it.
func (p *jsonParser) value(n *Node, depth int) error {
	if p.nodes++; p.nodes > maxNodes || depth > maxDepth {
		return p.fail("the document is too large or too deep")
	}
	c, err := p.peek()
	if err != nil {
		return err
	}
	if n.Line == 0 {
		n.Line = p.line
	}
	switch c {
	case '{':
		n.Kind = Object
		return p.list(n, '}', depth)
	case '[':
		n.Kind = List
		return p.list(n, ']', depth)
	case '"':
		n.Quoted = true
		n.Text, err = p.text()
		return err
	}
	start := p.at
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n,]}:/\"[{", p.s[p.at]) < 0 {
		p.at++
	}
	n.Text = p.s[start:p.at]
	if n.Text != "true" && n.Text != "false" && n.Text != "null" && !json.Valid([]byte(n.Text)) {
		return p.fail("%.20q is no value", n.Text)
	}
	return nil
}

// list reads the members of an object or the items of a list.
func (p *jsonParser) list(n *Node, end byte, depth int) error {
	p.at++
	for {
		c, err := p.peek()
		switch {
		case err != nil:
			return err
		case c == end:
			p.at++
			return nil
		case c == 0:
			return p.fail("the document ends too early")
		}
		n.Kids = append(n.Kids, Node{})
		kid := &n.Kids[len(n.Kids)-1]
		if end == '}' {
			if err := p.key(kid, c); err != nil {
				return err
			}
		}
		if err := p.value(kid, depth+1); err != nil {
			return err
		}
		if c, err = p.peek(); err != nil {
			return err
		}
		if c == ',' {
			p.at++
		} else if c != end {
			return p.fail("a comma or %q was expected", string(end))
		}
	}
}

func (p *jsonParser) key(kid *Node, c byte) (err error) {
	if c != '"' {
		return p.fail("a name was expected")
	}
	kid.Line = p.line
	if kid.Key, err = p.text(); err != nil {
		return err
	}
	if c, err = p.peek(); err == nil && c != ':' {
		err = p.fail("a colon was expected")
	}
	p.at++
	return err
}

// text reads a text; without escapes it shares the memory of the document.
func (p *jsonParser) text() (string, error) {
	start := p.at
	plain := true
	for i := p.at + 1; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '\\':
			plain = false
			i++
		case c == '"':
			p.at = i + 1
			if plain {
				return strings.ToValidUTF8(p.s[start+1:i], "\ufffd"), nil
			}
			var out string
			if err := json.Unmarshal([]byte(p.s[start:p.at]), &out); err != nil {
				return "", p.fail("a text cannot be read")
			}
			return out, nil
		case c < ' ' && c != '\t':
			return "", p.fail("a text holds a character that may not stand there")
		}
	}
	return "", p.fail("a text does not end")
}

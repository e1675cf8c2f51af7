// Package proto reads protocol buffer definitions into the form that the query
// library expects:
//
//	{"syntax", "package", "imports": {file: {"kind"}}, "options": [{"name"}],
//	 "messages": {name: {"field", "oneof", "map", "enum", "inner_message"}},
//	 "enum": {name: {"field": {name: {"value"}}}}, "services": {name: {"rpc": {name: {…}}}}}
//
// The language: https://protobuf.dev/reference/protobuf/proto3-spec/.
package proto

import (
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

// Limits of one file.
const (
	MaxSize  = 4 << 20 // bytes
	maxDepth = 50      // messages inside of each other
)

// Decode reads a file. Errors are a *document.Malformed, or errs.TooLarge.
func Decode(name string, text []byte) (*document.Document, error) {
	if len(text) > MaxSize {
		return nil, errs.E(errs.TooLarge, "%d bytes; definitions are read up to %d", len(text), MaxSize)
	}
	p := parser{text: string(text), line: 1}
	root := newBlock(1)
	for _, key := range []string{"messages", "enum", "services", "imports"} {
		root.childBlock(key, 1)
	}
	root.values["syntax"], root.values["package"], root.values["options"] = "", "", []any{}
	err := p.readFile(root)
	if err != nil {
		return nil, err
	}
	return &document.Document{
		Platform: document.GRPC, Format: document.Proto, Path: name, Root: root.values, Lines: root.node, Text: text,
	}, nil
}

// A block is a map with its places.
type block struct {
	values map[string]any
	node   *document.Node
}

// newBlock returns an empty block at a line.
func newBlock(line int) *block {
	return &block{values: map[string]any{}, node: &document.Node{Line: line, Fields: map[string]*document.Node{}}}
}

// childBlock returns the block under the key, which it makes.
func (b *block) childBlock(key string, line int) *block {
	if m, ok := b.values[key].(map[string]any); ok {
		return &block{m, b.node.Fields[key]}
	}
	inner := newBlock(line)
	b.values[key], b.node.Fields[key] = inner.values, inner.node
	return inner
}

// setValue sets a value with its line.
func (b *block) setValue(key string, v any, line int) {
	b.values[key] = v
	b.node.Fields[key] = &document.Node{Line: line}
}

// A parser reads a text word by word.
type parser struct {
	text string
	at   int
	line int
}

// fault is the error of a text that is not a definition, with its line.
func (p *parser) fault(message string) error {
	return &document.Malformed{Line: p.line, Message: message}
}

// readWord returns the next word, sign or string (with a quote before it), "" at the end.
func (p *parser) readWord() (string, error) {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch c := rest[0]; {
		case c == '\n':
			p.line++
			p.at++
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			p.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				return "", p.fault("a comment does not end")
			}
			p.line += strings.Count(rest[:n], "\n")
			p.at += n + 2
		case c == '"' || c == '\'':
			return p.readString(c)
		case strings.IndexByte("{}()[]<>;=,:", c) >= 0:
			p.at++
			return rest[:1], nil
		default:
			n := strings.IndexAny(rest, " \t\r\n{}()[]<>;=,:\"'/")
			if n < 0 {
				n = len(rest)
			}
			// A lone "/" would otherwise not advance.
			n = max(n, 1)
			p.at += n
			return rest[:n], nil
		}
	}
	return "", nil
}

// readString reads a string up to its quote.
func (p *parser) readString(quote byte) (string, error) {
	for i := p.at + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '\n':
			return "", p.fault("a string does not end on its line")
		case quote:
			s := p.text[p.at:i]
			p.at = i + 1
			return s, nil
		}
	}
	return "", p.fault("a string does not end")
}

// readStatement reads words up to ";" or "{", and returns them with the sign that ended
// them. A bracket's content is left out.
func (p *parser) readStatement() (words []string, line int, end string, err error) {
	open := 0
	for {
		w, err := p.readWord()
		if err != nil {
			return nil, 0, "", err
		}
		if line == 0 {
			line = p.line
		}
		switch {
		case w == "" && (len(words) > 0 || open > 0):
			return nil, 0, "", p.fault("a statement does not end")
		// [deprecated = true]: options of a field say nothing that rules ask for.
		case w == "[":
			open++
		case w == "]":
			open--
		case open > 0:
		case w == "" || w == ";" || w == "}":
			return words, line, w, nil
		case w == "{" && (len(words) == 0 || words[len(words)-1] != "="):
			return words, line, w, nil
		case w == "{": // the value of an option
			if err := p.skipBlock(); err != nil {
				return nil, 0, "", err
			}
		default:
			words = append(words, w)
		}
	}
}

// skipBlock skips up to the bracket that closes.
func (p *parser) skipBlock() error {
	for open := 1; open > 0; {
		w, err := p.readWord()
		switch {
		case err != nil:
			return err
		case w == "":
			return p.fault("a block does not end")
		case w == "{":
			open++
		case w == "}":
			open--
		}
	}
	return nil
}

// readFile reads the whole text.
func (p *parser) readFile(root *block) error {
	for {
		words, line, end, err := p.readStatement()
		if err != nil {
			return err
		}
		if end == "" {
			return nil
		}
		if len(words) == 0 {
			if end == "}" {
				return p.fault("a bracket too many")
			}
			continue
		}
		if end == "{" {
			err = p.readDefinition(root, words, line)
		} else {
			root.addStatement(words, line)
		}
		if err != nil {
			return err
		}
	}
}

// addStatement adds a statement of one line: syntax, package, an import or an option.
func (m *block) addStatement(words []string, line int) {
	last := strings.TrimLeft(words[len(words)-1], `"'`)
	switch words[0] {
	case "syntax", "package":
		m.setValue(words[0], last, line)
	case "import":
		kind := ""
		if len(words) > 2 { // public, weak
			kind = words[1]
		}
		m.childBlock("imports", line).childBlock(last, line).values["kind"] = kind
	case "option":
		if len(words) > 1 {
			m.values["options"] = append(m.values["options"].([]any),
				map[string]any{"name": words[1], "value": last})
		}
	}
}

// readDefinition reads the block of a message, an enum or a service, and skips any other.
func (p *parser) readDefinition(root *block, words []string, line int) error {
	if len(words) < 2 {
		return p.skipBlock()
	}
	switch words[0] {
	case "message":
		return p.readMessage(root.childBlock("messages", line).childBlock(words[1], line), 0)
	case "enum":
		return p.readEnum(root.childBlock("enum", line).childBlock(words[1], line))
	case "service":
		return p.readService(root.childBlock("services", line).childBlock(words[1], line))
	}
	return p.skipBlock()
}

// readMessage reads fields and what else is in a message, or in a group of one.
func (p *parser) readMessage(m *block, depth int) error {
	if depth > maxDepth {
		return errs.E(errs.TooLarge, "line %d: more than %d messages inside of each other", p.line, maxDepth)
	}
	for {
		words, line, end, err := p.readStatement()
		if err != nil {
			return err
		}
		switch {
		case end == "}":
			return nil
		case end == "":
			return p.fault("a message does not end")
		case end == "{":
			err = p.readInner(m, words, line, depth)
		default:
			m.addField(words, line)
		}
		if err != nil {
			return err
		}
	}
}

// readInner reads a block inside of a message, and skips one that rules do not ask for.
func (p *parser) readInner(m *block, words []string, line, depth int) error {
	if len(words) < 2 {
		return p.skipBlock()
	}
	switch words[0] {
	case "message":
		return p.readMessage(m.childBlock("inner_message", line).childBlock(words[1], line), depth+1)
	case "oneof":
		return p.readMessage(m.childBlock("oneof", line).childBlock(words[1], line), depth+1)
	case "enum":
		return p.readEnum(m.childBlock("enum", line).childBlock(words[1], line))
	}
	return p.skipBlock()
}

// addField reads "repeated type name = 1", or "map<key, value> name = 1".
func (m *block) addField(words []string, line int) {
	n := len(words)
	// "reserved 1, 2;" and "extensions 100 to 199;" are no fields.
	if n < 4 || words[n-2] != "=" || words[0] == "option" {
		return
	}
	name := words[n-3]
	kind := "field"
	if words[0] == "map" {
		kind = "map"
	}
	f := m.childBlock(kind, line).childBlock(name, line)
	// Base 0: field numbers may be written in hexadecimal or octal.
	if sequence, err := strconv.ParseInt(words[n-1], 0, 64); err == nil {
		f.values["sequence"] = sequence
	}
	rest := words[:n-3]
	switch rest[0] {
	case "repeated", "required", "optional":
		f.values[rest[0]] = true
		rest = rest[1:]
	}
	// Joined without spaces: "map<string,int32>".
	f.setValue("type", strings.Join(rest, ""), line)
}

// readEnum reads "NAME = 1" lines.
func (p *parser) readEnum(e *block) error {
	for {
		words, line, end, err := p.readStatement()
		switch {
		case err != nil:
			return err
		case end == "}":
			return nil
		case end == "":
			return p.fault("an enumeration does not end")
		case end == "{":
			if err := p.skipBlock(); err != nil {
				return err
			}
		case len(words) == 3 && words[1] == "=":
			value, err := strconv.ParseInt(words[2], 0, 64)
			if err != nil {
				return p.fault("the value of " + words[0] + " is no number")
			}
			e.childBlock("field", line).childBlock(words[0], line).values["value"] = value
		}
	}
}

// readService reads "rpc Name (stream Request) returns (Response)".
func (p *parser) readService(s *block) error {
	for {
		words, line, end, err := p.readStatement()
		switch {
		case err != nil:
			return err
		case end == "}":
			return nil
		case end == "":
			return p.fault("a service does not end")
		}
		if len(words) > 1 && words[0] == "rpc" {
			rpc := s.childBlock("rpc", line).childBlock(words[1], line)
			request, answer, _ := strings.Cut(strings.Join(words[2:], " "), "returns")
			for key, part := range map[string]string{"requestType": request, "returnsType": answer} {
				name := strings.TrimSpace(strings.Trim(part, "() "))
				streamed := strings.HasPrefix(name, "stream ")
				rpc.setValue(key, strings.TrimPrefix(name, "stream "), line)
				rpc.values[map[string]string{"requestType": "streamsRequest",
					"returnsType": "streamsReturns"}[key]] = streamed
			}
		}
		if end == "{" {
			if err := p.skipBlock(); err != nil {
				return err
			}
		}
	}
}

package bicep

import (
	"strconv"
	"strings"
)

// This file reads expressions, from the weakest operator to the strongest.

// binary lists the operators by strength, the weakest first.
var binary = [][]string{
	{"??"}, {"||"}, {"&&"}, {"==", "!=", "=~", "!~"}, {"<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"},
}

func (p *parser) node(what int) *expr {
	return &expr{what: what, line: p.tok.line, column: p.tok.column}
}

// expression reads a whole expression.
func (p *parser) expression() (*expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e, err := p.operators(0)
	if err != nil || !p.is("?") {
		return e, err
	}
	out := &expr{what: operation, name: "if", items: []*expr{e}, line: e.line, column: e.column}
	for _, sign := range []string{"?", ":"} {
		if err := p.expect(sign); err != nil {
			return nil, err
		}
		if e, err = p.expression(); err != nil {
			return nil, err
		}
		out.items = append(out.items, e)
	}
	return out, nil
}

// operators reads operands joined by operators of at least the strength.
func (p *parser) operators(strength int) (*expr, error) {
	if strength == len(binary) {
		return p.unary()
	}
	left, err := p.operators(strength + 1)
	for err == nil && p.tok.kind == punct && contains(binary[strength], p.tok.text) &&
		!(p.tok.begins && p.tok.text == "-") {
		op := p.tok.text
		if err = p.advance(); err != nil {
			return nil, err
		}
		var right *expr
		if right, err = p.operators(strength + 1); err != nil {
			return nil, err
		}
		left = &expr{what: operation, name: op, items: []*expr{left, right}, line: left.line, column: left.column}
		if *p.values++; *p.values > maxValues {
			return nil, p.enter()
		}
	}
	return left, err
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

func (p *parser) unary() (*expr, error) {
	if !p.is("!") && !p.is("-") {
		return p.postfix()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e := p.node(operation)
	e.name = p.tok.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	operand, err := p.unary()
	if err != nil {
		return nil, err
	}
	if n, ok := operand.value.(int64); ok && operand.what == literal && e.name == "-" {
		return &expr{what: literal, value: -n, line: e.line, column: e.column}, nil
	}
	e.items = []*expr{operand}
	return e, nil
}

// postfix reads a value with what is asked of it: members, indexes, calls.
func (p *parser) postfix() (*expr, error) {
	e, err := p.primary()
	for err == nil && p.tok.kind == punct {
		op := p.tok.text
		same := !p.tok.begins
		switch {
		case op == "." || op == ".?" || op == "::":
			e, err = p.member(e)
		case same && (op == "[" || op == "[?"):
			e, err = p.index(e)
		case same && op == "!":
			err = p.advance()
		default:
			return e, nil
		}
		if *p.values++; *p.values > maxValues {
			return nil, p.enter()
		}
	}
	return e, err
}

func (p *parser) member(base *expr) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != name {
		return nil, p.unexpected("a name")
	}
	e := &expr{what: member, name: p.tok.text, base: base, line: base.line, column: base.column}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.is("(") && !p.tok.begins {
		e.what = call
		return e, p.list(e, "(", ")")
	}
	return e, nil
}

func (p *parser) index(base *expr) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	inner, err := p.expression()
	if err != nil {
		return nil, err
	}
	return &expr{what: index, base: base, items: []*expr{inner}, line: base.line, column: base.column}, p.expect("]")
}

// list reads expressions between brackets, with commas or new lines between them.
func (p *parser) list(into *expr, open, shut string) error {
	if err := p.expect(open); err != nil {
		return err
	}
	for !p.is(shut) {
		if _, err := p.take("..."); err != nil {
			return err
		}
		e, err := p.expression()
		if err != nil {
			return err
		}
		into.items = append(into.items, e)
		if ok, err := p.take(","); err != nil {
			return err
		} else if !ok && !p.is(shut) && !p.tok.begins {
			return p.unexpected("%q", shut)
		}
	}
	return p.advance()
}

// primary reads a value without operators.
func (p *parser) primary() (*expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	switch {
	case p.tok.kind == name:
		return p.word()
	case p.tok.kind == number:
		e := p.node(literal)
		n, err := strconv.ParseInt(p.tok.text, 10, 64)
		if e.value = n; err != nil {
			e.value = p.tok.text // longer than any number that counts
		}
		return e, p.advance()
	case p.tok.kind == text:
		return p.str()
	case p.is("{"):
		return p.object()
	case p.is("["):
		return p.array()
	case p.is("("):
		return p.parentheses()
	}
	return nil, p.unexpected("a value")
}

// word reads true, false, null, a name, a call or a lambda with one argument.
func (p *parser) word() (*expr, error) {
	e := p.node(ident)
	e.name = p.tok.text
	switch e.name {
	case "true", "false":
		e.what, e.value = literal, e.name == "true"
	case "null":
		e.what = literal
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case p.is("(") && !p.tok.begins:
		e.what = call
		return e, p.list(e, "(", ")")
	case p.is("=>"):
		return p.lambda(e)
	}
	return e, nil
}

func (p *parser) lambda(e *expr) (*expr, error) {
	if err := p.expect("=>"); err != nil {
		return nil, err
	}
	body, err := p.expression()
	out := &expr{what: lambda, items: []*expr{body}, line: e.line, column: e.column}
	for _, arg := range append([]*expr{e}, e.items...) {
		if arg.what == ident {
			out.names = append(out.names, arg.name)
		}
	}
	return out, err
}

// parentheses reads (expression), or the arguments of a lambda.
func (p *parser) parentheses() (*expr, error) {
	e := p.node(array)
	if err := p.list(e, "(", ")"); err != nil {
		return nil, err
	}
	if p.is("=>") {
		return p.lambda(e)
	}
	if len(e.items) != 1 {
		return nil, p.unexpected("one expression between parentheses")
	}
	return e.items[0], nil
}

// str reads a string and the expressions in it.
func (p *parser) str() (*expr, error) {
	e := p.node(literal)
	e.value = p.tok.text
	if p.tok.parts != nil {
		e.what = textParts
		for _, part := range p.tok.parts {
			if part.source == nil {
				e.items = append(e.items, &expr{what: literal, value: part.text, line: e.line, column: e.column})
				continue
			}
			inner, err := newParser(part.source, p.depth, p.values)
			if err != nil {
				return nil, err
			}
			one, err := inner.expression()
			if err != nil {
				return nil, err
			}
			e.items = append(e.items, one)
		}
	}
	return e, p.advance()
}

// array reads a list, or a loop: "[for x in list: body]".
func (p *parser) array() (*expr, error) {
	e := p.node(array)
	from := *p.lex
	tok := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isWord("for") {
		return p.loop(e)
	}
	*p.lex, p.tok = from, tok
	return e, p.list(e, "[", "]")
}

func (p *parser) loop(e *expr) (*expr, error) {
	e.what = loop
	if err := p.advance(); err != nil { // "for"
		return nil, err
	}
	for !p.isWord("in") {
		if p.tok.kind == end || p.is("]") {
			return nil, p.unexpected("in")
		}
		if p.tok.kind == name {
			e.names = append(e.names, p.tok.text)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	list, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	_, body, err := p.body()
	if err != nil {
		return nil, err
	}
	e.items = []*expr{list, body}
	return e, p.expect("]")
}

// object reads properties, and resources in the body of a resource.
func (p *parser) object() (*expr, error) {
	e := p.node(object)
	if err := p.advance(); err != nil {
		return nil, err
	}
	for !p.is("}") {
		if p.is("@") || p.isWord("resource") && !p.property() {
			d, err := p.declaration()
			if err != nil {
				return nil, err
			}
			if d != nil {
				e.nested = append(e.nested, d)
			}
			continue
		}
		if err := p.field(e); err != nil {
			return nil, err
		}
		if ok, err := p.take(","); err != nil {
			return nil, err
		} else if !ok && !p.is("}") && !p.tok.begins {
			return nil, p.unexpected("a new line")
		}
	}
	return e, p.advance()
}

// property reports whether a colon follows the word: "resource: 1".
func (p *parser) property() bool {
	return strings.HasPrefix(strings.TrimLeft(p.lex.src[p.lex.at:], " \t"), ":")
}

// field reads "key: value", or a spread, whose properties are not known.
func (p *parser) field(e *expr) error {
	if ok, err := p.take("..."); err != nil || ok {
		e.spread = true
		if err == nil {
			_, err = p.expression()
		}
		return err
	}
	f := field{line: p.tok.line, column: p.tok.column}
	var err error
	switch p.tok.kind {
	case name:
		f.key = &expr{what: literal, value: p.tok.text}
		err = p.advance()
	case text:
		f.key, err = p.str()
	default:
		err = p.unexpected("a property")
	}
	if err != nil {
		return err
	}
	if err := p.expect(":"); err != nil {
		return err
	}
	_, f.value, err = p.body()
	e.fields = append(e.fields, f)
	return err
}

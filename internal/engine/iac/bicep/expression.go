package bicep

import (
	"strconv"
	"strings"
)

// This file reads expressions, from the weakest operator to the strongest.

// binaryOperators lists the operators by strength, the weakest first.
var binaryOperators = [][]string{
	{"??"}, {"||"}, {"&&"}, {"==", "!=", "=~", "!~"}, {"<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"},
}

// newNode returns an expression at the position of the token.
func (p *parser) newNode(what int) *expr {
	return &expr{what: what, line: p.tok.line, column: p.tok.column}
}

// parseExpression reads a whole expression. The conditional operator is weaker than all
// others.
func (p *parser) parseExpression() (*expr, error) {
	if err := p.enterExpression(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e, err := p.parseOperators(0)
	if err != nil || !p.is("?") {
		return e, err
	}
	out := &expr{what: operation, name: "if", items: []*expr{e}, line: e.line, column: e.column}
	// Both branches are whole expressions: "a ? b : c ? d : e" groups from the right.
	for _, sign := range []string{"?", ":"} {
		if err := p.expect(sign); err != nil {
			return nil, err
		}
		if e, err = p.parseExpression(); err != nil {
			return nil, err
		}
		out.items = append(out.items, e)
	}
	return out, nil
}

// parseOperators reads operands joined by operators of at least the strength.
func (p *parser) parseOperators(strength int) (*expr, error) {
	if strength == len(binaryOperators) {
		return p.parseUnary()
	}
	left, err := p.parseOperators(strength + 1)
	for err == nil && p.tok.kind == punct && contains(binaryOperators[strength], p.tok.text) &&
		// A "-" that begins a line starts the next item of a list; it does not subtract.
		!(p.tok.begins && p.tok.text == "-") {
		op := p.tok.text
		if err = p.advance(); err != nil {
			return nil, err
		}
		var right *expr
		if right, err = p.parseOperators(strength + 1); err != nil {
			return nil, err
		}
		left = &expr{what: operation, name: op, items: []*expr{left, right}, line: left.line, column: left.column}
		// The count is that of the whole file and of the strings in it: a chain of operators does
		// not nest, so the depth alone would not bound it.
		if *p.values++; *p.values > maxValues {
			return nil, p.enterExpression()
		}
	}
	return left, err
}

// contains reports whether a list has the text.
func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

// parseUnary reads "!" and "-" before a value.
func (p *parser) parseUnary() (*expr, error) {
	if !p.is("!") && !p.is("-") {
		return p.parsePostfix()
	}
	if err := p.enterExpression(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e := p.newNode(operation)
	e.name = p.tok.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	operand, err := p.parseUnary()
	if err != nil {
		return nil, err
	}
	// "-1" becomes one literal, so that rules can compare it with a number.
	if n, ok := operand.value.(int64); ok && operand.what == literal && e.name == "-" {
		return &expr{what: literal, value: -n, line: e.line, column: e.column}, nil
	}
	e.items = []*expr{operand}
	return e, nil
}

// parsePostfix reads a value with what is read of it: members, indexes, calls.
func (p *parser) parsePostfix() (*expr, error) {
	e, err := p.parsePrimary()
	for err == nil && p.tok.kind == punct {
		op := p.tok.text
		// A bracket at the beginning of a line starts the next item: only ".name" may continue.
		same := !p.tok.begins
		switch {
		case op == "." || op == ".?" || op == "::":
			e, err = p.parseMember(e)
		case same && (op == "[" || op == "[?"):
			e, err = p.parseIndex(e)
		// The null-forgiving operator changes the type, not the value.
		case same && op == "!":
			err = p.advance()
		default:
			return e, nil
		}
		if *p.values++; *p.values > maxValues {
			return nil, p.enterExpression()
		}
	}
	return e, err
}

// parseMember reads ".name", and a call of it.
func (p *parser) parseMember(base *expr) (*expr, error) {
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
		return e, p.parseList(e, "(", ")")
	}
	return e, nil
}

// parseIndex reads "[expression]".
func (p *parser) parseIndex(base *expr) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	inner, err := p.parseExpression()
	if err != nil {
		return nil, err
	}
	return &expr{what: index, base: base, items: []*expr{inner}, line: base.line, column: base.column}, p.expect("]")
}

// parseList reads expressions between brackets, with commas or new lines between them.
func (p *parser) parseList(into *expr, open, shut string) error {
	if err := p.expect(open); err != nil {
		return err
	}
	for !p.is(shut) {
		// A spread of a list counts as one item of it.
		if _, err := p.skipIf("..."); err != nil {
			return err
		}
		e, err := p.parseExpression()
		if err != nil {
			return err
		}
		into.items = append(into.items, e)
		if ok, err := p.skipIf(","); err != nil {
			return err
		} else if !ok && !p.is(shut) && !p.tok.begins {
			return p.unexpected("%q", shut)
		}
	}
	return p.advance()
}

// parsePrimary reads a value without operators.
func (p *parser) parsePrimary() (*expr, error) {
	if err := p.enterExpression(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	switch {
	case p.tok.kind == name:
		return p.parseWord()
	case p.tok.kind == number:
		e := p.newNode(literal)
		n, err := strconv.ParseInt(p.tok.text, 10, 64)
		if e.value = n; err != nil {
			e.value = p.tok.text // longer than any number that counts
		}
		return e, p.advance()
	case p.tok.kind == text:
		return p.parseString()
	case p.is("{"):
		return p.parseObject()
	case p.is("["):
		return p.parseArray()
	case p.is("("):
		return p.parseParentheses()
	}
	return nil, p.unexpected("a value")
}

// parseWord reads true, false, null, a name, a call or a lambda with one argument.
func (p *parser) parseWord() (*expr, error) {
	e := p.newNode(ident)
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
		return e, p.parseList(e, "(", ")")
	case p.is("=>"):
		return p.parseLambda(e)
	}
	return e, nil
}

// parseLambda reads the body of a lambda.
func (p *parser) parseLambda(e *expr) (*expr, error) {
	if err := p.expect("=>"); err != nil {
		return nil, err
	}
	body, err := p.parseExpression()
	out := &expr{what: lambda, items: []*expr{body}, line: e.line, column: e.column}
	// "x => …" has the name itself, "(x, y) => …" a list of names.
	for _, arg := range append([]*expr{e}, e.items...) {
		if arg.what == ident {
			out.names = append(out.names, arg.name)
		}
	}
	return out, err
}

// parseParentheses reads (expression), or the arguments of a lambda.
func (p *parser) parseParentheses() (*expr, error) {
	e := p.newNode(array)
	if err := p.parseList(e, "(", ")"); err != nil {
		return nil, err
	}
	if p.is("=>") {
		return p.parseLambda(e)
	}
	if len(e.items) != 1 {
		return nil, p.unexpected("one expression between parentheses")
	}
	return e.items[0], nil
}

// parseString reads a string and the expressions in it.
func (p *parser) parseString() (*expr, error) {
	e := p.newNode(literal)
	e.value = p.tok.text
	if p.tok.parts != nil {
		e.what = textParts
		for _, part := range p.tok.parts {
			if part.source == nil {
				e.items = append(e.items, &expr{what: literal, value: part.text, line: e.line, column: e.column})
				continue
			}
			// Depth and count continue in the nested parser: a string in a string in a string would
			// otherwise begin anew at each level.
			inner, err := newParser(part.source, p.depth, p.values)
			if err != nil {
				return nil, err
			}
			one, err := inner.parseExpression()
			if err != nil {
				return nil, err
			}
			e.items = append(e.items, one)
		}
	}
	return e, p.advance()
}

// parseArray reads a list, or a loop: "[for x in list: body]". Only the token after the
// bracket tells which, so the lexer goes back for a list.
func (p *parser) parseArray() (*expr, error) {
	e := p.newNode(array)
	// A copy of the lexer's state is cheap: it refers to the source and does not copy it.
	from := *p.lex
	tok := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isWord("for") {
		return p.parseLoop(e)
	}
	*p.lex, p.tok = from, tok
	return e, p.parseList(e, "[", "]")
}

// parseLoop reads the names, the list and the body of a loop.
func (p *parser) parseLoop(e *expr) (*expr, error) {
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
	list, err := p.parseExpression()
	if err != nil {
		return nil, err
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	_, body, err := p.parseBody()
	if err != nil {
		return nil, err
	}
	e.items = []*expr{list, body}
	return e, p.expect("]")
}

// parseObject reads properties, and resources in the body of a resource.
func (p *parser) parseObject() (*expr, error) {
	e := p.newNode(object)
	if err := p.advance(); err != nil {
		return nil, err
	}
	for !p.is("}") {
		// "resource" may also be the key of a property, then a colon follows.
		if p.is("@") || p.isWord("resource") && !p.atProperty() {
			d, err := p.parseDeclaration()
			if err != nil {
				return nil, err
			}
			if d != nil {
				e.nested = append(e.nested, d)
			}
			continue
		}
		if err := p.parseField(e); err != nil {
			return nil, err
		}
		if ok, err := p.skipIf(","); err != nil {
			return nil, err
		} else if !ok && !p.is("}") && !p.tok.begins {
			return nil, p.unexpected("a new line")
		}
	}
	return e, p.advance()
}

// atProperty reports whether a colon follows the word: "resource: 1".
func (p *parser) atProperty() bool {
	return strings.HasPrefix(strings.TrimLeft(p.lex.src[p.lex.at:], " \t"), ":")
}

// parseField reads "key: value", or a spread, whose properties are not known.
func (p *parser) parseField(e *expr) error {
	if ok, err := p.skipIf("..."); err != nil || ok {
		e.spread = true
		if err == nil {
			_, err = p.parseExpression()
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
		f.key, err = p.parseString()
	default:
		err = p.unexpected("a property")
	}
	if err != nil {
		return err
	}
	if err := p.expect(":"); err != nil {
		return err
	}
	_, f.value, err = p.parseBody()
	e.fields = append(e.fields, f)
	return err
}

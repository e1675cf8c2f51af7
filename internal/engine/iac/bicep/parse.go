package bicep

import (
	"strings"

	"merlon/internal/errs"
)

// This file reads tokens into declarations and expressions.

// Limits of one file.
const (
	maxDepth  = 100     // expressions inside of each other
	maxValues = 200_000 // expressions
)

// A declaration is one statement of a file.
type declaration struct {
	word     string // "param", "var", "resource", "module", …
	name     token
	kind     string // the type of a parameter or resource, as it is written
	existing bool
	// of "if (…)"; nil without
	condition *expr
	// nil for a declaration without a value
	value *expr
	// @secure(), @description('…'), in the order in which they are written
	decorators []*expr
	line       int // of the word
	last       int // line of the last token
}

// What an expression is.
const (
	literal   = iota // text, a number, true, false or null: value
	textParts        // a string with interpolation: items are its parts
	ident            // a name
	call             // name(items), or base.name(items)
	member           // base.name
	index            // base[items[0]]
	operation        // text is the operator, items its operands
	object
	array
	loop   // items[0] is the list, items[1] the body
	lambda // items[0] is the body
)

// An expr is an expression.
type expr struct {
	what int
	name string
	// of a literal: string, int64, bool or nil
	value any
	// of a member, index or method call; otherwise nil
	base   *expr
	items  []*expr
	fields []field
	nested []*declaration // resources in an object
	names  []string       // of the turns of a loop or lambda: the item, its number
	spread bool           // an object takes the fields of another
	line   int
	column int
}

// A field is a property of an object.
type field struct {
	key    *expr // an identifier, or text
	value  *expr
	line   int
	column int
}

// A parser reads one text, or one expression of a string.
type parser struct {
	lex *lexer
	// the next token, not consumed yet
	tok token
	// the last one that was consumed
	prev  token
	depth int
	// shared with the parsers of strings, see newParser
	values *int
}

// newParser returns a parser at the first token. The count of values is shared with the
// parsers of strings.
func newParser(l *lexer, depth int, values *int) (*parser, error) {
	p := &parser{lex: l, depth: depth, values: values}
	return p, p.advance()
}

// advance goes to the next token.
func (p *parser) advance() error {
	p.prev = p.tok
	t, err := p.lex.nextToken()
	p.tok = t
	return err
}

// is reports whether the next token is the sign.
func (p *parser) is(text string) bool { return p.tok.kind == punct && p.tok.text == text }

// isWord reports whether the next token is the word.
func (p *parser) isWord(word string) bool {
	return p.tok.kind == name && p.tok.text == word
}

// skipIf skips the punctuation if it is next.
func (p *parser) skipIf(text string) (bool, error) {
	if !p.is(text) {
		return false, nil
	}
	return true, p.advance()
}

// expect skips the punctuation, which must be next.
func (p *parser) expect(text string) error {
	ok, err := p.skipIf(text)
	if err == nil && !ok {
		err = p.unexpected("%q", text)
	}
	return err
}

// unexpected is the error of a token that cannot be here.
func (p *parser) unexpected(format string, args ...any) error {
	p.lex.line = max(p.tok.line, 1)
	what := p.tok.text
	if p.tok.kind == end {
		what = "the end of the text"
	}
	args = append(args, what)
	return p.lex.fault("expected "+format+", found %.40q", args...)
}

// enterExpression counts an expression and a level. The parser calls itself for each level
// (CWE-674).
func (p *parser) enterExpression() error {
	p.depth++
	if *p.values++; *p.values > maxValues || p.depth > maxDepth {
		return errs.E(errs.TooLarge, "line %d: more than %d expressions, or %d inside of each other", p.tok.line,
			maxValues, maxDepth)
	}
	return nil
}

// parseDeclarations reads a whole text. A statement that cannot be read ends the reading:
// what follows a mistake cannot be relied on.
func (p *parser) parseDeclarations() ([]*declaration, error) {
	var out []*declaration
	for p.tok.kind != end {
		d, err := p.parseDeclaration()
		if err != nil {
			return out, err
		}
		if d != nil {
			out = append(out, d)
		}
	}
	return out, nil
}

// parseDeclaration reads one statement with its decorators; nil for one without meaning
// for the document.
func (p *parser) parseDeclaration() (*declaration, error) {
	var decorators []*expr
	for p.is("@") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.parsePostfix()
		if err != nil {
			return nil, err
		}
		decorators = append(decorators, e)
	}
	if p.tok.kind != name {
		return nil, p.unexpected("a statement")
	}
	d := &declaration{word: p.tok.text, line: p.tok.line, decorators: decorators}
	var err error
	switch d.word {
	case "param", "var", "output", "metadata", "assert":
		err = p.parseNamed(d)
	case "resource", "module":
		err = p.parseResource(d)
	case "using":
		if err = p.advance(); err == nil && p.tok.kind == text {
			d.kind = p.tok.text
			err = p.skipStatement()
		}
	case "targetScope":
		if err = p.advance(); err == nil {
			err = p.parseInitial(d)
		}
	default: // type, func, import, extension, provider: nothing is made of them
		return nil, p.skipStatement()
	}
	d.last = p.prev.line
	return d, err
}

// skipStatement skips the rest of a statement: up to a line that begins outside of
// brackets.
func (p *parser) skipStatement() error {
	open := 0
	// "type mode = 'a' | 'b'" may continue on lines that begin with "|".
	for first := true; p.tok.kind != end; first = false {
		if p.tok.begins && open <= 0 && !first && !p.is("|") {
			return nil
		}
		if p.tok.kind == punct {
			switch p.tok.text {
			case "{", "[", "(", "[?":
				open++
			case "}", "]", ")":
				open--
			}
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

// parseNamed reads "param name type = value" and its like.
func (p *parser) parseNamed(d *declaration) error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != name {
		return p.unexpected("a name")
	}
	d.name = p.tok
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.parseType(d); err != nil {
		return err
	}
	return p.parseInitial(d)
}

// parseType reads a type, whose words are all that counts.
func (p *parser) parseType(d *declaration) error {
	var b strings.Builder
	for open := 0; p.tok.kind != end && (open > 0 || !p.is("=") && (!p.tok.begins || p.is("|"))); {
		if p.tok.kind == punct {
			switch p.tok.text {
			case "{", "[", "(", "[?":
				open++
			case "}", "]", ")":
				open--
			}
		}
		b.WriteString(p.tok.text)
		if err := p.advance(); err != nil {
			return err
		}
	}
	d.kind = b.String()
	return nil
}

// parseInitial reads "= value" if it is there.
func (p *parser) parseInitial(d *declaration) error {
	ok, err := p.skipIf("=")
	if err != nil || !ok {
		return err
	}
	d.value, err = p.parseExpression()
	return err
}

// parseResource reads "resource name 'type' existing = if (condition) value".
func (p *parser) parseResource(d *declaration) error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != name {
		return p.unexpected("a name")
	}
	d.name = p.tok
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != text {
		return p.unexpected("a type in quotes")
	}
	d.kind = p.tok.text
	if err := p.advance(); err != nil {
		return err
	}
	if p.isWord("existing") {
		d.existing = true
		if err := p.advance(); err != nil {
			return err
		}
	}
	if err := p.expect("="); err != nil {
		return err
	}
	var err error
	d.condition, d.value, err = p.parseBody()
	return err
}

// parseBody reads "if (condition) value", or a value.
func (p *parser) parseBody() (condition, value *expr, err error) {
	if p.isWord("if") {
		if err = p.advance(); err != nil {
			return nil, nil, err
		}
		// The parentheses belong to the condition: a whole expression would take the body as well.
		if condition, err = p.parsePrimary(); err != nil {
			return nil, nil, err
		}
	}
	value, err = p.parseExpression()
	return condition, value, err
}

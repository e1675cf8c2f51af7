package message

import (
	"encoding/json"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file finds the arguments that a text of GraphQL holds as they are, in the place of
// variables.

// executable begins a text of GraphQL that is executed.
var executable = lazyregexp.New(`^(?:\{|(?:query|mutation|subscription|fragment)\b)`)

// A literal is a text or a number among the arguments of a field.
type literal struct {
	name       string // "/user/id": the field, or the directive, and the argument
	value      string // decoded
	kind       string // "string" or "number"
	start, end int    // bytes of the text
}

// A lexer reads a text of GraphQL as far as it takes to know arguments.
type lexer struct {
	text   string
	at     int
	open   []byte   // brackets, the innermost last
	fields []string // whose arguments are read, the innermost last
	word   string   // the last name
	key    string   // the last name before a colon, within arguments
	out    []literal
}

// graphQLLiterals returns the texts and numbers among the arguments of a text of GraphQL; none for
// another text. Enumerations, booleans and variables take no other value.
func graphQLLiterals(text string) []literal {
	if !executable.MatchString(strings.TrimSpace(text)) || !strings.ContainsRune(text, '(') {
		return nil
	}
	l := &lexer{text: text}
	for l.at < len(text) {
		if !l.nextToken() {
			return nil
		}
	}
	if len(l.open) > 0 {
		return nil
	}
	return l.out
}

// nextToken reads a token, and reports whether the text can be one of GraphQL.
func (l *lexer) nextToken() bool {
	switch c := l.text[l.at]; {
	case c == '#':
		l.skipWhile(func(c byte) bool { return c != '\n' && c != '\r' })
	case c == '"':
		return l.readQuoted()
	case c == '_' || isLetter(c):
		from := l.at
		l.skipWhile(func(c byte) bool { return c == '_' || isLetter(c) || isDigit(c) })
		l.word = l.text[from:l.at]
	case c == '-' || isDigit(c):
		from := l.at
		l.at++
		l.skipWhile(func(c byte) bool { return isDigit(c) || strings.IndexByte(".eE+-", c) >= 0 })
		l.addLiteral(l.text[from:l.at], "number", from)
	case strings.IndexByte("([{", c) >= 0:
		if len(l.open) == maxDepth {
			return false
		}
		if c == '(' {
			l.fields = append(l.fields, l.word)
		}
		l.open = append(l.open, c)
		l.at++
	case strings.IndexByte(")]}", c) >= 0:
		return l.closeBracket(c)
	default:
		if c == ':' {
			l.key = l.word
		}
		l.at++
	}
	return true
}

// closeBracket ends what a bracket has opened.
func (l *lexer) closeBracket(c byte) bool {
	n := len(l.open)
	if n == 0 || strings.IndexByte("([{", l.open[n-1]) != strings.IndexByte(")]}", c) {
		return false
	}
	if c == ')' {
		l.fields = l.fields[:len(l.fields)-1]
	}
	l.open = l.open[:n-1]
	l.at++
	return true
}

// readQuoted reads a text: of one line with escapes, or, within three quotes, as it stands.
func (l *lexer) readQuoted() bool {
	from, rest := l.at, l.text[l.at:]
	if inside, block := strings.CutPrefix(rest, `"""`); block {
		end := strings.Index(inside, `"""`)
		if end < 0 {
			return false
		}
		l.at += len(`""""""`) + end
		l.addLiteral(inside[:end], "string", from)
		return true
	}
	for l.at++; l.at < len(l.text) && l.text[l.at] != '"'; l.at++ {
		switch l.text[l.at] {
		case '\n', '\r':
			return false
		case '\\':
			l.at++
		}
	}
	if l.at >= len(l.text) {
		return false
	}
	l.at++
	var value string
	if json.Unmarshal([]byte(l.text[from:l.at]),
		&value) == nil { // the escapes are those of JSON but for one of Unicode
		l.addLiteral(value, "string", from)
	}
	return true
}

// addLiteral keeps a literal that ends here, if it is one of arguments.
func (l *lexer) addLiteral(value, kind string, from int) {
	if n := len(l.fields); n > 0 && len(l.out) < maxValues {
		l.out = append(l.out, literal{"/" + EscapePointer(l.fields[n-1]) + "/" + EscapePointer(l.key), value, kind,
			from, l.at})
	}
}

// skipWhile goes on as long as bytes are of a kind.
func (l *lexer) skipWhile(of func(byte) bool) {
	for l.at < len(l.text) && of(l.text[l.at]) {
		l.at++
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

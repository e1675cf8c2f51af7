package bicep

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/iac/document"
)

// This file splits a text into tokens. See https://github.com/Azure/bicep/blob/main/docs/grammar.md.

// A kind is what a token is.
type kind int

const (
	end kind = iota
	name
	number
	text  // a whole string; parts holds its pieces
	punct // an operator or bracket
)

// A token is one word of the text.
type token struct {
	kind   kind
	text   string // of a string: its content without interpolation
	parts  []part // of a string with interpolation
	line   int
	column int
	begins bool // it is the first on its line
}

// A part of a string is text, or the source of an expression.
type part struct {
	text   string
	source *lexer // nil for text
}

// A lexer reads tokens from a text, or from an expression inside of a string.
type lexer struct {
	src    string
	at     int
	line   int
	start  int // offset of the line's begin, or of a later place on it
	column int // of start, from 0
	depth  int // strings inside of each other
	begins bool
}

// fault is the error of a text that is not Bicep, with its line.
func (l *lexer) fault(format string, args ...any) error {
	return &document.Malformed{Line: l.line, Message: fmt.Sprintf(format, args...)}
}

// operators of more than one byte, longest first.
var operators = []string{"...", "==", "!=", "=~", "!~", "<=", ">=", "&&", "||", "??", "=>", "::", ".?", "[?"}

// nextToken returns the next token.
func (l *lexer) nextToken() (token, error) {
	if err := l.skipSpace(); err != nil {
		return token{}, err
	}
	// Counting goes on from the token before, because lines can be long.
	l.column += utf8.RuneCountInString(l.src[l.start:l.at])
	l.start = l.at
	t := token{line: l.line, column: l.column + 1, begins: l.begins}
	l.begins = false
	if l.at >= len(l.src) {
		return t, nil
	}
	c := l.src[l.at]
	switch {
	case isLetter(c):
		t.kind, t.text = name, l.takeWhile(func(c byte) bool { return isLetter(c) || isDigit(c) })
		return t, nil
	case isDigit(c):
		t.kind, t.text = number, l.takeWhile(isDigit)
		return t, nil
	case strings.HasPrefix(l.src[l.at:], "'''"):
		t.kind = text
		var err error
		t.text, err = l.readMultiline()
		return t, err
	case c == '\'':
		t.kind = text
		err := l.readString(&t)
		return t, err
	}
	t.kind = punct
	for _, op := range operators {
		if strings.HasPrefix(l.src[l.at:], op) {
			t.text = op
			l.at += len(op)
			return t, nil
		}
	}
	// Any other character is a token of its own; the parser rejects what it does not expect.
	_, size := utf8.DecodeRuneInString(l.src[l.at:])
	t.text = l.src[l.at : l.at+size]
	l.at += size
	return t, nil
}

// skipSpace skips white space, comments and preprocessor lines.
func (l *lexer) skipSpace() error {
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == '\n':
			l.at++
			l.line, l.start, l.column, l.begins = l.line+1, l.at, 0, true
		case c == ' ' || c == '\t' || c == '\r':
			l.at++
		// "#disable-next-line" and "#restore" are instructions to the linter.
		case strings.HasPrefix(l.src[l.at:], "//"), c == '#':
			for l.at < len(l.src) && l.src[l.at] != '\n' {
				l.at++
			}
		case strings.HasPrefix(l.src[l.at:], "/*"):
			n := strings.Index(l.src[l.at+2:], "*/")
			if n < 0 {
				return l.fault("a comment does not end")
			}
			l.skipBytes(n + 4)
		default:
			return nil
		}
	}
	return nil
}

// skipBytes goes on by n bytes and counts their lines.
func (l *lexer) skipBytes(n int) {
	for stop := l.at + n; l.at < stop; l.at++ {
		if l.src[l.at] == '\n' {
			l.line, l.start, l.column = l.line+1, l.at+1, 0
		}
	}
}

// takeWhile takes the bytes that satisfy the test.
func (l *lexer) takeWhile(ok func(byte) bool) string {
	from := l.at
	for l.at < len(l.src) && ok(l.src[l.at]) {
		l.at++
	}
	return l.src[from:l.at]
}

// readMultiline reads a string between three quotes, which has no escapes.
func (l *lexer) readMultiline() (string, error) {
	n := strings.Index(l.src[l.at+3:], "'''")
	if n < 0 {
		return "", l.fault("a string does not end")
	}
	s := l.src[l.at+3 : l.at+3+n]
	l.skipBytes(n + 6)
	// '''it's ''quoted'''''' ends with the last three quotes of the run.
	for l.at < len(l.src) && l.src[l.at] == '\'' { // the last quotes of the content
		l.at++
	}
	return strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n"), nil
}

// readString reads a string with its interpolations.
func (l *lexer) readString(t *token) error {
	if l.depth++; l.depth > maxDepth {
		return l.fault("more than %d strings inside of each other", maxDepth)
	}
	defer func() { l.depth-- }()
	var b strings.Builder
	for l.at++; l.at < len(l.src); {
		switch c := l.src[l.at]; {
		case c == '\'':
			l.at++
			t.text = b.String()
			// The rest behind the last interpolation, also when it is empty.
			if t.parts != nil {
				t.parts = append(t.parts, part{text: t.text})
			}
			return nil
		case c == '\n':
			return l.fault("a string does not end on its line")
		case c == '\\' && l.at+1 < len(l.src):
			b.WriteString(unescape(l.src[l.at+1]))
			l.at += 2
		case strings.HasPrefix(l.src[l.at:], "${"):
			inner, err := l.readInterpolation()
			if err != nil {
				return err
			}
			t.parts = append(t.parts, part{text: b.String()}, part{source: inner})
			b.Reset()
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	return l.fault("a string does not end")
}

// unescape returns the character of an escape.
func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	}
	return string(rune(c))
}

// readInterpolation skips an expression in a string and returns a lexer for it.
func (l *lexer) readInterpolation() (*lexer, error) {
	l.at += 2
	// The expression is read twice: here to find its end, since it may contain strings with braces,
	// and later by a parser of its own.
	inner := lexer{src: l.src, at: l.at, line: l.line, start: l.start, column: l.column, depth: l.depth}
	for open := 1; ; {
		if err := l.skipSpace(); err != nil {
			return nil, err
		}
		stop := l.at
		t, err := l.nextToken()
		switch {
		case err != nil:
			return nil, err
		case t.kind == end:
			return nil, l.fault("an expression in a string does not end")
		case t.kind == punct && t.text == "{":
			open++
		case t.kind == punct && t.text == "}":
			if open--; open == 0 {
				inner.src = l.src[:stop]
				return &inner, nil
			}
		}
	}
}

// isLetter reports whether a name can begin with the byte.
func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isDigit reports whether the byte is a digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

package jenkins

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file divides Groovy into words, texts and signs, as far as Jenkinsfiles need:
// https://groovy-lang.org/syntax.html, sections 4 (strings) and 2 (comments).

// A tokenKind is the kind of a token.
type tokenKind int

const (
	// An identifier, a keyword or a number.
	word tokenKind = iota
	// A string without interpolation: '…', or "…" without $.
	text
	// A string with interpolation: "…$name…".
	gstring
	// One character of punctuation.
	sign
	// A line end, which ends a statement in Groovy.
	newline
)

// A token is a piece of the file.
type token struct {
	kind tokenKind
	// value is the text of the token; of a string what is between the quotes, as written.
	value string
	line  int
	// column is that of the first character of value, from 1.
	column int
	// parts are the interpolations of a gstring; nil for others.
	parts []interpolation
}

// An interpolation is a part of a gstring that Groovy replaces.
type interpolation struct {
	// expr is the expression: "params.NAME".
	expr string
	// offset is that of the $ in the value, in bytes.
	offset int
	// length is that of the whole part, in bytes, from $ to the closing brace, or to the end of the name.
	length int
}

// A syntaxError says where the file cannot be divided.
type syntaxError struct {
	line    int
	message string
}

// Error says what is wrong and where.
func (f *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", f.line, f.message) }

// maxTokens bounds the tokens of one file.
const maxTokens = 500_000

// A lexer is the state of the division of a file.
type lexer struct {
	src  string
	at   int
	line int
	// The offset up to which runes counts.
	counted int
	// The characters of the current line before counted; columns are characters, not bytes.
	runes  int
	tokens []token
}

// tokenize divides a file. Its error is a *syntaxError.
func tokenize(src string) ([]token, error) {
	l := &lexer{src: src, line: 1}
	if strings.HasPrefix(src, "#!") {
		l.skipLine()
	}
	for l.at < len(l.src) {
		if len(l.tokens) >= maxTokens {
			return nil, &syntaxError{l.line, fmt.Sprintf("has more than %d words and signs", maxTokens)}
		}
		if err := l.readToken(); err != nil {
			return nil, err
		}
	}
	return l.tokens, nil
}

// readToken reads one token, or skips white space and a comment. Longer quotes come
// first.
func (l *lexer) readToken() error {
	rest := l.src[l.at:]
	c := rest[0]
	switch {
	case c == '\n':
		l.addToken(token{kind: newline, line: l.line, column: l.column()}, 1)
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case strings.HasPrefix(rest, "//"):
		l.skipLine()
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return &syntaxError{l.line, "the comment does not end"}
		}
		l.skipBytes(end + 4)
	case strings.HasPrefix(rest, `"""`):
		return l.readText(`"""`, gstring)
	case strings.HasPrefix(rest, "'''"):
		return l.readText("'''", text)
	case c == '"':
		return l.readText(`"`, gstring)
	case c == '\'':
		return l.readText("'", text)
	case strings.HasPrefix(rest, "$/") && strings.Contains(rest, "/$"):
		end := strings.Index(rest, "/$")
		l.addToken(token{kind: gstring, value: rest[2:max(end, 2)], line: l.line, column: l.column() + 2,
			parts: findInterpolations(rest[2:max(end, 2)])}, max(end, 2)+2)
	case c == '/' && l.startsSlashyText():
		l.readSlash()
	default:
		l.readWordOrSign(rest)
	}
	return nil
}

// column counts characters from the start of the line. It goes on where it was asked the
// last time, so that a long line is not counted again for each of its words.
func (l *lexer) column() int {
	l.runes += utf8.RuneCountInString(l.src[l.counted:l.at])
	l.counted = l.at
	return 1 + l.runes
}

// addToken keeps a token of n bytes.
func (l *lexer) addToken(t token, n int) {
	l.tokens = append(l.tokens, t)
	l.skipBytes(n)
}

// skipBytes moves on, counting lines.
func (l *lexer) skipBytes(n int) {
	end := min(l.at+n, len(l.src))
	for ; l.at < end; l.at++ {
		if l.src[l.at] == '\n' {
			l.line, l.counted, l.runes = l.line+1, l.at+1, 0
		}
	}
}

// skipLine moves to the end of the line, which is left to be read.
func (l *lexer) skipLine() {
	for l.at < len(l.src) && l.src[l.at] != '\n' {
		l.at++
	}
}

// readText reads a quoted text. An escaped quote does not end it.
func (l *lexer) readText(quote string, k tokenKind) error {
	from := l.at + len(quote)
	for i := from; i < len(l.src); i++ {
		switch {
		case l.src[i] == '\\':
			i++
		case len(quote) == 1 && l.src[i] == '\n':
			return &syntaxError{l.line, "the text does not end on its line"}
		case k == gstring && strings.HasPrefix(l.src[i:], "${"):
			// Quotes inside of an interpolation do not end the text.
			n := closingBrace(l.src[i+2:])
			if n < 0 {
				return &syntaxError{l.line, "the interpolation does not end"}
			}
			i += 2 + n
		case strings.HasPrefix(l.src[i:], quote):
			t := token{kind: k, value: l.src[from:i], line: l.line, column: l.column() + len(quote)}
			if k == gstring {
				t.parts = findInterpolations(t.value)
			}
			l.addToken(t, i+len(quote)-l.at)
			return nil
		}
	}
	return &syntaxError{l.line, "the text does not end"}
}

// maxInterpolation bounds one interpolation.
const maxInterpolation = 10_000

// closingBrace returns the offset of the brace that ends an interpolation, or -1.
func closingBrace(s string) int {
	depth := 0
	for i := 0; i < len(s) && i < maxInterpolation; i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// findInterpolations returns the ${…} and $name of a text.
func findInterpolations(s string) []interpolation {
	var out []interpolation
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "${"):
			n := closingBrace(s[i+2:])
			if n < 0 {
				return out
			}
			out = append(out, interpolation{expr: strings.TrimSpace(s[i+2 : i+2+n]), offset: i, length: n + 3})
			i += 2 + n
		case s[i] == '$' && i+1 < len(s) && (s[i+1] == '_' || unicode.IsLetter(rune(s[i+1]))):
			n := 1 + pathLength(s[i+1:])
			out = append(out, interpolation{expr: s[i+1 : i+n], offset: i, length: n})
			i += n - 1
		}
	}
	return out
}

// pathLength returns the length of the name with its members that begins s: a dot
// belongs to it only before a letter, since "$name." ends a sentence.
func pathLength(s string) int {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] == '.' && n+1 < len(s) && unicode.IsLetter(rune(s[n+1])) ||
		unicode.IsLetter(rune(s[n])) || unicode.IsDigit(rune(s[n]))) {
		n++
	}
	return n
}

// startsSlashyText reports whether a slash begins a text: after a sign or at the start
// of an argument, not after a value. Groovy's own lexer decides in the same way.
func (l *lexer) startsSlashyText() bool {
	if len(l.tokens) == 0 {
		return false
	}
	t := l.tokens[len(l.tokens)-1]
	return t.kind == sign && strings.ContainsAny(t.value, "(,=:[~!&|?{")
}

// readSlash reads a text between slashes, /…/, or the sign for a division where the
// line has no second slash.
func (l *lexer) readSlash() {
	rest := l.src[l.at+1:]
	for i := 0; i < len(rest) && rest[i] != '\n'; i++ {
		if rest[i] == '\\' {
			i++
			continue
		}
		if rest[i] == '/' {
			l.addToken(token{kind: gstring, value: rest[:i], line: l.line, column: l.column() + 1,
				parts: findInterpolations(rest[:i])}, i+2)
			return
		}
	}
	l.addToken(token{kind: sign, value: "/", line: l.line, column: l.column()}, 1)
}

// readWordOrSign reads a word or a sign.
func (l *lexer) readWordOrSign(rest string) {
	n := 0
	for n < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[n:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		n += size
	}
	if n == 0 {
		_, size := utf8.DecodeRuneInString(rest)
		l.addToken(token{kind: sign, value: rest[:size], line: l.line, column: l.column()}, size)
		return
	}
	l.addToken(token{kind: word, value: rest[:n], line: l.line, column: l.column()}, n)
}

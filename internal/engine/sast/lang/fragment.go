package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Token is a word, literal or sign of a pattern's text.
type Token struct {
	Kind       TokenKind
	Text       string
	Start, End int  // bytes of the text
	First      bool // no other token stands before it on its line
	Pair       int  // index of the bracket that belongs to this one, -1 for none
	Inside     int  // index of the innermost bracket that is open here, -1 for none
}

// A TokenKind tells what a Token is.
type TokenKind uint8

// The kinds of tokens.
const (
	Word         TokenKind = iota // a name, keyword or number
	Meta                          // $X
	MetaMany                      // $...X
	Dots                          // ...
	DeepOpen                      // <...
	DeepClose                     // ...>
	StringToken                   // a string or character
	Sign                          // any other character, or one of "->", "=>", "::", ":="
	OpenBracket                   // ( [ {
	CloseBracket                  // ) ] }
)

// Tokens splits the text of a pattern, for the Prepare of languages with braces and
// strings in quotes. Comments, which begin with the mark or with "/*", are left out.
func Tokens(text, mark string) []Token {
	s := scanner{text: text, mark: mark, first: true}
	for s.at < len(text) {
		s.scanToken()
	}
	return s.tokens
}

// scanner splits the text of a pattern into tokens; it is the state of Tokens.
type scanner struct {
	text, mark string
	at         int
	first      bool
	open       []int
	tokens     []Token
}

// signs are those of more than one character that a Prepare asks for.
var signs = []string{"->", "=>", "::", ":="}

// scanToken reads a token, blanks or a comment.
func (s *scanner) scanToken() {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case c == '\n':
		s.first = true
		s.at++
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case s.mark != "" && strings.HasPrefix(rest, s.mark):
		s.skipComment(rest, "\n", 0)
	case strings.HasPrefix(rest, "/*"):
		s.skipComment(rest, "*/", 2)
	case s.scanDots(rest):
	case c == '"' || c == '\'' || c == '`':
		s.scanQuoted(rest)
	case c == '(' || c == '[' || c == '{':
		s.open = append(s.open, s.addToken(OpenBracket, 1))
	case c == ')' || c == ']' || c == '}':
		s.closeBracket()
	default:
		s.scanWord(rest)
	}
}

// scanDots adds the sign of patterns with three dots that the text begins with; it
// reports false when there is none.
func (s *scanner) scanDots(rest string) bool {
	switch {
	case strings.HasPrefix(rest, "$..."):
		s.addToken(MetaMany, 4+wordLength(rest[4:]))
	case strings.HasPrefix(rest, "<..."):
		s.addToken(DeepOpen, 4)
	case strings.HasPrefix(rest, "...>"):
		s.addToken(DeepClose, 4)
	case strings.HasPrefix(rest, "..."):
		s.addToken(Dots, 3)
	default:
		return false
	}
	return true
}

// skipComment passes over a comment that ends with the mark, which is kept out of it when
// kept is 0.
func (s *scanner) skipComment(rest, end string, kept int) {
	if n := strings.Index(rest[kept:], end); n >= 0 {
		s.at += n + 2*kept
	} else {
		s.at = len(s.text)
	}
}

// addToken adds a token of n bytes and returns its index.
func (s *scanner) addToken(k TokenKind, n int) int {
	inside := -1
	if len(s.open) > 0 {
		inside = s.open[len(s.open)-1]
	}
	s.tokens = append(s.tokens, Token{Kind: k, Text: s.text[s.at : s.at+n], Start: s.at, End: s.at + n, First: s.first,
		Pair: -1, Inside: inside})
	s.at += n
	s.first = false
	return len(s.tokens) - 1
}

// closeBracket adds a closing bracket and makes it a pair with the open one.
func (s *scanner) closeBracket() {
	open := -1
	if n := len(s.open); n > 0 {
		open = s.open[n-1]
		s.open = s.open[:n-1]
	}
	i := s.addToken(CloseBracket, 1)
	s.tokens[i].Pair = open
	if open >= 0 {
		s.tokens[open].Pair = i
	}
}

// scanQuoted adds a string; a quote that nothing closes is a sign.
func (s *scanner) scanQuoted(rest string) {
	if strings.HasPrefix(rest, `"""`) {
		if n := strings.Index(rest[3:], `"""`); n >= 0 {
			s.addToken(StringToken, n+6)
			return
		}
	}
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && rest[0] != '`':
			i++
		case rest[i] == rest[0]:
			s.addToken(StringToken, i+1)
			return
		case rest[i] == '\n' && rest[0] != '`':
			s.addToken(Sign, 1)
			return
		}
	}
	s.addToken(Sign, 1)
}

// scanWord adds a name, a metavariable or a sign.
func (s *scanner) scanWord(rest string) {
	if rest[0] == '$' {
		if n := wordLength(rest[1:]); n > 0 {
			k := Meta
			if signMeta.FindString(rest[:1+n]) != rest[:1+n] {
				k = Word
			}
			s.addToken(k, 1+n)
			return
		}
	}
	if n := wordLength(rest); n > 0 {
		s.addToken(Word, n)
		return
	}
	for _, sign := range signs {
		if strings.HasPrefix(rest, sign) {
			s.addToken(Sign, len(sign))
			return
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	s.addToken(Sign, n)
}

// wordLength returns the length of the name or number at the start of the text.
func wordLength(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

// A Fragment is the text of a pattern while a Prepare rewrites it.
type Fragment struct {
	Tokens []Token
	source string
	edits  []edit
	until  int // tokens before this one are in an edit already
}

// edit replaces bytes of the text.
type edit struct {
	start, end int
	text       string
}

// NewFragment returns the fragment of a text; see Tokens for the mark of comments.
func NewFragment(text, mark string) *Fragment {
	return &Fragment{Tokens: Tokens(text, mark), source: text}
}

// Rewrite calls f for each token that no replacement has taken yet, and returns the
// text with the replacements.
func (f *Fragment) Rewrite(rewrite func(i int)) string {
	for i := range f.Tokens {
		if i >= f.until {
			rewrite(i)
		}
	}
	var b strings.Builder
	at := 0
	for _, e := range f.edits {
		b.WriteString(f.source[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(f.source[at:])
	return strings.TrimSpace(b.String())
}

// Replace replaces the tokens from first to last. Replacements go from left to right.
func (f *Fragment) Replace(first, last int, text string) {
	f.edits = append(f.edits, edit{f.Tokens[first].Start, f.Tokens[last].End, text})
	f.until = last + 1
}

// Text returns the text of a token, "" beyond both ends.
func (f *Fragment) Text(i int) string {
	if i < 0 || i >= len(f.Tokens) {
		return ""
	}
	return f.Tokens[i].Text
}

// Source returns the text of the tokens from first to last as it was written.
func (f *Fragment) Source(first, last int) string {
	return f.source[f.Tokens[first].Start:f.Tokens[last].End]
}

// Name reports whether the token is a name, a keyword or a metavariable.
func (f *Fragment) Name(i int) bool {
	return i >= 0 && i < len(f.Tokens) && (f.Tokens[i].Kind == Word || f.Tokens[i].Kind == Meta)
}

// Many reports whether the token is an ellipsis or "$...X".
func (f *Fragment) Many(i int) bool {
	return i >= 0 && i < len(f.Tokens) && (f.Tokens[i].Kind == Dots || f.Tokens[i].Kind == MetaMany)
}

// Path returns the index of the first token of the dotted name that ends before the
// token; the token itself when there is none.
func (f *Fragment) Path(i int) int {
	for f.Name(i - 1) {
		i--
		if f.Text(i-1) != "." || !f.Name(i-2) {
			break
		}
		i--
	}
	return i
}

// Neighbours reports whether two names stand side by side directly between the
// brackets, as the type and the name of a parameter do.
func (f *Fragment) Neighbours(open int) bool {
	for i := open + 1; i < f.Tokens[open].Pair; i++ {
		if f.Tokens[i].Inside == open && f.Name(i) && f.Name(i+1) {
			return true
		}
	}
	return false
}

// Within reports whether the sign or word stands directly between the brackets.
func (f *Fragment) Within(open int, text string) bool {
	for i := open + 1; i < len(f.Tokens) && i != f.Tokens[open].Pair; i++ {
		if f.Tokens[i].Inside == open && f.Tokens[i].Text == text {
			return true
		}
	}
	return false
}

// Alone reports whether the token is all that stands between two brackets, or
// between two commas or a comma and a bracket.
func (f *Fragment) Alone(i int) bool {
	before, behind := f.Text(i-1), f.Text(i+1)
	return (before == "," || before == f.Text(f.Tokens[i].Inside)) && (behind == "," || behind == ")" ||
		behind == "]" || behind == "}")
}

package generic

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/sast/rule"
)

// The second engine of the mode generic, chosen with the option generic_engine:
// aliengrep (https://semgrep.dev/docs/writing-rules/experiments/aliengrep). White
// space does not count, and an ellipsis keeps braces balanced: it takes a pair of
// braces as a whole, and never the brace that closes the pair it stands in. In line
// mode, which generic_multiline: false chooses, an ellipsis stays on its line, and
// four dots go over line ends.

// alienKind says what an element of such a pattern is.
type alienKind uint8

const (
	alienWord alienKind = iota
	alienChar
	alienNewline  // line mode only
	alienMetavar  // $X: a word
	alienEllipsis // ..., ...., $...X and $....X
)

// An alienItem is one element of a pattern.
type alienItem struct {
	kind alienKind
	text string
	name string // of a metavariable, with its sigil
	long bool   // four dots
	shut byte   // of an ellipsis: the brace that closes the pair that it stands in; 0 for none
}

// An alien is a compiled pattern of the second engine. Characters of words and braces depend on
// the options of the rule, so they are tables.
type alien struct {
	items     []alienItem
	multiline bool
	caseless  bool
	inWord    [256]bool
	closing   [256]byte // of an opening brace
}

// parseAlien reads a pattern. Patterns of this engine have no blocks.
func parseAlien(text string, o rule.Options) (*alien, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes; the limit is %d", len(text), maxPattern)
	}
	a := &alien{multiline: o.GenericMultiline, caseless: o.GenericCaseless}
	if err := a.setCharacters(o); err != nil {
		return nil, err
	}
	for at := 0; at < len(text); {
		it, n := a.nextItem(text[at:])
		if n == 0 { // white space
			at++
			continue
		}
		a.items = append(a.items, it)
		at += n
	}
	for len(a.items) > 0 && a.items[len(a.items)-1].kind == alienNewline {
		a.items = a.items[:len(a.items)-1] // the line end that a block of YAML has
	}
	a.closeEllipses()
	if !slices.ContainsFunc(a.items, func(it alienItem) bool {
		return it.kind != alienEllipsis && it.kind != alienNewline
	}) {
		return nil, errors.New("the pattern has no word")
	}
	return a, nil
}

// setCharacters enters which characters make words and which are braces. None may be both:
// an ellipsis could not tell where a pair ends.
func (a *alien) setCharacters(o rule.Options) error {
	for c := range 256 {
		a.inWord[c] = isWord(byte(c)) || strings.IndexByte(o.GenericExtraWord, byte(c)) >= 0
	}
	braces := o.GenericBraces
	if braces == nil {
		braces = [][2]string{{"(", ")"}, {"[", "]"}, {"{", "}"}}
	}
	for _, pair := range slices.Concat(braces, o.GenericExtraBraces) {
		if a.inWord[pair[0][0]] || a.inWord[pair[1][0]] {
			return fmt.Errorf("%s%s are braces and characters of words", pair[0], pair[1])
		}
		a.closing[pair[0][0]] = pair[1][0]
	}
	return nil
}

// nextItem reads one element at the start of s and returns its length, 0 for white space. In
// multiline mode a line end is white space.
func (a *alien) nextItem(s string) (alienItem, int) {
	c := s[0]
	if strings.HasPrefix(s, "....") {
		return alienItem{kind: alienEllipsis, long: true}, 4
	}
	if strings.HasPrefix(s, "...") {
		return alienItem{kind: alienEllipsis}, 3
	}
	if c == '$' {
		if it, n := alienMetavariable(s); n > 0 {
			return it, n
		}
	}
	n := 1
	switch {
	case c == '\n' && !a.multiline:
		return alienItem{kind: alienNewline}, 1
	case isSpace(c):
		return alienItem{}, 0
	case a.inWord[c]:
		for n < len(s) && a.inWord[s[n]] {
			n++
		}
		return alienItem{kind: alienWord, text: s[:n]}, n
	}
	return alienItem{kind: alienChar, text: s[:1]}, 1
}

// isSpace reports whether the byte is white space of ASCII.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// alienMetavariable reads $X, $...X or $....X. The number of dots decides whether it is an
// ellipsis.
func alienMetavariable(s string) (alienItem, int) {
	dots := len(s[1:]) - len(strings.TrimLeft(s[1:], "."))
	if dots != 0 && dots != 3 && dots != 4 {
		return alienItem{}, 0
	}
	n := 1 + dots
	for n < len(s) && (s[n] >= 'A' && s[n] <= 'Z' || n > 1+dots && (s[n] == '_' || s[n] >= '0' && s[n] <= '9')) {
		n++
	}
	if n == 1+dots {
		return alienItem{}, 0
	}
	if dots == 0 {
		return alienItem{kind: alienMetavar, name: s[:n]}, n
	}
	return alienItem{kind: alienEllipsis, name: "$..." + s[1+dots:n], long: dots == 4}, n
}

// closeEllipses tells the ellipses between a pair of braces which brace ends the pair. An ellipsis
// may not leave the pair of braces that it stands in.
func (a *alien) closeEllipses() {
	var stack []int
	for i, it := range a.items {
		if it.kind != alienChar {
			continue
		}
		if n := len(stack); n > 0 && a.closing[a.items[stack[n-1]].text[0]] == it.text[0] {
			for j := stack[n-1]; j < i; j++ {
				if a.items[j].kind == alienEllipsis && a.items[j].shut == 0 {
					a.items[j].shut = it.text[0]
				}
			}
			stack = stack[:n-1]
		} else if a.closing[it.text[0]] != 0 {
			stack = append(stack, i)
		}
	}
}

// findMatches returns the matches that do not overlap. The search goes on behind each match. The
// steps are bounded by the length of the text, for all matches together: what is found until they
// end is returned with the error. White space begins no match.
func (a *alien) findMatches(text string) ([]Match, error) {
	s := &alienSearch{alien: a, text: text, steps: min(stepsAtMost, stepsEach*(len(text)+1000)), pairs: map[int]int{}}
	var out []Match
	for at := 0; at < len(text); {
		if isSpace(text[at]) {
			at++
			continue
		}
		s.env = s.env[:0]
		end, ok := s.matchFrom(0, at, at)
		if s.steps <= 0 || len(out) >= maxMatches {
			return out, ErrGivenUp
		}
		if !ok {
			at++
			continue
		}
		out = append(out, Match{Start: at, End: end, Bindings: sortBindings(s.env)})
		at = max(end, at+1)
	}
	return out, nil
}

// An alienSearch looks for one pattern in one text.
type alienSearch struct {
	*alien
	text  string
	steps int
	pairs map[int]int // where the pair of braces that begins here ends, -1 for nowhere
	env   []Binding
}

// skipSpace returns the next place that is no white space. Within a line mode line ends are left.
func (s *alienSearch) skipSpace(at int, lines bool) int {
	for at < len(s.text) && isSpace(s.text[at]) && (lines || s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	return at
}

// matchFrom matches the pattern from item i on at a place. last is the end of what matched before.
// It returns the end of the match. It calls itself only for ellipses, so that the depth is that of
// the pattern.
func (s *alienSearch) matchFrom(i, at, last int) (int, bool) {
	for ; i < len(s.items); i++ {
		if s.steps--; s.steps <= 0 {
			return 0, false
		}
		it := &s.items[i]
		if it.kind == alienEllipsis {
			return s.matchEllipsis(i, at, last)
		}
		at = s.skipSpace(at, s.multiline)
		n := s.matchItem(it, at)
		if n < 0 {
			return 0, false
		}
		at += n
		last = at
	}
	return last, true
}

// matchItem returns the length of what one element matches, -1 for nothing. A metavariable that is
// bound must have the same text again.
func (s *alienSearch) matchItem(it *alienItem, at int) int {
	switch it.kind {
	case alienNewline:
		rest := s.text[at:]
		switch {
		case strings.HasPrefix(rest, "\n"):
			return 1
		case strings.HasPrefix(rest, "\r\n"):
			return 2
		}
		return -1
	case alienMetavar:
		n := s.wordLength(at)
		if n == 0 || !s.bindName(it.name, at, at+n) {
			return -1
		}
		return n
	case alienWord:
		if n := s.wordLength(at); n != len(it.text) || !s.equalText(s.text[at:at+n], it.text) {
			return -1
		}
		return len(it.text)
	}
	if at < len(s.text) && s.equalText(s.text[at:at+1], it.text) {
		return 1
	}
	return -1
}

// equalText compares two texts, without regard to case if the rule says so.
func (s *alienSearch) equalText(a, b string) bool {
	return a == b || s.caseless && strings.EqualFold(a, b)
}

// wordLength returns the length of the whole word at a place, 0 for none. A word inside of another
// one does not count.
func (s *alienSearch) wordLength(at int) int {
	if at > 0 && s.inWord[s.text[at-1]] {
		return 0
	}
	n := at
	for n < len(s.text) && s.inWord[s.text[n]] {
		n++
	}
	return n - at
}

// bindName binds a metavariable, or reports whether it has the same text as before. The search
// takes bindings back when it turns round, by cutting the list.
func (s *alienSearch) bindName(name string, start, end int) bool {
	text := s.text[start:end]
	for _, b := range s.env {
		if b.Name == name {
			return b.Text == text
		}
	}
	s.env = append(s.env, Binding{name, text, start, end})
	return true
}

// matchEllipsis takes as little as it can: nothing, then one word, pair of braces or
// character more each time. At an edge of the pattern it reaches to the edge of the
// text, or of the line.
func (s *alienSearch) matchEllipsis(i, at, last int) (int, bool) {
	it := &s.items[i]
	lines := s.multiline || it.long
	if s.isPatternEdge(i-1, lines) && !s.isTextEdge(at, lines, true) {
		return 0, false
	}
	mark := len(s.env)
	start, end := s.skipSpace(at, lines), last
	for next := start; ; {
		from, to := start, end
		if next == start { // nothing yet
			from, to = last, last
		}
		if !s.isPatternEdge(i+1, lines) || s.isTextEdge(to, lines, false) {
			if out, ok := s.endEllipsis(i, from, to); ok {
				return out, true
			}
		}
		s.env = s.env[:mark]
		if s.steps--; s.steps <= 0 {
			return 0, false
		}
		n := s.nodeLength(next, it.shut)
		if n == 0 {
			return 0, false
		}
		end = next + n
		next = s.skipSpace(end, lines)
	}
}

// endEllipsis binds what an ellipsis took and matches the rest of the pattern behind it. A long
// one may also end at the next line.
func (s *alienSearch) endEllipsis(i, from, to int) (int, bool) {
	it := &s.items[i]
	if it.name != "" && !s.bindName(it.name, from, to) {
		return 0, false
	}
	if out, ok := s.matchFrom(i+1, to, to); ok {
		return out, true
	}
	if it.long && !s.multiline && i+1 < len(s.items) { // line ends belong to four dots
		return s.matchFrom(i+1, s.skipSpace(to, true), to)
	}
	return 0, false
}

// isPatternEdge says whether the item is beyond the edge of the pattern, or of its line.
func (s *alienSearch) isPatternEdge(i int, lines bool) bool {
	return i < 0 || i >= len(s.items) || !lines && s.items[i].kind == alienNewline
}

// isTextEdge says whether only white space is before or after a place, in the text or in the line.
// The look counts as steps.
func (s *alienSearch) isTextEdge(at int, lines, before bool) bool {
	var rest string
	if before {
		rest = s.text[:at]
		if i := strings.LastIndexByte(rest, '\n'); i >= 0 && !lines {
			rest = rest[i:]
		}
	} else {
		rest = s.text[at:]
		if i := strings.IndexByte(rest, '\n'); i >= 0 && !lines {
			rest = rest[:i]
		}
	}
	s.steps -= len(rest) / 64
	return strings.TrimSpace(rest) == ""
}

// nodeLength returns the length of the word, pair of braces or character at a place, 0 for
// none: at the end, and at the brace that must stay.
func (s *alienSearch) nodeLength(at int, shut byte) int {
	if at >= len(s.text) || isSpace(s.text[at]) {
		return 0
	}
	c := s.text[at]
	if c == shut && shut != 0 {
		return 0
	}
	if s.inWord[c] {
		return s.wordLength(at)
	}
	if s.closing[c] != 0 {
		if end := s.pairEnd(at); end > 0 {
			return end - at
		}
	}
	return 1
}

// pairEnd returns the end of the pair of braces that begins at a place, -1 if it does not end. A
// brace inside that does not end is a character like others. Results are kept, as each ellipsis
// asks again for the same braces.
func (s *alienSearch) pairEnd(at int) int {
	for {
		if end, known := s.pairs[at]; known {
			return end
		}
		stack := []int{at}
		for i := at + 1; i < len(s.text) && len(stack) > 0; i++ {
			c, top := s.text[i], stack[len(stack)-1]
			end, known := s.pairs[i]
			switch {
			case c == s.closing[s.text[top]]:
				s.pairs[top] = i + 1
				stack = stack[:len(stack)-1]
			case s.closing[c] != 0 && !known:
				stack = append(stack, i)
			case end > 0:
				i = end - 1
			}
			if s.steps--; s.steps <= 0 {
				return -1
			}
		}
		if len(stack) > 0 {
			s.pairs[stack[len(stack)-1]] = -1 // look again without it
		}
	}
}

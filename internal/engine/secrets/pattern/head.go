package pattern

import (
	"regexp"
	"regexp/syntax"
	"unicode"
)

// This file looks at how an expression begins, for those whose first text is so
// common that windows around it would be all of the text, and for those whose
// matches have no longest one.

// maxHead bounds the part of an expression that is tried at each place, in bytes
// of its match.
const maxHead = 256

// A head is the beginning of an expression without what it asks of its
// surroundings: where a match begins, the head matches.
type head struct {
	re    *regexp.Regexp // anchored
	reach int            // bytes of its longest match
}

// headOf returns the head of an expression, or nil when there is nothing to try.
func headOf(re *syntax.Regexp) *head {
	cut, n, _ := cutHead(re, maxHead)
	if cut == nil || n == 0 {
		return nil
	}
	compiled, err := regexp.Compile(`\A(?:` + cut.String() + `)`)
	if err != nil {
		return nil
	}
	return &head{compiled, n}
}

// matchesAt reports whether the head matches at the place.
func (h *head) matchesAt(text string, at int) bool {
	return h.re.MatchString(text[at:min(at+h.reach+spare, len(text))])
}

// emptyExpression returns an expression that matches the empty text.
func emptyExpression() *syntax.Regexp { return &syntax.Regexp{Op: syntax.OpEmptyMatch} }

// cutHead returns the beginning of an expression whose match has at most room
// bytes, how many it can have, and whether it is all of the expression.
func cutHead(re *syntax.Regexp, room int) (*syntax.Regexp, int, bool) {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if n := analyzeLiterals(re).max; n <= room {
			return re, n, true
		}
		return emptyExpression(), 0, false
	case syntax.OpCapture:
		return cutHead(re.Sub[0], room)
	case syntax.OpConcat:
		return cutConcat(re.Sub, room)
	case syntax.OpAlternate:
		out, longest, whole := &syntax.Regexp{Op: syntax.OpAlternate}, 0, true
		for _, sub := range re.Sub {
			cut, n, all := cutHead(sub, room)
			out.Sub, longest, whole = append(out.Sub, cut), max(longest, n), whole && all
		}
		return out, longest, whole
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return cutRepeat(re, room)
	}
	return emptyExpression(), 0, true // what it asks of its surroundings is left out
}

// cutConcat cuts a concatenation behind the part in which the room ends. It reports whether
// everything is left.
func cutConcat(subs []*syntax.Regexp, room int) (*syntax.Regexp, int, bool) {
	out, n := &syntax.Regexp{Op: syntax.OpConcat}, 0
	for _, sub := range subs {
		cut, more, all := cutHead(sub, room-n)
		out.Sub, n = append(out.Sub, cut), n+more
		if !all {
			return out, n, false
		}
	}
	return out, n, true
}

// cutRepeat keeps a repetition that fits, and of one that does not the times that
// it needs at least.
func cutRepeat(re *syntax.Regexp, room int) (*syntax.Regexp, int, bool) {
	times := map[syntax.Op][2]int{syntax.OpStar: {0, -1}, syntax.OpPlus: {1, -1}, syntax.OpQuest: {0, 1},
		syntax.OpRepeat: {re.Min, re.Max}}[re.Op]
	least, most := times[0], times[1]
	sub, n, all := cutHead(re.Sub[0], room)
	if !all {
		if least == 0 {
			return emptyExpression(), 0, false
		}
		return sub, n, false
	}
	if most >= 0 && n*most <= room {
		return &syntax.Regexp{Op: syntax.OpRepeat, Min: least, Max: most, Sub: []*syntax.Regexp{sub}, Flags: re.Flags},
			n * most, true
	}
	if n > 0 {
		least = min(least, room/n)
	}
	if least == 0 {
		return emptyExpression(), 0, false
	}
	return &syntax.Regexp{Op: syntax.OpRepeat, Min: least, Max: least, Sub: []*syntax.Regexp{sub}}, n * least, false
}

// literalPrefixes returns the texts with which every match begins, in lower case, or nil
// when those are not known or too short to be looked for.
func literalPrefixes(re *syntax.Regexp) []string {
	var out []string
	switch re.Op {
	case syntax.OpCapture:
		out = literalPrefixes(re.Sub[0])
	case syntax.OpConcat:
		exact := []string{""}
		for _, sub := range re.Sub {
			product := crossProduct(exact, analyzeLiterals(sub).exact)
			if product == nil {
				if shortestLength(exact) == 0 {
					exact = literalPrefixes(sub)
				}
				break
			}
			exact = product
		}
		out = exact
	default:
		out = analyzeLiterals(re).exact
	}
	if shortestLength(out) < minLength || len(out) > maxNeed {
		return nil
	}
	return out
}

// A matchExtent says how far a match without a bound can go: the bytes of loose may
// come as often as they like, the others at most rest times.
type matchExtent struct {
	loose [256]bool
	rest  int
}

// addLiteral makes the characters of a literal loose, and their other cases where the
// expression ignores the case.
func (s *matchExtent) addLiteral(re *syntax.Regexp) {
	for _, r := range re.Rune {
		s.addRange(r, r)
		if re.Flags&syntax.FoldCase == 0 {
			continue
		}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			s.addRange(f, f)
		}
	}
}

// addExpression reads an expression. It reports whether the bytes of a match are known.
func (s *matchExtent) addExpression(re *syntax.Regexp, times int, loose bool) bool {
	switch re.Op {
	case syntax.OpCapture:
		return s.addExpression(re.Sub[0], times, loose)
	case syntax.OpConcat, syntax.OpAlternate: // an alternative counts as if all came: more than enough
		for _, sub := range re.Sub {
			if !s.addExpression(sub, times, loose) {
				return false
			}
		}
		return true
	case syntax.OpStar, syntax.OpPlus:
		return s.addExpression(re.Sub[0], times, true)
	case syntax.OpQuest:
		return s.addExpression(re.Sub[0], times, loose)
	case syntax.OpRepeat:
		if re.Max < 0 {
			return s.addExpression(re.Sub[0], times, true)
		}
		return s.addExpression(re.Sub[0], times*re.Max, loose)
	case syntax.OpLiteral:
		if loose {
			s.addLiteral(re)
		}
		s.rest += times * 4 * len(re.Rune)
	case syntax.OpCharClass:
		for i := 0; loose && i+1 < len(re.Rune); i += 2 {
			s.addRange(re.Rune[i], re.Rune[i+1])
		}
		s.rest += times * analyzeLiterals(re).max
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if loose {
			newline := s.loose['\n'] || re.Op == syntax.OpAnyChar
			s.addRange(0, unicode.MaxRune)
			s.loose['\n'] = newline
		}
		s.rest += 4 * times
	}
	return s.rest <= maxMatch
}

// addRange notes a range of characters that may come as often as they like. Beyond
// ASCII the bytes are not told apart.
func (s *matchExtent) addRange(lo, hi rune) {
	for r := lo; r <= hi && r < 0x80; r++ {
		s.loose[r] = true
	}
	for b := 0x80; hi >= 0x80 && b < 0x100; b++ {
		s.loose[b] = true
	}
}

// requiredLiterals returns sets of texts of which each match holds one of every set, those
// of two characters too: where one set is not there, there is no match.
func requiredLiterals(re *syntax.Regexp) [][]string {
	switch re.Op {
	case syntax.OpCapture:
		return requiredLiterals(re.Sub[0])
	case syntax.OpConcat:
		var out [][]string
		for _, sub := range re.Sub {
			out = append(out, requiredLiterals(sub)...)
		}
		return out
	}
	f := analyzeLiterals(re)
	set := selectiveSet(f.need, f.exact)
	if set == nil && shortestLength(f.exact) == minLength-1 {
		set = f.exact
	}
	if set == nil {
		return nil
	}
	return [][]string{set}
}

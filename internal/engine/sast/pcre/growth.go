package pcre

import (
	"regexp/syntax"
	"unicode/utf8"
)

// A Growth is how the time grows that a backtracking engine needs, in the worst case,
// to find that a text does not match.
type Growth uint8

// The growths, from the harmless one up.
const (
	Linear      Growth = iota
	Rescans            // quadratic, because a search begins anew at each character
	Polynomial         // quadratic or worse: two repetitions share the text between them
	Exponential        // a repetition can divide the same text in many ways
)

// maxGrowing bounds the expressions that are looked at, which come out of the code
// under analysis.
const maxGrowing = 8000 // bytes

// GrowthOf tells how the time of a backtracking engine grows with the length of the
// text. The expression is made a nondeterministic automaton without empty moves that
// keeps the number of ways between two positions. Time is exponential where one
// position comes back to itself by two ways over the same text, and polynomial where a
// loop and a later one can both take the same text, and so can the way between them
// (Weber and Seidl, "On the degree of ambiguity of finite automata", 1991, give both
// conditions; Weideman et al., "Analyzing Matching Time Behavior of Backtracking
// Regular Expression Matchers", 2016, and Wüstholz et al., "Static Detection of DoS
// Vulnerabilities in Programs that Use Regular Expressions", 2017, apply them). Either
// counts only where the match may fail afterwards: an engine that may stop in the loop
// does.
//
// Look-around is taken for empty, back-references for nothing, and counts above a few
// for a few. What is no regular expression, or too large, is called linear.
func GrowthOf(expr string, flags Flags) Growth {
	re := outlineOf(expr, flags)
	if re == nil {
		return Linear
	}
	a := newAutomaton(re)
	if a == nil {
		return Linear
	}
	return a.findGrowth(flags&Anchored == 0)
}

// Explodes says whether a backtracking engine can need time exponential in the length
// of a text to find that it does not match.
func Explodes(expr string) bool { return GrowthOf(expr, 0) == Exponential }

// outlineOf parses an expression so that neither alternatives nor repetitions melt into
// one; it returns nil for what is no regular expression.
func outlineOf(expr string, flags Flags) *syntax.Regexp {
	if len(expr) > maxGrowing || !utf8.ValidString(expr) {
		return nil
	}
	t := &translator{in: expr, names: []string{""}, outline: true, scope: scope{multiline: flags&Multiline != 0}}
	if t.translate() != nil {
		return nil
	}
	prefix := "(?" + goFlags(flags) + ")("
	if goFlags(flags) == "" {
		prefix = "("
	}
	re, err := syntax.Parse(prefix+string(t.linear)+")", syntax.Perl)
	if err != nil {
		return nil
	}
	return re
}

// A charset is the characters of ASCII that a position can take; the last element
// stands for all others.
type charset [3]uint64

const others = utf8.RuneSelf // the element for what is not ASCII

// overlaps reports whether two sets have a character in common.
func (c charset) overlaps(d charset) bool { return c[0]&d[0]|c[1]&d[1]|c[2]&d[2] != 0 }

// intersect returns the characters that are in both sets.
func (c charset) intersect(d charset) charset { return charset{c[0] & d[0], c[1] & d[1], c[2] & d[2]} }

var (
	nothing    = charset{}
	everything = charset{^uint64(0), ^uint64(0), 1}
)

// addRange adds the characters from lo to hi. All characters beyond ASCII are one element of the
// set: they are told apart by no expression that matters here.
func (c *charset) addRange(lo, hi rune) {
	for r := lo; r <= hi && r < others; r++ {
		c[r/64] |= 1 << (r % 64)
	}
	if hi >= others {
		c[others/64] |= 1 << (others % 64)
	}
}

// literalSet returns the set of one character of a literal. Only the case of ASCII is folded: all
// other characters are one element.
func literalSet(r rune, fold bool) charset {
	var c charset
	c.addRange(r, r)
	if fold && r < others && r|0x20 >= 'a' && r|0x20 <= 'z' {
		c.addRange(r^0x20, r^0x20)
	}
	return c
}

// classSet returns the set of a class.
func classSet(pairs []rune) charset {
	var c charset
	for i := 0; i+1 < len(pairs); i += 2 {
		c.addRange(pairs[i], pairs[i+1])
	}
	return c
}

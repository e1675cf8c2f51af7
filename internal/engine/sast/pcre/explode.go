package pcre

import (
	"regexp/syntax"
	"unicode/utf8"
)

// maxOutline bounds the work of Explodes, which grows with the square of the length:
// its expressions come out of the code under analysis.
const maxOutline = 2000 // bytes

// Explodes says whether a backtracking engine can need time exponential in the
// length of a text to find that it does not match: a repetition stands inside a
// repetition, a text can be divided between the two in many ways, and something
// comes after that may fail (Weideman et al., "Analyzing Matching Time Behavior of
// Backtracking Regular Expression Matchers", 2016). What is no regular expression,
// or a very long one, does not explode.
func Explodes(expr string) bool {
	if len(expr) > maxOutline || !utf8.ValidString(expr) {
		return false
	}
	t := &translator{in: expr, names: []string{""}, outline: true}
	if t.run() != nil {
		return false
	}
	re, err := syntax.Parse(string(t.linear), syntax.Perl)
	return err == nil && explodes(re, false)
}

// explodes looks for the outer repetition. mayFail says that something comes after
// the expression that needs text, or a certain place.
func explodes(re *syntax.Regexp, mayFail bool) bool {
	if re.Op == syntax.OpRepeat && re.Max == 0 {
		return false // look-around
	}
	if loops(re, 4) && mayFail && divides(re.Sub[0]) {
		return true
	}
	for i := len(re.Sub) - 1; i >= 0; i-- {
		if explodes(re.Sub[i], mayFail) {
			return true
		}
		if re.Op == syntax.OpConcat && !nullable(re.Sub[i]) {
			mayFail = true
		}
	}
	return false
}

// loops says whether the expression repeats at least so many times, and not a fixed
// number of them.
func loops(re *syntax.Regexp, times int) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus:
		return true
	case syntax.OpRepeat:
		return re.Max < 0 || re.Max >= times && re.Min < re.Max
	}
	return false
}

// divides says whether the body of a repetition holds another one that can take what
// the next round would take. A neighbour that must be there, and that the inner one
// cannot take, keeps the rounds apart.
func divides(re *syntax.Regexp) bool {
	for _, inner := range innerLoops(re, nil) {
		if inner != nil && !apart(re, inner, chars(inner)) {
			return true
		}
	}
	return false
}

func innerLoops(re *syntax.Regexp, out []*syntax.Regexp) []*syntax.Regexp {
	if loops(re, 2) {
		out = append(out, re)
	}
	for _, sub := range re.Sub {
		out = innerLoops(sub, out)
	}
	return out
}

// apart says whether a concatenation around inner has a member that must match, and
// none of whose characters inner takes.
func apart(re, inner *syntax.Regexp, taken charset) bool {
	at := -1
	for i, sub := range re.Sub {
		if holds(sub, inner) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	if re.Op == syntax.OpConcat {
		for i, sub := range re.Sub {
			if c := chars(sub); i != at && !nullable(sub) && c != (charset{}) && !c.overlaps(taken) {
				return true
			}
		}
	}
	return apart(re.Sub[at], inner, taken)
}

func holds(re, inner *syntax.Regexp) bool {
	if re == inner {
		return true
	}
	for _, sub := range re.Sub {
		if holds(sub, inner) {
			return true
		}
	}
	return false
}

// nullable says whether the expression matches everywhere, if only the empty text.
func nullable(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || nullable(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return nullable(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !nullable(sub) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if nullable(sub) {
				return true
			}
		}
	}
	return false
}

// A charset is the characters of ASCII that an expression can take; the last element
// stands for all others.
type charset [utf8.RuneSelf + 1]bool

func (c charset) overlaps(d charset) bool {
	for i := range c {
		if c[i] && d[i] {
			return true
		}
	}
	return false
}

// add adds the characters from lo to hi.
func (c *charset) add(lo, hi rune) {
	for r := lo; r <= hi && r < utf8.RuneSelf; r++ {
		c[r] = true
	}
	if hi >= utf8.RuneSelf {
		c[utf8.RuneSelf] = true
	}
}

// chars returns the characters that an expression can take.
func chars(re *syntax.Regexp) charset {
	var out charset
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			out.add(r, r)
			if re.Flags&syntax.FoldCase != 0 && r < utf8.RuneSelf && r|0x20 >= 'a' && r|0x20 <= 'z' {
				out.add(r^0x20, r^0x20)
			}
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			out.add(re.Rune[i], re.Rune[i+1])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.add(0, utf8.MaxRune)
	}
	for _, sub := range re.Sub {
		for i, has := range chars(sub) {
			out[i] = out[i] || has
		}
	}
	return out
}

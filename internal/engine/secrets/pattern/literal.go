package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// This file finds out, from the form of an expression, which texts each of its
// matches holds and how long a match can be. The sets of strings are those of
// Russ Cox, "Regular Expression Matching with a Trigram Index" (2012), without
// the trigrams.

// Limits of the sets.
const (
	maxExact  = 64 // strings that an expression can be
	maxNeed   = 48 // strings of which a match holds one
	maxLength = 64 // of one string
	minLength = 3  // of a string that is worth looking for
	// maxMatch is the longest match that is worth a window, in bytes.
	maxMatch = 16 << 10
)

// facts is what is known of the matches of an expression.
type facts struct {
	exact []string // all that it matches, in lower case; nil when that is not known
	need  []string // each match holds one of them, in lower case; nil when not known
	max   int      // bytes of the longest match; -1 without a bound
}

// empty is the facts of what matches the empty text only.
func empty() facts { return facts{exact: []string{""}} }

// study returns the facts of an expression.
func study(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:

		return empty()
	case syntax.OpLiteral:
		return literal(re.Rune)
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return facts{max: 4}
	case syntax.OpCapture:
		return study(re.Sub[0])
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	case syntax.OpStar:
		return repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		return repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		return repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		return repeat(re.Sub[0], re.Min, re.Max)
	}
	return facts{max: -1}
}

func literal(runes []rune) facts {
	text := string(runes)
	if !ascii(text) {
		return facts{max: 4 * len(runes)}
	}
	return facts{exact: []string{strings.ToLower(text)}, max: len(text)}
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}

// Letters beyond ASCII that (?i) takes for k and s. A text that holds one is
// searched as a whole.
const (
	kelvin = '\u212A'
	longS  = '\u017F'
)

// class reads a class of characters, given as ranges.
func class(ranges []rune) facts {
	f := facts{max: 1}
	var set []string
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo == hi && (lo == kelvin || lo == longS) {
			continue
		}
		if hi >= 0x80 {
			f.max = 4
		}
		for r := lo; r <= hi && hi < 0x80 && len(set) <= maxExact; r++ {
			set = append(set, strings.ToLower(string(r)))
		}
	}
	if f.max == 1 && len(set) > 0 && len(set) <= maxExact {
		slices.Sort(set)
		if set = slices.Compact(set); len(set) <= 8 {
			f.exact = set
		}
	}
	return f
}

func concat(subs []*syntax.Regexp) facts {
	var out facts
	exact, whole := []string{""}, true
	for _, sub := range subs {
		f := study(sub)
		out.max = longer(out.max, f.max)
		out.need = better(out.need, f.need)
		if product := cross(exact, f.exact); product != nil {
			exact = product
			continue
		}
		whole = false
		out.need = better(out.need, exact)
		if exact = f.exact; exact == nil {
			exact = []string{""}
		}
	}
	out.need = better(out.need, exact)
	if whole {
		out.exact = exact
	}
	return out
}

// longer adds lengths.
func longer(a, b int) int {
	if a < 0 || b < 0 || a+b > 1<<20 {
		return -1
	}
	return a + b
}

// cross returns every string of a with every one of b behind it, or nil when
// those are not known or too many.
func cross(a, b []string) []string {
	if a == nil || b == nil || len(a)*len(b) > maxExact {
		return nil
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxLength {
				return nil
			}
			out = append(out, x+y)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// better returns the set that fewer places of a text hold: the one whose shortest
// string is longer, then the smaller one.
func better(a, b []string) []string {
	x, y := shortest(a), shortest(b)
	switch {
	case y < minLength || len(b) > maxNeed:
		return a
	case a == nil || y > x || y == x && len(b) < len(a):
		return b
	}
	return a
}

func shortest(set []string) int {
	if len(set) == 0 {
		return -1
	}
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

func alternate(subs []*syntax.Regexp) facts {
	out := facts{exact: []string{}}
	need, known := []string{}, true
	for _, sub := range subs {
		f := study(sub)
		if out.max >= 0 && (f.max < 0 || f.max > out.max) {
			out.max = f.max
		}
		out.exact = union(out.exact, f.exact)
		own := better(f.need, f.exact)
		known = known && own != nil && len(need)+len(own) <= maxNeed
		need = append(need, own...)
	}
	if known {
		slices.Sort(need)
		out.need = slices.Compact(need)
	}
	return out
}

// union returns both sets, or nil when one is not known or both are too many.
func union(a, b []string) []string {
	if a == nil || b == nil || len(a)+len(b) > maxExact {
		return nil
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

func repeat(sub *syntax.Regexp, least, most int) facts {
	f := study(sub)
	out := facts{max: -1}
	switch {
	case f.max == 0:
		out.max = 0
	case most >= 0 && f.max >= 0 && f.max*most <= 1<<20:
		out.max = f.max * most
	}
	if least == 0 {
		if most == 1 && len(f.exact) > 0 && len(f.exact) < 16 {
			out.exact = union(f.exact, []string{""})
		}
		return out
	}
	out.need = better(f.need, f.exact)
	if least == most && most <= 4 {
		out.exact = f.exact
		for n := 1; n < most && out.exact != nil; n++ {
			out.exact = cross(out.exact, f.exact)
		}
	}
	return out
}

// minimal leaves out strings that hold another one.
func minimal(set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(s string) bool {
		return slices.ContainsFunc(set, func(t string) bool { return t != s && strings.Contains(s, t) })
	})
}

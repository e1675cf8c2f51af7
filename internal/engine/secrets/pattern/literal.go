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

// literalFacts is what is known of the matches of an expression.
type literalFacts struct {
	exact []string // all that it matches, in lower case; nil when that is not known
	need  []string // each match holds one of them, in lower case; nil when not known
	max   int      // bytes of the longest match; -1 without a bound
}

// emptyFacts is the facts of what matches the empty text only.
func emptyFacts() literalFacts { return literalFacts{exact: []string{""}} }

// analyzeLiterals returns the facts of an expression.
func analyzeLiterals(re *syntax.Regexp) literalFacts {
	switch re.Op {
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return emptyFacts()
	case syntax.OpLiteral:
		return literalOf(re.Rune)
	case syntax.OpCharClass:
		return classFacts(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return literalFacts{max: 4}
	case syntax.OpCapture:
		return analyzeLiterals(re.Sub[0])
	case syntax.OpConcat:
		return concatFacts(re.Sub)
	case syntax.OpAlternate:
		return alternateFacts(re.Sub)
	case syntax.OpStar:
		return repeatFacts(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		return repeatFacts(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		return repeatFacts(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		return repeatFacts(re.Sub[0], re.Min, re.Max)
	}
	return literalFacts{max: -1}
}

// literalOf returns the facts of a literal. Beyond ASCII, letters have other cases of other
// lengths, so that only the length is known.
func literalOf(runes []rune) literalFacts {
	text := string(runes)
	if !isASCII(text) {
		return literalFacts{max: 4 * len(runes)}
	}
	return literalFacts{exact: []string{strings.ToLower(text)}, max: len(text)}
}

// isASCII reports whether the text has characters of one byte only.
func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}

// Letters beyond ASCII that (?i) takes for k and s. A text that holds one is
// searched as a whole.
const (
	kelvin = '\u212A'
	longS  = '\u017F'
)

// classFacts reads a class of characters, given as ranges.
func classFacts(ranges []rune) literalFacts {
	f := literalFacts{max: 1}
	var set []string
	// The Kelvin sign and the long s are only there as other cases of k and s.
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
	if f.max == 1 && len(set) <= maxExact {
		f.exact = smallSet(set)
	}
	return f
}

// smallSet returns the texts in order and each once, nil when there are none or too many for
// all of their combinations with other ones.
func smallSet(set []string) []string {
	slices.Sort(set)
	if set = slices.Compact(set); len(set) == 0 || len(set) > 8 {
		return nil
	}
	return set
}

// concatFacts returns the facts of parts in a row: the exact texts are those of the parts
// in every combination, as long as there are few.
func concatFacts(subs []*syntax.Regexp) literalFacts {
	var out literalFacts
	exact, whole := []string{""}, true
	for _, sub := range subs {
		f := analyzeLiterals(sub)
		out.max = addLengths(out.max, f.max)
		out.need = selectiveSet(out.need, f.need)
		if product := crossProduct(exact, f.exact); product != nil {
			exact = product
			continue
		}
		whole = false
		out.need = selectiveSet(out.need, exact)
		if exact = f.exact; exact == nil {
			exact = []string{""}
		}
	}
	out.need = selectiveSet(out.need, exact)
	if whole {
		out.exact = exact
	}
	return out
}

// addLengths adds lengths.
func addLengths(a, b int) int {
	if a < 0 || b < 0 || a+b > 1<<20 {
		return -1
	}
	return a + b
}

// crossProduct returns every string of a with every one of b behind it, or nil when
// those are not known or too many.
func crossProduct(a, b []string) []string {
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

// selectiveSet returns the set that fewer places of a text hold: the one whose shortest
// string is longer, then the smaller one.
func selectiveSet(a, b []string) []string {
	x, y := shortestLength(a), shortestLength(b)
	switch {
	case y < minLength || len(b) > maxNeed:
		return a
	case a == nil || y > x || y == x && len(b) < len(a):
		return b
	}
	return a
}

// shortestLength returns the length of the shortest text of a set, -1 for an empty set.
func shortestLength(set []string) int {
	if len(set) == 0 {
		return -1
	}
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

// alternateFacts returns the facts of a choice: what is needed is one text of each
// alternative, and nothing when one alternative needs none.
func alternateFacts(subs []*syntax.Regexp) literalFacts {
	out := literalFacts{exact: []string{}}
	need, known := []string{}, true
	for _, sub := range subs {
		f := analyzeLiterals(sub)
		if out.max >= 0 && (f.max < 0 || f.max > out.max) {
			out.max = f.max
		}
		out.exact = unionSets(out.exact, f.exact)
		own := selectiveSet(f.need, f.exact)
		known = known && own != nil && len(need)+len(own) <= maxNeed
		need = append(need, own...)
	}
	if known {
		slices.Sort(need)
		out.need = slices.Compact(need)
	}
	return out
}

// unionSets returns both sets, or nil when one is not known or both are too many.
func unionSets(a, b []string) []string {
	if a == nil || b == nil || len(a)+len(b) > maxExact {
		return nil
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// repeatFacts returns the facts of a part that comes from least to most times; most is -1
// without a bound.
func repeatFacts(sub *syntax.Regexp, least, most int) literalFacts {
	f := analyzeLiterals(sub)
	out := literalFacts{max: -1}
	switch {
	case f.max == 0:
		out.max = 0
	case most >= 0 && f.max >= 0 && f.max*most <= 1<<20:
		out.max = f.max * most
	}
	if least == 0 {
		if most == 1 && len(f.exact) > 0 && len(f.exact) < 16 {
			out.exact = unionSets(f.exact, []string{""})
		}
		return out
	}
	out.need = selectiveSet(f.need, f.exact)
	if least == most && most <= 4 {
		out.exact = f.exact
		for n := 1; n < most && out.exact != nil; n++ {
			out.exact = crossProduct(out.exact, f.exact)
		}
	}
	return out
}

// minimalSet leaves out strings that hold another one.
func minimalSet(set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(s string) bool {
		return slices.ContainsFunc(set, func(t string) bool { return t != s && strings.Contains(s, t) })
	})
}

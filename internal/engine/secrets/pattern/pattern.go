// Package pattern runs regular expressions over the parts of a text in which they
// can match at all, and finds what the standard library finds.
//
// Rules for credentials are expressions that begin loosely (a name, some spaces)
// and hold a text that is rare: "ghp_", "sk_live_". The standard library tries
// every byte of the text with all of the expression. Here the strings are looked
// for of which each match holds one, and the expression runs over windows around
// them that are as wide as its longest match. Every match lies within a window,
// with bytes to spare on both sides, so that nothing changes what it sees around
// itself; and what matches in a window matches in the text.
package pattern

import (
	"cmp"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Engine compiles expressions for the rule library, whose type of a compiled
// expression, T, cannot be named outside of it.
type Engine[T any] struct{}

// For returns the engine whose Compile has the type of the function.
func For[T any](func(string) (T, error)) Engine[T] { return Engine[T]{} }

// Compile compiles an expression.
func (Engine[T]) Compile(text string) (T, error) {
	var none T
	re, err := Compile(text)
	if err != nil {
		return none, err
	}
	out, ok := any(re).(T)
	if !ok {
		return none, fmt.Errorf("an expression of this package is no %T", none)
	}
	return out, nil
}

// Version names the engine.
func (Engine[T]) Version() string { return "windows" }

// Regexp is an expression that FindAllStringIndex runs over windows.
type Regexp struct {
	*regexp.Regexp
	need  []string // each match holds one of them, in lower case; nil is the whole text
	reach int      // bytes of the longest match; -1 without a bound
	// Where each match begins with one of need:
	first   bool
	head    *head        // nil is none
	stretch *matchExtent // of a match without a bound; nil is not known
	// Where a match has no bound, it holds one of each of these.
	demands [][]string
}

// Compile compiles an expression in the syntax of the standard library.
func Compile(text string) (*Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	out := &Regexp{Regexp: re, reach: -1}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	f := analyzeLiterals(parsed)
	out.need, out.reach = minimalSet(selectiveSet(f.need, f.exact)), f.max
	if out.reach > maxMatch {
		out.reach = -1
	}
	if out.reach < 0 {
		out.demands = requiredLiterals(parsed)
	}
	start := literalPrefixes(parsed)
	if start == nil || out.reach >= 0 && shortestLength(start) < shortestLength(out.need) {
		return out, nil
	}
	out.need, out.first, out.head = start, true, headOf(parsed)
	if s := new(matchExtent); out.reach < 0 && s.addExpression(parsed, 1, false) {
		out.stretch = s
	}
	return out, nil
}

// spare is how many bytes a window is wider than the longest match on each side:
// more than a character, which is what an expression looks at around its match.
const spare = 8

// FindAllStringIndex returns what the standard library returns. A limit n is left
// to it.
func (r *Regexp) FindAllStringIndex(text string, n int) [][]int {
	if r.need == nil || n >= 0 {
		return r.Regexp.FindAllStringIndex(text, n)
	}
	l := toLowerText(text)
	defer lowers.Put(l)
	if l.odd {
		return r.Regexp.FindAllStringIndex(text, n)
	}
	windows, all := r.findWindows(text, l.lower)
	if len(windows) == 0 {
		return nil
	}
	if all {
		return r.Regexp.FindAllStringIndex(text, n)
	}
	var out [][]int
	for _, w := range windows {
		for _, m := range r.Regexp.FindAllStringIndex(text[w[0]:w[1]], -1) {
			out = append(out, []int{m[0] + w[0], m[1] + w[0]})
		}
	}
	return out
}

// findWindows returns the parts of the text in which the expression can match, and
// whether they are so much of it that there is nothing to gain.
func (r *Regexp) findWindows(text, lower string) (out [][2]int, all bool) {
	for _, set := range r.demands {
		if !slices.ContainsFunc(set, func(word string) bool { return strings.Contains(lower, word) }) {
			return nil, false
		}
	}
	width := 0
	for _, word := range r.need {
		first := len(out) // of the windows of this word
		ends := &matchEnds{text: text, matchExtent: r.stretch}
		for at := 0; ; at++ {
			i := strings.Index(lower[at:], word)
			if i < 0 {
				break
			}
			at += i
			if r.head != nil && !r.head.matchesAt(text, at) {
				continue
			}
			if r.reach < 0 && r.stretch == nil {
				return [][2]int{{0, len(lower)}}, true // that it is there is all that counts
			}
			from, to := max(at+len(word)-max(r.reach, 0)-spare, 0), min(at+r.reach+spare, len(lower))
			if r.first {
				from = max(at-spare, 0)
			}
			if r.reach < 0 {
				to = ends.endOf(at)
			}
			if n := len(out) - 1; n >= first && out[n][1] >= from {
				width += to - out[n][1]
				out[n][1] = to
			} else {
				out = append(out, [2]int{from, to})
				width += to - from
			}
			if width > len(lower)*3/4 {
				return out, true
			}
		}
	}
	return mergeWindows(out), false
}

// matchEnds tells how far matches without a bound can go, for places in order.
type matchEnds struct {
	*matchExtent
	text      string
	from, end int // between them are count bytes that are not loose
	count     int
}

// endOf returns the offset behind the longest match that begins at the place, and
// some bytes more.
func (e *matchEnds) endOf(at int) int {
	for ; e.from < min(at, e.end); e.from++ {
		if !e.loose[e.text[e.from]] {
			e.count--
		}
	}
	if e.from < at {
		e.from, e.end, e.count = at, at, 0
	}
	for ; e.end < len(e.text) && e.count <= e.rest+spare; e.end++ {
		if !e.loose[e.text[e.end]] {
			e.count++
		}
	}
	return e.end
}

// mergeWindows joins windows that touch.
func mergeWindows(windows [][2]int) [][2]int {
	slices.SortFunc(windows, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	out := windows[:0]
	for _, w := range windows {
		if n := len(out) - 1; n >= 0 && out[n][1] >= w[0] {
			out[n][1] = max(out[n][1], w[1])
			continue
		}
		out = append(out, w)
	}
	return out
}

// lowerText is a text in lower case, as far as it is ASCII.
type lowerText struct {
	text, lower string
	odd         bool // it holds a letter beyond ASCII that is the same as one of ASCII without case
}

// lowers keeps what was lowered last: one text is searched by many expressions.
var lowers = sync.Pool{New: func() any { return new(lowerText) }}

// toLowerText returns the text in lower case, each byte at its place.
func toLowerText(text string) *lowerText {
	l := lowers.Get().(*lowerText)
	if len(l.text) == len(text) && l.text == text { // the same string, mostly, which costs nothing
		return l
	}
	*l = lowerText{text: text, odd: strings.ContainsRune(text, kelvin) || strings.ContainsRune(text, longS)}
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for i := range len(text) { // strings.ToLower would change the length of some letters
		if c := text[i]; 'A' <= c && c <= 'Z' {
			b.WriteString(text[from:i])
			b.WriteByte(c + 'a' - 'A')
			from = i + 1
		}
	}
	b.WriteString(text[from:])
	l.lower = b.String()
	return l
}

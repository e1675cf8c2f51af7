// Package pcre matches regular expressions as the rules of the field write them:
// in the syntax of PCRE2 (https://www.pcre.org/current/doc/html/pcre2pattern.html),
// of which Python's is nearly a part.
//
// An expression without look-around, back-references and possessive parts runs on
// the regexp package of Go, in time linear in the text. The others run on a
// backtracking engine, and such a match ends with an error when it takes too long.
// Recursion, subroutines and verbs are not supported; Compile says so.
package pcre

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// Flags of an expression.
type Flags uint8

const (
	Multiline  Flags = 1 << iota // ^ and $ match at the ends of lines too
	IgnoreCase                   // letters match in either case
	DotAll                       // . matches a line end
	Anchored                     // a match begins where the text begins
)

const (
	maxExpression = 128 << 10 // bytes
	maxDepth      = 200       // of groups
	maxRounds     = 100_000   // that nested counts may ask for

	totalTimeout = time.Minute // of all matches in one text
)

// MatchTimeout ends one match: backtracking is bounded by time, because the engine counts no
// steps. Like totalTimeout it is a last resort, far above what matching takes on a busy machine:
// what it ends is an error, which the rule's status says. It holds for what is compiled
// afterwards; only tests change it.
var MatchTimeout = 30 * time.Second

// ErrTimeout is the error of a match that took too long.
var ErrTimeout = errors.New("the regular expression took too long")

// A Regexp is a compiled expression. It is safe for concurrent use. Which engine runs it is
// decided when it is compiled.
type Regexp struct {
	expr  string
	names []string // by number of the group; 0 is the whole match
	fast  *regexp.Regexp
	slow  *regexp2.Regexp // set if fast is not
	// wide is the expression without what only the other engine knows: where it does not
	// match, slow does not either. Nil if there is no such expression.
	wide *regexp.Regexp
}

// Compile reads an expression. The error says what is wrong with it, without the
// expression itself.
func Compile(expr string, flags Flags) (*Regexp, error) {
	if len(expr) > maxExpression {
		return nil, fmt.Errorf("the regular expression has %d bytes; the limit is %d", len(expr), maxExpression)
	}
	if !utf8.ValidString(expr) {
		return nil, errors.New("the regular expression is not UTF-8")
	}
	t := &translator{in: expr, names: []string{""}, scope: scope{multiline: flags&Multiline != 0}}
	if err := t.translate(); err != nil {
		return nil, err
	}
	r := &Regexp{expr: expr, names: t.names}
	prefix := "(?" + goFlags(flags) + ")"
	if prefix == "(?)" {
		prefix = ""
	}
	open, shut := "", ""
	if flags&Anchored != 0 {
		open, shut = `\A(?:`, ")"
	}
	if !t.backtracks {
		var err error
		if r.fast, err = regexp.Compile(prefix + open + string(t.linear) + shut); err == nil {
			return r, nil
		}
		r.fast = nil // a count above a thousand, for example: let the other engine try
	}
	slow, err := compileSlow(open+string(t.full)+shut, slowOptions(flags))
	if err != nil {
		return nil, err
	}
	r.slow = slow
	if t.backtracks && !t.refers {
		r.wide, _ = regexp.Compile(prefix + open + string(t.linear) + shut) // without it only more is asked of slow
	}
	return r, nil
}

// slowOptions returns the options of the backtracking engine. In its RE2 mode it reads
// what the translator writes.
func slowOptions(flags Flags) regexp2.RegexOptions {
	options := regexp2.RegexOptions(regexp2.RE2)
	if flags&Multiline != 0 {
		options |= regexp2.Multiline
	}
	if flags&IgnoreCase != 0 {
		options |= regexp2.IgnoreCase
	}
	if flags&DotAll != 0 {
		options |= regexp2.Singleline
	}
	return options
}

// isImpossible says quickly of many texts that they hold no match. It says nothing of texts with
// other letters than those of ASCII, whose cases the engines see differently. It spares most texts
// the backtracking engine.
func (r *Regexp) isImpossible(text string) bool {
	return r.wide != nil && strings.IndexFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 &&
		!r.wide.MatchString(text)
}

// compileSlow compiles for the backtracking engine. Its parser is not ours: a
// panic in it is an expression that we cannot take.
func compileSlow(expr string, options regexp2.RegexOptions) (re *regexp2.Regexp, err error) {
	defer func() {
		if p := recover(); p != nil {
			re, err = nil, fmt.Errorf("the regular expression is not supported: %v", p)
		}
	}()
	re, err = regexp2.Compile(expr, options)
	if err != nil {
		return nil, fmt.Errorf("malformed regular expression: %w", err)
	}
	re.MatchTimeout = MatchTimeout
	return re, nil
}

// goFlags returns the flags in the syntax of both engines.
func goFlags(flags Flags) string {
	out := ""
	for _, f := range []struct {
		flag Flags
		name string
	}{{Multiline, "m"}, {IgnoreCase, "i"}, {DotAll, "s"}} {
		if flags&f.flag != 0 {
			out += f.name
		}
	}
	return out
}

// String returns the expression as it was given to Compile.
func (r *Regexp) String() string { return r.expr }

// Names returns the names of the groups by their number, "" for those without.
// The first one stands for the whole match.
func (r *Regexp) Names() []string { return r.names }

// Linear says whether matching takes time linear in the text.
func (r *Regexp) Linear() bool { return r.fast != nil }

// Match says whether the text holds a match. Texts that cannot match are sorted out by the fast
// engine.
func (r *Regexp) Match(text string) (bool, error) {
	if r.fast != nil {
		return r.fast.MatchString(text), nil
	}
	if r.isImpossible(text) {
		return false, nil
	}
	ok, err := r.slow.MatchString(text)
	if err != nil {
		return false, ErrTimeout
	}
	return ok, nil
}

// Find returns the first match as pairs of byte offsets: the whole match, then
// each group, -1 for a group that took no part. It is nil when there is none.
func (r *Regexp) Find(text string) ([]int, error) {
	all, err := r.FindAll(text, 1)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// FindAll returns the matches that do not overlap, at most max of them, or all if
// max is negative, each like that of Find. With ErrTimeout come the matches that
// were found in time.
func (r *Regexp) FindAll(text string, max int) ([][]int, error) {
	if r.fast != nil {
		return r.fast.FindAllStringSubmatchIndex(text, max), nil
	}
	if r.isImpossible(text) {
		return nil, nil
	}
	var out [][]int
	end := time.Now().Add(totalTimeout)
	offsets := offsetTable{text: text}
	m, err := r.slow.FindStringMatch(text)
	for err == nil && m != nil && len(out) != max {
		out = append(out, r.byteSpans(m, &offsets))
		if time.Now().After(end) {
			return out, ErrTimeout
		}
		m, err = r.slow.FindNextMatch(m)
	}
	if err != nil {
		return out, ErrTimeout
	}
	return out, nil
}

// byteSpans turns a match into byte offsets. The backtracking engine counts characters. A group
// that took no part in the match has the offset -1, as in package regexp.
func (r *Regexp) byteSpans(m *regexp2.Match, offsets *offsetTable) []int {
	out := make([]int, 0, 2*len(r.names))
	for i := range r.names {
		g := m.GroupByNumber(i)
		if g == nil || len(g.Captures) == 0 {
			out = append(out, -1, -1)
			continue
		}
		out = append(out, offsets.byteOffset(g.Index), offsets.byteOffset(g.Index+g.Length))
	}
	return out
}

// An offsetTable turns numbers of characters into byte offsets. It walks the text
// once as long as the numbers grow.
type offsetTable struct {
	text        string
	runes, byte int
}

// byteOffset returns the byte at which the n-th character begins. It goes on from the last
// question, since matches come in order; a question further back starts anew.
func (o *offsetTable) byteOffset(n int) int {
	if n < o.runes {
		o.runes, o.byte = 0, 0
	}
	for o.runes < n && o.byte < len(o.text) {
		_, size := utf8.DecodeRuneInString(o.text[o.byte:])
		o.byte += size
		o.runes++
	}
	return o.byte
}

// Replace returns the text with the first count matches replaced, all if count is
// 0. In the replacement \1, \g<1> and \g<name> stand for groups, as in Python.
func (r *Regexp) Replace(text, replacement string, count int) (string, error) {
	if count <= 0 {
		count = -1
	}
	matches, err := r.FindAll(text, count)
	if err != nil {
		return "", err
	}
	var out []byte
	at := 0
	for _, m := range matches {
		out = append(out, text[at:m[0]]...)
		out = r.expandReplacement(out, replacement, text, m)
		at = m[1]
	}
	return string(append(out, text[at:]...)), nil
}

// expandReplacement appends the replacement for one match. A group that took no part is empty. The
// syntax is that of Python's re.sub, for which fix-regex was made; a backslash in front of
// anything else is dropped.
func (r *Regexp) expandReplacement(out []byte, replacement, text string, m []int) []byte {
	for i := 0; i < len(replacement); i++ {
		c := replacement[i]
		if c != '\\' || i+1 == len(replacement) {
			out = append(out, c)
			continue
		}
		i++
		switch c = replacement[i]; {
		case c >= '0' && c <= '9':
			n := int(c - '0')
			if i+1 < len(replacement) && replacement[i+1] >= '0' && replacement[i+1] <= '9' {
				i++
				n = n*10 + int(replacement[i]-'0')
			}
			out = appendGroup(out, text, m, n)
		case c == 'g':
			if name, size := groupName(replacement[i+1:]); size > 0 {
				i += size
				out = appendGroup(out, text, m, r.groupNumber(name))
				continue
			}
			out = append(out, '\\', 'g')
		case c == 'n':
			out = append(out, '\n')
		case c == 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
	}
	return out
}

// appendGroup appends the text of a group, nothing for one that took no part.
func appendGroup(out []byte, text string, m []int, n int) []byte {
	if n < 0 || 2*n+1 >= len(m) || m[2*n] < 0 {
		return out
	}
	return append(out, text[m[2*n]:m[2*n+1]]...)
}

// groupName reads "<name>" and returns the name and the bytes it took.
func groupName(s string) (string, int) {
	if s == "" || s[0] != '<' {
		return "", 0
	}
	for i := 1; i < len(s); i++ {
		if s[i] == '>' {
			return s[1:i], i + 1
		}
	}
	return "", 0
}

// groupNumber returns the number of a group by its name or number, -1 for none. Numbers beyond the
// last group are returned as they are and match nothing.
func (r *Regexp) groupNumber(name string) int {
	n := 0
	for i := 0; i < len(name); i++ {
		if name[i] < '0' || name[i] > '9' || n > len(r.names) {
			n = -1
			break
		}
		n = n*10 + int(name[i]-'0')
	}
	if n >= 0 && name != "" {
		return n
	}
	for i, have := range r.names {
		if i > 0 && have == name {
			return i
		}
	}
	return -1
}

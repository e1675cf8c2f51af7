package pcre

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A translator rewrites an expression for both engines at once: linear is for the
// regexp package, full for the backtracking one. What they spell alike goes into
// both.
type translator struct {
	in  string
	pos int

	linear, full []byte
	// backtracks says that only the other engine can do it: linear is an expression that
	// matches wherever this one does, and elsewhere, or, with refers, nothing of use.
	backtracks, refers bool

	names []string // of the groups so far
	scope scope
	open  []group

	// Where the last thing that a quantifier may follow begins in linear and in full;
	// atom.full is -1 for none. It may have a quantifier already.
	atom     mark
	repeated bool

	// outline makes linear an outline of the expression for GrowthOf: every group and
	// alternative captures, so that no two melt into one, and what only one engine
	// knows is left out.
	outline bool

	// Counts such as {1000} multiply where they are nested: that of the last atom, and
	// the largest in the group so far.
	weight, heaviest int
}

// A mark is a place in both texts.
type mark struct{ linear, full int }

var nowhere = mark{-1, -1}

// A scope holds the flags that a group may change for itself.
type scope struct {
	multiline bool // $ matches before every line end
	extended  bool // white space and comments do not count
}

// A group is one that has been opened and not yet closed. What holds outside comes back at its
// end.
type group struct {
	scope scope // outside
	start mark

	heaviest int  // outside
	skipped  bool // look-around, which takes no text: it is left out of linear
}

const (
	horizontal = "\t \u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000"
	vertical   = "\n-\r\u0085\u2028\u2029"
)

// classes are the escapes that stand for sets of characters, for use inside
// brackets.
var classes = map[byte]string{
	'd': "0-9", 'D': "\\D", 'w': "0-9A-Za-z_", 'W': "\\W",
	's': "\t-\r ", 'S': "\\S",
	'h': horizontal, 'v': vertical,
	'H': "\x00-\x08\x0a-\x1f!-\u009f\u00a1-\u167f\u1681-\u180d\u180f-\u1fff\u200b-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\U0010ffff",
	'V': "\x00-\x09\x0e-\u0084\u0086-\u2027\u202a-\U0010ffff",
}

// outside gives the sets that are spelled otherwise outside brackets.
var outside = map[byte]string{
	'D': "[^0-9]", 'W': "[^0-9A-Za-z_]", 'S': "[^\t-\r ]", 'H': "[^" + horizontal + "]", 'V': "[^" + vertical + "]",
}

// posix are the named sets of [[:name:]].
var posix = map[string]string{
	"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\x00-\x7f", "blank": "\t ", "cntrl": "\x00-\x1f\x7f",
	"digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\t-\r ",
	"upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}

// translate reads the whole expression. Errors name the character at which it went wrong. Groups
// that are still open at the end are faults, while a bracket reports its own.
func (t *translator) translate() error {
	t.atom = nowhere
	for t.pos < len(t.in) {
		if err := t.readElement(); err != nil {
			return fmt.Errorf("malformed regular expression, near character %d: %w",
				utf8.RuneCountInString(t.in[:t.pos])+1, err)
		}
	}
	if len(t.open) > 0 {
		return errors.New("malformed regular expression: a group is not closed")
	}
	return nil
}

// readElement reads one element. Everything that is not special stands for itself. A brace begins
// a quantifier only if it is a whole one, as in PCRE2: "a{" and "a{,2}" are text. Layout counts
// for nothing under the flag x, except in classes, which are read elsewhere.
func (t *translator) readElement() error {
	c := t.in[t.pos]
	if t.scope.extended && t.skipLayout(c) {
		return nil
	}
	switch c {
	case '\\':
		return t.readEscape()
	case '[':
		return t.readClass()
	case '(':
		return t.openGroup()
	case ')':
		return t.closeGroup()
	case '|':
		t.pos++
		t.emitAlternative()
		return nil
	case '^':
		t.pos++
		t.emitBoth("^")
		t.atom = nowhere
		return nil
	case '$':
		t.pos++
		t.emitDollar()
		return nil
	case '*', '+', '?':
		return t.readQuantifier()
	case '{':
		if quantifierLength(t.in[t.pos:]) > 0 {
			return t.readQuantifier()
		}
	}
	r, size := utf8.DecodeRuneInString(t.in[t.pos:])
	t.pos += size
	if c == '.' {
		t.beginAtom()
		t.emitBoth(".")
		return nil
	}
	t.emitLiteral(r)
	return nil
}

// skipLayout skips white space or a comment, which do not count with the flag x. It
// reports whether it did.
func (t *translator) skipLayout(c byte) bool {
	switch {
	case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
		t.pos++
	case c == '#':
		if end := strings.IndexByte(t.in[t.pos:], '\n'); end >= 0 {
			t.pos += end + 1
		} else {
			t.pos = len(t.in)
		}
	default:
		return false
	}
	return true
}

// emitAlternative begins another alternative. No quantifier can follow. In the outline each
// alternative is a group of its own.
func (t *translator) emitAlternative() {
	t.full = append(t.full, '|')
	bar := "|"
	if t.outline {
		bar = ")|("
	}
	t.linear = append(t.linear, bar...)
	t.atom = nowhere
}

// beginAtom notes that an atom begins here.
func (t *translator) beginAtom() {
	t.atom, t.repeated, t.weight = mark{len(t.linear), len(t.full)}, false, 1
}

// emitBoth emits a text that both engines spell alike.
func (t *translator) emitBoth(s string) {
	t.linear = append(t.linear, s...)
	t.full = append(t.full, s...)
}

// emitLiteral emits one character that stands for itself.
func (t *translator) emitLiteral(r rune) {
	t.beginAtom()
	t.emitBoth(quoteRune(r))
}

// quoteRune returns a character in a form that stands for itself in both engines,
// inside brackets and outside.
func quoteRune(r rune) string {
	if r < utf8.RuneSelf && r > ' ' && r != 0x7f && !isWord(byte(r)) {
		return "\\" + string(r)
	}
	return string(r)
}

// isWord reports whether the byte is a letter, a digit or an underscore.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// atEnd is \Z of PCRE. That of the backtracking engine knows no last line end.
const atEnd = `(?=\n?\z)`

// emitDollar emits the end of the text, before a last line end if there is one. The
// linear engine has no such assertion; taking the line end along makes the same
// texts match.
func (t *translator) emitDollar() {
	t.atom = nowhere
	if t.scope.multiline {
		t.emitBoth("$")
		return
	}
	t.linear = append(t.linear, `(?:\n?\z)`...)
	t.full = append(t.full, atEnd...)
}

// quantifierLength returns the length of {n}, {n,} or {n,m} at the start of s, 0 if it
// is something else; then the brace stands for itself.
func quantifierLength(s string) int {
	digits := countDigits(s[1:])
	if digits == 0 || digits > 6 {
		return 0
	}
	i := 1 + digits
	if i < len(s) && s[i] == ',' {
		more := countDigits(s[i+1:])
		i += 1 + more
		digits += more
	}
	if i < len(s) && s[i] == '}' && digits <= 12 {
		return i + 1
	}
	return 0
}

// countDigits returns the number of decimal digits at the start of s.
func countDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// readQuantifier emits a quantifier. A possessive one becomes an atomic group. A second quantifier
// applies to the first with its atom.
func (t *translator) readQuantifier() error {
	if t.atom == nowhere {
		return fmt.Errorf("nothing to repeat before %q", t.in[t.pos])
	}
	size := 1
	if t.in[t.pos] == '{' {
		size = quantifierLength(t.in[t.pos:])
	}
	q := t.in[t.pos : t.pos+size]
	t.pos += size
	if err := t.countRounds(q); err != nil {
		return err
	}
	if t.repeated {
		t.wrapAtom("(?:", "")
	}
	t.repeated = true
	switch {
	case t.pos < len(t.in) && t.in[t.pos] == '+':
		t.pos++
		t.backtracks = true
		t.wrapAtom("(?>", q)
		t.repeated = false
	case t.pos < len(t.in) && t.in[t.pos] == '?':
		t.pos++
		t.emitBoth(q + "?")
	default:
		t.emitBoth(q)
	}
	return nil
}

// countRounds keeps the product of nested counts in bounds: the backtracking engine
// remembers each round.
func (t *translator) countRounds(q string) error {
	if q[0] == '{' {
		lo, hi, _ := strings.Cut(q[1:len(q)-1], ",")
		n := 1
		for _, digits := range []string{lo, hi} {
			if v, err := strconv.Atoi(digits); err == nil {
				n = max(n, v)
			}
		}
		t.weight = max(1, t.weight) * n
	}
	t.heaviest = max(t.heaviest, t.weight)
	if t.weight > maxRounds {
		return fmt.Errorf("counts multiply to more than %d", maxRounds)
	}
	return nil
}

// wrapAtom puts the last atom and what follows into a group. The text is moved up, as the
// quantifier is read behind its atom.
func (t *translator) wrapAtom(open, tail string) {
	if t.outline {
		open, tail = "(", "" // one round: a possessive repetition gives nothing back
	}
	t.full = append(slices.Insert(t.full, t.atom.full, []byte(open)...), tail+")"...)
	if open == "(?>" {
		open = "(?:" // which may match more
	}
	t.linear = append(slices.Insert(t.linear, t.atom.linear, []byte(open)...), tail+")"...)
}

// openGroup reads "(" and what makes the group special. Recursion and subroutines are refused by
// the flags that follow.
func (t *translator) openGroup() error {
	if len(t.open) >= maxDepth {
		return fmt.Errorf("groups are nested more than %d deep", maxDepth)
	}
	rest := t.in[t.pos:]
	if strings.HasPrefix(rest, "(*") {
		return errors.New("verbs such as (*SKIP) are not supported")
	}
	if !strings.HasPrefix(rest, "(?") {
		t.pos++
		t.openCapture("")
		return nil
	}
	if t.openLookAround(rest) {
		return nil
	}
	switch {
	case strings.HasPrefix(rest, "(?:"):
		t.pos += 3
		t.pushGroup("(?:", "(?:")
		return nil
	case strings.HasPrefix(rest, "(?#"):
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return errors.New("a comment is not closed")
		}
		t.pos += end + 1
		return nil
	case strings.HasPrefix(rest, "(?P="):
		return t.readNameReference(4, ')')
	case strings.HasPrefix(rest, "(?("):
		return t.readConditional()
	}
	return t.openNamed(rest)
}

// openLookAround opens a look-ahead, a look-behind or an atomic group, which only the
// backtracking engine has. It reports whether there was one.
func (t *translator) openLookAround(rest string) bool {
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if strings.HasPrefix(rest, look) {
			t.pos += len(look)
			t.backtracks = true
			linear := look
			if !t.outline {
				linear = "(?:"
			}
			t.pushGroup(linear, look)
			t.open[len(t.open)-1].skipped = look != "(?>"
			return true
		}
	}
	return false
}

// openNamed opens a group with a name, in one of three spellings; anything else has to be
// flags.
func (t *translator) openNamed(rest string) error {
	for _, named := range []struct{ open, shut string }{{"(?P<", ">"}, {"(?<", ">"}, {"(?'", "'"}} {
		if strings.HasPrefix(rest, named.open) {
			name, _, ok := strings.Cut(rest[len(named.open):], named.shut)
			if !ok || !isName(name) {
				return errors.New("malformed name of a group")
			}
			t.pos += len(named.open) + len(name) + 1
			t.openCapture(name)
			return nil
		}
	}
	return t.readFlags()
}

// isName reports whether a text may be the name of a group.
func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isWord(s[i]) || i == 0 && s[i] >= '0' && s[i] <= '9' {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// openCapture opens a group that is numbered. For the backtracking engine it gets its
// number as its name, because that engine numbers groups with names last.
func (t *translator) openCapture(name string) {
	t.names = append(t.names, name)
	t.pushGroup("(", "(?<"+strconv.Itoa(len(t.names)-1)+">")
}

// pushGroup opens a group and keeps the flags that hold outside of it. In the outline, for the
// analysis of growth, all groups are the same, and only the flags that matter there are kept.
func (t *translator) pushGroup(linear, full string) {
	g := group{t.scope, mark{len(t.linear), len(t.full)}, t.heaviest, false}
	if t.outline {
		flags := strings.TrimSuffix(strings.TrimPrefix(linear, "(?"), ":")
		linear = "(("
		if strings.Trim(flags, "ims-") == "" && flags != "" {
			linear = "((?" + flags + ")("
		}
	}
	t.open = append(t.open, g)
	t.heaviest = 1
	t.linear = append(t.linear, linear...)
	t.full = append(t.full, full...)
	t.atom = nowhere
}

// closeGroup closes the innermost group, which is an atom for a quantifier. Look-around is left
// out of the linear expression.
func (t *translator) closeGroup() error {
	if len(t.open) == 0 {
		return errors.New("a parenthesis closes nothing")
	}
	g := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	t.pos++
	t.emitBoth(")")
	if t.outline {
		t.linear = append(t.linear, ')')
	}
	switch {
	case g.skipped && t.outline:
		t.linear = append(t.linear, "{0}"...)
	case g.skipped:
		t.linear = append(t.linear[:g.start.linear], "(?:)"...)
	}
	t.scope, t.atom, t.repeated, t.weight = g.scope, g.start, false, t.heaviest
	t.heaviest = max(t.heaviest, g.heaviest)
	return nil
}

// readConditional reads "(?(1)" or "(?(name)". The linear engine has none, so it takes both
// branches for GrowthOf only.
func (t *translator) readConditional() error {
	name, _, ok := strings.Cut(t.in[t.pos+3:], ")")
	n := t.groupNumber(strings.Trim(name, "<>'"))
	if !ok || n < 0 {
		return errors.New("conditions other than on a group are not supported")
	}
	t.pos += 3 + len(name) + 1
	t.backtracks, t.refers = true, true
	open := "(?(" + strconv.Itoa(n) + ")"
	t.pushGroup(open, open)
	return nil
}

// readFlags reads "(?i)", "(?i-s:" and the like. Without a colon they hold to the end of the group
// around.
func (t *translator) readFlags() error {
	on, out, next := true, "", t.scope
	i := t.pos + 2
	for ; i < len(t.in) && t.in[i] != ')' && t.in[i] != ':'; i++ {
		switch c := t.in[i]; c {
		case '-':
			on = false
			out += "-"
		case 'i', 's':
			out += string(c)
		case 'm':
			next.multiline = on
			out += "m"
		case 'x':
			next.extended = on
		default:
			return fmt.Errorf("(?%c is not supported", c)
		}
	}
	if i == len(t.in) {
		return errors.New("flags are not closed")
	}
	out = strings.TrimSuffix(out, "-")
	shut := t.in[i]
	t.pos = i + 1
	if shut == ':' {
		t.pushGroup("(?"+out+":", "(?"+out+":")
	} else if out != "" {
		t.emitBoth("(?" + out + ")")
		t.atom = nowhere
	}
	t.scope = next
	return nil
}

// groupNumber returns the number of the group with the name or number, -1 for none. Names may be
// declared later only in the other engine, so they have to be known here.
func (t *translator) groupNumber(name string) int {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 {
			n += len(t.names)
		}
		if n < 1 || n > 999 {
			return -1
		}
		return n
	}
	for i, have := range t.names {
		if i > 0 && have == name && name != "" {
			return i
		}
	}
	return -1
}

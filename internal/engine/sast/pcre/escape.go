package pcre

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readEscape reads a backslash outside brackets and what it stands for. Both engines know fewer
// escapes than PCRE2, and not the same ones.
func (t *translator) readEscape() error {
	if t.pos+1 >= len(t.in) {
		return errors.New("a backslash at the end")
	}
	c := t.in[t.pos+1]
	if t.emitClassEscape(c) {
		return nil
	}
	switch c {
	case 'Q':
		return t.readQuoted()
	case 'E':
		t.pos += 2
		return nil
	case 'p', 'P':
		return t.readProperty()
	case 'k':
		if t.pos+2 < len(t.in) {
			if shut, ok := map[byte]byte{'<': '>', '{': '}', '\'': '\''}[t.in[t.pos+2]]; ok {
				return t.readNameReference(3, shut)
			}
		}
		return errors.New(`\k without a name`)
	case 'g':
		return t.readNumberReference()
	}
	if c >= '1' && c <= '9' && !t.isOctal() {
		return t.readDigitReference()
	}
	r, err := t.readCharacter()
	if err != nil {
		return err
	}
	t.emitLiteral(r)
	return nil
}

// emitClassEscape emits an escape that stands for a set of characters or an assertion. It
// reports false for any other one.
func (t *translator) emitClassEscape(c byte) bool {
	if set, ok := classes[c]; ok {
		text := "[" + set + "]"
		if other, ok := outside[c]; ok {
			text = other
		}
		t.emitSet(text)
		return true
	}
	switch c {
	case 'A', 'z', 'b', 'B':
		t.emitBoth("\\" + string(c))
	case 'Z', 'G':
		t.backtracks = true
		text := `\G`
		if c == 'Z' {
			text = atEnd
		}
		t.full = append(t.full, text...)
	case 'N':
		t.emitSet(`[^\n]`)
		return true
	case 'R':
		t.emitSet(`(?:\r\n|[` + vertical + `])`)
		return true
	default:
		return false
	}
	t.pos += 2
	t.atom = nowhere
	return true
}

// emitSet emits a set for an escape of two bytes.
func (t *translator) emitSet(text string) {
	t.pos += 2
	t.beginAtom()
	t.emitBoth(text)
}

// isOctal says whether the backslash is followed by three octal digits. The first of them is 3 at
// most, since a character of a byte has no more bits.
func (t *translator) isOctal() bool {
	if t.pos+3 >= len(t.in) {
		return false
	}
	for _, c := range []byte(t.in[t.pos+1 : t.pos+4]) {
		if c < '0' || c > '7' {
			return false
		}
	}
	return t.in[t.pos+1] <= '3'
}

// readQuoted reads \Q…\E. Without \E it goes to the end. Letters of the syntax within stand for
// themselves, and a quantifier behind repeats the last one.
func (t *translator) readQuoted() error {
	text, _, found := strings.Cut(t.in[t.pos+2:], `\E`)
	t.pos += 2 + len(text)
	if found {
		t.pos += 2
	}
	for _, r := range text {
		t.emitLiteral(r)
	}
	return nil
}

// readProperty reads \p{L}, \pL and their negations. Both engines know the same names. A caret in
// the braces negates once more. Whether the engine knows the name is found when it compiles.
func (t *translator) readProperty() error {
	rest := t.in[t.pos+2:]
	name, size := "", 0
	if inner, _, ok := strings.Cut(strings.TrimPrefix(rest, "{"), "}"); ok && strings.HasPrefix(rest, "{") {
		name, size = inner, len(inner)+2
	} else if rest != "" {
		name, size = rest[:1], 1
	}
	upper := t.in[t.pos+1] == 'P'
	if strings.HasPrefix(name, "^") {
		name, upper = name[1:], !upper
	}
	if !isName(name) {
		return errors.New("malformed Unicode property")
	}
	t.pos += 2 + size
	letter := "p"
	if upper {
		letter = "P"
	}
	t.beginAtom()
	t.emitBoth("\\" + letter + "{" + name + "}")
	return nil
}

// emitReference emits a back-reference to a group. For GrowthOf it takes any character: what it
// repeats is not regular.
func (t *translator) emitReference(n int) error {
	if n < 1 {
		return errors.New("a back-reference to no group")
	}
	t.backtracks, t.refers = true, true
	t.beginAtom()
	t.full = append(t.full, "\\k<"+strconv.Itoa(n)+">"...)
	if t.outline {
		t.linear = append(t.linear, '.')
	}
	return nil
}

// readNameReference reads a name that begins skip bytes from here and its closing byte.
func (t *translator) readNameReference(skip int, shut byte) error {
	name, _, ok := strings.Cut(t.in[t.pos+skip:], string(shut))
	if !ok {
		return errors.New("malformed back-reference")
	}
	t.pos += skip + len(name) + 1
	return t.emitReference(t.groupNumber(name))
}

// readNumberReference reads \g1, \g{-1} and \g{name}. Relative numbers count back from here.
// "\g<1>" and "\g'1'" call a group like a function, which neither engine has.
func (t *translator) readNumberReference() error {
	rest := t.in[t.pos+2:]
	if strings.HasPrefix(rest, "{") {
		return t.readNameReference(3, '}')
	}
	if rest == "" || rest[0] == '<' || rest[0] == '\'' {
		return errors.New("subroutines are not supported")
	}
	size := 0
	for size < len(rest) && (rest[size] >= '0' && rest[size] <= '9' || size == 0 && rest[0] == '-') {
		size++
	}
	t.pos += 2 + size
	return t.emitReference(t.groupNumber(rest[:size]))
}

// readDigitReference reads \1 to \99. One or two digits are a group, three octal ones a character.
func (t *translator) readDigitReference() error {
	size := 2
	if t.pos+2 < len(t.in) && t.in[t.pos+2] >= '0' && t.in[t.pos+2] <= '9' {
		size = 3
	}
	n := t.groupNumber(t.in[t.pos+1 : t.pos+size])
	t.pos += size
	return t.emitReference(n)
}

// controls are the escapes of single characters.
var controls = map[byte]rune{'a': 7, 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// readCharacter reads an escape that stands for one character. A letter that is no escape is an
// error, so that a typing error is not taken for the letter.
func (t *translator) readCharacter() (rune, error) {
	c, rest := t.in[t.pos+1], t.in[t.pos+2:]
	if r, ok := controls[c]; ok {
		t.pos += 2
		return r, nil
	}
	switch {
	case c == 'x':
		return t.readHex(rest)
	case c == 'u' && len(rest) >= 4:
		return t.readNumber(rest[:4], 16, 6)
	case c == 'c' && rest != "":
		t.pos += 3
		return rune(rest[0]) & 0x1f, nil
	case isOctalDigit(c):
		n := 0
		for n < 2 && n < len(rest) && isOctalDigit(rest[n]) {
			n++
		}
		return t.readNumber(t.in[t.pos+1:t.pos+2+n], 8, 2+n)
	case isWord(c) && c != '_':
		return 0, fmt.Errorf(`\%c is not known`, c)
	}
	r, size := utf8.DecodeRuneInString(t.in[t.pos+1:])
	t.pos += 1 + size
	return r, nil
}

// readHex reads \x{10ffff}, or \x with up to two digits. No digit at all is the character 0, as in
// PCRE2.
func (t *translator) readHex(rest string) (rune, error) {
	if strings.HasPrefix(rest, "{") {
		digits, _, ok := strings.Cut(rest[1:], "}")
		if !ok {
			return 0, errors.New(`malformed \x{…}`)
		}
		return t.readNumber(digits, 16, 4+len(digits))
	}
	n := 0
	for n < 2 && n < len(rest) && isHex(rest[n]) {
		n++
	}
	return t.readNumber("0"+rest[:n], 16, 2+n)
}

// isOctalDigit reports whether the byte is an octal digit.
func isOctalDigit(c byte) bool { return c >= '0' && c <= '7' }

// isHex reports whether the byte is a hexadecimal digit.
func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// readNumber makes a character of digits and skips the whole escape. Surrogates are no characters.
// Those that do not exist at all are beyond the largest character.
func (t *translator) readNumber(digits string, base, size int) (rune, error) {
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune || n >= 0xd800 && n < 0xe000 {
		return 0, errors.New("an escape that is no character")
	}
	t.pos += size
	return rune(n), nil
}

// readClass reads a set in brackets. A bracket in front stands for itself. What the members stand
// for is spelled out for both engines, which differ in what they take for special within brackets.
func (t *translator) readClass() error {
	t.pos++
	out := "["
	if t.pos < len(t.in) && t.in[t.pos] == '^' {
		t.pos++
		out += "^"
	}
	for first := true; ; first = false {
		if t.pos >= len(t.in) {
			return errors.New("a bracket is not closed")
		}
		if t.in[t.pos] == ']' && !first {
			t.pos++
			break
		}
		member, err := t.readClassMember()
		if err != nil {
			return err
		}
		out += member
	}
	t.beginAtom()
	t.emitBoth(out + "]")
	return nil
}

// readClassMember reads one member of a set: a character, a range or another set. A hyphen at the
// end, or behind a set, stands for itself.
func (t *translator) readClassMember() (string, error) {
	item, lo, err := t.readClassItem()
	if err != nil {
		return "", err
	}
	rest := t.in[t.pos:]
	if lo < 0 || len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		return item, nil
	}
	t.pos++
	upper, hi, err := t.readClassItem()
	switch {
	case err != nil:
		return "", err
	case hi < 0: // [a-\d] is a, a hyphen, digits
		return item + `\-` + upper, nil
	case hi < lo:
		return "", errors.New("a range of characters out of order")
	}
	return item + "-" + upper, nil
}

// readClassItem reads one member of a set. lo is the character, or -1 for a set. A property is
// emitted and taken back, as its text goes into the set.
func (t *translator) readClassItem() (text string, lo rune, err error) {
	rest := t.in[t.pos:]
	if rest == "" {
		return "", 0, errors.New("a bracket is not closed")
	}
	if set, ok, err := t.readPosix(rest); ok || err != nil {
		return set, -1, err
	}
	if rest[0] != '\\' {
		r, size := utf8.DecodeRuneInString(rest)
		t.pos += size
		return quoteRune(r), r, nil
	}
	if len(rest) == 1 {
		return "", 0, errors.New("a backslash at the end")
	}
	if set, ok := classes[rest[1]]; ok {
		t.pos += 2
		return set, -1, nil
	}
	switch rest[1] {
	case 'b':
		t.pos += 2
		return "\b", '\b', nil
	case 'p', 'P':
		before, atom := len(t.full), t.atom
		if err := t.readProperty(); err != nil {
			return "", 0, err
		}
		text = string(t.full[before:])
		t.full, t.linear = t.full[:before], t.linear[:len(t.linear)-len(text)]
		t.atom = atom
		return text, -1, nil
	case 'E':
		t.pos += 2
		return "", -1, nil
	}
	r, err := t.readCharacter()
	return quoteRune(r), r, err
}

// readPosix reads [:alpha:]. It is false for anything else, also for a name that is not
// known.
func (t *translator) readPosix(rest string) (set string, ok bool, err error) {
	if !strings.HasPrefix(rest, "[:") {
		return "", false, nil
	}
	name, _, found := strings.Cut(rest[2:], ":]")
	if !found {
		return "", false, nil
	}
	set, known := posix[strings.TrimPrefix(name, "^")]
	switch {
	case !known:
		return "", false, nil
	case strings.HasPrefix(name, "^"):
		return "", false, errors.New("negated POSIX classes are not supported")
	}
	t.pos += len(name) + 4
	return set, true, nil
}

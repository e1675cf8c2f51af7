package pcre

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape reads a backslash outside brackets and what it stands for.
func (t *translator) escape() error {
	if t.pos+1 >= len(t.in) {
		return errors.New("a backslash at the end")
	}
	c := t.in[t.pos+1]
	if set, ok := classes[c]; ok {
		t.pos += 2
		t.begin()
		if other, ok := outside[c]; ok {
			t.both(other)
		} else {
			t.both("[" + set + "]")
		}
		return nil
	}
	switch c {
	case 'A', 'z', 'b', 'B':
		t.pos += 2
		t.both("\\" + string(c))
		t.atom = nowhere
		return nil
	case 'Z', 'G':
		t.pos += 2
		t.backtracks = true
		text := `\G`
		if c == 'Z' {
			text = atEnd
		}
		t.full = append(t.full, text...)
		t.atom = nowhere
		return nil
	case 'N':
		t.pos += 2
		t.begin()
		t.both(`[^\n]`)
		return nil
	case 'R':
		t.pos += 2
		t.begin()
		t.both(`(?:\r\n|[` + vertical + `])`)
		return nil
	case 'Q':
		return t.quoted()
	case 'E':
		t.pos += 2
		return nil
	case 'p', 'P':
		return t.property()
	case 'k':
		if t.pos+2 < len(t.in) {
			if shut, ok := map[byte]byte{'<': '>', '{': '}', '\'': '\''}[t.in[t.pos+2]]; ok {
				return t.nameRef(3, shut)
			}
		}
		return errors.New(`\k without a name`)
	case 'g':
		return t.numberRef()
	}
	if c >= '1' && c <= '9' && !t.octal() {
		return t.digitRef()
	}
	r, err := t.char()
	if err != nil {
		return err
	}
	t.literal(r)
	return nil
}

// octal says whether the backslash is followed by three octal digits.
func (t *translator) octal() bool {
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

// quoted reads \Q…\E.
func (t *translator) quoted() error {
	text, _, found := strings.Cut(t.in[t.pos+2:], `\E`)
	t.pos += 2 + len(text)
	if found {
		t.pos += 2
	}
	for _, r := range text {
		t.literal(r)
	}
	return nil
}

// property reads \p{L}, \pL and their negations.
func (t *translator) property() error {
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
	t.begin()
	t.both("\\" + letter + "{" + name + "}")
	return nil
}

// ref emits a back-reference to a group.
func (t *translator) ref(n int) error {
	if n < 1 {
		return errors.New("a back-reference to no group")
	}
	t.backtracks, t.refers = true, true
	t.begin()
	t.full = append(t.full, "\\k<"+strconv.Itoa(n)+">"...)
	if t.outline {
		t.linear = append(t.linear, '.')
	}
	return nil
}

// nameRef reads a name that begins skip bytes from here and its closing byte.
func (t *translator) nameRef(skip int, shut byte) error {
	name, _, ok := strings.Cut(t.in[t.pos+skip:], string(shut))
	if !ok {
		return errors.New("malformed back-reference")
	}
	t.pos += skip + len(name) + 1
	return t.ref(t.groupNumber(name))
}

// numberRef reads \g1, \g{-1} and \g{name}.
func (t *translator) numberRef() error {
	rest := t.in[t.pos+2:]
	if strings.HasPrefix(rest, "{") {
		return t.nameRef(3, '}')
	}
	if rest == "" || rest[0] == '<' || rest[0] == '\'' {
		return errors.New("subroutines are not supported")
	}
	size := 0
	for size < len(rest) && (rest[size] >= '0' && rest[size] <= '9' || size == 0 && rest[0] == '-') {
		size++
	}
	t.pos += 2 + size
	return t.ref(t.groupNumber(rest[:size]))
}

// digitRef reads \1 to \99.
func (t *translator) digitRef() error {
	size := 2
	if t.pos+2 < len(t.in) && t.in[t.pos+2] >= '0' && t.in[t.pos+2] <= '9' {
		size = 3
	}
	n := t.groupNumber(t.in[t.pos+1 : t.pos+size])
	t.pos += size
	return t.ref(n)
}

// controls are the escapes of single characters.
var controls = map[byte]rune{'a': 7, 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// char reads an escape that stands for one character.
func (t *translator) char() (rune, error) {
	c, rest := t.in[t.pos+1], t.in[t.pos+2:]
	if r, ok := controls[c]; ok {
		t.pos += 2
		return r, nil
	}
	switch {
	case c == 'x' && strings.HasPrefix(rest, "{"):
		digits, _, ok := strings.Cut(rest[1:], "}")
		if !ok {
			return 0, errors.New(`malformed \x{…}`)
		}
		return t.number(digits, 16, 4+len(digits))
	case c == 'x':
		n := 0
		for n < 2 && n < len(rest) && isHex(rest[n]) {
			n++
		}
		return t.number("0"+rest[:n], 16, 2+n)
	case c == 'u' && len(rest) >= 4:
		return t.number(rest[:4], 16, 6)
	case c == 'c' && rest != "":
		t.pos += 3
		return rune(rest[0]) & 0x1f, nil
	case c >= '0' && c <= '7':
		n := 0
		for n < 2 && n < len(rest) && rest[n] >= '0' && rest[n] <= '7' {
			n++
		}
		return t.number(t.in[t.pos+1:t.pos+2+n], 8, 2+n)
	case isWord(c) && c != '_':
		return 0, fmt.Errorf(`\%c is not known`, c)
	}
	r, size := utf8.DecodeRuneInString(t.in[t.pos+1:])
	t.pos += 1 + size
	return r, nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// number makes a character of digits and skips the whole escape.
func (t *translator) number(digits string, base, size int) (rune, error) {
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune || n >= 0xd800 && n < 0xe000 {
		return 0, errors.New("an escape that is no character")
	}
	t.pos += size
	return rune(n), nil
}

// class reads a set in brackets.
func (t *translator) class() error {
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
		item, lo, err := t.classItem()
		if err != nil {
			return err
		}
		rest := t.in[t.pos:]
		if lo < 0 || len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
			out += item
			continue
		}
		t.pos++
		upper, hi, err := t.classItem()
		switch {
		case err != nil:
			return err
		case hi < 0: // [a-\d] is a, a hyphen, digits
			out += item + `\-` + upper
		case hi < lo:
			return errors.New("a range of characters out of order")
		default:
			out += item + "-" + upper
		}
	}
	t.begin()
	t.both(out + "]")
	return nil
}

// classItem reads one member of a set. lo is the character, or -1 for a set.
func (t *translator) classItem() (text string, lo rune, err error) {
	rest := t.in[t.pos:]
	if rest == "" {
		return "", 0, errors.New("a bracket is not closed")
	}
	if strings.HasPrefix(rest, "[:") {
		if name, _, ok := strings.Cut(rest[2:], ":]"); ok {
			set, known := posix[strings.TrimPrefix(name, "^")]
			if known && !strings.HasPrefix(name, "^") {
				t.pos += len(name) + 4
				return set, -1, nil
			}
			if known {
				return "", 0, errors.New("negated POSIX classes are not supported")
			}
		}
	}
	if rest[0] != '\\' {
		r, size := utf8.DecodeRuneInString(rest)
		t.pos += size
		return quote(r), r, nil
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
		if err := t.property(); err != nil {
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
	r, err := t.char()
	return quote(r), r, err
}

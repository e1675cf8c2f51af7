package lang

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Escapes are the escapes of a language's strings, each a backslash and a letter.
type Escapes struct {
	// Letters gives the value of the letters that stand for themselves.
	Letters map[byte]string
	// Digits gives the least and the greatest number of hexadecimal digits behind the
	// letters that take some: 'u' → {4, 4}.
	Digits map[byte][2]int
}

// Unescape resolves the escapes of a text; invalid ones stay. Two halves of a
// surrogate pair become one character.
func (e *Escapes) Unescape(s string) string {
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s
	}
	var b strings.Builder
	for at >= 0 && at+1 < len(s) {
		b.WriteString(s[:at])
		s = s[at:]
		if v, ok := e.Letters[s[1]]; ok {
			b.WriteString(v)
			s = s[2:]
		} else if r, n := e.decodeDigits(s); n > 0 {
			s = s[n:]
			if utf16.IsSurrogate(r) {
				if low, n := e.decodeDigits(s); n > 0 && utf16.DecodeRune(r, low) != utf8.RuneError {
					r, s = utf16.DecodeRune(r, low), s[n:]
				}
			}
			b.WriteRune(r)
		} else {
			b.WriteString(s[:2])
			s = s[2:]
		}
		at = strings.IndexByte(s, '\\')
	}
	b.WriteString(s)
	return b.String()
}

// decodeDigits returns the character and the length of an escape with digits at the start
// of the text; 0 when there is none.
func (e *Escapes) decodeDigits(s string) (rune, int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	bounds, ok := e.Digits[s[1]]
	if !ok {
		return 0, 0
	}
	n := 0
	for n < bounds[1] && 2+n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[2+n]) >= 0 {
		n++
	}
	if n < bounds[0] {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[2:2+n], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), 2 + n
}

package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file knows how a value may be written. What is written character by character
// (percent, HTML, JSON, a quote of the shell) is told by the matcher; what is written as a
// whole (base64, hexadecimal) is a pattern of its own.

// minInner is how long the part of a base64 text is at least that stands for a secret
// wherever it stands in the encoded text.
// Shorter parts of base64 occur by chance.
const minInner = 10

// encodeValue returns the value itself, and its encodings as a whole.
func encodeValue(value string) []string {
	out := []string{value}
	b := []byte(value)
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if text := enc.EncodeToString(b); len(text) >= minInner {
			out = append(out, text)
		}
		// Within a longer text the value begins at one of three places of a group: the
		// characters that hold nothing but the value are the same in all such texts.
		for shift := range 3 {
			text := enc.EncodeToString(append(make([]byte, shift), b...))
			// From the first to the last character whose six bits all belong to the value.
			from, to := (shift*8+5)/6, (shift+len(b))*8/6
			if to-from >= minInner {
				out = append(out, text[from:to])
			}
		}
	}
	// Three bytes as six hexadecimal digits are a color or a part of an id.
	if len(b) >= 4 {
		out = append(out, hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)))
	}
	return out
}

// A unit is an escaped character: what it stands for, and how long it is.
type unit struct {
	text string
	size int
}

// entities are the characters that HTML names, of those that secrets have.
// size is the length of the reference in entityNames at the same index.
var entities = []unit{{"&", 5}, {"<", 4}, {">", 4}, {`"`, 6}, {"'", 6}}

// entityNames are the named character references of HTML that encoders produce.
var entityNames = []string{"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"}

// maxUnit bounds an escaped character, in bytes.
// For example a numeric reference within an encoded ampersand, such as "&amp;#x0000027;".
const maxUnit = 16

// decodeAt returns what the character at i may stand for beside itself.
func decodeAt(text string, i int) []unit {
	rest := text[i:min(len(text), i+maxUnit)]
	switch rest[0] {
	case '%':
		return decodePercent(rest)
	case '+':
		// A plus is a space in forms (application/x-www-form-urlencoded).
		return []unit{{" ", 1}}
	case '&':
		return decodeEntity(rest)
	case '\\':
		return decodeBackslash(rest)
	case '\'':
		if strings.HasPrefix(rest, `'\''`) { // a quote within quotes of a shell
			return []unit{{"'", 4}}
		}
	}
	return nil
}

// decodePercent reads %XX, also where the percent sign is encoded itself, twice at most.
func decodePercent(rest string) []unit {
	var out []unit
	// "%41", "%2541" and "%252541" are all an A.
	for skip := 1; skip <= 5 && len(rest) >= skip+2; skip += 2 {
		n, err := strconv.ParseUint(rest[skip:skip+2], 16, 8)
		if err != nil {
			break
		}
		out = append(out, unit{string([]byte{byte(n)}), skip + 2})
		if n == '+' {
			out = append(out, unit{" ", skip + 2}) // a space that was written as a plus before
		}
		if n != '%' {
			break
		}
	}
	return out
}

// isHex reports whether the byte is a hexadecimal digit.
func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// decodeEntity reads a character reference of HTML, also one whose & is written as &amp;.
func decodeEntity(rest string) []unit {
	var out []unit
	for n, name := range entityNames {
		if strings.HasPrefix(rest, name) {
			out = append(out, unit{entities[n].text, len(name)})
		}
	}
	inner, before := rest, 0
	if after, ok := strings.CutPrefix(rest, "&amp;"); ok {
		inner, before = "&"+after, len("amp;")
		for n, name := range entityNames {
			if strings.HasPrefix(inner, name) {
				out = append(out, unit{entities[n].text, before + len(name)})
			}
		}
	}
	digits, ok := strings.CutPrefix(inner, "&#")
	if !ok {
		return out
	}
	// 21 bits are enough for every code point.
	number, _, ok := strings.Cut(digits, ";")
	base, skip := 10, 0
	if ok && number != "" && (number[0] == 'x' || number[0] == 'X') {
		base, skip = 16, 1
	}
	if n, err := strconv.ParseUint(number[min(skip, len(number)):], base, 21); ok && err == nil &&
		utf8.ValidRune(rune(n)) {
		out = append(out, unit{string(rune(n)), before + len("&#;") + len(number)})
	}
	return out
}

// decodeBackslash reads an escaped character of JSON, a shell or a program. JSON within JSON
// has several backslashes.
func decodeBackslash(rest string) []unit {
	skip := 1
	for skip < len(rest) && rest[skip] == '\\' {
		skip++
	}
	var out []unit
	for n := 2; n <= skip; n++ { // pairs of backslashes, and pairs of pairs
		// Each level of JSON doubles the number of backslashes: powers of two stand for one.
		if n&(n-1) == 0 {
			out = append(out, unit{`\`, n})
		}
	}
	if skip == len(rest) {
		return out
	}
	switch c := rest[skip]; c {
	case '"', '\'', '/', '$', '`':
		out = append(out, unit{string(c), skip + 1})
	case 'n':
		out = append(out, unit{"\n", skip + 1})
	case 'r':
		out = append(out, unit{"\r", skip + 1})
	case 't':
		out = append(out, unit{"\t", skip + 1})
	case 'u', 'x':
		// \u0041 and \x41.
		size := map[byte]int{'u': 4, 'x': 2}[c]
		if len(rest) < skip+1+size {
			return out
		}
		if n, err := strconv.ParseUint(rest[skip+1:skip+1+size], 16, 16); err == nil && utf8.ValidRune(rune(n)) {
			out = append(out, unit{string(rune(n)), skip + 1 + size})
		}
	}
	return out
}

// matchEncoded returns where the pattern ends that begins at i of the text, in any mixture of
// encodings; 0: it does not begin there.
func matchEncoded(text string, i int, pattern string) int {
	matched := 0
	// The fast path: nearly all text has no escaped characters and is compared byte by byte.
	for i < len(text) && !escapes[text[i]] {
		if text[i] != pattern[matched] {
			return 0
		}
		i++
		if matched++; matched == len(pattern) {
			return i
		}
	}
	return matchEscaped(text, i, pattern, matched)
}

// matchEscaped goes on where the text may be escaped. It follows all readings at once and
// none twice, so that its work is bounded by the length of the pattern.
func matchEscaped(text string, i int, pattern string, matched int) int {
	type state struct{ at, matched int }
	now := []state{{i, matched}}
	seen := map[state]bool{}
	for len(now) > 0 {
		s := now[len(now)-1]
		now = now[:len(now)-1]
		if s.matched == len(pattern) {
			return s.at
		}
		if s.at >= len(text) {
			continue
		}
		// A character may stand for itself and for what it decodes to, as "+" does.
		readings := append(decodeAt(text, s.at), unit{text[s.at : s.at+1], 1})
		for _, u := range readings {
			next := state{s.at + u.size, s.matched + len(u.text)}
			if strings.HasPrefix(pattern[s.matched:], u.text) && !seen[next] {
				seen[next] = true
				now = append(now, next)
			}
		}
	}
	return 0
}

// escapes are the characters that escaped ones begin with.
var escapes = [256]bool{'%': true, '+': true, '&': true, '\\': true, '\'': true}

// isWholeWord reports whether the text from start to end is a word of its own.
func isWholeWord(text string, start, end int) bool {
	if end < len(text) && isWord(text[end]) {
		return false
	}
	if start == 0 || !isWord(text[start-1]) {
		return true
	}
	switch { // what stands before may be an escaped character
	// In "a%3Dsecret" the D before the secret belongs to an encoded separator.
	case start >= 3 && text[start-3] == '%' && isHex(text[start-2]) && isHex(text[start-1]):
		n, err := strconv.ParseUint(text[start-2:start], 16, 8)
		return err == nil && !isWord(byte(n))
	case start >= 2 && text[start-2] == '\\':
		return true
	case start >= 6 && text[start-6] == '\\' && text[start-5] == 'u':
		return true
	}
	return false
}

// isWord reports whether the byte is part of a word, for values that are replaced as whole words
// only.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

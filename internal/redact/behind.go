package redact

import (
	"regexp"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file replaces values behind their name: in an address, a form, a header, JSON, a
// program, an attribute, a part of a multipart body.

// A weakSecret secret is a value that is replaced behind its names alone.
// A PIN such as "1234" or a user name such as "admin" is in many places of a report; only the
// place behind its name is the secret.
type weakSecret struct {
	value    string
	names    []string // in lower case
	password bool     // all names of passwords
}

// maxNameWindow bounds how far before a value its name is looked for, in bytes.
// A name and its separators are short; the limit keeps the search linear in the text.
const maxNameWindow = 400

// replaceBehind replaces the value behind its names.
func (w *weakSecret) replaceBehind(text string) string {
	var b strings.Builder
	done := 0
	for from := 0; ; {
		at := strings.Index(text[from:], w.value)
		if at < 0 {
			break
		}
		at += from
		end := at + len(w.value)
		// Occurrences may overlap, as "11" in "111".
		from = at + 1
		// "12" in "password=123" is not the value. What was replaced already does not count as a
		// name.
		if end < len(text) && isWord(text[end]) || !w.isNamed(text[max(done, at-maxNameWindow):at]) {
			continue
		}
		b.WriteString(text[done:at])
		b.WriteString(finding.Redacted)
		done, from = end, end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// isNamed reports whether one of the names stands before what follows the text.
func (w *weakSecret) isNamed(before string) bool {
	name := strings.ToLower(nameBefore(before))
	return name != "" && (slices.Contains(w.names, name) || w.password && password.MatchString(name))
}

// What may stand around a name and its value.
var (
	quotes = []string{`"`, "'", `\`, "&quot;", "&#34;", "%22"}
	// ] ends a name such as user[password].
	closing = append([]string{"]", "%5D", "%5d"}, quotes...)
	// Longer ones first: "=>" ends with a character that is no separator by itself.
	separators = []string{"=>", "=&gt;", "=", ":", "%3D", "%3d", "%3A", "%3a"}
)

// nameBefore returns the name of the value that follows the text; "" when there is none.
func nameBefore(before string) string {
	// The name is in the Content-Disposition header of the part (RFC 7578).
	if strings.HasSuffix(before, "\n\n") || strings.HasSuffix(before, "\r\n\r\n") { // of a part of a multipart body
		return lastAttribute(before, "\n--")
	}
	rest := strings.TrimRight(trimSuffixes(before, quotes), " \t")
	separated := ""
	for _, s := range separators {
		if after, ok := strings.CutSuffix(rest, s); ok {
			rest, separated = after, s
			break
		}
	}
	if separated == "" {
		return ""
	}
	rest = trimSuffixes(strings.TrimRight(rest, " \t"), closing)
	start := len(rest)
	// The characters of names of parameters, headers and members.
	for start > 0 && (isWord(rest[start-1]) && rest[start-1] < 0x80 || strings.IndexByte("_.-", rest[start-1]) >= 0) {
		start--
	}
	if start > 0 && rest[start-1] == '%' && len(rest)-start >= 2 && isHex(rest[start]) && isHex(rest[start+1]) {
		start += 2 // of a bracket in front of the name: form%5Bname%5D
	}
	// In markup the attribute value stands behind the name of the field.
	if name := rest[start:]; !strings.EqualFold(name, "value") {
		return name
	}
	return lastAttribute(rest[:start], "<") // <input name="x" value="y">
}

// lastAttribute returns the last attribute name of a text, behind the last begin.
func lastAttribute(text, begin string) string {
	text = text[strings.LastIndex(text, begin)+1:]
	at := strings.LastIndex(text, "name=")
	if at < 0 {
		return ""
	}
	name := strings.TrimLeft(text[at+len("name="):], `"'`)
	end := strings.IndexAny(name, "\"' >;\r\n")
	if end < 0 {
		end = len(name)
	}
	return name[:end]
}

// trimSuffixes removes the suffixes from the end of a text, as often as they stand there.
func trimSuffixes(text string, suffixes []string) string {
	for again := true; again; {
		again = false
		for _, s := range suffixes {
			if rest, ok := strings.CutSuffix(text, s); ok {
				text, again = rest, true
			}
		}
	}
	return text
}

// What binds a form to a session is another value on each page: it is known by its name,
// and its value has a length.
var (
	// Anti-CSRF tokens: common frameworks name them with one of these words.
	bindings   = []string{"csrf", "xsrf", "authenticity_token", "requestverificationtoken"}
	boundValue = regexp.MustCompile(`^[\w.-]*(?:(?:["'\\\]]|&quot;|&#34;|%22|%5[Dd])*\s*(?:=>|=|:|%3[Dd]|%3[Aa])\s*(?:["'\\]|&quot;|&#34;|%22)*|["'][^<>\r\n]{0,100}?\svalue=["']?|"\r?\n\r?\n)([A-Za-z0-9+/=_.%-]{8,})`)
)

// replaceBindings replaces the values of such names.
func replaceBindings(text string) string {
	lower := asciiLower(text)
	if !slices.ContainsFunc(bindings, func(name string) bool { return strings.Contains(lower, name) }) {
		return text
	}
	var b strings.Builder
	done := 0
	for _, at := range findWords(lower, bindings) {
		// Within a value that was replaced.
		if at < done {
			continue
		}
		// 2048 bytes cover a name, its separators and the longest tokens.
		m := boundValue.FindStringSubmatchIndex(text[at:min(len(text), at+2048)])
		if m == nil {
			continue
		}
		b.WriteString(text[done : at+m[2]])
		b.WriteString(finding.Redacted)
		done = at + m[3]
	}
	b.WriteString(text[done:])
	return b.String()
}

// asciiLower keeps the length of a text, as strings.ToLower does not.
// strings.ToLower may change the length ("İ"), and positions in both texts must agree.
func asciiLower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// findWords returns where one of the words stands, in order.
func findWords(text string, words []string) (out []int) {
	for _, word := range words {
		for from := 0; ; {
			at := strings.Index(text[from:], word)
			if at < 0 {
				break
			}
			out = append(out, from+at)
			from += at + len(word)
		}
	}
	slices.Sort(out)
	return out
}

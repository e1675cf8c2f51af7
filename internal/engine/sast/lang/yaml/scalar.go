package yaml

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file gives scalars their values (YAML 1.2.2, chapters 7 and 8).

// foldLines joins the lines of a flow scalar: a line break is a blank, empty lines are
// line breaks.
// A flow scalar may span lines in any style but block; the lines are folded (YAML 1.2.2, 6.5).
func foldLines(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	var b strings.Builder
	empty := 0
	for n, line := range lines {
		// Indentation and trailing white space of the lines are no content; only at the very
		// beginning and end they are.
		if n > 0 {
			line = strings.TrimLeft(line, " \t")
		}
		if n < len(lines)-1 {
			line = strings.TrimRight(line, " \t")
		}
		switch {
		case n == 0:
		case line == "" && n < len(lines)-1:
			empty++
			continue
		// n empty lines between two lines are n line breaks in place of the blank.
		case empty > 0:
			b.WriteString(strings.Repeat("\n", empty))
			empty = 0
		default:
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// trimQuotes returns what is between the quotes.
func trimQuotes(s string) string {
	if len(s) < 2 {
		return s
	}
	return s[1 : len(s)-1]
}

// singleQuoted returns the value of a text in single quotes, in which two of them are one.
func singleQuoted(s string) string { return strings.ReplaceAll(foldLines(trimQuotes(s)), "''", "'") }

// escapes are those of scalars in double quotes (YAML 1.2, 5.7).
// "\N", "\_", "\L" and "\P" are next line, no-break space, line separator and paragraph
// separator.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ",
	'"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// digits are the numbers of hexadecimal digits of the escapes of characters.
var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// doubleQuoted resolves the escapes; what is none stays.
// An invalid escape is an error for a parser; here the text stays as it is, as a rule may
// still match it.
func doubleQuoted(s string) string {
	s = trimQuotes(s)
	if strings.IndexByte(s, '\\') < 0 {
		return foldLines(s)
	}
	// Escaped line breaks are removed before folding, since they must not become blanks.
	s = foldLines(joinEscaped(s))
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		c := s[i+1]
		if text, ok := escapes[c]; ok {
			b.WriteString(text)
			i++
			continue
		}
		if n := digits[c]; n > 0 && i+2+n <= len(s) {
			if v, err := strconv.ParseUint(s[i+2:i+2+n], 16, 32); err == nil && v <= utf8.MaxRune {
				b.WriteRune(rune(v))
				i += 1 + n
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// joinEscaped removes line breaks that are escaped, with the white space that
// follows.
// A backslash at the end of a line joins the lines without a blank.
func joinEscaped(s string) string {
	if !strings.Contains(s, "\\\n") && !strings.Contains(s, "\\\r\n") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if rest := strings.TrimPrefix(s[i+1:], "\r"); strings.HasPrefix(rest, "\n") {
			i = len(s) - len(strings.TrimLeft(rest[1:], " \t")) - 1
			continue
		}
		// Other escapes are kept whole, so that "\\" does not escape what follows.
		b.WriteString(s[i : i+2])
		i++
	}
	return b.String()
}

// blockText returns the value of a block scalar, its header included in s.
// The header has the style (| or >), the indentation and the chomping sign in any order:
// "|2-".
func blockText(s string) string {
	header, body, _ := strings.Cut(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	// A comment may follow the header.
	header, _, _ = strings.Cut(header, "#")
	lines := strings.Split(body, "\n")
	// The first line with content sets the indentation.
	indent := -1
	for _, line := range lines {
		if text := strings.TrimLeft(line, " "); text != "" {
			indent = len(line) - len(text)
			break
		}
	}
	for n, line := range lines {
		lines[n] = line[min(len(line), max(indent, 0)):]
		if indent < 0 || strings.TrimLeft(line, " ") == "" && len(line) <= indent {
			lines[n] = ""
		}
	}
	text := strings.Join(lines, "\n")
	if strings.HasPrefix(header, ">") {
		text = foldBlock(lines)
	}
	// "-" strips all trailing line breaks, "+" keeps them, and without a sign one remains (YAML
	// 1.2.2, 8.1.1.2).
	switch trimmed := strings.TrimRight(text, "\n"); {
	case strings.Contains(header, "-"), trimmed == "":
		return trimmed
	case strings.Contains(header, "+"):
		return strings.TrimSuffix(text, "\n") + "\n" // the grammar leaves empty lines out
	default:
		return trimmed + "\n"
	}
}

// foldBlock joins lines by blanks, but for empty and further indented ones.
// Further indented lines are kept as they are, for code samples in a folded text.
func foldBlock(lines []string) string {
	var b strings.Builder
	for n, line := range lines {
		if n > 0 {
			before := lines[n-1]
			switch {
			case isSpaced(line) || isSpaced(before), line == "":
				b.WriteByte('\n')
			case before != "":
				b.WriteByte(' ')
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// isSpaced reports whether a line begins with white space, which folding keeps.
func isSpaced(line string) bool { return line != "" && (line[0] == ' ' || line[0] == '\t') }

package python

import (
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/sast/lang"
)

// contexts are what fragments that are no statements need around them.
var contexts = []lang.Context{
	{},
	{Before: "", After: "\n  pass"},          // "if $C:", "class $C($B):"
	{Before: "", After: "\ndef qzf(): pass"}, // "@$D(...)"
	{Before: "try:\n  pass\n", After: ""},    // "except $E: ..."
	{Before: "try:\n  pass\n", After: "\n  pass"}, // "except $E:"
	{Before: "qzf(", After: ")"},                  // "*$X", "key=$V, ..."
	{Before: "{", After: "}"},                     // "'k': $V, ..."
	{Before: "match qz:\n ", After: ""},           // "case $P: ..."
	{Before: "def qzf(", After: "): pass"},        // "$X: int = $Y, ..."
	{Before: "def qzf():\n  return ", After: ""},  // fragments that want a function
	{Before: "from qzm import (", After: ")"},     // "$X as $Y"
}

// preparePattern makes a fragment fit for the grammar: it removes the indentation that all
// lines share, gives an ellipsis among the pairs of a dictionary stars, and, as
// another try, makes typed metavariables calls.
func preparePattern(text string) []string {
	text = spellDictionaryEllipses(removeIndentation(text))
	if typed := typedMetavariables(text); typed != text {
		return []string{text, typed}
	}
	return []string{text}
}

// removeIndentation removes blank lines around the text, and the indentation of the first line
// from every line that has it.
func removeIndentation(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return ""
	}
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, indent)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), " \t\n")
}

// A bracket is a pair of brackets in a fragment, with the elements between them.
type bracket struct {
	open     int
	kind     byte
	elements []element
}

// element is an entry of a dictionary between two commas of a pattern.
type element struct {
	start, end int
	colon      bool // one stands outside of inner brackets
}

// findBrackets finds the pairs of brackets of a text; strings and comments are passed
// over.
func findBrackets(text string) []bracket {
	var done, stack []bracket
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			i = skipString(text, i)
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '(', '[', '{':
			stack = append(stack, bracket{open: i, kind: c, elements: []element{{start: i + 1}}})
		}
		n := len(stack) - 1
		if n < 0 || i >= len(text) {
			continue
		}
		last := &stack[n].elements[len(stack[n].elements)-1]
		switch text[i] {
		case ':':
			last.colon = true
		case ',':
			last.end = i
			stack[n].elements = append(stack[n].elements, element{start: i + 1})
		case ')', ']', '}':
			last.end = i
			done = append(done, stack[n])
			stack = stack[:n]
		}
	}
	return done
}

// skipString returns the index of the last byte of the string that begins at i.
func skipString(text string, i int) int {
	quote := text[i : i+1]
	if strings.HasPrefix(text[i:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	for j := i + len(quote); j < len(text); j++ {
		switch {
		case text[j] == '\\':
			j++
		case strings.HasPrefix(text[j:], quote):
			return j + len(quote) - 1
		}
	}
	return len(text)
}

// An edit puts text in the place of a part.
type edit struct {
	start, end int
	text       string
}

// applyEdits makes the edits, which do not overlap.
func applyEdits(text string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return b.start - a.start })
	for _, e := range edits {
		text = text[:e.start] + e.text + text[e.end:]
	}
	return text
}

// spellDictionaryEllipses makes "..." among pairs "**...": a mere name would not be a pair.
func spellDictionaryEllipses(text string) string {
	var edits []edit
	for _, b := range findBrackets(text) {
		if b.kind != '{' {
			continue
		}
		pairs := len(b.elements) == 1
		for _, e := range b.elements {
			pairs = pairs || e.colon
		}
		if !pairs {
			continue
		}
		for _, e := range b.elements {
			if word := strings.TrimSpace(text[e.start:e.end]); word == "..." || strings.HasPrefix(word, "$...") {
				edits = append(edits, edit{e.start, e.end, "**" + word})
			}
		}
	}
	return applyEdits(text, edits)
}

var (
	typedElement = regexp.MustCompile(`^\s*(\$[A-Z_][A-Z_0-9]*)\s*:\s*([^=\s].*?)\s*$`)
	afterDef     = regexp.MustCompile(`\bdef\s+[\w$.]+\s*$`)
)

// typedMetavariables makes "($X : T)" a call of lang.TypedName.
func typedMetavariables(text string) string {
	var edits []edit
	for _, b := range findBrackets(text) {
		if b.kind != '(' || afterDef.MatchString(text[:b.open]) {
			continue
		}
		for _, e := range b.elements {
			if m := typedElement.FindStringSubmatch(text[e.start:e.end]); e.colon && m != nil {
				edits = append(edits, edit{e.start, e.end, lang.TypedName + "(" + m[2] + ", " + m[1] + ")"})
			}
		}
	}
	return applyEdits(text, edits)
}

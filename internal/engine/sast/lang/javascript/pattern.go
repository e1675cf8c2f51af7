package javascript

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
)

// patterns returns how fragments are parsed. The order of the contexts decides what
// an ambiguous one means: braces are an object before a block, a name with a colon a
// property before a label.
func patterns(others ...*lang.Language) lang.Patterns {
	return lang.Patterns{
		Sigil:  true,
		Spread: true,
		Contexts: []lang.Context{
			{Before: "(", After: ")", Only: regexp.MustCompile(`^\{`)},
			{Before: "({", After: "})", Only: regexp.MustCompile(`^(?:[\w$]+|"[^"]*"|'[^']*'|\[[^\]]*\])\s*:`)},
			{},
			{Before: "(", After: ")"},
			{Before: "try {} ", Only: regexp.MustCompile(`^(?:catch|finally)\b`)},
			{Before: "class A {", After: "}"},
			{After: " class A {}", Only: regexp.MustCompile(`^@`)},
			{Before: "switch (a) {", After: "}", Only: regexp.MustCompile(`^(?:case|default)\b`)},
			{Before: "async function* a() {", After: "}"},
			{Before: "({", After: "})"},
			{Before: "interface A {", After: "}"},
			{Before: "let a: ", After: ";"},
			{Before: "<a ", After: " />"},
		},
		Prepare: prepare,
		Else:    others,
	}
}

var (
	forAny    = regexp.MustCompile(`\bfor\s*\(\s*\.\.\.\s*\)`)
	fromName  = regexp.MustCompile(`\bfrom\s+(\$[A-Z_][A-Z_0-9]*)\b`)
	bareValue = regexp.MustCompile(`([\w$-]+)=(\$[A-Z_][A-Z_0-9]*|\.\.\.)(\s|/?>)`)
	anyName   = regexp.MustCompile(`\bfunction\s*\.\.\.\s*\(`)
)

// prepare returns the spellings of a fragment that are tried: as it is, with
// semicolons at ellipses that stand among statements, with braces around the values
// of attributes.
func prepare(text string) []string {
	text = forAny.ReplaceAllString(text, "for (...;;)")
	text = anyName.ReplaceAllString(text, "function "+lang.EllipsisName+"(")
	text = fromName.ReplaceAllString(text, `from "$1"`)
	all := []string{text}
	if s := separate(text); s != text {
		all = append(all, s)
	}
	if strings.Contains(text, "<") {
		braced := bareValue.ReplaceAllString(text, "$1={$2}$3")
		if braced != text {
			all = append(all, braced, separate(braced))
		}
	}
	return all
}

// separate puts semicolons around the ellipses that stand among statements or
// members and not in brackets.
func separate(text string) string {
	var b strings.Builder
	var brackets []byte
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' && i+1 < len(text) {
				b.WriteByte(c)
				i++
				c = text[i]
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			brackets = append(brackets, c)
		case c == ')' || c == ']' || c == '}':
			brackets = brackets[:max(0, len(brackets)-1)]
		case strings.HasPrefix(text[i:], "...") && (len(brackets) == 0 || brackets[len(brackets)-1] == '{'):
			separateOne(&b, text, i)
			i += 2
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// separateOne writes the ellipsis at the place with the semicolons that it needs.
func separateOne(b *strings.Builder, text string, i int) {
	before := strings.TrimRight(text[:i], " \t\r\n")
	after := strings.TrimLeft(text[i+3:], " \t\r\n")
	spread := len(after) == len(text)-i-3 && after != "" && (after[0] == '$' || after[0] == '{' || after[0] == '[')
	if strings.HasSuffix(before, ")") && !spread {
		b.WriteByte(';')
	}
	b.WriteString("...")
	if after != "" && !spread && !strings.ContainsRune(",;)]}.=:>/+-*&|?", rune(after[0])) {
		b.WriteByte(';')
	}
}

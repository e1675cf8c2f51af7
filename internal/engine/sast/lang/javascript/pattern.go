package javascript

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
)

// newPatterns returns how fragments are parsed. The order of the contexts decides what
// an ambiguous one means: braces are an object before a block, a name with a colon a
// property before a label.
func newPatterns(others ...*lang.Language) lang.Patterns {
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
		Prepare: preparePattern,
		Else:    others,
	}
}

var (
	forAny    = regexp.MustCompile(`\bfor\s*\(\s*\.\.\.\s*\)`)
	fromName  = regexp.MustCompile(`\bfrom\s+(\$[A-Z_][A-Z_0-9]*)\b`)
	bareValue = regexp.MustCompile(`([\w$-]+)=(\$[A-Z_][A-Z_0-9]*|\.\.\.)(\s|/?>)`)
	anyName   = regexp.MustCompile(`\bfunction\s*\.\.\.\s*\(`)
)

// preparePattern returns the spellings of a fragment that are tried: with semicolons at
// ellipses that stand among statements, as it is, with a body if it is a head alone,
// with braces around the values of attributes.
func preparePattern(text string) []string {
	text = forAny.ReplaceAllString(text, "for (...;;)")
	text = anyName.ReplaceAllString(text, "function "+lang.EllipsisName+"(")
	text = fromName.ReplaceAllString(text, `from "$1"`)
	all := []string{addSemicolons(text)}
	if all[0] != text {
		all = append(all, text)
	}
	if whole := completeHead(text); whole != text {
		all = append(all, whole)
	}
	if strings.Contains(text, "<") {
		braced := bareValue.ReplaceAllString(text, "$1={$2}$3")
		if braced != text {
			all = append(all, braced, addSemicolons(braced))
		}
	}
	return all
}

var (
	headOfClass    = regexp.MustCompile(`^(?:(?:export|default|abstract)\s+)*class\b[^{]*$`)
	headOfBranch   = regexp.MustCompile(`^(?:if|while|for|switch|with)\s*\(`)
	headOfFunction = regexp.MustCompile(`^(?:@[\w$.]+(?:\([^()]*\))?\s+)*(?:async\s+|function\b\s*)*[\w$]*\s*\([^{}]*\)(?:\s*:[^{}]+)?$`)
)

// completeHead gives a head that stands alone a body of any content.
func completeHead(text string) string {
	trimmed := strings.TrimSpace(text)
	switch {
	case headOfClass.MatchString(trimmed):
		return trimmed + " { ... }"
	case headOfBranch.MatchString(trimmed):
		return trimmed + " ..."
	case headOfFunction.MatchString(trimmed):
		return trimmed + " { ... }"
	}
	return text
}

// quotedEnd returns where the text in quotes ends that begins at i, the end of the whole
// text when nothing closes it.
func quotedEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(text)
}

// addSemicolons puts semicolons behind the ellipses that stand among statements or
// members and not in brackets.
func addSemicolons(text string) string {
	var b strings.Builder
	var brackets []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.HasPrefix(text[i:], "//"):
			line, _, _ := strings.Cut(text[i:], "\n")
			b.WriteString(line)
			i += len(line) - 1
			continue
		case c == '"' || c == '\'' || c == '`':
			end := quotedEnd(text, i)
			b.WriteString(text[i:end])
			i = end - 1
			continue
		case c == '(' || c == '[' || c == '{':
			brackets = append(brackets, c)
		case c == ')' || c == ']' || c == '}':
			brackets = brackets[:max(0, len(brackets)-1)]
		case strings.HasPrefix(text[i:], "...") && !strings.HasSuffix(text[:i], "$") &&
			(len(brackets) == 0 || brackets[len(brackets)-1] == '{'):
			separateOne(&b, text, i)
			i += 2
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// statementEnds reports whether a statement may begin behind the text.
func statementEnds(before string) bool {
	if line := strings.LastIndexByte(before, '\n'); strings.HasPrefix(strings.TrimSpace(before[line+1:]), "//") {
		return true
	}
	return before == "" || !strings.ContainsRune("=,([+-*/&|?:.<>!~%^", rune(before[len(before)-1])) &&
		!keywordEnds.MatchString(before)
}

// keywordEnds finds a word behind which an expression stands.
var keywordEnds = regexp.MustCompile(`\b(?:return|throw|default|case|await|yield|new|typeof|delete|void|in|of|instanceof|extends|import|function|else|do)$`)

// afterComments returns what follows the blanks and the comments of lines.
func afterComments(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if !strings.HasPrefix(text, "//") {
			return text
		}
		_, text, _ = strings.Cut(text, "\n")
	}
}

// separateOne writes the ellipsis at the place with the semicolon that it needs.
func separateOne(b *strings.Builder, text string, i int) {
	before := strings.TrimRight(text[:i], " \t\r\n")
	after := afterComments(text[i+3:])
	spread := strings.HasPrefix(text[i+3:], after) && after != "" && (after[0] == '$' || after[0] == '{' ||
		after[0] == '[')
	b.WriteString("...")
	if after != "" && !spread && statementEnds(before) && !strings.ContainsRune(",;)]}.=:><+-*&|?", rune(after[0])) {
		b.WriteByte(';')
	}
}

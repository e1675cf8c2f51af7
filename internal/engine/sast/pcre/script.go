package pcre

import "strings"

// ScriptGrowth is GrowthOf for an expression in the syntax of ECMAScript. Expressions that are too
// long are called linear.
func ScriptGrowth(expr, letters string) Growth {
	if len(expr) > maxGrowing {
		return Linear
	}
	return GrowthOf(FromScript(expr, letters))
}

// FromScript returns an expression in the syntax of ECMAScript
// (https://tc39.es/ecma262/#sec-patterns) as this package knows it. Flags are its
// letters; the others but "i", "m" and "s" do not matter here.
func FromScript(expr, letters string) (string, Flags) {
	var flags Flags
	for _, c := range letters {
		switch c {
		case 'i':
			flags |= IgnoreCase
		case 'm':
			flags |= Multiline
		case 's':
			flags |= DotAll
		}
	}
	return rewriteScript(expr), flags
}

// SplitLiteral cuts a literal "/expression/flags".
func SplitLiteral(text string) (expr, letters string, ok bool) {
	end := strings.LastIndexByte(text, '/')
	if len(text) < 3 || text[0] != '/' || end == 0 {
		return "", "", false
	}
	return text[1:end], text[end+1:], true
}

// rewriteScript spells what ECMAScript has and PCRE2 has not: \u0061, \u{61}, and the classes of
// everything, [^], and of nothing, []. What is left is the same in both.
func rewriteScript(expr string) string {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(expr); {
		rest := expr[i:]
		if text, size := rewriteEscape(rest); size > 0 {
			b.WriteString(text)
			i += size
			continue
		}
		switch {
		case !inClass && strings.HasPrefix(rest, "[^]"):
			b.WriteString(`[\s\S]`)
			i += 3
		case !inClass && strings.HasPrefix(rest, "[]"):
			b.WriteString(`(?!)`)
			i += 2
		case inClass && rest[0] == '[':
			b.WriteString(`\[`)
			i++
		default:
			inClass = rest[0] == '[' || inClass && rest[0] != ']'
			b.WriteByte(rest[0])
			i++
		}
	}
	return b.String()
}

// rewriteEscape returns the spelling of an escape and how long it was, 0 for anything else.
func rewriteEscape(rest string) (text string, size int) {
	switch {
	case strings.HasPrefix(rest, `\u{`):
		return `\x{`, 3
	case strings.HasPrefix(rest, `\u`) && len(rest) >= 6:
		return `\x{` + rest[2:6] + `}`, 6
	case rest[0] == '\\' && len(rest) > 1:
		return rest[:2], 2
	}
	return "", 0
}

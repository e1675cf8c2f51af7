package bash

import (
	"regexp"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerWord lowers a word without quotes.
// A backslash takes the meaning of the next character: a\ b is one word with a blank.
func lowerWord(l *lang.Lowering, r tree.Role, i int32) {
	text := l.Source(i)
	if lang.Holder(text) {
		l.Put(tree.Name, r, text, i)
		return
	}
	l.Put(tree.String, r, removeBackslashes(text, ""), i)
}

// lowerNumberWord lowers a number: where words stand it is one.
// The grammar has a kind of its own for numbers; to a command it is a text as any other.
// "10#$x" has a child and is kept as it is.
func lowerNumberWord(l *lang.Lowering, r tree.Role, i int32) {
	if l.First(i) >= 0 {
		l.Fallback(r, i, l.Node)
		return
	}
	l.Same(tree.String, r, i)
}

// lowerRawString lowers text in single quotes, in which nothing is an escape.
// Nothing ends the text but the next single quote; a backslash is an ordinary character.
func lowerRawString(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, strings.Trim(l.Source(i), "'"), i)
}

// lowerAnsiString lowers $'…'.
// The escapes are those of C, which are close to those of Go: \n, \t, \x41, \u00e9. What Go
// does not accept stays as it is in the source.
func lowerAnsiString(l *lang.Lowering, r tree.Role, i int32) {
	text := strings.TrimSuffix(strings.TrimPrefix(l.Source(i), "$'"), "'")
	if s, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(text, `\'`, `'`), `"`, `\"`) +
		`"`); err == nil {
		text = s
	}
	l.Put(tree.String, r, text, i)
}

// lowerQuoted lowers "…".
// In double quotes a backslash only protects $, `, ", itself and the end of the line (POSIX,
// section 2.2.3).
func lowerQuoted(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	// The quotes do not belong to the text. A damaged text may be too short for both.
	if start+1 < end {
		start, end = start+1, end-1
	}
	lowerTemplate(l, parts{i: i, role: r, start: start, end: end, value: func(s string) string {
		return removeBackslashes(s, "$`\"\\\n")
	}})
}

// parts are a text with expansions in it.
// It is the common form of quoted texts, words and here-documents, which differ in the range
// and in the escapes.
type parts struct {
	// The concrete node.
	i int32
	// The role of the result in its parent.
	role tree.Role
	// The bytes of the text, without quotes.
	start, end uint32
	// Flags of the result: Raw for a here-document with a quoted delimiter.
	flags tree.Flags
	value func(string) string // resolves escapes
}

// signs finds the signs of patterns in a text.
// Signs of a pattern (rule) within a text: ellipsis, $...X and $X, as the preparation of
// patterns spells them.
var signs = regexp.MustCompile(`qzellipsis|qzmany_[A-Z_0-9]+|qzmv_[A-Z_0-9]+`)

// lowerTemplate adds a String, or a Template when expansions or signs of patterns are in
// it. The grammar leaves blanks out, so the text is what is between the expansions.
func lowerTemplate(l *lang.Lowering, p parts) {
	// Children that are no text: expansions, substitutions and arithmetic.
	var holes []int32
	for c := range l.Children(p.i) {
		if kind := l.Kind(c); kind != "string_content" && kind != "heredoc_content" {
			holes = append(holes, c)
		}
	}
	whole := l.File.Source[p.start:p.end]
	// Without any the text is a constant.
	if len(holes) == 0 && !signs.MatchString(whole) {
		l.Flag(l.Put(tree.String, p.role, p.value(whole), p.i), p.flags)
		return
	}
	l.Flag(l.Begin(tree.Template, p.role, p.i), p.flags)
	// at is the offset up to which the text has been added.
	at := p.start
	for _, c := range holes {
		start, end := l.Range(c)
		source := l.Source(c)
		start += uint32(len(source) - len(strings.TrimLeft(source, " \t\n"))) // the grammar counts them to it
		if at < start {
			lowerTexts(l, p, at, start)
		}
		l.Node(tree.RolePart, c)
		at = max(at, end)
	}
	if at < p.end {
		lowerTexts(l, p, at, p.end)
	}
	l.Close()
}

// lowerTexts adds a text between expansions; the signs of patterns in it are parts.
func lowerTexts(l *lang.Lowering, p parts, start, end uint32) {
	text := l.File.Source[start:end]
	at := 0
	for _, m := range signs.FindAllStringIndex(text, -1) {
		if at < m[0] {
			l.Leaf(tree.String, tree.RolePart, p.value(text[at:m[0]]), start+uint32(at), start+uint32(m[0]))
		}
		l.Leaf(tree.Name, tree.RolePart, text[m[0]:m[1]], start+uint32(m[0]), start+uint32(m[1]))
		at = m[1]
	}
	if at < len(text) {
		l.Leaf(tree.String, tree.RolePart, p.value(text[at:]), start+uint32(at), end)
	}
}

// lowerConcatenation lowers a word of several parts. Without expansions it is a String.
// An example is prefix-"$x".txt.
func lowerConcatenation(l *lang.Lowering, r tree.Role, i int32) {
	// plain: all parts are texts, so that the word is a constant.
	plain := !signs.MatchString(l.Source(i))
	var b strings.Builder
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "word", "number":
			b.WriteString(removeBackslashes(l.Source(c), ""))
		case "raw_string":
			b.WriteString(strings.Trim(l.Source(c), "'"))
		case "string":
			inner := l.First(c)
			// A quoted text with anything but its content inside: an expansion. A subtree of more
			// than three nodes (two quotes and the content) has one.
			if inner >= 0 && l.Kind(inner) != "string_content" || l.CST.Nodes[c].SubtreeEnd > c+4 {
				plain = false
			}
			b.WriteString(removeBackslashes(strings.Trim(l.Source(c), `"`), "$`\"\\\n"))
		default:
			plain = false
		}
	}
	if plain {
		l.Put(tree.String, r, b.String(), i)
		return
	}
	// The parts keep their forms, since "$x" in quotes is one word and $x without them may be
	// several.
	l.BeginText(tree.Other, r, "concatenation", i)
	for c := range l.Children(i) {
		if l.Kind(c) == "word" {
			start, end := l.Range(c)
			lowerTexts(l, parts{value: func(s string) string { return removeBackslashes(s, "") }}, start, end)
		} else {
			l.Node(tree.RolePart, c)
		}
	}
	l.Close()
}

// lowerExpansion lowers "${x}" as "$x"; with operators it is an Other.
// The operators are those of parameter expansion: ${x:-y}, ${x%.*}, ${#x}, ${!x} (POSIX,
// section 2.6.2).
func lowerExpansion(l *lang.Lowering, r tree.Role, i int32) {
	only, plain := l.First(i), true
	for c := range l.Children(i) {
		switch l.Kind(c) {
		case "word", "regex", "number", "raw_string", "extglob_pattern":
		default:
			plain = plain && c == only
		}
	}
	operator := l.Field(i, "operator")
	start, _ := l.Range(max(only, i))
	// An operator in front of the name changes the meaning completely: length or indirection.
	before := operator >= 0 && l.CST.Nodes[operator].Start < start // "${#x}", "${!x}"
	if kind := l.Kind(only); plain && !before && (kind == "variable_name" || kind == "special_variable_name" ||
		kind == "subscript") {
		l.BeginText(tree.Unary, r, "$", i)
		l.Node(tree.RoleValue, only)
		l.Close()
		return
	}
	l.BeginText(tree.Other, r, "expansion", i)
	for c := range l.Every(i) {
		// The signs "${" and "}" are left out, the operator stays as a Token.
		switch kind := l.Kind(c); {
		case l.Extra(c) || kind == "}" || strings.HasSuffix(kind, "${"):
		case l.Named(c):
			l.Node(tree.RoleElement, c)
		default:
			l.Same(tree.Token, tree.RoleElement, c)
		}
	}
	l.Close()
}

// lowerSubstitution lowers "$(a)", "`a`", "<(a)" and ">(a)".
// A substitution is a Call whose callee is the sign itself, so that a rule can write $(...)
// and match the commands as its arguments.
func lowerSubstitution(l *lang.Lowering, r tree.Role, i int32) {
	if only := l.First(i); l.Kind(only) == "command" && l.Source(l.Field(only, "name")) == lang.DeepName {
		lowerDeep(l, r, only)
		return
	}
	l.Begin(tree.Call, r, i)
	name := "$("
	// "<(" and ">(": process substitution yields the name of a pipe.
	if l.Kind(i) == "process_substitution" {
		name = strings.TrimSpace(l.Source(i))[:2]
	}
	start, _ := l.Range(i)
	// The callee has no range of its own.
	l.Leaf(tree.Name, tree.RoleCallee, name, start, start)
	for c := range l.Children(i) {
		if l.FieldName(c) == "redirect" {
			lowerRedirect(l, c)
		} else {
			l.Node(tree.RoleArgument, c)
		}
	}
	l.Close()
}

// lowerDeep lowers the substitution that stands for "<... a ...>" in a pattern.
// "<... a ...>" of a rule matches an expression that contains a at any depth.
func lowerDeep(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	name := l.Field(i, "name")
	l.Same(tree.Name, tree.RoleCallee, name)
	var rest []int32
	for c := range l.Children(i) {
		if c != name {
			rest = append(rest, c)
		}
	}
	// A single argument stands for itself. Several words are a command, as they would be in the
	// shell.
	if len(rest) == 1 {
		l.Node(tree.RoleArgument, rest[0])
	} else {
		start, end := l.Range(i)
		openCall(l, tree.RoleArgument, start, end)
		for _, c := range rest {
			l.Node(tree.RoleArgument, c)
		}
		l.Close()
	}
	l.Close()
}

// lowerBinary lowers an operation of a test or of arithmetic.
func lowerBinary(l *lang.Lowering, r tree.Role, i int32) {
	left, operator, right := l.Field(i, "left"), l.Field(i, "operator"), l.Field(i, "right")
	if left < 0 || right < 0 {
		l.Fallback(r, i, l.Node)
		return
	}
	l.BeginText(tree.Binary, r, l.Source(operator), i)
	l.Need(tree.RoleLeft, i, left)
	l.Need(tree.RoleRight, i, right)
	l.Close()
}

// lowerUnary lowers the tests of files and texts, such as "-f a", and the signs of
// arithmetic.
// The tests are those of "[[ ]]": -f, -z, -n and so on.
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	operator := l.Field(i, "operator")
	text := l.Source(operator)
	value := int32(-1)
	for c := range l.Children(i) {
		if c != operator {
			value = c
		}
	}
	// Only arithmetic has these operators.
	if text == "++" || text == "--" {
		l.BeginText(tree.Update, r, text, i)
	} else {
		l.BeginText(tree.Unary, r, text, i)
	}
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// lowerPostfix lowers "i++" of arithmetic.
func lowerPostfix(l *lang.Lowering, r tree.Role, i int32) {
	l.Flag(l.BeginText(tree.Update, r, l.Source(l.Field(i, "operator")), i), tree.Postfix)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
}

// removeBackslashes removes backslashes: those before the letters, or before every letter
// when there are none given.
// A backslash at the end of a line joins two lines: both characters go away.
func removeBackslashes(s, letters string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (letters == "" || strings.IndexByte(letters, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

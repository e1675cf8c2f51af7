package bash

import (
	"regexp"
	"strconv"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerWord lowers a word without quotes.
func lowerWord(l *lang.Lowering, r tree.Role, i int32) {
	text := l.Source(i)
	if lang.Holder(text) {
		l.Put(tree.Name, r, text, i)
		return
	}
	l.Put(tree.String, r, removeBackslashes(text, ""), i)
}

// lowerNumberWord lowers a number: where words stand it is one.
func lowerNumberWord(l *lang.Lowering, r tree.Role, i int32) {
	if l.First(i) >= 0 {
		l.Fallback(r, i, l.Node)
		return
	}
	l.Same(tree.String, r, i)
}

// lowerRawString lowers text in single quotes, in which nothing is an escape.
func lowerRawString(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, strings.Trim(l.Source(i), "'"), i)
}

// lowerAnsiString lowers $'…'.
func lowerAnsiString(l *lang.Lowering, r tree.Role, i int32) {
	text := strings.TrimSuffix(strings.TrimPrefix(l.Source(i), "$'"), "'")
	if s, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(text, `\'`, `'`), `"`, `\"`) +
		`"`); err == nil {
		text = s
	}
	l.Put(tree.String, r, text, i)
}

// lowerQuoted lowers "…".
func lowerQuoted(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	if start+1 < end {
		start, end = start+1, end-1
	}
	lowerTemplate(l, parts{i: i, role: r, start: start, end: end, value: func(s string) string {
		return removeBackslashes(s, "$`\"\\\n")
	}})
}

// parts are a text with expansions in it.
type parts struct {
	i          int32
	role       tree.Role
	start, end uint32
	flags      tree.Flags
	value      func(string) string // resolves escapes
}

// signs finds the signs of patterns in a text.
var signs = regexp.MustCompile(`qzellipsis|qzmany_[A-Z_0-9]+|qzmv_[A-Z_0-9]+`)

// lowerTemplate adds a String, or a Template when expansions or signs of patterns are in
// it. The grammar leaves blanks out, so the text is what is between the expansions.
func lowerTemplate(l *lang.Lowering, p parts) {
	var holes []int32
	for c := range l.Children(p.i) {
		if kind := l.Kind(c); kind != "string_content" && kind != "heredoc_content" {
			holes = append(holes, c)
		}
	}
	whole := l.File.Source[p.start:p.end]
	if len(holes) == 0 && !signs.MatchString(whole) {
		l.Flag(l.Put(tree.String, p.role, p.value(whole), p.i), p.flags)
		return
	}
	l.Flag(l.Begin(tree.Template, p.role, p.i), p.flags)
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
func lowerConcatenation(l *lang.Lowering, r tree.Role, i int32) {
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
func lowerSubstitution(l *lang.Lowering, r tree.Role, i int32) {
	if only := l.First(i); l.Kind(only) == "command" && l.Source(l.Field(only, "name")) == lang.DeepName {
		lowerDeep(l, r, only)
		return
	}
	l.Begin(tree.Call, r, i)
	name := "$("
	if l.Kind(i) == "process_substitution" {
		name = strings.TrimSpace(l.Source(i))[:2]
	}
	start, _ := l.Range(i)
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
func lowerUnary(l *lang.Lowering, r tree.Role, i int32) {
	operator := l.Field(i, "operator")
	text := l.Source(operator)
	value := int32(-1)
	for c := range l.Children(i) {
		if c != operator {
			value = c
		}
	}
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

package ruby

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerStringLiteral lowers a string: a String, or a Template when expressions are in it.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) { lowerContent(l, r, i, i) }

// lowerContent adds the String or Template of the parts of i, in the place of whole.
// whole differs from i for strings whose range includes more, such as a symbol with its colon.
func lowerContent(l *lang.Lowering, r tree.Role, i, whole int32) {
	if l.Has(i, "interpolation") {
		l.Begin(tree.Template, r, whole)
		lowerParts(l, i)
		l.Close()
		return
	}
	l.Put(tree.String, r, plainText(l, i), whole)
}

// plainText returns the text of a string without expressions.
func plainText(l *lang.Lowering, i int32) string {
	var b strings.Builder
	for c := range l.Children(i) {
		b.WriteString(partText(l, i, c))
	}
	return b.String()
}

// lowerParts adds the parts of a string: texts side by side are one.
// Escapes and texts are separate nodes in the grammar; they are joined to one String.
func lowerParts(l *lang.Lowering, i int32) {
	var b strings.Builder
	var start, end uint32
	// flush adds what has been collected, before an expression or at the end.
	flush := func() {
		if b.Len() > 0 {
			l.Leaf(tree.String, tree.RolePart, b.String(), start, end)
			b.Reset()
		}
	}
	for c := range l.Children(i) {
		switch kind := l.Kind(c); kind {
		case "string_content", "heredoc_content", "escape_sequence":
			if b.Len() == 0 {
				start, _ = l.Range(c)
			}
			_, end = l.Range(c)
			b.WriteString(partText(l, i, c))
		// The delimiter of a here-document is no text.
		case "heredoc_end":
		default:
			flush()
			l.Node(tree.RolePart, c)
		}
	}
	flush()
}

// partText returns the text of one part of a string. Only "\\" and "\'" are escapes
// between single quotes.
func partText(l *lang.Lowering, i, c int32) string {
	s := l.Source(c)
	switch l.Kind(c) {
	case "escape_sequence":
		return decodeEscape(s)
	case "string_content":
		// The source of the whole literal begins with its quote.
		if strings.Contains(s, `\`) && l.Source(i)[0] == '\'' {
			return strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(s)
		}
		return s
	case "heredoc_content":
		return s
	}
	return ""
}

// escapes are the escapes of one character in double quotes.
var escapes = map[byte]string{
	'n': "\n", 't': "\t", 's': " ", 'r': "\r", '0': "\x00", 'e': "\x1b", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v",
	'\n': "",
}

// decodeEscape resolves one escape; what is unknown stands for its own letter. Controls
// ("\C-a") stay as they are.
// Unlike in C, an unknown escape is the letter itself: "\q" is "q".
func decodeEscape(s string) string {
	if len(s) < 2 || s[0] != '\\' {
		return s
	}
	// \u{1F600} has braces around its digits.
	digits := strings.Trim(s[2:], "{} ")
	switch c := s[1]; c {
	case 'u', 'x':
		v, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || v > utf8.MaxRune {
			return s
		}
		return string(rune(v))
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v, err := strconv.ParseUint(s[1:], 8, 32)
		if err != nil {
			return s
		}
		return string(rune(v))
	// Control and meta characters do not occur in texts that matter here.
	case 'c', 'C', 'M':
		return s
	default:
		if t, ok := escapes[c]; ok {
			return t
		}
		return s[1:]
	}
}

// lowerChained lowers strings side by side to one.
// "a" "b" is one literal, as in C.
func lowerChained(l *lang.Lowering, r tree.Role, i int32) {
	template := false
	for c := range l.Children(i) {
		template = template || l.Has(c, "interpolation")
	}
	if template {
		l.Begin(tree.Template, r, i)
		for c := range l.Children(i) {
			lowerParts(l, c)
		}
		l.Close()
		return
	}
	var b strings.Builder
	for c := range l.Children(i) {
		b.WriteString(plainText(l, c))
	}
	l.Put(tree.String, r, b.String(), i)
}

// lowerCharacter lowers "?a" to the String that it is.
func lowerCharacter(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, decodeEscape(strings.TrimPrefix(l.Source(i), "?")), i)
}

// lowerSubshell lowers backticks to a call.
// `cmd #{x}` runs a shell: a sink for command injection (CWE-78), so it is a Call of the name
// "`".
func lowerSubshell(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	start, _ := l.Range(i)
	l.Leaf(tree.Name, tree.RoleCallee, "`", start, start+1)
	lowerContent(l, tree.RoleArgument, i, i)
	l.Close()
}

// lowerRegex keeps the literal as it is written, and has the expressions in it as Parts.
func lowerRegex(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Regex, r, l.Source(i), i)
	for c := range l.Children(i) {
		if l.Kind(c) == "interpolation" {
			l.Node(tree.RolePart, c)
		}
	}
	l.Close()
}

// lowerSymbol lowers a symbol: an Other around the Name, or around a Template.
// A symbol is not a String: rules for texts should not match it, rules for names should.
func lowerSymbol(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Other, r, "symbol", i)
	if name, plain := symbolName(l, i); plain {
		start, end := nameRange(l, i)
		l.Leaf(tree.Name, tree.RoleElement, name, start, end)
	} else {
		lowerContent(l, tree.RoleElement, i, i)
	}
	l.Close()
}

// nameRange returns the bytes of a symbol's name, without its colon and quotes.
// :name, :"quoted name" and name: of a hash.
func nameRange(l *lang.Lowering, i int32) (start, end uint32) {
	start, _ = l.Range(i)
	text := l.Source(i)
	bare := strings.TrimLeft(text, `:"'`)
	start += uint32(len(text) - len(bare))
	return start, start + uint32(len(strings.TrimRight(bare, `"'`)))
}

// symbolName returns the name of a symbol, and false when expressions are in it.
func symbolName(l *lang.Lowering, i int32) (name string, ok bool) {
	switch {
	case i < 0 || l.Has(i, "interpolation"):
		return "", false
	case l.Kind(i) == "simple_symbol" || l.Kind(i) == "hash_key_symbol":
		return strings.TrimPrefix(l.Source(i), ":"), true
	default:
		return plainText(l, i), true
	}
}

// lowerHeredoc lowers a here-document where it begins.
func lowerHeredoc(l *lang.Lowering, r tree.Role, i int32) {
	// A missing body is a damaged file.
	body := heredocBody(l, i)
	if body < 0 {
		l.Lost(r, i)
		return
	}
	// With expressions the indentation is not removed, as parts would move.
	if l.Has(body, "interpolation") {
		template := l.Begin(tree.Template, r, i)
		l.Flag(template, tree.Raw)
		lowerParts(l, body)
		l.Close()
		if first := &l.File.Nodes[template+1]; first.Kind == tree.String {
			first.Text = strings.TrimPrefix(first.Text, "\n") // the end of the first line
		}
		return
	}
	value := strings.TrimPrefix(plainText(l, body), "\n")
	// "<<~" removes the indentation, "<<-" and "<<" do not.
	if strings.HasPrefix(l.Source(i), "<<~") {
		value = removeIndentation(value)
	}
	// <<`SH` runs the text in a shell, as backticks do.
	if strings.Contains(l.Source(i), "`") {
		l.Begin(tree.Call, r, i)
		l.Put(tree.Name, tree.RoleCallee, "`", i)
		r = tree.RoleArgument
		defer l.Close()
	}
	l.Flag(l.Put(tree.String, r, value, i), tree.Raw)
}

// maxHeredocDistance bounds the search for a body, in concrete nodes.
// It keeps a file full of here-documents without bodies from quadratic time.
const maxHeredocDistance = 20_000

// heredocBody finds the body of a here-document: bodies follow the line in which
// they begin, in the order of the beginnings.
// Several may begin on one line: f(<<A, <<B). The bodies follow in the same order.
func heredocBody(l *lang.Lowering, i int32) int32 {
	nodes := l.CST.Nodes
	before := 0
	for c := i - 1; c >= 0 && nodes[c].Row == nodes[i].Row && i-c < maxHeredocDistance; c-- {
		if l.Kind(c) == "heredoc_beginning" {
			before++
		}
	}
	for c := i + 1; c < int32(len(nodes)) && c-i < maxHeredocDistance; c++ {
		if l.Kind(c) == "heredoc_body" {
			if before == 0 {
				return c
			}
			before--
		}
	}
	return -1
}

// removeIndentation removes the indentation that all lines share.
// Lines of white space only do not count for the common indentation.
func removeIndentation(s string) string {
	lines := strings.SplitAfter(s, "\n")
	indent := -1
	for _, line := range lines {
		if blanks := len(line) - len(strings.TrimLeft(line, " \t")); strings.TrimSpace(line) != "" &&
			(indent < 0 || blanks < indent) {
			indent = blanks
		}
	}
	for n, line := range lines {
		if indent > 0 && len(line) > indent {
			lines[n] = line[indent:]
		}
	}
	return strings.Join(lines, "")
}

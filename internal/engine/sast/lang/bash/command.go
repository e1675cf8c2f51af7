package bash

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerRedirected lowers a simple command of the words, with the redirections around it. A
// sign of a pattern alone is that sign, so that it can stand for any command.
func lowerRedirected(l *lang.Lowering, r tree.Role, words, redirects []int32) {
	if len(words) == 0 {
		return
	}
	first, last := words[0], words[len(words)-1]
	if len(words)+len(redirects) == 1 && lang.Holder(l.Source(first)) && l.Kind(l.First(first)) == "word" {
		l.Same(tree.Name, r, first)
		return
	}
	start, _ := l.Range(first)
	_, end := l.Range(last)
	openCall(l, r, start, end)
	for _, c := range words {
		switch {
		case l.FieldName(c) == "redirect":
			redirects = append(redirects, c)
		case l.Kind(c) == "variable_assignment":
		default:
			l.Node(tree.RoleArgument, c)
		}
	}
	for _, c := range words {
		if l.Kind(c) == "variable_assignment" {
			l.Begin(tree.Keyword, tree.RoleModifier, c)
			lowerAssigned(l, c, tree.RoleName)
			l.Close()
		}
	}
	for _, c := range redirects {
		lowerRedirect(l, c)
	}
	l.Close()
}

// splitLines returns the words of a command. The grammar runs on over the end of a line
// when a redirection follows somewhere behind; such words are commands of their own.
func splitLines(l *lang.Lowering, i int32) [][]int32 {
	var all [][]int32
	var line []int32
	_, before := l.Range(i)
	for c := range l.Children(i) {
		start, end := l.Range(c)
		if len(line) > 0 && before < start && endsLine(l.File.Source[before:start]) {
			all = append(all, line)
			line = nil
		}
		line = append(line, c)
		before = end
	}
	return append(all, line)
}

// endsLine reports whether the text between two words ends a line.
func endsLine(gap string) bool {
	for i := 0; i < len(gap); i++ {
		switch gap[i] {
		case '\\':
			i++
			if i < len(gap) && gap[i] == '\r' {
				i++
			}
		case '\n':
			return true
		}
	}
	return false
}

// openCall begins the Call of a command.
func openCall(l *lang.Lowering, r tree.Role, start, end uint32) {
	l.Open(tree.Call, r, start, max(start, end))
	l.Flag(l.Leaf(tree.Name, tree.RoleCallee, "command", start, start), tree.Implied)
}

// lowerDeclaration lowers export, declare, local, unset and the like.
func lowerDeclaration(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	openCall(l, r, start, end)
	first := true
	for c := range l.Every(i) {
		switch {
		case first:
			l.Same(tree.String, tree.RoleArgument, c)
			first = false
		case l.Kind(c) == "variable_name":
			lowerWord(l, tree.RoleArgument, c)
		case l.Named(c) && !l.Extra(c):
			l.Node(tree.RoleArgument, c)
		}
	}
	l.Close()
}

// lowerRedirect adds a redirection, named for its operator.
func lowerRedirect(l *lang.Lowering, i int32) {
	operator := int32(-1)
	for c := range l.Every(i) {
		if !l.Named(c) && !l.Extra(c) {
			operator = c
			break
		}
	}
	l.Begin(tree.Keyword, tree.RoleModifier, i)
	l.Put(tree.Name, tree.RoleName, l.Source(l.Field(i, "descriptor"))+l.Source(operator), max(operator, i))
	value := l.Field(i, "destination")
	if l.Kind(i) == "heredoc_redirect" {
		lowerHeredoc(l, i)
		l.Close()
		return
	}
	if value < 0 {
		for c := range l.Children(i) {
			if l.FieldName(c) != "descriptor" {
				value = c
			}
		}
	}
	l.Need(tree.RoleValue, i, value)
	l.Close()
}

// lowerHeredoc adds the text of a here-document.
func lowerHeredoc(l *lang.Lowering, i int32) {
	text := l.Find(i, "heredoc_body")
	if text < 0 {
		l.Flag(l.Put(tree.String, tree.RoleValue, "", i), tree.Raw)
		return
	}
	start, end := l.Range(text)
	lowerTemplate(l, parts{i: text, role: tree.RoleValue, start: start, end: end, flags: tree.Raw,
		value: func(s string) string {
			return s
		}})
}

// A link is an operand of a chain of commands and the operator before it, which is
// ";" for the next statement.
type link struct {
	operator  string
	operand   int32
	words     []int32 // of a simple command
	redirects []int32
}

// byteRange returns the bytes of the operand.
func (k link) byteRange(l *lang.Lowering) (start, end uint32) {
	if len(k.words) == 0 {
		return l.Range(k.operand)
	}
	start, _ = l.Range(k.words[0])
	_, end = l.Range(k.words[len(k.words)-1])
	return start, end
}

// lowerChain lowers a command, a pipeline or a list. The grammar binds "|" less than "&&"
// in places, so the operands are laid out in a row and joined as the shell does:
// "&&" and "||" to the left, over pipelines to the left.
func lowerChain(l *lang.Lowering, r tree.Role, i int32) {
	switch rows := rowsOf(l, i); {
	case rows == nil:
		l.Lost(r, i)
	case len(rows) == 1:
		lowerRow(l, r, i, rows[0])
	default:
		l.Begin(tree.Sequence, r, i)
		for _, row := range rows {
			lowerRow(l, tree.RoleElement, i, row)
		}
		l.Close()
	}
}

// maxChain bounds the operands of a chain, each of which nests the ones before it.
const maxChain = 1000

// rowsOf returns the operands of each statement in a chain, nil when there are too
// many.
func rowsOf(l *lang.Lowering, i int32) [][]link {
	var all []link
	flattenChain(l, i, &all, 0)
	var rows [][]link
	for n := 0; n < len(all); {
		end := n + 1
		for end < len(all) && all[end].operator != ";" {
			end++
		}
		if end-n > maxChain {
			return nil
		}
		rows = append(rows, all[n:end])
		n = end
	}
	return rows
}

// flattenChain lays the operands of "|", "&&" and "||" out in a row, in the order of the
// source. The depth bounds the recursion: a script of a thousand commands in one list nests
// as deep.
func flattenChain(l *lang.Lowering, i int32, row *[]link, depth int) {
	kind := l.Kind(i)
	inner := l.Field(i, "body")
	switch {
	case depth > maxChain:
		*row = append(*row, link{operand: i})
	case kind == "command":
		for n, words := range splitLines(l, i) {
			k := link{operand: i, words: words}
			if n > 0 {
				k.operator = ";"
			}
			*row = append(*row, k)
		}
	case kind == "redirected_statement" && inner >= 0:
		flattenChain(l, inner, row, depth+1)
		for c := range l.Fields(i, "redirect") {
			last := &(*row)[len(*row)-1]
			last.redirects = append(last.redirects, c)
			takeOverrun(l, c, row)
		}
		flattenBehind(l, i, row, depth)
	case kind == "redirected_statement":
		*row = append(*row, link{operand: i})
		flattenBehind(l, i, row, depth)
	case kind == "list" || kind == "pipeline":
		operator := ""
		for c := range l.Every(i) {
			switch {
			case l.Extra(c):
			case !l.Named(c):
				operator = l.Kind(c)
			default:
				n := len(*row)
				flattenChain(l, c, row, depth+1)
				(*row)[n].operator = operator
			}
		}
	default:
		*row = append(*row, link{operand: i})
	}
}

// takeOverrun takes the words behind the target of a redirection, which the grammar
// counts to it: on the same line they are the command's, on the next one they are
// another command.
func takeOverrun(l *lang.Lowering, redirect int32, row *[]link) {
	first := l.Field(redirect, "destination")
	for c := range l.Fields(redirect, "destination") {
		if c == first {
			continue
		}
		start, _ := l.Range(c)
		last := &(*row)[len(*row)-1]
		from := first
		if n := len(last.words); n > 0 && last.words[n-1] > first {
			from = last.words[n-1]
		}
		if _, end := l.Range(from); end < start && endsLine(l.File.Source[end:start]) {
			*row = append(*row, link{operator: ";", operand: c, words: []int32{c}})
		} else if last.words != nil {
			last.words = append(last.words, c)
		}
	}
}

// flattenBehind adds what follows a here-document on its line: "cat <<E | b && c".
func flattenBehind(l *lang.Lowering, i int32, row *[]link, depth int) {
	for redirect := range l.Fields(i, "redirect") {
		if l.Kind(redirect) != "heredoc_redirect" {
			continue
		}
		for c := range l.Children(redirect) {
			n := len(*row)
			switch {
			case l.Kind(c) == "pipeline":
				for inner := range l.Children(c) {
					n = len(*row)
					flattenChain(l, inner, row, depth+1)
					(*row)[n].operator = "|"
				}
			case l.FieldName(c) == "right":
				flattenChain(l, c, row, depth+1)
				(*row)[n].operator = l.Source(l.Field(redirect, "operator"))
			}
		}
	}
}

// lowerRow adds a row of commands.
func lowerRow(l *lang.Lowering, r tree.Role, i int32, row []link) {
	n := len(row)
	if n == 1 {
		lowerOperand(l, r, row[0])
		return
	}
	if l.TooDeep() {
		l.Lost(r, i)
		return
	}
	split := n - 1 // the last operator that binds least
	for k := n - 1; k > 0; k-- {
		if row[k].operator == "&&" || row[k].operator == "||" {
			split = k
			break
		}
	}
	start, _ := row[0].byteRange(l)
	_, end := row[n-1].byteRange(l)
	b := l.Open(tree.Binary, r, start, max(start, end))
	l.File.Nodes[b].Text = row[split].operator
	lowerRow(l, tree.RoleLeft, i, row[:split])
	lowerRow(l, tree.RoleRight, i, row[split:])
	l.Close()
}

// lowerOperand adds a command with its redirections.
func lowerOperand(l *lang.Lowering, r tree.Role, k link) {
	switch {
	case k.words != nil:
		lowerRedirected(l, r, k.words, k.redirects)
	case l.Kind(k.operand) == "redirected_statement": // redirections alone
		start, end := l.Range(k.operand)
		openCall(l, r, start, end)
		for c := range l.Fields(k.operand, "redirect") {
			lowerRedirect(l, c)
		}
		l.Close()
	case len(k.redirects) > 0:
		l.BeginText(tree.Other, r, "redirected", k.operand)
		l.Node(tree.RoleElement, k.operand)
		for _, c := range k.redirects {
			lowerRedirect(l, c)
		}
		l.Close()
	case l.Kind(k.operand) == "list" || l.Kind(k.operand) == "pipeline": // too deep
		l.Lost(r, k.operand)
	default:
		l.Node(r, k.operand)
	}
}

// lowerNegated lowers "! a".
func lowerNegated(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Unary, r, "!", i)
	l.Need(tree.RoleValue, i, l.First(i))
	l.Close()
}

// lowerTest lowers "[ a ]", "[[ a ]]" and "(( a ))".
func lowerTest(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	bracket := i + 1
	l.Same(tree.Name, tree.RoleCallee, bracket)
	l.Nodes(tree.RoleArgument, i)
	l.Close()
}

// lowerSubshell lowers "(a)". What it does to variables stays inside, so it is an Other and
// not a Block.
func lowerSubshell(l *lang.Lowering, r tree.Role, i int32) {
	l.BeginText(tree.Other, r, "subshell", i)
	lowerBlock(l, tree.RoleElement, i)
	l.Close()
}

// lowerAssignment lowers "a=b", "a+=b" and "a[i]=b"; one without a value assigns an empty
// String.
func lowerAssignment(l *lang.Lowering, r tree.Role, i int32) {
	text := "="
	if l.Has(i, "+=") {
		text = "+="
	}
	l.BeginText(tree.Assign, r, text, i)
	lowerAssigned(l, i, tree.RoleTarget)
	l.Close()
}

// lowerAssigned adds the name and the value of an assignment.
func lowerAssigned(l *lang.Lowering, i int32, name tree.Role) {
	l.Need(name, i, l.Field(i, "name"))
	if value := l.Field(i, "value"); value >= 0 {
		l.Node(tree.RoleValue, value)
	} else {
		_, end := l.Range(i)
		l.Flag(l.Leaf(tree.String, tree.RoleValue, "", end, end), tree.Implied)
	}
}

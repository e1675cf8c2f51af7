package php

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// patterns says how fragments are parsed. "$X" is a variable anyway; where only a
// name can stand it becomes one.
var patterns = lang.Patterns{
	Spread: true,
	Variables: []string{
		"$GLOBALS", "$_SERVER", "$_GET", "$_POST", "$_FILES", "$_COOKIE", "$_SESSION", "$_REQUEST", "$_ENV",
	},
	Contexts: []lang.Context{
		{Before: "<?php ", After: ";"},
		{Before: "<?php "},
		{Before: "<?php class A {", After: "}"},
		{Before: "<?php [", After: "];"},
		{Before: "<?php try {} ", Only: regexp.MustCompile(`^(?:catch|finally)\b`)},
		{Before: "<?php switch ($a) {", After: "}", Only: regexp.MustCompile(`^(?:case|default)\b`)},
		{Before: "<?php ", After: " class A {}", Only: regexp.MustCompile(`^#\[`)},
		{Before: "<?php f(", After: ");"},
		{Before: "<?php function a(", After: ") {}"},
	},
	Prepare: preparePattern,
	Finish:  finishPattern,
}

// finishPattern makes "..." in backquotes an ellipsis, which stands for any command, and
// "$X" alone in quotes a string, which stands for any string. A metavariable in a
// string that stood without braces (prepare gives it some with a blank) is marked
// Raw: it stands for a text of the string, too.
func finishPattern(f *tree.File) *tree.File {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Kind == tree.String && n.Role == tree.RoleArgument && n.Text == "..." && f.Source[n.Start] == '`' {
			n.Kind, n.Text = tree.Ellipsis, ""
		}
		if n.Kind == tree.Metavariable && n.Role == tree.RolePart && f.Source[n.End] == ' ' {
			n.Flags |= tree.Raw
		}
	}
	b := &tree.Builder{File: &tree.File{Language: f.Language, Source: f.Source}}
	quoteMetavariables(b, f, tree.Root, tree.RoleNone)
	return b.Finish()
}

// quoteMetavariables copies a subtree with Strings in the place of the templates of one
// metavariable.
func quoteMetavariables(b *tree.Builder, f *tree.File, i int32, role tree.Role) {
	n := &f.Nodes[i]
	if n.Kind == tree.Template && n.Next == i+2 && f.Is(i+1, tree.Metavariable) {
		b.Leaf(tree.String, role, f.Nodes[i+1].Text, n.Start, n.End)
		return
	}
	c := b.Open(n.Kind, role, n.Start, n.End)
	b.File.Nodes[c].Text, b.File.Nodes[c].Flags = n.Text, n.Flags
	for child := range f.Children(i) {
		quoteMetavariables(b, f, child, f.Nodes[child].Role)
	}
	b.Close()
}

var (
	tag       = regexp.MustCompile(`^\s*<\?(?:php|=)?\s|\?>\s*$`)
	quoted    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
	inQuotes  = regexp.MustCompile(`(^|[^\\{$])(\$[A-Z_][A-Z_0-9]*)\b`)
	nameAfter = regexp.MustCompile(`\b(function|class|interface|trait|extends|implements|namespace|use|const|enum|goto|case)(\s+&?\s*)\$([A-Z_][A-Z_0-9]*)\b`)
	typeOf    = regexp.MustCompile(`\$([A-Z_][A-Z_0-9]*)(\s+&?\s*(?:\$|\.\.\.\s*\$))`)
	typeAfter = regexp.MustCompile(`(\)\s*:\s*\??\s*|#\[\s*|,\s*)\$([A-Z_][A-Z_0-9]*)(\s*(?:\{|;|\]|\())`)
	anyName   = regexp.MustCompile(`\bfunction\s+\.\.\.\s*\(`)
	forAny    = regexp.MustCompile(`\bfor\s*\(\s*\.\.\.\s*\)`)
	eachAny   = regexp.MustCompile(`\bforeach\s*\(\s*\.\.\.\s*\)`)
)

// preparePattern returns the spellings of a fragment that are tried: as it is, with a
// semicolon at its end, then with names and ellipses where the grammar wants them.
func preparePattern(text string) []string {
	text = strings.TrimSpace(tag.ReplaceAllString(text, ""))
	text = forAny.ReplaceAllString(text, "for (...;;)")
	text = eachAny.ReplaceAllString(text, "foreach (... as ...)")
	text = quoted.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '\'' {
			return s
		}
		return inQuotes.ReplaceAllString(inQuotes.ReplaceAllString(s, "$1{$2 }"), "$1{$2 }") // see finish
	})
	var all []string
	for _, t := range []string{text, placeNames(text)} {
		for _, end := range []string{"", ";"} {
			if separated := addSemicolons(t); separated != t {
				all = append(all, t+end, separated+end)
			} else {
				all = append(all, t+end)
			}
		}
	}
	return all
}

// placeNames puts names in the place of metavariables that name a declaration or a
// type, and what the grammar wants in the place of an ellipsis among parameters and
// members.
func placeNames(text string) string {
	text = anyName.ReplaceAllString(text, "function "+lang.EllipsisName+"(")
	for range 2 { // "class $C extends $D": matches may touch
		text = nameAfter.ReplaceAllStringFunc(text, func(s string) string {
			cut := strings.LastIndexByte(s, '$')
			return s[:cut] + lang.Placeholder(s[cut:])
		})
	}
	text = typeOf.ReplaceAllStringFunc(text, func(s string) string {
		end := strings.IndexAny(s, " \t\n\r")
		return lang.Placeholder(s[:end]) + s[end:]
	})
	text = typeAfter.ReplaceAllStringFunc(text, func(s string) string {
		m := typeAfter.FindStringSubmatch(s)
		return m[1] + lang.Placeholder("$"+m[2]) + m[3]
	})
	return spellEllipses(text)
}

// A bracket is one that is open, with what it means to an ellipsis in it.
type bracket struct {
	sign    byte
	ellipse string // "" for an ordinary one
}

var (
	parametersAhead = regexp.MustCompile(`(?:\bfunction(?:\s+&?\s*\w+)?|\bfn|\buse)\s*$`)
	membersAhead    = regexp.MustCompile(`\b(?:class|interface|trait|enum)\b[^(){};]*$`)
)

// spellEllipses spells the ellipses among parameters as variables and those among members
// as constants.
func spellEllipses(text string) string {
	var b strings.Builder
	var open []bracket
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' && parametersAhead.MatchString(text[:i]):
			open = append(open, bracket{c, "$" + lang.EllipsisName})
		case c == '{' && membersAhead.MatchString(text[:i]):
			open = append(open, bracket{c, "const " + lang.EllipsisName + " = " + lang.EllipsisName + ";"})
		case c == '(' || c == '[' || c == '{':
			open = append(open, bracket{c, ""})
		case c == ')' || c == ']' || c == '}':
			open = open[:max(0, len(open)-1)]
		case strings.HasPrefix(text[i:], "...") && len(open) > 0 && open[len(open)-1].ellipse != "" &&
			!strings.HasPrefix(text[i:], "...$"):
			b.WriteString(open[len(open)-1].ellipse)
			i += 2
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// addSemicolons puts semicolons behind the ellipses that stand among statements.
func addSemicolons(text string) string {
	var b strings.Builder
	var open []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '[' || c == '{':
			open = append(open, c)
		case c == ')' || c == ']' || c == '}':
			open = open[:max(0, len(open)-1)]
		case strings.HasPrefix(text[i:], "...") && (len(open) == 0 || open[len(open)-1] == '{'):
			before, after := strings.TrimRight(text[:i], " \t\r\n"), strings.TrimLeft(text[i+3:], " \t\r\n")
			b.WriteString("...")
			if statementEnds(before) && (after == "" || !strings.ContainsRune(";,.)]=-:>", rune(after[0]))) {
				b.WriteByte(';')
			}
			i += 2
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// statementEnds reports whether a statement may begin behind the text.
func statementEnds(before string) bool {
	return before == "" || strings.ContainsRune(";{})", rune(before[len(before)-1])) ||
		strings.HasSuffix(before, "else") ||
		strings.HasSuffix(before, ":")
}

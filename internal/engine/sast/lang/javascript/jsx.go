package javascript

import (
	"html"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// jsx are the rules for elements, which stand among expressions.
var jsx = map[string]lang.Rule{
	"jsx_element":              lowerElement,
	"jsx_self_closing_element": lowerElement,
	"jsx_expression":           lowerJsxExpression,
	"jsx_attribute":            lowerAttribute,
	"jsx_namespace_name":       lowerNamespaced,
	"jsx_text":                 lowerJsxText,
	"html_character_reference": lowerCharacterReference,
}

// lowerElement lowers an element; a fragment is one without a name.
func lowerElement(l *lang.Lowering, r tree.Role, i int32) {
	tag := i
	if l.Kind(i) == "jsx_element" {
		tag = l.Field(i, "open_tag")
	}
	name := l.Field(tag, "name")
	l.BeginText(tree.Element, r, removeBlanks(l.Source(name)), i)
	l.Node(tree.RoleName, name)
	if tag >= 0 {
		l.Parts(tree.RoleAttribute, tag, "attribute")
	}
	if tag != i {
		for c := range l.Children(i) {
			if kind := l.Kind(c); kind != "jsx_opening_element" && kind != "jsx_closing_element" {
				l.Node(tree.RolePart, c)
			}
		}
	}
	l.Close()
}

// removeBlanks removes the blanks inside of a name.
func removeBlanks(name string) string { return strings.Join(strings.Fields(name), "") }

// lowerJsxExpression lowers "{e}" to e; one that is empty or a comment is nothing.
func lowerJsxExpression(l *lang.Lowering, r tree.Role, i int32) { l.Node(r, l.First(i)) }

// lowerAttribute lowers an attribute of JSX: a String, an expression in braces, or no
// value.
func lowerAttribute(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Attribute, r, i)
	name := l.First(i)
	l.Need(tree.RoleName, i, name)
	for c := range l.Children(i) {
		switch {
		case c == name:
		case l.Kind(c) == "string": // without escapes, with references
			s := l.Source(c)
			l.Put(tree.String, tree.RoleValue, html.UnescapeString(s[1:max(1, len(s)-1)]), c)
		default:
			l.Node(tree.RoleValue, c)
		}
	}
	l.Close()
}

// lowerNamespaced lowers "a:b" of JSX to one name.
func lowerNamespaced(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.Name, r, removeBlanks(l.Source(i)), i)
}

// lowerJsxText lowers text between elements: lines are trimmed and joined by a blank, and
// what is only white space with a line break is nothing.
func lowerJsxText(l *lang.Lowering, r tree.Role, i int32) {
	source := l.Source(i)
	if trimmed := strings.TrimSpace(source); lang.Holder(trimmed) {
		l.Put(tree.Name, r, trimmed, i)
		return
	}
	text := source
	if strings.ContainsAny(source, "\r\n") {
		text = joinLines(source)
	}
	if text != "" {
		l.Put(tree.String, r, text, i)
	}
}

// joinLines trims the lines, but not the outer ends of the first and the last one,
// and joins those that are not empty.
func joinLines(source string) string {
	lines := strings.Split(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	var kept []string
	for n, line := range lines {
		if n > 0 {
			line = strings.TrimLeft(line, " \t")
		}
		if n < len(lines)-1 {
			line = strings.TrimRight(line, " \t")
		}
		if line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, " ")
}

// lowerCharacterReference lowers "&amp;" of JSX to its character.
func lowerCharacterReference(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, html.UnescapeString(l.Source(i)), i)
}

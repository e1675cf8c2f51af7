// Package xml lowers XML: elements with their attributes and texts. Declarations and
// processing instructions are Others, so that patterns can find them.
package xml

import (
	"html"
	"regexp"
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is XML.
var Language = &lang.Language{
	Name:      "xml",
	Spellings: []string{"xml"},
	Grammar:   cst.XML,
	Lower:     table.Lower,
	Patterns: lang.Patterns{
		Sigil:   true,
		Prepare: preparePattern,
		Contexts: []lang.Context{{}, {Before: "<a ", After: "/>", Only: regexp.MustCompile(`^[^<>\s]+\s*=`)},
			{Before: "<a>", After: "</a>"}},
	},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.XML, map[string]lang.Rule{
	"document":  lowerDocument,
	"element":   lowerElement,
	"Attribute": lowerAttribute,
	"CharData":  lowerText,
	"CDSect":    lowerSection,
	"CharRef":   lowerReference,
	"EntityRef": lowerReference,
	"Name":      lang.Same(tree.Name),
	"Comment":   lang.Skip,
})

// lowerDocument lowers the file: its declaration, and its only element.
func lowerDocument(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.FileKind, r, i)
	for c := range l.Children(i) {
		if l.Kind(c) == "prolog" {
			l.Nodes(tree.RoleStatement, c)
		} else {
			l.Node(tree.RoleStatement, c)
		}
	}
	l.Close()
}

// lowerElement lowers an element with or without content.
func lowerElement(l *lang.Lowering, r tree.Role, i int32) {
	tag := l.Find(i, "STag")
	if tag < 0 {
		tag = l.Find(i, "EmptyElemTag")
	}
	name := l.Find(tag, "Name")
	l.BeginText(tree.Element, r, l.Source(name), i)
	if name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	}
	if tag >= 0 {
		for c := range l.Children(tag) {
			if c != name {
				l.Node(tree.RoleAttribute, c)
			}
		}
	}
	l.Nodes(tree.RolePart, l.Find(i, "content"))
	l.Close()
}

// lowerAttribute lowers an attribute, whose value is without quotes and with its references
// resolved.
func lowerAttribute(l *lang.Lowering, r tree.Role, i int32) {
	name, value := l.Find(i, "Name"), l.Find(i, "AttValue")
	if l.Source(name) == lang.EllipsisName {
		l.Same(tree.Name, r, name)
		return
	}
	l.Begin(tree.Attribute, r, i)
	if name >= 0 {
		l.Same(tree.Name, tree.RoleName, name)
	} else {
		l.Need(tree.RoleName, i, name)
	}
	if s := l.Source(value); len(s) >= 2 {
		l.Put(tree.String, tree.RoleValue, html.UnescapeString(s[1:len(s)-1]), value)
	}
	l.Close()
}

// lowerText lowers the text between elements; blanks alone are left out.
func lowerText(l *lang.Lowering, r tree.Role, i int32) {
	trimmed := strings.TrimSpace(l.Source(i))
	switch {
	case lang.Holder(trimmed):
		l.Put(tree.Name, r, trimmed, i)
	case trimmed != "":
		l.Put(tree.String, r, trimmed, i)
	}
}

// lowerSection lowers a CDATA section.
func lowerSection(l *lang.Lowering, r tree.Role, i int32) {
	if data := l.Find(i, "CData"); data >= 0 {
		l.Flag(l.Same(tree.String, r, data), tree.Raw)
	}
}

// lowerReference lowers "&lt;" and "&#65;" to the character.
func lowerReference(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, html.UnescapeString(l.Source(i)), i)
}

var (
	anyAttribute = regexp.MustCompile(`([\w:.-]+\s*=\s*)(\.\.\.|\$[A-Z_][A-Z_0-9]*)`)
	aloneInTag   = regexp.MustCompile(`(<[^<>]*?\s)\.\.\.(\s|/?>)`)
)

// preparePattern puts quotes around the signs that are values, and gives an ellipsis among
// attributes a value, which the grammar asks for.
func preparePattern(text string) []string {
	quoted := anyAttribute.ReplaceAllString(text, `$1"$2"`)
	for {
		next := aloneInTag.ReplaceAllString(quoted, `${1}`+lang.EllipsisName+`="`+lang.EllipsisName+`"$2`)
		if next == quoted {
			return []string{text, quoted}
		}
		quoted = next
	}
}

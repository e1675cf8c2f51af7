// Package html lowers HTML: elements with their attributes, texts and the contents of
// scripts and styles, which are one String. Names of elements and attributes are in
// lower case, because HTML does not tell cases apart there.
package html

import (
	"html"
	"regexp"
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is HTML.
var Language = &lang.Language{
	Name:      "html",
	Spellings: []string{"html"},
	Grammar:   cst.HTML,
	Lower:     table.Lower,
	Patterns: lang.Patterns{
		Sigil:    true,
		Prepare:  preparePattern,
		Contexts: []lang.Context{{Before: "<a ", After: "></a>", Only: regexp.MustCompile(`^[^<>\s]+\s*=`)}, {}},
	},
}

// table says how each kind of the grammar is lowered.
var table = lang.NewTable(cst.HTML, map[string]lang.Rule{
	"document":          lang.Around(tree.FileKind, "", tree.RoleStatement),
	"element":           lowerElement,
	"script_element":    lowerElement,
	"style_element":     lowerElement,
	"attribute":         lowerAttribute,
	"text":              lowerText,
	"raw_text":          lowerText,
	"entity":            lowerText,
	"erroneous_end_tag": lang.Skip,
})

// lowerElement lowers an element, with or without an end.
func lowerElement(l *lang.Lowering, r tree.Role, i int32) {
	start := l.Find(i, "start_tag")
	if start < 0 {
		start = l.Find(i, "self_closing_tag")
	}
	name := l.Find(start, "tag_name")
	l.BeginText(tree.Element, r, tagName(l.Source(name)), i)
	if name >= 0 {
		l.Put(tree.Name, tree.RoleName, tagName(l.Source(name)), name)
	}
	if start >= 0 {
		for c := range l.Children(start) {
			if c != name {
				l.Node(tree.RoleAttribute, c)
			}
		}
	}
	for c := range l.Children(i) {
		if kind := l.Kind(c); c != start && kind != "end_tag" {
			l.Node(tree.RolePart, c)
		}
	}
	l.Close()
}

// normalizeName returns the name in lower case, unless it is a sign of a pattern.
func normalizeName(name string) string {
	if lang.Holder(name) {
		return name
	}
	return strings.ToLower(name)
}

// tagPrefix begins the name of a tag that stands for a metavariable: the grammar
// takes no underscore there.
const tagPrefix = "qzmv-"

// tagSign matches a metavariable in the place of a tag's name.
var tagSign = regexp.MustCompile(`(</?)\$([A-Z_][A-Z_0-9]*)\b`)

// preparePattern spells the metavariables that are names of tags with hyphens.
func preparePattern(text string) []string {
	return []string{tagSign.ReplaceAllStringFunc(text, func(s string) string {
		sign, name, _ := strings.Cut(s, "$")
		return sign + tagPrefix + strings.ReplaceAll(name, "_", "-")
	})}
}

// tagName returns the name of a tag, or that of the metavariable.
func tagName(name string) string {
	if rest, ok := strings.CutPrefix(name, tagPrefix); ok {
		return lang.Placeholder(strings.ReplaceAll(rest, "-", "_"))
	}
	return normalizeName(name)
}

// lowerAttribute lowers an attribute; its name is in lower case, as browsers compare it,
// and one without a value has none.
func lowerAttribute(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Attribute, r, i)
	name := l.Find(i, "attribute_name")
	if name >= 0 {
		l.Put(tree.Name, tree.RoleName, normalizeName(l.Source(name)), name)
	} else {
		l.Need(tree.RoleName, i, name)
	}
	if quoted := l.Find(i, "quoted_attribute_value"); quoted >= 0 {
		s := l.Source(quoted)
		l.Put(tree.String, tree.RoleValue, html.UnescapeString(s[min(1, len(s)):max(1, len(s)-1)]), quoted)
	} else if value := l.Find(i, "attribute_value"); value >= 0 {
		if s := l.Source(value); lang.Holder(s) {
			l.Put(tree.Name, tree.RoleValue, s, value)
		} else {
			l.Put(tree.String, tree.RoleValue, html.UnescapeString(s), value)
		}
	}
	l.Close()
}

// lowerText lowers a text; that of a script or style is as it stands.
func lowerText(l *lang.Lowering, r tree.Role, i int32) {
	source := l.Source(i)
	trimmed := strings.TrimSpace(source)
	switch {
	case lang.Holder(trimmed):
		l.Put(tree.Name, r, trimmed, i)
	case trimmed == "":
	case l.Kind(i) == "raw_text":
		l.Put(tree.String, r, source, i)
	default:
		l.Put(tree.String, r, html.UnescapeString(trimmed), i)
	}
}

package xml

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestElements pins elements with their attributes and text.
func TestElements(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "element with attributes",
			Source: `<a b="c" d='e'>f<g/></a>`,
			Want:   []string{`Element "a"(a, Attribute(b, "c"), Attribute(d, "e"), "f", Element "g"(g))`},
		},
		{
			Name:   "namespace",
			Source: `<x:a xmlns:x="u" x:b="1"/>`,
			Want:   []string{`Element "x:a"(x:a, Attribute(xmlns:x, "u"), Attribute(x:b, "1"))`},
		},
		{
			Name:   "section and references",
			Source: "<a><![CDATA[<b>]]>&amp;&#65;</a>",
			Want:   []string{`Element "a"(a, String "<b>" [raw], "&", "A")`},
		},
		{
			Name:   "declaration and comment",
			Source: `<?xml version="1.0"?><!-- a --><b/>`,
			Want: []string{
				`Other "XMLDecl"(Token "<?", Token "xml", Token "version", Token "=", Other "VersionNum"(` +
					`Token "1.0"), Token "?>")`,
				`Element "b"(b)`,
			},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "element with any attributes",
			Source: `<a ... b="$X" ...>...</a>`,
			Want:   []string{`Element "a"(a, ..., Attribute(b, "$X"), ..., ...)`},
		},
		{
			Name:   "empty element",
			Source: `<activity ... android:exported="true" .../>`,
			Want:   []string{`Element "activity"(activity, ..., Attribute(android:exported, "true"), ...)`},
		},
		{
			Name:   "text",
			Source: "<a>$X</a>",
			Want:   []string{`Element "a"(a, $X)`},
		},
	})
}

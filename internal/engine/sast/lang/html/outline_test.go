package html

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestElements pins elements with their attributes and text.
func TestElements(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "element with attributes",
			Source: `<a href="b" c=d e>f</a>`,
			Want:   []string{`Element "a"(a, Attribute(href, "b"), Attribute(c, "d"), Attribute(e), "f")`},
		},
		{
			Name:   "void and self-closing elements",
			Source: "<br><img src='a'/>",
			Want: []string{
				`Element "br"(br)`,
				`Element "img"(img, Attribute(src, "a"))`,
			},
		},
		{
			Name:   "script and style keep their text",
			Source: "<script>if (a < b) {}</script><style>p > q {}</style>",
			Want: []string{
				`Element "script"(script, "if (a < b) {}")`,
				`Element "style"(style, "p > q {}")`,
			},
		},
		{
			Name:   "comment and type of document",
			Source: "<!DOCTYPE html><!-- a --><p>b</p>",
			Want: []string{
				`Other "doctype"(Token "<!", Token "DOCTYPE", Token ">")`,
				`Element "p"(p, "b")`,
			},
		},
		{
			Name:   "names in upper case",
			Source: `<DIV CLASS="a"></DIV>`,
			Want:   []string{`Element "div"(div, Attribute(class, "a"))`},
		},
		{
			Name:   "character reference",
			Source: "<p>a &amp; b</p>",
			Want:   []string{`Element "p"(p, "a", "&", "b")`},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "element with any attributes",
			Source: `<script ... src="$X">...</script>`,
			Want:   []string{`Element "script"(script, ..., Attribute(src, "$X"), ...)`},
		},
		{
			Name:   "tag as a metavariable",
			Source: `<$TAG onclick="...">...</$TAG>`,
			Want:   []string{`Element "$TAG"($TAG, Attribute(onclick, "..."), ...)`},
		},
		{
			Name:   "element without an end",
			Source: `<input ... type="password" ...>`,
			Want:   []string{`Element "input"(input, ..., Attribute(type, "password"), ...)`},
		},
	})
}

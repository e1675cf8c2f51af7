package yaml

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestValues pins the values that a document holds.
func TestValues(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "mapping and sequence",
			Source: "a: 1\n" +
				"b:\n" +
				"  - c\n" +
				"  - d: e",
			Want: []string{`Map(Pair("a", 1), Pair("b", List("c", Map(Pair("d", "e")))))`},
		},
		{
			Name: "flow collections",
			Source: `a: [1, {b: c}, "d"]` + "\n" +
				"e: {f: g, h}",
			Want: []string{
				`Map(Pair("a", List(1, Map(Pair("b", "c")), "d")), Pair("e", Map(Pair("f", "g"), Pair(` +
					`"h", String [implied]))))`,
			},
		},
		{
			Name: "scalars by type",
			Source: "- 1\n" +
				"- 1.5\n" +
				"- true\n" +
				"- null\n" +
				"- ~\n" +
				"- text\n" +
				"- 0x1F",
			Want: []string{`List(1, 1.5, true, Null "null", Null "null", "text", 0x1F)`},
		},
		{
			Name: "quoted scalars",
			Source: "a: 'it''s'\n" +
				`b: "x\n\u00e9"`,
			Want: []string{`Map(Pair("a", "it's"), Pair("b", "x\né"))`},
		},
		{
			Name: "block scalars",
			Source: "a: |\n" +
				"  x\n" +
				"  y\n" +
				"b: >-\n" +
				"  x\n" +
				"  y",
			Want: []string{`Map(Pair("a", "x\ny\n"), Pair("b", "x y"))`},
		},
		{
			Name: "anchors and aliases",
			Source: "a: &x {b: 1}\n" +
				"c: *x",
			Want: []string{`Map(Pair("a", Map(Pair("b", 1))), Pair("c", Map(Pair("b", 1))))`},
		},
		{
			Name: "merge key",
			Source: "a: &x\n" +
				"  b: 1\n" +
				"c:\n" +
				"  <<: *x\n" +
				"  d: 2",
			Want: []string{
				`Map(Pair("a", Map(Pair("b", 1))), Pair("c", Map(Pair("<<", Map(Pair("b", 1))), Pair("d", 2))))`,
			},
		},
		{
			Name:   "tag",
			Source: "a: !Ref b",
			Want:   []string{`Map(Pair("a", Call(!Ref, "b")))`},
		},
		{
			Name: "several documents",
			Source: "a: 1\n" +
				"---\n" +
				"b: 2",
			Want: []string{
				`Map(Pair("a", 1))`,
				`Map(Pair("b", 2))`,
			},
		},
		{
			Name: "empty value",
			Source: "a:\n" +
				`b: ""`,
			Want: []string{`Map(Pair("a", String [implied]), Pair("b", ""))`},
		},
		{
			Name: "folded plain scalar",
			Source: "a: x\n" +
				"  y",
			Want: []string{`Map(Pair("a", "x y"))`},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "key and value",
			Source: "a: $X",
			Want:   []string{`Pair("a", $X)`},
		},
		{
			Name:   "key with anything",
			Source: "a: ...",
			Want:   []string{`Pair("a", ...)`},
		},
		{
			Name: "mapping with others between",
			Source: "a: 1\n" +
				"...\n" +
				"b: 2",
			Want: []string{`Map(Pair("a", 1), ..., Pair("b", 2))`},
		},
		{
			Name:   "item",
			Source: "- $X",
			Want:   []string{"$X"},
		},
		{
			Name: "items around one",
			Source: "- ...\n" +
				"- a\n" +
				"- ...",
			Want: []string{`List(..., "a", ...)`},
		},
		{
			Name:   "flow list",
			Source: `[..., "a", ...]`,
			Want:   []string{`List(..., "a", ...)`},
		},
		{
			Name:   "regular expression",
			Source: `a: "=~/b+/"`,
			Want:   []string{`Pair("a", String "=~/b+/" [pattern])`},
		},
		{
			Name: "nested mapping",
			Source: "a:\n" +
				"  ...\n" +
				"  b: $X",
			Want: []string{`Pair("a", Map(..., Pair("b", $X)))`},
		},
	})
}

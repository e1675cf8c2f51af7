package json

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestValues pins the values that a document holds.
func TestValues(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "object and list",
			Source: `{"a": [1, -2.5e3, true, null], "b": {"c": "d"}}`,
			Want: []string{
				`Map(Pair(String "a" [implied], List(1, -2.5e3, true, Null "null")), Pair(` +
					`String "b" [implied], Map(Pair(String "c" [implied], "d"))))`,
			},
		},
		{
			Name:   "escapes",
			Source: `["x\n\u00e9\ud83d\ude00"]`,
			Want:   []string{`List("x\né😀")`},
		},
		{
			Name:   "scalar alone",
			Source: `"a"`,
			Want:   []string{`"a"`},
		},
		{
			Name:   "empty collections",
			Source: "[{}, []]",
			Want:   []string{"List(Map, List)"},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "pair",
			Source: `"a": $X`,
			Want:   []string{`Pair(String "a" [implied], $X)`},
		},
		{
			Name:   "object with any pairs",
			Source: `{..., "a": true, ...}`,
			Want:   []string{`Map(..., Pair(String "a" [implied], true), ...)`},
		},
		{
			Name:   "list",
			Source: "[..., $X, ...]",
			Want:   []string{"List(..., $X, ...)"},
		},
		{
			Name:   "string that holds anything",
			Source: `"..."`,
			Want:   []string{`"..."`},
		},
	})
}

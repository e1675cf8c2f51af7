package hcl

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestBlocks pins blocks and their attributes: a block is a call with its labels and a map.
func TestBlocks(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name: "block with labels",
			Source: `resource "aws_s3_bucket" "b" {` + "\n" +
				`  acl = "private"` + "\n" +
				"}",
			Want: []string{`Call(resource, "aws_s3_bucket", "b", Map(Pair("acl", "private")))`},
		},
		{
			Name: "nested blocks",
			Source: "a {\n" +
				"  b {\n" +
				"    c = 1\n" +
				"  }\n" +
				"}",
			Want: []string{`Call(a, Map(Call(b, Map(Pair("c", 1)))))`},
		},
		{
			Name: "attributes",
			Source: "a = 1\n" +
				`b = "c"`,
			Want: []string{
				`Pair("a", 1)`,
				`Pair("b", "c")`,
			},
		},
	})
}

// TestExpressions pins the values of attributes.
func TestExpressions(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "references and index",
			Source: `a = var.b.c[0]["d"]`,
			Want:   []string{`Pair("a", Index(Index(Member "."(Member "."(var, b), c), 0), "d"))`},
		},
		{
			Name: "splats",
			Source: "a = b[*].c\n" +
				"d = e.*.f",
			Want: []string{
				`Pair("a", Member "."(Index(b, *), c))`,
				`Pair("d", Member "."(Index(e, *), f))`,
			},
		},
		{
			Name:   "calls",
			Source: `a = f(1, g("x")...)`,
			Want:   []string{`Pair("a", Call(f, 1, Spread "..."(Call(g, "x"))))`},
		},
		{
			Name:   "operators",
			Source: "a = !b && c || d == 1 + 2 * 3",
			Want: []string{
				`Pair("a", Binary "||"(Binary "&&"(Unary "!"(b), c), Binary "=="(d, Binary "+"(1, ` +
					`Binary "*"(2, 3)))))`,
			},
		},
		{
			Name:   "conditional",
			Source: "a = b ? c : d",
			Want:   []string{`Pair("a", Conditional(condition: b, then: c, else: d))`},
		},
		{
			Name: "lists and objects",
			Source: `a = [1, "b", [c]]` + "\n" +
				`d = { e = 1, "f" : 2, (g) = 3 }`,
			Want: []string{
				`Pair("a", List(1, "b", List(c)))`,
				`Pair("d", Map(Pair("e", 1), Pair("f", 2), Pair(g, 3)))`,
			},
		},
		{
			Name: "for expressions",
			Source: "a = [for x in b : x.c if x.d]\n" +
				"e = { for k, v in f : k => v... }",
			Want: []string{
				`Pair("a", Comprehension "list"(Member "."(x, c), Clause(x, iterable: b, ` +
					`condition: Member "."(x, d))))`,
				`Pair("e", Comprehension "map"(Pair(k, Spread "..."(v)), Clause(Tuple(k, v), iterable: f)))`,
			},
		},
		{
			Name: "templates",
			Source: `a = "x ${b.c} y"` + "\n" +
				`d = "%{ if e }f%{ else }g%{ endif }"`,
			Want: []string{
				`Pair("a", Template("x ", Member "."(b, c), " y"))`,
				`Pair("d", Template(Other "template_directive"(Other "template_if"(` +
					`Other "template_if_intro"(Other "template_directive_start"(Token "%{"), Token "if", e, ` +
					`Other "template_directive_end"(Token "}")), "f", Other "template_else_intro"(` +
					`Other "template_directive_start"(Token "%{"), Token "else", ` +
					`Other "template_directive_end"(Token "}")), "g", Other "template_if_end"(` +
					`Other "template_directive_start"(Token "%{"), Token "endif", ` +
					`Other "template_directive_end"(Token "}"))))))`,
			},
		},
		{
			Name: "here-documents",
			Source: "a = <<E\n" +
				"b ${c}\n" +
				"E\n" +
				"d = <<-F\n" +
				"    e\n" +
				"      g\n" +
				"  F\n",
			Want: []string{
				`Pair("a", Template [raw]("b ", c, "\n"))`,
				`Pair("d", String "e\n  g\n" [raw])`,
			},
		},
		{
			Name:   "escapes",
			Source: `a = "b\n\u00e9 $${c} %%{d}"`,
			Want:   []string{`Pair("a", "b\né ${c} %{d}")`},
		},
		{
			Name:   "constants",
			Source: "a = [true, null, 1.5, -2]",
			Want:   []string{`Pair("a", List(true, Null "null", 1.5, Unary "-"(2)))`},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name: "block with any body",
			Source: `resource "aws_s3_bucket" $N {` + "\n" +
				"  ...\n" +
				"}",
			Want: []string{`Call(resource, "aws_s3_bucket", $N, Map(...))`},
		},
		{
			Name: "block with an attribute",
			Source: "resource $T $N {\n" +
				"  ...\n" +
				`  acl = "public-read"` + "\n" +
				"  ...\n" +
				"}",
			Want: []string{`Call(resource, $T, $N, Map(..., Pair("acl", "public-read"), ...))`},
		},
		{
			Name:   "attribute",
			Source: `acl = "..."`,
			Want:   []string{`Pair("acl", "...")`},
		},
		{
			Name:   "call",
			Source: "file(...)",
			Want:   []string{"Call(file, ...)"},
		},
		{
			Name:   "object",
			Source: "{ ..., a = 1, ... }",
			Want:   []string{`Map(..., Pair("a", 1), ...)`},
		},
		{
			Name:   "deep expression",
			Source: "a = <... $X ...>",
			Want:   []string{`Pair("a", Deep($X))`},
		},
	})
}

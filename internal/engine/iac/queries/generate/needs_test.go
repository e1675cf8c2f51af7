package main

import (
	"fmt"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

func TestNeedsOf(t *testing.T) {
	for _, c := range []struct{ name, rule, want string }{
		{"path", `CxPolicy[r] { b := input.document[i].resource.aws_s3_bucket[name]; b.acl == "public"; r := b.id }`,
			`[[acl] [aws_s3_bucket] [public] [resource]]`},
		{"walk and type", `CxPolicy[r] { d := input.document[i]; [path, x] := walk(d); x.Type == "AWS::S3::Bucket"; r := 1 }`,
			`[[AWS::S3::Bucket] [Type]]`},
		{"one of a collection", `CxPolicy[r] { types := {"b", "a"}; x := input.document[i].resource[types[_]][n]; r := x }`,
			`[[a b] [resource]]`},
		{"key compared", `CxPolicy[r] { x := input.document[i].resource[kind][n]; kind == "k"; r := x }`,
			`[[k] [resource]]`},
		{"not and comprehensions", `CxPolicy[r] { d := input.document[i]; not d.a; count([1 | d.b]) > 0; r := 1 }`, `[]`},
		{"a function's result is not the input's", `CxPolicy[r] { x := lower(input.document[i].kind); x == "pod"; r := 1 }`, `[[kind]]`},
		{"what every document has", `CxPolicy[r] { r := input.document[i].id }`, `[]`},
		{"tasks of the library", `CxPolicy[r] { t := ansLib.tasks[id][n]; m := {"s3", "aws_s3"}; x := t[m[k]]; x.mode == "open"; r := 1 }`,
			`[[aws_s3 s3] [mode] [open]]`},
		{"a constant of the module", `CxPolicy[r] { x := input.document[i].resource[kinds[_]]; r := x }
kinds := ["p", "q"]`, `[[p q] [resource]]`},
	} {
		m, err := ast.ParseModuleWithOpts(c.name, "package Cx\n"+c.rule, ast.ParserOptions{RegoVersion: ast.RegoV0})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := fmt.Sprint(needsOf(m, m.Rules[0])); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWithoutComments(t *testing.T) {
	if got := string(withoutComments([]byte("a\n  # b\n\nc # d\n"))); got != "a\nc # d\n\n" {
		t.Errorf("%q", got)
	}
	if got := string(withoutComments([]byte("a := `\n# b`"))); got != "a := `\n# b`\n" {
		t.Errorf("%q", got)
	}
}

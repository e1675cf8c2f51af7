package main

import (
	"fmt"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"merlon/internal/engine/iac/kics/module"
)

func TestNeedsOf(t *testing.T) {
	for _, c := range []struct{ name, rule, want string }{
		{"path", `CxPolicy[r] { b := input.document[i].resource.aws_s3_bucket[name]; b.acl == "public"; r := b.id }`,
			`[[acl] [aws_s3_bucket] [public] [resource]]`},
		{"walk and type", `CxPolicy[r] { d := input.document[i]; [path, x] := walk(d); x.Type == "AWS::S3::Bucket"; r := 1 }`,
			`[[AWS::S3::Bucket] [Type]]`},
		{"one of a collection",
			`CxPolicy[r] { types := {"b", "a"}; x := input.document[i].resource[types[_]][n]; r := x }`,
			`[[a b] [resource]]`},
		{"key compared", `CxPolicy[r] { x := input.document[i].resource[kind][n]; kind == "k"; r := x }`,
			`[[k] [resource]]`},
		{"not and comprehensions", `CxPolicy[r] { d := input.document[i]; not d.a; count([1 | d.b]) > 0; r := 1 }`,
			`[]`},
		{"a function's result is not the input's",
			`CxPolicy[r] { x := lower(input.document[i].kind); x == "pod"; r := 1 }`, `[[kind]]`},
		{"what every document has", `CxPolicy[r] { r := input.document[i].id }`, `[]`},
		{"tasks of the library",
			`CxPolicy[r] { t := ansLib.tasks[id][n]; m := {"s3", "aws_s3"}; x := t[m[k]]; x.mode == "open"; r := 1 }`,
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

func TestUses(t *testing.T) {
	library, err := module.Parse("common", "package generic.common\na(x) { b(x) }\nb(x) { x }\nc(x) { not a(x) }\nd "+
		"= 1 { true }\ne(x) { [y | y := d] }")
	if err != nil {
		t.Fatal(err)
	}
	u, names := usesOf(library)
	for rule, want := range map[string]string{
		"CxPolicy[r] { r := 1 }":                      "[]",
		"CxPolicy[r] { lib.a(r) }":                    "[a b]",
		"CxPolicy[r] { not f(r) }\nf(x) { lib.c(x) }": "[a b c]",
		"CxPolicy[r] { lib.e(r) }":                    "[d e]",
	} {
		m, err := ast.ParseModuleWithOpts(rule, "package Cx\nimport data.generic.common as lib\n"+rule,
			ast.ParserOptions{RegoVersion: ast.RegoV0})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range u.reachableRules(m) {
			got = append(got, names[i])
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s uses %s, want %s", rule, got, want)
		}
	}
}

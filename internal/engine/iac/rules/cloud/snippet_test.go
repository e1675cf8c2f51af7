package cloud

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.yaml.in/yaml/v3"
)

// TestSnippets parses the example of each declarative rule in the language of its fence.
func TestSnippets(t *testing.T) {
	lib, err := loadFor(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range lib.rules {
		_, rest, ok := strings.Cut(r.HowToPrevent, "```")
		fence, code, _ := strings.Cut(rest, "\n")
		code, _, closed := strings.Cut(code, "\n```")
		if !ok || !closed || strings.TrimSpace(code) == "" {
			t.Errorf("%s has no example: %q", r.ID, r.HowToPrevent)
			continue
		}
		want := map[string]string{"CloudFormation": "yaml", "Azure Resource Manager": "bicep"}[r.Language]
		if want == "" {
			want = "hcl"
		}
		if fence != want {
			t.Errorf("%s: the example is %s, not %s", r.ID, fence, want)
		}
		switch fence {
		case "hcl":
			if _, problems := hclsyntax.ParseConfig([]byte(code+"\n"), r.ID, hcl.InitialPos); problems.HasErrors() {
				t.Errorf("%s: %v in\n%s", r.ID, problems, code)
			}
		case "yaml":
			if err := yaml.Unmarshal([]byte(code), new(any)); err != nil {
				t.Errorf("%s: %v in\n%s", r.ID, err, code)
			}
		}
	}
}

// TestSnippet writes examples in all formats, and tells fixed values from those that the reader
// has to choose.
func TestSnippet(t *testing.T) {
	tests := []struct {
		name, kind, language, each string
		must                       []string
		with                       []related
		want, arguments            string
	}{
		{name: "fixed values", kind: "aws_x", must: []string{"encrypted|false == true", "a.b >= 7"},
			want:      "```hcl\nresource \"aws_x\" \"example\" {\n  encrypted = true\n  a {\n    b = 7\n  }\n}\n```",
			arguments: "  encrypted = true\n  a {\n    b = 7\n  }"},
		{name: "a value of the reader", kind: "aws_x", must: []string{"kms_key_id"},
			want: "```hcl\nresource \"aws_x\" \"example\" {\n  kms_key_id = \"<id of a key>\"\n}\n```"},
		{name: "a value that must not be", kind: "aws_x", must: []string{"acl notin [public, open]"},
			want: "```hcl\nresource \"aws_x\" \"example\" {\n  # acl: another value than public, open\n}\n```"},
		{name: "two members of a list", kind: "aws_x", must: []string{"logs has audit", "logs has api"},
			want: "```hcl\nresource \"aws_x\" \"example\" {\n  logs = [\"audit\", \"api\"]\n}\n```"},
		{name: "one block of many", kind: "aws_x", must: []string{"flag{name=log}.value == on"},
			want: "```hcl\nresource \"aws_x\" \"example\" {\n  flag {\n    name = \"log\"\n    value = \"on\"\n  " +
				"}\n}\n```"},
		{name: "each block", kind: "aws_x", each: "ingress", must: []string{"port <= 1"},
			want: "```hcl\nresource \"aws_x\" \"example\" {\n  ingress {\n    port = 1\n  }\n}\n```"},
		{name: "another resource", kind: "aws_x", with: []related{{kind: "aws_y", by: "x.id"}},
			want: "```hcl\nresource \"aws_y\" \"example\" {\n  x {\n    id = aws_x.example.id\n  }\n}\n```"},
		{name: "CloudFormation", kind: "AWS::X::Y", language: "CloudFormation", must: []string{"A.B == true"},
			want: "```yaml\nExample:\n  Type: AWS::X::Y\n  Properties:\n    A:\n      B: true\n```"},
		{name: "Bicep", kind: "Microsoft.X/y", language: "Azure Resource Manager",
			must: []string{"properties.a == Enabled"},
			want: "```bicep\nresource example 'Microsoft.X/y@<version>' = {\n  properties: {\n    a: 'Enabled'\n  " +
				"}\n}\n```"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &check{types: []string{test.kind}, with: test.with}
			var err error
			if c.must, err = parseAll(test.must); err != nil {
				t.Fatal(err)
			}
			if test.each != "" {
				each, err := parseCondition(test.each)
				if err != nil {
					t.Fatal(err)
				}
				c.each = each.path
			}
			block, arguments := c.snippet(test.language)
			if block != test.want || arguments != test.arguments {
				t.Errorf("got\n%s\nwith arguments %q, want\n%s\nwith %q", block, arguments, test.want, test.arguments)
			}
		})
	}
}

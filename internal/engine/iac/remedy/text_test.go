package remedy

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"merlon/internal/engine/iac/document"
)

// TestCodeOfPages parses the code of each rule in the language of its platform.
func TestCodeOfPages(t *testing.T) {
	if len(advices()) < 300 {
		t.Fatalf("%d rules have a page", len(advices()))
	}
	for rule, a := range advices() {
		text := Text(rule, "https://example.org/attribute")
		_, block, _ := strings.Cut(text, "\n\n```")
		fence, code, _ := strings.Cut(block, "\n")
		code, link, closed := strings.Cut(code, "\n```\n\n")
		if !closed || !strings.HasPrefix(link, "See the [documentation](") || len(a.Text) < 10 {
			t.Errorf("%s: %q", rule, text)
			continue
		}
		if platformOf(rule) == "ansible" && fence == "ini" {
			continue
		}
		if fence == "" || fence != Fences[platformOf(rule)] {
			t.Errorf("%s: the fence is %q", rule, fence)
		}
		if strings.Contains(code, "\t") {
			t.Errorf("%s: a tab in the code", rule)
		}
		switch fence {
		case "hcl":
			if _, problems := hclsyntax.ParseConfig([]byte(code+"\n"), rule, hcl.InitialPos); problems.HasErrors() {
				t.Errorf("%s: %v in\n%s", rule, problems, code)
			}
		case "yaml":
			if trees, err := document.DecodeYAML([]byte(code)); err != nil || len(trees) == 0 {
				t.Errorf("%s: %v in\n%s", rule, err, code)
			}
		}
		if a.mergeable && a.Kind == "" {
			t.Errorf("%s: code without a kind cannot be merged", rule)
		}
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct{ name, rule, link, want string }{
		{"a resource of Terraform", "iac/terraform/aws-ebs-volume-encryption-disabled", "",
			"```hcl\nresource \"aws_ebs_volume\" \"example\" {\n  encrypted = true\n}\n```"},
		{"a container", "iac/kubernetes/privilege-escalation-allowed", "",
			"```yaml\ncontainers:\n  - name: example\n    securityContext:\n      allowPrivilegeEscalation: " +
				"false\n```"},
		{"a service", "iac/compose/security-opt-not-set", "",
			"```yaml\nservices:\n  example:\n    security_opt:\n      - no-new-privileges:true\n```"},
		{"a version of a format", "iac/openapi/general-array-without-maximum-number-items-v2", "", "maxItems: 100"},
		{"a link", "iac/dockerfile/run-using-apt", "https://example.org",
			"See the [documentation](https://example.org)."},
	} {
		if got := Text(test.rule, test.link); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q is missing in\n%s", test.name, test.want, got)
		}
	}
	if got := Text("iac/terraform/unknown", "https://example.org"); got != "" {
		t.Errorf("a rule without a page: %q", got)
	}
}

func TestParsePageRefuses(t *testing.T) {
	for _, test := range []struct{ name, page, want string }{
		{"no code", "# A\n\nDo it.\n\n## x/a\n", "text and code are needed"},
		{"no text", "# A\n\n## x/a\n\n    b\n", "text and code are needed"},
		{"two advices", "# A\n\nDo it.\n\n## x/a\n\n    b\n\n## x/a\n\n    b\n", "x/a is there twice"},
		{"text behind code", "# A\n\nDo it.\n\n## x/a\n\n    b\n\nmore\n", "line 9: text behind code"},
	} {
		err := parsePage(test.page, map[string]Advice{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

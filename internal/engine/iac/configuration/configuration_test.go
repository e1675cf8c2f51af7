package configuration

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/queries"
	"merlon/internal/finding"
	"merlon/internal/scan/scantest"
)

func TestAnalyzer(t *testing.T) { scantest.Run(t, Analyzer) }

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		name string
		flaw queries.Flaw
		want string
	}{
		{"terraform", queries.Flaw{
			Document: &document.Document{Platform: document.Terraform, Prefix: "module.site."},
			Key:      "aws_s3_bucket[logs].acl", Kind: "aws_s3_bucket", Name: "our-logs",
		}, "module.site.aws_s3_bucket.logs"},
		{"terraform in braces", queries.Flaw{
			Document: &document.Document{Platform: document.Terraform},
			Key:      "aws_s3_bucket[{{logs}}]", Kind: "aws_s3_bucket",
		}, "aws_s3_bucket.logs"},
		{"cloudformation", queries.Flaw{
			Document: &document.Document{Platform: document.CloudFormation},
			Key:      "Resources.Logs.Properties", Kind: "AWS::S3::Bucket", Name: "our-logs",
		}, "Logs AWS::S3::Bucket"},
		{"kubernetes", queries.Flaw{
			Document: &document.Document{Platform: document.Kubernetes}, Kind: "Pod", Name: "web",
		}, "Pod/web"},
		{"no name", queries.Flaw{Document: &document.Document{Platform: document.Compose}}, ""},
	} {
		if got := address(c.flaw); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	got := describe(queries.Flaw{
		Rule:     &finding.Rule{ID: "iac/kubernetes/x", Name: "X", Language: "Kubernetes"},
		Document: &document.Document{Platform: document.Kubernetes},
		Path:     "pod.yaml", Line: 3, Kind: "Pod", Name: "web", Key: "metadata.name={{web}}",
		Actual: "metadata.name={{web}} is\n undefined%!(EXTRA string=web)", Expected: "it should be defined.",
	})
	want := finding.Finding{
		RuleID: "iac/kubernetes/x", Language: "Kubernetes",
		Message:  "Pod/web: metadata.name=web is undefined. Expected: it should be defined",
		Location: finding.Location{Path: "pod.yaml", StartLine: 3, EndLine: 3},
		Identity: "Pod/web\nmetadata.name={{web}}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("finding (-want +got):\n%s", diff)
	}
}

func TestOnce(t *testing.T) {
	one, other := &finding.Rule{ID: "a"}, &finding.Rule{ID: "b"}
	flaws := []queries.Flaw{
		{Rule: one, Path: "x", Line: 2, Key: "k"}, {Rule: one, Path: "x", Line: 2, Key: "k"},
		{Rule: other, Path: "x", Line: 2, Key: "k"}, {Rule: one, Path: "x", Line: 1, Key: "k"},
	}
	if got := len(once(flaws)); got != 3 {
		t.Errorf("%d flaws are left, want 3", got)
	}
}

func TestOnceOfKustomizations(t *testing.T) {
	rule := &finding.Rule{ID: "a"}
	built := &document.Document{Format: document.Kustomize}
	flaws := []queries.Flaw{
		{Rule: rule, Path: "x", Line: 2, Key: "web"}, {Rule: rule, Path: "x", Line: 2, Key: "a-web", Document: built},
		{Rule: rule, Path: "patch", Line: 1, Key: "a-web", Document: built}, {Rule: rule, Path: "patch", Line: 1, Key: "b-web", Document: built},
	}
	if got := once(flaws); len(got) != 2 || got[0].Path != "patch" || got[1].Key != "web" {
		t.Errorf("flaws %v, want one of the patch and the file's own", got)
	}
}

func TestWanted(t *testing.T) {
	for name, want := range map[string]bool{
		"main.bicep": true, "a.proto": true, "Dockerfile": true, "Containerfile.dev": true, "hosts": true, "ansible.cfg": true, "build.sh": true,
		"k/Kustomization": true, "pod.yaml": true, "stack.template": true, "main.go": false, "README.md": false, "package-lock.json": false,
	} {
		if wanted(name) != want {
			t.Errorf("wanted(%q) = %v", name, !want)
		}
	}
}

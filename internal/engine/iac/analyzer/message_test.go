package analyzer

import (
	"testing"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/finding"
)

// TestMessageOf writes what a query says as a sentence about an attribute and its value.
func TestMessageOf(t *testing.T) {
	object := &document.Document{Platform: document.Kubernetes}
	bucket := &document.Document{Platform: document.Terraform, Root: map[string]any{"resource": map[string]any{
		"aws_s3_bucket": map[string]any{"logs": map[string]any{"acl": "public-read", "force_destroy": true,
			"password": "hunter2", "tags": map[string]any{}}}}}}
	at := func(field string) []string { return []string{"resource", "aws_s3_bucket", "logs", field} }
	for _, c := range []struct {
		name, want string
		flaw       kics.Flaw
	}{
		{"a container", "container app: securityContext.privileged is true. Expected: unset or false", kics.Flaw{
			Document: object, Name: "web",
			Actual: "metadata.name={{web}}.spec.template.spec.containers.name={{app}}.securityContext.privileged " +
				"is true",
			Expected: "metadata.name={{web}}.spec.template.spec.containers.name={{app}}.securityContext.privileged " +
				"is unset or false"}},
		{"what is not there", "container app: resources.limits.memory is not set", kics.Flaw{
			Document: object, Name: "web",
			Actual:   "metadata.name={{web}}.spec.containers.name={{app}}.resources.limits.memory is undefined",
			Expected: "metadata.name={{web}}.spec.containers.name={{app}}.resources.limits.memory should be defined"}},
		{"a case number", "container app: securityContext.runAsUser is set to a low UID. Expected: set to a UID " +
			">= 10000",
			kics.Flaw{Document: object, Name: "web",
				Actual: "metadata.name={{web}}.spec.containers.name={{app}}.securityContext.runAsUser is set to a " +
					"low UID",
				Expected: "1 metadata.name={{web}}.spec.containers.name={{app}}.securityContext.runAsUser should be " +
					"set to a UID >= 10000"}},
		{"a resource of Terraform", "acl is not private (acl = \"public-read\")", kics.Flaw{Document: bucket,
			Kind: "aws_s3_bucket", Steps: at("acl"), Actual: "'aws_s3_bucket[logs].acl' is not private"}},
		{"a value that is said", "force_destroy is true", kics.Flaw{Document: bucket, Kind: "aws_s3_bucket",
			Steps: at("force_destroy"), Actual: "'force_destroy' is true"}},
		{"a value that may be a secret", "password is weak", kics.Flaw{Document: bucket, Kind: "aws_s3_bucket",
			Steps: at("password"), Actual: "password is weak"}},
		{"a value of several", "tags is wrong", kics.Flaw{Document: bucket, Kind: "aws_s3_bucket", Steps: at("tags"),
			Actual: "tags is wrong"}},
		{"a stray quote", "cidr_blocks contains '0.0.0.0/0'", kics.Flaw{Document: bucket, Kind: "aws_x",
			Actual: "aws_x[a].cidr_blocks' contains '0.0.0.0/0'"}},
		{"a template", "PubliclyAccessible is true. Expected: false", kics.Flaw{
			Document: &document.Document{Platform: document.CloudFormation},
			Actual:   "'Resources.DB.Properties.PubliclyAccessible' is true",
			Expected: "'Resources.DB.Properties.PubliclyAccessible' should be false"}},
		{"the values of a chart", "spec.type is set (with values-prod.yaml)", kics.Flaw{
			Document: &document.Document{Platform: document.Kubernetes, Variant: "values-prod.yaml"},
			Actual:   "spec.type is set"}},
		{"nothing", "The title", kics.Flaw{Document: object}},
	} {
		c.flaw.Rule = &finding.Rule{Name: "The title"}
		if got := messageOf(c.flaw, ""); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

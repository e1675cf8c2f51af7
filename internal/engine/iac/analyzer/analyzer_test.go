package analyzer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/rules/cloud"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

func TestAnalyzer(t *testing.T) {
	scantest.Run(t, Analyzer, func(o *scan.Options) { o.Profile = finding.AllProfile })
}

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		name string
		flaw kics.Flaw
		want string
	}{
		{"terraform", kics.Flaw{
			Document: &document.Document{Platform: document.Terraform, Prefix: "module.site."},
			Key:      "aws_s3_bucket[logs].acl", Kind: "aws_s3_bucket", Name: "our-logs",
		}, "module.site.aws_s3_bucket.logs"},
		{"terraform in braces", kics.Flaw{
			Document: &document.Document{Platform: document.Terraform},
			Key:      "aws_s3_bucket[{{logs}}]", Kind: "aws_s3_bucket",
		}, "aws_s3_bucket.logs"},
		{"terraform by its path", kics.Flaw{
			Document: &document.Document{Platform: document.Terraform},
			Key:      "resource.x", Steps: []string{"resource", "aws_s3_bucket", "logs", "acl"}, Kind: "aws_s3_bucket",
			Name: "our-logs",
		}, "aws_s3_bucket.logs"},
		{"a plan", kics.Flaw{
			Document: &document.Document{Platform: document.Terraform},
			Key:      "aws_s3_bucket[module.m[0].aws_s3_bucket.a].acl", Kind: "aws_s3_bucket",
		}, "module.m[0].aws_s3_bucket.a"},
		{"cloudformation", kics.Flaw{
			Document: &document.Document{Platform: document.CloudFormation},
			Key:      "Resources.Logs.Properties", Kind: "AWS::S3::Bucket", Name: "our-logs",
		}, "Logs AWS::S3::Bucket"},
		{"kubernetes", kics.Flaw{
			Document: &document.Document{Platform: document.Kubernetes}, Kind: "Pod", Name: "web",
		}, "Pod/web"},
		{"no name", kics.Flaw{Document: &document.Document{Platform: document.Compose}}, ""},
	} {
		if got := resourceAddress(c.flaw); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	got := newFinding(kics.Flaw{
		Rule:     &finding.Rule{ID: "iac/kubernetes/x", Name: "X", Language: "Kubernetes"},
		Document: &document.Document{Platform: document.Kubernetes},
		Path:     "pod.yaml", Line: 3, Kind: "Pod", Name: "web", Key: "metadata.name={{web}}",
		Actual: "metadata.name={{web}} is\n undefined%!(EXTRA string=web)", Expected: "it should be defined.",
	})
	want := finding.Finding{
		RuleID: "iac/kubernetes/x", Language: "Kubernetes",
		Message:  "Pod/web: it is not set",
		Location: finding.Location{Path: "pod.yaml", StartLine: 3, EndLine: 3},
		Identity: "Pod/web\nmetadata.name={{web}}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("finding (-want +got):\n%s", diff)
	}
}

func TestOnce(t *testing.T) {
	one, other := &finding.Rule{ID: "a"}, &finding.Rule{ID: "b"}
	flaws := []kics.Flaw{
		{Rule: one, Path: "x", Line: 2, Key: "k"}, {Rule: one, Path: "x", Line: 2, Key: "k"},
		{Rule: other, Path: "x", Line: 2, Key: "k"}, {Rule: one, Path: "x", Line: 1, Key: "k"},
	}
	if got := len(dedupe(flaws)); got != 3 {
		t.Errorf("%d flaws are left, want 3", got)
	}
}

func TestOnceOfKustomizations(t *testing.T) {
	rule := &finding.Rule{ID: "a"}
	built := &document.Document{Format: document.Kustomize}
	flaws := []kics.Flaw{
		{Rule: rule, Path: "x", Line: 2, Key: "web"}, {Rule: rule, Path: "x", Line: 2, Key: "a-web", Document: built},
		{Rule: rule, Path: "patch", Line: 1, Key: "a-web", Document: built},
		{Rule: rule, Path: "patch", Line: 1, Key: "b-web", Document: built},
	}
	if got := dedupe(flaws); len(got) != 2 || got[0].Path != "patch" || got[1].Key != "web" {
		t.Errorf("flaws %v, want one of the patch and the file's own", got)
	}
}

func TestWanted(t *testing.T) {
	for name, want := range map[string]bool{
		"main.bicep": true, "a.proto": true, "Dockerfile": true, "Containerfile.dev": true, "hosts": true,
		"ansible.cfg": true, "build.sh": true,
		"k/Kustomization": true, "pod.yaml": true, "stack.template": true, "main.go": false, "README.md": false,
		"package-lock.json": false,
	} {
		if isInfrastructure(name) != want {
			t.Errorf("wanted(%q) = %v", name, !want)
		}
	}
}

func TestKnown(t *testing.T) {
	is := knownMatches([]kics.Flaw{
		{Path: "a.tf", Line: 3, Key: "aws_instance[web].ebs_optimized", Actual: "'ebs_optimized' is undefined or null"},
		{Path: "a.tf", Line: 5, Key: "aws_instance[web].metadata_options", Actual: "'metadata_options' is not defined"},
		{Path: "a.tf", Line: 7, Steps: []string{"resource", "aws_db_instance", "db", "kms_key_id"},
			Actual: "the key is weak"},
	})
	match := func(line int, message string) cloud.Match {
		return cloud.Match{Message: message, Place: finding.Location{Path: "a.tf", StartLine: line}}
	}
	for _, c := range []struct {
		match cloud.Match
		want  bool
	}{
		{match(3, "Instance is not EBS optimised (ebs_optimized)."), true},
		{match(4, "Instance is not EBS optimised (ebs_optimized)."), false},
		{match(3, "Instance keeps no log (monitoring)."), false},
		{match(5, "Instance answers version 1 (metadata_options.http_tokens)."), true},
		{match(7, "No key of your own (db.kms_key_id)."), true},
		{match(7, "No key (kms_key)."), false},
		{match(3, "A role can do everything."), false},
	} {
		if got := is(c.match); got != c.want {
			t.Errorf("%s in line %d: %v, want %v", c.match.Message, c.match.Place.StartLine, got, c.want)
		}
	}
}

func TestValues(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n- apiVersion: " +
		"v1\n  kind: Service\n"
	docs, err := decodeValues(nil, "deploy/all.yaml", []byte(list), nil)
	if err != nil || len(docs) != 2 {
		t.Fatalf("%d documents, %v; want 2", len(docs), err)
	}
	if d := docs[1]; d.Root["kind"] != "Service" || d.Lines.Line != 7 || d.Index != 1 || d.Unit != "deploy" ||
		d.Platform != document.Kubernetes {
		t.Errorf("the second document is %+v, in line %d", d, d.Lines.Line)
	}
	docs, err = decodeValues(nil, "a.template", []byte("Resources: {B: {Type: 'AWS::S3::Bucket'}}"), nil)
	if err != nil || len(docs) != 1 || docs[0].Format != document.YAML || docs[0].Unit != "" {
		t.Errorf("a template in YAML: %d documents, %v", len(docs), err)
	}
	docs, err = decodeValues(nil, "a.yaml", []byte("apiVersion: v1\nkind: Pod\n---\na: [\n"), nil)
	if err == nil || len(docs) != 1 {
		t.Errorf("a broken second document: %d documents, %v; want one and an error", len(docs), err)
	}
}

package analyzer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

func TestPlan(t *testing.T) {
	trees, err := document.DecodeJSON([]byte(`{"terraform_version": "1.9", "planned_values": {"root_module": {
  "resources": [
    {"address": "aws_s3_bucket.a",
     "mode": "managed", "type": "aws_s3_bucket", "values": {
       "acl": "public-read"}},
    {"address": "data.aws_x.b", "mode": "data", "type": "aws_x", "values": {}}],
  "child_modules": [{"resources": [
    {"address": "module.m.aws_s3_bucket.c", "mode": "managed", "type": "aws_s3_bucket", "values": {"acl": "private"}}]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := planTree(trees[0])
	want := map[string]any{"resource": map[string]any{"aws_s3_bucket": map[string]any{
		"aws_s3_bucket.a":          map[string]any{"acl": "public-read"},
		"module.m.aws_s3_bucket.c": map[string]any{"acl": "private"},
	}}}
	if diff := cmp.Diff(want, got.Root); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	for line, path := range map[int][]string{
		3: {"resource", "aws_s3_bucket", "aws_s3_bucket.a"},
		5: {"resource", "aws_s3_bucket", "aws_s3_bucket.a", "acl"},
		8: {"resource", "aws_s3_bucket", "module.m.aws_s3_bucket.c", "acl"},
	} {
		if n, found := got.Lines.Find(path...); found != len(path) || n.Line != line {
			t.Errorf("%v: %d steps to line %d, want %d", path, found, n.Line, line)
		}
	}
	other := document.Tree{Root: map[string]any{"resource": 1}}
	if diff := cmp.Diff(other, planTree(other)); diff != "" {
		t.Errorf("what is no plan was changed:\n%s", diff)
	}
}

// What is known only after the apply is neither absent nor a value.
func TestPlanUnknown(t *testing.T) {
	trees, err := document.DecodeJSON([]byte(`{"terraform_version": "1.9", "planned_values": {"root_module": {"resources": [
  {"address": "t.a", "mode": "managed", "type": "t", "values": {
    "on": true,
    "rule": [{"p": 1}]}}]}},
 "resource_changes": [{"address": "t.a", "change": {"after_unknown": {"key": true, "rule": [{"q": true}], "tags": {}, "no": false}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := planTree(trees[0])
	want := map[string]any{"on": true, "key": "${known after apply}",
		"rule": []any{map[string]any{"p": int64(1), "q": "${known after apply}"}}}
	if diff := cmp.Diff(want, got.Root["resource"].(map[string]any)["t"].(map[string]any)["t.a"]); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	for _, path := range [][]string{{"resource", "t", "t.a", "key"}, {"resource", "t", "t.a", "rule", "0", "q"}} {
		if n, found := got.Lines.Find(path...); found != len(path) || !n.Unknown || n.Line == 0 {
			t.Errorf("%v: %d steps to %+v", path, found, n)
		}
	}
}

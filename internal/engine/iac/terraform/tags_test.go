package terraform

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tags returns the tags that the documents show, by address.
func tags(p *Project) map[string]string {
	out := map[string]string{}
	for _, d := range p.Documents() {
		kinds, _ := d.Root["resource"].(map[string]any)
		for kind, v := range kinds {
			for name, body := range v.(map[string]any) {
				if tags, ok := body.(map[string]any)["tags"]; ok {
					out[d.Prefix+kind+"."+name] = fmt.Sprint(tags)
				}
			}
		}
	}
	return out
}

// Resources have the tags of the configuration of their provider, and of no other.
func TestDefaultTags(t *testing.T) {
	p := load(t,
		"main.tf", `provider "aws" {
  default_tags {
    tags = { Team = "web", Name = "all" }
  }
}
provider "aws" {
  alias = "west"
  default_tags { tags = merge(local.common, { Where = "west" }) }
}
provider "aws" { alias = "bare" }
locals { common = { Owner = var.owner } }
variable "owner" {}
resource "aws_s3_bucket" "plain" {}
resource "aws_s3_bucket" "own" {
  tags = {
    Name = "mine"
    Size = "small"
  }
}
resource "aws_s3_bucket" "west" { provider = aws.west }
resource "aws_s3_bucket" "bare" { provider = aws.bare }
resource "aws_s3_bucket" "null" {
  provider = aws.bare
  tags     = null
}
resource "aws_autoscaling_group" "group" {}
resource "azurerm_storage_account" "other" {}
data "aws_s3_bucket" "data" {}
module "inherits" { source = "./inherits" }
module "given" {
  source    = "./given"
  providers = { aws = aws.bare, aws.second = aws.west }
}
`,
		"inherits/main.tf", "resource \"aws_sns_topic\" \"a\" {}\n",
		"given/main.tf", "resource \"aws_sns_topic\" \"a\" {}\nresource \"aws_sns_topic\" \"b\" { provider = "+
			"aws.second }\n",
		"apart/main.tf", "resource \"aws_sns_topic\" \"apart\" {}\n")
	want := map[string]string{
		"aws_s3_bucket.plain": "map[Name:all Team:web]", "aws_s3_bucket.own": "map[Name:mine Size:small Team:web]",
		"aws_s3_bucket.west": "map[Owner:${var.owner} Where:west]", "aws_s3_bucket.null": "<nil>",
		"module.inherits.aws_sns_topic.a": "map[Name:all Team:web]",
		"module.given.aws_sns_topic.b":    "map[Owner:${var.owner} Where:west]",
	}
	if diff := cmp.Diff(want, tags(p)); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	for _, d := range p.Documents() {
		if d.Path != "main.tf" {
			continue
		}
		for tag, line := range map[string]int{"Name": 16, "Size": 17, "Team": 3} {
			n, found := d.Lines.Find("resource", "aws_s3_bucket", "own", "tags", tag)
			if found != 5 || n.Line != line || d.File(n) != "main.tf" {
				t.Errorf("%s is at %s:%d after %d steps, want line %d", tag, d.File(n), n.Line, found, line)
			}
		}
	}
	if got := resources(p)["aws_s3_bucket.own"].Body.Lookup("tags.Team"); len(got) != 1 || got[0].Value != "web" {
		t.Errorf("a rule sees the tag %v", got)
	}
}

// Terragrunt puts the provider beside the module.
func TestGeneratedTags(t *testing.T) {
	p := load(t,
		"root.hcl", "locals {\n  team = \"web\"\n}\ngenerate \"provider\" {\n  path = \"provider.tf\"\n  contents = "+
			"<<EOF\nprovider \"aws\" {\n  default_tags {\n    tags = {\n      Team = \"${local.team}\"\n    }\n  "+
			"}\n}\nEOF\n}\n",
		"live/a/terragrunt.hcl", "include \"root\" { path = find_in_parent_folders(\"root.hcl\") }\nterraform { "+
			"source = \"../../modules/a\" }\n",
		"live/b/terragrunt.hcl", "generate \"p\" {\n  contents = <<EOF\nprovider \"aws\" {\n  default_tags {\n    "+
			"tags = { Who = \"${dependency.x.outputs.y}\" }\n  }\n}\nEOF\n}\nterraform { source = "+
			"\"../../modules/b\" }\n",
		"live/c/terragrunt.hcl", "generate \"p\" {\n  contents = \"provider {\"\n}\nterraform { source = "+
			"\"../../modules/c\" }\n",
		"modules/a/main.tf", "resource \"aws_sns_topic\" \"a\" {}\n",
		"modules/b/main.tf", "resource \"aws_sns_topic\" \"b\" {}\n",
		"modules/c/main.tf", "resource \"aws_sns_topic\" \"c\" {}\n")
	want := map[string]string{"aws_sns_topic.a": "map[Team:web]",
		"aws_sns_topic.b": "map[Who:${dependency.x.outputs.y}]"}
	if diff := cmp.Diff(want, tags(p)); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	for _, d := range p.Documents() {
		if n, found := d.Lines.Find("resource", "aws_sns_topic", "a", "tags", "Team"); found == 5 &&
			(d.File(n) != "root.hcl" || n.Line != 10) {
			t.Errorf("the tag is at %s:%d", d.File(n), n.Line)
		}
	}
	if len(p.Problems) != 1 || p.Problems[0].Path != "live/c/terragrunt.hcl" || p.Problems[0].Line != 2 {
		t.Errorf("problems %+v", p.Problems)
	}
}

// A plan lists all tags beside those of the resource.
func TestPlannedTags(t *testing.T) {
	p := load(t, "plan.json", `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [
  {"address": "aws_sns_topic.a", "mode": "managed", "type": "aws_sns_topic", "name": "a", "values": {"tags": null, "tags_all": {"Team": "web"}}},
  {"address": "aws_sns_topic.b", "mode": "managed", "type": "aws_sns_topic", "name": "b", "values": {"tags": null, "tags_all": {}}},
  {"address": "aws_sns_topic.c", "mode": "managed", "type": "aws_sns_topic", "name": "c", "values": {"tags": {"A": "b"}, "tags_all": {"A": "b", "C": "d"}}}
]}}, "resource_changes": []}`)
	got := map[string]any{}
	for address, r := range resources(p) {
		got[address] = r.Body.Value("tags")
	}
	want := map[string]any{"aws_sns_topic.a": map[string]any{"Team": "web"}, "aws_sns_topic.b": nil,
		"aws_sns_topic.c": map[string]any{"A": "b", "C": "d"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
}

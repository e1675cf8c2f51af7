package normalize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/terraform"
)

// read makes the project of one template.
func read(t testing.TB, platform document.Platform, text string) *terraform.Project {
	t.Helper()
	decode := document.DecodeYAML
	if strings.HasPrefix(text, "{") {
		decode = document.DecodeJSON
	}
	trees, err := decode([]byte(text))
	if err != nil || len(trees) != 1 {
		t.Fatalf("%d trees, %v", len(trees), err)
	}
	return Project([]*document.Document{{Platform: platform, Path: "t", Root: trees[0].Root, Lines: trees[0].Lines}})
}

const stack = `Resources:
  Key:
    Type: AWS::KMS::Key
  Disk:
    Type: AWS::EC2::Volume
    Properties:
      Size: 5
      Encrypted: "false"
      KmsKeyId: !GetAtt Key.Arn
      SnapshotId: !Ref AWS::NoValue
      Tags:
        - Key: a
          Value: !Sub "${AWS::Region}-x"
        - {Key: b, Value: c}
      Zones: [a, {Ref: Zone}]
      Other: {"Fn::If": [A, {B: 1}, {C: 2}]}
  Open:
    Type: AWS::EC2::Volume
    Properties:
      Fn::Transform: {Name: x}
  Not: {Type: 5}
`

func TestStack(t *testing.T) {
	p := read(t, document.CloudFormation, stack)
	if len(p.Modules) != 1 || len(p.Modules[0].Resources) != 3 {
		t.Fatalf("project %+v, want one module of three resources", p)
	}
	disk, key, open := p.Modules[0].Resources[0], p.Modules[0].Resources[1], p.Modules[0].Resources[2]
	if disk.Address != "Disk AWS::EC2::Volume" || disk.Type != "AWS::EC2::Volume" || disk.Body.Place.StartLine != 6 ||
		disk.Body.Place.Path != "t" {
		t.Errorf("disk %+v at %+v", disk, disk.Body.Place)
	}
	if refs := disk.Refs(); len(refs) != 1 || refs[0] != key {
		t.Errorf("the disk names %v, want the key", refs)
	}
	for name, want := range map[string]any{
		"Size": 5.0, "Encrypted": "false", "KmsKeyId": terraform.Unknown{}, "SnapshotId": nil,
		"Other": terraform.Unknown{}, "Zones": []any{"a", terraform.Unknown{}},
	} {
		if diff := cmp.Diff(want, disk.Body.Value(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	tags := disk.Body.All("Tags")
	if len(tags) != 2 || tags[0].Value("Value") != "${AWS::Region}-x" || tags[1].Value("Key") != "b" ||
		tags[1].Place.StartLine != 14 {
		t.Errorf("tags %+v", tags)
	}
	if key.Body.Unsure || key.Body.Place.StartLine != 2 || !open.Body.Unsure {
		t.Errorf("key %+v, open %+v: only the latter is unsure", key.Body, open.Body)
	}
}

const deployment = `{"$schema": "x", "resources": [
 {"type": "Microsoft.Sql/servers", "name": "[parameters('n')]", "identifier": "sql", "properties": {
   "minimalTlsVersion": "[variables('v')]", "literal": "[[x]"},
  "resources": [
   {"type": "firewallRules", "name": "all", "properties": {"startIpAddress": "0.0.0.0"}}]},
 {"type": "Microsoft.Web/sites/config", "name": "[concat(parameters('site'), '/web')]"},
 {"type": "Microsoft.Network/x", "existing": true},
 {"type": "Microsoft.Resources/deployments", "name": "inner", "properties": {"template": {"resources": {
   "b": {"type": "Microsoft.Storage/storageAccounts", "name": "b"}}}}}]}`

func TestDeployment(t *testing.T) {
	p := read(t, document.ARM, deployment)
	var got [][2]string
	byType := map[string]*terraform.Resource{}
	for _, r := range p.Modules[0].Resources {
		got = append(got, [2]string{r.Type, r.Address})
		byType[r.Type] = r
	}
	want := [][2]string{
		{"microsoft.sql/servers", "Microsoft.Sql/servers sql"},
		{"microsoft.sql/servers/firewallrules", "Microsoft.Sql/servers/firewallRules all"},
		{"microsoft.web/sites/config", "Microsoft.Web/sites/config [concat(parameters('site'), '/web')]"},
		{"microsoft.resources/deployments", "Microsoft.Resources/deployments inner"},
		{"microsoft.storage/storageaccounts", "Microsoft.Storage/storageAccounts b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("resources (-want +got):\n%s", diff)
	}
	if v := byType["microsoft.web/sites/config"].Body.Value("name"); v != "${name}/web" {
		t.Errorf("the name ends as %v", v)
	}
	properties := byType["microsoft.sql/servers"].Body.All("properties")[0]
	if v := properties.Value("minimalTlsVersion"); v != (terraform.Unknown{}) {
		t.Errorf("an expression is %v", v)
	}
	if v := properties.Value("literal"); v != "[[x]" {
		t.Errorf("a text in doubled brackets is %v", v)
	}
	if at := byType["microsoft.sql/servers/firewallrules"].Body.Place.StartLine; at != 5 {
		t.Errorf("the rule stands in line %d", at)
	}
}

func TestNothing(t *testing.T) {
	for _, text := range []string{"Resources: 5\n", "Resources: {A: 5, B: {Type: [x]}}\n", "{}\n"} {
		for _, platform := range []document.Platform{document.CloudFormation, document.ARM, document.Kubernetes} {
			if p := read(t, platform, text); len(p.Modules) != 0 {
				t.Errorf("%q as %s makes %d modules", text, platform, len(p.Modules))
			}
		}
	}
}

// Templates in templates end.
func TestDepth(t *testing.T) {
	text := strings.Repeat(`{"resources": [{"type": "Microsoft.Resources/deployments", "properties": {"template": `,
		30) + "{}" + strings.Repeat(`}}]}`, 30)
	if got := len(read(t, document.ARM, text).Modules[0].Resources); got != maxDepth+1 {
		t.Errorf("%d resources of 30 templates in each other, want %d", got, maxDepth+1)
	}
}

func FuzzProject(f *testing.F) {
	f.Add(stack)
	f.Add(deployment)
	f.Add("Resources: {A: {Type: B, Properties: [1]}}\nresources: {a: {type: b, resources: [{type: c}]}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil {
			return
		}
		for _, tree := range trees {
			for _, platform := range []document.Platform{document.CloudFormation, document.ARM} {
				p := Project([]*document.Document{{Platform: platform, Path: "t", Root: tree.Root, Lines: tree.Lines}})
				for _, m := range p.Modules {
					for _, r := range m.Resources {
						if r.Body == nil || r.Body.Place.StartLine < 1 {
							t.Fatalf("resource %s without a body or a place", r.Address)
						}
					}
				}
			}
		}
	})
}

package template

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

func TestDeploymentExpressions(t *testing.T) {
	tree := decode(t, `$schema: https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#
parameters:
  tls: {type: string, defaultValue: TLS1_0}
  on: {type: bool, defaultValue: false}
  pw: {type: securestring, defaultValue: hunter22}
  open: {type: string}
  list: {type: array, defaultValue: [a, b]}
variables:
  name: "[concat('x-', toLower(parameters('tls')))]"
  obj: {a: {b: "[parameters('on')]"}}
resources:
- a: "[parameters('tls')]"
  b: "[variables('name')]"
  c: "[if(parameters('on'), 'yes', 'it''s')]"
  d: "[variables('obj').a.b]"
  e: "[parameters('pw')]"
  f: "[parameters('open')]"
  g: "[[literal]"
  h: "[format('{0}/{1}', parameters('list')[1], length(parameters('list')))]"
  i: "[reference('x').y]"
  j: "[not(equals(parameters('tls'), 'TLS1_2'))]"
- type: Microsoft.Resources/deployments
  name: inner
  properties:
    expressionEvaluationOptions: {scope: inner}
    parameters: {tls: {value: "[parameters('tls')]"}, on: {value: true}}
    template:
      parameters: {tls: {type: string}, on: {type: bool, defaultValue: false}}
      resources: [{a: "[parameters('tls')]", b: "[parameters('on')]"}]
- type: Microsoft.Resources/deployments
  name: linked
  properties:
    templateLink: {uri: "[uri(deployment().properties.templateLink.uri, 'nested/db.json')]"}
    parameters: {on: {value: "[parameters('on')]"}, id: {value: "[reference('x').id]"}}
- type: Microsoft.Resources/deployments
  name: near
  properties: {templateLink: {uri: "https://x.test/main/nested/db.json?raw=true"}}
- type: Microsoft.Resources/deployments
  name: far
  properties: {templateLink: {uri: "https://x.test/main/other/db.json"}}
- type: Microsoft.Resources/deployments
  name: unknown
  properties: {templateLink: {uri: "[parameters('open')]"}}
`)
	source := func(name string) ([]byte, error) {
		if name == "a/nested/db.json" {
			return []byte("{}"), nil
		}
		return nil, errors.New("no file")
	}
	made := Evaluate(File{Platform: document.ARM, Path: "a/main.json", Tree: tree, Source: source})
	got, deploys := made.Tree, made.Deploys
	want := map[string]any{
		"a": "TLS1_0", "b": "x-tls1_0", "c": "it's", "d": false, "e": "[parameters('pw')]", "f": "[parameters('open')]",
		"g": "[[literal]",
		"h": "b/2", "i": "[reference('x').y]", "j": true,
	}
	list := got.Root["resources"].([]any)
	if diff := cmp.Diff(want, list[0]); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	inner := list[1].(map[string]any)["properties"].(map[string]any)["template"].(map[string]any)["resources"]
	if diff := cmp.Diff([]any{map[string]any{"a": "TLS1_0", "b": true}}, inner); diff != "" {
		t.Errorf("inner template (-want +got):\n%s", diff)
	}
	uses := []document.Deployment{
		{Name: "linked", Path: "a/nested/db.json", Line: 30,
			Given: map[string]any{"on": false, "id": document.Unknown{}}},
		{Name: "near", Path: "a/nested/db.json", Line: 35, Given: map[string]any{}},
	}
	if diff := cmp.Diff(uses, deploys); diff != "" {
		t.Errorf("linked (-want +got):\n%s", diff)
	}
	gaps := []document.Gap{
		{Code: "unavailable", Path: "a/main.json", Line: 38, Message: "the linked template of far is not analyzed: " +
			"https://x.test/main/other/db.json is not part of the tree, and nothing is fetched"},
		{Code: "unavailable", Path: "a/main.json", Line: 41, Message: "the linked template of unknown is not " +
			"analyzed: its address is not known, or it is not part of the tree, and nothing is fetched"},
	}
	if diff := cmp.Diff(gaps, made.Gaps); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}

func TestParameterFiles(t *testing.T) {
	source := func(name string) ([]byte, error) {
		if name == "a/azuredeploy.json" {
			return []byte("{}"), nil
		}
		return nil, errors.New("no file")
	}
	tree := decode(t, "$schema: https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#\nparameters: {tls: {value: TLS1_0}, pw: {reference: {secretName: x}}}\n")
	if platforms := document.Detect("a/azuredeploy.parameters.json", tree.Root); len(platforms) != 1 ||
		platforms[0] != document.ARM {
		t.Errorf("a file of parameters is %v", platforms)
	}
	deploys := Evaluate(File{Platform: document.ARM, Path: "a/azuredeploy.parameters.json", Tree: tree,
		Source: source}).Deploys
	uses := []document.Deployment{{Name: "azuredeploy", Path: "a/azuredeploy.json", Line: 1,
		Given: map[string]any{"tls": "TLS1_0", "pw": document.Unknown{}}}}
	if diff := cmp.Diff(uses, deploys); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
	given := Evaluate(File{Platform: document.ARM, Path: "a/azuredeploy.json", Source: source, Given: deploys[0].Given, Tree: decode(t, `$schema: deploymentTemplate.json#
parameters: {tls: {type: string, defaultValue: TLS1_2}, pw: {type: string, defaultValue: x}}
resources: [{a: "[parameters('tls')]"}]
`)}).Tree
	want := map[string]any{"tls": map[string]any{"type": "string", "defaultValue": "TLS1_0"},
		"pw": map[string]any{"type": "string"}}
	if diff := cmp.Diff(want, given.Root["parameters"]); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"a": "TLS1_0"}}, given.Root["resources"]); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

package template

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

func decode(t *testing.T, text string) document.Tree {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(text))
	if err != nil || len(trees) != 1 {
		t.Fatalf("%d trees, error %v", len(trees), err)
	}
	return trees[0]
}

func evaluate(platform document.Platform, tree document.Tree, file string, source Source) document.Tree {
	return Evaluate(File{Platform: platform, Path: file, Tree: tree, Source: source}).Tree
}

func none(string) ([]byte, error) { return nil, errors.New("no file") }

func TestStack(t *testing.T) {
	tree := decode(t, `Parameters:
  On: {Type: String, Default: "false"}
  Days: {Type: Number, Default: 3}
  From: {Type: String, Default: 0.0.0.0/0}
  Name: {Type: String, Default: web}
  Pass: {Type: String, Default: "true", NoEcho: true}
  Open: {Type: String}
Resources:
  R:
    Properties:
      A: !Ref On
      B: {Ref: Days}
      C: [!Ref From, On]
      D: !Ref Name
      E: !Ref Pass
      F: !Ref Open
      G: !GetAtt On
      H: On
`)
	before := fmt.Sprint(tree.Root)
	got := evaluate(document.CloudFormation, tree, "x", none)
	want := map[string]any{
		"A": "false", "B": int64(3), "C": []any{"0.0.0.0/0", "On"}, "D": "web", "E": "Pass", "F": "Open", "G": "On",
		"H": "On",
	}
	properties := got.Root["Resources"].(map[string]any)["R"].(map[string]any)["Properties"]
	if diff := cmp.Diff(want, properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	if fmt.Sprint(tree.Root) != before {
		t.Error("the given tree was changed")
	}
}

func TestDeployment(t *testing.T) {
	tree := decode(t, `$schema: https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#
variables:
  tls: TLS1_0
  same: "[variables('tls')]"
  computed: "[concat('a', 'b')]"
  list: [1, "[variables('same')]"]
  round: "[variables('round')]"
resources:
- a: "[variables('tls')]"
  b: "[variables('same')]"
  c: "[variables('computed')]"
  d: "[variables('list')]"
  e: "[variables('round')]"
  f: "[concat(variables('tls'))]"
`)
	got := evaluate(document.ARM, tree, "x", none)
	want := []any{map[string]any{
		"a": "TLS1_0", "b": "TLS1_0", "c": "ab", "d": []any{int64(1), "TLS1_0"},
		"e": "[variables('round')]", "f": "TLS1_0",
	}}
	if diff := cmp.Diff(want, got.Root["resources"]); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

// Each variable holds the one before twice.
func TestDeploymentGrows(t *testing.T) {
	var b strings.Builder
	b.WriteString("$schema: x\nresources: [\"[variables('v60')]\"]\nvariables:\n  v0: [1]\n")
	for i := range 60 {
		fmt.Fprintf(&b, "  v%d: [\"[variables('v%d')]\", \"[variables('v%d')]\"]\n", i+1, i, i)
	}
	evaluate(document.ARM, decode(t, b.String()), "x", none)
}

func TestReferences(t *testing.T) {
	files := map[string]string{
		"api/common/ids.yaml": "schemas:\n  Id: {type: string, next: {$ref: '#/schemas/Id'}}\n",
		"api/whole.json":      `{"type": "object"}`,
	}
	source := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no file")
	}
	tree := decode(t, "openapi: 3.0.0\na: {$ref: 'common/ids.yaml#/schemas/Id'}\nb: {$ref: whole.json}\nc: {$ref: "+
		"'none.yaml#/x'}\nd: {$ref: 'https://example.com/x.yaml'}\ne: {$ref: '#/f'}\nf: {type: null}\ng: {$ref: "+
		"'../../etc/passwd'}\n")
	got := evaluate(document.OpenAPI, tree, "api/api.yaml", source).Root
	meta := func(ref string) map[string]any { return map[string]any{"$ref": ref, "alone": true} }
	want := map[string]any{
		"openapi": "3.0.0",
		"a": map[string]any{"type": "string", "next": map[string]any{"$ref": "#/schemas/Id"},
			"RefMetadata": meta("common/ids.yaml#/schemas/Id")},
		"b": map[string]any{"type": "object", "RefMetadata": meta("whole.json")},
		"c": map[string]any{"RefMetadata": meta("none.yaml#/x")},
		"d": map[string]any{"RefMetadata": meta("https://example.com/x.yaml")},
		"e": map[string]any{"type": nil, "RefMetadata": meta("#/f")},
		"f": map[string]any{"type": nil},
		"g": map[string]any{"RefMetadata": meta("../../etc/passwd")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// FuzzEvaluate puts values into any file, on each platform.
func FuzzEvaluate(f *testing.F) {
	f.Add("Parameters: {A: {Default: true}}\nResources: {R: {P: !Ref A, Q: {Ref: A}}}\n")
	f.Add("$schema: x\nvariables: {a: \"[variables('b')]\", b: [\"[variables('a')]\"]}\nresources: " +
		"[\"[variables('a')]\"]\n")
	f.Add("a: {$ref: 'x#/b'}\nb: {$ref: '#/a'}\n")
	f.Fuzz(func(t *testing.T, text string) {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil {
			return
		}
		for _, tree := range trees {
			for _, platform := range []document.Platform{document.CloudFormation, document.ARM, document.OpenAPI} {
				if got := evaluate(platform, tree, "x", none); got.Root == nil || got.Lines == nil {
					t.Fatal("nothing is left")
				}
			}
		}
	})
}

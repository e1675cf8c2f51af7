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
	out, _ := Evaluate(File{Platform: platform, Path: file, Tree: tree, Source: source})
	return out
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
		"A": "false", "B": int64(3), "C": []any{"0.0.0.0/0", "On"}, "D": "web", "E": "Pass", "F": "Open", "G": "On", "H": "On",
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

func TestVariables(t *testing.T) {
	source := func(name string) ([]byte, error) {
		if name != "a/.env" {
			return nil, errors.New("no file")
		}
		return []byte("# ports\nPORT=8080 # the outer one\nexport TAG='1.2 #3'\nEMPTY=\nDB_PASSWORD=hunter2\nno line\n"), nil
	}
	const text = `services:
  web:
    image: "web:${TAG}"
    ports: ["$PORT:80", "${OTHER:-90}:90", "${EMPTY:-91}:91", "${EMPTY-92}:92", "${PORT-93}:93"]
    command: ["$$PORT", "${NONE}", "${PORT:?must be set}", "${PORT:+x}", "$", "${", "${A:-${B}}"]
    environment: {PASSWORD: "${DB_PASSWORD}", N: 1}
`
	got := evaluate(document.Compose, decode(t, text), "a/compose.yaml", source)
	want := map[string]any{
		"image": "web:1.2 #3", "ports": []any{"8080:80", "90:90", "91:91", ":92", "8080:93"},
		"command":     []any{"$$PORT", "${NONE}", "${PORT:?must be set}", "${PORT:+x}", "$", "${", "${A:-${B}}"},
		"environment": map[string]any{"PASSWORD": "${DB_PASSWORD}", "N": int64(1)},
	}
	if diff := cmp.Diff(want, got.Root["services"].(map[string]any)["web"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompose(t *testing.T) {
	files := map[string]string{
		"a/common/base.yaml": "services:\n  base:\n    extends: root\n    read_only: true\n    ports: [\"1:1\"]\n    environment: {A: x, B: y}\n  root:\n    privileged: true\n    depends_on: [z]\n",
		"a/compose.yaml":     "services:\n  web:\n    extends: {file: common/base.yaml, service: base}\n    image: web\n    ports: [\"2:2\"]\n    environment: {B: z}\n  near:\n    extends: web\n    privileged: false\n  lost:\n    extends: {service: none}\n  loop:\n    extends: {service: loop}\n    image: x\n",
	}
	source := func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, errors.New("no file")
		}
		return []byte(text), nil
	}
	d := &document.Document{Path: "a/compose.yaml"}
	got := evaluate(document.Compose, decode(t, files[d.Path]), d.Path, source)
	services := got.Root["services"].(map[string]any)
	web := map[string]any{
		"extends": map[string]any{"file": "common/base.yaml", "service": "base"}, "image": "web", "read_only": true, "privileged": true,
		"ports": []any{"1:1", "2:2"}, "environment": map[string]any{"A": "x", "B": "z"},
	}
	if diff := cmp.Diff(web, services["web"]); diff != "" {
		t.Errorf("web (-want +got):\n%s", diff)
	}
	if near := services["near"].(map[string]any); near["privileged"] != false || near["read_only"] != true || near["image"] != "web" {
		t.Errorf("near is %v", near)
	}
	for path, want := range map[string]string{
		"web read_only": "a/common/base.yaml:4", "web privileged": "a/common/base.yaml:8", "web image": "a/compose.yaml:4",
		"web ports 0": "a/common/base.yaml:5", "web ports 1": "a/compose.yaml:5", "web environment A": "a/common/base.yaml:6", "near read_only": "a/common/base.yaml:4",
	} {
		steps := append([]string{"services"}, strings.Fields(path)...)
		n, found := got.Lines.Find(steps...)
		if at := fmt.Sprintf("%s:%d", d.File(n), n.Line); at != want || found != len(steps) {
			t.Errorf("%s is at %s after %d steps, want %s", path, at, found, want)
		}
	}
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
	tree := decode(t, "openapi: 3.0.0\na: {$ref: 'common/ids.yaml#/schemas/Id'}\nb: {$ref: whole.json}\nc: {$ref: 'none.yaml#/x'}\nd: {$ref: 'https://example.com/x.yaml'}\ne: {$ref: '#/f'}\nf: {type: null}\ng: {$ref: '../../etc/passwd'}\n")
	got := evaluate(document.OpenAPI, tree, "api/api.yaml", source).Root
	meta := func(ref string) map[string]any { return map[string]any{"$ref": ref, "alone": true} }
	want := map[string]any{
		"openapi": "3.0.0",
		"a":       map[string]any{"type": "string", "next": map[string]any{"$ref": "#/schemas/Id"}, "RefMetadata": meta("common/ids.yaml#/schemas/Id")},
		"b":       map[string]any{"type": "object", "RefMetadata": meta("whole.json")},
		"c":       map[string]any{"RefMetadata": meta("none.yaml#/x")},
		"d":       map[string]any{"RefMetadata": meta("https://example.com/x.yaml")},
		"e":       map[string]any{"type": nil, "RefMetadata": meta("#/f")},
		"f":       map[string]any{"type": nil},
		"g":       map[string]any{"RefMetadata": meta("../../etc/passwd")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// FuzzEvaluate puts values into any file, on each platform.
func FuzzEvaluate(f *testing.F) {
	f.Add("Parameters: {A: {Default: true}}\nResources: {R: {P: !Ref A, Q: {Ref: A}}}\n")
	f.Add("$schema: x\nvariables: {a: \"[variables('b')]\", b: [\"[variables('a')]\"]}\nresources: [\"[variables('a')]\"]\n")
	f.Add("a: {$ref: 'x#/b'}\nb: {$ref: '#/a'}\n")
	f.Add("services: {a: {extends: b, ports: [1]}, b: {extends: {service: a}, ports: {x: 1}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil {
			return
		}
		for _, tree := range trees {
			for _, platform := range []document.Platform{document.CloudFormation, document.ARM, document.Compose, document.OpenAPI} {
				if got := evaluate(platform, tree, "x", none); got.Root == nil || got.Lines == nil {
					t.Fatal("nothing is left")
				}
			}
		}
	})
}

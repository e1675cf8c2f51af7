package document

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
)

func TestDecodeYAML(t *testing.T) {
	trees, err := DecodeYAML([]byte(`base: &base
  image: nginx
  ports: [80, 0x50, 1.5]
web:
  <<: *base
  image: !Sub "${Image}"
  on: yes
  list:
    - - a
      - true
---
- hosts: all
  tasks: ~
---
just a word
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{
			"base": map[string]any{"image": "nginx", "ports": []any{int64(80), int64(80), "1.5"}},
			"web": map[string]any{
				"image": "${Image}", "ports": []any{int64(80), int64(80), "1.5"}, "on": "yes",
				"list": []any{map[string]any{"playbooks": []any{"a", true}}},
			},
		},
		{"playbooks": []any{map[string]any{"hosts": "all", "tasks": nil}}},
	}
	var got []map[string]any
	for _, tree := range trees {
		got = append(got, tree.Root)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roots (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		tree int
		path string
		line int
		tag  string
	}{
		{0, "base", 1, ""}, {0, "base image", 2, ""}, {0, "base ports 1", 3, ""},
		{0, "web ports", 3, ""}, {0, "web image", 6, "!Sub"}, {0, "web list 0 playbooks 1", 10, ""},
		{1, "playbooks 0", 12, ""}, {1, "playbooks 0 tasks", 13, ""},
	} {
		steps := strings.Fields(c.path)
		n, found := trees[c.tree].Lines.Find(steps...)
		if found != len(steps) || n.Line != c.line || n.Tag != c.tag {
			t.Errorf("%s: %d steps to line %d, tag %q; want line %d, tag %q", c.path, found, n.Line, n.Tag, c.line,
				c.tag)
		}
	}
	if n, found := trees[0].Lines.Find("web", "list", "7"); found != 2 || n.Line != 8 {
		t.Errorf("a path that leads nowhere: %d steps to line %d, want 2 to 8", found, n.Line)
	}
}

func TestDecodeJSON(t *testing.T) {
	trees, err := DecodeJSON([]byte("\xef\xbb\xbf{ // a template\n  \"a\": {\"b\\n\": [1, -2.5,\n    \"ü\", {\"c\": " +
		"null},],},\n  /* more\n */ \"d\": true}"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": map[string]any{"b\n": []any{int64(1), -2.5, "ü", map[string]any{"c": nil}}},
		"d": true,
	}
	if diff := cmp.Diff(want, trees[0].Root); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		path         []string
		line, column int
	}{
		{[]string{"a"}, 2, 3}, {[]string{"a", "b\n", "1"}, 2, 20}, {[]string{"a", "b\n", "2"}, 3, 5},
		{[]string{"a", "b\n", "3", "c"}, 3, 11}, {[]string{"d"}, 5, 5},
	} {
		n, found := trees[0].Lines.Find(c.path...)
		if found != len(c.path) || n.Line != c.line || n.Column != c.column {
			t.Errorf("%q: %d steps to %d:%d, want %d:%d", c.path, found, n.Line, n.Column, c.line, c.column)
		}
	}
	trees, err = DecodeJSON([]byte(`[{"a": 1}, 2, {"b": 2}]`))
	if err != nil || len(trees) != 2 {
		t.Errorf("a list: %d trees, %v; want 2", len(trees), err)
	}
}

func TestMalformed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		json       bool
		line       int
	}{
		{"open object", "{\n\"a\": 1\n", true, 3},
		{"no colon", "{\n\"a\" 1}", true, 2},
		{"two values", "{} {}", true, 1},
		{"open string", "{\"a\": \"b\n\"}", true, 1},
		{"open comment", "{/*", true, 1},
		{"bad escape", `{"a": "\q"}`, true, 1},
		{"bad number", `{"a": 1-2}`, true, 1},
		{"empty", "", true, 1},
		{"tabs", "a: 1\nb:\n\t- c\n", false, 3},
		{"cycle", "a: &a\n  b: *a\n", false, 2},
	} {
		decode := DecodeYAML
		if c.json {
			decode = DecodeJSON
		}
		_, err := decode([]byte(c.text))
		var m *Malformed
		if !errors.As(err, &m) || m.Line != c.line {
			t.Errorf("%s: %v, want a fault in line %d", c.name, err, c.line)
		}
	}
}

// What comes before the fault is not lost.
func TestYAMLBeforeFault(t *testing.T) {
	trees, err := DecodeYAML([]byte("a: 1\n---\nb: [\n---\nc: 1\n"))
	if len(trees) != 1 || err == nil {
		t.Errorf("got %d trees and the error %v, want one of each", len(trees), err)
	}
}

func TestLimits(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		line := "aN: &aN [*aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM]\n"
		bomb += strings.NewReplacer("N", string(rune('a'+i)), "M",
			map[bool]string{true: "0", false: string(rune('a' + i - 1))}[i == 1]).Replace(line)
	}
	for name, read := range map[string]func() error{
		"aliases": func() error { _, err := DecodeYAML([]byte(bomb)); return err },
		"deep yaml": func() error {
			_, err := DecodeYAML([]byte(strings.Repeat("[", 300) + strings.Repeat("]", 300)))
			return err
		},
		"deep json": func() error { _, err := DecodeJSON([]byte(strings.Repeat(`{"a":`, 300))); return err },
		"large":     func() error { _, err := DecodeJSON(make([]byte, MaxSize+1)); return err },
	} {
		if err := read(); errs.KindOf(err) != errs.TooLarge {
			t.Errorf("%s: %v, want too large", name, err)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Platform
	}{
		{"a.yaml", "openapi: 3.0.0\ninfo: {title: a}", []Platform{OpenAPI}},
		{"a.yaml", "apiVersion: v1\nkind: Pod", []Platform{Kubernetes}},
		{"a.yaml", "apiVersion: serving.knative.dev/v1\nkind: Service", []Platform{Knative, Kubernetes}},
		{"a.yaml", "apiVersion: rds.aws.crossplane.io/v1\nkind: DBInstance", []Platform{Crossplane}},
		{"a.yaml", "Resources: {B: {Type: 'AWS::S3::Bucket'}}", []Platform{CloudFormation}},
		{"a.yaml", "Resources: [a]", nil},
		{"a.json", `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"}`,
			[]Platform{ARM}},
		{"a.json", `{"planned_values": {}, "terraform_version": "1.9"}`, []Platform{Terraform}},
		{"a.json", `{"resource": {"aws_instance": {}}, "provider": {}}`, []Platform{Terraform}},
		{"a.json", `{"resource": "x", "provider": {}}`, nil},
		{"a.yaml", "name: a\nruntime: yaml", []Platform{Pulumi}},
		{"a.yml", "service: a\nprovider: {name: aws}", []Platform{ServerlessFrame}},
		{"a.yml", "on: push\njobs: {a: {}}", []Platform{CICD}},
		{"a.yml", "services: {web: {image: nginx}}", []Platform{Compose}},
		{"a.yml", "services: {web: {port: 1}}", nil},
		{"a.yml", "resources: [{name: a, type: compute.v1.instance}]", []Platform{GoogleDeploy}},
		{"a.yml", "- hosts: all", []Platform{Ansible}},
		{"a.yml", "- name: a\n  amazon.aws.s3_bucket: {name: b}", []Platform{Ansible}},
		{"a.yml", "- name: a\n  url: b", nil},
		{"group_vars/a.yml", "port: 1", []Platform{Ansible}},
		{"a.yml", "port: 1", nil},
	} {
		trees, err := DecodeYAML([]byte(c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if got := Detect(c.name, trees[0].Root); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.text, got, c.want)
		}
	}
}

func FuzzDecodeYAML(f *testing.F) {
	f.Add([]byte("a: &a {b: *a}\n---\n- <<: [*a]\n"))
	f.Add([]byte("x: !Ref y\nz: 0x1F\n? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		trees, _ := DecodeYAML(text)
		for _, tree := range trees {
			agree(t, tree.Root, tree.Lines)
			Detect("a.yaml", tree.Root)
			tree.Resolve()
		}
	})
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"a": [1, {"b": "\u00fc"}], /* c */ "d": -1e9,}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		trees, _ := DecodeJSON(text)
		for _, tree := range trees {
			agree(t, tree.Root, tree.Lines)
		}
	})
}

// agree checks that every value has its place.
func agree(t *testing.T, value any, n *Node) {
	if n == nil || n.Line < 1 {
		t.Fatalf("%v has no place", value)
	}
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			agree(t, below, n.Fields[key])
		}
	case []any:
		for i, below := range v {
			agree(t, below, n.Items[i])
		}
	}
}

func TestResolve(t *testing.T) {
	trees, err := DecodeYAML([]byte(`a:
  $ref: "#/c/x~1y"
  more: 1
b: [{$ref: "#/nowhere"}, {$ref: "other.yaml#/c"}]
c:
  x/y:
    type: object
    next: {$ref: "#/b"}
loop: {inner: {$ref: "#/loop"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	before := trees[0].Root["a"].(map[string]any)["$ref"]
	got := trees[0].Resolve()
	meta := func(ref string, alone bool) map[string]any { return map[string]any{"$ref": ref, "alone": alone} }
	target := func(next any) map[string]any { return map[string]any{"type": "object", "next": next} }
	want := map[string]any{
		"a": map[string]any{
			"type": "object", "next": map[string]any{"$ref": "#/b"}, RefMetadata: meta("#/c/x~1y", false),
		},
		"b": []any{map[string]any{RefMetadata: meta("#/nowhere", true)},
			map[string]any{RefMetadata: meta("other.yaml#/c", true)}},
		"c":    map[string]any{"x/y": target(map[string]any{RefMetadata: meta("#/b", true)})},
		"loop": map[string]any{"inner": map[string]any{RefMetadata: meta("#/loop", true)}},
	}
	if diff := cmp.Diff(want, got.Root); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	if n, found := got.Lines.Find("a", "type"); found != 2 || n.Line != 7 {
		t.Errorf("what a reference brings in is in line %d after %d steps, want 7", n.Line, found)
	}
	if n, found := got.Lines.Find("a", RefMetadata); found != 2 || n.Line != 2 {
		t.Errorf("the reference is in line %d after %d steps, want 2", n.Line, found)
	}
	if trees[0].Root["a"].(map[string]any)["$ref"] != before {
		t.Error("the given tree was changed")
	}
}

// A file on one line takes no more time for each value than one on many.
func TestOneLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"é": [0`)
	for range 200_000 {
		b.WriteString(", 1")
	}
	b.WriteString(`], "last": 1}`)
	trees, err := DecodeJSON([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := trees[0].Lines.Fields["last"]; n.Column != 600_012 || n.Line != 1 {
		t.Errorf("the last field is at %d:%d", n.Line, n.Column)
	}
}

// TestDefinitionSchemas leaves the schemas of custom resources out, and what else has the name.
func TestDefinitionSchemas(t *testing.T) {
	const spec = "spec: {group: g, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {privileged: {}}}}}]}\n"
	for kind, want := range map[string]int{"CustomResourceDefinition": 0, "Widget": 1} {
		trees, err := DecodeYAML([]byte("apiVersion: v1\nkind: " + kind + "\n" + spec))
		if err != nil {
			t.Fatal(err)
		}
		versions, _ := trees[0].Root["spec"].(map[string]any)["versions"].([]any)
		one, _ := versions[0].(map[string]any)
		schema, ok := one["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		if !ok || len(schema) != want || one["name"] != "v1" {
			t.Errorf("%s: %v", kind, one)
		}
		at, found := trees[0].Lines.Find("spec", "versions", "0", "schema", "openAPIV3Schema")
		if found != 5 || at.Line != 3 || len(at.Fields) != want {
			t.Errorf("%s: the schema is at %+v", kind, at)
		}
	}
}

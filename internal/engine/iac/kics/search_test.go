package kics

import (
	"fmt"
	"testing"

	"merlon/internal/engine/iac/document"
)

func TestSteps(t *testing.T) {
	for key, want := range map[string][]keyStep{
		"a.b":                        {{"a", ""}, {"b", ""}},
		"a[b].c":                     {{"a", "b"}, {"c", ""}},
		"a[{{b.c}}].d":               {{"a", "b.c"}, {"d", ""}},
		"name={{a b}}.x":             {{"name", "a b"}, {"x", ""}},
		"{{a}}={{b}}":                {{"a", "b"}},
		"a={{${b}}}":                 {{"a", "${b}"}},
		"a.$ref=#/b.c/d":             {{"a", ""}, {"$ref", "#/b.c/d"}},
		"a=b=c":                      {{"a=b=c", ""}},
		"FROM={{x}}.{{RUN a.b {c}}}": {{"FROM", "x"}, {"RUN a.b {c}", ""}},
		"":                           {{"", ""}},
	} {
		if got := parseKey(key); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	yaml := "metadata:\n  name: web-server\n  labels:\n    name: web\nspec:\n  containers:\n    - name: web\n      " +
		"image: nginx\n"
	docker := "FROM alpine\nRUN apk add \\\n  # the tools\n  curl \\\n\n  git\nUSER root\n"
	bicep := "param size int\nresource disk 'Microsoft.Compute/disks' = {\n}\n"
	for _, c := range []struct {
		text, key string
		format    document.Format
		line      int
	}{
		{yaml, "metadata.name={{web}}", document.YAML, 4},
		{yaml, "metadata.name=web-server", document.YAML, 2},
		{yaml, "spec.containers.name={{web}}.image", document.YAML, 8},
		{yaml, "spec.volumes", document.YAML, 5},
		{yaml, "nowhere", document.YAML, 0},
		{yaml, "name^4", document.YAML, 7},
		{docker, "FROM={{alpine}}.{{RUN apk add curl git}}", document.Containers, 1},
		{docker, "FROM={{alpine}}.USER={{root}}", document.Containers, 7},
		{docker, "git", document.Containers, 2},
		{bicep, "resources.name={{disk}}", document.Bicep, 2},
		{"", "a", document.YAML, 0},
	} {
		if got := newLines([]byte(c.text), c.format).findLine(c.key); got != c.line {
			t.Errorf("%s: line %d, want %d", c.key, got, c.line)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("a: b\n c\n", "a={{b}}.c[{{d}}]^1")
	f.Add("\"x\": 1 \\\n", "{{a}}}.$ref=#/x.y")
	f.Fuzz(func(t *testing.T, text, key string) {
		for _, format := range []document.Format{document.YAML, document.Containers, document.Bicep} {
			l := newLines([]byte(text), format)
			if line := l.findLine(key); line < 0 || line > len(l.text) {
				t.Fatalf("line %d of %d", line, len(l.text))
			}
		}
	})
}

func TestAtReference(t *testing.T) {
	trees, err := document.DecodeYAML([]byte("paths:\n  /a.b:\n    get:\n      schema:\n        $ref: '#/x'\nx:\n  " +
		"type: string\n"))
	if err != nil {
		t.Fatal(err)
	}
	tree := trees[0].Resolve()
	d := &document.Document{Platform: document.OpenAPI, Root: tree.Root, Lines: tree.Lines}
	for key, want := range map[string]string{
		"paths.{{/a.b}}.get.schema.type": "paths.{{/a.b}}.get.schema.$ref=#/x",
		"paths.{{/a.b}}.get.schema":      "paths.{{/a.b}}.get.schema",
		"x.type=string":                  "x.type=string",
		"nowhere.type":                   "nowhere.type",
	} {
		if got := atReference(d, queryResult{key: key}); got.key != want {
			t.Errorf("%s: %s, want %s", key, got.key, want)
		}
	}
}

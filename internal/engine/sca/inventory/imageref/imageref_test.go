package imageref

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		want             []string
	}{
		{"stages and arguments", "Dockerfile", `ARG GO=1.26
ARG BASE
FROM --platform=$BUILDPLATFORM golang:${GO}-alpine AS build
FROM build AS test
FROM ${BASE} AS unknown
FROM ${OTHER:-docker.io/library/alpine:3.20}
FROM scratch
FROM Build
`, []string{"3 golang:1.26-alpine", "6 alpine:3.20"}},
		{"arguments of a stage", "app/Dockerfile.dev", "FROM a:1\nARG V=2\nFROM b:$V\n", []string{"1 a:1"}},
		{"compose", "docker-compose.prod.yml", `services:
  db: {image: "postgres:${PG:-16.2}"}
  cache:
    image: redis@sha256:` + strings.Repeat("a", 64) + `
  own: {build: .}
  computed: {image: "$IMAGE"}
x-image: nginx:1
`, []string{"2 postgres:16.2", "4 redis@sha256:" + strings.Repeat("a", 64)}},
		{"manifests", "k8s/app.yaml", `apiVersion: apps/v1
kind: Deployment
spec: {template: {spec: {
  initContainers: [{image: "busybox:1.36"}],
  containers: [{image: "ghcr.io:443/o/app:v1.2.3"}, {image: "UPPER/x:1"}]}}}
---
apiVersion: v1
kind: ConfigMap
data: {image: "nginx:1.19"}
`, []string{"4 busybox:1.36", "5 ghcr.io:443/o/app:v1.2.3"}},
		{"no manifest", "data.yaml", "containers: [{image: 'nginx:1'}]\n", nil},
		{"values", "chart/values.yaml", `image:
  registry: docker.io
  repository: bitnami/redis
  tag: 6.2.1
sidecar: {image: "nginx:1.25.1"}
empty: {repository: app, tag: ""}
logo: {image: "logo"}
`, []string{"4 bitnami/redis:6.2.1", "5 nginx:1.25.1"}},
		{"a template", "chart/templates/a.yaml", "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: '{{ .X }}'}]}\n",
			nil},
		{"broken", "docker-compose.yml", "services: [image\n", nil},
	} {
		var got []string
		for _, r := range Read(KindOf(test.file), []byte(test.text)) {
			line := fmt.Sprintf("%d %s", r.Line, r.Name)
			if r.Tag != "" {
				line += ":" + r.Tag
			}
			if r.Digest != "" {
				line += "@" + r.Digest
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestVersion(t *testing.T) {
	for tag, want := range map[string][2]string{
		"3.12.4-slim": {"3.12.4", "slim"}, "v1.2.3": {"1.2.3", ""}, "16": {"16", ""}, "latest": {"", "latest"},
		"alpine3.20": {"", "alpine3.20"}, "20240101": {"", "20240101"}, "1.2.3_4": {"", "1.2.3_4"},
		"1.2.3.4": {"1.2.3.4", ""},
	} {
		if v, rest := Version(tag); v != want[0] || rest != want[1] {
			t.Errorf("%s: got %q and %q, want %q", tag, v, rest, want)
		}
	}
}

// FuzzRead gives hostile files to the readers: none may end the program.
func FuzzRead(f *testing.F) {
	f.Add("Dockerfile", []byte("ARG A=$A\nFROM ${A:-${A}}\n"))
	f.Add("compose.yml", []byte("services: &a {b: *a}\n"))
	f.Fuzz(func(_ *testing.T, file string, content []byte) {
		for _, r := range Read(KindOf(file), content) {
			Version(r.Tag)
		}
	})
}

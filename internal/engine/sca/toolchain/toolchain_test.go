package toolchain

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// What decides about a module is what builds it, the nearest and most shipped first.
func TestFor(t *testing.T) {
	workflow := func(version, rest string) string {
		return "jobs:\n  a:\n" + rest + "    steps:\n      - uses: actions/setup-go@v5\n        with: {" + version + "}\n"
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		goMod string
		want  string
	}{
		{"nothing", map[string]string{"Dockerfile": "FROM alpine:3.20\n"}, "go.mod", ""},
		{"an image", map[string]string{"Dockerfile": "FROM golang:1.26.4-alpine AS b\n"}, "go.mod", "Dockerfile:1 1.26.4"},
		{"an image of a line", map[string]string{"Dockerfile": "FROM golang:1.26\n"}, "go.mod", "Dockerfile:1 1.26.9999"},
		{"the latest image", map[string]string{"Dockerfile": "FROM golang:alpine\n"}, "go.mod", "Dockerfile:1 newest"},
		{"an argument and another registry", map[string]string{
			"Dockerfile": "ARG V=1.26\nFROM quay.io/prometheus/golang-builder:${V}-base\n"}, "go.mod", "Dockerfile:2 1.26.9999"},
		{"the nearest image", map[string]string{"Dockerfile": "FROM golang:1.25.1\n", "a/b/Dockerfile": "FROM golang:1.26.1\n"},
			"a/b/go.mod", "a/b/Dockerfile:1 1.26.1"},
		{"an image of a test", map[string]string{"test/Dockerfile": "FROM golang:1.14\n"}, "go.mod", ""},
		{"of a module in it", map[string]string{"test/Dockerfile": "FROM golang:1.14\n"}, "test/go.mod",
			"test/Dockerfile:1 1.14.9999"},
		{"another folder", map[string]string{"b/Dockerfile": "FROM golang:1.26.1\n"}, "a/go.mod", ""},
		{"an image before a workflow", map[string]string{"Dockerfile": "FROM golang:1.26.1\n",
			".github/workflows/a.yml": workflow("go-version: stable", "")}, "go.mod", "Dockerfile:1 1.26.1"},
		{"stable", map[string]string{".github/workflows/a.yml": workflow("go-version: stable", "")}, "x/go.mod",
			".github/workflows/a.yml:5 newest"},
		{"the latest of a matrix", map[string]string{".github/workflows/a.yml": workflow("go-version: '${{ matrix.go }}'",
			"    strategy: {matrix: {go: ['1.24.1', 1.25.x]}}\n")}, "go.mod", ".github/workflows/a.yml:6 1.25.9999"},
		{"the environment", map[string]string{".github/env": "golang-version=1.26.2\n",
			".github/workflows/a.yml": workflow("go-version: '${{ env.golang-version }}'", "")}, "go.mod",
			".github/workflows/a.yml:5 1.26.2"},
		{"a version file", map[string]string{".go-version": "1.26.3\n",
			".github/workflows/a.yml": workflow("go-version-file: .go-version", "")}, "go.mod", ".go-version:1 1.26.3"},
		{"the module itself", map[string]string{".github/workflows/a.yml": workflow("go-version-file: go.mod", "")},
			"go.mod", ""},
		{"asdf and mise", map[string]string{".tool-versions": "nodejs 20\ngolang 1.26.5\n", "a/mise.toml": "[tools]\ngo = \"1.25\"\n"},
			"a/go.mod", "a/mise.toml:2 1.25.9999"},
		{"a range", map[string]string{".github/workflows/a.yml": workflow("go-version: '^1.22.1'", "")}, "go.mod",
			".github/workflows/a.yml:5 newest"},
		{"unknown", map[string]string{".github/workflows/a.yml": workflow("go-version: '${{ inputs.x }}'", "")}, "go.mod", ""},
	} {
		builds := Find(Tree{Files: slices.Sorted(maps.Keys(test.files)), Read: func(p string) []byte {
			return []byte(test.files[p])
		}})
		got := ""
		if b := For(test.goMod, builds); b != nil {
			got = fmt.Sprintf("%s:%d %s", b.Path, b.Line, b.Newest())
			if b.Newest() == "" {
				got += "newest"
			}
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

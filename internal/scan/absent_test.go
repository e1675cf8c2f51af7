package scan

import (
	"slices"
	"testing"
)

func TestKindOfPath(t *testing.T) {
	for path, want := range map[string]struct {
		kind PathKind
		part string
	}{
		"main.go": {}, "a/b.go": {}, "a.b/c": {}, "../x": {}, "build": {}, "a/dist": {}, ".": {},
		".env": {HiddenPaths, ".env"}, "a/.git/config": {HiddenPaths, "a/.git/"}, "a/.x": {HiddenPaths, "a/.x"},
		"dist/app.js": {BuiltPaths, "dist/"}, "web/node_modules/x/y.js": {BuiltPaths, "web/node_modules/"},
		".cache/build/x": {HiddenPaths, ".cache/"}, "build/.x": {BuiltPaths, "build/"},
	} {
		if kind, part := KindOfPath(path); kind != want.kind || part != want.part {
			t.Errorf("%q: got %q %q, want %q %q", path, kind, part, want.kind, want.part)
		}
	}
}

func TestAbsentPathKinds(t *testing.T) {
	for _, c := range []struct {
		name string
		tree *tree
		want []PathKind
	}{
		{"both", &tree{dir: "/x", files: []File{{Path: "a.go"}}}, []PathKind{HiddenPaths, BuiltPaths}},
		{"hidden", &tree{dir: "/x", files: []File{{Path: "dist/a.js"}}}, []PathKind{HiddenPaths}},
		{"built", &tree{dir: "/x", large: []File{{Path: ".big"}}}, []PathKind{BuiltPaths}},
		{"none", &tree{dir: "/x", files: []File{{Path: ".env"}}, gaps: []Reason{{Path: "bin/x"}}}, nil},
		{"one path of both kinds", &tree{dir: "/x", files: []File{{Path: ".cache/build/a"}}}, nil},
		{"a checkout", &tree{dir: "/x", repos: []string{"."}, files: []File{{Path: "a.go"}}}, nil},
		{"a single file", &tree{files: []File{{Path: "a.go"}}}, nil},
	} {
		if got := c.tree.absentPathKinds(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

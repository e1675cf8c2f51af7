package sast_test

import (
	"context"
	"slices"
	"testing"

	"merlon/internal/engine/sast"
)

// What only tests call is there for callers outside of the program, nobody outside
// calls a test, and what a test puts in the place of a class is not what users meet.
func TestLibraryAndTests(t *testing.T) {
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [go]\n  mode: taint\n  model: {sources: [library], sinks: [path]}\n")
	files := []sast.Source{
		{Path: "store/fake_test.go", Text: []byte("package store\n\nimport \"os\"\n\ntype fake struct{}\n\nfunc (fake) Put(name string) { os.Remove(name) }\n")},
		{Path: "store/put.go", Text: []byte("package store\n\ntype Putter interface{ Put(name string) }\n\nfunc Save(p Putter, name string) { p.Put(name) }\n")},
		{Path: "store/store.go", Text: []byte("package store\n\nimport \"os\"\n\nfunc Load(name string) ([]byte, error) { return os.ReadFile(name) }\n")},
		{Path: "store/store_test.go", Text: []byte("package store\n\nimport \"os\"\n\nfunc write(name string) { os.Remove(name) }\n\nfunc check() { Load(\"a\") }\n")},
	}
	matches, _ := sast.Check(context.Background(), rules, files, sast.Options{LeaveTests: true})
	var got []string
	for _, m := range matches {
		got = append(got, m.Path)
	}
	if want := []string{"store/store.go"}; !slices.Equal(got, want) {
		t.Errorf("got findings in %v, want %v", got, want)
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListIsUpToDate(t *testing.T) {
	want, err := renderList("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../list.go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run \"go generate ./internal/engine/sast/lang/all\" (-want +got):\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"lang.go":     "package lang\n\nvar Language = &lang.Language{\n",
		"c/c.go":      "package c\n\nvar Language = &lang.Language{\n\tName: \"c\",\n}\n",
		"c/c_test.go": "package c\n\nvar Other = &lang.Language{\n",
		"script/two.go": "package script\n\nvar (\n\tOne = &lang.Language{\n\t}\n\tTwo = " +
			"&lang.Language{\n\t}\n)\n",
		"script/testdata/a.go": "package a\n\nvar Language = &lang.Language{\n",
		"none/none.go":         "package none\n\nvar language = &lang.Language{\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := findLanguages(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []declared{{"c", "Language"}, {"script", "One"}, {"script", "Two"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(declared{})); diff != "" {
		t.Errorf("find (-want +got):\n%s", diff)
	}
}

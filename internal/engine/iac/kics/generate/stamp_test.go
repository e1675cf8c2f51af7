package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/engine/iac/kics/module"
)

// writeFile writes a file below the folder.
func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestStampOf changes with what the archive depends on and with nothing else.
func TestStampOf(t *testing.T) {
	dir := t.TempDir()
	stamp := func(version string) string {
		t.Helper()
		s, err := stampOf(version, dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	writeFile(t, dir, "a.go", "package a")
	first := stamp("v1")
	if !strings.HasPrefix(first, module.Format) || !strings.Contains(first, "queries v1,") {
		t.Errorf("the stamp is %q", first)
	}
	for _, c := range []struct {
		name, file, text string
		same             bool
	}{
		{"a test", "a_test.go", "package a", true},
		{"a text", "a.md", "# A", true},
		{"a changed source", "a.go", "package b", false},
		{"the source as before", "a.go", "package a", true},
		{"another source", "b.go", "package a", false},
	} {
		writeFile(t, dir, c.file, c.text)
		if same := stamp("v1") == first; same != c.same {
			t.Errorf("%s: same stamp %v, want %v", c.name, same, c.same)
		}
	}
	if stamp("v1") == stamp("v2") {
		t.Error("two versions of the queries have one stamp")
	}
	if _, err := stampOf("v1", t.TempDir()); err == nil || !strings.Contains(err.Error(), "no Go files") {
		t.Errorf("an empty folder: %v", err)
	}
}

// assets makes a module's folder with one platform of two queries, one of which is an
// experiment.
func assets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, dir, "libraries/common.json", "{}")
	writeFile(t, dir, "libraries/common.rego", "package generic.common\na(x) { x }")
	writeFile(t, dir, "libraries/k8s.rego", "package generic.k8s\nb(x) { x }")
	for name, about := range map[string]string{
		"bucket": `{"queryName": "Bucket", "severity": "HIGH"}`,
		"trial":  `{"queryName": "Trial", "severity": "HIGH", "experimental": "true"}`,
	} {
		writeFile(t, dir, "queries/k8s/"+name+"/metadata.json", about)
		writeFile(t, dir, "queries/k8s/"+name+"/query.rego",
			"package Cx\nCxPolicy[r] { d := input.document[i]; d.kind == \"Bucket\"; r := {\"documentId\": d.id} }")
	}
	return dir
}

// TestIsCurrent tells an archive of this stamp from one of another, from none and from
// a broken one; a broken file in its place is replaced.
func TestIsCurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kics.zip")
	if isCurrent(path, "s") {
		t.Error("no archive is current")
	}
	writeFile(t, filepath.Dir(path), "kics.zip", "half")
	if isCurrent(path, "s") {
		t.Error("half an archive is current")
	}
	var b strings.Builder
	if err := writeArchive(&b, assets(t), "s"); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, []byte(b.String())); err != nil {
		t.Fatal(err)
	}
	if !isCurrent(path, "s") || isCurrent(path, "other") {
		t.Error("the archive is not told by its stamp")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".kics-*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	var again strings.Builder
	if err := writeArchive(&again, assets(t), "s"); err != nil || again.String() != b.String() {
		t.Errorf("the archive of the same module differs (%v)", err)
	}
}

// TestFindModule needs a folder with a go.mod that requires the module.
func TestFindModule(t *testing.T) {
	if m, err := findModule("../source"); err != nil || m.Version == "" || m.Dir == "" {
		t.Errorf("the pinned module: %+v, %v", m, err)
	}
	if _, err := findModule(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that does not exist pins a module")
	}
	dir := t.TempDir()
	writeFile(t, dir, "go.mod", "module x\n\ngo 1.26\n")
	if _, err := findModule(dir); err == nil || !strings.Contains(err.Error(), "not a known dependency") {
		t.Errorf("a module without the requirement: %v", err)
	}
}

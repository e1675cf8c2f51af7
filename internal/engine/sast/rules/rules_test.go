package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/engine/sast/rules"
)

// TestDefault loads every rule and checks that users can read about it.
func TestDefault(t *testing.T) {
	all, err := rules.Default()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range all {
		if seen[r.About.ID] {
			t.Errorf("%s: there are two", r.About.ID)
		}
		seen[r.About.ID] = true
		if len(r.About.CWE) == 0 || len(r.About.OWASP) == 0 || r.Metadata["confidence"] == nil {
			t.Errorf("%s: cwe, owasp or confidence is missing", r.About.ID)
		}
	}
}

// TestFolders checks that every folder is whole and its first rule has its name.
func TestFolders(t *testing.T) {
	all, err := rules.Default()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, r := range all {
		ids[strings.TrimPrefix(r.About.ID, "sast/")] = true
	}
	paths, err := fs.Glob(rules.FS, "*/*/rule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		dir := filepath.ToSlash(filepath.Dir(p))
		if !ids[dir] {
			t.Errorf("%s: no rule has the id of the folder", p)
		}
		if _, err := os.Stat(filepath.Join(dir, "testdata")); err != nil {
			t.Errorf("%s: it has no testdata", dir)
		}
	}
}

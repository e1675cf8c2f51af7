package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLabels(t *testing.T) {
	name := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(name, []byte("# name,risk,informative\n.a,6,5\n\n# a, b, c\nd/e.f,1,0\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	got, err := readLabels(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]label{{File: ".a", Risk: 6, Informative: 5}, {File: "d/e.f", Risk: 1}}, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestSizeOfLeavesOutTheHistory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "12345", "b/c": "123", ".git/d": "1"} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := sizeOf(dir); err != nil || got != 8 {
		t.Errorf("got %d, %v, want 8", got, err)
	}
}

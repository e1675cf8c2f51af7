package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// index returns the number of a group of three letters.
func index(group string) int {
	return (int(group[0]-'a')*letters+int(group[1]-'a'))*letters + int(group[2]-'a')
}

// TestCountGroups counts in the comments of Go files alone, and not below testdata.
func TestCountGroups(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a.go":          "// Package a abcd.\npackage a\n\n// ABC ab-c\nvar x = \"abc\"\n",
		"sub/b.go":      "/* abc */\npackage b\n",
		"sub/b.txt":     "abc",
		"testdata/c.go": "// abc\npackage c\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	count, err := countGroups(root)
	if err != nil {
		t.Fatal(err)
	}
	for group, want := range map[string]int{"abc": 3, "bcd": 1, "pac": 1, "age": 1, "xyz": 0} {
		if got := count[index(group)]; got != want {
			t.Errorf("%s: %d times, want %d", group, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "broken.go"), []byte("pack"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := countGroups(root); err == nil {
		t.Error("a file that is no Go was taken")
	}
}

// TestBuildTable asks that rare groups tell more than frequent ones, and that none is impossible.
func TestBuildTable(t *testing.T) {
	count := make([]int, groups)
	addText(count, "the the the then abc")
	table := buildTable(count)
	if len(table) != groups+letters {
		t.Fatalf("%d entries", len(table))
	}
	the, hen, zqx := table[index("the")], table[index("hen")], table[index("zqx")]
	if the >= hen || hen >= zqx || zqx == math.MaxUint8 {
		t.Errorf("the %d, hen %d, zqx %d eighths of a bit", the, hen, zqx)
	}
	if tt, z := table[groups+'t'-'a'], table[groups+'z'-'a']; tt >= z {
		t.Errorf("t %d, z %d", tt, z)
	}
}

// TestEighths rounds, and stays within a byte.
func TestEighths(t *testing.T) {
	for p, want := range map[float64]byte{1: 0, 0.5: 8, 0.25: 16, 1e-300: 255, 0: 255, 0.9: 1} {
		if got := toEighths(p); got != want {
			t.Errorf("%v: %d, want %d", p, got, want)
		}
	}
}

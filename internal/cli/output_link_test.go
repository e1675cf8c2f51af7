package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A scanned repository may hold links under names that a report is written to first.
func TestOutputFollowsNoPlantedLink(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(dir, fmt.Sprintf(".out.json.%d.tmp", os.Getpid()))
	if err := os.Symlink(victim, planted); err != nil {
		t.Fatal(err)
	}
	o := &output{path: filepath.Join(dir, "out.json")}
	if _, err := o.Write([]byte("report")); err != nil {
		t.Fatal(err)
	}
	if err := o.commitFile(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "kept" {
		t.Errorf("the file outside holds %q, %v", b, err)
	}
	if b, err := os.ReadFile(o.path); err != nil || string(b) != "report" {
		t.Errorf("the report is %q, %v", b, err)
	}
}

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/advisory"
)

func writeRecord(t *testing.T, dir, id, name, version string) {
	t.Helper()
	text := fmt.Sprintf(`{"id":%q,"modified":"2024-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"npm","name":%q},"versions":[%q]}]}`, id, name, version)
	if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAdvisoriesImport(t *testing.T) {
	data, first, second := t.TempDir(), t.TempDir(), t.TempDir()
	if code, _, stderr := transcript(t, nil, "advisories", "status", "--data", data); code != ExitFailed || !strings.Contains(stderr, "no vulnerability records") {
		t.Errorf("status of nothing: exit %d, %q", code, stderr)
	}
	writeRecord(t, first, "X-1", "left-pad", "1.0.0")
	if err := os.WriteFile(filepath.Join(first, "BROKEN-1.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := transcript(t, nil, "advisories", "import", first, "--data", data)
	if code != ExitOK || !strings.Contains(stdout, "1 new") || !strings.Contains(stdout, "BROKEN-1.json") {
		t.Fatalf("import: exit %d\n%s%s", code, stdout, stderr)
	}
	writeRecord(t, second, "X-2", "right-pad", "1.0.0")
	if code, stdout, stderr = transcript(t, nil, "advisories", "import", second, "--data", data); code != ExitOK || !strings.Contains(stdout, "In force: 2 records") {
		t.Fatalf("second import: exit %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = transcript(t, nil, "advisories", "status", "--data", data)
	if code != ExitOK || !strings.Contains(stdout, "2 records") || !strings.Contains(stdout, "BROKEN-1.json") {
		t.Errorf("status: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, _, _ := transcript(t, nil, "advisories", "import", filepath.Join(first, "missing"), "--data", data); code != ExitUsage {
		t.Errorf("import of nothing: exit %d, want %d", code, ExitUsage)
	}
}

func TestAdvisoriesImportOutput(t *testing.T) {
	source, out := t.TempDir(), filepath.Join(t.TempDir(), "advisories.dat")
	for _, id := range []string{"X-1", "X-2"} {
		writeRecord(t, source, id, "x", "1.0.0")
		if code, stdout, stderr := transcript(t, nil, "advisories", "import", source, "--output", out); code != ExitOK {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
		if err := os.Remove(filepath.Join(source, id+".json")); err != nil {
			t.Fatal(err)
		}
	}
	f, err := advisory.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // read only
	if found, err := f.Match(t.Context(), "npm", "x", "1.0.0"); err != nil || len(found) != 2 {
		t.Errorf("got %d matches, %v; want those of both imports", len(found), err)
	}
	if code, stdout, stderr := transcript(t, nil, "advisories", "status", "--file", out); code != ExitOK || !strings.Contains(stdout, "2 records") {
		t.Errorf("status: exit %d\n%s%s", code, stdout, stderr)
	}
}

package cli

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	if code, _, stderr := transcript(t, nil, "advisories", "status", "--data", data); code != ExitFailed ||
		!strings.Contains(stderr, "no vulnerability records") {
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
	if code, stdout, stderr = transcript(t, nil, "advisories", "import", second, "--data", data); code != ExitOK ||
		!strings.Contains(stdout, "In force: 2 records") {
		t.Fatalf("second import: exit %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = transcript(t, nil, "advisories", "status", "--data", data)
	if code != ExitOK || !strings.Contains(stdout, "2 records") || !strings.Contains(stdout, "BROKEN-1.json") {
		t.Errorf("status: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, _, _ := transcript(t, nil, "advisories", "import", filepath.Join(first, "missing"), "--data",
		data); code != ExitUsage {
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
	if code, stdout, stderr := transcript(t, nil, "advisories", "status", "--file", out); code != ExitOK ||
		!strings.Contains(stdout, "2 records") {
		t.Errorf("status: exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestAdvisoriesUpdate follows a mirror, carries the result to another site and
// says what could not be had.
func TestAdvisoriesUpdate(t *testing.T) {
	files := map[string]string{}
	publish := func(ecosystem, id string) {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create(id + ".json")
		if err == nil {
			_, err = fmt.Fprintf(w,
				`{"id":%q,"modified":"2024-01-01T00:00:00Z","affected":[{"package":{"ecosystem":%q,"name":"x"},"versions":["1.0.0"]}]}`, id, ecosystem)
		}
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		files["/"+ecosystem+"/all.zip"] = b.String()
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(site.Close)
	publish("npm", "X-1")
	files["/epss.csv"] = "#model_version:v1,score_date:2026-11-19T00:00:00+0000\ncve,epss,percentile\nCVE-2020-1111,0.1,0.2\n"
	data := t.TempDir()
	update := []string{"advisories", "update", "--data", data, "--advisories-mirror", site.URL,
		"--advisories-ecosystem", "npm,Go", "--advisories-epss", site.URL + "/epss.csv"}
	if code, _, stderr := transcript(t, nil, update...); code != ExitFailed ||
		!strings.Contains(stderr, "outbound-allow") {
		t.Errorf("a private mirror: exit %d, %q", code, stderr)
	}
	update = append(update, "--outbound-allow", "127.0.0.1")
	code, stdout, stderr := transcript(t, nil, update...)
	if code != ExitFailed || !strings.Contains(stdout, "In force: 1 records") ||
		!strings.Contains(stdout, "Go: "+site.URL+"/Go/all.zip is not there") {
		t.Errorf("half of it: exit %d\n%s%s", code, stdout, stderr)
	}
	publish("Go", "X-2")
	if code, stdout, stderr = transcript(t, nil, update...); code != ExitOK ||
		!strings.Contains(stdout, "Changed: Go. Unchanged: npm, EPSS") {
		t.Errorf("the rest: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = transcript(t, nil, update...); code != ExitOK ||
		!strings.Contains(stdout, "Changed: nothing.") {
		t.Errorf("nothing new: exit %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = transcript(t, nil, "advisories", "status", "--data", data)
	if code != ExitOK || !strings.Contains(stdout, "EPSS: 1 scores of 2026-11-19 (") ||
		!strings.Contains(stdout, "Updated from "+site.URL+", whole less than an hour ago") {
		t.Errorf("status: exit %d\n%s%s", code, stdout, stderr)
	}

	bundle, other := filepath.Join(t.TempDir(), "bundle"), t.TempDir()
	if code, stdout, stderr = transcript(t, nil, "advisories", "export", bundle, "--data", data); code != ExitOK ||
		!strings.Contains(stdout, "2 records") {
		t.Fatalf("export: exit %d\n%s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := os.ReadFile(bundle + ".sha256"); err != nil || string(digest) != fmt.Sprintf("%x  bundle\n",
		sha256.Sum256(text)) {
		t.Errorf("the digest is %q, %v", digest, err)
	}
	if code, stdout, stderr = transcript(t, nil, "advisories", "import", bundle, "--data", other); code != ExitOK ||
		!strings.Contains(stdout, "2 new") || !strings.Contains(stdout, "EPSS: 1 scores") {
		t.Errorf("import: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr = transcript(t, nil, "advisories", "export", bundle, "--data",
		t.TempDir()); code != ExitFailed || !strings.Contains(stderr, "no vulnerability records") {
		t.Errorf("export of nothing: exit %d, %q", code, stderr)
	}
	out := filepath.Join(t.TempDir(), "file")
	to := append([]string{"advisories", "update", "--output", out}, update[4:]...)
	if code, stdout, stderr = transcript(t, nil, to...); code != ExitOK ||
		!strings.Contains(stdout, "In force: 2 records") {
		t.Errorf("into a file: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = transcript(t, nil, to...); code != ExitOK ||
		!strings.Contains(stdout, "Changed: nothing.") {
		t.Errorf("into a file again: exit %d\n%s%s", code, stdout, stderr)
	}
}

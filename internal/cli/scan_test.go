package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// trees are the folders that the transcripts speak of. The token is put together
// here, so that other people's scanners stay silent.
var trees = map[string]string{
	"clean/main.go":    "package main\n",
	"leaky/app.py":     "import os\ntoken = \"gh" + "p_8Jk2mQpZ4vR7tX1nB6yC9wL3sD5fG0hAaEbU\"\n",
	"leaky/README.md":  "# Leaky\n",
	"large/small.txt":  "x\n",
	"large/large.txt":  strings.Repeat("x", 2000) + "\n",
	"both/app.py":      "token = \"gh" + "p_8Jk2mQpZ4vR7tX1nB6yC9wL3sD5fG0hAaEbU\"\n",
	"both/large.txt":   strings.Repeat("x", 2000) + "\n",
	"medium/conf.ini":  "[db]\npassword = q8Zt2LmX9vRw4Kp\n",
	"empty/.git/a.txt": "x\n",

	"rules/eval.yaml": "rules:\n- id: eval\n  message: m\n  severity: ERROR\n  languages: [python]\n  pattern: " +
		"eval(...)\n" +
		"- id: note\n  message: m\n  severity: INFO\n  languages: [regex]\n  pattern: NOTE\n",
	"rules/eval.py": "# ruleid: eval\neval(x)\n# ok: eval\nprint(x)\n# ruleid: note\ny = 'NOTE'\n",
	"wrong/eval.yaml": "rules:\n- id: eval\n  message: m\n  severity: ERROR\n  languages: [python]\n  pattern: " +
		"evil(...)\n",
	"wrong/eval.py": "# ruleid: eval\neval(x)\n# ok: eval\nevil(x)\n# todook: eval\nevil(y)\n",
	"kinds/sql.yaml": "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [java]\n  mode: taint\n" +
		"  model:\n    sources: [remote, library]\n    sinks:\n    - sql\n    - sqll\n",
	"wrong/faults.yaml": "rules:\n- id: a\n  message: m\n  severity: BAD\n  languages: [python]\n  patern: x\n",
}

// plant makes the trees in a folder and goes there.
func plant(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range trees {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The manual of scan is a transcript: commands, exit codes, output.
func TestScanTranscript(t *testing.T) { replayTranscript(t, "testdata/scan.txt") }

func replayTranscript(t *testing.T, name string) {
	t.Helper()
	golden, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	plant(t)
	var got strings.Builder
	for _, line := range strings.Split(string(want), "\n") {
		command, ok := strings.CutPrefix(line, "$ merlon ")
		if strings.HasPrefix(line, "# ") {
			fmt.Fprintf(&got, "%s\n", line)
		}
		if !ok {
			continue
		}
		code, out, errOut := transcript(t, nil, strings.Fields(command)...)
		fmt.Fprintf(&got, "$ merlon %s\n%s", command, out)
		if usage, message, ok := strings.Cut(errOut, "merlon: "); ok && strings.HasPrefix(usage, "Usage") {
			errOut = "merlon: " + message // the usage that comes first is tested by nobody's eye
		}
		for _, l := range strings.Split(strings.TrimSuffix(errOut, "\n"), "\n") {
			if l != "" {
				fmt.Fprintf(&got, "! %s\n", l)
			}
		}
		fmt.Fprintf(&got, "exit %d\n\n", code)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("run with -update after checking (-want +got):\n%s", diff)
	}
}

// The report of every format appears under its name, even when nothing is found,
// and replaces what was there.
func TestScanOutput(t *testing.T) {
	plant(t)
	for _, format := range []string{"table", "json", "sarif", "openvex", "stream"} {
		name := "clean/report." + format
		for range 2 { // the second time it is there already
			code, out, errOut := transcript(t, nil, "scan", "clean", "--analyses", "secret", "--format", format,
				"--output", name)
			if code != ExitOK || out != "" {
				t.Fatalf("%s: exit %d, output %q: %s", format, code, out, errOut)
			}
		}
		b, err := os.ReadFile(name)
		if err != nil || len(b) == 0 {
			t.Fatalf("%s: %d bytes, %v", format, len(b), err)
		}
		if format == "json" || format == "sarif" {
			if !json.Valid(b) {
				t.Errorf("%s is not JSON:\n%s", format, b)
			}
		}
	}
	left, err := filepath.Glob("clean/.*")
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// A report that was there stays as it was when the scan fails.
func TestScanOutputIsWholeOrOld(t *testing.T) {
	plant(t)
	if err := os.WriteFile("old.json", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := transcript(t, nil, "scan", "nowhere", "--output", "old.json"); code != ExitUsage {
		t.Errorf("exit %d, want %d", code, ExitUsage)
	}
	if b, err := os.ReadFile("old.json"); err != nil || string(b) != "old" {
		t.Errorf("the old report is %q, %v", b, err)
	}
	if code, _, errOut := transcript(t, nil, "scan", "clean", "--output", "no/such/folder.json"); code != ExitFailed ||
		!strings.Contains(errOut, "no/such/folder.json") {
		t.Errorf("exit %d: %s", code, errOut)
	}
	if code, _, errOut := transcript(t, nil, "scan", "clean", "--output", "leaky"); code != ExitFailed ||
		!strings.Contains(errOut, "it is a folder") {
		t.Errorf("exit %d: %s", code, errOut)
	}
	if code, _, errOut := transcript(t, nil, "scan", "clean", "--analyses", "secret", "--output",
		os.DevNull); code != ExitOK {
		t.Errorf("to a device: exit %d: %s", code, errOut)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("the device was replaced: %v, %v", info, err)
	}
}

// What a worker reads from a scan is whole and says what was found.
func TestScanStream(t *testing.T) {
	plant(t)
	code, out, errOut := transcript(t, nil, "scan", "leaky", "--format", "stream", "--analyses", "secret,dast")
	if code != ExitFindings {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	var s scan.Summary
	if err := scan.Decode(strings.NewReader(out), &s); err != nil {
		t.Fatal(err)
	}
	if s.Findings[finding.Critical] != 1 || s.Complete() || s.Setup.Files != 2 || s.Setup.Version == "" {
		t.Errorf("got %+v", s)
	}
	if regexp.MustCompile(`8Jk2mQ`).MatchString(out) {
		t.Error("the stream tells the secret")
	}
}

package scan_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// A pipe, a socket or a device in the tree neither holds up a scan nor counts.
func TestSpecialFilesAreLeftOut(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "TODO"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo}})
	if diff := cmp.Diff([]string{"a.txt:1"}, r.places()); diff != "" || !r.Complete() {
		t.Errorf("places (-want +got):\n%s\n%+v", diff, r.Incomplete())
	}
	if err := scan.Run(t.Context(), scan.Options{Root: filepath.Join(dir, "pipe.txt"),
		Analyzers: []*scan.Analyzer{todo}}, r); err == nil || !strings.Contains(err.Error(), "neither a folder nor a "+
		"regular file") {
		t.Errorf("a pipe as the root: %v", err)
	}
}

// A file that becomes something else between the walk and the reading is a
// reason, whatever it becomes.
func TestFilesThatChange(t *testing.T) {
	outside := write(t, map[string]string{"secret.txt": "TODO"})
	for name, change := range map[string]func(at string) error{
		"pipe":     func(at string) error { return syscall.Mkfifo(at, 0o644) },
		"folder":   func(at string) error { return os.Mkdir(at, 0o755) },
		"link out": func(at string) error { return os.Symlink(filepath.Join(outside, "secret.txt"), at) },
		"nothing":  func(string) error { return nil },
		"larger":   func(at string) error { return os.WriteFile(at, make([]byte, 2000), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"a.txt": "x", "b.txt": "TODO"})
			changing := analyzer("sast/a", func(p *scan.FilePass) error {
				if p.Path != "a.txt" {
					return nil
				}
				at := filepath.Join(dir, "b.txt")
				if err := os.Remove(at); err != nil {
					return err
				}
				return change(at)
			})
			r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{changing, todo}, Workers: 1,
				Limits: scan.Limits{FileSize: 1000}})
			missing := r.Incomplete()
			if len(r.findings) != 0 || len(missing) != 1 || len(missing[0].Reasons) != 1 ||
				missing[0].Reasons[0].Path != "b.txt" || missing[0].Analyzer != "sast/todo" {
				t.Errorf("got %d findings and %+v, want none and a reason for b.txt", len(r.findings), missing)
			}
		})
	}
}

func TestDeepFolders(t *testing.T) {
	dir := write(t, map[string]string{"a/b/c/x.txt": "TODO", "a/b/x.txt": "TODO"})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo}, Limits: scan.Limits{Depth: 2}})
	if diff := cmp.Diff([]string{"a/b/x.txt:1"}, r.places()); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if missing := r.Incomplete(); len(missing) != 1 || missing[0].Reasons[0].Code != "too-deep" ||
		missing[0].Reasons[0].Path != "a/b/c/" {
		t.Errorf("got %+v, want a/b/c/ as too deep", missing)
	}
}

// A file that a limit leaves out degrades only the analyzers that wanted it.
func TestOutOfReachConcernsWhoWantsIt(t *testing.T) {
	dir := write(t, map[string]string{"big.bin": strings.Repeat("x", 100), "a.txt": "TODO"})
	some := project("sca/some", func(*scan.ProjectPass) error { return nil })
	some.Match = func(path string) bool { return path == "go.mod" }
	every := project("sca/every", func(*scan.ProjectPass) error { return nil })
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo, some, every},
		Limits: scan.Limits{FileSize: 50}})
	missing := r.Incomplete()
	if len(missing) != 1 || missing[0].Analyzer != "sca/every" {
		t.Errorf("got %+v, want sca/every alone", missing)
	}
	for _, st := range r.Statuses {
		if want := map[string]int{"sast/todo": 1, "sca/some": 0, "sca/every": 1}[st.Analyzer]; st.Files != want {
			t.Errorf("%s looked at %d files, want %d", st.Analyzer, st.Files, want)
		}
	}
}

// A finding with many steps keeps both ends of its path.
func TestLongPathsKeepTheirEnds(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": strings.Repeat("line\n", 1000)})
	long := analyzer("sast/long", func(p *scan.FilePass) error {
		var steps []finding.Step
		for n := range 1000 {
			steps = append(steps,
				finding.Step{Kind: finding.Intermediate, Location: finding.Location{Path: "a.txt", StartLine: n + 1}})
		}
		p.Report(todoRule, finding.Finding{Location: finding.Location{StartLine: 1}, Steps: steps,
			Message: strings.Repeat("ä", 10_000)})
		return nil
	})
	f := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{long}}).findings[0]
	if n := len(f.Steps); n != 200 || f.Steps[0].Location.StartLine != 1 || f.Steps[n-1].Location.StartLine != 1000 ||
		f.Steps[0].Snippet == nil {
		t.Errorf("%d steps from line %d to %d", n, f.Steps[0].Location.StartLine, f.Steps[n-1].Location.StartLine)
	}
	if len(f.Message) != 4096 {
		t.Errorf("the message has %d bytes, want 4096", len(f.Message))
	}
}

func TestLanguage(t *testing.T) {
	for name, want := range map[string]string{"a/B.PY": "python", "Dockerfile.prod": "dockerfile", ".env.local": "env",
		"LICENSE": "text", "x.tsx": "typescript", "Jenkinsfile": "jenkinsfile"} {
		if got := scan.Language(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

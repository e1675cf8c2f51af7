package scan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var todoRule = &finding.Rule{ID: "sast/todo/todo", Analysis: finding.SAST, Name: "To do",
	ShortDescription: "A thing to do", Severity: finding.Low}

// todo reports every "TODO" in a .txt file.
var todo = &scan.Analyzer{
	ID: "sast/todo", Version: 1, Analysis: finding.SAST, Doc: "# To do\n",
	Match: func(path string) bool { return strings.HasSuffix(path, ".txt") },
	File: func(p *scan.FilePass) error {
		b, err := p.ReadFile()
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(b), "\n") {
			if strings.Contains(line, "TODO") {
				p.Report(todoRule, finding.Finding{Location: finding.Location{StartLine: n + 1}})
			}
		}
		return nil
	},
}

// analyzer returns a File analyzer of every file.
func analyzer(id string, file func(*scan.FilePass) error) *scan.Analyzer {
	return &scan.Analyzer{ID: id, Version: 1, Analysis: finding.SAST, Doc: "# T\n", Match: func(string) bool {
		return true
	}, File: file}
}

func project(id string, run func(*scan.ProjectPass) error) *scan.Analyzer {
	return &scan.Analyzer{ID: id, Version: 1, Analysis: finding.SCA, Doc: "# T\n", Project: run}
}

// write makes a tree; a value that begins with "->" is a link.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// record keeps what a scan says.
type record struct {
	scan.Summary
	rules    []string
	findings []finding.Finding
	percent  []int
}

func (r *record) Rule(m *finding.Rule) error { r.rules = append(r.rules, m.ID); return nil }
func (r *record) Finding(m *finding.Finding) error {
	r.findings = append(r.findings, *m)
	return r.Summary.Finding(m)
}
func (r *record) Progress(m *scan.Progress) error {
	r.percent = append(r.percent, m.Percent)
	return nil
}

func runScan(t *testing.T, o scan.Options) *record {
	t.Helper()
	var r record
	if err := scan.Run(context.Background(), o, &r); err != nil {
		t.Fatalf("Run: %v", err)
	}
	return &r
}

// places returns "path:line" of the findings.
func (r *record) places() []string {
	var out []string
	for _, f := range r.findings {
		out = append(out, fmt.Sprintf("%s:%d", f.Location.Path, f.Location.StartLine))
	}
	return out
}

func TestRunFillsInWhatFollows(t *testing.T) {
	dir := write(t, map[string]string{"a/x.txt": "one\ntwo\nTODO ä\nfour\nTODO ä\n", "b.md": "TODO"})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo}})
	if len(r.findings) != 2 {
		t.Fatalf("got %d findings, want 2", len(r.findings))
	}
	want := finding.Finding{
		RuleID: "sast/todo/todo", Analyzer: "sast/todo", Analysis: finding.SAST, Severity: finding.Low,
		Confidence: finding.MediumConfidence,
		Message:    "A thing to do", Language: "text",
		Location: finding.Location{Path: "a/x.txt", StartLine: 3, EndLine: 3},
		Snippet:  &finding.Snippet{StartLine: 1, Lines: []string{"one", "two", "TODO ä", "four", "TODO ä"}},
		Identity: "TODO ä\n", Fingerprint: finding.NewFingerprint("sast/todo/todo", "a/x.txt", "TODOä", 0),
	}
	if diff := cmp.Diff(want, r.findings[0]); diff != "" {
		t.Errorf("first finding (-want +got):\n%s", diff)
	}
	if got, want := r.findings[1].Fingerprint, finding.NewFingerprint("sast/todo/todo", "a/x.txt", "TODOä",
		1); got != want {
		t.Errorf("the second equal line has fingerprint %v, want %v", got, want)
	}
	if diff := cmp.Diff([]string{"sast/todo/todo"}, r.rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if st := r.Statuses[0]; st.State != scan.Succeeded || st.Files != 1 || st.Findings != 2 {
		t.Errorf("status %+v, want succeeded with 1 file and 2 findings", st)
	}
}

// A moved line keeps its fingerprints; a renamed file keeps Flaw.
func TestFingerprintsSurvive(t *testing.T) {
	print := func(name, text string) finding.Fingerprint {
		return runScan(t, scan.Options{Root: write(t, map[string]string{name: text}),
			Analyzers: []*scan.Analyzer{todo}}).findings[0].Fingerprint
	}
	first := print("x.txt", "  TODO one\n")
	if moved := print("x.txt", "\n\n\nTODO  one\r\n"); moved != first {
		t.Errorf("moved and reformatted: %v, want %v", moved, first)
	}
	if renamed := print("y.txt", "TODO one"); renamed.Flaw != first.Flaw || renamed.Place == first.Place {
		t.Errorf("renamed: %v, want the flaw of %v at another place", renamed, first)
	}
}

// The messages are the same whatever the number of workers.
func TestOrderDoesNotDependOnWorkers(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%d.txt", i%7, i)] = strings.Repeat("TODO\n", i%4)
	}
	dir := write(t, files)
	noisy := project("sca/noisy", func(p *scan.ProjectPass) error {
		for i, f := range p.Files {
			go func() {}()
			p.Package(finding.Package{Ecosystem: "npm", Name: fmt.Sprint(i % 10), Path: f.Path})
		}
		return nil
	})
	var want []byte
	for _, workers := range []int{1, 2, 16} {
		var b bytes.Buffer
		o := scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo, noisy}, Workers: workers, Now: func() time.Time {
			return time.Unix(0, 0)
		}}
		if err := scan.Run(context.Background(), o, scan.Encode(&b)); err != nil {
			t.Fatal(err)
		}
		got := regexp.MustCompile(`"duration":\d+`).ReplaceAll(b.Bytes(), nil)
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%d workers (-want +got):\n%s", workers, diff)
		}
	}
}

func TestTreeIsRegularFilesOnly(t *testing.T) {
	outside := write(t, map[string]string{"secret.txt": "TODO"})
	dir := write(t, map[string]string{
		"a.txt": "TODO", ".git/config.txt": "TODO", "sub/.git/x.txt": "TODO", "node_modules/m.txt": "TODO",
		".hidden.txt": "TODO",
		"link.txt":    "->a.txt", "out.txt": "->" + filepath.Join(outside, "secret.txt"), "outdir": "->" + outside,
		"up": "->..",
	})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo}, Profile: finding.AllProfile})
	if diff := cmp.Diff([]string{".hidden.txt:1", "a.txt:1", "node_modules/m.txt:1"}, r.places()); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if !r.Complete() {
		t.Errorf("links and .git must not degrade a scan: %+v", r.Incomplete())
	}
}

func TestSingleFile(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "TODO", "b.txt": "TODO"})
	lister := project("sca/lister", func(p *scan.ProjectPass) error {
		if p.Dir != "" {
			return fmt.Errorf("the folder of a single file is given: %s", p.Dir)
		}
		return fs.WalkDir(p.FS, ".", func(name string, d fs.DirEntry, err error) error {
			if name == "b.txt" {
				return errors.New("a sibling of the scanned file is visible")
			}
			return err
		})
	})
	r := runScan(t, scan.Options{Root: filepath.Join(dir, "a.txt"), Analyzers: []*scan.Analyzer{todo, lister}})
	if diff := cmp.Diff([]string{"a.txt:1"}, r.places()); diff != "" || !r.Complete() || r.Setup.Root != "a.txt" {
		t.Errorf("places (-want +got):\n%s\nincomplete: %+v, root %q", diff, r.Incomplete(), r.Setup.Root)
	}
}

func TestProjectSeesAFileSystem(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "1", "d/b.txt": "2", "d/e/c.txt": "3", "empty/.git/x": "",
		"l": "->a.txt"})
	tester := project("sca/tester", func(p *scan.ProjectPass) error {
		if _, err := fs.Stat(p.FS, "l"); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("a link is visible: %v", err)
		}
		return fstest.TestFS(p.FS, "a.txt", "d/b.txt", "d/e/c.txt")
	})
	if r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{tester}}); !r.Complete() {
		t.Errorf("%+v", r.Incomplete())
	}
}

// failure is something that can go wrong in the tree of TestFailuresAreStatuses.
type failure struct {
	name     string
	analyzer *scan.Analyzer
	limits   scan.Limits
	state    scan.State
	reasons  []scan.Reason // Message is a regular expression
}

// fileFailures are those of File analyzers; block holds up whoever waits for it.
func fileFailures(block chan struct{}) []failure {
	boom := func(p *scan.FilePass) error {
		var none []int
		if p.Path == "a.txt" {
			none[len(p.Path)] = 1
		}
		return nil
	}
	limits := scan.Limits{FileSize: 100, FileTime: 20 * time.Millisecond}
	return []failure{
		{"panic in a file", analyzer("sast/x", boom), scan.Limits{}, scan.Degraded,
			[]scan.Reason{{Code: "panic", Path: "a.txt",
				Message: `index out of range .5. with length 0 in .*driver_test.go:\d+`}}},
		{"panic with a text", analyzer("sast/x", func(p *scan.FilePass) error { panic("hunter2") }), scan.Limits{},
			scan.Degraded,
			[]scan.Reason{{Code: "panic", Path: "a.txt", Message: `^the analyzer crashed: a string in`},
				{Code: "panic", Path: "b.txt"}, {Code: "panic", Path: "big.txt"}}},
		{"error in a file", analyzer("sast/x", func(p *scan.FilePass) error {
			if p.Path == "b.txt" {
				return errs.E(errs.Invalid, "line 1: no")
			}
			return nil
		}), scan.Limits{}, scan.Degraded, []scan.Reason{{Code: "malformed", Path: "b.txt", Message: "line 1: no"}}},
		{"too large", todo, limits, scan.Degraded,
			[]scan.Reason{{Code: "too-large", Path: "big.txt", Message: "500 bytes"}}},
		{"a file that ends by itself too late", analyzer("sast/x", func(p *scan.FilePass) error {
			if p.Path == "a.txt" {
				<-p.Context.Done()
			}
			return nil
		}), limits, scan.Degraded, []scan.Reason{{Code: "too-large", Path: "big.txt"},
			{Code: "timeout", Path: "a.txt", Message: "longer than 20ms"}}},
		{"a file that never ends", analyzer("sast/x", func(p *scan.FilePass) error {
			if p.Path == "a.txt" {
				<-block
			}
			return nil
		}), limits, scan.Degraded, []scan.Reason{{Code: "too-large", Path: "big.txt"},
			{Code: "timeout", Path: "a.txt", Message: "longer than 20ms"}}},
		{"too many files", todo, scan.Limits{Files: 2}, scan.Degraded,
			[]scan.Reason{{Code: "too-many-files", Message: "more than 2 files"}}},
		{"too much together", todo, scan.Limits{TotalSize: 8}, scan.Degraded,
			[]scan.Reason{{Code: "too-large", Path: "big.txt"}}},
		{"too many findings", analyzer("sast/x", func(p *scan.FilePass) error {
			for n := range 5 {
				p.Report(todoRule, finding.Finding{Location: finding.Location{StartLine: n + 1}})
			}
			return nil
		}), scan.Limits{Findings: 4, FileSize: 100}, scan.Degraded, []scan.Reason{{Code: "too-large", Path: "big.txt"},
			{Code: "too-many-findings", Path: "a.txt"}, {Code: "too-many-findings", Path: "b.txt"}}},
		{"a secret without identity", analyzer("sast/x", func(p *scan.FilePass) error {
			if p.Path == "a.txt" {
				p.Report(todoRule, finding.Finding{Secret: &finding.SecretMatch{}})
			}
			return nil
		}), scan.Limits{}, scan.Degraded, []scan.Reason{{Code: "error", Path: "a.txt", Message: "identity"}}},
		{"an impossible path", analyzer("sast/x", func(p *scan.FilePass) error {
			if p.Path == "a.txt" {
				p.Report(todoRule, finding.Finding{Location: finding.Location{Path: "../etc/passwd"}})
			}
			return nil
		}), scan.Limits{}, scan.Degraded, []scan.Reason{{Code: "error", Path: "a.txt", Message: "impossible path"}}},
	}
}

// projectFailures are those of Project analyzers.
var projectFailures = []failure{
	{"a failed project", project("sca/x", func(p *scan.ProjectPass) error { return errors.New("no") }), scan.Limits{},
		scan.Failed, []scan.Reason{{Code: "error", Message: "^no$"}}},
	{"a project that panics", project("sca/x", func(p *scan.ProjectPass) error { panic(1) }), scan.Limits{},
		scan.Failed, []scan.Reason{{Code: "panic", Message: "a int"}}},
	{"a degraded project", project("sca/x", func(p *scan.ProjectPass) error {
		p.Degrade(scan.Reason{Code: "malformed", Path: "a.txt", Line: 3, Message: "odd"})
		return nil
	}), scan.Limits{}, scan.Degraded, []scan.Reason{{Code: "malformed", Path: "a.txt", Line: 3, Message: "odd"}}},
	{"a project with skipped files", project("sca/x", func(p *scan.ProjectPass) error {
		p.Degrade(scan.Reason{Code: "minified", Path: "a.txt", Message: "made", Skipped: true})
		return nil
	}), scan.Limits{}, scan.Succeeded,
		[]scan.Reason{{Code: "minified", Path: "a.txt", Message: "made", Skipped: true}}},
	{"a project with skipped and missing files", project("sca/x", func(p *scan.ProjectPass) error {
		p.Degrade(scan.Reason{Code: "minified", Path: "a.txt", Message: "made", Skipped: true})
		p.Degrade(scan.Reason{Code: "malformed", Path: "b.txt", Message: "odd"})
		return nil
	}), scan.Limits{}, scan.Degraded, []scan.Reason{{Code: "minified", Path: "a.txt", Message: "made", Skipped: true},
		{Code: "malformed", Path: "b.txt", Message: "odd"}}},
	{"no advisories", &scan.Analyzer{ID: "sca/x", Version: 1, Analysis: finding.SCA, Doc: "# T",
		Needs: scan.Needs{Advisories: true},
		Project: func(p *scan.ProjectPass) error {
			if p.Advisories == nil {
				p.Degrade(scan.Reason{Code: "unavailable", Message: "no vulnerability data"})
			}
			return nil
		}}, scan.Limits{}, scan.Degraded, []scan.Reason{{Code: "unavailable", Message: "vulnerability data"}}},
}

// Whatever goes wrong is a reason in a status, and the rest goes on.
func TestFailuresAreStatuses(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "TODO", "b.txt": "TODO", "big.txt": strings.Repeat("TODO ", 100)})
	block := make(chan struct{})
	t.Cleanup(func() { close(block) })
	for _, c := range append(fileFailures(block), projectFailures...) {
		t.Run(c.name, func(t *testing.T) {
			var other atomic.Int32
			witness := analyzer("sast/witness", func(*scan.FilePass) error { other.Add(1); return nil })
			r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{c.analyzer, witness}, Limits: c.limits})
			var st scan.Status
			for _, s := range r.Statuses {
				if s.Analyzer == c.analyzer.ID {
					st = s
				}
			}
			if st.State != c.state || len(st.Reasons) != len(c.reasons) {
				t.Fatalf("got %s with %+v, want %s with %d reasons", st.State, st.Reasons, c.state, len(c.reasons))
			}
			for i, want := range c.reasons {
				got := st.Reasons[i]
				if !regexp.MustCompile(want.Message).MatchString(got.Message) {
					t.Errorf("message %q does not match %q", got.Message, want.Message)
				}
				got.Message, want.Message = "", ""
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("reason %d (-want +got):\n%s", i, diff)
				}
			}
			if other.Load() == 0 {
				t.Error("another analyzer was kept from the files")
			}
		})
	}
}

// What was asked for and cannot be done has failed; it is not left out.
func TestAnalysisWithoutAnalyzerFails(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": ""})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo},
		Analyses: []finding.Analysis{finding.IaC, finding.SAST}})
	if diff := cmp.Diff([]string{"iac", "sast/todo"}, r.Setup.Analyzers); diff != "" {
		t.Errorf("analyzers (-want +got):\n%s", diff)
	}
	missing := r.Incomplete()
	if len(missing) != 1 || missing[0].Analyzer != "iac" || missing[0].State != scan.Failed ||
		missing[0].Reasons[0].Code != "unavailable" {
		t.Errorf("got %+v, want iac failed as unavailable", missing)
	}
}

func TestRunWithoutResult(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "TODO"})
	var r record
	err := scan.Run(context.Background(),
		scan.Options{Root: filepath.Join(dir, "no"), Analyzers: []*scan.Analyzer{todo}}, &r)
	if !errs.Is(err, errs.Invalid) {
		t.Errorf("a root that does not exist: %v, want an invalid request", err)
	}
	err = scan.Run(context.Background(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo, todo}}, &r)
	if err == nil || !strings.Contains(err.Error(), "the id is taken") {
		t.Errorf("two analyzers of one id: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopping := analyzer("sast/stopping", func(p *scan.FilePass) error { cancel(); return nil })
	var b bytes.Buffer
	if err := scan.Run(ctx, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{stopping}},
		scan.Encode(&b)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := scan.Decode(&b, &r); !errors.Is(err, scan.ErrIncomplete) {
		t.Errorf("the stream of a cancelled scan reads as %v, want %v", err, scan.ErrIncomplete)
	}
	if err := scan.Run(context.Background(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo}},
		full{&scan.Summary{}}); !errors.Is(err, errFull) {
		t.Errorf("a handler that fails: %v", err)
	}
}

var errFull = errors.New("disk full")

type full struct{ *scan.Summary }

func (full) Config(*scan.Config) error      { return nil }
func (full) Finding(*finding.Finding) error { return errFull }

func TestIgnoreFileRemovesSastOnly(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "TODO", "gen/b.txt": "TODO", "gen/keep.txt": "TODO",
		".merlonignore": "# generated\ngen/*\n!gen/keep.txt\n"})
	secrets := analyzer("secrets/x", func(p *scan.FilePass) error {
		p.Report(&finding.Rule{ID: "s"}, finding.Finding{Location: finding.Location{StartLine: 1}})
		return nil
	})
	secrets.Analysis = finding.Secret
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo, secrets}})
	want := []string{".merlonignore:1", "a.txt:1", "a.txt:1", "gen/b.txt:1", "gen/keep.txt:1", "gen/keep.txt:1"}
	if diff := cmp.Diff(want, r.places()); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if r.Statuses[0].Ignored != 1 || r.Statuses[0].Findings != 2 {
		t.Errorf("status %+v, want 1 ignored and 2 findings", r.Statuses[0])
	}
}

func TestProgressNeverFalls(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "x", "b.txt": strings.Repeat("x", 1000), "c.txt": ""})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo}})
	for i, p := range r.percent {
		if p < 0 || p > 100 || i > 0 && p <= r.percent[i-1] {
			t.Errorf("progress %v", r.percent)
		}
	}
	if n := len(r.percent); n == 0 || r.percent[n-1] != 100 {
		t.Errorf("progress %v does not end at 100", r.percent)
	}
}

func TestNamesAndLinesAreUTF8(t *testing.T) {
	dir := write(t, map[string]string{"\xff.txt": "TODO \xff" + strings.Repeat("ä", 300)})
	r := runScan(t, scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo}})
	f := r.findings[0]
	if f.Location.Path != `\xFF.txt` {
		t.Errorf("path %q", f.Location.Path)
	}
	line := f.Snippet.Lines[0]
	if len(line) > 402 || !strings.HasPrefix(line, "TODO \uFFFD") {
		t.Errorf("line of %d bytes: %q", len(line), line)
	}
}

// A file that is too large for others reaches an analyzer that reads streams.
func TestStreams(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"a.txt": 10, "big.txt": 200, "huge.txt": 900} {
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte("x"), size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var read []string
	run := func(p *scan.ProjectPass) error {
		for _, f := range p.Files {
			file, err := p.FS.Open(f.Path)
			if err != nil {
				return err
			}
			b, err := io.ReadAll(file)
			if err := errors.Join(err, file.Close()); err != nil {
				return err
			}
			read = append(read, fmt.Sprintf("%s %d", f.Path, len(b)))
		}
		if _, err := fs.ReadFile(p.FS, "big.txt"); err == nil {
			t.Error("the large file can be read at once")
		}
		return nil
	}
	all := func(string) bool { return true }
	a := &scan.Analyzer{ID: "sca/streams", Version: 1, Analysis: finding.SCA, Doc: "Streams", Match: all, Streams: all,
		Project: run}
	var s scan.Summary
	if err := scan.Run(t.Context(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{a},
		Limits: scan.Limits{FileSize: 100, StreamSize: 500}}, &s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.txt 10", "big.txt 200"}, read); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if st := s.Statuses[0]; st.State != scan.Degraded || len(st.Reasons) != 1 || st.Reasons[0].Path != "huge.txt" {
		t.Errorf("status %+v", st)
	}
}

// What one analyzer says in the place of another is told once.
func TestSameIsToldOnce(t *testing.T) {
	other := &finding.Rule{ID: "sca/tree/thing", Analysis: finding.SCA, Name: "T", ShortDescription: "T",
		Severity: finding.Low}
	file := analyzer("sast/one", func(p *scan.FilePass) error {
		p.Report(todoRule, finding.Finding{Location: finding.Location{Path: p.Path, StartLine: 1},
			EquivalentRules: []string{other.ID}})
		return nil
	})
	tree := project("sca/tree", func(p *scan.ProjectPass) error {
		for line := 1; line <= 2; line++ {
			p.Report(other, finding.Finding{Location: finding.Location{Path: "a.txt", StartLine: line},
				EquivalentRules: []string{other.ID}})
		}
		return nil
	})
	root := write(t, map[string]string{"a.txt": "x\ny\n"})
	for _, c := range []struct {
		analyzers []*scan.Analyzer
		want      string
	}{
		{[]*scan.Analyzer{file, tree}, "sast/todo/todo:1 sca/tree/thing:2"},
		{[]*scan.Analyzer{tree}, "sca/tree/thing:1 sca/tree/thing:2"},
	} {
		var got []string
		r := &record{}
		if err := scan.Run(t.Context(), scan.Options{Root: root, Analyzers: c.analyzers}, r); err != nil {
			t.Fatal(err)
		}
		for _, f := range r.findings {
			got = append(got, fmt.Sprintf("%s:%d", f.RuleID, f.Location.StartLine))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("got %v, want %s", got, c.want)
		}
	}
}

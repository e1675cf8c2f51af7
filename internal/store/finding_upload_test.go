package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// flaws reports every file that says so.
var flaws = &scan.Analyzer{
	ID: "sast/flaws", Version: 1, Analysis: finding.SAST, Doc: "# Flaws\n", Match: func(string) bool { return true },
	File: func(p *scan.FilePass) error {
		b, err := p.ReadFile()
		if err == nil && strings.Contains(string(b), "FLAW") {
			p.Report(&finding.Rule{ID: "sast/flaws/flaw", Analysis: finding.SAST, Name: "Flaw", Severity: finding.High},
				finding.Finding{Location: finding.Location{StartLine: 1}})
		}
		return err
	},
}

// scanTree scans a tree with the files as the service does, and applies the result.
func (s *findingStore) scanTree(files ...string) run.Outcome {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, name := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("FLAW "+name), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := scan.Run(s.t.Context(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{flaws}},
		scan.Encode(&b)); err != nil {
		s.t.Fatal(err)
	}
	s.clock.Advance(1e9)
	return s.ingest("main", b.Bytes())
}

// open lists the paths of the findings that are open.
func (s *findingStore) open() []string {
	s.t.Helper()
	page, err := s.db.Findings(s.t.Context(), s.sc,
		triage.Query{Filter: triage.Filter{Statuses: []triage.Status{triage.ToVerify}}, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, f := range page.Findings {
		out = append(out, f.Report.Location.Path)
	}
	slices.Sort(out)
	return out
}

// A client that uploads no hidden or built files does not resolve findings in them.
func TestWhatAnUploadLeavesOut(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		want := func(what string, paths ...string) {
			t.Helper()
			if got := s.open(); !slices.Equal(got, paths) {
				t.Errorf("%s: open are %v, want %v", what, got, paths)
			}
		}
		s.scanTree("a.js", "b.js", ".env", ".github/ci.yml", "web/dist/x.js", "dist.js")
		want("the whole tree", ".env", ".github/ci.yml", "a.js", "b.js", "dist.js", "web/dist/x.js")

		out := s.scanTree("a.js", "dist.js") // as an editor uploads
		want("neither hidden nor built files", ".env", ".github/ci.yml", "a.js", "dist.js", "web/dist/x.js")
		st := out.Statuses[0]
		var paths []string
		for _, r := range st.Reasons {
			if r.Code == "not-uploaded" {
				paths = append(paths, r.Path)
			}
		}
		if st.State != scan.Degraded || !slices.Equal(paths, []string{".env", ".github/", "web/dist/"}) {
			t.Errorf("the status is %s with %+v", st.State, st.Reasons)
		}
		covered, err := db.Coverages(t.Context(), s.sc, []tenant.ProjectID{s.sc.Project}, nil)
		if err != nil || covered[s.sc.Project][0].State != "partial" || len(covered[s.sc.Project][0].Reasons) != 3 {
			t.Errorf("coverage %+v, %v", covered[s.sc.Project][0], err)
		}

		// hidden files are uploaded: those that are missing are gone
		out = s.scanTree("a.js", "dist.js", ".github/other.yml")
		want("hidden, not built files", ".github/other.yml", "a.js", "dist.js", "web/dist/x.js")
		if n := len(out.Statuses[0].Reasons); n != 1 {
			t.Errorf("%d reasons: %+v", n, out.Statuses[0].Reasons)
		}
		out = s.scanTree("a.js", ".git/HEAD") // a whole checkout
		want("a whole checkout", "a.js")
		if out.Statuses[0].State != scan.Succeeded {
			t.Errorf("the status is %+v", out.Statuses[0])
		}
		s.scanTree() // nothing at all
		want("an empty upload", "a.js")
	})
}

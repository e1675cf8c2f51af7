package store_test

import (
	"bytes"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/triage"
)

// TestRoutes reads what the last scan of the source has declared, with the flaws that
// are open behind it.
func TestRoutes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		routes := func(branch string) []scan.Route {
			t.Helper()
			out, err := db.Routes(t.Context(), s.sc, branch)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if got := routes("main"); len(got) != 0 {
			t.Errorf("before any scan: %+v", got)
		}
		ingest := func(branch, path string, flawed bool) *run.Run {
			t.Helper()
			clock.Advance(1e9)
			r := s.start(branch)
			if _, err := triage.New(db).Ingest(t.Context(), s.sc, r, opener(declaring(t, path, flawed))); err != nil {
				t.Fatal(err)
			}
			s.exec("UPDATE run SET state = 'completed' WHERE id = ?", string(r.ID))
			return r
		}
		ingest("main", "/old", false)
		first := ingest("main", "/x/{id}", true)
		got := routes("main")
		if len(got) != 1 || got[0].Method != "GET" || got[0].Path != "/x/{id}" || got[0].Location.StartLine != 3 ||
			got[0].Parameters[0] != "query:q" {
			t.Fatalf("routes %+v", got)
		}
		sinks := got[0].Sinks
		if len(sinks) != 1 || sinks[0].Parameter != "query:q" || sinks[0].CWE[0] != "CWE-89" ||
			sinks[0].Location.StartLine != 5 || len(sinks[0].Steps) != 2 || sinks[0].Fingerprint.Place == "" {
			t.Errorf("sinks %+v", sinks)
		}
		if other := routes("feature"); len(other) != 1 || len(other[0].Sinks) != 1 {
			t.Errorf("a branch that was never scanned has %+v", other)
		}
		found, counts, err := db.Operations(t.Context(), s.sc,
			run.OperationQuery{Run: first.ID, Outcome: finding.Declared, Limit: 10})
		if err != nil || len(found) != 1 || counts[finding.Declared] != 1 {
			t.Errorf("operations %+v, %v, %v", found, counts, err)
		}
		ingest("main", "/x/{id}", false)
		if got := routes("main"); len(got) != 1 || len(got[0].Sinks) != 0 {
			t.Errorf("when the flaw is gone: %+v", got)
		}
	})
}

// declaring is the stream of a scan of source with one route.
func declaring(t *testing.T, path string, flawed bool) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(line int) finding.Location { return finding.Location{Path: "a.py", StartLine: line, EndLine: line} }
	handler := at(3)
	must(h.Config(&scan.Config{Tool: "merlon", Analyses: []finding.Analysis{finding.SAST},
		Analyzers: []string{"sast/code"}}))
	if flawed {
		must(h.Rule(&finding.Rule{ID: "sast/all/sql-injection", Analysis: finding.SAST, Name: "SQL",
			CWE: []string{"CWE-89"}, Severity: finding.High}))
		must(h.Finding(&finding.Finding{RuleID: "sast/all/sql-injection", Analyzer: "sast/code", Analysis: finding.SAST,
			Severity: finding.High, Message: "m", Location: at(5),
			Steps:       []finding.Step{{Kind: finding.Source, Location: at(4)}, {Kind: finding.Sink, Location: at(5)}},
			Entry:       []finding.EntryPoint{{Method: "GET", Path: path, Parameter: "query:q"}},
			Fingerprint: finding.NewFingerprint("sast/all/sql-injection", "a.py", "x", 0)}))
	}
	must(h.Operation(&finding.Operation{Method: "GET", URL: path, Origin: "code", Outcome: finding.Declared,
		Parameters: []string{"query:q"}, Code: &handler}))
	must(h.Status(&scan.Status{Analyzer: "sast/code", Analysis: finding.SAST, State: scan.Succeeded,
		Reasons: []scan.Reason{}}))
	return b.Bytes()
}

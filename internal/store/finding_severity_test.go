package store_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/triage"
)

// TestScanOfSomeSeverities speaks of the severities that were asked for and of no
// others: it opens none of those, resolves none, and keeps what it finds up to date.
func TestScanOfSomeSeverities(t *testing.T) {
	const root = "docker.io/acme/web:/"
	type flaws map[string]finding.Severity
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		ingest := func(severities []finding.Severity, found flaws) run.Changes {
			t.Helper()
			var b bytes.Buffer
			h := scan.Encode(&b)
			must := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			must(h.Config(&scan.Config{Tool: "merlon", Analyses: []finding.Analysis{finding.Container},
				Analyzers: []string{"container/image"}}))
			rule := &finding.Rule{ID: "container/CVE-1", Analysis: finding.Container, Name: "A flaw",
				Severity: finding.High}
			must(h.Rule(rule))
			for name, severity := range found {
				must(h.Finding(&finding.Finding{
					RuleID: rule.ID, Analyzer: "container/image", Analysis: finding.Container, Severity: severity,
					Message:  "a flaw",
					Location: finding.Location{Path: root + name}, Fingerprint: finding.NewFingerprint(rule.ID, name, name,
						0).InComponent(root),
				}))
			}
			must(h.Status(&scan.Status{Analyzer: "container/image", Analysis: finding.Container, State: scan.Succeeded,
				Reasons: []scan.Reason{}, Root: root}))
			clock.Advance(1)
			r := s.start("main")
			r.Image = &run.Image{Reference: "docker.io/acme/web:1", Repository: "docker.io/acme/web",
				Severities: severities}
			out, err := triage.New(db).Ingest(t.Context(), s.sc, r, opener(b.Bytes()))
			must(err)
			return out.Changes
		}
		open := func() flaws {
			t.Helper()
			out := flaws{}
			err := db.Known(t.Context(), s.sc, "main", func(k triage.Existing) error {
				if !k.Gone {
					out[k.Path[len(root):]] = k.Bucket.Severity
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		severe := []finding.Severity{finding.Critical, finding.High}
		for _, step := range []struct {
			name       string
			severities []finding.Severity
			found      flaws
			want       run.Changes
			open       flaws
		}{
			{"everything", nil, flaws{"a": finding.High, "b": finding.Low, "c": finding.Low},
				run.Changes{Found: 3, New: 3}, flaws{"a": finding.High, "b": finding.Low, "c": finding.Low}},
			{
				"a new low one is not opened, a missing low one is not resolved, a low one that is severe now is",
				severe,
				flaws{"a": finding.High, "c": finding.Critical, "d": finding.Low},
				run.Changes{Found: 2, Unchanged: 2, Open: 3},
				flaws{"a": finding.High, "b": finding.Low, "c": finding.Critical},
			},
			{
				"a severe one that is low now is still there, one that is gone is resolved", severe,
				flaws{"c": finding.Low}, run.Changes{Found: 1, Unchanged: 1, Resolved: 1, Open: 3},
				flaws{"b": finding.Low, "c": finding.Low},
			},
			{"everything is gone", nil, flaws{}, run.Changes{Resolved: 2, Open: 2}, flaws{}},
			{"what was resolved and is low comes back unnoticed", severe, flaws{"b": finding.Low, "a": finding.High},
				run.Changes{Found: 1, Reopened: 1}, flaws{"a": finding.High}},
			{"until all are asked for", nil, flaws{"b": finding.Low, "a": finding.High},
				run.Changes{Found: 2, Reopened: 1, Unchanged: 1, Open: 1}, flaws{"a": finding.High, "b": finding.Low}},
		} {
			if d := cmp.Diff(step.want, ingest(step.severities, step.found)); d != "" {
				t.Errorf("%s: (-want +got):\n%s", step.name, d)
			}
			if d := cmp.Diff(step.open, open()); d != "" {
				t.Errorf("%s: open (-want +got):\n%s", step.name, d)
			}
		}
	})
}

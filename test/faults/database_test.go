package faults

import (
	"testing"
	"time"

	"merlon/internal/run"
	"merlon/internal/store/storetest"
)

// The database goes away while a scan is at work, for longer than a lease, and
// while others wait. It runs alone, before the parallel tests: they share the
// cluster.
func TestDatabaseAwayAndBack(t *testing.T) {
	s := newSite(t, folder(t), place{Postgres: storetest.Postgres(t)}, time.Now)
	archive := secrets(t, 200, 50)
	w := s.worker()
	id := s.scan(s.sc, "main", archive)
	scan := w.stopScan()
	other := s.project()
	_, _ = s.findings(other) // a connection that will break
	storetest.PostgresAway(t, func() {
		resume(t, scan) // the scan ends while nobody can be told
		time.Sleep(25 * time.Second)
	})
	s.back()
	r := s.completed(s.sc, id)
	if r.Attempt != 1 {
		t.Errorf("the scan that was at work ended at attempt %d: it was thrown away", r.Attempt)
	}
	s.sameAsUndisturbed(r, archive)
	if next := s.completed(other, s.scan(other, "main", archive)); next.Attempt != 1 {
		t.Errorf("the next scan ended at attempt %d", next.Attempt)
	}
}

// back waits until the test's own connections work again.
func (s *site) back() {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		_, _, err := s.db.Runs(s.t.Context(), s.sc, run.Query{Limit: 1})
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the database is not back: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

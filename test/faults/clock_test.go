package faults

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"merlon/internal/job"
	"merlon/internal/run"
	"merlon/internal/store/storetest"
	"merlon/internal/triage"
	"merlon/internal/worker"
)

// jumps are what a clock may do while a scan is at work.
var jumps = map[string]time.Duration{"forward": 400 * 24 * time.Hour, "back": -400 * 24 * time.Hour}

// looking is how long a reaper looks before it takes a worker for dead. It is long
// enough for a busy machine to renew a lease in time, race detector and all.
const looking = 6 * time.Second

// quick is a Timing with which looking is short.
var quick = job.Timing{
	Sweep: 50 * time.Millisecond, Poll: 50 * time.Millisecond, Heartbeat: 250 * time.Millisecond,
	ReapInterval: looking / 6, MaxMissed: 5,
}

func TestClockJumps(t *testing.T) {
	for name, jump := range jumps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("sqlite", func(t *testing.T) {
				t.Parallel()
				clockJump(t, place{SQLite: filepath.Join(folder(t), "merlon.db")}, jump)
			})
			t.Run("postgres", func(t *testing.T) {
				t.Parallel()
				clockJump(t, place{Postgres: storetest.Postgres(t)}, jump)
			})
		})
	}
}

// clockJump moves the clock of the whole service while one scan is at work, one
// waits for its turn, one of another branch comes, and one waits for its upload.
func clockJump(t *testing.T, p place, jump time.Duration) {
	clock := storetest.NewClock()
	s := newSite(t, folder(t), p, clock.Now)
	archive := secrets(t, 20, 10)
	s.inProcess(clock)
	s.inProcess(clock) // another one looks at the first one's leases
	atWork := s.scan(s.sc, "main", archive)
	scan := stopScanOf(t, syscall.Getpid(), s.place.Scratch)
	waiting := s.scan(s.sc, "main", archive) // of the same branch
	unsent, address := s.start(s.sc, "unsent")
	another := s.scan(s.sc, "another", archive)

	clock.Advance(jump)
	time.Sleep(looking + looking/2) // a lease that is watched by the clock is lost by now
	resume(t, scan)

	for _, id := range []run.ID{atWork, waiting, another} {
		if r := s.completed(s.sc, id); r.Attempt != 1 {
			t.Errorf("run %s ended at attempt %d", id, r.Attempt)
		}
	}
	// An address that expired by the clock says so; one that did not still holds.
	status := s.put(address, bytes.NewReader(archive))
	if jump > 0 {
		r := s.await(s.sc, unsent, "expired", ended)
		if status != http.StatusGone || r.State != run.Failed || r.Failure.Code != run.CodeNoUpload {
			t.Errorf("an expired address: status %d, the run is %s, %+v", status, r.State, r.Failure)
		}
		return
	}
	if status != http.StatusOK {
		t.Errorf("an address before its time: status %d", status)
	}
	s.completed(s.sc, unsent)
}

// inProcess runs a worker in the test's own process, on its clock.
func (s *site) inProcess(clock *storetest.Clock) {
	s.t.Helper()
	db, err := s.place.open(s.t.Context(), clock.Now)
	s.must(err)
	w, err := worker.New(worker.Config{
		Jobs: db, Runs: db, DB: db.Write, Pool: db.Pool, Blobs: s.blobs, Ingest: triage.New(db).Ingest,
		Scratch: s.place.Scratch, Program: s.place.Program, Slots: 1, Timing: quick, Log: slog.New(slog.DiscardHandler),
	})
	s.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("stop the worker: %v", err)
		}
		s.must(db.Close())
	})
}

package worker_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/job"
	"merlon/internal/run"
	"merlon/internal/sandbox"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/worker"
)

// quick is a Timing for tests.
var quick = job.Timing{
	Sweep: 50 * time.Millisecond, Poll: 50 * time.Millisecond, Heartbeat: 50 * time.Millisecond,
	ReapInterval: 100 * time.Millisecond, MaxMissed: 10,
}

// memory is a blob storage.
type memory struct {
	mu    sync.Mutex
	blobs map[string][]byte
	err   error // of the next download
}

func (m *memory) Download(_ context.Context, key string, w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.err; err != nil {
		m.err = nil
		return err
	}
	b, ok := m.blobs[key]
	if !ok {
		return errs.E(errs.NotFound, "no such blob")
	}
	_, err := w.Write(b)
	return err
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.blobs, key)
	return nil
}

func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.blobs))
}

// A bench is a database with one project, a blob storage, and a worker.
type bench struct {
	t      *testing.T
	db     *store.DB
	clock  *storetest.Clock
	sc     tenant.Scope
	blobs  *memory
	config worker.Config

	mu       sync.Mutex
	ingested []record
	failing  []error // of the next ingests
}

// A record is what was handed to triage.
type record struct {
	scan.Summary
	config   scan.Config
	paths    []string
	statuses []scan.Status
}

func (r *record) Config(c *scan.Config) error { r.config = *c; return r.Summary.Config(c) }
func (r *record) Finding(f *finding.Finding) error {
	r.paths = append(r.paths, f.Location.Path)
	return nil
}
func (r *record) Status(s *scan.Status) error { r.statuses = append(r.statuses, *s); return nil }

func each(t *testing.T, test func(t *testing.T, b *bench)) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		b := &bench{t: t, db: db, clock: clock, blobs: &memory{blobs: map[string][]byte{}}}
		org, team, project := uuid.NewString(), uuid.NewString(), uuid.NewString()
		b.must(db.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO organization (id, name, industry, country, "+
				"concurrent_scan_limit, created_at, updated_at) VALUES (?, 'o', 'software', 'SE', 4, 1, 1)", org)
			if err == nil {
				_, err = tx.Exec(t.Context(), "INSERT INTO team (id, organization_id, name, created_at, updated_at) "+
					"VALUES (?, ?, 't', 1, 1)", team, org)
			}
			if err == nil {
				_, err = tx.Exec(t.Context(), "INSERT INTO project (id, organization_id, team_id, name, settings, "+
					"created_at, updated_at) VALUES (?, ?, ?, 'p', '{}', 1, 1)", project, org, team)
			}
			return err
		}))
		b.sc = tenant.System(tenant.OrganizationID(org), tenant.TeamID(team), tenant.ProjectID(project))
		b.config = worker.Config{
			Jobs: db, Runs: db, DB: db.Write, Pool: db.Pool, Blobs: b.blobs, Ingest: b.ingest,
			Scratch: filepath.Join(t.TempDir(), "scratch"),
			Slots:   2, Timing: quick, Log: slog.New(slog.DiscardHandler),
		}
		test(t, b)
	})
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// ingest takes the place of triage.
func (b *bench) ingest(_ context.Context, sc tenant.Scope, _ *run.Run,
	open func() (io.ReadCloser, error)) (run.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if sc != b.sc {
		return run.Outcome{}, errors.New("another scope")
	}
	if len(b.failing) > 0 {
		err := b.failing[0]
		b.failing = b.failing[1:]
		return run.Outcome{}, err
	}
	f, err := open()
	if err != nil {
		return run.Outcome{}, err
	}
	defer func() { _ = f.Close() }()
	var rec record
	if err := scan.Decode(f, &rec); err != nil {
		return run.Outcome{}, err
	}
	b.ingested = append(b.ingested, rec)
	return run.Outcome{Statuses: rec.statuses, Warnings: rec.config.Sandbox,
		Changes: run.Changes{Found: len(rec.paths)}}, nil
}

// archive returns a zip of the files.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(f, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ready makes a run whose archive is in storage.
func (b *bench) ready(branch string, content []byte) run.ID {
	b.t.Helper()
	now := b.db.Now()
	r := run.Run{
		ID: run.ID(uuid.NewString()), OrganizationID: b.sc.Organization, TeamID: b.sc.Team, ProjectID: b.sc.Project,
		Branch: branch, Source: "cli", Analyses: []finding.Analysis{finding.SCA, finding.Secret}, State: run.Queued,
		FindingProfile: finding.AllProfile,
		UploadExpires:  now.Add(time.Hour), Step: "waiting", CreatedAt: now, UpdatedAt: now,
	}
	ctx := b.t.Context()
	b.must(b.db.CreateRun(ctx, b.sc, &r))
	b.must(b.db.BeginUpload(ctx, r.ID, string(r.ID)))
	b.blobs.mu.Lock()
	b.blobs.blobs[string(r.ID)] = content
	b.blobs.mu.Unlock()
	b.must(b.db.FinishUpload(ctx, r.ID, string(r.ID), int64(len(content))))
	return r.ID
}

// start starts a worker; what it returns stops it as a signal would.
func (b *bench) start() (stop func()) {
	b.t.Helper()
	w, err := worker.New(b.config)
	b.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				b.t.Errorf("stop the worker: %v", err)
			}
		case <-time.After(time.Minute):
			b.t.Error("the worker does not stop")
		}
	})
	b.t.Cleanup(stop)
	return stop
}

// await polls the run until it is as the condition wants.
func (b *bench) await(id run.ID, what string, is func(run.Run) bool) run.Run {
	b.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		r, err := b.db.Run(b.t.Context(), b.sc, id)
		b.must(err)
		if is(r) {
			return r
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("run %s never %s: state %s, attempt %d, step %q, failure %v", id, what, r.State, r.Attempt,
				r.Step, r.Failure)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func ended(r run.Run) bool   { return r.State.Final() }
func putBack(r run.Run) bool { return r.State == run.Queued && r.Failure != nil }

// scratchIsEmpty fails the test when the worker left anything behind.
func (b *bench) scratchIsEmpty() {
	b.t.Helper()
	entries, err := os.ReadDir(b.config.Scratch)
	b.must(err)
	for _, e := range entries {
		b.t.Errorf("the worker left %s", e.Name())
	}
}

func TestWorkerScans(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		stop := b.start()
		id := b.ready("main", archive(t, map[string]string{"a.go": "package a", "b.py": "1", "behave": "well"}))
		r := b.await(id, "ended", ended)
		if r.State != run.Completed || r.Outcome.Changes.Found != 3 ||
			!slices.Equal(r.Languages, []string{"go", "python"}) || r.Progress != 100 {
			t.Errorf("ended as %+v", r)
		}
		stop()
		if len(b.ingested) != 1 {
			t.Fatalf("ingested %d times", len(b.ingested))
		}
		if diff := cmp.Diff([]string{"a.go", "b.py", "behave"}, b.ingested[0].paths); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
		b.scratchIsEmpty()
	})
}

func TestUploadIsDeletedAfterwards(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		stop := b.start()
		b.await(b.ready("main", archive(t, map[string]string{"a": ""})), "ended", ended)
		stop()
		kept := b.ready("waits", archive(t, map[string]string{"a": ""}))
		b.config.Slots = 0
		b.start() // its first round tidies
		deadline := time.Now().Add(time.Minute)
		for !slices.Equal(b.blobs.keys(), []string{string(kept)}) {
			if time.Now().After(deadline) {
				t.Fatalf("blobs: %v, want %s only", b.blobs.keys(), kept)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}

func TestHowScansEnd(t *testing.T) {
	files := func(behave string) []byte {
		return archive(t, map[string]string{"a.go": "package a", "behave": behave})
	}
	tests := []struct {
		name    string
		content []byte
		state   run.State
		code    int
		message string
	}{
		{"degraded", files("degraded"), run.CompletedDegraded, 0, ""},
		{"all failed", files("all failed"), run.Failed, run.CodeNothing, "no analyzer could do its work: no data"},
		{"crash", files("crash"), run.Failed, run.CodeIncomplete, "exit code 7"},
		{"incomplete", files("incomplete"), run.Failed, run.CodeIncomplete, "before every analyzer had ended"},
		{"garbage", files("garbage"), run.Failed, run.CodeIncomplete, "cannot be read"},
		{"late failure", files("late failure"), run.Failed, run.CodeCrashed, "exit code 9"},
		{"memory", files("memory"), run.Failed, run.CodeMemory, "more memory"},
		{"not an archive", []byte("PK\x03\x04 and nothing more"), run.Failed, run.CodeArchive,
			"the archive was refused"},
		{"truncated", files("well")[:120], run.Failed, run.CodeArchive, "the archive was refused"},
	}
	each(t, func(t *testing.T, b *bench) {
		b.config.Limits = sandbox.Limits{Memory: 512 << 20}
		stop := b.start()
		ids := make([]run.ID, len(tests))
		for i, tt := range tests {
			ids[i] = b.ready(tt.name, tt.content)
		}
		for i, tt := range tests {
			r := b.await(ids[i], "ended", ended)
			f := run.Failure{}
			if r.Failure != nil {
				f = *r.Failure
			}
			if r.State != tt.state || f.Code != tt.code || !strings.Contains(f.Message, tt.message) || r.Attempt != 1 {
				t.Errorf("%s: ended as %s at attempt %d with %+v", tt.name, r.State, r.Attempt, f)
			}
		}
		stop()
		if len(b.ingested) != 2 { // degraded, all failed
			t.Errorf("%d scans were handed to triage, want 2", len(b.ingested))
		}
		b.scratchIsEmpty()
	})
}

func TestScanEndsAtItsTimeLimit(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.config.TimeLimit = time.Second // the child waits for a minute
		stop := b.start()
		r := b.await(b.ready("main", archive(t, map[string]string{"a.go": "package a", "behave": "hang"})), "ended",
			ended)
		stop()
		if r.State != run.Failed || r.Failure == nil || r.Failure.Code != run.CodeTimeLimit ||
			!strings.Contains(r.Failure.Message, "longer than 1s") {
			t.Errorf("ended as %s with %+v", r.State, r.Failure)
		}
		b.scratchIsEmpty()
	})
}

func TestWhatWasNotUnpackedIsOnEveryStatus(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.config.Budget.Files, b.config.Budget.Bytes, b.config.Budget.Ratio = 100, 1<<20, 100
		b.config.Budget.FileBytes, b.config.Budget.Depth, b.config.Budget.PathBytes = 1000, 10, 100
		b.start()
		id := b.ready("main", archive(t,
			map[string]string{"a.go": "package a", "large.bin": strings.Repeat("x", 1001)}))
		r := b.await(id, "ended", ended)
		if r.State != run.CompletedDegraded || len(r.Outcome.Statuses) != 2 {
			t.Fatalf("ended as %+v", r)
		}
		for _, s := range r.Outcome.Statuses {
			if s.State != scan.Degraded || len(s.Reasons) != 1 || s.Reasons[0].Path != "large.bin" ||
				s.Reasons[0].Code != "not-extracted" {
				t.Errorf("status %+v", s)
			}
		}
	})
}

func TestSetbacksAreTriedAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.start()
		for branch, tt := range map[string]struct {
			err  error
			code int
		}{
			"disk":    {&os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}, run.CodeDiskFull},
			"storage": {errors.New("connection refused"), run.CodeUnavailable},
		} {
			b.blobs.mu.Lock()
			b.blobs.err = tt.err
			b.blobs.mu.Unlock()
			id := b.ready(branch, archive(t, map[string]string{"a": ""}))
			if r := b.await(id, "was put back", putBack); r.Failure.Code != tt.code || r.Tries != 1 {
				t.Errorf("%s: put back with %+v", branch, r.Failure)
			}
			b.clock.Advance(10 * time.Second)
			if r := b.await(id, "ended", ended); r.State != run.Completed || r.Attempt != 2 {
				t.Errorf("%s: ended as %s at attempt %d", branch, r.State, r.Attempt)
			}
		}
	})
}

func TestDatabaseAwayDuringIngest(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.failing = []error{errs.E(errs.Unavailable, "away"), errs.E(errs.Unavailable, "away")}
		b.start()
		r := b.await(b.ready("main", archive(t, map[string]string{"a": ""})), "ended", ended)
		if r.State != run.Completed || r.Attempt != 1 || len(b.failing) != 0 {
			t.Errorf("ended as %s at attempt %d", r.State, r.Attempt)
		}
	})
}

func TestArchiveThatIsGone(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		id := b.ready("main", nil)
		b.must(b.blobs.Delete(t.Context(), string(id)))
		b.start()
		if r := b.await(id, "ended", ended); r.State != run.Failed || r.Failure.Code != run.CodeArchiveGone {
			t.Errorf("ended as %+v", r)
		}
	})
}

func TestCancelEndsTheChild(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		stop := b.start()
		id := b.ready("main", archive(t, map[string]string{"behave": "hang"}))
		b.await(id, "ran", func(r run.Run) bool { return r.State == run.Running })
		began := time.Now()
		_, err := b.db.CancelRun(t.Context(), b.sc, id)
		b.must(err)
		r := b.await(id, "ended", ended)
		if r.State != run.Failed || r.Failure.Code != run.CodeCancelled || time.Since(began) > 50*time.Second {
			t.Errorf("ended after %v as %+v", time.Since(began), r.Failure)
		}
		stop()
		b.scratchIsEmpty()
	})
}

func TestScratchOfTheDeadIsRemoved(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		dead := filepath.Join(b.config.Scratch, "worker-dead")
		b.must(os.MkdirAll(filepath.Join(dead, "x"), 0o700))
		b.must(os.WriteFile(filepath.Join(dead, "lock"), nil, 0o600))
		stop := b.start()
		b.await(b.ready("main", archive(t, map[string]string{"a": ""})), "ended", ended)
		if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of a dead worker: %v", err)
		}
		// A second process leaves the folder of the first alone.
		b.start()
		b.await(b.ready("main", archive(t, map[string]string{"a": ""})), "ended", ended)
		entries, err := os.ReadDir(b.config.Scratch)
		if err != nil || len(entries) != 2 {
			t.Errorf("%d folders, %v, want 2", len(entries), err)
		}
		stop()
	})
}

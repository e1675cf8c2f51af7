package faults

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"merlon/internal/api"
	"merlon/internal/blob"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// A site is a service without its workers: a database, blob storage, the HTTP
// addresses of scans.
type site struct {
	t       *testing.T
	dir     string
	place   place
	db      *store.DB
	blobs   *blob.Store
	runs    *run.Service
	url     string // of the API
	sc      tenant.Scope
	workers int
}

// each runs the test on a site with either database and the system's clock.
func each(t *testing.T, test func(t *testing.T, s *site)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dir := folder(t)
		test(t, newSite(t, dir, place{SQLite: filepath.Join(dir, "merlon.db")}, time.Now))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newSite(t, folder(t), place{Postgres: storetest.Postgres(t)}, time.Now))
	})
}

// folder is a temporary folder whose parents a sandboxed scan may pass.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func newSite(t *testing.T, dir string, p place, now func() time.Time) *site {
	t.Helper()
	s := &site{t: t, dir: dir, place: p}
	if s.place.Blobs == "" {
		s.place.Blobs = "file://" + filepath.Join(dir, "blobs")
	}
	if s.place.Scratch == "" {
		s.place.Scratch = filepath.Join(dir, "scratch")
	}
	s.place.Program = program(t)
	var err error
	s.db, err = s.place.open(t.Context(), now)
	s.must(err)
	t.Cleanup(func() { s.must(s.db.Close()) })
	s.blobs, err = blob.Open(t.Context(), s.place.Blobs)
	s.must(err)
	t.Cleanup(func() { s.must(s.blobs.Close()) })
	srv := httptest.NewUnstartedServer(nil)
	srv.Start()
	t.Cleanup(srv.Close)
	s.url = srv.URL
	s.runs = run.New(run.Config{
		Store: s.db, Uploads: s.db, Blobs: s.blobs, Key: bytes.Repeat([]byte("k"), 32), BaseURL: srv.URL,
		Available: []finding.Analysis{finding.Secret}, Now: now,
	})
	srv.Config.Handler = api.New(api.Config{Scans: s.runs, Now: now, Log: slog.New(slog.DiscardHandler)}).Handler()
	s.sc = s.project()
	return s
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// project makes an organization with four places, a team and a project.
func (s *site) project() tenant.Scope {
	s.t.Helper()
	org, team, id := uuid.NewString(), uuid.NewString(), uuid.NewString()
	settings := `{"sastEnabled":false,"scaEnabled":false,"iacEnabled":false}`
	if set := project.DefaultSettings(nil); set.SASTEnabled || set.SCAEnabled || set.IaCEnabled {
		s.t.Fatal("a program that can look for nothing switches something on")
	}
	ctx := s.t.Context()
	s.must(s.db.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO organization (id, name, industry, country, concurrent_scan_limit, "+
			"created_at, updated_at) VALUES (?, 'o', 'software', 'SE', 4, 1, 1)", org)
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO team (id, organization_id, name, created_at, updated_at) VALUES (?, "+
				"?, 't', 1, 1)", team, org)
		}
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO project (id, organization_id, team_id, name, settings, created_at, "+
				"updated_at) VALUES (?, ?, ?, 'p', ?, 1, 1)", id, org, team, settings)
		}
		return err
	}))
	return tenant.System(tenant.OrganizationID(org), tenant.TeamID(team), tenant.ProjectID(id))
}

// start begins a run of the project and returns its upload address.
func (s *site) start(sc tenant.Scope, branch string) (run.ID, string) {
	s.t.Helper()
	started, err := s.runs.Start(s.t.Context(), sc, run.Start{Branch: branch})
	s.must(err)
	return started.Run.ID, started.UploadURL
}

// put sends an archive to an upload address and returns the status.
func (s *site) put(url string, body io.Reader) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPut, url, body)
	s.must(err)
	res, err := http.DefaultClient.Do(req)
	s.must(err)
	s.must(res.Body.Close())
	return res.StatusCode
}

// scan begins a run with an archive.
func (s *site) scan(sc tenant.Scope, branch string, archive []byte) run.ID {
	s.t.Helper()
	id, url := s.start(sc, branch)
	if status := s.put(url, bytes.NewReader(archive)); status != http.StatusOK {
		s.t.Fatalf("upload: status %d", status)
	}
	return id
}

func (s *site) run(sc tenant.Scope, id run.ID) run.Run {
	s.t.Helper()
	r, err := s.db.Run(s.t.Context(), sc, id)
	s.must(err)
	return r
}

// patience is how long await waits: 100,000 files take a busy machine under the
// race detector minutes. Times that are promised are measured by themselves.
const patience = 5 * time.Minute

// await polls a run until it is as the condition wants.
func (s *site) await(sc tenant.Scope, id run.ID, what string, is func(run.Run) bool) run.Run {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		r := s.run(sc, id)
		if is(r) {
			return r
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("run %s never %s: state %s, attempt %d, step %q, failure %v", id, what, r.State, r.Attempt,
				r.Step, r.Failure)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func ended(r run.Run) bool { return r.State.Final() }

// completed waits for a run's end and checks that it looked at everything.
func (s *site) completed(sc tenant.Scope, id run.ID) run.Run {
	s.t.Helper()
	r := s.await(sc, id, "ended", ended)
	if r.State != run.Completed {
		s.t.Fatalf("run %s ended as %s: %v, %+v", id, r.State, r.Failure, r.Outcome.Statuses)
	}
	return r
}

// findings returns what is known of a project's findings, one line each, and how
// long their history is.
func (s *site) findings(sc tenant.Scope) ([]string, int) {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(), "SELECT place, path, start_line, status, gone FROM finding WHERE "+
		"project_id = ? ORDER BY branch, place", sc.Project)
	s.must(err)
	defer func() { _ = rows.Close() }()
	out := []string{}
	for rows.Next() {
		var place, path string
		var line, status int
		var gone bool
		s.must(rows.Scan(&place, &path, &line, &status, &gone))
		out = append(out, fmt.Sprintf("%s %s:%d status %d gone %v", place, path, line, status, gone))
	}
	s.must(rows.Err())
	var history int
	s.must(s.db.QueryRow(s.t.Context(), "SELECT COUNT(*) FROM finding_history WHERE "+
		"project_id = ?", sc.Project).Scan(&history))
	return out, history
}

// sameAsUndisturbed scans the archive in a project of its own with nothing in the
// way, and compares what is known afterwards.
func (s *site) sameAsUndisturbed(r run.Run, archive []byte) {
	s.t.Helper()
	calm := s.project()
	want := s.completed(calm, s.scan(calm, r.Branch, archive))
	if diff := cmp.Diff(want.Outcome.Changes, r.Outcome.Changes); diff != "" {
		s.t.Errorf("changes, undisturbed and disturbed (-want +got):\n%s", diff)
	}
	wantList, wantHistory := s.findings(calm)
	gotList, gotHistory := s.findings(s.sc)
	if diff := cmp.Diff(wantList, gotList); diff != "" || wantHistory != gotHistory {
		s.t.Errorf("history of %d entries, want %d; findings, undisturbed and disturbed (-want +got):\n%s", gotHistory,
			wantHistory, diff)
	}
	if len(gotList) == 0 {
		s.t.Error("there are no findings to compare")
	}
}

// noBlobs waits until nothing is in blob storage.
func (s *site) noBlobs() {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		n := 0
		for o, err := range s.blobs.List(s.t.Context(), "uploads/") {
			if err != nil { // it was deleted while it was listed
				s.t.Log(err)
			}
			if n++; time.Now().After(deadline) {
				s.t.Fatalf("%s stays in storage", o.Key)
			}
		}
		if n == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// secrets returns an archive of n files, each with a random credential on its own
// line between filler. The same seed gives the same archive.
func secrets(t *testing.T, n int, filler int) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range n {
		var token strings.Builder
		for range 36 {
			token.WriteByte(letters[random.IntN(len(letters))])
		}
		f, err := w.Create(fmt.Sprintf("src/dir%d/file%d.py", i%50, i))
		if err == nil {
			_, err = fmt.Fprintf(f, "%stoken = \"ghp_%s\"\n", strings.Repeat("# nothing to see\n", filler),
				token.String())
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

// count returns the number a query selects.
func (s *site) count(query string, args ...any) int {
	s.t.Helper()
	var n int
	s.must(s.db.QueryRow(context.Background(), query, args...).Scan(&n))
	return n
}

// scratchIsEmpty checks that no folder of a run is left.
func (s *site) scratchIsEmpty() {
	s.t.Helper()
	left, err := filepath.Glob(filepath.Join(s.place.Scratch, "*", "*-*"))
	s.must(err)
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			s.t.Errorf("%s is left", dir)
		}
	}
}

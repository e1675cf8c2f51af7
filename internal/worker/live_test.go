package worker_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"merlon/internal/connbroker"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/oast"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/worker"
)

// pretendLive is a scan of a running application that asks for the base of its target
// through its worker, and reports what came. The seed of the target says more.
func pretendLive(descriptor string) int {
	fd, err := strconv.Atoi(descriptor)
	check(err)
	lender, err := connbroker.Open(fd)
	check(err)
	job, err := lender.Job()
	check(err)
	h := scan.Encode(os.Stdout)
	check(h.Config(&scan.Config{Tool: "test", Analyses: []finding.Analysis{finding.DAST},
		Analyzers: []string{"dast/test"}, Target: job.Target.URL}))
	client := http.Client{Transport: &http.Transport{DialContext: lender.Dial}}
	message := ""
	resp, err := client.Get(job.Target.URL)
	if err != nil {
		message = err.Error()
	} else {
		text, err := io.ReadAll(resp.Body)
		check(err)
		message = string(text)
	}
	if _, err := net.DialTimeout("tcp", strings.TrimPrefix(strings.TrimSuffix(job.Target.URL, "/"), "http://"),
		time.Second); err == nil {
		message += " and there is another way out"
	}
	if job.OAST != nil { // the application sends what it is told to
		token := job.OAST.NewToken()
		address, _ := job.OAST.Address(token)
		resp, err := client.Get(job.Target.URL + "?to=" + address)
		check(err)
		check(resp.Body.Close())
		calls, err := lender.Calls(0)
		check(err)
		none, err := lender.Calls(1)
		check(err)
		if len(calls) != 1 || len(none) != 0 || calls[0].Token != token {
			message += fmt.Sprintf(" and wrong calls %v %v", calls, none)
		}
	} else {
		message += " and " + job.OASTReason
	}
	if len(job.Target.Seeds) > 0 && len(job.Resume) == 0 {
		check(lender.Keep([]byte("so far")))
		time.Sleep(time.Minute)
	}
	rule := finding.Rule{ID: "test/rule", Analysis: finding.DAST, Name: "A rule", Severity: finding.High}
	check(h.Rule(&rule))
	f := finding.Finding{RuleID: rule.ID, Analyzer: "dast/test", Analysis: finding.DAST, Severity: finding.High,
		Message: message,
		Location: finding.Location{Path: message + "|" + strings.Join(os.Args[1:], " ") + "|" + string(job.Resume) +
			"|" + fmt.Sprint(job.Target.Identities[0].Bearer == "s3cret") + "|" + job.Target.Identities[0].Bearer}}
	f.Fingerprint = finding.NewFingerprint(rule.ID, "x", "x", 0)
	check(h.Finding(&f))
	check(h.Operation(&finding.Operation{Method: "GET", URL: job.Target.URL, Outcome: finding.Reached,
		Parameters: []string{}}))
	check(h.Status(&scan.Status{Analyzer: "dast/test", Analysis: finding.DAST, State: scan.Succeeded, Findings: 1}))
	return 0
}

// readyTarget makes a run of a running application.
func (b *bench) readyTarget(url string) run.ID {
	b.t.Helper()
	now := b.db.Now()
	r := run.Run{
		ID: run.ID(uuid.NewString()), OrganizationID: b.sc.Organization, TeamID: b.sc.Team, ProjectID: b.sc.Project,
		Branch: "main", Source: "manual", Analyses: []finding.Analysis{finding.DAST}, State: run.Queued, Uploaded: true,
		FindingProfile: finding.AllProfile,
		Target:         &run.Target{ID: uuid.NewString(), Name: "Shop", URL: url, Profile: scan.Standard},
		UploadExpires:  now.Add(-time.Hour), Step: run.StepQueued, CreatedAt: now, UpdatedAt: now,
	}
	b.must(b.db.CreateRun(b.t.Context(), b.sc, &r))
	return r.ID
}

// An application is what is scanned, and its secrets.
type application struct {
	*httptest.Server
	asked atomic.Int64
	mu    sync.Mutex
	kept  []byte
}

func newApplication(t *testing.T) *application {
	a := &application{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.asked.Add(1)
		if to := r.FormValue("to"); to != "" {
			if resp, err := http.Get(to); err == nil { //nolint:gosec,noctx // the flaw of the test
				_ = resp.Body.Close()
			}
		}
		_, _ = fmt.Fprint(w, "hello")
	}))
	t.Cleanup(a.Close)
	return a
}

// target is what the worker opens for a run.
func (a *application) target(seeds ...string) *worker.Target {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &worker.Target{
		Whole: &scan.Target{URL: a.URL + "/", Seeds: seeds,
			Identities: []scan.Identity{{Name: "u", Bearer: "s3cret"}}},
		Resume: a.kept, Dial: new(net.Dialer).DialContext,
		Keep: func(_ context.Context, kept []byte) error {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.kept = kept
			return nil
		},
	}
}

// TestWorkerScansATarget reaches the application through the worker alone, and knows
// its secrets although no argument holds them. What the child says of them is redacted
// before it is recorded.
func TestWorkerScansATarget(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		a := newApplication(t)
		b.config.Sealed = true
		b.config.OpenTarget = func(context.Context, *run.Run) (*worker.Target, error) { return a.target(), nil }
		listener, err := oast.Listen(oast.Options{Listen: "127.0.0.1:0"})
		b.must(err)
		defer func() { b.must(listener.Close()) }()
		b.config.Listener = listener
		stop := b.start()
		r := b.await(b.readyTarget(a.URL+"/"), "ended", ended)
		stop()
		if r.State != run.Completed || len(b.ingested) != 1 {
			t.Fatalf("ended as %+v with %d records", r, len(b.ingested))
		}
		said := strings.Split(b.ingested[0].paths[0], "|")
		if said[0] != "hello" || strings.Contains(said[1], "s3cret") || strings.Contains(said[1], a.URL) ||
			said[3] != "true" || said[4] != finding.Redacted {
			t.Errorf("the child said %q", said)
		}
		b.scratchIsEmpty()
	})
}

// TestTargetsThatAreRefused end with a reason.
func TestTargetsThatAreRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.config.Sealed = true
		var err error
		b.config.OpenTarget = func(context.Context, *run.Run) (*worker.Target, error) { return nil, err }
		for _, tt := range []struct {
			err  error
			code int
		}{
			{errs.E(errs.Forbidden, "shop may not be attacked"), run.CodeOwnership},
			{errs.E(errs.NotFound, "target not found"), run.CodeTarget},
		} {
			err = tt.err
			stop := b.start()
			r := b.await(b.readyTarget("https://shop.example.org/"), "ended", ended)
			stop()
			if r.State != run.Failed || r.Failure.Code != tt.code {
				t.Errorf("%v: ended as %s, %+v", tt.err, r.State, r.Failure)
			}
		}
	})
}

// TestPause ends the child, and goes on with what it has kept.
func TestPause(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		a := newApplication(t)
		b.config.Sealed = true
		b.config.OpenTarget = func(context.Context, *run.Run) (*worker.Target, error) { return a.target("/wait"), nil }
		stop := b.start()
		defer stop()
		id := b.readyTarget(a.URL + "/")
		b.await(id, "has kept something", func(run.Run) bool { a.mu.Lock(); defer a.mu.Unlock(); return a.kept != nil })
		if _, err := b.db.PauseRun(t.Context(), b.sc, id, true); err != nil {
			t.Fatal(err)
		}
		r := b.await(id, "paused", func(r run.Run) bool { return r.State == run.Queued && r.Step == run.StepPaused })
		if r.Tries != 0 || r.Failure != nil {
			t.Errorf("paused as %+v", r)
		}
		time.Sleep(5 * quick.Sweep) // several rounds of the dispatcher
		if r = b.await(id, "still paused", func(run.Run) bool { return true }); r.State != run.Queued {
			t.Errorf("a paused run is %s", r.State)
		}
		if _, err := b.db.PauseRun(t.Context(), b.sc, id, false); err != nil {
			t.Fatal(err)
		}
		r = b.await(id, "ended", ended)
		if r.State != run.Completed || a.asked.Load() != 2 || !strings.Contains(b.ingested[0].paths[0], "|so far|") ||
			!strings.Contains(b.ingested[0].paths[0], "set dast-oast") {
			t.Errorf("ended as %s after %d requests: %q", r.State, a.asked.Load(), b.ingested[0].paths)
		}
	})
}

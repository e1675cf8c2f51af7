package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file compares random sequences of scans, renamed files, analyzers that did
// not look, crashes and decisions with a model that is simple enough to be right.

// A model is what the findings should be.
type model struct {
	paths    map[int]string                   // where each flaw stands at present
	branches map[string]map[int]*modelFinding // by branch and flaw
	decided  map[int]triage.Status            // by flaw
	ids      map[string]map[int]triage.ID     // never change
}

type modelFinding struct {
	status triage.Status
	gone   bool
	path   string // where the branch last saw it
}

// scan applies a scan that reports the flaws and does not look at some files.
func (m *model) scan(branch string, reported []int, blind map[string]bool) run.Changes {
	c := run.Changes{Found: len(reported)}
	known := m.branches[branch]
	if known == nil {
		known = map[int]*modelFinding{}
		m.branches[branch] = known
	}
	for _, f := range known {
		if f.status.Active() {
			c.Open++
		}
	}
	seen, closed := map[int]bool{}, 0
	for _, flaw := range reported {
		seen[flaw] = true
		f := known[flaw]
		switch {
		case f == nil:
			known[flaw] = &modelFinding{status: triage.ToVerify, path: m.paths[flaw]}
			if d := m.decided[flaw]; d == triage.Confirmed || d == triage.Ignored {
				known[flaw].status = d
			}
			c.New++
			continue
		case f.status == triage.Resolved:
			f.status = triage.ToVerify
			if f.gone && m.decided[flaw] == triage.Ignored {
				f.status = triage.Ignored
			}
			c.Reopened++
		case f.path != m.paths[flaw]:
			c.Moved++
		default:
			c.Unchanged++
		}
		f.gone, f.path = false, m.paths[flaw]
	}
	for flaw, f := range known {
		if seen[flaw] || blind[f.path] || f.gone && f.status == triage.Resolved {
			continue
		}
		if f.status.Active() {
			closed++
		}
		c.Resolved++
		f.status, f.gone = triage.Resolved, true
	}
	c.Suspicious = closed > 20 && closed*10 > c.Open*3
	return c
}

// decide applies a decision on one branch.
func (m *model) decide(branch string, flaw int, s triage.Status) {
	for name, known := range m.branches {
		if f := known[flaw]; f != nil && (name == branch || !f.gone) {
			f.status = s
		}
	}
	m.decided[flaw] = s
}

// A crashing store fails once, after a number of batches.
type crashing struct {
	triage.Store
	left int
}

var errCrash = errors.New("crash")

func (c *crashing) Apply(ctx context.Context, sc tenant.Scope, b *triage.Batch) error {
	if c.left == 0 {
		c.left = -1
		return errCrash
	}
	c.left--
	return c.Store.Apply(ctx, sc, b)
}

// modelStream is the stream of a scan that reports flaws and does not look at
// some files. An odd flaw is found by one analyzer, an even one by another.
func (m *model) stream(t testing.TB, reported []int, blind map[string]bool) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(h.Config(&scan.Config{Analyses: []finding.Analysis{finding.SAST}, Analyzers: []string{"sast/a0", "sast/a1"}}))
	must(h.Rule(&finding.Rule{ID: "sast/r", Analysis: finding.SAST, Name: "R", Severity: finding.High}))
	for _, flaw := range reported {
		f := &finding.Finding{
			RuleID: "sast/r", Analyzer: fmt.Sprintf("sast/a%d", flaw%2), Analysis: finding.SAST,
			Severity: finding.Severities[flaw%4],
			Message:  fmt.Sprint("flaw ", flaw), Location: finding.Location{Path: m.paths[flaw], StartLine: 1 + flaw,
				EndLine: 1 + flaw},
		}
		f.Fingerprint = finding.NewFingerprint(f.RuleID, f.Location.Path, f.Message, 0)
		must(h.Finding(f))
	}
	for i := range 2 {
		s := &scan.Status{Analyzer: fmt.Sprintf("sast/a%d", i), Analysis: finding.SAST, State: scan.Succeeded,
			Reasons: []scan.Reason{}}
		for _, path := range slices.Sorted(maps.Keys(blind)) {
			s.State = scan.Degraded
			s.Reasons = append(s.Reasons, scan.Reason{Code: "timeout", Message: "too slow", Path: path})
		}
		must(h.Status(s))
	}
	return b.Bytes()
}

func TestScansFollowTheModel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		for seed := range uint64(2) {
			s := newFindingStore(t, db, clock)
			m := &model{paths: map[int]string{}, branches: map[string]map[int]*modelFinding{},
				decided: map[int]triage.Status{},
				ids:     map[string]map[int]triage.ID{}}
			r := rand.New(rand.NewPCG(seed, 1))
			for flaw := range 60 {
				m.paths[flaw] = fmt.Sprintf("src/f%d.go", flaw)
			}
			for step := range 25 {
				s.randomStep(m, r)
				if t.Failed() {
					t.Fatalf("seed %d, step %d", seed, step)
				}
			}
		}
	})
}

// randomStep does one thing to the store and to the model, and compares them.
func (s *findingStore) randomStep(m *model, r *rand.Rand) {
	s.t.Helper()
	s.clock.Advance(time.Minute)
	branch := []string{"main", "main", "feature", "other"}[r.IntN(4)]
	renamed := -1
	if r.IntN(4) == 0 { // a renamed file is first seen on main
		branch = "main"
		for flaw, f := range m.branches[branch] {
			if !f.gone && (renamed < 0 || flaw < renamed) {
				renamed = flaw
			}
		}
		if renamed >= 0 {
			m.paths[renamed] += ".new"
		}
	}
	if r.IntN(3) == 0 && len(m.branches[branch]) > 0 {
		s.randomDecision(m, r, branch)
	}
	blind := map[string]bool{}
	var reported []int
	for flaw := range 60 {
		f := m.branches[branch][flaw]
		switch {
		case flaw == renamed:
			reported = append(reported, flaw)
		case r.IntN(6) == 0 && (f == nil || f.path == m.paths[flaw]):
			blind[m.paths[flaw]] = true
		case r.IntN(3) > 0:
			reported = append(reported, flaw)
		}
	}
	s.scanAndCompare(m, r, branch, reported, blind)
}

// randomDecision decides about a finding of the branch.
func (s *findingStore) randomDecision(m *model, r *rand.Rand, branch string) {
	s.t.Helper()
	flaws := slices.Sorted(maps.Keys(m.branches[branch]))
	flaw := flaws[r.IntN(len(flaws))]
	status := triage.Statuses[r.IntN(len(triage.Statuses))]
	if _, err := s.db.Decide(s.t.Context(), s.sc, triage.Decision{Finding: m.ids[branch][flaw],
		Status: status}); err != nil {
		s.t.Fatal(err)
	}
	if f := m.branches[branch][flaw]; f.status != status || siblings(m, flaw, status) {
		m.decide(branch, flaw, status)
	}
	s.clock.Advance(time.Minute)
}

// siblings reports whether a decision changes the flaw on some branch.
func siblings(m *model, flaw int, status triage.Status) bool {
	for _, known := range m.branches {
		if f := known[flaw]; f != nil && !f.gone && f.status != status {
			return true
		}
	}
	return false
}

// scanAndCompare applies a scan that may crash at a batch, until it is through.
func (s *findingStore) scanAndCompare(m *model, r *rand.Rand, branch string, reported []int, blind map[string]bool) {
	s.t.Helper()
	stream := m.stream(s.t, reported, blind)
	want := m.scan(branch, reported, blind)
	this := s.start(branch)
	ingest := triage.New(&crashing{s.db, r.IntN(8) - 1})
	ingest.BatchSize = 1 + r.IntN(20)
	out, err := ingest.Ingest(s.t.Context(), s.sc, this, opener(stream))
	if errors.Is(err, errCrash) {
		out, err = triage.New(s.db).Ingest(s.t.Context(), s.sc, this, opener(stream))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.Changes); diff != "" {
		s.t.Errorf("changes of %s (-want +got):\n%s", branch, diff)
	}
	again, err := triage.New(s.db).Ingest(s.t.Context(), s.sc, this, opener(stream))
	if err != nil || again.Changes != out.Changes {
		s.t.Errorf("the same scan again: got %+v, %v; want %+v", again.Changes, err, out.Changes)
	}
	for name := range m.branches {
		s.compare(m, name)
	}
	s.checkNumbers()
}

// compare checks every finding of a branch.
func (s *findingStore) compare(m *model, branch string) {
	s.t.Helper()
	type state struct {
		Status triage.Status
		Gone   bool
		Path   string
	}
	want, got := map[int]state{}, map[int]state{}
	for flaw, f := range m.branches[branch] {
		want[flaw] = state{f.status, f.gone, f.path}
	}
	page, err := s.db.Findings(s.t.Context(), s.sc, triage.Query{Filter: triage.Filter{Branch: branch}, Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	if m.ids[branch] == nil {
		m.ids[branch] = map[int]triage.ID{}
	}
	for _, f := range page.Findings {
		var flaw int
		if _, err := fmt.Sscanf(f.Report.Message, "flaw %d", &flaw); err != nil {
			s.t.Fatal(err)
		}
		if _, twice := got[flaw]; twice {
			s.t.Errorf("branch %s has flaw %d twice", branch, flaw)
		}
		got[flaw] = state{f.Status, f.Gone, f.Report.Location.Path}
		if id := m.ids[branch][flaw]; id != "" && id != f.ID {
			s.t.Errorf("branch %s: the id of flaw %d changed", branch, flaw)
		}
		m.ids[branch][flaw] = f.ID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("branch %s (-want +got):\n%s", branch, diff)
	}
}

// checkNumbers compares the kept numbers of all projects with counted ones.
func (s *findingStore) checkNumbers() {
	s.t.Helper()
	for _, query := range []string{
		`SELECT COUNT(*) FROM (SELECT project_id, branch, analysis, severity, status, priority, COUNT(*) AS n FROM finding
			GROUP BY project_id, branch, analysis, severity, status, priority) f
			LEFT JOIN branch_stats s ON s.project_id = f.project_id AND s.branch = f.branch AND s.analysis = f.analysis
			AND s.severity = f.severity AND s.status = f.status AND s.priority = f.priority WHERE s.findings IS NULL OR s.findings <> f.n`,
		"SELECT COUNT(*) FROM (SELECT SUM(findings) AS n FROM branch_stats) s WHERE s.n <> (SELECT COUNT(*) FROM " +
			"finding)",
		`SELECT COUNT(*) FROM project_stats p WHERE p.branch <> '' AND p.critical + p.high + p.medium + p.low <>
			(SELECT COUNT(*) FROM finding f WHERE f.project_id = p.project_id AND f.branch = p.branch AND f.closed = 0)`,
		"SELECT COUNT(*) FROM finding WHERE (status = 3) <> (resolved_at > 0) OR (closed = 1) <> (status >= 3)",
	} {
		var wrong int
		if err := s.db.QueryRow(s.t.Context(), query).Scan(&wrong); err != nil {
			s.t.Fatal(err)
		}
		if wrong > 0 {
			s.t.Errorf("%d numbers are wrong: %s", wrong, strings.Join(strings.Fields(query), " "))
		}
	}
}

// TestIngestRefuses applies scans that must not change anything.
func TestIngestRefuses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		m := &model{paths: map[int]string{1: "a.go", 2: "b.go"}, branches: map[string]map[int]*modelFinding{}}
		whole := m.stream(t, []int{1, 2}, nil)
		ingest := func(r *run.Run, stream []byte) error {
			_, err := triage.New(db).Ingest(t.Context(), s.sc, r, opener(stream))
			return err
		}
		if err := ingest(s.start("main"), whole[:len(whole)-20]); err == nil {
			t.Error("a stream that is cut inside of a message was applied")
		}
		cut := whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1]
		if err := ingest(s.start("main"), cut); !errors.Is(err, scan.ErrIncomplete) {
			t.Errorf("a stream without its last status: got %v, want ErrIncomplete", err)
		}
		for _, wrong := range [][2]string{
			{`"severity":"medium"`, `"severity":"awful"`}, {`"analyzer":"sast/a1"`, `"analyzer":"sast/a9"`},
			{`"ruleId":"sast/r"`, `"ruleId":"sast/q"`},
			{`"place":"`, `"place":"x`}, {`"path":"b.go"`, `"path":"b\u0000.go"`}, {`"startLine":2`, `"startLine":-2`},
		} {
			if !bytes.Contains(whole, []byte(wrong[0])) {
				t.Fatalf("the stream has no %s", wrong[0])
			}
			if err := ingest(s.start("main"), bytes.Replace(whole, []byte(wrong[0]), []byte(wrong[1]), 1)); err == nil {
				t.Errorf("a stream with %s was applied", wrong[1])
			}
		}
		stale := s.start("main")
		stale.Attempt = 0
		if err := ingest(stale, whole); !errs.Is(err, errs.Conflict) {
			t.Errorf("another attempt: got %v, want a conflict", err)
		}
		foreign := s.start("main")
		other := newFindingStore(t, db, clock)
		if _, err := triage.New(db).Ingest(t.Context(), other.sc, foreign, opener(whole)); !errs.Is(err,
			errs.NotFound) {
			t.Errorf("another project's scope: got %v, want not found", err)
		}
		if page, err := db.Findings(t.Context(), s.sc, triage.Query{Limit: 10}); err != nil || page.Total != 0 ||
			len(page.Findings) != 0 {
			t.Errorf("got %d findings, %v; want none", page.Total, err)
		}
	})
}

// An overtaken store decides about a finding before the first batch is written.
type overtaken struct {
	triage.Store
	before func()
}

func (o *overtaken) Apply(ctx context.Context, sc tenant.Scope, b *triage.Batch) error {
	if o.before != nil {
		before := o.before
		o.before = nil
		before()
	}
	return o.Store.Apply(ctx, sc, b)
}

// TestDecisionDuringScan decides while a scan is applied: neither may be lost.
func TestDecisionDuringScan(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		m := &model{paths: map[int]string{1: "a.go", 2: "b.go", 3: "c.go"},
			branches: map[string]map[int]*modelFinding{}}
		s.ingest("main", m.stream(t, []int{1, 2}, nil))
		page, err := db.Findings(t.Context(), s.sc, triage.Query{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Hour)
		next := &overtaken{Store: db, before: func() {
			for _, f := range page.Findings {
				if _, err := db.Decide(t.Context(), s.sc, triage.Decision{Finding: f.ID, Status: triage.Ignored,
					Comment: "known"}); err != nil {
					t.Error(err)
				}
			}
		}}
		if _, err := triage.New(next).Ingest(t.Context(), s.sc, s.start("feature"),
			opener(m.stream(t, []int{1, 2, 3}, nil))); err != nil {
			t.Fatal(err)
		}
		page, err = db.Findings(t.Context(), s.sc,
			triage.Query{Filter: triage.Filter{Branch: "feature", Statuses: []triage.Status{triage.Ignored}},
				Limit: 10})
		if err != nil || page.Total != 2 {
			t.Errorf("got %d ignored findings on the new branch, %v; want 2", page.Total, err)
		}
	})
}

package store_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// A findingStore is a store with one project in which scans are applied.
type findingStore struct {
	t     testing.TB
	db    *store.DB
	clock *storetest.Clock
	sc    tenant.Scope
	runs  int
}

func newFindingStore(t testing.TB, db *store.DB, clock *storetest.Clock) *findingStore {
	t.Helper()
	s := &findingStore{t: t, db: db, clock: clock}
	org := tenant.OrganizationID(tenant.NewID(storetest.Region, clock.Now()))
	s.exec("INSERT INTO organization (id, name, industry, country, created_at, updated_at) VALUES (?, 'Org', "+
		"'other', 'FR', 1, 1)", string(org))
	team := tenant.TeamID(tenant.NewID(storetest.Region, clock.Now()))
	s.exec("INSERT INTO team (id, organization_id, name, created_at, updated_at) VALUES (?, ?, 'Team', 1, 1)",
		string(team), string(org))
	s.sc = tenant.System(org, team, s.newProject(org, team))
	return s
}

func (s *findingStore) newProject(org tenant.OrganizationID, team tenant.TeamID) tenant.ProjectID {
	s.t.Helper()
	id := tenant.ProjectID(tenant.NewID(storetest.Region, s.clock.Now()))
	s.exec("INSERT INTO project (id, organization_id, team_id, name, settings, created_at, updated_at) VALUES (?, ?, "+
		"?, 'Project', ?, 1, 1)",
		string(id), string(org), string(team),
		`{"sastSeverities":["critical","high","medium","low"],"scaSeverities":["critical","high","medium","low"],
		"iacSeverities":["critical","high","medium","low"],"containerSeverities":["critical","high","medium","low"]}`)
	return id
}

func (s *findingStore) exec(query string, args ...any) {
	s.t.Helper()
	err := s.db.Tx(s.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(s.t.Context(), query, args...)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// start makes a run of the branch that is under way.
func (s *findingStore) start(branch string) *run.Run {
	s.t.Helper()
	s.runs++
	r := &run.Run{
		ID:             run.ID(tenant.NewID(storetest.Region, s.clock.Now())),
		OrganizationID: s.sc.Organization, TeamID: s.sc.Team, ProjectID: s.sc.Project,
		Branch: branch, Source: "cli", State: run.Running, Attempt: 1, CreatedAt: s.clock.Now(),
	}
	s.exec(`INSERT INTO run (id, organization_id, project_id, branch, source, private, analyses, initiator, state, upload_expires_at, attempt, step, created_at, updated_at)
		VALUES (?, ?, ?, ?, 'cli', FALSE, '[]', '', 'running', 0, 1, '', ?, ?)`,
		string(r.ID), string(r.OrganizationID), string(r.ProjectID), branch, s.clock.Now().UnixMilli(),
		s.clock.Now().UnixMilli())
	return r
}

// ingest applies a stream to the branch.
func (s *findingStore) ingest(branch string, stream []byte) run.Outcome {
	s.t.Helper()
	out, err := triage.New(s.db).Ingest(s.t.Context(), s.sc, s.start(branch), opener(stream))
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func opener(stream []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(stream)), nil }
}

// bigStream is the stream of a scan with n findings as code analysis reports
// them: a path of three steps with their lines, about 2.4 KB each.
func bigStream(tb testing.TB, n int) []byte {
	tb.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	must(h.Config(&scan.Config{Tool: "merlon", Analyses: []finding.Analysis{finding.SAST},
		Analyzers: []string{"sast/java"}}))
	for i := range 200 {
		must(h.Rule(bigRule(i)))
	}
	for i := range n {
		must(h.Finding(bigFinding(i)))
	}
	must(h.Status(&scan.Status{Analyzer: "sast/java", Analysis: finding.SAST, State: scan.Succeeded,
		Reasons: []scan.Reason{}}))
	return b.Bytes()
}

func bigRule(i int) *finding.Rule {
	return &finding.Rule{
		ID: fmt.Sprintf("sast/java/rule-%03d", i%200), Analysis: finding.SAST,
		Name:             fmt.Sprintf("Injection of kind %d", i%200),
		ShortDescription: "Untrusted data reaches an interpreter.", Description: strings.Repeat("Untrusted data "+
			"reaches an interpreter. ", 20),
		HowToPrevent: strings.Repeat("Bind values as parameters. ", 20), CWE: []string{"CWE-89"},
		OWASP:    []string{"A03:2021"},
		Severity: finding.Severities[i%4], Language: "java",
	}
}

// words makes text that does not repeat itself much: what a compressor meets in
// real code.
func words(seed, n int) string {
	vocabulary := strings.Fields("request response query user session token order item price count list map string " +
		"value index result config path file stream buffer handler service client server error message context " +
		"builder parser writer reader cache store entity record field")
	x := uint32(seed)*2654435761 + 12345
	var b strings.Builder
	for b.Len() < n {
		x = x*1664525 + 1013904223
		w := vocabulary[x>>16%uint32(len(vocabulary))]
		if b.Len() > 0 {
			b.WriteString([]string{".", " = ", "(", ", ", ") + "}[x>>24%5])
		}
		b.WriteString(w)
		if x>>28 < 4 {
			fmt.Fprintf(&b, "%d", x>>20)
		}
	}
	return b.String()[:n]
}

func bigFinding(i int) *finding.Finding {
	path := fmt.Sprintf("src/main/java/org/example/%s/service/Handler%04d.java",
		[]string{"billing", "catalog", "orders", "users"}[i%4], i/25)
	at := func(line int) finding.Location {
		return finding.Location{Path: path, StartLine: line, EndLine: line, StartColumn: 9, EndColumn: 52}
	}
	snippet := func(k, lines int) *finding.Snippet {
		s := &finding.Snippet{StartLine: i%900 + k}
		for j := range lines {
			s.Lines = append(s.Lines, "        "+words(i*31+k*7+j, 34+(i+j)%30)+";")
		}
		return s
	}
	line := i%25*40 + 3
	f := &finding.Finding{
		RuleID: fmt.Sprintf("sast/java/rule-%03d", i%200), Analyzer: "sast/java", Analysis: finding.SAST,
		Severity: finding.Severities[i%4],
		Message: "The value of " + words(i, 20) + " reaches a query without being escaped, so that a request can " +
			"change what the query does",
		Language: "java", Location: at(line), Snippet: snippet(0, 7),
		Steps: []finding.Step{
			{Kind: finding.Source, Message: "read from the request", Location: at(line - 2), Snippet: snippet(1, 3)},
			{Kind: finding.Intermediate, Message: "passed on", Location: at(line - 1), Snippet: snippet(2, 3)},
			{Kind: finding.Sink, Message: "used in a query", Location: at(line), Snippet: snippet(3, 3)},
		},
	}
	f.Fingerprint = finding.NewFingerprint(f.RuleID, path, words(i, 60)+fmt.Sprint(i), 0)
	return f
}

func TestIngestAndAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		const n = 2100 // more than a batch
		stream := bigStream(t, n)
		for _, step := range []struct {
			name, branch string
			stream       []byte
			want         run.Changes
		}{
			{"first", "main", stream, run.Changes{Found: n, New: n}},
			{"again", "main", stream, run.Changes{Found: n, Unchanged: n, Open: n}},
			{"another branch", "other", stream, run.Changes{Found: n, New: n}},
			{"fewer", "main", bigStream(t, n/3), run.Changes{Found: n / 3, Unchanged: n / 3, Resolved: n - n/3, Open: n,
				Suspicious: true}},
			{"all again", "main", stream, run.Changes{Found: n, Unchanged: n / 3, Reopened: n - n/3, Open: n / 3}},
		} {
			clock.Advance(time.Hour)
			if diff := cmp.Diff(step.want, s.ingest(step.branch, step.stream).Changes); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
	})
}

// TestRulesNotTried keeps findings open whose rules a scan could not try.
func TestRulesNotTried(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		s.ingest("main", bigStream(t, 60))
		var b bytes.Buffer
		h := scan.Encode(&b)
		status := &scan.Status{Analyzer: "sast/java", Analysis: finding.SAST, State: scan.Degraded,
			Reasons: []scan.Reason{
				{Code: "unavailable", Message: "not tried",
					Rules: []string{"sast/java/rule-001", "sast/java/rule-002"}},
				{Code: "unavailable", Message: "not tried", Rules: []string{"sast/java/rule-003"},
					Path: bigFinding(3).Location.Path},
				{Code: "unavailable", Message: "not tried", Rules: []string{"sast/java/rule-004"}, Path: "elsewhere"},
			}}
		for _, err := range []error{h.Config(&scan.Config{Tool: "merlon", Analyses: []finding.Analysis{finding.SAST},
			Analyzers: []string{"sast/java"}}), h.Status(status)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, want := s.ingest("main", b.Bytes()).Changes,
			(run.Changes{Resolved: 57, Open: 60, Suspicious: true}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

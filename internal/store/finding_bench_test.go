package store_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"merlon/internal/finding"
	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
	"merlon/internal/store/storetest"
	"merlon/internal/triage"
)

// cpu is the processor time that this process has used, in seconds. It is what to
// compare on a busy machine; the PostgreSQL server's share is not in it.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// benchStores runs a benchmark on each database.
func benchStores(b *testing.B, bench func(b *testing.B, s *findingStore)) {
	run := func(b *testing.B, clock *storetest.Clock, db *store.DB, err error) {
		if err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := db.Close(); err != nil {
				b.Error(err)
			}
		}()
		bench(b, newFindingStore(b, db, clock))
	}
	b.Run("sqlite", func(b *testing.B) {
		clock := storetest.NewClock()
		db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "merlon.db"),
			store.Options{Region: storetest.Region, Now: clock.Now})
		run(b, clock, db, err)
	})
	b.Run("postgres", func(b *testing.B) {
		clock := storetest.NewClock()
		db, err := postgres.Open(b.Context(), storetest.Postgres(b),
			store.Options{Region: storetest.Region, Now: clock.Now})
		run(b, clock, db, err)
	})
}

// bytesOnDisk is the size of the database in bytes.
func (s *findingStore) bytesOnDisk() int64 {
	s.t.Helper()
	query := "SELECT pg_database_size(current_database())"
	if s.db.Dialect.Name() == "sqlite" {
		query = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
	}
	var n int64
	if err := s.db.QueryRow(s.t.Context(), query).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// BenchmarkIngest applies a scan with 100,000 findings to a new branch, and again
// without changes. The floors are 10 s, 5 s and 3,000 bytes a finding.
func BenchmarkIngest(b *testing.B) {
	const n = 100_000
	stream := bigStream(b, n)
	benchStores(b, func(b *testing.B, s *findingStore) {
		s.t = b
		round := 0
		measure := func(b *testing.B, name string, do func()) {
			b.Run(name, func(b *testing.B) {
				before, disk := cpu(), s.bytesOnDisk()
				for b.Loop() {
					do()
				}
				b.ReportMetric((cpu()-before)/float64(b.N), "cpu-s/op")
				b.ReportMetric(float64(s.bytesOnDisk()-disk)/float64(b.N)/n, "bytes/finding")
			})
		}
		measure(b, "first", func() {
			round++
			if got := s.ingest(fmt.Sprint("branch", round), stream).Changes.New; got != n {
				b.Fatalf("got %d new findings, want %d", got, n)
			}
		})
		measure(b, "again", func() {
			if got := s.ingest("branch1", stream).Changes.Unchanged; got != n {
				b.Fatalf("got %d unchanged findings, want %d", got, n)
			}
		})
	})
}

// multiply copies the findings of the store's project to n further projects.
func (s *findingStore) multiply(n int) {
	s.t.Helper()
	newID := "gen_random_uuid()::text"
	if s.db.Dialect.Name() == "sqlite" {
		newID = "lower(hex(randomblob(16)))"
	}
	columns := `organization_id, branch, flaw, place, code, analysis, analyzer, rule_id, closed, severity, status, priority, pinned, score, gone,
		cvss, fixable, dependency, path, start_line, end_line, language, message, package, detail, sum, first_run, last_run, last_did,
		created_at, updated_at, resolved_at`
	for range n {
		id := s.newProject(s.sc.Organization, s.sc.Team)
		s.exec("INSERT INTO finding (id, project_id, "+columns+") SELECT "+newID+", CAST(? AS TEXT), "+columns+
			" FROM finding WHERE project_id = ?",
			string(id), string(s.sc.Project))
	}
	if s.db.Dialect.Name() == "sqlite" {
		s.exec("ANALYZE")
	} else if _, err := s.db.Write.ExecContext(s.t.Context(), "VACUUM ANALYZE finding"); err != nil {
		s.t.Fatal(err)
	}
}

// BenchmarkList reads pages of a project of 10,000 findings among a million.
func BenchmarkList(b *testing.B) {
	stream := bigStream(b, 10_000)
	benchStores(b, func(b *testing.B, s *findingStore) {
		s.t = b
		s.ingest("main", stream)
		s.multiply(99)
		base := triage.Filter{Analysis: finding.SAST}
		for name, q := range map[string]triage.Query{
			"first": {Filter: base, Limit: 100},
			"deep":  {Filter: base, Limit: 100, Offset: 9000},
			"filtered": {Filter: triage.Filter{Analysis: finding.SAST, Branch: "main",
				Severities: []finding.Severity{finding.High}, Statuses: []triage.Status{triage.ToVerify}}, Limit: 100},
			"updated": {Filter: base, Sort: triage.ByUpdated, Descending: true, Limit: 100},
			"search":  {Filter: triage.Filter{Analysis: finding.SAST, Search: "Handler0012"}, Limit: 100},
		} {
			b.Run(name, func(b *testing.B) {
				before := cpu()
				for b.Loop() {
					if page, err := s.db.Findings(b.Context(), s.sc, q); err != nil || len(page.Findings) == 0 {
						b.Fatalf("got %d findings, %v", len(page.Findings), err)
					}
				}
				b.ReportMetric((cpu()-before)*1000/float64(b.N), "cpu-ms/op")
			})
		}
		b.Run("groups", func(b *testing.B) {
			for b.Loop() {
				q := triage.GroupQuery{Filter: base, Sort: triage.ByOccurrences, Limit: 10, Occurrences: 100}
				if page, err := s.db.Groups(b.Context(), s.sc, q); err != nil || page.Total != 200 {
					b.Fatalf("got %d groups, %v", page.Total, err)
				}
			}
		})
	})
}

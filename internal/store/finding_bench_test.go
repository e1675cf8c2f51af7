package store_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
	"merlon/internal/store/storetest"
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
		db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "merlon.db"), store.Options{Region: storetest.Region, Now: clock.Now})
		run(b, clock, db, err)
	})
	b.Run("postgres", func(b *testing.B) {
		clock := storetest.NewClock()
		db, err := postgres.Open(b.Context(), storetest.Postgres(b), store.Options{Region: storetest.Region, Now: clock.Now})
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

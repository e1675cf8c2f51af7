package identity_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func b64(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }

// BenchmarkVerifyToken measures what a token exchange asks of this package: 64
// callers with 1,000 tokens, every use recorded. The floor for the whole exchange
// is 2,000/s on two idle cores.
func BenchmarkVerifyToken(b *testing.B) {
	o := store.Options{Region: storetest.Region, Now: time.Now}
	b.Run("sqlite", func(b *testing.B) {
		db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "merlon.db"), o)
		benchVerify(b, db, err)
	})
	b.Run("postgres", func(b *testing.B) {
		db, err := postgres.Open(b.Context(), storetest.Postgres(b), o)
		benchVerify(b, db, err)
	})
}

func benchVerify(b *testing.B, db *store.DB, err error) {
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }() // the database is thrown away
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	svc := identity.New(identity.Options{Store: db, Post: mail.Post{Box: box, Now: time.Now}, Region: storetest.Region})
	var values []string
	for i := range 10 {
		u, _, err := svc.Provision(b.Context(), fmt.Sprintf("u%d@example.com", i), identity.Names{FirstName: "U"})
		if err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			_, value, err := svc.CreateToken(b.Context(), tenant.Actor{UserID: u.ID},
				identity.NewToken{Owner: u.ID, Name: fmt.Sprint(j)})
			if err != nil {
				b.Fatal(err)
			}
			values = append(values, value)
		}
	}
	var n atomic.Int64
	b.SetParallelism(32) // times the number of processors
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := svc.VerifyToken(context.Background(), values[int(n.Add(1))%len(values)], here); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
}

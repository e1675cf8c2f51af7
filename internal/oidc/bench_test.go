package oidc_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
	"merlon/internal/store/storetest"
)

// BenchmarkTokenExchange exchanges personal access tokens over HTTP on the
// loopback interface, client and server in one process. Beside the wall clock it
// reports the processor time of one exchange, client included, which says more on
// a busy machine: 1e6 / cpu-µs × cores is what idle cores would give.
func BenchmarkTokenExchange(b *testing.B) {
	for name, open := range map[string]func() (*store.DB, error){
		"sqlite": func() (*store.DB, error) {
			return sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "merlon.db"),
				store.Options{Region: storetest.Region})
		},
		"postgres": func() (*store.DB, error) {
			return postgres.Open(b.Context(), storetest.Postgres(b), store.Options{Region: storetest.Region})
		},
	} {
		b.Run(name, func(b *testing.B) {
			slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
			db, err := open()
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }() // the database is dropped next
			w := newWorldAt(b, db, nil, "127.0.0.1")
			w.http.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
			w.exchange().want(b, 200, "")
			form := url.Values{
				"grant_type":    {"urn:ietf:params:oauth:grant-type:token-exchange"},
				"client_id":     {w.provider.ClientApps().CLI.AppID},
				"subject_token": {w.pat}, "subject_token_type": {"urn:merlon:token-type:personal_access_token"},
				"resource": {baseURL},
			}.Encode()
			b.SetParallelism(16)
			before := processorTime(b)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					exchangeOnce(b, w, form)
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

func exchangeOnce(b *testing.B, w *world, form string) {
	resp, err := w.http.Post(w.url+"/oidc/token", "application/x-www-form-urlencoded", strings.NewReader(form))
	if err != nil {
		b.Error(err)
		return
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if closeErr := resp.Body.Close(); err != nil || closeErr != nil || resp.StatusCode != http.StatusOK {
		b.Errorf("got %d, %v, %v", resp.StatusCode, err, closeErr)
	}
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAuthenticate checks an access token, as every request of the API does.
func BenchmarkAuthenticate(b *testing.B) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "merlon.db"),
		store.Options{Region: storetest.Region})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }() // the folder goes with it
	w := newWorldAt(b, db, nil, "127.0.0.1")
	token := w.exchange().member(b, "access_token")
	before := processorTime(b)
	for b.Loop() {
		if _, err := w.provider.Authenticate(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

package server

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/advisory/mirror"
	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/outbound"
)

// TestKeepAdvisories has a server follow a feed: once at its start, and not again
// before the interval has passed.
func TestKeepAdvisories(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w,
			"#model_version:v1,score_date:2026-11-19T00:00:00+0000\ncve,epss,percentile\nCVE-2020-1111,0.1,0.2\n")
	}))
	t.Cleanup(site.Close)
	c := config.Server{Store: config.Store{Data: t.TempDir(), Region: "test"}}
	c.AdvisoriesEPSS, c.AdvisoriesInterval = site.URL+"/epss.csv", time.Hour
	c.OutboundAllow = []string{"127.0.0.1"}
	db, err := OpenStore(t.Context(), c.Store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	client, err := Outbound(c.Outbound, nil)
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Client: client}
	log := &watched{want: "updated the vulnerability data", seen: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { keepAdvisories(ctx, db, c, counted, slog.New(slog.NewTextHandler(log, nil))) })
	select {
	case <-log.seen:
	case <-time.After(time.Minute):
		t.Fatal("the server did not update")
	}
	stop()
	running.Wait()
	latest, err := db.LatestAdvisories(t.Context())
	if err != nil || latest.EPSS == nil || latest.Mirror == nil {
		t.Fatalf("got %+v, %v", latest, err)
	}
	if wait, err := untilUpdate(t.Context(), db, time.Hour); err != nil || wait < 50*time.Minute || counted.n != 1 {
		t.Errorf("asked %d times, again in %s, %v", counted.n, wait, err)
	}
	// Asked by hand: there is nothing new, and that is remembered.
	before := latest.Mirror.Checked
	update, err := UpdateAdvisories(t.Context(), db, c.Advisories, client)
	if err != nil || update.Report != nil {
		t.Errorf("got %+v, %v", update, err)
	}
	if latest, err = db.LatestAdvisories(t.Context()); err != nil || latest.Mirror.Checked.Before(before) ||
		latest.EPSS == nil {
		t.Errorf("got %+v, %v", latest, err)
	}
	if err := db.DescribeAdvisories(t.Context(), latest); err != nil {
		t.Error(err)
	}
	latest.ID = "other"
	if err := db.DescribeAdvisories(t.Context(), latest); !errs.Is(err, errs.NotFound) {
		t.Errorf("an old snapshot: %v", err)
	}
}

// counting counts requests.
type counting struct {
	mirror.Client
	n int
}

func (c *counting) Do(req *http.Request, l outbound.Limits) (*http.Response, error) {
	c.n++
	return c.Client.Do(req, l)
}

// watched is a log that tells when a text was written.
type watched struct {
	mu   sync.Mutex
	b    bytes.Buffer
	want string
	seen chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.b.String(), w.want)
	n, err := w.b.Write(p)
	if !before && strings.Contains(w.b.String(), w.want) {
		close(w.seen)
	}
	return n, err
}

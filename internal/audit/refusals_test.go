package audit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/audit"
	"merlon/internal/tenant"
)

func TestRefusalsAreFolded(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	var got []audit.Event
	r := audit.NewRefusals(func(_ context.Context, events []audit.Event) error { got = append(got, events...); return nil },
		func() time.Time { return now })
	eve := tenant.Actor{UserID: "eve", IP: "192.0.2.1", ClientID: "cli"}
	r.Add("o", eve, "deleteTeam", 403)
	now = now.Add(30 * time.Second)
	r.Add("o", eve, "deleteTeam", 403)
	r.Add("", tenant.Actor{IP: "192.0.2.1"}, "getProfile", 401)
	if err := r.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []audit.Event{
		{Chain: "o", Actor: "eve", Client: "cli", IP: "192.0.2.1", Action: "request.refuse", TargetKind: "operation", Target: "deleteTeam",
			Detail: map[string]any{"status": 403, "count": int64(2), "first": "2026-11-20T09:00:00.000Z", "last": "2026-11-20T09:00:30.000Z"}},
		{IP: "192.0.2.1", Action: "request.refuse", TargetKind: "operation", Target: "getProfile",
			Detail: map[string]any{"status": 401, "count": int64(1), "first": "2026-11-20T09:00:30.000Z", "last": "2026-11-20T09:00:30.000Z"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = nil
	if err := r.Write(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("written again: %v, %v", got, err)
	}
}

// TestRefusalsAreBounded lets many addresses be refused: the log grows by a few
// records, which count all of them, and strangers leave room for known callers.
func TestRefusalsAreBounded(t *testing.T) {
	var got []audit.Event
	r := audit.NewRefusals(func(_ context.Context, events []audit.Event) error { got = events; return nil }, time.Now)
	const strangers = 10_000
	for i := range strangers {
		r.Add("", tenant.Actor{IP: fmt.Sprint("2001:db8::", i)}, "getProfile", 401)
	}
	r.Add("o", tenant.Actor{UserID: "ada"}, "deleteTeam", 403)
	if err := r.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n int64
	known := false
	for _, e := range got {
		n += e.Detail["count"].(int64)
		known = known || e.Actor == "ada"
	}
	if len(got) > 25 || n != strangers+1 || !known {
		t.Errorf("%d records of %d refusals, the known caller is among them: %v", len(got), n, known)
	}
}

func TestRefusalsAreWrittenAtTheEnd(t *testing.T) {
	failed := errors.New("no database")
	r := audit.NewRefusals(func(context.Context, []audit.Event) error { return failed }, time.Now)
	r.Add("", tenant.Actor{}, "getProfile", 401)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var reported error
	r.Run(ctx, func(err error) { reported = err })
	if !errors.Is(reported, failed) {
		t.Errorf("reported %v", reported)
	}
}

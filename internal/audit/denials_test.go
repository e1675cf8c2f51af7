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

// log is a DenialStore: teams of organizations are there, and their members are known.
type log struct {
	got    []audit.Event
	failed error
	teams  map[tenant.TeamID]tenant.OrganizationID
	member map[tenant.UserID]tenant.OrganizationID
}

func (l *log) AppendAudit(_ context.Context, events []audit.Event) error {
	l.got = append(l.got, events...)
	return l.failed
}

func (l *log) HiddenChain(_ context.Context, user tenant.UserID,
	target tenant.Target) (tenant.OrganizationID, bool, error) {
	org, there := l.teams[target.Team]
	if l.member[user] != org {
		org = ""
	}
	return org, there, l.failed
}

func TestRefusalsAreFolded(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	var l log
	r := audit.NewAccessDenials(&l, func() time.Time { return now })
	eve := tenant.Actor{UserID: "eve", IP: "192.0.2.1", ClientID: "cli"}
	r.Add("o", eve, "deleteTeam", 403)
	now = now.Add(30 * time.Second)
	r.Add("o", eve, "deleteTeam", 403)
	r.Add("", tenant.Actor{IP: "192.0.2.1"}, "getProfile", 401)
	if err := r.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []audit.Event{
		{Chain: "o", Actor: "eve", Client: "cli", IP: "192.0.2.1", Action: "request.refuse", TargetKind: "operation",
			Target: "deleteTeam",
			Detail: map[string]any{"status": 403, "count": int64(2), "first": "2026-11-20T09:00:00.000Z",
				"last": "2026-11-20T09:00:30.000Z"}},
		{IP: "192.0.2.1", Action: "request.refuse", TargetKind: "operation", Target: "getProfile",
			Detail: map[string]any{"status": 401, "count": int64(1), "first": "2026-11-20T09:00:30.000Z",
				"last": "2026-11-20T09:00:30.000Z"}},
	}
	if diff := cmp.Diff(want, l.got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.got = nil
	if err := r.Write(t.Context()); err != nil || len(l.got) != 0 {
		t.Errorf("written again: %v, %v", l.got, err)
	}
}

// TestRefusalsAreBounded lets many addresses be refused: the log grows by a few
// records, which count all of them, and strangers leave room for known callers.
func TestRefusalsAreBounded(t *testing.T) {
	var l log
	r := audit.NewAccessDenials(&l, time.Now)
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
	for _, e := range l.got {
		n += e.Detail["count"].(int64)
		known = known || e.Actor == "ada"
	}
	if len(l.got) > 25 || n != strangers+1 || !known {
		t.Errorf("%d records of %d refusals, the known caller is among them: %v", len(l.got), n, known)
	}
}

func TestRefusalsAreWrittenAtTheEnd(t *testing.T) {
	failed := errors.New("no database")
	r := audit.NewAccessDenials(&log{failed: failed}, time.Now)
	r.Add("", tenant.Actor{}, "getProfile", 401)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var reported error
	r.Run(ctx, func(err error) { reported = err })
	if !errors.Is(reported, failed) {
		t.Errorf("reported %v", reported)
	}
}

// TestMissedReads writes the reads of what is there and hidden, and no others.
func TestMissedReads(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	l := log{teams: map[tenant.TeamID]tenant.OrganizationID{"red": "o", "blue": "o"},
		member: map[tenant.UserID]tenant.OrganizationID{"ada": "o"}}
	r := audit.NewAccessDenials(&l, func() time.Time { now = now.Add(time.Second); return now })
	ada, eve := tenant.Actor{UserID: "ada", IP: "192.0.2.1"}, tenant.Actor{UserID: "eve", IP: "192.0.2.2"}
	for _, team := range []tenant.TeamID{"red", "none", "blue", "red"} {
		r.AddNotFound(eve, "getTeam", tenant.Target{Team: team})
	}
	r.AddNotFound(ada, "getTeam", tenant.Target{Team: "red"})
	r.AddNotFound(ada, "getTeam", tenant.Target{Team: "none"})
	if err := r.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	detail := func(n int64, first, last string) map[string]any {
		return map[string]any{"status": 404, "count": n, "first": "2026-11-20T09:00:" + first + ".000Z",
			"last": "2026-11-20T09:00:" + last + ".000Z"}
	}
	want := []audit.Event{
		{Actor: "eve", IP: "192.0.2.2", Action: "request.refuse", TargetKind: "operation", Target: "getTeam",
			Detail: detail(3, "01", "04")},
		{Chain: "o", Actor: "ada", IP: "192.0.2.1", Action: "request.refuse", TargetKind: "operation",
			Target: "getTeam", Detail: detail(1, "05", "05")},
	}
	if diff := cmp.Diff(want, l.got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMissedReadsAreBounded asks for very many targets: none of them is there, and
// whoever hides one attempt among them leaves a record of that.
func TestMissedReadsAreBounded(t *testing.T) {
	var l log
	r := audit.NewAccessDenials(&l, time.Now)
	for i := range 10_000 {
		r.AddNotFound(tenant.Actor{UserID: "eve"}, "getTeam", tenant.Target{Team: tenant.TeamID(fmt.Sprint(i))})
	}
	if err := r.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(l.got) != 1 || l.got[0].Target != "others" || l.got[0].Detail["count"] != int64(9_000) {
		t.Errorf("got %v, want one record of 9,000 others", l.got)
	}
}

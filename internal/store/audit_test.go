package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/audit"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func TestAuditChainsStayWholeUnderConcurrency(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		const writers, rounds = 8, 10
		var wg sync.WaitGroup
		for w := range writers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range rounds {
					err := db.AppendAudit(t.Context(), []audit.Event{
						{Chain: "b", Action: "test.b", Target: fmt.Sprint(w, i)},
						{Action: "test.deployment"},
						{Chain: "a", Action: "test.a"},
					})
					if err != nil {
						t.Error(err)
					}
				}
			}()
		}
		wg.Wait()
		v, err := db.VerifyAudit(t.Context())
		if err != nil || v.Records != 3*writers*rounds {
			t.Errorf("got %+v and %v, want %d records and no error", v, err, 3*writers*rounds)
		}
	})
}

func TestAuditLog(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		for i, e := range []audit.Event{
			{Action: "team.create", Actor: "u1"}, {Action: "team.delete", Actor: "u2"},
			{Action: "teams.other", Actor: "u1"}, {Action: "project.create", Actor: "u1"},
		} {
			e.Chain, e.Target = "o1", fmt.Sprint(i+1)
			if err := db.AppendAudit(t.Context(), []audit.Event{e, {Chain: "o2", Action: "team.create"}}); err != nil {
				t.Fatal(err)
			}
			clock.Advance(time.Minute)
		}
		tests := []struct {
			name string
			q    audit.Query
			want string
		}{
			{"all", audit.Query{}, "4 3 2 1"},
			{"page", audit.Query{Before: 4, Limit: 2}, "3 2"},
			{"actor", audit.Query{Actor: "u1"}, "4 3 1"},
			{"action", audit.Query{Action: "team.create"}, "1"},
			{"actions", audit.Query{Action: "team."}, "2 1"},
			{"time", audit.Query{From: storetest.Start.Add(time.Minute), To: storetest.Start.Add(3 * time.Minute)},
				"3 2"},
		}
		for _, tt := range tests {
			if tt.q.Limit == 0 {
				tt.q.Limit = 10
			}
			records, err := db.AuditLog(t.Context(), tenant.Scope{Organization: "o1"}, tt.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range records {
				got = append(got, r.Target)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		if records, err := db.AuditLog(t.Context(), tenant.Scope{}, audit.Query{Limit: 10}); err != nil ||
			len(records) != 0 {
			t.Errorf("the zero scope saw %d records, %v", len(records), err)
		}
	})
}

func TestVerifyAuditFindsWhatWasDone(t *testing.T) {
	tests := []struct{ name, statement, want string }{
		{"changed", "UPDATE audit_event SET actor = 'x' WHERE seq = 2", "record 2 was changed"},
		{"removed in the middle", "DELETE FROM audit_event WHERE seq = 2", "record 3 follows record 1"},
		{"removed at the end", "DELETE FROM audit_event WHERE seq = 3", "ends at record 2, it had 3 records"},
		{"all removed", "DELETE FROM audit_event", "ends at record 0, it had 3 records"},
		{"end removed", "DELETE FROM audit_head", "has records but no end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
				if err := db.AppendAudit(t.Context(),
					[]audit.Event{{Chain: "o", Action: "a"}, {Chain: "o", Action: "b"},
						{Chain: "o", Action: "c"}}); err != nil {
					t.Fatal(err)
				}
				err := db.Tx(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Exec(t.Context(), tt.statement)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := db.VerifyAudit(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want an error with %q", err, tt.want)
				}
			})
		})
	}
}

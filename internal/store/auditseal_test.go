package store_test

import (
	"strings"
	"testing"
	"time"

	"merlon/internal/audit"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// exec runs one statement, as somebody with access to the database does.
func exec(t *testing.T, db *store.DB, statement string, args ...any) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), statement, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rewrite replaces the actor in every record of a chain and makes all hashes and
// the end fit, which needs no key.
func rewrite(t *testing.T, db *store.DB, chain tenant.OrganizationID) {
	t.Helper()
	var records []audit.Record
	if err := db.ExportAudit(t.Context(), chain, 0, func(r audit.Record) error {
		records = append(records, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	previous := ""
	for _, r := range records {
		r.Actor, r.Previous = "somebody else", previous
		r.Hash = r.Sum()
		previous = r.Hash
		exec(t, db, "UPDATE audit_event SET actor = ?, previous = ?, hash = ? WHERE chain = ? AND seq = ?", r.Actor,
			r.Previous, r.Hash, r.Chain, r.Seq)
	}
	exec(t, db, "UPDATE audit_head SET hash = ? WHERE chain = ?", previous, string(chain))
}

// TestSealedAuditCannotBeRewritten does to the tables what somebody without the key
// can do: all is found, also after the service has gone on writing.
func TestSealedAuditCannotBeRewritten(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, db *store.DB)
		want string // part of the error; empty for none
	}{
		{"nothing", func(*testing.T, *store.DB) {}, ""},
		{"rewritten", func(t *testing.T, db *store.DB) { rewrite(t, db, "o") }, "does not contain record 3 as it " +
			"was sealed"},
		{"deployment's chain rewritten", func(t *testing.T, db *store.DB) { rewrite(t, db, "") }, "as it was sealed"},
		{"rewritten, seal removed", func(t *testing.T, db *store.DB) {
			rewrite(t, db, "o")
			exec(t, db, "UPDATE audit_head SET seal_seq = 0, seal_hash = '', seal = ''")
		}, "not sealed"},
		{"rewritten, seal for the new end", func(t *testing.T, db *store.DB) {
			rewrite(t, db, "o")
			exec(t, db, "UPDATE audit_head SET seal_seq = seq, seal_hash = hash, seal = ?", strings.Repeat("0", 64))
		}, "not made with this deployment's key"},
		{"chain removed", func(t *testing.T, db *store.DB) {
			exec(t, db, "DELETE FROM audit_event WHERE chain = 'o'")
			exec(t, db, "UPDATE audit_head SET seq = 0, hash = '' WHERE chain = 'o'")
		}, "was sealed"},
		{"deployment's chain removed", func(t *testing.T, db *store.DB) {
			exec(t, db, "DELETE FROM audit_event WHERE chain = ''")
			exec(t, db, "DELETE FROM audit_head WHERE chain = ''")
		}, "chain of the deployment"},
		{"anchor changed", func(t *testing.T, db *store.DB) {
			exec(t, db, "UPDATE deployment SET value = '1 x y' WHERE name = 'audit-anchor'")
		}, "anchor"},
	}
	for _, tt := range tests {
		for _, goesOn := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
					db.AuditKey = []byte("0123456789abcdef0123456789abcdef")
					append3 := func() {
						t.Helper()
						events := []audit.Event{{Chain: "o", Action: "a"}, {Chain: "o", Action: "b"},
							{Chain: "o", Action: "c"}, {Action: "d"}}
						if err := db.AppendAudit(t.Context(), events); err != nil {
							t.Fatal(err)
						}
					}
					if _, err := db.SealAudit(t.Context()); err != nil {
						t.Fatal(err)
					}
					append3()
					tt.do(t, db)
					if goesOn {
						clock.Advance(time.Minute)
						append3()
					}
					v, err := db.VerifyAudit(t.Context())
					if tt.want == "" && (err != nil || !v.Sealed || v.Unsealed != 0) {
						t.Errorf("got %+v, %v", v, err)
					}
					if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) && !goesOn ||
						tt.want != "" && err == nil {
						t.Errorf("got %+v, %v, want an error with %q", v, err, tt.want)
					}
				})
			})
		}
	}
}

// TestSealFollowsProcessesWithoutTheKey lets a worker without the master key write:
// its records are counted as unsealed until a process with the key goes on, and
// what the worker wrote must continue what was sealed.
func TestSealFollowsProcessesWithoutTheKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		key := []byte("0123456789abcdef0123456789abcdef")
		write := func(with []byte) {
			t.Helper()
			db.AuditKey = with
			if err := db.AppendAudit(t.Context(),
				[]audit.Event{{Chain: "o", Action: "a"}, {Chain: "o", Action: "b"}}); err != nil {
				t.Fatal(err)
			}
			db.AuditKey = key
		}
		unsealed := func(want int64) {
			t.Helper()
			v, err := db.VerifyAudit(t.Context())
			if err != nil || !v.Sealed || v.Unsealed != want {
				t.Errorf("got %+v, %v, want %d unsealed records", v, err, want)
			}
		}
		write(nil) // before sealing began
		if _, err := db.SealAudit(t.Context()); err != nil {
			t.Fatal(err)
		}
		unsealed(0)
		write(nil)
		unsealed(2)
		write(key)
		unsealed(0)
		db.AuditKey = nil
		if v, err := db.VerifyAudit(t.Context()); err != nil || v.Sealed {
			t.Errorf("without the key: %+v, %v", v, err)
		}
	})
}

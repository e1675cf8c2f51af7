package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/store"
)

// TestServerKnowsWhereSealingBegan removes every seal from the database and rewrites
// the log, as somebody without the master key can: verification reports it, and a
// server does not seal it anew.
func TestServerKnowsWhereSealingBegan(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test"}
	b := Bootstrap{Email: "ada@example.org", Organization: "Org", Team: "Team", Project: "Project"}
	if _, err := b.Run(t.Context(), c); err != nil { // before the first server: not sealed yet
		t.Fatal(err)
	}
	if v, err := VerifyAudit(t.Context(), c); err != nil || v.Sealed || v.Records == 0 {
		t.Fatalf("before the first server: %+v, %v", v, err)
	}
	start := func() error {
		d, err := openDeployment(t.Context(), c)
		if err == nil {
			d.closeAll(slog.New(slog.DiscardHandler))
		}
		return err
	}
	for range 2 {
		if err := start(); err != nil {
			t.Fatal(err)
		}
	}
	b.Email = "bob@example.org"
	if _, err := b.Run(t.Context(), c); err != nil { // the command seals what it writes
		t.Fatal(err)
	}
	if v, err := VerifyAudit(t.Context(), c); err != nil || !v.Sealed || v.Unsealed != 0 {
		t.Errorf("sealed: %+v, %v", v, err)
	}
	if info, err := os.Stat(c.Path(anchorFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the anchor: %v, %v", info, err)
	}

	db, err := OpenStore(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Tx(t.Context(), func(tx *store.Tx) error {
		for _, statement := range []string{
			"DELETE FROM deployment WHERE name = 'audit-anchor'",
			"DELETE FROM audit_event WHERE chain <> ''", "DELETE FROM audit_head WHERE chain <> ''",
			"UPDATE audit_head SET seal_seq = 0, seal_hash = '', seal = ''",
		} {
			if _, err := tx.Exec(t.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyAudit(t.Context(), c); err == nil || !strings.Contains(err.Error(), "rewritten or replaced") {
		t.Errorf("verify: %v", err)
	}
	if err := start(); !errs.Is(err, errs.Invalid) {
		t.Errorf("start: %v, want an invalid error", err)
	}
}

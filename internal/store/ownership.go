package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/target/ownership"
	"merlon/internal/tenant"
)

// This file keeps who has shown that a host is theirs.

// Proofs returns the proofs of the scope's organization for the subjects.
func (db *DB) Proofs(ctx context.Context, sc tenant.Scope, subjects []string) ([]ownership.Proof, error) {
	in, arg := db.Dialect.In("subject", subjects)
	rows, err := db.Query(ctx, "SELECT subject, method, first_at, checked_at FROM ownership WHERE organization_id = ? AND "+in+
		" ORDER BY checked_at DESC, subject, method", sc.Organization, arg)
	return collect(rows, err, func(rows *sql.Rows) (p ownership.Proof, err error) {
		var first, checked int64
		err = rows.Scan(&p.Subject, &p.Method, &first, &checked)
		p.First, p.Checked = fromMillis(first), fromMillis(checked)
		return p, err
	})
}

// SaveProof records that the organization's token was seen now. A person's proof, which
// needs project.update, is an entry of the audit log; that a scan saw it again is none.
func (db *DB) SaveProof(ctx context.Context, sc tenant.Scope, p ownership.Proof) (ownership.Proof, error) {
	err := db.Tx(ctx, func(tx *Tx) error {
		sc, err := tx.admit(ctx, sc, tenant.ProjectUpdate)
		if err != nil {
			return err
		}
		var first int64
		err = tx.QueryRow(ctx, "SELECT first_at FROM ownership WHERE organization_id = ? AND subject = ? AND method = ?"+tx.db.Dialect.ForUpdate(),
			sc.Organization, p.Subject, string(p.Method)).Scan(&first)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err != nil {
			first = millis(tx.Now)
		}
		p.First, p.Checked = fromMillis(first), tx.Now
		_, err = tx.Exec(ctx, `INSERT INTO ownership (organization_id, subject, method, first_at, checked_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (organization_id, subject, method) DO UPDATE SET checked_at = excluded.checked_at`,
			sc.Organization, p.Subject, string(p.Method), first, millis(tx.Now))
		if err != nil {
			return fmt.Errorf("write a proof: %w", err)
		}
		if sc.Actor.UserID == "" {
			return nil
		}
		return tx.audit(ctx, ownershipEvent(sc, "verify", p))
	})
	return p, err
}

// DropProof removes a proof whose token is not there any more.
func (db *DB) DropProof(ctx context.Context, sc tenant.Scope, p ownership.Proof) error {
	return db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM ownership WHERE organization_id = ? AND subject = ? AND method = ?", sc.Organization, p.Subject, string(p.Method))
		if err != nil {
			return fmt.Errorf("delete a proof: %w", err)
		}
		if n == 0 {
			return nil
		}
		return tx.audit(ctx, ownershipEvent(sc, "lose", p))
	})
}

func ownershipEvent(sc tenant.Scope, verb string, p ownership.Proof) audit.Event {
	return audit.Event{Chain: sc.Organization, Action: "ownership." + verb, TargetKind: "host", Target: p.Subject,
		Detail: map[string]any{"method": p.Method, "project": sc.Project}}.By(sc.Actor)
}

// RecordListed records that entries of the administrator's list let a scan of the
// scope's project attack the host.
func (db *DB) RecordListed(ctx context.Context, sc tenant.Scope, host string, entries []string) error {
	if sc.Organization == "" {
		return errs.E(errs.NotFound, "organization not found")
	}
	return db.Tx(ctx, func(tx *Tx) error {
		return tx.audit(ctx, audit.Event{Chain: sc.Organization, Action: "dast_allow.use", TargetKind: "host", Target: host,
			Detail: map[string]any{"entries": entries, "project": sc.Project}}.By(sc.Actor))
	})
}

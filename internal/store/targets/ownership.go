package targets

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/livetarget/ownership"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// This file keeps who has shown that a host is theirs.

// Proofs returns the proofs of the scope's organization for the subjects.
func (db *Store) Proofs(ctx context.Context, sc tenant.Scope, subjects []string) ([]ownership.Proof, error) {
	in, arg := db.Dialect.In("subject", subjects)
	rows, err := db.Query(ctx, "SELECT subject, method, first_at, checked_at FROM ownership WHERE organization_id "+
		"= ? AND "+in+
		" ORDER BY checked_at DESC, subject, method", sc.Organization, arg)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (p ownership.Proof, err error) {
		var first, checked int64
		err = rows.Scan(&p.Subject, &p.Method, &first, &checked)
		p.First, p.Checked = sqldb.FromMillis(first), sqldb.FromMillis(checked)
		return p, err
	})
}

// SaveProof records that the organization's token was seen now. A person's proof, which
// needs project.update, is an entry of the audit log; that a scan saw it again is none.
func (db *Store) SaveProof(ctx context.Context, sc tenant.Scope, p ownership.Proof) (ownership.Proof, error) {
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectUpdate)
		if err != nil {
			return err
		}
		var first int64
		err = tx.QueryRow(ctx, "SELECT first_at FROM ownership WHERE organization_id = ? AND subject = ? AND "+
			"method = ?"+tx.DB.Dialect.ForUpdate(),
			sc.Organization, p.Subject, string(p.Method)).Scan(&first)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err != nil {
			first = sqldb.Millis(tx.Now)
		}
		p.First, p.Checked = sqldb.FromMillis(first), tx.Now
		_, err = tx.Exec(ctx, `INSERT INTO ownership (organization_id, subject, method, first_at, checked_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (organization_id, subject, method) DO UPDATE SET checked_at = excluded.checked_at`,
			sc.Organization, p.Subject, string(p.Method), first, sqldb.Millis(tx.Now))
		if err != nil {
			return fmt.Errorf("write a proof: %w", err)
		}
		if sc.Actor.UserID == "" {
			return nil
		}
		return auditlog.Append(ctx, tx, ownershipEvent(sc, "verify", p))
	})
	return p, err
}

// DeleteProof removes a proof whose token is not there any more.
func (db *Store) DeleteProof(ctx context.Context, sc tenant.Scope, p ownership.Proof) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM ownership WHERE organization_id = ? AND subject = ? AND "+
			"method = ?", sc.Organization, p.Subject, string(p.Method))
		if err != nil {
			return fmt.Errorf("delete a proof: %w", err)
		}
		if n == 0 {
			return nil
		}
		return auditlog.Append(ctx, tx, ownershipEvent(sc, "lose", p))
	})
}

func ownershipEvent(sc tenant.Scope, verb string, p ownership.Proof) audit.Event {
	return audit.Event{Chain: sc.Organization, Action: "ownership." + verb, TargetKind: "host", Target: p.Subject,
		Detail: map[string]any{"method": p.Method, "project": sc.Project}}.By(sc.Actor)
}

// RecordListed records that entries of the administrator's list let a scan of the
// scope's project attack the host.
func (db *Store) RecordListed(ctx context.Context, sc tenant.Scope, host string, entries []string) error {
	if sc.Organization == "" {
		return errs.E(errs.NotFound, "organization not found")
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		return auditlog.Append(ctx, tx, audit.Event{Chain: sc.Organization, Action: "dast_allow.use",
			TargetKind: "host",
			Target:     host,
			Detail:     map[string]any{"entries": entries, "project": sc.Project}}.By(sc.Actor))
	})
}

// HostAddresses returns the addresses of the host that were recorded for the scope's
// organization; none when it was never seen.
func (db *Store) HostAddresses(ctx context.Context, sc tenant.Scope, host string) ([]netip.Addr, error) {
	var text string
	err := db.QueryRow(ctx, "SELECT addresses FROM host_address WHERE organization_id = ? AND "+
		"host = ?", sc.Organization, host).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Classify(fmt.Errorf("read the addresses of a host: %w", err))
	}
	var out []netip.Addr
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("addresses of %s: %w", host, err)
	}
	return out, nil
}

// SaveHostAddresses records the addresses of the host. It needs project.update.
func (db *Store) SaveHostAddresses(ctx context.Context, sc tenant.Scope, host string, seen []netip.Addr) error {
	text, err := json.Marshal(seen)
	if err != nil {
		return fmt.Errorf("encode addresses: %w", err)
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectUpdate)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO host_address (organization_id, host, addresses, seen_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (organization_id, host) DO UPDATE SET addresses = excluded.addresses, seen_at = excluded.seen_at`,
			sc.Organization, host, string(text), sqldb.Millis(tx.Now))
		if err != nil {
			return fmt.Errorf("write the addresses of a host: %w", err)
		}
		return nil
	})
}

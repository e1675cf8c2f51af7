package auditlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"merlon/internal/audit"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// Append writes records of what the transaction changes. It locks the ends of
// their chains until the transaction ends, so it is called last: everybody else
// who changes something in the same organization waits from here on.
func Append(ctx context.Context, tx *sqldb.Tx, events ...audit.Event) error {
	// A fixed order keeps two transactions on two chains from waiting for each
	// other.
	slices.SortStableFunc(events, func(a, b audit.Event) int {
		return strings.Compare(string(a.Chain), string(b.Chain))
	})
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].Chain == events[0].Chain {
			n++
		}
		if err := appendChain(ctx, tx, events[:n]); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// appendChain appends events of one chain.
func appendChain(ctx context.Context, tx *sqldb.Tx, events []audit.Event) error {
	chain := string(events[0].Chain)
	if _, err := tx.Exec(ctx, "INSERT INTO audit_head (chain, seq, hash) VALUES (?, 0, '') ON CONFLICT (chain) DO "+
		"NOTHING", chain); err != nil {
		return fmt.Errorf("begin audit chain: %w", err)
	}
	var head audit.Head
	var seal audit.Seal
	err := tx.QueryRow(ctx, "SELECT seq, hash, seal_seq, seal_hash, seal FROM audit_head WHERE "+
		"chain = ?"+tx.DB.Dialect.ForUpdate(), chain).
		Scan(&head.Seq, &head.Hash, &seal.Seq, &seal.Hash, &seal.MAC)
	if err != nil {
		return fmt.Errorf("read audit head: %w", err)
	}
	before := head
	for _, e := range events {
		// Events that were collected earlier, such as denied requests, bring their own time.
		if e.At.IsZero() {
			e.At = tx.Now
		}
		r, err := audit.Append(head, e)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO audit_event
			(chain, seq, at, actor, client, ip, action, target_kind, target, detail, previous, hash)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.Chain, r.Seq, sqldb.Millis(e.At), r.Actor, r.Client, r.IP, r.Action, r.TargetKind, r.Target, r.Detail,
			r.Previous, r.Hash); err != nil {
			return fmt.Errorf("write audit record: %w", err)
		}
		head = r.Head()
	}
	if seal, err = sealChain(ctx, tx, seal, growth{events[0].Chain, before, head}); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE audit_head SET seq = ?, hash = ?, seal_seq = ?, seal_hash = ?, seal = ? WHERE "+
		"chain = ?",
		head.Seq, head.Hash, seal.Seq, seal.Hash, seal.MAC, chain); err != nil {
		return fmt.Errorf("write audit head: %w", err)
	}
	return nil
}

// AppendAudit writes records of what changed no row, such as a refused sign-in,
// many at once: an event without a time is given that of the transaction.
func (db *Store) AppendAudit(ctx context.Context, events []audit.Event) error {
	if len(events) == 0 {
		return nil
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error { return Append(ctx, tx, slices.Clone(events)...) })
}

// auditColumns are the columns of a record, in the order of scanAudit.
const auditColumns = "chain, seq, at, actor, client, ip, action, target_kind, target, detail, previous, hash"

// scanAudit reads a record. The time is formatted as it was hashed.
func scanAudit(rows *sql.Rows) (audit.Record, error) {
	var r audit.Record
	var at int64
	err := rows.Scan(&r.Chain, &r.Seq, &at, &r.Actor, &r.Client, &r.IP, &r.Action, &r.TargetKind, &r.Target, &r.Detail,
		&r.Previous, &r.Hash)
	r.At = time.UnixMilli(at).UTC().Format(audit.TimeFormat)
	return r, err
}

// AuditLog returns records of the scope's organization, newest first.
func (db *Store) AuditLog(ctx context.Context, sc tenant.Scope, q audit.Query) ([]audit.Record, error) {
	if sc.Organization == "" {
		return []audit.Record{}, nil // the deployment's own chain is nobody's
	}
	where, args := []string{"chain = ?"}, []any{string(sc.Organization)}
	and := func(cond string, arg any) {
		where, args = append(where, cond), append(args, arg)
	}
	if q.Actor != "" {
		and("actor = ?", string(q.Actor))
	}
	switch {
	case strings.HasSuffix(q.Action, "."): // "." + 1 = "/"
		and("action >= ?", q.Action)
		and("action < ?", strings.TrimSuffix(q.Action, ".")+"/")
	case q.Action != "":
		and("action = ?", q.Action)
	}
	if !q.From.IsZero() {
		and("at >= ?", sqldb.Millis(q.From))
	}
	if !q.To.IsZero() {
		and("at < ?", sqldb.Millis(q.To))
	}
	if q.Before > 0 {
		and("seq < ?", q.Before)
	}
	rows, err := db.Query(ctx, "SELECT "+auditColumns+" FROM audit_event WHERE "+strings.Join(where, " AND ")+
		" ORDER BY seq DESC LIMIT ?", append(args, q.Limit)...)
	return sqldb.Collect(rows, err, scanAudit)
}

// auditBatch is how many records an export or a check reads at a time.
const auditBatch = 500

// ExportAudit calls each for the records of a chain behind number after, oldest
// first. It holds no transaction: records that are added meanwhile may follow.
func (db *Store) ExportAudit(ctx context.Context, chain tenant.OrganizationID, after int64,
	each func(audit.Record) error) error {
	for {
		rows, err := db.Query(ctx, "SELECT "+auditColumns+" FROM audit_event WHERE chain = ? AND seq > ? ORDER BY "+
			"seq LIMIT ?",
			string(chain), after, auditBatch)
		batch, err := sqldb.Collect(rows, err, scanAudit)
		if err != nil {
			return err
		}
		for _, r := range batch {
			if err := each(r); err != nil {
				return err
			}
			after = r.Seq
		}
		if len(batch) < auditBatch {
			return nil
		}
	}
}

// HiddenChain reports whether there is such a target, and whose chain tells that the user
// was refused it: that of its organization for a member, else the deployment's.
func (db *Store) HiddenChain(ctx context.Context, user tenant.UserID,
	target tenant.Target) (chain tenant.OrganizationID, there bool, err error) {
	of, id := "SELECT organization_id FROM project WHERE id = ?", string(target.Project)
	switch {
	case id != "":
	case target.Team != "":
		of, id = "SELECT organization_id FROM team WHERE id = ?", string(target.Team)
	default:
		of, id = "SELECT id FROM organization WHERE id = ?", string(target.Organization)
	}
	err = db.QueryRow(ctx, "SELECT COALESCE((SELECT m.organization_id FROM organization_member m WHERE "+
		"m.organization_id = o.id AND m.user_id = ?), '') FROM organization o WHERE o.id = ("+of+")",
		user, id).Scan(&chain)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, db.Classify(fmt.Errorf("look for the target of a request: %w", err))
	}
	return chain, true, nil
}

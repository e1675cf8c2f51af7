package auditlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"merlon/internal/audit"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// This file seals the ends of audit chains. A process with Options.AuditKey seals
// every chain that it writes to. It advances a seal only over records that
// continue what the last seal covers: a chain that was rewritten keeps the old
// seal, which it does not contain any more, and VerifyAudit reports it.

// auditAnchorName is under what the deployment remembers where sealing began.
const auditAnchorName = "audit-anchor"

// A growth is how far a transaction has extended a chain.
type growth struct {
	chain    tenant.OrganizationID
	from, to audit.Head
}

// sealChain returns the seal of a chain that grew, given the seal before.
func sealChain(ctx context.Context, tx *sqldb.Tx, s audit.Seal, g growth) (audit.Seal, error) {
	key, chain, from, to := tx.DB.AuditKey, g.chain, g.from, g.to
	switch {
	case key == nil:
		return s, nil
	case s.MAC == "" && from.Seq == 0: // a new chain
		return to.Seal(key, chain), nil
	// The seal is missing or was made under another key: it stays as it is, and the verification
	// reports it.
	case !s.Valid(key, chain):
		return s, nil
	}
	if s.Head != from { // a process without the key wrote what follows the seal
		continued, err := verifyContinuation(ctx, tx, chain, s.Head, from)
		if err != nil || !continued {
			return s, err
		}
	}
	return to.Seal(key, chain), nil
}

// verifyContinuation reports whether the records of the chain lead from one head to another.
func verifyContinuation(ctx context.Context, tx *sqldb.Tx, chain tenant.OrganizationID, from,
	to audit.Head) (bool, error) {
	for from.Seq < to.Seq {
		rows, err := tx.Query(ctx, "SELECT "+auditColumns+" FROM audit_event WHERE chain = ? AND seq > ? AND seq <= "+
			"? ORDER BY seq LIMIT ?",
			string(chain), from.Seq, to.Seq, auditBatch)
		batch, err := sqldb.Collect(rows, err, scanAudit)
		if err != nil {
			return false, fmt.Errorf("read unsealed records: %w", err)
		}
		for _, r := range batch {
			if from, err = from.Check(r); err != nil {
				return false, nil
			}
		}
		if len(batch) == 0 {
			return false, nil
		}
	}
	return from == to, nil
}

// SealAudit begins to seal the audit log of a deployment, once: it seals the end of every chain
// and records that in the deployment's chain. Whether the records are whole is what VerifyAudit
// says, before and after. It returns the anchor, a text to keep outside of the database: the
// first sealed head of the deployment's chain. Without AuditKey it returns none.
func (db *Store) SealAudit(ctx context.Context) (anchor string, err error) {
	if db.AuditKey == nil {
		return "", nil
	}
	if anchor, err = db.Recall(ctx, auditAnchorName); err != nil || anchor != "" {
		return anchor, err
	}
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := Append(ctx, tx, audit.Event{Action: "audit.seal", TargetKind: "deployment"}); err != nil {
			return err
		}
		ends, err := auditEnds(ctx, tx)
		if err != nil {
			return err
		}
		for _, e := range ends {
			s := e.Head.Seal(db.AuditKey, e.chain)
			if e.chain == "" {
				anchor = fmt.Sprintf("%d %s %s", s.Seq, s.Hash, s.MAC)
			}
			if _, err := tx.Exec(ctx, "UPDATE audit_head SET seal_seq = ?, seal_hash = ?, seal = ? WHERE chain = ?",
				s.Seq, s.Hash, s.MAC, string(e.chain)); err != nil {
				return fmt.Errorf("seal audit chain: %w", err)
			}
		}
		if _, err := tx.Exec(ctx, "INSERT INTO deployment (name, value) VALUES (?, ?) ON CONFLICT (name) DO "+
			"NOTHING", auditAnchorName, anchor); err != nil {
			return fmt.Errorf("remember the audit anchor: %w", err)
		}
		return tx.QueryRow(ctx, "SELECT value FROM deployment WHERE name = ?", auditAnchorName).Scan(&anchor)
	})
	return anchor, err
}

// AuditAnchor returns where sealing began, "" while it has not.
func (db *Store) AuditAnchor(ctx context.Context) (string, error) {
	return db.Recall(ctx, auditAnchorName)
}

// readAnchor returns the seal that an anchor stands for.
func readAnchor(text string) (s audit.Seal, err error) {
	parts := strings.Fields(text)
	if len(parts) != 3 {
		return s, errors.New("the anchor of the audit log cannot be read")
	}
	s.Hash, s.MAC = parts[1], parts[2]
	s.Seq, err = strconv.ParseInt(parts[0], 10, 64)
	return s, err
}

// An auditEnd is where the database says that a chain ends.
type auditEnd struct {
	chain tenant.OrganizationID
	audit.Head
	seal audit.Seal
}

// auditEnds reads and locks the ends of all chains, in the order in which Append locks them.
func auditEnds(ctx context.Context, tx *sqldb.Tx) ([]auditEnd, error) {
	rows, err := tx.Query(ctx, "SELECT chain, seq, hash, seal_seq, seal_hash, seal FROM audit_head ORDER "+
		"BY chain"+tx.DB.Dialect.ForUpdate())
	return sqldb.Collect(rows, err, scanAuditEnd)
}

// scanAuditEnd reads a row of auditEnds.
func scanAuditEnd(rows *sql.Rows) (e auditEnd, err error) {
	return e, rows.Scan(&e.chain, &e.Seq, &e.Hash, &e.seal.Seq, &e.seal.Hash, &e.seal.MAC)
}

// VerifyAudit checks every chain of the database against its records, its end and,
// with AuditKey, its seal. The error names the first record or chain that is broken.
func (db *Store) VerifyAudit(ctx context.Context) (v audit.Verified, err error) {
	var anchor audit.Seal
	if text, err := db.Recall(ctx, auditAnchorName); err != nil {
		return v, err
	} else if text != "" && db.AuditKey != nil {
		if anchor, err = readAnchor(text); err != nil {
			return v, err
		}
		if v.Sealed = true; !anchor.Valid(db.AuditKey, "") {
			return v, errors.New("the anchor of the audit log was not made with this deployment's key")
		}
	}
	// The ends first: a chain may grow while it is read, but never shrink.
	rows, err := db.Query(ctx, `SELECT chain, seq, hash, seal_seq, seal_hash, seal FROM audit_head
		UNION ALL SELECT DISTINCT chain, 0, '', 0, '', '' FROM audit_event WHERE chain NOT IN (SELECT chain FROM audit_head)
		UNION ALL SELECT id, 0, '', 0, '', '' FROM organization WHERE id NOT IN (SELECT chain FROM audit_head) AND id NOT IN (SELECT chain FROM audit_event)
		ORDER BY chain`)
	ends, err := sqldb.Collect(rows, err, scanAuditEnd)
	if err != nil {
		return v, fmt.Errorf("read audit heads: %w", err)
	}
	if v.Sealed && (len(ends) == 0 || ends[0].chain != "") {
		return v, errors.New("the chain of the deployment is gone: it was removed")
	}
	for _, e := range ends {
		if err := db.verifyChain(ctx, e, anchor, &v); err != nil {
			return v, err
		}
	}
	return v, nil
}

// verifyChain checks one chain and counts its records.
func (db *Store) verifyChain(ctx context.Context, e auditEnd, anchor audit.Seal, v *audit.Verified) error {
	var head audit.Head
	seen := map[audit.Head]bool{} // of the heads that the chain must contain
	must := []audit.Head{e.Head, e.seal.Head}
	if e.chain == "" {
		must = append(must, anchor.Head)
	}
	for _, h := range must {
		seen[h] = h == audit.Head{}
	}
	err := db.ExportAudit(ctx, e.chain, 0, func(r audit.Record) error {
		var err error
		if head, err = head.Check(r); err != nil {
			return err
		}
		v.Records++
		if _, ok := seen[head]; ok {
			seen[head] = true
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case e.Head == audit.Head{} && head != audit.Head{}:
		return fmt.Errorf("chain %q has records but no end: the end was removed", e.chain)
	case !seen[e.Head]:
		return fmt.Errorf("chain %q ends at record %d, it had %d records: the last ones were removed or "+
			"changed", e.chain, head.Seq, e.Seq)
	case !v.Sealed:
		return nil
	case e.seal.MAC == "":
		return fmt.Errorf("chain %q is not sealed: its seal or its records were removed", e.chain)
	case !e.seal.Valid(db.AuditKey, e.chain):
		return fmt.Errorf("chain %q: the seal of record %d was not made with this deployment's key: the chain was "+
			"rewritten", e.chain, e.seal.Seq)
	case !seen[e.seal.Head]:
		return fmt.Errorf("chain %q does not contain record %d as it was sealed: the chain was rewritten", e.chain,
			e.seal.Seq)
	case e.chain == "" && !seen[anchor.Head]:
		return fmt.Errorf("the chain of the deployment does not contain record %d, with which sealing began: it was "+
			"rewritten", anchor.Seq)
	}
	v.Unsealed += head.Seq - e.seal.Seq
	return nil
}

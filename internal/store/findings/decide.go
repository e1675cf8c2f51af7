package findings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file writes what people decide about findings.

// Decide applies a decision to a finding of the scope's project, and to the
// findings of the same flaw on other branches. It needs
// project.change_vulnerability_state, and returns the finding as it is then.
func (db *Store) Decide(ctx context.Context, sc tenant.Scope, d triage.Decision) (triage.Finding, error) {
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		// The permission is checked again inside of the transaction, with the roles of this moment.
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectState)
		if err != nil {
			return err
		}
		if _, err := lockFindings(ctx, tx, sc); err != nil {
			return err
		}
		return decideAll(ctx, tx, sc, d)
	})
	if err != nil {
		return triage.Finding{}, err
	}
	return db.Finding(ctx, sc, d.Finding)
}

// decideAll applies a decision to its finding and, where it is meant for both sides, to
// those of the other one.
func decideAll(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, d triage.Decision) error {
	all := []triage.ID{d.Finding}
	if d.IncludeLinked {
		others, err := linkedFindings(ctx, tx, sc, d.Finding)
		if err != nil {
			return err
		}
		all = append(all, others...)
	}
	for _, id := range all {
		d.Finding = id
		if err := storeDecision(ctx, tx, sc, d); err != nil {
			return err
		}
	}
	return nil
}

// storeDecision applies a decision to one finding and to those of the same flaw on other
// branches, and writes history, counts and audit record.
func storeDecision(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, d triage.Decision) error {
	flaw, all, err := currentStates(ctx, tx, sc, d.Finding)
	if err != nil {
		return err
	}
	var before triage.Bucket
	for _, s := range all {
		if s.ID == d.Finding {
			before = s.Bucket
		}
	}
	changes := d.Transitions(all)
	if len(changes) == 0 && d.Comment == "" {
		return nil // it was so before
	}
	for _, c := range changes {
		if err := applyTransition(ctx, tx, sc, c); err != nil {
			return err
		}
	}
	solved := triage.CountResolved(changes)
	tally := triage.CountChanges(changes)
	for _, branch := range triage.Branches(tally) {
		if err := addCounts(ctx, tx, sc, branch,
			countChange{counts: tally[branch], solved: solved[branch]}); err != nil {
			return err
		}
	}
	for _, branch := range triage.Branches(tally) {
		if err := linkProofs(ctx, tx, sc, branch, ""); err != nil {
			return err
		}
	}
	if err := saveDecision(ctx, tx, sc, flaw, d); err != nil {
		return err
	}
	if err := tx.InsertRows(ctx, "finding_history", historyColumns, "",
		sqldb.StampTxTime(tx.Now, decisionHistory(sc, flaw, d, before))); err != nil {
		return err
	}
	if err := RefreshStats(ctx, tx, sc); err != nil {
		return err
	}
	detail := map[string]any{"project": sc.Project}
	for name, v := range map[string]string{"status": string(d.Status), "priority": string(d.Priority),
		"comment": d.Comment} {
		if v != "" {
			detail[name] = v
		}
	}
	return auditlog.Append(ctx, tx, audit.Event{Chain: sc.Organization, Action: "finding.decide", TargetKind: "finding",
		Target: string(d.Finding),
		Detail: detail}.By(sc.Actor))
}

// currentStates returns the flaw of a finding and its findings on all branches.
func currentStates(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope,
	id triage.ID) (flaw string, all []triage.CurrentState, err error) {
	err = tx.QueryRow(ctx, "SELECT flaw FROM finding WHERE id = ? AND project_id = ? AND organization_id = ?",
		append([]any{string(id)}, ProjectArgs(sc)...)...).Scan(&flaw)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil, errs.E(errs.NotFound, "vulnerability not found")
	}
	if err != nil {
		return "", nil, fmt.Errorf("read finding: %w", err)
	}
	rows, err := tx.Query(ctx, `SELECT id, branch, analysis, severity, status, priority, cvss, pinned, gone FROM finding
		WHERE project_id = ? AND organization_id = ? AND flaw = ? ORDER BY branch, id`, append(ProjectArgs(sc), flaw)...)
	all, err = sqldb.Collect(rows, err, func(rows *sql.Rows) (s triage.CurrentState, err error) {
		var analysis, severity, status, priority, cvss int
		err = rows.Scan(&s.ID, &s.Branch, &analysis, &severity, &status, &priority, &cvss, &s.Pinned, &s.Gone)
		s.Bucket = makeBucket(analysis, severity, status, priority)
		s.Risk = triage.Risk(s.Bucket.Severity, float64(cvss)/10)
		return s, err
	})
	return flaw, all, err
}

// applyTransition writes what a decision makes of one finding.
func applyTransition(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, c triage.Transition) error {
	var resolved int64
	if c.Bucket.Status == triage.Resolved {
		resolved = sqldb.Millis(tx.Now)
	}
	_, err := tx.Exec(ctx, `UPDATE finding SET resolved_at = CASE WHEN status = ? THEN resolved_at ELSE ? END,
		status = ?, closed = ?, priority = ?, pinned = ?, updated_at = ? WHERE id = ? AND project_id = ?`,
		sqldb.EnumCode(triage.Statuses, c.Bucket.Status), resolved,
		sqldb.EnumCode(triage.Statuses, c.Bucket.Status), closedCode(c.Bucket.Status),
		sqldb.EnumCode(triage.Priorities, c.Bucket.Priority),
		c.Pinned, sqldb.Millis(tx.Now),
		string(c.ID), string(sc.Project))
	if err != nil {
		return fmt.Errorf("change finding: %w", err)
	}
	return nil
}

// saveDecision keeps the decision for later scans and other branches, and tells scans
// that are under way that something was decided.
func saveDecision(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, flaw string, d triage.Decision) error {
	if _, err := tx.Exec(ctx, `INSERT INTO decision (project_id, flaw, status, priority, comment, decided_by, decided_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, flaw) DO UPDATE SET
		status = CASE WHEN excluded.status > 0 THEN excluded.status ELSE decision.status END,
		priority = CASE WHEN excluded.priority > 0 THEN excluded.priority ELSE decision.priority END,
		comment = CASE WHEN excluded.comment <> '' THEN excluded.comment ELSE decision.comment END,
		decided_by = excluded.decided_by, decided_at = excluded.decided_at`,
		string(sc.Project), flaw, sqldb.EnumCode(triage.Statuses, d.Status),
		sqldb.EnumCode(triage.Priorities, d.Priority), d.Comment,
		string(sc.Actor.UserID), sqldb.Millis(tx.Now)); err != nil {
		return fmt.Errorf("remember decision: %w", err)
	}
	if _, err := tx.Exec(ctx, "UPDATE project_stats SET revision = revision + 1 WHERE project_id = ?",
		string(sc.Project)); err != nil {
		return fmt.Errorf("remember decision: %w", err)
	}
	return nil
}

// decisionHistory returns the rows that tell who decided what.
func decisionHistory(sc tenant.Scope, flaw string, d triage.Decision, before triage.Bucket) [][]any {
	var rows [][]any
	add := func(kind triage.ChangeKind, value, previous string) {
		if value != "" && value != previous {
			rows = append(rows, []any{string(sc.Project), flaw, triage.NewID(), "", sqldb.TxTime{}, string(kind), value,
				previous, d.Comment, "", string(sc.Actor.UserID)})
		}
	}
	add(triage.StatusChange, string(d.Status), string(before.Status))
	add(triage.PriorityChange, string(d.Priority), string(before.Priority))
	add(triage.CommentChange, d.Comment, "")
	return rows
}

// Similar returns the findings of the same rule on the branch of a finding of the
// scope's project whose path holds the text, the worst first, without the finding
// itself, and how many there are.
func (db *Store) Similar(ctx context.Context, sc tenant.Scope, f triage.Finding, path string,
	limit int) ([]triage.Finding, int, error) {
	filter := triage.Filter{Analysis: f.Report.Analysis, Branch: f.Branch, RuleID: f.RuleID, Path: path,
		ExcludeID: f.ID}
	if f.Report.Package != nil {
		filter.Package = f.Report.Package.Package.Name
	}
	page, err := db.Findings(ctx, sc, triage.Query{Filter: filter, Limit: limit})
	return page.Findings, page.Total, err
}

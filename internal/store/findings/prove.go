package findings

import (
	"context"
	"database/sql"
	"fmt"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file joins the two sides of a flaw: the finding of the source, and those of live
// scans that show it in the running application. The place of the former stands in the
// column proves of the latter.

// linkProofs brings the findings of a branch's source to the rank that they have today: one
// that an open finding of a live scan shows is more urgent than one that nobody has
// shown. The run is the scan after which that changed; empty after a decision.
func linkProofs(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, branch string, by run.ID) error {
	changed, err := staleRanked(ctx, tx, sc, branch)
	if err != nil || len(changed) == 0 {
		return err
	}
	var history [][]any
	counts := triage.Counts{}
	for i := range changed {
		f := &changed[i]
		f.Proven = !f.Proven
		reason := "no open finding of a live scan shows it any more"
		if f.Proven {
			reason = "a live scan has shown it in the running application"
		}
		// A pinned priority is that of a person: proofs change the score only.
		score, priority := f.Rank()
		if f.Pinned {
			priority = f.Priority
		}
		if _, err := tx.Exec(ctx, "UPDATE finding SET proven = ?, score = ?, priority = ? WHERE id = ? AND "+
			"project_id = ?",
			f.Proven, score, sqldb.EnumCode(triage.Priorities, priority), string(f.ID),
			string(sc.Project)); err != nil {
			return fmt.Errorf("rank finding: %w", err)
		}
		if priority == f.Priority {
			continue
		}
		before := triage.Bucket{Analysis: f.Report.Analysis, Severity: f.Report.Severity, Status: f.Status,
			Priority: f.Priority}
		after := before
		after.Priority = priority
		counts.Move(before, after, triage.Risk(f.Report.Severity, f.CVSS))
		change := triage.Change{ID: triage.NewID(), Flaw: f.Flaw, Finding: f.ID, Kind: triage.PriorityChange,
			Value:    string(priority),
			Previous: string(f.Priority), Reason: reason, Run: by}
		// After a decision the change is attributed to whoever made it.
		if by == "" {
			change.By = sc.Actor.UserID
		}
		history = append(history, historyRow(sc, &change))
	}
	if err := tx.InsertRows(ctx, "finding_history", historyColumns, "",
		sqldb.StampTxTime(tx.Now, history)); err != nil {
		return err
	}
	return addCounts(ctx, tx, sc, branch, countChange{counts: counts})
}

// staleRanked returns the findings of a branch's source of which live scans say something
// else than their rank does.
func staleRanked(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, branch string) ([]triage.Finding, error) {
	rows, err := tx.Query(ctx, "SELECT DISTINCT proves FROM finding WHERE project_id = ? AND branch = ? AND proves "+
		"<> '' AND closed = 0",
		string(sc.Project), branch)
	places, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (place string, err error) {
		return place, rows.Scan(&place)
	})
	if err != nil {
		return nil, fmt.Errorf("read what live scans show: %w", err)
	}
	in, arg := tx.DB.Dialect.In("f.place", places)
	// Two conditions with an index each.
	const of = "SELECT f.id FROM finding f WHERE f.project_id = ? AND f.branch = ? AND "
	rows, err = tx.Query(ctx, "SELECT "+findingColumns+findingTables+"WHERE f.id IN ("+of+"f.proven AND NOT ("+in+
		") UNION "+
		of+in+" AND NOT f.proven AND f.analysis = ?) ORDER BY f.id",
		string(sc.Project), branch, arg, string(sc.Project), branch, arg,
		sqldb.EnumCode(finding.Analyses, finding.SAST))
	found, err := sqldb.Collect(rows, err, scanFinding)
	if err != nil {
		return nil, fmt.Errorf("read what live scans show: %w", err)
	}
	return found, nil
}

// linkedFindings returns the findings of the flaw of a finding as the other side sees it, on
// its branch: of one of the source those of live scans, of one of a live scan that of the
// source. Those that are gone are left out.
func linkedFindings(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, id triage.ID) ([]triage.ID, error) {
	rows, err := tx.Query(ctx, `SELECT o.id FROM finding f JOIN finding o ON o.project_id = f.project_id AND o.branch = f.branch
		AND (o.proves = f.place AND o.proves <> '' OR o.place = f.proves) WHERE f.id = ? AND f.project_id = ? AND f.organization_id = ?
		AND NOT o.gone ORDER BY o.id`, append([]any{string(id)}, ProjectArgs(sc)...)...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (id triage.ID, err error) { return id, rows.Scan(&id) })
}

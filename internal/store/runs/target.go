package runs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// This file holds what is particular about runs of running applications: they pause,
// keep something between attempts, and tell what became of operations.

// runTarget returns the columns target and target_id of a new run, and marks one that
// goes less far than an earlier run on the branch.
func runTarget(ctx context.Context, tx *sqldb.Tx, r *run.Run) (text, id string, err error) {
	if r.Target == nil {
		return "", "", nil
	}
	rows, err := tx.Query(ctx, `SELECT target FROM run WHERE target_id = ? AND project_id = ? AND branch = ? AND state IN ('completed', 'completed_degraded')
		ORDER BY created_at DESC LIMIT 500`, r.Target.ID, r.ProjectID, r.Branch)
	before, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (t run.Target, err error) {
		var text string
		if err := rows.Scan(&text); err != nil {
			return t, err
		}
		return t, json.Unmarshal([]byte(text), &t)
	})
	if err != nil {
		return "", "", fmt.Errorf("read earlier runs: %w", err)
	}
	// A scan with a weaker profile cannot see what a stronger one has found. It must not resolve
	// such findings, so the run is marked.
	for _, b := range before {
		r.Target.Weaker = r.Target.Weaker || !r.Target.Profile.Allows(b.Profile)
	}
	b, err := json.Marshal(r.Target)
	return string(b), r.Target.ID, err
}

// PauseRun pauses a run of a running application, or lets it go on. One that no worker
// has waits from here on; one that a worker has is put back when its heartbeat sees the
// mark.
func (db *Store) PauseRun(ctx context.Context, sc tenant.Scope, id run.ID, paused bool) (run.Run, error) {
	var r run.Run
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		var err error
		if r, err = Read(ctx, tx, sc, id); err != nil {
			return err
		}
		switch {
		case r.Target == nil:
			return errs.E(errs.Conflict, "only scans of running applications can be paused")
		case r.State.Final() || r.Cancelled:
			return errs.E(errs.Conflict, "the scan has ended already")
		case !paused && !r.Paused:
			return errs.E(errs.Conflict, "the scan is not paused")
		case paused == r.Paused:
			return nil
		}
		if _, err := tx.Exec(ctx, "UPDATE run SET paused = ?, updated_at = ? WHERE id = ? AND state IN ('queued', "+
			"'running')", paused, sqldb.Millis(tx.Now), id); err != nil {
			return err
		}
		r.Paused = paused
		if _, err := tx.Exec(ctx, "UPDATE run SET placed = FALSE, step = ? WHERE id = ? AND state = "+
			"'queued'", r.WaitingStep(), id); err != nil {
			return err
		}
		action := "scan.resume"
		if paused {
			action = "scan.pause"
		}
		if r, err = Read(ctx, tx, sc, id); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, runEvent(&r, action, nil).By(sc.Actor))
	})
	return r, err
}

// pauseRequested puts the paused runs back whose worker died before it saw the mark.
func (db *Store) pauseRequested(ctx context.Context) error {
	ids, err := db.runIDs(ctx, "SELECT r.id FROM run r WHERE r.paused AND r.state = 'running' AND "+jobless+
		" ORDER BY r.id LIMIT ?", dispatchLimit)
	if err != nil || len(ids) == 0 {
		return err
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		// The attempt is raised, so that a worker that comes back cannot write any more; the try is
		// given back, because a pause is no failure.
		for _, id := range ids {
			if _, err := tx.Exec(ctx, `UPDATE run SET state = 'queued', job_id = 0, placed = FALSE, tries = tries - 1, attempt = attempt + 1, step = ?
				WHERE id IN (SELECT r.id FROM run r WHERE r.id = ? AND r.paused AND r.state = 'running' AND `+jobless+`)`, run.StepPaused, string(id)); err != nil {
				return fmt.Errorf("put a paused run back: %w", err)
			}
		}
		return nil
	})
}

// KeepRun stores what the attempt that holds the run has kept, sealed.
func (db *Store) KeepRun(ctx context.Context, r *run.Run, sealed []byte) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := CheckAttempt(ctx, tx, r.ID, r.Attempt); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO run_kept (run_id, sealed, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (run_id) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at`, r.ID, sealed, sqldb.Millis(tx.Now))
		if err != nil {
			return fmt.Errorf("keep something of a run: %w", err)
		}
		return nil
	})
}

// KeptRun returns what an earlier attempt of the run has kept; nil for nothing.
func (db *Store) KeptRun(ctx context.Context, r *run.Run) ([]byte, error) {
	var sealed []byte
	err := db.QueryRow(ctx, "SELECT sealed FROM run_kept WHERE run_id = ?", r.ID).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return sealed, db.Classify(err)
}

// SaveOperations writes what became of operations, from the number first on.
func SaveOperations(ctx context.Context, tx *sqldb.Tx, id run.ID, first int, operations []finding.Operation) error {
	rows := make([][]any, len(operations))
	for n, o := range operations {
		body, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("encode an operation: %w", err)
		}
		rows[n] = []any{string(id), first + n, string(o.Outcome), string(body)}
	}
	return tx.InsertRows(ctx, "operation", "run_id, number, outcome, body",
		" ON CONFLICT (run_id, number) DO UPDATE SET outcome = excluded.outcome, body = excluded.body", rows)
}

// TrimOperations removes what an earlier attempt of the run told beyond n operations.
func TrimOperations(ctx context.Context, tx *sqldb.Tx, r *run.Run, n int) error {
	if r.Target == nil {
		return nil
	}
	if _, err := tx.Exec(ctx, "DELETE FROM operation WHERE run_id = ? AND number >= ?", r.ID, n); err != nil {
		return fmt.Errorf("delete operations: %w", err)
	}
	return nil
}

// Operations returns a page of what became of the operations in a run of the scope's
// project, those with the outcome unless it is empty, and how many there are of each
// outcome.
func (db *Store) Operations(ctx context.Context, sc tenant.Scope,
	q run.OperationQuery) ([]finding.Operation, map[finding.Outcome]int, error) {
	// The table has no project of its own: the run is read first, to check that it belongs to
	// the scope (IDOR, CWE-639).
	if _, err := Read(ctx, db.DB, sc, q.Run); err != nil {
		return nil, nil, db.Classify(err)
	}
	rows, err := db.Query(ctx, "SELECT outcome, COUNT(*) FROM operation WHERE run_id = ? GROUP BY outcome", q.Run)
	counts := map[finding.Outcome]int{}
	_, err = sqldb.Collect(rows, err, func(rows *sql.Rows) (struct{}, error) {
		var outcome finding.Outcome
		var n int
		err := rows.Scan(&outcome, &n)
		counts[outcome] = n
		return struct{}{}, err
	})
	if err != nil {
		return nil, nil, err
	}
	where, args := "run_id = ?", []any{q.Run}
	if q.Outcome != "" {
		where, args = where+" AND outcome = ?", append(args, string(q.Outcome))
	}
	rows, err = db.Query(ctx, "SELECT body FROM operation WHERE "+where+" ORDER BY number LIMIT ? "+
		"OFFSET ?", append(args, q.Limit, q.Offset)...)
	out, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (o finding.Operation, err error) {
		var body string
		if err := rows.Scan(&body); err != nil {
			return o, err
		}
		return o, json.Unmarshal([]byte(body), &o)
	})
	return out, counts, err
}

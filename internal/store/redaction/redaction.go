package redaction

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"merlon/internal/finding"
	"merlon/internal/livetarget"
	"merlon/internal/redact"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store/findings"
	"merlon/internal/store/runs"
	"merlon/internal/store/sqldb"
	"merlon/internal/store/targets"
	"merlon/internal/tenant"
)

// This file takes secrets of targets out of rows that were written before scans redacted
// them by value. The values are sealed, so that this cannot be SQL: a process with the
// master key does it, in batches, and the deployment remembers how far it has come.

// A redaction is how far the rows are cleaned. It is stored as JSON in the table deployment,
// in the transaction that changes the rows.
type redaction struct {
	Stage string `json:"stage"` // of redactionStages; "" when all is done
	After string `json:"after"` // the last cleaned row
	More  int    `json:"more"`  // number within it
}

// redactionName is where the deployment remembers it.
const redactionName = "redaction of stored findings"

// redactionBatch is how many rows a transaction cleans: it holds the write lock of SQLite,
// which other writers wait for.
const redactionBatch = 100

// redactionStages clean one kind of rows each, and return the last of a batch; none when
// there are no more. A new stage is appended by naming it as next of the last one.
var redactionStages = map[string]struct {
	batch func(context.Context, *sqldb.Tx, *redaction, projectSecrets) (rows int, err error)
	next  string
}{
	"findings":   {redactFindings, "runs"},
	"runs":       {redactRuns, "operations"},
	"operations": {redactOperations, "targets"},
	"targets":    {redactTargets, ""},
}

// projectSecrets returns the secrets of a project's targets.
type projectSecrets func(ctx context.Context, tx *sqldb.Tx, org tenant.OrganizationID,
	project tenant.ProjectID) (*redact.Set, error)

// RedactStored cleans the next batch of rows of all tenants, with the secrets that open
// finds in targets. It returns false when all of them are clean. Several processes may do
// it at once; to be interrupted loses nothing.
func (db *Store) RedactStored(ctx context.Context, open func(livetarget.Target) (*redact.Set, error)) (more bool,
	err error) {
	first, err := json.Marshal(redaction{Stage: "findings"})
	if err != nil {
		return false, err
	}
	// The first process of the deployment writes the initial state; an empty text says that
	// everything was cleaned before.
	text, err := db.Once(ctx, redactionName, string(first))
	if err != nil || text == "" {
		return false, err
	}
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		// The row is locked and read again: another process may have cleaned the batch meanwhile.
		var before string
		if err := tx.QueryRow(ctx, "SELECT value FROM deployment WHERE name = ?"+tx.DB.Dialect.ForUpdate(),
			redactionName).Scan(&before); err != nil {
			return err
		}
		if before == "" {
			return nil
		}
		var state redaction
		if err := json.Unmarshal([]byte(before), &state); err != nil {
			return fmt.Errorf("%s: %w", redactionName, err)
		}
		if err := redactBatch(ctx, tx, &state, openTargets(open)); err != nil {
			return err
		}
		after := ""
		if more = state.Stage != ""; more {
			b, err := json.Marshal(state)
			if err != nil {
				return err
			}
			after = string(b)
		}
		_, err := tx.Exec(ctx, "UPDATE deployment SET value = ? WHERE name = ?", after, redactionName)
		return err
	})
	return more, err
}

// redactBatch cleans the next rows of the present stage and moves on to the next stage when
// there are no more.
func redactBatch(ctx context.Context, tx *sqldb.Tx, state *redaction, secrets projectSecrets) error {
	stage, known := redactionStages[state.Stage]
	if !known {
		return fmt.Errorf("%s: there is no stage %q", redactionName, state.Stage)
	}
	n, err := stage.batch(ctx, tx, state, secrets)
	if err != nil {
		return fmt.Errorf("redact %s: %w", state.Stage, err)
	}
	if n < redactionBatch {
		*state = redaction{Stage: stage.next}
	}
	return nil
}

// openTargets gathers the secrets of a project's targets, once for a batch.
func openTargets(open func(livetarget.Target) (*redact.Set, error)) projectSecrets {
	known := map[tenant.ProjectID]*redact.Set{}
	return func(ctx context.Context, tx *sqldb.Tx, org tenant.OrganizationID,
		project tenant.ProjectID) (*redact.Set, error) {
		// Rows of one project mostly follow each other; opening a target costs a decryption.
		if s, ok := known[project]; ok {
			return s, nil
		}
		all := &redact.Set{}
		rows, err := tx.Query(ctx, "SELECT "+targets.Columns+", t.sealed FROM target t WHERE t.project_id = ? AND "+
			"t.organization_id = ? ORDER BY t.id", project, org)
		targets, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (t livetarget.Target, err error) {
			var sealed []byte
			t, err = targets.Scan(rows, &sealed)
			t.Sealed = sealed
			return t, err
		})
		if err != nil {
			return nil, fmt.Errorf("read targets: %w", err)
		}
		for _, t := range targets {
			s, err := open(t)
			if err != nil {
				return nil, err
			}
			all.AddAll(s)
		}
		known[project] = all
		return all, nil
	}
}

// redactFindings cleans findings of running applications, with their history.
func redactFindings(ctx context.Context, tx *sqldb.Tx, state *redaction, secrets projectSecrets) (int, error) {
	type row struct {
		id, org, project, flaw, path, message string
		detail                                []byte
	}
	rows, err := tx.Query(ctx, `SELECT id, organization_id, project_id, flaw, path, message, detail FROM finding
		WHERE id > ? AND analysis IN (?, ?) ORDER BY id LIMIT ?`, state.After, sqldb.EnumCode(finding.Analyses, finding.DAST), sqldb.EnumCode(finding.Analyses, finding.API), redactionBatch)
	list, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (r row, err error) {
		return r, rows.Scan(&r.id, &r.org, &r.project, &r.flaw, &r.path, &r.message, &r.detail)
	})
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		state.After = r.id
		var d findings.Detail
		if err := sqldb.Decompress(r.detail, &d); err != nil {
			return 0, fmt.Errorf("finding %s: %w", r.id, err)
		}
		if d.Live == nil {
			continue // of a description in source code
		}
		s, err := secrets(ctx, tx, tenant.OrganizationID(r.org), tenant.ProjectID(r.project))
		if err != nil {
			return 0, err
		}
		// By value first, then by the names of headers and parameters that usually carry secrets,
		// such as Authorization.
		clean := redact.Copy(s, &d)
		clean.Live = redact.RedactLive(clean.Live)
		packed, err := sqldb.Compress(clean)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, "UPDATE finding SET path = ?, message = ?, detail = ? WHERE id = ?",
			s.RedactText(r.path),
			s.RedactText(r.message), packed, r.id); err != nil {
			return 0, err
		}
		if err := redactHistory(ctx, tx, s, r.project, r.flaw); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// redactHistory cleans what is told of a finding, such as its earlier paths.
func redactHistory(ctx context.Context, tx *sqldb.Tx, s *redact.Set, project, flaw string) error {
	rows, err := tx.Query(ctx, "SELECT id, value, previous, reason FROM finding_history WHERE project_id = ? AND "+
		"flaw = ? AND user_id = ''", project, flaw)
	list, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (r [4]string, err error) {
		return r, rows.Scan(&r[0], &r[1], &r[2], &r[3])
	})
	if err != nil {
		return err
	}
	for _, r := range list {
		clean := [4]string{r[0], s.RedactText(r[1]), s.RedactText(r[2]), s.RedactText(r[3])}
		if clean == r {
			continue
		}
		if _, err := tx.Exec(ctx, "UPDATE finding_history SET value = ?, previous = ?, reason = ? WHERE project_id = "+
			"? AND flaw = ? AND id = ?",
			clean[1], clean[2], clean[3], project, flaw, r[0]); err != nil {
			return err
		}
	}
	return nil
}

// redactRuns cleans what runs of running applications tell: the step, the failure, the
// reasons of analyzers.
func redactRuns(ctx context.Context, tx *sqldb.Tx, state *redaction, secrets projectSecrets) (int, error) {
	rows, err := tx.Query(ctx, "SELECT "+runs.Columns+runs.Tables+"WHERE r.id > ? AND r.target_id <> '' ORDER BY r.id "+
		"LIMIT ?", state.After, redactionBatch)
	list, err := sqldb.Collect(rows, err, runs.ScanRow)
	if err != nil {
		return 0, err
	}
	for i := range list {
		r := &list[i]
		state.After = string(r.ID)
		s, err := secrets(ctx, tx, r.OrganizationID, r.ProjectID)
		if err != nil {
			return 0, err
		}
		failure := ""
		if r.Failure != nil {
			b, err := json.Marshal(redact.Copy(s, r.Failure))
			if err != nil {
				return 0, err
			}
			failure = string(b)
		}
		outcome, err := json.Marshal(redact.Copy(s, &r.Outcome))
		if err != nil {
			return 0, err
		}
		shown, err := json.Marshal(redact.Copy(s, r.Target))
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, "UPDATE run SET step = ?, failure = ?, outcome = ?, target = ? WHERE id = ? AND "+
			"attempt = ?", s.RedactText(r.Step), failure, string(outcome), string(shown), string(r.ID),
			r.Attempt); err != nil {
			return 0, err
		}
		if err := redactCoverage(ctx, tx, s, r); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// redactCoverage cleans what a branch knows of the run.
func redactCoverage(ctx context.Context, tx *sqldb.Tx, s *redact.Set, r *run.Run) error {
	type row struct {
		branch, subject, reasons, failure string
		analysis                          int
	}
	rows, err := tx.Query(ctx, "SELECT branch, analysis, subject, reasons, failure FROM branch_coverage WHERE "+
		"project_id = ? AND (run_id = ? OR failed_run = ?)", string(r.ProjectID), string(r.ID), string(r.ID))
	list, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (c row, err error) {
		return c, rows.Scan(&c.branch, &c.analysis, &c.subject, &c.reasons, &c.failure)
	})
	if err != nil {
		return err
	}
	for _, c := range list {
		var reasons []scan.Reason
		if err := json.Unmarshal([]byte(c.reasons), &reasons); err != nil {
			return fmt.Errorf("reasons of branch %q: %w", c.branch, err)
		}
		clean, err := json.Marshal(redact.Copy(s, &reasons))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE branch_coverage SET reasons = ?, failure = ? WHERE project_id = ? AND "+
			"branch = ? AND analysis = ? AND subject = ?",
			string(clean), s.RedactText(c.failure), string(r.ProjectID), c.branch, c.analysis, c.subject); err != nil {
			return err
		}
	}
	return nil
}

// redactOperations cleans what became of operations.
func redactOperations(ctx context.Context, tx *sqldb.Tx, state *redaction, secrets projectSecrets) (int, error) {
	type row struct {
		run, org, project, target, body string
		number                          int
	}
	rows, err := tx.Query(ctx, `SELECT o.run_id, o.number, o.body, r.organization_id, r.project_id, r.target_id FROM operation o JOIN run r ON r.id = o.run_id
		WHERE (o.run_id, o.number) > (?, ?) ORDER BY o.run_id, o.number LIMIT ?`, state.After, state.More, redactionBatch)
	list, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (r row, err error) {
		return r, rows.Scan(&r.run, &r.number, &r.body, &r.org, &r.project, &r.target)
	})
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		state.After, state.More = r.run, r.number
		if r.target == "" {
			continue // declared by source code
		}
		s, err := secrets(ctx, tx, tenant.OrganizationID(r.org), tenant.ProjectID(r.project))
		if err != nil {
			return 0, err
		}
		var o finding.Operation
		if err := json.Unmarshal([]byte(r.body), &o); err != nil {
			return 0, fmt.Errorf("operation %d of run %s: %w", r.number, r.run, err)
		}
		clean, err := json.Marshal(redact.Copy(s, &o))
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, "UPDATE operation SET body = ? WHERE run_id = ? AND number = ?", string(clean), r.run,
			r.number); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// redactTargets takes credentials out of the addresses that everybody may see of a target.
// The sealed target keeps them.
func redactTargets(ctx context.Context, tx *sqldb.Tx, state *redaction, _ projectSecrets) (int, error) {
	rows, err := tx.Query(ctx, "SELECT "+targets.Columns+" FROM target t WHERE t.id > ? ORDER BY t.id "+
		"LIMIT ?", state.After, redactionBatch)
	list, err := sqldb.Collect(rows, err, targets.ScanRow)
	if err != nil {
		return 0, err
	}
	for i := range list {
		t := &list[i]
		state.After = string(t.ID)
		livetarget.MaskAddresses(&t.Shown)
		shown, _, err := targets.Encode(t)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, "UPDATE target SET shown = ? WHERE id = ? AND updated_at = ?", shown, string(t.ID),
			sqldb.Millis(t.UpdatedAt)); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

package upgrades

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"merlon/internal/audit"
	"merlon/internal/remediation"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/findings"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file keeps the jobs that look for upgrades.

// maxUpgradeJobs is how many jobs of a project are kept; older ones go. A result may have
// megabytes; users come back for the latest ones only.
const maxUpgradeJobs = 50

// FindingsByID returns those of the findings that the scope's project has.
func (db *Store) FindingsByID(ctx context.Context, sc tenant.Scope, ids []triage.ID) ([]triage.Finding, error) {
	return findings.New(db.DB).ReadFindings(ctx, sc, sqldb.Strings(ids))
}

// AdmitUpgrade writes that somebody asked for upgrades, with the job if there is one.
// It needs project.change_vulnerability_state.
func (db *Store) AdmitUpgrade(ctx context.Context, sc tenant.Scope, r remediation.Request, j *remediation.Job) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectState)
		if err != nil {
			return err
		}
		detail := map[string]any{"findings": len(r.Findings), "level": r.Level}
		if j != nil {
			detail["job"] = j.ID
			if err := insertUpgradeJob(ctx, tx, sc, j); err != nil {
				return err
			}
		}
		return auditlog.Append(ctx, tx, audit.Event{Chain: sc.Organization, Action: "project.upgrade",
			TargetKind: "project",
			Target:     string(sc.Project),
			Detail:     detail}.By(sc.Actor))
	})
}

// insertUpgradeJob removes the oldest jobs and inserts the new one.
func insertUpgradeJob(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, j *remediation.Job) error {
	request, err := json.Marshal(j.Request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM upgrade_job WHERE project_id = ? AND id NOT IN
		(SELECT id FROM upgrade_job WHERE project_id = ? ORDER BY created_at DESC, id DESC LIMIT ?)`,
		string(sc.Project), string(sc.Project), maxUpgradeJobs-1); err != nil {
		return fmt.Errorf("remove old upgrade jobs: %w", err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO upgrade_job (id, organization_id, project_id, request, state, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		j.ID, string(sc.Organization), string(sc.Project), string(request), string(j.State),
		sqldb.Millis(j.CreatedAt)); err != nil {
		return fmt.Errorf("insert upgrade job: %w", err)
	}
	return nil
}

// upgradeJobColumns are the columns of a job, in the order of scanUpgradeJob.
const upgradeJobColumns = `id, organization_id, project_id, request, state, attempt, processed, answer, error, created_at, started_at, completed_at`

// scanUpgradeJob reads upgradeJobColumns. A job that has not completed has an empty result.
func scanUpgradeJob(rows *sql.Rows) (remediation.Job, error) {
	var j remediation.Job
	var request string
	var answer []byte
	var created, started, completed int64
	if err := rows.Scan(&j.ID, &j.Organization, &j.Project, &request, &j.State, &j.Attempt, &j.Processed, &answer,
		&j.Error, &created, &started, &completed); err != nil {
		return j, err
	}
	j.CreatedAt, j.StartedAt, j.CompletedAt = sqldb.FromMillis(created), sqldb.FromMillis(started),
		sqldb.FromMillis(completed)
	if err := json.Unmarshal([]byte(request), &j.Request); err != nil {
		return j, fmt.Errorf("upgrade job %s: %w", j.ID, err)
	}
	if len(answer) == 0 {
		return j, nil
	}
	if err := sqldb.Decompress(answer, &j.Answer); err != nil {
		return j, fmt.Errorf("upgrade job %s: %w", j.ID, err)
	}
	return j, nil
}

// UpgradeJob returns a job of the scope's project.
func (db *Store) UpgradeJob(ctx context.Context, sc tenant.Scope, id string) (remediation.Job, error) {
	rows, err := db.Query(ctx, "SELECT "+upgradeJobColumns+" FROM upgrade_job WHERE id = ? AND project_id = ? AND "+
		"organization_id = ?",
		append([]any{id}, findings.ProjectArgs(sc)...)...)
	found, err := sqldb.Collect(rows, err, scanUpgradeJob)
	if err != nil {
		return remediation.Job{}, fmt.Errorf("read upgrade job: %w", err)
	}
	if len(found) == 0 {
		return remediation.Job{}, sqldb.NotFound(sql.ErrNoRows, "job")
	}
	return found[0], nil
}

// OpenUpgradeJobs returns the jobs of all tenants that have not ended, the oldest first.
func (db *Store) OpenUpgradeJobs(ctx context.Context) ([]remediation.Job, error) {
	rows, err := db.Query(ctx, "SELECT "+upgradeJobColumns+" FROM upgrade_job WHERE state IN ('queued', "+
		"'processing') ORDER BY created_at, id LIMIT 100")
	found, err := sqldb.Collect(rows, err, scanUpgradeJob)
	if err != nil {
		return nil, fmt.Errorf("read upgrade jobs: %w", err)
	}
	return found, nil
}

// ClaimUpgradeJob makes the job the caller's; false when another was faster. The attempt is
// the fencing token: a process that was suspended and comes back has an older one, and
// SaveUpgradeJob refuses it.
func (db *Store) ClaimUpgradeJob(ctx context.Context, j *remediation.Job) (taken bool, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE upgrade_job SET state = 'processing', attempt = attempt + 1, started_at = CASE WHEN started_at = 0 THEN ? ELSE started_at END
			WHERE id = ? AND attempt = ? AND state IN ('queued', 'processing')`, sqldb.Millis(tx.Now), j.ID, j.Attempt)
		if taken = err == nil && n == 1; taken {
			j.State, j.Attempt = remediation.Processing, j.Attempt+1
		}
		return err
	})
	return taken, err
}

// SaveUpgradeJob writes what the job has come to; false when another has taken it.
func (db *Store) SaveUpgradeJob(ctx context.Context, j *remediation.Job) (mine bool, err error) {
	answer := []byte{}
	if j.State == remediation.Completed {
		if answer, err = sqldb.Compress(j.Answer); err != nil {
			return false, err
		}
	}
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE upgrade_job SET state = ?, processed = ?, answer = ?, error = ?, completed_at "+
			"= ? WHERE id = ? AND attempt = ? AND state = 'processing'",
			string(j.State), j.Processed, answer, j.Error, sqldb.Millis(j.CompletedAt), j.ID, j.Attempt)
		mine = err == nil && n == 1
		return err
	})
	return mine, err
}

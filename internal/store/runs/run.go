package runs

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/coverage"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// This file reads and writes runs for people. What the queue and the workers do
// with them stands in queue.go, what uploads do in upload.go.

// Columns are what ScanRow scans, of Tables.
const Columns = `r.id, r.organization_id, p.team_id, r.project_id, r.branch, r.source, r.private, r.analyses, r.initiator,
	r.state, r.uploaded, r.upload_expires_at, r.archive, r.size, r.attempt, r.tries, r.cancelled, r.progress, r.step,
	r.languages, r.failure, r.outcome, r.created_at, r.updated_at, r.started_at, r.ended_at, r.fast, r.finding_profile, r.image, r.target,
	r.paused`

// Tables are those of Columns.
const Tables = " FROM run r JOIN project p ON p.id = r.project_id "

// scanRun reads a row of Columns.
func scanRun(row sqldb.Scanner) (run.Run, error) {
	var r run.Run
	var analyses, languages, failure, outcome, image, target string
	var uploadExpires, created, updated, started, ended int64
	err := row.Scan(&r.ID, &r.OrganizationID, &r.TeamID, &r.ProjectID, &r.Branch, &r.Source, &r.Private, &analyses,
		&r.Initiator,
		&r.State, &r.Uploaded, &uploadExpires, &r.Archive, &r.Size, &r.Attempt, &r.Tries, &r.Cancelled, &r.Progress,
		&r.Step,
		&languages, &failure, &outcome, &created, &updated, &started, &ended, &r.Fast, &r.FindingProfile, &image,
		&target, &r.Paused)
	if err != nil {
		return r, err
	}
	r.UploadExpires, r.CreatedAt, r.UpdatedAt = sqldb.FromMillis(uploadExpires), sqldb.FromMillis(created),
		sqldb.FromMillis(updated)
	r.StartedAt, r.EndedAt = sqldb.FromMillis(started), sqldb.FromMillis(ended)
	if err := json.Unmarshal([]byte(analyses), &r.Analyses); err != nil {
		return r, fmt.Errorf("run %s: analyses: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(languages), &r.Languages); err != nil {
		return r, fmt.Errorf("run %s: languages: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(outcome), &r.Outcome); err != nil {
		return r, fmt.Errorf("run %s: outcome: %w", r.ID, err)
	}
	if failure != "" {
		r.Failure = &run.Failure{}
		if err := json.Unmarshal([]byte(failure), r.Failure); err != nil {
			return r, fmt.Errorf("run %s: failure: %w", r.ID, err)
		}
	}
	if r.Image, err = imageOf(image); err != nil {
		return r, fmt.Errorf("run %s: image: %w", r.ID, err)
	}
	if target != "" {
		r.Target = &run.Target{}
		if err := json.Unmarshal([]byte(target), r.Target); err != nil {
			return r, fmt.Errorf("run %s: target: %w", r.ID, err)
		}
	}
	return r, nil
}

// imageOf reads the column image; nil for a run of source.
func imageOf(text string) (*run.Image, error) {
	if text == "" {
		return nil, nil
	}
	image := &run.Image{}
	return image, json.Unmarshal([]byte(text), image)
}

// ScanRow scans a row of Columns.
func ScanRow(rows *sql.Rows) (run.Run, error) { return scanRun(rows) }

// RunProject returns the settings and the languages of the scope's project.
func (db *Store) RunProject(ctx context.Context, sc tenant.Scope) (project.Project, error) {
	var p project.Project
	var settings, languages string
	err := db.QueryRow(ctx, "SELECT id, organization_id, team_id, name, settings, languages FROM project WHERE id = "+
		"? AND organization_id = ?",
		sc.Project, sc.Organization).Scan(&p.ID, &p.OrganizationID, &p.TeamID, &p.Name, &settings, &languages)
	if err != nil {
		return p, db.Classify(sqldb.NotFound(err, "project"))
	}
	p.Settings = project.DefaultSettings(nil) // what the stored text does not know yet
	if err := json.Unmarshal([]byte(settings), &p.Settings); err != nil {
		return p, fmt.Errorf("project %s: settings: %w", p.ID, err)
	}
	if err := json.Unmarshal([]byte(languages), &p.Languages); err != nil {
		return p, fmt.Errorf("project %s: languages: %w", p.ID, err)
	}
	return p, nil
}

// CreateRun writes a new run of the scope's project.
func (db *Store) CreateRun(ctx context.Context, sc tenant.Scope, r *run.Run) error {
	if r.OrganizationID != sc.Organization || r.ProjectID != sc.Project || sc.Project == "" {
		return errs.E(errs.NotFound, "project not found")
	}
	analyses, err := json.Marshal(r.Analyses)
	if err != nil {
		return err
	}
	image, detail := "", map[string]any{"branch": r.Branch, "source": r.Source}
	if r.Image != nil {
		text, err := json.Marshal(r.Image)
		if err != nil {
			return err
		}
		image, detail["image"] = string(text), r.Image.Reference
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := checkQueueLimit(ctx, tx, sc, r.Initiator); err != nil {
			return err
		}
		target, id, err := runTarget(ctx, tx, r)
		if err != nil {
			return err
		}
		if r.Target != nil {
			detail["target"], detail["url"], detail["profile"] = r.Target.ID, r.Target.URL, r.Target.Profile
		}
		_, err = tx.Exec(ctx, `INSERT INTO run (id, organization_id, project_id, branch, source, private, analyses, initiator,
			state, uploaded, upload_expires_at, step, created_at, updated_at, fast, finding_profile, image, target, target_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.OrganizationID, r.ProjectID, r.Branch, r.Source, r.Private, string(analyses), r.Initiator,
			r.State, r.Uploaded, sqldb.Millis(r.UploadExpires), r.Step, sqldb.Millis(r.CreatedAt),
			sqldb.Millis(r.UpdatedAt), r.Fast, r.FindingProfile,
			image, target, id)
		if err != nil {
			return fmt.Errorf("write run: %w", err)
		}
		return auditlog.Append(ctx, tx, runEvent(r, "scan.start", detail).By(sc.Actor))
	})
}

// queueWait is after how many seconds a client may ask again when too many scans wait.
const queueWait = "60"

// checkQueueLimit returns a TooMany error when as many scans of the organization, or of the
// user in all organizations, wait as may.
func checkQueueLimit(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, user tenant.UserID) error {
	// The second limit exists because one user may belong to many organizations.
	for _, limit := range []struct {
		most        int
		column, key string
		of          string
	}{
		{tx.DB.MaxQueued, "organization_id", string(sc.Organization), "of the organization"},
		{tx.DB.MaxUserQueued, "initiator", string(user), "that you have started"},
	} {
		// A run without an initiator counts for no user.
		if limit.most == 0 || limit.key == "" {
			continue
		}
		var waiting int
		// SQLite reads the index of active scans only where its condition stands in the query.
		err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM run WHERE "+limit.column+" = ? AND state IN ('queued', "+
			"'running') AND state = 'queued'", limit.key).Scan(&waiting)
		if err != nil {
			return fmt.Errorf("count waiting scans: %w", err)
		}
		if waiting >= limit.most {
			e := errs.E(errs.TooMany, "%d scans %s wait, which is as many as may: wait until some have run, or "+
				"cancel them", waiting, limit.of)
			e.Members = map[string]string{"retryAfter": queueWait}
			return e
		}
	}
	return nil
}

// runEvent is an audit record about a run.
func runEvent(r *run.Run, action string, detail map[string]any) audit.Event {
	if detail == nil {
		detail = map[string]any{}
	}
	detail["project"] = r.ProjectID
	return audit.Event{Chain: r.OrganizationID, Action: action, TargetKind: "scan", Target: string(r.ID),
		Detail: detail}
}

// Run returns a run of the scope's project.
func (db *Store) Run(ctx context.Context, sc tenant.Scope, id run.ID) (run.Run, error) {
	r, err := Read(ctx, db.DB, sc, id)
	return r, db.Classify(err)
}

// Read returns a run of the project of the scope, also inside a transaction.
func Read(ctx context.Context, q sqldb.Querier, sc tenant.Scope, id run.ID) (run.Run, error) {
	r, err := scanRun(q.QueryRow(ctx, "SELECT "+Columns+Tables+"WHERE r.id = ? AND r.project_id = ? AND "+
		"r.organization_id = ?",
		id, sc.Project, sc.Organization))
	return r, sqldb.NotFound(err, "scan")
}

// Runs returns a page of the runs of the scope's project, newest first, and how
// many there are.
func (db *Store) Runs(ctx context.Context, sc tenant.Scope, q run.Query) ([]run.Run, int, error) {
	where, args := "WHERE r.project_id = ? AND r.organization_id = ?", []any{sc.Project, sc.Organization}
	if q.Branch != "" {
		where, args = where+" AND r.branch = ?", append(args, q.Branch)
	}
	var total int
	if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM run r "+where, args...).Scan(&total); err != nil {
		return nil, 0, db.Classify(fmt.Errorf("count runs: %w", err))
	}
	rows, err := db.Query(ctx, "SELECT "+Columns+Tables+where+" ORDER BY r.created_at DESC, r.id DESC LIMIT ? "+
		"OFFSET ?",
		append(args, q.Limit, q.Offset)...)
	runs, err := sqldb.Collect(rows, err, ScanRow)
	return runs, total, err
}

// CancelRun ends a run that no worker has, and marks one that a worker has: its
// heartbeat sees the mark.
func (db *Store) CancelRun(ctx context.Context, sc tenant.Scope, id run.ID) (run.Run, error) {
	var r run.Run
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		var err error
		if r, err = Read(ctx, tx, sc, id); err != nil {
			return err
		}
		if r.State.Final() {
			return errs.E(errs.Conflict, "the scan has ended already")
		}
		if err = Cancel(ctx, tx, sc, &r); err != nil {
			return err
		}
		r, err = Read(ctx, tx, sc, id)
		return err
	})
	return r, err
}

// Cancel ends a run that waits, and asks the worker that has it to end it.
func Cancel(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, r *run.Run) error {
	if _, err := tx.Exec(ctx, "UPDATE run SET cancelled = TRUE, updated_at = ? WHERE id = ? AND state IN ('queued', "+
		"'running')", sqldb.Millis(tx.Now), r.ID); err != nil {
		return fmt.Errorf("cancel a run: %w", err)
	}
	// No worker can take it from here on, and one that has has raised attempt.
	if err := finishRun(ctx, tx, ending{Run: r, Where: "state = 'queued'", State: run.Failed,
		Failure: run.Cancelled()}); err != nil && !errs.Is(err, errs.Conflict) {
		return err
	}
	return auditlog.Append(ctx, tx, runEvent(r, "scan.cancel", nil).By(sc.Actor))
}

// An ending is how a run ends. Where is a further condition, without arguments.
type ending struct {
	// Run is the run that ends; its languages are written too.
	Run   *run.Run
	Where string
	State run.State
	// Failure is nil when the scan succeeded.
	Failure *run.Failure
	Outcome run.Outcome
}

// finishRun writes the end of a run that has not ended; a Conflict error when it
// has, or when Where does not hold.
func finishRun(ctx context.Context, tx *sqldb.Tx, e ending) error {
	outcome, err := json.Marshal(e.Outcome)
	if err != nil {
		return err
	}
	// A failed run keeps its progress, which shows how far it came.
	failure, step, progress := "", "done", 100
	if e.Failure != nil {
		text, err := json.Marshal(e.Failure)
		if err != nil {
			return err
		}
		failure, step, progress = string(text), "failed", e.Run.Progress
	}
	if e.Run.Languages == nil {
		e.Run.Languages = []string{}
	}
	languages, err := json.Marshal(e.Run.Languages)
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, `UPDATE run SET state = ?, failure = ?, outcome = ?, step = ?, progress = ?, languages = ?, placed = FALSE,
		updated_at = ?, ended_at = ? WHERE id = ? AND state IN ('queued', 'running') AND `+e.Where,
		e.State, failure, string(outcome), step, progress, string(languages), sqldb.Millis(tx.Now),
		sqldb.Millis(tx.Now), e.Run.ID)
	if err != nil {
		return fmt.Errorf("end run: %w", err)
	}
	if n == 0 {
		return errs.E(errs.Conflict, "the scan has ended, or another worker has it")
	}
	if e.Failure != nil && e.Failure.Code != run.CodeCancelled {
		if err := coverage.RecordFailure(ctx, tx, e.Run, e.Run.Analyses, e.Failure.Message); err != nil {
			return err
		}
	}
	if e.Run.Target == nil {
		return nil
	}
	if _, err := tx.Exec(ctx, "DELETE FROM run_kept WHERE run_id = ?", e.Run.ID); err != nil {
		return fmt.Errorf("forget what a run has kept: %w", err)
	}
	return nil
}

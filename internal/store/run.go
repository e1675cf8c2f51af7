package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/tenant"
)

// This file reads and writes runs for people. What the queue and the workers do
// with them stands in run_queue.go, what uploads do in upload.go.

const runColumns = `r.id, r.organization_id, p.team_id, r.project_id, r.branch, r.source, r.private, r.analyses, r.initiator,
	r.state, r.uploaded, r.upload_expires_at, r.archive, r.size, r.attempt, r.tries, r.cancelled, r.progress, r.step,
	r.languages, r.failure, r.outcome, r.created_at, r.updated_at, r.started_at, r.ended_at, r.fast, r.image, r.target, r.paused`

const runTables = " FROM run r JOIN project p ON p.id = r.project_id "

// scanner is a row: *sql.Row or *sql.Rows.
type scanner interface{ Scan(...any) error }

func scanRun(row scanner) (run.Run, error) {
	var r run.Run
	var analyses, languages, failure, outcome, image, target string
	var uploadExpires, created, updated, started, ended int64
	err := row.Scan(&r.ID, &r.OrganizationID, &r.TeamID, &r.ProjectID, &r.Branch, &r.Source, &r.Private, &analyses,
		&r.Initiator,
		&r.State, &r.Uploaded, &uploadExpires, &r.Archive, &r.Size, &r.Attempt, &r.Tries, &r.Cancelled, &r.Progress,
		&r.Step,
		&languages, &failure, &outcome, &created, &updated, &started, &ended, &r.Fast, &image, &target, &r.Paused)
	if err != nil {
		return r, err
	}
	r.UploadExpires, r.CreatedAt, r.UpdatedAt = fromMillis(uploadExpires), fromMillis(created), fromMillis(updated)
	r.StartedAt, r.EndedAt = fromMillis(started), fromMillis(ended)
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

func scanRunRow(rows *sql.Rows) (run.Run, error) { return scanRun(rows) }

// RunProject returns the settings and the languages of the scope's project.
func (db *DB) RunProject(ctx context.Context, sc tenant.Scope) (project.Project, error) {
	var p project.Project
	var settings, languages string
	err := db.QueryRow(ctx, "SELECT id, organization_id, team_id, name, settings, languages FROM project WHERE id = "+
		"? AND organization_id = ?",
		sc.Project, sc.Organization).Scan(&p.ID, &p.OrganizationID, &p.TeamID, &p.Name, &settings, &languages)
	if err != nil {
		return p, db.classify(notFound(err, "project"))
	}
	if err := json.Unmarshal([]byte(settings), &p.Settings); err != nil {
		return p, fmt.Errorf("project %s: settings: %w", p.ID, err)
	}
	if err := json.Unmarshal([]byte(languages), &p.Languages); err != nil {
		return p, fmt.Errorf("project %s: languages: %w", p.ID, err)
	}
	return p, nil
}

// CreateRun writes a new run of the scope's project.
func (db *DB) CreateRun(ctx context.Context, sc tenant.Scope, r *run.Run) error {
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
	return db.Tx(ctx, func(tx *Tx) error {
		if err := tx.mayQueue(ctx, sc, r.Initiator); err != nil {
			return err
		}
		target, id, err := tx.runTarget(ctx, r)
		if err != nil {
			return err
		}
		if r.Target != nil {
			detail["target"], detail["url"], detail["profile"] = r.Target.ID, r.Target.URL, r.Target.Profile
		}
		_, err = tx.Exec(ctx, `INSERT INTO run (id, organization_id, project_id, branch, source, private, analyses, initiator,
			state, uploaded, upload_expires_at, step, created_at, updated_at, fast, image, target, target_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.OrganizationID, r.ProjectID, r.Branch, r.Source, r.Private, string(analyses), r.Initiator,
			r.State, r.Uploaded, millis(r.UploadExpires), r.Step, millis(r.CreatedAt), millis(r.UpdatedAt), r.Fast,
			image, target, id)
		if err != nil {
			return fmt.Errorf("write run: %w", err)
		}
		return tx.audit(ctx, runEvent(r, "scan.start", detail).By(sc.Actor))
	})
}

// queueWait is after how many seconds a client may ask again when too many scans wait.
const queueWait = "60"

// mayQueue returns a TooMany error when as many scans of the organization, or of the
// user in all organizations, wait as may.
func (tx *Tx) mayQueue(ctx context.Context, sc tenant.Scope, user tenant.UserID) error {
	for _, limit := range []struct {
		most        int
		column, key string
		of          string
	}{
		{tx.db.MaxQueued, "organization_id", string(sc.Organization), "of the organization"},
		{tx.db.MaxUserQueued, "initiator", string(user), "that you have started"},
	} {
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
func (db *DB) Run(ctx context.Context, sc tenant.Scope, id run.ID) (run.Run, error) {
	r, err := runIn(ctx, db, sc, id)
	return r, db.classify(err)
}

func runIn(ctx context.Context, q querier, sc tenant.Scope, id run.ID) (run.Run, error) {
	r, err := scanRun(q.QueryRow(ctx, "SELECT "+runColumns+runTables+"WHERE r.id = ? AND r.project_id = ? AND "+
		"r.organization_id = ?",
		id, sc.Project, sc.Organization))
	return r, notFound(err, "scan")
}

// Runs returns a page of the runs of the scope's project, newest first, and how
// many there are.
func (db *DB) Runs(ctx context.Context, sc tenant.Scope, q run.Query) ([]run.Run, int, error) {
	where, args := "WHERE r.project_id = ? AND r.organization_id = ?", []any{sc.Project, sc.Organization}
	if q.Branch != "" {
		where, args = where+" AND r.branch = ?", append(args, q.Branch)
	}
	var total int
	if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM run r "+where, args...).Scan(&total); err != nil {
		return nil, 0, db.classify(fmt.Errorf("count runs: %w", err))
	}
	rows, err := db.Query(ctx, "SELECT "+runColumns+runTables+where+" ORDER BY r.created_at DESC, r.id DESC LIMIT ? "+
		"OFFSET ?",
		append(args, q.Limit, q.Offset)...)
	runs, err := collect(rows, err, scanRunRow)
	return runs, total, err
}

// CancelRun ends a run that no worker has, and marks one that a worker has: its
// heartbeat sees the mark.
func (db *DB) CancelRun(ctx context.Context, sc tenant.Scope, id run.ID) (run.Run, error) {
	var r run.Run
	err := db.Tx(ctx, func(tx *Tx) error {
		var err error
		if r, err = runIn(ctx, tx, sc, id); err != nil {
			return err
		}
		if r.State.Final() {
			return errs.E(errs.Conflict, "the scan has ended already")
		}
		if err = tx.cancelRun(ctx, sc, &r); err != nil {
			return err
		}
		r, err = runIn(ctx, tx, sc, id)
		return err
	})
	return r, err
}

// cancelRun ends a run that waits, and asks the worker that has it to end it.
func (tx *Tx) cancelRun(ctx context.Context, sc tenant.Scope, r *run.Run) error {
	if _, err := tx.Exec(ctx, "UPDATE run SET cancelled = TRUE, updated_at = ? WHERE id = ? AND state IN ('queued', "+
		"'running')", millis(tx.Now), r.ID); err != nil {
		return fmt.Errorf("cancel a run: %w", err)
	}
	// No worker can take it from here on, and one that has has raised attempt.
	if err := tx.endRun(ctx, end{Run: r, Where: "state = 'queued'", State: run.Failed,
		Failure: run.Cancelled()}); err != nil && !errs.Is(err, errs.Conflict) {
		return err
	}
	return tx.audit(ctx, runEvent(r, "scan.cancel", nil).By(sc.Actor))
}

// An end is how a run ends. Where is a further condition, without arguments.
type end struct {
	Run     *run.Run
	Where   string
	State   run.State
	Failure *run.Failure
	Outcome run.Outcome
}

// endRun writes the end of a run that has not ended; a Conflict error when it
// has, or when Where does not hold.
func (tx *Tx) endRun(ctx context.Context, e end) error {
	outcome, err := json.Marshal(e.Outcome)
	if err != nil {
		return err
	}
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
		e.State, failure, string(outcome), step, progress, string(languages), millis(tx.Now), millis(tx.Now), e.Run.ID)
	if err != nil {
		return fmt.Errorf("end run: %w", err)
	}
	if n == 0 {
		return errs.E(errs.Conflict, "the scan has ended, or another worker has it")
	}
	if e.Failure != nil && e.Failure.Code != run.CodeCancelled {
		if err := tx.failAnalyses(ctx, e.Run, e.Run.Analyses, e.Failure.Message); err != nil {
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

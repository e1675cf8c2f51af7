package runs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"merlon/internal/errs"
	"merlon/internal/job"
	"merlon/internal/run"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
)

// This file is what the queue and the workers do with runs: give places, take,
// beat, end, put back.

// dispatchLimit bounds how many runs one round of the dispatcher looks at. One round is a
// few transactions; what is left over waits for the next round.
const dispatchLimit = 200

// live is the condition that a River job will still be worked, or is being.
const live = "j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')"

// AdmitRuns gives free places to waiting runs, oldest first: an organization has
// as many as its concurrentScanLimit says, and two runs of one branch never work
// at the same time, because their results would overtake each other; runs of different
// targets, and of a target and of source, speak of different paths, and may. It ends the
// runs that have no try left, and returns those that hold a place and have
// neither a job nor a worker. Without sealed, no run that needs the master key gets a
// place: it would keep others from it until a worker comes that has the key.
func (db *Store) AdmitRuns(ctx context.Context, sealed bool) ([]job.ReadyRun, error) {
	// The order matters: paused and lost runs free their slots before these are given away.
	if err := db.pauseRequested(ctx); err != nil {
		return nil, fmt.Errorf("put paused runs back: %w", err)
	}
	if err := db.abandonLostRuns(ctx); err != nil {
		return nil, fmt.Errorf("give up runs: %w", err)
	}
	if err := db.admitWaiting(ctx, sealed); err != nil {
		return nil, fmt.Errorf("place runs: %w", err)
	}
	rows, err := db.Query(ctx, "SELECT r.id, r.attempt, r.image, r.target_id FROM run "+
		"r WHERE "+jobless+" ORDER BY r.created_at, r.id LIMIT ?", dispatchLimit)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (job.ReadyRun, error) {
		var r job.ReadyRun
		var image, target string
		if err := rows.Scan(&r.Run, &r.Attempt, &image, &target); err != nil {
			return r, err
		}
		of, err := imageOf(image)
		// The queue has one lane for runs that need the master key; workers without it do not work
		// there.
		r.Sealed = target != "" || (&run.Run{Image: of}).NeedsMasterKey()
		return r, err
	})
}

// jobless is the condition that a run holds a place and nobody will ever look at
// it.
const jobless = `r.state IN ('queued', 'running') AND r.placed
	AND NOT EXISTS (SELECT 1 FROM river_job j WHERE j.id = r.job_id AND ` + live + `)
	AND NOT EXISTS (SELECT 1 FROM job_lease l WHERE l.job_id = r.job_id)`

// abandonLostRuns ends the runs that nobody works on and that have no try left, or were
// cancelled under a worker that died.
func (db *Store) abandonLostRuns(ctx context.Context) error {
	ids, err := db.runIDs(ctx, "SELECT r.id FROM run r WHERE (r.tries >= ? OR r.cancelled) AND ("+jobless+
		" OR r.state = 'queued' AND NOT r.placed) ORDER BY r.id LIMIT ?", run.MaxTries, dispatchLimit)
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := db.Tx(ctx, func(tx *sqldb.Tx) error {
			r, err := scanRun(tx.QueryRow(ctx, "SELECT "+Columns+Tables+"WHERE r.id = ?", id))
			if err != nil {
				return err
			}
			f := run.RetriesExhausted(r.Tries, r.Failure)
			// The user's wish explains the end better than the lost worker.
			if r.Cancelled {
				f = run.Cancelled()
			}
			if err := finishRun(ctx, tx, ending{Run: &r, Where: fmt.Sprintf("attempt = %d", r.Attempt),
				State:   run.Failed,
				Failure: f}); err != nil {
				return err
			}
			return auditlog.Append(ctx, tx,
				runEvent(&r, "scan.end", map[string]any{"state": run.Failed, "code": f.Code}))
		})
		// Gone or ended meanwhile: somebody else was faster.
		if err != nil && !errs.Is(err, errs.Conflict) && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// needsKey is the condition that a run names a credential or a target; see run.Image,
// whose JSON no other text with quotes can stand in.
const needsKey = `(r.target_id <> '' OR r.image LIKE '%"credential":"%')`

// admitWaiting gives free places. One process does it at a time: the row in deployment
// is the lock.
func (db *Store) admitWaiting(ctx context.Context, sealed bool) error {
	// The dispatcher asks every few seconds: an idle deployment should not take a lock each time.
	if idle, err := db.isQueueEmpty(ctx); err != nil || idle {
		return err
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO deployment (name, value) VALUES ('dispatch', '') ON CONFLICT (name) "+
			"DO NOTHING"); err != nil {
			return err
		}
		// The row lock makes other dispatchers wait. In SQLite a transaction locks the database.
		var lock string
		if err := tx.QueryRow(ctx, "SELECT value FROM deployment WHERE name = "+
			"'dispatch'"+tx.DB.Dialect.ForUpdate()).Scan(&lock); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT w.id FROM (
				SELECT r.id, r.created_at, r.retry_at, o.concurrent_scan_limit - (
					SELECT COUNT(*) FROM run b WHERE b.organization_id = r.organization_id AND b.state IN ('queued', 'running') AND b.placed
				) AS free,
				ROW_NUMBER() OVER (PARTITION BY r.organization_id ORDER BY r.created_at, r.id) AS number
				FROM run r JOIN organization o ON o.id = r.organization_id
				WHERE r.state = 'queued' AND r.uploaded AND NOT r.placed AND NOT r.cancelled AND NOT r.paused AND (r.retry_at <= ? OR r.retry_at > ?) AND (? OR NOT `+needsKey+`)
				AND NOT EXISTS (
					SELECT 1 FROM run e WHERE e.project_id = r.project_id AND e.branch = r.branch AND e.target_id = r.target_id AND e.state IN ('queued', 'running')
					AND e.uploaded AND NOT (e.paused AND NOT e.placed) AND e.id <> r.id AND (e.placed OR e.created_at < r.created_at OR e.created_at = r.created_at AND e.id < r.id)
				)
			) w WHERE w.number <= w.free ORDER BY w.created_at, w.id LIMIT ?`,
			// A retry that lies further ahead than any is from before the clock was set back.
			sqldb.Millis(tx.Now), sqldb.Millis(tx.Now.Add(run.MaxRetryDelay)), sealed, dispatchLimit)
		ids, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (string, error) {
			var id string
			err := rows.Scan(&id)
			return id, err
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		cond, arg := tx.DB.Dialect.In("id", ids)
		_, err = tx.Exec(ctx, "UPDATE run SET placed = TRUE, job_id = 0 WHERE state = 'queued' AND "+cond, arg)
		return err
	})
}

// isQueueEmpty reports whether no run can want a place: the common case, which
// needs no lock.
func (db *Store) isQueueEmpty(ctx context.Context) (bool, error) {
	var one int
	err := db.QueryRow(ctx, "SELECT 1 FROM run WHERE state = 'queued' AND uploaded AND NOT placed AND NOT paused "+
		"LIMIT 1").Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	return false, db.Classify(err)
}

// SetJob records the job of a run that holds a place, unless a worker has taken
// it meanwhile.
func (db *Store) SetJob(ctx context.Context, r job.ReadyRun, jobID int64) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE run SET job_id = ? WHERE id = ? AND attempt = ? AND state IN ('queued', "+
			"'running')", jobID, r.Run, r.Attempt)
		return err
	})
}

// ClaimRun gives the run to the holder of a job: it raises the attempt, which
// shuts out whoever had the run before, and makes the lease. It returns nil when
// the job is out of date: the run has ended, is gone, or was taken by another.
func (db *Store) ClaimRun(ctx context.Context, t job.Claim) (*run.Run, error) {
	var taken *run.Run
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		// The function may run again after a serialization failure: forget the result of the first
		// run.
		taken = nil
		n, err := tx.Exec(ctx, `UPDATE run SET state = 'running', attempt = attempt + 1, tries = tries + 1, job_id = ?, retry_at = 0, failure = '',
			progress = 0, step = 'starting', updated_at = ?, started_at = CASE WHEN started_at = 0 THEN ? ELSE started_at END
			WHERE id = ? AND attempt = ? AND state IN ('queued', 'running') AND placed AND NOT cancelled AND NOT paused AND tries < ?`,
			t.Job, sqldb.Millis(tx.Now), sqldb.Millis(tx.Now), t.Run, t.Attempt, run.MaxTries)
		if err != nil || n == 0 {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO job_lease (job_id, holder, beat) VALUES (?, ?, 0)
			ON CONFLICT (job_id) DO UPDATE SET holder = excluded.holder, beat = 0`, t.Job, t.Holder)
		if err != nil {
			return err
		}
		r, err := scanRun(tx.QueryRow(ctx, "SELECT "+Columns+Tables+"WHERE r.id = ?", t.Run))
		taken = &r
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take run %s: %w", t.Run, err)
	}
	return taken, nil
}

// Heartbeat says that the holder of a job's lease lives. It reports what somebody wants of
// the run; the lease being another's is a Conflict.
func (db *Store) Heartbeat(ctx context.Context, t job.Claim) (wish job.Request, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		// The beat is a counter and no time: clocks of workers may differ, and whoever watches only
		// compares two readings.
		n, err := tx.Exec(ctx, "UPDATE job_lease SET beat = beat + 1 WHERE job_id = ? AND holder = ?", t.Job, t.Holder)
		if err != nil {
			return err
		}
		if n == 0 {
			return errs.E(errs.Conflict, "the lease of the job was lost")
		}
		var cancelled, paused bool
		err = tx.QueryRow(ctx, "SELECT cancelled, paused FROM run WHERE id = ? AND attempt = ? AND state = "+
			"'running'", t.Run, t.Attempt+1).Scan(&cancelled, &paused)
		switch {
		case cancelled:
			wish = job.Cancel
		case paused:
			wish = job.Pause
		}
		if errors.Is(err, sql.ErrNoRows) {
			return errs.E(errs.Conflict, "the run was lost")
		}
		return err
	})
	return wish, err
}

// Leases returns every job that somebody works on, or that River takes for being
// worked on; Beat is -1 where nobody holds a lease.
func (db *Store) Leases(ctx context.Context) ([]job.Lease, error) {
	rows, err := db.Query(ctx, `SELECT j.id, COALESCE(l.holder, ''), COALESCE(l.beat, -1) FROM river_job j
		LEFT JOIN job_lease l ON l.job_id = j.id WHERE j.state = 'running'
		UNION ALL
		SELECT l.job_id, l.holder, l.beat FROM job_lease l
		WHERE NOT EXISTS (SELECT 1 FROM river_job j WHERE j.id = l.job_id AND j.state = 'running')`)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (job.Lease, error) {
		var l job.Lease
		err := rows.Scan(&l.Job, &l.Holder, &l.Beat)
		return l, err
	})
}

// Reap ends a job whose holder is dead, unless the lease was renewed since l was
// read. Its run gets another job.
func (db *Store) Reap(ctx context.Context, l job.Lease) (bool, error) {
	reaped := false
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		reaped = false
		// The condition on beat makes the check and the removal atomic: a heartbeat in between
		// saves the lease (TOCTOU, CWE-367).
		if l.Beat >= 0 {
			n, err := tx.Exec(ctx, "DELETE FROM job_lease WHERE job_id = ? AND holder = ? AND beat = ?", l.Job,
				l.Holder, l.Beat)
			if err != nil || n == 0 {
				return err
			}
		}
		// The job is not made available again: the dead one may turn out to be only
		// slow, and its report would then end the job under its successor.
		_, err := tx.Exec(ctx, `UPDATE river_job SET state = 'discarded', finalized_at = CURRENT_TIMESTAMP WHERE id = ? AND state = 'running'
			AND NOT EXISTS (SELECT 1 FROM job_lease l WHERE l.job_id = river_job.id)`, l.Job)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE run SET step = 'its worker stopped; waiting for another', updated_at = ? WHERE "+
			"job_id = ? AND state = 'running'",
			sqldb.Millis(tx.Now), l.Job)
		reaped = err == nil
		return err
	})
	return reaped, err
}

// CheckAttempt touches the run inside the transaction, and returns a Conflict
// error when the attempt does not hold it any more.
func CheckAttempt(ctx context.Context, tx *sqldb.Tx, id run.ID, attempt int) error {
	n, err := tx.Exec(ctx, "UPDATE run SET updated_at = ? WHERE id = ? AND attempt = ? AND state = "+
		"'running'", sqldb.Millis(tx.Now), id, attempt)
	if err != nil {
		return fmt.Errorf("check attempt: %w", err)
	}
	if n == 0 {
		return errs.E(errs.Conflict, "the scan has ended, or another worker has it")
	}
	return nil
}

// ShowProgress records how far a run is.
func (db *Store) ShowProgress(ctx context.Context, r *run.Run) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := CheckAttempt(ctx, tx, r.ID, r.Attempt); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE run SET progress = ?, step = ? WHERE id = ?", r.Progress, r.Step, r.ID)
		return err
	})
}

// EndRun writes the end of a run that the attempt holds, and gives back its
// lease. It returns a Conflict error when another has it.
func (db *Store) EndRun(ctx context.Context, r *run.Run) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		err := finishRun(ctx, tx, ending{
			Run: r, Where: fmt.Sprintf("state = 'running' AND attempt = %d", r.Attempt),
			State: r.State, Failure: r.Failure, Outcome: r.Outcome,
		})
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM job_lease WHERE job_id = (SELECT job_id FROM run WHERE "+
			"id = ?)", r.ID); err != nil {
			return fmt.Errorf("give back the lease: %w", err)
		}
		if r.State != run.Failed && r.Image == nil && r.Target == nil {
			languages, err := json.Marshal(r.Languages)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "UPDATE project SET languages = ? WHERE id = ?", string(languages),
				r.ProjectID); err != nil {
				return fmt.Errorf("write languages: %w", err)
			}
		}
		detail := map[string]any{"state": r.State, "changes": r.Outcome.Changes}
		if r.Failure != nil {
			detail["code"] = r.Failure.Code
		}
		return auditlog.Append(ctx, tx, runEvent(r, "scan.end", detail))
	})
}

// Requeue returns a run that the attempt holds to the queue. A zero delay puts it
// first in line and does not count as a try: the worker stops, and it is not the
// run's fault.
func (db *Store) Requeue(ctx context.Context, r *run.Run, f *run.Failure, delay time.Duration) error {
	// tries is what is subtracted: the claim has counted this try, and a worker that stops in
	// order gives it back.
	failure, tries, placed, retryAt := "", 1, true, int64(0)
	if delay > 0 {
		tries, placed, retryAt = 0, false, sqldb.Millis(db.Timestamp().Add(delay))
	}
	if f != nil {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		failure = string(text)
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := CheckAttempt(ctx, tx, r.ID, r.Attempt); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM job_lease WHERE job_id = (SELECT job_id FROM run WHERE "+
			"id = ?)", r.ID); err != nil {
			return fmt.Errorf("give back the lease: %w", err)
		}
		_, err := tx.Exec(ctx, `UPDATE run SET state = 'queued', job_id = 0, placed = ?, tries = tries - ?, retry_at = ?, failure = ?,
			progress = 0, step = ? WHERE id = ?`, placed, tries, retryAt, failure, r.WaitingStep(), r.ID)
		if err != nil || r.Target == nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE run SET placed = FALSE, step = ? WHERE id = ? AND paused", run.StepPaused, r.ID)
		return err
	})
}

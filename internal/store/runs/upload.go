package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"merlon/internal/errs"
	"merlon/internal/run"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
)

// This file keeps track of what is in blob storage for which run.

// BeginUpload records that something is being put under the key for a run that
// waits for its upload.
func (db *Store) BeginUpload(ctx context.Context, id run.ID, key string) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := awaitsUpload(ctx, tx, id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO upload (blob_key, run_id, touched_at, organization_id) SELECT ?, id, ?, "+
			"organization_id FROM run WHERE id = ?",
			key, sqldb.Millis(tx.Now), id)
		return err
	})
}

// awaitsUpload locks the run, and returns an error that says why it takes no
// upload.
func awaitsUpload(ctx context.Context, tx *sqldb.Tx, id run.ID) error {
	var state run.State
	var uploaded bool
	err := tx.QueryRow(ctx, "SELECT state, uploaded FROM run WHERE id = ?"+tx.DB.Dialect.ForUpdate(), id).Scan(&state,
		&uploaded)
	switch {
	case err != nil:
		return sqldb.NotFound(err, "scan")
	// The token of an address cannot be revoked, so its single use is enforced here.
	case uploaded:
		return errs.E(errs.Gone, "this upload address has been used: start a new scan to upload again")
	case state != run.Queued:
		return errs.E(errs.Conflict, "the scan has ended: start a new one")
	}
	return nil
}

// TouchUpload records that an upload is alive and takes up so many bytes. When its
// organization may not store that many, that is a TooLarge error, and nothing changes.
func (db *Store) TouchUpload(ctx context.Context, key string, bytes int64) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := checkStorageLimit(ctx, tx, key, bytes); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, "UPDATE upload SET touched_at = ?, bytes = ? WHERE blob_key = ? AND touched_at > 0",
			sqldb.Millis(tx.Now), bytes, key)
		if err == nil && n == 0 {
			err = errs.E(errs.Conflict, "the upload was given up")
		}
		return err
	})
}

// checkStorageLimit returns a TooLarge error when the organization of the upload may not store so
// many bytes under the key, beside what it stores. The lock lets two uploads of an
// organization not both take its last room.
func checkStorageLimit(ctx context.Context, tx *sqldb.Tx, key string, bytes int64) error {
	most := tx.DB.MaxStored
	if most == 0 {
		return nil
	}
	var id string
	err := tx.QueryRow(ctx, "SELECT o.id FROM organization o WHERE o.id = (SELECT u.organization_id FROM upload u "+
		"WHERE u.blob_key = ?)"+tx.DB.Dialect.ForUpdate(), key).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return errs.E(errs.Conflict, "the upload was given up")
	}
	if err != nil {
		return fmt.Errorf("lock an organization: %w", err)
	}
	var others int64
	err = tx.QueryRow(ctx, "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM upload WHERE organization_id = ? AND "+
		"blob_key <> ?", id, key).Scan(&others)
	if err != nil {
		return fmt.Errorf("sum up stored bytes: %w", err)
	}
	if others+bytes > most {
		return run.StorageFull(others, most)
	}
	return nil
}

// FinishUpload makes a whole upload the archive of its run, which may now be
// scanned.
func (db *Store) FinishUpload(ctx context.Context, id run.ID, key string, size int64) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if err := awaitsUpload(ctx, tx, id); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, "UPDATE upload SET touched_at = ?, bytes = ? WHERE blob_key = ? AND touched_at > 0",
			sqldb.Millis(tx.Now), size, key)
		if err != nil {
			return err
		}
		if n == 0 {
			return errs.E(errs.Conflict, "the upload was given up: send it again")
		}
		_, err = tx.Exec(ctx, "UPDATE run SET uploaded = TRUE, archive = ?, size = ?, step = ?, updated_at = ? "+
			"WHERE id = ?",
			key, size, run.StepQueued, sqldb.Millis(tx.Now), id)
		return err
	})
}

// ForgetUpload records that nothing is stored under the key.
func (db *Store) ForgetUpload(ctx context.Context, key string) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM upload WHERE blob_key = ?", key); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE run SET archive = '' WHERE archive = ?", key)
		return err
	})
}

// AbandonRun ends a run that waits for its upload.
func (db *Store) AbandonRun(ctx context.Context, id run.ID, f *run.Failure) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		r, err := scanRun(tx.QueryRow(ctx, "SELECT "+Columns+Tables+"WHERE r.id = ?", id))
		if err != nil {
			return sqldb.NotFound(err, "scan")
		}
		if err := finishRun(ctx, tx, ending{Run: &r, Where: "NOT uploaded", State: run.Failed,
			Failure: f}); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, runEvent(&r, "scan.end", map[string]any{"state": run.Failed, "code": f.Code}))
	})
}

// ExpireRuns ends the runs whose address expired before anything was uploaded,
// unless an upload is under way, and returns how many. An address whose upload
// began in time stays good until the upload ends.
func (db *Store) ExpireRuns(ctx context.Context) (int, error) {
	ids, err := db.runIDs(ctx, `SELECT r.id FROM run r WHERE r.state = 'queued' AND NOT r.uploaded AND r.upload_expires_at <= ?
		AND NOT EXISTS (SELECT 1 FROM upload u WHERE u.run_id = r.id AND u.touched_at > ?)
		ORDER BY r.created_at, r.id LIMIT 1000`, sqldb.Millis(db.Timestamp()), sqldb.Millis(db.Timestamp().Add(-run.UploadIdle)))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, id := range ids {
		err := db.AbandonRun(ctx, id, run.UploadMissing())
		if err != nil && !errs.Is(err, errs.Conflict) && !errs.Is(err, errs.NotFound) {
			return n, err
		}
		if err == nil {
			n++
		}
	}
	return n, nil
}

// runIDs returns the IDs that a query finds.
func (db *Store) runIDs(ctx context.Context, query string, args ...any) ([]run.ID, error) {
	rows, err := db.Query(ctx, query, args...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (run.ID, error) {
		var id run.ID
		err := rows.Scan(&id)
		return id, err
	})
}

// Garbage returns keys of blob storage that nobody needs: of runs that ended or
// are gone, of uploads that another one overtook, and of uploads that stopped
// without a word. Each is to be deleted there, then forgotten. An upload that
// was only slow does not become an archive any more.
func (db *Store) Garbage(ctx context.Context) ([]string, error) {
	var keys []string
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		idle := sqldb.Millis(tx.Now.Add(-run.UploadIdle))
		rows, err := tx.Query(ctx, `SELECT u.blob_key FROM upload u LEFT JOIN run r ON r.id = u.run_id
			WHERE r.state NOT IN ('queued', 'running') AND r.archive = u.blob_key
				OR (r.id IS NULL OR r.archive <> u.blob_key) AND u.touched_at <= ?
			ORDER BY u.blob_key LIMIT 1000`, idle)
		keys, err = sqldb.Collect(rows, err, func(rows *sql.Rows) (string, error) {
			var key string
			err := rows.Scan(&key)
			return key, err
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		cond, arg := tx.DB.Dialect.In("blob_key", keys)
		// Marked before it is deleted: a slow upload that comes to its end now finds the mark and
		// fails, instead of becoming an archive that is about to be deleted.
		_, err = tx.Exec(ctx, "UPDATE upload SET touched_at = 0 WHERE "+cond, arg)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list garbage: %w", err)
	}
	return keys, nil
}

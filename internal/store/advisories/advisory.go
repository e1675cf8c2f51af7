package advisories

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"merlon/internal/advisory"
	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
)

// This file keeps the vulnerability data. A data file is hundreds of megabytes,
// so its chunks are written in many small transactions, between which others may
// write; the last one puts it in force.

const (
	advisoryChunk  = 1 << 20        // bytes of a data file in a row
	advisoryBatch  = 8              // chunks in a transaction
	keptSnapshots  = 2              // those that are being read when a new one comes
	abandonedAfter = 24 * time.Hour // an import that was interrupted
)

// SaveAdvisories stores a data file and puts it in force. Its ID and CreatedAt
// are set here. It fails with Conflict when the snapshot in force is not
// s.Previous: then another import has ended since.
func (db *Store) SaveAdvisories(ctx context.Context, s *advisory.Snapshot, file io.Reader) error {
	meta, err := json.Marshal(s.Meta)
	if err != nil {
		return fmt.Errorf("describe the advisories: %w", err)
	}
	s.ID = uuid.NewString()
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		s.CreatedAt = tx.Now
		_, err := tx.Exec(ctx, `INSERT INTO advisory_snapshot
			(id, seq, digest, meta, size, created_at) VALUES (?, 0, ?, ?, ?, ?)`,
			s.ID, s.Digest, string(meta), s.Size, sqldb.Millis(tx.Now))
		return err
	})
	if err != nil {
		return fmt.Errorf("save advisories: %w", err)
	}
	if err = db.saveChunks(ctx, s, file); err == nil {
		err = db.Tx(ctx, func(tx *sqldb.Tx) error { return enforceAdvisories(ctx, tx, s) })
	}
	if err == nil {
		return nil
	}
	// Also when the import was cancelled: hundreds of megabytes would stay for a day.
	clean := db.Tx(context.WithoutCancel(ctx), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM advisory_snapshot WHERE id = ? AND seq = 0", s.ID)
		return err
	})
	var known *errs.Error
	if errors.As(err, &known) {
		return errors.Join(err, clean)
	}
	return errors.Join(fmt.Errorf("save advisories: %w", err), clean)
}

// saveChunks writes the data file.
func (db *Store) saveChunks(ctx context.Context, s *advisory.Snapshot, file io.Reader) error {
	var total int64
	for seq, done := 0, false; !done; seq += advisoryBatch {
		var batch [][]byte
		for len(batch) < advisoryBatch && !done {
			b := make([]byte, advisoryChunk)
			n, err := io.ReadFull(file, b)
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("read the data file: %w", err)
			}
			// The end of the file, in the middle of a chunk or exactly at its end.
			done = err != nil
			if n > 0 {
				batch = append(batch, b[:n])
				total += int64(n)
			}
		}
		err := db.Tx(ctx, func(tx *sqldb.Tx) error {
			for i, b := range batch {
				if _, err := tx.Exec(ctx, "INSERT INTO advisory_chunk (snapshot_id, seq, data) VALUES (?, ?, ?)", s.ID,
					seq+i, b); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	// A short file would only be noticed by the worker that reads it.
	if total != s.Size {
		return fmt.Errorf("the data file has %d bytes instead of %d", total, s.Size)
	}
	return nil
}

// enforceAdvisories puts a snapshot in force and removes old ones.
func enforceAdvisories(ctx context.Context, tx *sqldb.Tx, s *advisory.Snapshot) error {
	latest, err := latestAdvisories(ctx, tx)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	if latest.ID != s.Previous {
		return errs.E(errs.Conflict, "another import of advisories has ended in the meantime; import again")
	}
	var seq int64
	if err := tx.QueryRow(ctx, "SELECT COALESCE(MAX(seq), 0) + 1 FROM advisory_snapshot").Scan(&seq); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE advisory_snapshot SET seq = ? WHERE id = ?", seq, s.ID); err != nil {
		if tx.DB.Dialect.Conflict(err) {
			return errs.Wrap(errs.Conflict, err, "another import of advisories ends at this moment; import again")
		}
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM advisory_snapshot WHERE (seq > 0 AND seq <= ?) OR (seq = 0 AND "+
		"created_at < ?)",
		seq-keptSnapshots, sqldb.Millis(tx.Now.Add(-abandonedAfter))); err != nil {
		return err
	}
	return auditlog.Append(ctx, tx, audit.Event{
		Action: "advisories.import", TargetKind: "advisories", Target: s.ID,
		Detail: map[string]any{"digest": s.Digest, "records": s.Records},
	})
}

// LatestAdvisories returns the snapshot in force; NotFound when nothing was
// imported.
func (db *Store) LatestAdvisories(ctx context.Context) (advisory.Snapshot, error) {
	return latestAdvisories(ctx, db.DB)
}

// latestAdvisories reads the snapshot in force: that with the highest sequence number. An
// import that has not ended has the number 0.
func latestAdvisories(ctx context.Context, q sqldb.Querier) (advisory.Snapshot, error) {
	var s advisory.Snapshot
	var created int64
	var meta string
	err := q.QueryRow(ctx, `SELECT id, digest, meta, size, created_at
		FROM advisory_snapshot WHERE seq > 0 ORDER BY seq DESC LIMIT 1`).Scan(&s.ID, &s.Digest, &meta, &s.Size, &created)
	if err != nil {
		return s, sqldb.NotFound(err, "imported vulnerability data")
	}
	s.CreatedAt = sqldb.FromMillis(created)
	if err := json.Unmarshal([]byte(meta), &s.Meta); err != nil {
		return s, fmt.Errorf("advisories %s: meta: %w", s.ID, err)
	}
	return s, nil
}

// DescribeAdvisories changes how a snapshot is described, such as when a mirror was
// asked for news and had none; the data file stays. NotFound when newer data has
// replaced it.
func (db *Store) DescribeAdvisories(ctx context.Context, s advisory.Snapshot) error {
	meta, err := json.Marshal(s.Meta)
	if err != nil {
		return fmt.Errorf("describe the advisories: %w", err)
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE advisory_snapshot SET meta = ? WHERE id = ? AND seq > 0", string(meta), s.ID)
		if err != nil {
			return fmt.Errorf("describe the advisories: %w", err)
		}
		if n == 0 {
			return errs.E(errs.NotFound, "vulnerability data not found")
		}
		return nil
	})
}

// CopyAdvisories writes the data file of a snapshot to w. It fails with NotFound
// when newer ones have replaced it, also half-way.
func (db *Store) CopyAdvisories(ctx context.Context, id string, w io.Writer) error {
	var size int64
	if err := db.QueryRow(ctx, "SELECT size FROM advisory_snapshot WHERE id = ? AND "+
		"seq > 0", id).Scan(&size); err != nil {
		return sqldb.NotFound(err, "vulnerability data")
	}
	for seq := 0; size > 0; seq++ {
		var b []byte
		if err := db.QueryRow(ctx, "SELECT data FROM advisory_chunk WHERE snapshot_id = ? AND seq = ?", id,
			seq).Scan(&b); err != nil {
			return sqldb.NotFound(err, "vulnerability data")
		}
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("copy advisories: %w", err)
		}
		size -= int64(len(b))
	}
	return nil
}

package mailqueue

import (
	"context"
	"database/sql"
	"time"

	"merlon/internal/mail"
	"merlon/internal/store/sqldb"
)

var _ mail.Queue = (*Store)(nil)

// Enqueue puts a mail into the queue: the last thing but the audit records
// that a change does.
func Enqueue(ctx context.Context, tx *sqldb.Tx, m mail.Queued) error {
	_, err := tx.Exec(ctx, "INSERT INTO mail_outbox (id, recipient, sealed, next_at, created_at) VALUES (?, ?, "+
		"?, ?, ?)",
		m.ID, m.To, m.Sealed, sqldb.Millis(tx.Now), sqldb.Millis(m.Created))
	return err
}

// ClaimMail returns at most n mails that are due, raises their Attempts, and
// leaves them alone for the lease.
func (db *Store) ClaimMail(ctx context.Context, n int, lease time.Duration) ([]mail.Queued, error) {
	now := db.Timestamp()
	var due bool // looking must not write
	err := db.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM mail_outbox WHERE failed_at = 0 AND next_at <= ?)",
		sqldb.Millis(now)).Scan(&due)
	if err != nil || !due {
		return nil, db.Classify(err)
	}
	var mails []mail.Queued
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		// The condition stands twice: in PostgreSQL somebody else may have claimed a
		// row after the inner query found it.
		rows, err := tx.Query(ctx, `UPDATE mail_outbox SET attempts = attempts + 1, next_at = ?
			WHERE failed_at = 0 AND next_at <= ? AND id IN
				(SELECT id FROM mail_outbox WHERE failed_at = 0 AND next_at <= ? ORDER BY next_at, id LIMIT ?)
			RETURNING id, recipient, sealed, attempts, created_at`,
			sqldb.Millis(tx.Now.Add(lease)), sqldb.Millis(tx.Now), sqldb.Millis(tx.Now), n)
		mails, err = sqldb.Collect(rows, err, func(rows *sql.Rows) (q mail.Queued, err error) {
			var created int64
			err = rows.Scan(&q.ID, &q.To, &q.Sealed, &q.Attempts, &created)
			q.Created = sqldb.FromMillis(created)
			return q, err
		})
		return err
	})
	return mails, err
}

// MailSent removes a mail with everything it held.
func (db *Store) MailSent(ctx context.Context, id string) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM mail_outbox WHERE id = ?", id)
		return err
	})
}

// MailFailed records why a mail was not delivered and when to try again. With a
// zero time nobody tries again: the content is removed, the reason stays.
func (db *Store) MailFailed(ctx context.Context, id, reason string, next time.Time) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		if next.IsZero() {
			_, err := tx.Exec(ctx, "UPDATE mail_outbox SET failed_at = ?, reason = ?, sealed = ? WHERE id = ?",
				sqldb.Millis(tx.Now), reason, []byte{}, id)
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE mail_outbox SET next_at = ?, reason = ? WHERE id = ?", sqldb.Millis(next),
			reason, id)
		return err
	})
}

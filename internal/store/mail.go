package store

import (
	"context"
	"database/sql"
	"time"

	"merlon/internal/mail"
)

var _ mail.Queue = (*DB)(nil)

// queueMail puts a mail into the queue: the last thing but the audit records
// that a change does.
func (tx *Tx) queueMail(ctx context.Context, m mail.Queued) error {
	_, err := tx.Exec(ctx, "INSERT INTO mail_outbox (id, recipient, sealed, next_at, created_at) VALUES (?, ?, "+
		"?, ?, ?)",
		m.ID, m.To, m.Sealed, millis(tx.Now), millis(m.Created))
	return err
}

// ClaimMail returns at most n mails that are due, raises their Attempts, and
// leaves them alone for the lease.
func (db *DB) ClaimMail(ctx context.Context, n int, lease time.Duration) ([]mail.Queued, error) {
	now := db.now()
	var due bool // looking must not write
	err := db.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM mail_outbox WHERE failed_at = 0 AND next_at <= ?)",
		millis(now)).Scan(&due)
	if err != nil || !due {
		return nil, db.classify(err)
	}
	var mails []mail.Queued
	err = db.Tx(ctx, func(tx *Tx) error {
		// The condition stands twice: in PostgreSQL somebody else may have claimed a
		// row after the inner query found it.
		rows, err := tx.Query(ctx, `UPDATE mail_outbox SET attempts = attempts + 1, next_at = ?
			WHERE failed_at = 0 AND next_at <= ? AND id IN
				(SELECT id FROM mail_outbox WHERE failed_at = 0 AND next_at <= ? ORDER BY next_at, id LIMIT ?)
			RETURNING id, recipient, sealed, attempts, created_at`,
			millis(tx.Now.Add(lease)), millis(tx.Now), millis(tx.Now), n)
		mails, err = collect(rows, err, func(rows *sql.Rows) (q mail.Queued, err error) {
			var created int64
			err = rows.Scan(&q.ID, &q.To, &q.Sealed, &q.Attempts, &created)
			q.Created = fromMillis(created)
			return q, err
		})
		return err
	})
	return mails, err
}

// MailSent removes a mail with everything it held.
func (db *DB) MailSent(ctx context.Context, id string) error {
	return db.Tx(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM mail_outbox WHERE id = ?", id)
		return err
	})
}

// MailFailed records why a mail was not delivered and when to try again. With a
// zero time nobody tries again: the content is removed, the reason stays.
func (db *DB) MailFailed(ctx context.Context, id, reason string, next time.Time) error {
	return db.Tx(ctx, func(tx *Tx) error {
		if next.IsZero() {
			_, err := tx.Exec(ctx, "UPDATE mail_outbox SET failed_at = ?, reason = ?, sealed = ? WHERE id = ?",
				millis(tx.Now), reason, []byte{}, id)
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE mail_outbox SET next_at = ?, reason = ? WHERE id = ?", millis(next), reason, id)
		return err
	})
}

package users

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"merlon/internal/audit"
	"merlon/internal/identity"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
)

// errExceeded takes back what a transaction counted.
var errExceeded = errors.New("a limit is exceeded")

// CountHits counts every hit, or none when one of them is beyond its limit: then
// it returns the hit and how long to wait.
func (db *Store) CountHits(ctx context.Context, hits []identity.Hit) (identity.Exceeded, error) {
	var over identity.Exceeded
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		for _, h := range inOrder(hits) {
			present, earlier, err := countHit(ctx, tx, h)
			if err != nil {
				return err
			}
			if wait := h.Beyond(present, earlier); wait > 0 {
				over = identity.Exceeded{Hit: h, Wait: wait}
				return errExceeded
			}
		}
		over = identity.Exceeded{}
		return nil
	})
	if errors.Is(err, errExceeded) {
		err = nil
	}
	return over, err
}

// countHit counts one hit and returns how many there were before, in its window
// and in the one before.
func countHit(ctx context.Context, tx *sqldb.Tx, h identity.Hit) (present, earlier int, err error) {
	start := h.Window()
	err = tx.QueryRow(ctx, `INSERT INTO rate_window (name, start_at, hits, ends_at) VALUES (?, ?, 1, ?)
		ON CONFLICT (name, start_at) DO UPDATE SET hits = rate_window.hits + 1 RETURNING hits`,
		h.Key, sqldb.Millis(start), sqldb.Millis(start.Add(2*h.Limit.Window))).Scan(&present)
	if err != nil {
		return 0, 0, err
	}
	err = tx.QueryRow(ctx, "SELECT hits FROM rate_window WHERE name = ? AND start_at = ?",
		h.Key, sqldb.Millis(start.Add(-h.Limit.Window))).Scan(&earlier)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return present - 1, earlier, err
}

// UncountHits takes hits back; a counter never goes below zero.
func (db *Store) UncountHits(ctx context.Context, hits []identity.Hit) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		for _, h := range inOrder(hits) {
			_, err := tx.Exec(ctx, "UPDATE rate_window SET hits = hits - 1 WHERE name = ? AND start_at = ? AND "+
				"hits > 0",
				h.Key, sqldb.Millis(h.Window()))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// inOrder returns the hits in a fixed order, so that two transactions never wait
// for each other.
func inOrder(hits []identity.Hit) []identity.Hit {
	return slices.SortedFunc(slices.Values(hits), func(a, b identity.Hit) int { return strings.Compare(a.Key, b.Key) })
}

// RecordUses appends the events and records when tokens were used, in one
// transaction.
func (db *Store) RecordUses(ctx context.Context, uses []identity.Use) error {
	events := make([]audit.Event, len(uses))
	last := map[identity.TokenID]int64{}
	for i, u := range uses {
		events[i] = u.Event
		if u.Token != "" {
			last[u.Token] = max(last[u.Token], sqldb.Millis(u.At))
		}
	}
	ids := make([]identity.TokenID, 0, len(last))
	for id := range last {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		for _, id := range ids {
			if _, err := tx.Exec(ctx, "UPDATE personal_access_token SET last_used_at = ? WHERE id = ? AND "+
				"last_used_at < ?",
				last[id], string(id), last[id]); err != nil {
				return err
			}
		}
		return auditlog.Append(ctx, tx, slices.Clone(events)...)
	})
}

// SweepIdentity removes what has expired: sessions that do not hold, requests,
// counters, origins, and mails that were given up a month ago.
func (db *Store) SweepIdentity(ctx context.Context, live identity.Live) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		now := sqldb.Millis(tx.Now)
		monthAgo := sqldb.Millis(tx.Now.Add(-originMemory))
		for _, d := range []struct {
			query string
			args  []any
		}{
			{"DELETE FROM session WHERE expires_at <= ? OR last_used_at <= ?",
				[]any{sqldb.Millis(live.At), sqldb.Millis(live.UsedSince)}},
			{"DELETE FROM one_time_token WHERE expires_at <= ?", []any{now}},
			{"DELETE FROM rate_window WHERE ends_at <= ?", []any{now}},
			{"DELETE FROM known_origin WHERE last_at <= ?", []any{monthAgo}},
			{"DELETE FROM mail_outbox WHERE failed_at > 0 AND failed_at <= ?", []any{monthAgo}},
		} {
			if _, err := tx.Exec(ctx, d.query, d.args...); err != nil {
				return err
			}
		}
		return nil
	})
}

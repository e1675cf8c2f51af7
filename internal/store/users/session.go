package users

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/identity"
	oidcgrant "merlon/internal/oidc/grant"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/oauth"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// originMemory is for how long a user's origin is known. Sign-ins from a known origin do not
// count for the limit of the account, so that an attacker elsewhere cannot lock its owner out.
const originMemory = 30 * 24 * time.Hour

// CreateSession stores a session, forgets the user's oldest ones beyond
// identity.MaxSessions, and remembers the origin. It returns an Unauthenticated
// error when the password was changed or the user disabled since it was verified.
func (db *Store) CreateSession(ctx context.Context, se identity.NewSession, e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		var password string
		err := tx.QueryRow(ctx, "SELECT password FROM credential WHERE user_id = ?"+tx.DB.Dialect.ForUpdate(),
			string(se.UserID)).Scan(&password)
		if err != nil {
			return sqldb.NotFound(err, "user")
		}
		var active bool
		if err := tx.QueryRow(ctx, "SELECT disabled_at = 0 FROM app_user WHERE id = ?",
			string(se.UserID)).Scan(&active); err != nil {
			return err
		}
		// The password was verified before the transaction, which takes a tenth of a second: it may
		// have been changed in between (TOCTOU, CWE-367).
		if password != se.Password || !active {
			return errs.E(errs.Unauthenticated, "the password was changed a moment ago: sign in again")
		}
		_, err = tx.Exec(ctx, `INSERT INTO session (id, user_id, token_hash, auth_at, ip, user_agent, created_at, last_used_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(se.ID), string(se.UserID), se.Hash, sqldb.Millis(se.AuthTime), se.IP, se.UserAgent,
			sqldb.Millis(se.CreatedAt), sqldb.Millis(se.LastUsedAt), sqldb.Millis(se.ExpiresAt))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM session WHERE user_id = ? AND id NOT IN
			(SELECT id FROM session WHERE user_id = ? ORDER BY last_used_at DESC, id DESC LIMIT ?)`,
			string(se.UserID), string(se.UserID), identity.MaxSessions); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO known_origin (user_id, origin, last_at) VALUES (?, ?, ?)
			ON CONFLICT (user_id, origin) DO UPDATE SET last_at = excluded.last_at`, string(se.UserID), se.Origin, sqldb.Millis(se.CreatedAt)); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, e)
	})
}

// sessionColumns are the columns of a session s, in the order of scanSession.
const sessionColumns = "s.id, s.user_id, s.auth_at, s.ip, s.user_agent, s.created_at, s.last_used_at, s.expires_at"

// scanSession scans sessionColumns.
func scanSession(scan func(...any) error) (se identity.Session, err error) {
	var auth, created, used, expires int64
	err = scan(&se.ID, &se.UserID, &auth, &se.IP, &se.UserAgent, &created, &used, &expires)
	se.AuthTime, se.CreatedAt, se.LastUsedAt, se.ExpiresAt = sqldb.FromMillis(auth), sqldb.FromMillis(created),
		sqldb.FromMillis(used),
		sqldb.FromMillis(expires)
	return se, err
}

// liveSession is the condition that a session holds; both times of an
// identity.Live are bound.
const liveSession = "s.expires_at > ? AND s.last_used_at > ? AND u.disabled_at = 0"

// SessionByHash returns a session that holds, or a NotFound error.
func (db *Store) SessionByHash(ctx context.Context, hash string, live identity.Live) (identity.Session, error) {
	se, err := scanSession(db.QueryRow(ctx, "SELECT "+sessionColumns+" FROM session s JOIN app_user u ON u.id = "+
		"s.user_id WHERE s.token_hash = ? AND "+liveSession,
		hash, sqldb.Millis(live.At), sqldb.Millis(live.UsedSince)).Scan)
	return se, db.Classify(sqldb.NotFound(err, "session"))
}

// Sessions returns a user's sessions that hold, latest use first.
func (db *Store) Sessions(ctx context.Context, user tenant.UserID, live identity.Live) ([]identity.Session, error) {
	rows, err := db.Query(ctx, "SELECT "+sessionColumns+" FROM session s JOIN app_user u ON u.id = s.user_id WHERE "+
		"s.user_id = ? AND "+liveSession+
		" ORDER BY s.last_used_at DESC, s.id DESC", string(user), sqldb.Millis(live.At), sqldb.Millis(live.UsedSince))
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (identity.Session, error) { return scanSession(rows.Scan) })
}

// EndSession removes a session of the user, or returns a NotFound error. The
// grants that were given in it are revoked; with KeepOffline, only those that have no
// refresh token.
func (db *Store) EndSession(ctx context.Context, end identity.SessionEnd, e audit.Event) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM session WHERE id = ? AND user_id = ?", string(end.ID), string(end.User))
		if err == nil && n == 0 {
			err = errs.E(errs.NotFound, "session not found")
		}
		if err != nil {
			return err
		}
		if err := dropPending(ctx, tx, end); err != nil {
			return err
		}
		where := "g.session_id = ? AND g.user_id = ?"
		if end.KeepOffline {
			where += " AND NOT EXISTS (SELECT 1 FROM oidc_refresh r WHERE r.grant_id = g.id)"
		}
		if err := oauth.RevokeGrants(ctx, tx, oauth.ReasonSessionEnd, where, string(end.ID),
			string(end.User)); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, e)
	})
}

// dropPending removes codes that were given in the session and not exchanged yet,
// and denies device authorizations that were approved in it, unless offline access
// stays.
func dropPending(ctx context.Context, tx *sqldb.Tx, end identity.SessionEnd) error {
	if end.KeepOffline {
		return nil
	}
	if _, err := tx.Exec(ctx, "DELETE FROM oidc_code WHERE session_id = ? AND grant_id = ''",
		string(end.ID)); err != nil {
		return fmt.Errorf("drop authorization codes: %w", err)
	}
	_, err := tx.Exec(ctx, "UPDATE oidc_device SET state = ? WHERE session_id = ? AND state = ?",
		string(oidcgrant.Denied), string(end.ID), string(oidcgrant.Approved))
	if err != nil {
		return fmt.Errorf("deny device authorizations: %w", err)
	}
	return nil
}

// TouchSession records a use.
func (db *Store) TouchSession(ctx context.Context, id identity.SessionID, at time.Time) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE session SET last_used_at = ? WHERE id = ? AND last_used_at < ?",
			sqldb.Millis(at),
			string(id), sqldb.Millis(at))
		return err
	})
}

// KnownOrigin reports whether the user has had a session from the origin in the
// last 30 days.
func (db *Store) KnownOrigin(ctx context.Context, user tenant.UserID, origin string) (bool, error) {
	var known bool
	err := db.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM known_origin WHERE user_id = ? AND origin = ? AND "+
		"last_at > ?)",
		string(user), origin, sqldb.Millis(db.Timestamp().Add(-originMemory))).Scan(&known)
	return known, db.Classify(err)
}

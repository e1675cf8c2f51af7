package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"merlon/internal/audit"
	oidcgrant "merlon/internal/oidc/grant"
	"merlon/internal/tenant"
)

// Why a grant was revoked, as the audit log says it.
const (
	reasonCodeReplay    = "the authorization code was used twice"
	reasonRefreshReplay = "a refresh token was used twice"
)

// codeMemory is how long a code is remembered after its end, to notice that it
// is used again.
const codeMemory = 24 * time.Hour

// AddCode keeps an authorization code.
func (db *DB) AddCode(ctx context.Context, c oidcgrant.Code) error {
	return db.Tx(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO oidc_code
			(hash, user_id, client_id, redirect_uri, challenge, nonce, scopes, offline, auth_time, created_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.Hash, string(c.UserID), c.ClientID, c.RedirectURI, c.Challenge, c.Nonce, strings.Join(c.Scopes, " "), c.Offline,
			millis(c.AuthTime), millis(c.CreatedAt), millis(c.ExpiresAt))
		if err != nil {
			return fmt.Errorf("add authorization code: %w", err)
		}
		return nil
	})
}

// Code returns the code with the hash, used or not, or a NotFound error.
func (db *DB) Code(ctx context.Context, hash string) (oidcgrant.Code, error) {
	c := oidcgrant.Code{Hash: hash}
	var scopes string
	var authTime, created, expires int64
	err := db.QueryRow(ctx, `SELECT user_id, client_id, redirect_uri, challenge, nonce, scopes, offline, auth_time, created_at, expires_at, grant_id
		FROM oidc_code WHERE hash = ?`, hash).
		Scan(&c.UserID, &c.ClientID, &c.RedirectURI, &c.Challenge, &c.Nonce, &scopes, &c.Offline, &authTime, &created, &expires, &c.GrantID)
	if err != nil {
		return oidcgrant.Code{}, db.classify(notFound(err, "the authorization code"))
	}
	c.Scopes = strings.Fields(scopes)
	c.AuthTime, c.CreatedAt, c.ExpiresAt = fromMillis(authTime), fromMillis(created), fromMillis(expires)
	return c, nil
}

// RedeemCode exchanges a code for a grant. When the code was used before it
// reports false, and what it gave then is revoked; tokens for it are refused
// until the given time.
func (db *DB) RedeemCode(ctx context.Context, hash string, t oidcgrant.Tokens, until time.Time) (fresh bool, err error) {
	err = db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, "UPDATE oidc_code SET grant_id = ? WHERE hash = ? AND grant_id = ''", t.Grant.ID, hash)
		if err != nil {
			return fmt.Errorf("use authorization code: %w", err)
		}
		if fresh = n == 1; fresh {
			return tx.addGrant(ctx, t)
		}
		var used string
		if err := tx.QueryRow(ctx, "SELECT grant_id FROM oidc_code WHERE hash = ?", hash).Scan(&used); err != nil {
			return notFound(err, "the authorization code")
		}
		return tx.revokeGrant(ctx, used, until, reasonCodeReplay)
	})
	return fresh, err
}

// addGrant inserts a grant and its first refresh token.
func (tx *Tx) addGrant(ctx context.Context, t oidcgrant.Tokens) error {
	g := t.Grant
	_, err := tx.Exec(ctx, `INSERT INTO oidc_grant (id, user_id, client_id, scopes, auth_time, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		g.ID, string(g.UserID), g.ClientID, strings.Join(g.Scopes, " "), millis(g.AuthTime), millis(g.CreatedAt), millis(g.ExpiresAt))
	if err != nil {
		return fmt.Errorf("add grant: %w", err)
	}
	if t.Refresh != nil {
		if err := tx.addRefresh(ctx, *t.Refresh); err != nil {
			return err
		}
	}
	return tx.audit(ctx, audit.Event{Actor: g.UserID, Client: g.ClientID, IP: t.IP, Action: "grant.create", TargetKind: "grant", Target: g.ID,
		Detail: map[string]any{"scopes": g.Scopes, "refresh": t.Refresh != nil}})
}

func (tx *Tx) addRefresh(ctx context.Context, r oidcgrant.Refresh) error {
	_, err := tx.Exec(ctx, "INSERT INTO oidc_refresh (hash, grant_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
		r.Hash, r.GrantID, millis(r.CreatedAt), millis(r.ExpiresAt))
	if err != nil {
		return fmt.Errorf("add refresh token: %w", err)
	}
	return nil
}

// Refresh returns the refresh token with the hash, used or not, and its grant,
// or a NotFound error.
func (db *DB) Refresh(ctx context.Context, hash string) (oidcgrant.Tokens, error) {
	r := oidcgrant.Refresh{Hash: hash}
	var g oidcgrant.Grant
	var scopes string
	var created, expires, used, authTime, granted, ends, revoked int64
	err := db.QueryRow(ctx, `SELECT r.created_at, r.expires_at, r.used_at,
			g.id, g.user_id, g.client_id, g.scopes, g.auth_time, g.created_at, g.expires_at, g.revoked_at
		FROM oidc_refresh r JOIN oidc_grant g ON g.id = r.grant_id WHERE r.hash = ?`, hash).
		Scan(&created, &expires, &used, &g.ID, &g.UserID, &g.ClientID, &scopes, &authTime, &granted, &ends, &revoked)
	if err != nil {
		return oidcgrant.Tokens{}, db.classify(notFound(err, "the refresh token"))
	}
	r.GrantID, r.CreatedAt, r.ExpiresAt, r.UsedAt = g.ID, fromMillis(created), fromMillis(expires), fromMillis(used)
	g.Scopes, g.AuthTime = strings.Fields(scopes), fromMillis(authTime)
	g.CreatedAt, g.ExpiresAt, g.RevokedAt = fromMillis(granted), fromMillis(ends), fromMillis(revoked)
	return oidcgrant.Tokens{Grant: g, Refresh: &r}, nil
}

// RotateRefresh exchanges a refresh token for the next one of its grant. When it
// was used before, or the grant was revoked, it reports false and the grant is
// revoked; tokens for it are refused until the given time.
func (db *DB) RotateRefresh(ctx context.Context, hash string, next oidcgrant.Refresh, until time.Time) (fresh bool, err error) {
	err = db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, `UPDATE oidc_refresh SET used_at = ? WHERE hash = ? AND used_at = 0
			AND EXISTS (SELECT 1 FROM oidc_grant g WHERE g.id = oidc_refresh.grant_id AND g.revoked_at = 0)`, millis(tx.Now), hash)
		if err != nil {
			return fmt.Errorf("use refresh token: %w", err)
		}
		if fresh = n == 1; !fresh {
			return tx.revokeGrant(ctx, next.GrantID, until, reasonRefreshReplay)
		}
		if _, err := tx.Exec(ctx, "UPDATE oidc_grant SET expires_at = ? WHERE id = ?", millis(next.ExpiresAt), next.GrantID); err != nil {
			return fmt.Errorf("extend grant: %w", err)
		}
		return tx.addRefresh(ctx, next)
	})
	return fresh, err
}

// RevokeGrant revokes a grant; access tokens for it are refused until the given
// time. The reason goes to the audit log.
func (db *DB) RevokeGrant(ctx context.Context, id string, until time.Time, reason string) error {
	return db.Tx(ctx, func(tx *Tx) error { return tx.revokeGrant(ctx, id, until, reason) })
}

func (tx *Tx) revokeGrant(ctx context.Context, id string, until time.Time, reason string) error {
	n, err := tx.Exec(ctx, "UPDATE oidc_grant SET revoked_at = ? WHERE id = ? AND revoked_at = 0", millis(tx.Now), id)
	if err != nil {
		return fmt.Errorf("revoke grant: %w", err)
	}
	if n == 0 {
		return nil // gone, or revoked before
	}
	if err := tx.revoke(ctx, id, until); err != nil {
		return err
	}
	return tx.audit(ctx, audit.Event{Action: "grant.revoke", TargetKind: "grant", Target: id, Detail: map[string]any{"reason": reason}})
}

// RevokeUser revokes every grant of a user, after a change of the password.
func (db *DB) RevokeUser(ctx context.Context, user tenant.UserID, until time.Time, reason string) error {
	return db.Tx(ctx, func(tx *Tx) error {
		rows, err := tx.Query(ctx, "SELECT id FROM oidc_grant WHERE user_id = ? AND revoked_at = 0 ORDER BY id", string(user))
		ids, err := collect(rows, err, scanText)
		if err != nil {
			return fmt.Errorf("list grants: %w", err)
		}
		for _, id := range ids {
			if err := tx.revokeGrant(ctx, id, until, reason); err != nil {
				return err
			}
		}
		return nil
	})
}

// RevokeTokens refuses access tokens with one of the ids, or made for a grant or
// session with one, until the given time.
func (db *DB) RevokeTokens(ctx context.Context, until time.Time, ids ...string) error {
	return db.Tx(ctx, func(tx *Tx) error {
		for _, id := range ids {
			if err := tx.revoke(ctx, id, until); err != nil {
				return err
			}
		}
		return nil
	})
}

func (tx *Tx) revoke(ctx context.Context, id string, until time.Time) error {
	_, err := tx.Exec(ctx, `INSERT INTO oidc_revocation (id, expires_at) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at WHERE oidc_revocation.expires_at < excluded.expires_at`, id, millis(until))
	if err != nil {
		return fmt.Errorf("revoke tokens: %w", err)
	}
	return nil
}

// Admit reports whether the user exists and is active, whether it is a service
// account, and that neither the token nor what it was made for is revoked; with
// since, also that the password was not changed after it. It is one look-up:
// every request of the API makes it.
func (db *DB) Admit(ctx context.Context, a oidcgrant.Admission) (active, service bool, err error) {
	var revoked bool
	var validFrom int64
	err = db.QueryRow(ctx, `SELECT u.disabled_at = 0, u.service_of IS NOT NULL, COALESCE(c.valid_from, 0),
			EXISTS (SELECT 1 FROM oidc_revocation r WHERE r.id IN (?, ?))
		FROM app_user u LEFT JOIN credential c ON c.user_id = u.id WHERE u.id = ?`, a.TokenID, a.MadeFor, string(a.User)).
		Scan(&active, &service, &validFrom, &revoked)
	if err != nil {
		return false, false, db.classify(notFound(err, "the user"))
	}
	stale := !a.Since.IsZero() && a.Since.Before(fromMillis(validFrom))
	return active && !revoked && !stale, service, nil
}

// CollectGrants removes what has ended: codes, grants with their refresh tokens,
// device authorizations and revocations. It returns the number of rows.
func (db *DB) CollectGrants(ctx context.Context) (removed int64, err error) {
	err = db.Tx(ctx, func(tx *Tx) error {
		removed = 0
		for _, d := range []struct {
			table  string
			before time.Time
		}{
			{"oidc_code", tx.Now.Add(-codeMemory)},
			{"oidc_refresh", tx.Now},
			{"oidc_grant", tx.Now.Add(-codeMemory)},
			{"oidc_device", tx.Now.Add(-codeMemory)},
			{"oidc_revocation", tx.Now},
		} {
			n, err := tx.Exec(ctx, "DELETE FROM "+d.table+" WHERE expires_at < ?", millis(d.before))
			if err != nil {
				return fmt.Errorf("collect %s: %w", d.table, err)
			}
			removed += n
		}
		return nil
	})
	return removed, err
}

func scanText(rows *sql.Rows) (s string, err error) { return s, rows.Scan(&s) }

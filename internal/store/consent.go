package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"merlon/internal/audit"
	oidcgrant "merlon/internal/oidc/grant"
	"merlon/internal/tenant"
)

// Consents returns what a user has agreed to give applications, ordered by the
// identifier of the application.
func (db *DB) Consents(ctx context.Context, user tenant.UserID) ([]oidcgrant.Consent, error) {
	rows, err := db.Query(ctx, "SELECT client_id, scopes, created_at FROM oidc_consent WHERE user_id = ? ORDER BY "+
		"client_id", string(user))
	return collect(rows, err, func(rows *sql.Rows) (oidcgrant.Consent, error) {
		c := oidcgrant.Consent{UserID: user}
		var scopes string
		var created int64
		err := rows.Scan(&c.ClientID, &scopes, &created)
		c.Scopes, c.CreatedAt = strings.Fields(scopes), fromMillis(created)
		return c, err
	})
}

// AddConsent keeps a consent in place of an earlier one of the same user and
// application.
func (db *DB) AddConsent(ctx context.Context, c oidcgrant.Consent) error {
	return db.Tx(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO oidc_consent (user_id, client_id, scopes, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (user_id, client_id) DO UPDATE SET scopes = excluded.scopes, created_at = excluded.created_at`,
			string(c.UserID), c.ClientID, strings.Join(c.Scopes, " "), millis(tx.Now))
		if err != nil {
			return fmt.Errorf("keep consent: %w", err)
		}
		return tx.audit(ctx, audit.Event{Actor: c.UserID, Client: c.ClientID, IP: c.IP, Action: "consent.create",
			TargetKind: "application", Target: c.ClientID, Detail: map[string]any{"scopes": c.Scopes}})
	})
}

// WithdrawConsent removes the user's consent to the application, if there is one,
// and revokes every grant and unused code that the user gave to the application.
func (db *DB) WithdrawConsent(ctx context.Context, c oidcgrant.Consent, reason string) error {
	return db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM oidc_consent WHERE user_id = ? AND client_id = ?", string(c.UserID),
			c.ClientID)
		if err != nil {
			return fmt.Errorf("withdraw consent: %w", err)
		}
		if n > 0 {
			err := tx.audit(ctx, audit.Event{Actor: c.UserID, IP: c.IP, Action: "consent.delete",
				TargetKind: "application", Target: c.ClientID, Detail: map[string]any{"reason": reason}})
			if err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM oidc_code WHERE user_id = ? AND client_id = ? AND grant_id = ''",
			string(c.UserID), c.ClientID); err != nil {
			return fmt.Errorf("remove unused codes: %w", err)
		}
		return tx.revokeGrants(ctx, reason, "g.user_id = ? AND g.client_id = ?", string(c.UserID), c.ClientID)
	})
}

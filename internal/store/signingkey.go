package store

import (
	"context"
	"database/sql"
	"fmt"

	"merlon/internal/audit"
	oidcgrant "merlon/internal/oidc/grant"
)

// SigningKeys returns every signing key, oldest first.
func (db *DB) SigningKeys(ctx context.Context) ([]oidcgrant.Key, error) {
	rows, err := db.Query(ctx, "SELECT generation, id, sealed, created_at, active_at FROM oidc_key ORDER BY generation")
	return collect(rows, err, func(rows *sql.Rows) (oidcgrant.Key, error) {
		var k oidcgrant.Key
		var created, active int64
		err := rows.Scan(&k.Generation, &k.ID, &k.Sealed, &created, &active)
		k.CreatedAt, k.ActiveAt = fromMillis(created), fromMillis(active)
		return k, err
	})
}

// AddSigningKey keeps a key. It reports false when another process has made the
// key of this generation.
func (db *DB) AddSigningKey(ctx context.Context, k oidcgrant.Key) (added bool, err error) {
	err = db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, `INSERT INTO oidc_key (generation, id, sealed, created_at, active_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (generation) DO NOTHING`, k.Generation, k.ID, k.Sealed, millis(k.CreatedAt), millis(k.ActiveAt))
		if err != nil {
			return fmt.Errorf("add signing key: %w", err)
		}
		if added = n == 1; !added {
			return nil
		}
		return tx.audit(ctx, audit.Event{Action: "signing_key.create", TargetKind: "signing_key", Target: k.ID})
	})
	return added, err
}

// DropSigningKey removes a key that nothing valid was signed with.
func (db *DB) DropSigningKey(ctx context.Context, id string) error {
	return db.Tx(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM oidc_key WHERE id = ?", id)
		if err != nil {
			return fmt.Errorf("drop signing key: %w", err)
		}
		if n == 0 {
			return nil // another process was faster
		}
		return tx.audit(ctx, audit.Event{Action: "signing_key.delete", TargetKind: "signing_key", Target: id})
	})
}

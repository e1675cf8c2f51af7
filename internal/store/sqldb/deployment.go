package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Once returns what the deployment remembers under the name. The first call, of
// whichever process, makes it value.
func (db *DB) Once(ctx context.Context, name, value string) (string, error) {
	err := db.Tx(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO deployment (name, value) VALUES (?, ?) ON CONFLICT (name) DO "+
			"NOTHING", name, value); err != nil {
			return fmt.Errorf("remember %s: %w", name, err)
		}
		return tx.QueryRow(ctx, "SELECT value FROM deployment WHERE name = ?", name).Scan(&value)
	})
	return value, err
}

// Recall returns what the deployment remembers under the name, "" for nothing.
func (db *DB) Recall(ctx context.Context, name string) (string, error) {
	var value string
	err := db.QueryRow(ctx, "SELECT value FROM deployment WHERE name = ?", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, db.Classify(err)
}

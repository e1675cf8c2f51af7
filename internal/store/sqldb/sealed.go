package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// This file finds sealed texts wherever they are stored, for the rotation of the master
// key. It knows the columns, and not what binds a text to its place.

// A SealedColumn is a column that holds sealed texts.
type SealedColumn struct {
	Table, Column string
	Key           []string // columns of the primary key
	With          []string // further columns that the label of a text is made of
	Fixed         bool     // the label cannot be made again; the rows go by themselves
}

// SealedColumns lists every such column.
var SealedColumns = []SealedColumn{
	{Table: "oidc_key", Column: "sealed", Key: []string{"id"}},
	{Table: "mail_outbox", Column: "sealed", Key: []string{"id"}},
	{Table: "registry_credential", Column: "sealed", Key: []string{"id"},
		With: []string{"organization_id", "kind", "name"}},
	{Table: "run_kept", Column: "sealed", Key: []string{"run_id"}},
	{Table: "target", Column: "sealed", Key: []string{"id"}, With: []string{"organization_id", "project_id"}},
	{Table: "idempotent_request", Column: "answer", Key: []string{"actor", "route", "key_hash"}, Fixed: true},
}

// A SealedText is one of them, with the values of its key and further columns.
type SealedText struct {
	Key, With []string
	Sealed    []byte
}

// other is the condition that a text does not begin with a prefix of five bytes. A mail
// that was given up has an empty text.
func (c SealedColumn) other() string {
	return "length(" + c.Column + ") > 0 AND substr(" + c.Column + ", 1, 5) <> ?"
}

// SealedOtherwise returns at most so many texts of the column that do not begin with the
// prefix.
func (db *DB) SealedOtherwise(ctx context.Context, c SealedColumn, prefix []byte, limit int) ([]SealedText, error) {
	columns := slices.Concat(c.Key, c.With)
	rows, err := db.Query(ctx, "SELECT "+strings.Join(append(slices.Clone(columns), c.Column), ", ")+" FROM "+c.Table+
		" WHERE "+c.other()+" ORDER BY "+strings.Join(c.Key, ", ")+" LIMIT ?", prefix, limit)
	return Collect(rows, err, func(rows *sql.Rows) (SealedText, error) {
		values, into := make([]string, len(columns)), []any{}
		for i := range values {
			into = append(into, &values[i])
		}
		var t SealedText
		err := rows.Scan(append(into, &t.Sealed)...)
		t.Key, t.With = values[:len(c.Key)], values[len(c.Key):]
		return t, err
	})
}

// CountSealedOtherwise counts the texts of the column that do not begin with the prefix.
func (db *DB) CountSealedOtherwise(ctx context.Context, c SealedColumn, prefix []byte) (n int, err error) {
	err = db.QueryRow(ctx, "SELECT COUNT(*) FROM "+c.Table+" WHERE "+c.other(), prefix).Scan(&n)
	return n, db.Classify(err)
}

// Reseal replaces a text, unless somebody else has changed it meanwhile.
func (db *DB) Reseal(ctx context.Context, c SealedColumn, t SealedText, sealed []byte) error {
	return db.Tx(ctx, func(tx *Tx) error {
		where, args := []string{c.Column + " = ?"}, []any{sealed, t.Sealed}
		for i, name := range c.Key {
			where, args = append(where, name+" = ?"), append(args, t.Key[i])
		}
		if _, err := tx.Exec(ctx, "UPDATE "+c.Table+" SET "+c.Column+" = ? WHERE "+strings.Join(where, " AND "),
			args...); err != nil {
			return fmt.Errorf("seal a text of %s again: %w", c.Table, err)
		}
		return nil
	})
}

// Replace has the deployment remember another value under the name, when the one that it
// remembers is the old one.
func (db *DB) Replace(ctx context.Context, name, old, value string) error {
	return db.Tx(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE deployment SET value = ? WHERE name = ? AND value = ?", value, name,
			old); err != nil {
			return fmt.Errorf("remember %s: %w", name, err)
		}
		return nil
	})
}

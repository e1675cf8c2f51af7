// Package sqldb is the access to the database that every package of queries builds
// on: connections, transactions that are run again after a transient failure, the
// dialects of SQLite and PostgreSQL, and how values are encoded in columns.
//
// Conventions. Identifiers are text, times are milliseconds since 1970 in UTC, text
// compares by bytes (COLLATE "C" in PostgreSQL), so that both databases return the
// same; a transaction has one time.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"merlon/internal/errs"
)

// A DB is an open database with the current schema. Its methods are safe for
// concurrent use.
type DB struct {
	Options
	rebound sync.Map // query text → text with the dialect's placeholders
}

// Options say how a DB reaches its database.
type Options struct {
	Dialect Dialect
	Write   *sql.DB       // one connection for SQLite
	Read    *sql.DB       // may be the same as Write
	Pool    *pgxpool.Pool // PostgreSQL only: the pool below Write and Read
	Region  string        // of the deployment; new tenants' identifiers carry it
	Now     func() time.Time
	// AuditKey seals the audit log; nil in a process that has no master key. It is
	// set before the DB is used.
	AuditKey []byte
	// MaxQueued is how many scans of one organization may wait; 0 for no limit.
	MaxQueued int
	// MaxUserQueued is how many scans that one user has started may wait, in all
	// organizations together; 0 for no limit.
	MaxUserQueued int
	// MaxStored is how many bytes of uploads one organization may keep in blob storage;
	// 0 for no limit.
	MaxStored int64
}

// New returns a DB over an open database. Package sqlite or postgres calls it.
func New(o Options) *DB {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &DB{Options: o}
}

// Close closes the connections.
func (db *DB) Close() error {
	err := db.Write.Close()
	if db.Read != db.Write {
		err = errors.Join(err, db.Read.Close())
	}
	if db.Pool != nil {
		db.Pool.Close()
	}
	return err
}

// A Tx is a transaction. Now is its one time, cut to milliseconds.
type Tx struct {
	Now time.Time
	DB  *DB
	tx  *sql.Tx
}

// maxAttempts bounds how often a transaction is run again after a failure that
// the database calls transient (a deadlock, a serialization failure). Each attempt reads the
// data anew; with more conflicts than that, the caller's retry is the better back-off.
const maxAttempts = 5

// Tx runs do in a transaction that may write, and commits it when do returns
// nil. It runs do again when the database asks for it, so do must not change
// anything outside of the transaction that a second run would not overwrite.
func (db *DB) Tx(ctx context.Context, do func(*Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := db.txOnce(ctx, do)
		if err == nil || attempt == maxAttempts || !db.Dialect.Transient(err) || ctx.Err() != nil {
			return db.Classify(err)
		}
	}
}

// txOnce runs do in one transaction.
func (db *DB) txOnce(ctx context.Context, do func(*Tx) error) error {
	tx, err := db.Write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := do(&Tx{Now: db.Timestamp(), DB: db, tx: tx}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Classify marks the errors of a database that is away, so that they are
// answered with "try again" and not with "internal error".
func (db *DB) Classify(err error) error {
	var known *errs.Error
	if err == nil || errors.As(err, &known) || !db.Dialect.Unavailable(err) {
		return err
	}
	return errs.Wrap(errs.Unavailable, err, "the database is not available at the moment")
}

// Timestamp is the present time as the database stores it: in UTC, cut to milliseconds.
func (db *DB) Timestamp() time.Time { return db.Now().UTC().Truncate(time.Millisecond) }

// Exec runs a statement and returns the number of rows it touched.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := tx.tx.ExecContext(ctx, tx.DB.rebind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Query runs a query inside the transaction.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return tx.tx.QueryContext(ctx, tx.DB.rebind(query), args...)
}

// QueryRow runs a query for one row inside the transaction.
func (tx *Tx) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return tx.tx.QueryRowContext(ctx, tx.DB.rebind(query), args...)
}

// Query runs a query outside of a transaction.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := db.Read.QueryContext(ctx, db.rebind(query), args...)
	return rows, db.Classify(err)
}

// QueryRow runs a query for one row outside of a transaction.
func (db *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return db.Read.QueryRowContext(ctx, db.rebind(query), args...)
}

// rebind returns the query with the placeholders of the dialect. Texts are cached: there are
// a few hundred of them, and each is used often.
func (db *DB) rebind(query string) string {
	if done, ok := db.rebound.Load(query); ok {
		return done.(string)
	}
	done := db.Dialect.Rebind(query)
	db.rebound.Store(query, done)
	return done
}

// Querier is what a Tx and a DB have in common: a query that needs no
// transaction of its own takes one.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) *sql.Row
}

var (
	_ Querier = (*DB)(nil)
	_ Querier = (*Tx)(nil)
)

// Collect scans every row and closes rows. The result is never nil.
func Collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	out := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// NotFound turns the absence of a row into a NotFound error that names the
// thing.
func NotFound(err error, thing string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return errs.E(errs.NotFound, "%s not found", thing)
	}
	return err
}

// Millis is a time as the database holds it; 0 for the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// FromMillis is the inverse of millis.
func FromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Package store holds the queries: one file per noun, each query beside the
// function that scans its rows, in SQL that SQLite and PostgreSQL both read. What
// the two do not share sits behind Dialect; packages store/sqlite and
// store/postgres open a database and bring its schema up to date.
//
// Conventions. A method that serves a person's request takes the tenant.Scope
// first and filters on it; a scope's zero value matches no row. A method that
// changes state writes its audit record in the same transaction. Identifiers are
// text, times are milliseconds since 1970 in UTC, text compares by bytes (COLLATE
// "C" in PostgreSQL), so that both databases answer alike; a transaction has one
// time. Lists come in a fixed order.
package store

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
	rebound    sync.Map // query text → text with the dialect's placeholders
	keptTotals totalsCache
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

// A Dialect is what the two databases do differently.
type Dialect interface {
	// Name is "sqlite" or "postgres".
	Name() string
	// Rebind replaces each ? by the placeholder of the database. Queries hold no
	// question mark that is not a placeholder.
	Rebind(query string) string
	// ForUpdate ends a SELECT that locks the rows it returns for the rest of the
	// transaction; empty where a transaction locks the whole database.
	ForUpdate() string
	// In returns a condition that column is one of the values, which are bound as
	// one argument, and that argument.
	In(column string, values []string) (string, any)
	// Like is the operator of a comparison that ignores case.
	Like() string
	// Conflict reports whether err says that a row breaks a unique constraint.
	Conflict(err error) bool
	// Transient reports whether err may go away when the transaction is run again.
	Transient(err error) bool
	// Unavailable reports whether err says that the database cannot be reached.
	Unavailable(err error) bool
}

// A Tx is a transaction. Now is its one time, cut to milliseconds.
type Tx struct {
	Now time.Time
	db  *DB
	tx  *sql.Tx
}

// maxAttempts bounds how often a transaction is run again after a failure that
// the database calls transient (a deadlock, a serialization failure).
const maxAttempts = 5

// Tx runs do in a transaction that may write, and commits it when do returns
// nil. It runs do again when the database asks for it, so do must not change
// anything outside of the transaction that a second run would not overwrite.
func (db *DB) Tx(ctx context.Context, do func(*Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := db.txOnce(ctx, do)
		if err == nil || attempt == maxAttempts || !db.Dialect.Transient(err) || ctx.Err() != nil {
			return db.classify(err)
		}
	}
}

func (db *DB) txOnce(ctx context.Context, do func(*Tx) error) error {
	tx, err := db.Write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := do(&Tx{Now: db.now(), db: db, tx: tx}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// classify marks the errors of a database that is away, so that they are
// answered with "try again" and not with "internal error".
func (db *DB) classify(err error) error {
	var known *errs.Error
	if err == nil || errors.As(err, &known) || !db.Dialect.Unavailable(err) {
		return err
	}
	return errs.Wrap(errs.Unavailable, err, "the database is not available at the moment")
}

func (db *DB) now() time.Time { return db.Now().UTC().Truncate(time.Millisecond) }

// Exec runs a statement and returns the number of rows it touched.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := tx.tx.ExecContext(ctx, tx.db.rebind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Query runs a query inside the transaction.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return tx.tx.QueryContext(ctx, tx.db.rebind(query), args...)
}

// QueryRow runs a query for one row inside the transaction.
func (tx *Tx) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return tx.tx.QueryRowContext(ctx, tx.db.rebind(query), args...)
}

// Query runs a query outside of a transaction.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := db.Read.QueryContext(ctx, db.rebind(query), args...)
	return rows, db.classify(err)
}

// QueryRow runs a query for one row outside of a transaction.
func (db *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return db.Read.QueryRowContext(ctx, db.rebind(query), args...)
}

func (db *DB) rebind(query string) string {
	if done, ok := db.rebound.Load(query); ok {
		return done.(string)
	}
	done := db.Dialect.Rebind(query)
	db.rebound.Store(query, done)
	return done
}

// querier is what a Tx and a DB have in common: a query that needs no
// transaction of its own takes one.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) *sql.Row
}

var (
	_ querier = (*DB)(nil)
	_ querier = (*Tx)(nil)
)

// collect scans every row and closes rows. The result is never nil.
func collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
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

// notFound turns the absence of a row into a NotFound error that names the
// thing.
func notFound(err error, thing string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return errs.E(errs.NotFound, "%s not found", thing)
	}
	return err
}

// millis is a time as the database holds it; 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMillis is the inverse of millis.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

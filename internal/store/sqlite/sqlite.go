// Package sqlite opens the embedded database of a single machine.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"merlon/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the database file, makes it when it is not there, and brings its
// schema up to date. Several processes may have the file open at once.
func Open(ctx context.Context, path string, o store.Options) (*store.DB, error) {
	if err := makeFile(path); err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	// SQLite has one writer at a time. A single connection queues the writers of this process in
	// order, instead of having them poll for the lock.
	write, err := connect(path, 1)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, path, write); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), write.Close())
	}
	// In WAL mode readers do not wait for the writer, nor for each other.
	read, err := connect(path, max(4, 2*runtime.NumCPU()))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	o.Dialect, o.Write, o.Read = dialect{}, write, read
	return store.New(o), nil
}

// makeFile makes the database file for its owner only: SQLite would let everybody read it,
// and its companions take over the mode. A file that is there is not opened, because closing
// it would release the locks that connections of this process have on it.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// connect opens a pool of at most n connections. Transactions take the write
// lock when they begin, so that none fails half-way because another one wrote.
func connect(path string, n int) (*sql.DB, error) {
	v := url.Values{"_pragma": {
		// NORMAL loses no consistency in WAL mode, at most the last transactions when the power
		// fails. The cache is 32 MiB per connection.
		"busy_timeout(30000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)",
		"cache_size(-32768)", "temp_store(MEMORY)",
	}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+v.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// migrate applies what is missing, one process at a time.
func migrate(ctx context.Context, path string, db *sql.DB) error {
	// The lock is a file of its own: SQLite's locks end with each transaction, and a migration
	// has several.
	unlock, err := lock(filepath.Join(filepath.Dir(path), ".migrate.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	m, err := rivermigrate.New(riversqlite.New(db), nil)
	if err != nil {
		return fmt.Errorf("read job migrations: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	return nil
}

// lock takes an exclusive lock on a file until the returned function is called.
func lock(path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing releases the lock
}

// dialect implements store.Dialect; see there for what each method means.
type dialect struct{}

func (dialect) Name() string               { return "sqlite" }
func (dialect) Rebind(query string) string { return query }
func (dialect) ForUpdate() string          { return "" }
func (dialect) Like() string               { return "LIKE" }

// In binds the values as one JSON array: the number of placeholders is limited, and one text
// per query is planned once.
func (dialect) In(column string, values []string) (string, any) {
	list, err := json.Marshal(values)
	if err != nil {
		panic("sqlite: a list of strings has no JSON form: " + err.Error()) // impossible
	}
	return column + " IN (SELECT value FROM json_each(?))", string(list)
}

// Conflict covers violations of unique constraints and primary keys, not of foreign keys.
func (dialect) Conflict(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CONSTRAINT_UNIQUE || c == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

// Transient covers a database that another process has locked for longer than the busy
// timeout.
func (dialect) Transient(err error) bool { return code(err)&0xff == sqlite3.SQLITE_BUSY }

// Unavailable covers a full disk and a file that cannot be reached.
func (dialect) Unavailable(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY:
		return true
	}
	return false
}

// code returns SQLite's extended result code, or 0 when err is none of its.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

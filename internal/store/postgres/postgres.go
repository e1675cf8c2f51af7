// Package postgres opens a PostgreSQL database, version 15 or later, that several
// machines share.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"merlon/internal/errs"
	"merlon/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock that a process holds while it
// migrates: "merlon" in ASCII.
const migrationLock = 0x6d65726c6f6e

// Open connects to the database of the URL and brings its schema up to date.
func Open(ctx context.Context, url string, o store.Options) (*store.DB, error) {
	cfg, err := parse(url)
	if err != nil {
		return nil, err
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "merlon"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	// Both views share the pool: River needs pgx itself, everything else database/sql.
	db := stdlib.OpenDBFromPool(pool)
	if err := migrate(ctx, pool, db); err != nil {
		err = errors.Join(fmt.Errorf("database: %w", err), db.Close())
		pool.Close()
		return nil, err
	}
	o.Dialect, o.Write, o.Read, o.Pool = dialect{}, db, db, pool
	return store.New(o), nil
}

// parse reads a database URL, or a list of keywords and values, together with the
// variables of libpq that complete it.
func parse(url string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The driver's error repeats the URL, which may hold a password.
		return nil, errs.E(errs.Invalid, "the database URL cannot be read: expected "+
			"postgres://user:password@host:port/name")
	}
	return cfg, nil
}

// ways lists the ways in which the driver tries to connect, one after the other.
func ways(cfg *pgxpool.Config) []*pgconn.FallbackConfig {
	c := cfg.ConnConfig
	first := &pgconn.FallbackConfig{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}
	return append([]*pgconn.FallbackConfig{first}, c.Fallbacks...)
}

// CheckEncrypted returns an Invalid error when a connection to the database of the URL
// could leave this machine without TLS.
func CheckEncrypted(url string) error {
	cfg, err := parse(url)
	if err != nil {
		return err
	}
	for _, way := range ways(cfg) {
		// With sslmode=prefer the driver tries TLS first and then plain text: whoever can drop
		// packets could read the password (downgrade, CWE-757).
		if way.TLSConfig == nil && !local(way.Host, way.Port) {
			return errs.E(errs.Invalid, "the connection to the database at %s could go without TLS: "+
				"add sslmode=verify-full to the database URL, with sslrootcert=FILE for an authority of your own, or "+
				"set database-plaintext", way.Host)
		}
	}
	return nil
}

// local reports whether the host is this machine.
func local(host string, port uint16) bool {
	if network, _ := pgconn.NetworkAddress(host, port); network == "unix" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Addresses returns the addresses, host:port, of the database of a URL.
func Addresses(url string) []string {
	cfg, err := parse(url)
	if err != nil {
		return nil
	}
	var out []string
	for _, way := range ways(cfg) {
		at := net.JoinHostPort(way.Host, strconv.Itoa(int(way.Port)))
		if network, _ := pgconn.NetworkAddress(way.Host, way.Port); network == "tcp" && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// migrate applies what is missing, one process at a time.
func migrate(ctx context.Context, pool *pgxpool.Pool, db *sql.DB) (err error) {
	// An advisory lock belongs to a connection, so one is kept for the whole migration.
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return fmt.Errorf("wait for another process's migration: %w", err)
	}
	defer func() {
		_, unlockErr := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
		err = errors.Join(err, unlockErr)
	}()
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return fmt.Errorf("read job migrations: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	return nil
}

// dialect implements store.Dialect; see there for what each method means.
type dialect struct{}

func (dialect) Name() string      { return "postgres" }
func (dialect) ForUpdate() string { return " FOR UPDATE" }
func (dialect) Like() string      { return "ILIKE" }

// Rebind numbers the placeholders: ? becomes $1, $2 and so on.
func (dialect) Rebind(query string) string {
	var b strings.Builder
	n := 0
	for i := range len(query) {
		if query[i] != '?' {
			b.WriteByte(query[i])
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// In binds the values as one array.
func (dialect) In(column string, values []string) (string, any) {
	return column + " = ANY(?)", values
}

// Conflict covers unique_violation.
func (dialect) Conflict(err error) bool { return code(err) == "23505" }

// Transient covers serialization failures and deadlocks.
func (dialect) Transient(err error) bool {
	// serialization_failure and deadlock_detected.
	c := code(err)
	return c == "40001" || c == "40P01"
}

// Unavailable covers connection failures, a server that stops, and a full disk.
func (dialect) Unavailable(err error) bool {
	if c := code(err); c != "" {
		// Classes of SQLSTATE: connection exception, operator intervention, insufficient resources.
		return strings.HasPrefix(c, "08") || strings.HasPrefix(c, "57P") || strings.HasPrefix(c, "53")
	}
	var netErr net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.As(err, &netErr) || pgconn.SafeToRetry(err)
}

// code returns the SQLSTATE of a server's error, or "".
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

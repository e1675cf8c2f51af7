// Package storetest runs a test on every database that the product supports:
// SQLite in a temporary file, and PostgreSQL in a database of its own on a
// cluster that the test process starts, or that MERLON_TEST_POSTGRES names.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
)

// Region is the region of the databases that Each opens.
const Region = "test"

// Start is what a Clock shows first.
var Start = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// A Clock is a clock that stands until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows Start.
func NewClock() *Clock { return &Clock{now: Start} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock; a negative duration moves it back.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Main runs a package's tests and stops the PostgreSQL cluster that they
// started. A package that calls Each or Postgres has
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
//
// Functions in after are called when the tests have run.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	for _, f := range after {
		f()
	}
	if cluster.stop != nil {
		cluster.stop()
	}
	os.Exit(code)
}

// Each runs test as a subtest on each database, with a store that is empty and
// a clock of its own.
func Each(t *testing.T, test func(t *testing.T, db *store.DB, clock *Clock)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		clock := NewClock()
		db := open(t)(sqlite.Open(t.Context(), SQLite(t), options(clock)))
		test(t, db, clock)
	})
	t.Run("postgres", func(t *testing.T) {
		clock := NewClock()
		db := open(t)(postgres.Open(t.Context(), Postgres(t), options(clock)))
		test(t, db, clock)
	})
}

// options are those of every test database.
func options(c *Clock) store.Options { return store.Options{Region: Region, Now: c.Now} }

// open returns a function that takes the results of an Open, and closes the database when
// the test ends.
func open(t testing.TB) func(*store.DB, error) *store.DB {
	return func(db *store.DB, err error) *store.DB {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Errorf("close the database: %v", err)
			}
		})
		return db
	}
}

// migrated makes the content of a SQLite database that is migrated and empty, once:
// the migrations are half of a short test's time.
var migrated = sync.OnceValues(func() (content []byte, err error) {
	dir, err := os.MkdirTemp("", "merlon-sqlite")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "merlon.db")
	db, err := sqlite.Open(context.Background(), path, store.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// SQLite returns the path of a new, migrated and empty SQLite database.
func SQLite(t testing.TB) string {
	t.Helper()
	content, err := migrated()
	if err != nil {
		t.Fatalf("make a database: %v", err)
	}
	path := filepath.Join(t.TempDir(), "merlon.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// cluster is the PostgreSQL cluster of this test process.
var cluster struct {
	// once starts the cluster when the first test needs it.
	once sync.Once
	url  string
	err  error
	stop func()
	ctl  func(args ...string) error // pg_ctl on this cluster; nil for one that others started

	// mu guards the members below: tests run in parallel.
	mu       sync.Mutex
	n        int
	template string // a migrated database that new ones are copied from
}

// Postgres returns the URL of a new, migrated and empty PostgreSQL database,
// which is dropped when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	cluster.once.Do(func() {
		if cluster.url = os.Getenv("MERLON_TEST_POSTGRES"); cluster.url == "" {
			cluster.err = startCluster()
		}
	})
	if cluster.err != nil {
		t.Fatalf("start PostgreSQL: %v", cluster.err)
	}
	name, err := newDatabase(t.Context())
	if err != nil {
		t.Fatalf("make a database: %v", err)
	}
	t.Cleanup(func() {
		if err := admin(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	return databaseURL(name)
}

// PostgresAway stops the PostgreSQL cluster without a word to its clients, calls
// meanwhile, and starts the cluster again. It skips a test whose cluster others
// started.
func PostgresAway(t testing.TB, meanwhile func()) {
	t.Helper()
	if cluster.ctl == nil {
		t.Skip("the PostgreSQL cluster of MERLON_TEST_POSTGRES is not ours to stop")
	}
	if err := cluster.ctl("-m", "immediate", "stop"); err != nil {
		t.Fatal(err)
	}
	meanwhile()
	if err := cluster.ctl("start"); err != nil {
		t.Fatal(err)
	}
}

// newDatabase copies the template, which the first call makes.
func newDatabase(ctx context.Context) (string, error) {
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	// The process ID keeps test processes apart that share the cluster of MERLON_TEST_POSTGRES.
	prefix := "t" + strconv.Itoa(os.Getpid()) + "_"
	if cluster.template == "" {
		name := prefix + "template"
		if err := admin(ctx, "CREATE DATABASE "+name); err != nil {
			return "", err
		}
		db, err := postgres.Open(ctx, databaseURL(name), store.Options{})
		if err != nil {
			return "", err
		}
		if err := db.Close(); err != nil {
			return "", err
		}
		cluster.template = name
	}
	cluster.n++
	name := prefix + strconv.Itoa(cluster.n)
	return name, admin(ctx, "CREATE DATABASE "+name+" TEMPLATE "+cluster.template)
}

// databaseURL returns the URL of a database in the cluster.
func databaseURL(name string) string {
	u, err := url.Parse(cluster.url)
	if err != nil {
		panic("storetest: MERLON_TEST_POSTGRES: " + err.Error())
	}
	u.Path = "/" + name
	return u.String()
}

// admin runs a statement in the cluster's own database.
func admin(ctx context.Context, statement string) error {
	db, err := sql.Open("pgx", cluster.url)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}

// startCluster makes a cluster in a temporary folder and starts it on a Unix
// socket. PostgreSQL refuses to run as root, so root runs it as nobody.
func startCluster() error {
	bin, err := binDir()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "merlon-pg")
	if err != nil {
		return err
	}
	var cred *syscall.Credential
	if os.Getuid() == 0 {
		cred = &syscall.Credential{Uid: 65534, Gid: 65534}
		if err := os.Chown(dir, 65534, 65534); err != nil {
			return err
		}
	}
	data := filepath.Join(dir, "data")
	run := func(name string, args ...string) error {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		return nil
	}
	if err := run("initdb", "-D", data, "-U", "merlon", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"); err != nil {
		return err
	}
	// No TCP, so that tests of several processes need no ports; fsync is off, because the data
	// is thrown away.
	options := "-k " + dir + " -c listen_addresses='' -c fsync=off -c max_connections=300"
	cluster.ctl = func(args ...string) error {
		return run("pg_ctl", append([]string{"-D", data, "-w", "-l", filepath.Join(dir, "log"), "-o", options},
			args...)...)
	}
	if err := cluster.ctl("start"); err != nil {
		return err
	}
	cluster.stop = func() {
		if err := cluster.ctl("-m", "immediate", "stop"); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		_ = os.RemoveAll(dir) // a temporary folder; what stays is the system's to clean
	}
	cluster.url = "postgres://merlon@/postgres?host=" + url.QueryEscape(dir)
	return nil
}

// binDir finds PostgreSQL's programs: on the path, or where Debian puts them.
func binDir() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(dirs) == 0 {
		return "", errors.New("PostgreSQL is not installed; `make test` installs it")
	}
	return filepath.Dir(dirs[len(dirs)-1]), nil
}

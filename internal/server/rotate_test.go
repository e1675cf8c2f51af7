package server

import (
	"context"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/run"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// eachStore runs a test on a new deployment of each database.
func eachStore(t *testing.T, test func(t *testing.T, c config.Store, made *Bootstrapped)) {
	t.Helper()
	for name, url := range map[string]func(testing.TB) string{"sqlite": func(testing.TB) string { return "" },
		"postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test", DatabaseURL: url(t)}
			d, err := openDeployment(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			d.closeAll(slog.New(slog.DiscardHandler))
			made, err := Bootstrap{Email: "ada@example.org", Organization: "O", Team: "T",
				Project: "P"}.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			test(t, c, made)
		})
	}
}

// samples is how many texts fill puts into each column.
const samples = 3

// fill puts sealed texts into every column, and returns what they say by table and key.
func fill(t *testing.T, d *deployment, made *Bootstrapped, round string) map[string]string {
	t.Helper()
	want := map[string]string{}
	for n := range samples {
		id := fmt.Sprintf("%s-%d", round, n)
		want[id] = "secret " + id
		inserts := map[string]struct {
			columns string
			values  []any
		}{
			"oidc_key":    {"generation, id, created_at, active_at", []any{crc32.ChecksumIEEE([]byte(id)), id, 1, 1}},
			"mail_outbox": {"id, recipient, next_at, created_at", []any{id, "x@example.org", int64(1) << 50, 1}},
			"registry_credential": {"id, organization_id, kind, name, fields, description, created_at, updated_at",
				[]any{id, string(made.OrganizationID), "harbor", id, "{}", "", 1, 1}},
			"run_kept": {"run_id, updated_at", []any{id, 1}},
			"target": {"id, organization_id, project_id, name, environment, root, shown, kept, created_at, updated_at",
				[]any{id, string(made.OrganizationID), string(made.ProjectID), id, "staging", id, "{}", "{}", 1, 1}},
		}
		sc := tenant.System(made.OrganizationID, made.TeamID, made.ProjectID)
		r := run.Run{ID: run.ID(id), OrganizationID: sc.Organization, TeamID: sc.Team, ProjectID: sc.Project,
			Branch: "main", Source: "cli", State: run.Queued}
		if err := d.db.CreateRun(t.Context(), sc, &r); err != nil {
			t.Fatal(err)
		}
		err := d.db.Tx(t.Context(), func(tx *store.Tx) error {
			for _, c := range store.SealedColumns {
				if c.Fixed {
					continue
				}
				label, err := labelOf(c, store.SealedText{Key: []string{id}, With: with(c, made, id)})
				if err != nil {
					return err
				}
				in := inserts[c.Table]
				marks := strings.Repeat(", ?", len(in.values))
				if _, err := tx.Exec(t.Context(), "INSERT INTO "+c.Table+" ("+in.columns+", "+c.Column+") VALUES ("+
					marks[2:]+", ?)",
					append(in.values, d.box.Seal([]byte(want[id]), label))...); err != nil {
					return fmt.Errorf("%s: %w", c.Table, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return want
}

// with returns the values of a column's further columns.
func with(c store.SealedColumn, made *Bootstrapped, id string) []string {
	return map[string][]string{
		"registry_credential": {string(made.OrganizationID), "harbor", id},
		"target":              {string(made.OrganizationID), string(made.ProjectID)},
	}[c.Table]
}

// opens checks that the box opens every text of every column.
func opens(t *testing.T, db *store.DB, box *seal.Box, want map[string]string) {
	t.Helper()
	for _, c := range store.SealedColumns {
		list, err := db.SealedOtherwise(t.Context(), c, []byte("none."), 1000)
		if err != nil || !c.Fixed && len(list) != len(want) {
			t.Errorf("%s: %d texts, %v", c.Table, len(list), err)
		}
		for _, text := range list {
			label, err := labelOf(c, text)
			if err != nil {
				t.Error(err)
				continue
			}
			if plain, err := box.Open(text.Sealed, label); err != nil || string(plain) != want[text.Key[0]] {
				t.Errorf("%s %v: %q, %v", c.Table, text.Key, plain, err)
			}
		}
	}
}

func rotate(t *testing.T, c config.Store, do func(context.Context, *Rotation) error) error {
	t.Helper()
	r, err := OpenRotation(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	return do(t.Context(), r)
}

// TestRotation rotates the master key twice while a server runs, and drops the old key each
// time: what was sealed opens, derived keys stay, and the old key opens nothing.
func TestRotation(t *testing.T) {
	eachStore(t, func(t *testing.T, c config.Store, made *Bootstrapped) {
		running, err := openDeployment(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer running.closeAll(slog.New(slog.DiscardHandler))
		derived := string(running.box.Derive("ownership"))
		want := fill(t, running, made, "before")
		for round := range 2 {
			old, err := os.ReadFile(c.Path("master.key"))
			if err != nil {
				t.Fatal(err)
			}
			err = rotate(t, c, func(ctx context.Context, r *Rotation) error {
				n, err := r.Rotate(ctx)
				if wanted := len(want) * 5; err == nil && n != wanted {
					t.Errorf("%d texts were sealed again, want %d", n, wanted)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			// The server that runs all the time opens the new texts and seals with the new key.
			opens(t, running.db, running.box, want)
			for id, text := range fill(t, running, made, fmt.Sprintf("after round %d", round)) {
				want[id] = text
			}
			if err := rotate(t, c, func(ctx context.Context, r *Rotation) error {
				_, err := r.Rotate(ctx)
				return err
			}); !errs.Is(err, errs.Conflict) {
				t.Errorf("rotated at once to the old key: %v", err)
			}
			if err := rotate(t, c, func(ctx context.Context, r *Rotation) error { return r.Drop(ctx) }); err != nil {
				t.Fatal(err)
			}
			again, err := openDeployment(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			opens(t, again.db, again.box, want)
			if string(again.box.Derive("ownership")) != derived || string(running.box.Derive("ownership")) != derived {
				t.Error("the rotation has changed derived keys")
			}
			again.closeAll(slog.New(slog.DiscardHandler))
			with := c
			with.MasterKeyFile = filepath.Join(t.TempDir(), "old.key")
			if err := os.WriteFile(with.MasterKeyFile, old, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := openDeployment(t.Context(), with); !errs.Is(err, errs.Invalid) {
				t.Errorf("a server with the old key: %v", err)
			}
		}
	})
}

// TestRotationResumes has a rotation fail in the middle, and a machine that goes on sealing
// with the old key.
func TestRotationResumes(t *testing.T) {
	eachStore(t, func(t *testing.T, c config.Store, made *Bootstrapped) {
		d, err := openDeployment(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer d.closeAll(slog.New(slog.DiscardHandler))
		// The other machine has a copy of the file in which the new key does not seal yet.
		if err := rotate(t, c, func(_ context.Context, r *Rotation) error { return r.Add() }); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(c.Path("master.key"))
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := c
		elsewhere.MasterKeyFile = filepath.Join(t.TempDir(), "copy.key")
		if err := os.WriteFile(elsewhere.MasterKeyFile, text, 0o600); err != nil {
			t.Fatal(err)
		}
		other, err := openDeployment(t.Context(), elsewhere)
		if err != nil {
			t.Fatal(err)
		}
		defer other.closeAll(slog.New(slog.DiscardHandler))
		want := fill(t, d, made, "one")
		// A damaged text ends the rotation in the middle.
		damage := func(from, to string) {
			t.Helper()
			err := d.db.Tx(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), "UPDATE registry_credential SET name = ? WHERE name = ?", to, from)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		damage("one-1", "moved")
		err = rotate(t, c, func(ctx context.Context, r *Rotation) error { _, err := r.Rotate(ctx); return err })
		if err == nil || !strings.Contains(err.Error(), "registry_credential [one-1]") {
			t.Fatalf("rotated over a damaged text: %v", err)
		}
		damage("moved", "one-1")
		drop := func() error {
			return rotate(t, c, func(ctx context.Context, r *Rotation) error { return r.Drop(ctx) })
		}
		if err := drop(); !errs.Is(err, errs.Conflict) {
			t.Errorf("dropped a key that is needed: %v", err)
		}
		reseal := func(most int) {
			t.Helper()
			err := rotate(t, c, func(ctx context.Context, r *Rotation) error {
				n, err := r.Reseal(ctx)
				if n == 0 || n > most {
					t.Errorf("sealed %d texts again, want 1 to %d", n, most)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		reseal(5*samples - 2*samples) // two columns were done before the damage
		for id, text := range fill(t, other, made, "second") {
			want[id] = text
		}
		opens(t, other.db, other.box, want)
		if err := drop(); !errs.Is(err, errs.Conflict) {
			t.Errorf("dropped a key that another machine seals with: %v", err)
		}
		reseal(5 * samples)
		if err := drop(); err != nil {
			t.Fatal(err)
		}
		opens(t, d.db, d.box, want)
	})
}

// TestSealedColumnsAreAll compares the columns of the schema that hold bytes with those
// that a rotation knows.
func TestSealedColumnsAreAll(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test"}
	db, err := OpenStore(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	plain := []string{"rule.body", "finding.detail", "advisory_chunk.data", "upgrade_job.answer"}
	rows, err := db.Query(t.Context(), `SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p
		WHERE m.type = 'table' AND p.type = 'BLOB' AND m.name NOT LIKE 'river%' AND m.name NOT LIKE 'sqlite%' ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	known := 0
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		is := func(c store.SealedColumn) bool { return c.Table == table && c.Column == column }
		switch {
		case slices.ContainsFunc(store.SealedColumns, is):
			known++
		case !slices.Contains(plain, table+"."+column):
			t.Errorf("%s.%s holds bytes: add it to store.SealedColumns when they are sealed, or here when they "+
				"are not", table, column)
		}
	}
	if err := rows.Err(); err != nil || known != len(store.SealedColumns) {
		t.Errorf("found %d of %d sealed columns, %v", known, len(store.SealedColumns), err)
	}
}

// TestMasterKeyIsPrivate refuses a key file that everybody may read.
func TestMasterKeyIsPrivate(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test",
		MasterKeyFile: filepath.Join(t.TempDir(), "master.key")}
	if _, err := seal.Load(c.MasterKeyFile); err != nil {
		t.Fatal(err)
	}
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o440: false, 0o604: true, 0o644: true} {
		if err := os.Chmod(c.MasterKeyFile, mode); err != nil {
			t.Fatal(err)
		}
		d, err := openDeployment(t.Context(), c)
		if refused != errs.Is(err, errs.Invalid) {
			t.Errorf("mode %v: %v", mode, err)
		}
		if err == nil {
			d.closeAll(slog.New(slog.DiscardHandler))
		}
	}
}

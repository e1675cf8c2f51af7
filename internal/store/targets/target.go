package targets

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/livetarget"
	"merlon/internal/run"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/coverage"
	"merlon/internal/store/runs"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// This file keeps the running applications of projects.

// Limits of the targets of one project: their number, and the bytes of their sealed
// texts together.
const (
	maxTargets     = 200
	maxTargetBytes = 256 << 20
)

// Columns leaves out the sealed text, which may have many megabytes: only
// SealedTarget reads it.
const Columns = "t.id, t.organization_id, t.project_id, t.name, t.environment, t.root, t.shown, t.kept, " +
	"t.created_at, t.updated_at"

// Scan scans a row of Columns, and further columns after them.
func Scan(row sqldb.Scanner, more ...any) (t livetarget.Target, err error) {
	var shown, kept string
	var created, updated int64
	err = row.Scan(append([]any{&t.ID, &t.Organization, &t.Project, &t.Name, &t.Environment, &t.Root, &shown, &kept,
		&created, &updated}, more...)...)
	if err != nil {
		return t, err
	}
	t.CreatedAt, t.UpdatedAt = sqldb.FromMillis(created), sqldb.FromMillis(updated)
	if err := json.Unmarshal([]byte(shown), &t.Shown); err != nil {
		return t, fmt.Errorf("target %s: %w", t.ID, err)
	}
	if err := json.Unmarshal([]byte(kept), &t.Kept); err != nil {
		return t, fmt.Errorf("target %s: secrets: %w", t.ID, err)
	}
	return t, nil
}

// ScanRow scans a row of Columns.
func ScanRow(rows *sql.Rows) (livetarget.Target, error) { return Scan(rows) }

// NewTarget returns the identifiers of a target that is about to be made in the
// scope's project; what is sealed is bound to them.
func (db *Store) NewTarget(sc tenant.Scope) livetarget.Target {
	return livetarget.Target{ID: livetarget.ID(uuid.NewString()), Organization: sc.Organization, Project: sc.Project}
}

// CreateTarget writes a new target of the scope's project. It needs project.update; a
// second target of the same root is a Conflict.
func (db *Store) CreateTarget(ctx context.Context, sc tenant.Scope, t livetarget.Target) (livetarget.Target, error) {
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := admitTarget(ctx, tx, sc, &t)
		if err != nil {
			return err
		}
		if err := roomForTarget(ctx, tx, sc, &t); err != nil {
			return err
		}
		t.CreatedAt, t.UpdatedAt = tx.Now, tx.Now
		shown, kept, err := Encode(&t)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO target (id, organization_id, project_id, name, environment, root, shown, kept, sealed, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(t.ID), sc.Organization, sc.Project, t.Name, string(t.Environment), t.Root, shown, kept, t.Sealed,
			sqldb.Millis(tx.Now), sqldb.Millis(tx.Now))
		if err != nil {
			return targetTaken(tx, err)
		}
		return auditlog.Append(ctx, tx, targetEvent(sc, &t, "create"))
	})
	return t, err
}

// admitTarget admits a change of a target of the scope's project.
func admitTarget(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, t *livetarget.Target) (tenant.Scope, error) {
	sc, err := access.Admit(ctx, tx, sc, tenant.ProjectUpdate)
	if err == nil && (sc.Project == "" || t.Organization != sc.Organization || t.Project != sc.Project) {
		err = errs.E(errs.NotFound, "project not found")
	}
	return sc, err
}

// roomForTarget returns a Conflict error when the project would exceed its limits with
// the target.
func roomForTarget(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, t *livetarget.Target) error {
	var others, bytes int64
	err := tx.QueryRow(ctx, "SELECT COUNT(*), COALESCE(SUM(length(sealed)), 0) FROM target WHERE project_id = ? AND "+
		"id <> ?", sc.Project, string(t.ID)).Scan(&others, &bytes)
	if err != nil {
		return fmt.Errorf("count the targets of a project: %w", err)
	}
	if others >= maxTargets {
		return errs.E(errs.Conflict, "the project has %d targets, the most that a project may have", others)
	}
	if bytes+int64(len(t.Sealed)) > maxTargetBytes {
		return errs.E(errs.Conflict, "the targets of the project would have more than %d MiB of descriptions and "+
			"templates together", maxTargetBytes>>20)
	}
	return nil
}

// targetTaken turns the violation of the unique root into a Conflict error.
func targetTaken(tx *sqldb.Tx, err error) error {
	if tx.DB.Dialect.Conflict(err) {
		return errs.Wrap(errs.Conflict, err, "the project has another target with this address: two would take each "+
			"other's findings for gone")
	}
	return fmt.Errorf("write a target: %w", err)
}

// Encode returns what a target may show, and which of its secrets are set, as JSON.
func Encode(t *livetarget.Target) (shown, kept string, err error) {
	a, err := json.Marshal(t.Shown)
	if err != nil {
		return "", "", fmt.Errorf("encode a target: %w", err)
	}
	b, err := json.Marshal(t.Kept)
	if err != nil {
		return "", "", fmt.Errorf("encode a target: %w", err)
	}
	return string(a), string(b), nil
}

// targetEvent is an audit record about a target, without its secrets.
func targetEvent(sc tenant.Scope, t *livetarget.Target, verb string) audit.Event {
	return audit.Event{Chain: sc.Organization, Action: "target." + verb, TargetKind: "target", Target: string(t.ID),
		Detail: map[string]any{"project": sc.Project, "name": t.Name, "url": t.Shown.URL,
			"profile": t.Shown.Profile}}.By(sc.Actor)
}

// UpdateTarget replaces a target of the scope's project that has not changed since
// UpdatedAt; otherwise it is a Conflict. It needs project.update.
func (db *Store) UpdateTarget(ctx context.Context, sc tenant.Scope, t livetarget.Target) (livetarget.Target, error) {
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := admitTarget(ctx, tx, sc, &t)
		if err != nil {
			return err
		}
		if err := roomForTarget(ctx, tx, sc, &t); err != nil {
			return err
		}
		shown, kept, err := Encode(&t)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE target SET name = ?, environment = ?, root = ?, shown = ?, kept = ?, sealed = ?, updated_at = ?
			WHERE id = ? AND project_id = ? AND updated_at = ?`,
			t.Name, string(t.Environment), t.Root, shown, kept, t.Sealed,
			// The time is also the version of the row: it grows even when the clock does not.
			max(sqldb.Millis(tx.Now), sqldb.Millis(t.UpdatedAt)+1),
			string(t.ID), sc.Project, sqldb.Millis(t.UpdatedAt))
		if err != nil {
			return targetTaken(tx, err)
		}
		if n == 0 {
			if _, err := targetIn(ctx, tx, sc, t.ID); err != nil {
				return err
			}
			return errs.E(errs.Conflict, "somebody else has changed the target meanwhile: read it again")
		}
		if t, err = targetIn(ctx, tx, sc, t.ID); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, targetEvent(sc, &t, "update"))
	})
	return t, err
}

// Targets returns one page of the targets of the scope's project by name, pages from 1,
// and how many there are. They come without their sealed texts.
func (db *Store) Targets(ctx context.Context, sc tenant.Scope, page, size int) ([]livetarget.Target, int, error) {
	const where = " FROM target t WHERE t.project_id = ? AND t.organization_id = ?"
	var total int
	if err := db.QueryRow(ctx, "SELECT COUNT(*)"+where, sc.Project, sc.Organization).Scan(&total); err != nil {
		return nil, 0, db.Classify(fmt.Errorf("count the targets of a project: %w", err))
	}
	rows, err := db.Query(ctx, "SELECT "+Columns+where+" ORDER BY t.name, t.id LIMIT ? OFFSET ?", sc.Project,
		sc.Organization, size, sqldb.PageOffset(page, size))
	list, err := sqldb.Collect(rows, err, ScanRow)
	return list, total, err
}

// Target returns a target of the scope's project without its sealed text, or a NotFound
// error.
func (db *Store) Target(ctx context.Context, sc tenant.Scope, id livetarget.ID) (livetarget.Target, error) {
	t, err := targetIn(ctx, db.DB, sc, id)
	return t, db.Classify(err)
}

// SealedTarget returns a target of the scope's project with its sealed text, or a
// NotFound error.
func (db *Store) SealedTarget(ctx context.Context, sc tenant.Scope, id livetarget.ID) (livetarget.Target, error) {
	var sealed []byte
	t, err := Scan(targetRow(ctx, db.DB, sc, id, Columns+", t.sealed"), &sealed)
	t.Sealed = sealed
	return t, db.Classify(sqldb.NotFound(err, "target"))
}

// targetIn reads a target of the scope's project, without its sealed text.
func targetIn(ctx context.Context, q sqldb.Querier, sc tenant.Scope, id livetarget.ID) (livetarget.Target, error) {
	t, err := Scan(targetRow(ctx, q, sc, id, Columns))
	return t, sqldb.NotFound(err, "target")
}

// targetRow queries the columns of one target.
func targetRow(ctx context.Context, q sqldb.Querier, sc tenant.Scope, id livetarget.ID, columns string) *sql.Row {
	return q.QueryRow(ctx, "SELECT "+columns+" FROM target t WHERE t.id = ? AND t.project_id = ? AND "+
		"t.organization_id = ?",
		string(id), sc.Project, sc.Organization)
}

// DeleteTarget removes a target of the scope's project. Its findings stay; its runs that
// have not ended are cancelled. It needs project.update.
func (db *Store) DeleteTarget(ctx context.Context, sc tenant.Scope, id livetarget.ID) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectUpdate)
		if err != nil {
			return err
		}
		t, err := targetIn(ctx, tx, sc, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM target WHERE id = ?", string(id)); err != nil {
			return fmt.Errorf("delete a target: %w", err)
		}
		if err := coverage.Delete(ctx, tx, sc, "", coverage.TargetSubject(string(id))); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, "SELECT id FROM run WHERE target_id = ? AND state IN ('queued', 'running') "+
			"ORDER BY id", string(id))
		active, err := sqldb.Collect(rows, err, sqldb.ScanString)
		if err != nil {
			return fmt.Errorf("list runs of a target: %w", err)
		}
		// A run without its target would fail when a worker opens it; cancelled says what happened.
		for _, one := range active {
			r, err := runs.Read(ctx, tx, sc, run.ID(one))
			if err != nil {
				return err
			}
			if err := runs.Cancel(ctx, tx, sc, &r); err != nil {
				return err
			}
		}
		return auditlog.Append(ctx, tx, targetEvent(sc, &t, "delete"))
	})
}

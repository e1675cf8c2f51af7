package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/run"
	"merlon/internal/target"
	"merlon/internal/tenant"
)

// This file keeps the running applications of projects.

// maxTargets bounds those of a project.
const maxTargets = 200

const targetColumns = "t.id, t.organization_id, t.project_id, t.name, t.environment, t.root, t.shown, t.kept, t.sealed, t.created_at, t.updated_at"

func scanTarget(row scanner) (t target.Target, err error) {
	var shown, kept string
	var created, updated int64
	err = row.Scan(&t.ID, &t.Organization, &t.Project, &t.Name, &t.Environment, &t.Root, &shown, &kept, &t.Sealed, &created, &updated)
	if err != nil {
		return t, err
	}
	t.CreatedAt, t.UpdatedAt = fromMillis(created), fromMillis(updated)
	if err := json.Unmarshal([]byte(shown), &t.Shown); err != nil {
		return t, fmt.Errorf("target %s: %w", t.ID, err)
	}
	if err := json.Unmarshal([]byte(kept), &t.Kept); err != nil {
		return t, fmt.Errorf("target %s: secrets: %w", t.ID, err)
	}
	return t, nil
}

func scanTargetRow(rows *sql.Rows) (target.Target, error) { return scanTarget(rows) }

// NewTarget returns the identifiers of a target that is about to be made in the
// scope's project; what is sealed is bound to them.
func (db *DB) NewTarget(sc tenant.Scope) target.Target {
	return target.Target{ID: target.ID(uuid.NewString()), Organization: sc.Organization, Project: sc.Project}
}

// CreateTarget writes a new target of the scope's project. It needs project.update; a
// second target of the same root is a Conflict.
func (db *DB) CreateTarget(ctx context.Context, sc tenant.Scope, t target.Target) (target.Target, error) {
	err := db.Tx(ctx, func(tx *Tx) error {
		sc, err := tx.admitTarget(ctx, sc, &t)
		if err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM target WHERE project_id = ?", sc.Project).Scan(&n); err != nil {
			return err
		}
		if n >= maxTargets {
			return errs.E(errs.Conflict, "the project has %d targets, which is as many as one may have", n)
		}
		t.CreatedAt, t.UpdatedAt = tx.Now, tx.Now
		shown, kept, err := targetTexts(&t)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO target (id, organization_id, project_id, name, environment, root, shown, kept, sealed, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(t.ID), sc.Organization, sc.Project, t.Name, string(t.Environment), t.Root, shown, kept, t.Sealed,
			millis(tx.Now), millis(tx.Now))
		if err != nil {
			return tx.targetTaken(err)
		}
		return tx.audit(ctx, targetEvent(sc, &t, "create"))
	})
	return t, err
}

// admitTarget admits a change of a target of the scope's project.
func (tx *Tx) admitTarget(ctx context.Context, sc tenant.Scope, t *target.Target) (tenant.Scope, error) {
	sc, err := tx.admit(ctx, sc, tenant.ProjectUpdate)
	if err == nil && (sc.Project == "" || t.Organization != sc.Organization || t.Project != sc.Project) {
		err = errs.E(errs.NotFound, "project not found")
	}
	return sc, err
}

func (tx *Tx) targetTaken(err error) error {
	if tx.db.Dialect.Conflict(err) {
		return errs.Wrap(errs.Conflict, err, "the project has another target with this address: two would take each other's findings for gone")
	}
	return fmt.Errorf("write a target: %w", err)
}

func targetTexts(t *target.Target) (shown, kept string, err error) {
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

func targetEvent(sc tenant.Scope, t *target.Target, verb string) audit.Event {
	return audit.Event{Chain: sc.Organization, Action: "target." + verb, TargetKind: "target", Target: string(t.ID),
		Detail: map[string]any{"project": sc.Project, "name": t.Name, "url": t.Shown.URL, "profile": t.Shown.Profile}}.By(sc.Actor)
}

// UpdateTarget replaces a target of the scope's project that has not changed since
// UpdatedAt; otherwise it is a Conflict. It needs project.update.
func (db *DB) UpdateTarget(ctx context.Context, sc tenant.Scope, t target.Target) (target.Target, error) {
	err := db.Tx(ctx, func(tx *Tx) error {
		sc, err := tx.admitTarget(ctx, sc, &t)
		if err != nil {
			return err
		}
		shown, kept, err := targetTexts(&t)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE target SET name = ?, environment = ?, root = ?, shown = ?, kept = ?, sealed = ?, updated_at = ?
			WHERE id = ? AND project_id = ? AND updated_at = ?`,
			t.Name, string(t.Environment), t.Root, shown, kept, t.Sealed, max(millis(tx.Now), millis(t.UpdatedAt)+1), string(t.ID), sc.Project, millis(t.UpdatedAt))
		if err != nil {
			return tx.targetTaken(err)
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
		return tx.audit(ctx, targetEvent(sc, &t, "update"))
	})
	return t, err
}

// Targets returns the targets of the scope's project by name.
func (db *DB) Targets(ctx context.Context, sc tenant.Scope) ([]target.Target, error) {
	rows, err := db.Query(ctx, "SELECT "+targetColumns+" FROM target t WHERE t.project_id = ? AND t.organization_id = ? ORDER BY t.name, t.id",
		sc.Project, sc.Organization)
	return collect(rows, err, scanTargetRow)
}

// Target returns a target of the scope's project, or a NotFound error.
func (db *DB) Target(ctx context.Context, sc tenant.Scope, id target.ID) (target.Target, error) {
	t, err := targetIn(ctx, db, sc, id)
	return t, db.classify(err)
}

func targetIn(ctx context.Context, q querier, sc tenant.Scope, id target.ID) (target.Target, error) {
	t, err := scanTarget(q.QueryRow(ctx, "SELECT "+targetColumns+" FROM target t WHERE t.id = ? AND t.project_id = ? AND t.organization_id = ?",
		string(id), sc.Project, sc.Organization))
	return t, notFound(err, "target")
}

// DeleteTarget removes a target of the scope's project. Its findings stay; its runs that
// have not ended are cancelled. It needs project.update.
func (db *DB) DeleteTarget(ctx context.Context, sc tenant.Scope, id target.ID) error {
	return db.Tx(ctx, func(tx *Tx) error {
		sc, err := tx.admit(ctx, sc, tenant.ProjectUpdate)
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
		rows, err := tx.Query(ctx, "SELECT id FROM run WHERE target_id = ? AND state IN ('queued', 'running') ORDER BY id", string(id))
		runs, err := collect(rows, err, scanText)
		if err != nil {
			return fmt.Errorf("list runs of a target: %w", err)
		}
		for _, one := range runs {
			r, err := runIn(ctx, tx, sc, run.ID(one))
			if err != nil {
				return err
			}
			if err := tx.cancelRun(ctx, sc, &r); err != nil {
				return err
			}
		}
		return tx.audit(ctx, targetEvent(sc, &t, "delete"))
	})
}

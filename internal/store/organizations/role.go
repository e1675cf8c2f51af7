package organizations

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/google/uuid"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// maxRoles bounds the custom roles of an organization.
const maxRoles = 100

func scanRole(row sqldb.Scanner) (tenant.Role, error) {
	var r tenant.Role
	var permissions int64
	err := row.Scan(&r.ID, &r.OrganizationID, &r.Name, &r.Level, &permissions)
	r.Permissions = tenant.Permissions(permissions)
	return r, err
}

const roleColumns = "id, organization_id, name, level, permissions"

// Roles returns the custom roles of the scope's organization, by name.
func (db *Store) Roles(ctx context.Context, sc tenant.Scope) ([]tenant.Role, error) {
	rows, err := db.Query(ctx, "SELECT "+roleColumns+" FROM custom_role WHERE organization_id = ? ORDER BY "+
		"name, id", sc.Organization)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (tenant.Role, error) { return scanRole(rows) })
}

// CreateRole makes a custom role in the scope's organization; it sets the id. It
// needs org.manage and every permission of the role, in the whole organization.
func (db *Store) CreateRole(ctx context.Context, sc tenant.Scope, r tenant.Role) (tenant.Role, error) {
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, tenant.OrgManage)
		if err != nil {
			return err
		}
		if err := checkComposable(sc, r); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM custom_role WHERE organization_id = ?",
			sc.Organization).Scan(&n); err != nil {
			return fmt.Errorf("count roles: %w", err)
		}
		if n >= maxRoles {
			return errs.E(errs.Conflict, "the organization has %d custom roles, more are not possible", n)
		}
		r.ID, r.OrganizationID = tenant.RoleID(uuid.NewString()), sc.Organization
		_, err = tx.Exec(ctx, "INSERT INTO custom_role (id, organization_id, name, level, permissions, created_at, "+
			"updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			r.ID, r.OrganizationID, r.Name, r.Level, int64(r.Permissions), sqldb.Millis(tx.Now), sqldb.Millis(tx.Now))
		if err != nil {
			return db.roleNameError(err, r)
		}
		return auditlog.Append(ctx, tx, roleEvent(sc, r, "create"))
	})
	return r, err
}

// checkComposable checks that a role is one that the caller may make: a permission
// that the level cannot grant would only look like one.
func checkComposable(sc tenant.Scope, r tenant.Role) error {
	switch useless := r.Permissions &^ r.Permissions.GrantedAt(r.Level); {
	case r.Permissions == 0:
		return errs.E(errs.Invalid, "a role needs at least one permission")
	case useless != 0:
		return errs.E(errs.Invalid, "a role at the level %q cannot grant %v", r.Level, useless.Names())
	}
	return coversPermissions(sc.Roles, r.Permissions, tenant.RoleID(r.Name))
}

func (db *Store) roleNameError(err error, r tenant.Role) error {
	if db.Dialect.Conflict(err) {
		return errs.E(errs.Conflict, "there is a role named %q already", r.Name)
	}
	return fmt.Errorf("write role: %w", err)
}

func roleEvent(sc tenant.Scope, r tenant.Role, verb string) audit.Event {
	return audit.Event{Chain: r.OrganizationID, Action: "role." + verb, TargetKind: "role", Target: string(r.ID),
		Detail: map[string]any{"name": r.Name, "level": r.Level, "permissions": r.Permissions.Names()}}.By(sc.Actor)
}

// UpdateRole changes the name and the permissions of a custom role of the scope's
// organization; it holds at once for everybody who has the role. It needs
// org.manage and every permission that the role has and gets.
func (db *Store) UpdateRole(ctx context.Context, sc tenant.Scope, id tenant.RoleID,
	edit func(*tenant.Role) error) (tenant.Role, error) {
	var r tenant.Role
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, tenant.OrgManage)
		if err != nil {
			return err
		}
		if r, err = customRole(ctx, tx, sc, id); err != nil {
			return err
		}
		if err := edit(&r); err != nil {
			return err
		}
		if err := checkComposable(sc, r); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE custom_role SET name = ?, permissions = ?, updated_at = ? WHERE id = ?",
			r.Name, int64(r.Permissions), sqldb.Millis(tx.Now), r.ID); err != nil {
			return db.roleNameError(err, r)
		}
		return auditlog.Append(ctx, tx, roleEvent(sc, r, "update"))
	})
	return r, err
}

// customRole returns a role that the caller may change or delete.
func customRole(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, id tenant.RoleID) (tenant.Role, error) {
	r, err := scanRole(tx.QueryRow(ctx, "SELECT "+roleColumns+" FROM custom_role WHERE id = ? AND "+
		"organization_id = ?", id, sc.Organization))
	if err != nil {
		return r, sqldb.NotFound(err, "role")
	}
	return r, coversPermissions(sc.Roles, r.Permissions, tenant.RoleID(r.Name))
}

// DeleteRole removes a custom role of the scope's organization that nobody has
// and no open invitation offers; otherwise it returns a Conflict error. It needs
// org.manage and every permission of the role.
func (db *Store) DeleteRole(ctx context.Context, sc tenant.Scope, id tenant.RoleID) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, tenant.OrgManage)
		if err != nil {
			return err
		}
		r, err := customRole(ctx, tx, sc, id)
		if err != nil {
			return err
		}
		var members, offers int
		err = tx.QueryRow(ctx, `SELECT
			(SELECT COUNT(*) FROM organization_member WHERE organization_id = ? AND role = ?) +
			(SELECT COUNT(*) FROM team_member g JOIN team t ON t.id = g.team_id WHERE t.organization_id = ? AND g.role = ?) +
			(SELECT COUNT(*) FROM project_member g JOIN project p ON p.id = g.project_id WHERE p.organization_id = ? AND g.role = ?),
			(SELECT COUNT(*) FROM invitation WHERE organization_id = ? AND status = 'pending' AND expires_at > ?
				AND (role = ? OR teams LIKE ? ESCAPE '\'))`,
			sc.Organization, id, sc.Organization, id, sc.Organization, id, sc.Organization, sqldb.Millis(tx.Now), id,
			sqldb.LikePattern(string(id))).Scan(&members, &offers)
		if err != nil {
			return fmt.Errorf("look for uses of the role: %w", err)
		}
		if members+offers > 0 {
			return errs.E(errs.Conflict, "the role is in use: %d memberships and %d open invitations", members, offers)
		}
		if _, err := tx.Exec(ctx, "DELETE FROM custom_role WHERE id = ?", r.ID); err != nil {
			return fmt.Errorf("delete role: %w", err)
		}
		return auditlog.Append(ctx, tx, roleEvent(sc, r, "delete"))
	})
}

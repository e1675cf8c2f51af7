package organizations

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/google/uuid"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// maxAccounts bounds the service accounts of an organization.
const maxAccounts = 500

// ServiceAccounts returns the service accounts of the scope's organization, by
// name; a name is in Member.FirstName.
func (db *Store) ServiceAccounts(ctx context.Context, sc tenant.Scope) ([]tenant.Member, error) {
	rows, err := db.Query(ctx, "SELECT "+memberColumns+` FROM organization_member m JOIN app_user u ON u.id = m.user_id
		WHERE m.organization_id = ? AND u.service_of = m.organization_id ORDER BY u.first_name, u.id`, sc.Organization)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (tenant.Member, error) { return scanMember(rows) })
}

// CreateServiceAccount makes a service account with a role in the scope's
// organization. It needs org.members and every permission of the role.
func (db *Store) CreateServiceAccount(ctx context.Context, sc tenant.Scope, name string,
	role tenant.RoleID) (tenant.Member, error) {
	var m tenant.Member
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, tenant.OrgMembers)
		if err != nil {
			return err
		}
		if err := checkMayGive(ctx, tx, sc, role, tenant.OrganizationLevel); err != nil {
			return err
		}
		var n, same int
		if err := tx.QueryRow(ctx, "SELECT COUNT(*), COUNT(CASE WHEN first_name = ? THEN 1 END) FROM app_user WHERE "+
			"service_of = ?",
			name, sc.Organization).Scan(&n, &same); err != nil {
			return fmt.Errorf("count service accounts: %w", err)
		}
		switch {
		case same > 0:
			return errs.E(errs.Conflict, "there is a service account named %q already", name)
		case n >= maxAccounts:
			return errs.E(errs.Conflict, "the organization has %d service accounts, more are not possible", n)
		}
		id := uuid.NewString()
		// Nobody can own the address: the domain is reserved (RFC 2606), so no
		// sign-in and no mail ever meets the account.
		m = tenant.Member{UserID: tenant.UserID(id), FirstName: name, Email: id + "@service-account.invalid",
			Role: role, Service: true, CreatedAt: tx.Now}
		if _, err := tx.Exec(ctx, `INSERT INTO app_user (id, email, first_name, notification, onboarded, service_of, created_at, updated_at)
			VALUES (?, ?, ?, FALSE, TRUE, ?, ?, ?)`, m.UserID, m.Email, name, sc.Organization, sqldb.Millis(tx.Now), sqldb.Millis(tx.Now)); err != nil {
			return fmt.Errorf("create service account: %w", err)
		}
		if err := insertMember(ctx, tx, organizationMembers,
			newMember{string(sc.Organization), m.UserID, role}); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, accountEvent(sc, m, "create"))
	})
	return m, err
}

func accountEvent(sc tenant.Scope, m tenant.Member, verb string) audit.Event {
	return audit.Event{Chain: sc.Organization, Action: "service_account." + verb, TargetKind: "service_account",
		Target: string(m.UserID),
		Detail: map[string]any{"name": m.FirstName, "role": m.Role}}.By(sc.Actor)
}

// DeleteServiceAccount removes a service account of the scope's organization with
// its memberships and tokens. It needs what ServiceAccount needs.
func (db *Store) DeleteServiceAccount(ctx context.Context, sc tenant.Scope, id tenant.UserID) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, tenant.OrgMembers)
		if err != nil {
			return err
		}
		m, err := readServiceAccount(ctx, tx, sc, id)
		if err != nil {
			return err
		}
		if err := managesNoTeamAlone(ctx, tx, sc.Organization, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM app_user WHERE id = ? AND service_of = ?", id,
			sc.Organization); err != nil {
			return fmt.Errorf("delete service account: %w", err)
		}
		return auditlog.Append(ctx, tx, accountEvent(sc, m, "delete"))
	})
}

// ServiceAccount returns a service account of the scope's organization that the
// caller may act for, by making a token or deleting it: that needs org.members
// and, wherever the account has a role, every permission of that role.
func (db *Store) ServiceAccount(ctx context.Context, sc tenant.Scope, id tenant.UserID) (tenant.Member, error) {
	var m tenant.Member
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.OrgMembers)
		if err != nil {
			return err
		}
		m, err = readServiceAccount(ctx, tx, sc, id)
		return err
	})
	return m, err
}

func readServiceAccount(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, id tenant.UserID) (tenant.Member, error) {
	m, err := readMember(ctx, tx, organizationMembers, string(sc.Organization), id)
	if errs.Is(err, errs.NotFound) || err == nil && !m.Service {
		return m, errs.E(errs.NotFound, "service account not found")
	}
	if err != nil {
		return m, err
	}
	rows, err := tx.Query(ctx, `SELECT '', '', role FROM organization_member WHERE user_id = ?
		UNION ALL SELECT team_id, '', role FROM team_member WHERE user_id = ?
		UNION ALL SELECT p.team_id, p.id, g.role FROM project_member g JOIN project p ON p.id = g.project_id WHERE g.user_id = ?`, id, id, id)
	type held struct {
		team    tenant.TeamID
		project tenant.ProjectID
		role    tenant.RoleID
	}
	roles, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (h held, err error) {
		return h, rows.Scan(&h.team, &h.project, &h.role)
	})
	if err != nil {
		return m, fmt.Errorf("read the account's roles: %w", err)
	}
	for _, h := range roles {
		own, level, err := roleAtTeam(ctx, tx, sc, h.team, h.project)
		if err != nil {
			return m, err
		}
		p, err := readRole(ctx, tx, sc.Organization, h.role, level)
		if errs.Is(err, errs.Invalid) {
			continue // a role that grants nothing
		}
		if err == nil {
			err = coversPermissions(own, p, h.role)
		}
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

// roleAtTeam returns the caller's permissions at a place of the organization, none
// where the caller sees nothing.
func roleAtTeam(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, t tenant.TeamID,
	p tenant.ProjectID) (tenant.Permissions, tenant.Level, error) {
	level := tenant.OrganizationLevel
	switch {
	case p != "":
		level = tenant.ProjectLevel
	case t != "":
		level = tenant.TeamLevel
	default:
		return sc.Roles, level, nil
	}
	own, err := access.Resolve(ctx, tx, sc.Actor, tenant.Target{Organization: sc.Organization, Team: t, Project: p})
	if err != nil && !errs.Is(err, errs.NotFound) {
		return 0, level, err
	}
	return own.Roles, level, nil
}

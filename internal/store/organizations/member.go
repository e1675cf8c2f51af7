package organizations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// This file holds what the memberships of organizations, teams and projects have
// in common: reading them, and the rules of who may give whom which role.
//
// The rules. Nobody gives a role that has a permission which he lacks there
// himself, nor takes such a role from somebody. Nobody changes his own role. An
// administrator's role is changed by nobody; a team manager's only by somebody
// whose power over the team comes from the organization. An organization keeps
// an administrator, a team keeps a manager. Every change of a membership holds
// the lock of the organization's row and reads the caller's permissions under it.

// A membership is one of the three tables of memberships.
type membership struct {
	// table has the memberships, and column the ID of what they are of.
	table, column string
	level         tenant.Level
}

var (
	organizationMembers = membership{"organization_member", "organization_id", tenant.OrganizationLevel}
	teamMembers         = membership{"team_member", "team_id", tenant.TeamLevel}
	projectMembers      = membership{"project_member", "project_id", tenant.ProjectLevel}
)

// scopeID returns the id of what the scope is about at the membership's level.
func (m membership) scopeID(sc tenant.Scope) string {
	switch m.level {
	case tenant.TeamLevel:
		return string(sc.Team)
	case tenant.ProjectLevel:
		return string(sc.Project)
	}
	return string(sc.Organization)
}

// memberColumns are the columns of a membership m with its user u, in the order of
// scanMember.
const memberColumns = `u.id, u.first_name, u.last_name, u.email, u.picture, m.role, u.service_of IS NOT NULL, m.created_at`

// scanMember reads memberColumns.
func scanMember(row sqldb.Scanner) (tenant.Member, error) {
	var m tenant.Member
	var created int64
	err := row.Scan(&m.UserID, &m.FirstName, &m.LastName, &m.Email, &m.Picture, &m.Role, &m.Service, &created)
	m.CreatedAt = sqldb.FromMillis(created)
	return m, err
}

// listMembers returns a page of the members at the scope.
func (db *Store) listMembers(ctx context.Context, m membership, sc tenant.Scope,
	q tenant.MemberQuery) (tenant.MemberPage, error) {
	from := " FROM " + m.table + " m JOIN app_user u ON u.id = m.user_id WHERE m." + m.column + " = ?"
	args := []any{m.scopeID(sc)}
	if m.level == tenant.OrganizationLevel {
		from += " AND u.service_of IS NULL" // service accounts have a list of their own
	}
	if q.Search != "" {
		like := db.Dialect.Like()
		from += " AND (u.email " + like + ` ? ESCAPE '\' OR u.first_name || ' ' || u.last_name ` + like +
			` ? ESCAPE '\')`
		args = append(args, sqldb.LikePattern(q.Search), sqldb.LikePattern(q.Search))
	}
	var p tenant.MemberPage
	if err := db.QueryRow(ctx, "SELECT COUNT(*)"+from, args...).Scan(&p.Total); err != nil {
		return p, fmt.Errorf("count members: %w", db.Classify(err))
	}
	rows, err := db.Query(ctx, "SELECT "+memberColumns+from+" ORDER BY u.email, u.id LIMIT ? OFFSET ?",
		append(args, q.Size, sqldb.PageOffset(q.Page, q.Size))...)
	if p.Members, err = sqldb.Collect(rows, err, func(rows *sql.Rows) (tenant.Member, error) {
		return scanMember(rows)
	}); err != nil {
		return p, fmt.Errorf("list members: %w", err)
	}
	if m.level == tenant.OrganizationLevel {
		if p.Administrators, err = countAdministrators(ctx, db.DB, sc.Organization); err != nil {
			return p, db.Classify(err)
		}
	}
	return p, nil
}

// countAdministrators counts the people who are administrators of an organization.
func countAdministrators(ctx context.Context, q sqldb.Querier, org tenant.OrganizationID) (n int, err error) {
	err = q.QueryRow(ctx, `SELECT COUNT(*) FROM organization_member m JOIN app_user u ON u.id = m.user_id
		WHERE m.organization_id = ? AND m.role = ? AND u.service_of IS NULL AND u.disabled_at = 0`, org, tenant.Administrator).Scan(&n)
	return n, err
}

// LockOrganization locks the scope's organization for the rest of the
// transaction and returns the caller's scope as it is now, after checking what
// the change needs.
func LockOrganization(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope,
	needs tenant.Permissions) (tenant.Scope, error) {
	var id string
	err := tx.QueryRow(ctx, "SELECT id FROM organization WHERE id = ?"+tx.DB.Dialect.ForUpdate(),
		sc.Organization).Scan(&id)
	if err != nil {
		return sc, sqldb.NotFound(err, "organization")
	}
	return access.Admit(ctx, tx, sc, needs)
}

// readRole returns what a role grants at a level of the organization; an Invalid
// error when there is no such role.
func readRole(ctx context.Context, tx *sqldb.Tx, org tenant.OrganizationID, id tenant.RoleID,
	at tenant.Level) (tenant.Permissions, error) {
	var level sql.NullString
	var permissions sql.NullInt64
	err := tx.QueryRow(ctx, "SELECT level, permissions FROM custom_role WHERE id = ? AND organization_id = ?", id,
		org).Scan(&level, &permissions)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read role: %w", err)
	}
	p := access.RolePermissions(id, at, level, permissions)
	if p == 0 {
		return 0, errs.E(errs.Invalid, "there is no role %q that can be given in %s", id, levelArticle(at))
	}
	return p, nil
}

// levelArticle returns the level with its article, for error messages.
func levelArticle(l tenant.Level) string {
	if l == tenant.OrganizationLevel {
		return "an organization"
	}
	return "a " + string(l)
}

// coversPermissions returns a Forbidden error unless the caller has every permission of a
// role that is to be given or taken.
func coversPermissions(own, role tenant.Permissions, id tenant.RoleID) error {
	// Otherwise a manager could make an accomplice administrator (privilege escalation,
	// CWE-269).
	if missing := role &^ own; missing != 0 {
		return errs.E(errs.Forbidden, "you cannot give or take the role %s: it grants %s, which you do not have here",
			id, strings.Join(missing.Names(), ", "))
	}
	return nil
}

// checkMayGive checks that the caller may give the role at the level.
func checkMayGive(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, id tenant.RoleID, at tenant.Level) error {
	p, err := readRole(ctx, tx, sc.Organization, id, at)
	if err != nil {
		return err
	}
	return coversPermissions(sc.Roles, p, id)
}

// readMember returns a user's membership.
func readMember(ctx context.Context, q sqldb.Querier, m membership, at string,
	user tenant.UserID) (tenant.Member, error) {
	member, err := scanMember(q.QueryRow(ctx, "SELECT "+memberColumns+" FROM "+m.table+" m JOIN app_user u ON u.id = "+
		"m.user_id WHERE m."+
		m.column+" = ? AND m.user_id = ?", at, user))
	return member, sqldb.NotFound(err, "member")
}

// A newMember is a user who gets a role at a place: an organization, team or project.
type newMember struct {
	at   string
	user tenant.UserID
	role tenant.RoleID
}

// insertMember adds a member; a Conflict error when the user is one already.
func insertMember(ctx context.Context, tx *sqldb.Tx, m membership, n newMember) error {
	_, err := tx.Exec(ctx, "INSERT INTO "+m.table+" ("+m.column+", user_id, role, created_at) VALUES (?, "+
		"?, ?, ?)", n.at,
		n.user, n.role, sqldb.Millis(tx.Now))
	if err != nil && tx.DB.Dialect.Conflict(err) {
		return errs.E(errs.Conflict, "that user is a member of the %s already", m.level)
	}
	if err != nil {
		return fmt.Errorf("add member: %w", err)
	}
	return nil
}

// checkMayTake checks that the caller may take the present role from a member, and
// that the place keeps somebody who can run it.
func checkMayTake(ctx context.Context, tx *sqldb.Tx, m membership, sc tenant.Scope, of tenant.Member) error {
	p, err := readRole(ctx, tx, sc.Organization, of.Role, m.level)
	if err != nil && !errs.Is(err, errs.Invalid) { // a role that grants nothing can be taken by anybody
		return err
	}
	if of.UserID != sc.Actor.UserID {
		if err := coversPermissions(sc.Roles, p, of.Role); err != nil {
			return err
		}
	}
	if m.level == tenant.TeamLevel && p&tenant.TeamManage != 0 && of.UserID != sc.Actor.UserID {
		if err := abovePeers(ctx, tx, sc); err != nil {
			return err
		}
	}
	return notLast(ctx, tx, m, sc, of)
}

// abovePeers returns a Forbidden error when the caller's power over the team is
// that of a team manager, who has none over another one.
func abovePeers(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope) error {
	above, err := access.Resolve(ctx, tx, sc.Actor, tenant.Target{Organization: sc.Organization})
	if err != nil {
		return err
	}
	if above.Permissions&tenant.TeamManage == 0 {
		return errs.E(errs.Forbidden, "a team manager cannot change or remove another team manager; an administrator "+
			"of the organization can")
	}
	return nil
}

// notLast returns an Invalid error when the member is the last one to run the
// place.
func notLast(ctx context.Context, tx *sqldb.Tx, m membership, sc tenant.Scope, of tenant.Member) error {
	switch {
	case m.level == tenant.OrganizationLevel && of.Role == tenant.Administrator && !of.Service:
		n, err := countAdministrators(ctx, tx, sc.Organization)
		if err != nil {
			return fmt.Errorf("count administrators: %w", err)
		}
		if n <= 1 {
			return errs.E(errs.Invalid, "this is the last administrator of the organization: make somebody else "+
				"administrator first")
		}
	case m.level == tenant.TeamLevel && of.Role == tenant.TeamManager:
		var n int
		err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM team_member WHERE team_id = ? AND role = ? AND user_id <> ?",
			sc.Team, tenant.TeamManager, of.UserID).Scan(&n)
		if err != nil {
			return fmt.Errorf("count team managers: %w", err)
		}
		if n == 0 {
			return errs.E(errs.Invalid, "this is the last manager of the team: make somebody else team manager first")
		}
	}
	return nil
}

// A memberChange is a change of one membership: who, in which table, and the
// role to give; no role removes.
type memberChange struct {
	membership
	user  tenant.UserID
	role  tenant.RoleID
	needs tenant.Permissions
}

// addMember makes a member of the organization a member of the scope's team or
// project.
func (db *Store) addMember(ctx context.Context, sc tenant.Scope, c memberChange) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, c.needs)
		if err != nil {
			return err
		}
		if err := checkMayGive(ctx, tx, sc, c.role, c.level); err != nil {
			return err
		}
		if _, err := readMember(ctx, tx, organizationMembers, string(sc.Organization), c.user); err != nil {
			if errs.Is(err, errs.NotFound) {
				return errs.E(errs.NotFound, "that user is not a member of the organization: invite first")
			}
			return err
		}
		if err := insertMember(ctx, tx, c.membership, newMember{c.scopeID(sc), c.user, c.role}); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, c.changeEvent(sc, "add_member", map[string]any{"user": c.user, "role": c.role}))
	})
}

// setRole gives a member of the scope's organization, team or project another
// role.
func (db *Store) setRole(ctx context.Context, sc tenant.Scope, c memberChange) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, c.needs)
		if err != nil {
			return err
		}
		of, err := readMember(ctx, tx, c.membership, c.scopeID(sc), c.user)
		if err != nil {
			return err
		}
		switch {
		case c.user == sc.Actor.UserID:
			return errs.E(errs.Forbidden, "nobody can change his own role")
		case c.level == tenant.OrganizationLevel && of.Role == tenant.Administrator && !of.Service:
			return errs.E(errs.Forbidden, "nobody can change the role of an administrator")
		}
		if err := checkMayGive(ctx, tx, sc, c.role, c.level); err != nil {
			return err
		}
		if of.Role == c.role {
			return nil
		}
		if err := checkMayTake(ctx, tx, c.membership, sc, of); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE "+c.table+" SET role = ? WHERE "+c.column+" = ? AND user_id = ?", c.role,
			c.scopeID(sc), c.user); err != nil {
			return fmt.Errorf("change role: %w", err)
		}
		// Open invitations may offer more than the inviter can give now.
		if c.level == tenant.OrganizationLevel {
			if err := cancelInvitationsBy(ctx, tx, sc.Organization, c.user); err != nil {
				return err
			}
		}
		return auditlog.Append(ctx, tx, c.changeEvent(sc, "change_role", map[string]any{"user": c.user, "role": c.role,
			"before": of.Role}))
	})
}

// removeMember ends a membership in the scope's team or project.
func (db *Store) removeMember(ctx context.Context, sc tenant.Scope, c memberChange) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, c.needs)
		if err != nil {
			return err
		}
		of, err := readMember(ctx, tx, c.membership, c.scopeID(sc), c.user)
		if err != nil {
			return err
		}
		if err := checkMayTake(ctx, tx, c.membership, sc, of); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM "+c.table+" WHERE "+c.column+" = ? AND user_id = ?", c.scopeID(sc),
			c.user); err != nil {
			return fmt.Errorf("remove member: %w", err)
		}
		return auditlog.Append(ctx, tx,
			c.changeEvent(sc, "remove_member", map[string]any{"user": c.user, "role": of.Role}))
	})
}

// changeEvent returns the audit record of a change at the scope.
func (m membership) changeEvent(sc tenant.Scope, verb string, detail map[string]any) audit.Event {
	return audit.Event{
		Chain: sc.Organization, Action: string(m.level) + "." + verb, TargetKind: string(m.level),
		Target: m.scopeID(sc),
		Detail: detail,
	}.By(sc.Actor)
}

// OrganizationMembers returns a page of the people in the scope's organization.
func (db *Store) OrganizationMembers(ctx context.Context, sc tenant.Scope,
	q tenant.MemberQuery) (tenant.MemberPage, error) {
	return db.listMembers(ctx, organizationMembers, sc, q)
}

// SetOrganizationRole changes a member's role in the scope's organization. It
// needs org.manage.
func (db *Store) SetOrganizationRole(ctx context.Context, sc tenant.Scope, user tenant.UserID,
	role tenant.RoleID) error {
	return db.setRole(ctx, sc, memberChange{organizationMembers, user, role, tenant.OrgManage})
}

// RemoveOrganizationMember removes a person from the scope's organization, and
// with that from its teams and projects; the person's open invitations are
// cancelled. It needs org.members.
func (db *Store) RemoveOrganizationMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, tenant.OrgMembers)
		if err != nil {
			return err
		}
		of, err := readMember(ctx, tx, organizationMembers, string(sc.Organization), user)
		if err != nil {
			return err
		}
		if of.Service {
			return errs.E(errs.Invalid, "a service account is deleted, not removed")
		}
		if err := checkMayTake(ctx, tx, organizationMembers, sc, of); err != nil {
			return err
		}
		if err := managesNoTeamAlone(ctx, tx, sc.Organization, user); err != nil {
			return err
		}
		for _, statement := range []string{
			"DELETE FROM project_member WHERE user_id = ? AND EXISTS (SELECT 1 FROM project p WHERE p.id = " +
				"project_id AND p.organization_id = ?)",
			"DELETE FROM team_member WHERE user_id = ? AND EXISTS (SELECT 1 FROM team t WHERE t.id = team_id AND " +
				"t.organization_id = ?)",
			"DELETE FROM organization_member WHERE user_id = ? AND organization_id = ?",
		} {
			if _, err := tx.Exec(ctx, statement, user, sc.Organization); err != nil {
				return fmt.Errorf("remove member: %w", err)
			}
		}
		if err := cancelInvitationsBy(ctx, tx, sc.Organization, user); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, organizationMembers.changeEvent(sc, "remove_member",
			map[string]any{"user": user, "role": of.Role}))
	})
}

// managesNoTeamAlone returns an Invalid error that names the teams which would
// lose their last manager with the user.
func managesNoTeamAlone(ctx context.Context, tx *sqldb.Tx, org tenant.OrganizationID, user tenant.UserID) error {
	rows, err := tx.Query(ctx, `SELECT t.name FROM team_member g JOIN team t ON t.id = g.team_id
		WHERE g.user_id = ? AND g.role = ? AND t.organization_id = ? AND NOT EXISTS (
			SELECT 1 FROM team_member other WHERE other.team_id = t.id AND other.role = g.role AND other.user_id <> g.user_id)
		ORDER BY t.name, t.id LIMIT 5`, user, tenant.TeamManager, org)
	names, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (name string, err error) {
		return name, rows.Scan(&name)
	})
	if err != nil {
		return fmt.Errorf("look for teams without another manager: %w", err)
	}
	if len(names) > 0 {
		return errs.E(errs.Invalid, "this is the last manager of the team %s: make somebody else team manager first",
			strings.Join(names, ", "))
	}
	return nil
}

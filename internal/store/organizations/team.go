package organizations

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// teamColumns are the columns of a team t, in the order of scanTeam.
const teamColumns = "t.id, t.organization_id, t.name, t.description, t.created_at, t.updated_at"

// scanTeam reads teamColumns.
func scanTeam(row sqldb.Scanner) (tenant.Team, error) {
	var t tenant.Team
	var created, updated int64
	err := row.Scan(&t.ID, &t.OrganizationID, &t.Name, &t.Description, &created, &updated)
	t.CreatedAt, t.UpdatedAt = sqldb.FromMillis(created), sqldb.FromMillis(updated)
	return t, err
}

// CreateTeam makes a team in the scope's organization, with the actor as its
// manager. It needs org.teams.
func (db *Store) CreateTeam(ctx context.Context, sc tenant.Scope, t tenant.Team) (tenant.Team, error) {
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.OrgTeams)
		if err != nil {
			return err
		}
		t.ID, t.OrganizationID, t.CreatedAt, t.UpdatedAt = tenant.TeamID(tenant.NewID(db.Region, tx.Now)),
			sc.Organization, tx.Now, tx.Now
		if _, err := tx.Exec(ctx, "INSERT INTO team (id, organization_id, name, description, created_at, updated_at) "+
			"VALUES (?, ?, ?, ?, ?, ?)",
			t.ID, t.OrganizationID, t.Name, t.Description, sqldb.Millis(tx.Now), sqldb.Millis(tx.Now)); err != nil {
			return fmt.Errorf("create team: %w", err)
		}
		if sc.Actor.UserID != "" {
			if err := insertMember(ctx, tx, teamMembers,
				newMember{string(t.ID), sc.Actor.UserID, tenant.TeamManager}); err != nil {
				return err
			}
		}
		return auditlog.Append(ctx, tx, teamEvent(sc, t, "create"))
	})
	return t, err
}

func teamEvent(sc tenant.Scope, t tenant.Team, verb string) audit.Event {
	return audit.Event{Chain: t.OrganizationID, Action: "team." + verb, TargetKind: "team", Target: string(t.ID),
		Detail: map[string]any{"name": t.Name}}.By(sc.Actor)
}

// Team returns the scope's team.
func (db *Store) Team(ctx context.Context, sc tenant.Scope) (tenant.Team, error) {
	t, err := ReadTeam(ctx, db.DB, sc, "")
	return t, db.Classify(err)
}

// ReadTeam returns the team of the scope; lock ends the query, to lock the row.
func ReadTeam(ctx context.Context, q sqldb.Querier, sc tenant.Scope, lock string) (tenant.Team, error) {
	t, err := scanTeam(q.QueryRow(ctx, "SELECT "+teamColumns+" FROM team t WHERE t.id = ? AND "+
		"t.organization_id = ?"+lock, sc.Team, sc.Organization))
	return t, sqldb.NotFound(err, "team")
}

// Teams returns the teams of the scope's organization that the actor may see, by
// name: all of them with team.read in the organization, otherwise those whose
// own role grants it; with a token that is limited to projects, only their teams.
func (db *Store) Teams(ctx context.Context, sc tenant.Scope) ([]tenant.Team, error) {
	query, args := "SELECT "+teamColumns+", '', NULL, NULL FROM team t WHERE t.organization_id = ? ORDER BY "+
		"t.name, t.id", []any{sc.Organization}
	all := sc.Roles&tenant.TeamRead != 0
	if !all {
		query = "SELECT " + teamColumns + `, g.role, r.level, r.permissions
			FROM team_member g CROSS JOIN team t
			LEFT JOIN custom_role r ON r.id = g.role AND r.organization_id = t.organization_id
			WHERE t.id = g.team_id AND g.user_id = ? AND t.organization_id = ? ORDER BY t.name, t.id`
		args = []any{sc.Actor.UserID, sc.Organization}
	}
	rows, err := db.Query(ctx, query, args...)
	type row struct {
		tenant.Team
		visible bool
	}
	found, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (row, error) {
		var id tenant.RoleID
		var level sql.NullString
		var permissions sql.NullInt64
		t, err := scanTeam(more{rows, []any{&id, &level, &permissions}})
		return row{t, all || access.RolePermissions(id, tenant.TeamLevel, level, permissions)&tenant.TeamRead != 0}, err
	})
	if err != nil {
		return nil, err
	}
	reached := func(tenant.TeamID) bool { return true }
	if sc.Actor.Limits.OnlyProjects() {
		limited, err := db.LimitedProjects(ctx, sc)
		if err != nil {
			return nil, err
		}
		reached = func(id tenant.TeamID) bool {
			return slices.ContainsFunc(limited, func(g ProjectGrant) bool { return g.Team == id })
		}
	}
	teams := []tenant.Team{}
	for _, r := range found {
		if r.visible && reached(r.ID) {
			teams = append(teams, r.Team)
		}
	}
	return teams, nil
}

// more scans further columns at the end of a row.
type more struct {
	sqldb.Scanner
	dest []any
}

// Scan scans into dest and the further destinations.
func (m more) Scan(dest ...any) error { return m.Scanner.Scan(append(dest, m.dest...)...) }

// UpdateTeam changes what edit changes of the scope's team and returns what
// became of it. It needs team.manage.
func (db *Store) UpdateTeam(ctx context.Context, sc tenant.Scope, edit func(*tenant.Team) error) (tenant.Team, error) {
	var t tenant.Team
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.TeamManage)
		if err != nil {
			return err
		}
		if t, err = ReadTeam(ctx, tx, sc, db.Dialect.ForUpdate()); err != nil {
			return err
		}
		before := t
		if err := edit(&t); err != nil || t == before {
			return err
		}
		t.UpdatedAt = tx.Now
		if _, err := tx.Exec(ctx, "UPDATE team SET name = ?, description = ?, updated_at = ? WHERE id = ?", t.Name,
			t.Description, sqldb.Millis(tx.Now), t.ID); err != nil {
			return fmt.Errorf("update team: %w", err)
		}
		return auditlog.Append(ctx, tx, teamEvent(sc, t, "update"))
	})
	return t, err
}

// DeleteTeam removes the scope's team with its projects and everything in them. A
// team with projects is a Conflict unless withProjects is set.
// It needs org.teams.
func (db *Store) DeleteTeam(ctx context.Context, sc tenant.Scope, withProjects bool) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.OrgTeams)
		if err != nil {
			return err
		}
		t, err := ReadTeam(ctx, tx, sc, db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		var projects int
		if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM project WHERE team_id = ?", t.ID).Scan(&projects); err != nil {
			return fmt.Errorf("count projects of team: %w", err)
		}
		if projects > 0 && !withProjects {
			return &errs.Error{Kind: errs.Conflict, Code: "team_has_projects", Message: fmt.Sprintf(
				"the team has %d projects, which would be deleted with all their scans and findings: move them to "+
					"another team, or send the request again with deleteProjects=true", projects)}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM team WHERE id = ?", t.ID); err != nil {
			return fmt.Errorf("delete team: %w", err)
		}
		return auditlog.Append(ctx, tx, teamEvent(sc, t, "delete"))
	})
}

// TeamMembers returns a page of the members of the scope's team.
func (db *Store) TeamMembers(ctx context.Context, sc tenant.Scope, q tenant.MemberQuery) (tenant.MemberPage, error) {
	return db.listMembers(ctx, teamMembers, sc, q)
}

// TeamMember returns one member of the scope's team.
func (db *Store) TeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) (tenant.Member, error) {
	m, err := readMember(ctx, db.DB, teamMembers, string(sc.Team), user)
	return m, db.Classify(err)
}

// AddTeamMember makes a member of the organization one of the scope's team. It
// needs team.manage.
func (db *Store) AddTeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error {
	return db.addMember(ctx, sc, memberChange{teamMembers, user, role, tenant.TeamManage})
}

// SetTeamRole changes a member's role in the scope's team. It needs team.manage.
func (db *Store) SetTeamRole(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error {
	return db.setRole(ctx, sc, memberChange{teamMembers, user, role, tenant.TeamManage})
}

// RemoveTeamMember removes somebody from the scope's team. It needs team.manage.
func (db *Store) RemoveTeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error {
	return db.removeMember(ctx, sc, memberChange{membership: teamMembers, user: user, needs: tenant.TeamManage})
}

// ProjectMembers returns a page of those who have a role in the scope's project
// alone.
func (db *Store) ProjectMembers(ctx context.Context, sc tenant.Scope, q tenant.MemberQuery) (tenant.MemberPage, error) {
	return db.listMembers(ctx, projectMembers, sc, q)
}

// AddProjectMember gives a member of the organization a role in the scope's
// project. It needs team.manage.
func (db *Store) AddProjectMember(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error {
	return db.addMember(ctx, sc, memberChange{projectMembers, user, role, tenant.TeamManage})
}

// SetProjectRole changes a member's role in the scope's project. It needs
// team.manage.
func (db *Store) SetProjectRole(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error {
	return db.setRole(ctx, sc, memberChange{projectMembers, user, role, tenant.TeamManage})
}

// RemoveProjectMember takes somebody's role in the scope's project. It needs
// team.manage.
func (db *Store) RemoveProjectMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error {
	return db.removeMember(ctx, sc, memberChange{membership: projectMembers, user: user, needs: tenant.TeamManage})
}

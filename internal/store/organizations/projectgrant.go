package organizations

import (
	"context"
	"database/sql"

	"merlon/internal/errs"
	"merlon/internal/store/access"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// A ProjectGrant is a project that somebody may read because of a role for that
// project alone.
type ProjectGrant struct {
	Project string
	Team    tenant.TeamID
}

// ProjectGrants are the grants of one caller.
type ProjectGrants []ProjectGrant

// IDs returns the projects of the grants to keep; never nil.
func (g ProjectGrants) IDs(keep func(ProjectGrant) bool) []string {
	ids := []string{}
	for _, one := range g {
		if keep(one) {
			ids = append(ids, one.Project)
		}
	}
	return ids
}

// ProjectReaders returns whether a role, given at a level of the organization, lets its
// holder read projects. The custom roles are read once: a join would look for
// each of them again with every membership.
func (db *Store) ProjectReaders(ctx context.Context, sc tenant.Scope,
	at tenant.Level) (func(tenant.RoleID) bool, error) {
	custom, err := db.Roles(ctx, sc)
	if err != nil {
		return nil, err
	}
	byID := map[tenant.RoleID]tenant.Role{}
	for _, r := range custom {
		byID[r.ID] = r
	}
	return func(id tenant.RoleID) bool {
		r := byID[id]
		return access.RolePermissions(id, at, sql.NullString{String: string(r.Level), Valid: r.ID != ""},
			sql.NullInt64{Int64: int64(r.Permissions), Valid: r.ID != ""})&tenant.ProjectRead != 0
	}, nil
}

// GrantedProjects returns the projects of the scope's organization that the caller may
// read because of a role for that project alone.
func (db *Store) GrantedProjects(ctx context.Context, sc tenant.Scope) (ProjectGrants, error) {
	if sc.Actor.Limits.OnlyProjects() {
		return db.LimitedProjects(ctx, sc)
	}
	reads, err := db.ProjectReaders(ctx, sc, tenant.ProjectLevel)
	if err != nil {
		return nil, err
	}
	// CROSS JOIN makes SQLite begin with the grants: without statistics it takes the
	// organization's projects first, a million of them for one grant.
	rows, err := db.Query(ctx, `SELECT p.id, p.team_id, g.role FROM project_member g CROSS JOIN project p
		WHERE p.id = g.project_id AND g.user_id = ? AND p.organization_id = ? ORDER BY p.id`, sc.Actor.UserID, sc.Organization)
	var grants ProjectGrants
	err = sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		var g ProjectGrant
		var role tenant.RoleID
		if err := rows.Scan(&g.Project, &g.Team, &role); err != nil {
			return err
		}
		if reads(role) {
			grants = append(grants, g)
		}
		return nil
	})
	return grants, err
}

// LimitedProjects returns the projects of the scope's organization that the caller may
// read and the caller's token is limited to.
func (db *Store) LimitedProjects(ctx context.Context, sc tenant.Scope) (ProjectGrants, error) {
	var grants ProjectGrants
	for _, id := range sc.Actor.Limits.Projects {
		one, err := access.Resolve(ctx, db.DB, sc.Actor, tenant.Target{Organization: sc.Organization, Project: id})
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		grants = append(grants, ProjectGrant{Project: string(id), Team: one.Team})
	}
	return grants, nil
}

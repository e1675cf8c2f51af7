package access

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// This file decides who may do what: it reads the roles that an actor holds at a
// target and above it, and adds up what they grant.

// A grant is a role that somebody holds at a level, with the permissions of the
// custom role of that name, if there is one.
type grant struct {
	organization tenant.OrganizationID
	team         tenant.TeamID
	level        tenant.Level
	role         tenant.RoleID
	customLevel  sql.NullString
	custom       sql.NullInt64
}

// grantedPermissions returns what the grant grants.
func (g grant) grantedPermissions() tenant.Permissions {
	return RolePermissions(g.role, g.level, g.customLevel, g.custom)
}

// RolePermissions returns what a role grants that is given at a level: a
// built-in one by its name, any other by the columns level and permissions of
// the organization's custom role. An unknown role, or one of another level,
// grants nothing.
func RolePermissions(id tenant.RoleID, at tenant.Level, level sql.NullString,
	permissions sql.NullInt64) tenant.Permissions {
	if role, ok := tenant.BuiltIn(id, at); ok {
		return role.Permissions.GrantedAt(at)
	}
	of := tenant.Level(level.String)
	if !permissions.Valid || of != at && (at != tenant.ProjectLevel || of != tenant.TeamLevel) {
		return 0
	}
	return tenant.Permissions(permissions.Int64).GrantedAt(at)
}

// MemberCondition joins the caller's membership in the organization of the row o: a
// user who is not disabled, and for a service account only its own organization,
// with a token that is not too old for the organization. Who is no member of an
// organization has no role inside it. It takes the user and tokenAge.
const MemberCondition = `
	JOIN organization_member m ON m.organization_id = o.id AND m.user_id = ?
	JOIN app_user u ON u.id = m.user_id AND u.disabled_at = 0 AND COALESCE(u.service_of, o.id) = o.id
		AND (o.max_token_days = 0 OR o.max_token_days * 86400000 > ?)`

// TokenAge is the age of the actor's personal access token in milliseconds; 0 for
// another kind of token.
func TokenAge(actor tenant.Actor) int64 {
	if actor.Limits == nil {
		return 0
	}
	return actor.Limits.Age.Milliseconds()
}

// The queries of the roles that a user holds at a target. Each row repeats the
// ids that the target truly belongs to.
const (
	organizationGrants = `
	SELECT o.id, '', 'organization', m.role, r.level, r.permissions FROM organization o` + MemberCondition + `
	LEFT JOIN custom_role r ON r.id = m.role AND r.organization_id = o.id
	WHERE o.id = ?`

	teamGrants = `
	SELECT o.id, t.id, 'organization', m.role, r.level, r.permissions
	FROM team t JOIN organization o ON o.id = t.organization_id` + MemberCondition + `
	LEFT JOIN custom_role r ON r.id = m.role AND r.organization_id = o.id
	WHERE t.id = ?
	UNION ALL
	SELECT t.organization_id, t.id, 'team', g.role, r.level, r.permissions
	FROM team t JOIN team_member g ON g.team_id = t.id AND g.user_id = ?
	LEFT JOIN custom_role r ON r.id = g.role AND r.organization_id = t.organization_id
	WHERE t.id = ?`

	projectGrants = `
	SELECT o.id, p.team_id, 'organization', m.role, r.level, r.permissions
	FROM project p JOIN organization o ON o.id = p.organization_id` + MemberCondition + `
	LEFT JOIN custom_role r ON r.id = m.role AND r.organization_id = o.id
	WHERE p.id = ?
	UNION ALL
	SELECT p.organization_id, p.team_id, 'team', g.role, r.level, r.permissions
	FROM project p JOIN team_member g ON g.team_id = p.team_id AND g.user_id = ?
	LEFT JOIN custom_role r ON r.id = g.role AND r.organization_id = p.organization_id
	WHERE p.id = ?
	UNION ALL
	SELECT p.organization_id, p.team_id, 'project', g.role, r.level, r.permissions
	FROM project p JOIN project_member g ON g.project_id = p.id AND g.user_id = ?
	LEFT JOIN custom_role r ON r.id = g.role AND r.organization_id = p.organization_id
	WHERE p.id = ?`
)

// Scope returns what the actor may do with the target, in one round trip. An
// organization is visible to its members, a team to those whose roles grant
// team.read, a project to those whose roles grant project.read; everything else,
// and a target whose parts do not belong together or that the actor's token does
// not reach, is a NotFound error.
func (db *Store) Scope(ctx context.Context, actor tenant.Actor, target tenant.Target) (tenant.Scope, error) {
	sc, err := Resolve(ctx, db.DB, actor, target)
	return sc, db.Classify(err)
}

// Resolve makes the scope of an actor at a target. An actor without any role there gets
// NotFound and not Forbidden, so that nobody learns which identifiers exist.
func Resolve(ctx context.Context, q sqldb.Querier, actor tenant.Actor, target tenant.Target) (tenant.Scope, error) {
	grants, err := grantsAt(ctx, q, actor, target)
	if err != nil {
		return tenant.Scope{}, fmt.Errorf("read roles: %w", err)
	}
	sc := tenant.Scope{Actor: actor, Project: target.Project}
	member := false
	for _, g := range grants {
		sc.Organization, sc.Team = g.organization, g.team
		sc.Roles |= g.grantedPermissions()
		member = member || g.level == tenant.OrganizationLevel
	}
	visible := member
	kind := "organization"
	switch {
	case target.Project != "":
		visible = visible && sc.Roles&tenant.ProjectRead != 0
		kind = "project"
	case target.Team != "":
		visible = visible && sc.Roles&tenant.TeamRead != 0
		kind = "team"
	}
	if target.Organization != "" && target.Organization != sc.Organization ||
		target.Team != "" && target.Team != sc.Team || !visible {
		return tenant.Scope{}, errs.E(errs.NotFound, "%s not found", kind)
	}
	reached, err := applyTokenLimits(ctx, q, &sc)
	if err == nil && !reached {
		err = errs.E(errs.NotFound, "%s not found", kind)
	}
	if err != nil {
		return tenant.Scope{}, err
	}
	return sc, nil
}

// applyTokenLimits takes from the scope what the actor's token does not let through, and
// reports whether the token reaches the target at all. A token that is limited to
// projects reaches their teams and organization, to find the way to them.
func applyTokenLimits(ctx context.Context, q sqldb.Querier, sc *tenant.Scope) (reached bool, err error) {
	limits := sc.Actor.Limits
	sc.Permissions = sc.Roles & limits.Permissions()
	switch {
	case !limits.Reaches(sc.Organization):
		return false, nil
	case !limits.OnlyProjects():
		return true, nil
	case sc.Project != "":
		return limits.ReachesProject(sc.Project), nil
	case sc.Team == "":
		sc.Permissions &= tenant.OrgRead
		return true, nil
	}
	sc.Permissions &= tenant.TeamRead
	rows, err := q.Query(ctx, "SELECT p.id FROM project p WHERE p.team_id = ? AND "+
		"p.id IN (?"+strings.Repeat(", ?", len(limits.Projects)-1)+")",
		append([]any{sc.Team}, anySlice(limits.Projects)...)...)
	found, err := sqldb.Collect(rows, err, sqldb.ScanString)
	if err != nil {
		return false, fmt.Errorf("look for the token's projects: %w", err)
	}
	return len(found) > 0, nil
}

// anySlice returns the values of a list as arguments of a query.
func anySlice[T ~string](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

func grantsAt(ctx context.Context, q sqldb.Querier, actor tenant.Actor, target tenant.Target) ([]grant, error) {
	var query string
	var args []any
	user, age := actor.UserID, TokenAge(actor)
	switch {
	case user == "":
		return nil, nil
	case target.Project != "":
		query, args = projectGrants, []any{user, age, target.Project, user, target.Project, user, target.Project}
	case target.Team != "":
		query, args = teamGrants, []any{user, age, target.Team, user, target.Team}
	default:
		query, args = organizationGrants, []any{user, age, target.Organization}
	}
	rows, err := q.Query(ctx, query, args...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (g grant, err error) {
		return g, rows.Scan(&g.organization, &g.team, &g.level, &g.role, &g.customLevel, &g.custom)
	})
}

// Admit reads the scope's permissions again, inside the transaction that writes,
// and checks what the change needs: a role that was taken away since the request
// was admitted no longer counts. The program's own scope, which has no actor, is
// taken as it is.
func Admit(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, needs tenant.Permissions) (tenant.Scope, error) {
	if sc.Actor.UserID == "" {
		return sc, sc.Require(needs)
	}
	now, err := Resolve(ctx, tx, sc.Actor, tenant.Target{Organization: sc.Organization, Team: sc.Team,
		Project: sc.Project})
	if err != nil {
		return tenant.Scope{}, err
	}
	return now, now.Require(needs)
}

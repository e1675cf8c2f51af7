package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/project"
	"merlon/internal/tenant"
)

// This file lists projects, fast among a million of them.
//
// A page is found in two steps: the ids, from an index that holds all that is
// needed, and then the rows. The ids of a caller's projects come from one of two
// indexes. By team: all projects of the caller's teams, sorted; the cost is the
// number of these. By name: the projects of the organization in order, keeping
// those of the caller's teams, until there are enough; the cost is the length of
// the page divided by the caller's share. Which is cheaper is known beforehand,
// because teams count their projects. A walk by name gives up where it was wrong
// (the names may be unevenly spread), and the way by team follows. Projects that
// were granted one by one come in by a UNION, because an OR would keep both
// databases from using either index.

// TeamProjects returns a page of the projects of the scope's team that the
// caller may read: all of them with project.read in the team, otherwise those
// that were granted one by one.
func (db *DB) TeamProjects(ctx context.Context, sc tenant.Scope, q project.Query) (project.Page, error) {
	page, err := db.teamProjects(ctx, sc, q)
	if err != nil {
		return page, fmt.Errorf("list the team's projects: %w", db.classify(err))
	}
	return page, nil
}

func (db *DB) teamProjects(ctx context.Context, sc tenant.Scope, q project.Query) (page project.Page, err error) {
	from, args := "project p WHERE p.team_id = ?", []any{sc.Team}
	all := sc.Permissions&tenant.ProjectRead != 0
	if !all {
		granted, err := db.granted(ctx, sc)
		if err != nil {
			return page, err
		}
		cond, ids := db.Dialect.In("p.id", granted.ids(func(g projectGrant) bool { return g.team == sc.Team }))
		from, args = from+" AND "+cond, append(args, ids)
	}
	if q.Search != "" {
		cond, pattern := db.nameHas(q.Search)
		from, args = from+" AND "+cond, append(args, pattern)
	}
	if all && q.Search == "" {
		err = db.QueryRow(ctx, "SELECT projects FROM team WHERE id = ?", sc.Team).Scan(&page.Total)
		err = notFound(err, "team")
	} else {
		err = db.QueryRow(ctx, "SELECT COUNT(*) FROM "+from, args...).Scan(&page.Total)
	}
	if err != nil {
		return page, err
	}
	page.Projects, err = db.projectRows(ctx, "SELECT p.id FROM "+from+" ORDER BY p.name, p.id LIMIT ? OFFSET ?",
		append(args, q.Size, offset(q.Page, q.Size)))
	return page, err
}

// projectRows returns the projects whose ids the query finds, by name.
func (db *DB) projectRows(ctx context.Context, ids string, args []any) ([]project.Project, error) {
	rows, err := db.Query(ctx, "SELECT "+projectColumns+" FROM ("+ids+`) page JOIN project p ON p.id = page.id
		JOIN team t ON t.id = p.team_id ORDER BY p.name, p.id`, args...)
	return collect(rows, err, func(rows *sql.Rows) (project.Project, error) { return scanProject(rows) })
}

// nameHas returns the condition that a project's name holds the text.
func (db *DB) nameHas(text string) (cond string, pattern any) {
	return "p.name " + db.Dialect.Like() + ` ? ESCAPE '\'`, contains(text)
}

// A projectGrant is a project that somebody may read because of a role for that
// project alone.
type projectGrant struct {
	project string
	team    tenant.TeamID
}

type singleGrants []projectGrant

func (g singleGrants) ids(keep func(projectGrant) bool) []string {
	ids := []string{}
	for _, one := range g {
		if keep(one) {
			ids = append(ids, one.project)
		}
	}
	return ids
}

// reads returns whether a role, given at a level of the organization, lets its
// holder read projects. The custom roles are read once: a join would look for
// each of them again with every membership.
func (db *DB) reads(ctx context.Context, sc tenant.Scope, at tenant.Level) (func(tenant.RoleID) bool, error) {
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
		return rolePermissions(id, at, sql.NullString{String: string(r.Level), Valid: r.ID != ""},
			sql.NullInt64{Int64: int64(r.Permissions), Valid: r.ID != ""})&tenant.ProjectRead != 0
	}, nil
}

// granted returns the projects of the scope's organization that the caller may
// read because of a role for that project alone.
func (db *DB) granted(ctx context.Context, sc tenant.Scope) (singleGrants, error) {
	if sc.Actor.Limits.OnlyProjects() {
		return db.limited(ctx, sc)
	}
	reads, err := db.reads(ctx, sc, tenant.ProjectLevel)
	if err != nil {
		return nil, err
	}
	// CROSS JOIN makes SQLite begin with the grants: without statistics it takes the
	// organization's projects first, a million of them for one grant.
	rows, err := db.Query(ctx, `SELECT p.id, p.team_id, g.role FROM project_member g CROSS JOIN project p
		WHERE p.id = g.project_id AND g.user_id = ? AND p.organization_id = ? ORDER BY p.id`, sc.Actor.UserID, sc.Organization)
	var grants singleGrants
	err = each(rows, err, func(rows *sql.Rows) error {
		var g projectGrant
		var role tenant.RoleID
		if err := rows.Scan(&g.project, &g.team, &role); err != nil {
			return err
		}
		if reads(role) {
			grants = append(grants, g)
		}
		return nil
	})
	return grants, err
}

// limited returns the projects of the scope's organization that the caller may
// read and the caller's token is limited to.
func (db *DB) limited(ctx context.Context, sc tenant.Scope) (singleGrants, error) {
	var grants singleGrants
	for _, id := range sc.Actor.Limits.Projects {
		one, err := scope(ctx, db, sc.Actor, tenant.Target{Organization: sc.Organization, Project: id})
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		grants = append(grants, projectGrant{project: string(id), team: one.Team})
	}
	return grants, nil
}

// A reach is what somebody may read of an organization's projects.
type reach struct {
	all    bool
	teams  []string // whose projects are readable
	inTeam int      // how many those are
	single []string // further projects
	total  int      // of the organization; 0 when it was not needed
}

// readable returns the reach of the scope's actor.
func (db *DB) readable(ctx context.Context, sc tenant.Scope) (reach, error) {
	r := reach{teams: []string{}}
	if sc.Actor.Limits.OnlyProjects() {
		limited, err := db.limited(ctx, sc)
		r.single = limited.ids(func(projectGrant) bool { return true })
		return r, err
	}
	if sc.Permissions&tenant.ProjectRead != 0 {
		r.all = true
		err := db.QueryRow(ctx, "SELECT CAST(COALESCE(SUM(projects), 0) AS BIGINT) FROM team WHERE organization_id = ?",
			sc.Organization).Scan(&r.total)
		return r, err
	}
	reads, err := db.reads(ctx, sc, tenant.TeamLevel)
	if err != nil {
		return r, err
	}
	rows, err := db.Query(ctx, `SELECT t.id, t.projects, g.role FROM team_member g CROSS JOIN team t
		WHERE t.id = g.team_id AND g.user_id = ? AND t.organization_id = ?`, sc.Actor.UserID, sc.Organization)
	inTeams := map[tenant.TeamID]bool{}
	err = each(rows, err, func(rows *sql.Rows) error {
		var id tenant.TeamID
		var n int
		var role tenant.RoleID
		if err := rows.Scan(&id, &n, &role); err != nil {
			return err
		}
		if reads(role) {
			r.teams, r.inTeam = append(r.teams, string(id)), r.inTeam+n
			inTeams[id] = true
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	granted, err := db.granted(ctx, sc)
	r.single = granted.ids(func(g projectGrant) bool { return !inTeams[g.team] })
	if err != nil || r.inTeam <= fewProjects {
		return r, err
	}
	err = db.QueryRow(ctx, "SELECT CAST(SUM(projects) AS BIGINT) FROM team WHERE organization_id = ?",
		sc.Organization).Scan(&r.total)
	return r, err
}

// fewProjects is how many projects are sorted without a thought: less than a
// millisecond's work.
const fewProjects = 500

// OrganizationProjects returns a page of the projects of the scope's
// organization that the caller may read, and the totals of them all, which for
// many projects may be some seconds old.
func (db *DB) OrganizationProjects(ctx context.Context, sc tenant.Scope,
	q project.Query) (project.Page, project.Totals, error) {
	page, totals, err := project.Page{}, project.Totals{}, error(nil)
	r, err := db.readable(ctx, sc)
	if err == nil {
		page, err = db.organizationProjects(ctx, sc, r, q)
	}
	if err == nil {
		totals, err = db.totals(ctx, sc, r)
	}
	if err != nil {
		return page, totals, fmt.Errorf("list the organization's projects: %w", db.classify(err))
	}
	return page, totals, nil
}

func (db *DB) organizationProjects(ctx context.Context, sc tenant.Scope, r reach,
	q project.Query) (page project.Page, err error) {
	arms := db.byTeam(sc, r, q.Search)
	switch {
	case q.Search != "":
		page.Total, err = db.count(ctx, arms)
	case r.all:
		page.Total = r.total
	default:
		page.Total = r.inTeam + len(r.single)
	}
	if err != nil || offset(q.Page, q.Size) >= page.Total {
		page.Projects = []project.Project{}
		return page, err
	}
	if q.Search == "" && !r.all && r.inTeam > fewProjects {
		if steps := walk(offset(q.Page, q.Size)+q.Size, r); steps < r.inTeam {
			page.Projects, err = db.pageOf(ctx, db.byName(sc, r, steps), q)
			if err != nil || len(page.Projects) == min(q.Size, page.Total-offset(q.Page, q.Size)) {
				return page, err
			}
		}
	}
	page.Projects, err = db.pageOf(ctx, arms, q)
	return page, err
}

// walk returns how many projects of the organization are looked at by name to
// find the first need readable ones: twice what an even spread takes.
func walk(need int, r reach) int { return min(2*need*(r.total/r.inTeam+1)+fewProjects, r.total) }

// An arm is one source of readable projects: what stands behind FROM, where p has
// an id and a name. The arms of a reach share no project.
type arm struct {
	from string
	args []any
}

// byTeam returns the arms of a reach, by the index of the teams' projects.
func (db *DB) byTeam(sc tenant.Scope, r reach, search string) []arm {
	if r.all {
		return []arm{db.having("project p WHERE p.organization_id = ?", []any{sc.Organization}, search)}
	}
	// The teams are the organization's: they were read with it.
	in, teams := db.Dialect.In("p.team_id", r.teams)
	return append([]arm{db.having("project p WHERE "+in, []any{teams}, search)}, db.singles(sc, r, search)...)
}

// byName returns the arms of a reach where the first one looks at the first
// projects of the organization by name, steps of them: it may miss some.
func (db *DB) byName(sc tenant.Scope, r reach, steps int) []arm {
	in, teams := db.Dialect.In("p.team_id", r.teams)
	first := arm{"(SELECT id, name, team_id FROM project WHERE organization_id = ? ORDER BY name, id LIMIT ?) " +
		"p WHERE " + in,
		[]any{sc.Organization, steps, teams}}
	return append([]arm{first}, db.singles(sc, r, "")...)
}

// singles returns the arm of the projects that were granted one by one, if there
// are any.
func (db *DB) singles(sc tenant.Scope, r reach, search string) []arm {
	if len(r.single) == 0 {
		return nil
	}
	in, ids := db.Dialect.In("p.id", r.single)
	return []arm{db.having("project p WHERE "+in+" AND p.organization_id = ?", []any{ids, sc.Organization}, search)}
}

// having returns an arm of the projects whose name holds the text, if there is
// one.
func (db *DB) having(from string, args []any, search string) arm {
	if search != "" {
		cond, pattern := db.nameHas(search)
		from, args = from+" AND "+cond, append(args, pattern)
	}
	return arm{from, args}
}

func (db *DB) count(ctx context.Context, arms []arm) (total int, err error) {
	for _, a := range arms {
		var n int
		if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM "+a.from, a.args...).Scan(&n); err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// pageOf returns the projects of a page of the arms.
func (db *DB) pageOf(ctx context.Context, arms []arm, q project.Query) ([]project.Project, error) {
	skip := offset(q.Page, q.Size)
	if len(arms) == 1 {
		return db.projectRows(ctx, "SELECT p.id FROM "+arms[0].from+" ORDER BY p.name, p.id LIMIT ? "+
			"OFFSET ?", append(arms[0].args, q.Size, skip))
	}
	var union []string
	var args []any
	for _, a := range arms {
		union = append(union, "SELECT id, name FROM (SELECT p.id, p.name FROM "+a.from+" ORDER BY p.name, p.id "+
			"LIMIT ?) arm")
		args = append(append(args, a.args...), skip+q.Size)
	}
	return db.projectRows(ctx, "SELECT found.id FROM ("+strings.Join(union, " UNION ALL ")+
		") found ORDER BY found.name, found.id LIMIT ? OFFSET ?", append(args, q.Size, skip))
}

package projects

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"merlon/internal/project"
	"merlon/internal/store/organizations"
	"merlon/internal/store/sqldb"
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
func (db *Store) TeamProjects(ctx context.Context, sc tenant.Scope, q project.Query) (project.Page, error) {
	page, err := db.teamProjects(ctx, sc, q)
	if err != nil {
		return page, fmt.Errorf("list the team's projects: %w", db.Classify(err))
	}
	return page, nil
}

// teamProjects is TeamProjects without the wrapping of errors.
func (db *Store) teamProjects(ctx context.Context, sc tenant.Scope, q project.Query) (page project.Page, err error) {
	from, args := "project p WHERE p.team_id = ?", []any{sc.Team}
	all := sc.Permissions&tenant.ProjectRead != 0
	if !all {
		granted, err := organizations.New(db.DB).GrantedProjects(ctx, sc)
		if err != nil {
			return page, err
		}
		cond, ids := db.Dialect.In("p.id", granted.IDs(func(g organizations.ProjectGrant) bool {
			return g.Team == sc.Team
		}))
		from, args = from+" AND "+cond, append(args, ids)
	}
	if q.Search != "" {
		cond, pattern := db.nameHas(q.Search)
		from, args = from+" AND "+cond, append(args, pattern)
	}
	// The counter of the team saves counting rows.
	if all && q.Search == "" {
		err = db.QueryRow(ctx, "SELECT projects FROM team WHERE id = ?", sc.Team).Scan(&page.Total)
		err = sqldb.NotFound(err, "team")
	} else {
		err = db.QueryRow(ctx, "SELECT COUNT(*) FROM "+from, args...).Scan(&page.Total)
	}
	if err != nil {
		return page, err
	}
	page.Projects, err = db.projectRows(ctx, "SELECT p.id FROM "+from+" ORDER BY p.name, p.id LIMIT ? OFFSET ?",
		append(args, q.Size, sqldb.PageOffset(q.Page, q.Size)))
	return page, err
}

// projectRows returns the projects whose ids the query finds, by name.
func (db *Store) projectRows(ctx context.Context, ids string, args []any) ([]project.Project, error) {
	rows, err := db.Query(ctx, "SELECT "+projectColumns+" FROM ("+ids+`) page JOIN project p ON p.id = page.id
		JOIN team t ON t.id = p.team_id ORDER BY p.name, p.id`, args...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (project.Project, error) { return scanProject(rows) })
}

// nameHas returns the condition that a project's name holds the text.
func (db *Store) nameHas(text string) (cond string, pattern any) {
	return "p.name " + db.Dialect.Like() + ` ? ESCAPE '\'`, sqldb.LikePattern(text)
}

// A reach is what somebody may read of an organization's projects.
type reach struct {
	// all says that project.read in the organization opens every project; the other fields but
	// total are empty then.
	all    bool
	teams  []string // whose projects are readable
	inTeam int      // how many those are
	single []string // further projects
	total  int      // of the organization; 0 when it was not needed
}

// ReadableProjects returns the reach of the scope's actor.
func (db *Store) ReadableProjects(ctx context.Context, sc tenant.Scope) (reach, error) {
	r := reach{teams: []string{}}
	if sc.Actor.Limits.OnlyProjects() {
		limited, err := organizations.New(db.DB).LimitedProjects(ctx, sc)
		r.single = limited.IDs(func(organizations.ProjectGrant) bool { return true })
		return r, err
	}
	if sc.Permissions&tenant.ProjectRead != 0 {
		r.all = true
		err := db.QueryRow(ctx, "SELECT CAST(COALESCE(SUM(projects), 0) AS BIGINT) FROM team WHERE organization_id = ?",
			sc.Organization).Scan(&r.total)
		return r, err
	}
	reads, err := organizations.New(db.DB).ProjectReaders(ctx, sc, tenant.TeamLevel)
	if err != nil {
		return r, err
	}
	rows, err := db.Query(ctx, `SELECT t.id, t.projects, g.role FROM team_member g CROSS JOIN team t
		WHERE t.id = g.team_id AND g.user_id = ? AND t.organization_id = ?`, sc.Actor.UserID, sc.Organization)
	inTeams := map[tenant.TeamID]bool{}
	err = sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
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
	granted, err := organizations.New(db.DB).GrantedProjects(ctx, sc)
	r.single = granted.IDs(func(g organizations.ProjectGrant) bool { return !inTeams[g.Team] })
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
func (db *Store) OrganizationProjects(ctx context.Context, sc tenant.Scope,
	q project.Query) (project.Page, project.Totals, error) {
	page, totals, err := project.Page{}, project.Totals{}, error(nil)
	r, err := db.ReadableProjects(ctx, sc)
	if err == nil {
		page, err = db.organizationProjects(ctx, sc, r, q)
	}
	if err == nil {
		totals, err = db.sumTotals(ctx, sc, r)
	}
	if err != nil {
		return page, totals, fmt.Errorf("list the organization's projects: %w", db.Classify(err))
	}
	return page, totals, nil
}

// organizationProjects finds the page in the cheaper of the two ways described above.
func (db *Store) organizationProjects(ctx context.Context, sc tenant.Scope, r reach,
	q project.Query) (page project.Page, err error) {
	arms := db.ByTeam(sc, r, q.Search)
	switch {
	case q.Search != "":
		page.Total, err = db.countProjects(ctx, arms)
	case r.all:
		page.Total = r.total
	default:
		page.Total = r.inTeam + len(r.single)
	}
	if err != nil || sqldb.PageOffset(q.Page, q.Size) >= page.Total {
		page.Projects = []project.Project{}
		return page, err
	}
	if q.Search == "" && !r.all && r.inTeam > fewProjects {
		if steps := walkLimit(sqldb.PageOffset(q.Page, q.Size)+q.Size, r); steps < r.inTeam {
			page.Projects, err = db.pageOf(ctx, db.byName(sc, r, steps), q)
			// The walk found a full page, or all that the last page can have.
			if err != nil || len(page.Projects) == min(q.Size, page.Total-sqldb.PageOffset(q.Page, q.Size)) {
				return page, err
			}
		}
	}
	page.Projects, err = db.pageOf(ctx, arms, q)
	return page, err
}

// walkLimit returns how many projects of the organization are looked at by name to
// find the first need readable ones: twice what an even spread takes.
func walkLimit(need int, r reach) int { return min(2*need*(r.total/r.inTeam+1)+fewProjects, r.total) }

// An projectBranch is one source of readable projects: what stands behind FROM, where p has
// an id and a name. The arms of a reach share no project.
type projectBranch struct {
	From string
	Args []any
}

// ByTeam returns the arms of a reach, by the index of the teams' projects.
func (db *Store) ByTeam(sc tenant.Scope, r reach, search string) []projectBranch {
	if r.all {
		return []projectBranch{db.searchBranch("project p WHERE p.organization_id = ?", []any{sc.Organization}, search)}
	}
	// The teams are the organization's: they were read with it.
	in, teams := db.Dialect.In("p.team_id", r.teams)
	return append([]projectBranch{db.searchBranch("project p WHERE "+in, []any{teams}, search)},
		db.grantedBranches(sc, r, search)...)
}

// byName returns the arms of a reach where the first one looks at the first
// projects of the organization by name, steps of them: it may miss some.
func (db *Store) byName(sc tenant.Scope, r reach, steps int) []projectBranch {
	in, teams := db.Dialect.In("p.team_id", r.teams)
	first := projectBranch{"(SELECT id, name, team_id FROM project WHERE organization_id = ? ORDER BY name, id " +
		"LIMIT ?) " +
		"p WHERE " + in,
		[]any{sc.Organization, steps, teams}}
	return append([]projectBranch{first}, db.grantedBranches(sc, r, "")...)
}

// grantedBranches returns the arm of the projects that were granted one by one, if there
// are any.
func (db *Store) grantedBranches(sc tenant.Scope, r reach, search string) []projectBranch {
	if len(r.single) == 0 {
		return nil
	}
	in, ids := db.Dialect.In("p.id", r.single)
	return []projectBranch{db.searchBranch("project p WHERE "+in+" AND p.organization_id = ?",
		[]any{ids, sc.Organization},
		search)}
}

// searchBranch returns an arm of the projects whose name holds the text, if there is
// one.
func (db *Store) searchBranch(from string, args []any, search string) projectBranch {
	if search != "" {
		cond, pattern := db.nameHas(search)
		from, args = from+" AND "+cond, append(args, pattern)
	}
	return projectBranch{from, args}
}

// countProjects adds up the branches, which share no project.
func (db *Store) countProjects(ctx context.Context, arms []projectBranch) (total int, err error) {
	for _, a := range arms {
		var n int
		if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM "+a.From, a.Args...).Scan(&n); err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// pageOf returns the projects of a page of the arms.
func (db *Store) pageOf(ctx context.Context, arms []projectBranch, q project.Query) ([]project.Project, error) {
	skip := sqldb.PageOffset(q.Page, q.Size)
	if len(arms) == 1 {
		return db.projectRows(ctx, "SELECT p.id FROM "+arms[0].From+" ORDER BY p.name, p.id LIMIT ? "+
			"OFFSET ?", append(arms[0].Args, q.Size, skip))
	}
	var union []string
	var args []any
	for _, a := range arms {
		union = append(union, "SELECT id, name FROM (SELECT p.id, p.name FROM "+a.From+" ORDER BY p.name, p.id "+
			"LIMIT ?) arm")
		// Each branch needs at most the rows up to the end of the page.
		args = append(append(args, a.Args...), skip+q.Size)
	}
	return db.projectRows(ctx, "SELECT found.id FROM ("+strings.Join(union, " UNION ALL ")+
		") found ORDER BY found.name, found.id LIMIT ? OFFSET ?", append(args, q.Size, skip))
}

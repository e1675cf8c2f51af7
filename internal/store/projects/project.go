package projects

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/project"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/findings"
	"merlon/internal/store/organizations"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// projectColumns are the columns of a project p and its team t, in the order of scanProject.
const projectColumns = "p.id, p.organization_id, p.team_id, t.name, p.name, p.languages, p.settings, p.created_at, " +
	"p.updated_at"

// scanProject reads projectColumns.
func scanProject(row sqldb.Scanner) (project.Project, error) {
	var p project.Project
	var languages, settings string
	var created, updated int64
	if err := row.Scan(&p.ID, &p.OrganizationID, &p.TeamID, &p.TeamName, &p.Name, &languages, &settings, &created,
		&updated); err != nil {
		return p, err
	}
	p.CreatedAt, p.UpdatedAt = sqldb.FromMillis(created), sqldb.FromMillis(updated)
	p.Settings = project.DefaultSettings(nil) // what the stored text does not know yet
	if err := json.Unmarshal([]byte(settings), &p.Settings); err != nil {
		return p, fmt.Errorf("read the settings of project %s: %w", p.ID, err)
	}
	if err := json.Unmarshal([]byte(languages), &p.Languages); err != nil {
		return p, fmt.Errorf("read the languages of project %s: %w", p.ID, err)
	}
	return p, nil
}

// CreateProject makes a project in the scope's team; it sets the ids and times.
// It needs team.manage.
func (db *Store) CreateProject(ctx context.Context, sc tenant.Scope, p project.Project) (project.Project, error) {
	settings, err := json.Marshal(p.Settings)
	if err != nil {
		return p, fmt.Errorf("write settings: %w", err)
	}
	p.Languages = []string{}
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.TeamManage)
		if err != nil {
			return err
		}
		t, err := organizations.ReadTeam(ctx, tx, sc, db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		p.ID, p.OrganizationID, p.TeamID, p.TeamName = tenant.ProjectID(tenant.NewID(db.Region, tx.Now)),
			t.OrganizationID, t.ID, t.Name
		p.CreatedAt, p.UpdatedAt = tx.Now, tx.Now
		if _, err := tx.Exec(ctx, `INSERT INTO project (id, organization_id, team_id, name, languages, settings, created_at, updated_at)
			VALUES (?, ?, ?, ?, '[]', ?, ?, ?)`, p.ID, p.OrganizationID, p.TeamID, p.Name, string(settings), sqldb.Millis(tx.Now), sqldb.Millis(tx.Now)); err != nil {
			return fmt.Errorf("create project: %w", err)
		}
		if err := countProjects(ctx, tx, t.ID, 1); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, projectEvent(sc, p, "create"))
	})
	return p, err
}

// countProjects changes how many projects a team has.
func countProjects(ctx context.Context, tx *sqldb.Tx, id tenant.TeamID, by int) error {
	if _, err := tx.Exec(ctx, "UPDATE team SET projects = projects + ? WHERE id = ?", by, id); err != nil {
		return fmt.Errorf("count projects: %w", err)
	}
	return nil
}

// projectEvent is an audit record about a project.
func projectEvent(sc tenant.Scope, p project.Project, verb string) audit.Event {
	return audit.Event{Chain: p.OrganizationID, Action: "project." + verb, TargetKind: "project", Target: string(p.ID),
		Detail: map[string]any{"name": p.Name, "team": p.TeamID}}.By(sc.Actor)
}

// Project returns the scope's project.
func (db *Store) Project(ctx context.Context, sc tenant.Scope) (project.Project, error) {
	p, err := readProject(ctx, db.DB, sc, "")
	return p, db.Classify(err)
}

// readProject reads the scope's project; lock ends the query, and is empty for none.
func readProject(ctx context.Context, q sqldb.Querier, sc tenant.Scope, lock string) (project.Project, error) {
	p, err := scanProject(q.QueryRow(ctx, "SELECT "+projectColumns+` FROM project p JOIN team t ON t.id = p.team_id
		WHERE p.id = ? AND p.organization_id = ?`+lock, sc.Project, sc.Organization))
	return p, sqldb.NotFound(err, "project")
}

// UpdateProject changes what edit changes of the scope's project and returns what
// became of it. It needs project.update, and to move the project team.manage in
// the other team.
func (db *Store) UpdateProject(ctx context.Context, sc tenant.Scope,
	edit func(*project.Project) error) (project.Project, error) {
	var p project.Project
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectUpdate)
		if err != nil {
			return err
		}
		if p, err = readProject(ctx, tx, sc, db.LockTables("p")); err != nil {
			return err
		}
		before, err := readProject(ctx, tx, sc, "") // a copy that shares no slice with p
		if err != nil {
			return err
		}
		if err := edit(&p); err != nil {
			return err
		}
		if reflect.DeepEqual(p, before) {
			return nil
		}
		if p.TeamID != before.TeamID {
			if err := moveProject(ctx, tx, sc, before.TeamID, &p); err != nil {
				return err
			}
		}
		p.UpdatedAt = tx.Now
		settings, err := json.Marshal(p.Settings)
		if err != nil {
			return fmt.Errorf("write settings: %w", err)
		}
		if _, err := tx.Exec(ctx, "UPDATE project SET team_id = ?, name = ?, settings = ?, updated_at = ? WHERE id = ?",
			p.TeamID, p.Name, string(settings), sqldb.Millis(tx.Now), p.ID); err != nil {
			return fmt.Errorf("update project: %w", err)
		}
		if err := findings.RefreshStats(ctx, tx, sc); err != nil { // other severities or another branch may count now
			return err
		}
		return auditlog.Append(ctx, tx, projectEvent(sc, p, "update"))
	})
	return p, err
}

// moveProject checks that the caller may create projects in the team that the
// project goes to, and keeps both teams' numbers.
func moveProject(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, from tenant.TeamID, p *project.Project) error {
	to, err := access.Resolve(ctx, tx, sc.Actor, tenant.Target{Organization: sc.Organization, Team: p.TeamID})
	if err != nil {
		return err
	}
	if err := to.Require(tenant.TeamManage); err != nil {
		return err
	}
	t, err := organizations.ReadTeam(ctx, tx, to, "")
	if err != nil {
		return err
	}
	p.TeamName = t.Name
	first, second := move{from, -1}, move{p.TeamID, 1}
	if second.team < first.team { // a fixed order keeps two moves from waiting for each other
		first, second = second, first
	}
	if err := countProjects(ctx, tx, first.team, first.by); err != nil {
		return err
	}
	return countProjects(ctx, tx, second.team, second.by)
}

// A move is a change of how many projects a team has.
type move struct {
	team tenant.TeamID
	by   int
}

// DeleteProject removes the scope's project with its scans and findings. It needs
// project.update.
func (db *Store) DeleteProject(ctx context.Context, sc tenant.Scope) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectUpdate)
		if err != nil {
			return err
		}
		p, err := readProject(ctx, tx, sc, db.LockTables("p"))
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, "DELETE FROM project WHERE id = ?", p.ID)
		if err != nil {
			return fmt.Errorf("delete project: %w", err)
		}
		if n == 0 {
			return errs.E(errs.NotFound, "project not found")
		}
		if err := countProjects(ctx, tx, p.TeamID, -1); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, projectEvent(sc, p, "delete"))
	})
}

package overview

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/store/coverage"
	"merlon/internal/store/findings"
	"merlon/internal/store/projects"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file looks at all projects of an organization that the caller may read,
// together.

// A overviewScope is the beginning of every query of an overview: the tables mine (the
// projects that are looked at, with their team), and cells (their findings by
// sort).
type overviewScope struct {
	db *sqldb.DB
	// text is the WITH clause with the arguments args, in the order of its placeholders; every
	// query is appended to it.
	text string
	args []any
}

// newOverviewScope returns the lens of a filter.
func (db *Store) newOverviewScope(ctx context.Context, sc tenant.Scope,
	f triage.OverviewFilter) (*overviewScope, error) {
	r, err := projects.New(db.DB).ReadableProjects(ctx, sc)
	if err != nil {
		return nil, fmt.Errorf("read what is readable: %w", db.Classify(err))
	}
	l := &overviewScope{db: db.DB}
	// Only what the caller can read: every number of an overview comes from mine, so that no
	// count reveals anything about other projects.
	var arms []string
	for _, a := range projects.New(db.DB).ByTeam(sc, r, "") {
		arms = append(arms, "SELECT p.id, p.name, p.team_id FROM "+a.From)
		l.args = append(l.args, a.Args...)
	}
	l.text = "WITH mine AS (SELECT a.id, a.name, a.team_id FROM (" + strings.Join(arms, " UNION ALL ") + ") a"
	if f.Teams != nil {
		in, arg := db.Dialect.In("a.team_id", sqldb.Strings(f.Teams))
		l.text, l.args = l.text+" WHERE "+in, append(l.args, arg)
	}
	w := &sqldb.Condition{}
	// One bit per analysis and severity, as hiddenBits of package findings writes them.
	w.And("(p.hidden >> (4 * (b.analysis - 1) + b.severity - 1)) & 1 = 0")
	sqldb.AnyOf(w, "b.severity", finding.Severities, f.Severities)
	sqldb.AnyOf(w, "b.analysis", finding.Analyses, f.Analyses)
	findings.AddBranches(w, db.DB, "b.branch", f.Branches)
	source := "branch_stats b"
	if !f.From.IsZero() || !f.To.IsZero() { // the kept numbers do not know when findings came
		source = "finding b"
		w.And("b.created_at >= ? AND b.created_at < ?", sqldb.Millis(f.From), sqldb.UpperBound(f.To))
	}
	counted := "SUM(b.findings)"
	if source == "finding b" {
		counted = "COUNT(*)"
	}
	l.args = append(l.args, w.Args...)
	l.text += "), cells AS (SELECT m.id, b.analysis, b.severity, b.status, " + counted + ` AS n FROM mine m
		JOIN project_stats p ON p.project_id = m.id JOIN ` + source + " ON b.project_id = m.id WHERE " + w.Text.String() +
		" GROUP BY m.id, b.analysis, b.severity, b.status), " + l.postureQuery(f) + ", counted AS (SELECT c.id, " +
		"c.analysis, c.severity, c.status, c.n FROM cells c WHERE c.status IN (" +
		sqldb.EnumCodes(triage.Statuses, f.Statuses) +
		")) "
	return l, nil
}

// postureQuery is the table stand: the risk of each project, of its reference branch or the
// highest of the branches that the filter names.
func (l *overviewScope) postureQuery(f triage.OverviewFilter) string {
	// The kept score of the reference branch; branches that the filter names are summed up anew.
	if f.Branches == nil {
		return "stand AS (SELECT p.project_id, p.risk_score, p.risk_level, p.branch FROM mine m JOIN project_stats p " +
			"ON p.project_id = m.id)"
	}
	w := &sqldb.Condition{}
	w.And("b.status <= 2 AND (p.hidden >> (4 * (b.analysis - 1) + b.severity - 1)) & 1 = 0")
	findings.AddBranches(w, l.db, "b.branch", f.Branches)
	l.args = append(l.args, w.Args...)
	return `stand AS (SELECT r.project_id, MAX(r.score) AS risk_score, MIN(CASE WHEN r.score >= 80 THEN 1 WHEN r.score >= 50 THEN 2 WHEN r.score >= 20 THEN 3 ELSE 4 END) AS risk_level,
		MIN(r.branch) AS branch FROM (SELECT b.project_id, b.branch, (CAST(SUM(b.risk) AS BIGINT) + 500) / 1000 AS score FROM mine m
		JOIN project_stats p ON p.project_id = m.id JOIN branch_stats b ON b.project_id = m.id WHERE ` + w.Text.String() + " GROUP BY b.project_id, b.branch) r GROUP BY r.project_id)"
}

// runQuery runs a query behind the lens.
func (l *overviewScope) runQuery(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return l.db.Query(ctx, l.text+query, append(append([]any{}, l.args...), args...)...)
}

// OverviewCounts counts findings of the readable projects of the scope's
// organization by sort, whatever their status.
func (db *Store) OverviewCounts(ctx context.Context, sc tenant.Scope,
	f triage.OverviewFilter) ([]triage.OverviewCount, error) {
	l, err := db.newOverviewScope(ctx, sc, f)
	if err != nil {
		return nil, err
	}
	rows, err := l.runQuery(ctx, "SELECT analysis, severity, status, CAST(SUM(n) AS BIGINT) FROM cells GROUP BY "+
		"analysis, severity, status")
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (c triage.OverviewCount, err error) {
		var analysis, severity, status int
		err = rows.Scan(&analysis, &severity, &status, &c.N)
		c.Analysis, c.Severity, c.Status = sqldb.EnumValue(finding.Analyses, analysis),
			sqldb.EnumValue(finding.Severities, severity),
			sqldb.EnumValue(triage.Statuses, status)
		return c, err
	})
}

// bySeverity are the columns critical to low and the sum of the table counted.
const bySeverity = `CAST(COALESCE(SUM(CASE WHEN severity = 1 THEN n END), 0) AS BIGINT) AS critical,
	CAST(COALESCE(SUM(CASE WHEN severity = 2 THEN n END), 0) AS BIGINT) AS high,
	CAST(COALESCE(SUM(CASE WHEN severity = 3 THEN n END), 0) AS BIGINT) AS medium,
	CAST(COALESCE(SUM(CASE WHEN severity = 4 THEN n END), 0) AS BIGINT) AS low, CAST(COALESCE(SUM(n), 0) AS BIGINT) AS total`

// summaryOrders gives the order of each sort key, the most or worst first.
var summaryOrders = map[triage.SummarySort][2]string{ // descending, ascending
	triage.ByTotal:    {"total DESC", "total"},
	triage.ByCritical: {"critical DESC", "critical"},
	triage.ByRisk:     {"risk, total DESC", "risk DESC, total"},
	triage.ByName:     {"name DESC", "name"},
}

// ProjectSummaries returns a page of the readable projects of the scope's
// organization with their numbers.
func (db *Store) ProjectSummaries(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter,
	p triage.SummaryPage) ([]triage.ProjectSummary, error) {
	l, err := db.newOverviewScope(ctx, sc, f)
	if err != nil {
		return nil, err
	}
	var columns []string
	for i := range finding.Analyses {
		columns = append(columns, fmt.Sprintf("CAST(COALESCE(SUM(CASE WHEN analysis = %d THEN n END), 0) AS "+
			"BIGINT) AS a%d", i+1, i+1))
	}
	rows, err := l.runQuery(ctx, `SELECT m.id, m.name, m.team_id, t.name, COALESCE(s.risk_level, 4) AS risk, COALESCE(c.critical, 0) AS critical,
		COALESCE(c.high, 0), COALESCE(c.medium, 0), COALESCE(c.low, 0), COALESCE(c.total, 0) AS total, COALESCE(c.active, 0),
		COALESCE(c.a1, 0), COALESCE(c.a2, 0), COALESCE(c.a3, 0), COALESCE(c.a4, 0), COALESCE(c.a5, 0), COALESCE(c.a6, 0), COALESCE(c.a7, 0), COALESCE(c.a8, 0), p.settings
		FROM mine m JOIN team t ON t.id = m.team_id JOIN project p ON p.id = m.id LEFT JOIN stand s ON s.project_id = m.id
		LEFT JOIN (SELECT id, `+bySeverity+", CAST(COALESCE(SUM(CASE WHEN status <= 2 THEN n END), 0) AS BIGINT) AS active, "+
		strings.Join(columns, ", ")+" FROM counted GROUP BY id) c ON c.id = m.id ORDER BY "+summaryOrder(p, "m.name")+
		", m.id LIMIT ? OFFSET ?", p.Limit, p.Offset)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (triage.ProjectSummary, error) {
		s := triage.ProjectSummary{BySeverity: map[finding.Severity]int{}, ByAnalysis: map[finding.Analysis]int{}}
		var risk int
		var settings string
		var n [4]int
		var a [8]int
		err := rows.Scan(&s.ID, &s.Name, &s.TeamID, &s.TeamName, &risk, &n[0], &n[1], &n[2], &n[3], &s.Total, &s.Active,
			&a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &a[6], &a[7], &settings)
		if err == nil {
			// The caller needs the settings to show which severities are hidden.
			err = json.Unmarshal([]byte(settings), &s.Settings)
		}
		for i, severity := range finding.Severities {
			s.BySeverity[severity] = n[i]
		}
		for i, analysis := range finding.Analyses {
			s.ByAnalysis[analysis] = a[i]
		}
		s.RiskLevel = sqldb.EnumValue(triage.RiskLevels, risk)
		return s, err
	})
}

// summaryOrder returns the ORDER BY of a page of summaries; name is the column that
// the sort key name means.
func summaryOrder(p triage.SummaryPage, name string) string {
	// The sort key was checked by the API; an unknown one would have no order here.
	i := 0
	if p.Ascending {
		i = 1
	}
	return strings.Replace(summaryOrders[p.Sort][i], "name", name, 1)
}

// TeamSummaries returns a page of the teams of those projects with their numbers.
func (db *Store) TeamSummaries(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter,
	p triage.SummaryPage) ([]triage.TeamSummary, error) {
	l, err := db.newOverviewScope(ctx, sc, f)
	if err != nil {
		return nil, err
	}
	rows, err := l.runQuery(ctx, `SELECT t.id, t.name, x.projects, x.risk, x.r1, x.r2, x.r3, x.r4, COALESCE(c.critical, 0) AS critical,
		COALESCE(c.high, 0), COALESCE(c.medium, 0), COALESCE(c.low, 0), COALESCE(c.total, 0) AS total
		FROM (SELECT m.team_id, COUNT(*) AS projects, MIN(COALESCE(s.risk_level, 4)) AS risk,
			COUNT(CASE WHEN s.risk_level = 1 THEN 1 END) AS r1, COUNT(CASE WHEN s.risk_level = 2 THEN 1 END) AS r2,
			COUNT(CASE WHEN s.risk_level = 3 THEN 1 END) AS r3, COUNT(CASE WHEN COALESCE(s.risk_level, 4) = 4 THEN 1 END) AS r4
			FROM mine m LEFT JOIN stand s ON s.project_id = m.id GROUP BY m.team_id) x
		JOIN team t ON t.id = x.team_id
		LEFT JOIN (SELECT m.team_id, `+bySeverity+` FROM counted k JOIN mine m ON m.id = k.id GROUP BY m.team_id) c ON c.team_id = t.id
		ORDER BY `+summaryOrder(p, "t.name")+", t.id LIMIT ? OFFSET ?", p.Limit, p.Offset)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (triage.TeamSummary, error) {
		s := triage.TeamSummary{BySeverity: map[finding.Severity]int{}, ByRisk: map[triage.RiskLevel]int{}}
		var worst int
		var r, n [4]int
		err := rows.Scan(&s.ID, &s.Name, &s.Projects, &worst, &r[0], &r[1], &r[2], &r[3], &n[0], &n[1], &n[2], &n[3],
			&s.Total)
		for i, severity := range finding.Severities {
			s.BySeverity[severity] = n[i]
		}
		for i, level := range triage.RiskLevels {
			s.ByRisk[level] = r[i]
		}
		return s, err
	})
}

// OverviewDays returns what those projects gained and lost on the days, by day
// and severity.
func (db *Store) OverviewDays(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter,
	days triage.DateRange) ([]triage.DayCount, error) {
	l, err := db.newOverviewScope(ctx, sc, f)
	if err != nil {
		return nil, err
	}
	w := &sqldb.Condition{}
	findings.AddDays(w, db.DB, f, days)
	rows, err := l.runQuery(ctx, `SELECT d.day, d.severity, CAST(SUM(d.opened) AS BIGINT), CAST(SUM(d.solved) AS BIGINT) FROM mine m
		JOIN project_stats p ON p.project_id = m.id JOIN branch_daily d ON d.project_id = m.id WHERE `+w.Text.String()+
		" GROUP BY d.day, d.severity ORDER BY d.day, d.severity", w.Args...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (c triage.DayCount, err error) {
		var at int64
		var severity int
		err = rows.Scan(&at, &severity, &c.Opened, &c.Solved)
		c.Day, c.Severity = time.Unix(at*86400, 0).UTC(), sqldb.EnumValue(finding.Severities, severity)
		return c, err
	})
}

// OverviewRisk returns how many of those projects were scanned, and the highest of their
// risk scores.
func (db *Store) OverviewRisk(ctx context.Context, sc tenant.Scope,
	f triage.OverviewFilter) (scanned int, score int64, err error) {
	l, err := db.newOverviewScope(ctx, sc, f)
	if err != nil {
		return 0, 0, err
	}
	rows, err := l.runQuery(ctx, "SELECT COUNT(*), CAST(COALESCE(MAX(s.risk_score), 0) AS BIGINT) FROM stand s WHERE "+
		"s.branch <> ''")
	err = sqldb.ForEach(rows, err, func(rows *sql.Rows) error { return rows.Scan(&scanned, &score) })
	return scanned, score, err
}

// OverviewCoverage counts those projects by analysis and coverage state; those of which
// nothing is known are left out.
func (db *Store) OverviewCoverage(ctx context.Context, sc tenant.Scope,
	f triage.OverviewFilter) ([]project.CoverageCount, error) {
	l, err := db.newOverviewScope(ctx, sc, f)
	if err != nil {
		return nil, err
	}
	branches, args := "c.branch = mine.branch", []any{}
	if f.Branches != nil {
		in, arg := db.Dialect.In("c.branch", f.Branches)
		branches, args = in, []any{arg}
	}
	query, old := coverage.New(db.DB).CountQuery("(SELECT m.id AS project_id, m.team_id, "+coverage.ReferenceCondition+
		" AS branch FROM mine m "+
		"LEFT JOIN project_stats s ON s.project_id = m.id)", branches)
	rows, err := l.runQuery(ctx, query, append([]any{old}, args...)...)
	return sqldb.Collect(rows, err, coverage.ScanCount)
}

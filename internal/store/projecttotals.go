package store

import (
	"context"
	"fmt"
	"time"

	"merlon/internal/project"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// recent is how far back "recent" goes in the totals: the contract's seven days.
const recent = 7 * 24 * time.Hour

// ProjectTotals adds up how those projects of the scope's organization stand on
// their reference branches that the caller may read.
func (db *DB) ProjectTotals(ctx context.Context, sc tenant.Scope) (project.Totals, error) {
	var t project.Totals
	r, err := db.readable(ctx, sc)
	if err != nil {
		return t, fmt.Errorf("read what is readable: %w", db.classify(err))
	}
	if r.all {
		err = db.addTotals(ctx, &t, "project_stats s WHERE s.organization_id = ?", []any{sc.Organization})
		return t, err
	}
	for _, a := range db.byTeam(sc, r, "") {
		if err := db.addTotals(ctx, &t, "project_stats s JOIN (SELECT p.id FROM "+a.from+") mine ON mine.id = s.project_id", a.args); err != nil {
			return t, err
		}
	}
	return t, nil
}

// addTotals adds the numbers of the rows of project_stats, named s in from.
func (db *DB) addTotals(ctx context.Context, t *project.Totals, from string, args []any) error {
	since := db.now().Add(-recent)
	critical, high := code(triage.RiskLevels, triage.CriticalRisk), code(triage.RiskLevels, triage.HighRisk)
	var n project.Totals
	err := db.QueryRow(ctx, `SELECT
		COUNT(CASE WHEN s.risk_level = ? THEN 1 END), COUNT(CASE WHEN s.risk_level = ? AND s.level_since >= ? THEN 1 END),
		COUNT(CASE WHEN s.risk_level = ? THEN 1 END), COUNT(CASE WHEN s.risk_level = ? AND s.level_since >= ? THEN 1 END),
		CAST(COALESCE(SUM(s.critical), 0) AS BIGINT), CAST(COALESCE(SUM(s.high), 0) AS BIGINT),
		CAST(COALESCE(SUM(s.medium), 0) AS BIGINT), CAST(COALESCE(SUM(s.low), 0) AS BIGINT) FROM `+from,
		append([]any{critical, critical, millis(since), high, high, millis(since)}, args...)...).
		Scan(&n.CriticalRisk, &n.CriticalRiskRecent, &n.HighRisk, &n.HighRiskRecent, &n.Critical, &n.High, &n.Medium, &n.Low)
	if err != nil {
		return fmt.Errorf("add up how projects stand: %w", db.classify(err))
	}
	err = db.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(d.opened), 0) AS BIGINT), CAST(COALESCE(SUM(d.solved), 0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN d.day > ? THEN d.opened END), 0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN d.day > ? THEN d.solved END), 0) AS BIGINT)
		FROM branch_day d JOIN (SELECT s.project_id, s.branch FROM `+from+`) mine ON mine.project_id = d.project_id AND mine.branch = d.branch`,
		append([]any{day(since), day(since)}, args...)...).Scan(&n.New, &n.Solved, &n.NewRecent, &n.SolvedRecent)
	if err != nil {
		return fmt.Errorf("add up what was found and solved: %w", db.classify(err))
	}
	t.Add(n)
	return nil
}

package findings

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file keeps and reads the numbers of findings.

// RefreshStats computes how the scope's project stands from the numbers of its
// reference branch. Whoever changes findings or the project's settings calls it
// in the same transaction.
func RefreshStats(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope) error {
	if _, err := lockFindings(ctx, tx, sc); err != nil {
		return err
	}
	settings, err := projectSettings(ctx, tx, sc)
	if err != nil {
		return err
	}
	branches, err := readBranches(ctx, tx, sc)
	if err != nil {
		return err
	}
	branch := referenceBranch(settings, branches)
	rows, err := tx.Query(ctx, `SELECT analysis, severity, findings, risk FROM branch_stats
		WHERE project_id = ? AND branch = ? AND status <= 2 AND findings <> 0`, string(sc.Project), branch)
	// Index by the code of the severity, from 1; 0 is unused.
	var open [5]int
	var risk int64
	err = sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		var analysis, severity, n int
		var r int64
		if err := rows.Scan(&analysis, &severity, &n, &r); err != nil {
			return err
		}
		if settings.Shown(sqldb.EnumValue(finding.Analyses, analysis), sqldb.EnumValue(finding.Severities, severity)) &&
			severity < len(open) {
			open[severity] += n
			risk += r
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read numbers of branch: %w", err)
	}
	score := triage.RiskScore(risk)
	level := sqldb.EnumCode(triage.RiskLevels, triage.LevelOf(score))
	if _, err := tx.Exec(ctx, `INSERT INTO project_stats
		(project_id, organization_id, branch, hidden, critical, high, medium, low, risk_score, risk_level, level_since)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (project_id) DO UPDATE SET branch = excluded.branch, hidden = excluded.hidden, critical = excluded.critical, high = excluded.high,
		medium = excluded.medium, low = excluded.low, risk_score = excluded.risk_score, risk_level = excluded.risk_level,
		level_since = CASE WHEN project_stats.risk_level = excluded.risk_level AND project_stats.level_since > 0
			THEN project_stats.level_since ELSE excluded.level_since END`,
		string(sc.Project), string(sc.Organization), branch, hiddenBits(settings), open[1], open[2], open[3], open[4],
		score, level, sqldb.Millis(tx.Now)); err != nil {
		return fmt.Errorf("write numbers of project: %w", err)
	}
	return nil
}

// hiddenBits is the column hidden: one bit for each analysis and severity that
// the settings do not show.
func hiddenBits(s project.Settings) (bits int64) {
	for i, a := range finding.Analyses {
		for j, severity := range finding.Severities {
			if !s.Shown(a, severity) {
				// The order is that of ShownDays, which reads the column in SQL.
				bits |= 1 << (i*len(finding.Severities) + j)
			}
		}
	}
	return bits
}

// Standings returns how those of the projects stand that belong to the scope's
// organization and were scanned.
func (db *Store) Standings(ctx context.Context, sc tenant.Scope,
	ids []tenant.ProjectID) (map[tenant.ProjectID]triage.Posture, error) {
	out := make(map[tenant.ProjectID]triage.Posture, len(ids))
	return out, sqldb.InChunks(sqldb.Strings(ids), func(ids []string) error {
		in, arg := db.Dialect.In("project_id", ids)
		rows, err := db.Query(ctx, `SELECT project_id, branch, critical, high, medium, low, risk_score, risk_level, level_since
			FROM project_stats WHERE organization_id = ? AND branch <> '' AND `+in, string(sc.Organization), arg)
		return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
			s := triage.Posture{Open: map[finding.Severity]int{}}
			var open [4]int
			var level int
			var since int64
			if err := rows.Scan(&s.ProjectID, &s.Branch, &open[0], &open[1], &open[2], &open[3], &s.RiskScore, &level,
				&since); err != nil {
				return err
			}
			for i, severity := range finding.Severities {
				s.Open[severity] = open[i]
			}
			s.RiskLevel, s.LevelSince = sqldb.EnumValue(triage.RiskLevels, level), sqldb.FromMillis(since)
			out[s.ProjectID] = s
			return nil
		})
	})
}

// AnalysisStandings returns, for those of the projects that belong to the scope's
// organization, the last scan of each analysis on the reference branch and what
// it left open, ordered by project and analysis. Hidden severities are counted:
// the caller has the settings.
func (db *Store) AnalysisStandings(ctx context.Context, sc tenant.Scope,
	ids []tenant.ProjectID) ([]triage.AnalysisPosture, error) {
	type key struct {
		project  tenant.ProjectID
		analysis finding.Analysis
	}
	out, index := []triage.AnalysisPosture{}, map[key]int{}
	return out, sqldb.InChunks(sqldb.Strings(ids), func(ids []string) error {
		in, arg := db.Dialect.In("p.project_id", ids)
		rows, err := db.Query(ctx, `SELECT p.project_id, s.analysis, s.at, s.source FROM project_stats p
			JOIN branch_coverage s ON s.project_id = p.project_id AND s.branch = p.branch AND s.at > 0
			WHERE p.organization_id = ? AND `+in+" ORDER BY p.project_id, s.analysis, s.at DESC", string(sc.Organization), arg)
		err = sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
			a := triage.AnalysisPosture{Open: map[finding.Severity]int{}}
			var analysis int
			var at int64
			if err := rows.Scan(&a.ProjectID, &analysis, &at, &a.Source); err != nil {
				return err
			}
			a.Analysis, a.LastScan = sqldb.EnumValue(finding.Analyses, analysis), sqldb.FromMillis(at)
			k := key{a.ProjectID, a.Analysis}
			if _, seen := index[k]; !seen { // the latest of the analysis comes first
				index[k] = len(out)
				out = append(out, a)
			}
			return nil
		})
		if err != nil {
			return err
		}
		rows, err = db.Query(ctx, `SELECT p.project_id, s.analysis, s.severity, CAST(SUM(s.findings) AS BIGINT) FROM project_stats p
			JOIN branch_stats s ON s.project_id = p.project_id AND s.branch = p.branch
			WHERE p.organization_id = ? AND s.status <= 2 AND `+in+" GROUP BY p.project_id, s.analysis, s.severity", string(sc.Organization), arg)
		return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
			var id tenant.ProjectID
			var analysis, severity, n int
			if err := rows.Scan(&id, &analysis, &severity, &n); err != nil {
				return err
			}
			if i, ok := index[key{id, sqldb.EnumValue(finding.Analyses, analysis)}]; ok {
				out[i].Open[sqldb.EnumValue(finding.Severities, severity)] += n
			}
			return nil
		})
	})
}

// makeBucket returns the cell with the numbers.
func makeBucket(analysis, severity, status, priority int) triage.Bucket {
	return triage.Bucket{
		Analysis: sqldb.EnumValue(finding.Analyses, analysis), Severity: sqldb.EnumValue(finding.Severities, severity),
		Status: sqldb.EnumValue(triage.Statuses, status), Priority: sqldb.EnumValue(triage.Priorities, priority),
	}
}

// DayCounts returns what branches gained and lost on the days, ordered by
// project, day and severity, as the filter selects by branch, severity and analysis.
func (db *Store) DayCounts(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID, f triage.OverviewFilter,
	days triage.DateRange) ([]triage.DayCount, error) {
	out := []triage.DayCount{}
	return out, sqldb.InChunks(sqldb.Strings(ids), func(ids []string) error {
		in, arg := db.Dialect.In("p.project_id", ids)
		w := &sqldb.Condition{}
		w.And("p.organization_id = ? AND "+in, string(sc.Organization), arg)
		AddDays(w, db.DB, f, days)
		rows, err := db.Query(ctx, `SELECT d.project_id, d.day, d.severity, CAST(SUM(d.opened) AS BIGINT), CAST(SUM(d.solved) AS BIGINT)
			FROM project_stats p JOIN branch_daily d ON d.project_id = p.project_id WHERE `+w.Text.String()+`
			GROUP BY d.project_id, d.day, d.severity ORDER BY d.project_id, d.day, d.severity`, w.Args...)
		return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
			var c triage.DayCount
			var at int64
			var severity int
			if err := rows.Scan(&c.ProjectID, &at, &severity, &c.Opened, &c.Solved); err != nil {
				return err
			}
			c.Day, c.Severity = time.Unix(at*86400, 0).UTC(), sqldb.EnumValue(finding.Severities, severity)
			out = append(out, c)
			return nil
		})
	})
}

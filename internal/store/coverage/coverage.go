package coverage

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file keeps and reads what analyses have looked at.

// subjectOf names what a run scans: nothing for the source of the branch.
func subjectOf(r *run.Run) string {
	switch {
	case r.Image != nil:
		return ImageSubject(r.Image.Repository)
	case r.Target != nil:
		return TargetSubject(r.Target.ID)
	}
	return ""
}

// ImageSubject names the images of a repository as the subject of scans.
func ImageSubject(repository string) string { return "image:" + repository }

// TargetSubject names a running application as the subject of scans.
func TargetSubject(id string) string { return "target:" + id }

// Save records what a run has looked at.
func Save(ctx context.Context, tx *sqldb.Tx, r *run.Run, looked []triage.AnalysisCoverage) error {
	var rows [][]any
	for _, l := range looked {
		// A failed analysis keeps the coverage of the scan before: its findings are still shown.
		if l.Failed {
			text := "the analysis failed"
			if len(l.Reasons) > 0 {
				text = l.Reasons[0].Message
			}
			if err := RecordFailure(ctx, tx, r, []finding.Analysis{l.Analysis}, text); err != nil {
				return err
			}
			continue
		}
		reasons, err := json.Marshal(l.Reasons)
		if err != nil {
			return fmt.Errorf("encode reasons: %w", err)
		}
		rows = append(rows, []any{string(r.ProjectID), r.Branch, sqldb.EnumCode(finding.Analyses, l.Analysis),
			subjectOf(r),
			sqldb.Millis(tx.Now), string(r.ID), string(r.Source),
			l.Complete, l.Files, sqldb.StripNUL(string(reasons)), l.Omitted})
	}
	return tx.InsertRows(ctx, "branch_coverage", "project_id, branch, analysis, subject, at, run_id, source, "+
		"complete, files, reasons, omitted",
		` ON CONFLICT (project_id, branch, analysis, subject) DO UPDATE SET at = excluded.at, run_id = excluded.run_id, source = excluded.source,
		complete = excluded.complete, files = excluded.files, reasons = excluded.reasons, omitted = excluded.omitted`, rows)
}

// RecordFailure records that a run could not make the analyses.
func RecordFailure(ctx context.Context, tx *sqldb.Tx, r *run.Run, analyses []finding.Analysis, failure string) error {
	// The numbers of a project that was never scanned have no row yet.
	if _, err := tx.Exec(ctx, `INSERT INTO project_stats (project_id, organization_id) SELECT id, organization_id FROM project WHERE id = ? AND organization_id = ?
		ON CONFLICT (project_id) DO NOTHING`, string(r.ProjectID), string(r.OrganizationID)); err != nil {
		return fmt.Errorf("record a failed scan: %w", err)
	}
	var rows [][]any
	for _, a := range analyses {
		rows = append(rows, []any{string(r.ProjectID), r.Branch, sqldb.EnumCode(finding.Analyses, a), subjectOf(r),
			sqldb.Millis(tx.Now), string(r.ID), sqldb.StripNUL(failure)})
	}
	return tx.InsertRows(ctx, "branch_coverage", "project_id, branch, analysis, subject, failed_at, failed_run, "+
		"failure",
		` ON CONFLICT (project_id, branch, analysis, subject) DO UPDATE SET failed_at = excluded.failed_at, failed_run = excluded.failed_run,
		failure = excluded.failure`, rows)
}

// Delete removes what is known of something that is no longer there to be
// scanned; of every branch when branch is empty.
func Delete(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, branch, subject string) error {
	_, err := tx.Exec(ctx, "DELETE FROM branch_coverage WHERE project_id = ? AND subject = ? AND (branch = ? OR "+
		"? = '')", string(sc.Project), subject, branch, branch)
	if err != nil {
		return fmt.Errorf("forget what was looked at: %w", err)
	}
	return nil
}

// ReferenceCondition is the branch that the numbers of a project s of project_stats are about.
const ReferenceCondition = "COALESCE(NULLIF(s.branch, ''), '" + run.DefaultBranch + "')"

// Coverages returns, for each of the projects that belongs to the scope's
// organization, what every analysis has looked at on the branches with the names, or with
// nil on its reference branch: ordered by branch, then analysis.
func (db *Store) Coverages(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID,
	branches []string) (map[tenant.ProjectID][]triage.Coverage, error) {
	out := make(map[tenant.ProjectID][]triage.Coverage, len(ids))
	return out, sqldb.InChunks(sqldb.Strings(ids), func(ids []string) error {
		in, arg := db.Dialect.In("p.id", ids)
		which, args := "c.branch = "+ReferenceCondition, []any{}
		if branches != nil {
			cond, list := db.Dialect.In("c.branch", branches)
			which, args = cond, []any{list}
		}
		rows, err := db.Query(ctx, "SELECT p.id, "+ReferenceCondition+`, COALESCE(c.branch, ''), COALESCE(c.analysis, 0), COALESCE(c.at, 0), COALESCE(c.run_id, ''),
			COALESCE(c.source, ''), COALESCE(c.complete, FALSE), COALESCE(c.files, 0), COALESCE(c.reasons, '[]'), COALESCE(c.omitted, 0),
			COALESCE(c.failed_at, 0), COALESCE(c.failed_run, ''), COALESCE(c.failure, ''), COALESCE(b.source_at, 0)
			FROM project p LEFT JOIN project_stats s ON s.project_id = p.id LEFT JOIN branch_coverage c ON c.project_id = p.id AND `+which+`
			LEFT JOIN branch b ON b.project_id = c.project_id AND b.name = c.branch WHERE p.organization_id = ? AND `+in+
			" ORDER BY p.id, c.analysis, c.subject", append(args, string(sc.Organization), arg)...)
		return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
			c, reference, err := scanCoverage(rows, db.Timestamp())
			if err != nil {
				return err
			}
			list, known := out[c.ProjectID]
			// Analyses without a row are shown as never made, so the list starts with all of them.
			if !known {
				names := branches
				if names == nil {
					names = []string{reference}
				}
				for _, name := range names {
					list = append(list, triage.NeverAnalyzed(c.ProjectID, name)...)
				}
			}
			out[c.ProjectID] = list
			if c.Analysis != "" {
				addCoverage(list, c)
			}
			return nil
		})
	})
}

// addCoverage puts what is known of one thing that was scanned into the list: the worst of
// several counts.
func addCoverage(list []triage.Coverage, c triage.Coverage) {
	for i := range list {
		have := &list[i]
		if have.Branch != c.Branch || have.Analysis != c.Analysis {
			continue
		}
		// Of several images the one with the worst coverage stands for all; of equal ones the
		// oldest.
		c.Subjects = have.Subjects + 1
		if have.Subjects == 0 || c.State.Worse(have.State) || c.State == have.State && c.At.Before(have.At) {
			*have = c
		}
		have.Subjects = c.Subjects
	}
}

// scanCoverage reads a row of Coverages, and the reference branch of its project. The state
// depends on the present time, since analyses grow stale.
func scanCoverage(rows *sql.Rows, now time.Time) (c triage.Coverage, reference string, err error) {
	var analysis int
	var at, failed, source int64
	var complete bool
	var reasons string
	if err := rows.Scan(&c.ProjectID, &reference, &c.Branch, &analysis, &at, &c.Run, &c.Source, &complete, &c.Files,
		&reasons, &c.Omitted,
		&failed, &c.FailedRun, &c.Failure, &source); err != nil {
		return c, "", err
	}
	if analysis == 0 { // nothing is known of the project
		return c, reference, nil
	}
	c.Analysis = sqldb.EnumValue(finding.Analyses, analysis)
	c.At, c.FailedAt = sqldb.FromMillis(at), sqldb.FromMillis(failed)
	if err := json.Unmarshal([]byte(reasons), &c.Reasons); err != nil {
		return c, "", fmt.Errorf("read reasons: %w", err)
	}
	c.SetState(complete, sqldb.FromMillis(source), now)
	return c, reference, nil
}

// CountQuery returns a query that counts projects by analysis and coverage state, and
// its first argument. from is a table mine with project_id, team_id and branch; branches is the
// condition on the branch of a row c.
func (db *Store) CountQuery(from, branches string) (string, int64) {
	return `SELECT w.team_id, w.analysis, w.state, COUNT(*), CAST(COALESCE(MIN(NULLIF(w.at, 0)), 0) AS BIGINT) FROM (SELECT mine.team_id, c.project_id, c.analysis, MAX(c.at) AS at,
		MIN(CASE WHEN c.failed_at > c.at THEN 2 WHEN c.at = 0 THEN 1 WHEN c.at < ? OR c.analysis <= 5 AND c.at < COALESCE(b.source_at, 0) THEN 3
			WHEN NOT c.complete THEN 4 ELSE 5 END) AS state
		FROM ` + from + " mine JOIN branch_coverage c ON c.project_id = mine.project_id AND " + branches + `
		LEFT JOIN branch b ON b.project_id = c.project_id AND b.name = c.branch GROUP BY mine.team_id, c.project_id, c.analysis) w GROUP BY w.team_id, w.analysis, w.state
		ORDER BY w.team_id, w.analysis, w.state`, sqldb.Millis(db.Timestamp().Add(-triage.MaxAnalysisAge))
}

// ScanCount scans a row of CountQuery.
func ScanCount(rows *sql.Rows) (c project.CoverageCount, err error) {
	var analysis, state int
	var oldest int64
	err = rows.Scan(&c.Team, &analysis, &state, &c.Projects, &oldest)
	c.Analysis, c.State, c.Oldest = sqldb.EnumValue(finding.Analyses, analysis),
		sqldb.EnumValue(project.CoverageStates, state),
		sqldb.FromMillis(oldest)
	return c, err
}

package findings

import (
	"context"
	"database/sql"
	"encoding/json"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Routes returns the operations that the source of the scope's project declares, as the
// last scan of the branch with any has told them, with the open findings behind them. A
// branch whose source was never scanned has those of the reference branch.
func (db *Store) Routes(ctx context.Context, sc tenant.Scope, branch string) ([]scan.Route, error) {
	operations, err := db.declaredOperations(ctx, sc, branch)
	if err == nil && len(operations) == 0 {
		var reference string
		if reference, err = db.ReferenceBranch(ctx, sc); err == nil && reference != "" && reference != branch {
			branch = reference
			operations, err = db.declaredOperations(ctx, sc, branch)
		}
	}
	if err != nil || len(operations) == 0 {
		return nil, err
	}
	q := triage.Query{Sort: triage.ByDefault, Limit: 500, Uncounted: true,
		Filter: triage.Filter{Analysis: finding.SAST, Branch: branch,
			Statuses: []triage.Status{triage.ToVerify, triage.Confirmed}}}
	var flaws []finding.Finding
	rules := map[string]*finding.Rule{}
	// Only findings with an entry point help a dynamic scan; the others are skipped, so that the
	// number of pages is not known beforehand.
	for len(flaws) < scan.MaxSinks {
		page, err := db.Findings(ctx, sc, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Findings {
			if f := &page.Findings[i]; len(f.Report.Entry) > 0 {
				flaws = append(flaws, f.Report)
				rules[f.Report.RuleID] = &f.Rule
			}
		}
		if page.Next == nil {
			break
		}
		q.After = page.Next
	}
	return scan.Routes(operations, flaws, rules), nil
}

// declaredOperations returns what the last scan of the branch's source that told of any operations
// has told.
func (db *Store) declaredOperations(ctx context.Context, sc tenant.Scope, branch string) ([]finding.Operation, error) {
	rows, err := db.Query(ctx, `SELECT body FROM operation WHERE outcome = ? AND run_id IN (SELECT r.id FROM run r
		WHERE r.project_id = ? AND r.organization_id = ? AND r.branch = ? AND r.target_id = '' AND r.state IN ('completed', 'completed_degraded')
		AND EXISTS (SELECT 1 FROM operation o WHERE o.run_id = r.id) ORDER BY r.created_at DESC, r.id DESC LIMIT 1)
		ORDER BY number LIMIT ?`, string(finding.Declared), string(sc.Project), string(sc.Organization), branch, scan.MaxRoutes)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (o finding.Operation, err error) {
		var body string
		if err := rows.Scan(&body); err != nil {
			return o, err
		}
		return o, json.Unmarshal([]byte(body), &o)
	})
}

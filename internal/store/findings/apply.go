package findings

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/store/coverage"
	"merlon/internal/store/runs"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file writes what a scan changes.

// Apply writes a batch in one transaction: everything of it or nothing. It
// returns a Conflict error when the run has another attempt by now, and
// triage.ErrBranchChanged when the branch or the decisions of the project are not
// those that the batch builds upon.
func (db *Store) Apply(ctx context.Context, sc tenant.Scope, b *triage.Batch) error {
	if b.Run.ProjectID != sc.Project || b.Run.OrganizationID != sc.Organization || sc.Project == "" {
		return errs.E(errs.NotFound, "project not found")
	}
	p, err := prepareBatch(sc, b) // what needs no transaction keeps nobody waiting
	if err != nil {
		return err
	}
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		// A worker that was taken for dead may still write: its attempt is no longer the run's.
		if err := runs.CheckAttempt(ctx, tx, b.Run.ID, b.Run.Attempt); err != nil {
			return err
		}
		// From here on the transaction holds the lock of the project, so that counts are not
		// written by two transactions at a time.
		if err := advanceBranch(ctx, tx, sc, b); err != nil {
			return err
		}
		if err := putRows(ctx, tx, p); err != nil {
			return err
		}
		if err := endFindings(ctx, tx, sc, b); err != nil {
			return err
		}
		if err := putContent(ctx, tx, sc, b); err != nil {
			return err
		}
		if err := runs.SaveOperations(ctx, tx, b.Run.ID, b.FirstOperation, b.Operations); err != nil {
			return err
		}
		if err := addCounts(ctx, tx, sc, b.Branch, countChange{b.Counts, b.Opened, b.Solved}); err != nil {
			return err
		}
		if b.Summary != nil {
			if err := endScan(ctx, tx, sc, b); err != nil {
				return err
			}
			// Only when the scan is complete: a finding that a later batch brings would otherwise
			// lose its proof in between.
			if err := linkProofs(ctx, tx, sc, b.Branch, b.Run.ID); err != nil {
				return err
			}
		}
		if len(b.Counts) > 0 || b.Summary != nil {
			return RefreshStats(ctx, tx, sc)
		}
		return nil
	})
}

// advanceBranch takes the project's lock and moves the branch from the version that
// the batch builds upon to the next one.
func advanceBranch(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, b *triage.Batch) error {
	revision, err := lockFindings(ctx, tx, sc)
	if err != nil {
		return err
	}
	// A decision was made after the batch was computed, which may change the status or the
	// priority of its findings. The caller reads the branch again.
	if revision != b.Revision {
		return triage.ErrBranchChanged
	}
	// The first scan of the branch. The insert may find the row of a concurrent first scan; the
	// update below then fails on its version.
	if b.Version == 0 {
		if _, err := tx.Exec(ctx, `INSERT INTO branch (project_id, name, organization_id, version, created_at) VALUES (?, ?, ?, 0, ?)
			ON CONFLICT (project_id, name) DO NOTHING`, string(sc.Project), b.Branch, string(sc.Organization), sqldb.Millis(tx.Now)); err != nil {
			return fmt.Errorf("create branch: %w", err)
		}
	}
	n, err := tx.Exec(ctx, "UPDATE branch SET version = version + 1 WHERE project_id = ? AND name = ? AND version = ?",
		string(sc.Project), b.Branch, b.Version)
	if err != nil {
		return fmt.Errorf("advance branch: %w", err)
	}
	if n == 0 {
		return triage.ErrBranchChanged
	}
	return nil
}

// lockFindings makes everybody else who changes findings of the scope's project
// wait, and returns the revision of its decisions.
func lockFindings(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope) (revision int64, err error) {
	// A row for a project of another organization is never made.
	if _, err := tx.Exec(ctx, `INSERT INTO project_stats (project_id, organization_id) SELECT id, organization_id FROM project
		WHERE id = ? AND organization_id = ? ON CONFLICT (project_id) DO NOTHING`, ProjectArgs(sc)...); err != nil {
		return 0, fmt.Errorf("lock findings: %w", err)
	}
	err = tx.QueryRow(ctx, "SELECT revision FROM project_stats WHERE project_id = ? AND organization_id = ?"+
		tx.DB.Dialect.ForUpdate(),
		ProjectArgs(sc)...).Scan(&revision)
	return revision, sqldb.NotFound(err, "project")
}

// preparedBatch is a batch as rows of the tables.
type preparedBatch struct {
	batch *triage.Batch
	// Each is a table's rows, with the values in the order of the columns below. Times are
	// TxTime until the transaction begins.
	rules    [][]any
	findings [][]any
	packages [][]any
	renamed  [][]any
	changes  [][]any
}

const (
	// The order of values in prepareBatch, findingRow and historyRow is that of these lists.
	ruleColumns     = "id, organization_id, rule_id, name, advisory, body, sum, updated_at"
	findingInserted = `id, organization_id, project_id, branch, flaw, place, code, analysis, analyzer, rule_id, closed, severity, status, priority,
		pinned, score, gone, cvss, fixable, dependency, path, start_line, end_line, language, message, package, detail, sum, proves, first_run, last_run,
		last_did, created_at, updated_at, resolved_at`
	packageColumns = `id, organization_id, project_id, branch, ecosystem, name, version, path, dependency, licenses, body, sum, first_run,
		created_at, updated_at`
	historyColumns = "project_id, flaw, id, finding_id, at, kind, value, previous, reason, run_id, user_id"
)

// findingKept are the columns of a known finding that a scan leaves alone.
var findingKept = []string{"id", "organization_id", "project_id", "branch", "flaw", "first_run", "created_at",
	"resolved_at"}

// findingConflict replaces the rest of them.
var findingConflict = func() string {
	var set []string
	for c := range strings.SplitSeq(findingInserted, ",") {
		if c = strings.TrimSpace(c); !slices.Contains(findingKept, c) {
			set = append(set, c+" = excluded."+c)
		}
	}
	// Only a person's word survives as resolved in what a scan reports.
	set = append(set, "resolved_at = CASE WHEN excluded.status = 3 THEN finding.resolved_at ELSE 0 END")
	return " ON CONFLICT (id) DO UPDATE SET " + strings.Join(set, ", ")
}()

// prepareBatch makes the rows of a batch.
func prepareBatch(sc tenant.Scope, b *triage.Batch) (*preparedBatch, error) {
	p := &preparedBatch{batch: b}
	for _, r := range b.Rules {
		body, err := sqldb.Compress(r.Rule)
		if err != nil {
			return nil, err
		}
		advisory := ""
		if r.Rule.Advisory != nil {
			advisory = r.Rule.Advisory.ID
		}
		p.rules = append(p.rules, []any{r.ID, string(sc.Organization), r.Rule.ID, sqldb.StripNUL(r.Rule.Name),
			sqldb.StripNUL(advisory),
			body, int64(r.Sum), sqldb.TxTime{}})
	}
	// A fixed order keeps two scans of an organization from waiting for each other.
	slices.SortFunc(p.rules, func(a, b []any) int { return cmp.Compare(a[0].(string), b[0].(string)) })
	for i := range b.Rows {
		row, err := findingRow(sc, b, &b.Rows[i])
		if err != nil {
			return nil, err
		}
		p.findings = append(p.findings, row)
	}
	for _, k := range b.Packages {
		body, err := json.Marshal(k.Package)
		if err != nil {
			return nil, fmt.Errorf("encode package: %w", err)
		}
		p.packages = append(p.packages, []any{k.ID, string(sc.Organization), string(sc.Project), b.Branch,
			k.Package.Ecosystem, k.Package.Name,
			k.Package.Version, k.Package.Path, dependencyBits(&k.Package), declaredLicenses(&k.Package), string(body),
			int64(k.Sum), string(b.Run.ID), sqldb.TxTime{}, sqldb.TxTime{}})
	}
	for place, flaw := range b.Renamed {
		p.renamed = append(p.renamed, []any{string(sc.Project), place.String(), flaw.String()})
	}
	for i := range b.Changes {
		p.changes = append(p.changes, historyRow(sc, &b.Changes[i]))
	}
	return p, nil
}

// historyRow returns a change as a row of finding_history.
func historyRow(sc tenant.Scope, c *triage.Change) []any {
	return []any{string(sc.Project), c.Flaw.String(), c.ID, string(c.Finding), sqldb.TxTime{}, string(c.Kind), c.Value,
		c.Previous, c.Reason,
		string(c.Run), string(c.By)}
}

// findingRow returns a finding as a row: what queries filter and sort by has columns, the
// rest is compressed JSON.
func findingRow(sc tenant.Scope, b *triage.Batch, r *triage.FindingRow) ([]any, error) {
	rest, err := sqldb.Compress(detailOf(r.Report))
	if err != nil {
		return nil, err
	}
	f, dependency, name, fixable := r.Report, findingBits(r.Report), "", r.Report.Fix != nil
	if f.Package != nil {
		name, fixable = f.Package.Package.Name, fixable || f.Package.Upgrade != ""
	}
	proves := ""
	if r.Proves != (triage.Digest{}) {
		proves = r.Proves.String()
	}
	return []any{
		string(r.ID), string(sc.Organization), string(sc.Project), b.Branch, r.Flaw.String(), r.Place.String(),
		r.Code.String(),
		sqldb.EnumCode(finding.Analyses, r.Bucket.Analysis), f.Analyzer, r.RuleID, closedCode(r.Bucket.Status),
		sqldb.EnumCode(finding.Severities, r.Bucket.Severity),
		sqldb.EnumCode(triage.Statuses, r.Bucket.Status), sqldb.EnumCode(triage.Priorities, r.Bucket.Priority),
		r.Pinned, r.Score, false,
		cvssTenths(r.CVSS), fixable,
		dependency, f.Location.Path, f.Location.StartLine, f.Location.EndLine, f.Language, f.Message, name, rest,
		int64(r.Sum), proves,
		string(b.Run.ID), string(b.Run.ID), int(r.Effect), sqldb.TxTime{}, sqldb.TxTime{}, 0,
	}, nil
}

// putRows writes what the scan reported.
func putRows(ctx context.Context, tx *sqldb.Tx, p *preparedBatch) error {
	// Rules come first: findings refer to them.
	for _, t := range []struct {
		table, columns, suffix string
		rows                   [][]any
	}{
		{"rule", ruleColumns, ` ON CONFLICT (id) DO UPDATE SET name = excluded.name, advisory = excluded.advisory,
			body = excluded.body, sum = excluded.sum, updated_at = excluded.updated_at`, p.rules},
		{"finding", findingInserted, findingConflict, p.findings},
		{"package", packageColumns, ` ON CONFLICT (id) DO UPDATE SET dependency = excluded.dependency,
			licenses = excluded.licenses, body = excluded.body, sum = excluded.sum, updated_at = excluded.updated_at`, p.packages},
		{"renamed", "project_id, place, flaw", " ON CONFLICT (project_id, place) DO UPDATE SET flaw = excluded.flaw",
			p.renamed},
		{"finding_history", historyColumns, "", p.changes},
	} {
		if err := tx.InsertRows(ctx, t.table, t.columns, t.suffix, sqldb.StampTxTime(tx.Now, t.rows)); err != nil {
			return err
		}
	}
	return nil
}

// endFindings resolves the findings and removes the packages that the scan did
// not see.
func endFindings(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, b *triage.Batch) error {
	if len(b.Resolved) > 0 {
		ids := make([]string, len(b.Resolved))
		for i, id := range b.Resolved {
			ids[i] = string(id)
		}
		in, arg := tx.DB.Dialect.In("id", ids)
		// triage.Closed of an active finding, else the next effect: triage.Dropped.
		_, err := tx.Exec(ctx, `UPDATE finding SET last_did = ? + closed, status = ?, closed = 1, gone = TRUE,
			last_run = ?, updated_at = ?, resolved_at = CASE WHEN resolved_at = 0 THEN ? ELSE resolved_at END
			WHERE project_id = ? AND `+in,
			int(triage.Closed), sqldb.EnumCode(triage.Statuses, triage.Resolved), string(b.Run.ID),
			sqldb.Millis(tx.Now),
			sqldb.Millis(tx.Now),
			string(sc.Project), arg)
		if err != nil {
			return fmt.Errorf("resolve findings: %w", err)
		}
	}
	if len(b.Removed) > 0 {
		in, arg := tx.DB.Dialect.In("id", b.Removed)
		if _, err := tx.Exec(ctx, "DELETE FROM package WHERE project_id = ? AND "+in, string(sc.Project),
			arg); err != nil {
			return fmt.Errorf("remove packages: %w", err)
		}
	}
	return nil
}

// endScan records that a scan was applied as a whole.
func endScan(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, b *triage.Batch) error {
	set, args := "scanned_at = ?", []any{sqldb.Millis(tx.Now)}
	// source_at decides which branch is the reference branch; an image does not count.
	if b.Run.Image == nil && b.Run.Target == nil {
		set, args = set+", source_at = ?", append(args, sqldb.Millis(tx.Now))
	}
	if _, err := tx.Exec(ctx, "UPDATE branch SET "+set+", run_id = ? WHERE project_id = ? AND name = ?",
		append(args, string(b.Run.ID), string(sc.Project), b.Branch)...); err != nil {
		return fmt.Errorf("end scan of branch: %w", err)
	}
	if err := runs.TrimOperations(ctx, tx, b.Run, b.Summary.Operations); err != nil {
		return err
	}
	if err := putImage(ctx, tx, sc, b); err != nil {
		return err
	}
	if err := coverage.Save(ctx, tx, b.Run, b.Summary.Analyses); err != nil {
		return err
	}
	var rows [][]any
	last := map[string]int{} // an analyzer has one row
	for _, s := range b.Summary.Statuses {
		row := []any{string(sc.Project), b.Branch, s.Analyzer, sqldb.EnumCode(finding.Analyses, s.Analysis),
			string(b.Run.ID),
			string(b.Run.Source),
			string(s.State), sqldb.Millis(tx.Now)}
		if i, again := last[s.Analyzer]; again {
			rows[i] = row
			continue
		}
		last[s.Analyzer] = len(rows)
		rows = append(rows, row)
	}
	err := tx.InsertRows(ctx, "branch_scan", "project_id, branch, analyzer, analysis, run_id, source, state, at",
		` ON CONFLICT (project_id, branch, analyzer) DO UPDATE SET analysis = excluded.analysis, run_id = excluded.run_id,
		source = excluded.source, state = excluded.state, at = excluded.at`, rows)
	if err != nil || len(b.Summary.Languages) == 0 {
		return err
	}
	languages, err := json.Marshal(b.Summary.Languages)
	if err != nil {
		return fmt.Errorf("encode languages: %w", err)
	}
	if _, err := tx.Exec(ctx, "UPDATE project SET languages = ? WHERE id = ? AND organization_id = ?",
		append([]any{string(languages)}, ProjectArgs(sc)...)...); err != nil {
		return fmt.Errorf("update languages: %w", err)
	}
	return nil
}

// countChange is a difference in the numbers of a branch.
type countChange struct {
	counts         triage.Counts
	opened, solved map[triage.AnalysisSeverity]int
}

// addCounts keeps the numbers of a branch.
func addCounts(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, branch string, c countChange) error {
	var rows [][]any
	for cell, n := range c.counts {
		rows = append(rows, []any{string(sc.Project), branch, sqldb.EnumCode(finding.Analyses, cell.Analysis),
			sqldb.EnumCode(finding.Severities, cell.Severity),
			sqldb.EnumCode(triage.Statuses, cell.Status), sqldb.EnumCode(triage.Priorities, cell.Priority), n.N,
			n.Risk})
	}
	err := tx.InsertRows(ctx, "branch_stats", "project_id, branch, analysis, severity, status, priority, "+
		"findings, risk",
		` ON CONFLICT (project_id, branch, analysis, severity, status, priority)
		DO UPDATE SET findings = branch_stats.findings + excluded.findings, risk = branch_stats.risk + excluded.risk`, rows)
	if err != nil {
		return err
	}
	rows = nil
	// Loops over the lists and not over the maps give the rows a fixed order.
	for _, a := range finding.Analyses {
		for _, severity := range finding.Severities {
			s := triage.AnalysisSeverity{Analysis: a, Severity: severity}
			if c.opened[s] != 0 || c.solved[s] != 0 {
				rows = append(rows, []any{string(sc.Project), branch, sqldb.DayNumber(tx.Now),
					sqldb.EnumCode(finding.Analyses, a),
					sqldb.EnumCode(finding.Severities, severity), c.opened[s], c.solved[s]})
			}
		}
	}
	return tx.InsertRows(ctx, "branch_daily", "project_id, branch, day, analysis, severity, opened, solved",
		` ON CONFLICT (project_id, branch, day, analysis, severity)
		DO UPDATE SET opened = branch_daily.opened + excluded.opened, solved = branch_daily.solved + excluded.solved`, rows)
}

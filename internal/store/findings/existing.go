package findings

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file reads how a branch stands before a scan is applied.

var _ triage.Store = (*Store)(nil)

// Branch reads how a branch of the scope's project stands. The version and
// revision are read before anything else, so that what is read afterwards is at
// least as new.
func (db *Store) Branch(ctx context.Context, sc tenant.Scope, name string) (*triage.Branch, error) {
	settings, err := projectSettings(ctx, db.DB, sc)
	if err != nil {
		return nil, db.Classify(err)
	}
	b := &triage.Branch{Name: name, Decisions: map[triage.Digest]triage.PriorDecision{}}
	// Without a row nothing was decided or scanned yet: the revision is 0.
	err = db.QueryRow(ctx, "SELECT revision FROM project_stats WHERE project_id = ? AND organization_id = ?",
		ProjectArgs(sc)...).Scan(&b.Revision)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, db.Classify(err)
	}
	branches, err := readBranches(ctx, db.DB, sc)
	if err != nil {
		return nil, err
	}
	var others []branchRow
	for _, row := range branches {
		if row.name == name {
			b.Version, b.Scanned = row.version, row.sourceAt > 0
		} else if row.scannedAt > 0 {
			others = append(others, row)
		}
	}
	b.Base = referenceBranch(settings, others)
	return b, db.readDecisions(ctx, sc, b.Decisions)
}

// projectSettings returns the settings of the scope's project.
func projectSettings(ctx context.Context, q sqldb.Querier, sc tenant.Scope) (project.Settings, error) {
	settings := project.DefaultSettings(nil)
	var text string
	err := q.QueryRow(ctx, "SELECT settings FROM project WHERE id = ? AND organization_id = ?",
		ProjectArgs(sc)...).Scan(&text)
	if err != nil {
		return settings, sqldb.NotFound(err, "project")
	}
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return settings, fmt.Errorf("read the settings of project %s: %w", sc.Project, err)
	}
	return settings, nil
}

// branchRow is a row of the table branch.
type branchRow struct {
	name    string
	version int64
	// scannedAt is when a scan of any kind was stored last, in milliseconds; 0 for never.
	scannedAt int64
	sourceAt  int64 // when its source was scanned
}

// readBranches returns the branches of the scope's project by name.
func readBranches(ctx context.Context, q sqldb.Querier, sc tenant.Scope) ([]branchRow, error) {
	rows, err := q.Query(ctx, "SELECT name, version, scanned_at, source_at FROM branch WHERE project_id = ? AND "+
		"organization_id = ? ORDER BY name", ProjectArgs(sc)...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (b branchRow, err error) {
		return b, rows.Scan(&b.name, &b.version, &b.scannedAt, &b.sourceAt)
	})
}

// referenceBranch chooses the branch that counts and risk are of: the one that
// the settings name, else main, else master, else the one scanned last; empty
// when there are none. Where the source of any was scanned, it is one of those: an
// image that is scanned on main does not make main the branch of a project whose
// source is on another.
func referenceBranch(s project.Settings, branches []branchRow) string {
	named := func(b branchRow) bool { return b.name == s.ReferenceBranch }
	if s.ReferenceBranch != "" && slices.ContainsFunc(branches, named) {
		return s.ReferenceBranch
	}
	withoutSource := func(b branchRow) bool { return b.sourceAt == 0 }
	if source := slices.DeleteFunc(slices.Clone(branches), withoutSource); len(source) > 0 {
		branches = source
	}
	for _, name := range []string{"main", "master"} {
		if slices.ContainsFunc(branches, func(b branchRow) bool { return b.name == name }) {
			return name
		}
	}
	last := branchRow{}
	for _, b := range branches {
		if b.scannedAt > last.scannedAt {
			last = b
		}
	}
	return last.name
}

// readDecisions reads every decision of the scope's project.
func (db *Store) readDecisions(ctx context.Context, sc tenant.Scope,
	into map[triage.Digest]triage.PriorDecision) error {
	rows, err := db.Query(ctx, `SELECT d.flaw, d.status, d.priority FROM decision d JOIN project p ON p.id = d.project_id
		WHERE d.project_id = ? AND p.organization_id = ?`, ProjectArgs(sc)...)
	return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		var text string
		var status, priority int
		if err := rows.Scan(&text, &status, &priority); err != nil {
			return err
		}
		flaw, err := triage.ParseDigest(text)
		into[flaw] = triage.PriorDecision{Status: sqldb.EnumValue(triage.Statuses, status),
			Priority: sqldb.EnumValue(triage.Priorities, priority)}
		return err
	})
}

// knownColumns are what triage compares of a finding; its evidence is represented by sum.
const knownColumns = `id, flaw, place, code, analysis, analyzer, rule_id, severity, status, priority, pinned, gone, cvss, path, start_line, sum,
	proves, proven, last_run, last_did, updated_at`

// Known calls do for every finding of a branch of the scope's project.
func (db *Store) Known(ctx context.Context, sc tenant.Scope, branch string, do func(triage.Existing) error) error {
	rows, err := db.Query(ctx, "SELECT "+knownColumns+" FROM finding WHERE project_id = ? AND organization_id = ? "+
		"AND branch = ?",
		append(ProjectArgs(sc), branch)...)
	same := map[string]string{} // paths, analyzers, rules and runs repeat: each is kept once
	return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		k, err := scanKnown(rows, same)
		if err != nil {
			return err
		}
		return do(k)
	})
}

// scanKnown reads a row of knownColumns. It scans into RawBytes, since a branch may have
// hundreds of thousands of findings and most texts repeat.
func scanKnown(rows *sql.Rows, same map[string]string) (triage.Existing, error) {
	var k triage.Existing
	var flaw, place, codeText, proves sql.RawBytes
	var analyzer, rule, path, lastRun sql.RawBytes
	var analysis, severity, status, priority, cvss int
	var sum, updated int64
	err := rows.Scan(&k.ID, &flaw, &place, &codeText, &analysis, &analyzer, &rule, &severity, &status, &priority,
		&k.Pinned, &k.Gone, &cvss,
		&path, &k.Line, &sum, &proves, &k.Proven, &lastRun, &k.LastEffect, &updated)
	if err != nil {
		return k, err
	}
	for _, d := range []struct {
		text sql.RawBytes
		to   *triage.Digest
	}{{flaw, &k.Flaw}, {place, &k.Place}, {codeText, &k.Code}} {
		if *d.to, err = triage.ParseDigest(string(d.text)); err != nil {
			return k, fmt.Errorf("finding %s: %w", k.ID, err)
		}
	}
	if len(proves) > 0 {
		if k.Proves, err = triage.ParseDigest(string(proves)); err != nil {
			return k, fmt.Errorf("finding %s: %w", k.ID, err)
		}
	}
	once := func(b sql.RawBytes) string {
		s, ok := same[string(b)]
		if !ok {
			s = string(b)
			same[s] = s
		}
		return s
	}
	k.Analyzer, k.Rule, k.Path, k.LastRun = once(analyzer), once(rule), once(path), run.ID(once(lastRun))
	k.Sum, k.UpdatedAt = uint64(sum), sqldb.FromMillis(updated)
	k.Bucket = triage.Bucket{
		Analysis: sqldb.EnumValue(finding.Analyses, analysis), Severity: sqldb.EnumValue(finding.Severities, severity),
		Status: sqldb.EnumValue(triage.Statuses, status), Priority: sqldb.EnumValue(triage.Priorities, priority),
	}
	// The column has tenths.
	k.Risk = triage.Risk(k.Bucket.Severity, float64(cvss)/10)
	return k, nil
}

// KnownPackages calls do for every package of a branch of the scope's project.
func (db *Store) KnownPackages(ctx context.Context, sc tenant.Scope, branch string,
	do func(triage.ExistingPackage) error) error {
	rows, err := db.Query(ctx, "SELECT id, path, dependency, sum FROM package WHERE project_id = ? AND "+
		"organization_id = ? AND branch = ?",
		append(ProjectArgs(sc), branch)...)
	return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		var p triage.ExistingPackage
		var dependency int
		var sum int64
		if err := rows.Scan(&p.ID, &p.Path, &dependency, &sum); err != nil {
			return err
		}
		p.Sum, p.InImage = uint64(sum), dependency&imageBit != 0
		return do(p)
	})
}

// RuleSums returns the sums of those of the rules that the scope's organization
// has.
func (db *Store) RuleSums(ctx context.Context, sc tenant.Scope, ids []string) (map[string]uint64, error) {
	sums := make(map[string]uint64, len(ids))
	return sums, sqldb.InChunks(ids, func(ids []string) error {
		in, arg := db.Dialect.In("id", ids)
		rows, err := db.Query(ctx, "SELECT id, sum FROM rule WHERE organization_id = ? AND "+in,
			string(sc.Organization), arg)
		return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
			var id string
			var sum int64
			if err := rows.Scan(&id, &sum); err != nil {
				return err
			}
			sums[id] = uint64(sum)
			return nil
		})
	})
}

// Renamed returns the flaws of those places that are later places of a flaw.
func (db *Store) Renamed(ctx context.Context, sc tenant.Scope,
	places []triage.Digest) (map[triage.Digest]triage.Digest, error) {
	flaws := map[triage.Digest]triage.Digest{}
	texts := make([]string, len(places))
	for i, p := range places {
		texts[i] = p.String()
	}
	return flaws, sqldb.InChunks(texts, func(texts []string) error {
		in, arg := db.Dialect.In("r.place", texts)
		rows, err := db.Query(ctx, `SELECT r.place, r.flaw FROM renamed r JOIN project p ON p.id = r.project_id
			WHERE r.project_id = ? AND p.organization_id = ? AND `+in, append(ProjectArgs(sc), arg)...)
		return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
			var place, flaw string
			if err := rows.Scan(&place, &flaw); err != nil {
				return err
			}
			p, err := triage.ParseDigest(place)
			if err != nil {
				return err
			}
			flaws[p], err = triage.ParseDigest(flaw)
			return err
		})
	})
}

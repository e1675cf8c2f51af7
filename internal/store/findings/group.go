package findings

import (
	"context"
	"database/sql"
	"fmt"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file lists findings by rule, and by advisory and package.

// groupColumns are what is computed of the findings f of a group; b is the branch
// of each. A finding that is not gone was last seen by the branch's last scan.
const groupColumns = `COUNT(*) AS findings, MIN(f.severity) AS severity, MIN(f.priority) AS priority, MAX(f.cvss) AS cvss,
	SUM(CASE WHEN f.fixable THEN 1 ELSE 0 END) AS fixable,
	SUM(CASE WHEN f.severity = 1 THEN 1 ELSE 0 END) AS critical, SUM(CASE WHEN f.severity = 2 THEN 1 ELSE 0 END) AS high,
	SUM(CASE WHEN f.severity = 3 THEN 1 ELSE 0 END) AS medium, SUM(CASE WHEN f.severity = 4 THEN 1 ELSE 0 END) AS low,
	SUM(CASE WHEN f.dependency & 4 <> 0 THEN 1 ELSE 0 END) AS dev, SUM(CASE WHEN f.dependency & 1 <> 0 THEN 1 ELSE 0 END) AS direct,
	SUM(CASE WHEN f.dependency & 2 <> 0 THEN 1 ELSE 0 END) AS transitive,
	MIN(f.created_at) AS first_seen, MAX(CASE WHEN f.gone THEN f.resolved_at WHEN f.analysis = 6 THEN b.scanned_at ELSE b.source_at END) AS last_seen`

// groupOrders gives the order of each sort key, worst or newest first.
var groupOrders = map[triage.GroupSort]string{
	triage.ByOccurrences:  "findings DESC",
	triage.ByHighest:      "severity",
	triage.ByLastSeen:     "last_seen DESC",
	triage.ByGroupState:   "severity",
	triage.ByGroupUrgency: "priority",
	triage.ByGroupAge:     "first_seen DESC",
	triage.ByHighestCVSS:  "cvss DESC",
	triage.ByGroupCVSS:    "cvss DESC",
}

// groupOrdersAscending is groupOrders the other way round.
var groupOrdersAscending = map[triage.GroupSort]string{
	triage.ByOccurrences:  "findings",
	triage.ByHighest:      "severity DESC",
	triage.ByLastSeen:     "last_seen",
	triage.ByGroupState:   "severity DESC",
	triage.ByGroupUrgency: "priority DESC",
	triage.ByGroupAge:     "first_seen",
	triage.ByHighestCVSS:  "cvss",
	triage.ByGroupCVSS:    "cvss",
}

// Groups returns a page of the groups of the scope's project.
func (db *Store) Groups(ctx context.Context, sc tenant.Scope, q triage.GroupQuery) (triage.GroupPage, error) {
	page := triage.GroupPage{Groups: []triage.Group{}}
	orders := groupOrders
	if q.Ascending {
		orders = groupOrdersAscending
	}
	orderBy, ok := orders[q.Sort]
	if !ok {
		return page, errs.E(errs.Invalid, "groups cannot be sorted by %q", q.Sort)
	}
	// Without packages the column stays, so that one query serves both kinds of groups.
	key := "f.rule_id, '' AS package"
	by := "f.rule_id"
	if q.ByPackage {
		key, by = "f.rule_id, f.package", "f.rule_id, f.package"
	}
	w := db.findingCondition(sc, q.Filter)
	// SUM is NUMERIC in PostgreSQL and NULL without rows, hence cast and COALESCE.
	err := db.QueryRow(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(g.n), 0) AS BIGINT) FROM (SELECT COUNT(*) AS n FROM "+
		"finding f WHERE "+
		w.Text.String()+" GROUP BY "+by+") g", w.Args...).Scan(&page.Total, &page.Findings)
	if err != nil {
		return page, db.Classify(fmt.Errorf("count groups: %w", err))
	}
	if q.Offset >= page.Total {
		return page, nil
	}
	rows, err := db.Query(ctx, `SELECT g.rule_id, g.package, g.findings, g.severity, g.cvss, g.fixable, g.critical, g.high, g.medium, g.low,
		g.dev, g.direct, g.transitive, g.first_seen, g.last_seen, r.body FROM (SELECT `+key+", "+groupColumns+`
		FROM finding f JOIN branch b ON b.project_id = f.project_id AND b.name = f.branch WHERE `+w.Text.String()+" GROUP BY "+by+`) g
		JOIN rule r ON r.id = g.rule_id ORDER BY g.`+orderBy+", g.rule_id, g.package LIMIT ? OFFSET ?",
		append(w.Args, q.Limit, q.Offset)...)
	if page.Groups, err = sqldb.Collect(rows, err, scanGroup); err != nil {
		return page, fmt.Errorf("list groups: %w", err)
	}
	return page, db.readOccurrences(ctx, sc, q, page.Groups)
}

// scanGroup reads a group, without its findings.
func scanGroup(rows *sql.Rows) (triage.Group, error) {
	g := triage.Group{BySeverity: map[finding.Severity]int{}, Occurrences: []triage.Occurrence{}}
	var severity, cvss, fixable int
	var n [4]int
	var first, last int64
	var rule []byte
	err := rows.Scan(&g.RuleID, &g.Package, &g.Count, &severity, &cvss, &fixable, &n[0], &n[1], &n[2], &n[3],
		&g.Dev, &g.Direct, &g.Transit, &first, &last, &rule)
	if err != nil {
		return g, err
	}
	for i, s := range finding.Severities {
		g.BySeverity[s] = n[i]
	}
	g.Highest, g.CVSS, g.Fixable = sqldb.EnumValue(finding.Severities, severity), float64(cvss)/10, fixable > 0
	g.FirstSeen, g.LastSeen = sqldb.FromMillis(first), sqldb.FromMillis(last)
	if err := sqldb.Decompress(rule, &g.Rule); err != nil {
		return g, fmt.Errorf("rule %s: %w", g.RuleID, err)
	}
	return g, nil
}

// readOccurrences gives each group its worst findings.
func (db *Store) readOccurrences(ctx context.Context, sc tenant.Scope, q triage.GroupQuery,
	groups []triage.Group) error {
	place := make(map[[2]string]int, len(groups))
	rules := make([]string, len(groups))
	for i, g := range groups {
		place[[2]string{g.RuleID, g.Package}] = i
		rules[i] = g.RuleID
	}
	w := db.findingCondition(sc, q.Filter)
	in, arg := db.Dialect.In("f.rule_id", rules)
	w.And(in, arg)
	by := "f.rule_id"
	if q.ByPackage {
		by = "f.rule_id, f.package"
	}
	rows, err := db.Query(ctx, `SELECT o.id, o.rule_id, o.package, o.path, o.start_line, o.end_line, o.status, o.severity, o.priority, o.cvss,
		o.dependency, o.created_at, o.language, o.detail FROM (SELECT f.id, f.rule_id, f.package, f.path, f.start_line, f.end_line, f.status, f.severity,
		f.priority, f.cvss, f.dependency, f.created_at, f.language, f.detail, f.closed,
		ROW_NUMBER() OVER (PARTITION BY `+by+` ORDER BY f.closed, f.severity, f.id) AS place FROM finding f WHERE `+w.Text.String()+`) o
		WHERE o.place <= ? ORDER BY o.closed, o.severity, o.id`, append(w.Args, q.Occurrences)...)
	return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		o, err := scanOccurrence(rows)
		if err != nil {
			return err
		}
		key := [2]string{o.RuleID, ""}
		if q.ByPackage {
			key[1] = o.Package
		}
		// With packages, rows of the same rule in packages of other pages are skipped.
		if i, ok := place[key]; ok {
			groups[i].Occurrences = append(groups[i].Occurrences, o)
		}
		return nil
	})
}

// scanOccurrence reads a finding of a group. The version of a package is in the detail,
// which is only decompressed for packages.
func scanOccurrence(rows *sql.Rows) (triage.Occurrence, error) {
	var o triage.Occurrence
	var status, severity, priority, cvss, dependency int
	var created int64
	var rest sql.RawBytes
	err := rows.Scan(&o.ID, &o.RuleID, &o.Package, &o.Path, &o.StartLine, &o.EndLine, &status, &severity, &priority,
		&cvss,
		&dependency, &created, &o.Language, &rest)
	if err != nil {
		return o, err
	}
	o.Status, o.Severity = sqldb.EnumValue(triage.Statuses, status), sqldb.EnumValue(finding.Severities, severity)
	o.Priority, o.CVSS, o.CreatedAt = sqldb.EnumValue(triage.Priorities, priority), float64(cvss)/10,
		sqldb.FromMillis(created)
	o.Dev, o.Transit = dependency&developBit != 0, dependency&transitiveBit != 0
	if o.Package != "" {
		var d Detail
		if err := sqldb.Decompress(rest, &d); err != nil {
			return o, fmt.Errorf("finding %s: %w", o.ID, err)
		}
		if d.Package != nil {
			o.Version = d.Package.Package.Version
		}
	}
	return o, nil
}

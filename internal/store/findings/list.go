package findings

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// findingCondition returns the condition on findings f of the scope's project.
func (db *Store) findingCondition(sc tenant.Scope, f triage.Filter) *sqldb.Condition {
	w := &sqldb.Condition{}
	w.And("f.project_id = ? AND f.organization_id = ?", ProjectArgs(sc)...)
	if f.MatchNone {
		w.And("1 = 0")
	}
	if f.Analysis != "" {
		w.And("f.analysis = ?", sqldb.EnumCode(finding.Analyses, f.Analysis))
	}
	if f.Branch != "" {
		w.And("f.branch = ?", f.Branch)
	}
	sqldb.AnyOf(w, "f.severity", finding.Severities, f.Severities)
	sqldb.AnyOf(w, "f.status", triage.Statuses, f.Statuses)
	sqldb.AnyOf(w, "f.priority", triage.Priorities, f.Priorities)
	if f.Fixable != nil {
		w.And("f.fixable = ?", *f.Fixable)
	}
	if f.RuleID != "" {
		w.And("f.rule_id = ?", f.RuleID)
	}
	if f.Package != "" {
		w.And("f.package = ?", f.Package)
	}
	if f.Place != "" {
		w.And("f.place = ?", f.Place)
	}
	if f.ConfirmsPlace != "" {
		// The second term lets the database use the partial index on proves.
		w.And("f.proves = ? AND f.proves <> ''", f.ConfirmsPlace)
	}
	if f.ExcludeID != "" {
		w.And("f.id <> ?", string(f.ExcludeID))
	}
	// Patterns are bound values with escaped wildcards: "100%" is found literally.
	like := func(column string) string { return column + " " + db.Dialect.Like() + ` ? ESCAPE '\'` }
	if f.Language != "" {
		w.And("LOWER(f.language) = LOWER(?)", f.Language)
	}
	if f.Path != "" {
		w.And(like("f.path"), sqldb.LikePattern(f.Path))
	}
	if f.Search != "" {
		// Names and advisories are searched in the rules of the organization, which are far fewer
		// than findings.
		p := sqldb.LikePattern(f.Search)
		w.And("("+like("f.message")+" OR "+like("f.path")+" OR "+like("f.package")+
			" OR f.rule_id IN (SELECT id FROM rule WHERE organization_id = ? AND ("+like("name")+" OR "+
			like("advisory")+")))",
			p, p, p, string(sc.Organization), p, p)
	}
	addOrigins(w, "f.dependency", f.Origins)
	ofImage(w, "f.id", sc, f.Image)
	whereClasses(w, "f.dependency", f.Classes)
	return w
}

// addOrigins adds that a package came in one of the ways.
func addOrigins(w *sqldb.Condition, column string, origins []triage.Origin) {
	var ways []string
	for _, o := range origins {
		bit := map[triage.Origin]int{triage.FromDirect: directBit, triage.FromTransitive: transitiveBit,
			triage.FromDev: developBit}[o]
		ways = append(ways, fmt.Sprintf("%s & %d <> 0", column, bit))
	}
	if ways != nil {
		w.And("(" + strings.Join(ways, " OR ") + ")")
	}
}

// A sortColumn is a column that lists are sorted by.
type sortColumn struct {
	// name is the column of the table finding.
	name string
	// text tells cursors with text keys from those with numbers.
	text bool
	wide bool // holds more than 16 bits
}

// sortColumns gives the columns of each sort key; the identifier comes last, so
// that the order is whole.
var sortColumns = map[triage.SortKey][]sortColumn{
	triage.ByDefault:  {{name: "closed"}, {name: "severity"}},
	triage.ByStatus:   {{name: "status"}},
	triage.BySeverity: {{name: "severity"}},
	triage.ByPriority: {{name: "priority"}},
	triage.ByLanguage: {{name: "language", text: true}},
	triage.ByCreated:  {{name: "created_at", wide: true}},
	triage.ByUpdated:  {{name: "updated_at", wide: true}},
	triage.ByCVSS:     {{name: "cvss"}},
	triage.ByScore:    {{name: "score"}},
}

// sortOrder returns the ORDER BY of a query, and the columns before the identifier.
func sortOrder(q triage.Query) (string, []string, error) {
	columns, ok := sortColumns[q.Sort]
	if !ok {
		return "", nil, errs.E(errs.Invalid, "findings cannot be sorted by %q", q.Sort)
	}
	direction := ""
	if q.Descending {
		direction = " DESC"
	}
	var names, keys []string
	for _, c := range columns {
		names, keys = append(names, "f."+c.name), append(keys, "f."+c.name+direction)
	}
	return " ORDER BY " + strings.Join(append(keys, "f.id"+direction), ", "), names, nil
}

// Findings returns a page of the findings of the scope's project.
func (db *Store) Findings(ctx context.Context, sc tenant.Scope, q triage.Query) (triage.Page, error) {
	page := triage.Page{Findings: []triage.Finding{}}
	orderBy, columns, err := sortOrder(q)
	if err != nil {
		return page, err
	}
	w := db.findingCondition(sc, q.Filter)
	if q.After != nil {
		if err := addCursor(w, q, columns); err != nil {
			return page, err
		}
		q.Offset = 0
	}
	if !q.Uncounted {
		if page.Total, err = db.CountFindings(ctx, sc, q.Filter); err != nil || q.Offset >= page.Total {
			return page, err
		}
	}
	rows, err := db.Query(ctx, "SELECT f.id FROM finding f WHERE "+w.Text.String()+orderBy+" LIMIT ? OFFSET ?",
		append(w.Args, q.Limit+1, q.Offset)...)
	// First the IDs alone, from an index; the wide rows are then read for one page only.
	ids, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	if err != nil {
		return page, fmt.Errorf("list findings: %w", err)
	}
	// One row more than the page was read: there is a next page when it exists.
	more := len(ids) > q.Limit
	if page.Findings, err = db.ReadFindings(ctx, sc, ids[:min(len(ids), q.Limit)]); err != nil {
		return page, err
	}
	if more {
		page.Next = cursorAt(q, &page.Findings[len(page.Findings)-1])
	}
	return page, nil
}

// addCursor adds that a finding stands behind the cursor.
func addCursor(w *sqldb.Condition, q triage.Query, columns []string) error {
	c := q.After
	wrong := errs.E(errs.Invalid, "the cursor belongs to a list in another order")
	if c.Sort != q.Sort || c.Descending != q.Descending || len(c.Keys) != len(columns) {
		return wrong
	}
	for i, k := range c.Keys {
		column := sortColumns[q.Sort][i]
		// The cursor comes from the client: a key of another type would be an error of the
		// database.
		if _, text := k.(string); text != column.text {
			return wrong
		}
		// PostgreSQL would refuse a number that the column's SMALLINT cannot hold.
		if n, ok := k.(int64); ok && !column.wide && n != int64(int16(n)) {
			return wrong
		}
	}
	compare := ">"
	if q.Descending {
		compare = "<"
	}
	marks := strings.Repeat("?, ", len(columns)) + "?"
	w.And("("+strings.Join(append(slices.Clone(columns), "f.id"), ", ")+") "+compare+" ("+marks+")",
		append(slices.Clone(c.Keys), string(c.ID))...)
	return nil
}

// cursorAt returns the cursor behind a finding.
func cursorAt(q triage.Query, f *triage.Finding) *triage.Cursor {
	c := &triage.Cursor{Sort: q.Sort, Descending: q.Descending, ID: f.ID}
	switch q.Sort {
	case triage.ByDefault:
		c.Keys = []any{int64(closedCode(f.Status)), int64(sqldb.EnumCode(finding.Severities, f.Report.Severity))}
	case triage.ByStatus:
		c.Keys = []any{int64(sqldb.EnumCode(triage.Statuses, f.Status))}
	case triage.BySeverity:
		c.Keys = []any{int64(sqldb.EnumCode(finding.Severities, f.Report.Severity))}
	case triage.ByPriority:
		c.Keys = []any{int64(sqldb.EnumCode(triage.Priorities, f.Priority))}
	case triage.ByLanguage:
		c.Keys = []any{f.Report.Language}
	case triage.ByCreated:
		c.Keys = []any{sqldb.Millis(f.CreatedAt)}
	case triage.ByUpdated:
		c.Keys = []any{sqldb.Millis(f.UpdatedAt)}
	case triage.ByCVSS:
		c.Keys = []any{int64(cvssTenths(f.CVSS))}
	case triage.ByScore:
		c.Keys = []any{int64(f.Score)}
	}
	return c
}

// CountFindings returns how many findings of the scope's project the filter
// selects: from the branches' numbers where those tell.
func (db *Store) CountFindings(ctx context.Context, sc tenant.Scope, f triage.Filter) (int, error) {
	var n int
	if f.MatchNone {
		return 0, nil
	}
	// What the counters of branches do not distinguish has to be counted row by row.
	if f.Language != "" || f.Search != "" || f.Fixable != nil || len(f.Origins) > 0 || f.RuleID != "" ||
		f.Package != "" || f.Path != "" || f.ExcludeID != "" || f.Image != "" || len(f.Classes) > 0 || f.Place != "" ||
		f.ConfirmsPlace != "" {
		w := db.findingCondition(sc, f)
		err := db.QueryRow(ctx, "SELECT COUNT(*) FROM finding f WHERE "+w.Text.String(), w.Args...).Scan(&n)
		if err != nil {
			return 0, db.Classify(fmt.Errorf("count findings: %w", err))
		}
		return n, nil
	}
	cells, err := db.ProjectCells(ctx, sc)
	for _, c := range cells {
		if f.Selects(c) {
			n += c.Count.N
		}
	}
	return n, err
}

// ProjectCells returns the numbers of findings of every branch of the scope's
// project.
func (db *Store) ProjectCells(ctx context.Context, sc tenant.Scope) ([]triage.BranchBucket, error) {
	rows, err := db.Query(ctx, `SELECT s.branch, s.analysis, s.severity, s.status, s.priority, s.findings, s.risk
		FROM branch_stats s JOIN project_stats p ON p.project_id = s.project_id
		WHERE s.project_id = ? AND p.organization_id = ? AND s.findings <> 0`, ProjectArgs(sc)...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (triage.BranchBucket, error) {
		c := triage.BranchBucket{ProjectID: sc.Project}
		var analysis, severity, status, priority int
		err := rows.Scan(&c.Branch, &analysis, &severity, &status, &priority, &c.Count.N, &c.Count.Risk)
		c.Bucket = makeBucket(analysis, severity, status, priority)
		return c, err
	})
}

// ReadFindings returns findings of the scope's project with their history, in the
// order of the identifiers.
func (db *Store) ReadFindings(ctx context.Context, sc tenant.Scope, ids []string) ([]triage.Finding, error) {
	if len(ids) == 0 {
		return []triage.Finding{}, nil
	}
	in, arg := db.Dialect.In("f.id", ids)
	rows, err := db.Query(ctx, "SELECT "+findingColumns+findingTables+"WHERE f.project_id = ? AND f.organization_id "+
		"= ? AND "+in, append(ProjectArgs(sc), arg)...)
	found, err := sqldb.Collect(rows, err, scanFinding)
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	// IN returns rows in any order; restore that of the page.
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(found, func(a, b triage.Finding) int { return place[string(a.ID)] - place[string(b.ID)] })
	return found, db.readHistory(ctx, sc, found)
}

// Finding returns a finding of the scope's project.
func (db *Store) Finding(ctx context.Context, sc tenant.Scope, id triage.ID) (triage.Finding, error) {
	found, err := db.ReadFindings(ctx, sc, []string{string(id)})
	if err != nil {
		return triage.Finding{}, err
	}
	if len(found) == 0 {
		return triage.Finding{}, errs.E(errs.NotFound, "vulnerability not found")
	}
	return found[0], nil
}

// readHistory gives the findings their history, oldest first.
func (db *Store) readHistory(ctx context.Context, sc tenant.Scope, found []triage.Finding) error {
	byFlaw := map[string][]int{}
	for i := range found {
		flaw := found[i].Flaw.String()
		byFlaw[flaw] = append(byFlaw[flaw], i)
	}
	flaws := make([]string, 0, len(byFlaw))
	for flaw := range byFlaw {
		flaws = append(flaws, flaw)
	}
	// The order keeps the text of the query the same for the same findings.
	slices.Sort(flaws)
	in, arg := db.Dialect.In("h.flaw", flaws)
	rows, err := db.Query(ctx, `SELECT h.id, h.flaw, h.finding_id, h.at, h.kind, h.value, h.previous, h.reason, h.run_id, h.user_id,
		COALESCE(u.first_name, ''), COALESCE(u.last_name, ''), COALESCE(u.email, ''), COALESCE(u.picture, '')
		FROM finding_history h LEFT JOIN app_user u ON u.id = h.user_id
		WHERE h.project_id = ? AND `+in+" ORDER BY h.at, h.id", string(sc.Project), arg)
	return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		var c triage.Change
		var flaw string
		var at int64
		var u tenant.Member
		if err := rows.Scan(&c.ID, &flaw, &c.Finding, &at, &c.Kind, &c.Value, &c.Previous, &c.Reason, &c.Run, &c.By,
			&u.FirstName, &u.LastName, &u.Email, &u.Picture); err != nil {
			return err
		}
		c.At = sqldb.FromMillis(at)
		if u.UserID = c.By; u.Email != "" {
			c.User = &u
		}
		// A change without a finding ID was a decision, which applies to the flaw on all branches.
		for _, i := range byFlaw[flaw] {
			if c.Finding == "" || c.Finding == found[i].ID {
				c.Flaw = found[i].Flaw
				found[i].History = append(found[i].History, c)
			}
		}
		return nil
	})
}

// LastScan returns the newest scan of the scope's project, or nil.
func (db *Store) LastScan(ctx context.Context, sc tenant.Scope, branch string) (*triage.LastScan, error) {
	rows, err := db.Query(ctx, `SELECT id, state, created_at, source FROM run WHERE project_id = ? AND organization_id = ?
		AND (branch = ? OR ? = '') ORDER BY created_at DESC, id DESC LIMIT 1`, append(ProjectArgs(sc), branch, branch)...)
	found, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (s triage.LastScan, err error) {
		var created int64
		err = rows.Scan(&s.ID, &s.State, &created, &s.Source)
		s.CreatedAt = sqldb.FromMillis(created)
		return s, err
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// LastStatuses returns how each analyzer ended that has looked at the branch of the
// scope's project, as its last scan has it, and when the latest of these scans was
// applied; zero when there was none.
func (db *Store) LastStatuses(ctx context.Context, sc tenant.Scope, branch string) ([]scan.Status, time.Time, error) {
	rows, err := db.Query(ctx, `SELECT s.analyzer, s.analysis, s.state, s.at, COALESCE(r.outcome, '') FROM branch_scan s
		JOIN project p ON p.id = s.project_id LEFT JOIN run r ON r.id = s.run_id
		WHERE p.id = ? AND p.organization_id = ? AND s.branch = ? ORDER BY s.analyzer`, append(ProjectArgs(sc), branch)...)
	var latest time.Time
	statuses, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (s scan.Status, err error) {
		var analysis int
		var at int64
		var text string
		if err := rows.Scan(&s.Analyzer, &analysis, &s.State, &at, &text); err != nil {
			return s, err
		}
		s.Analysis = sqldb.EnumValue(finding.Analyses, analysis)
		if when := sqldb.FromMillis(at); when.After(latest) {
			latest = when
		}
		if text == "" { // the run is about to end
			return s, nil
		}
		var outcome run.Outcome
		if err := json.Unmarshal([]byte(text), &outcome); err != nil {
			return s, fmt.Errorf("read the outcome of a run: %w", err)
		}
		for _, told := range outcome.Statuses {
			if told.Analyzer == s.Analyzer {
				s = told
			}
		}
		return s, nil
	})
	return statuses, latest, err
}

// FindingBranches returns the names of the branches of the scope's project that
// have findings.
func (db *Store) FindingBranches(ctx context.Context, sc tenant.Scope) ([]string, error) {
	rows, err := db.Query(ctx, `SELECT b.name FROM branch b WHERE b.project_id = ? AND b.organization_id = ? AND EXISTS
		(SELECT 1 FROM branch_stats s WHERE s.project_id = b.project_id AND s.branch = b.name AND s.findings > 0) ORDER BY b.name`, ProjectArgs(sc)...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) })
}

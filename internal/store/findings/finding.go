package findings

import (
	"database/sql"
	"fmt"
	"math"

	"merlon/internal/finding"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// The bits of the column dependency.
const (
	directBit     = 1
	transitiveBit = 2
	developBit    = 4
	imageBit      = 8  // a container image holds it
	systemBit     = 16 // and it is a package of the image's distribution
	secretBit     = 32 // it is a secret in a container image
)

// dependencyBits says how a package came in.
func dependencyBits(p *finding.Package) int {
	bits := 0
	switch p.Scope {
	case finding.Direct:
		bits = directBit
	case finding.Transitive:
		bits = transitiveBit
	}
	if p.Dev {
		bits |= developBit
	}
	if p.Layer != nil {
		bits |= imageBit
	}
	if p.Layer != nil && p.System() {
		bits |= systemBit
	}
	return bits
}

// findingBits says how what a finding is about came in.
func findingBits(f *finding.Finding) int {
	switch {
	case f.Package != nil:
		return dependencyBits(&f.Package.Package)
	case triage.ClassOf(f) == triage.Secrets:
		return secretBit
	}
	return 0
}

// closedCode is the column closed.
func closedCode(s triage.Status) int {
	if s.Active() {
		return 0
	}
	return 1
}

// Detail is what of a finding has no column of its own. It is stored as compressed JSON.
type Detail struct {
	// Columns count from 1; 0 when the analyzer does not know them.
	StartColumn int              `json:"startColumn,omitempty"`
	EndColumn   int              `json:"endColumn,omitempty"`
	Snippet     *finding.Snippet `json:"snippet,omitempty"`
	// Also lists further locations of the same flaw.
	Also []finding.Location `json:"also,omitempty"`
	// Same lists equivalent rules of other analyzers that report it.
	Same []string `json:"same,omitempty"`
	// Steps is the data flow from source to sink.
	Steps []finding.Step `json:"steps,omitempty"`
	// Package is nil unless the finding is of a package; so are the next members for a secret, a
	// layer of an image and a dynamic scan.
	Package *finding.PackageMatch `json:"package,omitempty"`
	Secret  *finding.SecretMatch  `json:"secret,omitempty"`
	Layer   *finding.Layer        `json:"layer,omitempty"`
	Live    *finding.Live         `json:"live,omitempty"`
	Entry   []finding.EntryPoint  `json:"entry,omitempty"`
	// Impact and Terms say how the severity came about, Fix removes the finding.
	Impact     finding.Severity       `json:"impact,omitempty"`
	Terms      []finding.SeverityTerm `json:"severityTerms,omitempty"`
	Confidence finding.Confidence     `json:"confidence,omitempty"`
	Fix        *finding.Fix           `json:"fix,omitempty"`
}

// detailOf returns the part of a finding that is stored as compressed JSON.
func detailOf(f *finding.Finding) Detail {
	return Detail{f.Location.StartColumn, f.Location.EndColumn, f.Snippet, f.Also, f.EquivalentRules, f.Steps,
		f.Package, f.Secret,
		f.Layer, f.Live, f.Entry, f.Impact, f.Terms, f.Confidence, f.Fix}
}

// findingColumns are the columns that scanFinding reads, of finding f and rule r.
const findingColumns = `f.id, f.project_id, f.branch, f.flaw, f.place, f.code, f.analysis, f.analyzer, f.rule_id, f.severity, f.status,
	f.priority, f.pinned, f.proven, f.score, f.gone, f.cvss, f.fixable, f.path, f.start_line, f.end_line, f.language, f.message, f.detail,
	f.first_run, f.last_run, f.created_at, f.updated_at, f.resolved_at, r.body`

// findingTables are the tables of findingColumns. Every finding has a rule.
const findingTables = " FROM finding f JOIN rule r ON r.id = f.rule_id "

// scanFinding reads a row of findingColumns. The history is not part of it: see readHistory.
func scanFinding(rows *sql.Rows) (triage.Finding, error) {
	var f triage.Finding
	var flaw string
	var analysis, severity, status, priority, cvss int
	var rest, rule []byte
	var created, updated, resolved int64
	p := &f.Report
	err := rows.Scan(&f.ID, &f.ProjectID, &f.Branch, &flaw, &p.Fingerprint.Place, &p.Fingerprint.Flaw, &analysis,
		&p.Analyzer, &f.RuleID,
		&severity, &status, &priority, &f.Pinned, &f.Proven, &f.Score, &f.Gone, &cvss, &f.Fixable, &p.Location.Path,
		&p.Location.StartLine,
		&p.Location.EndLine, &p.Language, &p.Message, &rest, &f.FirstRun, &f.LastRun, &created, &updated, &resolved,
		&rule)
	if err != nil {
		return f, err
	}
	if f.Flaw, err = triage.ParseDigest(flaw); err != nil {
		return f, fmt.Errorf("finding %s: %w", f.ID, err)
	}
	p.Analysis, p.Severity = sqldb.EnumValue(finding.Analyses, analysis), sqldb.EnumValue(finding.Severities, severity)
	f.Status, f.Priority, f.CVSS = sqldb.EnumValue(triage.Statuses, status),
		sqldb.EnumValue(triage.Priorities, priority), float64(cvss)/10
	f.CreatedAt, f.UpdatedAt, f.ResolvedAt = sqldb.FromMillis(created), sqldb.FromMillis(updated),
		sqldb.FromMillis(resolved)
	var d Detail
	if err := sqldb.Decompress(rest, &d); err != nil {
		return f, fmt.Errorf("finding %s: %w", f.ID, err)
	}
	if err := sqldb.Decompress(rule, &f.Rule); err != nil {
		return f, fmt.Errorf("rule of finding %s: %w", f.ID, err)
	}
	p.RuleID = f.Rule.ID
	p.Location.StartColumn, p.Location.EndColumn = d.StartColumn, d.EndColumn
	p.Snippet, p.Also, p.EquivalentRules, p.Steps, p.Package, p.Secret, p.Layer, p.Live = d.Snippet, d.Also, d.Same,
		d.Steps,
		d.Package, d.Secret, d.Layer, d.Live
	p.Entry = d.Entry
	p.Impact, p.Terms, p.Confidence, p.Fix = d.Impact, d.Terms, d.Confidence, d.Fix
	f.History = []triage.Change{}
	return f, nil
}

// cvssTenths is a CVSS score as the database holds it.
func cvssTenths(score float64) int { return int(math.Round(score * 10)) }

// ProjectArgs is the condition that a row with both columns belongs to the scope's
// project, and its arguments. Both are compared, although the project determines the
// organization: a scope that was put together wrongly then matches no row.
func ProjectArgs(sc tenant.Scope) []any { return []any{string(sc.Project), string(sc.Organization)} }

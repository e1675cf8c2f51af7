package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"

	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file holds how findings lie in the database: their columns, the numbers
// of enumerations, and the packed rest.

// code returns the number of an enumeration's value: its place in the list, from
// 1, and 0 for the empty value.
func code[T comparable](list []T, v T) int { return slices.Index(list, v) + 1 }

// value is the inverse of code. An unknown number is the zero value.
func value[T any](list []T, n int) T {
	var zero T
	if n < 1 || n > len(list) {
		return zero
	}
	return list[n-1]
}

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

// detail is what of a finding has no column of its own.
type detail struct {
	StartColumn int                   `json:"startColumn,omitempty"`
	EndColumn   int                   `json:"endColumn,omitempty"`
	Snippet     *finding.Snippet      `json:"snippet,omitempty"`
	Also        []finding.Location    `json:"also,omitempty"`
	Same        []string              `json:"same,omitempty"`
	Steps       []finding.Step        `json:"steps,omitempty"`
	Package     *finding.PackageMatch `json:"package,omitempty"`
	Secret      *finding.SecretMatch  `json:"secret,omitempty"`
	Layer       *finding.Layer        `json:"layer,omitempty"`
	Live        *finding.Live         `json:"live,omitempty"`
	Entry       []finding.EntryPoint  `json:"entry,omitempty"`
}

func detailOf(f *finding.Finding) detail {
	return detail{f.Location.StartColumn, f.Location.EndColumn, f.Snippet, f.Also, f.EquivalentRules, f.Steps, f.Package, f.Secret,
		f.Layer, f.Live, f.Entry}
}

// pack returns v as JSON, compressed in the Snappy-compatible block format of s2.
// Measured over findings with snippets and paths: 53 % of the size for 4 µs;
// DEFLATE gives 40 % for 37 µs, which would be a third of the work of storing
// one.
func pack(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return s2.Encode(nil, b), nil
}

// unpack is the inverse of pack.
func unpack(packed []byte, v any) error {
	b, err := s2.Decode(nil, packed)
	if err != nil {
		return fmt.Errorf("decompress %T: %w", v, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}

// findingColumns are the columns that scanFinding reads, of finding f and rule r.
const findingColumns = `f.id, f.project_id, f.branch, f.flaw, f.place, f.code, f.analysis, f.analyzer, f.rule_id, f.severity, f.status,
	f.priority, f.pinned, f.proven, f.score, f.gone, f.cvss, f.fixable, f.path, f.start_line, f.end_line, f.language, f.message, f.detail,
	f.first_run, f.last_run, f.created_at, f.updated_at, f.resolved_at, r.body`

const findingTables = " FROM finding f JOIN rule r ON r.id = f.rule_id "

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
	p.Analysis, p.Severity = value(finding.Analyses, analysis), value(finding.Severities, severity)
	f.Status, f.Priority, f.CVSS = value(triage.Statuses, status), value(triage.Priorities, priority), float64(cvss)/10
	f.CreatedAt, f.UpdatedAt, f.ResolvedAt = fromMillis(created), fromMillis(updated), fromMillis(resolved)
	var d detail
	if err := unpack(rest, &d); err != nil {
		return f, fmt.Errorf("finding %s: %w", f.ID, err)
	}
	if err := unpack(rule, &f.Rule); err != nil {
		return f, fmt.Errorf("rule of finding %s: %w", f.ID, err)
	}
	p.RuleID = f.Rule.ID
	p.Location.StartColumn, p.Location.EndColumn = d.StartColumn, d.EndColumn
	p.Snippet, p.Also, p.EquivalentRules, p.Steps, p.Package, p.Secret, p.Layer, p.Live = d.Snippet, d.Also, d.Same, d.Steps,
		d.Package, d.Secret, d.Layer, d.Live
	p.Entry = d.Entry
	f.History = []triage.Change{}
	return f, nil
}

// tenths is a CVSS score as the database holds it.
func tenths(score float64) int { return int(math.Round(score * 10)) }

// insertWidth bounds the values of one INSERT. PostgreSQL takes 65,535, SQLite
// 32,766; beyond a few hundred, more gain nothing.
const insertWidth = 1000

// insertRows inserts rows of the columns; suffix is what follows the values.
func (tx *Tx) insertRows(ctx context.Context, table, columns, suffix string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	width := len(rows[0])
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", width), ", ") + ")"
	for chunk := range slices.Chunk(rows, max(1, insertWidth/width)) {
		query := "INSERT INTO " + table + " (" + columns + ") VALUES " +
			strings.TrimSuffix(strings.Repeat(row+", ", len(chunk)), ", ") + suffix
		if _, err := tx.Exec(ctx, query, slices.Concat(chunk...)...); err != nil {
			return fmt.Errorf("insert into %s: %w", table, err)
		}
	}
	return nil
}

// inChunks calls do with at most 1000 of the values at a time.
func inChunks(values []string, do func([]string) error) error {
	for chunk := range slices.Chunk(values, 1000) {
		if err := do(chunk); err != nil {
			return err
		}
	}
	return nil
}

// ofProject is the condition that a row with both columns belongs to the scope's
// project, and its arguments.
func ofProject(sc tenant.Scope) []any { return []any{string(sc.Project), string(sc.Organization)} }

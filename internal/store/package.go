package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file lists the packages of a project's branches.

// Packages returns a page of the packages of the scope's project by name, version
// and identifier, and how many the query selects.
func (db *DB) Packages(ctx context.Context, sc tenant.Scope, q triage.PackageQuery) ([]triage.ListedPackage, int, error) {
	w := &where{}
	w.and("k.project_id = ? AND k.organization_id = ?", ofProject(sc)...)
	if q.Branch != "" {
		w.and("k.branch = ?", q.Branch)
	}
	if q.Search != "" {
		like, p := " "+db.Dialect.Like()+` ? ESCAPE '\'`, containing(q.Search)
		w.and("(k.name"+like+" OR k.version"+like+" OR k.path"+like+")", p, p, p)
	}
	w.origins("k.dependency", q.Origins)
	var total int
	if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM package k WHERE "+w.text.String(), w.args...).Scan(&total); err != nil {
		return nil, 0, db.classify(fmt.Errorf("count packages: %w", err))
	}
	rows, err := db.Query(ctx, "SELECT k.id, k.branch, k.body, k.created_at, k.updated_at FROM package k WHERE "+w.text.String()+
		" ORDER BY k.name, k.version, k.id LIMIT ? OFFSET ?", append(w.args, q.Limit, q.Offset)...)
	found, err := collect(rows, err, func(rows *sql.Rows) (triage.ListedPackage, error) {
		var p triage.ListedPackage
		var body string
		var created, updated int64
		if err := rows.Scan(&p.ID, &p.Branch, &body, &created, &updated); err != nil {
			return p, err
		}
		p.CreatedAt, p.UpdatedAt = fromMillis(created), fromMillis(updated)
		if err := json.Unmarshal([]byte(body), &p.Package); err != nil {
			return p, fmt.Errorf("package %s: %w", p.ID, err)
		}
		return p, nil
	})
	return found, total, err
}

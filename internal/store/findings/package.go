package findings

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file lists the packages of a project's branches.

// Packages returns a page of the packages of the scope's project by name, version
// and identifier, and how many the query selects.
func (db *Store) Packages(ctx context.Context, sc tenant.Scope,
	q triage.PackageQuery) ([]triage.ListedPackage, int, error) {
	w := db.packageCondition(sc, q)
	var total int
	if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM package k WHERE "+w.Text.String(),
		w.Args...).Scan(&total); err != nil {
		return nil, 0, db.Classify(fmt.Errorf("count packages: %w", err))
	}
	rows, err := db.Query(ctx, "SELECT "+listedColumns+" FROM "+packageLicenses+" WHERE "+w.Text.String()+
		" ORDER BY k.name, k.version, k.id LIMIT ? OFFSET ?", append(w.Args, q.Limit, q.Offset)...)
	found, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (triage.ListedPackage, error) {
		var r listedRow
		if err := r.scanRow(rows); err != nil {
			return triage.ListedPackage{}, err
		}
		return r.toPackage()
	})
	return found, total, err
}

// packageCondition selects packages of the scope's project.
func (db *Store) packageCondition(sc tenant.Scope, q triage.PackageQuery) *sqldb.Condition {
	w := &sqldb.Condition{}
	w.And("k.project_id = ? AND k.organization_id = ?", ProjectArgs(sc)...)
	if q.Branch != "" {
		w.And("k.branch = ?", q.Branch)
	}
	if q.Search != "" {
		like, p := " "+db.Dialect.Like()+` ? ESCAPE '\'`, sqldb.LikePattern(q.Search)
		w.And("(k.name"+like+" OR k.version"+like+" OR k.path"+like+")", p, p, p)
	}
	addOrigins(w, "k.dependency", q.Origins)
	ofImage(w, "k.id", sc, q.Image)
	whereClasses(w, "k.dependency", q.Classes)
	// Packages of images and of source code are separate lists, as their findings are.
	if q.Images {
		w.And(fmt.Sprintf("k.dependency & %d <> 0", imageBit))
	} else {
		w.And(fmt.Sprintf("k.dependency & %d = 0", imageBit))
	}
	if len(q.Ecosystems) > 0 {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(q.Ecosystems)), ", ")
		var names []any
		for _, name := range q.Ecosystems {
			names = append(names, strings.ToLower(name))
		}
		w.And("LOWER(k.ecosystem) IN ("+marks+")", names...)
	}
	return w
}

// listedColumns are the columns of a triage.ListedPackage.
const listedColumns = "k.id, k.branch, k.body, k.created_at, k.updated_at, COALESCE(l.expression, ''), " +
	"COALESCE(l.ignored, FALSE)"

// A listedRow is a row of these columns.
type listedRow struct {
	listed           triage.ListedPackage
	body, assigned   string
	created, updated int64
}

// scanRow reads the row, and further columns into more.
func (r *listedRow) scanRow(rows *sql.Rows, more ...any) error {
	return rows.Scan(append([]any{&r.listed.ID, &r.listed.Branch, &r.body, &r.created, &r.updated, &r.assigned,
		&r.listed.Ignored}, more...)...)
}

// toPackage returns what the row says.
func (r *listedRow) toPackage() (triage.ListedPackage, error) {
	p := r.listed
	p.CreatedAt, p.UpdatedAt = sqldb.FromMillis(r.created), sqldb.FromMillis(r.updated)
	if err := json.Unmarshal([]byte(r.body), &p.Package); err != nil {
		return p, fmt.Errorf("package %s: %w", p.ID, err)
	}
	// The assigned licence replaces the declared one everywhere; only the SBOM shows both.
	if r.assigned != "" {
		p.Assigned, p.Declared, p.Package.Licenses = true, p.Package.Licenses, []string{r.assigned}
	}
	return p, nil
}

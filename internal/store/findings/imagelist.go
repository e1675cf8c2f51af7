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

// This file lists container images.

// imageCondition selects images i of the scope's project.
func (db *Store) imageCondition(sc tenant.Scope, q triage.ImageQuery) *sqldb.Condition {
	w := &sqldb.Condition{}
	w.And("i.project_id = ? AND i.organization_id = ?", ProjectArgs(sc)...)
	if q.Branch != "" {
		w.And("i.branch = ?", q.Branch)
	}
	if q.Search != "" {
		w.And("i.reference "+db.Dialect.Like()+` ? ESCAPE '\'`, sqldb.LikePattern(q.Search))
	}
	return w
}

// sqlDirection is the SQL of an order.
func sqlDirection(descending bool) string {
	if descending {
		return " DESC"
	}
	return ""
}

// Images returns a page of the images of the scope's project, and how many the query
// selects.
func (db *Store) Images(ctx context.Context, sc tenant.Scope, q triage.ImageQuery) ([]triage.Image, int, error) {
	w := db.imageCondition(sc, q)
	var total int
	if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM image i WHERE "+w.Text.String(),
		w.Args...).Scan(&total); err != nil {
		return nil, 0, db.Classify(fmt.Errorf("count images: %w", err))
	}
	by := map[triage.ImageSort]string{triage.ByRepository: "i.reference", triage.ByTags: "i.scanned_at",
		triage.ByLatestScan: "i.scanned_at"}[q.Sort]
	if by == "" {
		return nil, 0, errs.E(errs.Invalid, "images cannot be sorted by %q", q.Sort)
	}
	rows, err := db.Query(ctx, "SELECT "+imageColumns+" FROM image i WHERE "+w.Text.String()+" ORDER BY "+by+
		sqlDirection(q.Descending)+", i.id LIMIT ? OFFSET ?",
		append(w.Args, q.Limit, q.Offset)...)
	found, err := sqldb.Collect(rows, err, scanImage)
	if err != nil {
		return nil, 0, fmt.Errorf("list images: %w", err)
	}
	return found, total, db.countImages(ctx, sc, q, found)
}

// countImages gives images the numbers of their findings.
func (db *Store) countImages(ctx context.Context, sc tenant.Scope, q triage.ImageQuery, images []triage.Image) error {
	place := make(map[string]int, len(images))
	ids := make([]string, len(images))
	for n, i := range images {
		place[i.ID], ids[n] = n, i.ID
	}
	return sqldb.InChunks(ids, func(ids []string) error {
		in, arg := db.Dialect.In("c.image_id", ids)
		w := &sqldb.Condition{}
		w.And("c.project_id = ? AND f.organization_id = ? AND f.closed = 0", ProjectArgs(sc)...)
		w.And(fmt.Sprintf("c.kind = %d", findingKind))
		w.And(in, arg)
		w.And("f.severity IN (" + sqldb.EnumCodes(finding.Severities, q.Severities) + ")")
		rows, err := db.Query(ctx, `SELECT c.image_id, f.severity, COUNT(*) FROM image_content c JOIN finding f ON f.id = c.item_id
			WHERE `+w.Text.String()+" GROUP BY c.image_id, f.severity", w.Args...)
		return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
			var id string
			var severity, n int
			if err := rows.Scan(&id, &severity, &n); err != nil {
				return err
			}
			images[place[id]].Open[sqldb.EnumValue(finding.Severities, severity)] = n
			return nil
		})
	})
}

// imageGroupOrders gives the column of each sort key of groups.
var imageGroupOrders = map[triage.ImageSort]string{triage.ByRepository: "repository", triage.ByTags: "tags",
	triage.ByLatestScan: "scanned"}

// ImageGroups returns a page of the repositories of which the scope's project has
// images, one for each branch.
func (db *Store) ImageGroups(ctx context.Context, sc tenant.Scope, q triage.ImageQuery) (triage.ImageGroupPage, error) {
	page := triage.ImageGroupPage{Groups: []triage.ImageGroup{}}
	by, ok := imageGroupOrders[q.Sort]
	if !ok {
		return page, errs.E(errs.Invalid, "images cannot be sorted by %q", q.Sort)
	}
	all := q
	all.Search = ""
	w := db.imageCondition(sc, all)
	if q.Search != "" { // a group that holds what is looked for is shown whole
		hit := db.imageCondition(sc, q)
		w.And("(i.repository, i.branch) IN (SELECT i.repository, i.branch FROM image i WHERE "+hit.Text.String()+")",
			hit.Args...)
	}
	groups := "SELECT i.repository AS repository, i.branch AS branch, COUNT(*) AS tags, MAX(i.scanned_at) AS scanned " +
		"FROM image i WHERE " +
		w.Text.String() + " GROUP BY i.repository, i.branch"
	err := db.QueryRow(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(g.tags), 0) AS BIGINT) FROM ("+groups+") g",
		w.Args...).Scan(&page.Total, &page.Tags)
	if err != nil {
		return page, db.Classify(fmt.Errorf("count repositories of images: %w", err))
	}
	rows, err := db.Query(ctx, groups+" ORDER BY "+by+sqlDirection(q.Descending)+", repository, branch LIMIT ? "+
		"OFFSET ?", append(w.Args, q.Limit, q.Offset)...)
	page.Groups, err = sqldb.Collect(rows, err, func(rows *sql.Rows) (triage.ImageGroup, error) {
		g := triage.ImageGroup{Images: []triage.Image{}, Open: map[finding.Severity]int{}}
		var scanned int64
		err := rows.Scan(&g.Repository, &g.Branch, &g.Tags, &scanned)
		g.ScannedAt = sqldb.FromMillis(scanned)
		return g, err
	})
	if err != nil {
		return page, fmt.Errorf("list repositories of images: %w", err)
	}
	for n := range page.Groups {
		if err := db.fillGroup(ctx, sc, q, &page.Groups[n]); err != nil {
			return page, err
		}
	}
	return page, nil
}

// fillGroup gives a group its images and numbers.
func (db *Store) fillGroup(ctx context.Context, sc tenant.Scope, q triage.ImageQuery, g *triage.ImageGroup) error {
	of := append(ProjectArgs(sc), g.Branch, g.Repository)
	const group = " WHERE i.project_id = ? AND i.organization_id = ? AND i.branch = ? AND i.repository = ?"
	rows, err := db.Query(ctx, "SELECT "+imageColumns+" FROM image i"+group+" ORDER BY i.scanned_at DESC, i.id "+
		"LIMIT ?", append(of, triage.MaxGroupedImages)...)
	if g.Images, err = sqldb.Collect(rows, err, scanImage); err != nil {
		return fmt.Errorf("list images of a repository: %w", err)
	}
	if err := db.countImages(ctx, sc, q, g.Images); err != nil {
		return err
	}
	rows, err = db.Query(ctx, `SELECT f.severity, COUNT(*) FROM (SELECT DISTINCT c.item_id FROM image i
		JOIN image_content c ON c.project_id = i.project_id AND c.image_id = i.id`+group+fmt.Sprintf(" AND c.kind = %d", findingKind)+`) d
		JOIN finding f ON f.id = d.item_id WHERE f.closed = 0 AND f.severity IN (`+sqldb.EnumCodes(finding.Severities, q.Severities)+") GROUP BY f.severity", of...)
	return sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		var severity, n int
		if err := rows.Scan(&severity, &n); err != nil {
			return err
		}
		g.Open[sqldb.EnumValue(finding.Severities, severity)] = n
		return nil
	})
}

// Holders returns the images of the scope's project that hold a finding, by name.
func (db *Store) Holders(ctx context.Context, sc tenant.Scope, id triage.ID) ([]triage.Image, error) {
	rows, err := db.Query(ctx, "SELECT "+imageColumns+` FROM image i WHERE i.project_id = ? AND i.organization_id = ? AND i.id IN
		(SELECT c.image_id FROM image_content c WHERE c.item_id = ?) ORDER BY i.reference, i.id`, append(ProjectArgs(sc), string(id))...)
	found, err := sqldb.Collect(rows, err, scanImage)
	if err != nil {
		return nil, fmt.Errorf("read images of a finding: %w", err)
	}
	return found, nil
}

// ofImage adds that an image holds what the column names.
func ofImage(w *sqldb.Condition, column string, sc tenant.Scope, image string) {
	if image != "" {
		w.And(column+" IN (SELECT c.item_id FROM image_content c JOIN image i ON i.id = c.image_id WHERE "+
			"c.project_id = ? AND c.image_id = ? AND i.project_id = ? AND i.organization_id = ?)",
			append([]any{string(sc.Project), image}, ProjectArgs(sc)...)...)
	}
}

// whereClasses adds that what is in an image is of one of the classes.
func whereClasses(w *sqldb.Condition, column string, classes []triage.Class) {
	conditions := map[triage.Class]string{
		triage.SystemPackages:   fmt.Sprintf("%s & %d <> 0", column, systemBit),
		triage.LanguagePackages: fmt.Sprintf("%s & %d = %d", column, imageBit|systemBit, imageBit),
		triage.Secrets:          fmt.Sprintf("%s & %d <> 0", column, secretBit),
		triage.Configuration:    fmt.Sprintf("%s & %d = 0", column, imageBit|secretBit),
	}
	text := ""
	for _, c := range classes {
		if text != "" {
			text += " OR "
		}
		text += conditions[c]
	}
	if text != "" {
		w.And("(" + text + ")")
	}
}

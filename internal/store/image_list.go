package store

import (
	"context"
	"database/sql"
	"fmt"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file lists container images.

// images selects images i of the scope's project.
func (db *DB) images(sc tenant.Scope, q triage.ImageQuery) *where {
	w := &where{}
	w.and("i.project_id = ? AND i.organization_id = ?", ofProject(sc)...)
	if q.Branch != "" {
		w.and("i.branch = ?", q.Branch)
	}
	if q.Search != "" {
		w.and("i.reference "+db.Dialect.Like()+` ? ESCAPE '\'`, containing(q.Search))
	}
	return w
}

// direction is the SQL of an order.
func direction(descending bool) string {
	if descending {
		return " DESC"
	}
	return ""
}

// Images returns a page of the images of the scope's project, and how many the query
// selects.
func (db *DB) Images(ctx context.Context, sc tenant.Scope, q triage.ImageQuery) ([]triage.Image, int, error) {
	w := db.images(sc, q)
	var total int
	if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM image i WHERE "+w.text.String(),
		w.args...).Scan(&total); err != nil {
		return nil, 0, db.classify(fmt.Errorf("count images: %w", err))
	}
	by := map[triage.ImageSort]string{triage.ByRepository: "i.reference", triage.ByTags: "i.scanned_at",
		triage.ByLatestScan: "i.scanned_at"}[q.Sort]
	if by == "" {
		return nil, 0, errs.E(errs.Invalid, "images cannot be sorted by %q", q.Sort)
	}
	rows, err := db.Query(ctx, "SELECT "+imageColumns+" FROM image i WHERE "+w.text.String()+" ORDER BY "+by+
		direction(q.Descending)+", i.id LIMIT ? OFFSET ?",
		append(w.args, q.Limit, q.Offset)...)
	found, err := collect(rows, err, scanImage)
	if err != nil {
		return nil, 0, fmt.Errorf("list images: %w", err)
	}
	return found, total, db.countImages(ctx, sc, q, found)
}

// countImages gives images the numbers of their findings.
func (db *DB) countImages(ctx context.Context, sc tenant.Scope, q triage.ImageQuery, images []triage.Image) error {
	place := make(map[string]int, len(images))
	ids := make([]string, len(images))
	for n, i := range images {
		place[i.ID], ids[n] = n, i.ID
	}
	return inChunks(ids, func(ids []string) error {
		in, arg := db.Dialect.In("c.image_id", ids)
		w := &where{}
		w.and("c.project_id = ? AND f.organization_id = ? AND f.closed = 0", ofProject(sc)...)
		w.and(fmt.Sprintf("c.kind = %d", findingKind))
		w.and(in, arg)
		w.and("f.severity IN (" + codes(finding.Severities, q.Severities) + ")")
		rows, err := db.Query(ctx, `SELECT c.image_id, f.severity, COUNT(*) FROM image_content c JOIN finding f ON f.id = c.item_id
			WHERE `+w.text.String()+" GROUP BY c.image_id, f.severity", w.args...)
		return each(rows, err, func(rows *sql.Rows) error {
			var id string
			var severity, n int
			if err := rows.Scan(&id, &severity, &n); err != nil {
				return err
			}
			images[place[id]].Open[value(finding.Severities, severity)] = n
			return nil
		})
	})
}

// imageGroupOrders gives the column of each sort key of groups.
var imageGroupOrders = map[triage.ImageSort]string{triage.ByRepository: "repository", triage.ByTags: "tags",
	triage.ByLatestScan: "scanned"}

// ImageGroups returns a page of the repositories of which the scope's project has
// images, one for each branch.
func (db *DB) ImageGroups(ctx context.Context, sc tenant.Scope, q triage.ImageQuery) (triage.ImageGroupPage, error) {
	page := triage.ImageGroupPage{Groups: []triage.ImageGroup{}}
	by, ok := imageGroupOrders[q.Sort]
	if !ok {
		return page, errs.E(errs.Invalid, "images cannot be sorted by %q", q.Sort)
	}
	all := q
	all.Search = ""
	w := db.images(sc, all)
	if q.Search != "" { // a group that holds what is looked for is shown whole
		hit := db.images(sc, q)
		w.and("(i.repository, i.branch) IN (SELECT i.repository, i.branch FROM image i WHERE "+hit.text.String()+")",
			hit.args...)
	}
	groups := "SELECT i.repository AS repository, i.branch AS branch, COUNT(*) AS tags, MAX(i.scanned_at) AS scanned " +
		"FROM image i WHERE " +
		w.text.String() + " GROUP BY i.repository, i.branch"
	err := db.QueryRow(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(g.tags), 0) AS BIGINT) FROM ("+groups+") g",
		w.args...).Scan(&page.Total, &page.Tags)
	if err != nil {
		return page, db.classify(fmt.Errorf("count repositories of images: %w", err))
	}
	rows, err := db.Query(ctx, groups+" ORDER BY "+by+direction(q.Descending)+", repository, branch LIMIT ? "+
		"OFFSET ?", append(w.args, q.Limit, q.Offset)...)
	page.Groups, err = collect(rows, err, func(rows *sql.Rows) (triage.ImageGroup, error) {
		g := triage.ImageGroup{Images: []triage.Image{}, Open: map[finding.Severity]int{}}
		var scanned int64
		err := rows.Scan(&g.Repository, &g.Branch, &g.Tags, &scanned)
		g.ScannedAt = fromMillis(scanned)
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
func (db *DB) fillGroup(ctx context.Context, sc tenant.Scope, q triage.ImageQuery, g *triage.ImageGroup) error {
	of := append(ofProject(sc), g.Branch, g.Repository)
	const group = " WHERE i.project_id = ? AND i.organization_id = ? AND i.branch = ? AND i.repository = ?"
	rows, err := db.Query(ctx, "SELECT "+imageColumns+" FROM image i"+group+" ORDER BY i.scanned_at DESC, i.id "+
		"LIMIT ?", append(of, triage.MaxGroupedImages)...)
	if g.Images, err = collect(rows, err, scanImage); err != nil {
		return fmt.Errorf("list images of a repository: %w", err)
	}
	if err := db.countImages(ctx, sc, q, g.Images); err != nil {
		return err
	}
	rows, err = db.Query(ctx, `SELECT f.severity, COUNT(*) FROM (SELECT DISTINCT c.item_id FROM image i
		JOIN image_content c ON c.project_id = i.project_id AND c.image_id = i.id`+group+fmt.Sprintf(" AND c.kind = %d", findingKind)+`) d
		JOIN finding f ON f.id = d.item_id WHERE f.closed = 0 AND f.severity IN (`+codes(finding.Severities, q.Severities)+") GROUP BY f.severity", of...)
	return each(rows, err, func(rows *sql.Rows) error {
		var severity, n int
		if err := rows.Scan(&severity, &n); err != nil {
			return err
		}
		g.Open[value(finding.Severities, severity)] = n
		return nil
	})
}

// Holders returns the images of the scope's project that hold a finding, by name.
func (db *DB) Holders(ctx context.Context, sc tenant.Scope, id triage.ID) ([]triage.Image, error) {
	rows, err := db.Query(ctx, "SELECT "+imageColumns+` FROM image i WHERE i.project_id = ? AND i.organization_id = ? AND i.id IN
		(SELECT c.image_id FROM image_content c WHERE c.item_id = ?) ORDER BY i.reference, i.id`, append(ofProject(sc), string(id))...)
	found, err := collect(rows, err, scanImage)
	if err != nil {
		return nil, fmt.Errorf("read images of a finding: %w", err)
	}
	return found, nil
}

// ofImage adds that an image holds what the column names.
func (w *where) ofImage(column string, sc tenant.Scope, image string) {
	if image != "" {
		w.and(column+" IN (SELECT c.item_id FROM image_content c JOIN image i ON i.id = c.image_id WHERE "+
			"c.project_id = ? AND c.image_id = ? AND i.project_id = ? AND i.organization_id = ?)",
			append([]any{string(sc.Project), image}, ofProject(sc)...)...)
	}
}

// classes adds that what is in an image is of one of the classes.
func (w *where) classes(column string, classes []triage.Class) {
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
		w.and("(" + text + ")")
	}
}

package findings

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"merlon/internal/audit"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/coverage"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file keeps the container images of branches and what each of them holds.

// maxImages bounds the images of one repository that a branch keeps. Beyond it, the
// one that was scanned longest ago is dropped: builds that get a tag of their own
// would pile up without an end.
const maxImages = 100

// Holdings returns what the images of the scope's project hold whose repository the
// run looks at, on its branch.
func (db *Store) Holdings(ctx context.Context, sc tenant.Scope, r *run.Run) (*triage.ImageContents, error) {
	h := &triage.ImageContents{InImage: map[string]bool{}, InOtherImages: map[string]bool{}}
	id := triage.ImageID(sc.Project, r.Branch, r.Image)
	rows, err := db.Query(ctx, `SELECT id FROM image WHERE project_id = ? AND organization_id = ? AND branch = ? AND repository = ?
		ORDER BY scanned_at DESC, id DESC`, append(ProjectArgs(sc), r.Branch, r.Image.Repository)...)
	images, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	if err != nil {
		return nil, fmt.Errorf("read images: %w", err)
	}
	h.Scanned = len(images) > 0
	others := slices.DeleteFunc(images, func(other string) bool { return other == id })
	// The scanned image itself takes one of the places.
	kept := min(len(others), maxImages-1)
	h.ExpiredImages = others[kept:]
	rows, err = db.Query(ctx, "SELECT item_id FROM image_content WHERE project_id = ? AND image_id = ?",
		string(sc.Project), id)
	if err := readItems(rows, err, h.InImage); err != nil || kept == 0 {
		return h, err
	}
	// Asked thing by thing, the answer stands with the first holder: images of one
	// repository hold nearly the same.
	for _, table := range []string{
		fmt.Sprintf("finding t WHERE t.analysis = %d", sqldb.EnumCode(finding.Analyses, finding.Container)),
		fmt.Sprintf("package t WHERE t.dependency & %d <> 0", imageBit),
	} {
		in, arg := db.Dialect.In("c.image_id", others[:kept])
		rows, err := db.Query(ctx, "SELECT t.id FROM "+table+` AND t.project_id = ? AND t.organization_id = ? AND t.branch = ?
			AND EXISTS (SELECT 1 FROM image_content c WHERE c.item_id = t.id AND `+in+")", append(ProjectArgs(sc), r.Branch, arg)...)
		if err := readItems(rows, err, h.InOtherImages); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// readItems adds the identifiers of the rows.
func readItems(rows *sql.Rows, err error, into map[string]bool) error {
	err = sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		var item string
		err := rows.Scan(&item)
		into[item] = true
		return err
	})
	if err != nil {
		return fmt.Errorf("read what images hold: %w", err)
	}
	return nil
}

// Kinds of what an image holds.
const (
	findingKind = 1
	packageKind = 2
)

// putContent writes what the scanned image holds, and no longer holds.
func putContent(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, b *triage.Batch) error {
	if b.Run.Image == nil {
		return nil
	}
	id := triage.ImageID(sc.Project, b.Branch, b.Run.Image)
	var rows [][]any
	for kind, items := range map[int][]string{findingKind: b.AddedFindings, packageKind: b.AddedPackages} {
		for _, item := range items {
			rows = append(rows, []any{string(sc.Project), id, kind, item})
		}
	}
	if err := tx.InsertRows(ctx, "image_content", "project_id, image_id, kind, item_id", " ON CONFLICT DO NOTHING",
		rows); err != nil {
		return err
	}
	if len(b.RemovedFromImage) == 0 {
		return nil
	}
	in, arg := tx.DB.Dialect.In("item_id", b.RemovedFromImage)
	if _, err := tx.Exec(ctx, "DELETE FROM image_content WHERE project_id = ? AND image_id = ? AND "+in,
		string(sc.Project), id, arg); err != nil {
		return fmt.Errorf("remove what an image held: %w", err)
	}
	return nil
}

// imageColumns are the columns of an image, read by scanImage and written by putImage.
const imageColumns = `id, organization_id, project_id, branch, reference, repository, tag, digest, platform, base, os, size, layers, run_id, state,
	created_at, scanned_at`

// putImage records the image that was scanned.
func putImage(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, b *triage.Batch) error {
	i := b.Summary.Image
	if i == nil {
		return nil
	}
	// The distribution is optional: a scan that could not read it keeps what an earlier one has
	// found (see the CASE below).
	system := ""
	if i.OS != nil {
		text, err := json.Marshal(i.OS)
		if err != nil {
			return fmt.Errorf("encode operating system: %w", err)
		}
		system = string(text)
	}
	row := []any{i.ID, string(sc.Organization), string(sc.Project), b.Branch, i.Reference, i.Repository, i.Tag,
		i.Digest, i.Platform, i.Base, system,
		i.Size, i.Layers, string(b.Run.ID), string(i.State), sqldb.Millis(tx.Now), sqldb.Millis(tx.Now)}
	err := tx.InsertRows(ctx, "image", imageColumns, ` ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, platform = excluded.platform,
		base = excluded.base, os = CASE WHEN excluded.os = '' THEN image.os ELSE excluded.os END, size = excluded.size, layers = excluded.layers,
		run_id = excluded.run_id, state = excluded.state, scanned_at = excluded.scanned_at`, [][]any{row})
	if err != nil {
		return err
	}
	for _, id := range b.Summary.ExpiredImages {
		if err := forgetImage(ctx, tx, sc, id); err != nil {
			return err
		}
	}
	return nil
}

// forgetImage removes an image and the note of what it held.
func forgetImage(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, id string) error {
	for _, query := range []string{"DELETE FROM image_content WHERE image_id = ? AND project_id = ?", "DELETE FROM " +
		"image WHERE id = ? AND project_id = ?"} {
		if _, err := tx.Exec(ctx, query, id, string(sc.Project)); err != nil {
			return fmt.Errorf("delete image: %w", err)
		}
	}
	return nil
}

// DeleteImage deletes an image of the scope's project. What no other image holds is
// resolved; with the last image of a repository on the branch, its findings and
// packages are deleted. What people decided is kept: an image that is scanned again
// is judged as before. It needs project.update.
func (db *Store) DeleteImage(ctx context.Context, sc tenant.Scope, id string) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectUpdate)
		if err != nil {
			return err
		}
		if _, err := lockFindings(ctx, tx, sc); err != nil {
			return err
		}
		d := droppedImage{id: id}
		var reference string
		err = tx.QueryRow(ctx, "SELECT branch, repository, reference FROM image WHERE id = ? AND project_id = ? AND "+
			"organization_id = ?",
			append([]any{id}, ProjectArgs(sc)...)...).Scan(&d.branch, &d.repository, &reference)
		if err != nil {
			return sqldb.NotFound(err, "image")
		}
		n, err := dropImage(ctx, tx, sc, d)
		if err != nil {
			return err
		}
		// A scan that is being applied must read the branch again.
		if _, err := tx.Exec(ctx, "UPDATE branch SET version = version + 1 WHERE project_id = ? AND "+
			"name = ?", string(sc.Project), d.branch); err != nil {
			return fmt.Errorf("advance branch: %w", err)
		}
		if err := RefreshStats(ctx, tx, sc); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, audit.Event{Chain: sc.Organization, Action: "image.delete", TargetKind: "image",
			Target: id,
			Detail: map[string]any{"project": sc.Project, "branch": d.branch, "image": reference,
				"findings": n}}.By(sc.Actor))
	})
}

// A droppedImage is an image that a person deletes.
type droppedImage struct{ id, branch, repository string }

// dropImage removes an image, and returns how many findings it took along.
func dropImage(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, d droppedImage) (n int, err error) {
	var others int
	err = tx.QueryRow(ctx, "SELECT COUNT(*) FROM image WHERE project_id = ? AND organization_id = ? AND branch = ? "+
		"AND repository = ? AND id <> ?",
		append(ProjectArgs(sc), d.branch, d.repository, d.id)...).Scan(&others)
	if err != nil {
		return 0, fmt.Errorf("count images: %w", err)
	}
	if others > 0 {
		n, err = endOrphans(ctx, tx, sc, d)
	} else if err = coverage.Delete(ctx, tx, sc, d.branch, coverage.ImageSubject(d.repository)); err == nil {
		n, err = deleteRepository(ctx, tx, sc, d)
	}
	if err != nil {
		return 0, err
	}
	return n, forgetImage(ctx, tx, sc, d.id)
}

// orphans selects what the image alone holds.
const orphans = ` IN (SELECT c.item_id FROM image_content c WHERE c.image_id = ? AND NOT EXISTS (SELECT 1 FROM image_content o
	JOIN image i ON i.id = o.image_id WHERE o.item_id = c.item_id AND o.image_id <> c.image_id))`

// endOrphans resolves the findings and removes the packages that the image alone
// holds.
func endOrphans(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, d droppedImage) (int, error) {
	which := &sqldb.Condition{}
	which.And("project_id = ? AND organization_id = ?", ProjectArgs(sc)...)
	which.And("id"+orphans, d.id)
	found, err := readLeaving(ctx, tx, which)
	if err != nil {
		return 0, err
	}
	c := countChange{counts: triage.Counts{}, solved: map[triage.AnalysisSeverity]int{}}
	var history [][]any
	for _, f := range found {
		after := f.cell
		after.Status = triage.Resolved
		c.counts.Move(f.cell, after, f.risk)
		if f.cell.Status == triage.Resolved {
			continue
		}
		if f.cell.Status.Active() {
			c.solved[f.cell.AnalysisSeverity()]++
		}
		history = append(history, historyRow(sc, &triage.Change{
			ID: triage.NewID(), Flaw: f.flaw, Finding: f.id, Kind: triage.StatusChange, Value: string(triage.Resolved),
			Previous: string(f.cell.Status),
			Reason:   "the image was deleted, and no other contains it", By: sc.Actor.UserID,
		}))
	}
	if _, err := tx.Exec(ctx, `UPDATE finding SET status = ?, closed = 1, gone = TRUE, updated_at = ?,
		resolved_at = CASE WHEN resolved_at = 0 THEN ? ELSE resolved_at END WHERE `+which.Text.String(),
		append([]any{sqldb.EnumCode(triage.Statuses, triage.Resolved), sqldb.Millis(tx.Now), sqldb.Millis(tx.Now)},
			which.Args...)...); err != nil {
		return 0, fmt.Errorf("resolve findings of an image: %w", err)
	}
	if err := tx.InsertRows(ctx, "finding_history", historyColumns, "",
		sqldb.StampTxTime(tx.Now, history)); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM package WHERE "+which.Text.String(), which.Args...); err != nil {
		return 0, fmt.Errorf("delete packages of an image: %w", err)
	}
	return len(history), addCounts(ctx, tx, sc, d.branch, c)
}

// deleteRepository deletes everything of the image's repository from the branch.
func deleteRepository(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, d droppedImage) (int, error) {
	root := (&run.Image{Repository: d.repository}).Root()
	which := &sqldb.Condition{}
	which.And("project_id = ? AND organization_id = ?", ProjectArgs(sc)...)
	// Paths of images begin with the root of their repository. LIKE would need escapes and
	// ignores case in SQLite.
	which.And("branch = ? AND SUBSTR(path, 1, ?) = ?", d.branch, utf8.RuneCountInString(root), root)
	packages := *which
	which.And("analysis = ?", sqldb.EnumCode(finding.Analyses, finding.Container))
	found, err := readLeaving(ctx, tx, which)
	if err != nil {
		return 0, err
	}
	c := countChange{counts: triage.Counts{}, solved: map[triage.AnalysisSeverity]int{}}
	for _, f := range found {
		c.counts.Remove(f.cell, f.risk)
		if f.cell.Status.Active() {
			c.solved[f.cell.AnalysisSeverity()]++
		}
	}
	if _, err := tx.Exec(ctx, "DELETE FROM finding WHERE "+which.Text.String(), which.Args...); err != nil {
		return 0, fmt.Errorf("delete findings of an image: %w", err)
	}
	if _, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM package WHERE dependency & %d <> 0 AND ", imageBit)+
		packages.Text.String(), packages.Args...); err != nil {
		return 0, fmt.Errorf("delete packages of an image: %w", err)
	}
	return len(found), addCounts(ctx, tx, sc, d.branch, c)
}

// A leavingFinding is a finding that goes with its image.
type leavingFinding struct {
	id   triage.ID
	flaw triage.Digest
	cell triage.Bucket
	risk int64
}

// readLeaving reads the findings that the condition selects.
func readLeaving(ctx context.Context, tx *sqldb.Tx, w *sqldb.Condition) ([]leavingFinding, error) {
	rows, err := tx.Query(ctx, "SELECT id, flaw, analysis, severity, status, priority, cvss FROM "+
		"finding WHERE "+w.Text.String(), w.Args...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (f leavingFinding, err error) {
		var flaw string
		var analysis, severity, status, priority, cvss int
		if err := rows.Scan(&f.id, &flaw, &analysis, &severity, &status, &priority, &cvss); err != nil {
			return f, err
		}
		f.cell = makeBucket(analysis, severity, status, priority)
		f.risk = triage.Risk(f.cell.Severity, float64(cvss)/10)
		f.flaw, err = triage.ParseDigest(flaw)
		return f, err
	})
}

// scanImage reads imageColumns.
func scanImage(rows *sql.Rows) (i triage.Image, err error) {
	var organization, system string
	var created, scanned int64
	err = rows.Scan(&i.ID, &organization, &i.ProjectID, &i.Branch, &i.Reference, &i.Repository, &i.Tag, &i.Digest,
		&i.Platform, &i.Base, &system,
		&i.Size, &i.Layers, &i.Run, &i.State, &created, &scanned)
	if err != nil {
		return i, err
	}
	i.CreatedAt, i.ScannedAt, i.Open = sqldb.FromMillis(created), sqldb.FromMillis(scanned), map[finding.Severity]int{}
	if system != "" {
		i.OS = &scan.OS{}
		if err := json.Unmarshal([]byte(system), i.OS); err != nil {
			return i, fmt.Errorf("operating system of image %s: %w", i.ID, err)
		}
	}
	return i, nil
}

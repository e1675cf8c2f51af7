package findings

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/license"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/organizations"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file keeps what people say about licences: of packages, and in general.

// maxClasses bounds the licences that an organization has put into categories.
const maxClasses = 2000

// packageLicenses joins packages with what was decided about their licences. A
// decision is about what the package declared then: one that declares another
// licence in a later version is judged anew.
const packageLicenses = `package k LEFT JOIN package_license l ON l.project_id = k.project_id AND l.ecosystem = k.ecosystem
	AND l.name = k.name AND l.declared = k.licenses`

// effective is under which licences a package is, one a line.
const effective = "CASE WHEN COALESCE(l.expression, '') <> '' THEN l.expression ELSE k.licenses END"

// declaredLicenses is what a package declares as the database holds it.
func declaredLicenses(p *finding.Package) string {
	list := make([]string, len(p.Licenses))
	for i, text := range p.Licenses {
		list[i] = sqldb.StripNUL(strings.Join(strings.Fields(text), " "))
	}
	return strings.Join(list, "\n")
}

// splitExpressions returns the expressions of a column.
func splitExpressions(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// LicenseCounts returns how many of the selected packages of the scope's project
// are under which licences.
func (db *Store) LicenseCounts(ctx context.Context, sc tenant.Scope,
	q triage.PackageQuery) ([]triage.LicenseCount, error) {
	w := db.packageCondition(sc, q)
	rows, err := db.Query(ctx, "SELECT licenses, ignored, COUNT(*) FROM (SELECT "+effective+" AS licenses, "+
		"COALESCE(l.ignored, FALSE) AS ignored FROM "+
		packageLicenses+" WHERE "+w.Text.String()+") x GROUP BY licenses, ignored ORDER BY licenses, ignored",
		w.Args...)
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (c triage.LicenseCount, err error) {
		var text string
		err = rows.Scan(&text, &c.Ignored, &c.Packages)
		c.Licenses = splitExpressions(text)
		return c, err
	})
}

// LicensePackages returns a page of those of the selected packages whose licences
// are wanted, by name, version and identifier, and how many these are.
func (db *Store) LicensePackages(ctx context.Context, sc tenant.Scope, q triage.PackageQuery,
	wanted func([]string) bool) ([]triage.ListedPackage, int, error) {
	w := db.packageCondition(sc, q)
	rows, err := db.Query(ctx, "SELECT "+listedColumns+", "+effective+" FROM "+packageLicenses+" WHERE "+
		w.Text.String()+
		" ORDER BY k.name, k.version, k.id", w.Args...)
	found, total, known := []triage.ListedPackage{}, 0, map[string]bool{}
	err = sqldb.ForEach(rows, err, func(rows *sql.Rows) error {
		var r listedRow
		var text string
		if err := r.scanRow(rows, &text); err != nil {
			return err
		}
		want, ok := known[text]
		if !ok {
			want = wanted(splitExpressions(text))
			known[text] = want
		}
		if !want {
			return nil
		}
		// The total needs every package, also behind the page.
		total++
		if total <= q.Offset || len(found) == q.Limit {
			return nil
		}
		p, err := r.toPackage()
		found = append(found, p)
		return err
	})
	return found, total, err
}

// ReferenceBranch returns the branch that numbers of the scope's project are of;
// empty when none was scanned.
func (db *Store) ReferenceBranch(ctx context.Context, sc tenant.Scope) (string, error) {
	settings, err := projectSettings(ctx, db.DB, sc)
	if err != nil {
		return "", db.Classify(err)
	}
	branches, err := readBranches(ctx, db.DB, sc)
	return referenceBranch(settings, branches), err
}

// DecideLicense keeps what a person says about the licence of a package of the
// scope's project. It needs project.change_vulnerability_state.
func (db *Store) DecideLicense(ctx context.Context, sc tenant.Scope, packageID string, d triage.LicenseDecision) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.ProjectState)
		if err != nil {
			return err
		}
		var ecosystem, name, declared string
		err = tx.QueryRow(ctx, "SELECT ecosystem, name, licenses FROM package WHERE id = ? AND project_id = ? AND "+
			"organization_id = ?",
			append([]any{packageID}, ProjectArgs(sc)...)...).Scan(&ecosystem, &name, &declared)
		if err != nil {
			return sqldb.NotFound(err, "package")
		}
		detail := map[string]any{"project": sc.Project, "ecosystem": ecosystem, "name": name, "declared": declared}
		// Only what the decision has is updated; the other part of an earlier decision stays.
		var set []string
		var expression string
		var ignored bool
		if d.Expression != nil {
			expression, detail["license"] = *d.Expression, *d.Expression
			set = append(set, "expression = excluded.expression")
		}
		if d.Ignored != nil {
			ignored, detail["ignored"] = *d.Ignored, *d.Ignored
			set = append(set, "ignored = excluded.ignored")
		}
		set = append(set, "decided_by = excluded.decided_by", "decided_at = excluded.decided_at")
		if _, err := tx.Exec(ctx, `INSERT INTO package_license (project_id, ecosystem, name, declared, expression, ignored, decided_by, decided_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, ecosystem, name, declared) DO UPDATE SET `+strings.Join(set, ", "),
			string(sc.Project), ecosystem, name, declared, expression, ignored, string(sc.Actor.UserID),
			sqldb.Millis(tx.Now)); err != nil {
			return fmt.Errorf("keep licence of package: %w", err)
		}
		return auditlog.Append(ctx, tx, audit.Event{Chain: sc.Organization, Action: "package.license",
			TargetKind: "package",
			Target:     packageID,
			Detail:     detail}.By(sc.Actor))
	})
}

// LicenseClasses returns what the scope's organization thinks of licences.
func (db *Store) LicenseClasses(ctx context.Context, sc tenant.Scope) (license.Classes, error) {
	rows, err := db.Query(ctx, "SELECT spdx_id, category FROM license_class WHERE organization_id = ? ORDER "+
		"BY name", string(sc.Organization))
	own, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (l license.License, err error) {
		var category int
		err = rows.Scan(&l.ID, &category)
		l.Category = sqldb.EnumValue(license.Categories, category)
		return l, err
	})
	return license.NewClasses(own), err
}

// ClassifyLicenses puts licences into categories for every project of the scope's
// organization, in place of those that they are of; what it is silent of stays. It
// needs org.manage.
func (db *Store) ClassifyLicenses(ctx context.Context, sc tenant.Scope, own []license.License) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := organizations.LockOrganization(ctx, tx, sc, tenant.OrgManage)
		if err != nil {
			return err
		}
		detail := map[string]any{}
		for _, l := range own {
			if _, err := tx.Exec(ctx, `INSERT INTO license_class (organization_id, name, spdx_id, category) VALUES (?, ?, ?, ?)
				ON CONFLICT (organization_id, name) DO UPDATE SET category = excluded.category`,
				string(sc.Organization), strings.ToLower(l.ID), l.ID,
				sqldb.EnumCode(license.Categories, l.Category)); err != nil {
				return fmt.Errorf("classify licence: %w", err)
			}
			detail[l.ID] = l.Category
		}
		var n int
		if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM license_class WHERE organization_id = ?",
			string(sc.Organization)).Scan(&n); err != nil {
			return fmt.Errorf("count classes of licences: %w", err)
		}
		// Counted after the insert, in the same transaction: a Conflict rolls it back.
		if n > maxClasses {
			return errs.E(errs.Conflict, "an organization classifies at most %d licences", maxClasses)
		}
		return auditlog.Append(ctx, tx, classEvent(sc, "classify", detail))
	})
}

// ResetLicenses takes back everything that the scope's organization thinks of
// licences. It needs org.manage.
func (db *Store) ResetLicenses(ctx context.Context, sc tenant.Scope) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := organizations.LockOrganization(ctx, tx, sc, tenant.OrgManage)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, "DELETE FROM license_class WHERE organization_id = ?", string(sc.Organization))
		if err != nil {
			return fmt.Errorf("reset classes of licences: %w", err)
		}
		return auditlog.Append(ctx, tx, classEvent(sc, "reset", map[string]any{"licenses": n}))
	})
}

// classEvent is an audit record about the licence categories of an organization.
func classEvent(sc tenant.Scope, verb string, detail map[string]any) audit.Event {
	return audit.Event{Chain: sc.Organization, Action: "license." + verb, TargetKind: "organization",
		Target: string(sc.Organization),
		Detail: detail}.By(sc.Actor)
}

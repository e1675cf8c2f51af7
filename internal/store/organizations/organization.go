package organizations

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

const organizationColumns = `o.id, o.name, o.description, o.website, o.email, o.industry, o.country,
	o.concurrent_scan_limit, o.max_token_days, o.billing, o.created_at, o.updated_at`

func scanOrganization(row sqldb.Scanner) (tenant.Organization, error) {
	var o tenant.Organization
	var billing string
	var created, updated int64
	err := row.Scan(&o.ID, &o.Name, &o.Description, &o.Website, &o.Email, &o.Industry, &o.Country,
		&o.ConcurrentScanLimit, &o.MaxTokenDays, &billing, &created, &updated)
	if err != nil {
		return o, err
	}
	o.CreatedAt, o.UpdatedAt = sqldb.FromMillis(created), sqldb.FromMillis(updated)
	if err := json.Unmarshal([]byte(billing), &o.Billing); err != nil {
		return o, fmt.Errorf("read the billing profile of organization %s: %w", o.ID, err)
	}
	return o, nil
}

// CreateOrganization makes an organization, whose id and times it sets, with the
// actor as its administrator. A service account belongs to one organization and
// makes none.
func (db *Store) CreateOrganization(ctx context.Context, actor tenant.Actor,
	o tenant.Organization) (tenant.Organization, error) {
	billing, err := json.Marshal(o.Billing)
	if err != nil {
		return o, fmt.Errorf("write billing profile: %w", err)
	}
	if o.ConcurrentScanLimit < 1 {
		o.ConcurrentScanLimit = 1
	}
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		o.ID, o.CreatedAt, o.UpdatedAt = tenant.OrganizationID(tenant.NewID(db.Region, tx.Now)), tx.Now, tx.Now
		var service bool
		err := tx.QueryRow(ctx, "SELECT service_of IS NOT NULL FROM app_user WHERE id = ? AND disabled_at = 0",
			actor.UserID).Scan(&service)
		if err != nil {
			return sqldb.NotFound(err, "user")
		}
		if service {
			return errs.E(errs.Forbidden, "a service account belongs to one organization and cannot make another")
		}
		if _, err := tx.Exec(ctx, `INSERT INTO organization (id, name, description, website, email, industry, country,
			concurrent_scan_limit, billing, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			o.ID, o.Name, o.Description, o.Website, o.Email, o.Industry, o.Country,
			o.ConcurrentScanLimit, string(billing), sqldb.Millis(tx.Now), sqldb.Millis(tx.Now)); err != nil {
			return fmt.Errorf("create organization: %w", err)
		}
		if err := insertMember(ctx, tx, organizationMembers, newMember{string(o.ID), actor.UserID,
			tenant.Administrator}); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, audit.Event{Chain: o.ID, Action: "organization.create",
			TargetKind: "organization",
			Target:     string(o.ID), Detail: map[string]any{"name": o.Name}}.By(actor))
	})
	return o, err
}

// Organizations returns the organizations that the actor is a member of, by name:
// those that the actor's token reaches.
func (db *Store) Organizations(ctx context.Context, actor tenant.Actor) ([]tenant.Organization, error) {
	rows, err := db.Query(ctx, "SELECT "+organizationColumns+" FROM organization o"+access.MemberCondition+
		" ORDER BY o.name, o.id",
		actor.UserID, access.TokenAge(actor))
	list, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (tenant.Organization, error) {
		return scanOrganization(rows)
	})
	return slices.DeleteFunc(list, func(o tenant.Organization) bool { return !actor.Limits.Reaches(o.ID) }), err
}

// Organization returns the scope's organization.
func (db *Store) Organization(ctx context.Context, sc tenant.Scope) (tenant.Organization, error) {
	o, err := readOrganization(ctx, db.DB, sc.Organization, "")
	return o, db.Classify(err)
}

func readOrganization(ctx context.Context, q sqldb.Querier, id tenant.OrganizationID,
	lock string) (tenant.Organization, error) {
	o, err := scanOrganization(q.QueryRow(ctx, "SELECT "+organizationColumns+" FROM organization o WHERE "+
		"o.id = ?"+lock, id))
	return o, sqldb.NotFound(err, "organization")
}

// UpdateOrganization changes what edit changes of the scope's organization and
// returns what became of it. It needs org.manage, or org.billing when needs says
// so.
func (db *Store) UpdateOrganization(ctx context.Context, sc tenant.Scope, needs tenant.Permissions,
	edit func(*tenant.Organization) error) (tenant.Organization, error) {
	var o tenant.Organization
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		var err error
		if o, err = readOrganization(ctx, tx, sc.Organization, db.Dialect.ForUpdate()); err != nil {
			return err
		}
		if _, err := access.Admit(ctx, tx, sc, needs); err != nil {
			return err
		}
		before := o
		if err := edit(&o); err != nil {
			return err
		}
		if o == before {
			return nil
		}
		o.UpdatedAt = tx.Now
		billing, err := json.Marshal(o.Billing)
		if err != nil {
			return fmt.Errorf("write billing profile: %w", err)
		}
		if _, err := tx.Exec(ctx, `UPDATE organization SET name = ?, description = ?, website = ?, email = ?, industry = ?,
			country = ?, concurrent_scan_limit = ?, max_token_days = ?, billing = ?, updated_at = ? WHERE id = ?`,
			o.Name, o.Description, o.Website, o.Email, o.Industry, o.Country, o.ConcurrentScanLimit,
			o.MaxTokenDays, string(billing), sqldb.Millis(tx.Now), o.ID); err != nil {
			return fmt.Errorf("update organization: %w", err)
		}
		detail := map[string]any{"name": o.Name, "industry": o.Industry, "country": o.Country,
			"concurrentScanLimit": o.ConcurrentScanLimit, "maxTokenLifetimeDays": o.MaxTokenDays}
		action := "organization.update"
		if o.Billing != before.Billing {
			action, detail = "organization.update_billing", nil // an address is not for the log
		}
		return auditlog.Append(ctx, tx, audit.Event{Chain: o.ID, Action: action, TargetKind: "organization",
			Target: string(o.ID),
			Detail: detail}.By(sc.Actor))
	})
	return o, err
}

// DeleteOrganization removes the scope's organization with everything in it. Its
// audit chain stays.
func (db *Store) DeleteOrganization(ctx context.Context, sc tenant.Scope) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		o, err := readOrganization(ctx, tx, sc.Organization, db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		if _, err := access.Admit(ctx, tx, sc, tenant.OrgManage); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM organization WHERE id = ?", o.ID); err != nil {
			return fmt.Errorf("delete organization: %w", err)
		}
		event := audit.Event{Chain: o.ID, Action: "organization.delete", TargetKind: "organization",
			Target: string(o.ID), Detail: map[string]any{"name": o.Name}}.By(sc.Actor)
		deployment := event // nobody can read the chain of an organization that is gone
		deployment.Chain = ""
		return auditlog.Append(ctx, tx, event, deployment)
	})
}

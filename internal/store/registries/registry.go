package registries

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/registry/credential"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// This file keeps credentials for registries of images. They belong to an
// organization; the projects that may use them are linked to them.

// maxCredentials bounds those of an organization.
const maxCredentials = 500

// credentialColumns are the columns of a credential c, in the order of scanCredential.
const credentialColumns = "c.id, c.organization_id, c.kind, c.name, c.fields, c.sealed, c.description, c.created_at, " +
	"c.updated_at"

// scanCredential reads credentialColumns. The secret stays sealed.
func scanCredential(row sqldb.Scanner) (credential.Credential, error) {
	var c credential.Credential
	var fields string
	var created, updated int64
	if err := row.Scan(&c.ID, &c.Organization, &c.Kind, &c.Name, &fields, &c.Sealed, &c.Description, &created,
		&updated); err != nil {
		return c, err
	}
	c.CreatedAt, c.UpdatedAt = sqldb.FromMillis(created), sqldb.FromMillis(updated)
	if err := json.Unmarshal([]byte(fields), &c.Fields); err != nil {
		return c, fmt.Errorf("credential %s: fields: %w", c.ID, err)
	}
	return c, nil
}

// credentialEvent is an audit record about a credential, without its secret.
func credentialEvent(sc tenant.Scope, c *credential.Credential, verb string) audit.Event {
	return audit.Event{Chain: sc.Organization, Action: "registry_credential." + verb, TargetKind: "registry_credential",
		Target: string(c.ID),
		Detail: map[string]any{"kind": c.Kind, "name": c.Name}}.By(sc.Actor)
}

// SaveCredential stores a credential in the scope's organization and links it to
// projects of it; those of others are left out. One of the same kind and name gets
// the new secret, and keeps its links; so does the one that ID names, which must be
// there, and it gets the name too. It needs org.integrations. The links that were
// made are returned in Projects.
func (db *Store) SaveCredential(ctx context.Context, sc tenant.Scope,
	c credential.Credential) (credential.Credential, error) {
	fields, err := json.Marshal(c.Fields)
	if err != nil {
		return c, fmt.Errorf("encode a credential: %w", err)
	}
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := access.Admit(ctx, tx, sc, tenant.OrgIntegrations)
		if err != nil {
			return err
		}
		column, value := "name", c.Name
		if c.ID != "" {
			column, value = "id", string(c.ID)
		}
		old, err := scanCredential(tx.QueryRow(ctx, "SELECT "+credentialColumns+` FROM registry_credential c
			WHERE c.organization_id = ? AND c.kind = ? AND c.`+column+` = ?`+tx.DB.Dialect.ForUpdate(), sc.Organization, string(c.Kind), value))
		err = sqldb.NotFound(err, "credential")
		verb := "rotate"
		switch {
		case errs.Is(err, errs.NotFound) && c.ID == "":
			verb = "create"
			c.ID, c.CreatedAt = credential.ID(uuid.NewString()), tx.Now
			err = insertCredential(ctx, tx, sc, &c, string(fields))
		case err == nil:
			c.ID, c.CreatedAt = old.ID, old.CreatedAt
			_, err = tx.Exec(ctx, "UPDATE registry_credential SET name = ?, fields = ?, sealed = ?, description = ?, "+
				"updated_at = ? WHERE id = ?",
				c.Name, string(fields), c.Sealed, c.Description, sqldb.Millis(tx.Now), c.ID)
			if tx.DB.Dialect.Conflict(err) {
				err = errs.Wrap(errs.Conflict, err, "another credential for the registry has this name")
			}
		}
		if err != nil {
			return err
		}
		c.Organization, c.UpdatedAt = sc.Organization, tx.Now
		if c.Projects, err = linkCredential(ctx, tx, sc, c.ID, c.Projects); err != nil {
			return err
		}
		return auditlog.Append(ctx, tx, credentialEvent(sc, &c, verb))
	})
	return c, err
}

// insertCredential inserts a new credential, unless the organization has as many as it may.
func insertCredential(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, c *credential.Credential,
	fields string) error {
	var n int
	if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM registry_credential WHERE organization_id = ?",
		sc.Organization).Scan(&n); err != nil {
		return err
	}
	if n >= maxCredentials {
		return errs.E(errs.Conflict, "the organization has %d credentials, which is as many as one may have", n)
	}
	_, err := tx.Exec(ctx, `INSERT INTO registry_credential (id, organization_id, kind, name, fields, sealed, description, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(c.ID), sc.Organization, string(c.Kind), c.Name, fields, c.Sealed, c.Description, sqldb.Millis(tx.Now), sqldb.Millis(tx.Now))
	if tx.DB.Dialect.Conflict(err) {
		return errs.Wrap(errs.Conflict, err, "the same credential is being stored at this moment; try again")
	}
	return err
}

// linkCredential links a credential to those of the projects that belong to the
// organization, and returns them.
func linkCredential(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, id credential.ID,
	projects []tenant.ProjectID) ([]tenant.ProjectID, error) {
	linked := []tenant.ProjectID{}
	for _, p := range projects {
		if slices.Contains(linked, p) {
			continue
		}
		n, err := tx.Exec(ctx, `INSERT INTO registry_link (credential_id, project_id) SELECT ?, id FROM project
			WHERE id = ? AND organization_id = ? ON CONFLICT (credential_id, project_id) DO NOTHING`, string(id), string(p), sc.Organization)
		if err != nil {
			return nil, fmt.Errorf("link a credential: %w", err)
		}
		if n == 0 { // not the organization's, or linked already
			var found int
			if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM project WHERE id = ? AND organization_id = ?", string(p),
				sc.Organization).Scan(&found); err != nil {
				return nil, err
			}
			if found == 0 {
				continue
			}
		}
		linked = append(linked, p)
	}
	return linked, nil
}

// Credentials returns the credentials of the scope's organization, or, when the
// scope has a project, those that are linked to it, and GitHub's, which is the whole
// organization's; only those of a kind, unless
// that is empty. Projects is filled in for an organization's.
func (db *Store) Credentials(ctx context.Context, sc tenant.Scope, k credential.Kind) ([]credential.Credential, error) {
	query, args := "SELECT "+credentialColumns+" FROM registry_credential c WHERE c.organization_id = ?",
		[]any{sc.Organization}
	if sc.Project != "" {
		query += " AND (c.kind = ? OR EXISTS (SELECT 1 FROM registry_link l WHERE l.credential_id = c.id AND " +
			"l.project_id = ?))"
		args = append(args, string(credential.GitHub), sc.Project)
	}
	if k != "" {
		query += " AND c.kind = ?"
		args = append(args, string(k))
	}
	rows, err := db.Query(ctx, query+" ORDER BY c.kind, c.name, c.id", args...)
	list, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (credential.Credential, error) {
		return scanCredential(rows)
	})
	if err != nil || sc.Project != "" {
		return list, err
	}
	links, err := db.credentialLinks(ctx, sc)
	for i := range list {
		list[i].Projects = links[list[i].ID]
	}
	return list, err
}

// credentialLinks returns the projects of every credential of the organization.
func (db *Store) credentialLinks(ctx context.Context, sc tenant.Scope) (map[credential.ID][]tenant.ProjectID, error) {
	type link struct {
		id      credential.ID
		project tenant.ProjectID
	}
	rows, err := db.Query(ctx, `SELECT l.credential_id, l.project_id FROM registry_link l JOIN registry_credential c ON c.id = l.credential_id
		WHERE c.organization_id = ? ORDER BY l.project_id`, sc.Organization)
	list, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (l link, err error) {
		return l, rows.Scan(&l.id, &l.project)
	})
	out := map[credential.ID][]tenant.ProjectID{}
	for _, l := range list {
		out[l.id] = append(out[l.id], l.project)
	}
	return out, err
}

// Credential returns a credential of a kind of the scope's organization; when the
// scope has a project, only one that the project may use. Otherwise NotFound.
func (db *Store) Credential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	id credential.ID) (credential.Credential, error) {
	list, err := db.Credentials(ctx, sc, k)
	if err != nil {
		return credential.Credential{}, err
	}
	if i := slices.IndexFunc(list, func(c credential.Credential) bool { return c.ID == id }); i >= 0 {
		return list[i], nil
	}
	return credential.Credential{}, errs.E(errs.NotFound, "credential not found")
}

// DeleteCredential removes a credential of a kind with its links. It needs
// org.integrations.
func (db *Store) DeleteCredential(ctx context.Context, sc tenant.Scope, k credential.Kind, id credential.ID) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, c, err := lockCredential(ctx, tx, sc, k, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM registry_credential WHERE id = ?", string(id)); err != nil {
			return fmt.Errorf("delete a credential: %w", err)
		}
		return auditlog.Append(ctx, tx, credentialEvent(sc, &c, "delete"))
	})
}

// lockCredential finds a credential of the scope's organization for a change.
func lockCredential(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, k credential.Kind,
	id credential.ID) (tenant.Scope, credential.Credential, error) {
	sc, err := access.Admit(ctx, tx, sc, tenant.OrgIntegrations)
	if err != nil {
		return sc, credential.Credential{}, err
	}
	c, err := scanCredential(tx.QueryRow(ctx, "SELECT "+credentialColumns+" FROM registry_credential c WHERE c.id = "+
		"? AND c.organization_id = ? AND c.kind = ?"+
		tx.DB.Dialect.ForUpdate(), string(id), sc.Organization, string(k)))
	return sc, c, sqldb.NotFound(err, "credential")
}

// SetCredentialProjects makes projects of the organization the only ones that may
// use a credential, and returns those that were linked. It needs org.integrations.
func (db *Store) SetCredentialProjects(ctx context.Context, sc tenant.Scope, k credential.Kind, id credential.ID,
	projects []tenant.ProjectID) ([]tenant.ProjectID, error) {
	var linked []tenant.ProjectID
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, c, err := lockCredential(ctx, tx, sc, k, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM registry_link WHERE credential_id = ?", string(id)); err != nil {
			return fmt.Errorf("unlink a credential: %w", err)
		}
		if linked, err = linkCredential(ctx, tx, sc, id, projects); err != nil {
			return err
		}
		e := credentialEvent(sc, &c, "link")
		e.Detail["projects"] = len(linked)
		return auditlog.Append(ctx, tx, e)
	})
	return linked, err
}

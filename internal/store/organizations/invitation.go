package organizations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/mail"
	"merlon/internal/store/access"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/mailqueue"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// invitationLife is how long an invitation can be accepted.
const invitationLife = 7 * 24 * time.Hour

// maxInvitations bounds the invitations that an organization makes in the life of
// one and nobody accepted, cancelled ones too: each of them is a mail to a
// stranger.
const maxInvitations = 1000

const invitationColumns = `i.id, i.organization_id, o.name, i.email, i.role, i.teams, i.status, i.invited_by, i.created_at, i.expires_at`

func scanInvitation(row sqldb.Scanner, now time.Time) (tenant.Invitation, error) {
	var i tenant.Invitation
	var teams string
	var created, expires int64
	err := row.Scan(&i.ID, &i.OrganizationID, &i.OrganizationName, &i.Email, &i.Role, &teams, &i.Status, &i.InvitedBy,
		&created, &expires)
	if err != nil {
		return i, err
	}
	i.CreatedAt, i.ExpiresAt = sqldb.FromMillis(created), sqldb.FromMillis(expires)
	if i.Status == tenant.InvitationPending && !now.Before(i.ExpiresAt) {
		i.Status = tenant.InvitationExpired
	}
	if err := json.Unmarshal([]byte(teams), &i.Teams); err != nil {
		return i, fmt.Errorf("read the teams of invitation %s: %w", i.ID, err)
	}
	return i, nil
}

// hashToken returns what is stored of an invitation's token: 256 random bits
// need no salt.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Invite stores an invitation into the scope's organization, with its id, status,
// times and the organization's name, and queues the mail that letter writes of
// it. It needs org.members, and for every team the power to
// give the role there.
func (db *Store) Invite(ctx context.Context, sc tenant.Scope, i tenant.Invitation, token string,
	letter func(tenant.Invitation) (mail.Queued, error)) (tenant.Invitation, error) {
	teams, err := json.Marshal(i.Teams)
	if err != nil {
		return i, fmt.Errorf("write teams: %w", err)
	}
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, tenant.OrgMembers)
		if err != nil {
			return err
		}
		if err := checkInvitation(ctx, tx, sc, i); err != nil {
			return err
		}
		i.ID, i.OrganizationID, i.InvitedBy = uuid.NewString(), sc.Organization, sc.Actor.UserID
		i.Status, i.CreatedAt, i.ExpiresAt = tenant.InvitationPending, tx.Now, tx.Now.Add(invitationLife)
		if _, err := tx.Exec(ctx, `INSERT INTO invitation (id, organization_id, email, role, teams, token_hash, status, invited_by, created_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, i.ID, i.OrganizationID, i.Email, i.Role, string(teams), hashToken(token), i.Status,
			i.InvitedBy, sqldb.Millis(i.CreatedAt), sqldb.Millis(i.ExpiresAt)); err != nil {
			return fmt.Errorf("create invitation: %w", err)
		}
		if err := tx.QueryRow(ctx, "SELECT name FROM organization WHERE id = ?",
			sc.Organization).Scan(&i.OrganizationName); err != nil {
			return fmt.Errorf("read organization: %w", err)
		}
		queued, err := letter(i)
		if err != nil {
			return err
		}
		if err := mailqueue.Enqueue(ctx, tx, queued); err != nil {
			return fmt.Errorf("queue invitation: %w", err)
		}
		return auditlog.Append(ctx, tx, invitationEvent(sc.Actor, i, "create"))
	})
	return i, err
}

// checkInvitation checks an invitation: the roles, the teams, and that it is not one too
// many.
func checkInvitation(ctx context.Context, tx *sqldb.Tx, sc tenant.Scope, i tenant.Invitation) error {
	if err := checkMayGive(ctx, tx, sc, i.Role, tenant.OrganizationLevel); err != nil {
		return err
	}
	for _, t := range i.Teams {
		inTeam, err := access.Resolve(ctx, tx, sc.Actor, tenant.Target{Organization: sc.Organization, Team: t.TeamID})
		if err != nil {
			return err
		}
		if err := inTeam.Require(tenant.TeamManage); err != nil {
			return err
		}
		if err := checkMayGive(ctx, tx, inTeam, t.Role, tenant.TeamLevel); err != nil {
			return err
		}
	}
	var member, same, open int
	err := tx.QueryRow(ctx, `SELECT
		(SELECT COUNT(*) FROM organization_member m JOIN app_user u ON u.id = m.user_id WHERE m.organization_id = ? AND u.email = ?),
		(SELECT COUNT(*) FROM invitation WHERE organization_id = ? AND email = ? AND status = 'pending' AND expires_at > ?),
		(SELECT COUNT(*) FROM invitation WHERE organization_id = ? AND status <> 'accepted' AND expires_at > ?)`,
		sc.Organization, i.Email, sc.Organization, i.Email, sqldb.Millis(tx.Now), sc.Organization,
		sqldb.Millis(tx.Now)).Scan(&member, &same, &open)
	switch {
	case err != nil:
		return fmt.Errorf("look for invitations: %w", err)
	case member > 0:
		return errs.E(errs.Conflict, "%s is a member of the organization already", i.Email)
	case same > 0:
		return errs.E(errs.Conflict, "%s has an open invitation; cancel it first", i.Email)
	case open >= maxInvitations:
		return errs.E(errs.Conflict, "the organization has sent %d invitations in seven days that nobody accepted, "+
			"more are not possible", open)
	}
	return nil
}

func invitationEvent(by tenant.Actor, i tenant.Invitation, verb string) audit.Event {
	return audit.Event{Chain: i.OrganizationID, Action: "invitation." + verb, TargetKind: "invitation", Target: i.ID,
		Detail: map[string]any{"email": i.Email, "role": i.Role}}.By(by)
}

// Invitations returns a page of the scope's organization's invitations, newest
// first.
func (db *Store) Invitations(ctx context.Context, sc tenant.Scope, page, size int) ([]tenant.Invitation, error) {
	now := db.Timestamp()
	rows, err := db.Query(ctx, "SELECT "+invitationColumns+` FROM invitation i JOIN organization o ON o.id = i.organization_id
		WHERE i.organization_id = ? ORDER BY i.created_at DESC, i.id LIMIT ? OFFSET ?`, sc.Organization, size, sqldb.PageOffset(page, size))
	return sqldb.Collect(rows, err, func(rows *sql.Rows) (tenant.Invitation, error) {
		return scanInvitation(rows, now)
	})
}

// CancelInvitation cancels an open invitation of the scope's organization. It
// needs org.members, and every permission of the role that was offered.
func (db *Store) CancelInvitation(ctx context.Context, sc tenant.Scope, id string) (tenant.Invitation, error) {
	var i tenant.Invitation
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		sc, err := LockOrganization(ctx, tx, sc, tenant.OrgMembers)
		if err != nil {
			return err
		}
		i, err = scanInvitation(tx.QueryRow(ctx, "SELECT "+invitationColumns+` FROM invitation i JOIN organization o ON o.id = i.organization_id
			WHERE i.id = ? AND i.organization_id = ?`, id, sc.Organization), tx.Now)
		if err != nil {
			return sqldb.NotFound(err, "invitation")
		}
		if i.Status != tenant.InvitationPending {
			return errs.E(errs.Invalid, "the invitation is %s and cannot be cancelled", i.Status)
		}
		if err := checkMayGive(ctx, tx, sc, i.Role, tenant.OrganizationLevel); err != nil {
			return err
		}
		i.Status = tenant.InvitationCancelled
		if _, err := tx.Exec(ctx, "UPDATE invitation SET status = ? WHERE id = ?", i.Status, i.ID); err != nil {
			return fmt.Errorf("cancel invitation: %w", err)
		}
		return auditlog.Append(ctx, tx, invitationEvent(sc.Actor, i, "cancel"))
	})
	return i, err
}

// cancelInvitationsBy cancels the open invitations of somebody whose role
// changed or who left: what he offered may be more than he could offer now.
func cancelInvitationsBy(ctx context.Context, tx *sqldb.Tx, org tenant.OrganizationID, user tenant.UserID) error {
	if _, err := tx.Exec(ctx, "UPDATE invitation SET status = ? WHERE organization_id = ? AND invited_by = ? AND "+
		"status = ?",
		tenant.InvitationCancelled, org, user, tenant.InvitationPending); err != nil {
		return fmt.Errorf("cancel invitations: %w", err)
	}
	return nil
}

// AcceptInvitation makes the actor a member as the token's invitation says. An
// unknown token is a NotFound error, an invitation that is no longer open an
// Invalid one, and one for another address a Forbidden one. Who is a member
// already keeps the role.
func (db *Store) AcceptInvitation(ctx context.Context, actor tenant.Actor, token string) (tenant.Invitation, error) {
	var i tenant.Invitation
	err := db.Tx(ctx, func(tx *sqldb.Tx) error {
		var err error
		i, err = scanInvitation(tx.QueryRow(ctx, "SELECT "+invitationColumns+` FROM invitation i JOIN organization o ON o.id = i.organization_id
			WHERE i.token_hash = ?`+db.LockTables("i", "o"), hashToken(token)), tx.Now)
		if err != nil {
			return sqldb.NotFound(err, "invitation")
		}
		var email string
		var service bool
		err = tx.QueryRow(ctx, "SELECT email, service_of IS NOT NULL FROM app_user WHERE id = ? AND disabled_at = 0",
			actor.UserID).Scan(&email, &service)
		switch {
		case err != nil:
			return sqldb.NotFound(err, "user")
		case service || email != i.Email:
			return errs.E(errs.Forbidden, "the invitation is for another address: sign in with the account that it "+
				"was sent to")
		case i.Status != tenant.InvitationPending:
			return errs.E(errs.Invalid, "the invitation is %s", i.Status)
		}
		if err := addInvited(ctx, tx, actor.UserID, i); err != nil {
			return err
		}
		i.Status = tenant.InvitationAccepted
		if _, err := tx.Exec(ctx, "UPDATE invitation SET status = ? WHERE id = ?", i.Status, i.ID); err != nil {
			return fmt.Errorf("accept invitation: %w", err)
		}
		return auditlog.Append(ctx, tx, invitationEvent(actor, i, "accept"))
	})
	return i, err
}

// addInvited makes a user a member of the organization and of the teams that still
// exist.
func addInvited(ctx context.Context, tx *sqldb.Tx, user tenant.UserID, i tenant.Invitation) error {
	if _, err := readRole(ctx, tx, i.OrganizationID, i.Role, tenant.OrganizationLevel); err != nil {
		return err
	}
	insert := func(m membership, at string, role tenant.RoleID) error {
		_, err := tx.Exec(ctx, "INSERT INTO "+m.table+" ("+m.column+", user_id, role, created_at) VALUES (?, ?, ?, "+
			"?) ON CONFLICT DO NOTHING",
			at, user, role, sqldb.Millis(tx.Now))
		if err != nil {
			return fmt.Errorf("join %s: %w", m.level, err)
		}
		return nil
	}
	if err := insert(organizationMembers, string(i.OrganizationID), i.Role); err != nil {
		return err
	}
	for _, t := range i.Teams {
		_, err := ReadTeam(ctx, tx, tenant.Scope{Organization: i.OrganizationID, Team: t.TeamID}, "")
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := insert(teamMembers, string(t.TeamID), t.Role); err != nil {
			return err
		}
	}
	return nil
}

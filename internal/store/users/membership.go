package users

import (
	"context"
	"database/sql"

	"merlon/internal/identity"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// Memberships returns the organizations of a user by name, each with the teams
// that the user is a member of.
func (db *Store) Memberships(ctx context.Context, user tenant.UserID) ([]identity.Membership, error) {
	rows, err := db.Query(ctx, `SELECT o.id, o.name, o.country, o.industry, o.max_token_days, m.role
		FROM organization_member m JOIN organization o ON o.id = m.organization_id
		WHERE m.user_id = ? ORDER BY o.name, o.id`, string(user))
	list, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (m identity.Membership, err error) {
		m.Teams = []identity.TeamMembership{}
		return m, rows.Scan(&m.Organization, &m.Name, &m.Country, &m.Industry, &m.MaxTokenDays, &m.Role)
	})
	if err != nil {
		return nil, err
	}
	at := map[tenant.OrganizationID]int{}
	for i, m := range list {
		at[m.Organization] = i
	}
	type team struct {
		identity.TeamMembership
		organization tenant.OrganizationID
	}
	rows, err = db.Query(ctx, `SELECT t.id, t.name, m.role, t.organization_id
		FROM team_member m JOIN team t ON t.id = m.team_id
		WHERE m.user_id = ? ORDER BY t.name, t.id`, string(user))
	teams, err := sqldb.Collect(rows, err, func(rows *sql.Rows) (t team, err error) {
		return t, rows.Scan(&t.Team, &t.Name, &t.Role, &t.organization)
	})
	if err != nil {
		return nil, err
	}
	for _, t := range teams {
		// A team without its organization is one that the user has just left.
		if i, ok := at[t.organization]; ok {
			list[i].Teams = append(list[i].Teams, t.TeamMembership)
		}
	}
	return list, nil
}

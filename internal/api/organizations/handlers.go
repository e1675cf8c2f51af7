// Package organizations serves the operations on organizations, teams, members,
// invitations, roles and the audit log.
package organizations

import (
	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/mail"
)

// Tenancy is what the handlers need of the store.
type Tenancy interface {
	Organizations
	Invitations
	Members
	Teams
	TeamMembers
	ProjectMembers
	Roles
	AuditLog
}

// Handlers serves the operations on organizations and what belongs to them.
type Handlers struct {
	*endpoint.Server
	Tenancy Tenancy
	Stats   scancoverage.ProjectStats
	Quotas  endpoint.Quotas
	Post    mail.Post
}

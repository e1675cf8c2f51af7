package organizations

import (
	"context"
	"strings"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/tenant"
)

// Members is what the API needs of the store for the members of organizations.
type Members interface {
	OrganizationMembers(ctx context.Context, sc tenant.Scope, q tenant.MemberQuery) (tenant.MemberPage, error)
	// SetOrganizationRole refuses a role with permissions that the caller lacks, the caller's own
	// role, and any change of an administrator's role.
	SetOrganizationRole(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	RemoveOrganizationMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error
}

// TeamMembers is what the API needs of the store for the members of teams.
type TeamMembers interface {
	TeamMembers(ctx context.Context, sc tenant.Scope, q tenant.MemberQuery) (tenant.MemberPage, error)
	// TeamMember returns one member, or a NotFound error also for a user of another team.
	TeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) (tenant.Member, error)
	// AddTeamMember needs a member of the organization.
	AddTeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	SetTeamRole(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	RemoveTeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error
}

// ProjectMembers is what the API needs of the store for roles in one project.
type ProjectMembers interface {
	ProjectMembers(ctx context.Context, sc tenant.Scope, q tenant.MemberQuery) (tenant.MemberPage, error)
	// AddProjectMember needs a member of the organization.
	AddProjectMember(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	SetProjectRole(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	RemoveProjectMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error
}

// memberBody is a member as responses show it.
type memberBody struct {
	ID             tenant.UserID `json:"id" format:"uuid"`
	FirstName      string        `json:"firstName"`
	LastName       string        `json:"lastName"`
	Name           string        `json:"name" doc:"Full name."`
	Email          string        `json:"email" format:"email"`
	Picture        string        `json:"picture"`
	Avatar         string        `json:"avatar,omitempty" doc:"Same value as picture."`
	Role           tenant.RoleID `json:"role" doc:"Name of a built-in role, or ID of a custom role."`
	ServiceAccount bool          `json:"serviceAccount"`
	CreatedAt      time.Time     `json:"createdAt"`
}

// showMember returns the member as responses show it.
func showMember(m tenant.Member) memberBody {
	return memberBody{
		ID: m.UserID, FirstName: m.FirstName, LastName: m.LastName,
		Name:  strings.TrimSpace(m.FirstName + " " + m.LastName),
		Email: m.Email, Picture: m.Picture, Avatar: m.Picture, Role: m.Role, ServiceAccount: m.Service,
		CreatedAt: m.CreatedAt,
	}
}

// membersBody is a page of members.
type membersBody struct {
	Users               []memberBody `json:"users"`
	TotalUsers          int          `json:"totalUsers"`
	TotalPages          int          `json:"totalPages"`
	TotalAdministrators *int         `json:"totalAdministrators,omitempty" doc:"Number of administrators; only for organizations."`
}

// membersOutput is a page of members.
type membersOutput struct{ Body membersBody }

// MemberSearch selects members.
type MemberSearch struct {
	endpoint.DemandedPage
	Search string `query:"search" maxLength:"200" doc:"Substring of the name or e-mail address."`
}

// memberQuery returns the search and the page for the store.
func (m MemberSearch) memberQuery() tenant.MemberQuery {
	return tenant.MemberQuery{Search: m.Search, Page: m.Page, Size: m.PageSize}
}

// showMembers returns a page of members.
func showMembers(p tenant.MemberPage, size int) *membersOutput {
	return &membersOutput{Body: membersBody{Users: endpoint.Convert(p.Members, showMember), TotalUsers: p.Total,
		TotalPages: endpoint.Pages(p.Total, size)}}
}

// userBody names a user.
type userBody struct {
	UserID string `json:"userId" format:"uuid"`
}

// userRoleBody gives a user a role.
type userRoleBody struct {
	UserID string `json:"userId" format:"uuid"`
	Role   string `json:"role" minLength:"1" maxLength:"100" doc:"Name of a built-in role, or ID of a custom role."`
}

// listMembersInput selects a page of the members of an organization.
type listMembersInput struct {
	endpoint.OrganizationInput
	MemberSearch
}

// ListMembers lists the members of an organization and counts its administrators.
func (a *Handlers) ListMembers(ctx context.Context, sc tenant.Scope, in *listMembersInput) (*membersOutput, error) {
	page, err := a.Tenancy.OrganizationMembers(ctx, sc, in.memberQuery())
	if err != nil {
		return nil, err
	}
	out := showMembers(page, in.PageSize)
	out.Body.TotalAdministrators = &page.Administrators
	return out, nil
}

// setMemberRoleInput gives a member another role.
type setMemberRoleInput struct {
	endpoint.OrganizationInput
	Body userRoleBody
}

// SetMemberRole sets the role of a member of an organization.
func (a *Handlers) SetMemberRole(ctx context.Context, sc tenant.Scope,
	in *setMemberRoleInput) (*endpoint.MessageOutput, error) {
	if err := a.Tenancy.SetOrganizationRole(ctx, sc, endpoint.ParseUserID(in.Body.UserID),
		endpoint.ParseRoleID(in.Body.Role)); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Role updated"), nil
}

// removeMemberInput names a member of the organization.
type removeMemberInput struct {
	endpoint.OrganizationInput
	Body userBody
}

// RemoveMember removes a member from an organization and from all of its teams and projects.
func (a *Handlers) RemoveMember(ctx context.Context, sc tenant.Scope,
	in *removeMemberInput) (*endpoint.MessageOutput, error) {
	if err := a.Tenancy.RemoveOrganizationMember(ctx, sc, endpoint.ParseUserID(in.Body.UserID)); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Member removed"), nil
}

// listTeamMembersInput selects a page of the members of a team.
type listTeamMembersInput struct {
	endpoint.TeamInput
	MemberSearch
}

// ListTeamMembers lists the members of a team.
func (a *Handlers) ListTeamMembers(ctx context.Context, sc tenant.Scope,
	in *listTeamMembersInput) (*membersOutput, error) {
	page, err := a.Tenancy.TeamMembers(ctx, sc, in.memberQuery())
	if err != nil {
		return nil, err
	}
	return showMembers(page, in.PageSize), nil
}

// memberOutput is one member.
type memberOutput struct{ Body memberBody }

// getTeamMemberInput names a member of a team.
type getTeamMemberInput struct {
	endpoint.TeamInput
	UserID string `path:"userId" format:"uuid"`
}

// GetTeamMember responds with one member of a team.
func (a *Handlers) GetTeamMember(ctx context.Context, sc tenant.Scope, in *getTeamMemberInput) (*memberOutput, error) {
	m, err := a.Tenancy.TeamMember(ctx, sc, endpoint.ParseUserID(in.UserID))
	if err != nil {
		return nil, err
	}
	return &memberOutput{Body: showMember(m)}, nil
}

// teamUserRoleInput gives a user a role in a team.
type teamUserRoleInput struct {
	endpoint.TeamInput
	Body userRoleBody
}

// AddTeamMember gives a member of the organization a role in a team.
func (a *Handlers) AddTeamMember(ctx context.Context, sc tenant.Scope,
	in *teamUserRoleInput) (*updatedTeamOutput, error) {
	if err := a.Tenancy.AddTeamMember(ctx, sc, endpoint.ParseUserID(in.Body.UserID),
		endpoint.ParseRoleID(in.Body.Role)); err != nil {
		return nil, err
	}
	t, err := a.Tenancy.Team(ctx, sc)
	if err != nil {
		return nil, err
	}
	return updatedTeam("Member added", t), nil
}

// SetTeamRole sets the role of a member of a team.
func (a *Handlers) SetTeamRole(ctx context.Context, sc tenant.Scope,
	in *teamUserRoleInput) (*endpoint.OutcomeOutput, error) {
	if err := a.Tenancy.SetTeamRole(ctx, sc, endpoint.ParseUserID(in.Body.UserID),
		endpoint.ParseRoleID(in.Body.Role)); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Role updated"), nil
}

// teamUserInput names a user of a team.
type teamUserInput struct {
	endpoint.TeamInput
	Body userBody
}

// RemoveTeamMember removes a member from a team.
func (a *Handlers) RemoveTeamMember(ctx context.Context, sc tenant.Scope,
	in *teamUserInput) (*endpoint.OutcomeOutput, error) {
	if err := a.Tenancy.RemoveTeamMember(ctx, sc, endpoint.ParseUserID(in.Body.UserID)); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Member removed"), nil
}

// listProjectMembersInput selects a page of the members of a project.
type listProjectMembersInput struct {
	endpoint.ProjectInput
	MemberSearch
}

// ListProjectMembers lists the users with a role in the project itself.
func (a *Handlers) ListProjectMembers(ctx context.Context, sc tenant.Scope,
	in *listProjectMembersInput) (*membersOutput, error) {
	page, err := a.Tenancy.ProjectMembers(ctx, sc, in.memberQuery())
	if err != nil {
		return nil, err
	}
	return showMembers(page, in.PageSize), nil
}

// projectUserRoleInput gives a user a role in a project.
type projectUserRoleInput struct {
	endpoint.ProjectInput
	Body userRoleBody
}

// AddProjectMember gives a member of the organization a role in one project.
func (a *Handlers) AddProjectMember(ctx context.Context, sc tenant.Scope,
	in *projectUserRoleInput) (*endpoint.OutcomeOutput, error) {
	if err := a.Tenancy.AddProjectMember(ctx, sc, endpoint.ParseUserID(in.Body.UserID),
		endpoint.ParseRoleID(in.Body.Role)); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Member added"), nil
}

// SetProjectRole sets the role of a member of a project.
func (a *Handlers) SetProjectRole(ctx context.Context, sc tenant.Scope,
	in *projectUserRoleInput) (*endpoint.OutcomeOutput, error) {
	if err := a.Tenancy.SetProjectRole(ctx, sc, endpoint.ParseUserID(in.Body.UserID),
		endpoint.ParseRoleID(in.Body.Role)); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Role updated"), nil
}

// projectUserInput names a user of a project.
type projectUserInput struct {
	endpoint.ProjectInput
	Body userBody
}

// RemoveProjectMember removes a user's role in a project. A role in its team remains.
func (a *Handlers) RemoveProjectMember(ctx context.Context, sc tenant.Scope,
	in *projectUserInput) (*endpoint.OutcomeOutput, error) {
	if err := a.Tenancy.RemoveProjectMember(ctx, sc, endpoint.ParseUserID(in.Body.UserID)); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Member removed"), nil
}

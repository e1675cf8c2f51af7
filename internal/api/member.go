package api

import (
	"context"
	"strings"
	"time"

	"merlon/internal/tenant"
)

// Members is what the API needs of the store for the members of organizations.
type Members interface {
	OrganizationMembers(ctx context.Context, sc tenant.Scope, q tenant.MemberQuery) (tenant.MemberPage, error)
	SetOrganizationRole(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	RemoveOrganizationMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error
}

// TeamMembers is what the API needs of the store for the members of teams.
type TeamMembers interface {
	TeamMembers(ctx context.Context, sc tenant.Scope, q tenant.MemberQuery) (tenant.MemberPage, error)
	TeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) (tenant.Member, error)
	AddTeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	SetTeamRole(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	RemoveTeamMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error
}

// ProjectMembers is what the API needs of the store for roles in one project.
type ProjectMembers interface {
	ProjectMembers(ctx context.Context, sc tenant.Scope, q tenant.MemberQuery) (tenant.MemberPage, error)
	AddProjectMember(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	SetProjectRole(ctx context.Context, sc tenant.Scope, user tenant.UserID, role tenant.RoleID) error
	RemoveProjectMember(ctx context.Context, sc tenant.Scope, user tenant.UserID) error
}

// memberBody is a member as every answer shows it.
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

func showMember(m tenant.Member) memberBody {
	return memberBody{
		ID: m.UserID, FirstName: m.FirstName, LastName: m.LastName,
		Name:  strings.TrimSpace(m.FirstName + " " + m.LastName),
		Email: m.Email, Picture: m.Picture, Avatar: m.Picture, Role: m.Role, ServiceAccount: m.Service,
		CreatedAt: m.CreatedAt,
	}
}

type membersBody struct {
	Users               []memberBody `json:"users"`
	TotalUsers          int          `json:"totalUsers"`
	TotalPages          int          `json:"totalPages"`
	TotalAdministrators *int         `json:"totalAdministrators,omitempty" doc:"Number of administrators; only for organizations."`
}

type membersAnswer struct{ Body membersBody }

// MemberSearch selects members.
type MemberSearch struct {
	DemandedPage
	Search string `query:"search" maxLength:"200" doc:"Substring of the name or e-mail address."`
}

func (m MemberSearch) query() tenant.MemberQuery {
	return tenant.MemberQuery{Search: m.Search, Page: m.Page, Size: m.PageSize}
}

func showMembers(p tenant.MemberPage, size int) *membersAnswer {
	return &membersAnswer{Body: membersBody{Users: each(p.Members, showMember), TotalUsers: p.Total,
		TotalPages: pages(p.Total, size)}}
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

// user returns the canonical form of a user's id.
func user(id string) tenant.UserID { return tenant.UserID(strings.ToLower(id)) }

// role returns the canonical form of a role: names and ids are lower case.
func role(id string) tenant.RoleID { return tenant.RoleID(strings.ToLower(id)) }

type listMembers struct {
	OrganizationPath
	MemberSearch
}

func (a *API) listMembers(ctx context.Context, sc tenant.Scope, in *listMembers) (*membersAnswer, error) {
	page, err := a.Tenancy.OrganizationMembers(ctx, sc, in.query())
	if err != nil {
		return nil, err
	}
	out := showMembers(page, in.PageSize)
	out.Body.TotalAdministrators = &page.Administrators
	return out, nil
}

type setMemberRole struct {
	OrganizationPath
	Body userRoleBody
}

func (a *API) setMemberRole(ctx context.Context, sc tenant.Scope, in *setMemberRole) (*messageAnswer, error) {
	if err := a.Tenancy.SetOrganizationRole(ctx, sc, user(in.Body.UserID), role(in.Body.Role)); err != nil {
		return nil, err
	}
	return said("Role updated"), nil
}

type removeMember struct {
	OrganizationPath
	Body userBody
}

func (a *API) removeMember(ctx context.Context, sc tenant.Scope, in *removeMember) (*messageAnswer, error) {
	if err := a.Tenancy.RemoveOrganizationMember(ctx, sc, user(in.Body.UserID)); err != nil {
		return nil, err
	}
	return said("Member removed"), nil
}

// TeamPath is the input of a route that names a team; the scope holds the id.
type TeamPath struct {
	TeamID string `path:"teamId" format:"uuid"`
}

type listTeamMembers struct {
	TeamPath
	MemberSearch
}

func (a *API) listTeamMembers(ctx context.Context, sc tenant.Scope, in *listTeamMembers) (*membersAnswer, error) {
	page, err := a.Tenancy.TeamMembers(ctx, sc, in.query())
	if err != nil {
		return nil, err
	}
	return showMembers(page, in.PageSize), nil
}

type memberAnswer struct{ Body memberBody }

type getTeamMember struct {
	TeamPath
	UserID string `path:"userId" format:"uuid"`
}

func (a *API) getTeamMember(ctx context.Context, sc tenant.Scope, in *getTeamMember) (*memberAnswer, error) {
	m, err := a.Tenancy.TeamMember(ctx, sc, user(in.UserID))
	if err != nil {
		return nil, err
	}
	return &memberAnswer{Body: showMember(m)}, nil
}

type inTeamUserRole struct {
	TeamPath
	Body userRoleBody
}

func (a *API) addTeamMember(ctx context.Context, sc tenant.Scope, in *inTeamUserRole) (*updatedTeamAnswer, error) {
	if err := a.Tenancy.AddTeamMember(ctx, sc, user(in.Body.UserID), role(in.Body.Role)); err != nil {
		return nil, err
	}
	t, err := a.Tenancy.Team(ctx, sc)
	if err != nil {
		return nil, err
	}
	return updatedTeam("Member added", t), nil
}

func (a *API) setTeamRole(ctx context.Context, sc tenant.Scope, in *inTeamUserRole) (*outcomeAnswer, error) {
	if err := a.Tenancy.SetTeamRole(ctx, sc, user(in.Body.UserID), role(in.Body.Role)); err != nil {
		return nil, err
	}
	return succeeded("Role updated"), nil
}

type inTeamUser struct {
	TeamPath
	Body userBody
}

func (a *API) removeTeamMember(ctx context.Context, sc tenant.Scope, in *inTeamUser) (*outcomeAnswer, error) {
	if err := a.Tenancy.RemoveTeamMember(ctx, sc, user(in.Body.UserID)); err != nil {
		return nil, err
	}
	return succeeded("Member removed"), nil
}

// ProjectPath is the input of a route that names a project; the scope holds the id.
type ProjectPath struct {
	ProjectID string `path:"projectId" format:"uuid"`
}

type listProjectMembers struct {
	ProjectPath
	MemberSearch
}

func (a *API) listProjectMembers(ctx context.Context, sc tenant.Scope, in *listProjectMembers) (*membersAnswer, error) {
	page, err := a.Tenancy.ProjectMembers(ctx, sc, in.query())
	if err != nil {
		return nil, err
	}
	return showMembers(page, in.PageSize), nil
}

type inProjectUserRole struct {
	ProjectPath
	Body userRoleBody
}

func (a *API) addProjectMember(ctx context.Context, sc tenant.Scope, in *inProjectUserRole) (*outcomeAnswer, error) {
	if err := a.Tenancy.AddProjectMember(ctx, sc, user(in.Body.UserID), role(in.Body.Role)); err != nil {
		return nil, err
	}
	return succeeded("Member added"), nil
}

func (a *API) setProjectRole(ctx context.Context, sc tenant.Scope, in *inProjectUserRole) (*outcomeAnswer, error) {
	if err := a.Tenancy.SetProjectRole(ctx, sc, user(in.Body.UserID), role(in.Body.Role)); err != nil {
		return nil, err
	}
	return succeeded("Role updated"), nil
}

type inProjectUser struct {
	ProjectPath
	Body userBody
}

func (a *API) removeProjectMember(ctx context.Context, sc tenant.Scope, in *inProjectUser) (*outcomeAnswer, error) {
	if err := a.Tenancy.RemoveProjectMember(ctx, sc, user(in.Body.UserID)); err != nil {
		return nil, err
	}
	return succeeded("Member removed"), nil
}

package organizations

import (
	"context"
	"strings"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/tenant"
)

// Teams is what the API needs of the store for teams.
type Teams interface {
	CreateTeam(ctx context.Context, sc tenant.Scope, t tenant.Team) (tenant.Team, error)
	Teams(ctx context.Context, sc tenant.Scope) ([]tenant.Team, error)
	Team(ctx context.Context, sc tenant.Scope) (tenant.Team, error)
	UpdateTeam(ctx context.Context, sc tenant.Scope, edit func(*tenant.Team) error) (tenant.Team, error)
	// DeleteTeam deletes the team. A team with projects is refused unless withProjects is set,
	// which deletes these, too.
	DeleteTeam(ctx context.Context, sc tenant.Scope, withProjects bool) error
}

// teamBody is a team as responses show it.
type teamBody struct {
	ID          tenant.TeamID `json:"id" format:"uuid"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	CreatedAt   time.Time     `json:"createdAt"`
	UpdatedAt   time.Time     `json:"updatedAt"`
}

// showTeam returns the team as responses show it.
func showTeam(t tenant.Team) teamBody {
	return teamBody{ID: t.ID, Name: t.Name, Description: t.Description, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt}
}

// teamsOutput has the teams that the caller can read.
type teamsOutput struct {
	Body struct {
		Teams []teamBody `json:"teams"`
	}
}

// ListTeams lists the teams of an organization that the caller can read.
func (a *Handlers) ListTeams(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*teamsOutput, error) {
	list, err := a.Tenancy.Teams(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &teamsOutput{}
	out.Body.Teams = endpoint.Convert(list, showTeam)
	return out, nil
}

// teamOutput is one team.
type teamOutput struct{ Body teamBody }

// getTeamInput names a team and its organization, which must belong together.
type getTeamInput struct {
	endpoint.OrganizationInput
	endpoint.TeamInput
}

// GetTeam responds with one team.
func (a *Handlers) GetTeam(ctx context.Context, sc tenant.Scope, _ *getTeamInput) (*teamOutput, error) {
	t, err := a.Tenancy.Team(ctx, sc)
	if err != nil {
		return nil, err
	}
	return &teamOutput{Body: showTeam(t)}, nil
}

// createTeamInput is a new team.
type createTeamInput struct {
	endpoint.OrganizationInput
	Body struct {
		Name        string `json:"name" minLength:"1" maxLength:"200"`
		Description string `json:"description,omitempty" maxLength:"2000"`
	}
}

// createdTeamOutput is the new team in the flat form of the contract.
type createdTeamOutput struct {
	Body struct {
		Success        bool                  `json:"success"`
		Message        string                `json:"message"`
		OrganizationID tenant.OrganizationID `json:"organizationId" format:"uuid"`
		TeamID         tenant.TeamID         `json:"teamId" format:"uuid"`
		Name           string                `json:"name"`
		Description    string                `json:"description"`
	}
}

// CreateTeam creates a team, whose manager the caller becomes.
func (a *Handlers) CreateTeam(ctx context.Context, sc tenant.Scope, in *createTeamInput) (*createdTeamOutput, error) {
	name, err := endpoint.ParseLabel("body.name", in.Body.Name)
	if err != nil {
		return nil, err
	}
	t, err := a.Tenancy.CreateTeam(ctx, sc,
		tenant.Team{Name: name, Description: strings.TrimSpace(in.Body.Description)})
	if err != nil {
		return nil, err
	}
	out := &createdTeamOutput{}
	out.Body.Success, out.Body.Message = true, "Team created"
	out.Body.OrganizationID, out.Body.TeamID, out.Body.Name, out.Body.Description = t.OrganizationID, t.ID, t.Name,
		t.Description
	return out, nil
}

// updateTeamInput has the fields to change; absent ones stay as they are.
type updateTeamInput struct {
	endpoint.TeamInput
	Body struct {
		Name        *string `json:"name,omitempty" maxLength:"200"`
		Description *string `json:"description,omitempty" maxLength:"2000"`
	}
}

// updatedTeamOutput is the team after a change.
type updatedTeamOutput struct {
	Body struct {
		Message     string   `json:"message"`
		UpdatedTeam teamBody `json:"updatedTeam"`
	}
}

// updatedTeam returns the team with a message, as clients read it after a change.
func updatedTeam(message string, t tenant.Team) *updatedTeamOutput {
	out := &updatedTeamOutput{}
	out.Body.Message, out.Body.UpdatedTeam = message, showTeam(t)
	return out
}

// UpdateTeam updates the fields of a team that the request has.
func (a *Handlers) UpdateTeam(ctx context.Context, sc tenant.Scope, in *updateTeamInput) (*updatedTeamOutput, error) {
	t, err := a.Tenancy.UpdateTeam(ctx, sc, func(t *tenant.Team) error {
		if in.Body.Name != nil {
			name, err := endpoint.ParseLabel("body.name", *in.Body.Name)
			if err != nil {
				return err
			}
			t.Name = name
		}
		if in.Body.Description != nil {
			t.Description = strings.TrimSpace(*in.Body.Description)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return updatedTeam("Team updated", t), nil
}

// deleteTeamInput names a team. Its parameter is text, because clients send 1 as well as true.
type deleteTeamInput struct {
	endpoint.TeamInput
	DeleteProjects string `query:"deleteProjects" doc:"true: delete the projects of the team, too. Otherwise deleting a team with projects fails with 409 and their number."`
}

// DeleteTeam deletes a team. Its projects are deleted only on request.
func (a *Handlers) DeleteTeam(ctx context.Context, sc tenant.Scope,
	in *deleteTeamInput) (*endpoint.MessageOutput, error) {
	var p endpoint.Parser
	with := p.Boolean("deleteProjects", in.DeleteProjects)
	if err := p.Err(); err != nil {
		return nil, err
	}
	if err := a.Tenancy.DeleteTeam(ctx, sc, with != nil && *with); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Team deleted"), nil
}

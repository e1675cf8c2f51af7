package api

import (
	"context"
	"time"

	"merlon/internal/project"
	"merlon/internal/tenant"
)

type listTeamProjects struct {
	TeamPath
	DemandedPage
	Search string `query:"search" maxLength:"200" doc:"Part of a project's name."`
}

type teamProjectsAnswer struct {
	Body struct {
		Projects      [][]ProjectBody `json:"projects" doc:"One list with the projects of the page."`
		TotalProjects int             `json:"totalProjects"`
		TotalPages    int             `json:"totalPages"`
	}
}

// listTeamProjects answers the specification's list. Projects is a list of lists
// there; ours always holds one list, which may be empty.
func (a *API) listTeamProjects(ctx context.Context, sc tenant.Scope, in *listTeamProjects) (*teamProjectsAnswer, error) {
	page, err := a.Tenancy.TeamProjects(ctx, sc, project.Query{Search: in.Search, Page: in.Page, Size: in.PageSize})
	if err != nil {
		return nil, err
	}
	out := &teamProjectsAnswer{}
	out.Body.Projects = [][]ProjectBody{each(page.Projects, showProject)}
	out.Body.TotalProjects, out.Body.TotalPages = page.Total, pages(page.Total, in.PageSize)
	return out, nil
}

// projectSummaryBody is an element of an organization's project list.
type projectSummaryBody struct {
	ProjectID tenant.ProjectID `json:"projectId" format:"uuid"`
	TeamID    tenant.TeamID    `json:"teamId" format:"uuid"`
	TeamName  string           `json:"teamName"`
	Name      string           `json:"name"`
	CreatedAt time.Time        `json:"createdAt"`
	UpdatedAt time.Time        `json:"updatedAt"`

	IsGitHubLinked  bool    `json:"isGithubLinked"`
	IsGitLabLinked  bool    `json:"isGitlabLinked"`
	ReferenceBranch *string `json:"referenceBranch" doc:"null: main, then master."`
}

type listOrganizationProjects struct {
	OrganizationPath
	ClampedPage
	Search string `query:"search" maxLength:"200" doc:"Part of a project's name."`
}

type organizationProjectsAnswer struct {
	Body struct {
		Projects      []projectSummaryBody `json:"projects"`
		TotalProjects int                  `json:"totalProjects"`
		TotalPages    int                  `json:"totalPages"`
	}
}

func (a *API) listOrganizationProjects(ctx context.Context, sc tenant.Scope, in *listOrganizationProjects) (*organizationProjectsAnswer, error) {
	number, size := in.get()
	page, err := a.Tenancy.OrganizationProjects(ctx, sc, project.Query{Search: in.Search, Page: number, Size: size})
	if err != nil {
		return nil, err
	}
	out := &organizationProjectsAnswer{}
	out.Body.Projects = each(page.Projects, func(p project.Project) projectSummaryBody {
		return projectSummaryBody{ProjectID: p.ID, TeamID: p.TeamID, TeamName: p.TeamName, Name: p.Name,
			CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, ReferenceBranch: branchOrNull(p.Settings.ReferenceBranch)}
	})
	out.Body.TotalProjects, out.Body.TotalPages = page.Total, pages(page.Total, size)
	return out, nil
}

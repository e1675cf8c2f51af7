package projects

import (
	"context"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// listTeamProjectsInput selects a page of the projects of a team.
type listTeamProjectsInput struct {
	endpoint.TeamInput
	endpoint.DemandedPage
	Search string `query:"search" maxLength:"200" doc:"Substring of the project name."`
}

// teamProjectsOutput is a page of projects in the nested form of the contract.
type teamProjectsOutput struct {
	Body struct {
		Projects      [][]ProjectBody `json:"projects" doc:"A list with one element: the list of projects of the page."`
		TotalProjects int             `json:"totalProjects"`
		TotalPages    int             `json:"totalPages"`
	}
}

// ListTeamProjects responds with the specification's list. Projects is a list of lists
// there; ours always holds one list, which may be empty.
func (a *Handlers) ListTeamProjects(ctx context.Context, sc tenant.Scope,
	in *listTeamProjectsInput) (*teamProjectsOutput, error) {
	page, err := a.Tenancy.TeamProjects(ctx, sc, project.Query{Search: in.Search, Page: in.Page, Size: in.PageSize})
	if err != nil {
		return nil, err
	}
	out := &teamProjectsOutput{}
	out.Body.Projects = [][]ProjectBody{endpoint.Convert(page.Projects, showProject)}
	out.Body.TotalProjects, out.Body.TotalPages = page.Total, endpoint.Pages(page.Total, in.PageSize)
	return out, nil
}

// severityCountBody counts open findings.
type severityCountBody struct {
	Critical int `json:"critical"`
	High     int `json:"high"`
	Medium   int `json:"medium"`
	Low      int `json:"low"`
}

// showCounts returns the counts by severity, zeros included.
func showCounts(open map[finding.Severity]int) severityCountBody {
	return severityCountBody{Critical: open[finding.Critical], High: open[finding.High], Medium: open[finding.Medium],
		Low: open[finding.Low]}
}

// analysisBody is the state of one analysis of a project.
type analysisBody struct {
	Type        finding.Analysis  `json:"type" enum:"sast,sca,iac,secret,cicd,container,dast,api"`
	LastScan    time.Time         `json:"lastScan"`
	Source      run.Source        `json:"source"`
	IssuesCount severityCountBody `json:"issuesCount"`
}

// projectSummaryBody is an element of an organization's project list. Its numbers
// are those of the reference branch.
type projectSummaryBody struct {
	ProjectID       tenant.ProjectID            `json:"projectId" format:"uuid"`
	TeamID          tenant.TeamID               `json:"teamId" format:"uuid"`
	TeamName        string                      `json:"teamName"`
	Name            string                      `json:"name"`
	CreatedAt       time.Time                   `json:"createdAt"`
	UpdatedAt       time.Time                   `json:"updatedAt"`
	RiskScore       int64                       `json:"riskScore"`
	RiskLevel       triage.RiskLevel            `json:"riskLevel" enum:"critical,high,medium,low"`
	IssuesCount     severityCountBody           `json:"issuesCount"`
	Analyses        []analysisBody              `json:"analyses" doc:"Analyses that were run."`
	Coverage        []scancoverage.CoverageBody `json:"coverage" doc:"Coverage of every analysis, including those that never ran."`
	IsGitHubLinked  bool                        `json:"isGithubLinked"`
	IsGitLabLinked  bool                        `json:"isGitlabLinked"`
	ReferenceBranch *string                     `json:"referenceBranch" doc:"Reference branch; null for main, then master."`
}

// statisticsBody holds the numbers of all projects that the caller may read.
type statisticsBody struct {
	CriticalRiskProjects            int `json:"criticalRiskProjects"`
	CriticalRiskProjectsInLast7Days int `json:"criticalRiskProjectsInLast7Days"`
	HighRiskProjects                int `json:"highRiskProjects"`
	HighRiskProjectsInLast7Days     int `json:"highRiskProjectsInLast7Days"`
	SolvedIssues                    int `json:"solvedIssues"`
	SolvedIssuesInLast7Days         int `json:"solvedIssuesInLast7Days"`
	NewIssues                       int `json:"newIssues"`
	NewIssuesInLast7Days            int `json:"newIssuesInLast7Days"`
	CriticalIssues                  int `json:"criticalIssues"`
	HighIssues                      int `json:"highIssues"`
	MediumIssues                    int `json:"mediumIssues"`
	LowIssues                       int `json:"lowIssues"`
}

// showStatistics returns the sums over all projects that the caller can read.
func showStatistics(t project.Totals) statisticsBody {
	return statisticsBody{
		CriticalRiskProjects: t.CriticalRisk, CriticalRiskProjectsInLast7Days: t.CriticalRiskRecent,
		HighRiskProjects: t.HighRisk, HighRiskProjectsInLast7Days: t.HighRiskRecent,
		SolvedIssues: t.Solved, SolvedIssuesInLast7Days: t.SolvedRecent,
		NewIssues: t.New, NewIssuesInLast7Days: t.NewRecent,
		CriticalIssues: t.Critical, HighIssues: t.High, MediumIssues: t.Medium, LowIssues: t.Low,
	}
}

// listOrganizationProjectsInput selects a page of the projects of an organization.
type listOrganizationProjectsInput struct {
	endpoint.OrganizationInput
	endpoint.ClampedPage
	Search string `query:"search" maxLength:"200" doc:"Substring of the project name."`
}

// organizationProjectsOutput is a page of projects, and the totals over all pages.
type organizationProjectsOutput struct {
	Body struct {
		Projects       []projectSummaryBody               `json:"projects"`
		TotalProjects  int                                `json:"totalProjects"`
		TotalPages     int                                `json:"totalPages"`
		Coverage       []scancoverage.CoverageSummaryBody `json:"coverage" doc:"Coverage of each analysis behind the statistics."`
		MainStatistics statisticsBody                     `json:"mainStatistics" doc:"Statistics of all projects that the caller can read; for thousands of projects up to 30 seconds old."`
	}
}

// ListOrganizationProjects lists the projects of an organization that the caller can read, with
// their risk, counts and coverage.
func (a *Handlers) ListOrganizationProjects(ctx context.Context, sc tenant.Scope,
	in *listOrganizationProjectsInput) (*organizationProjectsOutput, error) {
	number, size := in.Get()
	page, totals, err := a.Tenancy.OrganizationProjects(ctx, sc, project.Query{Search: in.Search, Page: number,
		Size: size})
	if err != nil {
		return nil, err
	}
	out := &organizationProjectsOutput{}
	if out.Body.Projects, err = a.projectSummaries(ctx, sc, page.Projects); err != nil {
		return nil, err
	}
	out.Body.TotalProjects, out.Body.TotalPages = page.Total, endpoint.Pages(page.Total, size)
	out.Body.MainStatistics, out.Body.Coverage = showStatistics(totals),
		scancoverage.SumCoverage(totals.Coverage, totals.Projects,
			nil)
	return out, nil
}

// projectSummaries returns the projects with their risk, counts and coverage.
func (a *Handlers) projectSummaries(ctx context.Context, sc tenant.Scope,
	projects []project.Project) ([]projectSummaryBody, error) {
	ids := endpoint.Convert(projects, func(p project.Project) tenant.ProjectID { return p.ID })
	// Three queries for the whole page instead of three for each project.
	standings, err := a.Stats.Standings(ctx, sc, ids)
	if err != nil {
		return nil, err
	}
	made, err := a.Stats.AnalysisStandings(ctx, sc, ids)
	if err != nil {
		return nil, err
	}
	coverages, err := a.Stats.Coverages(ctx, sc, ids, nil)
	if err != nil {
		return nil, err
	}
	analyses := map[tenant.ProjectID][]triage.AnalysisPosture{}
	for _, m := range made {
		analyses[m.ProjectID] = append(analyses[m.ProjectID], m)
	}
	return endpoint.Convert(projects, func(p project.Project) projectSummaryBody {
		b := projectSummaryBody{ProjectID: p.ID, TeamID: p.TeamID, TeamName: p.TeamName, Name: p.Name,
			CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, ReferenceBranch: branchOrNull(p.Settings.ReferenceBranch),
			IssuesCount: showCounts(standings[p.ID].Open)}
		b.RiskScore, b.RiskLevel = riskOf(standings[p.ID])
		b.Analyses = endpoint.Convert(analyses[p.ID], func(s triage.AnalysisPosture) analysisBody {
			// What the settings hide is in no count, as in the list of findings itself.
			for severity := range s.Open {
				if !p.Settings.Shown(s.Analysis, severity) {
					delete(s.Open, severity)
				}
			}
			return analysisBody{Type: s.Analysis, LastScan: s.LastScan, Source: s.Source,
				IssuesCount: showCounts(s.Open)}
		})
		b.Coverage = endpoint.Convert(coverages[p.ID], func(c triage.Coverage) scancoverage.CoverageBody {
			// The open findings of the coverage are those of the counts above, so that both agree.
			open := 0
			for _, s := range analyses[p.ID] {
				if s.Analysis == c.Analysis {
					for _, n := range s.Open { // hidden ones are gone
						open += n
					}
				}
			}
			return scancoverage.ViewCoverage(&c, p.Settings, open)
		})
		return b
	}), nil
}

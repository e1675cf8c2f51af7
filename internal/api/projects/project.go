package projects

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Projects is what the API needs of the store for projects.
type Projects interface {
	CreateProject(ctx context.Context, sc tenant.Scope, p project.Project) (project.Project, error)
	Project(ctx context.Context, sc tenant.Scope) (project.Project, error)
	// UpdateProject calls edit with the stored project inside of a transaction, so that two
	// updates of different settings do not undo each other.
	UpdateProject(ctx context.Context, sc tenant.Scope, edit func(*project.Project) error) (project.Project, error)
	DeleteProject(ctx context.Context, sc tenant.Scope) error
	// TeamProjects lists the projects of a team by name.
	TeamProjects(ctx context.Context, sc tenant.Scope, q project.Query) (project.Page, error)
	// OrganizationProjects lists the projects that the caller can read, with the totals over all
	// of them, not only those of the page.
	OrganizationProjects(ctx context.Context, sc tenant.Scope, q project.Query) (project.Page, project.Totals, error)
}

// ProjectBody is an element of a team's project list: the 26 fields of the
// specification, no more and no less.
type ProjectBody struct {
	ProjectID                   tenant.ProjectID        `json:"projectId" format:"uuid"`
	TeamID                      tenant.TeamID           `json:"teamId" format:"uuid"`
	TeamName                    string                  `json:"teamName"`
	Name                        string                  `json:"name"`
	CreatedAt                   time.Time               `json:"createdAt"`
	UpdatedAt                   time.Time               `json:"updatedAt"`
	ApplicationType             project.ApplicationType `json:"applicationType" enum:"web_application,software,mobile_application,iot,other"`
	AnalysisFrequency           project.Frequency       `json:"analysisFrequency" enum:"weekly,daily,never"`
	EmailAlertEnabled           bool                    `json:"emailAlertEnabled"`
	MonthlyReportEnabled        bool                    `json:"monthlyReportEnabled"`
	WeeklyReportEnabled         bool                    `json:"weeklyReportEnabled"`
	SASTEnabled                 bool                    `json:"sastEnabled"`
	DASTEnabled                 bool                    `json:"dastEnabled"`
	SCAEnabled                  bool                    `json:"scaEnabled"`
	ContainerEnabled            bool                    `json:"containerEnabled"`
	APIEnabled                  bool                    `json:"apiEnabled"`
	IaCEnabled                  bool                    `json:"iacEnabled"`
	SASTFastScanEnabled         bool                    `json:"sastFastScanEnabled"`
	AIDataflowEnabled           bool                    `json:"aiDataflowEnabled"`
	SASTSeverities              []finding.Severity      `json:"sastSeverities" enum:"critical,high,medium,low"`
	SCASeverities               []finding.Severity      `json:"scaSeverities" enum:"critical,high,medium,low"`
	IaCSeverities               []finding.Severity      `json:"iacSeverities" enum:"critical,high,medium,low"`
	IncidentCreationOption      string                  `json:"incidentCreationOption"`
	AIMergeRequestEnabled       bool                    `json:"aiMergeRequestEnabled"`
	ImprovingResultsEnabled     bool                    `json:"improvingResultsEnabled"`
	SortsVulnerabilitiesEnabled bool                    `json:"sortsVulnerabilitiesEnabled"`
}

// showProject returns the project as an element of a list.
func showProject(p project.Project) ProjectBody {
	s := p.Settings
	return ProjectBody{
		ProjectID: p.ID, TeamID: p.TeamID, TeamName: p.TeamName, Name: p.Name, CreatedAt: p.CreatedAt,
		UpdatedAt:       p.UpdatedAt,
		ApplicationType: s.ApplicationType, AnalysisFrequency: s.AnalysisFrequency,
		EmailAlertEnabled: s.EmailAlertEnabled, MonthlyReportEnabled: s.MonthlyReportEnabled,
		WeeklyReportEnabled: s.WeeklyReportEnabled,
		SASTEnabled:         s.SASTEnabled, DASTEnabled: s.DASTEnabled, SCAEnabled: s.SCAEnabled,
		ContainerEnabled: s.ContainerEnabled,
		APIEnabled:       s.APIEnabled, IaCEnabled: s.IaCEnabled, SASTFastScanEnabled: s.SASTFastScanEnabled,
		AIDataflowEnabled: s.AIDataflowEnabled,
		SASTSeverities:    endpoint.OrEmpty(s.SASTSeverities), SCASeverities: endpoint.OrEmpty(s.SCASeverities),
		IaCSeverities:          endpoint.OrEmpty(s.IaCSeverities),
		IncidentCreationOption: s.IncidentCreationOption, AIMergeRequestEnabled: s.AIMergeRequestEnabled,
		ImprovingResultsEnabled: s.ImprovingResultsEnabled, SortsVulnerabilitiesEnabled: s.SortsVulnerabilitiesEnabled,
	}
}

// projectDetailBody is a project by itself: the list's fields and all others.
type projectDetailBody struct {
	ProjectBody
	ID                                tenant.ProjectID            `json:"id" format:"uuid" doc:"Same value as projectId."`
	OrganizationID                    tenant.OrganizationID       `json:"organizationId" format:"uuid"`
	Language                          []string                    `json:"language" doc:"Languages detected by the last scan."`
	ContainerSeverities               []finding.Severity          `json:"containerSeverities" enum:"critical,high,medium,low"`
	SCATransitiveDependenciesEnabled  bool                        `json:"scaTransitiveDependenciesEnabled"`
	SCADevelopmentDependenciesEnabled bool                        `json:"scaDevelopmentDependenciesEnabled"`
	AgentCategoriesSAST               []string                    `json:"agentCategoriesSast"`
	AgentCategoriesIaC                []string                    `json:"agentCategoriesIac"`
	SecurityChampionEnabled           bool                        `json:"securityChampionEnabled"`
	AutoFixEnabled                    bool                        `json:"autoFixEnabled"`
	FindingProfile                    finding.Profile             `json:"findingProfile" enum:"default,all" doc:"Findings that scans report. all adds rules of form and checklists, and findings of low weight."`
	GitHubIssueEnabled                bool                        `json:"githubIssueEnabled"`
	GitLabIssueEnabled                bool                        `json:"gitlabIssueEnabled"`
	IssueCreationMode                 project.IssueMode           `json:"issueCreationMode" enum:"per_vulnerability,per_vulnerability_type,per_file"`
	IssueCreationBranches             []string                    `json:"issueCreationBranches"`
	ReferenceBranch                   *string                     `json:"referenceBranch" doc:"Reference branch, which counts and risk refer to; null for main, then master."`
	RiskScore                         int64                       `json:"riskScore" doc:"Risk score from the active findings of the reference branch; has no upper bound."`
	RiskLevel                         triage.RiskLevel            `json:"riskLevel" enum:"critical,high,medium,low"`
	Coverage                          []scancoverage.CoverageBody `json:"coverage" doc:"Coverage of each analysis on the reference branch."`
}

// projectDetail returns a project by itself, with its risk and coverage.
func (a *Handlers) projectDetail(ctx context.Context, sc tenant.Scope, p project.Project) (projectDetailBody, error) {
	standings, err := a.Stats.Standings(ctx, sc, []tenant.ProjectID{p.ID})
	if err != nil {
		return projectDetailBody{}, err
	}
	body := showProjectDetail(p)
	body.RiskScore, body.RiskLevel = riskOf(standings[p.ID])
	// The empty name stands for the reference branch, as the risk does.
	body.Coverage, err = a.CoverageOf(ctx, sc, p, "")
	return body, err
}

// riskOf returns the score and the level of a standing; a project that was never
// scanned has neither findings nor risk.
func riskOf(s triage.Posture) (int64, triage.RiskLevel) {
	if s.RiskLevel == "" {
		return 0, triage.LevelOf(0)
	}
	return s.RiskScore, s.RiskLevel
}

// showProjectDetail returns the settings of the project, without its risk and coverage.
func showProjectDetail(p project.Project) projectDetailBody {
	s := p.Settings
	return projectDetailBody{
		ProjectBody: showProject(p), ID: p.ID, OrganizationID: p.OrganizationID,
		Language:                          endpoint.OrEmpty(p.Languages),
		ContainerSeverities:               endpoint.OrEmpty(s.ContainerSeverities),
		SCATransitiveDependenciesEnabled:  s.SCATransitiveDependenciesEnabled,
		SCADevelopmentDependenciesEnabled: s.SCADevelopmentDependenciesEnabled,
		AgentCategoriesSAST:               endpoint.OrEmpty(s.AgentCategoriesSAST),
		AgentCategoriesIaC:                endpoint.OrEmpty(s.AgentCategoriesIaC),
		SecurityChampionEnabled:           s.SecurityChampionEnabled, AutoFixEnabled: s.AutoFixEnabled,
		FindingProfile:     s.FindingProfile,
		GitHubIssueEnabled: s.GitHubIssueEnabled, GitLabIssueEnabled: s.GitLabIssueEnabled,
		IssueCreationMode: s.IssueCreationMode, IssueCreationBranches: endpoint.OrEmpty(s.IssueCreationBranches),
		ReferenceBranch: branchOrNull(s.ReferenceBranch),
	}
}

// branchOrNull returns null for no branch.
func branchOrNull(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

// projectOutput is a project by itself.
type projectOutput struct{ Body projectDetailBody }

// GetProject responds with a project, its risk and its coverage.
func (a *Handlers) GetProject(ctx context.Context, sc tenant.Scope, _ *endpoint.ProjectInput) (*projectOutput, error) {
	p, err := a.Tenancy.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	return a.projectOutput(ctx, sc, p)
}

// projectOutput wraps the detail of a project for the HTTP library.
func (a *Handlers) projectOutput(ctx context.Context, sc tenant.Scope, p project.Project) (*projectOutput, error) {
	body, err := a.projectDetail(ctx, sc, p)
	if err != nil {
		return nil, err
	}
	return &projectOutput{Body: body}, nil
}

// ProjectChoices are the settings that can be chosen when a project is created
// and later.
type ProjectChoices struct {
	// A pointer tells a setting that was left out (nil) from one that is set to false. The same
	// applies to the members below.
	AIMergeRequestEnabled       *bool              `json:"aiMergeRequestEnabled,omitempty"`
	ImprovingResultsEnabled     *bool              `json:"improvingResultsEnabled,omitempty"`
	SortsVulnerabilitiesEnabled *bool              `json:"sortsVulnerabilitiesEnabled,omitempty"`
	SecurityChampionEnabled     *bool              `json:"securityChampionEnabled,omitempty"`
	AutoFixEnabled              *bool              `json:"autoFixEnabled,omitempty"`
	GitHubIssueEnabled          *bool              `json:"githubIssueEnabled,omitempty"`
	GitLabIssueEnabled          *bool              `json:"gitlabIssueEnabled,omitempty"`
	IssueCreationMode           *project.IssueMode `json:"issueCreationMode,omitempty" enum:"per_vulnerability,per_vulnerability_type,per_file"`
	IssueCreationBranches       *[]string          `json:"issueCreationBranches,omitempty" maxItems:"100"`
}

// applyTo assigns the settings that the request has.
func (c ProjectChoices) applyTo(s *project.Settings) error {
	endpoint.Assign(&s.AIMergeRequestEnabled, c.AIMergeRequestEnabled)
	endpoint.Assign(&s.ImprovingResultsEnabled, c.ImprovingResultsEnabled)
	endpoint.Assign(&s.SortsVulnerabilitiesEnabled, c.SortsVulnerabilitiesEnabled)
	endpoint.Assign(&s.SecurityChampionEnabled, c.SecurityChampionEnabled)
	endpoint.Assign(&s.AutoFixEnabled, c.AutoFixEnabled)
	endpoint.Assign(&s.GitHubIssueEnabled, c.GitHubIssueEnabled)
	endpoint.Assign(&s.GitLabIssueEnabled, c.GitLabIssueEnabled)
	endpoint.Assign(&s.IssueCreationMode, c.IssueCreationMode)
	return assignLabels("body.issueCreationBranches", &s.IssueCreationBranches, c.IssueCreationBranches)
}

// assignLabels assigns a list of names, each once.
func assignLabels(location string, to *[]string, from *[]string) error {
	if from == nil {
		return nil
	}
	list := make([]string, 0, len(*from))
	for _, text := range *from {
		text, err := endpoint.ParseLabel(location, text)
		if err != nil {
			return err
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	*to = list
	return nil
}

// createProjectInput is the name of a project and the settings that can be chosen from the start.
type createProjectInput struct {
	endpoint.TeamInput
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"200"`
		ProjectChoices
	}
}

// CreateProject creates a project with every available analysis enabled.
func (a *Handlers) CreateProject(ctx context.Context, sc tenant.Scope, in *createProjectInput) (*projectOutput, error) {
	// The defaults depend on the build: an analysis without an analyzer would make every scan
	// degraded.
	p := project.Project{Settings: project.DefaultSettings(a.Analyses)}
	var err error
	if p.Name, err = endpoint.ParseLabel("body.name", in.Body.Name); err != nil {
		return nil, err
	}
	if err := in.Body.applyTo(&p.Settings); err != nil {
		return nil, err
	}
	if p, err = a.Tenancy.CreateProject(ctx, sc, p); err != nil {
		return nil, err
	}
	return a.projectOutput(ctx, sc, p)
}

// nullableText is a text that a request can leave out, set, or set to null.
type nullableText struct {
	// given says that the member is in the request, be it null.
	given bool
	text  string // empty for null
}

// UnmarshalJSON reads a text or null.
func (n *nullableText) UnmarshalJSON(data []byte) error {
	n.given = true
	if string(data) == "null" {
		n.text = ""
		return nil
	}
	return json.Unmarshal(data, &n.text)
}

// Schema describes the type to the HTTP library.
func (nullableText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// updateProjectInput has the settings to change; absent ones stay as they are.
type updateProjectInput struct {
	endpoint.ProjectInput
	Body struct {
		Name                              *string                  `json:"name,omitempty" maxLength:"200"`
		TeamID                            *string                  `json:"teamId,omitempty" format:"uuid" doc:"ID of the team to move the project to."`
		ApplicationType                   *project.ApplicationType `json:"applicationType,omitempty" enum:"web_application,software,mobile_application,iot,other"`
		AnalysisFrequency                 *project.Frequency       `json:"analysisFrequency,omitempty" enum:"weekly,daily,never"`
		EmailAlertEnabled                 *bool                    `json:"emailAlertEnabled,omitempty"`
		MonthlyReportEnabled              *bool                    `json:"monthlyReportEnabled,omitempty"`
		WeeklyReportEnabled               *bool                    `json:"weeklyReportEnabled,omitempty"`
		SASTEnabled                       *bool                    `json:"sastEnabled,omitempty"`
		DASTEnabled                       *bool                    `json:"dastEnabled,omitempty"`
		SCAEnabled                        *bool                    `json:"scaEnabled,omitempty"`
		ContainerEnabled                  *bool                    `json:"containerEnabled,omitempty"`
		APIEnabled                        *bool                    `json:"apiEnabled,omitempty"`
		IaCEnabled                        *bool                    `json:"iacEnabled,omitempty"`
		SASTFastScanEnabled               *bool                    `json:"sastFastScanEnabled,omitempty"`
		AIDataflowEnabled                 *bool                    `json:"aiDataflowEnabled,omitempty"`
		SCATransitiveDependenciesEnabled  *bool                    `json:"scaTransitiveDependenciesEnabled,omitempty"`
		SCADevelopmentDependenciesEnabled *bool                    `json:"scaDevelopmentDependenciesEnabled,omitempty"`
		SASTSeverities                    *[]finding.Severity      `json:"sastSeverities,omitempty" enum:"critical,high,medium,low" maxItems:"10"`
		SCASeverities                     *[]finding.Severity      `json:"scaSeverities,omitempty" enum:"critical,high,medium,low" maxItems:"10"`
		IaCSeverities                     *[]finding.Severity      `json:"iacSeverities,omitempty" enum:"critical,high,medium,low" maxItems:"10"`
		ContainerSeverities               *[]finding.Severity      `json:"containerSeverities,omitempty" enum:"critical,high,medium,low" maxItems:"10"`
		IncidentCreationOption            *string                  `json:"incidentCreationOption,omitempty" maxLength:"200"`
		AgentCategoriesSAST               *[]string                `json:"agentCategoriesSast,omitempty" maxItems:"100"`
		AgentCategoriesIaC                *[]string                `json:"agentCategoriesIac,omitempty" maxItems:"100"`
		ReferenceBranch                   nullableText             `json:"referenceBranch,omitempty"`
		FindingProfile                    *finding.Profile         `json:"findingProfile,omitempty" enum:"default,all" doc:"Findings that scans report. all adds rules of form and checklists, and findings of low weight."`
		ProjectChoices
	}
}

// applyTo applies the request to a project.
func (in *updateProjectInput) applyTo(p *project.Project) (err error) {
	b, s := &in.Body, &p.Settings
	if b.Name != nil {
		if p.Name, err = endpoint.ParseLabel("body.name", *b.Name); err != nil {
			return err
		}
	}
	if b.TeamID != nil {
		// Whether the caller may move the project there is checked by the store, inside of the
		// transaction.
		p.TeamID = tenant.TeamID(strings.ToLower(*b.TeamID))
	}
	endpoint.Assign(&s.ApplicationType, b.ApplicationType)
	endpoint.Assign(&s.AnalysisFrequency, b.AnalysisFrequency)
	endpoint.Assign(&s.EmailAlertEnabled, b.EmailAlertEnabled)
	endpoint.Assign(&s.MonthlyReportEnabled, b.MonthlyReportEnabled)
	endpoint.Assign(&s.WeeklyReportEnabled, b.WeeklyReportEnabled)
	endpoint.Assign(&s.SASTEnabled, b.SASTEnabled)
	endpoint.Assign(&s.DASTEnabled, b.DASTEnabled)
	endpoint.Assign(&s.SCAEnabled, b.SCAEnabled)
	endpoint.Assign(&s.ContainerEnabled, b.ContainerEnabled)
	endpoint.Assign(&s.APIEnabled, b.APIEnabled)
	endpoint.Assign(&s.IaCEnabled, b.IaCEnabled)
	endpoint.Assign(&s.SASTFastScanEnabled, b.SASTFastScanEnabled)
	endpoint.Assign(&s.AIDataflowEnabled, b.AIDataflowEnabled)
	endpoint.Assign(&s.FindingProfile, b.FindingProfile)
	endpoint.Assign(&s.SCATransitiveDependenciesEnabled, b.SCATransitiveDependenciesEnabled)
	endpoint.Assign(&s.SCADevelopmentDependenciesEnabled, b.SCADevelopmentDependenciesEnabled)
	setSeverities(&s.SASTSeverities, b.SASTSeverities)
	setSeverities(&s.SCASeverities, b.SCASeverities)
	setSeverities(&s.IaCSeverities, b.IaCSeverities)
	setSeverities(&s.ContainerSeverities, b.ContainerSeverities)
	endpoint.Assign(&s.IncidentCreationOption, b.IncidentCreationOption)
	if err := assignLabels("body.agentCategoriesSast", &s.AgentCategoriesSAST, b.AgentCategoriesSAST); err != nil {
		return err
	}
	if err := assignLabels("body.agentCategoriesIac", &s.AgentCategoriesIaC, b.AgentCategoriesIaC); err != nil {
		return err
	}
	// null resets to the default; a member that is left out changes nothing.
	if b.ReferenceBranch.given {
		if s.ReferenceBranch = ""; b.ReferenceBranch.text != "" {
			if s.ReferenceBranch, err = endpoint.ParseLabel("body.referenceBranch",
				b.ReferenceBranch.text); err != nil {
				return err
			}
		}
	}
	if err := b.applyTo(s); err != nil {
		return err
	}
	// Enumerations are validated at the end, so that one response reports all of them.
	return s.Validate()
}

// setSeverities assigns a list of severities, each once, worst first.
func setSeverities(to *[]finding.Severity, from *[]finding.Severity) {
	if from == nil {
		return
	}
	*to = []finding.Severity{}
	for _, s := range finding.Severities {
		if slices.Contains(*from, s) {
			*to = append(*to, s)
		}
	}
}

// updatedProjectOutput is the project after a change. The misspelt projectInformations is
// the name in the contract.
type updatedProjectOutput struct {
	Body struct {
		Success            bool              `json:"success"`
		Message            string            `json:"message"`
		ProjectInformation projectDetailBody `json:"projectInformations"`
	}
}

// UpdateProject updates the settings that the request has, and moves the project to another team.
func (a *Handlers) UpdateProject(ctx context.Context, sc tenant.Scope,
	in *updateProjectInput) (*updatedProjectOutput, error) {
	p, err := a.Tenancy.UpdateProject(ctx, sc, in.applyTo)
	if err != nil {
		return nil, err
	}
	out := &updatedProjectOutput{}
	out.Body.Success, out.Body.Message = true, "Project updated"
	out.Body.ProjectInformation, err = a.projectDetail(ctx, sc, p)
	return out, err
}

// DeleteProject deletes a project with its scans and findings.
func (a *Handlers) DeleteProject(ctx context.Context, sc tenant.Scope,
	_ *endpoint.ProjectInput) (*endpoint.MessageOutput, error) {
	if err := a.Tenancy.DeleteProject(ctx, sc); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Project deleted"), nil
}

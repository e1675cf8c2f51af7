// Package project describes a project: the software that is analysed, its
// settings and its standing.
package project

import (
	"slices"
	"time"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/tenant"
)

// A Project belongs to exactly one team.
type Project struct {
	ID             tenant.ProjectID
	OrganizationID tenant.OrganizationID
	TeamID         tenant.TeamID
	TeamName       string // read with the project, never written
	Name           string
	Languages      []string // found by the last scan; sorted
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Settings       Settings
}

// A Query selects a page of projects, by name.
type Query struct {
	Search string // part of a name, case ignored; empty for all
	Page   int    // from 1
	Size   int
}

// A Page is a page of projects, and how many there are on all pages.
type Page struct {
	Projects []Project
	Total    int
}

// Totals are numbers of many projects, each on its reference branch. Recent is
// the last seven days.
type Totals struct {
	CriticalRisk, CriticalRiskRecent int // projects; recent: that have become so
	HighRisk, HighRiskRecent         int
	New, NewRecent                   int // findings that came up
	Solved, SolvedRecent             int // findings that were resolved
	Critical, High, Medium, Low      int // findings that are open and shown
	Projects, Scanned                int
	Risk                             int64           // the highest score
	Coverage                         []CoverageCount // see SumCoverage; those that were never analysed are left out
}

// Add adds other numbers.
func (t *Totals) Add(o Totals) {
	t.CriticalRisk += o.CriticalRisk
	t.CriticalRiskRecent += o.CriticalRiskRecent
	t.HighRisk += o.HighRisk
	t.HighRiskRecent += o.HighRiskRecent
	t.New += o.New
	t.NewRecent += o.NewRecent
	t.Solved += o.Solved
	t.SolvedRecent += o.SolvedRecent
	t.Critical += o.Critical
	t.Projects += o.Projects
	t.Scanned += o.Scanned
	t.Risk = max(t.Risk, o.Risk)
	t.Coverage = append(t.Coverage, o.Coverage...)
	t.High += o.High
	t.Medium += o.Medium
	t.Low += o.Low
}

// Settings are what a project's members choose. They are stored as one JSON
// document: a new setting needs a default here and nothing else.
type Settings struct {
	ApplicationType      ApplicationType `json:"applicationType"`
	AnalysisFrequency    Frequency       `json:"analysisFrequency"`
	EmailAlertEnabled    bool            `json:"emailAlertEnabled"`
	MonthlyReportEnabled bool            `json:"monthlyReportEnabled"`
	WeeklyReportEnabled  bool            `json:"weeklyReportEnabled"`

	SASTEnabled         bool `json:"sastEnabled"`
	DASTEnabled         bool `json:"dastEnabled"`
	SCAEnabled          bool `json:"scaEnabled"`
	ContainerEnabled    bool `json:"containerEnabled"`
	APIEnabled          bool `json:"apiEnabled"`
	IaCEnabled          bool `json:"iacEnabled"`
	SASTFastScanEnabled bool `json:"sastFastScanEnabled"`

	// FindingProfile selects the findings that scans of the project report.
	FindingProfile finding.Profile `json:"findingProfile"`

	SCATransitiveDependenciesEnabled  bool `json:"scaTransitiveDependenciesEnabled"`
	SCADevelopmentDependenciesEnabled bool `json:"scaDevelopmentDependenciesEnabled"`

	// Findings of another severity are not shown; they are still looked for.
	SASTSeverities      []finding.Severity `json:"sastSeverities"`
	SCASeverities       []finding.Severity `json:"scaSeverities"`
	IaCSeverities       []finding.Severity `json:"iacSeverities"`
	ContainerSeverities []finding.Severity `json:"containerSeverities"`

	IncidentCreationOption      string   `json:"incidentCreationOption"`
	AIDataflowEnabled           bool     `json:"aiDataflowEnabled"`
	AIMergeRequestEnabled       bool     `json:"aiMergeRequestEnabled"`
	ImprovingResultsEnabled     bool     `json:"improvingResultsEnabled"`
	SortsVulnerabilitiesEnabled bool     `json:"sortsVulnerabilitiesEnabled"`
	SecurityChampionEnabled     bool     `json:"securityChampionEnabled"`
	AutoFixEnabled              bool     `json:"autoFixEnabled"`
	AgentCategoriesSAST         []string `json:"agentCategoriesSast"`
	AgentCategoriesIaC          []string `json:"agentCategoriesIac"`

	GitHubIssueEnabled    bool      `json:"githubIssueEnabled"`
	GitLabIssueEnabled    bool      `json:"gitlabIssueEnabled"`
	IssueCreationMode     IssueMode `json:"issueCreationMode"`
	IssueCreationBranches []string  `json:"issueCreationBranches"`

	// ReferenceBranch is the branch that counts and risk are of; empty means
	// main, then master.
	ReferenceBranch string `json:"referenceBranch"`
}

// ApplicationType says what kind of software a project is.
type ApplicationType string

// Frequency says how often a linked repository is scanned.
type Frequency string

// IssueMode says how findings become issues of a tracker.
type IssueMode string

// The values of the enumerations, defaults first.
var (
	ApplicationTypes = []ApplicationType{"web_application", "software", "mobile_application", "iot", "other"}
	Frequencies      = []Frequency{"weekly", "daily", "never"}
	IssueModes       = []IssueMode{"per_vulnerability", "per_vulnerability_type", "per_file"}
)

// DefaultSettings returns what a new project starts with: every analysis that
// the program can make (available) is on. An analysis that is switched on
// without being available makes every scan degraded, so it starts off.
func DefaultSettings(available []finding.Analysis) Settings {
	all := func() []finding.Severity { return slices.Clone(finding.Severities) } // each its own: they are decoded into
	has := func(a finding.Analysis) bool { return slices.Contains(available, a) }
	return Settings{
		ApplicationType:   ApplicationTypes[0],
		AnalysisFrequency: Frequencies[0],
		SASTEnabled:       has(finding.SAST), DASTEnabled: has(finding.DAST), SCAEnabled: has(finding.SCA),
		ContainerEnabled: has(finding.Container), APIEnabled: has(finding.API), IaCEnabled: has(finding.IaC),
		SCATransitiveDependenciesEnabled: true, SCADevelopmentDependenciesEnabled: true,
		SASTSeverities: all(), SCASeverities: all(), IaCSeverities: all(), ContainerSeverities: all(),
		AgentCategoriesSAST: []string{}, AgentCategoriesIaC: []string{},
		FindingProfile:    finding.DefaultProfile,
		IssueCreationMode: IssueModes[0], IssueCreationBranches: []string{},
	}
}

// Enabled reports whether a scan of the project makes the analysis. Secrets and
// pipelines have no switch: they are always looked at.
func (s Settings) Enabled(a finding.Analysis) bool {
	switch a {
	case finding.SAST:
		return s.SASTEnabled
	case finding.SCA:
		return s.SCAEnabled
	case finding.IaC:
		return s.IaCEnabled
	case finding.Container:
		return s.ContainerEnabled
	case finding.DAST:
		return s.DASTEnabled
	case finding.API:
		return s.APIEnabled
	}
	return true
}

// Shown reports whether findings of the analysis with the severity are shown.
func (s Settings) Shown(a finding.Analysis, sev finding.Severity) bool {
	var shown []finding.Severity
	switch a {
	case finding.SAST:
		shown = s.SASTSeverities
	case finding.SCA:
		shown = s.SCASeverities
	case finding.IaC:
		shown = s.IaCSeverities
	case finding.Container:
		shown = s.ContainerSeverities
	default:
		return true
	}
	return slices.Contains(shown, sev)
}

// Validate returns an Invalid error that lists every setting whose value is not
// one of its enumeration, or nil.
func (s Settings) Validate() error {
	var details []errs.Detail
	bad := func(name, value string) {
		details = append(details, errs.Detail{Location: "body." + name, Message: value + " is not an allowed value"})
	}
	if !slices.Contains(ApplicationTypes, s.ApplicationType) {
		bad("applicationType", string(s.ApplicationType))
	}
	if !slices.Contains(Frequencies, s.AnalysisFrequency) {
		bad("analysisFrequency", string(s.AnalysisFrequency))
	}
	if !slices.Contains(finding.Profiles, s.FindingProfile) {
		bad("findingProfile", string(s.FindingProfile))
	}
	if !slices.Contains(IssueModes, s.IssueCreationMode) {
		bad("issueCreationMode", string(s.IssueCreationMode))
	}
	for name, list := range map[string][]finding.Severity{
		"sastSeverities": s.SASTSeverities, "scaSeverities": s.SCASeverities,
		"iacSeverities": s.IaCSeverities, "containerSeverities": s.ContainerSeverities,
	} {
		for _, sev := range list {
			if !slices.Contains(finding.Severities, sev) {
				bad(name, string(sev))
			}
		}
	}
	if details == nil {
		return nil
	}
	return &errs.Error{Kind: errs.Invalid, Message: "a setting has a value that is not allowed", Details: details}
}

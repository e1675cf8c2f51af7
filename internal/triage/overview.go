package triage

import (
	"time"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/tenant"
)

// This file says how an organization's projects are looked at together.

// An OverviewFilter says which findings of which projects are counted.
type OverviewFilter struct {
	Severities []finding.Severity // empty for all
	Statuses   []Status           // what is counted as a finding that matters
	Analyses   []finding.Analysis // empty for all
	Branches   []string           // nil for the reference branch of each project
	Teams      []tenant.TeamID    // nil for all
	From, To   time.Time          // of a finding's first sight; zero for no bound, To exclusive
}

// An OverviewCount is how many findings there are of a sort in all projects,
// whatever their status.
type OverviewCount struct {
	Analysis finding.Analysis
	Severity finding.Severity
	Status   Status
	N        int
}

// A ProjectSummary is how a project stands in an overview.
type ProjectSummary struct {
	ID         tenant.ProjectID
	Name       string
	TeamID     tenant.TeamID
	TeamName   string
	RiskLevel  RiskLevel
	BySeverity map[finding.Severity]int
	ByAnalysis map[finding.Analysis]int
	Total      int
	Active     int
	Settings   project.Settings
}

// A TeamSummary is how the projects of a team stand in an overview.
type TeamSummary struct {
	ID         tenant.TeamID
	Name       string
	Projects   int
	BySeverity map[finding.Severity]int
	Total      int
	ByRisk     map[RiskLevel]int // projects
}

// A SummarySort is what summaries are sorted by, by its name on the wire.
type SummarySort string

// The sort keys of summaries. Descending means the most or the worst first.
const (
	ByTotal    SummarySort = "total_vulnerabilities"
	ByCritical SummarySort = "critical_count"
	ByRisk     SummarySort = "risk_level"
	ByName     SummarySort = "name"
)

// A SummaryPage chooses a page of summaries.
type SummaryPage struct {
	Sort      SummarySort
	Ascending bool
	Offset    int
	Limit     int
}

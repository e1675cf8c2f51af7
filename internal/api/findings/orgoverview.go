package findings

import (
	"context"
	"slices"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Overviews looks at all projects of an organization that the caller may read.
type Overviews interface {
	// OverviewCounts counts findings by analysis, severity and status. The filter's statuses are
	// not applied: the caller needs the counts of all of them.
	OverviewCounts(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter) ([]triage.OverviewCount, error)
	// ProjectSummaries returns a page of projects with their counts.
	ProjectSummaries(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter,
		p triage.SummaryPage) ([]triage.ProjectSummary, error)
	// TeamSummaries returns the teams that have such projects, in the order of the page.
	TeamSummaries(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter,
		p triage.SummaryPage) ([]triage.TeamSummary, error)
	// OverviewCoverage counts projects by team, analysis and state of coverage.
	OverviewCoverage(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter) ([]project.CoverageCount, error)
	// OverviewRisk returns how many projects were scanned, and the highest score of one.
	OverviewRisk(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter) (scanned int, score int64, err error)
	// OverviewDays counts the findings that were opened and solved on each day.
	OverviewDays(ctx context.Context, sc tenant.Scope, f triage.OverviewFilter,
		days triage.DateRange) ([]triage.DayCount, error)
}

// orgOverviewInput selects the findings that an overview counts, and the parts that it has.
type orgOverviewInput struct {
	OrganizationID         string `path:"organizationId" format:"uuid"`
	SeverityFilter         string `query:"severityFilter" doc:"Severities: CRITICAL, HIGH, MEDIUM, LOW."`
	StatusFilter           string `query:"statusFilter" doc:"Statuses: to_verify, confirmed, in_review, resolved, ignored. Default: the active ones, to_verify and confirmed."`
	AnalysisTypes          string `query:"analysisTypes" doc:"Analysis types: SAST, SCA, IAC, CONTAINER, CICD, SECRET, DAST, API."`
	IncludeResolved        string `query:"includeResolved" doc:"Include resolved findings. Default: false."`
	DateFrom               string `query:"dateFrom" doc:"Only findings first seen on or after this date: 2026-11-20 or an RFC 3339 time."`
	DateTo                 string `query:"dateTo" doc:"Only findings first seen on or before this date, or before this RFC 3339 time."`
	Branches               string `query:"branches" doc:"Branches. Default: the reference branch of each project."`
	TeamIDs                string `query:"teamIds" doc:"Teams whose projects are included."`
	TrendPeriodDays        int    `query:"trendPeriodDays" minimum:"1" maximum:"365" default:"7"`
	ComparisonPeriod       string `query:"comparisonPeriod" doc:"week, month or quarter: adds a comparison of the last period with the previous one."`
	ProjectsPage           int    `query:"projectsPage" minimum:"1" maximum:"1000000" default:"1"`
	ProjectsPageSize       int    `query:"projectsPageSize" minimum:"1" maximum:"100" default:"50"`
	TeamsPage              int    `query:"teamsPage" minimum:"1" maximum:"1000000" default:"1"`
	TeamsPageSize          int    `query:"teamsPageSize" minimum:"1" maximum:"100" default:"50"`
	SortBy                 string `query:"sortBy" doc:"Sort key: total_vulnerabilities (default), critical_count, risk_level or name."`
	SortOrder              string `query:"sortOrder" doc:"DESC (default) or ASC."`
	IncludeProjectsSummary string `query:"includeProjectsSummary" doc:"Default: true."`
	IncludeTeamsSummary    string `query:"includeTeamsSummary" doc:"Default: true."`
	IncludeOverTimeData    string `query:"includeOverTimeData" doc:"Default: true."`
	TopVulnerableLimit     int    `query:"topVulnerableLimit" minimum:"1" maximum:"50" default:"10"`
}

// orgOverviewQuery is what the parameters say.
type orgOverviewQuery struct {
	// filter selects the findings that are counted.
	filter triage.OverviewFilter
	// page has the order only; each list sets its own offset and limit.
	page            triage.SummaryPage
	period          int // days that are compared with those before; 0 for none
	projects, teams bool
	overTime        bool
	warning         string // about what was ignored
}

// parseQuery reads the parameters.
func (in *orgOverviewInput) parseQuery() (orgOverviewQuery, error) {
	var p queryParser
	q := orgOverviewQuery{filter: triage.OverviewFilter{
		Severities: endpoint.Enum(&p.Parser, "severityFilter", finding.Severities, in.SeverityFilter),
		Analyses:   endpoint.Enum(&p.Parser, "analysisTypes", finding.Analyses, in.AnalysisTypes),
		Branches:   plainList(in.Branches),
		Statuses:   p.countedStatuses(in.StatusFilter, in.IncludeResolved),
	}}
	q.filter.From, q.filter.To = p.parseDay("dateFrom", in.DateFrom, 0), p.parseDay("dateTo", in.DateTo, 24*time.Hour)
	for _, text := range plainList(in.TeamIDs) {
		id, err := tenant.ParseID("teamIds", text)
		if err != nil {
			p.Wrong("teamIds", "must be UUIDs")
		}
		q.filter.Teams = append(q.filter.Teams, tenant.TeamID(id))
	}
	q.page.Sort = sortOf(&p, []triage.SummarySort{triage.ByTotal, triage.ByCritical, triage.ByRisk, triage.ByName},
		in.SortBy)
	if orders := endpoint.Enum(&p.Parser, "sortOrder", []string{"desc", "asc"}, in.SortOrder); len(orders) > 0 {
		q.page.Ascending = orders[0] == "asc"
	}
	if periods := endpoint.Enum(&p.Parser, "comparisonPeriod", []string{"week", "month", "quarter"},
		in.ComparisonPeriod); len(periods) > 0 {
		// A quarter is 13 weeks, so that both periods have the same weekdays.
		q.period = map[string]int{"week": 7, "month": 30, "quarter": 91}[periods[0]]
	}
	yes := func(name, text string) bool { v := p.Boolean(name, text); return v == nil || *v }
	q.projects, q.teams = yes("includeProjectsSummary", in.IncludeProjectsSummary),
		yes("includeTeamsSummary", in.IncludeTeamsSummary)
	q.overTime = yes("includeOverTimeData", in.IncludeOverTimeData)
	q.warning = p.Warning()
	return q, p.Err()
}

// countedStatuses reads which statuses matter.
func (p *queryParser) countedStatuses(filter, includeResolved string) []triage.Status {
	resolved := p.Boolean("includeResolved", includeResolved)
	statuses := endpoint.Enum(&p.Parser, "statusFilter", slices.Concat(triage.Statuses, oldStatuses), filter)
	if statuses == nil {
		// An explicit filter wins over includeResolved, which only extends the default.
		statuses = []triage.Status{triage.ToVerify, triage.Confirmed}
		if resolved != nil && *resolved {
			statuses = append(statuses, triage.Resolved)
		}
	}
	return statuses
}

// parseDay reads a date or a time; a date stands for its beginning and later.
func (p *queryParser) parseDay(name, text string, later time.Duration) time.Time {
	if text == "" {
		return time.Time{}
	}
	// A last day is inclusive: 2026-11-20 ends where 2026-11-21 begins. A time is exact.
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.Add(later)
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 {
		p.Wrong(name, "must be a date (2026-11-20) or an RFC 3339 time")
	}
	return t
}

// RiskCounts are numbers of projects by risk level.
type RiskCounts struct {
	CriticalRiskProjects int `json:"criticalRiskProjects"`
	HighRiskProjects     int `json:"highRiskProjects"`
	MediumRiskProjects   int `json:"mediumRiskProjects"`
	LowRiskProjects      int `json:"lowRiskProjects"`
}

// addRisks adds the numbers of projects by risk level.
func (r *RiskCounts) addRisks(n map[triage.RiskLevel]int) {
	r.CriticalRiskProjects += n[triage.CriticalRisk]
	r.HighRiskProjects += n[triage.HighRisk]
	r.MediumRiskProjects += n[triage.MediumRisk]
	r.LowRiskProjects += n[triage.LowRisk]
}

// SummaryCounts are numbers of findings by severity.
type SummaryCounts struct {
	CriticalCount        int `json:"criticalCount"`
	HighCount            int `json:"highCount"`
	MediumCount          int `json:"mediumCount"`
	LowCount             int `json:"lowCount"`
	TotalVulnerabilities int `json:"totalVulnerabilities"`
}

// summaryCounts returns the counts by severity, zeros included.
func summaryCounts(n map[finding.Severity]int, total int) SummaryCounts {
	return SummaryCounts{n[finding.Critical], n[finding.High], n[finding.Medium], n[finding.Low], total}
}

// projectOverviewBody is a project in an overview. Counts of analyses that the first clients do not
// know are null until the analysis has run: zero would read as clean.
type projectOverviewBody struct {
	ProjectID   tenant.ProjectID `json:"projectId" format:"uuid"`
	ProjectName string           `json:"projectName"`
	TeamID      tenant.TeamID    `json:"teamId" format:"uuid"`
	TeamName    string           `json:"teamName"`
	RiskLevel   triage.RiskLevel `json:"riskLevel"`
	SummaryCounts
	SASTCount      int  `json:"sastCount"`
	SCACount       int  `json:"scaCount"`
	IaCCount       int  `json:"iacCount"`
	ContainerCount int  `json:"containerCount"`
	CICDCount      *int `json:"cicdCount" doc:"null if never analyzed."`
	SecretCount    *int `json:"secretCount" doc:"null if never analyzed."`
	DASTCount      *int `json:"dastCount" doc:"null if never analyzed."`
	APICount       *int `json:"apiCount" doc:"null if never analyzed."`

	Coverage []scancoverage.CoverageBody `json:"coverage" doc:"Coverage of each analysis behind the counts."`
}

// teamOverviewBody is a team with the sums over its projects.
type teamOverviewBody struct {
	TeamID       tenant.TeamID `json:"teamId" format:"uuid"`
	TeamName     string        `json:"teamName"`
	ProjectCount int           `json:"projectCount"`
	SummaryCounts
	RiskCounts
	Coverage []scancoverage.CoverageSummaryBody `json:"coverage" doc:"Coverage of each analysis behind the counts."`
}

// topProjectBody is one of the projects with the most findings.
type topProjectBody struct {
	ProjectID          tenant.ProjectID            `json:"projectId" format:"uuid"`
	ProjectName        string                      `json:"projectName"`
	TeamID             tenant.TeamID               `json:"teamId" format:"uuid"`
	TeamName           string                      `json:"teamName"`
	VulnerabilityCount int                         `json:"vulnerabilityCount"`
	CriticalCount      int                         `json:"criticalCount"`
	HighCount          int                         `json:"highCount"`
	RiskLevel          triage.RiskLevel            `json:"riskLevel"`
	OpenCount          int                         `json:"openCount" doc:"Of those that are counted the active ones: to_verify and confirmed."`
	NewLast7Days       int                         `json:"newLast7Days"`
	Coverage           []scancoverage.CoverageBody `json:"coverage" doc:"Coverage of each analysis behind the counts."`
}

// comparisonBody compares a period with the one before it.
type comparisonBody struct {
	Days           int `json:"days"`
	New            int `json:"newIssues"`
	Solved         int `json:"solvedIssues"`
	PreviousNew    int `json:"previousNewIssues"`
	PreviousSolved int `json:"previousSolvedIssues"`
}

// orgOverviewBody is an overview of the projects that the caller can read.
type orgOverviewBody struct {
	OrganizationID          tenant.OrganizationID `json:"organizationId" format:"uuid"`
	TotalProjects           int                   `json:"totalProjects"`
	TotalTeams              int                   `json:"totalTeams" doc:"Number of teams with projects that the caller can read."`
	TotalBySeverity         []severityCount       `json:"totalBySeverity"`
	TotalByState            []stateCount          `json:"totalByState" doc:"Number of findings by status, regardless of the status filter."`
	TotalByAnalysisType     []analysisCount       `json:"totalByAnalysisType"`
	VulnerabilitiesOverTime []dayCount            `json:"vulnerabilitiesOverTime" doc:"New findings per day; days without new findings are omitted."`
	ProjectsSummary         []projectOverviewBody `json:"projectsSummary"`
	TeamsSummary            []teamOverviewBody    `json:"teamsSummary"`
	TopVulnerableProjects   []topProjectBody      `json:"topVulnerableProjects"`
	RiskCounts
	RiskScore             *int64                             `json:"riskScore" doc:"Highest risk score of the projects; null if none was scanned."`
	RiskLevel             *triage.RiskLevel                  `json:"riskLevel" doc:"Risk level of the score."`
	Coverage              []scancoverage.CoverageSummaryBody `json:"coverage" doc:"Coverage of each analysis behind the counts."`
	NewIssuesLast7Days    int                                `json:"newIssuesLast7Days"`
	SolvedIssuesLast7Days int                                `json:"solvedIssuesLast7Days"`
	SolvedIssues          int                                `json:"solvedIssues"`
	NewIssues             int                                `json:"newIssues"`
	CriticalIssues        int                                `json:"criticalIssues"`
	HighIssues            int                                `json:"highIssues"`
	MediumIssues          int                                `json:"mediumIssues"`
	LowIssues             int                                `json:"lowIssues"`
	Comparison            *comparisonBody                    `json:"comparison,omitempty"`
}

type orgOverviewOutput struct {
	Warning string `header:"Warning" doc:"Query parameters that were ignored."`
	Body    orgOverviewBody
}

// allTeams is how many teams the totals of an overview are taken from. The page of teams is
// cut out of them here, since the totals need all of them anyway.
const allTeams = 1 << 20

// GetOrgOverview responds with the risk, counts and coverage of the projects that the
// caller can read.
func (a *Handlers) GetOrgOverview(ctx context.Context, sc tenant.Scope,
	in *orgOverviewInput) (*orgOverviewOutput, error) {
	q, err := in.parseQuery()
	if err != nil {
		return nil, err
	}
	out := &orgOverviewOutput{Warning: q.warning, Body: orgOverviewBody{OrganizationID: sc.Organization,
		ProjectsSummary: []projectOverviewBody{}, TeamsSummary: []teamOverviewBody{}}}
	// Each part has its own queries. The first error ends the response: an overview with a part
	// missing would be read as one without findings.
	for _, fill := range []func(context.Context, tenant.Scope, *orgOverviewInput, orgOverviewQuery,
		*orgOverviewBody) error{
		a.fillTotals, a.fillProjects, a.fillTop, a.fillDays,
	} {
		if err := fill(ctx, sc, in, q, &out.Body); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fillTotals adds up all projects and their teams.
func (a *Handlers) fillTotals(ctx context.Context, sc tenant.Scope, in *orgOverviewInput, q orgOverviewQuery,
	out *orgOverviewBody) error {
	counts, err := a.Overviews.OverviewCounts(ctx, sc, q.filter)
	if err != nil {
		return err
	}
	bySeverity, byState, byAnalysis := map[finding.Severity]int{}, map[triage.Status]int{}, map[finding.Analysis]int{}
	for _, c := range counts {
		// The counts by status ignore the status filter; otherwise the other statuses would be 0,
		// and a user could not see what the filter hides.
		byState[c.Status] += c.N
		if slices.Contains(q.filter.Statuses, c.Status) {
			bySeverity[c.Severity] += c.N
			byAnalysis[c.Analysis] += c.N
		}
	}
	out.TotalBySeverity, out.TotalByState, out.TotalByAnalysisType = showTotals(bySeverity, byState, byAnalysis)
	out.CriticalIssues, out.HighIssues = bySeverity[finding.Critical], bySeverity[finding.High]
	out.MediumIssues, out.LowIssues = bySeverity[finding.Medium], bySeverity[finding.Low]
	all := q.page
	all.Limit = allTeams
	teams, err := a.Overviews.TeamSummaries(ctx, sc, q.filter, all)
	if err != nil {
		return err
	}
	coverage, err := a.Overviews.OverviewCoverage(ctx, sc, q.filter)
	if err != nil {
		return err
	}
	byTeam := map[tenant.TeamID][]project.CoverageCount{}
	for _, c := range coverage {
		byTeam[c.Team] = append(byTeam[c.Team], c)
	}
	out.TotalTeams = len(teams)
	from, to := pageBounds(len(teams), in.TeamsPage, in.TeamsPageSize)
	// The totals of projects come from the teams, since every project belongs to exactly one.
	for i, t := range teams {
		out.TotalProjects += t.Projects
		out.RiskCounts.addRisks(t.ByRisk)
		if q.teams && i >= from && i < to {
			body := teamOverviewBody{TeamID: t.ID, TeamName: t.Name, ProjectCount: t.Projects,
				SummaryCounts: summaryCounts(t.BySeverity, t.Total),
				Coverage:      scancoverage.SumCoverage(byTeam[t.ID], t.Projects, nil)}
			body.RiskCounts.addRisks(t.ByRisk)
			out.TeamsSummary = append(out.TeamsSummary, body)
		}
	}
	out.Coverage = scancoverage.SumCoverage(coverage, out.TotalProjects, byAnalysis)
	scanned, score, err := a.Overviews.OverviewRisk(ctx, sc, q.filter)
	if scanned > 0 {
		level := triage.LevelOf(score)
		out.RiskScore, out.RiskLevel = &score, &level
	}
	return err
}

// pageBounds returns the indexes of a page, from 1, of n elements.
func pageBounds(n, page, size int) (from, to int) {
	from = min((page-1)*size, n)
	return from, min(from+size, n)
}

// fillProjects adds the page of projects.
func (a *Handlers) fillProjects(ctx context.Context, sc tenant.Scope, in *orgOverviewInput, q orgOverviewQuery,
	out *orgOverviewBody) error {
	if !q.projects {
		return nil
	}
	p := q.page
	p.Offset, p.Limit = (in.ProjectsPage-1)*in.ProjectsPageSize, in.ProjectsPageSize
	projects, err := a.Overviews.ProjectSummaries(ctx, sc, q.filter, p)
	if err != nil {
		return err
	}
	coverage, err := a.summaryCoverage(ctx, sc, q, projects)
	if err != nil {
		return err
	}
	for _, s := range projects {
		n, c := s.ByAnalysis, coverage[s.ID]
		out.ProjectsSummary = append(out.ProjectsSummary, projectOverviewBody{
			ProjectID: s.ID, ProjectName: s.Name, TeamID: s.TeamID, TeamName: s.TeamName, RiskLevel: s.RiskLevel,
			SummaryCounts: summaryCounts(s.BySeverity, s.Total), SASTCount: n[finding.SAST], SCACount: n[finding.SCA],
			IaCCount:       n[finding.IaC],
			ContainerCount: n[finding.Container],
			CICDCount:      scancoverage.CountIfAnalyzed(c, finding.CICD, n[finding.CICD]),
			SecretCount:    scancoverage.CountIfAnalyzed(c, finding.Secret, n[finding.Secret]),
			DASTCount:      scancoverage.CountIfAnalyzed(c, finding.DAST, n[finding.DAST]),
			APICount:       scancoverage.CountIfAnalyzed(c, finding.API, n[finding.API]),
			Coverage:       c,
		})
	}
	return nil
}

// summaryCoverage returns the coverage of the projects, with the findings that the
// overview counts.
func (a *Handlers) summaryCoverage(ctx context.Context, sc tenant.Scope, q orgOverviewQuery,
	projects []triage.ProjectSummary) (map[tenant.ProjectID][]scancoverage.CoverageBody, error) {
	ids := endpoint.Convert(projects, func(s triage.ProjectSummary) tenant.ProjectID { return s.ID })
	all, err := a.Stats.Coverages(ctx, sc, ids, q.filter.Branches)
	if err != nil {
		return nil, err
	}
	out := make(map[tenant.ProjectID][]scancoverage.CoverageBody, len(projects))
	for _, s := range projects {
		out[s.ID] = endpoint.Convert(all[s.ID], func(c triage.Coverage) scancoverage.CoverageBody {
			b := scancoverage.ViewCoverage(&c, s.Settings, s.ByAnalysis[c.Analysis])
			if len(q.filter.Branches) > 1 {
				b.Open = nil // the branches are counted together
			}
			return b
		})
	}
	return out, nil
}

// fillTop adds the projects with the most findings.
func (a *Handlers) fillTop(ctx context.Context, sc tenant.Scope, in *orgOverviewInput, q orgOverviewQuery,
	out *orgOverviewBody) error {
	out.TopVulnerableProjects = []topProjectBody{}
	projects, err := a.Overviews.ProjectSummaries(ctx, sc, q.filter,
		triage.SummaryPage{Sort: triage.ByTotal, Limit: in.TopVulnerableLimit})
	if err != nil {
		return err
	}
	ids := make([]tenant.ProjectID, len(projects))
	for i, s := range projects {
		ids[i] = s.ID
	}
	today := a.Now()
	coverage, err := a.summaryCoverage(ctx, sc, q, projects)
	if err != nil {
		return err
	}
	days, err := a.Numbers.DayCounts(ctx, sc, ids, q.filter, triage.DateRange{First: today.AddDate(0, 0, -6),
		Last: today})
	if err != nil {
		return err
	}
	recent := map[tenant.ProjectID]int{}
	for _, d := range days {
		recent[d.ProjectID] += d.Opened
	}
	for _, s := range projects {
		if s.Total == 0 {
			break // they are ordered by it
		}
		out.TopVulnerableProjects = append(out.TopVulnerableProjects, topProjectBody{
			ProjectID: s.ID, ProjectName: s.Name, TeamID: s.TeamID, TeamName: s.TeamName, VulnerabilityCount: s.Total,
			CriticalCount: s.BySeverity[finding.Critical], HighCount: s.BySeverity[finding.High],
			RiskLevel: s.RiskLevel,
			OpenCount: s.Active, NewLast7Days: recent[s.ID], Coverage: coverage[s.ID],
		})
	}
	return nil
}

// fillDays adds what came and went.
func (a *Handlers) fillDays(ctx context.Context, sc tenant.Scope, in *orgOverviewInput, q orgOverviewQuery,
	out *orgOverviewBody) error {
	out.VulnerabilitiesOverTime = []dayCount{}
	today := a.Now().UTC().Truncate(24 * time.Hour)
	days, err := a.Overviews.OverviewDays(ctx, sc, q.filter, triage.DateRange{First: time.Unix(0, 0), Last: today})
	if err != nil {
		return err
	}
	// Age in whole days: 0 for today, so that "the last 7 days" are the ages 0 to 6.
	age := func(d triage.DayCount) int { return int(today.Sub(d.Day) / (24 * time.Hour)) }
	var trend []triage.DayCount
	if q.period > 0 {
		out.Comparison = &comparisonBody{Days: q.period}
	}
	for _, d := range days {
		if inTrend(d.Day, q.filter, true) {
			out.NewIssues += d.Opened
			out.SolvedIssues += d.Solved
		}
		if age(d) < 7 {
			out.NewIssuesLast7Days += d.Opened
			out.SolvedIssuesLast7Days += d.Solved
		}
		if inTrend(d.Day, q.filter, age(d) < in.TrendPeriodDays) {
			trend = append(trend, d)
		}
		// The previous period directly precedes the current one and has the same length.
		switch c := out.Comparison; {
		case c == nil:
		case age(d) < q.period:
			c.New, c.Solved = c.New+d.Opened, c.Solved+d.Solved
		case age(d) < 2*q.period:
			c.PreviousNew, c.PreviousSolved = c.PreviousNew+d.Opened, c.PreviousSolved+d.Solved
		}
	}
	if q.overTime {
		out.VulnerabilitiesOverTime = overTime(trend)
	}
	return nil
}

// inTrend reports whether a day is shown over time: inside of the dates that were
// named, or else recent.
func inTrend(day time.Time, f triage.OverviewFilter, recent bool) bool {
	if f.From.IsZero() && f.To.IsZero() {
		return recent
	}
	return (f.From.IsZero() || !day.Before(f.From.Truncate(24*time.Hour))) && (f.To.IsZero() || day.Before(f.To))
}

package findings

import (
	"context"
	"slices"
	"time"

	"merlon/internal/api/scancoverage"
	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// overviewInput selects the branches of a project's overview.
type overviewInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Branches  string `query:"branches" doc:"Branches. Default: the reference branch."`
}

// severityCount is a number of active findings of a severity.
type severityCount struct {
	Severity finding.Severity `json:"severity"`
	Count    int              `json:"count"`
}

// stateCount is a number of findings in a state.
type stateCount struct {
	State triage.Status `json:"state"`
	Count int           `json:"count"`
}

// analysisCount is a number of active findings of an analysis.
type analysisCount struct {
	AnalysisType finding.Analysis `json:"analysisType"`
	Count        int              `json:"count"`
}

// dayCount is a number of findings of a severity that were new on a day.
type dayCount struct {
	Date     string           `json:"date" doc:"Date in UTC, such as 2026-11-20."`
	Severity finding.Severity `json:"severity"`
	Count    int              `json:"count" doc:"Number of new findings on that day."`
}

// overviewOutput is the state of a project. It always has all severities, statuses and
// analyses, with zeros; a client draws its charts without knowing the enumerations.
type overviewOutput struct {
	Body struct {
		TotalBySeverity         []severityCount             `json:"totalBySeverity" doc:"Number of active findings: to_verify and confirmed."`
		TotalByState            []stateCount                `json:"totalByState"`
		TotalByAnalysisType     []analysisCount             `json:"totalByAnalysisType" doc:"Number of active findings."`
		VulnerabilitiesOverTime []dayCount                  `json:"vulnerabilitiesOverTime" doc:"New findings per day of the last 30 days; days without new findings are omitted."`
		RiskScore               int64                       `json:"riskScore" doc:"Risk score of the branch; the highest of several branches."`
		RiskLevel               triage.RiskLevel            `json:"riskLevel"`
		Coverage                []scancoverage.CoverageBody `json:"coverage" doc:"Coverage of each analysis on each counted branch."`
	}
}

// overviewDays is how far an overview looks back.
const overviewDays = 30

// GetOverview responds with the risk, counts and coverage of a project on its reference branch or on the branches
// that are named.
func (a *Handlers) GetOverview(ctx context.Context, sc tenant.Scope, in *overviewInput) (*overviewOutput, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	ids := []tenant.ProjectID{sc.Project}
	standings, err := a.Stats.Standings(ctx, sc, ids)
	if err != nil {
		return nil, err
	}
	named := plainList(in.Branches)
	branches := named
	if named == nil {
		branches = []string{standings[sc.Project].Branch}
	}
	// All branches are read at once: the coverage and the totals both count from them.
	cells, err := a.Numbers.ProjectCells(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &overviewOutput{}
	if out.Body.Coverage, err = a.Coverage(ctx, sc, p, named, cells); err != nil {
		return nil, err
	}
	cells = slices.DeleteFunc(cells, func(c triage.BranchBucket) bool {
		return !slices.Contains(branches, c.Branch) || !p.Settings.Shown(c.Bucket.Analysis, c.Bucket.Severity)
	})
	today := a.Now()
	days, err := a.Numbers.DayCounts(ctx, sc, ids, triage.OverviewFilter{Branches: branches},
		triage.DateRange{First: today.AddDate(0, 0, 1-overviewDays), Last: today})
	if err != nil {
		return nil, err
	}
	out.Body.TotalBySeverity, out.Body.TotalByState, out.Body.TotalByAnalysisType = sumTotals(cells)
	out.Body.VulnerabilitiesOverTime = overTime(days)
	out.Body.RiskScore = highestRisk(cells)
	out.Body.RiskLevel = triage.LevelOf(out.Body.RiskScore)
	return out, nil
}

// highestRisk returns the highest risk score of the branches of the cells; 0 without any.
func highestRisk(cells []triage.BranchBucket) (highest int64) {
	// Risk is summed per branch and not over the branches: the same flaw on two branches is one
	// risk.
	risks := map[string]int64{}
	for _, c := range cells {
		if c.Bucket.Status.Active() {
			risks[c.Branch] += c.Count.Risk
		}
	}
	for _, r := range risks {
		highest = max(highest, triage.RiskScore(r))
	}
	return highest
}

// sumTotals adds up cells: active ones by severity and by analysis, all of them by
// state.
func sumTotals(cells []triage.BranchBucket) ([]severityCount, []stateCount, []analysisCount) {
	bySeverity, byState, byAnalysis := map[finding.Severity]int{}, map[triage.Status]int{}, map[finding.Analysis]int{}
	for _, c := range cells {
		byState[c.Bucket.Status] += c.Count.N
		if c.Bucket.Status.Active() {
			bySeverity[c.Bucket.Severity] += c.Count.N
			byAnalysis[c.Bucket.Analysis] += c.Count.N
		}
	}
	return showTotals(bySeverity, byState, byAnalysis)
}

// showTotals returns totals in the order of their enumerations, zeros included.
func showTotals(bySeverity map[finding.Severity]int, byState map[triage.Status]int,
	byAnalysis map[finding.Analysis]int) ([]severityCount, []stateCount, []analysisCount) {
	severities, states, analyses := []severityCount{}, []stateCount{}, []analysisCount{}
	for _, s := range finding.Severities {
		severities = append(severities, severityCount{s, bySeverity[s]})
	}
	for _, s := range triage.Statuses {
		states = append(states, stateCount{s, byState[s]})
	}
	for _, n := range finding.Analyses {
		analyses = append(analyses, analysisCount{n, byAnalysis[n]})
	}
	return severities, states, analyses
}

// overTime adds up the days of all projects.
func overTime(days []triage.DayCount) []dayCount {
	type key struct {
		day      time.Time
		severity finding.Severity
	}
	sum := map[key]int{}
	for _, d := range days {
		sum[key{d.Day, d.Severity}] += d.Opened
	}
	out := []dayCount{}
	for k, n := range sum {
		if n > 0 {
			out = append(out, dayCount{Date: k.day.Format(time.DateOnly), Severity: k.severity, Count: n})
		}
	}
	slices.SortFunc(out, func(a, b dayCount) int {
		if a.Date != b.Date {
			if a.Date < b.Date {
				return -1
			}
			return 1
		}
		// Within a day the worst severity comes first.
		return b.Severity.Rank() - a.Severity.Rank()
	})
	return out
}

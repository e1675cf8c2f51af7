package findings_test

import (
	"strings"
	"testing"
	"time"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

func TestOrganizationOverview(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		w.Scan("other", (&apitest.ScanResult{}).Code(finding.SAST, finding.Low, "d", "src/D.java", 4))
		get := func(who, query string) *apitest.Response {
			return w.AsPerson(who).Get(w.Organization + "/results/overview" + query).Want(200)
		}
		today := w.Clock.Now().Format(time.DateOnly)
		team := strings.TrimPrefix(w.Team, "/team/")
		for _, c := range []struct {
			who, query string
			want       map[string]any
		}{
			{"read_only", "", map[string]any{
				"totalProjects": 1.0, "totalTeams": 1.0, "totalBySeverity.0.count": 3.0, "totalByState.0.count": 10.0,
				"totalByAnalysisType.0.count": 5.0,
				"criticalRiskProjects":        1.0, "lowRiskProjects": 0.0, "newIssues": 10.0,
				"newIssuesLast7Days": 10.0,
				"solvedIssues":       0.0, "criticalIssues": 3.0,
				"projectsSummary.0.projectName": "Web", "projectsSummary.0.totalVulnerabilities": 10.0,
				"projectsSummary.0.scaCount":  3.0,
				"projectsSummary.0.riskLevel": "critical", "teamsSummary.0.criticalCount": 3.0,
				"teamsSummary.0.projectCount":          1.0,
				"topVulnerableProjects.0.newLast7Days": 10.0, "topVulnerableProjects.0.openCount": 10.0,
				"vulnerabilitiesOverTime.0.severity": "critical",
			}},
			{"billing_manager", "", map[string]any{"totalProjects": 0.0, "criticalIssues": 0.0, "newIssues": 0.0,
				"totalTeams": 0.0}},
			{"member", "", map[string]any{"totalProjects": 0.0, "criticalIssues": 0.0}},
			{"administrator", "?severityFilter=CRITICAL&severityFilter=LOW&analysisTypes[]=SAST",
				map[string]any{"criticalIssues": 2.0, "lowIssues": 1.0, "highIssues": 0.0,
					"projectsSummary.0.totalVulnerabilities": 3.0}},
			{"administrator", "?statusFilter=in_review",
				map[string]any{"criticalIssues": 0.0, "totalByState.0.count": 10.0}},
			{"administrator", "?branches=other", map[string]any{"criticalIssues": 0.0, "lowIssues": 1.0}},
			{"administrator", "?teamIds=" + team, map[string]any{"totalProjects": 1.0}},
			{"administrator", "?teamIds=0198c0de-0000-8000-8000-000000000001",
				map[string]any{"totalProjects": 0.0, "criticalIssues": 0.0}},
			{"administrator", "?dateFrom=" + today + "&dateTo=" + today, map[string]any{"criticalIssues": 3.0}},
			{"administrator", "?dateTo=2020-01-01", map[string]any{"criticalIssues": 0.0, "totalByState.0.count": 0.0}},
			{"administrator", "?includeResolved=true&sortBy=name&sortOrder=asc&comparisonPeriod=week",
				map[string]any{"criticalIssues": 3.0, "comparison.newIssues": 10.0, "comparison.days": 7.0}},
			{"administrator", "?sortBy=risk_level&projectsPage=2",
				map[string]any{"projectsSummary.0": nil, "criticalIssues": 3.0}},
			{"administrator", "?sortBy=critical_count&includeProjectsSummary=false&includeTeamsSummary=false&includeOverTimeData=false",
				map[string]any{"projectsSummary.0": nil, "teamsSummary.0": nil, "vulnerabilitiesOverTime.0": nil,
					"totalProjects": 1.0}},
		} {
			a := get(c.who, c.query)
			for path, want := range c.want {
				if got := a.Value(path); got != want {
					t.Errorf("%s %s: %s: got %v, want %v", c.who, c.query, path, got, want)
				}
			}
		}
		for _, query := range []string{"?dateFrom=yesterday", "?trendPeriodDays=0", "?trendPeriodDays=366",
			"?topVulnerableLimit=51",
			"?projectsPageSize=101", "?comparisonPeriod=day", "?teamIds=x", "?statusFilter=bad",
			"?includeResolved=maybe", "?analysisTypes=all"} {
			w.AsPerson("administrator").Get(w.Organization + "/results/overview" + query).Want(400)
		}
		w.AsPerson("stranger").Get(w.Organization + "/results/overview").Want(404)
		w.AsPerson("team_manager").Patch(w.Project, map[string]any{"sastSeverities": []string{"low"}}).Want(200)
		if got := get("administrator", "").Value("criticalIssues"); got != 1.0 {
			t.Errorf("hidden findings are counted: got %v critical ones, want 1", got)
		}
	})
}

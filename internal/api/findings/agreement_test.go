package findings_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
	"merlon/internal/triage"
)

// This file compares every number that the API shows with the list that it stands for.

// row is a finding as lists show it.
type row struct {
	ID, Branch, Language, Path, Message, CreatedAt string
	CurrentState, CurrentSeverity, CurrentPriority string
	VulnerabilityType                              string
	AutofixRecords                                 []struct{ HasFixAvailable bool }
	Metadata                                       struct{ CVE string }
	Library                                        *struct{ IsDev, IsTransitive bool }
}

func (r row) active() bool { return r.CurrentState == "to_verify" || r.CurrentState == "confirmed" }

// listRows lists every finding of an analysis that the query selects, page by page.
func listRows(w *apitest.World, proj string, analysis finding.Analysis, query url.Values) []row {
	w.T.Helper()
	var out []row
	query = cloned(query)
	query.Set("limit", "7")
	for page := 1; ; page++ {
		query.Set("page", fmt.Sprint(page))
		var got struct {
			Total, TotalPages int
			Vulnerabilities   []row
		}
		w.AsPerson("administrator").Get(proj + "/results/" + string(analysis) + "?" +
			query.Encode()).Want(200).Into(&got)
		out = append(out, got.Vulnerabilities...)
		if page >= got.TotalPages {
			if len(out) != got.Total {
				w.T.Errorf("%s?%s: the list has %d rows and says %d", analysis, query.Encode(), len(out), got.Total)
			}
			return out
		}
	}
}

func cloned(q url.Values) url.Values {
	out := url.Values{}
	for k, v := range q {
		out[k] = slices.Clone(v)
	}
	return out
}

// listAllRows lists the findings of every analysis.
func listAllRows(w *apitest.World, proj string, query url.Values) []row {
	w.T.Helper()
	var out []row
	for _, a := range finding.Analyses {
		out = append(out, listRows(w, proj, a, query)...)
	}
	return out
}

// tally counts rows by what a function says of them; rows of which it says nothing are
// left out.
func tally(rows []row, by func(row) string) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		if k := by(r); k != "" {
			out[k]++
		}
	}
	return out
}

// counts reads a list of elements with a name and a count; zeros are left out.
func counts(list []map[string]any, name string) map[string]int {
	out := map[string]int{}
	for _, e := range list {
		if n := int(e["count"].(float64)); n != 0 {
			out[fmt.Sprint(e[name])] += n
		}
	}
	return out
}

func checkSame(w *apitest.World, what string, want, got any) {
	w.T.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.T.Errorf("%s (-list +number):\n%s", what, diff)
	}
}

// randomScan reports random findings of some analyses.
func randomScan(r *rand.Rand, branch string) *apitest.ScanResult {
	s := &apitest.ScanResult{}
	for range 4 + r.IntN(10) {
		n := r.IntN(25)
		analysis := finding.Analyses[[]int{0, 0, 0, 2, 3, 4}[n%6]]
		s.Code(analysis, finding.Severities[n%4], fmt.Sprintf("r%d", n%5), fmt.Sprintf("src/%s/F%d.java", branch, n),
			n+1)
		if n%3 == 0 {
			s.Findings[len(s.Findings)-1].Language = "python"
		}
	}
	for range r.IntN(5) {
		s.Vulnerable(fmt.Sprintf("CVE-2026-%d", r.IntN(4)), fmt.Sprintf("pad%d", r.IntN(3)), "1.0.0", finding.Direct)
		f, p := s.Findings[len(s.Findings)-1], s.Packages[len(s.Packages)-1]
		if r.IntN(2) == 0 {
			f.Package.Upgrade = ""
		}
		if p.Dev = r.IntN(3) == 0; r.IntN(2) == 0 {
			p.Scope = finding.Transitive
		}
		f.Package.Package = *p
	}
	return s
}

// TestNumbersAgree makes random projects and compares.
func TestNumbersAgree(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		r := rand.New(rand.NewPCG(18, 3))
		admin := w.AsPerson("administrator")
		other := "/team/" + admin.Post(w.Organization+"/team", map[string]any{"name": "Other"}).Want(200).Text("teamId")
		second := "/project/" + admin.Post(other+"/project", map[string]any{"name": "Second"}).Want(201).Text("id")
		admin.Post(w.Team+"/project", map[string]any{"name": "Never"}).Want(201)
		projects, teams := []string{w.Project, second}, map[string]string{w.Project: w.Team, second: other}
		for range 7 {
			for _, p := range projects {
				worldOf(w, teams[p], p).Scan([]string{"main", "main", "topic"}[r.IntN(3)], randomScan(r, "b"))
			}
			w.Clock.Advance(20 * 3600 * 1e9)
			for _, f := range listAllRows(w, projects[r.IntN(2)], nil) {
				if r.IntN(4) == 0 {
					status := triage.Statuses[r.IntN(4)]
					admin.Patch("/project/"+strings.Split(projectOfFinding(w, f.ID), "/")[0]+"/results/"+f.ID,
						map[string]any{"status": status}).Want(200)
				}
			}
		}
		admin.Patch(second, map[string]any{"sastSeverities": []string{"critical", "low"}}).Want(200)
		for _, p := range projects {
			checkProject(w, p)
		}
		checkOrganization(w, teams)
		checkProjectRows(w, projects)
	})
}

// worldOf returns the world with another project.
func worldOf(w *apitest.World, team, proj string) *apitest.World {
	other := *w
	other.Team, other.Project = team, proj
	return &other
}

// projectOfFinding returns the project of a finding.
func projectOfFinding(w *apitest.World, id string) (project string) {
	w.T.Helper()
	if err := w.DB.QueryRow(w.T.Context(), "SELECT project_id FROM finding WHERE id = ?",
		id).Scan(&project); err != nil {
		w.T.Fatal(err)
	}
	return project
}

// filters are queries that every list takes.
func filters() []url.Values {
	out := []url.Values{{}}
	for name, values := range map[string][]string{
		"severity": {"critical", "high,low"}, "status": {"to_verify", "resolved,ignored"},
		"priority": {"urgent", "normal,low"},
		"language": {"java", "python"}, "branch": {"main", "topic", "nowhere"},
		"searchQuery": {"F1", "r2", "CVE-2026-1"}, "hasAutofix": {"true", "false"},
		"packageType": {"direct", "transitive,dev"},
	} {
		for _, v := range values {
			out = append(out, url.Values{name: {v}})
		}
	}
	return append(out, url.Values{"severity": {"critical,medium"}, "branch": {"main"}, "language": {"java"},
		"status": {"to_verify"}},
		url.Values{"searchQuery": {"src"}, "branch": {"topic"}, "severity": {"high"}})
}

// checkProject compares the numbers of a project.
func checkProject(w *apitest.World, proj string) {
	w.T.Helper()
	everything := listAllRows(w, proj, nil)
	if len(everything) < 20 {
		w.T.Fatalf("only %d findings were made", len(everything))
	}
	for _, q := range filters() {
		what := proj + "?" + q.Encode()
		listed := listAllRows(w, proj, q)
		checkSame(w, what+": rows", tally(everything, func(r row) string { return matching(r, q) }),
			tally(listed, func(r row) string { return r.ID }))
		checkExport(w, proj, q, listed)
		for _, a := range []finding.Analysis{finding.SAST, finding.IaC, finding.Secret, finding.CICD, finding.SCA} {
			checkGroups(w, proj, a, q)
		}
		// vulnCountByType counts the branch, whatever else is filtered.
		var list struct{ VulnCountByType map[string]int }
		w.AsPerson("administrator").Get(proj + "/results/sast?" + q.Encode()).Want(200).Into(&list)
		byType := tally(everything, func(r row) string {
			if b := q.Get("branch"); b != "" && b != r.Branch {
				return ""
			}
			return r.VulnerabilityType
		})
		for _, a := range finding.Analyses {
			byType[string(a)] += 0
		}
		checkSame(w, what+": vulnCountByType", byType, list.VulnCountByType)
	}
	for _, branches := range []string{"", "main", "topic", "main,topic", "nowhere"} {
		checkOverview(w, proj, branches)
	}
}

// matching returns the id of a row that the query selects, or nothing. Of a search only
// the list knows: it is checked against what the row shows.
func matching(r row, q url.Values) string {
	in := func(name, have string) bool {
		v := q.Get(name)
		return v == "" || slices.Contains(strings.Split(v, ","), have)
	}
	fix := fmt.Sprint(len(r.AutofixRecords) > 0)
	if !in("severity", r.CurrentSeverity) || !in("status", r.CurrentState) || !in("priority", r.CurrentPriority) ||
		!in("language", r.Language) ||
		!in("branch", r.Branch) || !in("hasAutofix", fix) || !cameIn(r, q.Get("packageType")) {
		return ""
	}
	if s := strings.ToLower(q.Get("searchQuery")); s != "" && !strings.Contains(strings.ToLower(r.Path+" "+r.Message),
		s) && !strings.HasPrefix(s, "cve-") {
		return ""
	} else if strings.HasPrefix(s, "cve-") && !strings.Contains(strings.ToLower(r.Metadata.CVE), s) {
		return ""
	}
	return r.ID
}

// cameIn reports whether the row is of a package that came in by one of the ways.
func cameIn(r row, ways string) bool {
	if ways == "" || r.Library == nil {
		return ways == ""
	}
	have := []string{"direct"}
	if r.Library.IsTransitive {
		have[0] = "transitive"
	}
	if r.Library.IsDev {
		have = append(have, "dev")
	}
	return slices.ContainsFunc(have, func(way string) bool { return slices.Contains(strings.Split(ways, ","), way) })
}

// checkExport compares both exports with the list.
func checkExport(w *apitest.World, proj string, q url.Values, listed []row) {
	w.T.Helper()
	id := func(r row) string { return r.ID }
	var exported []row
	lines := json.NewDecoder(bytes.NewReader(w.AsPerson("administrator").Get(proj + "/results/export?" +
		q.Encode()).Want(200).Body))
	for lines.More() {
		var r row
		if err := lines.Decode(&r); err != nil {
			w.T.Fatal(err)
		}
		exported = append(exported, r)
	}
	checkSame(w, proj+"?"+q.Encode()+": export", tally(listed, id), tally(exported, id))
	if !slices.Contains([]string{"main", "topic"}, q.Get("branch")) {
		return // SARIF is about one branch
	}
	q = cloned(q)
	q.Set("format", "sarif")
	var log struct {
		Runs []struct{ Results []struct{ Kind string } }
	}
	w.AsPerson("administrator").Get(proj + "/results/export?" + q.Encode()).Want(200).Into(&log)
	results := 0
	for _, r := range log.Runs {
		results += len(r.Results)
	}
	rows := slices.DeleteFunc(slices.Clone(listed), func(r row) bool { return r.CurrentState == "resolved" })
	if results != len(rows) { // a document about a branch does not report what is gone from it
		w.T.Errorf("%s?%s: SARIF has %d results, the list %d rows", proj, q.Encode(), results, len(rows))
	}
}

// checkGroups compares groups with the list.
func checkGroups(w *apitest.World, proj string, a finding.Analysis, q url.Values) {
	w.T.Helper()
	q = cloned(q)
	listed := listRows(w, proj, a, q)
	q.Set("perPage", "100")
	var got struct {
		Total, TotalOccurrences int
		GroupedVulnerabilities  []struct {
			OccurrenceCount   int
			SeverityBreakdown map[string]int
			Language          *string
			Occurrences       []row
		}
	}
	w.AsPerson("administrator").Get(proj + "/results/" + string(a) + "/grouped?" + q.Encode()).Want(200).Into(&got)
	bySeverity, ids, total := map[string]int{}, map[string]int{}, 0
	for _, g := range got.GroupedVulnerabilities {
		total += g.OccurrenceCount
		for s, n := range g.SeverityBreakdown {
			if n > 0 {
				bySeverity[s] += n
			}
		}
		for _, o := range g.Occurrences {
			ids[o.ID]++
		}
		if g.OccurrenceCount != len(g.Occurrences) {
			w.T.Errorf("a group counts %d and lists %d", g.OccurrenceCount, len(g.Occurrences))
		}
		if g.Language == nil || *g.Language == "" {
			w.T.Errorf("%s: a group without a language", a)
		}
	}
	what := proj + " groups of " + string(a) + "?" + q.Encode()
	checkSame(w, what+": ids", tally(listed, func(r row) string { return r.ID }), ids)
	checkSame(w, what+": severities", tally(listed, func(r row) string { return r.CurrentSeverity }), bySeverity)
	checkSame(w, what+": totals", []int{len(listed), len(listed), len(got.GroupedVulnerabilities)},
		[]int{total, got.TotalOccurrences, got.Total})
}

// overviewNumbers are what tests read of overviews.
type overviewNumbers struct {
	TotalBySeverity, TotalByState, TotalByAnalysisType, VulnerabilitiesOverTime []map[string]any
	RiskScore                                                                   *float64
	RiskLevel                                                                   *string
	Coverage                                                                    []struct {
		Analysis, Branch, State string
		Open                    *int
	}
}

func checkOverview(w *apitest.World, proj, branches string) {
	w.T.Helper()
	var o overviewNumbers
	w.AsPerson("administrator").Get(proj + "/results/overview?branches=" + branches).Want(200).Into(&o)
	names := strings.Split(branches, ",")
	if branches == "" {
		names = []string{"main"}
	}
	rows := slices.DeleteFunc(listAllRows(w, proj, nil), func(r row) bool { return !slices.Contains(names, r.Branch) })
	compareOverview(w, proj+" overview of "+branches, rows, o, row.active)
	for _, c := range o.Coverage {
		open := 0
		for _, r := range rows {
			if r.active() && r.VulnerabilityType == c.Analysis && r.Branch == c.Branch {
				open++
			}
		}
		switch {
		case branches == "nowhere" && (c.State != "never" || c.Open != nil):
			w.T.Errorf("unknown branch: %s is %s with %v open", c.Analysis, c.State, c.Open)
		case branches != "nowhere" && (c.State != "complete" && c.State != "stale" || c.Open == nil || *c.Open != open):
			w.T.Errorf("%s of %s is %s with %v open, the list has %d", c.Analysis, c.Branch, c.State, c.Open, open)
		}
	}
	if branches == "nowhere" && (*o.RiskScore != 0 || *o.RiskLevel != "low") {
		w.T.Errorf("the risk of an unknown branch is %v, %v", *o.RiskScore, *o.RiskLevel)
	}
}

// compareOverview compares the numbers with the rows that they stand for, of which some
// are counted as findings that matter.
func compareOverview(w *apitest.World, what string, rows []row, o overviewNumbers, counted func(row) bool) {
	w.T.Helper()
	checkSame(w, what+": severities", tally(rows, where(counted, func(r row) string { return r.CurrentSeverity })),
		counts(o.TotalBySeverity, "severity"))
	checkSame(w, what+": states", tally(rows, func(r row) string { return r.CurrentState }),
		counts(o.TotalByState, "state"))
	checkSame(w, what+": analyses", tally(rows, where(counted, func(r row) string { return r.VulnerabilityType })),
		counts(o.TotalByAnalysisType, "analysisType"))
	checkSame(w, what+": days", tally(rows, func(r row) string { return r.CreatedAt[:10] + " " + r.CurrentSeverity }),
		days(o.VulnerabilitiesOverTime))
}

// where says by nothing but of the rows that are counted.
func where(counted func(row) bool, by func(row) string) func(row) string {
	return func(r row) string {
		if !counted(r) {
			return ""
		}
		return by(r)
	}
}

func days(list []map[string]any) map[string]int {
	out := map[string]int{}
	for _, e := range list {
		out[fmt.Sprint(e["date"], " ", e["severity"])] += int(e["count"].(float64))
	}
	return out
}

func ifActive(r row, text string) string {
	if r.active() {
		return text
	}
	return ""
}

// checkOrganization compares the numbers of all projects with the lists of each; teams
// has the team of each project.
func checkOrganization(w *apitest.World, teams map[string]string) {
	w.T.Helper()
	for _, q := range []url.Values{
		{}, {"severityFilter": {"CRITICAL,LOW"}}, {"analysisTypes": {"SAST"}}, {"analysisTypes": {"SCA,SECRET"}},
		{"branches": {"topic"}}, {"branches": {"nowhere"}}, {"includeResolved": {"true"}},
		{"statusFilter": {"confirmed,ignored"}}, {"statusFilter": {"resolved"}, "analysisTypes": {"SAST,IAC"}},
		{"dateFrom": {"2026-11-22"}}, {"dateTo": {"2026-11-22"}, "severityFilter": {"HIGH"}},
		{"dateFrom": {"2026-11-21"}, "dateTo": {"2026-11-23"}, "branches": {"main,topic"}},
		{"teamIds": {strings.TrimPrefix(w.Team, "/team/")}},
		{"analysisTypes": {"IAC"}, "severityFilter": {"HIGH"}, "branches": {"main,topic"}},
	} {
		checkOrganizationWith(w, q, teams)
	}
}

func checkOrganizationWith(w *apitest.World, q url.Values, teams map[string]string) {
	w.T.Helper()
	query := cloned(q)
	query.Set("trendPeriodDays", "365")
	var o struct {
		overviewNumbers
		TotalProjects, NewIssues int
		ProjectsSummary          []struct {
			ProjectID, RiskLevel               string
			TotalVulnerabilities               int
			SASTCount, SCACount, IaCCount      int
			SecretCount, CICDCount, DASTCount  *int
			CriticalCount, HighCount, LowCount int
		}
		TeamsSummary          []struct{ TotalVulnerabilities, ProjectCount int }
		TopVulnerableProjects []struct {
			ProjectID                     string
			VulnerabilityCount, OpenCount int
		}
	}
	w.AsPerson("administrator").Get(w.Organization + "/results/overview?" + query.Encode()).Want(200).Into(&o)
	var all []row
	byProject, projects := map[string][]row{}, 1 // and the one that was never scanned
	for p, team := range teams {
		if ids := q.Get("teamIds"); ids != "" && ids != strings.TrimPrefix(team, "/team/") {
			continue
		}
		projects++
		for _, r := range listAllRows(w, p, nil) {
			if selected(r, q) {
				all = append(all, r)
				id := strings.TrimPrefix(p, "/project/")
				byProject[id] = append(byProject[id], r)
			}
		}
	}
	what, counted := "organization?"+q.Encode(), countedBy(q)
	compareOverview(w, what, all, o.overviewNumbers, counted)
	number := func(rows []row, is func(row) bool) int {
		return tally(rows, where(is, func(row) string { return "n" }))["n"]
	}
	inTeams, teamProjects := 0, 0
	for _, t := range o.TeamsSummary {
		inTeams, teamProjects = inTeams+t.TotalVulnerabilities, teamProjects+t.ProjectCount
	}
	checkSame(w, what+": total", []int{number(all, counted), len(all), projects, projects},
		[]int{inTeams, o.NewIssues, o.TotalProjects, teamProjects})
	for _, p := range o.ProjectsSummary {
		rows := byProject[p.ProjectID]
		by := tally(rows, where(counted, func(r row) string { return r.VulnerabilityType }))
		severity := tally(rows, where(counted, func(r row) string { return r.CurrentSeverity }))
		checkSame(w, what+": project "+p.ProjectID, []int{by["sast"], by["sca"], by["iac"], severity["critical"],
			severity["high"], severity["low"], number(rows, counted)},
			[]int{p.SASTCount, p.SCACount, p.IaCCount, p.CriticalCount, p.HighCount, p.LowCount,
				p.TotalVulnerabilities})
		scanned := teams["/project/"+p.ProjectID] != "" && q.Get("branches") != "nowhere"
		if (p.SecretCount != nil) != scanned || scanned && *p.SecretCount != by["secret"] {
			w.T.Errorf("%s: project %s counts %v secrets, the list %d", what, p.ProjectID, p.SecretCount,
				by["secret"])
		}
		if q.Get("branches") == "nowhere" && p.RiskLevel != "low" {
			w.T.Errorf("%s: project %s has the risk %s", what, p.ProjectID, p.RiskLevel)
		}
	}
	for _, p := range o.TopVulnerableProjects {
		rows := byProject[p.ProjectID]
		checkSame(w, what+": top project "+p.ProjectID, []int{number(rows, counted),
			number(rows, func(r row) bool { return counted(r) && r.active() })},
			[]int{p.VulnerabilityCount, p.OpenCount})
	}
}

// countedBy returns what reports the rows that a query counts as findings that matter.
func countedBy(q url.Values) func(row) bool {
	statuses := []string{"to_verify", "confirmed"}
	if q.Get("includeResolved") == "true" {
		statuses = append(statuses, "resolved")
	}
	if v := q.Get("statusFilter"); v != "" {
		statuses = strings.Split(v, ",")
	}
	return func(r row) bool { return slices.Contains(statuses, r.CurrentState) }
}

func selected(r row, q url.Values) bool {
	in := func(name, have, otherwise string) bool {
		v := q.Get(name)
		if v == "" {
			v = otherwise
		}
		return v == "" || slices.Contains(strings.Split(strings.ToLower(v), ","), have)
	}
	from, to := q.Get("dateFrom"), q.Get("dateTo")
	return in("severityFilter", r.CurrentSeverity, "") && in("analysisTypes", r.VulnerabilityType, "") &&
		in("branches", r.Branch, "main") && (from == "" || r.CreatedAt[:10] >= from) &&
		(to == "" || r.CreatedAt[:10] <= to)
}

// checkProjectRows compares the rows of the list of projects.
func checkProjectRows(w *apitest.World, projects []string) {
	w.T.Helper()
	var list struct {
		MainStatistics map[string]any
		Projects       []struct {
			ProjectID   string
			RiskScore   float64
			IssuesCount map[string]int
			Coverage    []struct {
				Analysis, State string
				Open            *int
			}
		}
	}
	w.AsPerson("administrator").Get(w.Organization + "/projects").Want(200).Into(&list)
	total := map[string]int{}
	for _, p := range list.Projects {
		var rows []row
		if slices.Contains(projects, "/project/"+p.ProjectID) {
			rows = listAllRows(w, "/project/"+p.ProjectID, url.Values{"branch": {"main"}})
		}
		by := map[string]int{"critical": 0, "high": 0, "medium": 0, "low": 0}
		for s, n := range tally(rows, func(r row) string { return ifActive(r, r.CurrentSeverity) }) {
			by[s] = n
			total[s+"Issues"] += n
		}
		total["newIssues"] += len(rows)
		checkSame(w, "project row "+p.ProjectID, by, p.IssuesCount)
		var detail, overview struct{ RiskScore float64 }
		w.AsPerson("administrator").Get("/project/" + p.ProjectID).Want(200).Into(&detail)
		w.AsPerson("administrator").Get("/project/" + p.ProjectID + "/results/overview").Want(200).Into(&overview)
		checkSame(w, "risk of "+p.ProjectID, []float64{p.RiskScore, p.RiskScore},
			[]float64{detail.RiskScore, overview.RiskScore})
		for _, c := range p.Coverage {
			n := tally(rows, func(r row) string { return ifActive(r, r.VulnerabilityType) })[c.Analysis]
			if never := c.State == "never"; never != (c.Open == nil) || never != (rows == nil) ||
				!never && *c.Open != n {
				w.T.Errorf("project %s: %s is %s with %v open, the list has %d", p.ProjectID, c.Analysis, c.State,
					c.Open, n)
			}
		}
	}
	for name, n := range total {
		if list.MainStatistics[name] != float64(n) {
			w.T.Errorf("%s is %v, the lists have %d", name, list.MainStatistics[name], n)
		}
	}
}

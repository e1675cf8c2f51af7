package projects_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// specified are the fields of a project in the specification.
var specified = strings.Fields(`projectId teamId teamName name createdAt updatedAt applicationType analysisFrequency emailAlertEnabled
	monthlyReportEnabled weeklyReportEnabled sastEnabled dastEnabled scaEnabled containerEnabled apiEnabled iacEnabled sastFastScanEnabled
	aiDataflowEnabled sastSeverities scaSeverities iacSeverities incidentCreationOption aiMergeRequestEnabled improvingResultsEnabled
	sortsVulnerabilitiesEnabled`)

func TestTeamProjectListIsTheSpecifications(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		for i := range 24 {
			w.AsPerson("team_manager").Post(w.Team+"/project",
				map[string]any{"name": fmt.Sprintf("P%02d", i)}).Want(201)
		}
		for _, query := range []string{"", "?page=1", "?pageSize=20", "?page=0&pageSize=20", "?page=1&pageSize=0",
			"?page=1&pageSize=21",
			"?page=-1&pageSize=5", "?page=x&pageSize=5", "?page=1.5&pageSize=5", "?page=1&pageSize=",
			"?page=1&pageSize=5&search=%ff", "?page=1&pageSize=5&search=%00"} {
			w.AsPerson("read_only").Get(w.Team + "/projects" + query).Want(400)
		}
		type answer struct {
			Projects      [][]map[string]any `json:"projects"`
			TotalProjects int                `json:"totalProjects"`
			TotalPages    int                `json:"totalPages"`
		}
		get := func(query string) (a answer) {
			t.Helper()
			w.AsPerson("read_only").Get(w.Team + "/projects?" + query).Want(200).Into(&a)
			return a
		}
		first := get("page=1&pageSize=20")
		if len(first.Projects) != 1 || len(first.Projects[0]) != 20 || first.TotalProjects != 25 ||
			first.TotalPages != 2 {
			t.Errorf("got %d lists, total %d, pages %d; want one list of 20, 25, 2", len(first.Projects),
				first.TotalProjects, first.TotalPages)
		}
		var fields []string
		for name := range first.Projects[0][0] {
			fields = append(fields, name)
		}
		slices.Sort(fields)
		want := slices.Sorted(slices.Values(specified))
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("fields of a project (-want +got):\n%s", diff)
		}
		if got := get("page=2&pageSize=20").Projects[0]; len(got) != 5 || got[4]["name"] != "Web" ||
			got[0]["name"] != "P20" {
			t.Errorf("got the second page %v", got)
		}
		empty := w.AsPerson("read_only").Get(w.Team + "/projects?page=3&pageSize=20").Want(200)
		if got := strings.TrimSpace(string(empty.Body)); got != `{"projects":[[]],"totalProjects":25,"totalPages":2}` {
			t.Errorf("got %s for an empty page", got)
		}
		if got := get("page=1&pageSize=20&search=p1"); len(got.Projects[0]) != 10 || got.TotalProjects != 10 ||
			got.TotalPages != 1 {
			t.Errorf("a search found %d of %d", len(got.Projects[0]), got.TotalProjects)
		}
		if got := get("page=1&pageSize=20&search=_1"); got.TotalProjects != 0 {
			t.Errorf("a search for _1 found %d, want 0: it is no pattern", got.TotalProjects)
		}
		w.AsPerson("stranger").Get(w.Team + "/projects?page=1&pageSize=1").Want(404)
		if got := w.AsPerson("manager").Get(w.Team +
			"/projects?page=1&pageSize=20").Want(200).Value("totalProjects"); got != 0.0 {
			t.Errorf("a manager, who may read no project, sees %v", got)
		}
	})
}

func TestProjectsLiveAndMove(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.AsPerson("developer").Post(w.Team+"/project", map[string]any{"name": "x"}).Want(403)
		w.AsPerson("manager").Post(w.Team+"/project", map[string]any{"name": "x"}).Want(403)
		w.AsPerson("team_manager").Post(w.Team+"/project", map[string]any{"name": " \t"}).Want(400)
		made := w.AsPerson("team_manager").Post(w.Team+"/project",
			map[string]any{"name": " App ", "autoFixEnabled": true,
				"aiMergeRequestEnabled": true,
				"issueCreationMode":     "per_file", "issueCreationBranches": []string{"main", "main"}}).Want(201)
		path := "/project/" + made.Text("id")
		if made.Text("id") != made.Text("projectId") || made.Text("name") != "App" || made.Text("riskLevel") != "low" ||
			made.Value("riskScore") != 0.0 ||
			made.Value("autoFixEnabled") != true || made.Value("sastEnabled") != true {
			t.Errorf("got %s", made.Body)
		}
		if diff := cmp.Diff([]any{"main"}, made.Value("issueCreationBranches")); diff != "" {
			t.Errorf("branches (-want +got):\n%s", diff)
		}

		w.AsPerson("developer").Patch(path, map[string]any{"name": "x"}).Want(403)
		w.AsPerson("team_manager").Patch(path, map[string]any{"applicationType": "toaster"}).Want(400)
		w.AsPerson("team_manager").Patch(path, map[string]any{"sastSeverities": []string{"severe"}}).Want(400)
		w.AsPerson("team_manager").Patch(path, map[string]any{"sastSeverities": []string{"low", "critical", "low"},
			"referenceBranch": "develop", "autoFixEnabled": false}).Want(200)
		got := w.AsPerson("read_only").Get(path).Want(200)
		if diff := cmp.Diff([]any{"critical", "low"}, got.Value("sastSeverities")); diff != "" {
			t.Errorf("severities (-want +got):\n%s", diff)
		}
		if got.Text("referenceBranch") != "develop" || got.Value("autoFixEnabled") != false ||
			got.Value("aiMergeRequestEnabled") != true {
			t.Errorf("got %s", got.Body)
		}
		w.AsPerson("team_manager").Patch(path, map[string]any{"referenceBranch": nil}).Want(200)
		if got := w.AsPerson("read_only").Get(path).Want(200); got.Value("referenceBranch") != nil {
			t.Errorf("got %s", got.Body)
		}

		blue := w.AsPerson("administrator").Post(w.Organization+"/team",
			map[string]any{"name": "Blue", "description": ""}).Want(200).Text("teamId")
		w.AsPerson("team_manager").Patch(path, map[string]any{"teamId": blue}).Want(404) // does not see that team
		w.AsPerson("administrator").Post("/team/"+blue+"/member", map[string]any{"userId": w.People["team_manager"],
			"role": "developer"}).Want(200)
		w.AsPerson("team_manager").Patch(path, map[string]any{"teamId": blue}).Want(403)
		w.AsPerson("administrator").Patch(path, map[string]any{"teamId": blue}).Want(200)
		w.AsPerson("read_only").Get(path).Want(404)
		w.AsPerson("team_manager").Patch(path, map[string]any{"name": "x"}).Want(403) // a developer there
		for team, want := range map[string]float64{w.Team: 1, "/team/" + blue: 1} {
			if got := w.AsPerson("administrator").Get(team +
				"/projects?page=1&pageSize=20").Want(200).Value("totalProjects"); got != want {
				t.Errorf("%s has %v projects, want %v", team, got, want)
			}
		}
		w.AsPerson("team_manager").Delete(path, nil).Want(403)
		w.AsPerson("administrator").Delete(path, nil).Want(200)
		w.AsPerson("administrator").Get(path).Want(404)
		if got := w.AsPerson("administrator").Get(w.Organization +
			"/projects").Want(200).Value("totalProjects"); got != 1.0 {
			t.Errorf("the organization has %v projects, want 1", got)
		}
		w.AsPerson("team_manager").Delete("/team/"+blue, nil).Want(403)
		w.AsPerson("administrator").Delete(w.Team+"?deleteProjects=true", nil).Want(200)
		w.AsPerson("administrator").Get(w.Project).Want(404)
	})
}

func TestOrganizationProjectList(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		blue := "/team/" + w.AsPerson("administrator").Post(w.Organization+"/team",
			map[string]any{"name": "Blue", "description": ""}).Want(200).Text("teamId")
		single := w.AsPerson("administrator").Post(blue+"/project",
			map[string]any{"name": "Aardvark"}).Want(201).Text("id")
		w.AsPerson("administrator").Post(blue+"/project", map[string]any{"name": "Zebra"}).Want(201)
		w.AsPerson("administrator").Post("/project/"+single+"/member",
			map[string]any{"userId": w.People["developer"], "role": "read_only"}).Want(200)

		names := func(who, query string) (names []string) {
			t.Helper()
			var a struct{ Projects []struct{ Name string } }
			w.AsPerson(who).Get(w.Organization + "/projects" + query).Want(200).Into(&a)
			for _, p := range a.Projects {
				names = append(names, p.Name)
			}
			return names
		}
		for _, tt := range []struct {
			who, query string
			want       []string
		}{
			{"administrator", "", []string{"Aardvark", "Web", "Zebra"}},
			{"administrator", "?pageSize=2&page=2", []string{"Zebra"}},
			{"administrator", "?limit=1&pageNumber=2", []string{"Web"}},
			{"administrator", "?pageSize=100000", []string{"Aardvark", "Web", "Zebra"}},
			{"administrator", "?pageSize=-3&page=-1", []string{"Aardvark"}},
			{"administrator", "?search=E", []string{"Web", "Zebra"}},
			{"developer", "", []string{"Aardvark", "Web"}},
			{"developer", "?search=a", []string{"Aardvark"}},
			{"read_only", "", []string{"Web"}},
			{"member", "", nil},
			{"manager", "", nil},
			{"billing_manager", "", nil},
		} {
			if diff := cmp.Diff(tt.want, names(tt.who, tt.query)); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", tt.who, tt.query, diff)
			}
		}
		w.AsPerson("stranger").Get(w.Organization + "/projects").Want(404)
		w.AsPerson("developer").Get(w.Organization + "/projects?page=x").Want(400)
		w.AsPerson("developer").Get("/project/" + single).Want(200)
		w.AsPerson("developer").Patch("/project/"+single, map[string]any{"name": "x"}).Want(403)
		w.AsPerson("developer").Get(blue + "/members?page=1&pageSize=1").Want(404)
	})
}

// stand writes how a project stands, as an ingest would.
func stand(t *testing.T, r *apitest.Runner, project string, statements ...string) {
	t.Helper()
	err := r.DB.Tx(t.Context(), func(tx *store.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(t.Context(), s, project); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOrganizationProjectNumbers(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		id := strings.TrimPrefix(w.Project, "/project/")
		org := strings.TrimPrefix(w.Organization, "/organization/")
		today := storetest.Start.Unix() / 86400
		stand(t, w.Runner, id,
			"INSERT INTO project_stats (project_id, organization_id, branch, critical, high, medium, low, "+
				"risk_score, risk_level, level_since) VALUES (?, '"+
				org+"', 'main', 2, 1, 0, 4, 91, 1, "+fmt.Sprint(storetest.Start.UnixMilli())+")",
			"INSERT INTO branch_coverage (project_id, branch, analysis, subject, run_id, source, complete, at) "+
				"VALUES (?, 'main', 2, '', '0198c0de-0000-8000-8000-000000000001', 'cli', TRUE, 1000)",
			"INSERT INTO branch_stats (project_id, branch, analysis, severity, status, priority, findings, risk) "+
				"VALUES (?, 'main', 2, 1, 1, 1, 2, 0)",
			"INSERT INTO branch_daily (project_id, branch, day, analysis, severity, opened, solved) VALUES (?, "+
				"'main', "+fmt.Sprint(today-30)+", 2, 1, 10, 5)",
			"INSERT INTO branch_daily (project_id, branch, day, analysis, severity, opened, solved) VALUES (?, "+
				"'main', "+fmt.Sprint(today)+", 2, 1, 3, 2)",
			"INSERT INTO branch_daily (project_id, branch, day, analysis, severity, opened, solved) VALUES (?, "+
				"'other', "+fmt.Sprint(today)+", 2, 1, 100, 100)")
		for _, who := range []string{"administrator", "developer"} {
			var got struct {
				Projects       []map[string]any
				MainStatistics map[string]int
			}
			w.AsPerson(who).Get(w.Organization + "/projects").Want(200).Into(&got)
			p := got.Projects[0]
			for _, name := range []string{"createdAt", "updatedAt", "teamId", "coverage"} {
				delete(p, name)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(`{"projectId":"`+id+`","teamName":"Red","name":"Web","riskScore":91,"riskLevel":"critical",
				"issuesCount":{"critical":2,"high":1,"medium":0,"low":4},
				"analyses":[{"type":"sca","lastScan":"1970-01-01T00:00:01Z","source":"cli","issuesCount":{"critical":2,"high":0,"medium":0,"low":0}}],
				"isGithubLinked":false,"isGitlabLinked":false,"referenceBranch":null}`), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, p); diff != "" {
				t.Errorf("%s: project (-want +got):\n%s", who, diff)
			}
			numbers := map[string]int{"criticalRiskProjects": 1, "criticalRiskProjectsInLast7Days": 1,
				"highRiskProjects": 0, "highRiskProjectsInLast7Days": 0,
				"solvedIssues": 7, "solvedIssuesInLast7Days": 2, "newIssues": 13, "newIssuesInLast7Days": 3,
				"criticalIssues": 2, "highIssues": 1, "mediumIssues": 0, "lowIssues": 4}
			if diff := cmp.Diff(numbers, got.MainStatistics); diff != "" {
				t.Errorf("%s: statistics (-want +got):\n%s", who, diff)
			}
		}
		if got := w.AsPerson("member").Get(w.Organization +
			"/projects").Want(200).Value("mainStatistics.criticalIssues"); got != 0.0 {
			t.Errorf("somebody without projects sees %v critical findings", got)
		}
		if got := w.AsPerson("developer").Get(w.Project).Want(200); got.Value("riskScore") != 91.0 ||
			got.Text("riskLevel") != "critical" {
			t.Errorf("got %s", got.Body)
		}
	})
}

func TestFindingProfile(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		manager := w.AsPerson("team_manager")
		if got := manager.Get(w.Project).Want(200).Value("findingProfile"); got != "default" {
			t.Errorf("a new project has the profile %v", got)
		}
		manager.Patch(w.Project, map[string]any{"findingProfile": "all"}).Want(200)
		if got := manager.Get(w.Project).Want(200).Value("findingProfile"); got != "all" {
			t.Errorf("the project has the profile %v, want all", got)
		}
		manager.Patch(w.Project, map[string]any{"findingProfile": "most"}).Want(400)
	})
}

package findings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

// listed is what tests read of a list.
type listed struct {
	Page, Limit, Total, TotalPages int
	NextCursor                     *string
	VulnCountByType                map[string]int
	Vulnerabilities                []struct {
		ID, Path, CurrentState, CurrentSeverity, CurrentPriority, Branch string
		PriorityManualOverride                                           bool
		HistoryItems                                                     []struct{ Type, Value, Reason string }
	}
}

func (l listed) paths() []string {
	out := []string{}
	for _, v := range l.Vulnerabilities {
		out = append(out, v.Path)
	}
	return out
}

func listFindings(w *apitest.World, path string) (l listed) {
	w.T.Helper()
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	path += mark + "view=full"
	w.AsPerson("read_only").Get(w.Project + "/results/" + path).Want(200).Into(&l)
	return l
}

func TestResultLists(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		for query, want := range map[string][]string{
			"sast": {"src/A.java", "src/A.java", "src/B.java", "test/C.java",
				"src/D.java"},
			"sast?sort=currentSeverity": {"src/A.java", "src/A.java", "src/B.java", "test/C.java",
				"src/D.java"},
			"sast?sort=currentSeverity&order=DESC": {"src/D.java", "test/C.java", "src/B.java", "src/A.java",
				"src/A.java"},
			"sast?severity[]=CRITICAL&severity[]=low": {"src/A.java", "src/A.java", "src/D.java"},
			"sast?severity=high,low":                  {"src/B.java", "src/D.java"},
			"sast?severity[0]=high":                   {"src/B.java"},
			"sast?status=to_verify&severity=high":     {"src/B.java"},
			"sast?status=not_exploitable":             {},
			"sast?status=confirmed":                   {},
			"sast?searchQuery=RULE b":                 {"src/B.java"},
			"sast?query=c.JAVA":                       {"test/C.java"},
			"sast?searchQuery=%25":                    {},
			"sast?branch=main&severity=high":          {"src/B.java"},
			"sast?branch=other":                       {},
			"sast?language=JAVA&severity=medium":      {"test/C.java"},
			"sast?hasAutofix=true":                    {},
			"sast?pageNumber=2&pageSizeNumber=2":      {"src/B.java", "test/C.java"},
			"sast?page=9&limit=2":                     {},
			"sast?page=3&perPage=2":                   {"src/D.java"},
			"iac":                                     {"main.tf"},
			"cicd":                                    {},
			"dast":                                    {},
			"container?imageId=0198c0de-0000-8000-8000-000000000001":       {},
			"sca?hasAutofix=true&packageType[]=transitive":                 {"package-lock.json"},
			"sca?searchQuery=CVE-2026-2&sort=currentCVSS&order=asc":        {"package-lock.json"},
			"sca?sort=updatedAt&priority=normal,urgent&packageType=direct": {"package-lock.json", "package-lock.json"},
		} {
			if diff := cmp.Diff(want, listFindings(w, strings.ReplaceAll(query, " ", "%20")).paths()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
		l := listFindings(w, "sast?limit=2&page=7")
		if l.Total != 5 || l.TotalPages != 3 || l.Page != 7 || l.Limit != 2 {
			t.Errorf("got page %d of %d, size %d, total %d; want 7 of 3, 2, 5", l.Page, l.TotalPages, l.Limit, l.Total)
		}
		if l := listFindings(w, "sast?limit=100000"); l.Limit != 500 {
			t.Errorf("got size %d, want it clamped to 500", l.Limit)
		}
		want := map[string]int{"sast": 5, "sca": 3, "iac": 1, "secret": 1, "cicd": 0, "container": 0, "dast": 0,
			"api": 0}
		if diff := cmp.Diff(want, l.VulnCountByType); diff != "" {
			t.Errorf("counts by type (-want +got):\n%s", diff)
		}
	})
}

func TestResultListsRefuse(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		for _, query := range []string{
			"sast?severity=awful", "sast?status=open", "sast?priority=none", "sast?order=up", "sast?hasAutofix=perhaps",
			"sca?packageType=indirect", "container?imageId=x", "sast?cursor=x", "sast/grouped?order=up",
			"sast?page=one", "export?type=all", "container/images/grouped?order=up", "sast?searchQuery=%00", "sast/x",
			"x/similar",
		} {
			w.AsPerson("read_only").Get(w.Project + "/results/" + query).Want(400)
		}
	})
}

func TestCursorsWalkEveryOrder(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		for _, query := range []string{"sast?", "sast?sort=currentSeverity&", "sast?sort=language&order=desc&",
			"sast?sort=createdAt&",
			"sast?sort=updateAt&order=asc&", "sca?sort=currentCVSS&", "sast?sort=currentPriority&",
			"sast?sort=currentState&order=desc&"} {
			all := listFindings(w, strings.TrimRight(query, "?&"))
			var got []string
			cursor := ""
			for range 10 {
				l := listFindings(w, query+"limit=2"+cursor)
				for _, v := range l.Vulnerabilities {
					got = append(got, v.ID)
				}
				if l.NextCursor == nil {
					break
				}
				cursor = "&cursor=" + *l.NextCursor
			}
			var want []string
			for _, v := range all.Vulnerabilities {
				want = append(want, v.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
		next := *listFindings(w, "sast?limit=2").NextCursor
		w.AsPerson("read_only").Get(w.Project + "/results/sast?sort=language&cursor=" + next).Want(400)
	})
}

func TestResultElement(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		a := w.AsPerson("read_only").Get(w.Project + "/results/sast?limit=1&view=full").Want(200)
		for path, want := range map[string]any{
			"vulnerabilities.0.currentSeverity":                  "critical",
			"vulnerabilities.0.currentState":                     "to_verify",
			"vulnerabilities.0.scannerType":                      "sast",
			"vulnerabilities.0.timeToFix":                        nil,
			"vulnerabilities.0.vulnerability.severity":           "CRITICAL",
			"vulnerabilities.0.vulnerability.cwe.0":              "CWE-89",
			"vulnerabilities.0.base.vulnerability.name":          "Rule a",
			"vulnerabilities.0.base.historyItems.items.0.value":  "to_verify",
			"vulnerabilities.0.historyItems.0.type":              "status",
			"vulnerabilities.0.codeSnippets.0.code.0.line":       1.0,
			"vulnerabilities.0.codeSnippets.0.endLine":           2.0,
			"vulnerabilities.0.dataFlowItems.1.type":             "sink",
			"vulnerabilities.0.dataFlowItems.1.order":            1.0,
			"vulnerabilities.0.base.dataFlowItems.0.code.1.line": 2.0,
			"scanProjectInfo.state":                              "running",
			"projectName":                                        "Web",
		} {
			if got := a.Value(path); got != want {
				t.Errorf("%s: got %v, want %v", path, got, want)
			}
		}
		w.Scan("copies", (&apitest.ScanResult{}).Code(finding.SAST, finding.High, "c", "src/c.java",
			3).Copy("out/c.java",
			5).Copy("old/c.java", 6))
		c := w.AsPerson("read_only").Get(w.Project + "/results/sast?branch=copies&view=full").Want(200)
		if got, want := c.Value("vulnerabilities.0.message"), "message of c Also at out/c.java:5, old/c.java:6. "+
			"Also reported by: sast/other."; got != want {
			t.Errorf("message %q, want %q", got, want)
		}
		s := w.AsPerson("read_only").Get(w.Project + "/results/sca?searchQuery=CVE-2026-2&view=full").Want(200)
		for path, want := range map[string]any{
			"total":                                              1.0,
			"vulnerabilities.0.base.vulnerability":               nil,
			"vulnerabilities.0.vulnerability.cve":                "CVE-2026-2",
			"vulnerabilities.0.metadata.summary":                 "summary of CVE-2026-2",
			"vulnerabilities.0.metadata.cwes.0.cweId":            "CWE-400",
			"vulnerabilities.0.library.packageName":              "left-pad",
			"vulnerabilities.0.library.path.0":                   "root@1.0.0",
			"vulnerabilities.0.scaDetectedPackage.fileName":      "package-lock.json",
			"vulnerabilities.0.autofixRecords.0.installCommand":  "npm install left-pad@9.9.9",
			"vulnerabilities.0.metadata.packages.0.fixed":        "9.9.9",
			"vulnerabilities.0.cvssScore":                        8.1,
			"vulnerabilities.0.metadata.packages.0.fixAvailable": true,
		} {
			if got := s.Value(path); got != want {
				t.Errorf("sca %s: got %v, want %v", path, got, want)
			}
		}
		id := s.Text("vulnerabilities.0.id")
		d := w.AsPerson("read_only").Get(w.Project + "/results/sca/" + id + "?language=en").Want(200)
		if d.Text("vulnerabilityId") != id || d.Text("sca.base.id") != id ||
			d.Text("vulnerability.package.packageName") != "left-pad" ||
			d.Text("vulnerability.vulnerability.vulnerabilityType") != "sca" || d.Value("sast") != nil {
			t.Errorf("the detail is not under both names:\n%s", d.Body)
		}
		w.AsPerson("read_only").Get(w.Project + "/results/sast/" + id).Want(404)
	})
}

func TestGroupsAndSimilar(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		a := w.AsPerson("read_only").Get(w.Project +
			"/results/sast/grouped?page=1&perPage=100&sort=occurrenceCount&order=DESC").Want(200)
		for path, want := range map[string]any{
			"total": 4.0, "totalOccurrences": 5.0, "limit": 100.0, "totalPages": 1.0, "isProjectParsed": true,
			"groupedVulnerabilities.0.occurrenceCount": 2.0, "groupedVulnerabilities.0.highestSeverity": "critical",
			"groupedVulnerabilities.0.severityBreakdown.critical": 2.0,
			"groupedVulnerabilities.0.occurrences.1.path":         "src/A.java",
			"groupedVulnerabilities.0.vulnerability.name":         "Rule a",
		} {
			if got := a.Value(path); got != want {
				t.Errorf("%s: got %v, want %v", path, got, want)
			}
		}
		s := w.AsPerson("read_only").Get(w.Project +
			"/results/sca/grouped?sort=highestCvss&packageManagerFilter=transitive").Want(200)
		for path, want := range map[string]any{
			"total": 1.0, "groupedVulnerabilities.0.packageName": "right-pad",
			"groupedVulnerabilities.0.cveId":           "CVE-2026-1",
			"groupedVulnerabilities.0.transitiveCount": 1.0, "groupedVulnerabilities.0.hasFix": true,
			"groupedVulnerabilities.0.highestCvss":                  8.1,
			"groupedVulnerabilities.0.occurrences.0.packageVersion": "1.0.0",
			"groupedVulnerabilities.0.vulnerability.summary":        "summary of CVE-2026-1",
		} {
			if got := s.Value(path); got != want {
				t.Errorf("sca %s: got %v, want %v", path, got, want)
			}
		}
		for _, sort := range []string{"highestSeverity", "lastSeen", "currentSeverity", "currentPriority",
			"createdAt"} {
			for _, order := range []string{"asc", "DESC"} {
				w.AsPerson("read_only").Get(w.Project + "/results/iac/grouped?sort=" + sort + "&order=" +
					order).Want(200)
			}
		}
		id := listFindings(w, "sast?severity=critical").Vulnerabilities[0].ID
		m := w.AsPerson("read_only").Get(w.Project + "/results/" + id + "/similar").Want(200)
		if m.Value("totalSimilar") != 1.0 || m.Text("sast.base.id") != id ||
			m.Text("similarOccurrences.0.path") != "src/A.java" {
			t.Errorf("got other similar findings:\n%s", m.Body)
		}
		if m := w.AsPerson("read_only").Get(w.Project + "/results/" + id +
			"/similar?pathFilter=nowhere").Want(200); m.Value("totalSimilar") != 0.0 {
			t.Errorf("the path does not filter:\n%s", m.Body)
		}
	})
}

func TestDecisions(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		w.Scan("feature", apitest.SomeResults())
		one := func(branch string) string {
			return listFindings(w, "sast?severity=high&branch="+branch).Vulnerabilities[0].ID
		}
		id := one("main")
		patch := func(who string, body map[string]any, want int) {
			t.Helper()
			w.AsPerson(who).Patch(w.Project+"/results/"+id, body).Want(want)
		}
		patch("read_only", map[string]any{"status": "ignored"}, 403)
		patch("stranger", map[string]any{"status": "ignored"}, 404)
		patch("developer", map[string]any{}, 400)
		patch("developer", map[string]any{"status": "proposed_not_exploitable"}, 400)
		patch("developer", map[string]any{"status": "open"}, 400)
		patch("developer", map[string]any{"comment": strings.Repeat("x", 513)}, 400)
		patch("developer", map[string]any{"status": "Not_Exploitable", "priority": "CRITICAL_URGENT",
			"comment": "harmless", "userId": "x"}, 200)
		for _, branch := range []string{"main", "feature", "later"} {
			if branch == "later" {
				w.Scan("later", apitest.SomeResults())
			}
			v := listFindings(w, "sast?severity=high&branch="+branch).Vulnerabilities[0]
			if v.CurrentState != "ignored" || v.CurrentPriority != "critical_urgent" || !v.PriorityManualOverride {
				t.Errorf("branch %s: got %s and %s", branch, v.CurrentState, v.CurrentPriority)
			}
			said := 0
			for _, h := range v.HistoryItems {
				if h.Type == "comment" && h.Value == "harmless" {
					said++
				}
			}
			if said != 1 {
				t.Errorf("branch %s: the comment is in the history %d times", branch, said)
			}
		}
		b := w.AsPerson("developer").Patch(w.Project+"/results/batch", map[string]any{"items": []map[string]any{
			{"vulnerabilityId": one("feature"), "status": "confirmed"},
			{"vulnerabilityId": "0198c0de-0000-8000-8000-000000000001", "status": "confirmed"},
			{"vulnerabilityId": "x", "status": "confirmed"},
			{"vulnerabilityId": id, "status": "bad"},
		}}).Want(200)
		if b.Value("successCount") != 1.0 || b.Value("failureCount") != 3.0 || b.Value("results.0.success") != true ||
			b.Value("results.1.success") != false {
			t.Errorf("got other results:\n%s", b.Body)
		}
		w.AsPerson("developer").Patch(w.Project+"/results/batch", map[string]any{"items": []any{}}).Want(400)
		if v := listFindings(w, "sast?severity=high&branch=main").Vulnerabilities[0]; v.CurrentState != "confirmed" {
			t.Errorf("the batch does not follow the flaw: got %s", v.CurrentState)
		}
	})
}

func TestSettingsHideFindings(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		w.AsPerson("team_manager").Patch(w.Project, map[string]any{"sastSeverities": []string{"high"},
			"scaSeverities": []string{}}).Want(200)
		if diff := cmp.Diff([]string{"src/B.java"}, listFindings(w, "sast").paths()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := listFindings(w, "sast?severity=low").paths(); len(got) != 0 {
			t.Errorf("a hidden severity is listed: %v", got)
		}
		l := listFindings(w, "sca")
		if l.Total != 0 || l.VulnCountByType["sast"] != 1 || l.VulnCountByType["sca"] != 0 ||
			l.VulnCountByType["iac"] != 1 {
			t.Errorf("hidden findings are counted: %d, %v", l.Total, l.VulnCountByType)
		}
	})
}

func TestOverviewBranchesPackages(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		empty := w.AsPerson("read_only").Get(w.Project + "/results/overview").Want(200)
		if empty.Value("riskScore") != 0.0 || empty.Text("riskLevel") != "low" {
			t.Errorf("got %s for a project without scans", empty.Body)
		}
		w.Scan("main", apitest.SomeResults())
		w.Scan("other", (&apitest.ScanResult{}).Code(finding.SAST, finding.Low, "d", "src/D.java", 4))
		a := w.AsPerson("read_only").Get(w.Project + "/results/overview").Want(200)
		for path, want := range map[string]any{
			"totalBySeverity.0.severity": "critical", "totalBySeverity.0.count": 3.0, "totalBySeverity.3.count": 1.0,
			"totalByState.0.count": 10.0, "totalByAnalysisType.0.count": 5.0, "totalByAnalysisType.1.count": 3.0,
			// critical 3 × 17.5, high 2 × 7.5 and 3 × (5 + 1.1 × 5 / 1.9), medium 3, low 1
			"riskScore": 95.0, "riskLevel": "critical",
		} {
			if got := a.Value(path); got != want {
				t.Errorf("%s: got %v, want %v", path, got, want)
			}
		}
		b := w.AsPerson("read_only").Get(w.Project + "/results/overview?branches=other&branches=none").Want(200)
		if b.Value("totalBySeverity.3.count") != 1.0 || b.Value("totalByState.0.count") != 1.0 ||
			b.Text("vulnerabilitiesOverTime.0.severity") != "low" {
			t.Errorf("got other numbers of one branch:\n%s", b.Body)
		}
		if got := fmt.Sprint(w.AsPerson("read_only").Get(w.Project +
			"/branches").Want(200).Value("branches")); got != "[main other]" {
			t.Errorf("got branches %s", got)
		}
		p := w.AsPerson("read_only").Get(w.Project +
			"/results/sca/packages?searchQuery=PAD&packageType=direct&branch=main").Want(200)
		if p.Value("total") != 1.0 || p.Text("packages.0.packageName") != "left-pad" ||
			p.Text("packages.0.fileName") != "package-lock.json" {
			t.Errorf("got other packages:\n%s", p.Body)
		}
		for _, path := range []string{"/results/container/images?page=1&limit=100",
			"/results/container/images/grouped?sort=latestScanAt&order=DESC", "/results/container/packages"} {
			w.AsPerson("read_only").Get(w.Project + path).Want(200)
		}
	})
}

// TestResultsAreTheirProjects calls every address of results as people who have
// nothing to do with the project.
func TestResultsAreTheirProjects(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		id := listFindings(w, "sast").Vulnerabilities[0].ID
		other := apitest.AddNeighbour(t, w)
		for _, path := range []string{"sast", "sca", "iac", "cicd", "secret", "container", "dast", "api", "sast/" + id,
			"sast/grouped", "sca/grouped",
			id + "/similar", "overview", "export", "export?format=sarif", "sca/packages", "container/packages",
			"container/images", "container/images/grouped",
			"container?imageId=" + id} {
			w.As("").Get(w.Project + "/results/" + path).Want(401)
			w.AsPerson("stranger").Get(w.Project + "/results/" + path).Want(404)
			w.AsPerson("billing_manager").Get(w.Project + "/results/" + path).Want(404)
			w.As(other.Admin).Get(w.Project + "/results/" + path).Want(404)
		}
		for _, path := range []string{"sast/" + id, id + "/similar"} { // inside the caller's own project
			w.As(other.Admin).Get(other.Project + "/results/" + path).Want(404)
		}
		w.As(other.Admin).Patch(other.Project+"/results/"+id, map[string]any{"status": "ignored"}).Want(404)
		w.As(other.Admin).Get(w.Project + "/branches").Want(404)
	})
}

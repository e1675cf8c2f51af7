package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// A scanned is what a scan of a test reports.
type scanned struct {
	rules    []*finding.Rule
	findings []*finding.Finding
	packages []*finding.Package
}

// code reports a flaw in code.
func (s *scanned) code(analysis finding.Analysis, severity finding.Severity, rule, path string, line int) *scanned {
	id := string(analysis) + "/" + rule
	s.rule(&finding.Rule{
		ID: id, Analysis: analysis, Name: "Rule " + rule, ShortDescription: "short", Description: "What and why.",
		HowToPrevent: "How to fix.",
		CWE:          []string{"CWE-89"}, OWASP: []string{"A03:2021"}, Severity: severity, Language: "java",
	})
	snippet := &finding.Snippet{StartLine: line, Lines: []string{"query(" + rule + ")", "next"}}
	f := &finding.Finding{
		RuleID: id, Analyzer: string(analysis) + "/test", Analysis: analysis, Severity: severity,
		Message: "message of " + rule, Language: "java",
		Location: finding.Location{Path: path, StartLine: line, EndLine: line}, Snippet: snippet,
		Steps: []finding.Step{
			{Kind: finding.Source, Message: "from", Location: finding.Location{Path: path, StartLine: line},
				Snippet: snippet},
			{Kind: finding.Sink, Message: "to", Location: finding.Location{Path: path, StartLine: line}},
		},
	}
	f.Fingerprint = finding.NewFingerprint(id, path, fmt.Sprint(rule, line), 0)
	s.findings = append(s.findings, f)
	return s
}

// copied says that the last flaw is in a copy of the code as well, and that another rule says it.
func (s *scanned) copied(path string, line int) *scanned {
	f := s.findings[len(s.findings)-1]
	f.Also, f.EquivalentRules = append(f.Also, finding.Location{Path: path, StartLine: line, EndLine: line}),
		[]string{"sast/other"}
	return s
}

// vulnerable reports a package with an advisory.
func (s *scanned) vulnerable(cve, name, version string, scope finding.Dependency) *scanned {
	s.rule(&finding.Rule{
		ID: "sca/" + cve, Analysis: finding.SCA, Name: cve, Severity: finding.High,
		Advisory: &finding.Advisory{
			ID: cve, CVE: cve, GHSA: "GHSA-x", Aliases: []string{cve, "GHSA-x"}, Summary: "summary of " + cve,
			Details: "details", CWE: []string{"CWE-400"},
			Severities: []finding.AdvisorySeverity{{Type: "CVSS_V3", Score: "CVSS:3.1/…"}},
			References: []finding.AdvisoryReference{{Type: "WEB", URL: "https://example.test"}},
			CVSS:       8.1,
		},
	})
	p := finding.Package{Ecosystem: "npm", Name: name, Version: version, Path: "package-lock.json", Scope: scope,
		Via: []string{"root@1.0.0"}}
	s.packages = append(s.packages, &p)
	f := &finding.Finding{
		RuleID: "sca/" + cve, Analyzer: "sca/test", Analysis: finding.SCA, Severity: finding.High, Message: name +
			" is vulnerable", Language: "javascript",
		Location: finding.Location{Path: p.Path, StartLine: 3, EndLine: 3},
		Package: &finding.PackageMatch{Package: p, Introduced: "0", Fixed: []string{"0.0.1", "9.9.9"},
			Upgrade: "9.9.9"},
	}
	f.Fingerprint = finding.NewFingerprint(f.RuleID, p.Path, name+version, 0)
	s.findings = append(s.findings, f)
	return s
}

func (s *scanned) rule(r *finding.Rule) {
	for _, known := range s.rules {
		if known.ID == r.ID {
			return
		}
	}
	s.rules = append(s.rules, r)
}

// stream returns the messages of the scan; every analyzer looked at everything.
func (s *scanned) stream(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	config := &scan.Config{Analyses: finding.Analyses}
	for _, a := range finding.Analyses {
		config.Analyzers = append(config.Analyzers, string(a)+"/test")
	}
	must(h.Config(config))
	for _, r := range s.rules {
		must(h.Rule(r))
	}
	for _, p := range s.packages {
		must(h.Package(p))
	}
	for _, f := range s.findings {
		must(h.Finding(f))
	}
	for _, a := range finding.Analyses {
		must(h.Status(&scan.Status{Analyzer: string(a) + "/test", Analysis: a, State: scan.Succeeded,
			Reasons: []scan.Reason{}}))
	}
	return b.Bytes()
}

// scan applies a scan to a branch of the world's project.
func (w *world) scan(branch string, s *scanned) run.Outcome {
	w.t.Helper()
	return w.apply(branch, nil, s.stream(w.t))
}

// apply applies the messages of a scan, of source or of an image.
func (w *world) apply(branch string, image *run.Image, stream []byte) run.Outcome {
	w.t.Helper()
	w.Clock.Advance(time.Minute)
	project := tenant.ProjectID(strings.TrimPrefix(w.proj, "/project/"))
	org := tenant.OrganizationID(strings.TrimPrefix(w.org, "/organization/"))
	sc := tenant.System(org, tenant.TeamID(strings.TrimPrefix(w.team, "/team/")), project)
	r := &run.Run{ID: run.ID(tenant.NewID(storetest.Region, w.Clock.Now())), OrganizationID: org, ProjectID: project,
		Branch: branch, Source: "cli",
		Attempt: 1, CreatedAt: w.Clock.Now(), Image: image}
	err := w.DB.Tx(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(w.t.Context(), `INSERT INTO run (id, organization_id, project_id, branch, source, private, analyses, initiator, state,
			upload_expires_at, attempt, step, created_at, updated_at) VALUES (?, ?, ?, ?, 'cli', FALSE, '[]', '', 'running', 0, 1, '', ?, ?)`,
			string(r.ID), string(org), string(project), branch, w.Clock.Now().UnixMilli(), w.Clock.Now().UnixMilli())
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := triage.New(w.DB).Ingest(w.t.Context(), sc, r, func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(stream)), nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	told, err := json.Marshal(out)
	if err == nil {
		err = w.DB.Tx(w.t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(w.t.Context(), "UPDATE run SET outcome = ? WHERE id = ?", string(told), string(r.ID))
			return err
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// someResults is a scan with findings of all severities.
func someResults() *scanned {
	s := &scanned{}
	s.code(finding.SAST, finding.Low, "d", "src/D.java", 4).code(finding.SAST, finding.Critical, "a", "src/A.java", 1).
		code(finding.SAST, finding.Medium, "c", "test/C.java", 3).code(finding.SAST, finding.High, "b", "src/B.java",
		2).
		code(finding.SAST, finding.Critical, "a", "src/A.java", 100)
	s.code(finding.IaC, finding.High, "open", "main.tf", 7).code(finding.Secret, finding.Critical, "key", ".env", 1)
	s.vulnerable("CVE-2026-1", "left-pad", "1.0.0", finding.Direct).vulnerable("CVE-2026-1", "right-pad", "1.0.0",
		finding.Transitive).
		vulnerable("CVE-2026-2", "left-pad", "1.0.0", finding.Direct)
	return s
}

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

func (w *world) list(path string) (l listed) {
	w.t.Helper()
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	path += mark + "view=full"
	w.as("read_only").Get(w.proj + "/results/" + path).Want(200).Into(&l)
	return l
}

func TestResultLists(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
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
			if diff := cmp.Diff(want, w.list(strings.ReplaceAll(query, " ", "%20")).paths()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
		l := w.list("sast?limit=2&page=7")
		if l.Total != 5 || l.TotalPages != 3 || l.Page != 7 || l.Limit != 2 {
			t.Errorf("got page %d of %d, size %d, total %d; want 7 of 3, 2, 5", l.Page, l.TotalPages, l.Limit, l.Total)
		}
		if l := w.list("sast?limit=100000"); l.Limit != 500 {
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
	eachWorld(t, func(t *testing.T, w *world) {
		for _, query := range []string{
			"sast?severity=awful", "sast?status=open", "sast?priority=none", "sast?order=up", "sast?hasAutofix=perhaps",
			"sca?packageType=indirect", "container?imageId=x", "sast?cursor=x", "sast/grouped?order=up",
			"sast?page=one", "export?type=all", "container/images/grouped?order=up", "sast?searchQuery=%00", "sast/x",
			"x/similar",
		} {
			w.as("read_only").Get(w.proj + "/results/" + query).Want(400)
		}
	})
}

func TestCursorsWalkEveryOrder(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
		for _, query := range []string{"sast?", "sast?sort=currentSeverity&", "sast?sort=language&order=desc&",
			"sast?sort=createdAt&",
			"sast?sort=updateAt&order=asc&", "sca?sort=currentCVSS&", "sast?sort=currentPriority&",
			"sast?sort=currentState&order=desc&"} {
			all := w.list(strings.TrimRight(query, "?&"))
			var got []string
			cursor := ""
			for range 10 {
				l := w.list(query + "limit=2" + cursor)
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
		next := *w.list("sast?limit=2").NextCursor
		w.as("read_only").Get(w.proj + "/results/sast?sort=language&cursor=" + next).Want(400)
	})
}

func TestResultElement(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
		a := w.as("read_only").Get(w.proj + "/results/sast?limit=1&view=full").Want(200)
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
		w.scan("copies", (&scanned{}).code(finding.SAST, finding.High, "c", "src/c.java", 3).copied("out/c.java",
			5).copied("old/c.java", 6))
		c := w.as("read_only").Get(w.proj + "/results/sast?branch=copies&view=full").Want(200)
		if got, want := c.Value("vulnerabilities.0.message"), "message of c Also at out/c.java:5, old/c.java:6. "+
			"Also reported by: sast/other."; got != want {
			t.Errorf("message %q, want %q", got, want)
		}
		s := w.as("read_only").Get(w.proj + "/results/sca?searchQuery=CVE-2026-2&view=full").Want(200)
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
		d := w.as("read_only").Get(w.proj + "/results/sca/" + id + "?language=en").Want(200)
		if d.Text("vulnerabilityId") != id || d.Text("sca.base.id") != id ||
			d.Text("vulnerability.package.packageName") != "left-pad" ||
			d.Text("vulnerability.vulnerability.vulnerabilityType") != "sca" || d.Value("sast") != nil {
			t.Errorf("the detail is not under both names:\n%s", d.Body)
		}
		w.as("read_only").Get(w.proj + "/results/sast/" + id).Want(404)
	})
}

func TestGroupsAndSimilar(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
		a := w.as("read_only").Get(w.proj +
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
		s := w.as("read_only").Get(w.proj +
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
				w.as("read_only").Get(w.proj + "/results/iac/grouped?sort=" + sort + "&order=" + order).Want(200)
			}
		}
		id := w.list("sast?severity=critical").Vulnerabilities[0].ID
		m := w.as("read_only").Get(w.proj + "/results/" + id + "/similar").Want(200)
		if m.Value("totalSimilar") != 1.0 || m.Text("sast.base.id") != id ||
			m.Text("similarOccurrences.0.path") != "src/A.java" {
			t.Errorf("got other similar findings:\n%s", m.Body)
		}
		if m := w.as("read_only").Get(w.proj + "/results/" + id +
			"/similar?pathFilter=nowhere").Want(200); m.Value("totalSimilar") != 0.0 {
			t.Errorf("the path does not filter:\n%s", m.Body)
		}
	})
}

func TestDecisions(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
		w.scan("feature", someResults())
		one := func(branch string) string {
			return w.list("sast?severity=high&branch=" + branch).Vulnerabilities[0].ID
		}
		id := one("main")
		patch := func(who string, body map[string]any, want int) {
			t.Helper()
			w.as(who).Patch(w.proj+"/results/"+id, body).Want(want)
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
				w.scan("later", someResults())
			}
			v := w.list("sast?severity=high&branch=" + branch).Vulnerabilities[0]
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
		b := w.as("developer").Patch(w.proj+"/results/batch", map[string]any{"items": []map[string]any{
			{"vulnerabilityId": one("feature"), "status": "confirmed"},
			{"vulnerabilityId": "0198c0de-0000-8000-8000-000000000001", "status": "confirmed"},
			{"vulnerabilityId": "x", "status": "confirmed"},
			{"vulnerabilityId": id, "status": "bad"},
		}}).Want(200)
		if b.Value("successCount") != 1.0 || b.Value("failureCount") != 3.0 || b.Value("results.0.success") != true ||
			b.Value("results.1.success") != false {
			t.Errorf("got other results:\n%s", b.Body)
		}
		w.as("developer").Patch(w.proj+"/results/batch", map[string]any{"items": []any{}}).Want(400)
		if v := w.list("sast?severity=high&branch=main").Vulnerabilities[0]; v.CurrentState != "confirmed" {
			t.Errorf("the batch does not follow the flaw: got %s", v.CurrentState)
		}
	})
}

func TestExportIsWhole(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		s := someResults()
		for i := range 450 { // more than two batches
			s.code(finding.SAST, finding.Low, "many", "src/Many.java", 1000+i)
		}
		w.scan("main", s)
		a := w.as("read_only").Get(w.proj + "/results/export").Want(200)
		seen := map[string]bool{}
		for line := range strings.Lines(string(a.Body)) {
			var v struct{ ID, ScannerType string }
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			seen[v.ID] = true
		}
		if len(seen) != 460 || strings.Count(string(a.Body), "\n") != 460 {
			t.Errorf("got %d findings in %d lines, want 460", len(seen), strings.Count(string(a.Body), "\n"))
		}
		if got := strings.Count(string(w.as("read_only").Get(w.proj+
			"/results/export?type=SCA,iac&severity=high").Want(200).Body), "\n"); got != 4 {
			t.Errorf("got %d lines, want 4", got)
		}
		if got := w.as("read_only").Get(w.proj + "/results/export?branch=none").Want(200); len(got.Body) != 0 {
			t.Errorf("got %q, want nothing", got.Body)
		}
	})
}

// live reports a flaw of a running application that the source is known to have.
func (s *scanned) live(analysis finding.Analysis, rule, address string) *scanned {
	id := string(analysis) + "/" + rule
	s.rule(&finding.Rule{ID: id, Analysis: analysis, Name: "Rule " + rule, Severity: finding.High,
		CWE: []string{"CWE-89"}})
	f := &finding.Finding{
		RuleID: id, Analyzer: string(analysis) + "/test", Analysis: analysis, Severity: finding.High,
		Message:  "It is part of a statement.",
		Location: finding.Location{Path: strings.TrimPrefix(address, "http://")},
		Live: &finding.Live{URL: address, Method: "POST", Parameter: "q", In: "form", Payload: "'",
			Proof: []string{"an error"}, Curl: "curl " + address,
			Exchanges: []finding.Exchange{{Request: "POST /search HTTP/1.1\r\nHost: " +
				"shop.example\r\n\r\nq=%27", Response: "HTTP/1.1 500 Internal Server Error\r\nX-A: " +
				"1\r\n\r\nsyntax error"}},
			Code: &finding.Code{Handler: finding.Location{Path: "app.py", StartLine: 2, EndLine: 9},
				Flaw: &finding.CodeFinding{RuleID: "sast/sql", Location: finding.Location{Path: "app.py", StartLine: 4,
					EndLine: 4}}}},
	}
	f.Fingerprint = finding.NewFingerprint(id, f.Location.Path, rule, 0)
	s.findings = append(s.findings, f)
	return s
}

// sarifLog is what tests read of SARIF.
type sarifLog struct {
	Runs []struct {
		Results []struct {
			RuleID, BaselineState string
			Locations             []struct {
				PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
			}
			RelatedLocations []struct {
				PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
			}
			WebRequest   struct{ Method, Target string }
			WebResponse  struct{ StatusCode int }
			Suppressions []struct{ Kind, Justification string }
			Properties   struct {
				ID, Analysis, Status, Branch string
				Live                         finding.Live
			}
		}
		Tool struct {
			Driver struct{ Rules []struct{ ID string } }
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct{ Message struct{ Text string } }
		}
	}
}

func (w *world) sarif(query string) (l sarifLog) {
	w.t.Helper()
	a := w.as("read_only").Get(w.proj + "/results/export?format=sarif" + query).Want(200)
	if got := a.Header.Get("Content-Type"); got != "application/sarif+json" {
		w.t.Errorf("content type %s", got)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
	if err != nil {
		w.t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("../report/sarif/testdata/sarif-schema-2.1.0.json")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		w.t.Errorf("not valid: %#v", err)
	}
	a.Into(&l)
	return l
}

// The export as SARIF holds results of every analysis, with what was decided, and says
// when the last scan did not look at everything.
func TestExportSARIF(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.as("read_only").Get(w.proj + "/results/export?format=sarif").Want(404) // nothing was scanned
		w.as("read_only").Get(w.proj + "/results/export?format=xml").Want(400)
		s := someResults().live(finding.DAST, "sqlinjection", "http://shop.example/search").live(finding.API,
			"sqlinjection", "http://shop.example/api/search").
			code(finding.CICD, finding.Low, "pinned", ".github/workflows/a.yml", 3)
		for i := range 250 { // more than a batch
			s.code(finding.SAST, finding.Low, "many", "src/Many.java", 1000+i)
		}
		w.scan("main", s)
		w.scan("other", (&scanned{}).code(finding.SAST, finding.High, "elsewhere", "src/E.java", 1))
		w.as("developer").Patch(w.proj+"/results/"+w.list("iac").Vulnerabilities[0].ID,
			map[string]any{"status": "ignored", "comment": "only a test"}).Want(200)
		w.as("developer").Patch(w.proj+"/results/"+w.list("secret").Vulnerabilities[0].ID,
			map[string]any{"status": "resolved"}).Want(200)
		log := w.sarif("").Runs[0]
		count := map[string]int{}
		for _, r := range log.Results {
			count[r.Properties.Analysis]++
			if r.Properties.ID == "" || r.Properties.Branch != "main" || r.BaselineState != "" {
				t.Fatalf("result %+v", r)
			}
			switch finding.Analysis(r.Properties.Analysis) {
			case finding.DAST, finding.API:
				if r.WebRequest.Method != "POST" || r.WebResponse.StatusCode != 500 ||
					r.Locations[0].PhysicalLocation.ArtifactLocation.URI != "app.py" ||
					len(r.RelatedLocations) != 2 ||
					!strings.HasPrefix(r.RelatedLocations[1].PhysicalLocation.ArtifactLocation.URI,
						"http://shop.example/") || r.Properties.Live.Curl == "" {
					t.Errorf("live result %+v", r)
				}
			case finding.IaC:
				if len(r.Suppressions) != 1 || r.Suppressions[0].Justification != "only a test" {
					t.Errorf("ignored result %+v", r)
				}
			}
		}
		if diff := cmp.Diff(map[string]int{"sast": 255, "sca": 3, "iac": 1, "cicd": 1, "dast": 1, "api": 1},
			count); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if !log.Invocations[0].ExecutionSuccessful {
			t.Errorf("the scan looked at everything: %+v", log.Invocations)
		}
		if got := w.sarif("&status=resolved&type=secret").Runs[0].Results; len(got) != 1 ||
			got[0].BaselineState != "absent" {
			t.Errorf("resolved ones: %+v", got)
		}
		if got := w.sarif("&branch=other").Runs[0].Results; len(got) != 1 || got[0].RuleID != "sast/elsewhere" {
			t.Errorf("another branch: %+v", got)
		}
		if got := w.sarif("&type=dast&severity=low").Runs[0]; len(got.Results) != 0 || len(got.Tool.Driver.Rules) != 0 {
			t.Errorf("nothing: %+v", got)
		}

		w.apply("main", nil, degraded(t))
		log = w.sarif("&type=dast").Runs[0]
		if len(log.Results) != 1 || log.Invocations[0].ExecutionSuccessful ||
			len(log.Invocations[0].ToolExecutionNotifications) != 1 ||
			!strings.Contains(log.Invocations[0].ToolExecutionNotifications[0].Message.Text, "the session was lost") {
			t.Errorf("after a degraded scan: %+v", log)
		}
		if log := w.sarif("&type=api").Runs[0]; !log.Invocations[0].ExecutionSuccessful {
			t.Errorf("the other analysis: %+v", log.Invocations)
		}
	})
}

// lost is how the analysis of a running application ends that lost its session.
var lost = scan.Status{Analyzer: "dast/test", Analysis: finding.DAST, State: scan.Degraded,
	Reasons: []scan.Reason{{Code: "unavailable", Message: "the session was lost"}}}

// degraded returns the messages of a scan that could not look at everything.
func degraded(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	if err := errors.Join(h.Config(&scan.Config{Analyses: []finding.Analysis{finding.DAST},
		Analyzers: []string{"dast/test"}}), h.Status(&lost)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSettingsHideFindings(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
		w.as("team_manager").Patch(w.proj, map[string]any{"sastSeverities": []string{"high"},
			"scaSeverities": []string{}}).Want(200)
		if diff := cmp.Diff([]string{"src/B.java"}, w.list("sast").paths()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := w.list("sast?severity=low").paths(); len(got) != 0 {
			t.Errorf("a hidden severity is listed: %v", got)
		}
		l := w.list("sca")
		if l.Total != 0 || l.VulnCountByType["sast"] != 1 || l.VulnCountByType["sca"] != 0 ||
			l.VulnCountByType["iac"] != 1 {
			t.Errorf("hidden findings are counted: %d, %v", l.Total, l.VulnCountByType)
		}
	})
}

func TestOverviewBranchesPackages(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		empty := w.as("read_only").Get(w.proj + "/results/overview").Want(200)
		if empty.Value("riskScore") != 0.0 || empty.Text("riskLevel") != "low" {
			t.Errorf("got %s for a project without scans", empty.Body)
		}
		w.scan("main", someResults())
		w.scan("other", (&scanned{}).code(finding.SAST, finding.Low, "d", "src/D.java", 4))
		a := w.as("read_only").Get(w.proj + "/results/overview").Want(200)
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
		b := w.as("read_only").Get(w.proj + "/results/overview?branches=other&branches=none").Want(200)
		if b.Value("totalBySeverity.3.count") != 1.0 || b.Value("totalByState.0.count") != 1.0 ||
			b.Text("vulnerabilitiesOverTime.0.severity") != "low" {
			t.Errorf("got other numbers of one branch:\n%s", b.Body)
		}
		if got := fmt.Sprint(w.as("read_only").Get(w.proj +
			"/branches").Want(200).Value("branches")); got != "[main other]" {
			t.Errorf("got branches %s", got)
		}
		p := w.as("read_only").Get(w.proj +
			"/results/sca/packages?searchQuery=PAD&packageType=direct&branch=main").Want(200)
		if p.Value("total") != 1.0 || p.Text("packages.0.packageName") != "left-pad" ||
			p.Text("packages.0.fileName") != "package-lock.json" {
			t.Errorf("got other packages:\n%s", p.Body)
		}
		for _, path := range []string{"/results/container/images?page=1&limit=100",
			"/results/container/images/grouped?sort=latestScanAt&order=DESC", "/results/container/packages"} {
			w.as("read_only").Get(w.proj + path).Want(200)
		}
	})
}

// TestResultsAreTheirProjects calls every address of results as people who have
// nothing to do with the project.
func TestResultsAreTheirProjects(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
		id := w.list("sast").Vulnerabilities[0].ID
		other := newWorldIn(t, w)
		for _, path := range []string{"sast", "sca", "iac", "cicd", "secret", "container", "dast", "api", "sast/" + id,
			"sast/grouped", "sca/grouped",
			id + "/similar", "overview", "export", "export?format=sarif", "sca/packages", "container/packages",
			"container/images", "container/images/grouped",
			"container?imageId=" + id} {
			w.As("").Get(w.proj + "/results/" + path).Want(401)
			w.as("stranger").Get(w.proj + "/results/" + path).Want(404)
			w.as("billing_manager").Get(w.proj + "/results/" + path).Want(404)
			w.As(other.admin).Get(w.proj + "/results/" + path).Want(404)
		}
		for _, path := range []string{"sast/" + id, id + "/similar"} { // inside the caller's own project
			w.As(other.admin).Get(other.project + "/results/" + path).Want(404)
		}
		w.As(other.admin).Patch(other.project+"/results/"+id, map[string]any{"status": "ignored"}).Want(404)
		w.As(other.admin).Get(w.proj + "/branches").Want(404)
	})
}

type neighbour struct {
	admin   tenant.UserID
	project string
}

// newWorldIn makes another organization in the same deployment.
func newWorldIn(t *testing.T, w *world) neighbour {
	t.Helper()
	n := neighbour{admin: w.Person("neighbour")}
	org := "/organization/" + w.As(n.admin).Post("/organization", newOrganization).Want(201).Text("organizationId")
	team := "/team/" + w.As(n.admin).Post(org+"/team",
		map[string]any{"name": "Red", "description": ""}).Want(200).Text("teamId")
	n.project = "/project/" + w.As(n.admin).Post(team+"/project", map[string]any{"name": "Web"}).Want(201).Text("id")
	return n
}

func TestUnbuiltSaysSo(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			method, path, who string
			want              int
		}{
			{"GET", w.proj + "/owasp-report/json", "analyst_developer", 501},
			{"GET", w.proj + "/owasp-report/json", "read_only", 403},
			{"GET", w.proj + "/owasp-report/json", "stranger", 404},
			{"POST", w.proj + "/autofix", "developer", 501},
			{"GET", w.org + "/policies", "member", 501},
			{"POST", w.org + "/policies", "member", 403},
			{"POST", w.org + w.proj + "/github/link", "administrator", 501},
			{"POST", w.org + w.proj + "/github/link", "team_manager", 403},
		} {
			a := w.as(c.who).Do(c.method, c.path, nil).Want(c.want)
			if c.want == http.StatusNotImplemented && !strings.Contains(a.Text("message"), "not implemented in "+
				"this version") {
				t.Errorf("%s: got the text %q", c.path, a.Text("message"))
			}
		}
	})
}

func TestOrganizationOverview(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
		w.scan("other", (&scanned{}).code(finding.SAST, finding.Low, "d", "src/D.java", 4))
		get := func(who, query string) *apitest.Answer {
			return w.as(who).Get(w.org + "/results/overview" + query).Want(200)
		}
		today := w.Clock.Now().Format(time.DateOnly)
		team := strings.TrimPrefix(w.team, "/team/")
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
			w.as("administrator").Get(w.org + "/results/overview" + query).Want(400)
		}
		w.as("stranger").Get(w.org + "/results/overview").Want(404)
		w.as("team_manager").Patch(w.proj, map[string]any{"sastSeverities": []string{"low"}}).Want(200)
		if got := get("administrator", "").Value("criticalIssues"); got != 1.0 {
			t.Errorf("hidden findings are counted: got %v critical ones, want 1", got)
		}
	})
}

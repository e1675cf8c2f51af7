package scancoverage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
)

// covered is the coverage of an analysis as tests read it.
type covered struct {
	Analysis, Branch, State string
	AnalysedAt, ScanID      *string
	Open                    *int
	Files, Subjects         int
	Reasons                 []struct{ Code, Message, Path string }
	OmittedReasons          int
	Failure                 *struct{ Message, ScanID string }
	Enabled                 bool
	HiddenSeverities        []string
}

// readCoverage reads what the overview, the list, the project and its row say, which is the
// same.
func readCoverage(w *apitest.World, analysis string) covered {
	w.T.Helper()
	var out []covered
	for _, path := range []string{w.Project + "/results/overview", w.Project + "/results/sast", w.Project +
		"/results/sast/grouped", w.Project, w.Project + "/results/top-vulnerabilities", w.Organization + "/projects"} {
		var body struct {
			Coverage []covered
			Projects []struct{ Coverage []covered } // beside the coverage of all of them
		}
		answer := w.AsPerson("administrator").Get(path).Want(200)
		if strings.HasSuffix(path, "/projects") {
			answer.Into(&struct {
				Projects *[]struct{ Coverage []covered }
			}{&body.Projects})
			body.Coverage = body.Projects[0].Coverage
		} else {
			answer.Into(&struct{ Coverage *[]covered }{&body.Coverage})
		}
		if len(body.Coverage) != len(finding.Analyses) {
			w.T.Fatalf("%s: %d analyses", path, len(body.Coverage))
		}
		for _, c := range body.Coverage {
			if c.Analysis == analysis {
				out = append(out, c)
			}
		}
	}
	for _, c := range out[1:] {
		if diff := cmp.Diff(plainCoverage(out[0]), plainCoverage(c)); diff != "" {
			w.T.Errorf("coverage of %s differs (-%s +another response):\n%s", analysis, w.Project, diff)
		}
	}
	return out[0]
}

// plainCoverage follows pointers, so that two can be compared as text.
func plainCoverage(c covered) []any {
	out := []any{c.Analysis, c.Branch, c.State, c.Files, c.Subjects, c.Reasons, c.OmittedReasons, c.Enabled,
		c.HiddenSeverities}
	if c.AnalysedAt != nil {
		out = append(out, *c.AnalysedAt, *c.ScanID, *c.Open)
	}
	if c.Failure != nil {
		out = append(out, *c.Failure)
	}
	return out
}

func checkState(w *apitest.World, analysis, state string) covered {
	w.T.Helper()
	c := readCoverage(w, analysis)
	if c.State != state {
		w.T.Errorf("%s is %s, want %s: %+v", analysis, c.State, state, c)
	}
	if never := c.AnalysedAt == nil; never != (c.Open == nil) || never != (c.ScanID == nil) {
		w.T.Errorf("%s: analysed at %v, scan %v, %v open", analysis, c.AnalysedAt, c.ScanID, c.Open)
	}
	return c
}

// applyFailure ends a run of the branch that has failed.
func applyFailure(w *apitest.World, branch string, f *run.Failure, analyses ...finding.Analysis) {
	w.T.Helper()
	w.Clock.Advance(time.Minute)
	started := w.AsPerson("developer").Post(w.Project+"/scan/start",
		map[string]any{"branch": branch}).Want(200).Text("scanId")
	if err := w.DB.AbandonRun(w.T.Context(), run.ID(started), f); err != nil {
		w.T.Fatal(err)
	}
}

func TestCoverage(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		for _, a := range finding.Analyses {
			checkState(w, string(a), "never")
		}
		// The first scan fails: nothing was ever looked at.
		applyFailure(w, "main", run.Fail(run.CodeCrashed, "the scan ended without its results"))
		if c := checkState(w, "sast", "failed"); c.Failure == nil || c.Failure.Message != "the scan ended without its "+
			"results" || c.Open != nil {
			t.Errorf("got %+v", c)
		}
		checkState(w, "dast", "never")
		// Somebody who cancels a scan does not make the numbers worse.
		ok := func(analyzer string, a finding.Analysis) scan.Status {
			return scan.Status{Analyzer: analyzer, Analysis: a, State: scan.Succeeded, Files: 7}
		}
		reasons := []scan.Reason{{Code: "too-large", Message: "larger than 1 MB", Path: "a.js"},
			{Code: "timeout", Message: "too slow", Path: "b.js"},
			{Code: "timeout", Message: "too slow", Path: "c.js"}, {Code: "timeout", Message: "too slow", Path: "d.js"}}
		w.Apply("main", nil, apitest.Statuses(t, ok("sast/a", finding.SAST),
			scan.Status{Analyzer: "sast/b", Analysis: finding.SAST, State: scan.Degraded, Reasons: reasons, Files: 9},
			ok("secret/a", finding.Secret), ok("sca/a", finding.SCA),
			scan.Status{Analyzer: "iac/a", Analysis: finding.IaC, State: scan.Failed,
				Reasons: []scan.Reason{{Code: "panic", Message: "it broke"}}}))
		if c := checkState(w, "sast", "partial"); len(c.Reasons) != 3 || c.OmittedReasons != 1 ||
			c.Reasons[0].Path != "a.js" || c.Files != 9 || *c.Open != 0 {
			t.Errorf("got %+v", c)
		}
		checkState(w, "secret", "complete")
		checkState(w, "cicd", "failed") // asked for by the scan that failed, and not made since
		if c := checkState(w, "iac", "failed"); c.Failure == nil || c.Failure.Message != "it broke" {
			t.Errorf("got %+v", c)
		}
		// A later scan of the branch leaves an analysis out; another one fails.
		w.Apply("main", nil, apitest.Statuses(t, ok("sast/a", finding.SAST), ok("iac/a", finding.IaC)))
		checkState(w, "sast", "complete")
		checkState(w, "iac", "complete")
		checkState(w, "secret", "stale")
		applyFailure(w, "main", run.Cancelled())
		checkState(w, "sast", "complete")
		applyFailure(w, "topic", run.Fail(run.CodeCrashed, "elsewhere"))
		checkState(w, "sast", "complete")
		applyFailure(w, "main", run.Fail(run.CodeMemory, "too much memory"))
		if c := checkState(w, "sast", "failed"); c.AnalysedAt == nil || c.Failure.Message != "too much memory" {
			t.Errorf("got %+v", c)
		}
		w.Apply("main", nil, apitest.Statuses(t, ok("sast/a", finding.SAST)))
		checkState(w, "sast", "complete")
		w.Clock.Advance(31 * 24 * time.Hour)
		checkState(w, "sast", "stale")
		w.AsPerson("team_manager").Patch(w.Project,
			map[string]any{"iacEnabled": false, "sastSeverities": []string{"critical", "high"}}).Want(200)
		if c := readCoverage(w, "iac"); c.Enabled {
			t.Error("an analysis that is switched off counts as enabled")
		}
		if c := readCoverage(w, "sast"); len(c.HiddenSeverities) != 2 {
			t.Errorf("hidden are %v", c.HiddenSeverities)
		}
	})
}

// Of several images the one that is covered worst counts, until it is deleted.
func TestCoverageOfImages(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		image := func(name string, severities ...finding.Severity) *run.Image {
			return &run.Image{Reference: "docker.io/acme/" + name + ":1", Repository: "docker.io/acme/" + name,
				Severities: severities}
		}
		look := func(state scan.State, i *run.Image) {
			w.Apply("main", i,
				apitest.Statuses(t, scan.Status{Analyzer: "container/a", Analysis: finding.Container, State: state,
					Root: i.Root()}))
		}
		look(scan.Succeeded, image("web"))
		checkState(w, "container", "complete")
		checkState(w, "sast", "never")
		look(scan.Degraded, image("db"))
		if c := checkState(w, "container", "partial"); c.Subjects != 2 {
			t.Errorf("got %+v", c)
		}
		look(scan.Succeeded, image("db", finding.Critical))
		if c := checkState(w, "container", "partial"); len(c.Reasons) != 1 || c.Reasons[0].Code != "severities" {
			t.Errorf("got %+v", c)
		}
		look(scan.Failed, image("web"))
		checkState(w, "container", "failed")
		look(scan.Succeeded, image("db"))
		checkState(w, "container", "failed")
		look(scan.Succeeded, image("web"))
		checkState(w, "container", "complete")
	})
}

// An overview of an organization says in how many projects what was looked at.
func TestCoverageOfOrganization(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		get := func() (o struct {
			RiskScore    *int
			RiskLevel    *string
			Coverage     []map[string]any
			TeamsSummary []struct{ Coverage []map[string]any }
		}) {
			w.AsPerson("administrator").Get(w.Organization + "/results/overview").Want(200).Into(&o)
			return o
		}
		organization := func() (o struct {
			RiskScore *int
			RiskLevel *string
		}) {
			w.AsPerson("administrator").Get(w.Organization).Want(200).Into(&o)
			return o
		}
		o := get()
		if o.RiskScore != nil || o.RiskLevel != nil || organization().RiskScore != nil ||
			o.Coverage[0]["never"] != 1.0 || o.Coverage[0]["open"] != nil {
			t.Errorf("nothing was scanned: %+v", o)
		}
		w.Scan("main", apitest.SomeResults())
		w.AsPerson("administrator").Post(w.Team+"/project", map[string]any{"name": "Never"}).Want(201)
		o = get()
		c := o.Coverage[0]
		if o.RiskScore == nil || *o.RiskScore < 20 || *o.RiskLevel != "critical" || c["never"] != 1.0 ||
			c["complete"] != 1.0 || c["open"] != 5.0 || c["oldestAnalysedAt"] == nil {
			t.Errorf("one of two was scanned: %+v, %v", c, o.RiskScore)
		}
		if at := o.TeamsSummary[0].Coverage[0]; at["never"] != 1.0 || at["complete"] != 1.0 {
			t.Errorf("the team has %v", at)
		}
		if got := organization(); got.RiskScore == nil || *got.RiskScore != *o.RiskScore ||
			*got.RiskLevel != *o.RiskLevel {
			t.Errorf("the organization has the risk %v", got.RiskScore)
		}
		var list struct{ Coverage []map[string]any }
		w.AsPerson("administrator").Get(w.Organization + "/projects").Want(200).Into(&list)
		if at := list.Coverage[0]; at["never"] != 1.0 || at["complete"] != 1.0 {
			t.Errorf("the list has %v", at)
		}
	})
}

// An export of a branch that was not looked at does not look clean.
func TestCoverageOfExports(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin := w.AsPerson("administrator")
		w.Scan("main", apitest.SomeResults())
		export := func(query string) (string, string) {
			a := admin.Get(w.Project + "/results/export?" + query).Want(200)
			return a.Header.Get("Merlon-Coverage"), string(a.Body)
		}
		if header, body := export("format=sarif&type=sast"); header != "sast=complete" ||
			!strings.Contains(body, `"executionSuccessful":true`) {
			t.Errorf("coverage %q: %s", header, body)
		}
		if header, _ := export("type=sast,dast&branch=topic"); header != "sast=never, dast=never" {
			t.Errorf("coverage %q", header)
		}
		_, body := export("format=sarif&branch=topic")
		if !strings.Contains(body, `"executionSuccessful":false`) ||
			strings.Count(body, `"descriptor":{"id":"never"}`) != 5 {
			t.Errorf("a branch that was never scanned: %s", body)
		}
		admin.Get(w.Project + "/vex?branch=topic").Want(404)
		bill := admin.Get(w.Project + "/sbom").Want(200)
		if bill.Header.Get("Merlon-Coverage") != "sca=complete" || strings.Contains(string(bill.Body), "compositions") {
			t.Errorf("coverage %q: %s", bill.Header.Get("Merlon-Coverage"), bill.Body)
		}
		applyFailure(w, "main", run.Fail(run.CodeCrashed, "it crashed"))
		if header, body := export("format=sarif"); !strings.HasPrefix(header, "sast=failed, sca=failed") ||
			!strings.Contains(body, `"executionSuccessful":false`) ||
			!strings.Contains(body, "it crashed") {
			t.Errorf("after a failed scan: %q %s", header, body)
		}
		bill = admin.Get(w.Project + "/sbom").Want(200)
		if !strings.Contains(string(bill.Body), `"aggregate":"incomplete"`) {
			t.Errorf("after a failed scan: %s", bill.Body)
		}
		// A bill is that of the reference branch, not of another one that has packages.
		admin.Patch(w.Project, map[string]any{"referenceBranch": "release"}).Want(200)
		w.Scan("release", &apitest.ScanResult{})
		admin.Get(w.Project + "/sbom").Want(404)
	})
}

package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
)

// statuses is the stream of a scan that found nothing and ended with the statuses.
func statuses(t testing.TB, list ...scan.Status) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	c := &scan.Config{}
	for _, s := range list {
		c.Analyzers = append(c.Analyzers, s.Analyzer)
	}
	err := h.Config(c)
	for _, s := range list {
		if s.Reasons == nil {
			s.Reasons = []scan.Reason{}
		}
		if err == nil {
			err = h.Status(&s)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

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

// coverage reads what the overview, the list, the project and its row say, which is the
// same.
func (w *world) coverage(analysis string) covered {
	w.t.Helper()
	var out []covered
	for _, path := range []string{w.proj + "/results/overview", w.proj + "/results/sast", w.proj +
		"/results/sast/grouped", w.proj, w.proj + "/results/top-vulnerabilities", w.org + "/projects"} {
		var body struct {
			Coverage []covered
			Projects []struct{ Coverage []covered } // beside the coverage of all of them
		}
		answer := w.as("administrator").Get(path).Want(200)
		if strings.HasSuffix(path, "/projects") {
			answer.Into(&struct {
				Projects *[]struct{ Coverage []covered }
			}{&body.Projects})
			body.Coverage = body.Projects[0].Coverage
		} else {
			answer.Into(&struct{ Coverage *[]covered }{&body.Coverage})
		}
		if len(body.Coverage) != len(finding.Analyses) {
			w.t.Fatalf("%s: %d analyses", path, len(body.Coverage))
		}
		for _, c := range body.Coverage {
			if c.Analysis == analysis {
				out = append(out, c)
			}
		}
	}
	for _, c := range out[1:] {
		w.same("coverage of "+analysis, fmt.Sprintf("%+v", plainCoverage(out[0])), fmt.Sprintf("%+v", plainCoverage(c)))
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

func (w *world) wantState(analysis, state string) covered {
	w.t.Helper()
	c := w.coverage(analysis)
	if c.State != state {
		w.t.Errorf("%s is %s, want %s: %+v", analysis, c.State, state, c)
	}
	if never := c.AnalysedAt == nil; never != (c.Open == nil) || never != (c.ScanID == nil) {
		w.t.Errorf("%s: analysed at %v, scan %v, %v open", analysis, c.AnalysedAt, c.ScanID, c.Open)
	}
	return c
}

// failed ends a run of the branch that has failed.
func (w *world) failed(branch string, f *run.Failure, analyses ...finding.Analysis) {
	w.t.Helper()
	w.Clock.Advance(time.Minute)
	started := w.as("developer").Post(w.proj+"/scan/start", map[string]any{"branch": branch}).Want(200).Text("scanId")
	if err := w.DB.AbandonRun(w.t.Context(), run.ID(started), f); err != nil {
		w.t.Fatal(err)
	}
}

func TestCoverage(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for _, a := range finding.Analyses {
			w.wantState(string(a), "never")
		}
		// The first scan fails: nothing was ever looked at.
		w.failed("main", run.Fail(run.CodeCrashed, "the scan ended without its results"))
		if c := w.wantState("sast", "failed"); c.Failure == nil || c.Failure.Message != "the scan ended without its "+
			"results" || c.Open != nil {
			t.Errorf("got %+v", c)
		}
		w.wantState("dast", "never")
		// Somebody who cancels a scan does not make the numbers worse.
		ok := func(analyzer string, a finding.Analysis) scan.Status {
			return scan.Status{Analyzer: analyzer, Analysis: a, State: scan.Succeeded, Files: 7}
		}
		reasons := []scan.Reason{{Code: "too-large", Message: "larger than 1 MB", Path: "a.js"},
			{Code: "timeout", Message: "too slow", Path: "b.js"},
			{Code: "timeout", Message: "too slow", Path: "c.js"}, {Code: "timeout", Message: "too slow", Path: "d.js"}}
		w.apply("main", nil, statuses(t, ok("sast/a", finding.SAST),
			scan.Status{Analyzer: "sast/b", Analysis: finding.SAST, State: scan.Degraded, Reasons: reasons, Files: 9},
			ok("secret/a", finding.Secret), ok("sca/a", finding.SCA),
			scan.Status{Analyzer: "iac/a", Analysis: finding.IaC, State: scan.Failed,
				Reasons: []scan.Reason{{Code: "panic", Message: "it broke"}}}))
		if c := w.wantState("sast", "partial"); len(c.Reasons) != 3 || c.OmittedReasons != 1 ||
			c.Reasons[0].Path != "a.js" || c.Files != 9 || *c.Open != 0 {
			t.Errorf("got %+v", c)
		}
		w.wantState("secret", "complete")
		w.wantState("cicd", "failed") // asked for by the scan that failed, and not made since
		if c := w.wantState("iac", "failed"); c.Failure == nil || c.Failure.Message != "it broke" {
			t.Errorf("got %+v", c)
		}
		// A later scan of the branch leaves an analysis out; another one fails.
		w.apply("main", nil, statuses(t, ok("sast/a", finding.SAST), ok("iac/a", finding.IaC)))
		w.wantState("sast", "complete")
		w.wantState("iac", "complete")
		w.wantState("secret", "stale")
		w.failed("main", run.Cancelled())
		w.wantState("sast", "complete")
		w.failed("topic", run.Fail(run.CodeCrashed, "elsewhere"))
		w.wantState("sast", "complete")
		w.failed("main", run.Fail(run.CodeMemory, "too much memory"))
		if c := w.wantState("sast", "failed"); c.AnalysedAt == nil || c.Failure.Message != "too much memory" {
			t.Errorf("got %+v", c)
		}
		w.apply("main", nil, statuses(t, ok("sast/a", finding.SAST)))
		w.wantState("sast", "complete")
		w.Clock.Advance(31 * 24 * time.Hour)
		w.wantState("sast", "stale")
		w.as("team_manager").Patch(w.proj,
			map[string]any{"iacEnabled": false, "sastSeverities": []string{"critical", "high"}}).Want(200)
		if c := w.coverage("iac"); c.Enabled {
			t.Error("an analysis that is switched off counts as enabled")
		}
		if c := w.coverage("sast"); len(c.HiddenSeverities) != 2 {
			t.Errorf("hidden are %v", c.HiddenSeverities)
		}
	})
}

// Of several images the one that is covered worst counts, until it is deleted.
func TestCoverageOfImages(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		image := func(name string, severities ...finding.Severity) *run.Image {
			return &run.Image{Reference: "docker.io/acme/" + name + ":1", Repository: "docker.io/acme/" + name,
				Severities: severities}
		}
		look := func(state scan.State, i *run.Image) {
			w.apply("main", i,
				statuses(t, scan.Status{Analyzer: "container/a", Analysis: finding.Container, State: state,
					Root: i.Root()}))
		}
		look(scan.Succeeded, image("web"))
		w.wantState("container", "complete")
		w.wantState("sast", "never")
		look(scan.Degraded, image("db"))
		if c := w.wantState("container", "partial"); c.Subjects != 2 {
			t.Errorf("got %+v", c)
		}
		look(scan.Succeeded, image("db", finding.Critical))
		if c := w.wantState("container", "partial"); len(c.Reasons) != 1 || c.Reasons[0].Code != "severities" {
			t.Errorf("got %+v", c)
		}
		look(scan.Failed, image("web"))
		w.wantState("container", "failed")
		look(scan.Succeeded, image("db"))
		w.wantState("container", "failed")
		look(scan.Succeeded, image("web"))
		w.wantState("container", "complete")
	})
}

// An overview of an organization says in how many projects what was looked at.
func TestCoverageOfOrganization(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		get := func() (o struct {
			RiskScore    *int
			RiskLevel    *string
			Coverage     []map[string]any
			TeamsSummary []struct{ Coverage []map[string]any }
		}) {
			w.as("administrator").Get(w.org + "/results/overview").Want(200).Into(&o)
			return o
		}
		organization := func() (o struct {
			RiskScore *int
			RiskLevel *string
		}) {
			w.as("administrator").Get(w.org).Want(200).Into(&o)
			return o
		}
		o := get()
		if o.RiskScore != nil || o.RiskLevel != nil || organization().RiskScore != nil ||
			o.Coverage[0]["never"] != 1.0 || o.Coverage[0]["open"] != nil {
			t.Errorf("nothing was scanned: %+v", o)
		}
		w.scan("main", someResults())
		w.as("administrator").Post(w.team+"/project", map[string]any{"name": "Never"}).Want(201)
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
		w.as("administrator").Get(w.org + "/projects").Want(200).Into(&list)
		if at := list.Coverage[0]; at["never"] != 1.0 || at["complete"] != 1.0 {
			t.Errorf("the list has %v", at)
		}
	})
}

// An export of a branch that was not looked at does not look clean.
func TestCoverageOfExports(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		admin := w.as("administrator")
		w.scan("main", someResults())
		export := func(query string) (string, string) {
			a := admin.Get(w.proj + "/results/export?" + query).Want(200)
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
		admin.Get(w.proj + "/vex?branch=topic").Want(404)
		bill := admin.Get(w.proj + "/sbom").Want(200)
		if bill.Header.Get("Merlon-Coverage") != "sca=complete" || strings.Contains(string(bill.Body), "compositions") {
			t.Errorf("coverage %q: %s", bill.Header.Get("Merlon-Coverage"), bill.Body)
		}
		w.failed("main", run.Fail(run.CodeCrashed, "it crashed"))
		if header, body := export("format=sarif"); !strings.HasPrefix(header, "sast=failed, sca=failed") ||
			!strings.Contains(body, `"executionSuccessful":false`) ||
			!strings.Contains(body, "it crashed") {
			t.Errorf("after a failed scan: %q %s", header, body)
		}
		bill = admin.Get(w.proj + "/sbom").Want(200)
		if !strings.Contains(string(bill.Body), `"aggregate":"incomplete"`) {
			t.Errorf("after a failed scan: %s", bill.Body)
		}
		// A bill is that of the reference branch, not of another one that has packages.
		admin.Patch(w.proj, map[string]any{"referenceBranch": "release"}).Want(200)
		w.scan("release", &scanned{})
		admin.Get(w.proj + "/sbom").Want(404)
	})
}

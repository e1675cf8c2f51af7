package findings_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

func TestExportIsWhole(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		s := apitest.SomeResults()
		for i := range 450 { // more than two batches
			s.Code(finding.SAST, finding.Low, "many", "src/Many.java", 1000+i)
		}
		w.Scan("main", s)
		a := w.AsPerson("read_only").Get(w.Project + "/results/export").Want(200)
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
		if got := strings.Count(string(w.AsPerson("read_only").Get(w.Project+
			"/results/export?type=SCA,iac&severity=high").Want(200).Body), "\n"); got != 4 {
			t.Errorf("got %d lines, want 4", got)
		}
		if got := w.AsPerson("read_only").Get(w.Project + "/results/export?branch=none").Want(200); len(got.Body) != 0 {
			t.Errorf("got %q, want nothing", got.Body)
		}
	})
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

func exportSARIF(w *apitest.World, query string) (l sarifLog) {
	w.T.Helper()
	a := w.AsPerson("read_only").Get(w.Project + "/results/export?format=sarif" + query).Want(200)
	if got := a.Header.Get("Content-Type"); got != "application/sarif+json" {
		w.T.Errorf("content type %s", got)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
	if err != nil {
		w.T.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("../../report/sarif/testdata/sarif-schema-2.1.0.json")
	if err != nil {
		w.T.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		w.T.Errorf("not valid: %#v", err)
	}
	a.Into(&l)
	return l
}

// The export as SARIF holds results of every analysis, with what was decided, and says
// when the last scan did not look at everything.
func TestExportSARIF(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.AsPerson("read_only").Get(w.Project + "/results/export?format=sarif").Want(404) // nothing was scanned
		w.AsPerson("read_only").Get(w.Project + "/results/export?format=xml").Want(400)
		s := apitest.SomeResults().Live(finding.DAST, "sqlinjection", "http://shop.example/search").Live(finding.API,
			"sqlinjection", "http://shop.example/api/search").
			Code(finding.CICD, finding.Low, "pinned", ".github/workflows/a.yml", 3)
		for i := range 250 { // more than a batch
			s.Code(finding.SAST, finding.Low, "many", "src/Many.java", 1000+i)
		}
		w.Scan("main", s)
		w.Scan("other", (&apitest.ScanResult{}).Code(finding.SAST, finding.High, "elsewhere", "src/E.java", 1))
		w.AsPerson("developer").Patch(w.Project+"/results/"+listFindings(w, "iac").Vulnerabilities[0].ID,
			map[string]any{"status": "ignored", "comment": "only a test"}).Want(200)
		w.AsPerson("developer").Patch(w.Project+"/results/"+listFindings(w, "secret").Vulnerabilities[0].ID,
			map[string]any{"status": "resolved"}).Want(200)
		log := exportSARIF(w, "").Runs[0]
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
		if got := exportSARIF(w, "&status=resolved&type=secret").Runs[0].Results; len(got) != 1 ||
			got[0].BaselineState != "absent" {
			t.Errorf("resolved ones: %+v", got)
		}
		if got := exportSARIF(w, "&branch=other").Runs[0].Results; len(got) != 1 || got[0].RuleID != "sast/elsewhere" {
			t.Errorf("another branch: %+v", got)
		}
		if got := exportSARIF(w, "&type=dast&severity=low").Runs[0]; len(got.Results) != 0 ||
			len(got.Tool.Driver.Rules) != 0 {
			t.Errorf("nothing: %+v", got)
		}

		w.Apply("main", nil, degraded(t))
		log = exportSARIF(w, "&type=dast").Runs[0]
		if len(log.Results) != 1 || log.Invocations[0].ExecutionSuccessful ||
			len(log.Invocations[0].ToolExecutionNotifications) != 1 ||
			!strings.Contains(log.Invocations[0].ToolExecutionNotifications[0].Message.Text, "the session was lost") {
			t.Errorf("after a degraded scan: %+v", log)
		}
		if log := exportSARIF(w, "&type=api").Runs[0]; !log.Invocations[0].ExecutionSuccessful {
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

package findings_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
	"merlon/internal/job"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// scanTarget applies a scan of a target to the branch main.
func scanTarget(w *apitest.World, at string, profile string, findings []finding.Finding,
	operations []finding.Operation) run.ID {
	w.T.Helper()
	must := func(err error) {
		w.T.Helper()
		if err != nil {
			w.T.Fatal(err)
		}
	}
	ctx := w.T.Context()
	id := run.ID(w.AsPerson("developer").Post(at+"/scan/start",
		map[string]any{"profile": profile}).Want(200).Text("scanId"))
	_, err := w.DB.AdmitRuns(ctx, true)
	must(err)
	r, err := w.DB.ClaimRun(ctx, job.Claim{Run: id, Job: time.Now().UnixNano(), Holder: string(id)})
	must(err)
	if r == nil {
		w.T.Fatal("the scan was not placed")
	}
	var b bytes.Buffer
	h := scan.Encode(&b)
	root := (&scan.Target{URL: r.Target.URL}).Root()
	must(h.Config(&scan.Config{Analyses: r.Analyses, Analyzers: []string{"dast/application"}, Target: r.Target.URL}))
	must(h.Rule(&finding.Rule{ID: "dast/sql", Analysis: finding.DAST, Name: "SQL injection", Severity: finding.High,
		CWE: []string{"CWE-89"}}))
	for _, f := range findings {
		f.RuleID, f.Analyzer, f.Analysis, f.Severity = "dast/sql", "dast/application", finding.DAST, finding.High
		f.Fingerprint = finding.NewFingerprint(f.RuleID, f.Location.Path, f.Message, 0)
		must(h.Finding(&f))
	}
	for _, o := range operations {
		must(h.Operation(&o))
	}
	must(h.Status(&scan.Status{Analyzer: "dast/application", Analysis: finding.DAST, State: scan.Succeeded,
		Root: root}))
	sc := tenant.System(r.OrganizationID, r.TeamID, r.ProjectID)
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	out, err := triage.New(w.DB).Ingest(ctx, sc, r, open)
	must(err)
	r.State, r.Outcome = run.Completed, out
	must(w.DB.EndRun(ctx, r))
	return id
}

// TestFindingsOfTargets lists, shows, groups, decides and ends findings of live scans,
// and what became of operations.
func TestFindingsOfTargets(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		manager, developer := w.AsPerson("team_manager"), w.AsPerson("developer")
		shop := w.Project + "/target/" +
			manager.Post(w.Project+"/target", apitest.TargetBody("http://127.0.0.1:9/shop")).Want(201).Text("id")
		next := w.Project + "/target/" +
			manager.Post(w.Project+"/target", apitest.TargetBody("http://127.0.0.1:9/shop2")).Want(201).Text("id")
		flaw := func(path, message string) finding.Finding {
			return finding.Finding{Message: message, Location: finding.Location{Path: path}, Live: &finding.Live{
				URL: "http://" + path, Method: "GET", Parameter: "id", In: "query", Payload: "1'",
				Proof: []string{"a quote breaks it", "two repair it"},
				Exchanges: []finding.Exchange{{Note: "the quote", Request: "GET /shop?id=1%27 HTTP/1.1",
					Response: "HTTP/1.1 500", Duration: 5}}, Curl: "curl http://" + path,
			}}
		}
		operation := func(url string, o finding.Outcome) finding.Operation {
			return finding.Operation{Method: "GET", URL: url, Origin: "link", Outcome: o,
				Parameters: []string{"query:id"}, Requests: 3}
		}
		first := scanTarget(w, shop, "safe", []finding.Finding{flaw("127.0.0.1:9/shop/a", "a"),
			flaw("127.0.0.1:9/shop/b", "b")},
			[]finding.Operation{operation("http://127.0.0.1:9/shop/a", finding.Reached),
				operation("http://127.0.0.1:9/shop/b", finding.Refused),
				operation("http://127.0.0.1:9/shop/c", finding.Reached)})
		scanTarget(w, next, "safe", []finding.Finding{flaw("127.0.0.1:9/shop2/a", "a")}, nil)

		at := w.Project + "/results/dast"
		listed := developer.Get(at + "?sort=createdAt&order=asc").Want(200)
		if listed.Value("vulnerabilities.2") == nil || listed.Value("vulnerabilities.0.live.parameter") != "id" ||
			bytes.Contains(listed.Body, []byte("HTTP/1.1 500")) {
			t.Errorf("the list: %.2000s", listed.Body)
		}
		id := listed.Text("vulnerabilities.0.id")
		one := developer.Get(at + "/" + id).Want(200)
		for field, want := range map[string]any{
			"dast.live.exchanges.0.response": "HTTP/1.1 500", "dast.live.proof.1": "two repair it",
			"dast.live.method":                  "GET",
			"vulnerability.vulnerability.cwe.0": "CWE-89",
		} {
			if v := one.Value(field); v != want {
				t.Errorf("%s: got %v, want %v", field, v, want)
			}
		}
		if g := developer.Get(at + "/grouped").Want(200); !bytes.Contains(g.Body, []byte("SQL injection")) {
			t.Errorf("groups: %s", g.Body)
		}
		developer.Patch(w.Project+"/results/"+id, map[string]any{"status": "confirmed"}).Want(200)

		ops := w.Project + "/scan/" + string(first) + "/operations"
		all := developer.Get(ops).Want(200)
		for field, want := range map[string]any{"reached": 2.0, "refused": 1.0, "notReached": 0.0, "total": 3.0,
			"operations.0.url": "http://127.0.0.1:9/shop/a"} {
			if v := all.Value(field); v != want {
				t.Errorf("operations: %s: got %v, want %v", field, v, want)
			}
		}
		some := developer.Get(ops + "?outcome=reached&pageSize=1&page=2").Want(200)
		if some.Value("total") != 2.0 || some.Value("totalPages") != 2.0 ||
			some.Value("operations.0.url") != "http://127.0.0.1:9/shop/c" {
			t.Errorf("reached: %s", some.Body)
		}
		developer.Get(ops + "?outcome=lost").Want(400)
		w.AsPerson("stranger").Get(ops).Want(404)
		active := func() (n int) {
			t.Helper()
			list, ok := developer.Get(at +
				"?status=to_verify&status=confirmed").Want(200).Value("vulnerabilities").([]any)
			if !ok {
				t.Fatal("no list")
			}
			return len(list)
		}
		// A scan that goes less far ends nothing; one that goes as far does, but only
		// of its own target.
		scanTarget(w, shop, "passive", nil, nil)
		if n := active(); n != 3 {
			t.Errorf("%d active after a passive scan", n)
		}
		scanTarget(w, shop, "safe", []finding.Finding{flaw("127.0.0.1:9/shop/b", "b")}, nil)
		if n := active(); n != 2 {
			t.Errorf("%d active after a second scan", n)
		}
	})
}

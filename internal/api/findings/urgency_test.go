package findings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

func TestTopVulnerabilities(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		caller, top := w.AsPerson("read_only"), w.Project+"/results/top-vulnerabilities"
		same(t, "nothing scanned", caller.Get(top).Want(200).Value("items"), []any{})
		s := apitest.SomeResults()
		for _, r := range s.Rules {
			if r.Advisory != nil && r.Advisory.ID == "CVE-2026-2" {
				r.Advisory.KEV, r.Advisory.EPSS = &finding.KEV{Added: "2026-01-02"},
					&finding.EPSS{Score: 0.9, Percentile: 0.99}
			}
		}
		w.Scan("main", s)
		w.Scan("topic", (&apitest.ScanResult{}).Code(finding.SAST, finding.Critical, "zz", "src/Z.java", 1))
		a := caller.Get(top + "?limit=3").Want(200)
		items := a.Value("items").([]any)
		if len(items) != 3 {
			t.Fatalf("got %d items, want 3: %s", len(items), a.Body)
		}
		for path, want := range map[string]any{
			"items.0.vulnerabilityType": "sca", "items.0.cveId": "CVE-2026-2", "items.0.packageName": "left-pad",
			"items.0.exploitabilityVerdict": "actively_exploited",
			"items.0.exploitabilitySource":  "static", "items.0.name": "summary of CVE-2026-2",
			"items.0.cvss4EnvironmentalScore": 8.1,
			"items.0.filePath":                "package-lock.json", "items.0.line": 3., "items.0.cwe.0": "CWE-400",
			"items.1.vulnerabilityType": "sast", "items.1.severity": "critical", "items.1.cveId": nil,
			"items.1.packageName": nil,
		} {
			same(t, path, a.Value(path), want)
		}
		for i := 1; i < len(items); i++ {
			if items[i-1].(map[string]any)["compositeScore"].(float64) < items[i].(map[string]any)["compositeScore"].(float64) {
				t.Errorf("item %d is less urgent than the next: %s", i-1, a.Body)
			}
		}
		w.AsPerson("developer").Patch(w.Project+"/results/"+a.Text("items.0.id"),
			map[string]any{"status": "ignored"}).Want(200)
		b := caller.Get(top).Want(200)
		same(t, "an ignored finding is gone", b.Text("items.0.id"), a.Text("items.1.id"))
		same(t, "another branch", len(caller.Get(top+"?branch=topic").Want(200).Value("items").([]any)), 1)
		same(t, "no such branch", caller.Get(top+"?branch=nowhere").Want(200).Value("items"), []any{})
		caller.Get(top + "?limit=0").Want(400)
		w.AsPerson("stranger").Get(top).Want(404)
		w.AsPerson("administrator").Patch(w.Project, map[string]any{"sastSeverities": []string{"low"}}).Want(200)
		for i, item := range caller.Get(top + "?limit=100").Want(200).Value("items").([]any) {
			if row := item.(map[string]any); row["vulnerabilityType"] == "sast" && row["severity"] != "low" {
				t.Errorf("item %d is of a severity that the project hides: %v", i, row)
			}
		}
	})
}

func TestPriorityDecomposition(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		caller := w.AsPerson("read_only")
		for _, analysis := range []string{"sast", "sca", "iac", "secret"} {
			list := caller.Get(w.Project + "/results/" + analysis + "?limit=1").Want(200)
			id := list.Text("vulnerabilities.0.id")
			a := caller.Get(w.Project + "/results/" + analysis + "/" + id + "/priority-decomposition").Want(200)
			d := a.Value("decomposition").(map[string]any)
			sum := 0
			for _, name := range []string{"cvss4Contribution", "epssContribution", "exploitContribution",
				"contextContribution"} {
				sum += int(d[name].(float64)*1000 + 0.5)
			}
			if score := int(d["compositeScore"].(float64)*1000 + 0.5); sum != score || score == 0 {
				t.Errorf("%s: the parts add up to %d, the score is %d", analysis, sum, score)
			}
			same(t, "score of the list", list.Value("vulnerabilities.0.priorityScore"),
				float64(int(d["compositeScore"].(float64)*100+0.5)))
			same(t, "priority", d["priority"], list.Value("vulnerabilities.0.currentPriority"))
			if diff := cmp.Diff(map[string]any{"isManualOverride": false, "w2": 0., "explanation": ""},
				map[string]any{"isManualOverride": d["isManualOverride"], "w2": d["w2"],
					"explanation": d["explanation"]}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", analysis, diff)
			}
			other := map[string]string{"sast": "sca", "sca": "sast", "iac": "sast", "secret": "sast"}[analysis]
			caller.Get(w.Project + "/results/" + other + "/" + id + "/priority-decomposition").Want(404)
			w.AsPerson("developer").Patch(w.Project+"/results/"+id, map[string]any{"priority": "very_low"}).Want(200)
			a = caller.Get(w.Project + "/results/" + analysis + "/" + id + "/priority-decomposition").Want(200)
			same(t, "pinned", []any{a.Value("decomposition.isManualOverride"), a.Value("decomposition.priority")},
				[]any{true, "very_low"})
			w.AsPerson("stranger").Get(w.Project + "/results/" + analysis + "/" + id +
				"/priority-decomposition").Want(404)
		}
		caller.Get(w.Project +
			"/results/everything/00000000-0000-4000-8000-000000000000/priority-decomposition").Want(400)
	})
}

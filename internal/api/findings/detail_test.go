package findings_test

import (
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

// What a scan says of the severity and of the fix reaches the detail of a finding, and hasAutofix
// selects findings that an edit fixes. Lists have none of it.
func TestDetailHasFixAndTerms(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		r := (&apitest.ScanResult{}).Code(finding.IaC, finding.High, "a", "a.yaml", 2).Copy("b.yaml", 5).
			Code(finding.IaC, finding.High, "b", "c.yaml", 3)
		f := r.Findings[0]
		f.Impact, f.Confidence = finding.Medium, finding.HighConfidence
		f.Terms = []finding.SeverityTerm{{Points: 1, Reason: "Docker socket mounted"}}
		f.Fix = &finding.Fix{Description: "Remove it", Path: "a.yaml", Edits: []finding.Edit{{StartLine: 9, EndLine: 8,
			Lines: []string{"x"}}}}
		w.Scan("main", r)
		person := w.AsPerson("read_only")
		for filter, want := range map[string]float64{"": 2, "&hasAutofix=true": 1, "&hasAutofix=false": 1} {
			if got := person.Get(w.Project + "/results/iac?limit=10" + filter).Want(200).Value("total"); got != want {
				t.Errorf("%q selects %v, want %v", filter, got, want)
			}
		}
		list := person.Get(w.Project + "/results/iac?hasAutofix=true").Want(200)
		id, ok := list.Value("vulnerabilities.0.id").(string)
		if !ok || list.Value("vulnerabilities.0.fix") != nil || list.Value("vulnerabilities.0.impact") != nil {
			t.Fatalf("the list has %v", list.Value("vulnerabilities.0"))
		}
		detail := person.Get(w.Project + "/results/iac/" + id).Want(200)
		for path, want := range map[string]any{
			"iac.impact": "medium", "iac.severityTerms.0.points": 1.0,
			"iac.severityTerms.0.reason": "Docker socket mounted", "iac.confidence": "high",
			"iac.also.0.path":     "b.yaml",
			"iac.fix.description": "Remove it", "iac.fix.path": "a.yaml", "iac.fix.edits.0.lines.0": "x",
			"iac.fix.diff": "--- a/a.yaml\n+++ b/a.yaml\n@@ -8,0 +9,1 @@\n+x\n",
		} {
			if got := detail.Value(path); got != want {
				t.Errorf("%s: got %v, want %v", path, got, want)
			}
		}
	})
}

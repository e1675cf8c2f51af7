package findings_test

import (
	"testing"

	"github.com/google/uuid"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

// upgradable reports vulnerable packages: one that a manifest asks for, one that others
// bring in, and one without a fixed version.
func upgradable() *apitest.ScanResult {
	s := (&apitest.ScanResult{}).Vulnerable("CVE-2026-1", "left-pad", "1.0.0", finding.Direct).Vulnerable("CVE-2026-2",
		"deep",
		"1.0.0", finding.Transitive).
		Vulnerable("CVE-2026-3", "gone", "1.0.0", finding.Direct).Code(finding.SAST, finding.High, "x", "x.js", 1)
	s.Findings[0].Package.Fixed, s.Findings[0].Package.Upgrade, s.Findings[0].Package.UpgradeAll = []string{"1.0.3",
		"2.0.0"}, "1.0.3", "1.0.4"
	s.Findings[0].Package.Requirement = &finding.Requirement{Path: "package.json", Line: 7,
		Text:  `    "left-pad": "^1.0.0",`,
		Start: 17, End: 23, Syntax: "caret"}
	s.Findings[2].Package.Fixed, s.Findings[2].Package.Upgrade = nil, ""
	return s
}

// findingIDs returns the findings of an analysis by the package's name, or the path.
func findingIDs(w *apitest.World, analysis string) map[string]string {
	w.T.Helper()
	out := map[string]string{}
	for _, v := range w.AsPerson("read_only").Get(w.Project + "/results/" + analysis +
		"?limit=100").Want(200).Value("vulnerabilities").([]any) {
		row := v.(map[string]any)
		name := row["path"].(string)
		if library, ok := row["library"].(map[string]any); ok {
			name = library["packageName"].(string)
		}
		out[name] = row["id"].(string)
	}
	return out
}

func TestUpgrades(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", upgradable())
		ids, start := findingIDs(w, "sca"), w.Project+"/results/sca/autofix"
		caller := w.AsPerson("developer")
		a := caller.Post(start,
			map[string]any{"vulnerabilityIds": []string{ids["left-pad"], ids["deep"], ids["gone"],
				findingIDs(w, "sast")["x.js"], uuid.NewString()}, "createPr": true}).Want(200)
		for path, want := range map[string]any{
			"status": "partial", "success": true, "totalVulnerabilities": 5., "fixableCount": 2., "unfixableCount": 1.,
			"errorCount": 2., "jobId": nil,
			"results.0.status": "direct_update", "results.0.recommendedFix.proposedVersion": "1.0.4",
			"results.0.recommendedFix.updateType":       "patch",
			"results.0.fixCandidates.0.proposedVersion": "1.0.3", "results.0.fixCandidates.2.updateType": "major",
			"results.0.installCommand": "npm install left-pad@1.0.4",
			"results.0.edits.0.path":   "package.json", "results.0.edits.0.line": 7.,
			"results.0.edits.0.after": `    "left-pad": "^1.0.4",`, "results.0.severity": "HIGH",
			"results.0.testedVersionsCount": 3., "results.0.cveId": "CVE-2026-1",
			"results.0.fileName": "package-lock.json", "results.0.errorMessage": nil,
			"results.1.status": "ok", "results.1.isTransitive": true, "results.1.dependencyPath.1": "deep@1.0.0",
			"results.1.installCommand": "npm pkg set 'overrides[deep@1.0.0]=9.9.9' && npm install",
			"results.2.status":         "no_fix", "results.2.hasFixAvailable": false, "results.2.recommendedFix": nil,
			"results.2.installCommand": nil,
			"results.2.errorMessage":   "gone 1.0.0: no later version that clears it is known",
			"results.3.status":         "error", "results.4.errorMessage": "vulnerability not found",
			"prResult.created": false,
			"edits.0.before":   `    "left-pad": "^1.0.0",`, "commands.0": "npm install left-pad@1.0.4",
		} {
			same(t, path, a.Value(path), want)
		}
		b := caller.Post(start, map[string]any{"vulnerabilityIds": []string{ids["deep"], ids["deep"]},
			"updateLevel": "MINOR"}).Want(200)
		same(t, "a major step", []any{b.Value("status"), b.Value("totalVulnerabilities"),
			b.Value("results.0.errorMessage")},
			[]any{"no_fix", 1., "deep 1.0.0: 9.9.9 clears it, but that is a major upgrade, and the level is minor"})
		same(t, "nothing is ours",
			caller.Post(start, map[string]any{"vulnerabilityIds": apitest.RandomIDs(1)}).Want(200).Value("status"),
			"error")
		for _, body := range []map[string]any{{}, {"vulnerabilityIds": []string{}}, {"vulnerabilityIds": []string{"x"}},
			{"vulnerabilityIds": apitest.RandomIDs(5001)},
			{"vulnerabilityIds": apitest.RandomIDs(1), "updateLevel": "huge"}} {
			caller.Post(start, body).Want(400)
		}
		w.AsPerson("read_only").Post(start, map[string]any{"vulnerabilityIds": apitest.RandomIDs(1)}).Want(403)
		w.AsPerson("stranger").Post(start, map[string]any{"vulnerabilityIds": apitest.RandomIDs(1)}).Want(404)
		log := w.AsPerson("administrator").Get(w.Organization + "/audit-log?action=project.upgrade").Want(200)
		same(t, "requests in the audit log", len(log.Value("records").([]any)), 3)
	})
}

func TestUpgradesByAJob(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", upgradable())
		ids, start := findingIDs(w, "sca"), w.Project+"/results/sca/autofix"
		caller := w.AsPerson("developer")
		a := caller.Post(start,
			map[string]any{"vulnerabilityIds": append(apitest.RandomIDs(300), ids["left-pad"])}).Want(200)
		job := start + "/" + a.Text("jobId")
		same(t, "no results yet", []any{a.Value("results"), a.Value("totalVulnerabilities")}, []any{[]any{}, 301.})
		reader := w.AsPerson("read_only")
		s := reader.Get(job + "/status").Want(200)
		same(t, "it waits", []any{s.Value("status"), s.Value("progressPercent"), s.Value("startedAt")},
			[]any{"queued", 0., nil})
		same(t, "it waits", reader.Get(job).Want(200).Value("results"), []any{})
		if err := w.Remedies.ProcessJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		s = reader.Get(job + "/status").Want(200)
		for path, want := range map[string]any{"status": "completed", "progressPercent": 100.,
			"processedVulnerabilities": 301., "fixableCount": 1., "errorCount": 300., "totalVulnerabilities": 301.} {
			same(t, path, s.Value(path), want)
		}
		r := reader.Get(job).Want(200)
		for path, want := range map[string]any{"status": "completed", "success": true,
			"results.300.recommendedFix.proposedVersion": "1.0.4", "edits.0.path": "package.json",
			"message": "An upgrade is known for 1 of 301 vulnerabilities; 300 are no vulnerabilities of packages of " +
				"this project"} {
			same(t, path, r.Value(path), want)
		}
		w.AsPerson("stranger").Get(job).Want(404)
		reader.Get(start + "/" + uuid.NewString()).Want(404)
		reader.Get(start + "/x/status").Want(400)
		other := w.AsPerson("administrator").Post(w.Team+"/project",
			map[string]any{"name": "Other"}).Want(201).Text("projectId")
		w.AsPerson("administrator").Get("/project/" + other + "/results/sca/autofix/" + a.Text("jobId")).Want(404)
		foreign := w.AsPerson("administrator").Post("/project/"+other+"/results/sca/autofix",
			map[string]any{"vulnerabilityIds": []string{ids["left-pad"]}}).Want(200)
		same(t, "a finding of another project", foreign.Value("results.0.status"), "error")
	})
}

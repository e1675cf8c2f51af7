package findings_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

// openVEX is a document with one statement.
func openVEX(status, cve, product, text string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"@context":"https://openvex.dev/ns/v0.2.0","@id":"x","author":"Jo","timestamp":"2026-01-01T00:00:00Z","version":1,"statements":[
		{"vulnerability":{"name":%q},"products":[{"@id":%q}],"status":%q,"justification":"vulnerable_code_not_in_execute_path","impact_statement":%q}]}`, cve, product, status, text))
}

// withURLs reports two vulnerable packages that have package URLs.
func withURLs() *apitest.ScanResult {
	s := (&apitest.ScanResult{}).Vulnerable("CVE-2026-1", "left-pad", "1.0.0", finding.Direct).Vulnerable("CVE-2026-2",
		"deep",
		"1.0.0", finding.Transitive)
	for _, f := range s.Findings {
		f.Package.Package.PURL = "pkg:npm/" + f.Package.Package.Name + "@1.0.0"
	}
	return s
}

func TestStatementsAboutVulnerabilities(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		address, caller := w.Project+"/vex", w.AsPerson("analyst_developer")
		caller.Get(address).Want(404)
		w.Scan("main", withURLs())
		w.Scan("topic", withURLs())
		ids := findingIDs(w, "sca?branch=main&x=")
		status := func(name string) string {
			t.Helper()
			return caller.Get(w.Project + "/results/sca/" + ids[name]).Want(200).Text("sca.base.currentState")
		}
		a := caller.Post(address, openVEX("not_affected", "cve-2026-1", "pkg:npm/left-pad", "never called")).Want(200)
		same(t, "answer", []any{a.Value("statements"), a.Value("matched"), a.Value("changed"), a.Value("items.0.said"),
			a.Value("items.0.status")},
			[]any{1., 1., 1., "not_affected", "ignored"})
		same(t, "both", []string{status("left-pad"), status("deep")}, []string{"ignored", "to_verify"})
		same(t, "on the other branch",
			caller.Get(w.Project+"/results/sca?branch=topic&status=ignored").Want(200).Value("total"), 1.)
		history := caller.Get(w.Project + "/results/sca/" +
			ids["left-pad"]).Want(200).Value("sca.base.historyItems.items").([]any)
		comment := "VEX: not affected (vulnerable_code_not_in_execute_path): never called – Jo, 2026-01-01T00:00:00Z"
		if text := fmt.Sprint(history); !strings.Contains(text, comment) {
			t.Errorf("the history does not say why: %s", text)
		}
		log := w.AsPerson("administrator").Get(w.Organization + "/audit-log?action=finding.decide").Want(200)
		same(t, "decisions in the audit log", len(log.Value("records").([]any)), 1)
		same(t, "again", caller.Post(address, openVEX("not_affected", "CVE-2026-1", "pkg:npm/left-pad",
			"never called")).Want(200).Value("changed"), 0.)
		same(t, "of nothing here",
			caller.Post(address, openVEX("fixed", "CVE-2026-1", "pkg:npm/other", "")).Want(200).Value("matched"), 0.)

		caller.Post(address, openVEX("affected", "CVE-2026-2", "pkg:npm/deep@1.0.0", "upgrade soon")).Want(200)
		same(t, "affected", status("deep"), "confirmed")
		d := caller.Get(address).Want(200)
		for path, want := range map[string]any{
			"statements.0.vulnerability.name": "CVE-2026-1", "statements.0.status": "not_affected",
			"statements.0.justification":    "vulnerable_code_not_in_execute_path",
			"statements.0.impact_statement": comment, "statements.0.products.0.@id": "pkg:npm/left-pad@1.0.0",
			"statements.1.status": "affected",
		} {
			same(t, path, d.Value(path), want)
		}
		if again := caller.Get(address + "?branch=main").Want(200); string(again.Body) != string(d.Body) {
			t.Errorf("the same state is another document: %s", again.Body)
		}
		back := caller.Post(address, json.RawMessage(d.Body)).Want(200)
		same(t, "what was downloaded is about the same", back.Value("matched"), 2.)
		same(t, "and says the same", []string{status("left-pad"), status("deep")}, []string{"ignored", "confirmed"})
		cyclone := `{"bomFormat":"CycloneDX","specVersion":"1.6","vulnerabilities":[{"id":"CVE-2026-2","analysis":{"state":"resolved","detail":"patched"},"affects":[{"ref":"pkg:npm/deep@1.0.0"}]}]}`
		caller.Post(address+"?branch=topic", json.RawMessage(cyclone)).Want(200)
		same(t, "of CycloneDX", status("deep"), "resolved")
		w.Scan("main", withURLs()) // what is seen again is not fixed, and what does not matter stays so
		same(t, "after a scan", []string{status("left-pad"), status("deep")}, []string{"ignored", "to_verify"})
	})
}

func TestStatementsAreRefused(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", withURLs())
		address := w.Project + "/vex"
		for _, text := range []string{`{}`, `[]`, `{"@context":"https://openvex.dev/ns","statements":1}`, `"x"`,
			`{"bomFormat":"CycloneDX","vulnerabilities":{}}`} {
			w.AsPerson("developer").Post(address, json.RawMessage(text)).Want(400)
		}
		w.AsPerson("developer").Post(address, strings.Repeat(" ", 11<<20)).Want(413)
		w.AsPerson("read_only").Post(address, openVEX("fixed", "CVE-2026-1", "pkg:npm/left-pad", "")).Want(403)
		w.AsPerson("read_only").Get(address).Want(403)
		w.AsPerson("stranger").Post(address, openVEX("fixed", "CVE-2026-1", "pkg:npm/left-pad", "")).Want(404)
		w.AsPerson("stranger").Get(address).Want(404)
	})
}

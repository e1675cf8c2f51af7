package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"merlon/internal/finding"
)

// openVEX is a document with one statement.
func openVEX(status, cve, product, text string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"@context":"https://openvex.dev/ns/v0.2.0","@id":"x","author":"Jo","timestamp":"2026-01-01T00:00:00Z","version":1,"statements":[
		{"vulnerability":{"name":%q},"products":[{"@id":%q}],"status":%q,"justification":"vulnerable_code_not_in_execute_path","impact_statement":%q}]}`, cve, product, status, text))
}

// withURLs reports two vulnerable packages that have package URLs.
func withURLs() *scanned {
	s := (&scanned{}).vulnerable("CVE-2026-1", "left-pad", "1.0.0", finding.Direct).vulnerable("CVE-2026-2", "deep",
		"1.0.0", finding.Transitive)
	for _, f := range s.findings {
		f.Package.Package.PURL = "pkg:npm/" + f.Package.Package.Name + "@1.0.0"
	}
	return s
}

func TestStatementsAboutVulnerabilities(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		address, caller := w.proj+"/vex", w.as("analyst_developer")
		caller.Get(address).Want(404)
		w.scan("main", withURLs())
		w.scan("topic", withURLs())
		ids := w.idsOf("sca?branch=main&x=")
		status := func(name string) string {
			t.Helper()
			return caller.Get(w.proj + "/results/sca/" + ids[name]).Want(200).Text("sca.base.currentState")
		}
		a := caller.Post(address, openVEX("not_affected", "cve-2026-1", "pkg:npm/left-pad", "never called")).Want(200)
		same(t, "answer", []any{a.Value("statements"), a.Value("matched"), a.Value("changed"), a.Value("items.0.said"),
			a.Value("items.0.status")},
			[]any{1., 1., 1., "not_affected", "ignored"})
		same(t, "both", []string{status("left-pad"), status("deep")}, []string{"ignored", "to_verify"})
		same(t, "on the other branch",
			caller.Get(w.proj+"/results/sca?branch=topic&status=ignored").Want(200).Value("total"), 1.)
		history := caller.Get(w.proj + "/results/sca/" + ids["left-pad"]).Want(200).Value("sca.base.historyItems.items").([]any)
		comment := "VEX: not affected (vulnerable_code_not_in_execute_path): never called – Jo, 2026-01-01T00:00:00Z"
		if text := fmt.Sprint(history); !strings.Contains(text, comment) {
			t.Errorf("the history does not say why: %s", text)
		}
		log := w.as("administrator").Get(w.org + "/audit-log?action=finding.decide").Want(200)
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
		w.scan("main", withURLs()) // what is seen again is not fixed, and what does not matter stays so
		same(t, "after a scan", []string{status("left-pad"), status("deep")}, []string{"ignored", "to_verify"})
	})
}

func TestStatementsAreRefused(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", withURLs())
		address := w.proj + "/vex"
		for _, text := range []string{`{}`, `[]`, `{"@context":"https://openvex.dev/ns","statements":1}`, `"x"`,
			`{"bomFormat":"CycloneDX","vulnerabilities":{}}`} {
			w.as("developer").Post(address, json.RawMessage(text)).Want(400)
		}
		w.as("developer").Post(address, strings.Repeat(" ", 11<<20)).Want(413)
		w.as("read_only").Post(address, openVEX("fixed", "CVE-2026-1", "pkg:npm/left-pad", "")).Want(403)
		w.as("read_only").Get(address).Want(403)
		w.as("stranger").Post(address, openVEX("fixed", "CVE-2026-1", "pkg:npm/left-pad", "")).Want(404)
		w.as("stranger").Get(address).Want(404)
	})
}

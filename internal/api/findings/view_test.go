package findings_test

import (
	"encoding/json"
	"strings"
	"testing"

	"merlon/internal/api/apitest"
)

// Lists are short, rows shorter, and the finding by itself has everything.
func TestViews(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.LongResults())
		get := func(path string) json.RawMessage {
			var l struct{ Vulnerabilities []json.RawMessage }
			w.AsPerson("read_only").Get(w.Project + "/results/" + path).Want(200).Into(&l)
			return l.Vulnerabilities[0]
		}
		for _, a := range []string{"sast", "iac", "cicd", "secret", "sca"} {
			list, row, full := get(a), get(a+"?view=row"), get(a+"?view=full")
			var e struct{ ID string }
			if err := json.Unmarshal(list, &e); err != nil {
				t.Fatal(err)
			}
			detail := w.AsPerson("read_only").Get(w.Project + "/results/" + a + "/" + e.ID).Want(200)
			t.Logf("%s: list %d, row %d, full %d, detail %d bytes", a, len(list), len(row), len(full),
				len(detail.Body))
			// A detail has each part once more than a list with everything only by its frame.
			if len(detail.Body) > len(full)+500 || strings.Count(string(detail.Body), apitest.LongText) !=
				strings.Count(string(full), apitest.LongText) {
				t.Errorf("%s: the detail holds parts twice: %d bytes, %s", a, len(detail.Body), detail.Body)
			}
			for _, twice := range []string{"vulnerability.base", "vulnerability.metadata", a + ".codeSnippets",
				a + ".vulnerability"} {
				if detail.Value(twice) != nil {
					t.Errorf("%s: the detail has %s", a, twice)
				}
			}
			most := 1536
			if a == "sca" { // the package and its advisory stand under the names of three clients
				most = 2200
			}
			if len(list) > most {
				t.Errorf("%s: an element of the list has %d bytes: %s", a, len(list), list)
			}
			if len(row) > 400 {
				t.Errorf("%s: a row has %d bytes: %s", a, len(row), row)
			}
			if !strings.Contains(string(full), apitest.LongText) {
				t.Errorf("%s: the full view lacks the text", a)
			}
		}
		w.AsPerson("read_only").Get(w.Project + "/results/sast?view=wide").Want(400)
		// What clients read of an element of a list.
		var e struct {
			ID, CurrentSeverity, Language, Path       string
			CodeSnippets, DataFlowItems, HistoryItems []any
			Vulnerability                             struct{ ID, Name, Severity, Description string }
			Base                                      struct {
				ID, ProjectID, CreatedAt, UpdateAt, CurrentState, CurrentSeverity, CurrentPriority, Language, Path,
				VulnerabilityType string
				CodeSnippets  []any
				HistoryItems  struct{ Items []any }
				Vulnerability struct{ Name, Severity, Description, HowToPrevent string }
			}
		}
		if err := json.Unmarshal(get("sast"), &e); err != nil {
			t.Fatal(err)
		}
		b := e.Base
		for name, text := range map[string]string{
			"id": e.ID, "language": e.Language, "path": e.Path, "vulnerability.name": e.Vulnerability.Name,
			"vulnerability.description": e.Vulnerability.Description,
			"base.id":                   b.ID, "base.projectId": b.ProjectID, "base.createdAt": b.CreatedAt,
			"base.updateAt":        b.UpdateAt,
			"base.currentState":    b.CurrentState,
			"base.currentPriority": b.CurrentPriority, "base.language": b.Language, "base.path": b.Path,
			"base.vulnerabilityType":          b.VulnerabilityType,
			"base.vulnerability.name":         b.Vulnerability.Name,
			"base.vulnerability.description":  b.Vulnerability.Description,
			"base.vulnerability.howToPrevent": b.Vulnerability.HowToPrevent,
		} {
			if text == "" {
				t.Errorf("%s is empty", name)
			}
		}
		if e.CodeSnippets == nil || e.DataFlowItems == nil || e.HistoryItems == nil || b.CodeSnippets == nil ||
			b.HistoryItems.Items == nil {
			t.Error("a list that clients walk over is null")
		}
		// The severity is that of the finding, not of its rule.
		if e.Vulnerability.Severity != "MEDIUM" || b.Vulnerability.Severity != "MEDIUM" ||
			e.CurrentSeverity != "medium" {
			t.Errorf("severities %s, %s, %s", e.Vulnerability.Severity, b.Vulnerability.Severity, e.CurrentSeverity)
		}
		// A dependency has what every finding has.
		var d struct {
			CVSSScore     *float64
			Vulnerability struct{ ID, Name, Description, HowToPrevent, Severity, CVE string }
		}
		if err := json.Unmarshal(get("sca"), &d); err != nil {
			t.Fatal(err)
		}
		if v := d.Vulnerability; v.ID == "" || v.Name == "" || v.Description == "" || v.Severity != "HIGH" ||
			v.CVE != "CVE-2026-1" ||
			!strings.HasPrefix(v.HowToPrevent, "Upgrade left-pad from 1.0.0 to 9.9.9. npm install") ||
			d.CVSSScore == nil {
			t.Errorf("got %+v", d)
		}
		if strings.Contains(string(get("sast")), "cvssScore") {
			t.Error("a finding without a score shows one")
		}
	})
}

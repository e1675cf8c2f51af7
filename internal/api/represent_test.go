package api_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"merlon/internal/finding"
)

// long is a text of a rule as they are in practice.
var long = strings.Repeat("Data of a request reaches a statement of the database without being bound as a parameter. ",
	9)

// longResults are findings with long texts, code and flows.
func longResults() *scanned {
	s := &scanned{}
	s.code(finding.SAST, finding.High, "java/sql-injection",
		"src/main/java/org/example/shop/orders/OrderRepository.java", 120)
	f := s.findings[0]
	f.Severity, f.Message = finding.Medium, "The parameter q of GET /orders reaches the statement in findOrders "+
		"without being bound."
	for range 6 {
		f.Steps = append(f.Steps, f.Steps[0])
	}
	for _, r := range s.rules {
		r.Description, r.HowToPrevent, r.ShortDescription = long, long, "SQL statement built from data of a request"
	}
	for _, a := range []finding.Analysis{finding.IaC, finding.CICD, finding.Secret} {
		s.code(a, finding.Critical, "a-rule", "deploy/overlays/production/web/settings.yaml", 1204)
		f, r := s.findings[len(s.findings)-1], s.rules[len(s.rules)-1]
		f.Message, r.Description, r.HowToPrevent = long, long, long
		r.Name, r.OWASP = "GitHub personal access token", []string{"A05:2021"}
	}
	s.findings[len(s.findings)-1].Secret = &finding.SecretMatch{Kind: "GitHub personal access token",
		Redacted: "ghp_…(40)"}
	s.vulnerable("CVE-2026-1", "left-pad", "1.0.0", finding.Direct)
	for _, r := range s.rules {
		if r.Advisory != nil {
			r.Advisory.Details, r.Advisory.Summary = long, "left-pad reads beyond the end of its input"
			for range 12 {
				r.Advisory.References = append(r.Advisory.References,
					finding.AdvisoryReference{Type: "WEB", URL: "https://example.test/advisories/with/a/long/address"})
			}
		}
	}
	return s
}

// Lists are short, rows shorter, and the finding by itself has everything.
func TestViews(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", longResults())
		get := func(path string) json.RawMessage {
			var l struct{ Vulnerabilities []json.RawMessage }
			w.as("read_only").Get(w.proj + "/results/" + path).Want(200).Into(&l)
			return l.Vulnerabilities[0]
		}
		for _, a := range []string{"sast", "iac", "cicd", "secret", "sca"} {
			list, row, full := get(a), get(a+"?view=row"), get(a+"?view=full")
			var e struct{ ID string }
			if err := json.Unmarshal(list, &e); err != nil {
				t.Fatal(err)
			}
			detail := w.as("read_only").Get(w.proj + "/results/" + a + "/" + e.ID).Want(200)
			t.Logf("%s: list %d, row %d, full %d, detail %d bytes", a, len(list), len(row), len(full),
				len(detail.Body))
			// A detail has each part once more than a list with everything only by its frame.
			if len(detail.Body) > len(full)+500 || strings.Count(string(detail.Body), long) !=
				strings.Count(string(full), long) {
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
			if !strings.Contains(string(full), long) {
				t.Errorf("%s: the full view lacks the text", a)
			}
		}
		w.as("read_only").Get(w.proj + "/results/sast?view=wide").Want(400)
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

// Responses are compressed, and not sent again to a client that has them.
func TestRepresentations(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", longResults())
		path := w.proj + "/results/sast?view=full"
		plain := w.as("read_only").Get(path).Want(200)
		tag := plain.Header.Get("ETag")
		if !strings.HasPrefix(tag, `W/"`) || plain.Header.Get("Cache-Control") != "private, no-cache" {
			t.Fatalf("headers %v", plain.Header)
		}
		for coding, open := range map[string]func(io.Reader) (io.Reader, error){
			"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
			"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		} {
			status, header, body := w.raw(path, "Accept-Encoding", coding)
			if status != 200 || header.Get("Content-Encoding") != coding || header.Get("ETag") != tag ||
				len(body) > len(plain.Body)/2 {
				t.Errorf("%s: %d, %v, %d of %d bytes", coding, status, header, len(body), len(plain.Body))
				continue
			}
			r, err := open(strings.NewReader(string(body)))
			if err == nil {
				body, err = io.ReadAll(r)
			}
			if err != nil || string(body) != string(plain.Body) {
				t.Errorf("%s: %v, another body", coding, err)
			}
		}
		for _, header := range []string{tag, `"x", ` + tag, strings.TrimPrefix(tag, "W/"), "*"} {
			if status, h, body := w.raw(path, "If-None-Match", header); status != 304 || len(body) != 0 ||
				h.Get("ETag") != tag {
				t.Errorf("If-None-Match %s: %d, %d bytes", header, status, len(body))
			}
		}
		if status, _, _ := w.raw(path, "If-None-Match", `W/"other"`); status != 200 {
			t.Errorf("another tag: %d", status)
		}
		w.scan("main", &scanned{})
		if status, _, _ := w.raw(path, "If-None-Match", tag); status != 200 {
			t.Errorf("the list has changed, and the response is %d", status)
		}
		if a := w.as("read_only").Get("/user/profile").Want(200); a.Header.Get("ETag") != "" {
			t.Error("the profile may be kept")
		}
	})
}

// raw requests an address and returns the response as it is.
func (w *world) raw(path, header, value string) (int, http.Header, []byte) {
	w.t.Helper()
	a := w.as("read_only").With(header, value).Raw(path)
	return a.Status, a.Header, a.Body
}

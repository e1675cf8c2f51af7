package operations_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	_ "modernc.org/sqlite" // the driver

	"merlon/internal/engine/api/operations"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// TestMembers attacks the names of the members of JSON where clients choose them, or where the
// answer speaks of them.
func TestMembers(t *testing.T) {
	const text = `openapi: 3.0.3
info: {title: Labels, version: "1"}
paths:
  /search:
    post:
      requestBody: {required: true, content: {application/json: {schema: %s}}}
      responses: {"200": {description: OK}}
`
	free := `{type: object, additionalProperties: {type: string}}`
	fixed := `{type: object, required: [subject], properties: {subject: {type: string}, text: {type: string}}}`
	db, err := sql.Open("sqlite", "file::memory:?cache=shared&name=members")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("CREATE TABLE papers (label TEXT, subject TEXT)"); err != nil {
		t.Fatal(err)
	}
	page := func(write func(string) string) func(w http.ResponseWriter, body map[string]any) {
		return func(w http.ResponseWriter, body map[string]any) {
			w.Header().Set("Content-Type", "text/html")
			for _, name := range slices.Sorted(maps.Keys(body)) {
				fmt.Fprintf(w, "<p>You have filled in %s.</p>", write(name))
			}
		}
	}
	query := func(known bool) func(w http.ResponseWriter, body map[string]any) {
		return func(w http.ResponseWriter, body map[string]any) {
			w.Header().Set("Content-Type", "application/json")
			for name := range body {
				if known && name != "label" {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, `{"error": "unknown"}`)
					return
				}
				if _, err := db.Exec("SELECT * FROM papers WHERE "+name+" = ?", fmt.Sprint(body[name])); err != nil {
					w.WriteHeader(http.StatusInternalServerError)
					_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
					return
				}
			}
			fmt.Fprint(w, `{"papers": []}`)
		}
	}
	requests := map[string]int64{}
	for _, test := range []struct {
		name, schema, rule string
		answer             func(w http.ResponseWriter, body map[string]any)
	}{
		{"a free name in a page", free, "dast/xss/reflected", page(func(s string) string { return s })},
		{"a free name, encoded", free, "", page(html.EscapeString)},
		{"a free name in SQL", free, "dast/sqlinjection/error", query(false)},
		{"a free name that has to be known", free, "", query(true)},
		{"a name that the page shows", fixed, "dast/xss/reflected", page(func(s string) string { return s })},
		{"a name that the page shows, encoded", fixed, "", page(html.EscapeString)},
		{"names that nothing shows", fixed, "", func(w http.ResponseWriter, _ map[string]any) {
			fmt.Fprint(w, `{"subject": "ok"}`)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var broken atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				if r.URL.Path != "/search" || r.Method != http.MethodPost ||
					json.NewDecoder(r.Body).Decode(&body) != nil {
					http.NotFound(w, r)
					return
				}
				for name := range body {
					if strings.HasPrefix(name, "subject") &&
						name != "subject" { // what breaks statements is added to the name
						broken.Add(1)
					}
				}
				test.answer(w, body)
			}))
			defer server.Close()
			var dialer net.Dialer
			got := &scantest.Kept{}
			target := scan.Target{URL: server.URL + "/", Rate: 1e6, Profile: scan.Standard,
				Descriptions: []scan.Description{{Name: "labels.yaml", Text: fmt.Sprintf(text, test.schema)}}}
			o := scan.Options{Live: &scan.Live{Target: target, ID: "t", Dial: dialer.DialContext,
				BrowserReason: "none in this test"}, Analyzers: []*scan.Analyzer{operations.Analyzer}}
			if err := scan.Run(t.Context(), o, got); err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, f := range got.Findings {
				if f.Live.In == "json-name" {
					found = append(found, f.RuleID)
				}
			}
			if test.rule == "" && len(found) > 0 || test.rule != "" && !slices.Contains(found, test.rule) {
				t.Errorf("found %q at names, want %q", found, test.rule)
			}
			requests[test.name] = broken.Load()
		})
	}
	if shown, other := requests["a name that the page shows"], requests["names that nothing shows"]; shown == 0 ||
		other > 0 {
		t.Errorf("%d requests break the name that is shown, and %d one that is not", shown, other)
	}
}

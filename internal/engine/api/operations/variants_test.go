package operations_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/api/operations"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// TestVariants asks for each value of a path parameter that the description lists.
func TestVariants(t *testing.T) {
	values := []string{"v3", "v2", "v1", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11"}
	text := fmt.Sprintf(`openapi: 3.0.3
info: {title: Versions, version: "1"}
paths:
  /api/{version}/clerks:
    parameters: [{in: path, name: version, required: true, schema: {type: string, enum: [%s]}}]
    get: {responses: {"200": {description: OK}}}
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}
      responses: {"201": {description: OK}}
`, strings.Join(values, ", "))
	for _, flawed := range []bool{true, false} {
		var mu sync.Mutex
		posted := map[string]bool{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			version := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/"), "/clerks")
			if !slices.Contains(values, version) {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			clerk := map[string]any{"id": 1, "name": "Ann"}
			if flawed && version == "v1" {
				clerk["password"] = "5f4dcc3b5aa765d61d8327deb882cf99"
			}
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodPost {
				posted[version] = true
				w.WriteHeader(http.StatusCreated)
			}
			_ = json.NewEncoder(w).Encode([]any{clerk})
		}))
		var dialer net.Dialer
		got := &scantest.Kept{}
		target := scan.Target{URL: server.URL + "/", Rate: 1e6, Profile: scan.Standard,
			Descriptions: []scan.Description{{Name: "versions.yaml", Text: text}}}
		o := scan.Options{Live: &scan.Live{Target: target, ID: "t", Dial: dialer.DialContext,
			BrowserReason: "none in this test"}, Analyzers: []*scan.Analyzer{operations.Analyzer}}
		if err := scan.Run(t.Context(), o, got); err != nil {
			t.Fatal(err)
		}
		server.Close()
		var found, asked []string
		for _, f := range got.Findings {
			if f.RuleID == "api/operations/credential-in-answer" {
				found = append(found, strings.TrimPrefix(f.Live.URL, server.URL))
			}
		}
		for _, o := range got.Operations {
			if o.Method == http.MethodGet {
				if asked = append(asked, strings.TrimPrefix(o.URL, server.URL)); o.Outcome != finding.Reached {
					t.Errorf("%s: %s", o.URL, o.Reason)
				}
			}
		}
		var want []string
		if flawed {
			want = []string{"/api/v1/clerks"}
		}
		if !slices.Equal(found, want) {
			t.Errorf("flawed %v: found %q, want %q", flawed, found, want)
		}
		if len(asked) != 9 || !slices.Contains(asked, "/api/{version}/clerks") ||
			!slices.Contains(asked, "/api/v2/clerks") { // the usual value, and eight others
			t.Errorf("asked %q", asked)
		}
		if len(posted) != 1 {
			t.Errorf("objects were created by %d versions", len(posted))
		}
	}
}

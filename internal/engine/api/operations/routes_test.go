package operations_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/api/operations"
	"merlon/internal/engine/dast/application"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// Operations that the code declares are asked as those of a description are; what both
// name is asked once, and nothing is compared with what is not known.
func TestDeclaredRoutes(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]string{}
	mux := http.NewServeMux()
	mux.HandleFunc("/items/{id}", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, `{"id":1}`) })
	mux.HandleFunc("/secret", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if asked[r.Method] == "" {
			asked[r.Method] = r.URL.RawQuery + string(body)
		}
		w.WriteHeader(http.StatusTeapot)
	})
	got, _ := scanTarget(t, mux, func(target *scan.Target) {
		target.Descriptions = []scan.Description{{Name: "a.json", Text: `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/items/{itemId}":{"get":{
			"parameters":[{"in":"path","name":"itemId","required":true,"schema":{"type":"integer"},"example":1}],"responses":{"200":{"description":"ok"}}}}}}`}}
		target.Routes = []scan.Route{
			{Method: "GET", Path: "/items/{id}", Parameters: []string{"path:id"},
				Location: finding.Location{Path: "a.go", StartLine: 3}},
			{Method: "POST", Path: "/secret", Parameters: []string{"query:q", "json:/name"},
				Location: finding.Location{Path: "a.go", StartLine: 7}},
		}
	})
	declared := 0
	for _, o := range got.operations {
		if o.Code == nil {
			t.Errorf("%s %s has no place in the code", o.Method, o.URL)
		}
		if o.Origin == "code" {
			declared++
			if o.Method != "POST" || !strings.HasSuffix(o.URL, "/secret") || o.Requests == 0 {
				t.Errorf("got %+v", o)
			}
		}
	}
	if len(got.operations) != 2 || declared != 1 {
		t.Errorf("%d operations, %d of the code", len(got.operations), declared)
	}
	_, body, _ := strings.Cut(asked["POST"], "{")
	var sent map[string]any
	if json.Unmarshal([]byte("{"+body), &sent) != nil || sent["name"] == nil ||
		!strings.HasPrefix(asked["POST"], "q=") {
		t.Errorf("it was sent %q", asked["POST"])
	}
	for _, f := range got.Findings {
		if strings.Contains(f.RuleID, "conform") || strings.Contains(f.RuleID, "undocumented") ||
			strings.Contains(f.RuleID, "status") {
			t.Errorf("%s: %s", f.RuleID, f.Message)
		}
	}
}

// Where web applications and APIs are analysed in one scan, each takes of the declared
// routes what is its own, and says that of the others.
func TestDeclaredRoutesAreShared(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>for "+r.FormValue("q"))
	})
	for _, path := range []string{"/data", "/described"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":1}`)
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	var dialer net.Dialer
	for _, analyzers := range [][]*scan.Analyzer{{operations.Analyzer, application.Analyzer}, {operations.Analyzer},
		{application.Analyzer}} {
		target := scan.Target{URL: server.URL + "/", Rate: 1e6, Checks: []string{"xss"}, Descriptions: []scan.Description{{Name: "a.json", Text: `{"openapi":"3.0.0","info":{"title":"t","version":"1"},
			"paths":{"/described":{"get":{"parameters":[{"in":"query","name":"q","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`}}}
		for i, path := range []string{"/page", "/data", "/described"} {
			target.Routes = append(target.Routes, scan.Route{Method: "GET", Path: path, Parameters: []string{"query:q"},
				Location: finding.Location{Path: "a.go", StartLine: i + 1}})
		}
		var got scantest.Kept
		if err := scan.Run(t.Context(),
			scan.Options{Live: &scan.Live{Target: target, ID: "t", Dial: dialer.DialContext,
				BrowserReason: "none in this test"}, Analyzers: analyzers}, &got); err != nil {
			t.Fatal(err)
		}
		left := map[string]string{}
		for _, o := range got.Operations {
			if strings.Contains(o.Reason, "analysis covers it") {
				if o.Requests > 4 {
					t.Errorf("%s is left to another analysis after %d requests", o.URL, o.Requests)
				}
				left[strings.TrimPrefix(o.URL, server.URL)] += o.Reason
			}
		}
		want := map[string]string{}
		if len(analyzers) == 2 {
			want = map[string]string{"/page": "it returns a page: the DAST analysis covers it"}
			want["/data"] = "it returns data: the API analysis covers it"
			want["/described"] = want["/data"]
		}
		if diff := cmp.Diff(want, left); diff != "" {
			t.Errorf("%d analyzers, left to the other (-want +got):\n%s", len(analyzers), diff)
		}
		if !slices.ContainsFunc(got.Findings, func(f finding.Finding) bool {
			return strings.HasSuffix(f.Location.Path, "/page")
		}) {
			t.Errorf("%d analyzers find nothing in the page", len(analyzers))
		}
	}
}

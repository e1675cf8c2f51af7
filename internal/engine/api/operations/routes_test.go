package operations_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
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
	got, _ := examine(t, mux, func(target *scan.Target) {
		target.Descriptions = []scan.Description{{Name: "a.json", Text: `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/items/{itemId}":{"get":{
			"parameters":[{"in":"path","name":"itemId","required":true,"schema":{"type":"integer"},"example":1}],"responses":{"200":{"description":"ok"}}}}}}`}}
		target.Routes = []scan.Route{
			{Method: "GET", Path: "/items/{id}", Parameters: []string{"path:id"}, Location: finding.Location{Path: "a.go", StartLine: 3}},
			{Method: "POST", Path: "/secret", Parameters: []string{"query:q", "json:/name"}, Location: finding.Location{Path: "a.go", StartLine: 7}},
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
	if json.Unmarshal([]byte("{"+body), &sent) != nil || sent["name"] == nil || !strings.HasPrefix(asked["POST"], "q=") {
		t.Errorf("it was sent %q", asked["POST"])
	}
	for _, f := range got.Findings {
		if strings.Contains(f.RuleID, "conform") || strings.Contains(f.RuleID, "undocumented") || strings.Contains(f.RuleID, "status") {
			t.Errorf("%s: %s", f.RuleID, f.Message)
		}
	}
}

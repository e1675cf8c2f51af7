package operations_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// A service of GraphQL beside what a description names is found, at the usual address and where the
// description names it without its schema. An API without one costs two requests.
func TestGraphQLBesideADescription(t *testing.T) {
	const text = `
openapi: 3.0.3
info: {title: Shop, version: "1"}
paths:
  /items: {get: {responses: {"200": {description: OK}}}}
`
	const named = `  /inner/graphql: {post: {responses: {"200": {description: OK}}}}
`
	const schema = `{"data": {"__schema": {"queryType": {"name": "Query"}, "types": [{"kind": "OBJECT", "name": "Query", "fields": [{"name": "wares", "type": {"kind": "SCALAR", "name": "String"}, "args": []}]}]}}}`
	for name, c := range map[string]struct {
		text, path string
		profile    scan.Profile
		found      bool
	}{
		"at the usual address": {text, "/graphql", scan.Standard, true},
		"where it is named":    {text + named, "/inner/graphql", scan.Standard, true},
		"nowhere":              {text, "", scan.Standard, false},
		"profile safe":         {text, "/graphql", scan.Safe, false},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			missed := 0
			got, _ := scanTarget(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				var in struct{ Query string }
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Path == "/items":
					fmt.Fprint(w, `[]`)
				case c.path == "" || r.URL.Path != c.path || r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil:
					if r.Method == http.MethodPost {
						missed++
					}
					w.WriteHeader(http.StatusNotFound)
				case strings.Contains(in.Query, "__schema"):
					fmt.Fprint(w, schema)
				default:
					fmt.Fprint(w, `{"data": {"wares": "tea"}}`)
				}
			}), func(o *scan.Target) {
				o.Profile, o.Checks = c.profile, []string{"conformance"}
				o.Descriptions = []scan.Description{{Name: "shop.yaml", Text: c.text}}
			})
			found := false
			for _, o := range got.Operations {
				found = found || o.ID == "Query.wares" && o.Outcome == finding.Reached
			}
			if found != c.found {
				t.Errorf("found %v: %+v", found, got.Operations)
			}
			if c.path == "" && missed > 2 {
				t.Errorf("%d requests for a service that is not there", missed)
			}
		})
	}
}

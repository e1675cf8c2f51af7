package operations_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"merlon/internal/scan"
)

const stockDescription = `openapi: 3.0.3
info: {title: Stock, version: "1"}
paths:
  /items:
    get:
      parameters: [{in: query, name: page_size, schema: {type: integer}}]
      responses: {"200": {description: OK}}
`

// Lists that answer as much as they are asked for, and those that do not.
func TestPageSizes(t *testing.T) {
	for _, test := range []struct {
		name       string
		have, most int
		says       bool // the answer tells the size of the page
		ignores    bool // the parameter
		production bool
		want       bool
	}{
		{"a limit", 3000, 100, true, false, false, false},
		{"none", 3000, 1e9, false, false, false, true},
		{"none, and few objects", 5, 1e9, false, false, false, false},
		{"none, as the answer tells", 5, 1e9, true, false, false, true},
		{"a limit, and few objects", 5, 100, true, false, false, false},
		{"no parameter at all", 3000, 1e9, false, true, false, false},
		{"people work with it", 3000, 1e9, false, false, true, false},
	} {
		api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/items" {
				http.NotFound(w, r)
				return
			}
			size, err := strconv.Atoi(r.URL.Query().Get("page_size"))
			if err != nil || size < 1 {
				size = 20
			}
			size = min(size, test.most)
			n := min(size, test.have)
			if test.ignores {
				n = test.have
			}
			out := map[string]any{"page": 1}
			if test.says {
				out["pageSize"] = size
			}
			items := make([]any, n)
			for i := range items {
				items[i] = map[string]any{"id": i}
			}
			out["items"] = items
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(out)
		})
		got, _ := scanTarget(t, api, func(target *scan.Target) {
			target.Descriptions, target.Profile, target.Checks,
				target.Production = []scan.Description{{Name: "stock.yaml", Text: stockDescription}}, scan.Standard,
				[]string{"sizes"}, test.production
		})
		found := false
		for _, f := range got.Findings {
			found = found || f.RuleID == "api/operations/page-size-without-limit"
		}
		if found != test.want {
			t.Errorf("%s: found %v", test.name, found)
		}
	}
}

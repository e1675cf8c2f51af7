package operations_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// An API that fails at texts in the place of numbers does so everywhere: that is one finding of
// low severity, with its places.
func TestFailuresAreOneFinding(t *testing.T) {
	var paths strings.Builder
	for _, name := range []string{"books", "games", "songs"} {
		fmt.Fprintf(&paths, "  /%s: {get: {parameters: [{name: page, in: query, required: true, schema: {type: "+
			"integer}}], responses: {'200': {description: OK}}}}\n", name)
	}
	got, lines := scanTarget(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := strconv.Atoi(r.FormValue("page")); err != nil {
			http.Error(w, "cannot convert", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[{"id": 1}]`)
	}), func(t *scan.Target) {
		t.Descriptions = []scan.Description{{Name: "api.yaml", Text: "openapi: 3.0.0\npaths:\n" + paths.String()}}
		t.Checks = []string{"validation"}
	})
	if len(got.Findings) != 1 || got.Findings[0].Severity != finding.Low || len(got.Findings[0].Also) != 2 {
		t.Errorf("%q: %+v", lines, got.Findings)
	}
}

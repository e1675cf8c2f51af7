package operations_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

// An API that answers without the address of what it has created, or with nothing at all, gets as
// few objects as others, which are listed.
func TestSilentOperationsCreateFewObjects(t *testing.T) {
	const notes = `
openapi: 3.0.3
info: {title: Notes, version: "1"}
paths:
  /notes:
    get: {responses: {"200": {description: OK}}}
    post:
      requestBody: {content: {application/json: {schema: {type: object, required: [title], properties: {title: {type: string}, text: {type: string}}}}}}
      responses: {"200": {description: OK}}
`
	for _, answer := range []string{`{"status":"ok"}`, `{"success":true,"data":{"inner":{"id":%d}}}`, `{"note_id":%d}`,
		`"ok"`, ``, `[{"id":%d,"title":"TITLE"}]`, `{"message":"Note added","error":null}`} {
		t.Run(answer, func(t *testing.T) {
			var mu sync.Mutex
			var titles []string
			got, _ := scanTarget(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Path == "/notes" && r.Method == http.MethodPost:
					var in map[string]any
					title, _ := "", json.NewDecoder(r.Body).Decode(&in)
					if title, _ = in["title"].(string); title == "" {
						w.WriteHeader(http.StatusBadRequest)
						return
					}
					titles = append(titles, title)
					if answer == "" {
						w.WriteHeader(http.StatusNoContent)
						return
					}
					encoded, _ := json.Marshal(title)
					text := strings.ReplaceAll(answer, `"TITLE"`, string(encoded))
					fmt.Fprint(w, strings.ReplaceAll(text, "%d", fmt.Sprint(len(titles))))
				case r.URL.Path == "/notes":
					_ = json.NewEncoder(w).Encode(titles)
				default:
					http.NotFound(w, r)
				}
			}), func(o *scan.Target) {
				o.Descriptions = []scan.Description{{Name: "notes.yaml", Text: notes}}
			})
			listed := 0
			for _, op := range got.operations {
				listed += len(op.Created)
			}
			if len(titles) == 0 || len(titles) > 5 || listed != len(titles) {
				t.Errorf("%d stored, %d listed", len(titles), listed)
			}
		})
	}
}

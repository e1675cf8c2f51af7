package oldapiversion

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

func TestCheck(t *testing.T) {
	const now, before = `[{"id": 1, "name": "jane"}]`, `[{"id": 1, "name": "jane", "password_hash": "$2y$10$abcdefgh"}]`
	for name, c := range map[string]struct {
		answers map[string]string // by version; "": any other
		want    bool
	}{
		"gives away":     {map[string]string{"v3": now, "v2": before}, true},
		"two before":     {map[string]string{"v3": now, "v2": now, "v1": before}, true},
		"same":           {map[string]string{"v3": now, "v2": now, "v1": now}, false},
		"gone":           {map[string]string{"v3": now}, false},
		"harmless more":  {map[string]string{"v3": now, "v2": `[{"id": 1, "name": "jane", "city": "Paris"}]`}, false},
		"something else": {map[string]string{"v3": now, "v2": `{"error": "old", "token_hash": "xxxxxxxx"}`}, false},
		"ignored":        {map[string]string{"v3": now, "": before}, false},
		"in both":        {map[string]string{"v3": before, "v2": before}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := c.answers[strings.Split(r.URL.Path, "/")[2]]
				if answer == "" {
					answer = c.answers[""]
				}
				if answer == "" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, answer)
			})
			got := activescantest.Attack(t, h, []*activescan.Rule{Rule}, []string{"GET /api/v3/users"},
				activescantest.Profile(scan.Safe))
			var want []string
			if c.want {
				want = []string{"dast/versions/secrets GET /api/v" +
					map[bool]string{true: "1", false: "2"}[name == "two before"] + "/users"}
			}
			activescantest.Expect(t, got, want...)
			for _, f := range got.Findings {
				for _, e := range f.Live.Exchanges {
					if strings.Contains(e.Response, "$2y$") {
						t.Error("the evidence holds a secret")
					}
				}
			}
			if got.Requests > 6 {
				t.Errorf("%d requests", got.Requests)
			}
		})
	}
}

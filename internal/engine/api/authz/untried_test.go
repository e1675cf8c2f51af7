package authz_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// TestUntried says what was not tried where the scan could make no objects or accounts,
// by the paths and rules of what it finds where it can.
func TestUntried(t *testing.T) {
	for name, c := range map[string]struct {
		refuse string
		status int
		want   []string // paths of reasons
	}{
		"nothing is refused":             {"", 0, nil},
		"objects are taken for wrong":    {"POST /notes", 422, []string{"/notes", "/notes/{noteId}"}},
		"nobody may make objects":        {"POST /notes", 403, nil},
		"objects are not shown any more": {"GET /notes/", 500, []string{"/notes", "/notes/{noteId}"}},
		"nobody may register":            {"POST /register", 400, []string{"everywhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			api := newNotes()
			api.flawed = true
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				at := r.Method + " " + r.URL.Path
				if c.refuse != "" && (at == c.refuse || strings.HasSuffix(c.refuse, "/") &&
					strings.HasPrefix(at, c.refuse)) {
					w.WriteHeader(c.status)
					return
				}
				api.ServeHTTP(w, r)
			})
			server := httptest.NewServer(h)
			defer server.Close()
			target := notesTarget([]string{"ann", "bob"}, scan.Standard)
			target.Checks = []string{"authorization"}
			got := visit(t, server, target)
			var paths []string
			for _, s := range got.Statuses {
				for _, r := range s.Reasons {
					if len(r.Rules) == 0 {
						continue
					}
					at := strings.TrimPrefix(r.Path, strings.TrimPrefix(server.URL, "http://"))
					if at == "" {
						at = "everywhere"
					} else if slices.Contains(r.Rules,
						"api/operations/object-level-authorization-write") != strings.Contains(at, "{") ||
						!slices.Contains(r.Rules, "api/operations/mass-assignment") {
						t.Errorf("%s: %v", r.Message, r.Rules)
					}
					paths = append(paths, at)
					for _, f := range got.Findings {
						if f.Location.Path == r.Path && (f.RuleID == "api/operations/mass-assignment" ||
							f.RuleID == "api/operations/object-level-authorization-write") {
							t.Errorf("%s was tried at %s and found, and the scan says: %s", f.RuleID, r.Path, r.Message)
						}
					}
				}
			}
			slices.Sort(paths)
			if paths = slices.Compact(paths); !slices.Equal(paths, c.want) {
				t.Errorf("not tried: got %q, want %q", paths, c.want)
			}
			if name == "nothing is refused" { // the paths above are those of findings
				for _, path := range []string{"/notes", "/notes/{noteId}"} {
					if !slices.ContainsFunc(got.Findings, func(f finding.Finding) bool {
						return strings.HasSuffix(f.Location.Path, path)
					}) {
						t.Errorf("nothing was found at %s", path)
					}
				}
			}
		})
	}
}

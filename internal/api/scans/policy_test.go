package scans_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/run"
)

func TestNoPolicies(t *testing.T) {
	srv, fake := scanServer(t)
	fake.run = run.Run{ID: scanID}
	base := srv.URL + "/projects/" + projectID
	none := map[string]any{"violations": []any{}, "total": 0.0, "page": 2.0, "limit": 50.0}
	for path, want := range map[string]map[string]any{
		"/scans/" + scanID + "/evaluation-status": {"hasEvaluation": false, "status": "NOT_STARTED",
			"progress": 0.0, "message": "no policies"},
		"/scans/" + scanID + "/violations?page=2&limit=50": none,
		"/violations?page=2&limit=50":                      none,
	} {
		status, got := call(t, "GET", base+path, "", nil)
		if diff := cmp.Diff(want, got); status != 200 || diff != "" {
			t.Errorf("%s: status %d (-want +got):\n%s", path, status, diff)
		}
	}
	if status, _ := call(t, "GET", base+"/scans/"+projectID+"/evaluation-status", "", nil); status != 404 {
		t.Errorf("an unknown scan: status %d, want 404", status)
	}
}

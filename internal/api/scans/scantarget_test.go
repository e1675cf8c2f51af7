package scans_test

import (
	"testing"

	"merlon/internal/api/apitest"
	"merlon/internal/job"
	"merlon/internal/run"
)

// TestStartTargetScan starts scans of targets that may be attacked, and of others only
// passively.
func TestStartTargetScan(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		manager, developer := w.AsPerson("team_manager"), w.AsPerson("developer")
		unproven := w.Project + "/target/" +
			manager.Post(w.Project+"/target", apitest.TargetBody("https://shop.example.test/")).Want(201).Text("id")
		listed := w.Project + "/target/" +
			manager.Post(w.Project+"/target", apitest.TargetBody("http://127.0.0.1:9/")).Want(201).Text("id")
		developer.Post(unproven+"/scan/start", map[string]any{}).Want(409)
		developer.Post(unproven+"/scan/start", map[string]any{"profile": "passive"}).Want(200)
		started := developer.Post(listed+"/scan/start", map[string]any{"sourceType": "cli"}).Want(200)
		at := w.Project + "/scan/" + started.Text("scanId")
		got := developer.Get(at).Want(200)
		for field, want := range map[string]any{
			"scanType": "live", "targetUrl": "http://127.0.0.1:9/", "profile": "safe", "name": "Scan of Shop",
			"state": "queued", "paused": false,
			"analyses.0": "dast", "analyses.1": "api", "branch": "main",
		} {
			if v := got.Value(field); v != want {
				t.Errorf("%s: got %v, want %v", field, v, want)
			}
		}
		// Who may not change the target goes no further than it says.
		developer.Post(listed+"/scan/start", map[string]any{"profile": "full"}).Want(409)
		developer.Post(listed+"/scan/start", map[string]any{"profile": "brutal"}).Want(400)
		w.AsPerson("read_only").Post(listed+"/scan/start", map[string]any{}).Want(403)
		w.AsPerson("stranger").Post(listed+"/scan/start", map[string]any{}).Want(404)

		developer.Post(at+"/resume", map[string]any{}).Want(409)
		if p := developer.Post(at+"/pause", map[string]any{}).Want(200); p.Value("paused") != true ||
			p.Value("step") != "paused" {
			t.Errorf("paused: %s", p.Body)
		}
		if p := developer.Post(at+"/resume", map[string]any{}).Want(200); p.Value("paused") != false {
			t.Errorf("resumed: %s", p.Body)
		}
		w.AsPerson("read_only").Post(at+"/pause", map[string]any{}).Want(403)
		developer.Post(at+"/cancel", map[string]any{}).Want(200)
		developer.Post(at+"/pause", map[string]any{}).Want(409)
		source := w.Project + "/scan/" + developer.Post(w.Project+"/scan/start",
			map[string]any{}).Want(200).Text("scanId")
		developer.Post(source+"/pause", map[string]any{}).Want(409)

		manager.Patch(w.Project, map[string]any{"apiEnabled": false}).Want(200)
		if got := developer.Get(w.Project + "/scan/" +
			developer.Post(listed+"/scan/start",
				map[string]any{}).Want(200).Text("scanId")).Want(200); got.Value("analyses.1") != nil {
			t.Errorf("without API: %s", got.Body)
		}
		manager.Patch(w.Project, map[string]any{"dastEnabled": false}).Want(200)
		developer.Post(listed+"/scan/start", map[string]any{}).Want(409)
	})
}

// TestDeleteTarget ends the scans of a target that is deleted, and no others.
func TestDeleteTarget(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		manager := w.AsPerson("team_manager")
		gone := w.Project + "/target/" +
			manager.Post(w.Project+"/target", apitest.TargetBody("http://127.0.0.1:9/")).Want(201).Text("id")
		kept := w.Project + "/target/" +
			manager.Post(w.Project+"/target", apitest.TargetBody("http://127.0.0.1:10/")).Want(201).Text("id")
		start := func(at string) string {
			return manager.Post(at+"/scan/start", map[string]any{}).Want(200).Text("scanId")
		}
		working := start(gone)
		take := job.Claim{Run: run.ID(working), Job: 7, Holder: "worker"}
		if _, err := w.DB.AdmitRuns(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if r, err := w.DB.ClaimRun(t.Context(), take); r == nil || err != nil {
			t.Fatalf("took %+v, %v", r, err)
		}
		waiting, other := start(gone), start(kept)
		manager.Delete(gone, nil).Want(200)
		if wish, err := w.DB.Heartbeat(t.Context(), take); wish != job.Cancel || err != nil {
			t.Errorf("the worker is told %v, %v", wish, err)
		}
		for id, want := range map[string]string{working: "running", waiting: "failed", other: "queued"} {
			if got := manager.Get(w.Project + "/scan/" + id).Want(200); got.Value("state") != want {
				t.Errorf("want %s: %s", want, got.Body)
			}
		}
	})
}

package api_test

import (
	"testing"
)

// TestStartContainerScan starts scans of images that are there, and of others.
func TestStartContainerScan(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		path := w.proj + "/scan/container/start"
		body := func(image string) map[string]any { return map[string]any{"imageToScan": image, "branch": "images"} }
		started := w.as("developer").Post(path, body("app:1.0")).Want(200)
		got := w.as("developer").Get(w.proj + "/scan/" + started.Text("scanId")).Want(200)
		for field, want := range map[string]any{
			"scanType": "container", "image": "docker.io/library/app:1.0", "branch": "images", "state": "queued",
			"step": "waiting for a free place", "analyses.0": "container",
		} {
			if v := got.Value(field); v != want {
				t.Errorf("%s: got %v, want %v", field, v, want)
			}
		}
		for image, status := range map[string]int{"missing": 404, "two words": 400, "": 400} {
			w.as("developer").Post(path, body(image)).Want(status)
		}
		w.as("developer").Post(path, map[string]any{"imageToScan": "app", "sourceType": "nobody"}).Want(400)
		w.as("read_only").Post(path, body("app")).Want(403)
		w.as("stranger").Post(path, body("app")).Want(404)
		w.as("administrator").Patch(w.proj, map[string]any{"containerEnabled": false}).Want(200)
		w.as("developer").Post(path, body("app")).Want(409)
	})
}

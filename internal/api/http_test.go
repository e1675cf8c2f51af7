package api_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
)

// Wrong addresses and methods are refused as HTTP says, and HEAD goes where GET does.
func TestMethods(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		owner := w.as("administrator")
		for _, c := range []struct {
			method, path, allow string
			status              int
		}{
			{"GET", "/nothing", "", 404},
			{"GET", w.proj + "/nothing", "", 404},
			{"POST", w.proj + "/results/sca/packages", "GET, HEAD", 405},
			{"DELETE", w.proj + "/github/start-scan", "POST", 405},
			{"POST", w.proj, "GET, HEAD, PATCH, DELETE", 405},
			{"OPTIONS", w.proj, "GET, HEAD, PATCH, DELETE", 405},
			{"TRACE", w.proj, "GET, HEAD, PATCH, DELETE", 405},
			{"HEAD", w.proj + "/github/start-scan", "POST", 405},
		} {
			a := owner.Do(c.method, c.path, nil).Want(c.status)
			if a.Header.Get("Allow") != c.allow {
				t.Errorf("%s %s: Allow is %q, want %q", c.method, c.path, a.Header.Get("Allow"), c.allow)
			}
			if got := a.Text("instance"); got != c.path {
				t.Errorf("%s %s: instance is %q", c.method, c.path, got)
			}
		}
		// A request that the HTTP library refuses has its instance, too.
		if got := owner.Get(w.team + "/projects?page=1&pageSize=x").Want(400).Text("instance"); got != w.team+
			"/projects" {
			t.Errorf("instance is %q", got)
		}
	})
}

func TestHead(t *testing.T) {
	srv := httptest.NewServer(api.New(api.Config{Version: api.Version{Service: "merlon"}}).Handler())
	defer srv.Close()
	for path, want := range map[string]int{"/": 200, "/client-apps": 200, "/organizations": 401, "/nothing": 404} {
		resp, err := http.Head(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			t.Errorf("HEAD %s: got %d %v, want %d", path, resp.StatusCode, resp.Header, want)
		}
	}
}

// A sort key that a list does not have is ignored, and the response says so.
func TestUnknownSort(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", someResults())
		for path, key := range map[string]string{
			w.proj + "/results/sast?sort=": "occurrenceCount", w.proj + "/results/sast/grouped?sort=": "latestScanAt",
			w.proj + "/results/sca/grouped?sort=": "language", w.proj +
				"/results/container/images/grouped?sort=": "currentSeverity",
			w.proj + "/results/container/images?sort=": "name", w.org + "/results/overview?sortBy=": "currentSeverity",
		} {
			a := w.as("administrator").Get(path + key).Want(200)
			if got := a.Header.Get("Warning"); !strings.HasPrefix(got, `299 merlon "`) ||
				!strings.Contains(got, "="+key+"; supported: ") {
				t.Errorf("%s%s: warning %q", path, key, got)
			}
			a = w.as("administrator").Get(path + "%22%0d%0aX").Want(200)
			if got := a.Header.Get("Warning"); strings.Count(got, `"`) != 2 ||
				!strings.Contains(got, "=???X; supported: ") {
				t.Errorf("%s: warning %q", path, got)
			}
		}
		for _, path := range []string{"/results/sast?sort=currentSeverity&order=asc",
			"/results/sast/grouped?sort=occurrenceCount&order=DESC",
			"/results/container/images/grouped?sort=latestScanAt&order=DESC", "/results/sca?sort=currentCVSS"} {
			if a := w.as("administrator").Get(w.proj + path).Want(200); a.Header.Get("Warning") != "" {
				t.Errorf("%s: warning %q", path, a.Header.Get("Warning"))
			}
		}
	})
}

// A team with projects is deleted only by somebody who said that the projects go, too.
func TestDeleteTeam(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		owner := w.as("administrator")
		refused := owner.Delete(w.team, nil).Want(409)
		if text := refused.Text("message"); !strings.Contains(text, "1 projects") ||
			!strings.Contains(text, "deleteProjects=true") {
			t.Errorf("the refusal says %q", text)
		}
		owner.Delete(w.team+"?deleteProjects=false", nil).Want(409)
		owner.Delete(w.team+"?deleteProjects=perhaps", nil).Want(400)
		owner.Get(w.proj).Want(200)
		owner.Delete(w.team+"?deleteProjects=true", nil).Want(200)
		owner.Get(w.proj).Want(404)
		empty := "/team/" + owner.Post(w.org+"/team", map[string]any{"name": "Empty"}).Want(200).Text("teamId")
		owner.Delete(empty, nil).Want(200)
	})
}

// An organization without a connection to a code host has no repositories there.
func TestRepositories(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for _, path := range []string{w.org + "/github/repositories", "/integrations/gitlab" + w.org +
			"/repositories"} {
			var got struct{ Repositories []any }
			w.as("member").Get(path).Want(200).Into(&got)
			if got.Repositories == nil || len(got.Repositories) != 0 {
				t.Errorf("%s: got %v, want an empty list", path, got.Repositories)
			}
		}
	})
}

// An upload that is refused ends its scan, and the scan says why.
func TestRefusedUpload(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for body, want := range map[string]string{"this is text": "not a zip archive", "": "empty"} {
			started := w.as("developer").Post(w.proj+"/scan/start", map[string]any{"branch": "main"}).Want(200)
			address := strings.TrimPrefix(started.Text("url"), apitest.BaseURL)
			w.Runner.As("").Do("PUT", address, strings.NewReader(body)).Want(400)
			got := w.as("developer").Get(w.proj + "/scan/" + started.Text("scanId")).Want(200)
			if got.Text("state") != "failed" || !strings.Contains(got.Text("errorMessage"), want) ||
				got.Value("errorCode") != 102.0 {
				t.Errorf("the scan is %s: %v", got.Text("state"), got.Value("errorMessage"))
			}
			if status := w.Runner.As("").Do("PUT", address,
				strings.NewReader("PK\x03\x04")).Status; !slices.Contains([]int{409, 410}, status) {
				t.Errorf("the address takes another upload: %d", status)
			}
		}
	})
}

package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
)

// Wrong addresses and methods are refused as HTTP says, and HEAD goes where GET does.
func TestMethods(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		owner := w.AsPerson("administrator")
		for _, c := range []struct {
			method, path, allow string
			status              int
		}{
			{"GET", "/nothing", "", 404},
			{"GET", w.Project + "/nothing", "", 404},
			{"POST", w.Project + "/results/sca/packages", "GET, HEAD", 405},
			{"DELETE", w.Project + "/github/start-scan", "POST", 405},
			{"POST", w.Project, "GET, HEAD, PATCH, DELETE", 405},
			{"OPTIONS", w.Project, "GET, HEAD, PATCH, DELETE", 405},
			{"TRACE", w.Project, "GET, HEAD, PATCH, DELETE", 405},
			{"HEAD", w.Project + "/github/start-scan", "POST", 405},
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
		if got := owner.Get(w.Team + "/projects?page=1&pageSize=x").Want(400).Text("instance"); got != w.Team+
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
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.SomeResults())
		for path, key := range map[string]string{
			w.Project + "/results/sast?sort=": "occurrenceCount", w.Project +
				"/results/sast/grouped?sort=": "latestScanAt",
			w.Project + "/results/sca/grouped?sort=": "language", w.Project +
				"/results/container/images/grouped?sort=": "currentSeverity",
			w.Project + "/results/container/images?sort=": "name", w.Organization +
				"/results/overview?sortBy=": "currentSeverity",
		} {
			a := w.AsPerson("administrator").Get(path + key).Want(200)
			if got := a.Header.Get("Warning"); !strings.HasPrefix(got, `299 merlon "`) ||
				!strings.Contains(got, "="+key+"; supported: ") {
				t.Errorf("%s%s: warning %q", path, key, got)
			}
			a = w.AsPerson("administrator").Get(path + "%22%0d%0aX").Want(200)
			if got := a.Header.Get("Warning"); strings.Count(got, `"`) != 2 ||
				!strings.Contains(got, "=???X; supported: ") {
				t.Errorf("%s: warning %q", path, got)
			}
		}
		for _, path := range []string{"/results/sast?sort=currentSeverity&order=asc",
			"/results/sast/grouped?sort=occurrenceCount&order=DESC",
			"/results/container/images/grouped?sort=latestScanAt&order=DESC", "/results/sca?sort=currentCVSS"} {
			if a := w.AsPerson("administrator").Get(w.Project + path).Want(200); a.Header.Get("Warning") != "" {
				t.Errorf("%s: warning %q", path, a.Header.Get("Warning"))
			}
		}
	})
}

func TestUnbuiltSaysSo(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		for _, c := range []struct {
			method, path, who string
			want              int
		}{
			{"GET", w.Project + "/owasp-report/json", "analyst_developer", 501},
			{"GET", w.Project + "/owasp-report/json", "read_only", 403},
			{"GET", w.Project + "/owasp-report/json", "stranger", 404},
			{"POST", w.Project + "/autofix", "developer", 501},
			{"GET", w.Organization + "/policies", "member", 501},
			{"POST", w.Organization + "/policies", "member", 403},
			{"POST", w.Organization + w.Project + "/github/link", "administrator", 501},
			{"POST", w.Organization + w.Project + "/github/link", "team_manager", 403},
		} {
			a := w.AsPerson(c.who).Do(c.method, c.path, nil).Want(c.want)
			if c.want == http.StatusNotImplemented && !strings.Contains(a.Text("message"), "not implemented in "+
				"this version") {
				t.Errorf("%s: got the text %q", c.path, a.Text("message"))
			}
		}
	})
}

package crawl_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"merlon/internal/engine/dast/crawl"
)

// Answers name what they lack. What they still miss when they get it is not theirs.
func TestWantedParameters(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		lacks := func(format string, values map[string]string) {
			for _, name := range []string{"one", "two", "user_id"} {
				if value, ok := values[name]; ok && value == "" {
					_, _ = fmt.Fprintf(w, format, name)
				}
			}
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		switch r.URL.Path {
		case "/":
			for _, p := range []string{"warning", "form", "refusal", "framework", "session", "prose", "added",
				"filled"} {
				_, _ = fmt.Fprintf(w, "<a href=/%s>.</a>", p)
			}
			_, _ = fmt.Fprint(w, `<form method=post action=/added><input name=note></form>`)
		case "/warning":
			lacks("<b>Warning</b>: Undefined array key \"%s\" in <b>/srv/page.php</b>",
				map[string]string{"one": r.URL.Query().Get("one"), "two": r.URL.Query().Get("two")})
		case "/form":
			lacks("<b>Notice</b>: Undefined index: %s in /srv/page.php",
				map[string]string{"one": r.PostForm.Get("one")})
		case "/refusal":
			lacks("Missing required parameter &quot;%s&quot;.", map[string]string{"two": r.URL.Query().Get("two")})
		case "/framework":
			if r.URL.Query().Get("one") == "" {
				w.WriteHeader(http.StatusBadRequest)
			}
			lacks("Required request parameter '%s' for method parameter type String is not "+
				"present", map[string]string{"one": r.URL.Query().Get("one")})
		case "/session":
			lacks("Undefined array key \"%s\"", map[string]string{"user_id": ""})
		case "/filled":
			lacks("Undefined array key \"%s\"", map[string]string{"one": r.URL.Query().Get("one")})
			_, _ = fmt.Fprint(w, `<form action=/elsewhere><input name=one></form>`)
		case "/prose":
			_, _ = fmt.Fprint(w, "A required parameter of fame is missing. Undefined index of prices.")
		case "/added":
			lacks("Undefined array key \"%s\"", map[string]string{"two": r.PostForm.Get("two")})
		}
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		submit bool
		want   map[string]string
	}{
		{true, map[string]string{"GET /warning": "[[] [query:one query:two]]", "POST /form": "[[form:one]]",
			"GET /refusal": "[[] [query:two]]", "GET /framework": "[[] [query:one]]",
			"GET /session": "[[]]", "POST /session": "[]", "GET /prose": "[[]]", "GET /filled": "[[]]",
			"GET /elsewhere": "[[query:one]]", "POST /added": "[[form:note] [form:note form:two] [form:two]]",
			"GET /added": "[[]]"}},
		{false, map[string]string{"GET /warning": "[[] [query:one query:two]]", "POST /form": "[]",
			"GET /form": "[[]]"}},
	} {
		surface, _, _ := run(t, server.URL, crawl.Options{Submit: c.submit})
		for at, want := range c.want {
			var method, path string
			if _, err := fmt.Sscan(at, &method, &path); err != nil {
				t.Fatal(err)
			}
			got := parametersOf(surface, method, path)
			slices.SortFunc(got, slices.Compare)
			if fmt.Sprint(got) != want {
				t.Errorf("submit %v: %s takes %v, want %s", c.submit, at, got, want)
			}
		}
	}
}

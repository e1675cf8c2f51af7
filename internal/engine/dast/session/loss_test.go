package session

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// guarded is an application that sends a signed-in user to its sign-in page for what he may not
// see.
type guarded struct {
	logins atomic.Int64
	ended  atomic.Bool // the session is over
	open   bool        // every page greets visitors, so that none shows the session
}

func (a *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	c, _ := r.Cookie("sid")
	switch in := c != nil && !a.ended.Load(); {
	case r.URL.Path == "/login" && r.Method == http.MethodPost:
		a.logins.Add(1)
		a.ended.Store(false)
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "in", Path: "/"})
		http.Redirect(w, r, "/home", http.StatusFound)
	case r.URL.Path == "/login":
		fmt.Fprint(w, `<form method=post><input name=username><input name=pass type=password></form>`)
	case strings.HasPrefix(r.URL.Path, "/admin"), !in && !a.open:
		http.Redirect(w, r, "/login", http.StatusFound)
	default:
		fmt.Fprint(w, "hello")
	}
}

// A redirect to the sign-in page is a loss only when the page that shows the session says so.
func TestForbiddenPagesAreNoLoss(t *testing.T) {
	for name, tt := range map[string]struct {
		app    *guarded
		marker scan.Marker
	}{
		"a page that differs":          {&guarded{}, scan.Marker{}},
		"a marker":                     {&guarded{}, scan.Marker{URL: "/home", In: "hello"}},
		"no page that shows a session": {&guarded{open: true}, scan.Marker{}},
	} {
		s, client, base := open(t, tt.app,
			scan.Identity{Form: &scan.FormLogin{URL: "/login", User: "jane", Password: "s3cret"}, Marker: tt.marker})
		if err := s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		requests := client.Sent()
		ask := func(path string) {
			r, err := message.Parse(base + path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Send(t.Context(), r, s); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 100 {
			ask(fmt.Sprintf("/admin/%d", i%4))
			ask("/page")
		}
		if state := s.State(); state.Losses != 0 || state.Lost || tt.app.logins.Load() != 1 {
			t.Errorf("%s: %d sign-ins, %+v", name, tt.app.logins.Load(), state)
		}
		if n := client.Sent() - requests; n > 210 {
			t.Errorf("%s: %d requests, so that each redirect is confirmed again", name, n)
		}
		if tt.app.open {
			continue
		}
		tt.app.ended.Store(true)
		ask("/page")
		ask("/page")
		if state := s.State(); state.Losses != 1 || state.Lost || tt.app.logins.Load() != 2 ||
			!strings.Contains(state.Why, "leads to the page for signing in") {
			t.Errorf("%s: a loss: %d sign-ins, %+v", name, tt.app.logins.Load(), state)
		}
	}
}

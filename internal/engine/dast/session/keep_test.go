package session

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// silent is an application that forgets sessions without a word: its pages greet
// everybody, but one.
type silent struct {
	logins atomic.Int64
	ended  atomic.Bool // no session holds
	shut   atomic.Bool // nobody signs in any more
}

func (a *silent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	switch {
	case r.URL.Path == "/login" && r.Method == http.MethodPost && !a.shut.Load():
		a.logins.Add(1)
		a.ended.Store(false)
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "in", Path: "/"})
		http.Redirect(w, r, "/home", http.StatusFound)
	case r.URL.Path == "/login":
		fmt.Fprint(w, `<form method=post><input name=username><input name=pass type=password></form>`)
	case r.URL.Path == "/home":
		c, _ := r.Cookie("sid")
		if c == nil || a.ended.Load() || r.Header.Get("Authorization") != "" && a.shut.Load() {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "hello jane")
	default:
		fmt.Fprint(w, "hello")
	}
}

// TestSessionIsProvenAgain finds a session lost that no ordinary answer shows lost, by
// time and by requests, with a marker and without.
func TestSessionIsProvenAgain(t *testing.T) {
	form := &scan.FormLogin{URL: "/login", User: "jane", Password: "s3cret"}
	for name, tt := range map[string]struct {
		identity scan.Identity
		requests int
		later    time.Duration
	}{
		"a page that differs": {scan.Identity{Form: form}, 1, proveAfter},
		"a marker": {scan.Identity{Form: form, Marker: scan.Marker{URL: "/home", In: "jane"}}, 1,
			proveAfter},
		"requests":  {scan.Identity{Form: form}, proveEvery, 0},
		"too early": {scan.Identity{Form: form}, 10, time.Second},
	} {
		a := &silent{}
		s, client, base := open(t, a, tt.identity)
		now := time.Unix(1e9, 0)
		s.o.Now = func() time.Time { return now }
		if err := s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		ask := func(n int) {
			for range n {
				r, err := message.Parse(base + "/page")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := client.Send(t.Context(), r, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		a.ended.Store(true)
		now = now.Add(tt.later)
		ask(tt.requests)
		if want := map[bool]int64{true: 1, false: 2}[name == "too early"]; a.logins.Load() != want || s.State().Lost {
			t.Errorf("%s: %d sign-ins, %+v", name, a.logins.Load(), s.State())
		}
		if name != "a marker" {
			continue
		}
		a.ended.Store(true)
		a.shut.Store(true)
		now = now.Add(proveAfter)
		since := now
		ask(1)
		now = now.Add(time.Hour)
		ask(3)
		if state := s.State(); !state.Lost || !state.Since.Equal(since) || state.Signs > 2+maxFails {
			t.Errorf("%s: %+v, want it lost since %s", name, state, since)
		}
	}
}

// TestFixedSessionIsProvenAgain finds a token that is not taken any more.
func TestFixedSessionIsProvenAgain(t *testing.T) {
	a := &silent{}
	s, client, base := open(t, a, scan.Identity{Cookie: "sid=in", Marker: scan.Marker{URL: "/home", Status: 200}})
	now := time.Unix(1e9, 0)
	s.o.Now = func() time.Time { return now }
	if err := s.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.ended.Store(true)
	now = now.Add(proveAfter)
	r, err := message.Parse(base + "/page")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Send(t.Context(), r, s); err != nil || !s.State().Lost || !s.State().Since.Equal(now) {
		t.Errorf("%+v, %v", s.State(), err)
	}
}

// TestLook gives the answers of a sign-in to those who look, without credentials.
func TestLook(t *testing.T) {
	s, client, base := open(t, &silent{},
		scan.Identity{Form: &scan.FormLogin{URL: "/login", User: "jane", Password: "s3cret"}})
	var seen []string
	s.o.Look = func(resp *message.Response) {
		text := resp.Exchange("").Request + resp.Request.Curl(resp.Sent) + resp.Text()
		seen = append(seen, resp.Request.Method+" "+resp.Request.Path)
		if strings.Contains(text, "s3cret") || strings.Contains(text, "jane") && resp.Request.Method != http.MethodGet {
			t.Errorf("it sees credentials: %s", text)
		}
	}
	if err := s.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := message.Parse(base + "/page")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Send(t.Context(), r, s); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(seen, ", "); got != "GET /login, POST /login, GET /home" {
		t.Errorf("seen %s", got)
	}
}

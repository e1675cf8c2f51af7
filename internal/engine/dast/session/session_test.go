package session

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/scan"
)

// app is an application with a form, a login by JSON, OAuth and pages that tell who is
// signed in. Sessions end after some requests.
type app struct {
	left   atomic.Int64 // requests until the session ends
	logins atomic.Int64
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	switch r.URL.Path {
	case "/login":
		if r.Method == http.MethodGet {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "new"})
			fmt.Fprint(w, `<form method=post><input type=hidden name=token value=t0k3n-t0k3n><input name=remember type=checkbox><input name=username><input name=pass type=password><input name=code></form>`)
			return
		}
		if r.FormValue("username") != "jane" || r.FormValue("pass") != "s3cret" ||
			r.FormValue("token") != "t0k3n-t0k3n" || len(r.FormValue("code")) != 6 {
			fmt.Fprint(w, `wrong <form method=post action=/login><input name=username><input name=pass type=password></form>`)
			return
		}
		a.logins.Add(1)
		a.left.Store(5)
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "in", Path: "/"})
		http.Redirect(w, r, "/home", http.StatusFound)
	case "/who": // the name, the password and the code, each on a page of its own
		fmt.Fprint(w, `<form action=/find><input name=q></form><form method=post action=/what><input type=hidden name=state value=t0k3n><input name=username></form>`)
	case "/what":
		fmt.Fprintf(w, `<form method=post action=/code><input type=hidden name=user value=%q><input name=pass type=password></form>`, r.FormValue("username")+r.FormValue("state"))
	case "/code":
		if r.FormValue("user") == "janet0k3n" && r.FormValue("pass") == "s3cret" {
			fmt.Fprint(w, `<form method=post action=/done><input name=otp inputmode=numeric autocomplete=one-time-code></form>`)
		}
	case "/done":
		if r.FormValue("otp") == "287082" {
			a.left.Store(5)
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "in", Path: "/"})
		}
	case "/api/login":
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"u":"jane"}` {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"user": {"name": "jane"}, "authentication": {"token": "abc.def"}, "refresh_token": "no"}`)
	case "/token":
		if r.FormValue("grant_type") == "client_credentials" && r.FormValue("client_id") == "me" {
			fmt.Fprint(w, `{"access_token": "oauth"}`)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
	default:
		c, _ := r.Cookie("sid")
		switch auth := r.Header.Get("Authorization"); {
		case auth == "Bearer abc.def", auth == "Bearer oauth", auth == "Bearer fixed", strings.HasPrefix(auth, "Basic "):

			fmt.Fprint(w, "hello <a href=/logout>sign out</a>")
		case c != nil && c.Value == "in" && a.left.Add(-1) >= 0:
			fmt.Fprint(w, "hello <a href=/logout>sign out</a>")
		default:
			http.Redirect(w, r, "/login", http.StatusFound)
		}
	}
}

func open(t *testing.T, a http.Handler, identity scan.Identity) (*Session, *traffic.Client, string) {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	scope, err := sitemap.NewScope(&scan.Target{URL: server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, Rate: 1e6})
	t.Cleanup(client.Close)
	identity.Name = "jane"
	s, err := New(identity, Options{Client: client, Scope: scope, Now: func() time.Time { return time.Unix(59, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return s, client, server.URL
}

const seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" // "12345678901234567890" of RFC 6238

func TestSignIn(t *testing.T) {
	marker := scan.Marker{URL: "/home", In: "sign out"}
	for name, identity := range map[string]scan.Identity{
		"form": {Form: &scan.FormLogin{URL: "/login", User: "jane", Password: "s3cret",
			Fields: map[string]string{"code": "{{totp}}"}}, TOTP: seed, Marker: marker},
		"code":  {Form: &scan.FormLogin{URL: "/login", User: "jane", Password: "s3cret"}, TOTP: seed, Marker: marker},
		"pages": {Form: &scan.FormLogin{URL: "/who", User: "jane", Password: "s3cret"}, TOTP: seed, Marker: marker},
		"json":  {JSON: &scan.JSONLogin{URL: "/api/login", Body: `{"u":"jane"}`}, Marker: marker},
		"at": {JSON: &scan.JSONLogin{URL: "/api/login", Body: `{"u":"jane"}`, Token: "/authentication/token"},
			Marker: marker},
		"oauth": {OAuth: &scan.OAuthLogin{Token: "/token", Grant: "client_credentials", ClientID: "me"},
			Marker: marker},
		"bearer": {Bearer: "fixed", Marker: marker},
		"basic":  {Basic: &scan.BasicLogin{User: "a", Password: "b"}, Marker: marker},
		"header": {Header: []scan.Header{{Name: "Authorization", Value: "Bearer fixed"}}, Marker: marker},
	} {
		s, _, _ := open(t, &app{}, identity)
		if err := s.SignIn(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if pages := s.Pages(); len(pages) == 0 || pages[0].Path != "/home" && name != "pages" {
			t.Errorf("%s: the pages of the session are %v", name, pages)
		}
	}
}

func TestSignInThatFailsSaysSo(t *testing.T) {
	for name, identity := range map[string]scan.Identity{
		"password":     {Form: &scan.FormLogin{URL: "/login", User: "jane", Password: "wrong"}},
		"no form":      {Form: &scan.FormLogin{URL: "/api/login", User: "jane", Password: "wrong"}},
		"json":         {JSON: &scan.JSONLogin{URL: "/api/login", Body: `{}`}},
		"pointer":      {JSON: &scan.JSONLogin{URL: "/api/login", Body: `{"u":"jane"}`, Token: "/nothing"}},
		"oauth":        {OAuth: &scan.OAuthLogin{Token: "/token", Grant: "client_credentials", ClientID: "you"}},
		"marker":       {Bearer: "other", Marker: scan.Marker{URL: "/home", In: "sign out"}},
		"steps":        {Steps: []scan.BrowserStep{{Open: "/login"}}},
		"grant":        {OAuth: &scan.OAuthLogin{Token: "/token", Grant: "magic", ClientID: "you"}},
		"wrong cookie": {Cookie: "sid=old", Marker: scan.Marker{URL: "/home", In: "sign out"}},
	} {
		s, _, _ := open(t, &app{}, identity)
		if err := s.SignIn(t.Context()); err == nil {
			t.Errorf("%s: signed in", name)
		} else if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "wrong\"") {
			t.Errorf("%s: the error tells a secret: %v", name, err)
		}
		if !s.State().Lost {
			t.Errorf("%s: the state says nothing", name)
		}
	}
}

func TestSessionIsRenewed(t *testing.T) {
	a := &app{}
	s, client, base := open(t, a,
		scan.Identity{Form: &scan.FormLogin{URL: "/login", User: "jane", Password: "s3cret",
			Fields: map[string]string{"code": "{{totp}}"}}, TOTP: seed})
	if err := s.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for i := range 100 {
		if i == 30 {
			if state := s.State(); state.IsUnstable() || state.Losses < 5 {
				t.Errorf("after 30 answers it was lost %d times", state.Losses)
			}
		}
		r, err := message.Parse(base + "/page")
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Send(t.Context(), r, s)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Status != http.StatusOK {
			lost++
		}
	}
	if n := a.logins.Load(); n < 15 || lost > 25 || s.State().Lost && lost == 0 {
		t.Errorf("%d sign-ins, %d answers without a session", n, lost)
	}
	if state := s.State(); !state.IsUnstable() || !state.First.Equal(time.Unix(59, 0)) || state.Why == "" {
		t.Errorf("how often it was lost is not told: %+v", state)
	}
}

func TestCredentialsStayAtTheTarget(t *testing.T) {
	s, _, _ := open(t, &app{}, scan.Identity{Bearer: "fixed"})
	r, _ := http.NewRequest(http.MethodGet, "http://elsewhere.example/", nil)
	if err := s.Prepare(t.Context(), r); err != nil || r.Header.Get("Authorization") != "" {
		t.Errorf("%v, header %q", err, r.Header.Get("Authorization"))
	}
	r.Host = s.o.Scope.Base().Host // the header, as an attack sets it
	if err := s.Prepare(t.Context(), r); err != nil || r.Header.Get("Authorization") != "" {
		t.Errorf("for the header Host: %v, header %q", err, r.Header.Get("Authorization"))
	}
	encrypted, err := sitemap.NewScope(&scan.Target{URL: "https://shop.example.org/",
		Include: []string{"http://shop.example.org/*"}})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = New(scan.Identity{Bearer: "fixed"}, Options{Scope: encrypted}); err != nil {
		t.Fatal(err)
	}
	for scheme, want := range map[string]string{"https": "Bearer fixed", "http": ""} {
		r, _ := http.NewRequest(http.MethodGet, scheme+"://shop.example.org/", nil)
		if err := s.Prepare(t.Context(), r); err != nil || r.Header.Get("Authorization") != want {
			t.Errorf("by %s: %v, header %q", scheme, err, r.Header.Get("Authorization"))
		}
	}
	server := httptest.NewServer(&app{})
	defer server.Close()
	scope, _ := sitemap.NewScope(&scan.Target{URL: server.URL})
	if _, err := New(scan.Identity{Marker: scan.Marker{URL: "http://elsewhere.example/"}},
		Options{Scope: scope}); err == nil {
		t.Error("a marker elsewhere was accepted")
	}
}

func TestTOTP(t *testing.T) {
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804",
		2000000000: "279037"} { // RFC 6238, appendix B, six digits
		if got, err := totp(seed, time.Unix(at, 0)); err != nil || got != want {
			t.Errorf("at %d: %s, %v; want %s", at, got, err, want)
		}
	}
	if _, err := totp("1!", time.Unix(0, 0)); err == nil {
		t.Error("a secret that is not base 32 was accepted")
	}
}

func TestIdentityFaults(t *testing.T) {
	scope, _ := sitemap.NewScope(&scan.Target{URL: "http://a.example"})
	for name, identity := range map[string]scan.Identity{
		"two ways": {Bearer: "x", Basic: &scan.BasicLogin{}},
		"pattern":  {Marker: scan.Marker{In: "("}},
		"secret":   {TOTP: "0"},
	} {
		if _, err := New(identity, Options{Scope: scope}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

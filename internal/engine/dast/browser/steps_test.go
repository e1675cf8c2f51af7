package browser

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/scan"
)

// bank signs in by forms that scripts render: first the name, then the password and a
// one-time password. The token is kept in local storage, the session in a cookie.
func bank() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", html(`<div id=app></div><script>
const app = document.querySelector("#app");
const ask = (html, next) => setTimeout(() => { app.innerHTML = html; app.querySelector("button").onclick = next }, 100);
let name = "";
ask('<label>E-mail <input id=email type=email autocomplete=username></label><button>Next</button>', () => {
  name = document.querySelector("#email").value;
  ask('<input id=pass type=password><input id=code name=code inputmode=numeric><button>Sign in</button>', async () => {
    const answer = await fetch("/login", {method: "POST", body: JSON.stringify({name, pass: document.querySelector("#pass").value, code: document.querySelector("#code").value})});
    if (!answer.ok) { app.textContent = "No"; return }
    localStorage.setItem("token", await answer.text());
    app.innerHTML = "<p id=welcome>Welcome, " + name + "</p>";
    fetch("/api/me", {headers: {Authorization: "Bearer " + localStorage.getItem("token")}});
  });
});
</script>`))
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"name":"ann@example.com","pass":"s3cret","code":"123456"}` {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "abc", HttpOnly: true, Path: "/"})
		_, _ = io.WriteString(w, "tok-1")
	})
	mux.HandleFunc("/api/me", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	return mux
}

// TestSignIn signs in by steps and by the form, and tells what went wrong.
func TestSignIn(t *testing.T) {
	w := newWorld(t, bank())
	totp := func() (string, error) { return "123456", nil }
	steps := []scan.BrowserStep{
		{Open: w.server.URL + "/"}, {Fill: "#email", Value: "ann@example.com"}, {Click: "button"},
		{Fill: "#pass", Value: "s3cret"}, {Fill: "#code", Value: "{{totp}}"}, {Click: "button"}, {Wait: "#welcome"},
	}
	form := &scan.FormLogin{URL: w.server.URL + "/", User: "ann@example.com", Password: "s3cret",
		Fields: map[string]string{"code": "{{totp}}"}}
	for name, l := range map[string]Login{"steps": {Steps: steps, TOTP: totp}, "form": {Form: form, TOTP: totp}} {
		s, err := w.SignIn(t.Context(), l)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(s.Cookies) != 1 || s.Cookies[0].Name != "session" || s.Cookies[0].Value != "abc" {
			t.Errorf("%s: cookies %v", name, s.Cookies)
		}
		if len(s.Storage) != 1 || s.Storage[0].Origin != w.server.URL || s.Storage[0].Local["token"] != "tok-1" {
			t.Errorf("%s: storage %v", name, s.Storage)
		}
		if s.Authorization != "Bearer tok-1" || !strings.Contains(s.Text, "Welcome") {
			t.Errorf("%s: header %q, text %q", name, s.Authorization, s.Text)
		}
		checkStored(t, w, s)
	}
	for want, l := range map[string]Login{
		"step 5 of the sign-in: a value contains {{totp}}":    {Steps: steps},
		"step 1 of the sign-in: nothing appeared at #nowhere": {Steps: []scan.BrowserStep{{Wait: "#nowhere"}}},
		"shows no form": {Form: &scan.FormLogin{URL: w.server.URL + "/api/me"}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel() // they wait
			if _, err := w.SignIn(t.Context(), l); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, not %q", err, want)
			}
		})
	}
}

// checkStored opens a page that holds what the sign-in has left.
func checkStored(t *testing.T, w *world, s *SignInState) {
	t.Helper()
	as := &silent{}
	w.Keep(as, s.Storage)
	p, err := w.Page(t.Context(), PageOptions{As: as})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	token := ""
	if err := p.Open(t.Context(), w.server.URL+"/", openLimit); err != nil {
		t.Fatal(err)
	}
	if err := p.Eval(t.Context(), "localStorage.getItem('token')", &token); err != nil || token != "tok-1" {
		t.Errorf("a page holds the token %q, %v", token, err)
	}
}

// silent is a session without headers.
type silent struct{ _ int }

func (*silent) Prepare(context.Context, *http.Request) error { return nil }

func formLogin(user, password string) *scan.FormLogin {
	return &scan.FormLogin{User: user, Password: password}
}

package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

const webCallback = "https://web.example.test/callback"

// webPath is an authorization request of the confidential application.
func (w *world) webPath(changes ...string) string {
	return w.authorizePath(append([]string{"client_id", "web", "redirect_uri", webCallback, "scope", "openid", "prompt",
		""}, changes...)...)
}

// webBack returns the parameters of a redirect to the confidential application.
func (w *world) webBack(a answer) url.Values {
	w.t.Helper()
	u, err := url.Parse(a.header.Get("Location"))
	if a.status != http.StatusSeeOther || err != nil || !strings.HasPrefix(u.String(), webCallback+"?") {
		w.t.Fatalf("no redirect to the application: %d %s %s", a.status, a.header.Get("Location"), a.text)
	}
	return u.Query()
}

// TestConsentIsRemembered checks that an application with a secret is asked about
// once, and that prompt=none then gets a code.
func TestConsentIsRemembered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		if got := w.webBack(w.get(w.webPath("prompt", "none"))).Get("error"); got != "login_required" {
			t.Errorf("signed out: %s", got)
		}
		w.webTokens()
		for _, changes := range [][]string{{"prompt", "none"}, {}} {
			a := w.get(w.webPath(changes...))
			if len(changes) == 0 {
				a = w.follow(a)
			}
			code := w.webBack(a).Get("code")
			w.redeem(code, "client_id", "web", "client_secret", secret, "redirect_uri", webCallback).want(t, 200, "")
		}
		// The page comes back when it is asked for, and for more scopes.
		for _, changes := range [][]string{{"prompt", "consent"}, {"scope", "openid email"}} {
			if page := w.follow(w.get(w.webPath(changes...))); page.status != 200 ||
				!strings.Contains(page.text, `value="allow"`) {
				t.Errorf("%v: got %d %s", changes, page.status, page.header.Get("Location"))
			}
		}
		if got := w.webBack(w.get(w.webPath("prompt", "none", "scope",
			"openid email"))).Get("error"); got != "consent_required" {
			t.Errorf("more scopes: %s", got)
		}
		clock.Advance(time.Minute)
		if got := w.webBack(w.get(w.webPath("prompt", "none", "max_age", "30"))).Get("error"); got != "login_required" {
			t.Errorf("old sign-in: %s", got)
		}
		// Any program of the machine can pass for a native application.
		w.code()
		if got := w.callback(w.get(w.authorizePath("prompt", "none"))).Get("error"); got != "consent_required" {
			t.Errorf("native application: %s", got)
		}
	})
}

// TestIDTokenHint checks that only the person of the hint comes back.
func TestIDTokenHint(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		hint := w.webTokens().member(t, "id_token")
		if code := w.webBack(w.get(w.webPath("prompt", "none", "id_token_hint", hint))).Get("code"); code == "" {
			t.Error("the person of the hint got no code")
		}
		for _, bad := range []string{"x", hint + "x", w.exchange().member(t, "access_token")} {
			if got := w.webBack(w.get(w.webPath("prompt", "none", "id_token_hint",
				bad))).Get("error"); got != "invalid_request" {
				t.Errorf("hint %.10s…: %s", bad, got)
			}
		}
		// A hint of another application's token is refused as well.
		if got := w.callback(w.get(w.authorizePath("prompt", "none", "id_token_hint",
			hint))).Get("error"); got != "invalid_request" {
			t.Errorf("hint of another application: %s", got)
		}
		clock.Advance(time.Minute) // the next session is younger than the hint
		other, password, err := w.people.Provision(t.Context(), "sam@example.test",
			identity.Names{FirstName: "Sam", LastName: "Roe"})
		if err != nil {
			t.Fatal(err)
		}
		w.user, w.password = other, password
		w.http = newBrowser(t, w.server)
		w.webTokens()
		if got := w.webBack(w.get(w.webPath("prompt", "none", "id_token_hint",
			hint))).Get("error"); got != "login_required" {
			t.Errorf("another person, prompt none: %s", got)
		}
		clock.Advance(time.Minute)
		page := w.follow(w.get(w.webPath("id_token_hint", hint)))
		if to := page.header.Get("Location"); !strings.HasPrefix(to, "/auth/sign-in?") {
			t.Fatalf("another person: got %d to %q", page.status, to)
		}
		if got := w.webBack(w.follow(w.signIn(w.follow(page)))).Get("error"); got != "login_required" {
			t.Errorf("the wrong person signed in: %s", got)
		}
	})
}

// TestCORS checks what scripts of other sites may read, and that they never do so
// with credentials.
func TestCORS(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		ask := func(method, path string) http.Header {
			r, err := http.NewRequest(method, w.url+path, nil)
			if err == nil {
				r.Header.Set("Origin", "https://app.example.test")
				r.Header.Set("Access-Control-Request-Method", "POST")
			}
			return w.do(r, err).header
		}
		for path, want := range map[string]string{
			"/oidc/.well-known/openid-configuration": "*", "/.well-known/openid-configuration": "*", "/oidc/jwks": "*",
			"/oidc/token": "*", "/oidc/userinfo": "*", "/oidc/revoke": "*",
			"/oidc/introspect": "", "/auth/renew": "", "/auth/account": "", "/oidc/auth": "",
		} {
			for _, method := range []string{"OPTIONS", "GET"} {
				h := ask(method, path)
				if got := h.Get("Access-Control-Allow-Origin"); got != want &&
					!(method == "GET" && path == "/oidc/token") {
					t.Errorf("%s %s: Access-Control-Allow-Origin %q, want %q", method, path, got, want)
				}
				if h.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s %s allows credentials", method, path)
				}
			}
		}
		if h := ask("OPTIONS", "/oidc/token"); !strings.Contains(h.Get("Access-Control-Allow-Headers"),
			"Authorization") || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") {
			t.Errorf("preflight: %v", h)
		}
		if a := w.exchange(); a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Error("a script cannot read the tokens")
		}
	})
}

// TestEditorExtensions checks that only configured extensions get a code through
// the addresses of an editor.
func TestEditorExtensions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		id := w.provider.ClientApps().VSCode.AppID
		for address, want := range map[string]int{
			"vscode://example.merlon/callback": 303, "vscode-insiders://example.merlon/callback": 303,
			"vscode://Example.Merlon/callback": 303,
			"vscode://evil.extension/callback": 400, "vscode-insiders://evil.extension/": 400,
			"vscode://example.merlon.evil/": 400,
			"vscode://example.merlon:80/":   400, "vscodium://example.merlon/": 400,
		} {
			if a := w.get(w.authorizePath("client_id", id, "redirect_uri", address)); a.status != want {
				t.Errorf("%s: got %d, want %d", address, a.status, want)
			}
		}
	})
}

package oidc_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/audit"
	"merlon/internal/errs"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

const (
	verifier = "a-verifier-that-has-at-least-forty-three-characters"
	callback = "http://localhost:9877/callback"
)

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// authorizePath is the address that the command line opens, with parameters
// changed: an empty value removes one.
func (w *world) authorizePath(changes ...string) string {
	q := url.Values{
		"client_id": {w.provider.ClientApps().CLI.AppID}, "redirect_uri": {callback}, "response_type": {"code"},
		"scope": {"openid offline_access"}, "state": {"st&te"}, "prompt": {"consent"}, "resource": {baseURL},
		"code_challenge": {challenge()}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		if q.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			q.Del(changes[i])
		}
	}
	return "/oidc/auth?" + q.Encode()
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// submit sends the first form of a page, with the fields added.
func (w *world) submit(page answer, path string, fields ...string) answer {
	w.t.Helper()
	if page.status >= 500 || !strings.Contains(page.text, `action="`+path+`"`) {
		w.t.Fatalf("no form for %s in %d %s", path, page.status, page.text)
	}
	_, form, _ := strings.Cut(page.text, `action="`+path+`"`)
	form, _, _ = strings.Cut(form, "</form>")
	for _, m := range hidden.FindAllStringSubmatch(form, -1) {
		if !slices.Contains(fields, m[1]) {
			fields = append(fields, m[1], html.UnescapeString(m[2]))
		}
	}
	return w.send(path, fields...)
}

// follow requests where a redirect leads.
func (w *world) follow(a answer) answer {
	w.t.Helper()
	if a.status != http.StatusSeeOther {
		w.t.Fatalf("no redirect: %d %s", a.status, a.text)
	}
	return w.get(a.header.Get("Location"))
}

// signIn signs the person in, on the page that a redirect leads to.
func (w *world) signIn(page answer) answer {
	w.t.Helper()
	return w.submit(page, "/auth/sign-in", "email", w.user.Email, "password", w.password)
}

// code goes through the browser flow and returns the parameters of the callback.
func (w *world) code(changes ...string) url.Values {
	w.t.Helper()
	page := w.follow(w.get(w.authorizePath(changes...)))
	if page.status == http.StatusSeeOther { // to the sign-in page
		page = w.follow(w.signIn(w.follow(page)))
	}
	return w.callback(w.submit(page, "/auth/consent", "decision", "allow"))
}

// callback returns the parameters of a redirect to the application.
func (w *world) callback(a answer) url.Values {
	w.t.Helper()
	u, err := url.Parse(a.header.Get("Location"))
	if a.status != http.StatusSeeOther || err != nil || u.Scheme+"://"+u.Host+u.Path != callback {
		w.t.Fatalf("no callback: %d %s %s", a.status, a.header.Get("Location"), a.text)
	}
	return u.Query()
}

// redeem exchanges a code, with fields changed.
func (w *world) redeem(code string, changes ...string) answer {
	w.t.Helper()
	form := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {w.provider.ClientApps().CLI.AppID}, "code": {code},
		"redirect_uri": {callback}, "code_verifier": {verifier}, "resource": {baseURL},
	}
	for i := 0; i < len(changes); i += 2 {
		if form.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			form.Del(changes[i])
		}
	}
	var fields []string
	for name := range form {
		fields = append(fields, name, form.Get(name))
	}
	return w.send("/oidc/token", fields...)
}

func (w *world) refresh(token string, more ...string) answer {
	w.t.Helper()
	return w.send("/oidc/token", append([]string{"grant_type", "refresh_token",
		"client_id", w.provider.ClientApps().CLI.AppID, "refresh_token", token, "resource", baseURL}, more...)...)
}

// holds fails the test unless the access token holds, or does not.
func (w *world) holds(token string, want bool) {
	w.t.Helper()
	_, err := w.provider.Authenticate(w.t.Context(), token)
	if want && err != nil || !want && !errs.Is(err, errs.Unauthenticated) {
		w.t.Fatalf("access token: got %v, want it to hold: %v", err, want)
	}
}

func TestCodeFlow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		back := w.code("nonce", "n-1", "scope", "openid offline_access profile email unknown")
		if back.Get("state") != "st&te" || back.Get("iss") != w.url+"/oidc" || back.Get("error") != "" {
			t.Fatalf("callback %v", back)
		}
		clock.Advance(10 * time.Second)
		a := w.redeem(back.Get("code")).want(t, 200, "")
		if a.json["expires_in"] != 3600.0 || a.json["token_type"] != "Bearer" || a.json["scope"] != "openid profile "+
			"email offline_access read scan triage administer" {
			t.Errorf("answer %s", a.text)
		}
		access := a.member(t, "access_token")
		w.holds(access, true)
		id := decodePart(t, strings.Split(a.member(t, "id_token"), ".")[1])
		if id["nonce"] != "n-1" || id["aud"] != w.provider.ClientApps().CLI.AppID || id["sub"] != string(w.user.ID) ||
			id["email"] != w.user.Email {
			t.Errorf("id_token %v", id)
		}
		if got := int64(id["auth_time"].(float64)); got != storetest.Start.Unix() {
			t.Errorf("auth_time %d, want %d", got, storetest.Start.Unix())
		}
		// An ID token is no access token, though the key is the same.
		w.holds(a.member(t, "id_token"), false)

		r, err := http.NewRequest(http.MethodGet, w.url+"/oidc/userinfo", nil)
		if err == nil {
			r.Header.Set("Authorization", "Bearer "+access)
		}
		want := map[string]any{"sub": string(w.user.ID), "name": "Jo Doe", "given_name": "Jo", "family_name": "Doe",
			"email": "jo@example.test", "email_verified": true}
		if diff := cmp.Diff(want, w.do(r, err).want(t, 200, "").json); diff != "" {
			t.Errorf("userinfo (-want +got):\n%s", diff)
		}
		w.get("/oidc/userinfo").want(t, 401, "invalid_request")
	})
}

func TestCodeIsUsedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		code := w.code().Get("code")
		// Who lacks the verifier, or is somebody else, does not spoil the code.
		w.redeem(code, "code_verifier", strings.Repeat("x", 43)).want(t, 400, "invalid_grant")
		w.redeem(code, "code_verifier", "").want(t, 400, "invalid_grant")
		w.redeem(code, "redirect_uri", "http://localhost:9878/callback").want(t, 400, "invalid_grant")
		w.redeem(code, "client_id", w.provider.ClientApps().VSCode.AppID).want(t, 400, "invalid_grant")
		w.redeem(code, "resource", "https://api.example.org").want(t, 400, "invalid_target")
		w.redeem("unknown").want(t, 400, "invalid_grant")
		a := w.redeem(code).want(t, 200, "")
		w.holds(a.member(t, "access_token"), true)

		w.redeem(code).want(t, 400, "invalid_grant")
		w.holds(a.member(t, "access_token"), false)
		w.refresh(a.member(t, "refresh_token")).want(t, 400, "invalid_grant")

		late := w.code().Get("code")
		clock.Advance(61 * time.Second)
		w.redeem(late).want(t, 400, "invalid_grant")
	})
}

func TestRefresh(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		first := w.redeem(w.code().Get("code")).want(t, 200, "")
		clock.Advance(9 * time.Minute)
		second := w.refresh(first.member(t, "refresh_token")).want(t, 200, "")
		if second.json["expires_in"] != 3600.0 || second.member(t, "refresh_token") == first.member(t,
			"refresh_token") {
			t.Errorf("answer %s", second.text)
		}
		w.refresh(second.member(t, "refresh_token"), "client_id", "x").want(t, 400, "invalid_request")
		w.refresh(second.member(t, "refresh_token"), "resource", "https://api.example.org").want(t, 400,
			"invalid_target")
		narrow := w.refresh(second.member(t, "refresh_token"), "scope", "openid").want(t, 200, "")
		if narrow.json["scope"] != "openid read scan triage administer" {
			t.Errorf("scope %v", narrow.json["scope"])
		}
		w.refresh(narrow.member(t, "refresh_token"), "scope", "openid email").want(t, 400, "invalid_scope")

		// Using a token again gives nothing, and takes everything back.
		w.holds(second.member(t, "access_token"), true)
		clock.Advance(31 * time.Second)
		w.refresh(first.member(t, "refresh_token")).want(t, 400, "invalid_grant")
		w.holds(second.member(t, "access_token"), false)
		w.holds(narrow.member(t, "access_token"), false)
		w.refresh(narrow.member(t, "refresh_token")).want(t, 400, "invalid_grant")

		// A grant ends after 14 days, however often it is used, and no access token
		// outlives it.
		token := w.redeem(w.code().Get("code")).member(t, "refresh_token")
		for range 2 {
			clock.Advance(7*24*time.Hour - 30*time.Second)
			if _, err := db.CollectGrants(t.Context()); err != nil {
				t.Fatal(err)
			}
			token = w.refresh(token).want(t, 200, "").member(t, "refresh_token")
		}
		last := w.refresh(token).want(t, 200, "")
		if last.json["expires_in"] != 60.0 {
			t.Errorf("a minute before the end of the grant: %s", last.text)
		}
		clock.Advance(time.Minute)
		w.refresh(last.member(t, "refresh_token")).want(t, 400, "invalid_grant")
	})
}

func TestOfflineAccessNeedsConsent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		for _, changes := range [][]string{{"prompt", ""}, {"scope", "openid"}} {
			a := w.redeem(w.code(changes...).Get("code")).want(t, 200, "")
			if a.json["refresh_token"] != nil || a.json["scope"] != "openid read scan triage administer" {
				t.Errorf("%v: %s", changes, a.text)
			}
		}
	})
}

func TestAuthorizeRefusals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		// What is wrong with the application or its address goes nowhere.
		for _, changes := range [][]string{
			{"client_id", ""}, {"client_id", "nobody"}, {"redirect_uri", ""}, {"redirect_uri", "https://evil.example/"},
			{"redirect_uri", "http://localhost.evil.example/"}, {"redirect_uri", "http://user@localhost:1/"},
			{"redirect_uri", "http://localhost:1/#x"}, {"redirect_uri", "http://localhost:99999/"},
			{"redirect_uri", "http://localhost:0/"},
			{"redirect_uri", "http://127.0.0.1.evil.example:1/"}, {"redirect_uri", "//localhost/"},
			{"redirect_uri", "javascript:alert(1)"},
			{"redirect_uri", "http://localhost:1\\@evil.example/"}, {"redirect_uri", "vscode://merlon/callback"},
			{"redirect_uri", "https://localhost:1/"}, {"redirect_uri", "http:localhost"},
			{"redirect_uri", "http://LOCALHOST@evil.example/"},
			{"redirect_uri", "http://localhost:1/\x00"}, {"redirect_uri", "http://[::1/"},
			{"redirect_uri", "http://0.0.0.0:1/"},
			{"client_id", "web"}, {"client_id", "web", "redirect_uri", "https://web.example.test/callback/more"},
		} {
			if a := w.get(w.authorizePath(changes...)); a.status != 400 || a.header.Get("Location") != "" ||
				!strings.Contains(a.text, "Request failed") {
				t.Errorf("%v: got %d to %q", changes, a.status, a.header.Get("Location"))
			}
		}
		if a := w.get(w.authorizePath() + "&client_id=x"); a.status != 400 {
			t.Errorf("client_id twice: got %d", a.status)
		}
		// The rest goes back to the application.
		for _, c := range []struct {
			changes []string
			code    string
		}{
			{[]string{"response_type", ""}, "invalid_request"},
			{[]string{"response_type", "token"}, "unsupported_response_type"},
			{[]string{"response_type", "id_token"}, "unsupported_response_type"},
			{[]string{"response_mode", "fragment"}, "invalid_request"},
			{[]string{"code_challenge", ""}, "invalid_request"},
			{[]string{"code_challenge", "short"}, "invalid_request"},
			{[]string{"code_challenge_method", "plain"}, "invalid_request"},
			{[]string{"code_challenge_method", ""}, "invalid_request"},
			{[]string{"scope", ""}, "invalid_scope"},
			{[]string{"scope", "email"}, "invalid_scope"},
			{[]string{"resource", "https://api.example.org"}, "invalid_target"},
			{[]string{"request", "e30.e30."}, "request_not_supported"},
			{[]string{"request_uri", "https://evil.example"}, "request_uri_not_supported"},
			{[]string{"prompt", "none"}, "login_required"},
			{[]string{"prompt", "none login"}, "invalid_request"},
			{[]string{"max_age", "-1"}, "invalid_request"},
			{[]string{"nonce", strings.Repeat("n", 3000)}, "invalid_request"},
		} {
			back := w.callback(w.get(w.authorizePath(c.changes...)))
			if back.Get("error") != c.code || back.Get("state") != "st&te" || back.Get("error_description") == "" ||
				back.Get("iss") == "" {
				t.Errorf("%v: got %v, want %s", c.changes, back, c.code)
			}
		}
	})
}

func TestRedirectAddresses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		apps := w.provider.ClientApps()
		for _, c := range []struct{ client, address, formAction string }{
			{apps.CLI.AppID, "http://localhost:9877/callback", "http://localhost:9877"},
			{apps.CLI.AppID, "http://127.0.0.1:1/any/path?with=query", "http://127.0.0.1:1"},
			{apps.CLI.AppID, "http://[::1]:65535", "http:"},
			{apps.CLI.AppID, "http://localhost", "http://localhost"},
			{apps.VSCode.AppID, "vscode://example.merlon/callback", "vscode:"},
			{apps.VSCode.AppID, "http://localhost:5/", "http://localhost:5"},
			{apps.IntelliJ.AppID, "jetbrains://idea/merlon/callback", "jetbrains:"},
			{"web", "https://web.example.test/callback", "https://web.example.test"},
		} {
			page := w.follow(w.get(w.authorizePath("client_id", c.client, "redirect_uri", c.address)))
			if page.status == http.StatusSeeOther {
				page = w.follow(w.signIn(w.follow(page)))
			}
			if csp := page.header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self' "+
				c.formAction+";") {
				t.Errorf("%s: policy %q", c.address, csp)
			}
			a := w.submit(page, "/auth/consent", "decision", "allow")
			if to := a.header.Get("Location"); a.status != http.StatusSeeOther ||
				!strings.HasPrefix(to, strings.SplitN(c.address, "?", 2)[0]) || !strings.Contains(to, "code=") {
				t.Errorf("%s: got %d to %q", c.address, a.status, to)
			}
			if strings.Contains(c.address, "?") && !strings.Contains(a.header.Get("Location"), "with=query") {
				t.Errorf("the query of %s is gone: %s", c.address, a.header.Get("Location"))
			}
		}
	})
}

func TestConsent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		page := w.follow(w.signIn(w.follow(w.follow(w.get(w.authorizePath("login_hint", "jo@example.test"))))))
		for _, text := range []string{"Merlon command line", "jo@example.test", "http://localhost:9877",
			"stay signed in while you are away", "The access ends on 2026-12-04 09:00 UTC"} {
			if !strings.Contains(page.text, text) {
				t.Errorf("the page does not say %q: %s", text, page.text)
			}
		}
		if page := w.follow(w.get(w.authorizePath("scope", "openid"))); !strings.Contains(page.text, "ends when you "+
			"sign out in this browser, and after 60 minutes at the latest") {
			t.Errorf("the page does not say how long access without offline_access lasts: %s", page.text)
		}
		if back := w.callback(w.submit(page, "/auth/consent", "decision",
			"deny")); back.Get("error") != "access_denied" || back.Get("code") != "" {
			t.Errorf("denied: %v", back)
		}
		if back := w.callback(w.get(w.authorizePath("prompt", "none"))); back.Get("error") != "consent_required" {
			t.Errorf("prompt none: %v", back)
		}
		// Asked to sign in again, the old session does not do.
		clock.Advance(time.Minute)
		for _, changes := range [][]string{{"prompt", "login consent"}, {"max_age", "30"},
			{"prompt", "select_account"}} {
			page := w.follow(w.get(w.authorizePath(changes...)))
			if to := page.header.Get("Location"); !strings.HasPrefix(to, "/auth/sign-in?") {
				t.Errorf("%v: got %d to %q", changes, page.status, to)
			}
		}
		w.code("prompt", "login consent")
		if w.follow(w.get(w.authorizePath("max_age", "30"))).status != 200 {
			t.Error("a recent sign-in does not do for max_age")
		}
		// A request is not good for ever, nor when it was changed.
		page = w.follow(w.get(w.authorizePath()))
		if a := w.submit(page, "/auth/consent", "decision", "allow", "request", "AAAA"); a.status != 400 {
			t.Errorf("damaged request: got %d", a.status)
		}
		clock.Advance(31 * time.Minute)
		if a := w.submit(page, "/auth/consent", "decision", "allow"); a.status != 400 {
			t.Errorf("old request: got %d", a.status)
		}
	})
}

// TestOnlyOneWins sends the same code many times at once, and then the same
// refresh token, as the processes of a build do that share one sign-in.
func TestOnlyOneWins(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		const times = 8
		race := func(send func() answer) (won []answer) {
			answers := make([]answer, times)
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() { answers[i] = send() })
			}
			wg.Wait()
			for _, a := range answers {
				switch {
				case a.status == 200:
					won = append(won, a)
				case a.status != 400 || a.json["error"] != "invalid_grant":
					t.Errorf("got %d %s", a.status, a.text)
				}
			}
			return won
		}
		code := w.code().Get("code")
		won := race(func() answer { return w.redeem(code) })
		if len(won) != 1 {
			t.Fatalf("the code was exchanged %d times", len(won))
		}
		w.holds(won[0].member(t, "access_token"), false) // the others were replays
		// Of a refresh token all get the same successor.
		token := w.redeem(w.code().Get("code")).member(t, "refresh_token")
		won = race(func() answer { return w.refresh(token) })
		if len(won) != times {
			t.Fatalf("the refresh token was exchanged %d times, want %d", len(won), times)
		}
		for _, a := range won {
			w.holds(a.member(t, "access_token"), true)
			if a.member(t, "refresh_token") != won[0].member(t, "refresh_token") {
				t.Error("two successors")
			}
		}
		w.refresh(won[0].member(t, "refresh_token")).want(t, 200, "")
	})
}

// TestGrantsAreAudited checks that every change left a record, and no secret.
func TestGrantsAreAudited(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		code := w.code().Get("code")
		a := w.redeem(code).want(t, 200, "")
		w.redeem(code).want(t, 400, "invalid_grant")
		w.submit(w.submit(w.get("/auth/device"), "/auth/device", "user_code", w.device().member(t, "user_code")),
			"/auth/device", "decision", "allow")
		var got []string
		err := db.ExportAudit(t.Context(), "", 0, func(r audit.Record) error {
			for _, secret := range []string{code, a.member(t, "access_token"), a.member(t, "refresh_token"), w.pat,
				w.password} {
				if strings.Contains(r.Detail+r.Target, secret) {
					t.Errorf("%s holds a secret: %s", r.Action, r.Detail)
				}
			}
			if strings.HasPrefix(r.Action, "grant.") || strings.HasPrefix(r.Action, "device.") ||
				strings.HasPrefix(r.Action, "signing_key.") {
				got = append(got, r.Action+" "+r.Actor)
			}
			return nil
		})
		jo := string(w.user.ID)
		want := []string{"signing_key.create ", "grant.create " + jo, "grant.revoke ", "device.approve " + jo}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

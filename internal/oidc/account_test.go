package oidc_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"merlon/internal/mail"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// renew asks for the session's access token, as a page of the given site would.
func (w *world) renew(headers ...string) answer {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodPost, w.url+"/auth/renew", nil)
	if err == nil {
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return w.do(r, err)
}

func TestRenew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		w.renew().want(t, 401, "login_required")
		signedIn := w.signIn(w.get("/auth/sign-in"))
		checkSessionCookie(t, signedIn)
		a := w.renew().want(t, 200, "")
		token := a.member(t, "accessToken")
		if a.header.Get("Cache-Control") != "no-store" || len(a.json) != 1 {
			t.Errorf("answer %s %v", a.text, a.header)
		}
		w.holds(token, true)
		// Pages of this origin may, others may not; who is no browser may.
		w.renew("Sec-Fetch-Site", "same-origin", "Origin", w.url).want(t, 200, "")
		w.renew("Origin", w.url).want(t, 200, "")
		for _, headers := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"},
			{"Origin", "null"},
		} {
			w.renew(headers...).want(t, 403, "invalid_request")
		}
		// The token ends with the session, at the latest when somebody signs out.
		w.submit(w.get("/auth/account"), "/auth/sign-out")
		w.holds(token, false)
		w.renew().want(t, 401, "login_required")

		w.signIn(w.get("/auth/sign-in"))
		clock.Advance(15 * 24 * time.Hour)
		w.renew().want(t, 401, "login_required")
	})
}

// TestSignInAgain checks that a sign-in makes a new session and ends the one that the
// browser had.
func TestSignInAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		first := w.signIn(w.get("/auth/sign-in")).header.Get("Set-Cookie")
		token := w.renew().member(t, "accessToken")
		clock.Advance(time.Minute)
		second := w.signIn(w.get("/auth/sign-in")).header.Get("Set-Cookie")
		value := func(cookie string) string { v, _, _ := strings.Cut(cookie, ";"); return v }
		if value(first) == "" || value(first) == value(second) {
			t.Errorf("cookies %q and %q", first, second)
		}
		w.holds(token, false)
		if list, err := w.people.Sessions(t.Context(), tenant.Actor{UserID: w.user.ID}); err != nil || len(list) != 1 {
			t.Errorf("%d sessions, %v; want 1", len(list), err)
		}
	})
}

func checkSessionCookie(t *testing.T, a answer) {
	t.Helper()
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name != "__Host-merlon_session" {
			continue
		}
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" ||
			len(c.Value) < 40 {
			t.Errorf("cookie %v", c)
		}
		return
	}
	t.Fatalf("no session cookie: %d %s", a.status, a.text)
}

// paths are the pages that anybody can open.
var paths = []string{
	"/auth/sign-in", "/auth/sign-up", "/auth/verify?token=x", "/auth/forgot", "/auth/recover?token=x", "/auth/sign-out",
	"/auth/nothing",
	"/oidc/auth", "/oidc/end_session", "/auth/consent?request=x",
}

// TestPagesAreSafe checks what browsers are told about every page, and that none
// has a script or a style of its own.
func TestPagesAreSafe(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		check := func(path string) {
			a := w.get(path)
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; " +
					"frame-ancestors 'none'; base-uri 'none'",
				"Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
				"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
				"Content-Type": "text/html; charset=utf-8",
			} {
				if got := a.header.Get(name); got != want {
					t.Errorf("%s: %s %q, want %q", path, name, got, want)
				}
			}
			if regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son[a-z]+=|javascript:|https?://[^l1\[]`).MatchString(strings.ReplaceAll(a.text, w.url, "")) {
				t.Errorf("%s: a script, a style or an address elsewhere: %s", path, a.text)
			}
			if !strings.Contains(a.text, `<html lang="en">`) || strings.Count(a.text, "<h1>") != 1 {
				t.Errorf("%s: %s", path, a.text)
			}
		}
		for _, path := range paths {
			check(path)
		}
		w.signIn(w.get("/auth/sign-in"))
		for _, path := range []string{"/auth/account", "/auth/password", "/auth/device", "/auth/sign-out"} {
			check(path)
			if !strings.Contains(w.get(path).text, "/auth/sign-out") {
				t.Errorf("%s does not lead to the sign-out", path)
			}
		}
		if a := w.get("/auth/style.css"); a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"),
			"text/css") {
			t.Errorf("style: %d %v", a.status, a.header)
		}
	})
}

// TestFormsAreGuarded sends every form without what only our page in this browser
// can have.
func TestFormsAreGuarded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		for _, path := range []string{
			"/auth/sign-in", "/auth/sign-up", "/auth/verify", "/auth/forgot", "/auth/recover", "/auth/consent",
			"/auth/device",
			"/auth/password", "/auth/account", "/auth/sign-out",
		} {
			w.http = newBrowser(t, w.server)
			if a := w.send(path, "email", w.user.Email, "password", w.password); a.status != 403 ||
				!strings.Contains(a.text, "cookie") {
				t.Errorf("%s without a cookie: %d %s", path, a.status, a.text)
			}
			foreign := w.csrf()
			w.http = newBrowser(t, w.server)
			w.csrf()
			for _, token := range []string{"", "x", foreign} {
				if a := w.send(path, "csrf", token, "email", w.user.Email, "password", w.password); a.status != 403 {
					t.Errorf("%s with the token %q of another browser: %d", path, token, a.status)
				}
			}
			r, err := http.NewRequest(http.MethodPost, w.url+path, strings.NewReader("csrf="+w.csrf()))
			if err == nil {
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			}
			if a := w.do(r, err); a.status != 403 || !strings.Contains(a.text, "Cross-site form submission rejected") {
				t.Errorf("%s from another site: %d", path, a.status)
			}
		}
		// A token from before signing in does not do afterwards.
		before := w.csrf()
		w.signIn(w.get("/auth/sign-in"))
		if a := w.send("/auth/password", "csrf", before, "current", w.password, "password",
			"another good pass phrase"); a.status != 403 {
			t.Errorf("token of before: %d", a.status)
		}
	})
}

func (w *world) csrf() string {
	w.t.Helper()
	m := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(w.get("/auth/sign-in").text)
	if m == nil {
		w.t.Fatal("no token in the form")
	}
	return m[1]
}

func TestSignInPage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		// A wrong password and an unknown address look the same.
		wrong := w.submit(w.get("/auth/sign-in"), "/auth/sign-in", "email", w.user.Email, "password", "wrong")
		unknown := w.submit(w.get("/auth/sign-in"), "/auth/sign-in", "email", "jx@example.test", "password", "wrong")
		if wrong.status != 401 || unknown.status != 401 || wrong.text != strings.ReplaceAll(unknown.text,
			"jx@example.test", w.user.Email) {
			t.Errorf("%d %s\n%d %s", wrong.status, wrong.text, unknown.status, unknown.text)
		}
		// Afterwards the browser stays here, whatever the address asked for.
		for asked, want := range map[string]string{
			"":                              "/auth/account?",
			"/auth/device?user_code=BCDF":   "/auth/device?user_code=BCDF",
			"https://evil.example/":         "/auth/account",
			"//evil.example/auth/device":    "/auth/account",
			"/\\evil.example":               "/auth/account",
			"/auth/../../evil":              "/auth/account",
			"/auth/device/../sign-out":      "/auth/account",
			"javascript:alert(1)":           "/auth/account",
			"/auth/consent?request=a%20%22": "/auth/consent?request=a%20%22",
		} {
			a := w.submit(w.get("/auth/sign-in"), "/auth/sign-in", "email", w.user.Email, "password", w.password,
				"next", asked)
			if got := a.header.Get("Location"); a.status != 303 ||
				strings.TrimSuffix(got, "?") != strings.TrimSuffix(want, "?") {
				t.Errorf("next %q: %d to %q, want %q", asked, a.status, got, want)
			}
		}
		// Guessing is stopped.
		w.http = newBrowser(t, w.server)
		var status int
		for range 30 {
			status = w.submit(w.get("/auth/sign-in"), "/auth/sign-in", "email", w.user.Email, "password",
				"wrong").status
		}
		if status != 429 {
			t.Errorf("after 30 wrong passwords: %d", status)
		}
	})
}

// outbox collects what a courier delivers.
type outbox struct{ sent []mail.Message }

func (o *outbox) Send(_ context.Context, m mail.Message) error {
	o.sent = append(o.sent, m)
	return nil
}

// link returns the link to the path in the mail that waits for the address.
func (w *world) link(to, path string) string {
	w.t.Helper()
	var o outbox
	c := mail.Courier{Queue: w.db, Sender: &o, Post: w.post, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if _, err := c.Deliver(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	for _, m := range o.sent {
		if link := regexp.MustCompile(regexp.QuoteMeta(w.url+path) + `\?token=\w+`).FindString(m.Text); m.To == to &&
			link != "" {
			return link
		}
	}
	w.t.Fatalf("no mail to %s with a link to %s: %v", to, path, o.sent)
	return ""
}

func TestSignUpPages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		const password = "violet harbor ninety kites"
		done := w.submit(w.get("/auth/sign-up"), "/auth/sign-up", "email", "ana@example.test")
		link := w.link("ana@example.test", "/auth/verify")
		// Whoever has an account gets the same page.
		again := w.submit(w.get("/auth/sign-up"), "/auth/sign-up", "email", w.user.Email)
		if done.status != 200 || again.status != 200 || done.text != strings.ReplaceAll(again.text, w.user.Email,
			"ana@example.test") {
			t.Errorf("%s\n%s", done.text, again.text)
		}
		w.user.Email, w.password = "ana@example.test", password
		page := w.get(link) // opening the link alone does nothing
		if a := w.signIn(w.get("/auth/sign-in")); a.status != 401 {
			t.Errorf("before the form was sent: %d", a.status)
		}
		if a := w.submit(page, "/auth/verify", "first_name", "Ana", "password", "short"); a.status != 400 ||
			!strings.Contains(a.text, `role="alert"`) || !strings.Contains(a.text, `value="Ana"`) {
			t.Errorf("short password: %d %s", a.status, a.text)
		}
		if a := w.submit(page, "/auth/verify", "first_name", "Ana", "password", password); a.status != 200 {
			t.Errorf("confirm: %d %s", a.status, a.text)
		}
		if a := w.submit(page, "/auth/verify", "first_name", "Eve", "password",
			"quiet walnut ferry lamps"); a.status != 404 {
			t.Errorf("confirm again: %d", a.status)
		}
		checkSessionCookie(t, w.signIn(w.get("/auth/sign-in")))

		closed := w.newProvider(closeSignUp)
		w.swap(closed)
		if a := w.get("/auth/sign-up"); a.status != 404 || strings.Contains(w.get("/auth/sign-in").text,
			"/auth/sign-up") {
			t.Errorf("sign-up is turned off: %d", a.status)
		}
	})
}

func TestRecoveryPages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		tokens := w.redeem(w.code().Get("code")).want(t, 200, "")
		renewed := w.renew().member(t, "accessToken")
		exchanged := w.exchange().member(t, "access_token")

		known := w.submit(w.get("/auth/forgot"), "/auth/forgot", "email", w.user.Email)
		link := w.link(w.user.Email, "/auth/recover")
		unknown := w.submit(w.get("/auth/forgot"), "/auth/forgot", "email", "jx@example.test")
		if known.status != 200 || known.text != strings.ReplaceAll(unknown.text, "jx@example.test", w.user.Email) {
			t.Errorf("%s\n%s", known.text, unknown.text)
		}
		page := w.get(link)
		if a := w.submit(page, "/auth/recover", "password", "short"); a.status != 400 {
			t.Errorf("short password: %d", a.status)
		}
		done := w.submit(page, "/auth/recover", "password", "violet harbor ninety kites")
		if done.status != 200 || !strings.Contains(done.text, "1 browser sessions, 1 applications or devices, 1 "+
			"personal access tokens") {
			t.Fatalf("recover: %d %s", done.status, done.text)
		}
		if a := w.submit(page, "/auth/recover", "password", "violet harbor ninety kites"); a.status != 404 {
			t.Errorf("link used again: %d", a.status)
		}
		// Nothing that gave access before works, not even within the same second.
		w.holds(tokens.member(t, "access_token"), false)
		w.refresh(tokens.member(t, "refresh_token")).want(t, 400, "invalid_grant")
		w.holds(renewed, false)
		w.renew().want(t, 401, "login_required")
		w.holds(exchanged, false)
		w.exchange().want(t, 401, "invalid_grant")
		if a := w.signIn(w.get("/auth/sign-in")); a.status != 401 {
			t.Errorf("old password: %d", a.status)
		}
		w.password = "violet harbor ninety kites"
		checkSessionCookie(t, w.signIn(w.get("/auth/sign-in")))
	})
}

func TestPasswordPage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		tokens := w.redeem(w.code().Get("code")).want(t, 200, "")
		exchanged := w.exchange().member(t, "access_token")
		clock.Advance(2 * time.Second)
		page := w.get("/auth/password")
		if a := w.submit(page, "/auth/password", "current", "wrong", "password",
			"violet harbor ninety kites"); a.status != 403 || !strings.Contains(a.text, `role="alert"`) {
			t.Errorf("wrong present password: %d %s", a.status, a.text)
		}
		if a := w.submit(page, "/auth/password", "current", w.password, "password",
			"violet harbor ninety kites"); a.status != 200 || !strings.Contains(a.text, "Your personal access tokens "+
			"still work") {
			t.Fatalf("change: %d %s", a.status, a.text)
		}
		w.holds(exchanged, true)
		w.refresh(tokens.member(t, "refresh_token")).want(t, 400, "invalid_grant")
		// This browser stays signed in, and goes on to work.
		w.holds(w.renew().member(t, "accessToken"), true)
		w.holds(w.redeem(w.code().Get("code")).member(t, "access_token"), true)
		a := w.submit(w.get("/auth/password"), "/auth/password", "current", "violet harbor ninety kites", "password",
			"quiet walnut ferry lamps", "tokens", "delete")
		if a.status != 200 || !strings.Contains(a.text, "1 personal access tokens") {
			t.Fatalf("change: %d %s", a.status, a.text)
		}
		w.holds(exchanged, false)
	})
}

func TestAccountPage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		w.signIn(w.get("/auth/sign-in"))
		stolen, token := w.http, w.renew().member(t, "accessToken")
		w.http = newBrowser(t, w.server)
		if a := w.get("/auth/account"); a.header.Get("Location") != "/auth/sign-in?next=%2Fauth%2Faccount" {
			t.Errorf("nobody: %d to %q", a.status, a.header.Get("Location"))
		}
		page := w.follow(w.signIn(w.get("/auth/sign-in")))
		if a := w.submit(page, "/auth/account"); a.status != 303 {
			t.Fatalf("end the other session: %d %s", a.status, a.text)
		}
		w.holds(token, false)
		mine := w.http
		w.http = stolen
		w.renew().want(t, 401, "login_required")
		w.http = mine
		w.renew().want(t, 200, "")
	})
}

func TestEndSession(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		hint := w.redeem(w.code().Get("code")).member(t, "id_token")
		// Without proof of who asks, the person is asked; a plain link does nothing.
		page := w.get("/oidc/end_session")
		w.renew().want(t, 200, "")
		if a := w.submit(page, "/auth/sign-out"); a.status != 200 || !strings.Contains(a.text, "You are signed out") {
			t.Errorf("sign out: %d %s", a.status, a.text)
		}
		w.renew().want(t, 401, "login_required")
		// With an ID token it is done at once, also an expired one.
		w.signIn(w.get("/auth/sign-in"))
		clock.Advance(time.Hour)
		a := w.get("/oidc/end_session?id_token_hint=" + hint +
			"&state=s&post_logout_redirect_uri=http%3A%2F%2Flocalhost%3A5%2F")
		if got := a.header.Get("Location"); a.status != 303 || got != "http://localhost:5/?state=s" {
			t.Errorf("with a hint: %d to %q %s", a.status, got, a.text)
		}
		w.renew().want(t, 401, "login_required")
		for _, query := range []string{
			"post_logout_redirect_uri=https%3A%2F%2Fevil.example",
			"client_id=web&post_logout_redirect_uri=https%3A%2F%2Fevil.example",
			"client_id=nobody&post_logout_redirect_uri=http%3A%2F%2Flocalhost", "id_token_hint=e30.e30.e30",
			"id_token_hint=" + hint + "&client_id=web",
			"id_token_hint=" + w.exchange().member(t, "access_token"),
		} {
			if a := w.get("/oidc/end_session?" + query); a.status != 400 || a.header.Get("Location") != "" {
				t.Errorf("%s: %d to %q", query, a.status, a.header.Get("Location"))
			}
		}
	})
}

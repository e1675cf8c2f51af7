package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// The account page lists applications and personal access tokens, and takes them
// back; those of somebody else it does not.
func TestAccountPageTakesAccessBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		refresh := w.redeem(w.code().Get("code")).member(t, "refresh_token")
		exchanged := w.exchange().member(t, "access_token")
		page := w.get("/auth/account")
		for _, text := range []string{"Merlon command line", "Revoke", "<strong>ci</strong>", "read, scan, triage, " +
			"administer", "2026-11-20 09:00 UTC"} {
			if !strings.Contains(page.text, text) {
				t.Errorf("the page does not say %q: %s", text, page.text)
			}
		}
		_, form, _ := strings.Cut(page.text, `name="grant" value="`)
		id, _, _ := strings.Cut(form, `"`)

		mine, owner := w.http, w.user
		w.http = newBrowser(t, w.server)
		other, password, err := w.people.Provision(t.Context(), "eve@example.test", identity.Names{FirstName: "Eve"})
		if err != nil {
			t.Fatal(err)
		}
		w.submit(w.get("/auth/sign-in"), "/auth/sign-in", "email", other.Email, "password", password)
		csrf := w.csrf()
		for _, field := range []string{"grant", "token"} {
			if a := w.send("/auth/account", "csrf", csrf, field,
				map[string]string{"grant": id, "token": "ci"}[field]); a.status != 404 {
				t.Errorf("somebody else's %s: got %d", field, a.status)
			}
		}
		w.http, w.user = mine, owner
		w.holds(exchanged, true)
		csrf = w.csrf()
		w.send("/auth/account", "csrf", csrf, "grant", id)
		w.send("/auth/account", "csrf", csrf, "token", "ci")
		w.refresh(refresh).want(t, 400, "invalid_grant")
		w.holds(exchanged, false)
		w.exchange().want(t, 401, "invalid_grant")
		if page := w.get("/auth/account"); strings.Contains(page.text, "Revoke") ||
			strings.Contains(page.text, "<strong>ci</strong>") {
			t.Errorf("the page still lists them: %s", page.text)
		}
	})
}

// TestConsentIsWithdrawn checks that a remembered consent is listed, and that
// revoking it, or the access of its application, withdraws both: the application has
// no valid tokens any more, and the next one is asked about again.
func TestConsentIsWithdrawn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		for field, list := range map[string]string{"consent": "Applications that do not " +
			"ask again", "grant": "Applications that may act while you are away"} {
			page := w.follow(w.get(w.webPath("scope", "openid offline_access", "prompt", "consent")))
			if page.status == http.StatusSeeOther {
				page = w.follow(w.signIn(w.follow(page)))
			}
			if !strings.Contains(page.text, "You will not be asked again") {
				t.Errorf("the consent page does not say that consent is remembered: %s", page.text)
			}
			client := []string{"client_id", "web", "client_secret", secret, "redirect_uri", webCallback}
			code := w.webBack(w.submit(page, "/auth/consent", "decision", "allow")).Get("code")
			refresh := w.redeem(code, client...).want(t, 200, "").member(t, "refresh_token")
			unused := w.webBack(w.get(w.webPath("prompt", "none"))).Get("code")

			_, form, found := strings.Cut(w.get("/auth/account").text, list)
			_, form, _ = strings.Cut(form, `name="`+field+`" value="`)
			id, _, _ := strings.Cut(form, `"`)
			if !found || id == "" {
				t.Fatalf("%s is not listed", field)
			}
			w.send("/auth/account", "csrf", w.csrf(), field, id)
			if page := w.get("/auth/account"); strings.Contains(page.text, "Revoke") {
				t.Errorf("%s: the page still lists the application: %s", field, page.text)
			}
			w.send("/oidc/token", append([]string{"grant_type", "refresh_token", "refresh_token", refresh},
				client[:4]...)...).want(t, 400, "invalid_grant")
			w.redeem(unused, client...).want(t, 400, "invalid_grant")
			if got := w.webBack(w.get(w.webPath("prompt", "none"))).Get("error"); got != "consent_required" {
				t.Errorf("%s: after it was withdrawn: %q", field, got)
			}
		}
	})
}

// Withdrawing a consent withdraws nobody else's.
func TestConsentOfAnother(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		w.webTokens()
		mine := w.http
		w.http = newBrowser(t, w.server)
		other, password, err := w.people.Provision(t.Context(), "eve@example.test", identity.Names{FirstName: "Eve"})
		if err != nil {
			t.Fatal(err)
		}
		w.submit(w.get("/auth/sign-in"), "/auth/sign-in", "email", other.Email, "password", password)
		w.send("/auth/account", "csrf", w.csrf(), "consent", "web")
		w.http = mine
		if code := w.webBack(w.get(w.webPath("prompt", "none"))).Get("code"); code == "" {
			t.Error("the consent is gone")
		}
	})
}

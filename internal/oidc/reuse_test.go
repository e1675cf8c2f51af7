package oidc_test

import (
	"testing"
	"time"

	"merlon/internal/identity"
	"merlon/internal/oidc"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// Within 30 seconds a refresh token that was used gives the same successor, and
// when that was used as well the one that is unused. Later it ends the grant.
func TestReuseWindow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		first := w.redeem(w.code().Get("code")).member(t, "refresh_token")
		second := w.refresh(first).want(t, 200, "").member(t, "refresh_token")
		clock.Advance(30 * time.Second)
		again := w.refresh(first).want(t, 200, "")
		if again.member(t, "refresh_token") != second {
			t.Error("the same token gave another successor")
		}
		third := w.refresh(second).want(t, 200, "").member(t, "refresh_token")
		if third == second {
			t.Error("the successor was not rotated")
		}
		if got := w.refresh(first).want(t, 200, "").member(t, "refresh_token"); got != third {
			t.Error("a used successor was given")
		}
		w.holds(again.member(t, "access_token"), true)
		// A process of the deployment with the same master key gives the same one.
		other := w.newProvider(nil).Handler()
		w.handler.Store(&other)
		if got := w.refresh(first).want(t, 200, "").member(t, "refresh_token"); got != third {
			t.Error("another process gave another successor")
		}
		clock.Advance(time.Second)
		w.refresh(first).want(t, 400, "invalid_grant")
		w.holds(again.member(t, "access_token"), false)
		w.refresh(third).want(t, 400, "invalid_grant")
	})
}

// Somebody who has a used refresh token or code, but not what binds it to its
// application, gets nothing and ends nothing.
func TestStrangersEndNoGrant(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		apps := w.provider.ClientApps()
		code := w.code().Get("code")
		first := w.redeem(code).want(t, 200, "")
		second := w.refresh(first.member(t, "refresh_token")).want(t, 200, "")
		clock.Advance(31 * time.Second)
		stolen := []string{"grant_type", "refresh_token", "refresh_token", first.member(t, "refresh_token")}
		w.send("/oidc/token", append(stolen, "client_id", apps.VSCode.AppID)...).want(t, 400, "invalid_grant")
		w.send("/oidc/token", append(stolen, "client_id", "web", "client_secret", secret)...).want(t, 400,
			"invalid_grant")
		w.send("/oidc/token", append(stolen, "client_id", "web", "client_secret", "wrong")...).want(t, 401,
			"invalid_client")
		w.send("/oidc/token", append(stolen, "client_id", "nobody")...).want(t, 401, "invalid_client")
		w.send("/oidc/revoke", "token", first.member(t, "refresh_token"), "client_id", apps.VSCode.AppID).want(t, 400,
			"unauthorized_client")
		w.redeem(code, "code_verifier", "another-verifier-that-has-at-least-forty-three-characters").want(t, 400,
			"invalid_grant")
		w.redeem(code, "redirect_uri", "http://localhost:1/").want(t, 400, "invalid_grant")
		w.redeem(code, "client_id", apps.VSCode.AppID).want(t, 400, "invalid_grant")
		w.holds(second.member(t, "access_token"), true)
		w.refresh(second.member(t, "refresh_token")).want(t, 200, "")
		// With all of it, the second use of the code ends the grant.
		w.redeem(code).want(t, 400, "invalid_grant")
		w.holds(second.member(t, "access_token"), false)
	})
}

// The identifiers of one application stand for each other when tokens are
// refreshed and revoked; those of two do not.
func TestIdentifiersOfOneApplication(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		token := w.redeem(w.code().Get("code")).member(t, "refresh_token")
		a := w.send("/oidc/token", "grant_type", "refresh_token", "client_id", "built-in-cli", "refresh_token", token,
			"resource", baseURL).want(t, 200, "")
		w.holds(a.member(t, "access_token"), true)
		b := w.refresh(a.member(t, "refresh_token")).want(t, 200, "")
		w.send("/oidc/revoke", "token", b.member(t, "refresh_token"), "client_id", "built-in-cli").want(t, 200, "")
		w.holds(a.member(t, "access_token"), false)
	})
}

// Ending a session ends its access tokens and what was given to applications in
// it. Leaving it keeps applications that may act while the person is away.
func TestEndOfSession(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		begin := func() (page, online, offline string) {
			offline = w.redeem(w.code().Get("code")).member(t, "refresh_token")
			online = w.redeem(w.code("scope", "openid").Get("code")).member(t, "access_token")
			return w.renew().member(t, "accessToken"), online, offline
		}
		page, online, offline := begin()
		pending := w.code().Get("code")
		actor, err := w.provider.Authenticate(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		sessions, err := w.people.Sessions(t.Context(), actor)
		if err != nil || len(sessions) != 1 {
			t.Fatalf("sessions %v, %v", sessions, err)
		}
		// As the API does.
		if err := w.people.EndSession(t.Context(), actor, sessions[0].ID); err != nil {
			t.Fatal(err)
		}
		w.holds(page, false)
		w.holds(online, false)
		w.refresh(offline).want(t, 400, "invalid_grant")
		w.redeem(pending).want(t, 400, "invalid_grant")
		w.exchange().want(t, 200, "") // a personal access token is no part of a session

		w.http = newBrowser(t, w.server)
		page, online, offline = begin()
		w.submit(w.get("/auth/account"), "/auth/sign-out")
		w.holds(page, false)
		w.holds(online, false)
		w.refresh(offline).want(t, 200, "")

		// A session that was forgotten for newer ones has ended too.
		w.http = newBrowser(t, w.server)
		page, _, _ = begin()
		for range identity.MaxSessions {
			clock.Advance(time.Second)
			if _, err := w.people.SignIn(t.Context(), identity.Credentials{Email: w.user.Email, Password: w.password,
				IP: "192.0.2.1"}); err != nil {
				t.Fatal(err)
			}
		}
		w.holds(page, false)
	})
}

// The command line gets tokens for an hour, other applications for ten minutes.
func TestLifetimes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		if a := w.redeem(w.code().Get("code")); a.json["expires_in"] != 3600.0 {
			t.Errorf("command line: %s", a.text)
		}
		editor := w.provider.ClientApps().VSCode.AppID
		a := w.redeem(w.code("client_id", editor).Get("code"), "client_id", editor)
		if a.json["expires_in"] != 600.0 {
			t.Errorf("editor: %s", a.text)
		}
		p := w.newProvider(func(c *oidc.Config) { c.CLILifetime = 5 * time.Minute }).Handler()
		w.handler.Store(&p)
		if a := w.exchange(); a.json["expires_in"] != 300.0 {
			t.Errorf("command line, configured: %s", a.text)
		}
	})
}

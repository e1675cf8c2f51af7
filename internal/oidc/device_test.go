package oidc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// device begins a device flow.
func (w *world) device() answer {
	w.t.Helper()
	return w.send("/oidc/device_authorization", "client_id", w.provider.ClientApps().CLI.AppID, "scope",
		"openid offline_access", "resource", baseURL).
		want(w.t, 200, "")
}

func (w *world) poll(code string) answer {
	w.t.Helper()
	return w.send("/oidc/token", "grant_type", "urn:ietf:params:oauth:grant-type:device_code",
		"client_id", w.provider.ClientApps().CLI.AppID, "device_code", code)
}

func TestDeviceFlow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		d := w.device()
		code, user := d.member(t, "device_code"), d.member(t, "user_code")
		if d.json["interval"] != 5.0 || d.json["expires_in"] != 600.0 || d.member(t, "verification_uri") != w.url+
			"/auth/device" {
			t.Errorf("answer %s", d.text)
		}
		w.poll(code).want(t, 400, "authorization_pending")
		w.poll(code).want(t, 400, "slow_down")
		clock.Advance(6 * time.Second)
		w.poll(code).want(t, 400, "slow_down") // 10 seconds by now
		clock.Advance(15 * time.Second)
		w.poll(code).want(t, 400, "authorization_pending")

		page := w.follow(w.signIn(w.follow(w.get(d.member(t, "verification_uri_complete")))))
		if !strings.Contains(page.text, user) {
			t.Errorf("the page does not hold the code: %s", page.text)
		}
		// In lower case and without the dash it is the same code.
		page = w.submit(page, "/auth/device", "user_code", strings.ToLower(strings.ReplaceAll(user, "-", "")))
		if !strings.Contains(page.text, "Merlon command line") || !strings.Contains(page.text, "The access ends") {
			t.Fatalf("no question: %s", page.text)
		}
		if done := w.submit(page, "/auth/device", "decision", "allow"); !strings.Contains(done.text,
			"The device is signed in") {
			t.Fatalf("answer %s", done.text)
		}
		a := w.poll(code).want(t, 200, "")
		w.holds(a.member(t, "access_token"), true)
		w.refresh(a.member(t, "refresh_token")).want(t, 200, "")
		w.poll(code).want(t, 400, "invalid_grant")
	})
}

func TestDeviceRefusals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		cli := w.provider.ClientApps().CLI.AppID
		w.send("/oidc/device_authorization", "client_id", cli, "scope", "email").want(t, 400, "invalid_scope")
		w.send("/oidc/device_authorization", "client_id", cli, "scope", "openid", "resource",
			"https://x.example").want(t, 400, "invalid_target")
		w.send("/oidc/device_authorization", "client_id", w.provider.ClientApps().VSCode.AppID, "scope",
			"openid").want(t, 400, "unauthorized_client")
		w.send("/oidc/device_authorization", "client_id", "nobody", "scope", "openid").want(t, 401, "invalid_client")
		w.poll("unknown").want(t, 400, "invalid_grant")

		denied, late := w.device(), w.device()
		w.send("/oidc/token", "grant_type", "urn:ietf:params:oauth:grant-type:device_code", "client_id", "built-in-cli",
			"device_code", denied.member(t, "device_code")).want(t, 400, "invalid_grant")
		page := w.follow(w.signIn(w.follow(w.get("/auth/device"))))
		page = w.submit(page, "/auth/device", "user_code", denied.member(t, "user_code"))
		w.submit(page, "/auth/device", "decision", "deny")
		w.poll(denied.member(t, "device_code")).want(t, 400, "access_denied")
		if a := w.submit(page, "/auth/device", "decision", "allow"); a.status != 400 {
			t.Errorf("decided twice: got %d", a.status)
		}
		w.poll(denied.member(t, "device_code")).want(t, 400, "access_denied")

		clock.Advance(10 * time.Minute)
		w.poll(late.member(t, "device_code")).want(t, 400, "expired_token")
		if a := w.submit(w.get("/auth/device"), "/auth/device", "user_code",
			late.member(t, "user_code")); a.status != 400 || !strings.Contains(a.text, "expired code") {
			t.Errorf("expired code: %d %s", a.status, a.text)
		}
	})
}

// TestDeviceFlowsAreBounded checks that a stranger cannot fill the database.
func TestDeviceFlowsAreBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		for range 60 {
			w.device()
		}
		a := w.send("/oidc/device_authorization", "client_id", w.provider.ClientApps().CLI.AppID, "scope",
			"openid").want(t, 429, "temporarily_unavailable")
		if a.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		// What has ended is removed in the end.
		clock.Advance(25 * time.Hour)
		if n, err := db.CollectGrants(t.Context()); err != nil || n != 60 {
			t.Errorf("removed %d, %v; want 60", n, err)
		}
	})
}

// TestUserCodesCannotBeGuessed checks that one person gets only a few tries.
func TestUserCodesCannotBeGuessed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		page := w.follow(w.signIn(w.follow(w.get("/auth/device"))))
		tries := 0
		for ; tries < 50; tries++ {
			a := w.submit(page, "/auth/device", "user_code", fmt.Sprintf("BCDF-%04d", tries))
			if a.status == 429 {
				if a.header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
				break
			}
			if a.status != 400 {
				t.Fatalf("got %d", a.status)
			}
		}
		if tries != 20 {
			t.Errorf("%d tries", tries)
		}
	})
}

package oidc_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// limits returns what the API lets the access token do.
func (w *world) limits(token string) tenant.TokenLimits {
	w.t.Helper()
	actor, err := w.provider.Authenticate(w.t.Context(), token)
	if err != nil || actor.Limits == nil {
		w.t.Fatalf("got %v, %v", actor, err)
	}
	return *actor.Limits
}

// limited makes a personal access token with limits.
func (w *world) limited(n identity.NewToken) string {
	w.t.Helper()
	n.Owner = w.user.ID
	_, value, err := w.people.CreateToken(w.t.Context(), tenant.Actor{UserID: w.user.ID}, n)
	if err != nil {
		w.t.Fatal(err)
	}
	return value
}

// An exchanged token has the scopes and the limits of the personal access token,
// ends with it, and is refused once that is deleted.
func TestExchangedTokenIsLimited(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		end := clock.Now().Add(10 * time.Minute)
		pat := w.limited(identity.NewToken{Name: "scan", Scopes: tenant.ScanScope, ExpiresAt: end,
			Organizations: []tenant.OrganizationID{"o1", "o2"}, Projects: []tenant.ProjectID{"p"}})
		clock.Advance(time.Minute)
		a := w.exchange("subject_token", pat).want(t, 200, "")
		if a.json["scope"] != "openid profile email read scan" || a.json["expires_in"] != 540.0 {
			t.Errorf("answer %s", a.text)
		}
		access := a.member(t, "access_token")
		want := tenant.TokenLimits{Scopes: tenant.ReadScope | tenant.ScanScope, ExpiresAt: end, Age: time.Minute,
			Organizations: []tenant.OrganizationID{"o1", "o2"}, Projects: []tenant.ProjectID{"p"}}
		if diff := cmp.Diff(want, w.limits(access)); diff != "" {
			t.Errorf("limits (-want +got):\n%s", diff)
		}
		if b := w.exchange("subject_token", pat, "scope", "openid read administer").want(t, 200,
			""); b.json["scope"] != "openid read" {
			t.Errorf("scope %v", b.json["scope"])
		}
		w.exchange("subject_token", pat, "scope", "triage").want(t, 200, "") // reading is left of it
		// A token of the deployment's own key that claims more gets no more.
		f := newForger(t, w)
		more := map[string]any{"pat": decodePart(t, strings.Split(access, ".")[1])["pat"]}
		if got := w.limits(f.sign(t, jose.ES256, f.key, "at+jwt", more)).Scopes; got != want.Scopes {
			t.Errorf("a token that claims every scope has %v", got.Names())
		}
		if _, err := w.provider.Authenticate(t.Context(),
			f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"pat": "another"})); !errs.Is(err,
			errs.Unauthenticated) {
			t.Errorf("a token of an unknown personal access token: %v", err)
		}
		if err := w.people.DeleteToken(t.Context(), tenant.Actor{UserID: w.user.ID}, w.user.ID, "scan"); err != nil {
			t.Fatal(err)
		}
		w.holds(access, false)
	})
}

// A token is for the API when the API was named as the resource, or one of its
// scopes was asked for; otherwise it is for the userinfo endpoint alone.
func TestAudience(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		plain := w.redeem(w.code("resource", "", "scope", "openid email offline_access").Get("code"), "resource",
			"").want(t, 200, "")
		if plain.json["scope"] != "openid email offline_access" {
			t.Errorf("scope %v", plain.json["scope"])
		}
		access := plain.member(t, "access_token")
		if aud := decodePart(t, strings.Split(access, ".")[1])["aud"]; aud != w.url+"/oidc/userinfo" {
			t.Errorf("audience %v", aud)
		}
		w.holds(access, false)
		if a := w.userinfo(access); a.status != 200 || a.json["email"] != w.user.Email {
			t.Errorf("userinfo: %d %s", a.status, a.text)
		}
		// It cannot be widened when it is refreshed or redeemed.
		w.refresh(plain.member(t, "refresh_token")).want(t, 400, "invalid_target")
		w.redeem(w.code("resource", "", "scope", "openid").Get("code")).want(t, 400, "invalid_target")
		again := w.send("/oidc/token", "grant_type", "refresh_token", "client_id", w.provider.ClientApps().CLI.AppID,
			"refresh_token", plain.member(t, "refresh_token")).want(t, 200, "")
		w.holds(again.member(t, "access_token"), false)

		page := w.follow(w.get(w.authorizePath("resource", "", "scope", "openid scan")))
		if !strings.Contains(page.text, "start and cancel scans") ||
			strings.Contains(page.text, "change the status and priority") {
			t.Errorf("the consent page says %s", page.text)
		}
		some := w.redeem(w.code("resource", "", "scope", "openid scan").Get("code")).want(t, 200, "")
		if some.json["scope"] != "openid read scan" {
			t.Errorf("scope %v", some.json["scope"])
		}
		if got := w.limits(some.member(t, "access_token")).Scopes; got != tenant.ReadScope|tenant.ScanScope {
			t.Errorf("the token has %v", got.Names())
		}
		// An API token without openid is none for the userinfo endpoint, and an ID token
		// is none at all.
		api := w.exchange("scope", "read").member(t, "access_token")
		if a := w.userinfo(api); a.status != 403 || a.json["error"] != "insufficient_scope" {
			t.Errorf("userinfo with an API token: %d %s", a.status, a.text)
		}
		w.holds(plain.member(t, "id_token"), false)
		if a := w.userinfo(plain.member(t, "id_token")); a.status != 401 {
			t.Errorf("userinfo with an ID token: %d", a.status)
		}
	})
}

// userinfo asks for what an access token opens of its person.
func (w *world) userinfo(token string) answer {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodGet, w.url+"/oidc/userinfo", nil)
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return w.do(r, err)
}

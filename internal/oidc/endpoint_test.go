package oidc_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/oidc"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// TestDiscovery checks that the document tells the truth: everything it names
// exists, and what it does not name is refused.
func TestDiscovery(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		doc := w.get("/oidc/.well-known/openid-configuration").want(t, 200, "")
		for _, path := range []string{"/.well-known/openid-configuration",
			"/.well-known/oauth-authorization-server/oidc"} {
			if diff := cmp.Diff(doc.json, w.get(path).json); diff != "" {
				t.Errorf("%s differs:\n%s", path, diff)
			}
		}
		if doc.json["issuer"] != w.url+"/oidc" || doc.header.Get("Cache-Control") != "public, max-age=3600" {
			t.Errorf("issuer %v, %v", doc.json["issuer"], doc.header)
		}
		for name, value := range doc.json {
			address, ok := value.(string)
			if !ok || !strings.HasSuffix(name, "_endpoint") && name != "jwks_uri" {
				continue
			}
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				a := w.do(http.NewRequest(method, address, nil))
				if a.status >= 500 {
					t.Errorf("%s %s: %d", method, address, a.status)
				}
				if a.status == 404 && method == http.MethodPost && name != "jwks_uri" {
					t.Errorf("%s is not there: %s", address, a.text)
				}
			}
		}
		named := doc.json["grant_types_supported"].([]any)
		for _, grant := range []string{
			"authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:token-exchange",
			"urn:ietf:params:oauth:grant-type:device_code",
			"implicit", "password", "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer",
		} {
			a := w.send("/oidc/token", "grant_type", grant, "client_id", w.provider.ClientApps().CLI.AppID, "assertion",
				"x", "scope", "openid")
			refused := a.json["error"] == "unsupported_grant_type" || a.json["error"] == "unauthorized_client"
			if a.status != 400 || refused == slices.Contains(named, any(grant)) {
				t.Errorf("%s: named %v, answer %d %s", grant, slices.Contains(named, any(grant)), a.status, a.text)
			}
		}
		// Discovery 1.0, section 3: RS256 must be among the algorithms.
		if diff := cmp.Diff([]any{"RS256", "ES256"}, doc.json["id_token_signing_alg_values_supported"]); diff != "" {
			t.Errorf("id_token_signing_alg_values_supported (-want +got):\n%s", diff)
		}
		for _, name := range []string{"response_types_supported", "code_challenge_methods_supported"} {
			want := map[string][]any{"response_types_supported": {"code"},
				"code_challenge_methods_supported": {"S256"}}[name]
			if diff := cmp.Diff(want, doc.json[name]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

func TestMachineForms(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		w.send("/oidc/token?subject_token="+w.pat, "grant_type", "x").want(t, 400, "invalid_request")
		w.get("/oidc/healthz").want(t, 404, "invalid_request")
		w.get("/oidc/healthz?deep=1").want(t, 404, "invalid_request")
		for _, c := range []struct{ method, path, allow string }{
			{"GET", "/oidc/token", "POST, OPTIONS"}, {"DELETE", "/oidc/jwks", "GET, HEAD, OPTIONS"},
			{"PUT", "/oidc/userinfo?x=1", "GET, HEAD, POST, OPTIONS"}, {"DELETE", "/auth/sign-in", "GET, HEAD, POST"},
			{"GET", "/auth/renew", "POST"}, {"PATCH", "/oidc/auth?client_id=x", "GET, HEAD, POST"},
			{"TRACE", "/.well-known/openid-configuration", "GET, HEAD, OPTIONS"},
		} {
			a := w.do(http.NewRequest(c.method, w.url+c.path, nil))
			a.want(t, 405, "invalid_request")
			if got := a.header.Get("Allow"); got != c.allow {
				t.Errorf("%s %s: Allow is %q, want %q", c.method, c.path, got, c.allow)
			}
		}
		w.send("/oidc/token", "grant_type", "a", "grant_type", "b").want(t, 400, "invalid_request")
		w.send("/oidc/token", "grant_type", strings.Repeat("x", 70<<10)).want(t, 413, "invalid_request")
		r, err := http.NewRequest(http.MethodPost, w.url+"/oidc/token", strings.NewReader(`{"grant_type":"x"}`))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
		}
		w.do(r, err).want(t, 400, "invalid_request")
	})
}

func TestRevocation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		cli := w.provider.ClientApps().CLI.AppID
		one := w.exchange().member(t, "access_token")
		other := w.exchange().member(t, "access_token")
		w.send("/oidc/revoke", "client_id", w.provider.ClientApps().VSCode.AppID, "token", one).want(t, 400,
			"unauthorized_client")
		w.holds(one, true)
		w.send("/oidc/revoke", "client_id", cli, "token", one).want(t, 200, "")
		w.holds(one, false)
		w.holds(other, true)
		w.send("/oidc/revoke", "client_id", cli, "token", "unknown").want(t, 200, "")
		w.send("/oidc/revoke", "client_id", cli).want(t, 400, "invalid_request")

		a := w.redeem(w.code().Get("code")).want(t, 200, "")
		w.send("/oidc/revoke", "client_id", "web", "client_secret", secret, "token",
			a.member(t, "refresh_token")).want(t, 400, "unauthorized_client")
		w.send("/oidc/revoke", "client_id", cli, "token_type_hint", "refresh_token", "token",
			a.member(t, "refresh_token")).want(t, 200, "")
		w.holds(a.member(t, "access_token"), false)
		w.refresh(a.member(t, "refresh_token")).want(t, 400, "invalid_grant")
		// The revocation outlives the token.
		clock.Advance(10 * time.Minute)
		if _, err := db.CollectGrants(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.holds(one, false)
	})
}

func TestIntrospection(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		cli := w.provider.ClientApps().CLI.AppID
		ask := func(token string) map[string]any {
			return w.send("/oidc/introspect", "client_id", "web", "client_secret", secret, "token", token).want(t, 200,
				"").json
		}
		access := w.exchange().member(t, "access_token")
		got := ask(access)
		delete(got, "jti")
		now := float64(clock.Now().Unix())
		want := map[string]any{"active": true, "scope": "openid profile email read scan triage " +
			"administer", "client_id": cli, "token_type": "Bearer", "exp": now + 3600,
			"iat": now, "sub": string(w.user.ID), "aud": []any{baseURL}, "iss": w.url + "/oidc"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("access token (-want +got):\n%s", diff)
		}
		refresh := w.redeem(w.code().Get("code")).member(t, "refresh_token")
		if got := ask(refresh); got["active"] != true || got["client_id"] != cli {
			t.Errorf("refresh token: %v", got)
		}
		w.send("/oidc/revoke", "client_id", cli, "token", access).want(t, 200, "")
		for _, token := range []string{access, "x", w.pat, refresh + "x"} {
			if diff := cmp.Diff(map[string]any{"active": false}, ask(token)); diff != "" {
				t.Errorf("%.10s… (-want +got):\n%s", token, diff)
			}
		}
		w.send("/oidc/introspect", "client_id", cli, "token", access).want(t, 400, "invalid_client")
		w.send("/oidc/introspect", "client_id", cli, "client_secret", "x", "token", access).want(t, 401,
			"invalid_client")
		w.send("/oidc/introspect", "client_id", "web", "client_secret", "wrong", "token", access).want(t, 401,
			"invalid_client")

		r, err := http.NewRequest(http.MethodPost, w.url+"/oidc/introspect", strings.NewReader("token=x"))
		if err == nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.SetBasicAuth("web", secret)
		}
		w.do(r, err).want(t, 200, "")
	})
}

// TestConfidential goes through the code flow as an application with a secret.
func TestConfidential(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		const back = "https://web.example.test/callback"
		page := w.follow(w.signIn(w.follow(w.follow(w.get(w.authorizePath("client_id", "web", "redirect_uri", back))))))
		a := w.submit(page, "/auth/consent", "decision", "allow")
		u, err := url.Parse(a.header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		code := u.Query().Get("code")
		w.redeem(code, "client_id", "web", "redirect_uri", back).want(t, 401, "invalid_client")
		w.redeem(code, "client_id", "web", "redirect_uri", back, "client_secret", secret, "code_verifier", "").want(t,
			400, "invalid_grant")
		w.redeem(code, "client_id", "web", "redirect_uri", back, "client_secret", secret).want(t, 200, "")
	})
}

// TestTwoProcesses goes from one process of a deployment to another at every
// step.
func TestTwoProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		second := w.newProvider(nil)
		if diff := cmp.Diff(w.provider.ClientApps(), second.ClientApps()); diff != "" {
			t.Errorf("identifiers differ:\n%s", diff)
		}
		code := w.code().Get("code")
		first := w.swap(second)
		a := w.redeem(code).want(t, 200, "")
		w.holds(a.member(t, "access_token"), true)
		w.swap(first)
		w.holds(a.member(t, "access_token"), true)
		b := w.refresh(a.member(t, "refresh_token")).want(t, 200, "")
		w.swap(second)
		w.redeem(code).want(t, 400, "invalid_grant")
		w.swap(first)
		w.holds(b.member(t, "access_token"), false)
	})
}

func TestRegions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		access := w.exchange().member(t, "access_token")
		// Even with the same keys and users: it is the issuer and the audience that
		// say which region a token is for.
		for name, change := range map[string]func(*oidc.Config){
			"issuer":   func(c *oidc.Config) { c.AuthURL = "https://auth.us.example.test" },
			"audience": func(c *oidc.Config) { c.BaseURL = "https://api.us.example.test" },
		} {
			if _, err := w.newProvider(change).Authenticate(t.Context(), access); !errs.Is(err, errs.Unauthenticated) {
				t.Errorf("other %s: got %v, want Unauthenticated", name, err)
			}
		}
		if _, err := w.newProvider(nil).Authenticate(t.Context(), access); err != nil {
			t.Errorf("same region: %v", err)
		}
	})
}

func TestDisabledUser(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		exchanged := w.exchange().member(t, "access_token")
		a := w.redeem(w.code().Get("code")).want(t, 200, "")
		code := w.code().Get("code")
		clock.Advance(time.Second)
		if _, err := w.people.SetDisabled(t.Context(), tenant.Actor{}, w.user.ID, true); err != nil {
			t.Fatal(err)
		}
		w.holds(exchanged, false)
		w.holds(a.member(t, "access_token"), false)
		w.refresh(a.member(t, "refresh_token")).want(t, 400, "invalid_grant")
		w.redeem(code).want(t, 400, "invalid_grant")
		if _, err := w.people.SetDisabled(t.Context(), tenant.Actor{}, w.user.ID, false); err != nil {
			t.Fatal(err)
		}
		w.holds(exchanged, true)
		w.refresh(a.member(t, "refresh_token")).want(t, 400, "invalid_grant")
		w.redeem(code).want(t, 400, "invalid_grant")
	})
}

func TestConfig(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		for name, change := range map[string]func(*oidc.Config){
			"path":           func(c *oidc.Config) { c.AuthURL = "https://example.test/identity" },
			"no address":     func(c *oidc.Config) { c.AuthURL = "" },
			"no store":       func(c *oidc.Config) { c.Store = nil },
			"short lifetime": func(c *oidc.Config) { c.AccessLifetime = time.Millisecond },
			"short period":   func(c *oidc.Config) { c.KeyPeriod = time.Minute },
			"short secret":   func(c *oidc.Config) { c.Clients[0].Secret = "x" },
			"same id twice":  func(c *oidc.Config) { c.CLIIDs = []string{"web"} },
			"empty id":       func(c *oidc.Config) { c.CLIIDs = []string{""} },
		} {
			c := oidc.Config{BaseURL: baseURL, AuthURL: w.url,
				Clients: []oidc.Confidential{{ID: "web", Secret: secret}},
				Box:     w.box, Store: db, People: w.people, Now: clock.Now}
			change(&c)
			if _, err := oidc.New(c); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		p := w.newProvider(func(c *oidc.Config) {
			c.Apps = oidc.ClientApps{CLI: oidc.ClientApp{AppID: "my-cli"}}
		})
		if got := p.ClientApps(); got.CLI.AppID != "my-cli" || got.VSCode != w.provider.ClientApps().VSCode {
			t.Errorf("identifiers %v", got)
		}
	})
}

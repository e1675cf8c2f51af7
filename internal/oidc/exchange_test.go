package oidc_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func TestExchange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		clock.Advance(300 * time.Millisecond) // lifetimes are true between full seconds too
		a := w.exchange().want(t, 200, "")
		got := map[string]any{}
		for name, value := range a.json {
			got[name] = value
		}
		delete(got, "access_token")
		want := map[string]any{
			"token_type": "Bearer", "expires_in": 3600.0, "scope": "openid profile email read scan triage administer",
			"issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		if !strings.Contains(a.text, `"expires_in":3600,`) {
			t.Errorf("expires_in is not written as an integer: %s", a.text)
		}
		if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("headers: %v", a.header)
		}
		token := a.member(t, "access_token")
		checkClaims(t, w, token)

		actor, err := w.provider.Authenticate(t.Context(), token)
		wantActor := tenant.Actor{UserID: w.user.ID, ClientID: w.provider.ClientApps().CLI.AppID,
			Limits: &tenant.TokenLimits{Scopes: tenant.AllTokenScopes, Age: 300 * time.Millisecond}}
		if diff := cmp.Diff(wantActor, actor); err != nil || diff != "" {
			t.Errorf("Authenticate: %v (-want +got):\n%s", err, diff)
		}
		// The token holds as long as was said, and not much longer.
		clock.Advance(time.Hour - time.Millisecond)
		if _, err := w.provider.Authenticate(t.Context(), token); err != nil {
			t.Errorf("just before the end: %v", err)
		}
		clock.Advance(10 * time.Second)
		if _, err := w.provider.Authenticate(t.Context(), token); !errs.Is(err, errs.Unauthenticated) {
			t.Errorf("after the end: got %v, want Unauthenticated", err)
		}
	})
}

func checkClaims(t *testing.T, w *world, token string) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("not a JWT: %s", token)
	}
	header, claims := decodePart(t, parts[0]), decodePart(t, parts[1])
	if header["alg"] != "ES256" || header["typ"] != "at+jwt" || header["kid"] == "" {
		t.Errorf("header %v", header)
	}
	if claims["jti"] == "" {
		t.Error("no jti")
	}
	if claims["pat"] == "" {
		t.Error("no pat")
	}
	delete(claims, "jti")
	delete(claims, "pat")
	now := float64(w.clock.Now().Unix())
	want := map[string]any{
		"iss": w.url + "/oidc", "sub": string(w.user.ID), "aud": baseURL,
		"client_id": w.provider.ClientApps().CLI.AppID,
		"scope":     "openid profile email read scan triage administer", "iat": now, "exp": now + 3601,
	}
	if diff := cmp.Diff(want, claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func decodePart(t *testing.T, part string) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestExchangeVariants(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		apps := w.provider.ClientApps()
		expiring := w.token("expiring", clock.Now().Add(time.Minute))
		deleted := w.token("deleted", time.Time{})
		if err := w.people.DeleteToken(t.Context(), tenant.Actor{UserID: w.user.ID}, w.user.ID, "deleted"); err != nil {
			t.Fatal(err)
		}
		w.exchange("subject_token", expiring).want(t, 200, "")
		clock.Advance(time.Minute)
		for _, c := range []struct {
			name    string
			changes []string
			status  int
			code    string
			text    string // that the body contains
		}{
			{"extra cli id", []string{"client_id", "built-in-cli"}, 200, "", ""},
			{"resource alias", []string{"resource", strings.TrimSuffix(alias, "/")}, 200, "", ""},
			{"resource with a slash", []string{"resource", baseURL + "/"}, 200, "", ""},
			{"second vendor", []string{"subject_token_type", "urn:other:token-type:personal_access_token"}, 200, "",
				""},
			{"fewer scopes", []string{"scope", "email unknown"}, 200, "",
				`"scope":"email read scan triage administer"`},
			{"explicit token type", []string{"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
				200, "", ""},

			{"vscode", []string{"client_id", apps.VSCode.AppID}, 400, "unauthorized_client",
				"token_exchange_not_allowed"},
			{"intellij", []string{"client_id", apps.IntelliJ.AppID}, 400, "unauthorized_client",
				`"code":"oidc.token_exchange_not_allowed"`},
			{"unknown application", []string{"client_id", "nobody"}, 401, "invalid_client", "client_id"},
			{"cli with a secret", []string{"client_secret", "x"}, 401, "invalid_client", ""},
			{"unknown token", []string{"subject_token", w.pat[:len(w.pat)-3] + "abc"}, 401, "invalid_grant",
				`"message":"invalid personal access token`},
			{"expired token", []string{"subject_token", expiring}, 401, "invalid_grant", ""},
			{"deleted token", []string{"subject_token", deleted}, 401, "invalid_grant", ""},
			{"other resource", []string{"resource", "https://api.example.org"}, 400, "invalid_target", "resource"},
			{"other audience", []string{"audience", "https://api.example.org"}, 400, "invalid_target", ""},
			{"standard token type", []string{"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"}, 400,
				"invalid_request", "subject_token_type"},
			{"unknown vendor", []string{"subject_token_type", "urn:third:token-type:personal_access_token"}, 400,
				"invalid_request", "subject_token_type"},
			{"refresh token", []string{"requested_token_type", "urn:ietf:params:oauth:token-type:refresh_token"}, 400,
				"invalid_request", "requested_token_type"},
			{"delegation", []string{"actor_token", "x", "actor_token_type", "urn:ietf:params:oauth:token-type:jwt"},
				400, "invalid_request", "actor_token"},
			{"no scope left", []string{"scope", "offline_access"}, 400, "invalid_scope", ""},
			{"one scope of the API", []string{"scope", "scan"}, 200, "", `"scope":"read scan"`},
			{"no grant_type", []string{"grant_type", ""}, 400, "invalid_request", "grant_type"},
			{"unknown grant_type", []string{"grant_type", "password"}, 400, "unsupported_grant_type", ""},
			{"no client_id", []string{"client_id", ""}, 400, "invalid_request", "client_id"},
			{"no subject_token", []string{"subject_token", ""}, 400, "invalid_request", "subject_token"},
			{"no subject_token_type", []string{"subject_token_type", ""}, 400, "invalid_request", "subject_token_type"},
			{"no resource", []string{"resource", ""}, 400, "invalid_request", "resource"},
			{"not text", []string{"subject_token", "\xff"}, 400, "invalid_request", "subject_token"},
		} {
			t.Run(c.name, func(t *testing.T) {
				a := w.exchange(c.changes...).want(t, c.status, c.code)
				if !strings.Contains(a.text, c.text) {
					t.Errorf("%q is not in %s", c.text, a.text)
				}
				if strings.Contains(a.text, w.pat) {
					t.Error("the answer repeats the token")
				}
				if c.status >= 400 && (a.json["code"] == "" || a.json["message"] != a.json["error_description"]) {
					t.Errorf("incomplete error: %s", a.text)
				}
			})
		}
		if _, err := w.people.SetDisabled(t.Context(), tenant.Actor{}, w.user.ID, true); err != nil {
			t.Fatal(err)
		}
		w.exchange().want(t, 401, "invalid_grant")
	})
}

// token makes another personal access token of the person.
func (w *world) token(name string, expires time.Time) string {
	w.t.Helper()
	_, value, err := w.people.CreateToken(w.t.Context(), tenant.Actor{UserID: w.user.ID},
		identity.NewToken{Owner: w.user.ID, Name: name, ExpiresAt: expires})
	if err != nil {
		w.t.Fatal(err)
	}
	return value
}

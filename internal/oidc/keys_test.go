package oidc_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/oidc"
	"merlon/internal/oidc/grant"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// keyIDs returns the ids of the published EC keys, oldest first. It checks that an
// RSA key stands beside each and that nothing private is among them.
func (w *world) keyIDs() []string {
	w.t.Helper()
	a := w.get("/oidc/jwks").want(w.t, 200, "")
	var set struct {
		Keys []struct{ Kid, Kty, Crv, Alg, Use, X, Y, N, E, D, P string }
	}
	if err := json.Unmarshal([]byte(a.text), &set); err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for i, k := range set.Keys {
		if k.Kty == "RSA" {
			if i == 0 || k.Kid != set.Keys[i-1].Kid+"-rs256" || k.Alg != "RS256" || k.Use != "sig" || k.N == "" ||
				k.E == "" || k.D != "" || k.P != "" {
				w.t.Errorf("key %+v", k)
			}
			continue
		}
		if k.Kty != "EC" || k.Crv != "P-256" || k.Alg != "ES256" || k.Use != "sig" || k.X == "" || k.Y == "" ||
			k.D != "" {
			w.t.Errorf("key %+v", k)
		}
		ids = append(ids, k.Kid)
	}
	return ids
}

func (w *world) signedWith(token string) string {
	w.t.Helper()
	head, _, _ := strings.Cut(token, ".")
	id, _ := decodePart(w.t.(*testing.T), head)["kid"].(string)
	return id
}

// swap lets another process of the deployment answer, and returns the one that
// did.
func (w *world) swap(p *oidc.Provider) *oidc.Provider {
	old := w.provider
	w.provider = p
	h := p.Handler()
	w.handler.Store(&h)
	return old
}

func TestKeyRotation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		second := w.newProvider(nil)
		old := w.exchange().member(t, "access_token")
		first := w.keyIDs()
		if len(first) != 1 || w.signedWith(old) != first[0] {
			t.Fatalf("keys %v, signed with %s", first, w.signedWith(old))
		}
		if got := w.get("/oidc/jwks").header.Get("Cache-Control"); got != "public, max-age=3600" {
			t.Errorf("Cache-Control %q", got)
		}
		// A day before its time the next key is published, by whoever looks first,
		// and does not sign yet.
		clock.Advance(29*24*time.Hour + time.Minute)
		ids := w.keyIDs()
		if len(ids) != 2 || ids[0] != first[0] {
			t.Fatalf("keys %v", ids)
		}
		if got := w.signedWith(w.exchange().member(t, "access_token")); got != first[0] {
			t.Errorf("signed with the new key too early")
		}
		other := w.swap(second)
		if got := w.keyIDs(); !slices.Equal(got, ids) {
			t.Errorf("the other process has %v, want %v", got, ids)
		}
		// Then it signs; tokens of the old one hold to their end, also in a process
		// that has not looked for a while.
		clock.Advance(24*time.Hour - 2*time.Minute)
		last := w.exchange().member(t, "access_token")
		clock.Advance(2 * time.Minute)
		fresh := w.exchange().member(t, "access_token")
		if w.signedWith(last) != ids[0] || w.signedWith(fresh) != ids[1] {
			t.Errorf("signed with %s and %s, want %v", w.signedWith(last), w.signedWith(fresh), ids)
		}
		w.swap(other)
		w.holds(last, true)
		w.holds(fresh, true)
		// When the last token has ended, the old key goes.
		clock.Advance(59 * time.Minute)
		if got := w.keyIDs(); !slices.Equal(got, ids) {
			t.Errorf("keys %v, want %v", got, ids)
		}
		clock.Advance(5 * time.Minute)
		if got := w.keyIDs(); !slices.Equal(got, ids[1:]) {
			t.Errorf("keys %v, want %v", got, ids[1:])
		}
	})
}

// TestKeysAfterAPause checks that a deployment that slept through a rotation does
// not sign with a key that nobody could have seen.
func TestKeysAfterAPause(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		first := w.keyIDs()[0]
		clock.Advance(400 * 24 * time.Hour)
		if got := w.signedWith(w.exchange().member(t, "access_token")); got != first {
			t.Error("signed with a key that was published this moment")
		}
		clock.Advance(25 * time.Hour)
		if got := w.signedWith(w.exchange().member(t, "access_token")); got == first {
			t.Error("the old key still signs")
		}
		// A clock that jumps back behind everything leaves something that signs.
		clock.Advance(-500 * 24 * time.Hour)
		w.keyIDs()
		w.holds(w.exchange().member(t, "access_token"), true)
	})
}

// TestFirstKeyIsMadeOnce starts many processes at once on an empty database.
func TestFirstKeyIsMadeOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		clock.Advance(29*24*time.Hour + time.Minute)
		providers := make([]*oidc.Provider, 8)
		var wg sync.WaitGroup
		for i := range providers {
			wg.Go(func() { providers[i] = w.newProvider(nil) })
		}
		wg.Wait()
		keys, err := db.SigningKeys(t.Context())
		if err != nil || len(keys) != 2 {
			t.Fatalf("%d keys, %v; want 2", len(keys), err)
		}
		for _, k := range keys {
			if len(k.Sealed) < 32 {
				t.Errorf("key %s is not sealed", k.ID)
			}
		}
	})
}

// TestIDTokenAlgorithm checks which algorithm signs ID tokens: RS256, unless the
// application registered ES256.
func TestIDTokenAlgorithm(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		for _, want := range []string{"", "RS256", "ES256"} {
			w.swap(w.newProvider(func(c *oidc.Config) { c.Clients[0].IDTokenAlg = want }))
			a := w.webTokens()
			if got := w.algorithm(a.member(t, "id_token")); got != cmp.Or(want, "RS256") {
				t.Errorf("registered %q: ID token signed with %s", want, got)
			}
			if got := w.algorithm(a.member(t, "access_token")); got != "ES256" {
				t.Errorf("access token signed with %s", got)
			}
			w.holds(a.member(t, "id_token"), false) // an ID token is no access token
		}
		_, err := oidc.New(oidc.Config{BaseURL: baseURL, AuthURL: w.url, Box: w.box, Store: db, People: w.people,
			Clients: []oidc.Confidential{{ID: "web", Secret: secret, IDTokenAlg: "none"}}})
		if err == nil {
			t.Error("an application may register ID tokens without a signature")
		}
	})
}

// TestGenerationWithoutRSAKey upgrades a deployment whose key was made before
// RS256: it goes on signing until the next generation was published long enough.
func TestGenerationWithoutRSAKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		box, err := seal.New([]byte(strings.Repeat("k", 32)))
		if err != nil {
			t.Fatal(err)
		}
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		old := grant.Key{Generation: 1, ID: "old", CreatedAt: clock.Now(), ActiveAt: clock.Now()}
		old.Sealed = box.Seal(der, old.Label())
		if _, err := db.AddSigningKey(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, db, clock)
		if a := w.webTokens(); w.signedWith(a.member(t, "id_token")) != "old" ||
			w.algorithm(a.member(t, "id_token")) != "ES256" {
			t.Error("an ID token was not signed with the key that everybody knows")
		}
		clock.Advance(25 * time.Hour)
		if a := w.webTokens(); w.algorithm(a.member(t, "id_token")) != "RS256" ||
			w.signedWith(a.member(t, "access_token")) == "old" {
			t.Error("the generation with an RSA key does not sign after a day")
		}
		if keys, err := db.SigningKeys(t.Context()); err != nil || len(keys) > 2 {
			t.Errorf("%d generations, %v", len(keys), err)
		}
	})
}

// algorithm returns the alg of a token's header.
func (w *world) algorithm(token string) string {
	w.t.Helper()
	head, _, _ := strings.Cut(token, ".")
	alg, _ := decodePart(w.t.(*testing.T), head)["alg"].(string)
	return alg
}

// webTokens signs the person in for the confidential application.
func (w *world) webTokens() answer {
	w.t.Helper()
	const back = "https://web.example.test/callback"
	page := w.follow(w.get(w.authorizePath("client_id", "web", "redirect_uri", back, "scope", "openid")))
	if page.status == 303 {
		page = w.follow(w.signIn(w.follow(page)))
	}
	to, err := url.Parse(w.submit(page, "/auth/consent", "decision", "allow").header.Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.redeem(to.Query().Get("code"), "client_id", "web", "client_secret", secret, "redirect_uri", back).want(w.t,
		200, "")
}

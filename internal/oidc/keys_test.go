package oidc_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/oidc"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// keyIDs returns the published key ids, oldest first, and checks that nothing
// private is among them.
func (w *world) keyIDs() []string {
	w.t.Helper()
	a := w.get("/oidc/jwks").want(w.t, 200, "")
	var set struct {
		Keys []struct{ Kid, Kty, Crv, Alg, Use, X, Y, D string }
	}
	if err := json.Unmarshal([]byte(a.text), &set); err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, k := range set.Keys {
		if k.Kty != "EC" || k.Crv != "P-256" || k.Alg != "ES256" || k.Use != "sig" || k.X == "" || k.Y == "" || k.D != "" {
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
		clock.Advance(9 * time.Minute)
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

package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"merlon/internal/errs"
	"merlon/internal/oidc/grant"
	"merlon/internal/store"
	"merlon/internal/store/sqlite"
	"merlon/internal/store/storetest"
)

// A forger writes tokens with the deployment's own key: what it writes is refused
// for its content alone.
type forger struct {
	key    *ecdsa.PrivateKey
	id     string
	header string // of a genuine token
	claims map[string]any
}

func newForger(t testing.TB, w *world) forger {
	t.Helper()
	keys, err := w.db.SigningKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	der, err := w.box.Open(keys[0].Sealed, keys[0].Label())
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		t.Fatal(err)
	}
	f := forger{key: parsed.(*ecdsa.PrivateKey), id: keys[0].ID}
	head, rest, _ := strings.Cut(w.exchange().member(t, "access_token"), ".")
	body, _, _ := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err == nil {
		err = json.Unmarshal(raw, &f.claims)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.header = head
	return f
}

// sign writes a token with the claims changed.
func (f forger) sign(t testing.TB, alg jose.SignatureAlgorithm, key any, typ string, changes map[string]any) string {
	t.Helper()
	c := maps.Clone(f.claims)
	maps.Copy(c, changes)
	body, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: f.id}},
		(&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(body)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// forged returns tokens that must not hold, by what is wrong with them.
func (f forger) forged(t testing.TB, w *world) map[string]string {
	t.Helper()
	good := f.sign(t, jose.ES256, f.key, "at+jwt", nil)
	parts := strings.Split(good, ".")
	public, err := x509.MarshalPKIXPublicKey(f.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"at+jwt","kid":"` + f.id + `"}`))
	now := w.clock.Now().Unix()
	other := f
	other.id = "another"
	return map[string]string{
		"empty": "", "no token": "x", "dots": "..", "many dots": strings.Repeat(".", 5000), "too long": good +
			strings.Repeat("A", 9000),
		"alg none":          none + "." + parts[1] + ".",
		"alg none, signed":  none + "." + parts[1] + "." + parts[2],
		"HS256, public key": f.sign(t, jose.HS256, public, "at+jwt", nil),
		"another key":       f.sign(t, jose.ES256, stranger, "at+jwt", nil),
		"unknown kid":       other.sign(t, jose.ES256, f.key, "at+jwt", nil),
		"truncated":         good[:len(good)-10],
		"no signature":      parts[0] + "." + parts[1] + ".",
		"changed":           parts[0] + "." + parts[1][:len(parts[1])-4] + "AAAA." + parts[2],
		"type of an ID":     f.sign(t, jose.ES256, f.key, "JWT", nil),
		"no type":           f.sign(t, jose.ES256, f.key, "", nil),
		"another issuer":    f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"iss": "https://evil.example/oidc"}),
		"another audience":  f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"aud": "https://evil.example"}),
		"audience a number": f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"aud": []any{1}}),
		"no audience":       f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"aud": nil}),
		"expired":           f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"exp": now - 6}),
		"no expiry":         f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"exp": nil}),
		"expiry is text":    f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"exp": "tomorrow"}),
		"from the future":   f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"iat": now + 60}),
		"no user":           f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"sub": ""}),
		"unknown user": f.sign(t, jose.ES256, f.key, "at+jwt",
			map[string]any{"sub": "00000000-0000-4000-8000-000000000000"}),
		"no id": f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"jti": ""}),
	}
}

func TestForgedTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		f := newForger(t, w)
		w.holds(f.sign(t, jose.ES256, f.key, "at+jwt", nil), true) // else nothing here shows anything
		w.holds(f.sign(t, jose.ES256, f.key, "at+jwt", map[string]any{"aud": []string{"x", baseURL}}), true)
		for name, token := range f.forged(t, w) {
			if _, err := w.provider.Authenticate(t.Context(), token); !errs.Is(err, errs.Unauthenticated) {
				t.Errorf("%s: got %v, want Unauthenticated", name, err)
			}
		}
	})
}

// TestUnknownKeysDoNotReadTheDatabase sends many tokens with invented key ids:
// they must not make a look-up each.
func TestUnknownKeysDoNotReadTheDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := newWorld(t, db, clock)
		f := newForger(t, w)
		clock.Advance(10 * time.Second)
		f.id = "another"
		token := f.sign(t, jose.ES256, f.key, "at+jwt", nil)
		w.holds(token, false) // reads again, once
		// A key that appears now is seen only when the time has come.
		err := db.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), "UPDATE oidc_key SET id = ?, sealed = ?", "another",
				w.sealAs(f.key, "another"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w.holds(token, false)
		clock.Advance(6 * time.Second)
		w.holds(token, true)
	})
}

// sealAs seals a key as the provider stores it.
func (w *world) sealAs(key *ecdsa.PrivateKey, id string) []byte {
	w.t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.box.Seal(der, grant.Key{ID: id}.Label())
}

// FuzzAuthenticate feeds Authenticate what a stranger may send. Nothing but the
// genuine token holds, whatever its end looks like.
func FuzzAuthenticate(f *testing.F) {
	clock := storetest.NewClock()
	db, err := sqlite.Open(f.Context(), filepath.Join(f.TempDir(), "merlon.db"),
		store.Options{Region: storetest.Region, Now: clock.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() }) // the folder goes with it
	w := newWorld(f, db, clock)
	forger := newForger(f, w)
	good := forger.sign(f, jose.ES256, forger.key, "at+jwt", nil)
	f.Add(good)
	for _, token := range forger.forged(f, w) {
		f.Add(token)
	}
	signed, _, _ := strings.Cut(good[strings.Index(good, ".")+1:], ".")
	f.Fuzz(func(t *testing.T, token string) {
		actor, err := w.provider.Authenticate(t.Context(), token)
		if err != nil {
			if !errs.Is(err, errs.Unauthenticated) {
				t.Fatalf("got %v, want Unauthenticated", err)
			}
			return
		}
		// ECDSA signatures have a second form, and base64 spare bits: what was signed
		// must be what we wrote.
		if parts := strings.Split(token, "."); len(parts) != 3 || parts[1] != signed || actor.UserID != w.user.ID {
			t.Fatalf("a token of somebody else holds: %q", token)
		}
	})
}

// FuzzAuthorize feeds the authorization endpoint hostile addresses: a redirect
// leads to our own pages or to an address that the application may use.
func FuzzAuthorize(f *testing.F) {
	clock := storetest.NewClock()
	db, err := sqlite.Open(f.Context(), filepath.Join(f.TempDir(), "merlon.db"),
		store.Options{Region: storetest.Region, Now: clock.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() }) // the folder goes with it
	w := newWorld(f, db, clock)
	for _, address := range []string{callback, "http://[::1]:1/", "http://localhost:1/?a=b&code=x",
		"http://localhost:1\\@evil.example", "//evil.example", "vscode://x", "http://127.0.0.1:80@evil.example/",
		"http://localhost%2eevil.example/"} {
		f.Add(address, "state", "")
		f.Add(address, "", "none")
	}
	f.Fuzz(func(t *testing.T, address, state, prompt string) {
		checkAuthorize(t, w, address, state, prompt)
	})
}

func checkAuthorize(t *testing.T, w *world, address, state, prompt string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, w.authorizePath("redirect_uri", address, "state", state, "prompt", prompt),
		nil)
	rec := httptest.NewRecorder()
	w.provider.Handler().ServeHTTP(rec, r)
	to := rec.Header().Get("Location")
	switch {
	case rec.Code >= 500:
		t.Fatalf("got %d: %s", rec.Code, rec.Body)
	case to == "" || strings.HasPrefix(to, "/auth/consent?request="):
		return
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" || !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()) ||
		u.User != nil {
		t.Fatalf("redirect to %q", to)
	}
}

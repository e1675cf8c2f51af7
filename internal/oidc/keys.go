package oidc

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"merlon/internal/errs"
	"merlon/internal/oidc/grant"
)

// Keys are made, published, used and removed by whichever process of the
// deployment looks first. A key is published lead before it signs, so that
// nobody meets a token whose key they cannot have; it signs for a period; it
// stays published until the last token signed with it has ended.

const (
	maxLead     = 24 * time.Hour
	keysFresh   = time.Minute     // how long a process trusts what it has read
	keysReload  = 5 * time.Second // how often an unknown key id makes it read again
	maxJWKSLife = time.Hour
)

// A signingKey is a key that was opened.
type signingKey struct {
	grant.Key
	private *ecdsa.PrivateKey
	access  jose.Signer // writes access tokens
	id      jose.Signer // writes ID tokens
}

// A keyring holds the keys of the deployment as this process last saw them.
type keyring struct {
	p    *Provider
	lead time.Duration

	mu       sync.Mutex
	keys     []signingKey // by generation
	loadedAt time.Time
}

func newKeyring(p *Provider) *keyring {
	return &keyring{p: p, lead: min(maxLead, p.KeyPeriod/4)}
}

// current returns the key that signs now: the newest active one.
func (r *keyring) current(ctx context.Context) (signingKey, error) {
	keys, err := r.load(ctx, keysFresh)
	if err != nil {
		return signingKey{}, err
	}
	now := r.p.Now()
	for _, k := range slices.Backward(keys) {
		if !k.ActiveAt.After(now) {
			return k, nil
		}
	}
	return keys[0], nil // the clock went back behind the first key
}

// find returns the key with the id. One that is not known may have been made by
// another process a moment ago.
func (r *keyring) find(ctx context.Context, id string) (signingKey, bool, error) {
	for _, fresh := range []time.Duration{keysFresh, keysReload} {
		keys, err := r.load(ctx, fresh)
		if err != nil {
			return signingKey{}, false, err
		}
		if i := slices.IndexFunc(keys, func(k signingKey) bool { return k.ID == id }); i >= 0 {
			return keys[i], true, nil
		}
	}
	return signingKey{}, false, nil
}

// public returns the keys as JWKS (RFC 7517) and how long they may be cached.
func (r *keyring) public(ctx context.Context) (jose.JSONWebKeySet, time.Duration, error) {
	keys, err := r.load(ctx, keysFresh)
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, k := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.private.Public(), KeyID: k.ID, Algorithm: string(jose.ES256), Use: "sig"})
	}
	return set, min(maxJWKSLife, r.lead/2), err
}

// load returns the keys, read again when they are older than fresh. While the
// database is away, what was read before holds.
func (r *keyring) load(ctx context.Context, fresh time.Duration) ([]signingKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.p.Now()
	if age := now.Sub(r.loadedAt); len(r.keys) > 0 && age >= 0 && age < fresh {
		return r.keys, nil
	}
	keys, err := r.read(ctx, now)
	if err != nil {
		if len(r.keys) > 0 && errs.Is(err, errs.Unavailable) {
			return r.keys, nil
		}
		return nil, err
	}
	r.keys, r.loadedAt = keys, now
	return keys, nil
}

// read reads the keys, makes the next one when it is time, and removes those
// that nothing valid is signed with.
func (r *keyring) read(ctx context.Context, now time.Time) ([]signingKey, error) {
	stored, err := r.p.Store.SigningKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	if r.due(stored, now) {
		if err := r.add(ctx, stored, now); err != nil {
			return nil, err
		}
		if stored, err = r.p.Store.SigningKeys(ctx); err != nil {
			return nil, fmt.Errorf("read signing keys: %w", err)
		}
	}
	var keys []signingKey
	for i, k := range stored {
		if i+1 < len(stored) && stored[i+1].ActiveAt.Add(r.p.AccessLifetime+skew+keysFresh).Before(now) {
			if err := r.p.Store.DropSigningKey(ctx, k.ID); err != nil {
				return nil, fmt.Errorf("remove signing key: %w", err)
			}
			continue
		}
		key, ok := r.known(k.ID)
		if !ok {
			if key, err = r.open(k); err != nil {
				return nil, fmt.Errorf("open signing key %s: %w", k.ID, err)
			}
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// due reports whether the next key has to be published.
func (r *keyring) due(stored []grant.Key, now time.Time) bool {
	if len(stored) == 0 {
		return true
	}
	newest := stored[len(stored)-1]
	return !now.Before(newest.ActiveAt.Add(r.p.KeyPeriod - r.lead))
}

// add makes and stores the next key. That another process did so meanwhile is as
// good.
func (r *keyring) add(ctx context.Context, stored []grant.Key, now time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("make signing key: %w", err)
	}
	k := grant.Key{Generation: 1, ID: rand.Text(), CreatedAt: now, ActiveAt: now}
	if n := len(stored); n > 0 {
		newest := stored[n-1]
		k.Generation = newest.Generation + 1
		k.ActiveAt = slices.MaxFunc([]time.Time{newest.ActiveAt.Add(r.p.KeyPeriod), now.Add(r.lead)}, time.Time.Compare)
	}
	k.Sealed = r.p.Box.Seal(der, k.Label())
	if _, err := r.p.Store.AddSigningKey(ctx, k); err != nil {
		return fmt.Errorf("store signing key: %w", err)
	}
	return nil
}

func (r *keyring) known(id string) (signingKey, bool) {
	i := slices.IndexFunc(r.keys, func(k signingKey) bool { return k.ID == id })
	if i < 0 {
		return signingKey{}, false
	}
	return r.keys[i], true
}

// open opens a stored key.
func (r *keyring) open(k grant.Key) (signingKey, error) {
	der, err := r.p.Box.Open(k.Sealed, k.Label())
	if err != nil {
		return signingKey{}, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return signingKey{}, err
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return signingKey{}, fmt.Errorf("not a P-256 key")
	}
	access, err := newSigner(private, k.ID, accessTokenType)
	id, err2 := newSigner(private, k.ID, "JWT")
	return signingKey{Key: k, private: private, access: access, id: id}, cmp.Or(err, err2)
}

func newSigner(private *ecdsa.PrivateKey, id string, typ jose.ContentType) (jose.Signer, error) {
	return jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: &jose.JSONWebKey{Key: private, KeyID: id}},
		(&jose.SignerOptions{}).WithType(typ))
}

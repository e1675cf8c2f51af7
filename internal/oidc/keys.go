package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"errors"
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
	// A day is longer than any cache of the key set.
	maxLead     = 24 * time.Hour
	keysFresh   = time.Minute     // how long a process trusts what it has read
	keysReload  = 5 * time.Second // how often an unknown key id makes it read again
	maxJWKSLife = time.Hour

	rsaBits   = 3072     // as strong as P-256: 128 bits of security (NIST SP 800-57)
	rsaSuffix = "-rs256" // of the kid of a generation's RSA key
)

// A signingKey is a generation of keys that was opened: an EC key (ES256), which
// signs access tokens, and an RSA key (RS256), which signs ID tokens, because
// OpenID Connect Discovery requires RS256 and clients expect it unless they
// registered something else. Generations made by versions before RS256 have no
// RSA key.
type signingKey struct {
	grant.Key
	private *ecdsa.PrivateKey
	rsa     *rsa.PrivateKey                         // may be nil
	access  jose.Signer                             // writes access tokens
	ids     map[jose.SignatureAlgorithm]jose.Signer // write ID tokens
}

// idSigner returns the signer of ID tokens for an algorithm, ES256 where the
// generation has no RSA key.
func (k signingKey) idSigner(alg jose.SignatureAlgorithm) jose.Signer {
	if s := k.ids[alg]; s != nil {
		return s
	}
	return k.ids[jose.ES256]
}

// publicKey returns the public key that verifies signatures made under the kid, or
// nil.
func (k signingKey) publicKey(kid string) crypto.PublicKey {
	switch {
	case kid == k.ID:
		return k.private.Public()
	case k.rsa != nil && kid == k.ID+rsaSuffix:
		return k.rsa.Public()
	}
	return nil
}

// A keyring holds the keys of the deployment as this process last saw them.
type keyring struct {
	p    *Provider
	lead time.Duration

	mu       sync.Mutex
	keys     []signingKey // by generation
	loadedAt time.Time
}

// newKeyring returns an empty keyring; keys are read or made when they are first needed.
func newKeyring(p *Provider) *keyring {
	return &keyring{p: p, lead: min(maxLead, p.KeyPeriod/4)}
}

// currentKey returns the key that signs now: the newest active one.
func (r *keyring) currentKey(ctx context.Context) (signingKey, error) {
	keys, err := r.loadKeys(ctx, keysFresh)
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

// findPublicKey returns the public key with the kid, nil if there is none. One that is not
// known may have been made by another process a moment ago.
func (r *keyring) findPublicKey(ctx context.Context, kid string) (crypto.PublicKey, error) {
	for _, fresh := range []time.Duration{keysFresh, keysReload} {
		keys, err := r.loadKeys(ctx, fresh)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			if public := k.publicKey(kid); public != nil {
				return public, nil
			}
		}
	}
	return nil, nil
}

// publicKeySet returns the keys as JWKS (RFC 7517) and how long they may be cached.
func (r *keyring) publicKeySet(ctx context.Context) (jose.JSONWebKeySet, time.Duration, error) {
	keys, err := r.loadKeys(ctx, keysFresh)
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, k := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.private.Public(), KeyID: k.ID, Algorithm: string(jose.ES256),
			Use: "sig"})
		if k.rsa != nil {
			set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.rsa.Public(), KeyID: k.ID + rsaSuffix,
				Algorithm: string(jose.RS256), Use: "sig"})
		}
	}
	return set, min(maxJWKSLife, r.lead/2), err
}

// loadKeys returns the keys, read again when they are older than fresh. While the
// database is away, what was read before holds.
func (r *keyring) loadKeys(ctx context.Context, fresh time.Duration) ([]signingKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.p.Now()
	if age := now.Sub(r.loadedAt); len(r.keys) > 0 && age >= 0 && age < fresh {
		return r.keys, nil
	}
	keys, err := r.readKeys(ctx, now)
	if err != nil {
		if len(r.keys) > 0 && errs.Is(err, errs.Unavailable) {
			return r.keys, nil
		}
		return nil, err
	}
	r.keys, r.loadedAt = keys, now
	return keys, nil
}

// readKeys reads the keys, makes the next one when it is time, and removes those
// that nothing valid is signed with.
func (r *keyring) readKeys(ctx context.Context, now time.Time) ([]signingKey, error) {
	stored, err := r.p.Store.SigningKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	due, err := r.isGenerationDue(stored, now)
	if err != nil {
		return nil, err
	}
	if due {
		if err := r.addGeneration(ctx, stored, now); err != nil {
			return nil, err
		}
		if stored, err = r.p.Store.SigningKeys(ctx); err != nil {
			return nil, fmt.Errorf("read signing keys: %w", err)
		}
	}
	var keys []signingKey
	for i, k := range stored {
		if i+1 < len(stored) && stored[i+1].ActiveAt.Add(r.p.longestLifetime()+skew+keysFresh).Before(now) {
			if err := r.p.Store.DropSigningKey(ctx, k.ID); err != nil {
				return nil, fmt.Errorf("remove signing key: %w", err)
			}
			continue
		}
		key, err := r.cachedGeneration(k)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// isGenerationDue reports whether the next generation has to be published: when the newest
// one comes to its end, or has no RSA key.
func (r *keyring) isGenerationDue(stored []grant.Key, now time.Time) (bool, error) {
	if len(stored) == 0 {
		return true, nil
	}
	newest, err := r.cachedGeneration(stored[len(stored)-1])
	return newest.rsa == nil || !now.Before(newest.ActiveAt.Add(r.p.KeyPeriod-r.lead)), err
}

// addGeneration makes and stores the next generation. That another process did so meanwhile
// is as good.
func (r *keyring) addGeneration(ctx context.Context, stored []grant.Key, now time.Time) error {
	der, err := r.generateKeys()
	if err != nil {
		return fmt.Errorf("make signing key: %w", err)
	}
	k := grant.Key{Generation: 1, ID: rand.Text(), CreatedAt: now, ActiveAt: now}
	if n := len(stored); n > 0 {
		newest, err := r.cachedGeneration(stored[n-1])
		if err != nil {
			return err
		}
		k.Generation = newest.Generation + 1
		k.ActiveAt = now.Add(r.lead)
		if end := newest.ActiveAt.Add(r.p.KeyPeriod); newest.rsa != nil && end.After(k.ActiveAt) {
			k.ActiveAt = end
		}
	}
	k.Sealed = r.p.Box.Seal(der, k.Label())
	if _, err := r.p.Store.AddSigningKey(ctx, k); err != nil {
		return fmt.Errorf("store signing key: %w", err)
	}
	return nil
}

// generateKeys returns a new EC key and a new RSA key, each as PKCS #8, one after the
// other. Versions that know no RSA key read the first and ignore the rest.
func (r *keyring) generateKeys() ([]byte, error) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	rs, err := r.p.NewRSAKey()
	if err != nil {
		return nil, err
	}
	var der []byte
	for _, private := range []any{ec, rs} {
		one, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			return nil, err
		}
		der = append(der, one...)
	}
	return der, nil
}

// cachedGeneration returns a stored generation as this process knows it, or opens it.
func (r *keyring) cachedGeneration(k grant.Key) (signingKey, error) {
	if i := slices.IndexFunc(r.keys, func(known signingKey) bool { return known.ID == k.ID }); i >= 0 {
		return r.keys[i], nil
	}
	key, err := r.openGeneration(k)
	if err != nil {
		return signingKey{}, fmt.Errorf("open signing key %s: %w", k.ID, err)
	}
	return key, nil
}

// openGeneration opens a stored generation.
func (r *keyring) openGeneration(k grant.Key) (signingKey, error) {
	rest, err := r.p.Box.Open(k.Sealed, k.Label())
	if err != nil {
		return signingKey{}, err
	}
	key := signingKey{Key: k, ids: map[jose.SignatureAlgorithm]jose.Signer{}}
	for len(rest) > 0 {
		var one asn1.RawValue
		if rest, err = asn1.Unmarshal(rest, &one); err != nil {
			return signingKey{}, err
		}
		private, err := x509.ParsePKCS8PrivateKey(one.FullBytes)
		if err != nil {
			return signingKey{}, err
		}
		if err := key.addPrivateKey(private); err != nil {
			return signingKey{}, err
		}
	}
	if key.private == nil {
		return signingKey{}, errors.New("no P-256 key found")
	}
	return key, nil
}

// addPrivateKey adds a private key and its signers.
func (k *signingKey) addPrivateKey(private any) (err error) {
	switch private := private.(type) {
	case *ecdsa.PrivateKey:
		if private.Curve != elliptic.P256() {
			return errors.New("not a P-256 key")
		}
		k.private = private
		if k.access, err = newSigner(jose.ES256, private, k.ID, accessTokenType); err != nil {
			return err
		}
		k.ids[jose.ES256], err = newSigner(jose.ES256, private, k.ID, "JWT")
	case *rsa.PrivateKey:
		k.rsa = private
		k.ids[jose.RS256], err = newSigner(jose.RS256, private, k.ID+rsaSuffix, "JWT")
	default:
		err = fmt.Errorf("unknown kind of key %T", private)
	}
	return err
}

// newSigner returns a signer that writes kid and type into the header.
func newSigner(alg jose.SignatureAlgorithm, private any, kid string, typ jose.ContentType) (jose.Signer, error) {
	return jose.NewSigner(
		jose.SigningKey{Algorithm: alg, Key: &jose.JSONWebKey{Key: private, KeyID: kid}},
		(&jose.SignerOptions{}).WithType(typ))
}

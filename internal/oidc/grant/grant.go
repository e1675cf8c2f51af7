// Package grant is what the OpenID provider remembers: the grants that people
// gave to applications, the codes and refresh tokens that stand for them, device
// authorizations, signing keys. Secrets are kept as hashes, keys sealed. The
// provider decides, the store keeps; both speak in these types.
package grant

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"merlon/internal/tenant"
)

// Hash is how a secret with enough randomness is kept: SHA-256 in lower-case
// hexadecimal.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// A Grant is the access that a user gave to an application. Everything that was
// issued for it falls when it is revoked.
type Grant struct {
	ID         string
	UserID     tenant.UserID
	ClientID   string
	SessionID  string // the browser session in which it was given
	Scopes     []string
	AuthTime   time.Time // when the user proved to be that user
	CreatedAt  time.Time
	LastUsedAt time.Time // when tokens were last issued for it
	ExpiresAt  time.Time // nothing that was issued for it lives longer; it never moves
	RevokedAt  time.Time // zero while it holds
}

// A Consent is what a user agreed to let an application do. It is asked about
// again when the application asks for more.
type Consent struct {
	UserID    tenant.UserID
	ClientID  string
	Scopes    []string
	CreatedAt time.Time // when it was given last
	IP        string    // of the browser, for the audit log
}

// A Code is an authorization code: it is exchanged once.
type Code struct {
	Hash        string // of the code
	UserID      tenant.UserID
	ClientID    string
	SessionID   string // the browser session in which it was given
	RedirectURI string
	Challenge   string // PKCE S256 (RFC 7636)
	Nonce       string
	Scopes      []string
	Offline     bool // gives a refresh token
	AuthTime    time.Time
	CreatedAt   time.Time
	ExpiresAt   time.Time
	GrantID     string // set once it was exchanged
}

// A Refresh is a refresh token: it is exchanged for the next one of its grant.
// Using it again soon gives the same one, using it later revokes the grant.
type Refresh struct {
	Hash      string
	GrantID   string
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero while it can be used
}

// A Rotation is what became of a refresh token that was presented.
type Rotation uint8

const (
	Refused  Rotation = iota // expired or revoked, or used too long ago: then the grant is revoked now
	Rotated                  // it is used up, its successor is stored
	Repeated                 // it was used a moment ago, its successor was stored then
)

// A DeviceState is where a device authorization stands.
type DeviceState string

const (
	Pending  DeviceState = "pending"
	Approved DeviceState = "approved"
	Denied   DeviceState = "denied"
	Redeemed DeviceState = "redeemed"
)

// A Device is a device authorization (RFC 8628): a device polls with one code
// while a person enters the other one in a browser.
type Device struct {
	Hash      string // of the device code
	UserHash  string // of the user code, under a key, because the code is short
	ClientID  string
	Scopes    []string
	State     DeviceState
	UserID    tenant.UserID // who decided
	SessionID string        // the browser session in which it was decided
	AuthTime  time.Time
	Interval  time.Duration // between two polls
	PolledAt  time.Time
	CreatedAt time.Time
	ExpiresAt time.Time
	GrantID   string // set once it was redeemed
}

// A Key signs tokens. Generation counts keys from 1, so that of two processes
// that make the next one at the same time one wins.
type Key struct {
	Generation int64
	ID         string    // the kid of tokens
	Sealed     []byte    // PKCS #8, sealed under Label
	CreatedAt  time.Time // it is published from here on
	ActiveAt   time.Time // it signs from here on, until the next one does
}

// Label binds the sealed key to its place.
func (k Key) Label() string { return "oidc signing key " + k.ID }

// An Admission asks whether something that was issued to a user still counts.
type Admission struct {
	User    tenant.UserID
	TokenID string // of the access token; may be empty
	Grant   string // the grant it was made for; may be empty
	Session string // the browser session it was made for; may be empty
	// PersonalToken is the personal access token that it was exchanged for; may be
	// empty.
	PersonalToken string
	Since         time.Time // when it was derived from a sign-in; zero when it was not
}

// An Admitted says who somebody is whose token was admitted.
type Admitted struct {
	Service bool               // a service account
	Limits  tenant.TokenLimits // of the personal access token, if it is one
}

// Tokens is what an exchange puts on record: the grant, and the refresh token
// that goes with it, if any.
type Tokens struct {
	Grant   Grant
	Refresh *Refresh // nil without offline access
	IP      string   // of the application, for the audit log
}

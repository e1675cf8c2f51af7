// Package oidc is the OpenID provider of the service, on zitadel/oidc: it turns a
// personal access token, a browser session or a device code into access tokens,
// checks them for the API, and serves the pages on which people sign in, agree
// and look after their account.
//
// The library routes the machine endpoints, reads their forms and knows the
// protocol's names; what is decided is decided here, in one method per grant
// (endpoint.go and its neighbours), on atomic operations of the store. The
// library's own storage-driven server is not used: it reads the wall clock, marks
// codes as used in a second step, and parses claims before it checks signatures.
//
// Nothing is kept in memory that another server process of the deployment would
// have to know: requests on their way travel sealed in the browser's address,
// everything else is in the database.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/op"

	"merlon/internal/identity"
	"merlon/internal/oidc/grant"
	"merlon/internal/seal"
	"merlon/internal/tenant"
)

// A Config is what a Provider is made of. Durations that are zero get the
// defaults beside them.
type Config struct {
	BaseURL string   // of the API, without a slash at the end: the audience of access tokens
	AuthURL string   // of the provider: scheme and host; the issuer is AuthURL + "/oidc"
	Aliases []string // further values of the resource parameter that stand for BaseURL

	Vendors []string       // of urn:<vendor>:token-type:personal_access_token; default "merlon"
	Apps    ClientApps     // identifiers; an empty one is made once and stored
	CLIIDs  []string       // further identifiers of the cli application
	Clients []Confidential // applications with a secret

	// EditorExtensions are the publisher.name identifiers of the editor extensions
	// that may receive vscode:// and vscode-insiders:// redirects; default
	// "merlon.merlon".
	EditorExtensions []string

	AccessLifetime  time.Duration // of access and ID tokens; 10 minutes
	CLILifetime     time.Duration // of those of the cli application; 60 minutes
	RefreshLifetime time.Duration // of a grant with refresh tokens, however often they are used; 14 days
	KeyPeriod       time.Duration // how long a key signs; 30 days
	SignUp          bool          // offer the sign-up page

	// NewRSAKey makes the RSA keys that sign ID tokens; default: 3072 bits.
	NewRSAKey func() (*rsa.PrivateKey, error)

	Box    *seal.Box
	Store  Store
	People *identity.Service
	Now    func() time.Time
	Log    *slog.Logger
}

// A Store keeps what the provider has to remember. Package store has one.
type Store interface {
	Keys
	Codes
	Grants
	Devices
	Consents
}

// Keys keeps signing keys and what is made once for the deployment.
type Keys interface {
	Once(ctx context.Context, name, value string) (string, error)
	SigningKeys(ctx context.Context) ([]grant.Key, error)
	AddSigningKey(ctx context.Context, k grant.Key) (added bool, err error)
	DropSigningKey(ctx context.Context, id string) error
}

// Codes keeps authorization codes.
type Codes interface {
	AddCode(ctx context.Context, c grant.Code) error
	Code(ctx context.Context, hash string) (grant.Code, error)
	RedeemCode(ctx context.Context, hash string, t grant.Tokens) (fresh bool, err error)
}

// Grants keeps grants, refresh tokens and revocations.
type Grants interface {
	Refresh(ctx context.Context, hash string) (grant.Tokens, error)
	RotateRefresh(ctx context.Context, hash string, next grant.Refresh, window time.Duration) (grant.Rotation, error)
	ActiveGrants(ctx context.Context, user tenant.UserID) ([]grant.Grant, error)
	RevokeGrant(ctx context.Context, id, reason string) error
	RevokeToken(ctx context.Context, id string, until time.Time) error
	Admit(ctx context.Context, a grant.Admission) (who grant.Admitted, admitted bool, err error)
	CollectGrants(ctx context.Context) (removed int64, err error)
}

// Devices keeps device authorizations.
type Devices interface {
	AddDevice(ctx context.Context, d grant.Device) (added bool, err error)
	DeviceByUserCode(ctx context.Context, userHash string) (grant.Device, error)
	PollDevice(ctx context.Context, hash, client string, slower time.Duration) (d grant.Device, tooSoon bool, err error)
	DecideDevice(ctx context.Context, d grant.Device, by tenant.Actor) (decided bool, err error)
	RedeemDevice(ctx context.Context, hash string, t grant.Tokens) (fresh bool, err error)
}

// Consents keeps what people agreed to.
type Consents interface {
	Consents(ctx context.Context, user tenant.UserID) ([]grant.Consent, error)
	AddConsent(ctx context.Context, c grant.Consent) error
	WithdrawConsent(ctx context.Context, c grant.Consent, reason string) error
}

// A Provider is the OpenID provider of one deployment. It is safe for concurrent
// use.
type Provider struct {
	Config
	issuer     string
	keys       *keyring
	apps       ClientApps
	clients    map[string]*client
	resources  map[string]bool // accepted values of the resource parameter
	tokenTypes map[string]bool // accepted types of personal access tokens
	formKey    []byte          // binds forms to browsers
	codeKey    []byte          // hashes user codes of devices
	refreshKey []byte          // makes the next refresh token from a presented one
	handler    http.Handler
}

// New returns a provider. It makes the first signing key and the application
// identifiers when the database holds none.
func New(c Config) (*Provider, error) {
	if err := c.validateConfig(); err != nil {
		return nil, err
	}
	p := &Provider{
		Config: c, issuer: c.AuthURL + "/oidc",
		formKey: c.Box.Derive("oidc forms"), codeKey: c.Box.Derive("oidc user codes"),
		refreshKey: c.Box.Derive("oidc refresh tokens"),
		resources:  map[string]bool{}, tokenTypes: map[string]bool{},
	}
	for _, r := range append([]string{c.BaseURL}, c.Aliases...) {
		p.resources[strings.TrimSuffix(r, "/")] = true
	}
	for _, v := range c.Vendors {
		p.tokenTypes["urn:"+v+":token-type:personal_access_token"] = true
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.loadClients(ctx); err != nil {
		return nil, err
	}
	p.keys = newKeyring(p)
	if _, err := p.keys.currentKey(ctx); err != nil {
		return nil, err
	}
	p.handler = p.allRoutes()
	return p, nil
}

// validateConfig fills in defaults and refuses what cannot work.
func (c *Config) validateConfig() error {
	if c.Box == nil || c.Store == nil || c.People == nil {
		return errors.New("oidc: Box, Store and People are required")
	}
	u, err := url.Parse(c.AuthURL)
	if err != nil {
		return errors.New("the identity address cannot be read: " + c.AuthURL)
	}
	if err := op.ValidateIssuer(c.AuthURL, true); err != nil || u.Path != "" {
		return errors.New("the identity address must be http(s)://host[:port] without a path: " + c.AuthURL)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.NewRSAKey == nil {
		c.NewRSAKey = func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, rsaBits) }
	}
	if len(c.Vendors) == 0 {
		c.Vendors = []string{"merlon"}
	}
	if len(c.EditorExtensions) == 0 {
		c.EditorExtensions = []string{"merlon.merlon"}
	}
	for d, def := range map[*time.Duration]time.Duration{
		&c.AccessLifetime: 10 * time.Minute, &c.CLILifetime: time.Hour, &c.RefreshLifetime: 14 * 24 * time.Hour,
		&c.KeyPeriod: 30 * 24 * time.Hour,
	} {
		if *d == 0 {
			*d = def
		}
		if *d < time.Second {
			return errors.New("oidc: a lifetime is shorter than a second: " + d.String())
		}
	}
	if c.KeyPeriod < c.longestLifetime() {
		return errors.New("oidc: keys must sign for longer than a token lives")
	}
	return nil
}

// longestLifetime is the longest lifetime of an access token.
func (c *Config) longestLifetime() time.Duration { return max(c.AccessLifetime, c.CLILifetime) }

// Handler serves the addresses that begin with /oidc/, /auth/ or /.well-known/.
func (p *Provider) Handler() http.Handler { return p.handler }

// ClientApps returns the identifiers of the public applications.
func (p *Provider) ClientApps() ClientApps { return p.apps }

// Run removes what has ended, once at the beginning and then every interval,
// until ctx ends. Several processes may do so at the same time.
func (p *Provider) Run(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if _, err := p.Store.CollectGrants(ctx); err != nil && ctx.Err() == nil {
			p.Log.ErrorContext(ctx, "collect ended grants", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// This file knows the applications: who they are, where they may send a browser
// back to, and what they may ask for.

// ClientApps are the identifiers of the public applications, which GET
// /client-apps tells. They may change between releases.
type ClientApps struct {
	CLI      ClientApp
	VSCode   ClientApp
	IntelliJ ClientApp
}

// A ClientApp is an entry of ClientApps.
type ClientApp struct {
	AppID string
}

// A Confidential is an application that keeps a secret: a web application, or a
// resource server that asks about tokens.
type Confidential struct {
	ID                     string
	Name                   string // shown to people who are asked to agree
	Secret                 string // at least 32 characters
	RedirectURIs           []string
	PostLogoutRedirectURIs []string
	IDTokenAlg             string // id_token_signed_response_alg: RS256 (default) or ES256
}

const minSecret = 32

// A client is an application as the provider sees it. The embedded interface is
// nil: with a server of our own the library calls only the methods below.
type client struct {
	op.Client
	id         string
	app        string // the same for all identifiers of one application
	name       string
	schemes    []string // of a native application's own addresses; may be empty
	hosts      []string // that such an address may have; nil for every host
	exchanges  bool     // may exchange personal access tokens and use the device flow
	secretHash [32]byte // of a confidential application
	redirects  []string // of a confidential application
	logouts    []string
	idAlg      jose.SignatureAlgorithm // of its ID tokens; empty for RS256
	native     bool
}

// GetID returns the identifier that the application used.
func (c *client) GetID() string { return c.id }

// AuthMethod says whether the application proves who it is.
func (c *client) AuthMethod() oidc.AuthMethod {
	if c.native {
		return oidc.AuthMethodNone
	}
	return oidc.AuthMethodBasic
}

// GrantTypes returns what the application may send to the token endpoint.
func (c *client) GrantTypes() []oidc.GrantType {
	types := []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
	if c.exchanges {
		types = append(types, oidc.GrantTypeTokenExchange, oidc.GrantTypeDeviceCode)
	}
	return types
}

// idTokenAlg is the algorithm that signs the application's ID tokens. RS256 is what
// applications expect that registered nothing (OpenID Connect Dynamic Client
// Registration 1.0, section 2).
func (c *client) idTokenAlg() jose.SignatureAlgorithm {
	if c == nil || c.idAlg == "" {
		return jose.RS256
	}
	return c.idAlg
}

// verifySecret reports whether the secret is the application's.
func (c *client) verifySecret(secret string) bool {
	got := sha256.Sum256([]byte(secret))
	return !c.native && subtle.ConstantTimeCompare(got[:], c.secretHash[:]) == 1
}

// loadClients makes the table of applications. Identifiers that are not
// configured are those of the deployment, made by whichever process comes first.
func (p *Provider) loadClients(ctx context.Context) error {
	p.apps, p.clients = p.Apps, map[string]*client{}
	for name, id := range map[string]*string{
		"client.cli": &p.apps.CLI.AppID, "client.vscode": &p.apps.VSCode.AppID,
		"client.intellij": &p.apps.IntelliJ.AppID,
	} {
		if *id != "" {
			continue
		}
		made, err := p.Store.Once(ctx, name, strings.ToLower(rand.Text()))
		if err != nil {
			return fmt.Errorf("identifier of %s: %w", name, err)
		}
		*id = made
	}
	list := []*client{
		{id: p.apps.CLI.AppID, app: "cli", name: "Merlon command line", exchanges: true, native: true},
		{id: p.apps.VSCode.AppID, app: "vscode", name: "Merlon for VS Code",
			schemes: []string{"vscode", "vscode-insiders"}, hosts: p.EditorExtensions, native: true},
		{id: p.apps.IntelliJ.AppID, app: "intellij", name: "Merlon for JetBrains IDEs", schemes: []string{"jetbrains"},
			native: true},
	}
	for _, id := range p.CLIIDs {
		list = append(list, &client{id: id, app: "cli", name: "Merlon command line", exchanges: true, native: true})
	}
	for _, c := range p.Clients {
		if len(c.Secret) < minSecret {
			return fmt.Errorf("client secret of %q must have at least %d characters", c.ID, minSecret)
		}
		alg := jose.SignatureAlgorithm(c.IDTokenAlg)
		if alg != "" && alg != jose.RS256 && alg != jose.ES256 {
			return fmt.Errorf("unsupported ID token algorithm of client %[1]q: %[2]q; supported: RS256, ES256", c.ID,
				c.IDTokenAlg)
		}
		list = append(list, &client{id: c.ID, app: "confidential " + c.ID, name: c.Name, idAlg: alg,
			secretHash: sha256.Sum256([]byte(c.Secret)),
			redirects:  c.RedirectURIs, logouts: c.PostLogoutRedirectURIs})
	}
	for _, c := range list {
		if err := checkText("identifier of an application", c.id, 255); err != nil || c.id == "" {
			return fmt.Errorf("invalid client ID %q", c.id)
		}
		if p.clients[c.id] != nil {
			return fmt.Errorf("duplicate client ID %q", c.id)
		}
		p.clients[c.id] = c
	}
	return nil
}

// sameApp reports whether two identifiers are of the same application.
func (p *Provider) sameApp(a, b string) bool {
	first, second := p.clients[a], p.clients[b]
	return first != nil && second != nil && first.app == second.app
}

const maxRedirect = 2048

// checkRedirect checks that the application may send browsers back to the address.
// Native applications may use the loopback interface on any port with any path
// (RFC 8252, section 7.3), and their own schemes; others only what they registered.
// The host of an editor's address names the extension that gets the code: only the
// configured ones may, since any publisher could ask in the name of ours.
func (c *client) checkRedirect(address string) error {
	if !c.native {
		if !slices.Contains(c.redirects, address) {
			return errors.New("redirect_uri is not registered for this client")
		}
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || len(address) > maxRedirect || strings.ContainsFunc(address, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || r == '\\'
	}) {
		return errors.New("invalid redirect_uri: not a URL")
	}
	if u.Fragment != "" || strings.Contains(address, "#") || u.User != nil || u.Opaque != "" || u.Host == "" {
		return errors.New("invalid redirect_uri: must have a host, and no fragment or user information")
	}
	switch {
	case u.Scheme == "http" && isLoopback(u):
		return nil
	case slices.Contains(c.schemes, u.Scheme):
		if c.hosts != nil && !slices.ContainsFunc(c.hosts, func(h string) bool {
			return strings.EqualFold(h, u.Host)
		}) {
			return fmt.Errorf("redirect_uri belongs to the extension %q; allowed: %s", u.Host,
				strings.Join(c.hosts, ", "))
		}
		return nil
	}
	return errors.New("redirect_uri must be an http URL on the loopback interface (localhost, 127.0.0.1 " +
		"or [::1])" + c.allowedSchemesText())
}

func (c *client) allowedSchemesText() string {
	text := ""
	for _, scheme := range c.schemes {
		text += " or begin with " + scheme + "://"
	}
	return text
}

// isLoopback reports whether the address names this machine, with a port that
// can be one.
func isLoopback(u *url.URL) bool {
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1":
	default:
		return false
	}
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && port > 0
}

// postLogout checks where a browser may go after signing out.
func (c *client) postLogout(address string) error {
	if c.native {
		return c.checkRedirect(address)
	}
	if !slices.Contains(c.logouts, address) {
		return errors.New("post_logout_redirect_uri is not registered for this client")
	}
	return nil
}

// checkResource checks the resource parameters of a request (RFC 8707). Every accepted
// value stands for the API of this region.
func (p *Provider) checkResource(values []string) error {
	for _, v := range values {
		if !p.resources[strings.TrimSuffix(v, "/")] {
			return oauthError(400, "invalid_target", "invalid resource: must be %s", p.BaseURL)
		}
	}
	return nil
}

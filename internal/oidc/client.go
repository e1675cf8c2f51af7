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
}

const minSecret = 32

// A client is an application as the provider sees it. The embedded interface is
// nil: with a server of our own the library calls only the methods below.
type client struct {
	op.Client
	id         string
	name       string
	scheme     string   // of a native application's own addresses; may be empty
	exchanges  bool     // may exchange personal access tokens and use the device flow
	secretHash [32]byte // of a confidential application
	redirects  []string // of a confidential application
	logouts    []string
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

// proves reports whether the secret is the application's.
func (c *client) proves(secret string) bool {
	got := sha256.Sum256([]byte(secret))
	return !c.native && subtle.ConstantTimeCompare(got[:], c.secretHash[:]) == 1
}

// loadClients makes the table of applications. Identifiers that are not
// configured are those of the deployment, made by whichever process comes first.
func (p *Provider) loadClients(ctx context.Context) error {
	p.apps, p.clients = p.Apps, map[string]*client{}
	for name, id := range map[string]*string{
		"client.cli": &p.apps.CLI.AppID, "client.vscode": &p.apps.VSCode.AppID, "client.intellij": &p.apps.IntelliJ.AppID,
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
		{id: p.apps.CLI.AppID, name: "Merlon command line", exchanges: true, native: true},
		{id: p.apps.VSCode.AppID, name: "Merlon for VS Code", scheme: "vscode", native: true},
		{id: p.apps.IntelliJ.AppID, name: "Merlon for JetBrains IDEs", scheme: "jetbrains", native: true},
	}
	for _, id := range p.CLIIDs {
		list = append(list, &client{id: id, name: "Merlon command line", exchanges: true, native: true})
	}
	for _, c := range p.Clients {
		if len(c.Secret) < minSecret {
			return fmt.Errorf("the secret of the application %q has fewer than %d characters", c.ID, minSecret)
		}
		list = append(list, &client{id: c.ID, name: c.Name, secretHash: sha256.Sum256([]byte(c.Secret)),
			redirects: c.RedirectURIs, logouts: c.PostLogoutRedirectURIs})
	}
	for _, c := range list {
		if err := checkText("identifier of an application", c.id, 255); err != nil || c.id == "" {
			return fmt.Errorf("the identifier %q of an application is empty or cannot be one", c.id)
		}
		if p.clients[c.id] != nil {
			return fmt.Errorf("two applications have the identifier %q", c.id)
		}
		p.clients[c.id] = c
	}
	return nil
}

const maxRedirect = 2048

// redirect checks that the application may send browsers back to the address.
// Native applications may use the loopback interface on any port with any path
// (RFC 8252, section 7.3), and their own scheme; others only what they registered.
func (c *client) redirect(address string) error {
	if !c.native {
		if !slices.Contains(c.redirects, address) {
			return errors.New("the redirect_uri is not one that the application registered")
		}
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || len(address) > maxRedirect || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return errors.New("the redirect_uri is not an address")
	}
	if u.Fragment != "" || strings.Contains(address, "#") || u.User != nil || u.Opaque != "" || u.Host == "" {
		return errors.New("the redirect_uri must not have a fragment or a user, and must have a host")
	}
	switch {
	case u.Scheme == "http" && isLoopback(u):
		return nil
	case c.scheme != "" && u.Scheme == c.scheme:
		return nil
	}
	return errors.New("the redirect_uri must be http on the loopback interface (localhost, 127.0.0.1 or [::1])" + c.alternative())
}

func (c *client) alternative() string {
	if c.scheme == "" {
		return ""
	}
	return " or begin with " + c.scheme + "://"
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
		return c.redirect(address)
	}
	if !slices.Contains(c.logouts, address) {
		return errors.New("the post_logout_redirect_uri is not one that the application registered")
	}
	return nil
}

// resource checks the resource parameters of a request (RFC 8707). Every accepted
// value stands for the API of this region.
func (p *Provider) resource(values []string) error {
	for _, v := range values {
		if !p.resources[strings.TrimSuffix(v, "/")] {
			return failure(400, "invalid_target", "the resource is not the API of this region: expected %s", p.BaseURL)
		}
	}
	return nil
}

// scopeNames says in words what a scope opens.
var scopeNames = []struct{ scope, words string }{
	{"openid", "know who you are"},
	{"profile", "see your name and picture"},
	{"email", "see your e-mail address"},
	{"offline_access", "stay signed in while you are away"},
}

// knownScopes returns the scopes that exist here, in fixed order, without
// doubles. Others are ignored, as OpenID Connect asks (Core 1.0, section 3.1.2.1).
func knownScopes(asked []string) []string {
	var known []string
	for _, s := range scopeNames {
		if slices.Contains(asked, s.scope) {
			known = append(known, s.scope)
		}
	}
	return known
}

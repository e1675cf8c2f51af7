package registry

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"merlon/internal/errs"
)

// This file signs in at registries, and keeps passwords from everybody else.

// A Login is a user of the registry that a reference names.
type Login struct {
	User, Password string
	// SignsIn reports whether the registry may have its users sign in at the host,
	// which is given without a port; nil: only at its own.
	SignsIn func(host string) bool
	// Scheme is "http" for a registry that speaks nothing else, "https" where the
	// password may never go without encryption. Empty: https, and http as well in
	// private networks, as docker does it.
	Scheme string
}

// parseReference reads the reference.
func (r *Request) parseReference() (name.Reference, error) {
	if r.Login != nil && r.Login.Scheme == "http" {
		return parseReference(r.Reference, name.Insecure)
	}
	return parseReference(r.Reference)
}

// remoteOptions says how requests to the registry are sent.
func (r *Request) remoteOptions(ctx context.Context, ref name.Reference) []remote.Option {
	send, keys := r.Transport, r.Keychain
	if keys == nil {
		keys = anonymous{}
	}
	if r.Login != nil {
		host := ref.Context().RegistryStr()
		keys = single{host, authn.FromConfig(authn.AuthConfig{Username: r.Login.User, Password: r.Login.Password})}
		send = confinedTransport{r.Transport, host, r.Login}
	}
	return []remote.Option{remote.WithContext(ctx), remote.WithTransport(send), remote.WithAuthFromKeychain(keys)}
}

// confinedTransport sends passwords to the registry, and where it may have users sign in.
// What it sends them for, tokens for one repository, goes where the library takes it.
type confinedTransport struct {
	next  http.RoundTripper
	host  string // of the registry, with its port
	login *Login
}

// RoundTrip implements http.RoundTripper.
func (c confinedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	secret := strings.EqualFold(scheme, "Basic") || r.Method != http.MethodGet && r.Method != http.MethodHead
	switch {
	case c.login.Scheme == "http" && r.URL.Scheme == "https" && r.URL.Host == c.host && r.URL.Path == "/v2/":
		// The library tries it first, whatever the scheme: a request that must fail.
		// What the request without encryption comes to is what counts.
		return nil, errPlain
	case !secret:
	case r.URL.Host != c.host && (c.login.SignsIn == nil || !c.login.SignsIn(r.URL.Hostname())):
		return nil, errs.E(errs.Unavailable, "%s sends its users elsewhere to sign in: refused", c.host)
	case c.login.Scheme == "https" && r.URL.Scheme != "https":
		return nil, errs.E(errs.Unavailable, "%s wants the password without encryption: refused", c.host)
	}
	return c.next.RoundTrip(r)
}

// errPlain ends the library's first try, which is encrypted whatever is asked for.
var errPlain = errors.New("the registry is spoken to without encryption")

// anonymous has no credentials.
type anonymous struct{}

// Resolve implements authn.Keychain.
func (anonymous) Resolve(authn.Resource) (authn.Authenticator, error) { return authn.Anonymous, nil }

// single has a user for one registry, by its host.
type single struct {
	host string
	auth authn.Authenticator
}

// Resolve implements authn.Keychain.
func (s single) Resolve(r authn.Resource) (authn.Authenticator, error) {
	if r.RegistryStr() == s.host {
		return s.auth, nil
	}
	return authn.Anonymous, nil
}

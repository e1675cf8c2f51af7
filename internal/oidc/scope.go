package oidc

import (
	"net/http"
	"slices"

	"merlon/internal/tenant"
)

// This file knows the scopes: those of OpenID Connect, which say what an
// application may learn of a person, and those of the API (tenant.TokenScopes). A
// token with a scope of the API has the API as its audience, any other one the
// userinfo endpoint: neither is taken for the other.

// scopeNames says in words what a scope opens.
var scopeNames = []struct{ scope, words string }{
	{"openid", "confirm your identity"},
	{"profile", "see your name and picture"},
	{"email", "see your e-mail address"},
	{"offline_access", "stay signed in while you are away"},
	{"read", "read organizations, teams, projects, scans and findings that you can access"},
	{"scan", "start and cancel scans"},
	{"triage", "change the status and priority of findings"},
	{"administer", "change all other data that you can change, including your account and its tokens"},
}

// scopesInWords says what the scopes open.
func scopesInWords(scopes []string) (words []string) {
	for _, s := range scopeNames {
		if slices.Contains(scopes, s.scope) {
			words = append(words, s.words)
		}
	}
	return words
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

// withAPI completes known scopes: each scope of the API brings what it needs, who
// names the API as the resource (RFC 8707) and none of its scopes gets all of them,
// and nobody gets more than may be given.
func withAPI(scopes, resources []string, may tenant.TokenScopes) []string {
	asked := tenant.KnownTokenScopes(scopes)
	if asked == 0 && len(resources) > 0 {
		asked = tenant.AllTokenScopes
	}
	scopes = slices.DeleteFunc(slices.Clone(scopes), func(s string) bool {
		return tenant.KnownTokenScopes([]string{s}) != 0
	})
	return append(scopes, (asked & may).Names()...)
}

// checkGranted refuses the resource of a token request when the grant does not
// open it.
func (p *Provider) checkGranted(resources, scopes []string) error {
	if err := p.checkResource(resources); err != nil {
		return err
	}
	if len(resources) > 0 && tenant.KnownTokenScopes(scopes) == 0 {
		return oauthError(http.StatusBadRequest, "invalid_target", "access to %s was not granted: send the "+
			"resource in "+
			"the authorization request", p.BaseURL)
	}
	return nil
}

// tokenAudience returns whom an access token with the scopes is for.
func (p *Provider) tokenAudience(scopes []string) string {
	if tenant.KnownTokenScopes(scopes) == 0 {
		return p.userinfoURL()
	}
	return p.BaseURL
}

func (p *Provider) userinfoURL() string { return p.issuer + "/userinfo" }

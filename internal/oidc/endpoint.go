package oidc

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"merlon/internal/errs"
	"merlon/internal/oidc/grant"
	"merlon/internal/tenant"
)

// This file answers the machine endpoints: the library reads a request, one
// method here decides on it.

// A server implements the library's op.Server.
type server struct {
	op.UnimplementedServer
	*Provider
}

// allRoutes puts every address of the provider into one handler.
func (p *Provider) allRoutes() http.Handler {
	endpoints := op.Endpoints{
		Token: op.NewEndpoint("token"), JwksURI: op.NewEndpoint("jwks"), Userinfo: op.NewEndpoint("userinfo"),
		Revocation: op.NewEndpoint("revoke"), Introspection: op.NewEndpoint("introspect"),
		DeviceAuthorization: op.NewEndpoint("device_authorization"),
	}
	// The library's CORS default admits every site with credentials; open decides
	// instead.
	library := op.RegisterServer(&server{Provider: p}, endpoints, op.WithServerCORSOptions(nil),
		op.WithDecoder(newDecoder()))
	machine := p.handleMachine(http.StripPrefix("/oidc", library))

	mux := http.NewServeMux()
	// Only these methods reach the library: see refuseMethods.
	for _, path := range []string{"token", "revoke", "introspect", "device_authorization", "userinfo"} {
		mux.Handle("POST /oidc/"+path, machine)
	}
	for _, path := range []string{"userinfo", "jwks", ".well-known/openid-configuration"} {
		mux.Handle("GET /oidc/"+path, machine)
	}
	for _, path := range openPaths {
		mux.HandleFunc("OPTIONS "+path, handlePreflight)
	}
	// RFC 8414, section 3: the path of the issuer stands behind the well-known one.
	// The address at the root helps those who only know the host.
	for _, path := range []string{"oauth-authorization-server/oidc", "openid-configuration"} {
		mux.Handle("GET /.well-known/"+path,
			p.handleMachine(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.URL.Path = "/.well-known/openid-configuration"
				library.ServeHTTP(w, r)
			})))
	}
	p.registerPages(mux)
	mux.Handle("/", p.wrapMachine(func(w http.ResponseWriter, r *http.Request) {
		op.WriteError(w, r, oauthError(http.StatusNotFound, "invalid_request", "route not found"), nil)
	}))
	return p.refuseMethods(mux)
}

// refuseMethods refuses methods that an address does not have with 405 and those it has
// (RFC 9110, section 15.5.6). The router would do so itself, but for the patterns of
// addresses that do not exist, which match every method.
func (p *Provider) refuseMethods(mux *http.ServeMux) http.Handler {
	refuse := p.wrapMachine(func(w http.ResponseWriter, r *http.Request) {
		op.WriteError(w, r, oauthError(http.StatusMethodNotAllowed, "invalid_request", "method %s not allowed; "+
			"allowed: %s", safeParameterName(r.Method), w.Header().Get("Allow")), nil)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isRouted(mux, r) {
			var allowed []string
			for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
				other := *r
				if other.Method = method; isRouted(mux, &other) {
					allowed = append(allowed, method)
				}
			}
			if len(allowed) > 0 {
				w.Header().Set("Allow", strings.Join(allowed, ", "))
				refuse.ServeHTTP(w, r)
				return
			}
		}
		mux.ServeHTTP(w, r)
	})
}

// isRouted reports whether the router has a handler for the request besides those of
// addresses that do not exist.
func isRouted(mux *http.ServeMux, r *http.Request) bool {
	_, pattern := mux.Handler(r)
	return pattern != "" && pattern != "/" && pattern != "/auth/"
}

// openPaths are the addresses that scripts of every site may read: public
// documents, and the token endpoint and userinfo, which take their credentials from
// the request alone. None of them reads a cookie, and the wildcard keeps browsers
// from sending any.
var openPaths = []string{
	"/oidc/token", "/oidc/userinfo", "/oidc/revoke", "/oidc/jwks", "/oidc/.well-known/openid-configuration",
	"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/oidc",
}

// allowOrigins sets the CORS headers (Fetch standard, section 3.3) of a response
// to one of the openPaths.
func allowOrigins(h http.Header, path string) {
	if slices.Contains(openPaths, path) {
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "Retry-After, WWW-Authenticate")
	}
}

// handlePreflight answers what a browser asks before a script's request.
func handlePreflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	allowOrigins(h, r.URL.Path)
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	h.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
}

// remoteIP is the address of the client without the port.
func remoteIP(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

// A discovery is the document of OpenID Connect Discovery 1.0 and RFC 8414.
type discovery struct {
	oidc.DiscoveryConfiguration
	NamesIssuer bool `json:"authorization_response_iss_parameter_supported"` // RFC 9207
}

// Discovery says what the provider can do, and nothing else.
func (s *server) Discovery(context.Context, *op.Request[struct{}]) (*op.Response, error) {
	secret := []oidc.AuthMethod{oidc.AuthMethodBasic, oidc.AuthMethodPost}
	open := append([]oidc.AuthMethod{oidc.AuthMethodNone}, secret...)
	var scopes []string
	for _, sc := range scopeNames {
		scopes = append(scopes, sc.scope)
	}
	return cacheableResponse(discovery{oidc.DiscoveryConfiguration{
		Issuer:                      s.issuer,
		AuthorizationEndpoint:       s.issuer + "/auth",
		TokenEndpoint:               s.issuer + "/token",
		IntrospectionEndpoint:       s.issuer + "/introspect",
		UserinfoEndpoint:            s.issuer + "/userinfo",
		RevocationEndpoint:          s.issuer + "/revoke",
		EndSessionEndpoint:          s.issuer + "/end_session",
		DeviceAuthorizationEndpoint: s.issuer + "/device_authorization",
		JwksURI:                     s.issuer + "/jwks",
		ScopesSupported:             scopes,
		ResponseTypesSupported:      []string{"code"},
		ResponseModesSupported:      []string{"query"},
		GrantTypesSupported: []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken,
			oidc.GrantTypeTokenExchange, oidc.GrantTypeDeviceCode},
		SubjectTypesSupported:                     []string{"public"},
		IDTokenSigningAlgValuesSupported:          []string{"RS256", "ES256"},
		TokenEndpointAuthMethodsSupported:         open,
		RevocationEndpointAuthMethodsSupported:    open,
		IntrospectionEndpointAuthMethodsSupported: secret,
		CodeChallengeMethodsSupported:             []oidc.CodeChallengeMethod{oidc.CodeChallengeMethodS256},
		ClaimsSupported: []string{"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "azp",
			"name", "given_name", "family_name", "picture", "email", "email_verified"},
	}, true}, time.Hour), nil
}

// Keys returns the public keys.
func (s *server) Keys(ctx context.Context, _ *op.Request[struct{}]) (*op.Response, error) {
	set, life, err := s.keys.publicKeySet(ctx)
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	return cacheableResponse(set, life), nil
}

// cacheableResponse answers with what anybody may keep for a while.
func cacheableResponse(data any, life time.Duration) *op.Response {
	resp := op.NewResponse(data)
	resp.Header.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(life.Seconds())))
	return resp
}

// VerifyClient returns the application that asks, after it proved who it is if it
// has a secret.
func (s *server) VerifyClient(_ context.Context, r *op.Request[op.ClientCredentials]) (op.Client, error) {
	c, err := s.authenticateClient(r.Data)
	if err != nil {
		return nil, err
	}
	if !c.exchanges && oidc.GrantType(r.Form.Get("grant_type")) == oidc.GrantTypeTokenExchange {
		return nil, oauthError(http.StatusBadRequest, "unauthorized_client",
			errExchangeNotAllowed+": only the cli client may exchange a personal access token; get its client ID "+
				"from %s/client-apps", s.BaseURL)
	}
	return c, nil
}

// authenticateClient returns the client of a request. Native clients are public and must
// send no secret; all others prove themselves with theirs (RFC 6749, section 2.3).
func (s *server) authenticateClient(cc *op.ClientCredentials) (*client, error) {
	c := s.clients[cc.ClientID]
	switch {
	case cc.ClientAssertion != "" || cc.ClientAssertionType != "":
		return nil, oauthError(http.StatusBadRequest, "invalid_client", "client_assertion is not supported")
	case c == nil:
		return nil, oauthError(http.StatusUnauthorized, "invalid_client", "unknown client_id: get it from "+
			"%s/client-apps",
			s.BaseURL)
	case c.native && cc.ClientSecret != "":
		return nil, oauthError(http.StatusUnauthorized, "invalid_client", "client_secret not allowed: the client "+
			"is public")
	case !c.native && !c.verifySecret(cc.ClientSecret):
		return nil, oauthError(http.StatusUnauthorized, "invalid_client", "invalid client_secret")
	}
	return c, nil
}

// tokenResponse writes the answer of a grant: an access token, and what goes with it.
func (s *server) tokenResponse(ctx context.Context, i issue, refresh string) (*op.Response, error) {
	token, seconds, err := s.accessToken(ctx, i)
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	resp := &oidc.AccessTokenResponse{
		AccessToken: token, TokenType: oidc.BearerToken, ExpiresIn: uint64(seconds),
		RefreshToken: refresh, Scope: i.scopes,
	}
	if slices.Contains(i.scopes, "openid") {
		if resp.IDToken, err = s.idToken(ctx, i, token); err != nil {
			return nil, s.toClientError(ctx, err, "")
		}
	}
	return op.NewResponse(resp), nil
}

// beginGrant returns a new grant, with its first refresh token if it is to outlive the
// access token.
func (p *Provider) beginGrant(ctx context.Context, g grant.Grant, offline bool) (t grant.Tokens, refresh string) {
	now := p.Now()
	g.ID, g.CreatedAt, g.LastUsedAt, g.ExpiresAt = rand.Text(), now, now, now.Add(p.longestLifetime()+time.Second)
	t.Grant, t.IP = g, originOf(ctx).IP
	if offline {
		refresh = rand.Text() + rand.Text()
		t.Refresh = &grant.Refresh{Hash: grant.Hash(refresh), GrantID: g.ID, CreatedAt: now,
			ExpiresAt: now.Add(p.RefreshLifetime)}
		t.Grant.ExpiresAt = t.Refresh.ExpiresAt
	}
	return t, refresh
}

// checkUserAdmitted refuses a user who was disabled, and what was made before the user's
// password changed.
func (p *Provider) checkUserAdmitted(ctx context.Context, user tenant.UserID, made time.Time) error {
	_, admitted, err := p.Store.Admit(ctx, grant.Admission{User: user, Since: made})
	if err != nil && !errs.Is(err, errs.NotFound) {
		return fmt.Errorf("check user: %w", err)
	}
	if err != nil || !admitted {
		return oauthError(http.StatusBadRequest, "invalid_grant", "account disabled or access revoked")
	}
	return nil
}

// Introspect tells an application with a secret about a token (RFC 7662). Of one
// that does not hold it says only that.
func (s *server) Introspect(ctx context.Context, r *op.Request[op.IntrospectionRequest]) (*op.Response, error) {
	c, err := s.authenticateClient(r.Data.ClientCredentials)
	if err != nil {
		return nil, err
	}
	if c.native {
		return nil, oauthError(http.StatusUnauthorized, "invalid_client", "only confidential clients may "+
			"introspect tokens")
	}
	about, _, err := s.authenticateBearer(ctx, r.Data.IntrospectionRequest.Token)
	if errs.Is(err, errs.Unauthenticated) {
		return s.introspectRefresh(ctx, r.Data.IntrospectionRequest.Token)
	}
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	return op.NewResponse(&oidc.IntrospectionResponse{
		Active: true, Scope: strings.Fields(about.Scope), ClientID: about.ClientID, TokenType: oidc.BearerToken,
		Expiration: oidc.Time(about.Expires), IssuedAt: oidc.Time(about.IssuedAt), Subject: about.Subject,
		Audience: oidc.Audience(about.Audience), Issuer: about.Issuer, JWTID: about.ID,
	}), nil
}

// introspectRefresh answers for a refresh token.
func (s *server) introspectRefresh(ctx context.Context, token string) (*op.Response, error) {
	inactive := op.NewResponse(&oidc.IntrospectionResponse{})
	t, err := s.Store.Refresh(ctx, grant.Hash(token))
	if errs.Is(err, errs.NotFound) {
		return inactive, nil
	}
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	g := t.Grant
	if !g.RevokedAt.IsZero() || !t.Refresh.UsedAt.IsZero() || !s.Now().Before(t.Refresh.ExpiresAt) {
		return inactive, nil
	}
	return op.NewResponse(&oidc.IntrospectionResponse{
		Active: true, Scope: g.Scopes, ClientID: g.ClientID, TokenType: "refresh_token",
		Expiration: oidc.FromTime(t.Refresh.ExpiresAt), IssuedAt: oidc.FromTime(t.Refresh.CreatedAt),
		Subject: string(g.UserID), Issuer: s.issuer,
	}), nil
}

// UserInfo returns what an access token's scopes open of its user (OpenID Connect
// Core 1.0, section 5.3).
func (s *server) UserInfo(ctx context.Context, r *op.Request[oidc.UserInfoRequest]) (*op.Response, error) {
	about, actor, err := s.authenticateBearer(ctx, r.Data.AccessToken)
	if err != nil {
		return nil, s.toClientError(ctx, err, "invalid_token")
	}
	scopes := strings.Fields(about.Scope)
	if !slices.Contains(scopes, "openid") {
		return nil, oauthError(http.StatusForbidden, "insufficient_scope", "missing scope openid in the access token")
	}
	who, err := s.personClaims(ctx, actor.UserID, scopes)
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	return op.NewResponse(struct {
		Subject string `json:"sub"`
		*person
	}{string(actor.UserID), who}), nil
}

// Revocation takes a token back (RFC 7009). A refresh token takes the whole grant
// with it. That there is no such token is a success.
func (s *server) Revocation(ctx context.Context, r *op.ClientRequest[oidc.RevocationRequest]) (*op.Response, error) {
	err := s.revokeToken(ctx, r.Data.Token, r.Client.GetID())
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	return op.NewResponse(nil), nil
}

// revokeToken revokes a token of the client; a token of another client is an error, an
// unknown or expired one is not (RFC 7009, section 2.2).
func (s *server) revokeToken(ctx context.Context, token, clientID string) error {
	foreign := oauthError(http.StatusBadRequest, "unauthorized_client", "token was issued to another client")
	t, err := s.Store.Refresh(ctx, grant.Hash(token))
	if err == nil {
		if !s.sameApp(t.Grant.ClientID, clientID) {
			return foreign
		}
		return s.Store.RevokeGrant(ctx, t.Grant.ID, "revoked by the client")
	}
	if !errs.Is(err, errs.NotFound) {
		return err
	}
	c, err := s.verifyAccessToken(ctx, token)
	if errs.Is(err, errs.Unauthenticated) {
		return nil
	}
	if err != nil {
		return err
	}
	if !s.sameApp(c.ClientID, clientID) {
		return foreign
	}
	return s.Store.RevokeToken(ctx, c.ID, time.Unix(c.Expires, 0).Add(2*skew))
}

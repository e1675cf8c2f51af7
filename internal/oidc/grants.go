package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
	"github.com/zitadel/schema"

	"merlon/internal/errs"
	"merlon/internal/oidc/grant"
	"merlon/internal/tenant"
)

// This file holds the grants of the token endpoint: exchange of a personal access
// token (RFC 8693), authorization code and refresh token.

// exchangeScopes is what an exchanged token gets when nothing is asked for, beside
// the scopes of the API.
var exchangeScopes = []string{"openid", "profile", "email"}

// A decoder reads forms. The library compares the type of a subject token with a
// list in a package variable; ours depends on the configuration, so the decoder
// shows the library a type it knows, and TokenExchange looks at the real one.
type decoder struct{ *schema.Decoder }

func newDecoder() decoder {
	d := schema.NewDecoder()
	d.IgnoreUnknownKeys(true)
	return decoder{d}
}

// Decode reads a form into a struct of the library.
func (d decoder) Decode(dst any, src map[string][]string) error {
	if err := d.Decoder.Decode(dst, src); err != nil {
		return err
	}
	if e, ok := dst.(*oidc.TokenExchangeRequest); ok && e.SubjectTokenType != "" {
		e.SubjectTokenType = oidc.JWTTokenType
	}
	return nil
}

// TokenExchange turns a personal access token into an access token.
func (s *server) TokenExchange(ctx context.Context, r *op.ClientRequest[oidc.TokenExchangeRequest]) (*op.Response,
	error) {
	if err := s.checkExchange(r); err != nil {
		return nil, err
	}
	scopes := exchangeScopes
	if len(r.Data.Scopes) > 0 {
		// The personal access token itself is the long-lived credential: no refresh token beside
		// it.
		scopes = slices.DeleteFunc(knownScopes(r.Data.Scopes), func(sc string) bool { return sc == "offline_access" })
		if len(scopes) == 0 {
			return nil, oauthError(http.StatusBadRequest, "invalid_scope", "invalid scope: none can be granted to an "+
				"exchanged token")
		}
	}
	origin := originOf(ctx)
	origin.ClientID = r.Client.GetID()
	personal, user, err := s.People.VerifyToken(ctx, r.Data.SubjectToken, origin)
	if err != nil {
		return nil, s.toClientError(ctx, err, "invalid_grant")
	}
	if scopes = withAPI(scopes, r.Data.Resource, personal.Scopes); tenant.KnownTokenScopes(scopes) == 0 {
		return nil, oauthError(http.StatusBadRequest, "invalid_scope", "invalid scope: the personal access token has "+
			"none of the requested scopes")
	}
	token, seconds, err := s.accessToken(ctx, issue{
		user: user.ID, client: r.Client.GetID(), scopes: scopes, token: personal.ID, until: personal.ExpiresAt,
	})
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	return op.NewResponse(&oidc.TokenExchangeResponse{
		AccessToken: token, IssuedTokenType: oidc.AccessTokenType, TokenType: oidc.BearerToken,
		ExpiresIn: uint64(seconds), Scopes: scopes,
	}), nil
}

// checkExchange refuses what an exchange cannot be about.
func (s *server) checkExchange(r *op.ClientRequest[oidc.TokenExchangeRequest]) error {
	bad := func(text string, args ...any) error {
		return oauthError(http.StatusBadRequest, "invalid_request", text, args...)
	}
	switch {
	case !s.tokenTypes[r.Form.Get("subject_token_type")]:
		return bad("unsupported subject_token_type: must be urn:%s:token-type:personal_access_token",
			s.Vendors[0])
	case r.Data.RequestedTokenType != "" && r.Data.RequestedTokenType != oidc.AccessTokenType:
		return bad("unsupported requested_token_type: only access tokens are issued")
	case r.Data.ActorToken != "" || r.Data.ActorTokenType != "":
		return bad("actor_token is not supported")
	case len(r.Data.Resource) == 0 || slices.Contains(r.Data.Resource, ""):
		return bad("missing resource")
	}
	return s.checkResource(append(r.Data.Resource, r.Data.Audience...))
}

// CodeExchange turns an authorization code into tokens, once. A second time takes
// back what the first one gave (RFC 6749, section 4.1.2).
func (s *server) CodeExchange(ctx context.Context, r *op.ClientRequest[oidc.AccessTokenRequest]) (*op.Response, error) {
	if err := s.checkResource(r.Form["resource"]); err != nil {
		return nil, err
	}
	invalid := oauthError(http.StatusBadRequest, "invalid_grant", "invalid authorization code: unknown, "+
		"expired, used, "+
		"or issued for another client, redirect_uri or code_verifier")
	c, err := s.Store.Code(ctx, grant.Hash(r.Data.Code))
	if errs.Is(err, errs.NotFound) {
		return nil, invalid
	}
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	// A code that was used twice is judged after who asks has proven to be who began:
	// somebody who only saw the code must not end what it gave.
	if c.ClientID != r.Client.GetID() || c.RedirectURI != r.Data.RedirectURI ||
		!verifyChallenge(r.Data.CodeVerifier, c.Challenge) {
		return nil, invalid
	}
	if c.GrantID != "" {
		if err := s.Store.RevokeGrant(ctx, c.GrantID, "authorization code reused"); err != nil {
			return nil, s.toClientError(ctx, err, "")
		}
		return nil, invalid
	}
	if !s.Now().Before(c.ExpiresAt) {
		return nil, invalid
	}
	if err := s.checkGranted(r.Form["resource"], c.Scopes); err != nil {
		return nil, err
	}
	if err := s.checkUserAdmitted(ctx, c.UserID, c.AuthTime); err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	t, refresh := s.beginGrant(ctx, grant.Grant{UserID: c.UserID, ClientID: c.ClientID, SessionID: c.SessionID,
		Scopes: c.Scopes, AuthTime: c.AuthTime}, c.Offline)
	fresh, err := s.Store.RedeemCode(ctx, c.Hash, t)
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	// Another request has redeemed the code in the meantime; the store has revoked its grant.
	if !fresh {
		return nil, invalid
	}
	return s.tokenResponse(ctx, issue{user: c.UserID, client: c.ClientID, scopes: c.Scopes, madeFor: t.Grant.ID,
		until: t.Grant.ExpiresAt, authTime: c.AuthTime, nonce: c.Nonce}, refresh)
}

// verifyChallenge compares a PKCE verifier with its challenge (RFC 7636, section 4.6).
func verifyChallenge(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	got := base64.RawURLEncoding.EncodeToString(sum[:])
	return len(verifier) >= 43 && len(verifier) <= 128 &&
		subtle.ConstantTimeCompare([]byte(got), []byte(challenge)) == 1
}

// reuseWindow is for how long a refresh token that was used gives its successor
// again: programs that share one file of credentials refresh at the same moment.
const reuseWindow = 30 * time.Second

// maxFollowed bounds how many successors are followed, each of them used within
// the window.
const maxFollowed = 16

// RefreshToken turns a refresh token into new tokens. Using it again after the
// window revokes the grant: one of the two who used it is not who should have it
// (RFC 9700, section 4.14.2). All that binds the token to its application is
// checked before, so that nobody else can end the grant.
func (s *server) RefreshToken(ctx context.Context, r *op.ClientRequest[oidc.RefreshTokenRequest]) (*op.Response,
	error) {
	if err := s.checkResource(r.Form["resource"]); err != nil {
		return nil, err
	}
	invalid := oauthError(http.StatusBadRequest, "invalid_grant", "invalid refresh token: unknown, expired, revoked, "+
		"used, or issued to another client")
	t, err := s.Store.Refresh(ctx, grant.Hash(r.Data.RefreshToken))
	if errs.Is(err, errs.NotFound) {
		return nil, invalid
	}
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	g := t.Grant
	if !s.sameApp(g.ClientID, r.Client.GetID()) || !g.RevokedAt.IsZero() || !s.Now().Before(t.Refresh.ExpiresAt) {
		return nil, invalid
	}
	scopes := g.Scopes
	if len(r.Data.Scopes) > 0 {
		if scopes = knownScopes(r.Data.Scopes); slices.ContainsFunc(scopes, func(sc string) bool {
			return !slices.Contains(g.Scopes, sc)
		}) || len(scopes) == 0 {
			return nil, oauthError(http.StatusBadRequest, "invalid_scope", "invalid scope: exceeds the granted scope")
		}
		scopes = withAPI(scopes, r.Form["resource"], tenant.KnownTokenScopes(g.Scopes))
	}
	if err := s.checkGranted(r.Form["resource"], g.Scopes); err != nil {
		return nil, err
	}
	if err := s.checkUserAdmitted(ctx, g.UserID, g.AuthTime); err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	refresh, err := s.rotateRefreshToken(ctx, r.Data.RefreshToken, g)
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	if refresh == "" {
		return nil, invalid
	}
	return s.tokenResponse(ctx, issue{
		user: g.UserID, client: r.Client.GetID(), scopes: scopes, madeFor: g.ID, until: g.ExpiresAt,
		authTime: g.AuthTime,
	}, refresh)
}

// rotateRefreshToken uses a refresh token up and returns its successor; empty when it gives
// none. Of one that was used within the window it returns the successor that is
// unused: whoever comes second gets what the first one got.
func (s *server) rotateRefreshToken(ctx context.Context, token string, g grant.Grant) (string, error) {
	for range maxFollowed {
		next := s.successorToken(token)
		outcome, err := s.Store.RotateRefresh(ctx, grant.Hash(token), grant.Refresh{
			Hash: grant.Hash(next), GrantID: g.ID, CreatedAt: s.Now(), ExpiresAt: g.ExpiresAt,
		}, reuseWindow)
		switch {
		case err != nil:
			return "", err
		case outcome == grant.Refused:
			return "", nil
		case outcome == grant.Rotated:
			return next, nil
		}
		t, err := s.Store.Refresh(ctx, grant.Hash(next))
		if errs.Is(err, errs.NotFound) {
			return "", nil // made under another master key
		}
		if err != nil || t.Refresh.UsedAt.IsZero() {
			return next, err
		}
		token = next
	}
	return "", nil
}

// successorToken returns the refresh token that follows another one: the same each
// time, without keeping it, and unknown to everybody who has not both the token
// and our key.
func (p *Provider) successorToken(token string) string {
	mac := hmac.New(sha256.New, p.refreshKey)
	mac.Write([]byte(token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/oidc/grant"
	"merlon/internal/tenant"
)

// This file writes and checks tokens. Access tokens are JWTs after RFC 9068; the
// type in their header keeps an ID token, which carries the same signature, from
// passing for one.

const (
	// RFC 9068, section 2.1.
	accessTokenType = "at+jwt"
	maxToken        = 8 << 10         // bytes of a token that are looked at
	skew            = 5 * time.Second // between the clocks of the deployment's servers
)

// Claims is the content of a token. An access token has no member below ID.
type claims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience audience `json:"aud"`
	Expires  int64    `json:"exp"`
	IssuedAt int64    `json:"iat"`
	ClientID string   `json:"client_id,omitempty"`
	Scope    string   `json:"scope,omitempty"`
	GrantID  string   `json:"gid,omitempty"` // the grant or session it was made for
	TokenID  string   `json:"pat,omitempty"` // the personal access token it was exchanged for
	ID       string   `json:"jti,omitempty"`

	AuthTime        int64  `json:"auth_time,omitempty"`
	Nonce           string `json:"nonce,omitempty"`
	AccessTokenHash string `json:"at_hash,omitempty"`
	AuthorizedParty string `json:"azp,omitempty"`
	person                 // no pointer: encoding/json could not read it back
}

// An audience is one name or a list of names. One is written as text: that is
// what every reader understands.
type audience []string

// MarshalJSON writes one name as text and several as a list (RFC 7519, section 4.1.3).
func (a audience) MarshalJSON() ([]byte, error) {
	if len(a) == 1 {
		return json.Marshal(a[0])
	}
	return json.Marshal([]string(a))
}

// UnmarshalJSON reads both forms.
func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// An issue says what to write into tokens.
type issue struct {
	user     tenant.UserID
	client   string
	scopes   []string
	madeFor  string           // id of the grant or session; empty for a personal access token
	token    identity.TokenID // of the personal access token; empty for a grant or session
	until    time.Time        // no token outlives it; zero for no bound
	authTime time.Time
	nonce    string
}

// tokenExpiry returns the end of a token that is made at now, a full second, and its
// lifetime as a client may rely on it: the token holds for at least so long.
func (p *Provider) tokenExpiry(now time.Time, i issue) (time.Time, int64) {
	end := now.Add(p.accessLifetimeOf(i.client))
	if whole := end.Truncate(time.Second); whole.Before(end) {
		end = whole.Add(time.Second)
	}
	if !i.until.IsZero() && i.until.Before(end) {
		end = i.until.Truncate(time.Second)
	}
	return end, int64(end.Sub(now) / time.Second)
}

// accessLifetimeOf is how long the tokens of an application are valid. The command line
// asks for one and may work for a long time without a browser.
func (p *Provider) accessLifetimeOf(clientID string) time.Duration {
	if c := p.clients[clientID]; c != nil && c.exchanges {
		return p.CLILifetime
	}
	return p.AccessLifetime
}

// accessToken writes an access token, for the API or for the userinfo endpoint,
// and returns its lifetime in seconds.
func (p *Provider) accessToken(ctx context.Context, i issue) (token string, seconds int64, err error) {
	key, err := p.keys.currentKey(ctx)
	if err != nil {
		return "", 0, err
	}
	now := p.Now()
	end, seconds := p.tokenExpiry(now, i)
	token, err = signClaims(key.access, claims{
		Issuer: p.issuer, Subject: string(i.user), Audience: audience{p.tokenAudience(i.scopes)},
		Expires: end.Unix(), IssuedAt: now.Unix(), ID: rand.Text(),
		ClientID: i.client, Scope: strings.Join(i.scopes, " "), GrantID: i.madeFor, TokenID: string(i.token),
	})
	return token, seconds, err
}

// idToken writes an ID token (OpenID Connect Core 1.0, section 2) beside an
// access token.
func (p *Provider) idToken(ctx context.Context, i issue, access string) (string, error) {
	key, err := p.keys.currentKey(ctx)
	if err != nil {
		return "", err
	}
	about, err := p.personClaims(ctx, i.user, i.scopes)
	if err != nil {
		return "", err
	}
	now := p.Now()
	end, _ := p.tokenExpiry(now, i)
	half := sha256.Sum256([]byte(access)) // section 3.1.3.6: the left half
	return signClaims(key.idSigner(p.clients[i.client].idTokenAlg()), claims{
		Issuer: p.issuer, Subject: string(i.user), Audience: audience{i.client}, AuthorizedParty: i.client,
		Expires: end.Unix(), IssuedAt: now.Unix(), AuthTime: i.authTime.Unix(), Nonce: i.nonce,
		AccessTokenHash: base64.RawURLEncoding.EncodeToString(half[:16]), person: *about,
	})
}

// signClaims returns the claims as a signed JWT in compact form.
func signClaims(signer jose.Signer, c claims) (string, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("write token: %w", err)
	}
	jws, err := signer.Sign(body)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return jws.CompactSerialize()
}

// errToken is why a token does not hold; its text is safe to show.
func errToken(why string) error {
	return errs.E(errs.Unauthenticated, "invalid access token: %s", why)
}

// openToken checks the signature and the header of a token and returns its content:
// nothing of it is believed, or even parsed, before.
func (p *Provider) openToken(ctx context.Context, token, typ string) (claims, error) {
	if len(token) > maxToken {
		return claims{}, errToken("too long")
	}
	if strings.Count(token, ".") != 2 {
		return claims{}, errToken("not a signed JWT")
	}
	// A fixed list: with the algorithm of the header, "none" and HMAC under the public key would
	// verify (CWE-347).
	algorithms := []jose.SignatureAlgorithm{jose.ES256}
	if typ != accessTokenType {
		algorithms = append(algorithms, jose.RS256)
	}
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil || len(jws.Signatures) != 1 {
		return claims{}, errToken("malformed or unsupported JWT")
	}
	header := jws.Signatures[0].Protected
	if got, _ := header.ExtraHeaders[jose.HeaderType].(string); got != typ {
		return claims{}, errToken("wrong token type")
	}
	key, err := p.keys.findPublicKey(ctx, header.KeyID)
	if err != nil {
		return claims{}, err
	}
	if key == nil {
		return claims{}, errToken("unknown signing key")
	}
	body, err := jws.Verify(key)
	if err != nil {
		return claims{}, errToken("invalid signature")
	}
	var c claims
	if err := json.Unmarshal(body, &c); err != nil {
		return claims{}, errToken("malformed claims")
	}
	if c.Issuer != p.issuer {
		return claims{}, errToken("wrong issuer")
	}
	return c, nil
}

// verifyAccessToken checks an access token, for the API or the userinfo endpoint, without
// looking at whose it is.
func (p *Provider) verifyAccessToken(ctx context.Context, token string) (claims, error) {
	c, err := p.openToken(ctx, token, accessTokenType)
	if err != nil {
		return claims{}, err
	}
	now := p.Now()
	switch {
	// A token for another service must not be accepted here (RFC 9068, section 4).
	case !slices.Contains(c.Audience, p.BaseURL) && !slices.Contains(c.Audience, p.userinfoURL()):
		return claims{}, errToken("wrong audience")
	case !now.Before(time.Unix(c.Expires, 0).Add(skew)):
		return claims{}, errToken("expired")
	case time.Unix(c.IssuedAt, 0).After(now.Add(skew)):
		return claims{}, errToken("issued in the future")
	case c.Subject == "" || c.ID == "":
		return claims{}, errToken("no subject")
	}
	return c, nil
}

// Authenticate returns the actor of an access token. Any token that does not hold
// is an Unauthenticated error: one of another region, expired or revoked, or of a
// user who is disabled or gone.
func (p *Provider) Authenticate(ctx context.Context, bearer string) (tenant.Actor, error) {
	c, actor, err := p.authenticateBearer(ctx, bearer)
	if err != nil {
		return tenant.Actor{}, err
	}
	if !slices.Contains(c.Audience, p.BaseURL) {
		return tenant.Actor{}, errToken("wrong audience: issued for the userinfo endpoint; request a token with the " +
			"resource " + p.BaseURL)
	}
	return actor, nil
}

// authenticateBearer verifies an access token, and that the user and what the token was
// issued for still exist.
func (p *Provider) authenticateBearer(ctx context.Context, bearer string) (claims, tenant.Actor, error) {
	c, err := p.verifyAccessToken(ctx, bearer)
	if err != nil {
		return claims{}, tenant.Actor{}, err
	}
	a := grant.Admission{User: tenant.UserID(c.Subject), TokenID: c.ID, PersonalToken: c.TokenID}
	if c.GrantID != "" {
		a.Since = time.Unix(c.IssuedAt+1, 0) // the claim is cut to seconds
		// Tokens of the browser session end with the session; all others with their grant.
		if a.Grant = c.GrantID; c.ClientID == sessionClient {
			a.Grant, a.Session = "", c.GrantID
		}
	}
	who, admitted, err := p.Store.Admit(ctx, a)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return claims{}, tenant.Actor{}, fmt.Errorf("check access token: %w", err)
	}
	if err != nil || !admitted {
		return claims{}, tenant.Actor{}, errToken("revoked, or account disabled")
	}
	limits := who.Limits
	scopes := tenant.KnownTokenScopes(strings.Fields(c.Scope))
	// A token never has more than the personal access token that it was exchanged for has now:
	// scopes that were removed since are gone from it, too.
	if limits.Scopes &= scopes; c.TokenID == "" {
		limits.Scopes = scopes
	}
	return c, tenant.Actor{UserID: tenant.UserID(c.Subject), Service: who.Service, ClientID: c.ClientID,
		Limits: &limits}, nil
}

// A person is what an application may learn of a user, by scope.
type person struct {
	Name          string `json:"name,omitempty"`
	GivenName     string `json:"given_name,omitempty"`
	FamilyName    string `json:"family_name,omitempty"`
	Picture       string `json:"picture,omitempty"`
	Email         string `json:"email,omitempty"`
	EmailVerified *bool  `json:"email_verified,omitempty"`
}

// personClaims returns what the scopes open of a user.
func (p *Provider) personClaims(ctx context.Context, id tenant.UserID, scopes []string) (*person, error) {
	about := &person{}
	if !slices.Contains(scopes, "profile") && !slices.Contains(scopes, "email") {
		return about, nil
	}
	u, err := p.People.User(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read user: %w", err)
	}
	if slices.Contains(scopes, "profile") {
		about.GivenName, about.FamilyName, about.Picture = u.FirstName, u.LastName, u.Picture
		about.Name = strings.TrimSpace(u.FirstName + " " + u.LastName)
	}
	if slices.Contains(scopes, "email") {
		yes := true // an account cannot sign in before its address is verified
		about.Email, about.EmailVerified = u.Email, &yes
	}
	return about, nil
}

package client

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// This file gets access tokens: from a personal access token (RFC 8693), by the
// browser (RFC 6749 with RFC 7636), or by another device (RFC 8628).

// An Identity is the identity service of a region, as the command line
// application sees it. Its methods are safe for concurrent use.
type Identity struct {
	// It is sent as the resource indicator (RFC 8707), so it has to be equal to the service's own
	// spelling.
	BaseURL string // of the API, as the service itself calls it
	AuthURL string // of the identity service; default BaseURL
	Vendor  string // in the type of personal access tokens; default "merlon"
	HTTP    *http.Client
}

// Tokens are what a person's sign-in gives.
type Tokens struct {
	Access  string
	Refresh string    // empty when there is none
	Expires time.Time // of Access
}

// margin is how long before its end an access token is given up.
// It covers the time that a request is on its way and small differences of clocks.
const margin = 30 * time.Second

// Fresh reports whether the access token can still be used at the time.
func (t Tokens) Fresh(now time.Time) bool { return t.Access != "" && now.Add(margin).Before(t.Expires) }

const (
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	// offline_access asks for a refresh token (OpenID Connect Core, section 11).
	grantDevice = "urn:ietf:params:oauth:grant-type:device_code"
	scope       = "openid profile email offline_access"
)

// AppID returns the identifier of the command line application, which may change
// between releases of the service.
func (i *Identity) AppID(ctx context.Context) (string, error) {
	c, err := New(Options{BaseURL: i.BaseURL, HTTP: i.HTTP})
	if err != nil {
		return "", err
	}
	var apps struct {
		CLI struct {
			AppID string `json:"appId"`
		} `json:"cli"`
	}
	// No Source: the request needs no token.
	if err := c.do(ctx, call{method: http.MethodGet, path: []string{"client-apps"}, out: &apps}); err != nil {
		return "", err
	}
	if apps.CLI.AppID == "" {
		return "", errors.New("the service names no command line application")
	}
	return apps.CLI.AppID, nil
}

// Exchange returns an access token for a personal access token.
// The result has no refresh token; the personal token itself takes that role.
func (i *Identity) Exchange(ctx context.Context, personalToken string) (Tokens, error) {
	vendor := i.Vendor
	if vendor == "" {
		vendor = "merlon"
	}
	return i.token(ctx, url.Values{
		"grant_type":         {grantExchange},
		"subject_token":      {personalToken},
		"subject_token_type": {"urn:" + vendor + ":token-type:personal_access_token"},
	})
}

// PersonalToken returns a Source that exchanges a personal access token whenever
// the access token ends.
func (i *Identity) PersonalToken(personalToken string) Source {
	var mu sync.Mutex
	var tokens Tokens
	return func(ctx context.Context, rejected string) (string, error) {
		// The lock is held during the exchange, so concurrent calls make one request and not
		// many.
		mu.Lock()
		defer mu.Unlock()
		if tokens.Fresh(time.Now()) && tokens.Access != rejected {
			return tokens.Access, nil
		}
		var err error
		tokens, err = i.Exchange(ctx, personalToken)
		return tokens.Access, err
	}
}

// A SignIn is a sign-in by browser that is under way.
type SignIn struct {
	Redirect string // loopback address that the browser is sent back to
	// State protects against login CSRF (RFC 6749, section 10.12), Verifier against an
	// intercepted code (RFC 7636).
	State    string // unguessable; the browser must bring it back
	Verifier string // unguessable, 43 characters or more
}

// SignInAddress returns the page that the person's browser must open.
func (i *Identity) SignInAddress(ctx context.Context, s SignIn) (string, error) {
	appID, err := i.AppID(ctx)
	if err != nil {
		return "", err
	}
	auth, err := i.auth()
	if err != nil {
		return "", err
	}
	// Base64url without padding of the SHA-256 of the verifier (RFC 7636, section 4.2).
	challenge := sha256.Sum256([]byte(s.Verifier))
	return auth + "/oidc/auth?" + url.Values{
		"client_id":             {appID},
		"redirect_uri":          {s.Redirect},
		"response_type":         {"code"},
		"scope":                 {scope},
		"state":                 {s.State},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
		"prompt":                {"consent"}, // without it there is no refresh token
		"resource":              {i.BaseURL},
	}.Encode(), nil
}

// Redeem returns the tokens for what the browser brought back in the query of the
// redirect address. It refuses an answer to another sign-in, and one of another
// identity service (RFC 9207).
func (i *Identity) Redeem(ctx context.Context, s SignIn, answer url.Values) (Tokens, error) {
	auth, err := i.auth()
	if err != nil {
		return Tokens{}, err
	}
	// In constant time, as for any secret.
	if subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(s.State)) != 1 {
		return Tokens{}, errors.New("the browser returned the response to another sign-in")
	}
	// A mix-up attack sends the code of one identity service to another (RFC 9207).
	if iss := answer.Get("iss"); iss != "" && iss != auth+"/oidc" {
		return Tokens{}, fmt.Errorf("the browser returned the response of another identity service, %s", iss)
	}
	code := answer.Get("code")
	if code == "" {
		return Tokens{}, &Error{Status: http.StatusBadRequest, Code: answer.Get("error"),
			Message: strings.TrimSpace(answer.Get("error") + ": " + answer.Get("error_description"))}
	}
	return i.token(ctx, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {s.Redirect},
		"code_verifier": {s.Verifier},
	})
}

// Refresh returns new tokens for a refresh token. Used again within 30 seconds it
// gives the same next one; later the service takes that for a theft and ends the
// sign-in.
func (i *Identity) Refresh(ctx context.Context, refresh string) (Tokens, error) {
	t, err := i.token(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
	if err == nil && t.Refresh == "" {
		// RFC 6749, section 6 lets a service keep the old refresh token valid.
		t.Refresh = refresh // the service does not rotate
	}
	return t, err
}

// Revoke ends a sign-in. A token that has ended already is no error.
func (i *Identity) Revoke(ctx context.Context, refresh string) error {
	return i.post(ctx, "revoke", url.Values{"token": {refresh}, "token_type_hint": {"refresh_token"}}, nil)
}

// A Device is a sign-in by another device that is under way.
// Code is secret and used for polling, User is short and shown to the person. Seconds is the
// lifetime of both.
type Device struct {
	Code    string `json:"device_code"`
	User    string `json:"user_code"`        // what the person types
	Page    string `json:"verification_uri"` // where
	Link    string `json:"verification_uri_complete"`
	Seconds int    `json:"expires_in"`
	Every   int    `json:"interval"` // seconds between two polls
}

// Device begins a sign-in by another device.
func (i *Identity) Device(ctx context.Context) (Device, error) {
	// 5 seconds is the default interval (RFC 8628, section 3.2).
	d := Device{Every: 5}
	err := i.post(ctx, "device_authorization", url.Values{"scope": {scope}, "resource": {i.BaseURL}}, &d)
	return d, err
}

// WaitDevice polls until the person has agreed or refused, or the code ends.
func (i *Identity) WaitDevice(ctx context.Context, d Device) (Tokens, error) {
	every := time.Duration(d.Every) * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(d.Seconds)*time.Second, errors.New("the code was not "+
		"entered in time"))
	defer cancel()
	for {
		if wait(ctx, every) != nil {
			return Tokens{}, context.Cause(ctx)
		}
		t, err := i.token(ctx, url.Values{"grant_type": {grantDevice}, "device_code": {d.Code}})
		failure := (*Error)(nil)
		switch {
		// The person has not decided yet.
		case errors.As(err, &failure) && failure.Code == "authorization_pending":
		case errors.As(err, &failure) && failure.Code == "slow_down":
			every += 5 * time.Second // RFC 8628, section 3.5
		case err != nil && worthRepeating(err):
			// On a connection error the interval is doubled, as RFC 8628, section 3.5 recommends.
			every = min(2*every, time.Minute)
		default:
			return t, err
		}
	}
}

// token asks the token endpoint.
func (i *Identity) token(ctx context.Context, form url.Values) (Tokens, error) {
	form.Set("resource", i.BaseURL)
	var b struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Seconds int    `json:"expires_in"`
	}
	// The time before the request: the token lives at least as long as computed from there.
	asked := time.Now()
	if err := i.post(ctx, "token", form, &b); err != nil {
		return Tokens{}, err
	}
	if b.Access == "" {
		return Tokens{}, errors.New("the response of the identity service has no access token")
	}
	return Tokens{Access: b.Access, Refresh: b.Refresh, Expires: asked.Add(time.Duration(b.Seconds) * time.Second)}, nil
}

// post sends a form to an endpoint of the identity service. Nothing is sent
// twice, except where the service refused to look at it.
func (i *Identity) post(ctx context.Context, endpoint string, form url.Values, out any) error {
	appID, err := i.AppID(ctx)
	if err != nil {
		return fmt.Errorf("look up the application: %w", err)
	}
	auth, err := i.auth()
	if err != nil {
		return err
	}
	form.Set("client_id", appID)
	c, err := New(Options{BaseURL: auth, HTTP: i.HTTP})
	if err != nil {
		return err
	}
	// A code or refresh token is used up by a request whose response was lost. Repeated, it would
	// look stolen and end the sign-in. A token exchange may be repeated.
	if grant := form.Get("grant_type"); grant != grantExchange {
		c.Attempts = 1
	}
	return c.repeat(ctx, func(string) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, auth+"/oidc/"+endpoint,
			strings.NewReader(form.Encode()))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "application/json")
		return req, nil
	}, out)
}

// auth returns the base URL of the identity service, which is that of the API unless it has its
// own.
func (i *Identity) auth() (string, error) {
	if i.AuthURL == "" {
		return checkAddress(i.BaseURL)
	}
	return checkAddress(i.AuthURL)
}

package session

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/errs"
	"merlon/internal/scan"
)

// This file gets a token by a flow of OAuth 2.

// runOAuthGrant obtains a token by the grant of the identity and keeps it as the header
// Authorization. Without a grant it is the code flow, the only one that OAuth 2.1 recommends for
// users.
func (s *Session) runOAuthGrant(ctx context.Context, l *scan.OAuthLogin) error {
	form := []message.Param{{Name: "client_id", Value: l.ClientID}}
	if l.Scope != "" {
		form = append(form, message.Param{Name: "scope", Value: l.Scope})
	}
	switch l.Grant {
	case "", "authorization_code":
		return s.codeFlow(ctx, l)
	// RFC 6749, section 4.4: the client is the user.
	case "client_credentials":
	// Section 4.3. A one-time password may be part of the password: "secret{{totp}}".
	case "password":
		password, err := s.fill(l.Password)
		if err != nil {
			return err
		}
		form = append(form, message.Param{Name: "username", Value: l.User},
			message.Param{Name: "password", Value: password})
	// Section 6. The issuer may answer with a new refresh token and revoke this one; a second
	// sign-in then fails with what the issuer says.
	case "refresh_token":
		form = append(form, message.Param{Name: "refresh_token", Value: l.Refresh})
	default:
		return errs.E(errs.Unavailable, "signing in as %q: the grant %q is not known; authorization_code, "+
			"client_credentials, password and refresh_token are", s.identity.Name, l.Grant)
	}
	return s.requestToken(ctx, l, append([]message.Param{{Name: "grant_type", Value: l.Grant}}, form...))
}

// requestToken sends the form to the token endpoint (RFC 6749, section 3.2) and keeps the access
// token of its response (section 5.1).
func (s *Session) requestToken(ctx context.Context, l *scan.OAuthLogin, form []message.Param) error {
	at, err := s.endpoints(ctx, l)
	if err != nil {
		return err
	}
	r, err := s.request(at.Token)
	if err != nil {
		return err
	}
	r.Method, r.Body = http.MethodPost, message.Body{Kind: message.Form, Params: form}
	resp, err := s.sendInFlow(ctx, addClientSecret(r, l, at.needsBasicAuth()))
	if err != nil {
		return err
	}
	s.recordCredentials(resp.Body)
	var answer struct {
		Access string `json:"access_token"`
		Error  string `json:"error"`
	}
	// The error of section 5.2, such as invalid_grant, is in the message. The status alone says
	// nothing: some issuers return errors with 200.
	if err := json.Unmarshal(resp.Body, &answer); err != nil || answer.Access == "" {
		return errs.E(errs.Unavailable, "signing in as %q: the token endpoint returned %d %.100s", s.identity.Name,
			resp.Status, answer.Error)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = append(s.header, scan.Header{Name: "Authorization", Value: "Bearer " + answer.Access})
	return nil
}

// endpoints are those that a discovery document names (OpenID Connect Discovery 1.0).
type endpoints struct {
	// Authorize shows the forms for sign-in and consent. The code flow alone needs it.
	Authorize string `json:"authorization_endpoint"`
	// Token issues tokens; a document without it is no discovery document.
	Token string `json:"token_endpoint"`
	// Methods are the ways in which a client proves itself to the token endpoint.
	Methods []string `json:"token_endpoint_auth_methods_supported"`
}

// endpoints returns the endpoints that the identity names. What it leaves out comes from the
// discovery document of its issuer.
func (s *Session) endpoints(ctx context.Context, l *scan.OAuthLogin) (*endpoints, error) {
	e := &endpoints{}
	if l.Issuer != "" {
		found, err := s.discover(ctx, l.Issuer)
		if err != nil {
			return nil, err
		}
		e = found
	}
	if l.Authorize != "" {
		e.Authorize = l.Authorize
	}
	if l.Token != "" {
		e.Token = l.Token
	}
	return e, nil
}

// discover requests the discovery document of an issuer (OpenID Connect Discovery 1.0, section 4).
func (s *Session) discover(ctx context.Context, issuer string) (*endpoints, error) {
	r, err := s.request(strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration")
	if err != nil {
		return nil, err
	}
	resp, err := s.sendInFlow(ctx, r)
	if err != nil {
		return nil, err
	}
	var e endpoints
	if err := json.Unmarshal(resp.Body, &e); err != nil || e.Token == "" {
		return nil, errs.E(errs.Unavailable, "%s returned %d, which is no discovery document", r.Location(),
			resp.Status)
	}
	return &e, nil
}

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

// runOAuthGrant runs the grant and keeps the token.
func (s *Session) runOAuthGrant(ctx context.Context, l *scan.OAuthLogin) error {
	form := []message.Param{{Name: "client_id", Value: l.ClientID}}
	if l.Scope != "" {
		form = append(form, message.Param{Name: "scope", Value: l.Scope})
	}
	switch l.Grant {
	case "", "authorization_code":
		return s.codeFlow(ctx, l)
	case "client_credentials":
	case "password":
		password, err := s.fill(l.Password)
		if err != nil {
			return err
		}
		form = append(form, message.Param{Name: "username", Value: l.User},
			message.Param{Name: "password", Value: password})
	case "refresh_token":
		form = append(form, message.Param{Name: "refresh_token", Value: l.Refresh})
	default:
		return errs.E(errs.Unavailable, "signing in as %q: the grant %q is not known; authorization_code, "+
			"client_credentials, password and refresh_token are", s.identity.Name, l.Grant)
	}
	return s.requestToken(ctx, l, append([]message.Param{{Name: "grant_type", Value: l.Grant}}, form...))
}

// requestToken asks the token endpoint (RFC 6749, section 3.2).
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
	Authorize string `json:"authorization_endpoint"`
	Token     string `json:"token_endpoint"`
	// Methods are the ways in which a client proves itself to the token endpoint.
	Methods []string `json:"token_endpoint_auth_methods_supported"`
}

// endpoints returns what the identity names, and the rest as its issuer says.
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

// discover asks an issuer where its endpoints are (OpenID Connect Discovery 1.0).
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

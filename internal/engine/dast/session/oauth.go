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

// oauth runs the grant and keeps the token.
func (s *Session) oauth(ctx context.Context, l *scan.OAuthLogin) error {
	form := []message.Param{{Name: "client_id", Value: l.ClientID}}
	if l.ClientSecret != "" {
		form = append(form, message.Param{Name: "client_secret", Value: l.ClientSecret})
	}
	if l.Scope != "" {
		form = append(form, message.Param{Name: "scope", Value: l.Scope})
	}
	switch l.Grant {
	case "client_credentials":
	case "password":
		password, err := s.fill(l.Password)
		if err != nil {
			return err
		}
		form = append(form, message.Param{Name: "username", Value: l.User}, message.Param{Name: "password", Value: password})
	case "refresh_token":
		form = append(form, message.Param{Name: "refresh_token", Value: l.Refresh})
	default:
		return errs.E(errs.Unavailable, "signing in as %q: the grant %q is not known; client_credentials, password and refresh_token are", s.identity.Name, l.Grant)
	}
	return s.exchange(ctx, l, append([]message.Param{{Name: "grant_type", Value: l.Grant}}, form...))
}

// exchange asks the token endpoint (RFC 6749, section 3.2).
func (s *Session) exchange(ctx context.Context, l *scan.OAuthLogin, form []message.Param) error {
	at := l.Token
	if at == "" && l.Issuer != "" {
		found, err := s.discover(ctx, l.Issuer)
		if err != nil {
			return err
		}
		at = found.Token
	}
	r, err := s.request(at)
	if err != nil {
		return err
	}
	r.Method, r.Body = http.MethodPost, message.Body{Kind: message.Form, Params: form}
	resp, err := s.o.Client.Send(ctx, r, s)
	if err != nil {
		return err
	}
	var answer struct {
		Access string `json:"access_token"`
		Error  string `json:"error"`
	}
	if err := json.Unmarshal(resp.Body, &answer); err != nil || answer.Access == "" {
		return errs.E(errs.Unavailable, "signing in as %q: the token endpoint answers %d %.100s", s.identity.Name, resp.Status, answer.Error)
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
}

func (s *Session) discover(ctx context.Context, issuer string) (*endpoints, error) {
	r, err := s.request(strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration")
	if err != nil {
		return nil, err
	}
	resp, err := s.o.Client.Send(ctx, r, s)
	if err != nil {
		return nil, err
	}
	var e endpoints
	if err := json.Unmarshal(resp.Body, &e); err != nil || e.Token == "" {
		return nil, errs.E(errs.Unavailable, "%s answers %d, which is no discovery document", r.Place(), resp.Status)
	}
	return &e, nil
}

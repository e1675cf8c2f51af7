package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/oidc/grant"
	"merlon/internal/tenant"
)

// This file holds the device flow (RFC 8628): a program without a browser shows a
// short code, a person enters it here, the program polls.

const (
	deviceLife     = 10 * time.Minute
	devicePoll     = 5 * time.Second
	deviceSlower   = 5 * time.Second // section 3.5: added for each poll that comes too soon
	deviceAttempts = 5               // to find a free user code
)

// userCodes bounds how many codes a person, or an address, may try. The code has
// 20^8 forms; with a million of them waiting, 20 tries find one with a
// probability of less than one in a thousand.
var userCodes = identity.Limit{Max: 20, Window: 15 * time.Minute}

// deviceStarts bounds how many flows an address may begin: each is a row that a
// stranger makes.
var deviceStarts = identity.Limit{Max: 60, Window: 15 * time.Minute}

// DeviceAuthorization begins a device flow.
func (s *server) DeviceAuthorization(ctx context.Context,
	r *op.ClientRequest[oidc.DeviceAuthorizationRequest]) (*op.Response, error) {
	if !op.ValidateGrantType(r.Client, oidc.GrantTypeDeviceCode) {
		return nil, oauthError(http.StatusBadRequest, "unauthorized_client", "client is not allowed to use the "+
			"device flow")
	}
	if err := s.checkResource(r.Form["resource"]); err != nil {
		return nil, err
	}
	scopes := withAPI(knownScopes(r.Data.Scopes), r.Form["resource"], tenant.AllTokenScopes)
	if !slices.Contains(scopes, "openid") {
		return nil, oauthError(http.StatusBadRequest, "invalid_scope", "missing scope openid")
	}
	origin := originOf(ctx)
	if err := s.People.Limiter().Allow(ctx, origin, deviceStarts.Hit("device-start", origin.Address())); err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	now := s.Now()
	secret := rand.Text() + rand.Text()
	d := grant.Device{
		Hash: grant.Hash(secret), ClientID: r.Client.GetID(), Scopes: scopes, Interval: devicePoll,
		CreatedAt: now, ExpiresAt: now.Add(deviceLife),
	}
	for range deviceAttempts {
		code, err := op.NewUserCode([]rune(op.CharSetBase20), 8, 4)
		if err != nil {
			return nil, s.toClientError(ctx, err, "")
		}
		d.UserHash = s.userCodeHash(code)
		added, err := s.Store.AddDevice(ctx, d)
		if err != nil {
			return nil, s.toClientError(ctx, err, "")
		}
		if added {
			page := s.AuthURL + "/auth/device"
			return op.NewResponse(&oidc.DeviceAuthorizationResponse{
				DeviceCode: secret, UserCode: code, VerificationURI: page, VerificationURIComplete: page +
					"?user_code=" + url.QueryEscape(code),
				ExpiresIn: int(deviceLife / time.Second), Interval: int(devicePoll / time.Second),
			}), nil
		}
	}
	return nil, s.toClientError(ctx, errors.New("no free user code"), "")
}

// userCodeHash is how a user code is kept, as typed with or without the dash.
func (p *Provider) userCodeHash(code string) string {
	mac := hmac.New(sha256.New, p.codeKey)
	mac.Write([]byte(strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, code))))
	return hex.EncodeToString(mac.Sum(nil))
}

// DeviceToken answers a poll.
func (s *server) DeviceToken(ctx context.Context, r *op.ClientRequest[oidc.DeviceAccessTokenRequest]) (*op.Response,
	error) {
	if err := s.checkResource(r.Form["resource"]); err != nil {
		return nil, err
	}
	invalid := oauthError(http.StatusBadRequest, "invalid_grant", "invalid device_code: unknown, used, or issued to "+
		"another client")
	d, tooSoon, err := s.Store.PollDevice(ctx, grant.Hash(r.Data.DeviceCode), r.Client.GetID(), deviceSlower)
	if errs.Is(err, errs.NotFound) {
		return nil, invalid
	}
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	switch {
	case d.State == grant.Redeemed:
		return nil, invalid
	case d.State == grant.Denied:
		return nil, oidc.ErrAccessDenied().WithDescription("consent denied")
	case !s.Now().Before(d.ExpiresAt):
		return nil, oidc.ErrExpiredDeviceCode().WithDescription("expired device_code")
	case tooSoon:
		return nil, oidc.ErrSlowDown().WithDescription("polling too fast: increase the interval by 5 seconds")
	case d.State == grant.Pending:
		return nil, oidc.ErrAuthorizationPending().WithDescription("authorization pending: the user has not entered " +
			"the code yet")
	}
	if err := s.checkGranted(r.Form["resource"], d.Scopes); err != nil {
		return nil, err
	}
	if err := s.checkUserAdmitted(ctx, d.UserID, d.AuthTime); err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	t, refresh := s.beginGrant(ctx, grant.Grant{UserID: d.UserID, ClientID: d.ClientID, SessionID: d.SessionID,
		Scopes: d.Scopes, AuthTime: d.AuthTime},
		slices.Contains(d.Scopes, "offline_access"))
	fresh, err := s.Store.RedeemDevice(ctx, d.Hash, t)
	if err != nil {
		return nil, s.toClientError(ctx, err, "")
	}
	if !fresh {
		return nil, invalid
	}
	return s.tokenResponse(ctx, issue{user: d.UserID, client: d.ClientID, scopes: d.Scopes, madeFor: t.Grant.ID,
		until: t.Grant.ExpiresAt, authTime: d.AuthTime}, refresh)
}

// deviceView is what the page for user codes shows.
type deviceView struct {
	Code    string
	Client  string   // set when the code was found: the person is asked to agree
	Email   string   // who is signed in
	Scopes  []string // in words
	Ends    string   // when the access ends, in words
	Problem string
	Done    string // what was decided
}

// getDevice shows the field for a code. That the address holds a code does not
// save the person from looking at it (section 5.4: remote phishing).
func (p *Provider) getDevice(w http.ResponseWriter, r *http.Request, v *visit) error {
	if _, err := p.currentSession(r); errs.Is(err, errs.Unauthenticated) {
		v.signInFirst(w, r, "")
		return nil
	} else if err != nil {
		return err
	}
	return v.renderPage(w, http.StatusOK, "device", deviceView{Code: r.URL.Query().Get("user_code")})
}

// postDevice looks a code up and asks, then records the answer.
func (p *Provider) postDevice(w http.ResponseWriter, r *http.Request, v *visit) error {
	se, err := p.currentSession(r)
	if err != nil {
		return err
	}
	view := deviceView{Code: strings.TrimSpace(r.PostForm.Get("user_code"))}
	origin := pageOrigin(r)
	if err := p.People.Limiter().Allow(r.Context(), origin, userCodes.Hit("device-user", string(se.UserID)),
		userCodes.Hit("device-address", origin.Address())); err != nil {
		return err
	}
	d, err := p.Store.DeviceByUserCode(r.Context(), p.userCodeHash(view.Code))
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	if err != nil || d.State != grant.Pending || !p.Now().Before(d.ExpiresAt) || p.clients[d.ClientID] == nil {
		view.Problem = "Invalid or expired code. Get a new one on the device."
		return v.renderPage(w, http.StatusBadRequest, "device", view)
	}
	decision := r.PostForm.Get("decision")
	if decision == "" {
		u, err := p.People.User(r.Context(), se.UserID)
		if err != nil {
			return err
		}
		view.Client, view.Email, view.Scopes = p.clients[d.ClientID].name, u.Email, scopesInWords(d.Scopes)
		view.Ends = p.accessEnds(slices.Contains(d.Scopes, "offline_access"))
		return v.renderPage(w, http.StatusOK, "device", view)
	}
	d.State, view.Done, d.AuthTime, d.SessionID = grant.Denied, "Access denied to the device.", se.AuthTime,
		string(se.ID)
	if decision == "allow" {
		d.State, view.Done = grant.Approved, "The device is signed in. You can close this page."
	}
	decided, err := p.Store.DecideDevice(r.Context(), d, sessionActor(r, se))
	if err != nil {
		return err
	}
	if !decided {
		return errs.E(errs.Conflict, "the code was already used by a different user")
	}
	return v.renderPage(w, http.StatusOK, "device", view)
}

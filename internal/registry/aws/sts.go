package aws

import (
	"context"
	"encoding/xml"
	"net/url"

	"merlon/internal/errs"
)

// This file asks the Security Token Service.

// sendQuery sends a request of the query protocol, whose response is XML.
func (s *Session) sendQuery(ctx context.Context, values url.Values, out any) error {
	values.Set("Version", "2011-06-15")
	body, err := s.sendRequest(ctx, serviceRequest{service: "sts", body: values.Encode(),
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}})
	if err != nil {
		return err
	}
	if err := xml.Unmarshal(body, out); err != nil {
		return errs.Wrap(errs.Unavailable, err, "Amazon returned an unknown response")
	}
	return nil
}

// Account returns the number of the account that the keys belong to.
func (s *Session) Account(ctx context.Context) (string, error) {
	var answer struct {
		Account string `xml:"GetCallerIdentityResult>Account"`
	}
	if err := s.sendQuery(ctx, url.Values{"Action": {"GetCallerIdentity"}}, &answer); err != nil {
		return "", err
	}
	if !IsAccount(answer.Account) {
		return "", errs.E(errs.Unavailable, "Amazon does not return the owner of the keys")
	}
	return answer.Account, nil
}

// A Role is to be assumed. Its owner has agreed with us on an external identifier,
// which only requests for its organization name; empty: none is said. Policy bounds
// what the keys may do, below what the role itself may.
type Role struct {
	ARN        string
	ExternalID string
	Policy     string
}

// roleSeconds is how long the keys of a role hold: what every role allows.
const roleSeconds = "3600"

// Assume returns keys of the role, which hold for an hour. A Forbidden error means
// that the role does not trust us; that our own keys do not hold is Unavailable.
func (s *Session) Assume(ctx context.Context, r Role) (Keys, error) {
	values := url.Values{"Action": {"AssumeRole"}, "RoleArn": {r.ARN}, "RoleSessionName": {"merlon"},
		"DurationSeconds": {roleSeconds}}
	if r.ExternalID != "" {
		values.Set("ExternalId", r.ExternalID)
	}
	if r.Policy != "" {
		values.Set("Policy", r.Policy)
	}
	var answer struct {
		ID      string `xml:"AssumeRoleResult>Credentials>AccessKeyId"`
		Secret  string `xml:"AssumeRoleResult>Credentials>SecretAccessKey"`
		Session string `xml:"AssumeRoleResult>Credentials>SessionToken"`
	}
	if err := s.sendQuery(ctx, values, &answer); err != nil {
		if e, ok := err.(*errs.Error); ok && ownFault[e.Code] {
			return Keys{}, errs.Wrap(errs.Unavailable, err, "Amazon rejects the keys of this deployment: an "+
				"administrator must check them")
		}
		return Keys{}, err
	}
	if !IsKeyID(answer.ID) || answer.Secret == "" || answer.Session == "" {
		return Keys{}, errs.E(errs.Unavailable, "the response of Amazon has no keys of the role")
	}
	return Keys{answer.ID, answer.Secret, answer.Session}, nil
}

// ownFault holds the codes that say nothing of the role.
var ownFault = map[string]bool{"InvalidClientTokenId": true, "SignatureDoesNotMatch": true, "ExpiredToken": true}

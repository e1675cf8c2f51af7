// Package aws asks Amazon Web Services for the little that registries of images
// need: who a key belongs to, the keys of a role, what a registry holds, and a
// password for it. Requests are signed by signature version 4 (sign.go); the
// services are the Security Token Service, by its query protocol
// (https://docs.aws.amazon.com/STS/latest/APIReference/), and the Elastic Container
// Registry, by its JSON protocol
// (https://docs.aws.amazon.com/AmazonECR/latest/APIReference/).
package aws

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"time"

	"merlon/internal/errs"
)

// Keys sign requests. Session belongs to the keys of a role, and is empty
// otherwise.
type Keys struct {
	ID      string
	Secret  string
	Session string
}

// A Client asks Amazon. It is safe for concurrent use.
type Client struct {
	// Send sends a request. It must follow no redirect and bound the answer.
	Send func(*http.Request) (*http.Response, error)
	// Endpoint is the address of a service ("sts", "ecr") in a region; nil: the
	// public one.
	Endpoint func(service string, r Region) string
	// Now is the time that requests are signed at; nil: that of the machine.
	Now func() time.Time
}

// A Session asks in a region, with keys.
type Session struct {
	Client *Client
	Region Region
	Keys   Keys
}

// serviceURL is the address of a service.
func (s *Session) serviceURL(service string) string {
	if s.Client.Endpoint != nil {
		return s.Client.Endpoint(service, s.Region)
	}
	return s.Region.publicURL(service)
}

// serviceRequest is a request to a service.
type serviceRequest struct {
	service string
	header  map[string]string
	body    string
}

// maxResponse bounds what is read of a response: a page of a list has some 100 kB.
const maxResponse = 8 << 20

// sendRequest sends a request and returns the body of the response. A refusal is
// Forbidden, a missing thing NotFound, a wrong argument Invalid, another failure
// Unavailable.
func (s *Session) sendRequest(ctx context.Context, q serviceRequest) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.serviceURL(q.service), strings.NewReader(q.body))
	if err != nil {
		return nil, errs.E(errs.Invalid, "the request to Amazon is not possible")
	}
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	now := time.Now
	if s.Client.Now != nil {
		now = s.Client.Now
	}
	signRequest(req, q.body, s.Keys, scope{s.Region.Name, q.service, now()})
	resp, err := s.Client.Send(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // nothing is written to it
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "the response of %s is truncated", req.URL.Host)
	}
	switch {
	case len(body) > maxResponse:
		return nil, errs.E(errs.Unavailable, "%s responds with more than %d bytes", req.URL.Host, maxResponse)
	case resp.StatusCode != http.StatusOK:
		return nil, responseError(req.URL.Host, resp.StatusCode, errorCode(body))
	}
	return body, nil
}

// errorCode is what the answer calls its error: the end of the member __type of
// the JSON protocol, or Error/Code of the query protocol. Empty when there is none.
func errorCode(body []byte) string {
	var told struct {
		Type string `json:"__type"`
	}
	var asked struct {
		Code string `xml:"Error>Code"`
	}
	code := ""
	switch trimmed := bytes.TrimSpace(body); {
	case bytes.HasPrefix(trimmed, []byte("{")) && json.Unmarshal(trimmed, &told) == nil:
		_, after, found := strings.Cut(told.Type, "#")
		if code = told.Type; found {
			code = after
		}
	case bytes.HasPrefix(trimmed, []byte("<")) && xml.Unmarshal(trimmed, &asked) == nil:
		code = asked.Code
	}
	if len(code) > 100 || strings.ContainsFunc(code, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && r != '.'
	}) {
		return ""
	}
	return code
}

// kinds are what Amazon's codes mean
// (https://docs.aws.amazon.com/AmazonECR/latest/APIReference/CommonErrors.html).
var kinds = map[string]errs.Kind{
	"RepositoryNotFoundException": errs.NotFound, "ImageNotFoundException": errs.NotFound,
	"InvalidParameterException": errs.Invalid, "ValidationError": errs.Invalid, "ValidationException": errs.Invalid,
	"ThrottlingException": errs.TooMany, "Throttling": errs.TooMany, "TooManyRequestsException": errs.TooMany,
	"AccessDenied": errs.Forbidden, "AccessDeniedException": errs.Forbidden,
	"InvalidClientTokenId": errs.Forbidden, "UnrecognizedClientException": errs.Forbidden,
	"SignatureDoesNotMatch": errs.Forbidden, "InvalidSignatureException": errs.Forbidden,
	"ExpiredToken": errs.Forbidden, "ExpiredTokenException": errs.Forbidden,
	"OptInRequired": errs.Forbidden, "RegionDisabledException": errs.Forbidden,
}

// responseError is the error for a response that is not a success. Its code is Amazon's.
func responseError(host string, status int, code string) error {
	kind, known := kinds[code]
	if !known {
		kind = errs.Unavailable
	}
	if code == "" {
		return errs.E(kind, "%s answers %d", host, status)
	}
	e := errs.E(kind, "%s answers %s", host, code)
	e.Code = code
	return e
}

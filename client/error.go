package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// An Error is a failure that the service describes.
type Error struct {
	Status     int    // HTTP status
	Message    string // for people
	Code       string // stable name, such as "invalid_grant"; may be empty
	Details    []Detail
	RetryAfter time.Duration // what the service asks for; 0 when it does not

	// With status 421, the addresses of the region that the request belongs to.
	// Empty for all other statuses. An organization's data is in one region; requests to another
	// are refused.
	BaseURL, AuthURL string
}

// A Detail names one thing that is wrong with a request, and where.
type Detail struct {
	Location string `json:"location"`
	Message  string `json:"message"`
}

// Error returns the message, with what is wrong where.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = fmt.Sprintf("the service responded with %d %s", e.Status, http.StatusText(e.Status))
	}
	for _, d := range e.Details {
		text += "; " + d.Location + ": " + d.Message
	}
	if e.BaseURL != "" {
		text += "; use the address " + e.BaseURL
	}
	return text
}

// readError reads the body of a failure: that of the API (RFC 9457 and the older
// shapes), or that of the identity service (RFC 6749, section 5.2).
func readError(resp *http.Response, body []byte) error {
	e := &Error{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header)}
	// The members of all shapes at once: which of them are set tells the shapes apart.
	var b struct {
		Message     string   `json:"message"`
		Detail      string   `json:"detail"`
		ErrorCode   string   `json:"errorCode"`
		Errors      []Detail `json:"errors"`
		BaseURL     string   `json:"baseUrl"`
		AuthURL     string   `json:"authUrl"`
		OAuth       string   `json:"error"`
		Description string   `json:"error_description"`
	}
	if json.Unmarshal(body, &b) != nil {
		// Somebody between us and the service answers.
		// For example a proxy, which answers with an HTML page.
		e.Message = fmt.Sprintf("%s answers %s", resp.Request.URL.Host, resp.Status)
		return e
	}
	e.Message, e.Code, e.Details, e.BaseURL, e.AuthURL = b.Message, b.ErrorCode, b.Errors, b.BaseURL, b.AuthURL
	if e.Message == "" {
		e.Message = b.Detail
	}
	// error_description is set by the identity service only; the API's member error is not used
	// then.
	if b.Description != "" || e.Message == "" && b.OAuth != "" {
		e.Code, e.Message = b.OAuth, strings.TrimSpace(b.Description)
		if e.Message == "" {
			e.Message = b.OAuth
		}
	}
	return e
}

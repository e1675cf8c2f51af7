package oidc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"merlon/internal/errs"
	"merlon/internal/identity"
)

// This file stands around the machine endpoints: what they refuse before the
// library reads a request, and the shape of their errors.

const maxForm = 64 << 10 // bytes of a request's body

// errExchangeNotAllowed is the text by which clients know that they use the
// wrong application for an exchange.
const errExchangeNotAllowed = "token_exchange_not_allowed"

// oauthError returns an error as OAuth 2.0 writes it (RFC 6749, section 5.2). The
// description is for people.
func oauthError(status int, code, description string, args ...any) error {
	e := &oidc.Error{Description: fmt.Sprintf(description, args...)}
	// The type of the member has no name outside of the library.
	switch code {
	case "invalid_request":
		e.ErrorType = oidc.InvalidRequest
	case "invalid_client":
		e.ErrorType = oidc.InvalidClient
	case "invalid_grant":
		e.ErrorType = oidc.InvalidGrant
	case "invalid_scope":
		e.ErrorType = oidc.InvalidScope
	case "invalid_target":
		e.ErrorType = oidc.InvalidTarget
	case "unauthorized_client":
		e.ErrorType = oidc.UnauthorizedClient
	case "invalid_token":
		e.ErrorType = "invalid_token" // RFC 6750, section 3.1
	case "login_required":
		e.ErrorType = oidc.LoginRequired
	case "insufficient_scope":
		e.ErrorType = "insufficient_scope"
	case "temporarily_unavailable":
		e.ErrorType = "temporarily_unavailable"
	default:
		e.ErrorType = oidc.ServerError
	}
	return op.NewStatusError(e, status)
}

// toClientError turns an error of a service into one for the client. What is our fault is
// logged, and the client learns nothing of it.
func (p *Provider) toClientError(ctx context.Context, err error, unauthenticated string) error {
	var known op.StatusError
	if errors.As(err, &known) {
		return err
	}
	var e *errs.Error
	if errors.As(err, &e) {
		switch e.Kind {
		case errs.Unauthenticated:
			return oauthError(http.StatusUnauthorized, unauthenticated, "%s", e.Message)
		case errs.Invalid, errs.Forbidden, errs.NotFound:
			return oauthError(http.StatusBadRequest, "invalid_request", "%s", e.Message)
		case errs.TooMany:
			if o, ok := ctx.Value(originKey{}).(origin); ok && e.Members["retryAfter"] != "" {
				o.header.Set("Retry-After", e.Members["retryAfter"])
			}
			return oauthError(http.StatusTooManyRequests, "temporarily_unavailable", "%s", e.Message)
		case errs.Unavailable:
			p.Log.ErrorContext(ctx, "identity request failed", "error", err)
			return oauthError(http.StatusServiceUnavailable, "temporarily_unavailable", "%s", e.Message)
		}
	}
	if ctx.Err() != nil {
		return oauthError(http.StatusServiceUnavailable, "temporarily_unavailable", "the request was cancelled")
	}
	p.Log.ErrorContext(ctx, "identity request failed", "error", err)
	return oauthError(http.StatusInternalServerError, "server_error", "internal error")
}

type originKey struct{}

// An origin is where a request came from, and the header of its answer, which the
// library does not hand on.
type origin struct {
	identity.Origin
	header http.Header
}

// originOf returns where the request came from.
func originOf(ctx context.Context) identity.Origin {
	o, _ := ctx.Value(originKey{}).(origin)
	return o.Origin
}

// handleMachine wraps a machine endpoint: it checks the form, and does what wrapMachine does.
func (p *Provider) handleMachine(next http.Handler) http.Handler {
	return p.wrapMachine(func(w http.ResponseWriter, r *http.Request) {
		if err := checkForm(w, r); err != nil {
			op.WriteError(w, r, err, nil)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// wrapMachine remembers the origin of a request, forbids caching of the response, and
// completes the bodies of errors.
func (p *Provider) wrapMachine(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		if r.Method == http.MethodPost {
			h.Set("Pragma", "no-cache") // RFC 6749, section 5.1
		}
		h.Set("X-Content-Type-Options", "nosniff")
		allowOrigins(h, r.URL.Path)
		aw := &answer{ResponseWriter: w}
		defer aw.sendFailure(r)
		o := origin{identity.Origin{IP: remoteIP(r), UserAgent: r.UserAgent()}, h}
		next.ServeHTTP(aw, r.WithContext(context.WithValue(r.Context(), originKey{}, o)))
	})
}

// checkForm reads the form of a POST and refuses what OAuth 2.0 does not allow:
// parameters in the address, where logs would keep them, and parameters given
// twice (RFC 6749, section 3.2).
func checkForm(w http.ResponseWriter, r *http.Request) error {
	bad := func(format string, args ...any) error {
		return oauthError(http.StatusBadRequest, "invalid_request", format, args...)
	}
	if r.URL.RawQuery != "" {
		return bad("send parameters in the body, not in the query string")
	}
	if r.Method != http.MethodPost {
		return nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return oauthError(http.StatusRequestEntityTooLarge, "invalid_request", "body exceeds %d bytes", maxForm)
		}
		return bad("malformed form body")
	}
	if ct := r.Header.Get("Content-Type"); r.ContentLength != 0 &&
		!strings.HasPrefix(strings.ToLower(ct), "application/x-www-form-urlencoded") {
		return bad("unsupported content type: must be application/x-www-form-urlencoded")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 && name != "resource" && name != "audience" {
			return bad("duplicate parameter %s (%d times)", safeParameterName(name), len(values))
		}
		for _, v := range values {
			if err := checkText(safeParameterName(name), v, maxForm); err != nil {
				return bad("%s", err)
			}
		}
	}
	return nil
}

// safeParameterName is a parameter's name as an error may repeat it.
func safeParameterName(name string) string {
	if len(name) > 40 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "a parameter"
	}
	return name
}

// checkText refuses what no database can hold as text, and what is too long.
func checkText(name, text string, most int) error {
	if len(text) > most {
		return fmt.Errorf("%s exceeds %d bytes", name, most)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s must be valid UTF-8 without NUL characters", name)
	}
	return nil
}

// An answer holds back the body of an error, to complete it.
type answer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader sends the status of a success and keeps that of a failure.
func (a *answer) WriteHeader(status int) {
	if a.status != 0 {
		return
	}
	if a.status = status; status < 400 {
		a.ResponseWriter.WriteHeader(status)
	}
}

// Write sends the body of a success and keeps that of a failure.
func (a *answer) Write(b []byte) (int, error) {
	if a.status >= 400 {
		return a.body.Write(b)
	}
	a.WriteHeader(http.StatusOK)
	return a.ResponseWriter.Write(b)
}

// A problem is the body of every failure of a machine endpoint.
type problem struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
	Code        string `json:"code"`    // "oidc." and what went wrong
	Message     string `json:"message"` // the description again, where clients of the API look
}

// sendFailure sends the body of a failure.
func (a *answer) sendFailure(r *http.Request) {
	if a.status < 400 {
		return
	}
	var b problem
	if err := json.Unmarshal(a.body.Bytes(), &b); err != nil || b.Error == "" {
		b = problem{Error: "server_error", Description: http.StatusText(a.status)}
	}
	b.Code, b.Message = "oidc."+b.Error, b.Description
	if strings.HasPrefix(b.Description, errExchangeNotAllowed) {
		b.Code = "oidc." + errExchangeNotAllowed
	}
	h := a.ResponseWriter.Header()
	if a.status == http.StatusUnauthorized {
		scheme := `Bearer error="` + b.Error + `"`
		if _, _, basic := r.BasicAuth(); basic {
			scheme = `Basic realm="Merlon"`
		}
		h.Set("WWW-Authenticate", scheme)
	}
	h.Set("Content-Type", "application/json")
	a.ResponseWriter.WriteHeader(a.status)
	_ = json.NewEncoder(a.ResponseWriter).Encode(b) // the client may be gone
}

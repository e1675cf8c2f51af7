package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/errs"
)

// This file is the only place that turns an error into an HTTP response.

// A Problem is the body of every failure: the members of RFC 9457 and those of
// both shapes that the contract knows.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"`

	// The first shape of the contract, of which clients read message and statusCode.
	Timestamp  time.Time `json:"timestamp"`
	Path       string    `json:"path"`
	StatusCode int       `json:"statusCode"`
	Code       int       `json:"code"`
	Message    string    `json:"message"`
	Service    string    `json:"service"`
	Method     string    `json:"method"`
	// The name has an underscore, because Error is the method of an error.
	Error_    string        `json:"error"`
	ErrorCode string        `json:"errorCode,omitempty" doc:"Stable, machine-readable error code."`
	Errors    []errs.Detail `json:"errors,omitempty" doc:"Validation errors with their location in the request."`

	Region  string `json:"region,omitempty" doc:"With status 421: name of the region that the resource belongs to."`
	BaseURL string `json:"baseUrl,omitempty" doc:"With status 421: API base URL of that region."`
	AuthURL string `json:"authUrl,omitempty" doc:"With status 421: authentication URL of that region."`

	retryAfter string // seconds; with 429
	scope      string // that the access token lacks; with 403
}

// Error returns the message.
func (p *Problem) Error() string { return p.Message }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns the headers that the failure has beside its body: with 429
// Retry-After (RFC 9110, section 10.2.3), and where the access token lacks a scope
// its name (RFC 6750, section 3).
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter != "" {
		h.Set("Retry-After", p.retryAfter)
	}
	if p.scope != "" {
		h.Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+p.scope+`"`)
	}
	return h
}

// ContentType is application/json: clients of the contract read the body only
// under that type.
func (p *Problem) ContentType(string) string { return "application/json" }

// statuses gives the HTTP status of each kind.
var statuses = map[errs.Kind]int{
	errs.Internal:        http.StatusInternalServerError,
	errs.Invalid:         http.StatusBadRequest,
	errs.Unauthenticated: http.StatusUnauthorized,
	errs.Forbidden:       http.StatusForbidden,
	errs.NotFound:        http.StatusNotFound,
	errs.Conflict:        http.StatusConflict,
	errs.Gone:            http.StatusGone,
	errs.TooLarge:        http.StatusRequestEntityTooLarge,
	// The resource belongs to another region, whose address is in the body.
	errs.Misdirected:    http.StatusMisdirectedRequest,
	errs.TooMany:        http.StatusTooManyRequests,
	errs.NotImplemented: http.StatusNotImplemented,
	errs.Unavailable:    http.StatusServiceUnavailable,
}

// NewProblem returns the response to a failure that the HTTP library found. What
// it calls unprocessable the contract calls a bad request.
func NewProblem(status int, message string, causes []error) *Problem {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	p := &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: message,
		Timestamp: time.Now().UTC().Truncate(time.Millisecond), StatusCode: status, Code: status, Message: message,
		Service: "merlon", Error_: http.StatusText(status),
	}
	for _, cause := range causes {
		var d huma.ErrorDetailer
		if errors.As(cause, &d) {
			// The value is left out: it may be a secret.
			p.Errors = append(p.Errors, errs.Detail{Location: d.ErrorDetail().Location,
				Message: d.ErrorDetail().Message})
		}
	}
	if len(p.Errors) > 0 {
		p.Message += ": " + p.Errors[0].Location + " " + p.Errors[0].Message
		p.Detail = p.Message
	}
	return p
}

// toProblem maps an error. The text of an internal one stays in the log.
func toProblem(err error) *Problem {
	var e *errs.Error
	// An error without a kind is a mistake of ours or of a library: its text may have SQL, paths
	// or addresses in it (CWE-209).
	if !errors.As(err, &e) || e.Kind == errs.Internal {
		if errors.Is(err, context.Canceled) {
			return NewProblem(http.StatusServiceUnavailable, "the request was cancelled", nil)
		}
		return NewProblem(http.StatusInternalServerError, "internal error", nil)
	}
	p := NewProblem(statuses[e.Kind], e.Message, nil)
	p.ErrorCode, p.Errors = e.Code, e.Details
	p.Region, p.BaseURL, p.AuthURL = e.Members["region"], e.Members["baseUrl"], e.Members["authUrl"]
	p.retryAfter, p.scope = e.Members["retryAfter"], e.Members["scope"]
	return p
}

// logProblem maps an error and logs it where the person who asked cannot see why.
func (a *Server) logProblem(ctx context.Context, err error) *Problem {
	p := toProblem(err)
	// Refusals are no failures of the service; they are in the audit log where they matter.
	if p.Status >= http.StatusInternalServerError && p.Status != http.StatusNotImplemented {
		a.Log.LogAttrs(ctx, slog.LevelError, "request failed", slog.String("error", err.Error()))
	}
	if r, ok := ctx.Value(requestKey{}).(*http.Request); ok {
		p.Path, p.Method, p.Instance = r.URL.Path, r.Method, r.URL.Path
	}
	return p
}

// writeProblem responds to a request that was not admitted.
func (a *Server) writeProblem(ctx huma.Context, err error) {
	p := a.logProblem(ctx.Context(), err)
	// The challenge is mandatory with 401 (RFC 9110, section 15.5.2).
	if p.Status == http.StatusUnauthorized {
		ctx.SetHeader("WWW-Authenticate", "Bearer")
	}
	for name, values := range p.GetHeaders() {
		ctx.SetHeader(name, values[0])
	}
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetStatus(p.Status)
	_ = json.NewEncoder(ctx.BodyWriter()).Encode(p) // the client may be gone
}

// WriteProblem responds with a failure outside of any route.
func WriteProblem(w http.ResponseWriter, r *http.Request, status int, message string) {
	p := NewProblem(status, message, nil)
	p.Path, p.Method, p.Instance = r.URL.Path, r.Method, r.URL.Path
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p) // the client may be gone
}

// requestKey is the key of the HTTP request in a context.
type requestKey struct{}

// Remember puts the request where problem finds its address.
func Remember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r)))
	})
}

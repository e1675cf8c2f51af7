package endpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/errs"
	"merlon/internal/tenant"
)

// This file makes creating operations safe to repeat: a client that does not know
// whether its request arrived sends it again under the same Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header) and gets the first response.

// Requests remembers requests with a key.
type Requests interface {
	// BeginRequest returns a holder when the request is to be done, or the sealed
	// response of an earlier one.
	BeginRequest(ctx context.Context, k tenant.RequestKey, digest string) (holder string, answer []byte, err error)
	// EndRequest stores a sealed response, or without one lets go of the key.
	EndRequest(ctx context.Context, k tenant.RequestKey, holder string, answer []byte) error
}

// Limits of a request with a key, and of its response, in bytes.
const (
	// A UUID has 36 bytes; the draft leaves the format to the client.
	maxKey      = 255
	maxRepeated = 1 << 20
)

// storedResponse is what is sealed of a response.
type storedResponse struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// doOnce does a request, unless one with its key has a response already.
func (a *Server) doOnce(ctx huma.Context, sc tenant.Scope, r Route, next func(huma.Context)) {
	// The key counts per user and route: two users or routes may use the same one.
	k := tenant.RequestKey{Actor: sc.Actor.UserID, Route: r.id, Key: ctx.Header("Idempotency-Key")}
	body, err := readRepeatableBody(ctx, k.Key)
	if err != nil {
		a.writeProblem(ctx, err)
		return
	}
	holder, sealed, err := a.Requests.BeginRequest(ctx.Context(), k, requestDigest(ctx, sc.Actor.Limits, body))
	if err != nil {
		var e *errs.Error
		if errors.As(err, &e) && e.Code == tenant.KeyInUse {
			// The first request is still being handled; most take less than two seconds.
			ctx.SetHeader("Retry-After", "2")
		}
		a.writeProblem(ctx, err)
		return
	}
	if holder == "" {
		a.replayResponse(ctx, k, sealed)
		return
	}
	// The body was consumed for its digest, so the handler reads the copy.
	c := &bufferedResponse{below: ctx, in: bytes.NewReader(body), header: http.Header{}}
	var keep []byte
	defer func() { // also when the handler panics: then nothing is kept
		// The client may be gone, its response must still be stored.
		if err := a.Requests.EndRequest(context.WithoutCancel(ctx.Context()), k, holder, keep); err != nil {
			a.Log.LogAttrs(ctx.Context(), slog.LevelError, "store response of idempotent request failed",
				slog.String("error", err.Error()))
		}
		c.sendResponse()
	}()
	next(c)
	// A failure is not stored: the client may correct its request and use the key again.
	if c.status/100 == 2 && c.out.Len() <= maxRepeated {
		keep = a.sealResponse(k, c)
	}
}

// readRepeatableBody returns the body of a request that can be kept to be compared.
func readRepeatableBody(ctx huma.Context, key string) ([]byte, error) {
	if len(key) > maxKey {
		return nil, Invalid("header.Idempotency-Key", "must be at most 255 bytes")
	}
	// The digest needs the whole body in memory; an archive may have gigabytes.
	if kind, _, _ := mime.ParseMediaType(ctx.Header("Content-Type")); kind == "multipart/form-data" {
		return nil, Invalid("header.Idempotency-Key", "not supported with an upload: start the scan first, then upload")
	}
	body, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), maxRepeated+1))
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "read request body failed")
	}
	if len(body) > maxRepeated {
		return nil, errs.E(errs.TooLarge, "the body of a request with an Idempotency-Key must be at most 1 MiB")
	}
	return body, nil
}

// requestDigest returns what two requests that are the same have in common. The limits of
// the caller's token are part of it: the response to a token with more of them is
// not for one with fewer.
func requestDigest(ctx huma.Context, l *tenant.TokenLimits, body []byte) string {
	u := ctx.URL()
	h := sha256.New()
	for _, part := range []string{ctx.Method(), u.Path, u.RawQuery, string(body),
		fmt.Sprint(l.Scopes, l.Organizations, l.Projects)} {
		// Each part has its length in front, so that no two lists of parts give the same bytes.
		_, _ = h.Write([]byte(strconv.Itoa(len(part)) + ":" + part)) // a hash's Write never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// responseLabel is the additional data of the seal: a response that is moved to another row cannot
// be opened there.
func responseLabel(k tenant.RequestKey) string {
	return "idempotency/" + string(k.Actor) + "/" + k.Route + "/" + k.Key
}

// sealResponse returns the response as it is stored: it may hold a token.
func (a *Server) sealResponse(k tenant.RequestKey, c *bufferedResponse) []byte {
	text, err := json.Marshal(storedResponse{Status: c.status, Header: c.header, Body: c.out.Bytes()})
	if err != nil {
		panic("api: encode response: " + err.Error()) // impossible: numbers, texts and bytes
	}
	return a.Box.Seal(text, responseLabel(k))
}

// replayResponse sends the response of an earlier request.
func (a *Server) replayResponse(ctx huma.Context, k tenant.RequestKey, sealed []byte) {
	var s storedResponse
	text, err := a.Box.Open(sealed, responseLabel(k))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		a.writeProblem(ctx, err)
		return
	}
	c := &bufferedResponse{below: ctx, status: s.Status, header: s.Header}
	c.header.Set("Idempotent-Replayed", "true")
	_, _ = c.out.Write(s.Body) // a buffer's Write never fails
	c.sendResponse()
}

// below is the context below a buffered one; embedded under its own
// name it would hide the method Context.
type below = huma.Context

// bufferedResponse keeps the response of a handler until it is stored: a client that gets it can
// rely on getting the same one again.
type bufferedResponse struct {
	below
	// in is the body of the request, read from memory.
	in io.Reader
	// status is 0 until the handler has set one; nothing is sent then.
	status int
	header http.Header
	out    bytes.Buffer
}

// Unwrap returns the context below, for who needs the connection.
func (c *bufferedResponse) Unwrap() huma.Context { return c.below }

// BodyReader returns the body that was read already.
func (c *bufferedResponse) BodyReader() io.Reader { return c.in }

// SetStatus keeps the status.
func (c *bufferedResponse) SetStatus(code int) { c.status = code }

// Status returns the status.
func (c *bufferedResponse) Status() int { return c.status }

// SetHeader keeps a header.
func (c *bufferedResponse) SetHeader(name, value string) { c.header.Set(name, value) }

// AppendHeader keeps a further value of a header.
func (c *bufferedResponse) AppendHeader(name, value string) { c.header.Add(name, value) }

// BodyWriter returns where the body is kept.
func (c *bufferedResponse) BodyWriter() io.Writer { return &c.out }

// sendResponse sends the response, if there is one.
func (c *bufferedResponse) sendResponse() {
	if c.status == 0 {
		return
	}
	for name, values := range c.header {
		for _, v := range values {
			c.below.AppendHeader(name, v)
		}
	}
	c.below.SetStatus(c.status)
	_, _ = c.below.BodyWriter().Write(c.out.Bytes()) // the client may be gone
}

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
// (draft-ietf-httpapi-idempotency-key-header) and is given the first answer.

// Requests remembers requests with a key.
type Requests interface {
	// BeginRequest returns a holder when the request is to be done, or the sealed
	// answer of an earlier one.
	BeginRequest(ctx context.Context, k tenant.RequestKey, digest string) (holder string, answer []byte, err error)
	// EndRequest keeps a sealed answer, or without one lets go of the key.
	EndRequest(ctx context.Context, k tenant.RequestKey, holder string, answer []byte) error
}

// Limits of a request with a key, and of its answer, in bytes.
const (
	maxKey      = 255
	maxRepeated = 1 << 20
)

// storedAnswer is what is sealed of an answer.
type storedAnswer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// doOnce does a request, unless one with its key was answered already.
func (a *Server) doOnce(ctx huma.Context, sc tenant.Scope, r Route, next func(huma.Context)) {
	k := tenant.RequestKey{Actor: sc.Actor.UserID, Route: r.id, Key: ctx.Header("Idempotency-Key")}
	body, err := repeatable(ctx, k.Key)
	if err != nil {
		a.refuse(ctx, err)
		return
	}
	holder, sealed, err := a.Requests.BeginRequest(ctx.Context(), k, digest(ctx, sc.Actor.Limits, body))
	if err != nil {
		var e *errs.Error
		if errors.As(err, &e) && e.Code == tenant.KeyInUse {
			ctx.SetHeader("Retry-After", "2")
		}
		a.refuse(ctx, err)
		return
	}
	if holder == "" {
		a.replay(ctx, k, sealed)
		return
	}
	c := &captured{below: ctx, in: bytes.NewReader(body), header: http.Header{}}
	var keep []byte
	defer func() { // also when the handler panics: then nothing is kept
		// The client may be gone, the answer must not be.
		if err := a.Requests.EndRequest(context.WithoutCancel(ctx.Context()), k, holder, keep); err != nil {
			a.Log.LogAttrs(ctx.Context(), slog.LevelError, "store response of idempotent request failed",
				slog.String("error", err.Error()))
		}
		c.send()
	}()
	next(c)
	if c.status/100 == 2 && c.out.Len() <= maxRepeated {
		keep = a.sealAnswer(k, c)
	}
}

// repeatable returns the body of a request that can be kept to be compared.
func repeatable(ctx huma.Context, key string) ([]byte, error) {
	if len(key) > maxKey {
		return nil, Invalid("header.Idempotency-Key", "must be at most 255 bytes")
	}
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

// digest returns what two requests that are the same have in common. The limits of
// the caller's token are part of it: what a token with more of them was answered is
// not for one with less.
func digest(ctx huma.Context, l *tenant.TokenLimits, body []byte) string {
	u := ctx.URL()
	h := sha256.New()
	for _, part := range []string{ctx.Method(), u.Path, u.RawQuery, string(body),
		fmt.Sprint(l.Scopes, l.Organizations, l.Projects)} {
		_, _ = h.Write([]byte(strconv.Itoa(len(part)) + ":" + part)) // a hash's Write never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

func answerLabel(k tenant.RequestKey) string {
	return "idempotency/" + string(k.Actor) + "/" + k.Route + "/" + k.Key
}

// sealAnswer returns the answer as it is kept: it may hold a token.
func (a *Server) sealAnswer(k tenant.RequestKey, c *captured) []byte {
	text, err := json.Marshal(storedAnswer{Status: c.status, Header: c.header, Body: c.out.Bytes()})
	if err != nil {
		panic("api: encode response: " + err.Error()) // impossible: numbers, texts and bytes
	}
	return a.Box.Seal(text, answerLabel(k))
}

// replay sends the answer of an earlier request.
func (a *Server) replay(ctx huma.Context, k tenant.RequestKey, sealed []byte) {
	var s storedAnswer
	text, err := a.Box.Open(sealed, answerLabel(k))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		a.refuse(ctx, err)
		return
	}
	c := &captured{below: ctx, status: s.Status, header: s.Header}
	c.header.Set("Idempotent-Replayed", "true")
	_, _ = c.out.Write(s.Body) // a buffer's Write never fails
	c.send()
}

// below is the context that a captured one stands on; embedded under its own
// name it would hide the method Context.
type below = huma.Context

// captured keeps what a handler answers until it is sent.
type captured struct {
	below
	in     io.Reader
	status int
	header http.Header
	out    bytes.Buffer
}

// Unwrap returns the context below, for who needs the connection.
func (c *captured) Unwrap() huma.Context { return c.below }

// BodyReader returns the body that was read already.
func (c *captured) BodyReader() io.Reader { return c.in }

// SetStatus keeps the status.
func (c *captured) SetStatus(code int) { c.status = code }

// Status returns the status.
func (c *captured) Status() int { return c.status }

// SetHeader keeps a header.
func (c *captured) SetHeader(name, value string) { c.header.Set(name, value) }

// AppendHeader keeps a further value of a header.
func (c *captured) AppendHeader(name, value string) { c.header.Add(name, value) }

// BodyWriter returns where the body is kept.
func (c *captured) BodyWriter() io.Writer { return &c.out }

// send sends the answer, if there is one.
func (c *captured) send() {
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

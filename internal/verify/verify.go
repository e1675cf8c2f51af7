// Package verify asks the issuers of credentials whether those still work, for
// people who switch that on. Asking sends the credential to its issuer, and
// nobody else: every address is in the table, and no redirect is followed.
//
// Each question is a harmless one, such as who the owner is. Questions are few,
// one at a time to each issuer with a pause between, and each is logged with the
// kind of credential, the issuer and the answer, never the credential.
package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"merlon/internal/finding"
	"merlon/internal/outbound"
)

// A Client sends a request within limits; outbound.Client is one.
type Client interface {
	Do(*http.Request, outbound.Limits) (*http.Response, error)
}

// Limits bound what one scan asks. A zero field takes its default.
type Limits struct {
	Requests int           // of all; 200
	Pause    time.Duration // between two questions to one issuer; half a second
	Time     time.Duration // for one question; 10 seconds
}

// A Verifier asks issuers. It is safe for concurrent use.
type Verifier struct {
	client Client
	log    *slog.Logger
	limits Limits

	mu      sync.Mutex
	asked   int
	answers map[[32]byte]finding.Validity
	issuers map[string]*issuer
}

// issuer is a host that is asked one thing at a time.
type issuer struct {
	mu     sync.Mutex
	last   time.Time
	failed bool // it could not be reached, and is not asked again
}

// New returns a verifier that asks through the client.
func New(client Client, log *slog.Logger, l Limits) *Verifier {
	if l.Requests <= 0 {
		l.Requests = 200
	}
	if l.Pause <= 0 {
		l.Pause = 500 * time.Millisecond
	}
	if l.Time <= 0 {
		l.Time = 10 * time.Second
	}
	return &Verifier{client: client, log: log, limits: l, answers: map[[32]byte]finding.Validity{},
		issuers: map[string]*issuer{}}
}

// Verify says whether the credential that the rule found works. It is Unknown
// where nobody can be asked, and where the answer says neither.
func (v *Verifier) Verify(ctx context.Context, ruleID, value string) finding.Validity {
	q := questionFor(ruleID)
	if q == nil || !sendable(value) {
		return finding.Unknown
	}
	key := sha256.Sum256([]byte(q.address + "\x00" + value))
	host := hostOf(q.address)
	v.mu.Lock()
	at := v.issuers[host]
	if at == nil {
		at = &issuer{}
		v.issuers[host] = at
	}
	v.mu.Unlock()

	at.mu.Lock()
	defer at.mu.Unlock()
	v.mu.Lock()
	answer, known := v.answers[key]
	full := v.asked >= v.limits.Requests
	if !known && !full && !at.failed {
		v.asked++
	}
	v.mu.Unlock()
	switch {
	case known:
		return answer
	case full || at.failed:
		return finding.Unknown
	}
	if err := wait(ctx, time.Until(at.last.Add(v.limits.Pause))); err != nil {
		return finding.Unknown
	}
	answer, err := v.ask(ctx, q, value)
	at.last, at.failed = time.Now(), err != nil
	v.log.LogAttrs(ctx, slog.LevelInfo, "verified a credential with its issuer", slog.String("rule", ruleID),
		slog.String("issuer", host),
		slog.String("answer", string(answer)), slog.Bool("reached", err == nil))
	v.mu.Lock()
	v.answers[key] = answer
	v.mu.Unlock()
	return answer
}

// wait waits, unless the context ends.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

// ask sends the question. The error tells that the issuer was not reached.
func (v *Verifier) ask(ctx context.Context, q *question, value string) (finding.Validity, error) {
	ctx, cancel := context.WithTimeout(ctx, v.limits.Time)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, q.method, q.address, nil)
	if err != nil {
		return finding.Unknown, err
	}
	for name, text := range q.headers {
		req.Header.Set(name, strings.ReplaceAll(text, "{}", value))
	}
	resp, err := v.client.Do(req, outbound.Limits{Body: maxAnswer, Time: v.limits.Time, Redirects: -1})
	if err != nil {
		return finding.Unknown, err
	}
	defer func() { _ = resp.Body.Close() }() // what is left of it does not matter
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return finding.Unknown, err
	}
	return q.judge(resp.StatusCode, body), nil
}

// sendable reports whether the value can stand in a header.
func sendable(value string) bool {
	for i := 0; i < len(value); i++ {
		if value[i] <= ' ' || value[i] >= 0x7F {
			return false
		}
	}
	return len(value) >= 10 && len(value) <= 1000
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Hostname()
}

// judge turns an answer into a verdict. What is neither a clear yes nor a clear
// no is unknown: a proxy, a limit of requests, a fault.
func (q *question) judge(status int, body []byte) finding.Validity {
	if q.yes != "" || q.no != "" {
		switch {
		case status != http.StatusOK:
			return finding.Unknown
		case q.yes != "" && bytes.Contains(body, []byte(q.yes)):
			return finding.Valid
		}
		for _, word := range strings.Fields(q.no) {
			if bytes.Contains(body, []byte(word)) {
				return finding.Invalid
			}
		}
		return finding.Unknown
	}
	switch {
	case status == http.StatusOK:
		return finding.Valid
	case status == http.StatusUnauthorized && !q.elsewhere:
		return finding.Invalid
	}
	return finding.Unknown
}

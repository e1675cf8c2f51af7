package verify

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"merlon/internal/finding"
	"merlon/internal/outbound"
)

// server answers by the credential.
type server struct {
	answers map[string]string // "200 body" by the credential; missing: an error
	asked   []*http.Request
}

func (s *server) Do(req *http.Request, l outbound.Limits) (*http.Response, error) {
	s.asked = append(s.asked, req)
	if l.Redirects >= 0 || l.Body == 0 || l.Time == 0 {
		return nil, errors.New("the request is not bounded, or follows redirects")
	}
	for value, answer := range s.answers {
		for _, header := range req.Header {
			if strings.Contains(header[0], value) {
				status := map[string]int{"200": 200, "401": 401, "403": 403, "429": 429, "500": 500}[answer[:3]]
				return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(answer[4:]))}, nil
			}
		}
	}
	return nil, errors.New("not reached")
}

func TestVerify(t *testing.T) {
	s := &server{answers: map[string]string{"value-one-1": "200 {}", "value-two-2": "401 {}", "value-three": "429 {}",
		"value-four4": `200 {"ok":true}`, "value-five5": `200 {"ok":false,"error":"token_revoked"}`,
		"value-six-6": `200 {"ok":false,"error":"ratelimited"}`, "value-seven": "401 {}"}}
	var log bytes.Buffer
	v := New(s, slog.New(slog.NewTextHandler(&log, nil)), Limits{Pause: time.Nanosecond})
	for _, c := range []struct {
		rule, value string
		want        finding.Validity
	}{
		{"github-pat", "value-one-1", finding.Valid}, {"github-pat", "value-two-2", finding.Invalid},
		{"github-pat", "value-three", finding.Unknown},
		{"slack-bot-token", "value-four4", finding.Valid}, {"slack-bot-token", "value-five5", finding.Invalid},
		{"slack-bot-token", "value-six-6", finding.Unknown},
		{"gitlab-pat", "value-seven", finding.Unknown}, {"private-key", "value-one-1", finding.Unknown},
		{"github-pat", "value\r\none-1", finding.Unknown},
		{"github-pat", "value-one-1", finding.Valid}, // again
	} {
		if got := v.Verify(t.Context(), "secrets/credentials/"+c.rule, c.value); got != c.want {
			t.Errorf("%s %q: got %s, want %s", c.rule, c.value, got, c.want)
		}
	}
	if len(s.asked) != 7 {
		t.Errorf("%d requests, want 7: one for each credential that somebody can be asked about", len(s.asked))
	}
	if strings.Contains(log.String(), "value-") || strings.Count(log.String(), "issuer=") != 7 {
		t.Errorf("the log tells a credential, or not every request:\n%s", log.String())
	}
}

// An issuer that cannot be reached is asked once, and a scan asks so often only.
func TestLimits(t *testing.T) {
	down := &server{}
	v := New(down, slog.New(slog.DiscardHandler), Limits{Pause: time.Nanosecond})
	for _, value := range []string{"value-one-1", "value-two-2"} {
		v.Verify(t.Context(), "secrets/credentials/npm-access-token", value)
	}
	if len(down.asked) != 1 {
		t.Errorf("%d requests to a host that is down, want 1", len(down.asked))
	}
	up := &server{answers: map[string]string{"value": "200 {}"}}
	v = New(up, slog.New(slog.DiscardHandler), Limits{Pause: time.Nanosecond, Requests: 2})
	for _, value := range []string{"value-one-1", "value-two-2", "value-three"} {
		v.Verify(t.Context(), "secrets/credentials/npm-access-token", value)
	}
	if len(up.asked) != 2 {
		t.Errorf("%d requests, want 2", len(up.asked))
	}
}

// Every question goes to its issuer by TLS, reads only, and sends the credential
// in a header, where no log of addresses holds it.
func TestQuestions(t *testing.T) {
	seen := map[string]bool{}
	for _, q := range questions {
		in := false
		for _, text := range q.headers {
			in = in || strings.Contains(text, "{}")
		}
		if !in || !strings.HasPrefix(q.address, "https://") || q.method != http.MethodGet && q.yes == "" ||
			strings.ContainsAny(q.address, "{}?") {
			t.Errorf("question %+v", q)
		}
		for _, rule := range strings.Fields(q.rules) {
			if seen[rule] {
				t.Errorf("two questions for %s", rule)
			}
			seen[rule] = true
		}
	}
}

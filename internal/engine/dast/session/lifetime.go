package session

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file reads how long a session lasts, so that it is renewed before it ends: an
// answer to an expired token looks like that to a user who may not.

// claims matches a JSON Web Token (RFC 7519) in a header and captures its second part, the claims.
// Both parts begin with "eyJ", which is base64 of `{"`.
var claims = lazyregexp.New(`eyJ[A-Za-z0-9_-]{5,}\.(eyJ[A-Za-z0-9_-]{5,})\.`)

// shortest is how long a token has to last to be renewed in time. Below that each request would
// sign in, and the limit of sign-ins would be spent within minutes.
const shortest = 10 * time.Second

// tokenRenewalTime returns when the tokens of the headers are to be renewed, by the clock of now;
// zero: they have no expiry. The target's clock may differ, so what counts is how long the token is
// valid from its issue: exp minus iat. The renewal is a fifth of that earlier, at most a minute.
func tokenRenewalTime(headers []scan.Header, now time.Time) time.Time {
	var first time.Time
	for _, h := range headers {
		m := claims.FindStringSubmatch(h.Value)
		if m == nil {
			continue
		}
		text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(m[1], "="))
		var c struct {
			Expires float64 `json:"exp"`
			Issued  float64 `json:"iat"`
		}
		// 1e11 seconds is the year 5138: such an exp is in milliseconds, against RFC 7519, section
		// 4.1.4.
		if err != nil || json.Unmarshal(text, &c) != nil || c.Expires <= 0 || c.Expires > 1e11 {
			continue
		}
		from := c.Issued
		// The claim iat is optional. Without it the two clocks are compared.
		if from <= 0 || from > c.Expires {
			from = float64(now.Unix())
		}
		lasts := time.Duration(min(c.Expires-from, 1e9)) * time.Second
		if lasts < shortest {
			continue
		}
		if at := now.Add(lasts - min(lasts/5, time.Minute)); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// needsRenewal reports whether the session is to be renewed although nothing has told that it is
// lost. s.mu is held.
func (s *Session) needsRenewal() bool { return !s.ends.IsZero() && !s.o.Now().Before(s.ends) }

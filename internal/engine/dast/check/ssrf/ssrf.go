// Package ssrf finds parameters that make the server send requests. The proof is a call
// of a listener of ours; where there is none, the target's own page inside of an answer
// to its own address, against an address of the target that does not exist.
package ssrf

import (
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var inclusion = texts.Get("inclusion")

var rule = texts.Get("request")

// Rule is the check.
var Rule = &activescan.Rule{ID: "ssrf", FindingRules: []*finding.Rule{rule, inclusion},
	OASTRules: []*finding.Rule{rule, inclusion},
	Profile:   scan.Standard, AcceptsPoint: acceptsPoint, ProbePoint: probePoint}

// acceptsPoint chooses points that are about addresses.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InQuery, message.InForm, message.InMultipart, message.InJSON, message.InXML:
		return address.MatchString(p.Name) || strings.Contains(p.Value, "://") || file.MatchString(p.Value)
	}
	return false
}

var address = lazyregexp.New(`(?i)ur[li]|link|href|src|host|domain|site|feed|callback|hook|proxy|fetch|import|load|target|dest|image|img|avatar|file|path|page|endpoint|server|origin`)

// probePoint looks for requests of the server: to the listener, else to a page of its
// own that the answer then holds.
func probePoint(p *activescan.Probe) error {
	called, err := probeOAST(p)
	if called || err != nil {
		return err
	}
	return probeOwnPage(p)
}

// file is a name with an ending.
var file = lazyregexp.New(`^[\w./-]{1,200}\.[A-Za-z]{2,5}$`)

// probeOwnPage asks for the target's own page through the parameter.
func probeOwnPage(p *activescan.Probe) error {
	base, err := p.Baseline()
	if err != nil {
		return err
	}
	root, err := message.FromURL(p.Scope.Base())
	if err != nil {
		return err
	}
	page, err := p.SendFollowingRedirects(root)
	if err != nil || page.Status != 200 {
		return err
	}
	// Of two addresses of the target, one exists.
	there, missing := root.Address(), root.Base()+"/"+p.RandomLetters(12)
	resp, err := p.SendValue(there)
	if err != nil || resp.Status >= 300 {
		return err
	}
	parts := distinctLines(page.Text(), base.First.Text())
	if len(parts) == 0 || !containsLines(resp, parts) {
		return nil
	}
	other, err := p.SendValue(missing)
	if err != nil || containsLines(other, parts) {
		return err
	}
	again, err := p.SendValue(there + "?" + p.RandomLetters(6))
	if err != nil || !containsLines(again, parts) {
		return err
	}
	p.RaiseAlert(activescan.Alert{Rule: rule, Payload: there, Request: p.Request.With(p.Point, there),
		Responses:     []*message.Response{resp, other, again},
		ResponseNotes: []string{"the address of the target itself", "one that does not exist", "the first again"},
		Proof: []string{"The value " + there + " is answered with what stands on that page.", "The value " + missing +
			", which does not exist, is not."}})
	return nil
}

// distinctLines returns up to five of the longest lines of a page that another does not have.
func distinctLines(page, without string) []string {
	var out []string
	for line := range strings.Lines(page) {
		if line = strings.TrimSpace(line); len(line) >= 20 && len(line) < 2000 && !strings.Contains(without, line) {
			out = append(out, line)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out[:min(5, len(out))]
}

// containsLines reports whether an answer has all lines, as they are or as text of a page.
func containsLines(resp *message.Response, parts []string) bool {
	for _, part := range parts {
		if !slices.ContainsFunc(activescan.Encodings(part), func(form string) bool {
			return strings.Contains(resp.Text(), form)
		}) {
			return false
		}
	}
	return true
}

// Package xpathinjection finds parameters that become part of an expression of XPath. The
// proof are pairs of conditions with a function that only XPath has.
package xpathinjection

import (
	"fmt"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var rule = texts.Get("expression")

// Rule is the check.
var Rule = &activescan.Rule{ID: "xpathinjection", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
	AcceptsPoint: acceptsPoint,
	ProbePoint:   probePoint}

// acceptsPoint reports whether a part of an expression can stand at a point.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName:
		return false
	}
	return p.Type != "boolean" && p.Type != "null"
}

// A place is what ends the value's own part of an expression, and what begins again what
// follows it. %s stands for the condition.
type place struct{ and, or string }

// injectionContexts are the forms of a condition behind a value, in quotes of either
// kind, without any, and inside of a call. Each has an "and" behind the known value and
// an "or" behind an unknown one.
func injectionContexts(v, r string) []place {
	var out []place
	for _, q := range []string{"'", `"`} {
		out = append(out, place{v + q + " and %s and " + q + "a" + q + "=" + q + "a", r + q + " or %s or " + q + "a" +
			q + "=" + q + "b"})
	}
	return append(out, place{v + " and %s", r + " or %s"}, place{v + "') and %s and " +
		"contains('a','a", r + "') or %s or contains('a','b"})
}

// probePoint looks for conditions that decide what the page shows. What another
// language of queries takes is left to the checks of that language.
func probePoint(p *activescan.Probe) error {
	if p.AlreadyFound("sql") || p.AlreadyFound("command") || p.AlreadyFound("ldap") {
		return nil
	}
	r, err := p.ProbeErrorReaction()
	if err != nil || !r.Base.Stable {
		return err
	}
	missing, err := r.UnknownPage()
	if err != nil {
		return err
	}
	base := r.Base
	if missing.Equal(r.Breaking) && (p.Point.Names() || !r.Changed()) {
		return probeFirst(p, base)
	}
	for _, pl := range injectionContexts(p.OriginalValue(), p.UnknownValue()) {
		if !missing.Equal(base.Page()) {
			if found, err := askPairs(p, pl.and, base.Page()); found || err != nil {
				return err
			}
		}
		if found, err := probeCondition(p, pl.or, missing); found || err != nil {
			return err
		}
	}
	return nil
}

// probeFirst asks the one question that tells something where nothing else changes the page.
func probeFirst(p *activescan.Probe, base *activescan.Baseline) error {
	if p.Point.Names() {
		return nil
	}
	_, err := probeCondition(p, injectionContexts(p.OriginalValue(), p.RandomLetters(6))[0].or, base.Page())
	return err
}

// probeCondition asks a condition where a true one leads to another page than a value that
// finds nothing.
func probeCondition(p *activescan.Probe, form string, missing *activescan.Page) (bool, error) {
	yes := fmt.Sprintf(form, lengthCondition(p, true))
	resp, err := p.SendValue(yes)
	if err != nil {
		return false, err
	}
	page := p.PageOf(resp, yes)
	if page.Equal(missing) {
		return false, nil
	}
	return askPairs(p, form, page)
}

// askPairs asks pairs of conditions; the page of true ones is given.
func askPairs(p *activescan.Probe, form string, yes *activescan.Page) (found bool, err error) {
	c, err := p.CompareConditions(func() (yes, no string) {
		return fmt.Sprintf(form, lengthCondition(p, true)), fmt.Sprintf(form, lengthCondition(p, false))
	}, yes, nil)
	if err != nil || c == nil {
		return false, err
	}
	p.MarkFound("xpath")
	p.RaiseAlert(activescan.Alert{Rule: rule, Payload: c.Yes, Request: p.Request.With(p.Point, c.Yes),
		Responses:     c.Responses,
		ResponseNotes: c.ResponseNotes,
		Proof: []string{"The value " + c.Yes + " contains a condition that is true for " +
			"XPath, " + c.No + " one that is " +
			"false; the pages follow that.",
			fmt.Sprintf("So it was in %d rounds with other constants.", activescan.Rounds)}})
	return true, nil
}

// lengthCondition compares the length of a text; SQL has no such function.
func lengthCondition(p *activescan.Probe, yes bool) string {
	n := p.RandomNumber(2, 8)
	if yes {
		return fmt.Sprintf("string-length('%s')=%d", p.RandomLetters(n), n)
	}
	return fmt.Sprintf("string-length('%s')=%d", p.RandomLetters(n), n+1)
}

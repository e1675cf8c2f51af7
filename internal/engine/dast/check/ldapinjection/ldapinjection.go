// Package ldapinjection finds parameters that become part of a search filter of LDAP
// (RFC 4515). The proof are pairs of filters that are true and false for every entry, or
// characters that only such a filter decodes.
package ldapinjection

import (
	"fmt"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("filter")

// Rule is the check.
var Rule = &activescan.Rule{ID: "ldapinjection", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
	AcceptsPoint: acceptsPoint,
	ProbePoint:   probePoint}

// acceptsPoint reports whether a part of a filter can stand at a point.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName:
		return false
	}
	return p.Type != "boolean" && p.Type != "null"
}

// probePoint looks for filters that a value changes, by errors and by pages that follow
// a condition.
func probePoint(p *activescan.Probe) error {
	if p.AlreadyFound("sql") || p.AlreadyFound("command") {
		return nil
	}
	r, err := p.ProbeErrorReaction()
	if err != nil || !r.Base.Stable {
		return err
	}
	missing, err := r.UnknownPage()
	if err != nil || p.Point.Names() && r.Breaking.Equal(missing) {
		return err
	}
	v := p.OriginalValue()
	round := 0
	class := func() string { round++; return []string{"objectClass", "objectclass", "OBJECTCLASS"}[round%3] }
	questions := []activescan.ConditionPayloads{
		func() (yes, no string) {
			c := class()
			return v + ")(" + c + "=*", v + ")(" + c + "=" + p.RandomLetters(1)
		},
		func() (yes, no string) { c := class(); return "*)(" + c + "=*", "*)(" + c + "=" + p.RandomLetters(1) },
	}
	if len(v) >= 3 && !strings.ContainsAny(v, "\r\n") &&
		// of a shorter value all rounds would be the same; nobody looks lines of text up
		!missing.Equal(r.Base.Page()) {
		questions = append(questions, escapeLetter(p, v))
	}
	if r.Broken.MatchesBody(ldapError) && !r.Base.First.MatchesBody(ldapError) {
		questions = append(questions, func() (yes, no string) {
			c := class()
			return v + ")(" + c + "=*", v + ")(" + c + "(*"
		})
	}
	for _, q := range questions {
		c, err := probeFilter(p, q, missing, r.Breaking)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		if ok, err := confirmNegation(p, c); err != nil {
			return err
		} else if ok {
			p.MarkFound("ldap")
			p.RaiseAlert(activescan.Alert{Rule: rule, Payload: c.Yes, Request: p.Request.With(p.Point, c.Yes),
				Responses:     c.Responses,
				ResponseNotes: c.ResponseNotes,
				Proof: []string{"The value " + c.Yes + " is true as part of a filter, " + c.No + " is not, or is no " +
					"filter; the pages follow that.", fmt.Sprintf("So it was in %d rounds.", activescan.Rounds)}})
			return nil
		}
	}
	return nil
}

// ldapError are texts of errors of libraries for directories.
var ldapError = lazyregexp.New(`(?i)javax\.naming\.|com\.sun\.jndi\.ldap|LDAPException|ldap_search\(\)|Bad search filter|InvalidSearchFilter|filter error|Protocol error occurred|IPWorksASP\.LDAP|ldap\.FILTER_ERROR|unbalanced parenthesis`)

// probeFilter spends further requests only where the first answer is neither that of a broken
// value nor of one that finds nothing.
func probeFilter(p *activescan.Probe, q activescan.ConditionPayloads, missing,
	breaking *activescan.Page) (*activescan.ConditionResult, error) {
	yes, _ := q()
	resp, err := p.SendValue(yes)
	if err != nil {
		return nil, err
	}
	page := p.PageOf(resp, yes)
	if page.Equal(missing) && page.Equal(breaking) {
		return nil, nil
	}
	return p.CompareConditions(q, nil, nil)
}

// confirmNegation asks once more for what is true, with a word that nobody has sent before: an
// application that searches what it has stored finds the constant payloads of an earlier
// attack, and would be taken for one that evaluates them. What is false then ends with a
// sign too, as what was true: a pattern that looks at the last character of a value would
// tell the others apart. A question without parts of a filter needs none.
func confirmNegation(p *activescan.Probe, c *activescan.ConditionResult) (bool, error) {
	i := strings.LastIndex(c.Yes, ")(")
	if i < 0 {
		return true, nil
	}
	var was *activescan.Page
	for n, note := range c.ResponseNotes {
		if note == "true" { // the last one is of the last round
			was = p.PageOf(c.Responses[n], c.Yes)
		}
	}
	yes := c.Yes[:i] + ")(!(objectClass=" + p.RandomLetters(8) + ")"
	resp, err := p.SendValue(yes)
	if err != nil || was == nil {
		return false, err
	}
	if !p.PageOf(resp, yes).Equal(was) {
		return false, nil
	}
	no := c.Yes[:i] + ")(!(objectClass=*)"
	if resp, err = p.SendValue(no); err != nil {
		return false, err
	}
	return !p.PageOf(resp, no).Equal(was), nil
}

// escapeLetter writes one letter of the value as RFC 4515 escapes it; only a filter that
// takes the value as its own text decodes it. The pair has another letter there.
func escapeLetter(p *activescan.Probe, v string) activescan.ConditionPayloads {
	i := 0
	return func() (yes, no string) {
		at := i % len(v)
		i++
		wrong := v[at] ^ 0x15
		return v[:at] + fmt.Sprintf(`\%02x`, v[at]) + v[at+1:], v[:at] + fmt.Sprintf(`\%02x`, wrong) + v[at+1:]
	}
}

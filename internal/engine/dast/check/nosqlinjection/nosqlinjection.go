// Package nosqlinjection finds parameters that become operators of a query of MongoDB and similar
// databases, or a part of JavaScript that such a database runs (CWE-943).
//
// The proof consists of pairs: operators that are true for every text give one page, those that are
// false another; or conditions in JavaScript, in several rounds with random numbers. Applications
// that fail on any object are excluded by an operator that does not exist.
package nosqlinjection

import (
	"encoding/json"
	"fmt"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	byOperator = texts.Get("operator")
	byScript   = texts.Get("script")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "nosqlinjection", FindingRules: []*finding.Rule{byOperator, byScript},
	Profile:      scan.Safe,
	AcceptsPoint: acceptsPoint, ProbePoint: probePoint}

// acceptsPoint reports whether an object can stand at a point: in a JSON value, or in a parameter
// whose name with brackets becomes an object (name[$ne]=x in PHP, Express and Rails).
func acceptsPoint(p message.Point) bool {
	if p.HoldsJSON() {
		return p.Type != "boolean" && p.Type != "null"
	}
	switch p.In {
	case message.InQuery, message.InForm, message.InJSON:
		return p.Inner == nil && p.Type != "boolean" && p.Type != "null"
	}
	return false
}

// probePoint replaces the value by operators, and compares the pages.
func probePoint(p *activescan.Probe) error {
	if p.AlreadyFound("sql") {
		return nil
	}
	base, err := p.Baseline()
	// A page that changes by itself cannot be compared.
	if err != nil || !base.Stable {
		return err
	}
	if found, err := probeOperators(p); found || err != nil {
		return err
	}
	// JavaScript is tried only where a broken value changes the page: that costs many requests.
	r, err := p.ProbeErrorReaction()
	if err != nil || !r.Changed() {
		return err
	}
	missing, err := r.UnknownPage()
	if err != nil || missing.Equal(r.Breaking) {
		return err
	}
	return probeJavaScript(p)
}

// withOperator returns the request with an operator in the place of the value: an object in
// JSON, else a name with brackets, which the parsers of most frameworks make an object.
func withOperator(p *activescan.Probe, operator, operand string) (r *message.Request, shown string) {
	text, _ := json.Marshal(map[string]string{operator: operand}) // a map of texts can be written
	if p.Point.HoldsJSON() {
		return p.Request.WithJSON(p.Point, string(text)), string(text)
	}
	switch p.Point.In {
	case message.InForm:
		r = p.Request.Clone()
		r.Body.Params[p.Point.Index].Name += "[" + operator + "]"
		r.Body.Params[p.Point.Index].Value = operand
	default:
		r = p.Request.Clone()
		r.Query[p.Point.Index].Name += "[" + operator + "]"
		r.Query[p.Point.Index].Value = operand
	}
	return r, p.Point.Name + "[" + operator + "]=" + operand
}

// An operation is an operator with an operand.
type operation struct {
	operator, operand string
	// yes: it is true for every text, else false for every text.
	yes bool
}

// probeOperators asks what is true of every text in several ways, and what is false, and an
// operator that does not exist.
func probeOperators(p *activescan.Probe) (found bool, err error) {
	r1, r2 := p.RandomLetters(8), p.RandomLetters(8)
	// Three of each, in mixed order: a page that changes with time would not follow.
	ask := []operation{{"$ne", r1, true}, {"$eq", r2, false}, {"$regex", "^" + r2, false}, {"$regex", ".{0}", true},
		{"$gt", "", true}, {"$lt", "", false}}
	var yes, no *activescan.Page
	flaw := activescan.Alert{Rule: byOperator}
	for _, o := range ask {
		r, shown := withOperator(p, o.operator, o.operand)
		resp, err := p.Send(r)
		if err != nil {
			return false, err
		}
		page := p.PageOf(resp, o.operand)
		want := &no
		if o.yes {
			want = &yes
			if flaw.Request == nil {
				flaw.Request, flaw.Payload = r, shown
			}
		}
		if *want == nil {
			*want = page
		} else if !page.Equal(*want) {
			return false, nil
		}
		if yes != nil && no != nil && yes.Equal(no) {
			return false, nil
		}
		flaw.Responses, flaw.ResponseNotes = append(flaw.Responses, resp), append(flaw.ResponseNotes, shown)
	}
	r, _ := withOperator(p, "$"+p.RandomLetters(5), r1)
	resp, err := p.Send(r)
	// The database refuses an unknown operator; what treats it as true compares nothing.
	if err != nil || p.PageOf(resp, r1).Equal(yes) { // any object does
		return false, err
	}
	p.MarkFound("nosql")
	flaw.Proof = []string{"Operators that are true of every text ($ne, $regex, $gt) give one page, those that are " +
		"false of every text ($eq, $regex, $lt) another.",
		"An operator that does not exist does not give the page of the true ones."}
	p.RaiseAlert(flaw)
	return true, nil
}

// probeJavaScript asks conditions in JavaScript: a string that ends, and a number.
func probeJavaScript(p *activescan.Probe) error {
	v := p.OriginalValue()
	// Inside of single quotes, of double quotes, and of a number; with && for a value that finds
	// something, with || for one that does not.
	for _, form := range []string{v + "' && %s && 'a'=='a", p.RandomLetters(6) + "' || %s || 'a'=='b",
		v + `" && %s && "a"=="a`, v + " && %s"} {
		ask := func() (yes, no string) {
			n := p.RandomNumber(2, 8)
			text := p.RandomLetters(n)
			return fmt.Sprintf(form, fmt.Sprintf("'%s'.length===%d", text, n)),
				fmt.Sprintf(form, fmt.Sprintf("'%s'.length===%d", text, n+1))
		}
		c, err := p.CompareConditions(ask, nil, nil)
		if err != nil {
			return err
		}
		if c != nil {
			p.MarkFound("nosql")
			p.MarkFound("code")
			p.RaiseAlert(activescan.Alert{Rule: byScript, Payload: c.Yes, Request: p.Request.With(p.Point, c.Yes),
				Responses:     c.Responses,
				ResponseNotes: c.ResponseNotes,
				Proof: []string{"The value " + c.Yes + " contains a condition that is true in JavaScript, " + c.No +
					" one that is false; the pages follow that.",
					fmt.Sprintf("So it was in %d rounds.", activescan.Rounds)}})
			return nil
		}
	}
	return nil
}

package codeinjection

import (
	"fmt"
	"strings"

	"merlon/internal/engine/dast/activescan"
)

// This file proves programs of which nothing is shown but that they fail.

// A fault leaves the value what it is, and fails when A and B are the same number. V is
// the value, Q the quotation mark.
type fault struct{ names, text string }

// faults by the sign that joins texts.
var faults = map[string][]fault{
	"+": {
		{"Python, Ruby, Jinja2", "VQ+QQ*(1%(A-B))+Q"},
		{"Java and its expression languages", "VQ+(1%(A-B)>9?QQ:QQ)+Q"},
		{"JavaScript", "VQ+((A-B)?QQ:[].x.y)+Q"},
	},
	".": {{"PHP, Perl", "VQ.(1%(A-B)?QQ:QQ).Q"}},
	"~": {{"Twig", "VQ~(1%(A-B)?QQ:QQ)~Q"}},
}

// sums are faults in arithmetic: each needs something that only a language has.
var sums = []fault{
	{"Python, PHP", "V+0*min(ord('x'),9)%(A-B)"},
	{"JavaScript", "V+0*((A-B)?'x':[].x.y).length"},
	{"Java and its expression languages", "V+0*'x'.length()%(A-B)"},
	{"Ruby", "V+0*'x'.ord%(A-B)"},
}

// probeBlind looks for the quotation mark that ends the string which the value stands in, and
// the sign that joins it with another one; or for arithmetic.
func probeBlind(p *activescan.Probe, r *activescan.ErrorReaction) error {
	if !r.Base.Stable {
		return nil
	}
	same := func(value string) (bool, error) {
		resp, err := p.SendCached(value)
		return err == nil && p.PageOf(resp, value).Equal(r.Base.Page()), err
	}
	if v := p.OriginalValue(); strings.Trim(v, "0123456789") == "" {
		if ok, err := same(v + "+0*" + fmt.Sprint(p.RandomNumber(11, 99))); err != nil {
			return err
		} else if ok {
			if found, err := probeErrors(p, r, sums, ""); found || err != nil {
				return err
			}
		}
	}
	for _, quote := range []string{"'", `"`} {
		if whole, err := same(p.OriginalValue() + quote); whole || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		for _, join := range []string{"+", ".", "~"} {
			repaired, err := same(p.OriginalValue() + quote + join + quote)
			if err != nil {
				return err
			}
			if !repaired {
				continue
			}
			if found, err := probeErrors(p, r, faults[join], quote); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// probeErrors compares what divides by zero, or looks into nothing, with what does not.
func probeErrors(p *activescan.Probe, r *activescan.ErrorReaction, list []fault, quote string) (bool, error) {
	for _, f := range list {
		c, err := p.CompareConditions(func() (yes, no string) {
			a := p.RandomNumber(20_000, 46_340)
			b := a - p.RandomNumber(2, 9_000)
			fill := func(a, b int) string {
				return strings.NewReplacer("V", p.OriginalValue(), "Q", quote, "A", fmt.Sprint(a), "B",
					fmt.Sprint(b)).Replace(f.text)
			}
			return fill(a, b), fill(a, a)
		}, r.Base.Page(), nil)
		if err != nil {
			return false, err
		}
		if c == nil {
			continue
		}
		p.MarkFound("code")
		p.RaiseAlert(activescan.Alert{Rule: byError, Payload: c.No, Request: p.Request.With(p.Point, c.No),
			Responses:     c.Responses,
			ResponseNotes: c.ResponseNotes,
			Proof: []string{"The value " + c.Yes + " is answered as " + p.OriginalValue() + " is; " + c.No +
				", which divides by zero or looks into nothing, is not.",
				"So it was three times with other numbers, in turning order.", "The program is written in: " + f.names +
					"."}})
		return true, nil
	}
	return false, nil
}

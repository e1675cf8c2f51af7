package templateinjection

import (
	"fmt"
	"strings"

	"merlon/internal/engine/dast/activescan"
)

// This file proves templates of which nothing is shown but that they fail.

// A fault fails when A and B are the same number.
type fault struct{ engines, text string }

// faults are expressions that fail in each family of engines when A and B are equal,
// and are harmless when they are not.
var faults = []fault{
	{"Jinja2, Twig, Tornado", "{{1%(A-B)}}"},
	{"FreeMarker, Mako, Groovy, JSP EL", "${1%(A-B)}"},
	{"ERB", "<%=1%(A-B)%>"},
	{"EJS, lodash", "<%=(A-B)||[].x.y%>"},
	{"Slim, Haml, Spring EL", "#{1%(A-B)}"},
	{"Smarty", "{1%(A-B)}"},
}

// probeBlind asks what pages do with the signs of templates that take any other value and say
// nothing of it.
func probeBlind(p *activescan.Probe, base *activescan.Baseline) error {
	open, closed := p.RandomLetters(4), p.RandomLetters(4)
	for _, f := range faults {
		text := strings.NewReplacer("A", "7", "B", "7").Replace(f.text)
		open += text
		// Signs with spaces between begin nothing: who refuses signs refuses both.
		closed += strings.Join(strings.Split(text, ""), " ")
	}
	broken, err := p.SendValue(open)
	if err != nil {
		return err
	}
	page := p.PageOf(broken, open)
	if page.Equal(base.Page()) {
		return nil
	}
	refused, err := p.SendValue(closed)
	if err != nil || p.PageOf(refused, closed).Equal(page) {
		return err
	}
	for _, f := range faults {
		c, err := p.CompareConditions(func() (yes, no string) {
			a := p.RandomNumber(20_000, 46_340)
			b := a - p.RandomNumber(2, 9_000)
			fill := func(a, b int) string {
				return strings.NewReplacer("A", fmt.Sprint(a), "B", fmt.Sprint(b)).Replace(f.text)
			}
			return fill(a, b), fill(a, a)
		}, base.Page(), nil)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		p.MarkFound("template")
		p.MarkFound("code")
		p.RaiseAlert(activescan.Alert{Rule: byError, Payload: c.No, Request: p.Request.With(p.Point, c.No),
			Responses:     c.Responses,
			ResponseNotes: c.ResponseNotes,
			Proof: []string{"The value " + c.Yes + " is answered as any other one; " + c.No + ", which divides by " +
				"zero or looks into nothing, is not.", "So it was three times with other numbers, in turning order.",
				"The form is that of: " + f.engines + "."}})
		return nil
	}
	return nil
}

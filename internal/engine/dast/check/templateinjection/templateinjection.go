// Package templateinjection finds parameters that become part of a template or of an
// expression of a language of templates. The proof are two numbers that the engine
// computes, exactly in the place of the expression; where nothing of the template is
// shown, divisions by zero that fail, and others that do not, or a call to a listener of
// ours.
package templateinjection

import (
	"fmt"
	"html"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	rule    = texts.Get("expression")
	byError = texts.Get("error")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "templateinjection", FindingRules: []*finding.Rule{rule, byError}, Profile: scan.Safe,
	AcceptsPoint: acceptsPoint, ProbePoint: probePoint}

// acceptsPoint reports whether an expression can stand at a point: names are seldom
// rendered, and a truth value is refused before it is.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName, message.InQueryName, message.InFormName,
		message.InJSONName:
		return false
	}
	return p.Type != "boolean" && p.Type != "null"
}

// A form writes something to compute in a language, behind the value.
type form struct {
	engines string
	text    string // with A and B in the place of the factors, or W in that of a word
}

// forms begin with one value for the languages that agree; the further ones only stand
// where the page shows the value, or fails.
var forms = []form{
	{"Jinja2, Twig, Nunjucks, Tornado, Pebble, AngularJS on the server", "{{A*B}}"},
	{"FreeMarker, Thymeleaf, Mako, Velocity with tools, JSP EL, SpEL, OGNL", "${A*B}"},
	{"ERB, EJS, ASP", "<%=A*B%>"},
	{"Smarty, Latte", "{A*B}"},
	{"Spring EL, Jade, Slim, Ruby strings, JSF", "#{A*B}"},
	{"Struts OGNL, Mojolicious", "%{A*B}"},
	{"Thymeleaf preprocessing", "__${A*B}__::.x"},
	{"Velocity", "#set($x=A*B)${x}"},
	{"Razor, MVEL", "@(A*B)"},
	{"MVEL", "@{A*B}"},
	{"Liquid", "{{A|times:B}}"},
	{"doT", "{{=A*B}}"},
	{"Handlebars", `{{#with "W"}}{{length}}{{/with}}`}, // it knows no product, but how long a word is
	{"Template Toolkit", "[%A*B%]"},
	// no product, but a number in another base: one that a filter of quotes and spaces cannot make
	{"Go", "{{printf \"%x\" AB}}"},
}

// fillForm puts random numbers or words into the form, and returns it with what an engine
// makes of it. Products fit into 31 bits, with which some languages compute.
func (f form) fillForm(p *activescan.Probe) (text, want string) {
	a, b := p.RandomNumber(10_000, 46_340), p.RandomNumber(10_000, 46_340)
	word := p.RandomLetters(p.RandomNumber(11, 31))
	text = strings.NewReplacer("A", fmt.Sprint(a), "B", fmt.Sprint(b), "W", word).Replace(f.text)
	switch {
	case strings.Contains(f.text, "printf"):
		return text, fmt.Sprintf("%x", a*100_000+b)
	case strings.Contains(f.text, "W"):
		return text, fmt.Sprint(len(word))
	}
	return text, fmt.Sprint(a * b)
}

// probePoint looks for expressions that are evaluated. Where a database or a shell
// takes the value apart, its answers would look the same.
func probePoint(p *activescan.Probe) error {
	if p.AlreadyFound("sql") || p.AlreadyFound("command") {
		return nil
	}
	base, err := p.Baseline()
	if err != nil {
		return err
	}
	// What an engine computes is seen where the page repeats the value, or fails on it.
	canary, err := p.ProbeCanary()
	if err != nil {
		return err
	}
	if !strings.Contains(canary.Response.Head()+canary.Response.Text(), canary.Word) && base.Stable &&
		p.PageOf(canary.Response, canary.Word).Equal(base.Page()) {
		return probeBlind(p, base)
	}
	// Forms with a percent sign fail where a value is decoded once more: they are apart.
	for _, percent := range []bool{false, true} {
		some, err := probeAllForms(p, base, p.PageOf(canary.Response, canary.Word), percent)
		if err != nil {
			return err
		}
		if !some {
			continue
		}
		for _, f := range forms {
			if strings.Contains(f.text, "%") != percent {
				continue
			}
			if found, err := confirmForm(p, f); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// probeAllForms sends all forms at once: an engine computes one of them, or fails. A page that
// shows them as it shows a word, or neither shows them nor changes, has none; an error
// that quotes them is another page.
func probeAllForms(p *activescan.Probe, base *activescan.Baseline, word *activescan.Page, percent bool) (bool, error) {
	mark := p.RandomLetters(6)
	all := mark
	for _, f := range forms {
		if strings.Contains(f.text, "%") == percent {
			all += strings.NewReplacer("A", "2", "B", "3").Replace(f.text) + mark
		}
	}
	resp, err := p.SendValue(all)
	if err != nil {
		return false, err
	}
	text := resp.Text()
	page := p.PageOf(resp, all)
	if repeatsEncoded(text, all) && (page.Equal(word) || !base.Stable) { // repeated as it is
		return false, nil
	}
	return strings.Contains(text, mark) || resp.Status >= 500 && base.First.Status < 500 || !page.Equal(base.Page()),
		nil
}

// repeatsEncoded reports whether the page repeats the whole text in one of the usual encodings.
func repeatsEncoded(page, text string) bool {
	if strings.Contains(html.UnescapeString(page), text) {
		return true
	}
	for _, form := range activescan.Encodings(text) {
		if strings.Contains(page, form) {
			return true
		}
	}
	return false
}

// confirmForm looks for what an engine computes between two words, and then for something else.
func confirmForm(p *activescan.Probe, f form) (found bool, err error) {
	var answers []*message.Response
	var payload, proof string
	for range 2 {
		before, after := p.RandomLetters(3), p.RandomLetters(3)
		text, want := f.fillForm(p)
		payload = before + text + after
		resp, err := p.SendValue(payload)
		if err != nil {
			return false, err
		}
		if !standsBetween(resp.Text(), before, want, after) {
			return false, nil
		}
		proof = fmt.Sprintf("The response to the value %s contains %s in place of the expression.", payload, want)
		answers = append(answers, resp)
	}
	p.MarkFound("template")
	p.MarkFound("code")
	p.RaiseAlert(activescan.Alert{Rule: rule, Payload: payload, Request: p.Request.With(p.Point, payload),
		Responses:     answers,
		ResponseNotes: []string{"an expression", "another one"},
		Proof: []string{proof, "So it was with another expression.", "The form is that of: " + f.engines +
			"."}})
	return true, nil
}

// standsBetween reports whether what is wanted stands between the two words, and nothing else
// but spaces, and signs between thousands. A page that computes products wherever it sees
// them leaves the signs of the template.
func standsBetween(text, before, want, after string) bool {
	text = strings.ToLower(text)
	for {
		i := strings.Index(text, before)
		if i < 0 {
			return false
		}
		text = text[i+len(before):]
		rest := text[:min(len(text), 80)]
		if j := strings.Index(rest, after); j >= 0 {
			got := strings.TrimSuffix(plain.Replace(rest[:j]), "::x") // preprocessing leaves the rest of its form
			if got == want {
				return true
			}
		}
	}
}

// plain removes spaces, and what stands between thousands.
var plain = strings.NewReplacer(" ", "", "\n", "", "\r", "", "\t", "", ",", "", ".", "", "'", "", "\u00a0", "",
	"\u202f", "", "’", "")

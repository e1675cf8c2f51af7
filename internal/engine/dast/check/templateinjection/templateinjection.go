// Package templateinjection finds parameters that become part of a template or of an
// expression of a language of templates. The proof are two products: what the engine
// computes is not in the request.
package templateinjection

import (
	"fmt"
	"html"
	"strings"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var rule = &finding.Rule{
	ID: "dast/templateinjection/expression", Analysis: finding.DAST, Name: "Template injection",
	ShortDescription: "A parameter is evaluated as a template or an expression on the server.",
	Description: "The application makes a template, or an expression in one, of a value of the request. Most languages of templates reach objects of the program, and from there run commands: " +
		"whoever sends the request takes over the server.",
	HowToPrevent: "Give values to templates as data (variables), never as a part of their text. Where users write templates, use a language without access to the program, such as Mustache, and run it in a sandbox.",
	CWE:          []string{"CWE-1336", "CWE-94", "CWE-917"}, OWASP: []string{"A03:2021"}, Severity: finding.Critical, Confidence: finding.Certain,
}

// Check is the check.
var Check = &attack.Check{ID: "templateinjection", Rules: []*finding.Rule{rule}, Profile: scan.Safe, Wants: wants, Point: point}

func wants(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName, message.InQueryName, message.InFormName:
		return false
	}
	return p.Type != "boolean" && p.Type != "null"
}

// A form writes a product in a language, behind the value.
type form struct {
	engines string
	text    string // with A and B in the place of the factors
}

// forms begin with one value for the languages that agree; the further ones only stand
// where the page shows the value, or fails.
var forms = []form{
	{"Jinja2, Twig, Nunjucks, Liquid, Pebble, AngularJS on the server", "{{A*B}}"},
	{"FreeMarker, Thymeleaf, Mako, Velocity with tools, JSP EL, SpEL, OGNL", "${A*B}"},
	{"ERB, EJS, ASP", "<%=A*B%>"},
	{"Smarty, Latte", "{A*B}"},
	{"Spring EL, Jade, Slim, Ruby strings, JSF", "#{A*B}"},
	{"Struts OGNL, Mojolicious", "%{A*B}"},
	{"Thymeleaf preprocessing", "__${A*B}__::.x"},
	{"Velocity", "#set($x=A*B)$x"},
	{"Razor", "@(A*B)"},
	{"Go", "{{printf \"%x\" AB}}"}, // no product, but a number in another base: one that a filter of quotes and spaces cannot make
}

func point(p *attack.Probe) error {
	if p.Found("sql") || p.Found("command") {
		return nil
	}
	base, err := p.Baseline()
	if err != nil {
		return err
	}
	// What an engine computes is seen where the page repeats the value, or fails on it.
	canary, err := p.Canary()
	if err != nil {
		return err
	}
	if !strings.Contains(canary.Answer.Head()+canary.Answer.Text(), canary.Word) && base.Stable && p.Page(canary.Answer, canary.Word).Equal(base.Page()) {
		return nil
	}
	// Forms with a percent sign fail where a value is decoded once more: they are apart.
	for _, percent := range []bool{false, true} {
		some, err := evaluates(p, base, percent)
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
			if found, err := try(p, f); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// evaluates sends all forms at once: an engine computes one of them, or fails. A page that
// shows them as they are, or neither shows them nor changes, has none.
func evaluates(p *attack.Probe, base *attack.Baseline, percent bool) (bool, error) {
	mark := p.Random(6)
	all := mark
	for _, f := range forms {
		if strings.Contains(f.text, "%") == percent {
			all += strings.NewReplacer("A", "2", "B", "3").Replace(f.text) + mark
		}
	}
	resp, err := p.Try(all)
	if err != nil {
		return false, err
	}
	text := resp.Text()
	if encoded(text, all) { // repeated as it is
		return false, nil
	}
	return strings.Contains(text, mark) || resp.Status >= 500 && base.First.Status < 500 || !p.Page(resp, all).Equal(base.Page()), nil
}

// encoded reports whether the page repeats the whole text in one of the usual encodings.
func encoded(page, text string) bool {
	if strings.Contains(html.UnescapeString(page), text) {
		return true
	}
	for _, form := range attack.Encodings(text) {
		if strings.Contains(page, form) {
			return true
		}
	}
	return false
}

// try looks for two products; the second is of other factors.
func try(p *attack.Probe, f form) (found bool, err error) {
	var answers []*message.Response
	var payload, proof string
	for range 2 {
		a, b := p.Number(10_000, 99_999), p.Number(10_000, 99_999)
		before, after := p.Random(3), p.Random(3)
		payload = before + strings.NewReplacer("A", fmt.Sprint(a), "B", fmt.Sprint(b)).Replace(f.text) + after
		want := fmt.Sprintf("%d", a*b)
		if strings.HasPrefix(f.text, "{{printf") {
			want = fmt.Sprintf("%x", a*100_000+b)
		}
		resp, err := p.Try(payload)
		if err != nil {
			return false, err
		}
		text := resp.Text()
		if !strings.Contains(text, want) && !strings.Contains(text, grouped(a*b)) {
			return false, nil
		}
		proof = fmt.Sprintf("The value %s is answered with %s, which is not in the request.", payload, want)
		answers = append(answers, resp)
	}
	p.Mark("template")
	p.Mark("code")
	p.Flaw(attack.Flaw{Rule: rule, Payload: payload, Request: p.Request.With(p.At, payload), Answers: answers, Notes: []string{"a product", "that of two other numbers"},
		Proof: []string{proof, "So it was with two other numbers.", "The form is that of: " + f.engines + "."}})
	return true, nil
}

// grouped writes a number with commas between thousands, as FreeMarker does.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

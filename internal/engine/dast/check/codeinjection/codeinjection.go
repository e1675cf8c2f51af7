// Package codeinjection finds parameters that are evaluated as a program: PHP,
// JavaScript, Python, Ruby, Perl. The proof is text that the program puts together, or a
// product that it computes, twice.
package codeinjection

import (
	"fmt"
	"strings"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var rule = &finding.Rule{
	ID: "dast/codeinjection/evaluation", Analysis: finding.DAST, Name: "Code injection",
	ShortDescription: "A parameter is evaluated as a program on the server.",
	Description: "The application gives a value of the request to a function that runs text as a program (`eval` and its kin). Whoever sends the request runs his own program with the rights of the application: " +
		"he takes over the server.",
	HowToPrevent: "Do not evaluate text: parse the form of input that is meant (JSON, a number, a formula with a parser of its own), and choose functions by name from a fixed list.",
	CWE:          []string{"CWE-94", "CWE-95"}, OWASP: []string{"A03:2021"}, Severity: finding.Critical, Confidence: finding.Certain,
}

// Check is the check.
var Check = &attack.Check{ID: "codeinjection", Rules: []*finding.Rule{rule}, Profile: scan.Safe, Wants: wants, Point: point}

func wants(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName, message.InQueryName, message.InFormName:
		return false
	}
	return p.Type != "boolean" && p.Type != "null"
}

// A form is an expression in a place of a program. A and B are factors, V the value, and
// L, R words that it joins around the product.
type form struct{ where, text string }

var forms = []form{
	{"an expression", "A*B"},
	{"a string of PHP or Perl", "V'.(A*B).'"},
	{"a string of JavaScript", "V'+(A*B)+'"},
	{"a string of Python", "V'+str(A*B)+'"},
	{"a string of Ruby", "V'+(A*B).to_s+'"},
	{"a string in double quotes of PHP or Perl", `V".(A*B)."`},
	{"a string in double quotes of JavaScript", `V"+(A*B)+"`},
	{"a string in double quotes of Python", `V"+str(A*B)+"`},
	{"a string of PHP in double quotes", `V{${print(A*B)}}`},
	{"a statement of PHP", "V;print(A*B);//"},
}

func point(p *attack.Probe) error {
	if p.Found("code") || p.Found("sql") || p.Found("command") || p.Found("template") {
		return nil
	}
	r, err := p.Reaction()
	if err != nil || !r.Changed() { // no program ends there
		return err
	}
	missing, err := r.Missing()
	if err != nil {
		return err
	}
	list := forms
	if missing.Equal(r.Breaking) { // only a whole expression fails on both
		list = forms[:1]
	}
	for _, f := range list {
		if found, err := try(p, f); found || err != nil {
			return err
		}
	}
	return nil
}

func try(p *attack.Probe, f form) (found bool, err error) {
	var answers []*message.Response
	var payload, proof string
	for range 2 {
		a, b := p.Number(10_000, 99_999), p.Number(10_000, 99_999)
		payload = strings.NewReplacer("V", p.Value(), "A", fmt.Sprint(a), "B", fmt.Sprint(b)).Replace(f.text)
		resp, err := p.Try(payload)
		if err != nil {
			return false, err
		}
		if !strings.Contains(resp.Text(), fmt.Sprint(a*b)) {
			return false, nil
		}
		proof = fmt.Sprintf("The value %s is answered with %d, which is not in the request.", payload, a*b)
		answers = append(answers, resp)
	}
	p.Mark("code")
	p.Flaw(attack.Flaw{Rule: rule, Payload: payload, Request: p.Request.With(p.At, payload), Answers: answers, Notes: []string{"a product", "that of two other numbers"},
		Proof: []string{proof, "So it was with two other numbers.", "The value stands in " + f.where + "."}})
	return true, nil
}

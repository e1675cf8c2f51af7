// Package codeinjection finds parameters that are evaluated as a program: PHP,
// JavaScript, Python, Ruby, Perl, expressions of Java. The proof is a product that the
// program computes and joins with text, twice: what only computes, such as a
// calculator, joins nothing, but where its functions lead out of it. Where nothing of it is shown, the proof are
// divisions by zero that
// fail, and others that do not, or a call to a listener of ours.
package codeinjection

import (
	"fmt"
	"net/http"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	rule    = texts.Get("evaluation")
	byError = texts.Get("error")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "codeinjection", FindingRules: []*finding.Rule{rule, byError}, Profile: scan.Safe,
	AcceptsPoint: acceptsPoint,
	ProbePoint:   probePoint}

// acceptsPoint reports whether code can stand at a point: names are seldom evaluated,
// and a truth value is refused before it is.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName, message.InQueryName, message.InFormName,
		message.InJSONName:
		return false
	}
	return p.Type != "boolean" && p.Type != "null"
}

// A language joins texts with a sign, and has a way to write a product as text.
type language struct {
	names   string
	join    string
	product string // with A and B in the place of the factors
}

// languages are the languages whose arithmetic and joining of texts differ. One attempt
// serves all of a line.
var languages = []language{
	{"JavaScript, Java and its expression languages, FreeMarker", "+", "(A*B)"},
	{"PHP, Perl", ".", "(A*B)"},
	{"Python", "+", "str(A*B)"},
	{"Ruby", "+", "(A*B).to_s"},
	{"Jinja2, Twig", "~", "(A*B)"},
}

// places are where the value may stand; each has a product of its own in a payload. The
// last one is left by nothing: PHP evaluates what stands in such a string by itself.
var places = []string{"an expression", "a string", "a string in double quotes", "a string in double quotes that " +
	"evaluates"}

// polyglotPayload writes three products, so that one of them is computed wherever the value
// stands: by itself, between single, or between double quotes. The others are text then.
//
//	P+'+P+'+"+P+"
func (l language) polyglotPayload(products []string) string {
	j := l.join
	return products[0] + j + "'" + j + products[1] + j + "'" + j + `"` + j + products[2] + j + `"`
}

// showsResult reports whether the page shows the number as it comes out at the place: beside a
// sign that is text there, without the brackets around the product.
func (l language) showsResult(text string, place int, number string) bool {
	switch place {
	case 0:
		return strings.Contains(text, number+l.join)
	case 1:
		return strings.Contains(text, l.join+number+l.join)
	}
	return strings.Contains(text, l.join+number)
}

// probePoint tests one value. A value that breaks a program and one that mends it show that
// it ends in code; a product that is computed proves it.
func probePoint(p *activescan.Probe) error {
	if p.AlreadyFound("code") || p.AlreadyFound("sql") || p.AlreadyFound("command") || p.AlreadyFound("template") {
		return nil
	}
	r, err := p.ProbeErrorReaction()
	if err != nil {
		return err
	}
	if !r.Changed() { // no program ends there, unless the value itself is none
		return printIfBroken(p, r)
	}
	missing, err := r.UnknownPage()
	if err != nil {
		return err
	}
	whole := missing.Equal(r.Breaking) // only a whole expression does not fail as both do
	x, y := randomFactors(p)
	product := fmt.Sprintf("%d*%d", x, y)
	if strings.Contains(p.OriginalValue(), ";") { // statements
		product += ";"
	}
	if whole {
		resp, err := p.SendCached(product)
		if err != nil {
			return err
		}
		if p.PageOf(resp, product).Equal(r.Breaking) { // it may lack what ends a statement
			return printIfBroken(p, r)
		}
	}
	if found, err := probeComputed(p, product, fmt.Sprint(x*y)); found || whole || err != nil {
		return err
	}
	return probeBlind(p, r)
}

// printIfBroken tries statements that print where the value broke the server: an expression
// may fail there because a statement is expected.
func printIfBroken(p *activescan.Probe, r *activescan.ErrorReaction) error {
	if r.Broken.Status < http.StatusInternalServerError {
		return nil
	}
	_, err := probePrint(p)
	return err
}

// probeComputed looks for products that the application computes: joined with texts in each
// language, printed, and as a calculator whose functions may lead out of its sandbox.
func probeComputed(p *activescan.Probe, product, result string) (bool, error) {
	for _, l := range languages {
		if found, err := probeConcatenation(p, l); found || err != nil {
			return found, err
		}
	}
	if found, err := probePrint(p); found || err != nil {
		return found, err
	}
	computed, err := p.SendCached(product)
	if err != nil || !strings.Contains(computed.Text(), result) {
		return false, err
	}
	return probeSandboxEscape(p)
}

// functions are what calculators that are written in JavaScript know: one by its name, one
// of texts, and the one that makes objects.
var functions = []string{"cos", "''.sub", "this.constructor"}

// probeSandboxEscape looks for calculators whose functions lead to the one that makes functions of
// text. The text is a program, which joins a product with words.
func probeSandboxEscape(p *activescan.Probe) (bool, error) {
	for _, f := range functions {
		var before, after string
		found, err := confirmTwice(p, "A calculator written in JavaScript gives its functions away, and with them the "+
			"language.", func() (string, []int) {
			a, b := randomFactors(p)
			before, after = p.RandomLetters(4), p.RandomLetters(4)
			return fmt.Sprintf(`%s.constructor("return '%s'+%d*%d+'%s'")()`, f, before, a, b, after), []int{a * b}
		}, func(text string, _, result int) bool {
			return strings.Contains(text, fmt.Sprint(before, result, after))
		})
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// randomFactors are two numbers whose product fits into 31 bits, with which some languages
// compute.
func randomFactors(p *activescan.Probe) (a, b int) {
	return p.RandomNumber(10_000, 46_340), p.RandomNumber(10_000, 46_340)
}

// groupThousands writes a number with commas between thousands, as FreeMarker does.
func groupThousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// probeConcatenation looks for a product beside the text that it is joined with, and then for another
// one in the same place.
func probeConcatenation(p *activescan.Probe, l language) (bool, error) {
	return confirmTwice(p, "The program is written in: "+l.names+".", func() (string, []int) {
		var products []string
		var results []int
		for range places[:3] {
			a, b := randomFactors(p)
			products = append(products, strings.NewReplacer("A", fmt.Sprint(a), "B", fmt.Sprint(b)).Replace(l.product))
			results = append(results, a*b)
		}
		return l.polyglotPayload(products), results
	}, func(text string, place, result int) bool {
		return l.showsResult(text, place, fmt.Sprint(result)) || l.showsResult(text, place, groupThousands(result))
	})
}

// probePrint looks for what statements print, where the value is a statement or a part of
// one: the sign behind them begins a comment in PHP, Python and Perl. A statement of its own
// comes first, since the value alone may be a word that fails. In a string that no quote
// ends, since they are taken out, braces begin an expression of PHP.
func probePrint(p *activescan.Probe) (bool, error) {
	return confirmTwice(p, "The program is written in PHP, Python or Perl; the value stands in a "+
		"statement.", func() (string, []int) {
		var payload string
		var results []int
		for _, end := range []string{"", p.OriginalValue() + "';", `";`} {
			a, b := randomFactors(p)
			c := p.RandomNumber(1_000, 9_999)
			payload += fmt.Sprintf("%sprint(%d*%d-%d);#", end, a, b, c)
			results = append(results, a*b-c)
		}
		a, b := randomFactors(p)
		c := p.RandomNumber(1_000, 9_999)
		payload += fmt.Sprintf("{${print(%d*%d-%d)}}", a, b, c)
		results = append(results, a*b-c)
		return payload, results
	}, func(text string, _, result int) bool {
		return strings.Contains(text, fmt.Sprint(result)) && !strings.Contains(text, fmt.Sprint("(", result))
	})
}

// confirmTwice sends two payloads, and tells the vulnerability where both results are shown for the same
// place.
func confirmTwice(p *activescan.Probe, language string, write func() (string, []int),
	shows func(text string, place, result int) bool) (bool, error) {
	var answers []*message.Response
	var payload, proof string
	at := -1
	for round := range 2 {
		text, results := write()
		payload = text
		resp, err := p.SendValue(payload)
		if err != nil {
			return false, err
		}
		shown := -1
		for place, result := range results {
			if (round == 0 || place == at) && shows(resp.Text(), place, result) {
				shown = place
				proof = fmt.Sprintf("The response to the value %s contains %d, which is not in the request.", payload,
					result)
				break
			}
		}
		if shown < 0 {
			return false, nil
		}
		at = shown
		answers = append(answers, resp)
	}
	p.MarkFound("code")
	p.RaiseAlert(activescan.Alert{Rule: rule, Payload: payload, Request: p.Request.With(p.Point, payload),
		Responses:     answers,
		ResponseNotes: []string{"a product, joined with text", "that of two other numbers"},
		Proof: []string{proof, "So it was with two other numbers.", "The value stands in " + places[at] + ". " +
			language}})
	return true, nil
}

// Package xss finds cross-site scripting: a value of a request that becomes script in
// a page, of the same answer (reflected) or of a later one (stored).
//
// A harmless word shows where a value appears. For each such context a few values that
// leave it are sent, and the answer is parsed as a browser parses it: a flaw is only
// what then stands there as an event handler, an address with a scheme of script, or a
// call in script that parses. Everything is sent again with another word before it is
// told. Encoded, filtered or quoted values are no flaw.
package xss

import (
	"slices"
	"strings"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

const prevent = "Encode each value for the place where it is written: entities in markup, `\\u` escapes in script, percent-encoding in addresses; best by a template engine that does so by itself and knows the place. " +
	"Compare schemes of addresses with a list. Add a Content-Security-Policy without `unsafe-inline` as a second line."

var reflected = &finding.Rule{
	ID: "dast/xss/reflected", Analysis: finding.DAST, Name: "Reflected cross-site scripting",
	ShortDescription: "A value of the request runs as script in the answer.",
	Description:      "Whoever opens a prepared link, or a page that sends a prepared form, runs the attacker's script in the application's name: it can read what the user can read, and act as the user.",
	HowToPrevent:     prevent, CWE: []string{"CWE-79"}, OWASP: []string{"A03:2021"}, Severity: finding.High, Confidence: finding.Certain,
}

var stored = &finding.Rule{
	ID: "dast/xss/stored", Analysis: finding.DAST, Name: "Stored cross-site scripting",
	ShortDescription: "A value that was stored runs as script in a page.",
	Description:      "The application keeps what one user sends and writes it into pages of others, where it runs as script in the application's name. Nobody has to follow a prepared link.",
	HowToPrevent:     prevent, CWE: []string{"CWE-79"}, OWASP: []string{"A03:2021"}, Severity: finding.High, Confidence: finding.Certain,
}

var content = &finding.Rule{
	ID: "dast/xss/foreign-content", Analysis: finding.DAST, Name: "Content of another site in a page",
	ShortDescription: "A value of the request decides which site a frame shows, where a form goes, or how the page looks.",
	Description: "Script does not run, but a prepared link changes the page under the application's name: a frame shows a page of the attacker, a form sends what the user enters to him, " +
		"or a style hides, moves and reads parts of the page.",
	HowToPrevent: prevent, CWE: []string{"CWE-79", "CWE-1021"}, OWASP: []string{"A03:2021"}, Severity: finding.Medium, Confidence: finding.Certain,
}

// Check is the check.
var Check = &attack.Check{ID: "xss", Rules: []*finding.Rule{reflected, stored, content}, Profile: scan.Safe, Point: point, Request: others, Stored: held}

// point looks at a value.
func point(p *attack.Probe) error {
	canary, err := p.Canary()
	if err != nil {
		return err
	}
	word, resp := canary.Word, canary.Answer
	if p.At.Type != "file" && p.Request.Method != "GET" && p.Target.Profile.Allows(scan.Standard) {
		p.Leave(word, word)
	}
	return at(p, word, resp)
}

// others looks at what few applications show: cookies, the page that led here, and the
// names of parameters, all in one request.
func others(t *attack.Trial) error {
	r := t.Request.Clone()
	words := map[string]message.Point{}
	add := func(p message.Point) {
		word := "m" + t.Random(9)
		words[word] = p
		r = r.With(p, word)
	}
	for _, p := range t.Request.Points() {
		if p.In == message.InCookie || p.In == message.InHeader {
			add(p)
		}
	}
	referer := message.HeaderPoint("Referer")
	word := "m" + t.Random(9)
	words[word] = referer
	r = r.With(referer, t.Request.Base()+"/?"+word)
	add(message.HeaderPoint("User-Agent"))
	names := t.Request.Names()
	for _, p := range names[:min(len(names), 20)] {
		add(p)
	}
	resp, err := t.Send(r)
	if err != nil {
		return err
	}
	for word, p := range words {
		if !strings.Contains(resp.Text(), word) {
			continue
		}
		probe := &attack.Probe{Trial: *t, At: p}
		if p.Name == "Referer" {
			probe.At.Value = t.Request.Base() + "/?"
		}
		if err := at(probe, word, resp); err != nil {
			return err
		}
	}
	return nil
}

// shown reports whether a browser shows the answer as a page.
func shown(resp *message.Response) bool {
	if resp.Location() != nil {
		return false
	}
	switch resp.MediaType() {
	case "text/html", "application/xhtml+xml", "image/svg+xml":
		return true
	case "":
		return true
	}
	return false
}

// at tries to leave the contexts in which the word appears in the answer.
func at(p *attack.Probe, word string, resp *message.Response) error {
	if !shown(resp) || !strings.Contains(resp.Text(), word) {
		return nil
	}
	try := func(payload string) (*message.Response, *message.Request, error) {
		value := payload
		if p.At.In == message.InHeader { // which holds no line ends
			value = strings.ReplaceAll(value, "\n", "\t")
		}
		if p.At.Name == "Referer" && p.At.In == message.InHeader {
			value = p.At.Value + value
		}
		r := p.Request.With(p.At, value)
		resp, err := p.Send(r)
		return resp, r, err
	}
	found, err := breakOut(contexts(resp, word), "m"+p.Random(9), try)
	if err != nil || found == nil {
		return err
	}
	again, err := breakOut(found.contexts(), "m"+p.Random(9), func(payload string) (*message.Response, *message.Request, error) { return try(payload) })
	if err != nil || again == nil {
		return err
	}
	flaw := attack.Flaw{Rule: reflected, Request: again.request, Payload: again.payload, Answers: []*message.Response{resp, found.answer, again.answer},
		Notes: []string{"a harmless word shows where the value appears", "a value that leaves its place", "again, with another word"},
		Proof: []string{"The value appears " + found.where.describe() + ".", "With " + again.payload + " the page has " + again.how + ", read as a browser reads it.", "A second try with another word gave the same."}}
	if again.how == styleHow || strings.HasPrefix(again.how, foreignHow) && !strings.HasSuffix(again.how, " script") && !strings.HasSuffix(again.how, " base") {
		flaw.Rule = content
	}
	if err := executed(p, again, &flaw); err != nil {
		return err
	}
	later, err := keeps(p, again)
	if err != nil {
		return err
	}
	if later != nil && flaw.Rule == reflected {
		flaw.Rule = stored
		flaw.Answers = append(flaw.Answers, later)
		flaw.Notes = append(flaw.Notes, "the page, asked without the value")
		flaw.Proof = append(flaw.Proof, "The page holds it also when it is asked without the value.")
	}
	p.Flaw(flaw)
	return nil
}

// executed adds what a browser says of the request, where there is one. Script that
// waits for the user is none the less a flaw.
func executed(p *attack.Probe, found *proof, flaw *attack.Flaw) error {
	if p.Browser == nil || found.how == styleHow || strings.HasPrefix(found.how, foreignHow) {
		return nil
	}
	ran, err := p.Browser.Execute(p.Context, found.request, found.word)
	if err != nil && p.Context.Err() != nil {
		return p.Context.Err()
	}
	if len(ran) > 0 {
		flaw.Proof = append(flaw.Proof, "A browser that opened it ran the script: "+ran[0]+".")
	}
	return nil
}

// keeps reports whether the page holds the script when it is asked without the value:
// the page that the form is on, else the same address with the former value.
func keeps(p *attack.Probe, found *proof) (*message.Response, error) {
	if p.Request.Method == "GET" {
		return nil, nil
	}
	page := p.Request.Referer
	if page == "" {
		page = p.Request.Base() + p.Request.Path
	}
	r, err := message.Parse(page)
	if err != nil || p.Scope.Allows(r) != nil {
		return nil, nil //nolint:nilerr // there is no such page
	}
	resp, err := p.Follow(r)
	if err != nil {
		return nil, err
	}
	if _, ok := proven(resp, found.word); ok {
		return resp, nil
	}
	return nil, nil
}

// held looks at a page that holds a word which was left elsewhere.
func held(t *attack.Trial, token attack.Token, resp *message.Response) error {
	if !shown(resp) {
		return byScript(t, token, resp)
	}
	try := func(payload string) (*message.Response, *message.Request, error) {
		r := token.Request.With(token.Point, payload)
		if _, err := t.Send(r); err != nil {
			return nil, nil, err
		}
		resp, err := t.Follow(t.Request)
		return resp, r, err
	}
	found, err := breakOut(contexts(resp, token.Text), "m"+t.Random(9), try)
	if err != nil || found == nil {
		return err
	}
	point := token.Point
	t.Flaw(attack.Flaw{Rule: stored, Request: found.request, Point: &point, Payload: found.payload, Answers: []*message.Response{resp, found.answer},
		Notes: []string{"the page holds a word that was sent to another address", "the page after a value that leaves its place was sent"},
		Proof: []string{"A word that was sent to " + found.request.Place() + " appears in " + t.Request.Place() + " " + found.where.describe() + ".",
			"With " + found.payload + " that page has " + found.how + ", read as a browser reads it."}})
	return nil
}

// maxScripted bounds the values that are looked at in the browser.
const maxScripted = 30

// byScript looks at an answer that is no page, and holds a word that was left elsewhere:
// pages whose scripts ask for it may write it as markup. What is left runs nothing but a
// function that only our browser has; the proof is that it was called.
func byScript(t *attack.Trial, token attack.Token, resp *message.Response) error {
	if t.Browser == nil || !strings.Contains(resp.MediaType(), "json") || !t.Once("xss scripted "+token.Request.Method+" "+token.Request.Place()+" "+token.Point.Key()) || t.Count("xss scripted") > maxScripted {
		return nil
	}
	mark := "m" + t.Random(9)
	payload := "<img src=x onerror=" + mark + "()>"
	r := token.Request.With(token.Point, payload)
	if _, err := t.Send(r); err != nil {
		return err
	}
	later, err := t.Follow(t.Request)
	if err != nil || !strings.Contains(later.Text(), mark) {
		return err
	}
	ran, err := t.Browser.ExecuteShown(t.Context, t.Request, mark)
	if err != nil && t.Context.Err() != nil {
		return t.Context.Err()
	}
	if len(ran) == 0 {
		return nil
	}
	point := token.Point
	t.Flaw(attack.Flaw{Rule: stored, Request: r, Point: &point, Payload: payload, Answers: []*message.Response{resp, later},
		Notes: []string{"the answer holds a word that was sent to another address", "the answer after the value was sent"},
		Proof: []string{"A word that was sent to " + r.Place() + " is in the answer of " + t.Request.Place() + ", which scripts of pages ask for.",
			"With " + payload + ", a browser that opened such a page ran it: " + ran[0] + "."}})
	return nil
}

// A proof is a value that became script.
type proof struct {
	where   context
	index   int // of the payload of the context
	word    string
	payload string
	how     string
	request *message.Request
	answer  *message.Response
}

// contexts returns the context with the payload that worked, to try it again.
func (p *proof) contexts() []context {
	c := p.where
	c.only = p.index + 1
	return []context{c}
}

// maxContexts bounds the contexts of one value that are tried.
const maxContexts = 5

// breakOut tries to leave one of the contexts.
func breakOut(list []context, word string, try func(payload string) (*message.Response, *message.Request, error)) (*proof, error) {
	var sent []string
	for _, c := range list[:min(len(list), maxContexts)] {
		blocked := 0
		for i, payload := range c.payloads(word) {
			if c.only > 0 && i != c.only-1 || slices.Contains(sent, payload) {
				continue
			}
			sent = append(sent, payload)
			resp, request, err := try(payload)
			if err != nil {
				return nil, err
			}
			if how, ok := proven(resp, word); ok && shown(resp) {
				return &proof{where: c, index: i, word: word, payload: payload, how: how, request: request, answer: resp}, nil
			}
			if c.stops(resp, word, payload) {
				break
			}
			if !strings.Contains(resp.Text(), word) {
				if blocked++; blocked == 3 {
					break // something in front refuses all of them
				}
			}
		}
	}
	return nil, nil
}

// Package sessionid finds identifiers of sessions and tokens from which the next one can be
// computed (CWE-330, CWE-340): counters, the clock, and digests of either.
//
// InspectResponse records operations whose values could be numbers or digests by their form; only
// these are requested again. Two values in a row give a model of how they are made (model.go). The
// proof: values that the application has not issued yet are predicted, proofs times in a row.
//
// Budget: some ten requests for each name of a value, none where values are random by their form.
package sessionid

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("predictable")

// Rule is the check.
var Rule = &activescan.Rule{ID: "sessionid", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
	InspectResponse: recordOperation,
	ScanOperation:   scanOperation}

// stands matches names of values that identify somebody or prove who he is.
var stands = lazyregexp.New(`(?i)sess(ion)?([^a-z]|$|[-_]?(id|key|token))|session|(^|[^a-z])sid($|[^a-z])|token|auth([^o]|$)|csrf|xsrf|remember`)

// counts matches names of values that count or contain a time, which are no secrets.
var counts = lazyregexp.New(`(?i)time|date|expir|start|last|since|count|visit|hits|views|pages?|requests|version|length|size|used|limit|[-_](at|ts|no|nr)$|ttl`)

// A kind says where in an answer a value stands.
type kind string

const (
	cookie   kind = "cookie"
	field    kind = "hidden field"
	property kind = "property"
)

// A place is where responses give a value: its kind and name.
type place struct {
	kind kind
	name string
}

// String names the place, for people and as a key.
func (p place) String() string { return string(p.kind) + " " + p.name }

// maxText bounds the values that are analyzed, in characters; longer ones are signed tokens.
const maxText = 200

// sessionValues returns what an answer gives that stands for somebody.
func sessionValues(resp *message.Response) map[place]string {
	out := map[place]string{}
	add := func(k kind, name, text string) {
		if len(out) < 20 && len(text) <= maxText && stands.MatchString(name) && !counts.MatchString(name) {
			out[place{k, name}] = text
		}
	}
	for _, c := range (&http.Response{Header: resp.Header}).Cookies() {
		// A negative MaxAge deletes the cookie.
		if c.MaxAge >= 0 {
			add(cookie, c.Name, c.Value)
		}
	}
	switch {
	case resp.IsHTML():
		for n := range resp.Document().Descendants() {
			if n.Type == html.ElementNode && n.Data == "input" && strings.EqualFold(attributeOf(n, "type"), "hidden") {
				add(field, attributeOf(n, "name"), attributeOf(n, "value"))
			}
		}
	case strings.HasSuffix(resp.MediaType(), "json"):
		body := message.Request{Body: message.Body{Kind: message.JSON, Text: resp.Body}}
		for _, p := range body.Points() {
			add(property, p.Name[strings.LastIndexByte(p.Name, '/')+1:], p.Value)
		}
	}
	return out
}

// attributeOf returns the value of an attribute; empty: there is none.
func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// recordOperation remembers which operations give values that could be computed, by their form.
func recordOperation(t *activescan.OperationScan, resp *message.Response) {
	for at, text := range sessionValues(resp) {
		if isNumberOrDigest(text) {
			t.RecordFact(givenValues(resp.Request, at))
			t.RecordFact("sessionid " + sitemap.OperationKey(resp.Request))
		}
	}
}

// givenValues is the name of the fact that holds what an operation gives at a place.
func givenValues(r *message.Request, at place) string {
	return "sessionid " + sitemap.OperationKey(r) + " " + at.String()
}

// scanOperation requests the operation again for the values that it gives, each name once in the
// scan. SendExclusively keeps other requests from taking values in between.
func scanOperation(t *activescan.OperationScan) error {
	if !t.HasFact("sessionid " + sitemap.OperationKey(t.Request)) {
		return nil
	}
	first, err := t.SendExclusively(t.Request)
	if err != nil {
		return err
	}
	for at, text := range sessionValues(first) {
		if !t.HasFact(givenValues(t.Request, at)) || !t.FirstTime("sessionid "+at.String()) {
			continue
		}
		if err := predictValue(t, at, sample{text: text, resp: first}); err != nil {
			return err
		}
	}
	return nil
}

// A sample is a value with the answer that gave it.
type sample struct {
	text string
	resp *message.Response
}

// serverTime is the server's time when it answered, as far as is known.
func (s sample) serverTime() time.Time {
	if at, err := http.ParseTime(s.resp.Header.Get("Date")); err == nil {
		return at
	}
	return time.Now()
}

const (
	// rounds is how often a prediction is tried: another user may get a value in between.
	rounds = 3
	// proofs is how many predictions in a row have to be right.
	proofs = 2
)

// predictValue draws two values, finds what they are made from, and predicts the next.
func predictValue(t *activescan.OperationScan, at place, last sample) error {
	for range rounds {
		next, err := drawValue(t, at)
		if err != nil || next == nil {
			return err
		}
		m := findModel(last, *next)
		last = *next
		if m == nil {
			return nil
		}
		answers, notes, proof := []*message.Response{last.resp}, []string{"a value that shows what it is made from"},
			[]string{"The value is " + m.what + "."}
		for len(answers) <= proofs {
			want, err := m.predictNext(t, last)
			if err != nil {
				return err
			}
			got, err := drawValue(t, at)
			if err != nil || got == nil {
				return err
			}
			fits := m.matchesPrediction(last, *got)
			if last = *got; !fits {
				break
			}
			answers, notes = append(answers, got.resp), append(notes, "a value that was predicted")
			proof = append(proof, "Before the request was sent, its value was predicted: "+want+". The answer gave it.")
		}
		if len(answers) > proofs {
			t.RaiseAlert(activescan.Alert{Rule: rule, Responses: answers, ResponseNotes: notes, Proof: proof,
				Key:     at.String(),
				Message: fmt.Sprintf("The %s %s can be predicted: it is %s.", at.kind, at.name, m.what)})
			return nil
		}
	}
	return nil
}

// drawValue asks for one value more; nil: the operation gives none.
func drawValue(t *activescan.OperationScan, at place) (*sample, error) {
	resp, err := t.SendExclusively(t.Request)
	if err != nil {
		return nil, err
	}
	text, ok := sessionValues(resp)[at]
	if !ok {
		return nil, nil
	}
	return &sample{text, resp}, nil
}

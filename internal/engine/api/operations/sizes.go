package operations

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file asks lists for more than a server should answer at once.

// sizes matches normalized names of parameters for the size of a page: limit, page_size, perPage,
// $top.
var sizes = lazyregexp.New(`^(limit|size|pagesize|perpage|itemsperpage|pagelimit|maxresults|maxitems|resultsperpage|count|top|take|first)$`)

const (
	// huge is a size that no page has, and that fits into any integer.
	huge = 1_000_000
	// many is the number of objects from which on a page counts as unlimited.
	many = 1000
)

// probePageSize asks a list for one, two and a million of its objects. That the parameter is obeyed
// shows in the first two; that it has no limit shows when the third answers a thousand
// objects or more, or tells the million as the size of the page.
func (e *examination) probePageSize(t *activescan.OperationScan) error {
	c := e.callOf(t)
	if c == nil || c.answer == nil || c.answer.Status != http.StatusOK || c.operation.Call != nil ||
		c.operation.Method != http.MethodGet || e.Target.Production {
		return nil
	}
	name := sizeParameter(c.operation)
	if name == "" || longestList(message.DecodeJSON(c.answer.Body), 0) < 0 {
		return nil
	}
	var answers []*message.Response
	for _, n := range []int{1, 2, huge} {
		resp, err := t.Send(requestWithSize(t.Request, name, n))
		if err != nil {
			return err
		}
		if answers = append(answers, resp); resp.Status != http.StatusOK ||
			n < huge && longestList(message.DecodeJSON(resp.Body), 0) != n {
			return nil
		}
	}
	f := activescan.Alert{Rule: pageSize, Request: answers[2].Request,
		Point: &message.Point{In: message.InQuery, Name: name}, Payload: fmt.Sprint(huge), Responses: answers,
		ResponseNotes: []string{"one", "two", "a million"}, Message: fmt.Sprintf("%s %s has no limit of %q",
			c.operation.Method, c.operation.Path, name),
		Proof: []string{fmt.Sprintf("%s=1 returns one object, and %s=2 two: the parameter is effective.", name, name)}}
	if provePageSize(&f, name, answers) {
		t.RaiseAlert(f)
	}
	return nil
}

// sizeParameter returns the name of the query parameter for the size of a page; empty: there is
// none.
func sizeParameter(o *apispec.Operation) string {
	for _, p := range o.Parameters {
		if p.In == "query" && sizes.MatchString(normalizeName(p.Name)) {
			return p.Name
		}
	}
	return ""
}

// requestWithSize returns the request with the size n.
func requestWithSize(r *message.Request, name string, n int) *message.Request {
	out := r.Clone()
	out.Query = nil
	for _, p := range r.Query {
		if p.Name != name {
			out.Query = append(out.Query, p)
		}
	}
	out.Query = append(out.Query, message.Param{Name: name, Value: fmt.Sprint(n)})
	return out
}

// provePageSize adds to the alert what the last response shows, and reports whether it
// shows anything. A size that is only repeated is weaker: the table may be small.
func provePageSize(f *activescan.Alert, name string, answers []*message.Response) bool {
	last := message.DecodeJSON(answers[2].Body)
	n := longestList(last, 0)
	if n >= many || answers[2].Truncated {
		f.Proof = append(f.Proof, fmt.Sprintf("%s=%d returns %d objects, "+
			"%d bytes.", name, huge, n, len(answers[2].Body)))
		return true
	}
	where := echoedSize(last, huge)
	if where == "" || echoedSize(message.DecodeJSON(answers[1].Body), 2) != where {
		return false
	}
	f.Severity, f.Confidence = finding.Low, finding.MediumConfidence
	f.Proof = append(f.Proof, fmt.Sprintf("%s=%d is accepted: the response reports it as %q, as it reported 2 "+
		"before. There are %d objects now.", name, huge, where, n))
	return true
}

// longestList returns the length of the longest list of objects in the upper levels of a document;
// -1: there is none. Lists of texts are no pages.
func longestList(v any, depth int) int {
	out := -1
	switch v := v.(type) {
	case []any:
		out = len(v)
		if len(v) > 0 {
			if _, is := v[0].(map[string]any); !is {
				return -1
			}
		}
	case map[string]any:
		for _, below := range v {
			if depth < 3 {
				out = max(out, longestList(below, depth+1))
			}
		}
	}
	return out
}

// echoedSize returns the name of the property, outside of lists, that repeats the size of the page,
// such as "meta.limit"; empty: there is none.
func echoedSize(v any, n int) string {
	at, _ := v.(map[string]any)
	for name, below := range at {
		if number, is := below.(json.Number); is && number.String() == fmt.Sprint(n) &&
			sizes.MatchString(normalizeName(name)) {
			return name
		}
		if where := echoedSize(below, n); where != "" {
			return strings.Join([]string{name, where}, ".")
		}
	}
	return ""
}

package operations

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/api/authz"
	"merlon/internal/engine/api/conformance"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file checks operations against what their description says.

// describedRules are those that need a description.
func (e *examination) describedRules() []*activescan.Rule {
	return []*activescan.Rule{
		{ID: "look", ScanSite: e.inspectResponses},
		{ID: "authorization", FindingRules: authz.Rules(), Profile: scan.Safe, ScanSite: e.scanAuthorization},
		{ID: "conformance", FindingRules: conformanceRules, ScanOperation: e.checkConformance},
		{ID: "authentication", FindingRules: []*finding.Rule{missingAuthentication}, Profile: scan.Safe,
			ScanOperation: e.probeWithoutSignIn},
		{ID: "validation", FindingRules: []*finding.Rule{serverError, inputAccepted}, Profile: scan.Safe,
			ScanOperation: e.probeValidation},
		{ID: "sizes", FindingRules: []*finding.Rule{pageSize}, Profile: scan.Standard, ScanOperation: e.probePageSize},
	}
}

// callOf returns the operation of an operation scan.
func (e *examination) callOf(t *activescan.OperationScan) *call {
	return e.byShape[sitemap.OperationKey(t.Request)]
}

// inspectResponses gives the answers that are there already to the checks that only look.
func (e *examination) inspectResponses(t *activescan.OperationScan) error {
	for _, c := range e.calls {
		if c.answer != nil {
			e.Engine.InspectResponse(t.Context, c.answer)
		}
	}
	return nil
}

// checkConformance compares the answer to a valid request with the description.
func (e *examination) checkConformance(t *activescan.OperationScan) error {
	c := e.callOf(t)
	if c == nil || c.answer == nil {
		return nil
	}
	breaches := map[conformance.Kind][]conformance.Deviation{}
	for _, b := range conformance.Compare(c.operation, c.answer) {
		breaches[b.Kind] = append(breaches[b.Kind], b)
	}
	for kind, rule := range ruleOf {
		list := breaches[kind]
		if len(list) == 0 || kind == conformance.Failure && c.operation.Call != nil {
			continue
		}
		var proof []string
		for _, b := range list {
			proof = append(proof, b.Note)
		}
		if kind == conformance.Status && c.seen.Outcome != finding.Reached {
			continue // that a request is refused is the business of who described it
		}
		if c.origin != "openapi" && kind != conformance.Failure && kind != conformance.Credential {
			continue // what a collection saved is an example, not a promise
		}
		t.RaiseAlert(activescan.Alert{Rule: rule, Message: fmt.Sprintf("%s %s %s", c.operation.Method, c.operation.Path,
			firstDeviation(list)),
			Request: c.answer.Request, Proof: append([]string{"A request that the description allows was sent."},
				proof...), Responses: []*message.Response{c.answer}, ResponseNotes: []string{"the valid request"}})
	}
	return nil
}

// firstDeviation tells the first breach, and how many more there are.
func firstDeviation(list []conformance.Deviation) string {
	note := list[0].Note
	if list[0].Pointer != "" || strings.HasPrefix(note, "the ") {
		note = "answers so that " + note
	}
	if n := len(list) - 1; n > 0 {
		note += fmt.Sprintf(", and %d more", n)
	}
	return note
}

// probeWithoutSignIn sends the request of an operation that requires authentication without
// any credential (API2:2023). The response must be the same kind of content as the one to
// the identity of the scan, twice, and the application must not respond so to every address.
func (e *examination) probeWithoutSignIn(t *activescan.OperationScan) error {
	c := e.callOf(t)
	if c == nil || !e.showsProtectedContent(c) {
		return nil
	}
	without, err := t.SendAnonymously(t.Request)
	if err != nil {
		return err
	}
	if without.Status >= 300 || without.Status != c.answer.Status || !isSameKind(without, c.answer) {
		return nil
	}
	// An application that answers everything alike says nothing by it.
	other := t.Request.Clone()
	other.Path = strings.TrimRight(e.Scope.Base().Path, "/") + "/" + t.RandomLetters(12)
	other.Template = ""
	control, err := t.SendAnonymously(other)
	if err != nil {
		return err
	}
	if control.Status < 300 && isSameKind(control, without) {
		return nil
	}
	again, err := t.SendAnonymously(t.Request)
	if err != nil {
		return err
	}
	if again.Status != without.Status || !isSameKind(again, without) {
		return nil
	}
	e.reportMissingAuthentication(t, c, control, without)
	return nil
}

// showsProtectedContent reports whether an operation requires authentication and gave the
// scan's identity something that another could see the lack of. GraphQL has the status 200
// for refusals, and an operation that changes something is sent in the profile standard only.
func (e *examination) showsProtectedContent(c *call) bool {
	if c.answer == nil || !c.operation.RequiresAuthentication() || c.answer.Status >= 300 || len(c.answer.Body) == 0 ||
		c.answer.IsData() && isEmptyDocument(message.DecodeJSON(c.answer.Body), 0) {
		return false
	}
	return (c.operation.Call == nil || c.seen.Outcome == finding.Reached) &&
		(isReadMethod(c) || e.Target.Profile.Allows(scan.Standard))
}

// requiredSchemes returns the names of the security schemes that an operation lists.
func (c *call) requiredSchemes() []string {
	var out []string
	for _, r := range c.operation.Security {
		for _, n := range r {
			if !slices.Contains(out, n.Scheme) {
				out = append(out, n.Scheme)
			}
		}
	}
	return out
}

// reportMissingAuthentication raises the alert. A response without personal data may be
// public on purpose, although the description says otherwise.
func (e *examination) reportMissingAuthentication(t *activescan.OperationScan, c *call,
	control, without *message.Response) {
	f := activescan.Alert{Rule: missingAuthentication, Message: fmt.Sprintf("%s %s responds without the "+
		"authentication that its description requires", c.operation.Method, c.operation.Path),
		Request: t.Request, Responses: []*message.Response{c.answer, control, without},
		ResponseNotes: []string{"the request as the identity of the scan", "an address that does " +
			"not exist", "the same request without a session"},
		Proof: []string{
			fmt.Sprintf("The description requires %s.", strings.Join(c.requiredSchemes(), " or ")),
			fmt.Sprintf("Without credentials the operation responds with %d and the same content, twice.",
				without.Status),
			fmt.Sprintf("A URL that does not exist returns %d: the application does not respond to everything alike.",
				control.Status),
		}}
	if isReadMethod(c) && !hasPersonalData(message.DecodeJSON(without.Body), 0) {
		// frameworks describe an optional sign-in as a required one
		f.Severity, f.Confidence = finding.Medium, finding.MediumConfidence
		f.Proof = append(f.Proof, "Nothing in the response is named as private data: it may be public, and the "+
			"description wrong.")
	}
	t.RaiseAlert(f)
}

// isEmptyDocument reports whether a document holds nothing but names, empty lists, zeros and nulls:
// whoever is shown that is shown nothing.
func isEmptyDocument(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			if depth > maxDepth || !isEmptyDocument(below, depth+1) {
				return false
			}
		}
		return len(v) > 0
	case []any:
		return len(v) == 0
	case json.Number:
		return v.String() == "0"
	case nil:
		return depth > 0
	}
	return false
}

// hasPersonalData reports whether a document has a property that is for its owner alone, or that
// tells how a person is reached, with a value.
func hasPersonalData(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if depth <= maxDepth && (authz.IsPersonal(name) && !isEmptyDocument(below, 1) && below != "" ||
				hasPersonalData(below, depth+1)) {
				return true
			}
		}
	case []any:
		return len(v) > 0 && depth <= maxDepth && hasPersonalData(v[0], depth+1)
	}
	return false
}

// isSameKind reports whether two answers are the same kind of content.
func isSameKind(a, b *message.Response) bool {
	if a.MediaType() != b.MediaType() {
		return false
	}
	one, two := message.DecodeJSON(a.Body), message.DecodeJSON(b.Body)
	if one != nil && two != nil {
		return documentShape(one, 0) == documentShape(two, 0)
	}
	return activescan.NewPage(a).Similarity(activescan.NewPage(b)) > 0.9
}

// documentShape is what two JSON documents of one kind have in common: names and types.
func documentShape(v any, depth int) string {
	if depth > maxDepth {
		return "…"
	}
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for name, below := range v {
			parts = append(parts, name+":"+documentShape(below, depth+1))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return "[" + documentShape(v[0], depth+1) + "]"
	case nil:
		return "null"
	}
	return fmt.Sprintf("%T", v)
}

// isReadMethod reports whether a call only reads: it may be sent for any object.
func isReadMethod(c *call) bool {
	return c.operation.Method == "GET" || c.operation.Method == "HEAD" || c.operation.Call != nil &&
		c.operation.Call.Kind == "query"
}

// Limits of the invalid inputs of one operation.
const (
	perKind  = 2
	maxWrong = 10
)

// probeValidation sends inputs that break the description in one place: a server that fails
// on one lacks a check, and one that accepts it does not keep its own promise.
func (e *examination) probeValidation(t *activescan.OperationScan) error {
	c := e.callOf(t)
	if c == nil || c.answer == nil || c.answer.Status >= 300 || c.operation.Call != nil ||
		!isReadMethod(c) && !e.Target.Profile.Allows(scan.Standard) {
		return nil
	}
	var accepted []string
	var answers []*message.Response
	for _, v := range selectNegativeCases(requestgen.ValidInput(c.operation, e.generatorOptions(c, 0, true)), e, c) {
		resp, err := t.Send(v.request)
		if err != nil {
			return err
		}
		switch {
		case resp.Status >= 500 && resp.Status != 501 && resp.Status != 503:
			if err := e.confirmFailure(t, c, v.NegativeCase, resp); err != nil {
				return err
			}
		case e.acceptsForbidden(c, v.At, resp):
			accepted = append(accepted, fmt.Sprintf("%s %s: accepted with %d.", v.At, v.Note, resp.Status))
			answers = append(answers, resp)
		}
	}
	if len(accepted) > 0 {
		t.RaiseAlert(activescan.Alert{Rule: inputAccepted, Request: answers[0].Request, Responses: answers,
			Proof: accepted,
			Message: fmt.Sprintf("%s %s accepts input that its description forbids", c.operation.Method,
				c.operation.Path)})
	}
	return nil
}

// acceptsForbidden reports whether a response accepts a member that the description
// forbids: it looks like the one to valid input. Of a member that is dropped and of an
// application that never refuses, the same status would say nothing.
func (e *examination) acceptsForbidden(c *call, at string, resp *message.Response) bool {
	return resp.Status < 300 && e.promisesRejection(c) && strings.HasPrefix(at, "json:") &&
		activescan.NewPage(resp).Similarity(activescan.NewPage(c.answer)) > 0.5
}

// A negativeRequest is a request that breaks the description in one place.
type negativeRequest struct {
	requestgen.NegativeCase
	request *message.Request
}

// selectNegativeCases returns the requests that are sent for an operation: at most perKind
// of one kind and maxWrong in all. Headers and cookies are left out, because the session
// and the servers on the way need theirs.
func selectNegativeCases(valid *requestgen.Input, e *examination, c *call) []negativeRequest {
	kinds := map[string]int{}
	var out []negativeRequest
	for _, v := range requestgen.NegativeCases(valid) {
		if strings.HasPrefix(v.At, "header:") || strings.HasPrefix(v.At, "cookie:") || kinds[v.Kind] == perKind ||
			len(out) == maxWrong {
			continue
		}
		r, err := v.Input.Request(e.Scope.Base(), c.origin)
		if err != nil {
			continue
		}
		kinds[v.Kind]++
		out = append(out, negativeRequest{v, r})
	}
	return out
}

// promisesRejection reports whether the description foresees that input is refused.
func (e *examination) promisesRejection(c *call) bool {
	for _, r := range c.operation.Responses {
		if r.Status == "400" || r.Status == "422" || r.Status == "4XX" {
			return c.origin == "openapi"
		}
	}
	return false
}

// confirmFailure proves that the input makes the operation fail: again, and the valid one does
// not.
func (e *examination) confirmFailure(t *activescan.OperationScan, c *call, v requestgen.NegativeCase,
	resp *message.Response) error {
	again, err := t.Send(resp.Request)
	if err != nil || again.Status < 500 {
		return err
	}
	control, err := t.Send(t.Request)
	if err != nil || control.Status >= 500 {
		return err
	}
	in, name, _ := strings.Cut(v.At, ":")
	t.RaiseAlert(activescan.Alert{Rule: serverError, Request: resp.Request,
		Point:       &message.Point{In: message.In(in), Name: name},
		SharedCause: "input that the description does not allow",
		Message: fmt.Sprintf("%s %s fails with %d when %s %s", c.operation.Method, c.operation.Path, resp.Status, v.At,
			v.Note),
		Proof: []string{fmt.Sprintf("%s %s: the response is %d, twice.", v.At, v.Note, resp.Status),
			fmt.Sprintf("The valid request in between returns %d.", control.Status)},
		Responses: []*message.Response{control, again},
		ResponseNotes: []string{"the valid request", "the same with one value " +
			"that is not valid"}})
	return nil
}

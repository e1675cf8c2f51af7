// Package oldapiversion finds older versions of an API that are still in operation and disclose
// more than the one in use (API9:2023, CWE-213): an address names a version, and the version before
// it responds with properties named like a secret that the newer one does not have.
//
// Budget: maxOlder versions and one control for each operation. The check only reads.
package oldapiversion

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("secrets")

// Rule is the check. It only reads.
var Rule = &activescan.Rule{ID: "versions", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
	ScanOperation: scanOperation}

// version matches the segment of a path that names a version: v2, but not v2.1 or 2024-01-01.
var version = lazyregexp.New(`^([vV])([1-9]\d?)$`)

// secret matches names of properties that no response should contain.
var secret = lazyregexp.New(`(?i)passw|passphrase|secret|salt$|hash$|^(pwd|pass|pin|ssn|cvv|otp)$|api[-_]?key|private[-_]?key|(access|reset|refresh|auth|session)[-_]?token|credit[-_]?card|card[-_]?number|iban`)

// maxOlder bounds the older versions that are requested.
const maxOlder = 2

// absent is added to a version to name one that does not exist.
const absent = 57

// scanOperation requests the older versions of a GET that responds with JSON.
func scanOperation(t *activescan.OperationScan) error {
	at, n := versionSegment(t.Request)
	if n < 2 || t.Request.Method != http.MethodGet {
		return nil
	}
	newer, err := t.Send(t.Request)
	if err != nil || !isJSON(newer) {
		return err
	}
	known := propertyNames(newer)
	for i := n - 1; i >= max(1, n-maxOlder) && len(known) > 0; i-- {
		if found, err := probeOlderVersion(t, at, i, newer, known); found || err != nil {
			return err
		}
	}
	return nil
}

// probeOlderVersion asks for a version, and for one that there is not as a control.
func probeOlderVersion(t *activescan.OperationScan, at, n int, newer *message.Response,
	known map[string][]string) (bool, error) {
	r := withVersion(t.Request, at, n)
	resp, err := t.Send(r)
	if err != nil || !isJSON(resp) {
		return false, err
	}
	got := propertyNames(resp)
	more := map[string][]string{}
	common := 0
	for name, values := range got {
		if known[name] != nil {
			common++
		} else if secret.MatchString(name) && slices.ContainsFunc(values, func(v string) bool { return len(v) >= 4 }) {
			more[name] = values
		}
	}
	// Half of the properties have to agree: otherwise the older version is another operation.
	if len(more) == 0 || 2*common < len(known) {
		return false, nil
	}
	control, err := t.Send(withVersion(t.Request, at, n+absent))
	if err != nil {
		return false, err
	}
	// An application that ignores the version responds so to any number.
	if isJSON(control) {
		for name := range propertyNames(control) {
			if more[name] != nil { // the version does not matter
				return false, nil
			}
		}
	}
	names := strings.Join(slices.Sorted(maps.Keys(more)), ", ")
	t.RaiseAlert(activescan.Alert{Rule: rule, Request: r, Responses: []*message.Response{newer, hideValues(resp, more),
		control},
		ResponseNotes: []string{"the version in use", "the older version, its secrets left " +
			"out here", "a version that there is not"},
		Message: fmt.Sprintf("Version %d of the interface gives away: %s.", n, names),
		Proof: []string{"The version in use responds without these properties, version " + strconv.Itoa(n) +
			" with them: " + names + ".",
			fmt.Sprintf("Of the %d properties of the version in use, the older one has %d.", len(known), common),
			"A version that does not exist does not respond like this."}})
	return true, nil
}

// versionSegment returns the segment of the path that names a version, and the version; 0:
// there is none.
func versionSegment(r *message.Request) (at, n int) {
	for i, s := range strings.Split(r.Path, "/") {
		if m := version.FindStringSubmatch(s); m != nil {
			n, err := strconv.Atoi(m[2])
			if err == nil {
				return i, n
			}
		}
	}
	return 0, 0
}

// withVersion is the request to another version.
func withVersion(r *message.Request, at, n int) *message.Request {
	r = r.Clone()
	segments := strings.Split(r.Path, "/")
	segments[at] = segments[at][:1] + strconv.Itoa(n)
	r.Path, r.Template = strings.Join(segments, "/"), ""
	return r
}

// isJSON reports whether the response is a complete JSON document.
func isJSON(resp *message.Response) bool {
	return resp.Status == http.StatusOK && strings.HasSuffix(resp.MediaType(), "json") && !resp.Truncated
}

// propertyNames returns the names of an answer's properties that hold no others, with
// their values.
func propertyNames(resp *message.Response) map[string][]string {
	body := message.Request{Body: message.Body{Kind: message.JSON, Text: resp.Body}}
	out := map[string][]string{}
	for _, p := range body.Points() {
		if p.In == message.InJSON {
			name := p.Name[strings.LastIndexByte(p.Name, '/')+1:]
			out[name] = append(out[name], p.Value)
		}
	}
	return out
}

// hideValues returns the response without the secrets: the evidence must not disclose them.
func hideValues(resp *message.Response, values map[string][]string) *message.Response {
	text := resp.Text()
	for _, list := range values {
		for _, v := range list {
			if len(v) >= 4 {
				text = strings.ReplaceAll(text, v, finding.Redacted)
			}
		}
	}
	return &message.Response{Request: resp.Request, Status: resp.Status, Proto: resp.Proto, Header: resp.Header,
		Body: []byte(text), Took: resp.Took, Sent: resp.Sent}
}

// Package methods finds HTTP methods that a server should not accept: TRACE (CWE-693), which
// returns the request with headers that script must not see, and PUT, by which anybody can write
// files (CWE-650).
//
// What is sent contains a random word, and has to come back: a status alone proves nothing, since
// many servers return 200 for every method.
package methods

import (
	"net/http"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	trace = texts.Get("trace")
	put   = texts.Get("put")
)

// Rule asks for TRACE, and Write for PUT, which leaves something behind.
var (
	Rule = &activescan.Rule{ID: "methods", FindingRules: []*finding.Rule{trace}, Profile: scan.Standard,
		ScanSite: probeTrace}
	Write = &activescan.Rule{ID: "methods", FindingRules: []*finding.Rule{put}, Profile: scan.Full, ScanSite: probePut}
)

// probeTrace sends TRACE with a random header, twice.
func probeTrace(t *activescan.OperationScan) error {
	var answers []*message.Response
	var r *message.Request
	for range 2 {
		name, word := "X-"+t.RandomLetters(8), t.RandomLetters(12)
		r = t.Request.SetHeader(name, word)
		r.Method = http.MethodTrace
		resp, err := t.SendAnonymously(r)
		if err != nil {
			return err
		}
		// An error page that repeats the request is HTML; TRACE returns message/http (RFC 9110,
		// section 9.3.8).
		if resp.Status != http.StatusOK || resp.IsHTML() || !strings.Contains(strings.ToLower(string(resp.Body)),
			strings.ToLower(name+": "+word)) {
			return nil
		}
		answers = append(answers, resp)
	}
	t.RaiseAlert(activescan.Alert{Rule: trace, Request: r, Location: "/", Responses: answers,
		ResponseNotes: []string{"a random header", "another one"}, Anonymous: true,
		Proof: []string{"The response to TRACE contains a random header of the request, twice."}})
	return nil
}

// probePut sends a file with a random name and asks for it; then it is removed.
func probePut(t *activescan.OperationScan) error {
	// Beside the page, because a server often accepts writes in some folders only.
	folder := t.Request.Path[:strings.LastIndexByte(t.Request.Path, '/')+1]
	word := t.RandomLetters(24)
	r := t.Request.Clone()
	r.Method, r.Path, r.Query = http.MethodPut, folder+"merlon-"+t.RandomLetters(12)+".txt", nil
	r.Body = message.Body{Kind: message.Text, Text: []byte(word)}
	sent, err := t.SendAnonymously(r)
	if err != nil || sent.Status >= 300 {
		return err
	}
	// A server that discards the body also returns 201.
	get := r.Clone()
	get.Method, get.Body = http.MethodGet, message.Body{}
	kept, err := t.SendAnonymously(get)
	if err != nil || kept.Status != http.StatusOK || strings.TrimSpace(string(kept.Body)) != word {
		return err
	}
	// The proof is complete: what was written is removed by the same way.
	remove := get.Clone()
	remove.Method = http.MethodDelete
	proof := []string{"A random text that was sent to " + r.Path + " is served there."}
	if removed, err := t.SendAnonymously(remove); err == nil && removed.Status < 300 {
		proof = append(proof, "It was removed again with DELETE.")
	} else {
		proof = append(proof, "It could not be removed: "+r.Path+" is left behind.")
	}
	t.RaiseAlert(activescan.Alert{Rule: put, Request: r, Location: "/", Responses: []*message.Response{sent, kept},
		ResponseNotes: []string{"a file of a random name", "what is served there"}, Anonymous: true, Proof: proof})
	return nil
}

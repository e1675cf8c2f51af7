package activescan

import (
	"net/http"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
)

// This file finds out whether a parameter that a page shows is read by what all pages share, such
// as a header with a search box: then it is one vulnerability, on however many pages it shows.

// around is how much of an answer before and behind a payload is compared.
const around = 20

// isSharedByPages reports whether a page that is not known to take the parameter shows the payload in
// just the way that the vulnerability was shown.
func (t *OperationScan) isSharedByPages(f *Alert) bool {
	if f.Point == nil || f.Point.In != message.InQuery || f.Point.Inner != nil || f.Request.Method != http.MethodGet ||
		len(f.Payload) < minSpoken || t.only || t.Sitemap == nil {
		return false
	}
	shown := ""
	for _, a := range f.Responses {
		if a.Request.Address() == f.Request.Address() {
			shown = contextOfPayload(a, f.Payload)
		}
	}
	other := t.requestToOtherPage(f)
	if shown == "" || other == nil {
		return false
	}
	key := "shared " + f.Rule.ID + " " + f.Request.Base() + " " + f.Point.Name + " " + shown
	if t.HasFact(key) || t.HasFact("not "+key) {
		return t.HasFact(key)
	}
	resp, err := t.Send(other)
	if err != nil || contextOfPayload(resp, f.Payload) != shown {
		t.RecordFact("not " + key)
		return false
	}
	t.RecordFact(key)
	return true
}

// requestToOtherPage is the request of a page that is not known to take the parameter, with the payload in
// it; nil: there is none.
func (t *OperationScan) requestToOtherPage(f *Alert) *message.Request {
	entries := t.Sitemap.Entries()
	takes := map[string]bool{sitemap.PathShape(f.Request): true}
	for _, e := range entries {
		for _, p := range e.Request.Query {
			if p.Name == f.Point.Name {
				takes[sitemap.PathShape(e.Request)] = true
			}
		}
	}
	for _, e := range entries {
		r := e.Request
		if e.Withheld || r.Method != http.MethodGet || r.Base() != f.Request.Base() || takes[sitemap.PathShape(r)] ||
			e.Seen.Status >= 300 || e.Response == nil || !e.Response.IsHTML() || sitemap.ForbiddenReason(r) != "" {
			continue
		}
		return r.With(message.Point{In: message.InQuery, Name: f.Point.Name, Index: -1}, f.Payload)
	}
	return nil
}

// contextOfPayload is what stands before and behind the first payload of an answer; empty: it does
// not hold the payload.
func contextOfPayload(resp *message.Response, payload string) string {
	text := resp.Text()
	before, behind, ok := strings.Cut(text, payload)
	if !ok {
		return ""
	}
	return normalizeWord(before[max(0, len(before)-around):] + "\x00" + behind[:min(len(behind), around)])
}

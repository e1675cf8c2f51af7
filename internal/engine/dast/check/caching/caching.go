// Package caching finds caches that give one user what belongs to another: pages that are stored
// under an address that only looks like a file (web cache deception, CWE-525), and responses with a
// value from a header that is no part of the cache's key (web cache poisoning, CWE-349).
//
// Everything that is tried has a random word in its address, so that no other user ever gets what a
// cache stores of it.
//
// Budget: maxPages pages with headers and maxPrivate pages of users, four requests each, and none
// at all where no response shows a cache.
package caching

import (
	"net/http"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	deception = texts.Get("deception")
	poisoning = texts.Get("poisoning")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "caching", FindingRules: []*finding.Rule{deception, poisoning}, Profile: scan.Standard,
	InspectResponse: recordCache, ScanOperation: scanPage}

// recordCache records the fact that a cache announces itself.
func recordCache(t *activescan.OperationScan, resp *message.Response) {
	// Age is of RFC 9111, section 5.1; the others are those of Varnish, Fastly, Cloudflare and
	// nginx.
	for _, name := range []string{"Age", "X-Cache", "X-Cache-Status", "Cf-Cache-Status", "X-Varnish", "X-Served-By",
		"X-Proxy-Cache", "X-Cache-Hits"} {
		if resp.Header.Get(name) != "" {
			t.RecordFact("cache")
		}
	}
	if control := strings.ToLower(resp.Header.Get("Cache-Control")); strings.Contains(control, "public") ||
		strings.Contains(control, "s-maxage") {
		t.RecordFact("cache")
	}
}

const (
	// maxPages bounds the pages that are tried with headers: mostly one cache serves them all.
	maxPages = 6
	// maxPrivate bounds the pages of users that are tried with an ending.
	maxPrivate = 6
)

// scanPage tries one page. Where nothing tells of a cache, there is nothing to ask.
func scanPage(t *activescan.OperationScan) error {
	if t.Request.Method != http.MethodGet || !t.HasFact("cache") ||
		!t.FirstTime("caching "+t.Request.Base()+t.Request.Path) {
		return nil
	}
	if t.IncrementCount("caching pages") <= maxPages {
		if err := probePoisoning(t); err != nil {
			return err
		}
	}
	if t.As == nil || t.As.Name() == "" || strings.Contains(t.Request.Path[strings.LastIndexByte(t.Request.Path, '/'):],
		".") {
		return nil
	}
	if t.IncrementCount("caching private") > maxPrivate {
		return nil
	}
	return probeDeception(t)
}

// unkeyed are headers that applications use to build addresses, and that caches rarely include in
// their key.
var unkeyed = []string{"X-Forwarded-Host", "X-Host", "X-Forwarded-Server", "X-Original-Host", "X-Forwarded-Prefix"}

// probePoisoning requests a page with random values in the headers, then without the headers, and
// then at another address. Only a cache returns the value in the second response and not in the
// third.
func probePoisoning(t *activescan.OperationScan) error {
	r := t.Request.Clone()
	// An address of our own: the cache stores nothing under that of other users.
	r.Query = append(r.Query, message.Param{Name: t.RandomLetters(8), Value: t.RandomLetters(8)})
	dirty := r
	words := map[string]string{}
	for _, name := range unkeyed {
		words[name] = t.RandomLetters(12)
		value := words[name] + ".example"
		if name == "X-Forwarded-Prefix" {
			value = "/" + words[name]
		}
		dirty = dirty.SetHeader(name, value)
	}
	first, err := t.SendAnonymously(dirty)
	if err != nil || first.Status >= 500 {
		return err
	}
	header := ""
	for _, name := range unkeyed {
		if header == "" && holds(first, words[name]) {
			header = name
		}
	}
	if header == "" {
		return nil
	}
	// The same address without the headers.
	kept, err := t.SendAnonymously(r)
	if err != nil || !holds(kept, words[header]) {
		return err
	}
	// An application that remembers the header, without a cache, would show it here too.
	other := r.Clone()
	other.Query[len(other.Query)-1].Value = t.RandomLetters(8)
	clean, err := t.SendAnonymously(other)
	if err != nil || holds(clean, words[header]) {
		return err
	}
	point := message.HeaderPoint(header)
	t.RaiseAlert(activescan.Alert{Rule: poisoning, Request: dirty, Point: &point, Payload: words[header], Location: "/",
		Key:       header,
		Anonymous: true, Responses: []*message.Response{first, kept, clean},
		ResponseNotes: []string{"with the header", "the same address without it", "another address without it"},
		Proof: []string{"The value of " + header + " is in the response.", "It is in the next response of the same " +
			"URL, which was requested without the header.", "It is not in that of another address. Both " +
			"addresses were random."}})
	return nil
}

// holds reports whether the word is in the head or the text of the response.
func holds(resp *message.Response, word string) bool {
	return strings.Contains(strings.ToLower(resp.Head()+resp.Text()), word)
}

// probeDeception requests the page of a user with the name of a style sheet appended, and then the
// same address as nobody.
func probeDeception(t *activescan.OperationScan) error {
	private, err := t.Send(t.Request)
	if err != nil || private.Status != http.StatusOK {
		return err
	}
	page := activescan.NewPage(private)
	public, err := t.SendAnonymously(t.Request)
	// What everybody sees is not the user's.
	if err != nil || activescan.NewPage(public).Equal(page) {
		return err
	}
	r := t.Request.Clone()
	r.Path, r.Template = strings.TrimSuffix(r.Path, "/")+"/"+t.RandomLetters(10)+".css", ""
	bait, err := t.Send(r)
	if err != nil || bait.Status != http.StatusOK || !activescan.NewPage(bait).Equal(page) {
		return err
	}
	stolen, err := t.SendAnonymously(r)
	if err != nil || stolen.Status != http.StatusOK || !activescan.NewPage(stolen).Equal(page) {
		return err
	}
	// An application that shows the page to nobody at any such address has another flaw, and no
	// cache.
	control := r.Clone()
	control.Path = strings.TrimSuffix(t.Request.Path, "/") + "/" + t.RandomLetters(10) + ".css"
	refused, err := t.SendAnonymously(control)
	if err != nil || activescan.NewPage(refused).Equal(page) {
		return err
	}
	t.RaiseAlert(activescan.Alert{Rule: deception, Request: r, Responses: []*message.Response{public, bait, stolen,
		refused},
		ResponseNotes: []string{"the page without a session", "with a name behind it, as " +
			"the user", "the same without a session",
			"another name without a session"},
		Proof: []string{"The page is another one without the " +
			"session.", "With " + r.Path[len(strings.TrimSuffix(t.Request.Path, "/")):] + " appended to its path the " +
			"user gets it too, and then anybody at that URL.",
			"At a URL that the user has not requested, it is not returned without a session."}})
	return nil
}

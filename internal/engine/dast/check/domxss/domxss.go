// Package domxss finds DOM-based cross-site scripting (CWE-79): a text from the address of a page,
// its window, its storage, or a message of another window that the page's own script executes.
//
// This package decides which pages are opened: those whose scripts read such a source, each set of
// scripts once. browser.ProbeDOM does the examination, and what is reported has run there.
//
// Budget: maxPages pages of a scan, with maxRoutes routes each.
package domxss

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("dom")

// kept: the text comes from cookies or the storage, which an attacker has to fill by another flaw.
var kept = texts.Get("dom-storage")

// Rule is the check. Pages are opened with harmless texts; what runs only calls a
// function of ours.
var Rule = &activescan.Rule{ID: "dom", FindingRules: []*finding.Rule{rule, kept},
	BrowserRules: []*finding.Rule{rule, kept},
	Profile:      scan.Safe, ScanOperation: scanPage}

// maxPages bounds the pages of a scan whose scripts are examined: those with the same
// scripts count once.
const maxPages = 300

// maxRoutes bounds the routes of one document that are opened: routers show another component on
// each.
const maxRoutes = 12

// scanPage examines one page, and the routes of its fragment that the browser has seen.
func scanPage(t *activescan.OperationScan) error {
	prover, ok := t.Browser.(browser.Prover)
	if !ok || t.Request.Method != http.MethodGet || static.MatchString(path.Base(t.Request.Path)) {
		return nil
	}
	resp, err := responseOf(t)
	if err != nil {
		return err
	}
	if resp == nil || !resp.IsHTML() {
		return nil
	}
	key, reads, path := scriptsKey(t.Request, resp.Document())
	if !reads || !t.FirstTime("dom "+key) {
		return nil
	}
	if n := t.IncrementCount("dom"); n > maxPages {
		if n == maxPages+1 {
			t.ReportGap(scan.Reason{Code: "too-many-pages", Rules: []string{rule.ID, kept.ID},
				Message: fmt.Sprintf("the scripts of more than %d pages were not examined", maxPages)})
		}
		return nil
	}
	fragments := append([]string{""}, prover.Browser.Routes(t.Request, maxRoutes)...)
	told := map[string]bool{}
	for i, fragment := range fragments {
		flaws, err := prover.Browser.ProbeDOM(t.Context, browser.DOMProbe{As: prover.As, Request: t.Request,
			Fragment: fragment, Path: path && i == 0})
		if err != nil {
			return err
		}
		for _, f := range flaws {
			if key := f.Source + f.Parameter + f.Sink + f.Script; !told[key] {
				told[key] = true
				reportAlert(t, f)
			}
		}
	}
	return nil
}

// static matches files that are no pages.
var static = lazyregexp.New(`(?i)\.(m?js|css|map|json|xml|txt|png|jpe?g|gif|svg|ico|webp|woff2?|ttf|pdf|zip)$`)

// sources matches what a script names to read input that others choose.
var sources = lazyregexp.New(`location|URL|referrer|\bname\b|message|search|hash|cookie|Storage`)

// paths matches what a script names to read the path of its address.
var paths = lazyregexp.New(`pathname|document\.(?:URL|documentURI|baseURI)|location\.(?:href|toString)|location\s*[;,)+]`)

// responseOf returns the response of the page; nil: there is none. Where the request has points,
// the response that other checks have requested is used.
func responseOf(t *activescan.OperationScan) (*message.Response, error) {
	if len(t.Request.Points()) == 0 {
		return t.Send(t.Request)
	}
	base, err := t.Baseline()
	if err != nil {
		return nil, nil //nolint:nilerr // it does not answer: no page
	}
	return base.First, nil
}

// scriptsKey returns what is the same for pages with the same scripts that take the same
// parameters, whether a script may read what others choose, and whether one of the page
// itself reads its path.
func scriptsKey(r *message.Request, doc *html.Node) (key string, reads, path bool) {
	sum := sha256.New()
	note := func(text string) { _, _ = io.WriteString(sum, text+"\n") } // a hash takes everything
	for _, q := range r.Query {
		note("?" + q.Name)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case n.Data == "script" && a.Key == "src":
				address, _, _ := strings.Cut(a.Val, "?")
				note(address)
				reads = true // what it reads is seen in the browser
			case strings.HasPrefix(a.Key, "on"):
				note(a.Val)
				reads = reads || sources.MatchString(a.Val)
			}
		}
		if n.Data == "script" && n.FirstChild != nil {
			// Identifiers and tokens in the page's script must not make each page a new one.
			note(digits.ReplaceAllString(n.FirstChild.Data, "0"))
			reads = reads || sources.MatchString(n.FirstChild.Data)
			path = path || paths.MatchString(n.FirstChild.Data)
		}
	}
	return string(sum.Sum(nil)), reads, path
}

// digits are parts of scripts that differ from page to page.
var digits = lazyregexp.New(`[0-9a-f]*[0-9][0-9a-f]*`)

// words names sources for the report, by browser.DOMAlert.Source.
var words = map[string]string{
	"query": "the query of the address", "fragment": "the fragment of the address", "path": "the path of the address",
	"name":   "the name of the window",
	"cookie": "the cookies", "local": "the local storage", "session": "the session storage",
	"referrer": "the address of the page that led here", "message": "a message of another window",
}

// reportAlert reports a vulnerability, with the answer that held the script.
func reportAlert(t *activescan.OperationScan, f browser.DOMAlert) {
	from := words[f.Source]
	if f.Parameter != "" {
		what := "parameter"
		if f.IsStored() {
			what = "entry"
		}
		from = fmt.Sprintf("the %s %q of %s", what, f.Parameter, from)
	}
	proof := []string{
		fmt.Sprintf("Opened the page with a harmless word in every source: that of %s reached %s%s.", from, f.Sink,
			at(f.Script)),
		fmt.Sprintf("Opened %s with %q as %s.", f.Address, f.Payload, from),
	}
	for _, e := range f.Executions {
		proof = append(proof, "In the browser, "+e.String()+".")
	}
	of := rule
	if f.IsStored() {
		of = kept
	}
	flaw := activescan.Alert{Rule: of, Message: fmt.Sprintf("A script of the page executes %s, by %s.", from, f.Sink),
		Payload: f.Payload, Proof: proof,
		Point: &message.Point{In: message.In(f.Source), Name: f.Parameter, Index: -1}, Key: f.Sink}
	if resp, err := t.Send(t.Request); err == nil {
		flaw.Responses, flaw.ResponseNotes = []*message.Response{resp}, []string{"the page whose script it is"}
	}
	t.RaiseAlert(flaw)
}

// at names the script for the report; empty: it is not known.
func at(script string) string {
	if script == "" {
		return ""
	}
	return " at " + script
}

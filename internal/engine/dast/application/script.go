package application

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/site"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file has pages' own scripts examined by the browser.

var domRule = &finding.Rule{
	ID: "dast/xss/dom", Analysis: finding.DAST, Name: "Cross-site scripting in a page's own script",
	ShortDescription: "A script of the page executes what its address, another window or the page before it says.",
	Description: "A script of the page reads something that others choose, such as the fragment of the address, and hands it to a function that executes it or writes it as markup. " +
		"The server need not see it. Whoever opens a prepared link runs the attacker's script in the application's name.",
	HowToPrevent: "Write text with textContent, make elements with createElement, and compare schemes of addresses with a list. Where markup is needed, clean it with a well-kept library. " +
		"Check the origin of messages. Trusted Types, switched on by the Content-Security-Policy, find such places.",
	CWE: []string{"CWE-79"}, OWASP: []string{"A03:2021"}, Severity: finding.High, Confidence: finding.Certain,
}

// A view is a page as the browser shows it.
type view struct {
	request  *message.Request
	fragment string
}

const (
	maxViews  = 40
	viewsTime = 5 * time.Minute
)

// examineScripts looks for flaws of the pages' own scripts.
func (e *examination) examineScripts(ctx context.Context, views []view) error {
	if e.browser == nil || !e.Target.Profile.Allows(scan.Safe) {
		return nil
	}
	end := time.Now().Add(min(viewsTime, time.Until(e.Deadline)/4))
	seen := map[string]int{}
	done := 0
	for i, v := range views {
		key, reads := e.scripts(ctx, v)
		if !reads || seen[key] > 0 {
			continue
		}
		seen[key]++
		if done == maxViews || time.Now().After(end) {
			e.Degrade(scan.Reason{Code: "timeout", Message: fmt.Sprintf("the scripts of at most %d pages were not examined", len(views)-i)})
			return nil
		}
		done++
		e.Progress(26, fmt.Sprintf("examined the scripts of %d pages, %d requests", done, e.client.Sent()))
		flaws, err := e.browser.ProbeDOM(ctx, browser.DOMTrial{As: e.as, Request: v.request, Fragment: v.fragment})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			e.Degrade(scan.Reason{Code: "unreadable", Message: "the scripts of a page were not examined: " + err.Error(), Path: e.Target.Path(v.request.URL())})
			continue
		}
		for _, f := range flaws {
			e.tellScript(ctx, v, f)
		}
	}
	return nil
}

// outside are words of script that read what others choose.
var outside = lazyregexp.New(`\blocation\b|document\.(?:URL|documentURI|referrer|baseURI)|URLSearchParams|window\.name|\bonmessage\b|["']message["']|hashchange|popstate`)

// scripts returns what is the same for pages with the same scripts, and whether one of
// them may read what others choose. Routes of one page are told apart by their names, and pages by the names of their
// parameters.
func (e *examination) scripts(ctx context.Context, v view) (key string, reads bool) {
	resp, err := e.client.Send(ctx, v.request, e.as)
	if err != nil || !resp.IsHTML() {
		return "", false
	}
	route, _, _ := strings.Cut(v.fragment, "?")
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, route) // a hash takes everything
	for _, q := range v.request.Query {
		_, _ = fmt.Fprintln(sum, "?", q.Name) // scripts may do more with a parameter
	}
	for n := range resp.Document().Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case n.Data == "script" && a.Key == "src":
				address, _, _ := strings.Cut(a.Val, "?")
				_, _ = fmt.Fprintln(sum, address)
				reads = true // it is not read for this: most libraries are asked once
			case strings.HasPrefix(a.Key, "on"):
				_, _ = fmt.Fprintln(sum, a.Val)
				reads = reads || outside.MatchString(a.Val)
			}
		}
		if n.Data == "script" && n.FirstChild != nil {
			_, _ = fmt.Fprintln(sum, digits.ReplaceAllString(n.FirstChild.Data, "0"))
			reads = reads || outside.MatchString(n.FirstChild.Data)
		}
	}
	return string(sum.Sum(nil)), reads
}

var digits = lazyregexp.New(`[0-9a-f]*[0-9][0-9a-f]*`)

// tellScript reports a flaw of a script.
func (e *examination) tellScript(ctx context.Context, v view, f browser.DOMFlaw) {
	live := &finding.Live{URL: v.request.Place(), Method: http.MethodGet, Parameter: f.Parameter, In: f.Source, Payload: f.Payload, Identity: e.as.Name(),
		Proof: []string{fmt.Sprintf("The page's script hands what the %s says to %s.", f.Source, f.Sink)}}
	if f.Script != "" {
		live.Proof = append(live.Proof, "It does so at "+f.Script+".")
	}
	for _, ran := range f.Executions {
		live.Proof = append(live.Proof, "A browser that opened "+f.Address+" ran it: "+ran.String()+".")
		break
	}
	if resp, err := e.client.Send(ctx, v.request, e.as); err == nil {
		live.Exchanges = []finding.Exchange{resp.Exchange("the page; what is executed need not be part of the request")}
	}
	route, _, _ := strings.Cut(v.fragment, "?")
	e.Report(domRule, finding.Finding{Location: finding.Location{Path: e.Target.Path(v.request.URL())}, Live: live,
		Identity: strings.Join([]string{site.PathShape(v.request), route, f.Source, f.Parameter, f.Sink}, " ")})
}

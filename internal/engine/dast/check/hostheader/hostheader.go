// Package hostheader finds applications that make links of the host that a request
// names: whoever can have a victim's request, or mail, made with a host of his gets what
// the link carries. The proof: links of the page, and no more than that, follow a random
// host. Few pages are asked: those that send mail, and the base.
package hostheader

import (
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("links")

// Rule is the check.
var Rule = &activescan.Rule{ID: "hostheader", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
	ScanOperation: scanPage}

// mails are words of pages that send mail.
var mails = lazyregexp.New(`(?i)forgot|reset|recover|password|invite|activat|register|sign-?up`)

// headers carry the host: the request's own, and those that proxies add.
var headers = []string{"X-Forwarded-Host", "Host", "Forwarded"}

// maxTried bounds the pages that are asked.
const maxTried = 5

// scanPage asks a page with another host.
func scanPage(t *activescan.OperationScan) error {
	base := t.Scope.Base()
	home := t.Request.Path == base.EscapedPath() || t.Request.Path == "/"
	if t.Request.Method != http.MethodGet || !home && !mails.MatchString(t.Request.Path) ||
		!t.FirstTime("hostheader "+t.Request.Base()+t.Request.Path) || t.IncrementCount("hostheader") > maxTried {
		return nil
	}
	for _, name := range headers {
		if !t.FirstTime("hostheader told " + t.Request.Base() + " " + name + " " + t.Request.Path) {
			continue
		}
		first, host, err := sendWithHost(t, name)
		if err != nil {
			return err
		}
		at := linkToHost(first, host)
		if at == "" {
			continue
		}
		second, other, err := sendWithHost(t, name)
		if err != nil {
			return err
		}
		if linkToHost(second, other) == "" {
			continue
		}
		own, err := t.Send(withCacheBuster(t))
		if err != nil || linkToHost(own, host) != "" || linkToHost(own, other) != "" {
			return err
		}
		point := message.HeaderPoint(name)
		t.RaiseAlert(activescan.Alert{Rule: rule, Request: withHost(t, name, other), Point: &point, Payload: other,
			Location: "/",
			Key:      name, Responses: []*message.Response{first, second, own},
			ResponseNotes: []string{"a random host", "another one", "the application's own"},
			Proof: []string{"With " + name + " of a random host, " + at + " leads to that host.", "So it does with " +
				"another one, and not with the application's own."}})
		return nil // the other headers say the same of it
	}
	return nil
}

// withCacheBuster is the request with a parameter of its own, so that no cache keeps the answer for
// others.
func withCacheBuster(t *activescan.OperationScan) *message.Request {
	r := t.Request.Clone()
	r.Query = append(r.Query, message.Param{Name: t.RandomLetters(8), Value: t.RandomLetters(8)})
	return r
}

// withHost is the request with the host in the header.
func withHost(t *activescan.OperationScan, name, host string) *message.Request {
	value := host
	if name == "Forwarded" {
		value = "host=" + host
	}
	return withCacheBuster(t).SetHeader(name, value)
}

func sendWithHost(t *activescan.OperationScan, name string) (*message.Response, string, error) {
	host := t.RandomLetters(12) + ".example"
	resp, err := t.Send(withHost(t, name, host))
	return resp, host, err
}

// linkToHost says what of an answer leads to the host; empty: nothing. Text that repeats the
// host leads nowhere.
func linkToHost(resp *message.Response, host string) string {
	leads := func(address string) bool {
		u, err := url.Parse(strings.TrimSpace(address))
		return err == nil && strings.EqualFold(u.Hostname(), host)
	}
	if leads(resp.Header.Get("Location")) {
		return "the redirect"
	}
	if !resp.IsHTML() || resp.Status >= 400 {
		return ""
	}
	for n := range resp.Document().Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			if (a.Key == "href" || a.Key == "src" || a.Key == "action" || a.Key == "formaction") && leads(a.Val) {
				return "the address in <" + n.Data + " " + a.Key + ">"
			}
		}
	}
	return ""
}

// Package headers finds pages whose headers leave out what browsers need to protect their users:
// HSTS (RFC 6797), a Content-Security-Policy, nosniff, protection from framing.
//
// It sends nothing and reads pages that a user sees; each flaw is reported once for the host,
// because headers are mostly set in one location.
package headers

import (
	"net"
	"net/http"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
)

var (
	transport  = texts.Get("no-hsts")
	noPolicy   = texts.Get("no-content-policy")
	weakPolicy = texts.Get("weak-content-policy")
	sniffing   = texts.Get("no-nosniff")
	framing    = texts.Get("clickjacking")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "headers", FindingRules: []*finding.Rule{transport, noPolicy, weakPolicy, sniffing,
	framing},
	InspectResponse: inspectHeaders}

// inspectHeaders reads the headers of a page that was found. Other answers need none of this, or
// come from something in front of the application.
func inspectHeaders(t *activescan.OperationScan, resp *message.Response) {
	if resp.Status != http.StatusOK || !resp.IsHTML() || len(resp.Body) == 0 {
		return
	}
	report := func(rule *finding.Rule, proof string) {
		t.RaiseAlert(activescan.Alert{Rule: rule, Request: resp.Request, Location: "/", Key: resp.Request.Host,
			Responses: []*message.Response{resp}, ResponseNotes: []string{"a page"},
			Proof: []string{"The answer to " + resp.Request.Method + " " + resp.Request.Location() + " " + proof +
				"."}})
	}
	// Over HTTP browsers ignore the header (RFC 6797, section 8.1).
	if resp.Request.Scheme == "https" && !isAddress(resp.Request.Host) &&
		!enforcesHTTPS(resp.Header.Get("Strict-Transport-Security")) {
		report(transport, "has no header Strict-Transport-Security with a time above 0")
	}
	if !strings.Contains(strings.ToLower(resp.Header.Get("X-Content-Type-Options")), "nosniff") {
		report(sniffing, "has no header X-Content-Type-Options: nosniff")
	}
	policies := parsePolicies(resp)
	switch hole := cspWeakness(policies); {
	case len(policies) == 0:
		report(noPolicy, "has no Content-Security-Policy")
	case hole != "":
		report(weakPolicy, "has a Content-Security-Policy in which "+hole)
	}
	// Without a form there is nothing that a click in a hidden frame could do.
	if allowsFraming(resp, policies) && hasActiveForm(resp.Document()) {
		report(framing, "is a page with a form, and has neither frame-ancestors nor X-Frame-Options")
	}
}

// isAddress reports whether the host is an address: browsers keep no record of those
// (RFC 6797, section 8.1.1).
func isAddress(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return net.ParseIP(strings.Trim(host, "[]")) != nil
}

// enforcesHTTPS reports whether the header has a max-age above 0; 0 ends the protection (RFC 6797,
// section 6.1.1).
func enforcesHTTPS(value string) bool {
	for d := range strings.SplitSeq(value, ";") {
		name, age, _ := strings.Cut(strings.TrimSpace(d), "=")
		if strings.EqualFold(strings.TrimSpace(name), "max-age") {
			return strings.Trim(strings.TrimSpace(age), `"0`) != ""
		}
	}
	return false
}

// A policy is one Content-Security-Policy: sources by directive, in lower case.
type policy struct {
	directives map[string][]string
	// header: it is of a header. One of a meta element cannot forbid framing.
	header bool
}

// parsePolicies returns the policies of a page that are enforced (CSP 3). Each one restricts
// further.
func parsePolicies(resp *message.Response) []policy {
	var out []policy
	add := func(text string, header bool) {
		for one := range strings.SplitSeq(text, ",") {
			p := policy{map[string][]string{}, header}
			for d := range strings.SplitSeq(strings.ToLower(one), ";") {
				// Of a repeated directive the first counts (CSP 3, section 2.2.1).
				if words := strings.Fields(d); len(words) > 0 && p.directives[words[0]] == nil {
					p.directives[words[0]] = append([]string{}, words[1:]...)
				}
			}
			if len(p.directives) > 0 {
				out = append(out, p)
			}
		}
	}
	for _, v := range resp.Header.Values("Content-Security-Policy") {
		add(v, true)
	}
	for n := range resp.Document().Descendants() {
		if n.Type == html.ElementNode && n.Data == "meta" && strings.EqualFold(attributeOf(n, "http-equiv"),
			"Content-Security-Policy") {
			add(attributeOf(n, "content"), false)
		}
	}
	return out
}

// cspWeakness says why none of the policies stops script; empty: one does.
func cspWeakness(policies []policy) string {
	why := ""
	for _, p := range policies {
		hole := p.findWeakness()
		if hole == "" {
			return ""
		}
		if why == "" {
			why = hole
		}
	}
	return why
}

// findWeakness says why the policy does not stop script; empty: it does.
func (p policy) findWeakness() string {
	// The fallback of CSP 3, section 6.8.4: script-src-elem, script-src, default-src.
	sources, ok := p.directives["script-src-elem"]
	if !ok {
		sources, ok = p.directives["script-src"]
	}
	if !ok {
		sources, ok = p.directives["default-src"]
	}
	if !ok {
		return "there is no directive for scripts"
	}
	bound, dynamic := false, false // by nonce or hash, which take 'unsafe-inline' back
	for _, s := range sources {
		bound = bound || strings.HasPrefix(s, "'nonce-") || strings.HasPrefix(s, "'sha")
		dynamic = dynamic || s == "'strict-dynamic'"
	}
	for _, s := range sources {
		switch {
		case s == "'unsafe-inline'" && !bound && !dynamic:
			return "script in the page itself is allowed ('unsafe-inline')"
		case (s == "*" || s == "http:" || s == "https:" || s == "data:") && !dynamic:
			return "script from anywhere is allowed (" + s + ")"
		}
	}
	return ""
}

// allowsFraming reports whether other sites may show the page in a frame.
func allowsFraming(resp *message.Response, policies []policy) bool {
	for _, p := range policies {
		if _, ok := p.directives["frame-ancestors"]; ok && p.header {
			return false
		}
	}
	switch strings.ToUpper(strings.TrimSpace(resp.Header.Get("X-Frame-Options"))) {
	case "DENY", "SAMEORIGIN":
		return false
	}
	return true
}

// hasActiveForm reports whether the page has a form that changes something.
func hasActiveForm(doc *html.Node) bool {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && (n.Data == "form" && strings.EqualFold(attributeOf(n, "method"), "post") ||
			n.Data == "input" && strings.EqualFold(attributeOf(n, "type"), "password")) {
			return true
		}
	}
	return false
}

// attributeOf returns the value of an attribute; empty: the element has none.
func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

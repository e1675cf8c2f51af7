// Package redirect finds open redirects (CWE-601): a parameter that sends the browser to another
// site.
//
// The proof is where the response leads, as a browser reads it: the headers Location and Refresh,
// the element meta, and script that assigns the address (script.go). It has to follow another host
// in a second request.
//
// Budget: one request for a value that the response does not use, up to nine for one that it does.
package redirect

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

var rule = texts.Get("open-redirect")

// Rule is the check.
var Rule = &activescan.Rule{ID: "redirect", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe,
	ProbePoint:   probePoint,
	AcceptsPoint: acceptsPoint}

// acceptsPoint accepts points that can contain an address.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InQuery, message.InForm, message.InMultipart, message.InPath:
		return p.Type != "integer" && p.Type != "boolean"
	}
	return false
}

// probePoint sends addresses of a site that does not exist (RFC 2606) in the forms that checks of
// prefixes let through. A form is not attacked where a link with the same parameter leads away
// already: that is the same vulnerability.
func probePoint(p *activescan.Probe) error {
	if p.Request.Method != http.MethodGet && p.HasFact(linkKind(p)) {
		return nil
	}
	host := p.RandomLetters(10) + ".example"
	resp, err := p.SendValue("https://" + host + "/")
	if err != nil {
		return err
	}
	if where, how := redirectTarget(resp); sameSite(where, host) {
		return confirmRedirect(p, "https://"+host+"/", host, how, resp)
	}
	// Another form is tried only where the answer does something with the value.
	if !strings.Contains(resp.Head()+resp.Text(), host) && resp.Location() == nil && !isLikelyURL(p.Point) {
		return nil
	}
	if still, err := isStored(p, resp, "https://"+host+"/"); still || err != nil {
		return err
	}
	// Without a scheme; with a backslash; without slashes; with the target as user name; with the
	// target as subdomain; with another full stop; and with the scheme that the page does not have.
	forms := []string{"//" + host + "/", "/\\" + host + "/", "https:" + host, p.Request.Base() + "@" + host + "/",
		p.Request.Base() + "." + host + "/", "//" + withFullwidthDot(host) + "/", oppositeScheme(p.Request.Scheme) +
			":" + withFullwidthDot(host)}
	if where, _ := redirectTarget(resp); where != nil && where.Hostname() == "https" {
		// the scheme is there already, and the value's own was taken for the host
		forms = []string{host + "/", "//" + host + "/"}
	}
	for _, form := range forms {
		resp, err := p.SendValue(form)
		if err != nil {
			return err
		}
		if where, how := redirectTarget(resp); sameSite(where, host) {
			return confirmRedirect(p, form, host, how, resp)
		}
	}
	return nil
}

// withFullwidthDot writes a dot of a host as an ideographic full stop, which browsers take for one
// (Unicode Technical Standard 46) and filters of dots let through.
func withFullwidthDot(host string) string { return strings.Replace(host, ".", "\u3002", 1) }

// oppositeScheme is the scheme of two that a page does not have: only behind that may both slashes
// be left out.
func oppositeScheme(scheme string) string {
	if scheme == "https" {
		return "http"
	}
	return "https"
}

// linkKind is the name of the fact that a link with the parameter leads away.
func linkKind(p *activescan.Probe) string {
	return "redirect " + p.Request.Base() + p.Request.Path + " " + p.Point.Name
}

// isStored reports whether the value was taken and led nowhere: the answer is the usual
// page, with the value in its place, and neither leads to another page.
func isStored(p *activescan.Probe, resp *message.Response, value string) (bool, error) {
	first, err := p.FirstResponse()
	if err != nil {
		return false, err
	}
	if to, _ := redirectTarget(first); to != nil {
		return false, nil
	}
	if to, _ := redirectTarget(resp); to != nil {
		return false, nil
	}
	return activescan.NewPage(resp, value).Equal(activescan.NewPage(first, p.Point.Value)), nil
}

// isLikelyURL reports whether the name or the value of the point is about addresses.
func isLikelyURL(at message.Point) bool {
	return addressName.MatchString(at.Name) || strings.Contains(at.Value, "://") || strings.HasPrefix(at.Value, "/")
}

// addressName matches parameters that mostly contain an address.
var addressName = lazyregexp.New(`(?i)url|uri|redir|return|next|goto|target|dest|continue|callback|link|forward|back|page|to$`)

// confirmRedirect repeats the request with another host: a page that always leads there is no
// vulnerability.
func confirmRedirect(p *activescan.Probe, payload, host, how string, first *message.Response) error {
	other := p.RandomLetters(10) + ".example"
	name := func(host string) string { return strings.TrimSuffix(host, ".example") }
	again, err := p.SendValue(strings.ReplaceAll(payload, name(host), name(other)))
	if err != nil {
		return err
	}
	if where, _ := redirectTarget(again); !sameSite(where, other) {
		return nil
	}
	p.MarkFound("redirect")
	if p.Request.Method == http.MethodGet {
		p.RecordFact(linkKind(p))
	}
	p.RaiseAlert(activescan.Alert{Rule: rule, Request: p.Request.With(p.Point, payload), Payload: payload,
		Responses:     []*message.Response{first, again},
		ResponseNotes: []string{"an address of another site", "again, of yet another site"},
		Proof: []string{"The value " + payload + " leads the browser to " + host + " by " + how + ".", "With another " +
			"host it leads there."}})
	return nil
}

// sameSite reports whether the address is of the host or of a subdomain of it.
func sameSite(u *url.URL, host string) bool {
	return u != nil && (u.Hostname() == host || strings.HasSuffix(u.Hostname(), "."+host))
}

// redirectTarget returns where a browser goes by itself after the answer, and by what.
func redirectTarget(resp *message.Response) (to *url.URL, how string) {
	base := resp.Request.URL()
	if l := resp.Header.Get("Location"); l != "" && resp.Status >= 300 && resp.Status < 400 {
		return resolveLikeBrowser(base, l), "the header Location"
	}
	if r := resp.Header.Get("Refresh"); r != "" {
		if m := refresh.FindStringSubmatch(r); m != nil {
			return resolveLikeBrowser(base, m[1]), "the header Refresh"
		}
	}
	if !resp.IsHTML() {
		return nil, ""
	}
	return inPage(base, resp.Document())
}

// refresh is the value of Refresh and of its element (HTML 5, section 4.2.5.3).
var refresh = lazyregexp.New(`(?is)^\s*\d+(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*['"]?(.*?)['"]?\s*$`)

// inPage finds a refresh or a script that leads away in a page.
func inPage(base *url.URL, doc *html.Node) (to *url.URL, how string) {
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "meta":
			if strings.EqualFold(attributeOf(n, "http-equiv"), "refresh") {
				if m := refresh.FindStringSubmatch(attributeOf(n, "content")); m != nil {
					return resolveLikeBrowser(base, m[1]), "the element meta"
				}
			}
		case "script":
			if n.FirstChild == nil {
				continue
			}
			if at := scriptRedirectTarget(n.FirstChild.Data); at != "" {
				return resolveLikeBrowser(base, at), "a script"
			}
		}
	}
	return nil, ""
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

// resolveLikeBrowser resolves an address as browsers do (WHATWG URL): backslashes are slashes,
// tabs and line ends are left out, slashes behind a scheme are optional, and some other
// full stops are dots of a host.
func resolveLikeBrowser(base *url.URL, s string) *url.URL {
	s = strings.Map(func(c rune) rune {
		switch c {
		case '\t', '\n', '\r':
			return -1
		case '\\':
			return '/'
		}
		return c
	}, strings.TrimSpace(s))
	for _, scheme := range []string{"http:", "https:"} {
		if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
			continue
		}
		rest := s[len(scheme):]
		if strings.HasPrefix(rest, "//") || base.Scheme+":" != scheme { // any number of slashes is two
			s = scheme + "//" + strings.TrimLeft(rest, "/")
		}
		break
	}
	// Browsers skip further slashes before the host.
	for strings.HasPrefix(s, "///") {
		s = s[1:]
	}
	u, err := base.Parse(s)
	if err != nil {
		return nil
	}
	u.Host = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".").Replace(u.Host)
	return u
}

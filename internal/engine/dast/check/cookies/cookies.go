// Package cookies finds cookies that browsers keep badly, because the answer that set
// them does not say better: sent without encryption, read by script, sent with the
// requests of other sites (RFC 6265bis). It only looks.
package cookies

import (
	"net/http"
	"strings"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

var (
	notSecure = texts.Get("not-secure")
	readable  = texts.Get("not-http-only")
	crossSite = texts.Get("same-site-none")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "cookies", FindingRules: []*finding.Rule{notSecure, readable, crossSite},
	InspectResponse: inspectCookies}

// inspectCookies reports of each cookie that is set what it lacks. For RFC 6265 a cookie is a name
// with a domain and a path; but a name is set in one place of a program, or by one
// framework, and mended there, so that it is told once for each host.
func inspectCookies(t *activescan.OperationScan, resp *message.Response) {
	for _, c := range (&http.Response{Header: resp.Header}).Cookies() {
		if c.Value == "" || strings.EqualFold(c.Value, "deleted") || c.MaxAge < 0 || !c.Expires.IsZero() &&
			c.Expires.Before(ancient) {
			continue // it is taken away
		}
		report := func(rule *finding.Rule, lacks string) {
			t.RaiseAlert(activescan.Alert{Rule: rule, Request: resp.Request, Location: "/", Key: resp.Request.Host +
				" " + c.Name,
				Responses: []*message.Response{resp},
				Message:   "The cookie " + c.Name + " " + lacks + ".", ResponseNotes: []string{"sets " + c.Name},
				Proof: []string{"The answer to " + resp.Request.Method + " " + resp.Request.Location() +
					" sets the cookie " + c.Name + " with the attributes: " + describeAttributes(c) + "."}})
		}
		if !c.Secure && c.SameSite == http.SameSiteNoneMode {
			report(crossSite, "is set with SameSite=None and without Secure")
		}
		if !c.Secure {
			report(notSecure, "is set without Secure")
		}
		if !c.HttpOnly && isSessionCookie(c) {
			report(readable, "names the session, and is set without HttpOnly")
		}
	}
}

// ancient is before every cookie that is meant to stay: those that are taken away
// expire in 1970 or the like.
var ancient = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// sessionName are names of cookies of sessions, of frameworks and in general.
var sessionName = lazyregexp.New(`(?i)^(__(host|secure)-)?(jsessionid|phpsessid|asp\.net_sessionid|\.aspxauth|\.aspnetcore\.(session|cookies|identity\.application)|connect\.sid|laravel_session|ci_session|_[a-z0-9_]*_session|rack\.session|cfid|cftoken|sessionid|beaker\.session\.id|sid|ssid|sess|session|auth|jwt|access_?token|refresh_?token|id_?token|remember_?(me|token))$|sess(ion)?[-_.]?id|session[-_.]?(token|key)|auth[-_.]?(token|key|cookie)|(^|[-_.])(session|sid|jwt)$`)

// forScript are names of cookies that script has to read: tokens against forgery that
// it copies into a header.
var forScript = lazyregexp.New(`(?i)csrf|xsrf|antiforgery`)

// isSessionCookie reports whether the cookie names a session: by its name, and by a value that
// is long enough to be a secret.
func isSessionCookie(c *http.Cookie) bool {
	return len(c.Value) >= 16 && sessionName.MatchString(c.Name) && !forScript.MatchString(c.Name)
}

// describeAttributes writes the attributes of a cookie.
func describeAttributes(c *http.Cookie) string {
	shown := *c
	shown.Name, shown.Value = "c", "v"
	if _, rest, ok := strings.Cut(shown.String(), "; "); ok {
		return rest
	}
	return "none"
}

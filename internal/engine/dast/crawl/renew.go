package crawl

import (
	"context"
	"net/http"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
)

// This file keeps forms alive that hold a token against forgery: the token of an
// earlier page would be refused.

// Tokens reports the names of the fields of a form that look like tokens: hidden, and
// named like one. Short values are numbers and flags.
func Tokens(r *message.Request) []string {
	if r.Origin != "form" || r.Referer == "" {
		return nil
	}
	var out []string
	for _, p := range r.Points() {
		if r.Types[p.Key()] == "hidden" && len(p.Value) >= 8 && tokenName.MatchString(p.Name) {
			out = append(out, p.Key())
		}
	}
	return out
}

// tokenName matches fields with a token against cross-site request forgery, and those
// by which servers keep the state of a form.
var tokenName = lazyregexp.New(`(?i)token|csrf|xsrf|nonce|viewstate|eventvalidation|authenticity|__request|formkey|form_key|form_build_id|sesskey`)

// HasFreshToken reports whether a request has to be made anew each time it is sent (Renewer).
func HasFreshToken(r *message.Request) bool { return r.Via != nil || len(Tokens(r)) > 0 }

// TokenRenewer returns a function that puts the tokens of a new copy of the form's page
// into a request, after it has sent the forms that have to be sent before. Chains of
// forms are bounded by maxChain.
func TokenRenewer(client *traffic.Client, as traffic.Session) func(context.Context, *message.Request) *message.Request {
	var renew func(ctx context.Context, r *message.Request, depth int) *message.Request
	renew = func(ctx context.Context, r *message.Request, depth int) *message.Request {
		if !HasFreshToken(r) || depth > maxChain {
			return r
		}
		if r.Via != nil {
			resp, err := client.Send(ctx, renew(ctx, r.Via, depth+1), as)
			if err != nil {
				return r
			}
			if fresh := withPageTokens(r, resp); fresh != nil {
				return fresh
			}
		}
		page, err := message.Parse(r.Referer)
		if err != nil || r.Via != nil && page.Address() == r.Via.Address() {
			return r
		}
		page.Guest = r.Guest
		resp, err := client.Send(ctx, page, as)
		if err != nil || resp.Status != http.StatusOK {
			return r
		}
		if fresh := withPageTokens(r, resp); fresh != nil {
			return fresh
		}
		return r
	}
	return func(ctx context.Context, r *message.Request) *message.Request { return renew(ctx, r, 0) }
}

// withPageTokens is the request with the tokens of its form in a page; nil: the form is
// not there. The form is found by its method and path.
func withPageTokens(r *message.Request, page *message.Response) *message.Request {
	names := Tokens(r)
	for _, f := range ReadPage(page).Requests {
		if f.Origin == "form" && f.Method == r.Method && sitemap.PathShape(f) == sitemap.PathShape(r) {
			if fresh, ok := copyFormValues(r, f, names); ok {
				return fresh
			}
		}
	}
	return nil
}

// copyFormValues takes the values of the points from the form. A form without one of
// the fields is another form.
func copyFormValues(r, f *message.Request, names []string) (*message.Request, bool) {
	values := map[string]string{}
	for _, p := range f.Points() {
		values[p.Key()] = p.Value
	}
	for _, key := range names {
		value, ok := values[key]
		if !ok {
			return nil, false
		}
		for _, p := range r.Points() {
			if p.Key() == key {
				r = r.With(p, value)
			}
		}
	}
	return r, true
}

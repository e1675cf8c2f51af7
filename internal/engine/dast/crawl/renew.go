package crawl

import (
	"context"
	"net/http"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/site"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
)

// This file keeps forms alive that hold a token against forgery: the token of an
// earlier page would be refused.

// Tokens reports the names of the fields of a form that look like tokens: hidden, and
// named like one.
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

var tokenName = lazyregexp.New(`(?i)token|csrf|xsrf|nonce|viewstate|eventvalidation|authenticity|__request|formkey|form_key|form_build_id|sesskey`)

// Renewer returns a function that puts the tokens of a new copy of the form's page
// into a request.
func Renewer(client *traffic.Client, as traffic.Session) func(context.Context, *message.Request) *message.Request {
	return func(ctx context.Context, r *message.Request) *message.Request {
		names := Tokens(r)
		if len(names) == 0 {
			return r
		}
		page, err := message.Parse(r.Referer)
		if err != nil {
			return r
		}
		page.Guest = r.Guest
		resp, err := client.Send(ctx, page, as)
		if err != nil || resp.Status != http.StatusOK {
			return r
		}
		for _, f := range Read(resp).Requests {
			if f.Origin == "form" && f.Method == r.Method && site.PathShape(f) == site.PathShape(r) {
				if fresh, ok := replant(r, f, names); ok {
					return fresh
				}
			}
		}
		return r
	}
}

// replant takes the values of the points from the form.
func replant(r, f *message.Request, names []string) (*message.Request, bool) {
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

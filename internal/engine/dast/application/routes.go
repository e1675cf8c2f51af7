package application

import (
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file makes requests of the routes that the code declares.

// routes returns the requests of what the code declares. Those that the profile does not send are
// put on the sitemap, with the reason.
func (e *examination) routes() []*message.Request {
	var out []*message.Request
	for i := range e.Target.Routes {
		for _, r := range e.requests(&e.Target.Routes[i]) {
			if why := e.withheld(r); why != "" {
				e.Sitemap.Withhold(r, why)
				continue
			}
			out = append(out, r)
		}
	}
	return out
}

// leave leaves operations to the analysis of APIs, if the scan makes it: those that only the code
// declares, that no page was seen to request, and that return data. It knows how to request them,
// and attacks them. seen are the requests of the browser.
func (e *examination) leave(seen []*message.Request) {
	if !slices.Contains(e.Analyses, finding.API) {
		return
	}
	shapes := map[string]bool{}
	for _, r := range seen {
		shapes[sitemap.OperationKey(r)] = true
	}
	for _, entry := range e.Sitemap.Entries() {
		if entry.Request.Origin == "code" && !shapes[sitemap.OperationKey(entry.Request)] && entry.Response != nil &&
			entry.Response.IsData() {
			e.Sitemap.ExcludeFromScan(entry.Request, "it returns data: the API analysis covers it")
		}
	}
}

// withheld returns why a request of a route is not sent; empty: it is. PUT and PATCH of an object
// change one that the scan has not created. A path that is named for removal is withheld even for
// GET: no link leads there, so nothing shows that it is harmless.
func (e *examination) withheld(r *message.Request) string {
	changes := r.Method == http.MethodPut || r.Method == http.MethodPatch
	if (r.Method == http.MethodDelete || changes && strings.Contains(r.Template, "{") ||
		sitemap.NamesRemoval(r.Template)) &&
		!e.Target.Profile.Allows(scan.Full) {
		return "the profile sends nothing that may remove or replace what the scan has not made"
	}
	return ""
}

// requests returns those of a route: one with its method. A route for any method is requested by
// GET, and by POST too if it reads a body. HEAD and OPTIONS show nothing that GET does not.
func (e *examination) requests(route *scan.Route) []*message.Request {
	inBody := func(p string) bool { return strings.HasPrefix(p, "form:") || strings.HasPrefix(p, "json:") }
	method := route.Method
	if method == "" || method == http.MethodHead || method == http.MethodOptions {
		method = http.MethodGet
	}
	out := []*message.Request{e.request(route, method)}
	if route.Method == "" && slices.ContainsFunc(route.Parameters, inBody) {
		out = append(out, e.request(route, http.MethodPost))
	}
	return out
}

// open returns the value of a parameter that the code leaves open. A password and its confirmation
// get different ones, so that the application refuses to change a password.
func open(name string, passwords *int) string {
	if sitemap.IsPassword(name) {
		*passwords++
		return strings.Repeat("1", *passwords)
	}
	return "1"
}

// request returns the request of a route with a method, with "1" for what the code leaves open: "1"
// is a number and a text, and often an existing identifier.
func (e *examination) request(route *scan.Route, method string) *message.Request {
	base := e.Scope.Base()
	folder := strings.TrimSuffix(base.EscapedPath(), "/")
	template := route.Path
	// A target below a folder: code declares /users, the server serves /shop/users.
	if template != folder && !strings.HasPrefix(template, folder+"/") || folder == "" {
		template = folder + "/" + strings.TrimPrefix(template, "/")
	}
	segments := strings.Split(template, "/")
	for i, s := range segments {
		if strings.Contains(s, "{") {
			segments[i] = "1"
		}
	}
	r := &message.Request{Method: method, Scheme: base.Scheme, Host: base.Host, Path: strings.Join(segments, "/"),
		Template: template, Origin: "code"}
	body := method != http.MethodGet && method != http.MethodDelete
	json, passwords := false, 0
	for _, p := range route.Parameters {
		in, name, _ := strings.Cut(p, ":")
		param := message.Param{Name: name, Value: open(name, &passwords)}
		switch message.In(in) {
		case message.InQuery:
			r.Query = append(r.Query, param)
		case message.InForm:
			if body {
				r.Body.Kind = message.Form
				r.Body.Params = append(r.Body.Params, param)
			}
		case message.InHeader:
			r.Header = append(r.Header, param)
		case message.InCookie:
			r.Cookies = append(r.Cookies, param)
		case message.InJSON:
			json = body
		}
	}
	// Code that reads a form and JSON is sent the form.
	if json && r.Body.Kind == message.NoBody {
		r.Body = message.Body{Kind: message.JSON, Text: []byte("{}")}
		for _, p := range route.Parameters {
			if name, ok := strings.CutPrefix(p, "json:"); ok {
				r = r.WithJSON(message.Point{In: message.InJSON, Name: name, Index: -1}, `"`+open(name, &passwords)+`"`)
			}
		}
	}
	return r
}
